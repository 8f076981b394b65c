"""Experiments as one page that needs nothing else, and the numbers behind each plot as CSV."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import struct
import zlib
from collections.abc import Callable, Iterable
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import PliantError
from .experiment import Experiment, Line, Picture, Plot, Table, cell

Array = np.ndarray

STYLE = """body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:64rem;padding:0
1rem;color:#222} table{border-collapse:collapse;margin:.6rem 0 1.2rem;max-width:100%} td,th{padding:.2rem
.8rem .2rem 0;text-align:left;border-bottom:1px solid #ddd;vertical-align:top} .off
td{color:#b00020}.small{color:#666;font-size:.85rem}.plots{display:flex;flex-wrap:wrap;gap:1rem}
.pictures{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0;flex:1 1 14rem;max-width:26rem}figure
img{width:100%} .plots svg{width:calc(50% - .5rem);
min-width:22rem;height:auto;flex-grow:1;max-width:32rem}h2{margin-top:2.4rem}nav a{margin-right:1rem}
"""

COLOURS = ("#1f5fa8", "#d1495b", "#2e8b57", "#b8860b", "#6a4c93", "#00798c", "#8d6e63", "#555555")


RENEW = 5
"""Seconds after which the page of a report that is not complete loads itself again."""

POINTS = 60
"""Points of a line, at most, that tell their numbers under the pointer."""


def page(
    experiments: Iterable[Experiment],
    machine: dict[str, Any],
    waiting: Iterable[str] = (),
    drawn: dict[str, str] | None = None,
) -> str:
    """HTML of a report; plots are drawn by Matplotlib as inline SVG. Raises PliantError without it.

    waiting: names of experiments that are still to come; while there are any, the page renews itself.
    drawn: sections by name of experiment, kept from page to page, so that each is drawn once.
    """
    drawn = {} if drawn is None else drawn
    listed = list(experiments)
    passed = sum(v.ok for e in listed for v in e.verdicts)
    total = sum(len(e.verdicts) for e in listed)
    where, more = ", ".join(f"{k} {v}" for k, v in machine.items()), list(waiting)
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>Pliant lab</title>",
        f"<meta http-equiv='refresh' content='{RENEW}'>" if more else "",
        f"<style>{STYLE}</style><h1>Pliant lab</h1><p>{passed} of {total} verdicts hold.</p>",
        f"<p class='small'>{escape(where)}</p>",
        f"<p>Still to come: {escape(', '.join(more))}.</p>" if more else "",
        "<nav>" + "".join(f"<a href='#{e.name}'>{escape(e.title)}</a>" for e in listed) + "</nav>",
        _table(summary(listed)),
    ]
    for e in listed:
        if e.name not in drawn:
            drawn[e.name] = section(e)
        parts.append(drawn[e.name])
    return "\n".join([*parts, "</html>", ""])


def section(e: Experiment) -> str:
    """What a report says of one experiment."""
    words = ", ".join(f"{k} {v}" for k, v in e.protocol.items())
    parts = [
        f"<h2 id='{e.name}'>{escape(e.title)}</h2><p>{escape(e.about)}</p>",
        f"<p class='small'>Protocol: {escape(words)}. {e.seconds:.0f} s.</p>",
        _verdicts(e),
    ]
    if e.pictures:
        parts += ["<div class='pictures'>", *(_picture(p) for p in e.pictures), "</div>"]
    parts += ["<div class='plots'>", *(svg(p) for p in e.plots), "</div>"]
    return "\n".join([*parts, *(_table(t) for t in e.tables)])


def summary(experiments: Iterable[Experiment]) -> Table:
    """What each experiment found and took."""
    rows = [
        (e.title, len(e.verdicts), sum(not v.ok for v in e.verdicts), f"{e.seconds:.1f}",
         f"{e.processor_seconds:.1f}")
        for e in experiments
    ]  # fmt: skip
    heads = ("experiment", "verdicts", "off", "time [s]", "processor time [s]")
    return Table("Experiments", heads, rows)


def _verdicts(experiment: Experiment) -> str:
    if not experiment.verdicts:
        return ""
    rows = ["<table><tr><th></th><th>measured</th><th>asked</th><th>reference</th></tr>"]
    for v in experiment.verdicts:
        kind, word = ("", "✓") if v.ok else (" class='off'", "✗")
        cells = (f"{word} {v.what}", cell(v.measured), v.rule, v.source)
        rows.append(f"<tr{kind}>" + "".join(f"<td>{escape(c)}</td>" for c in cells) + "</tr>")
    return "\n".join([*rows, "</table>"])


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(c)}</th>" for c in table.columns)
    body = ["<tr>" + "".join(f"<td>{escape(cell(v))}</td>" for v in row) + "</tr>" for row in table.rows]
    return "\n".join([f"<h3>{escape(table.title)}</h3><table><tr>{head}</tr>", *body, "</table>"])


def png(pixels: Array) -> bytes:
    """Pixels (height, width, 3) uint8 as a PNG file."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 3 * width + 1), np.uint8)  # each row begins with its filter: none
    rows[:, 1:] = pixels.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    out = b"\x89PNG\r\n\x1a\n"
    for kind, data in ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b"")):
        out += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return out


