"""The conformance suite: what every solver is held to, in every precision and batch size.

``check_solver(solver)`` runs it on any class that follows :class:`pliant.solvers.base.Solver`. A row is a
small function whose docstring states the closed form that it compares with and where its bound comes from;
:data:`ROWS` lists them. What a solver claims (:class:`pliant.Claims`) decides which rows are demanded; the
others are measured and shown all the same.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import numpy as np

from ...errors import PliantError, SolverError
from ...solvers.base import Solver
from ...solvers.xpbd.solver import XPBD
from ..experiment import Experiment, Table, Verdict
from . import bits, contact, control, faces, memory, motion, solids, statics, symmetry
from . import worlds as world_rows
from .bits import threads
from .case import Case, Row
from .report import Finding, Report, Result

__all__ = ["ROWS", "Finding", "Report", "Result", "Row", "check_solver"]

ROWS: tuple[Row, ...] = (
    *motion.ROWS,
    *statics.ROWS,
    *control.ROWS,
    *contact.ROWS,
    *faces.ROWS,
    *symmetry.ROWS,
    *world_rows.ROWS,
    *memory.ROWS,
    *bits.ROWS,
    *solids.ROWS,
)
"""Every row, in the order of a report."""


def check_solver(
    solver: Solver,
    dtypes: Sequence[str] = ("float64", "float32"),
    worlds: Sequence[int] = (1, 5, 64),
    names: Iterable[str] | None = None,
) -> Report:
    """Run the conformance suite on a solver.

    solver  an object that follows :class:`pliant.solvers.base.Solver`; rows that need another budget make one
            by ``dataclasses.replace(solver, substeps=..., iterations=...)`` where it has these fields
    dtypes  precisions, "float64" and "float32"
    worlds  batch sizes
    names   rows to run (default: all of :data:`ROWS`)
    Returns a :class:`Report`: ``print(report)``, ``report.ok``, ``report.raise_on_failure()``. Rows run with
    one thread, except those that compare threads. An error inside a row makes it fail, with the error as its
    note. Raises SolverError for an unknown row, an empty selection, or what is not a solver.
    """
    if not isinstance(solver, Solver):
        raise SolverError(f"{type(solver).__name__} does not follow pliant.solvers.base.Solver")
    rows = _chosen(names)
    cases = [Case(solver, np.dtype(d).name, int(w)) for d in dtypes for w in worlds]
    with threads(1):
        results = tuple(_result(case, row) for case in cases for row in rows if row.applies(case.worlds))
    if not results:
        raise SolverError("check_solver: no row applies to these precisions, batch sizes and names")
    return Report(repr(solver), results)


def run(quick: bool = False) -> Experiment:
    """The suite on XPBD as an experiment of the lab: a verdict for every row asked; quick: one batch."""
    dtypes = ["float64"] if quick else ["float64", "float32"]
    worlds = [5] if quick else [1, 5, 64]
    report = check_solver(XPBD(), dtypes, worlds)
    asked = [r for r in report.rows if r.outcome in ("passed", "failed")]
    titles = {row.name: row.title for row in ROWS}
    out = Experiment(
        "conformance",
        "The conformance suite",
        "The rules that every solver must keep, for XPBD with its defaults. Bounds are derived, not tuned: "
        "the suite's page says from what.",
        {"solver": report.solver, "dtype": ", ".join(dtypes), "worlds": ", ".join(map(str, worlds))},
    )
    for r in asked:
        found, most = r.finding, not r.finding.at_least
        what = f"{r.name}, {r.dtype}, {r.worlds} worlds"
        out.verdicts.append(
            Verdict(what, found.measured, found.bound, 0, titles[r.name], at_most=most, at_least=not most)
        )
    rows = [(r.name, r.dtype, r.worlds, r.outcome, r.seconds, r.finding.note) for r in report.rows]
    heads = ("row", "precision", "worlds", "outcome", "time [s]", "note")
    out.tables.append(Table("All rows", heads, rows))
    return out


def _chosen(names: Iterable[str] | None) -> tuple[Row, ...]:
    if names is None:
        return ROWS
    wanted = [names] if isinstance(names, str) else list(names)
    known = {row.name: row for row in ROWS}
    for name in wanted:
        if name not in known:
            raise SolverError(f'check_solver: no row "{name}"; there are {", ".join(known)}')
    return tuple(known[name] for name in wanted)


def _result(case: Case, row: Row) -> Result:
    start = time.perf_counter()
    claimed = row.claim is None or bool(getattr(case.solver.claims, row.claim))
    try:
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            finding = row.measure(case)
    except (PliantError, ArithmeticError, ValueError, TypeError, LookupError, AttributeError) as error:
        finding = Finding(np.nan, np.nan, f"{type(error).__name__}: {error}")
    return Result(row.name, case.dtype, case.worlds, claimed, finding, time.perf_counter() - start)
