"""Physical targets: closed forms and measured values, and which test or experiment holds each of them.

The table is ``targets.csv`` beside this file; docs/targets.md shows it.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from pathlib import Path

BANDS = ("yes", "part", "no", "untested", "not expressible")
"""What ``in_band`` may be: measured inside the tolerance; a part of the row, said in the remark; measured
outside; nothing measures it; no law that Pliant has can show it."""


@dataclass(frozen=True)
class Target:
    """One row.

    id, quantity, setup  what is measured, and on what
    value, unit          what it should be: numbers or a formula
    tolerance            how far it may be off, in words
    source               where the value comes from
    held_by              what measures it: ``tests/file.py::test``, ``conformance:row`` or ``lab:experiment``
    measured             the figure that came out, where one is on record
    in_band              one of :data:`BANDS`
    remark               what is not held, and why
    """

    id: str
    quantity: str
    setup: str
    value: str
    unit: str
    tolerance: str
    source: str
    held_by: tuple[str, ...]
    measured: str
    in_band: str
    remark: str


def targets() -> list[Target]:
    """Every row of the table, in its order."""
    with (Path(__file__).parent / "targets.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [Target(**(row | {"held_by": tuple(row["held_by"].split())})) for row in rows]  # type: ignore[arg-type]


def markdown() -> str:
    """The table as docs/targets.md shows it."""
    lines = ["| row | what | should be | within | measured | in band | held by |", "|---" * 7 + "|"]
    for t in targets():
        unit = "" if t.unit in ("1", "-") else f" [{t.unit}]"
        held = "<br>".join(f"`{name}`" for name in t.held_by)
        last = "; ".join(part for part in (held, t.remark) if part)
        cells = (t.id, f"{t.quantity}: {t.setup}", t.value + unit, t.tolerance, t.measured, t.in_band, last)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


COLUMNS = tuple(f.name for f in fields(Target))
"""Headings of ``targets.csv``."""
