"""Rows about worlds: reset one, save them all, lose one to a number that is none."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import PliantError
from ...protocol import Status
from ...scene import Scene
from ...simulation import Simulation
from .bits import differing, dressed, evidence
from .case import Case, Run, distinct, row
from .report import Finding
from .specimens import dress, two_sheets

Array = np.ndarray
Specimen = Callable[..., Scene]


def _simulation(case: Case, make: Specimen = two_sheets) -> Simulation:
    sim = case.simulation(make(contact=case.contact))
    dress(sim, case)
    return sim


def _stepped(sim: Any, n: int = 3) -> list[Array]:
    for _ in range(n - 1):
        sim.step()
    return evidence(sim, sim.step(report="full"))


@row()
def masked_reset(case: Case) -> Finding:
    """A reset puts its worlds back to the start and leaves every bit of the others; both then go on so.

    The others must follow a run without a reset, the reset ones a simulation just begun. Measured: numbers
    that differ.
    """
    return resets(case)


def resets(case: Case, make: Specimen = two_sheets) -> Finding:
    """:func:`masked_reset` of a specimen."""
    mask = np.arange(case.worlds) % 2 == 0
    sim, straight, fresh = (_simulation(case, make) for _ in range(3))
    _stepped(sim)
    _stepped(straight)
    sim.reset(worlds=mask)
    fresh.reset()
    total = distinct(sim.state.x[mask], fresh.state.x[mask]) + distinct(
        sim.state.v[mask], fresh.state.v[mask]
    )
    total += differing([sim.state.x, sim.state.v], [straight.state.x, straight.state.v], ~mask, ~mask)
    after = _stepped(sim)
    total += differing(after, _stepped(straight), ~mask, ~mask)
    total += differing(after, _stepped(fresh), mask, mask)
    return Finding(total, 0, "numbers that differ")


@row()
def saved_and_resumed(case: Case) -> Finding:
    """Saved and loaded, into itself and into a new simulation, a run equals the straight one bit for bit.

    Measured: numbers that differ after 3 steps, a snapshot and 3 more.
    """
    return resumes(case)


def resumes(case: Case, make: Specimen = two_sheets) -> Finding:
    """:func:`saved_and_resumed` of a specimen."""
    sim = _simulation(case, make)
    _stepped(sim)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "snapshot.npz"
        sim.save(path)
        straight, time = _stepped(sim), sim.time
        other = case.simulation(make(contact=case.contact))
        total = 0
        for one in (sim, other):
            one.load(path)
            total += differing(straight, _stepped(one)) + (one.time != time)
    return Finding(total, 0, "numbers that differ")


def _same_arrays(a: dict[str, Array], b: dict[str, Array]) -> bool:
    """Equal in all bits; an array that was empty may have become zeros."""
    return all(distinct(a[k], b[k]) == 0 or (a[k].size == 0 and not b[k].any()) for k in a)


def _raises(run: Run, call: Any, *args: Any) -> bool:
    """True when a call raises PliantError and writes nothing."""
    state, control = run.state.arrays(), run.control.arrays()
    try:
        call(*args)
    except PliantError:
        return _same_arrays(state, run.state.arrays()) and _same_arrays(control, run.control.arrays())
    return False


@row()
def non_finite_is_refused(case: Case) -> Finding:
    """NaN and infinity are refused with a PliantError that leaves everything as it was.

    Positions, velocities, forces, gravity, targets, scales of one world, and dt (also 0 and negative).
    Measured: how many are not refused, or leave a trace.
    """
    run = dressed(case)
    model, last = run.model, case.worlds - 1
    run.step()
    faults = []
    for bad in (np.nan, np.inf, -np.inf):
        full = np.zeros((1, model.n_particles, 3))
        full[0, -1, 2] = bad
        writers = [
            ("set_x", run.state.set_x, (full, last)),
            ("set_v", run.state.set_v, (full, last)),
            ("set_force", run.control.set_force, (full, last)),
            ("set_gravity", run.control.set_gravity, (full[0, -1], last)),
            ("set_pins", run.control.set_pins, (model.pin_ids, bad, last)),
            ("set_attachments", run.control.set_attachments, (bad, last)),
            ("set_scale", run.control.set_scale, ("membrane", bad, last)),
        ]
        faults += [f"{name}({bad})" for name, call, args in writers if not _raises(run, call, *args)]
    for dt in (np.nan, np.inf, 0.0, -0.01):
        step = run.solver.step
        if not _raises(run, step, model, run.state, run.control, run.workspace, dt):
            faults.append(f"step(dt={dt})")
    return Finding(len(faults), 0, "; ".join(faults))


def _spoilt(case: Case, tile: int, lane: int, array: str, value: float) -> tuple[Run, list[Any]]:
    """A run into which one bad number is put after a step, and what it then gives out for 3 steps."""
    run = dressed(case)
    run.step()
    if value == value:
        getattr(run.state, array)[tile, 5, 1, lane] = np.inf * value
    else:
        getattr(run.state, array)[tile, 5, 1, lane] = np.nan
    out = []
    for _ in range(3):
        info = run.step(report="full")
        out.append((info, evidence(run, info)))
    return run, out


@row()
def non_finite_is_isolated(case: Case) -> Finding:
    """A world that becomes NaN or infinite says so, is frozen, and costs no neighbour a bit.

    The bad number is put into the arrays of one world: NONFINITE in that step, FROZEN after, no motion, and
    all right again after a reset. In a spare lane it must show nowhere. Measured: how many of these do not
    hold; the note names the first.
    """
    clean = dressed(case)
    clean.step()
    expected = []
    for _ in range(3):
        info = clean.step(report="full")
        expected.append((info, evidence(clean, info)))
    width, k = clean.model.width, case.worlds // 2
    others = np.arange(case.worlds) != k
    faults = []
    for array, value in (("x_lanes", np.nan), ("v_lanes", np.inf)):
        run, got = _spoilt(case, k // width, k % width, array, value)
        what = f"{array[0]} = {value}"
        for n, ((info, found), (_, want)) in enumerate(zip(got, expected, strict=True)):
            bit = Status.NONFINITE if n == 0 else Status.FROZEN
            if not int(info.status[k]) & bit:
                faults.append(f"{what}: step {n} does not report {bit.name}")
            if differing(found, want, others, others):
                faults.append(f"{what}: a neighbour changed in step {n}")
        if distinct(got[0][1][0][k], got[2][1][0][k]):
            faults.append(f"{what}: the frozen world moves")
        run.state.reset(k)
        run.control.reset(k)
        info = run.step()
        if int(info.status[k]) & (Status.NONFINITE | Status.FROZEN) or not np.isfinite(run.state.x).all():
            faults.append(f"{what}: not well after a reset")
    spare = clean.model.n_tiles * width - case.worlds
    if spare:
        _, got = _spoilt(case, clean.model.n_tiles - 1, width - 1, "x_lanes", np.nan)
        if any(differing(found, want) for (_, found), (_, want) in zip(got, expected, strict=True)):
            faults.append("a spare lane shows")
    return Finding(len(faults), 0, faults[0] if faults else "")


ROWS = (masked_reset, saved_and_resumed, non_finite_is_refused, non_finite_is_isolated)
