"""Pliant beside its peers: the commands ``pliant bench cloth``, ``worlds`` and ``bar``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import MissingExtraError, PliantError
from . import report
from .contestants import Contestant, entries, selected, version
from .machine import machine
from .runner import Result, compare
from .statics import static_displacements
from .workloads import GRAVITY, Bar, Cloth, Workload

ABOUT = {
    "cloth": "A flat sheet of 1 m, held at two corners, falls and swings for 2 s in frames of 1/60 s: 0.2 "
    "kg/m^2, springs of 1 kN/m or a sheet of E t = 1 kN/m, no damping, no contact.",
    "worlds": "Many worlds of the hanging sheet at once, 2 s in frames of 1/60 s.",
    "bar": "A bar of 1 m x 0.175 m x 0.175 m, 5 MPa, nu = 0.3, 1000 kg/m^3, held at one end, let go at rest, "
    "3 s in frames of 1/60 s.",
}
NOTES = {
    "cloth": [
        "Equal for all: vertices, triangles, lumped masses, held corners, gravity, frames, one judge.",
        "Entries with springs share the discrete model: one spring of 1 kN/m per edge. Those of pypbd and "
        "Pliant also share the method: XPBD, 20 substeps of one sweep over as many distance and bending "
        "constraints. Not equal: the order of the sweep, and pypbd's bending law, quartic in the curvature.",
        "Entries with triangles share the continuum, not the element; strain at the held corners belongs to "
        "it and grows as the mesh is refined. Compare strain only within springs or within triangles.",
        "Strain is the median over the last quarter of the run, since the sheet swings, and how much it "
        "swings depends on how much a time step damps: backward Euler at a whole frame (mujoco) damps most.",
        "ms per frame is the median of single frames, with quartiles, without the first; processor "
        "ms is the time of all its threads, and cores the ratio of the two.",
    ],
    "worlds": [
        "Strain is that of the worst world. Pliant runs in single, mujoco and pypbd in double precision."
    ],
    "bar": [
        "Equal for all: vertices, tetrahedra, lumped masses, held end, gravity, frames, one judge.",
        "tip is the Hann-weighted mean over the second half of the run, about three periods: where the bar "
        "would come to rest. tip error compares it with linear finite elements on the same mesh at rest; "
        "swing is the range over the second half.",
        "The elastic laws differ (St. Venant-Kirchhoff, Neo-Hookean, co-rotated) but agree at small strain.",
    ],
}  # fmt: skip
BARS = {33: 2.0, 101: 3.0, 257: 3.0}
"""How many times as fast as the fastest peer on the same springs Pliant is held to be, by n."""


def static_tip(work: Bar) -> float:
    """Tip of the bar at rest by linear finite elements [m]."""
    force = work.mass[:, None] * [0.0, 0.0, -GRAVITY]
    return work.measure(
        work.vertices + static_displacements(work.vertices, work.tets, work.lame, force, work.held)
    )["tip"]


def one_run(
    work: Workload, title: str, found: Sequence[tuple[str, Contestant]], arguments: argparse.Namespace
) -> dict[str, Any]:
    """All contestants on one size; plain data."""
    here = [(module, e) for module, e in found if version(e.package) is not None]
    results = compare(here, work, arguments.limit, arguments.threads, lambda t: _say(f"{title}: {t}"))
    by_name = {r.name: r for r in results}
    for _, e in found:
        if e.name not in by_name:
            by_name[e.name] = Result(e.name, e.package, text=e.text, failure=_absent(e.package))
    run: dict[str, Any] = {"title": title}
    if isinstance(work, Bar):
        run["static tip"] = static_tip(work)
        for result in results:
            if result.quality:
                result.quality["tip error"] = result.quality["tip"] / run["static tip"] - 1
        run["title"] += f", at rest {report.millimetres(run['static tip'])} by linear finite elements"
    elif isinstance(work, Cloth):
        run["worlds"] = work.worlds
    bar = BARS.get(work.n) if isinstance(work, Cloth) and work.worlds == 1 else None
    run["contestants"] = [by_name[e.name].record() for _, e in found]
    run["duels"] = report.duels(results, bar)
    return run


def _absent(package: str) -> str:
    return f'not installed: pip install "{package}", or all peers with pip install "pliant[bench]"'


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def works(workload: str, arguments: argparse.Namespace) -> list[tuple[str, Workload]]:
    """Title and workload of each size."""
    time = {} if arguments.seconds is None else {"seconds": arguments.seconds}
    sizes = arguments.sizes or {"bar": [40], "worlds": [64], "cloth": [33, 101, 257]}[workload]
    found: list[tuple[str, Workload]] = []
    for size in sizes:
        if workload == "bar":
            bar = Bar(size, **time)
            found.append((f"{len(bar.tets)} tetrahedra", bar))
        elif workload == "worlds":
            found.append((f"{size} worlds of 33 x 33 vertices", Cloth(33, worlds=size, **time)))
        else:
            found.append((f"{size} x {size} vertices", Cloth(size, **time)))
    return found


def parser(workload: str) -> argparse.ArgumentParser:
    """Arguments of a command."""
    p = argparse.ArgumentParser(prog=f"pliant bench {workload}", description=ABOUT[workload])
    sizes = {"cloth": "vertices along a side (default: 33 101 257)", "worlds": "worlds (default: 64)"}
    p.add_argument(
        "--sizes",
        type=_size,
        nargs="+",
        metavar="N",
        help=sizes.get(workload, "cells along the bar (default: 40)"),
    )
    p.add_argument(
        "--only", nargs="+", default=[], metavar="WORD", help="entries whose name holds one of these"
    )
    p.add_argument("--also", nargs="+", default=[], metavar="MODULE", help="modules with further CONTESTANTS")
    p.add_argument("--seconds", type=float, metavar="S", help="time to simulate [s]")
    p.add_argument(
        "--limit", type=float, default=120.0, metavar="S", help="most a contestant may take (120 s)"
    )
    p.add_argument(
        "--threads", type=_size, metavar="T", help="threads of every contestant (default: its own)"
    )
    p.add_argument("--list", action="store_true", help="list the contestants and end")
    p.add_argument("--json", action="store_true", help="print the record as JSON")
    p.add_argument("--out", type=Path, metavar="DIR", help="write the page and the table (html, csv) there")
    p.add_argument("--record", type=Path, metavar="DIR", help="keep the record (json) there")
    return p


def _size(word: str) -> int:
    value = int(word)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{word} is not a whole number of at least 1")
    return value


def listing(found: Sequence[tuple[str, Contestant]]) -> str:
    """Who would take part."""
    return "\n".join(
        f"{e.name}\n    {e.package} {version(e.package) or 'not installed'}: {e.text}" for _, e in found
    )


def main(workload: str, argv: Sequence[str] | None = None) -> int:
    """Run a comparison; 0, or 1 where a bar was missed."""
    arguments = parser(workload).parse_args(argv)
    found = selected(entries(workload, arguments.also), arguments.only)
    if arguments.list:
        print(listing(found))
        return 0
    missing = sorted({e.package for _, e in found if version(e.package) is None})
    if len(missing) == len({e.package for _, e in found}):
        raise MissingExtraError("This comparison", missing[0], "bench")
    if missing:
        _say(f'not installed, so listed but not run: {", ".join(missing)} (pip install "pliant[bench]")')
    for folder in (arguments.out, arguments.record):
        if folder is not None:
            _make(folder)
    record: dict[str, Any] = {"workload": workload, "about": ABOUT[workload], "notes": NOTES[workload]}
    record |= {"machine": machine(), "runs": []}
    record["versions"] = {e.package: v for _, e in found if (v := version(e.package)) is not None}
    for title, work in works(workload, arguments):
        record["runs"].append(one_run(work, title, found, arguments))
    print(json.dumps(record, indent=1) if arguments.json else report.text(record))
    write(record, arguments.out, arguments.record)
    return 1 if any(d["reached"] is False for run in record["runs"] for d in run["duels"]) else 0


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PliantError(f"cannot make the folder {folder}: {error}; choose another place") from error


def write(record: dict[str, Any], out: Path | None, keep: Path | None) -> None:
    """Page, table and record, into the folders that are wanted."""
    stamp = record["machine"]["date"].replace(" UTC", "").replace(" ", "-").replace(":", "")
    files = []
    if out is not None:
        files.append((out / f"{record['workload']}.html", report.page(record)))
        files.append((out / f"{record['workload']}.csv", report.comma_separated(record)))
    if keep is not None:
        kept = {k: v for k, v in record.items() if k not in ("about", "notes")}
        files.append((keep / f"{record['workload']}-{stamp}.json", json.dumps(kept, indent=1) + "\n"))
    for path, words in files:
        path.write_text(words, encoding="utf-8")
        _say(f"wrote {path}")
