"""What the conformance suite finds, row by row, and the report made of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ...errors import SolverError

PASSED, FAILED, NOT_CLAIMED, SKIPPED = "passed", "failed", "not claimed", "skipped"


@dataclass(frozen=True)
class Finding:
    """One measured number and the bound it is held to.

    measured   compared with ``bound``: at most, or (``at_least``) at least; NaN never holds
    note       what else was seen, in a few words
    skipped    why the row cannot be measured here; empty otherwise
    """

    measured: float
    bound: float
    note: str = ""
    at_least: bool = False
    skipped: str = ""

    @property
    def holds(self) -> bool:
        """True when the number is on the right side of its bound."""
        if math.isnan(self.measured) or math.isnan(self.bound):
            return False
        return self.measured >= self.bound if self.at_least else self.measured <= self.bound

    @classmethod
    def unmeasured(cls, why: str) -> Finding:
        """The machine, or a parameter of the solver, lacks what the row needs."""
        return cls(math.nan, math.nan, skipped=why)


@dataclass(frozen=True)
class Result:
    """A row's finding for one precision and batch size; ``claimed`` says whether the solver promises it."""

    name: str
    dtype: str
    worlds: int
    claimed: bool
    finding: Finding
    seconds: float

    @property
    def outcome(self) -> str:
        """ "passed", "failed", "not claimed" (measured, but not demanded) or "skipped"."""
        if self.finding.skipped:
            return SKIPPED
        if not self.claimed:
            return NOT_CLAIMED
        return PASSED if self.finding.holds else FAILED

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        f = self.finding
        return {
            "name": self.name,
            "dtype": self.dtype,
            "worlds": self.worlds,
            "outcome": self.outcome,
            "holds": f.holds,
            "measured": f.measured,
            "bound": f.bound,
            "at_least": f.at_least,
            "note": f.skipped or f.note,
            "seconds": self.seconds,
        }


@dataclass(frozen=True)
class Report:
    """All results of :func:`check_solver`; ``print(report)`` shows them as a table."""

    solver: str
    rows: tuple[Result, ...]

    @property
    def ok(self) -> bool:
        """True when no row that is demanded failed (one that could not be measured is no failure)."""
        return not self.failures

    @property
    def failures(self) -> tuple[Result, ...]:
        """The rows that are claimed and do not hold."""
        return tuple(r for r in self.rows if r.outcome == FAILED)

    def count(self, outcome: str) -> int:
        """How many rows ended so."""
        return sum(r.outcome == outcome for r in self.rows)

    def raise_on_failure(self) -> None:
        """Raise SolverError naming every row that failed."""
        if self.failures:
            lines = "\n".join(f"  {_line(r)}" for r in self.failures)
            raise SolverError(
                f"{self.solver} breaks {len(self.failures)} rows of the conformance suite:\n{lines}"
            )

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        return {"solver": self.solver, "ok": self.ok, "rows": [r.to_dict() for r in self.rows]}

    def __str__(self) -> str:
        kinds = (PASSED, FAILED, NOT_CLAIMED, SKIPPED)
        total = ", ".join(f"{n} {kind}" for kind in kinds if (n := self.count(kind)))
        seconds = sum(r.seconds for r in self.rows)
        head = (
            f"{'row':32} {'precision':9} {'worlds':>6}  {'outcome':22} {'measured':>10}    {'bound':>9}  note"
        )
        lines = [f"conformance of {self.solver}", head, *map(_line, self.rows)]
        return "\n".join([*lines, f"{total or 'nothing measured'} in {seconds:.0f} s"])


def _line(r: Result) -> str:
    f = r.finding
    if f.skipped:
        return f"{r.name:32} {r.dtype:9} {r.worlds:6}  {r.outcome:22} {'':10}    {'':9}  {f.skipped}"
    outcome = r.outcome
    if outcome == NOT_CLAIMED:
        outcome += ", holds" if f.holds else ", no"
    sign = ">=" if f.at_least else "<="
    numbers = f"{f.measured:10.3g} {sign} {f.bound:9.3g}"
    return f"{r.name:32} {r.dtype:9} {r.worlds:6}  {outcome:22} {numbers}  {f.note}".rstrip()