def _picture(picture: Picture) -> str:
    data = base64.b64encode(png(picture.pixels)).decode("ascii")
    title = escape(picture.title)
    image = f"<img alt='{title}' src='data:image/png;base64,{data}'>"
    return f"<figure>{image}<figcaption>{title}</figcaption></figure>"


def svg(plot: Plot) -> str:
    """A plot as SVG; the same bytes for the same numbers."""
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PliantError('plots need Matplotlib: pip install "pliant[lab]"') from error
    with rc_context({"svg.hashsalt": "pliant", "font.size": 9, "svg.fonttype": "path"}):
        figure = Figure(figsize=(4.9, 3.4), dpi=72, layout="constrained")
        axes = figure.add_subplot()
        for k, line in enumerate(plot.lines):
            style = "--" if line.dashed else "o-"
            colour = "#999999" if line.dashed else COLOURS[k % len(COLOURS)]
            axes.plot(line.x, line.y, style, color=colour, label=line.name, markersize=3.5, linewidth=1.2)
        axes.set_xscale("log" if "x" in plot.log else "linear")
        axes.set_yscale("log" if "y" in plot.log else "linear")
        axes.set(xlabel=plot.x, ylabel=plot.y, title=plot.title)
        axes.grid(alpha=0.3)
        if len(plot.lines) > 1:
            axes.legend(fontsize=7.5)
        out = io.StringIO()
        FigureCanvasSVG(figure).print_svg(out, metadata={"Date": None})
        told = [_told(plot, line, axes.transData.transform, 72 * 3.4) for line in plot.lines]
    text = out.getvalue()
    return text[text.index("<svg") :].replace("</svg>", f"<g fill='transparent'>{''.join(told)}</g></svg>")


def _told(plot: Plot, line: Line, place: Callable[[Array], Array], height: float) -> str:
    """Spots over a line's points that tell its numbers under the pointer."""
    x, y = np.asarray(line.x, float), np.asarray(line.y, float)
    inside = np.isfinite(x) & np.isfinite(y)
    for letter, values in (("x", x), ("y", y)):
        inside &= (values > 0) | (letter not in plot.log)
    ids = np.flatnonzero(inside)
    ids = ids[:: max(1, -(-len(ids) // POINTS))]
    spots: Any = place(np.stack([x[ids], y[ids]], axis=1)) if len(ids) else []
    words = [
        escape(f"{line.name}\n{plot.x}: {a:.5g}\n{plot.y}: {b:.5g}")
        for a, b in zip(x[ids], y[ids], strict=True)
    ]
    return "".join(
        f"<circle cx='{a:.1f}' cy='{height - b:.1f}' r='5'><title>{w}</title></circle>"
        for (a, b), w in zip(spots, words, strict=True)
    )


def write(
    experiments: Iterable[Experiment],
    machine: dict[str, Any],
    folder: Path,
    waiting: Iterable[str] = (),
    drawn: dict[str, str] | None = None,
) -> list[Path]:
    """``report.html``, ``report.json`` and a CSV for each plot and table; returns what was written.

    waiting, drawn: see :func:`page`.
    """
    listed = list(experiments)
    folder.mkdir(parents=True, exist_ok=True)
    files = {"report.html": page(listed, machine, waiting, drawn), "report.json": as_json(listed, machine)}
    for e in listed:
        for plot in e.plots:
            rows = [(line.name, a, b) for line in plot.lines for a, b in zip(line.x, line.y, strict=True)]
            files[f"{e.name}-{_slug(plot.title)}.csv"] = _csv(("line", plot.x, plot.y), rows)
        for picture in e.pictures:
            (folder / f"{e.name}-{_slug(picture.title)}.png").write_bytes(png(picture.pixels))
        for table in e.tables:
            files[f"{e.name}-{_slug(table.title)}.csv"] = _csv(table.columns, table.rows)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in files]


def as_json(experiments: Iterable[Experiment], machine: dict[str, Any]) -> str:
    """Verdicts and protocols as data."""
    found = [
        {
            "name": e.name,
            "title": e.title,
            "ok": e.ok,
            "seconds": e.seconds,
            "processor_seconds": e.processor_seconds,
            "protocol": e.protocol,
            "verdicts": [{**vars(v), "measured": float(v.measured), "ok": v.ok} for v in e.verdicts],
        }
        for e in experiments
    ]
    return json.dumps({"machine": machine, "experiments": found}, indent=1, default=str) + "\n"


def _csv(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([f"{v:.9g}" if isinstance(v, float) else v for v in row] for row in rows)
    return out.getvalue()


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60]
