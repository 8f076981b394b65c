"""Rows about bits: the same protocol gives the same numbers, whatever else is going on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...backend.threads import get_threads, set_threads
from ...errors import PliantError
from ...geometry import shapes
from ...geometry.colliders import Plane
from ...protocol import Status, StepInfo
from ...scene import Scene
from .case import Case, Run, budgeted, distinct, row
from .report import Finding
from .specimens import SHEETS, SOFT, G, dress, two_sheets

Array = np.ndarray

STEPS = 4
"""Steps of a comparison: enough for the sheets of :func:`two_sheets` to land."""


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Run with ``n`` threads; PliantError where the machine allows fewer."""
    before = get_threads()
    set_threads(n)
    try:
        yield
    finally:
        set_threads(before)


def evidence(run: Any, info: StepInfo) -> list[Array]:
    """Everything that a run gives out, worlds first: positions, velocities and all figures of a full report.

    Only the status bit that a list grew is left out: it tells of memory, not of the worlds.
    """
    figures = [v for k, v in vars(info).items() if isinstance(v, np.ndarray) and k != "status"]
    figures.append(info.status & ~int(Status.CONTACT_GREW))
    for stats in info.constraint_residual.values():
        figures += stats.values()
    for low_high in info.multipliers.values():
        figures += low_high
    return [run.state.x, run.state.v, *figures]


def differing(
    a: list[Array], b: list[Array], worlds_a: Any = slice(None), worlds_b: Any = slice(None)
) -> int:
    """Numbers that differ between two pieces of evidence, in these worlds of each."""
    if len(a) != len(b):
        return max(len(a), len(b))
    return sum(distinct(p[worlds_a], q[worlds_b]) for p, q in zip(a, b, strict=True))


def dressed(case: Case, ids: Any = None, solver: Any = None, sheets: Any = two_sheets) -> Run:
    """Two sheets with worlds that all differ; ``ids``: run these of them alone."""
    run = case.run(sheets(contact=case.contact), solver=solver, worlds=None if ids is None else len(ids))
    dress(run, case, ids)
    return run


def seen(run: Run, steps: int = STEPS) -> list[Array]:
    """Evidence after some steps, the last one with a full report."""
    if steps > 1:
        run.step(steps - 1)
    return evidence(run, run.step(report="full"))


@row("deterministic")
def bits_run_to_run(case: Case) -> Finding:
    """The same start gives the same bits: in a fresh workspace, and in one that has worked before.

    A workspace that remembers something is brought back by ``arrays`` and ``restore``, as from a snapshot.
    Measured: numbers that differ in positions, velocities and the full report after 4 steps with contact, for
    two pairs of sheets that have every law between them.
    """
    return _all([_run_to_run(case, sheets) for sheets in SHEETS])


def _all(findings: list[Finding]) -> Finding:
    """Differing numbers of several comparisons, or the first that could not be made."""
    for finding in findings:
        if finding.skipped or not np.isfinite(finding.measured):
            return finding
    return Finding(sum(f.measured for f in findings), 0, "numbers that differ")


def _run_to_run(case: Case, sheets: Any) -> Finding:
    run = dressed(case, sheets=sheets)
    state, control = run.state.arrays(), run.control.arrays()
    memory = run.workspace.arrays() if hasattr(run.workspace, "arrays") else None
    first = seen(run)
    if not any(a.any() for a in first[2:]):
        return Finding(np.nan, 0, "guard: the report is empty")
    run.state.restore(state)
    run.control.restore(control)
    if memory is not None:
        run.workspace.restore(memory)
    again = differing(first, seen(run))
    return Finding(differing(first, seen(dressed(case, sheets=sheets))) + again, 0)


@row("deterministic", least=2)
def bits_batch(case: Case) -> Finding:
    """A world of a batch is bit for bit the world run alone, while others hit other things.

    Worlds differ in start, speed, stiffness, force and pin targets, hence in contacts (a guard asks that
    they do). Measured: numbers of four worlds that differ from single runs, for two pairs of sheets.
    """
    return _all([_batch(case, sheets) for sheets in SHEETS])


def _batch(case: Case, sheets: Any) -> Finding:
    run = dressed(case, sheets=sheets)
    history = np.array([np.array(run.step().contacts) for _ in range(STEPS - 1)])
    info = run.step(report="full")
    batch = evidence(run, info)
    history = np.vstack([history, info.contacts])  # (STEPS, worlds)
    alike = len(np.unique(history, axis=1).T) < min(2, case.worlds) or not history.any()
    if case.contact and alike:
        return Finding(
            np.nan, 0, f"guard: contacts of the worlds, step by step, are {history[:, :4].tolist()}"
        )
    total = 0
    for k in sorted({0, 1, case.worlds // 2, case.worlds - 1}):
        total += differing(batch, seen(dressed(case, [k], sheets=sheets)), [k])
    return Finding(total, 0)


@row("deterministic")
def bits_threads(case: Case) -> Finding:
    """One thread and two give the same bits.

    Few substeps where the solver has such a parameter: small scenes spend their time waiting for threads.
    """
    return _all([_threads(case, sheets) for sheets in SHEETS])


def _threads(case: Case, sheets: Any) -> Finding:
    solver = budgeted(case.solver, substeps=3)
    found = []
    for n in (1, 2):
        try:
            with threads(n):
                found.append(seen(dressed(case, solver=solver, sheets=sheets)))
        except PliantError as error:
            return Finding.unmeasured(str(error))
    return Finding(differing(*found), 0, "numbers that differ")


LARGE = 97
"""Side of the sheet of :func:`bits_threads_in_a_colour`: 18,432 triangles, over 2,048 in a colour."""


@row("deterministic", most=16)
def bits_threads_in_a_colour(case: Case) -> Finding:
    """A sheet large enough to be split inside a colour has the same bits with one thread and with two.

    97 x 97 vertices on a floor, so that contacts are many, too.
    """
    scene = Scene(gravity=(0, 0, -G))
    lift = 0.5 * SOFT.thickness
    scene.add_cloth(shapes.grid(LARGE, LARGE), SOFT, position=(0, 0, lift), pins=[0])
    if case.contact:
        scene.add_collider(Plane(), friction=0.3)
    solver = budgeted(case.solver, substeps=2)
    model = case.build(scene)
    wiggle = 1e-3 * case.random(LARGE**2, 3)
    wiggle[0] = 0
    found = []
    for n in (1, 2):
        try:
            with threads(n):
                run = case.run(model, solver=solver)
                run.state.set_x(model.x_rest + wiggle)
                info = run.step()
        except PliantError as error:
            return Finding.unmeasured(str(error))
        if case.contact and not np.min(info.contacts) > LARGE:
            return Finding(np.nan, 0, f"guard: only {np.min(info.contacts)} contacts")
        found.append(evidence(run, info))
    return Finding(differing(*found), 0, "numbers that differ")


ROWS = (bits_run_to_run, bits_batch, bits_threads, bits_threads_in_a_colour)
