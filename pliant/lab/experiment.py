"""What an experiment of the lab gives out: verdicts, tables and the numbers behind its plots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Verdict:
    """One measured number against a reference.

    what        in a few words, with its unit
    measured    the number
    reference   what it should be
    tolerance   how far it may be off: a share of the reference, or (``absolute``) in its own unit
    source      what the reference is: a closed form with its equation, a run, a value with its source
    at_most     the reference is a bound from above; then ``tolerance`` is not used
    at_least    the same from below
    """

    what: str
    measured: float
    reference: float
    tolerance: float
    source: str
    absolute: bool = False
    at_most: bool = False
    at_least: bool = False

    @property
    def ok(self) -> bool:
        """True when the number is where it should be; NaN never is."""
        if self.at_most:
            return self.measured <= self.reference
        if self.at_least:
            return self.measured >= self.reference
        room = self.tolerance if self.absolute else self.tolerance * abs(self.reference)
        return abs(self.measured - self.reference) <= room

    @property
    def rule(self) -> str:
        """What is asked, in words."""
        if self.at_most:
            return f"at most {self.reference:.4g}"
        if self.at_least:
            return f"at least {self.reference:.4g}"
        room = f"{self.tolerance:.3g}" if self.absolute else f"{100 * self.tolerance:.3g} %"
        return f"{self.reference:.6g} within {room}"


@dataclass(frozen=True)
class Table:
    """Rows under headings; units stand in the headings."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


@dataclass(frozen=True)
class Line:
    """One line of a plot; ``dashed`` for a reference."""

    name: str
    x: Sequence[float] | Array
    y: Sequence[float] | Array
    dashed: bool = False


@dataclass(frozen=True)
class Plot:
    """Lines over one pair of axes, whose labels hold units; ``log`` holds "x", "y" or both."""

    title: str
    x: str
    y: str
    lines: list[Line]
    log: str = ""


@dataclass(frozen=True)
class Picture:
    """Pixels (height, width, 3) uint8 with a caption."""

    title: str
    pixels: Array


@dataclass
class Experiment:
    """One experiment: what was done, under which protocol, and what came out.

    seconds, processor_seconds   what it took, by the clock and of processor time, compilation included
    about      two or three sentences: what is changed, what is recorded, what it would uncover
    protocol   dt, substeps, iterations, order, precision and sizes, as plain data
    """

    name: str
    title: str
    about: str
    protocol: dict[str, Any]
    verdicts: list[Verdict] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    seconds: float = math.nan
    processor_seconds: float = math.nan

    @property
    def ok(self) -> bool:
        """True when every verdict is."""
        return all(v.ok for v in self.verdicts)

    def text(self) -> str:
        """Verdicts and tables for a terminal."""
        lines = [f"{self.title} ({self.seconds:.0f} s)"]
        for table in self.tables:
            lines += ["", f"  {table.title}", *_columns([table.columns, *table.rows])]
        rows: list[tuple[Any, ...]] = [("", "measured", "asked", "by")]
        rows += [
            (("ok" if v.ok else "OFF") + f"  {v.what}", v.measured, v.rule, v.source) for v in self.verdicts
        ]
        return "\n".join([*lines, "", *_columns(rows), ""])


def cell(value: Any) -> str:
    """A value as it is written in tables."""
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    return str(value)


def _columns(rows: Sequence[Sequence[Any]]) -> list[str]:
    words = [[cell(v) for v in row] for row in rows]
    widths = [max(len(r[k]) for r in words) for k in range(len(words[0]))]
    return ["  " + "  ".join(w.ljust(n) for w, n in zip(r, widths, strict=True)).rstrip() for r in words]
