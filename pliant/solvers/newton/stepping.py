"""A step of all worlds, one after the other, by whatever a workspace minimises with."""

from __future__ import annotations

import time

import numpy as np

from ...diagnostics.report import complete_report
from ...errors import SolverError
from ...model import Model
from ...protocol import Status, StepInfo
from ...state import Control, State, gathered, spread
from ..base import check_step
from .elements.base import Array
from .substep import NEAR, Ended, Inputs, advance
from .workspace import Workspace


def step(
    model: Model, state: State, control: Control, ws: Workspace, dt: float, report: str,
    budget: tuple[int, float, int],
) -> StepInfo:  # fmt: skip
    """Advance ``state`` by dt [s]; budget: substeps, tolerance, most iterations of a substep."""
    check_step(dt, report)
    start = time.perf_counter()
    x, v = gathered(state.x_lanes, model), gathered(state.v_lanes, model)
    inputs = Inputs.of(ws, state, control, dt, *budget)
    info = StepInfo(
        time=state.time + dt,
        status=np.zeros(model.n_worlds, np.int32),
        iterations=0,
        contacts=np.zeros(model.n_worlds, int),
        max_penetration=np.zeros(model.n_worlds),
        incremental_potential=np.zeros(model.n_worlds),
        primal_residual=np.zeros(model.n_worlds),
    )
    failed = np.zeros(model.n_worlds, bool)
    for w in np.flatnonzero(~state.frozen).tolist():
        ended = advance(ws, inputs, w, x[w], v[w])
        failed[w] = ended is None
        if ended is not None:
            x[w], v[w] = ended.x, ended.v
            _report(info, w, ended, ws)
    info.status[state.frozen] = int(Status.FROZEN)
    info.status[failed] = int(Status.NONFINITE)
    state.frozen |= failed
    state.x_lanes[...] = spread(x, model)
    state.v_lanes[...] = spread(v, model)
    state.time += dt
    control.arrived()
    info.timers["minimisation"] = time.perf_counter() - start
    if report == "full":
        complete_report(info, model, state, control, ws.last_substep(dt / budget[0]))
        info.timers["report"] = time.perf_counter() - start - info.timers["minimisation"]
    return info


def multipliers(model: Model, ws: Workspace, law: str) -> Array:
    """lambda (W, E, rows) of a law at the end of the last step, in the order constraints were added."""
    if law not in ws.lambda_:
        present = ", ".join(ws.lambda_) or "none"
        raise SolverError(f'this scene has no constraints of law "{law}"; it has {present}')
    back = np.argsort(model.blocks[law].file_order, kind="stable")
    return ws.lambda_[law][:, back]


def _report(info: StepInfo, world: int, ended: Ended, ws: Workspace) -> None:
    """How a world's step ended."""
    last = ended.outcomes[-1]
    assert info.incremental_potential is not None
    assert info.primal_residual is not None
    info.incremental_potential[world] = ws.objective.energy(last.value)
    info.primal_residual[world] = last.residual
    info.iterations = max(info.iterations, sum(o.iterations for o in ended.outcomes))
    info.contacts[world], info.max_penetration[world] = ended.contacts, ended.depth
    if not all(o.converged for o in ended.outcomes):
        info.status[world] |= int(Status.NOT_CONVERGED)
    if ended.buried > NEAR * ws.model.length:
        info.status[world] |= int(Status.START_PENETRATES)
