"""Projected Newton on the incremental potential: what every other solver approximates, to rounding."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from ...diagnostics.report import complete_report
from ...errors import SolverError
from ...model import Model
from ...protocol import Claims, Protocol, Status, StepInfo
from ...state import Control, State, gathered, spread
from ..base import check_counts, check_step
from .substep import NEAR, Ended, Inputs, advance
from .workspace import Workspace

Array = np.ndarray


@dataclass(frozen=True)
class Newton:
    """The reference solver: each substep minimises E(x) = |x - x~|^2_M/(2 h^2) + sum U(x).

    substeps        a step dt is divided into substeps of h = dt/substeps
    tolerance       the gradient is brought below this share of that at x~ (and, where rounding allows, well
                    below)
    max_iterations  of Newton per substep; a world that needs more reports NOT_CONVERGED and goes on

    Float64 only. Friction, mesh colliders and rigid materials are refused by ``init``. Worlds run one by one.
    docs/solvers/newton.md has the equations.
    """

    substeps: int = 1
    tolerance: float = 1e-10
    max_iterations: int = 100
    claims: Claims = field(
        default=Claims(
            single_constraint_static=True,
            momentum=True,
            deterministic=True,
            renumbering="tolerance",
            stable_any_step=True,
            contact=False,
        ),
        repr=False,
    )

    def __post_init__(self) -> None:
        check_counts(self, "Newton", "substeps", "max_iterations")
        if not 0 < self.tolerance < 1:
            raise SolverError(f"Newton: tolerance is {self.tolerance!r}, it must lie between 0 and 1")

    def protocol(self, model: Model, dt: float) -> Protocol:
        """The numeric protocol of a run with these parameters."""
        return Protocol(
            solver=type(self).__name__,
            dt=float(dt),
            substeps=int(self.substeps),
            iterations=int(self.max_iterations),
            order="all at once",
            multiplier_reset="substep",
            dtype=str(model.dtype),
            contact={"colliders": len(model.colliders)},
            options={"tolerance": self.tolerance},
        )

    def init(self, model: Model) -> Workspace:
        """Elements and the pattern of the Hessian. Raises SolverError naming what cannot be solved."""
        return Workspace(model)

    def step(
        self, model: Model, state: State, control: Control, ws: Workspace, dt: float, report: str = "status"
    ) -> StepInfo:
        """Advance ``state`` by dt [s].

        ``incremental_potential`` and ``primal_residual`` are always reported, as the minimisation found them
        in the last substep; ``report="full"`` adds the rest, with residuals of the rounded positions.
        """
        check_step(dt, report)
        start = time.perf_counter()
        x, v = gathered(state.x_lanes, model), gathered(state.v_lanes, model)
        inputs = Inputs.of(ws, state, control, dt, self.substeps, self.tolerance, self.max_iterations)
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
            complete_report(info, model, state, control, ws.last_substep(dt / self.substeps))
            info.timers["report"] = time.perf_counter() - start - info.timers["minimisation"]
        return info

    def multipliers(self, model: Model, ws: Workspace, law: str) -> Array:
        """lambda (W, E, rows) of a law at the end of the last step, in the order constraints were added.

        ``lambda / h^2`` is the generalised force of each row; it is negative where C is positive (tension).
        """
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
