"""Rows about what is held: pins, moving targets, and the protocol that a solver states."""

from __future__ import annotations

import json

import numpy as np

from ...protocol import Protocol
from .case import DT, Case, budgeted, distinct, row
from .report import Finding
from .specimens import G, patch

Array = np.ndarray

CORNERS = (0, 4, 12, 24)
"""Vertices that are pinned: three corners and the middle of a 5 x 5 sheet."""


@row()
def pins_never_move(case: Case) -> Finding:
    """Pinned vertices keep every bit of their positions while the rest of the sheet thrashes.

    Measured: numbers that differ after any of 4 steps; a guard asks that the free vertices did move.
    """
    run = case.run(patch(gravity=G, size=0.5, pins=CORNERS))
    run.state.set_v(case.random_worlds(run.model.n_particles, 3))
    start = run.state.x
    ids = list(CORNERS)
    moved = 0
    for _ in range(4):
        run.step()
        moved += distinct(run.state.x[:, ids], start[:, ids])
    free = np.delete(np.abs(run.state.x - start).max(axis=(0, 2)), ids)
    if not free.max() > 1e-5:
        return Finding(np.nan, 0, "guard: the free vertices did not move")
    return Finding(moved, 0, "numbers that differ")


@row()
def targets_are_hit(case: Case) -> Finding:
    """A pinned vertex with a target is exactly there at the end of the step, in every world its own.

    Measured: numbers that differ from the target in this precision, over 4 steps.
    """
    run = case.run(patch(gravity=G, size=0.5, pins=CORNERS))
    ids, missed = list(CORNERS), 0
    for k in range(4):
        ways = np.stack([case.random(4, len(ids), 3, world=w)[k] for w in range(case.worlds)])
        targets = run.model.x_rest[ids] + 0.05 * ways
        run.control.set_pins(ids, targets)
        run.step()
        missed += distinct(run.state.x[:, ids], targets.astype(case.dtype))
    return Finding(missed, 0, "numbers that differ")


@row()
def protocol_is_stated(case: Case) -> Finding:
    """``solver.protocol`` names precision and step, survives JSON, and changes with the solver's budget.

    A snapshot, a data set or a policy is refused by comparing protocols: what is not in it is not guarded.
    Measured: how many of these do not hold.
    """
    model = case.build(patch())
    made = case.solver.protocol(model, DT)
    faults = []
    if made.dtype != case.dtype or made.dt != DT:
        faults.append("precision or dt not named")
    if made != Protocol.from_dict(json.loads(json.dumps(made.to_dict()))):
        faults.append("does not survive JSON")
    if made == case.solver.protocol(model, DT / 2):
        faults.append("same for half the dt")
    for key in ("substeps", "iterations"):
        other = budgeted(case.solver, **{key: getattr(made, key) + 1})
        if other is not None and other.protocol(model, DT) == made:
            faults.append(f"same for other {key}")
    return Finding(len(faults), 0, "; ".join(faults))


@row(least=2)
def gravity_per_world(case: Case) -> Finding:
    """Every world falls by its own gravity, x0 + g h^2 n (n + 1)/2 after n substeps, over a reset, too.

    Within 2 n eps max |x|, as in free fall; 5 steps before and 5 after a reset of half the worlds.
    """
    run = case.run(patch(gravity=G, size=0.5))
    g = np.array([0.0, 0.0, -G]) + 4 * case.random_worlds(3)
    run.control.set_gravity(g)
    mask = np.arange(case.worlds) % 2 == 0
    run.step(5)
    run.state.reset(mask)
    run.control.reset(mask)
    run.step(5)
    n = np.where(mask, 5, 10) * round(run.dt / run.h)
    fallen = g * (run.h**2 * n * (n + 1) / 2)[:, None]
    exact = run.model.x_rest + fallen[:, None]
    error = float(np.abs(run.x - exact).max())
    return Finding(error, 2 * int(n.max()) * case.eps * float(np.abs(exact).max()), "m")


ROWS = (gravity_per_world, pins_never_move, targets_are_hit, protocol_is_stated)
