"""A comparison as text, CSV and a page; all three are made from the record, which is plain data."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable
from html import escape
from typing import Any

import numpy as np

from .runner import Result

Record = dict[str, Any]


def percent(value: float) -> str:
    """A share."""
    return f"{100 * value:.2f} %" if abs(value) < 10 else f"{100 * value:.2g} %"


def millimetres(value: float) -> str:
    """A length in m."""
    return f"{1e3 * value:.1f} mm"


COLUMNS: dict[str, list[tuple[str, Callable[[float], str]]]] = {
    "cloth": [("mean strain", percent), ("max strain", percent)],
    "worlds": [("mean strain", percent), ("max strain", percent)],
    "bar": [("tip", millimetres), ("tip error", percent), ("swing", millimetres)],
}
"""Columns of quality by workload, and how a number is written."""


def duels(results: Iterable[Result], bar: float | None) -> list[dict[str, Any]]:
    """Each of Pliant's entries against the fastest peer that solves the same discrete model.

    ``faster`` is the median over turns of the ratio of the turns' durations: both felt the same machine
    within the turn; ``faster by processor`` is the ratio of the medians of processor time, which other
    programs hardly touch. ``reached`` tells whether it is at least ``bar`` and no strain over 1.2 times the
    peer's; None where there is no bar.
    """
    whole = [r for r in results if r.same and r.quality]
    found = []
    for ours in (r for r in whole if r.package == "pliant"):
        peers = [r for r in whole if r.package != "pliant" and r.same == ours.same]
        if not peers:
            continue
        peer = min(peers, key=lambda r: r.frame()["median"])
        ratios = [sum(a) / sum(b) for a, b in zip(peer.turns[1:], ours.turns[1:], strict=True)]
        low, faster, high = np.percentile(ratios, [25, 50, 75])
        strains = {k: ours.quality[k] / peer.quality[k] for k in ("mean strain", "max strain")}
        work = peer.frame()["processor"] / ours.frame()["processor"]
        ok = None if bar is None else bool(faster >= bar and max(strains.values()) <= 1.2)
        found.append(
            {"ours": ours.name, "peer": peer.name, "faster": float(faster), "bar": bar, "reached": ok}
            | {"quartiles": [float(low), float(high)], "faster by processor": work}
            | {f"{k} ratio": float(v) for k, v in strains.items()}
        )
    return found


def row(workload: str, worlds: int, entry: Record) -> list[str]:
    """The cells of one contestant."""
    frame = entry["seconds per frame"]
    time, work, rate = "", "", ""
    if math.isfinite(frame["median"]):
        low, middle, high = (1e3 * frame[k] for k in ("quartile 1", "median", "quartile 3"))
        time = f"{middle:.3g} ({low:.3g} to {high:.3g})"
        work = f"{1e3 * frame['processor']:.3g}"
        rate = f"{1e3 * worlds / middle:.3g}"
    quality = entry["quality"]
    judged = [write(quality[key]) if key in quality else "" for key, write in COLUMNS[workload]]
    start = f"{entry['start']:.1f}" if math.isfinite(entry["start"]) else ""
    memory = f"{entry['memory']:.0f}" if math.isfinite(entry["memory"]) else ""
    cores = f"{entry['cores']:.1f}" if math.isfinite(entry["cores"]) else ""
    cells = [
        entry["name"],
        time,
        work,
        *([rate] if workload == "worlds" else []),
        *judged,
        start,
        memory,
        cores,
    ]
    return [*cells, remarks(entry)]


def remarks(entry: Record) -> str:
    """What is to be said of a contestant."""
    failure = f"FAILED: {entry['failure']}" if entry["failure"] else ""
    warning = f"it warns: {entry['remark'].partition(':')[2].strip()}" if entry["remark"] else ""
    return "; ".join(filter(None, [failure, warning]))


def heading(workload: str) -> list[str]:
    """Titles of the columns."""
    rate = ["world-steps/s"] if workload == "worlds" else []
    judged = [name for name, _ in COLUMNS[workload]]
    return ["", "ms per frame (quartiles)", "processor ms", *rate, *judged, "start s", "MiB", "cores", ""]


def told(duel: Record) -> str:
    """A duel in words."""
    low, high = duel["quartiles"]
    text = (
        f"{duel['ours']} is {duel['faster']:.2f} ({low:.2f} to {high:.2f}) times as fast as {duel['peer']}, "
        f"{duel['faster by processor']:.2f} by processor time; "
        f"mean strain x {duel['mean strain ratio']:.2f}, max strain x {duel['max strain ratio']:.2f}"
    )
    if duel["reached"] is None:
        return text
    return f"{text}; bar of {duel['bar']:g}: {'reached' if duel['reached'] else 'MISSED'}"


def machine_line(record: Record) -> str:
    """What it ran on."""
    m = record["machine"]
    versions = ", ".join(f"{k} {v}" for k, v in sorted(record["versions"].items()))
    return (
        f"{m['processor']}, {m['threads']} threads, {m['vectors']}; load before the run {m['load']}; "
        f"{versions}; commit {m['commit'] or 'unknown'}; {m['date']}"
    )


def text(record: Record) -> str:
    """The record for a terminal."""
    lines = [machine_line(record)]
    for run in record["runs"]:
        rows = [heading(record["workload"])]
        rows += [row(record["workload"], run.get("worlds", 1), e) for e in run["contestants"]]
        widths = [max(len(r[k]) for r in rows) for k in range(len(rows[0]) - 1)]
        lines += ["", run["title"]]
        for r in rows:
            cells = [r[0].ljust(widths[0])]
            cells += [cell.rjust(width) for cell, width in zip(r[1:-1], widths[1:], strict=True)]
            lines.append("  " + "  ".join([*cells, r[-1]]).rstrip())
        lines += [f"  like for like: {told(duel)}" for duel in run["duels"]]
    return "\n".join(lines)


def comma_separated(record: Record) -> str:
    """A row per contestant and size, in SI units."""
    keys = [key for key, _ in COLUMNS[record["workload"]]]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    times = ("median", "quartile 1", "quartile 3", "processor")
    head = ["workload", "run", "contestant", "package", "version", *(f"seconds per frame {t}" for t in times)]
    writer.writerow(
        [*head, *keys, "start", "memory MiB", "cores", "frames", "failure", "warning", "configuration"]
    )
    for run in record["runs"]:
        for e in run["contestants"]:
            first = [record["workload"], run["title"], e["name"], e["package"], e["version"] or ""]
            numbers = [e["seconds per frame"][t] for t in times] + [e["quality"].get(k) for k in keys]
            numbers += [e["start"], e["memory"], e["cores"]]
            cells = ["" if v is None or not math.isfinite(v) else f"{v:.6g}" for v in numbers]
            writer.writerow([*first, *cells, e["frames"], e["failure"] or "", e["remark"] or "", e["text"]])
    return out.getvalue()


STYLE = """body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#222}
table{border-collapse:collapse;width:100%;margin:.5rem 0}td,th{padding:.25rem .6rem;text-align:right;
border-bottom:1px solid #ddd;vertical-align:top}td:first-child,th:first-child{text-align:left}
.ours td:first-child{font-weight:600}.failed{color:#b00020}.small{color:#666;font-size:.85rem}
td.bar{width:22%;text-align:left}
td.bar div{background:#9db8d9;height:.8rem}.ours td.bar div{background:#1f5fa8}
"""


def page(record: Record) -> str:
    """A page that needs nothing else."""
    title = f"pliant bench {record['workload']}"
    parts = [f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{escape(title)}</title>"]
    parts.append(f"<style>{STYLE}</style><h1>{escape(title)}</h1>")
    parts.append(f"<p>{escape(record['about'])}</p><p class='small'>{escape(machine_line(record))}</p>")
    for run in record["runs"]:
        parts += [f"<h2>{escape(run['title'])}</h2>", _table(record["workload"], run)]
        parts += [f"<p>{escape(told(duel))}.</p>" for duel in run["duels"]]
    parts.append("<h2>Configurations</h2><ul>")
    texts = {e["name"]: e["text"] for run in record["runs"] for e in run["contestants"]}
    parts += [f"<li><b>{escape(name)}</b>: {escape(words)}</li>" for name, words in texts.items()]
    parts.append("</ul><h2>What is equal, and what is not</h2><ul>")
    parts += [f"<li>{escape(note)}</li>" for note in record["notes"]]
    return "\n".join([*parts, "</ul></html>", ""])


def _table(workload: str, run: Record) -> str:
    """One size as a table with bars, on a logarithmic scale from a third of the fastest on."""
    medians = [e["seconds per frame"]["median"] for e in run["contestants"]]
    finite = [m for m in medians if math.isfinite(m)]
    least, most = (min(finite) / 3, max(finite)) if finite else (1.0, 3.0)
    head = heading(workload)
    lines = [
        "<table><tr>"
        + "".join(f"<th>{escape(h)}</th>" for h in [head[0], *head[1:-1], "time, log"])
        + "</tr>"
    ]
    for e, median in zip(run["contestants"], medians, strict=True):
        cells = row(workload, run.get("worlds", 1), e)
        width = 100 * math.log(median / least) / math.log(most / least) if math.isfinite(median) else 0
        last = f"<div style='width:{width:.0f}%'></div>"
        last += f"<span class='failed'>{escape(cells[-1])}</span>" if cells[-1] else ""
        kind = " class='ours'" if e["package"] == "pliant" else ""
        inner = "".join(f"<td>{escape(c)}</td>" for c in cells[:-1])
        lines.append(f"<tr{kind}>{inner}<td class='bar'>{last}</td></tr>")
    return "\n".join([*lines, "</table>"])
