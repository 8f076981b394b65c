"""XPBD that lies: its kernels, run iteration by iteration, and between iterations what must not be done."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pliant.contact.arrays import DRAG, PUSH
from pliant.solvers.motion import hold_of, pins_of
from pliant.solvers.xpbd import solver as xpbd
from pliant.solvers.xpbd import stages

Array = np.ndarray
ITERATION = -1
"""Marks, in the table of a step, where an iteration begins."""


class Lie:
    """What happens around each iteration; the truth: nothing."""

    def substep(self, step: Step) -> None:
        """Before a substep."""

    def before(self, step: Step, k: int) -> None:
        """Before iteration ``k`` of a substep; prediction and pins are done."""

    def after(self, step: Step, k: int) -> None:
        """After it."""


class Step:
    """What ``run`` of XPBD is called with; x (T, N, 3, L) are the positions."""

    def __init__(self, *args: Any) -> None:
        self.args = args
        self.solver, self.model, self.state, self.control, self.colliders, self.ws, self.dt = args
        self.x: Array = self.state.x_lanes

    def detect(self) -> None:
        """Find contacts from the positions as they are; new contacts have pushed nobody yet."""
        xpbd.find_contacts(self.model, self.state, self.control, self.colliders, self.ws, self.dt)
        self.ws.contacts.pairs[:, :, :, PUSH : DRAG + 3] = 0


class RelaxedPositions(Lie):
    """(b) Positions go only a share of the way; the multipliers think that they went all of it."""

    share = 0.5

    def before(self, step: Step, k: int) -> None:
        self.start = step.x.copy()

    def after(self, step: Step, k: int) -> None:
        step.x[...] = self.start + self.share * (step.x - self.start)


class DetectionInside(Lie):
    """(c) Contacts are found in every iteration."""

    def before(self, step: Step, k: int) -> None:
        step.detect()


class ColdStartWhereItWas(Lie):
    """(e) The search begins at the positions of before, not at the prediction, with lambda = 0."""

    def substep(self, step: Step) -> None:
        self.previous = step.x.copy()

    def before(self, step: Step, k: int) -> None:
        if k == 0:
            free = step.model.inv_mass > 0
            step.x[:, free] = self.previous[:, free]


def tell(lie: Lie, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make XPBD, in one thread and one tile, run with a lie."""
    sweep = xpbd._sweep

    def marked(s: Any, ws: Any, flags: int, sub: int, by_color: bool) -> list[tuple[int, ...]]:
        return [(ITERATION, 0, 1, 0, sub), *sweep(s, ws, flags, sub, by_color)]

    def run(*args: Any) -> None:
        step, k = Step(*args), 0
        solver, model, control, ws, dt = step.solver, step.model, step.control, step.ws, step.dt
        assert model.n_tiles == 1
        assert ws.surfaces is None
        table = xpbd.step_table(solver, ws, by_color=ws.items is not ws.lanes)
        arrays = (
            ws.particles(step.state, control, dt / solver.substeps),
            pins_of(control, ws.pin_ids, ws.pin_start, solver.substeps),
            hold_of(control, ws.held_order, solver.substeps),
            ws.constraints(control),
            ws.gather,
            ws.contacts,
            step.colliders[0],
            None,
            *ws.outside(control),
            ws.times(dt, solver.substeps),
        )
        for row in table:
            if row[0] == stages.PREDICT:
                lie.substep(step)
                k = 0
            if row[0] == ITERATION or row[0] == stages.FINISH:
                if k > 0:
                    lie.after(step, k - 1)
                if row[0] == ITERATION:
                    lie.before(step, k)
                    k += 1
                    continue
            stages.run_table(row[None], 0, *arrays, ws.order, ws.extras, ws.lanes, ws.items)

    monkeypatch.setattr(xpbd, "_sweep", marked)
    monkeypatch.setattr(xpbd, "run", run)
