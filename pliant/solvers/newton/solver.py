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
from .minimize import Outcome, constrained
from .workspace import Moves, Workspace

Array = np.ndarray

RIGID = 1e-10
"""Share of an element's size by which a rigid row may be off."""


@dataclass(frozen=True)
class Newton:
    """The reference solver: each substep minimises E(x) = |x - x~|^2_M/(2 h^2) + sum U(x).

    substeps        a step dt is divided into substeps of h = dt/substeps
    tolerance       the gradient is brought below this share of that at x~ (and, where rounding allows, well
                    below)
    max_iterations  of Newton per substep; a world that needs more reports NOT_CONVERGED and goes on

    Float64 only. Colliders, gases and rigid materials are refused by ``init``. Worlds run one by one.
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
        for name in ("substeps", "max_iterations"):
            value = getattr(self, name)
            if not (isinstance(value, (int, np.integer)) and value >= 1):
                raise SolverError(f"Newton: {name} is {value!r}, it must be a whole number, at least 1")
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
        _check_step(dt, report)
        start = time.perf_counter()
        x, v = gathered(state.x_lanes, model), gathered(state.v_lanes, model)
        moves, softness = ws.moves(state, control, self.substeps), ws.softness(control)
        status = np.zeros(model.n_worlds, np.int32)
        energy, residual = np.zeros(model.n_worlds), np.zeros(model.n_worlds)
        iterations = 0
        for w in range(model.n_worlds):
            if state.frozen[w]:
                status[w] = int(Status.FROZEN)
                continue
            found = self.advance(ws, control, moves, softness[w], w, x[w], v[w], dt)
            if found is None:
                status[w] = int(Status.NONFINITE)
                state.frozen[w] = True
                continue
            x[w], v[w], outcomes = found
            iterations = max(iterations, sum(o.iterations for o in outcomes))
            energy[w], residual[w] = ws.objective.energy(outcomes[-1].value), outcomes[-1].residual
            if not all(o.converged for o in outcomes):
                status[w] |= int(Status.NOT_CONVERGED)
        state.x_lanes[...] = spread(x, model)
        state.v_lanes[...] = spread(v, model)
        state.time += dt
        info = StepInfo(
            time=state.time,
            status=status,
            iterations=iterations,
            contacts=np.zeros(model.n_worlds, int),
            max_penetration=np.zeros(model.n_worlds),
            incremental_potential=energy,
            primal_residual=residual,
        )
        control.arrived()
        info.timers["minimisation"] = time.perf_counter() - start
        if report == "full":
            complete_report(info, model, state, control, ws.last_substep(dt / self.substeps))
            info.timers["report"] = time.perf_counter() - start - info.timers["minimisation"]
        return info

    def advance(
        self, ws: Workspace, control: Control, moves: Moves, softness: dict[str, float], world: int,
        x: Array, v: Array, dt: float,
    ) -> tuple[Array, Array, list[Outcome]] | None:  # fmt: skip
        """All substeps of one world: x, v (N, 3), and how each minimisation ended; None if not finite."""
        h, outcomes = dt / self.substeps, []
        with np.errstate(all="ignore"):
            for s in range(self.substeps):
                held = moves.held(world, s, self.substeps)
                pins = moves.pins(world, s, self.substeps, dt)
                ended = self.substep(ws, control, softness, world, x, v, h, held, pins)
                if ended is None:
                    return None
                x, v, outcome = ended
                outcomes.append(outcome)
        return x, v, outcomes

    def substep(
        self, ws: Workspace, control: Control, softness: dict[str, float], world: int, x: Array, v: Array,
        h: float, held: tuple[Array, Array], pins: tuple[Array, Array],
    ) -> tuple[Array, Array, Outcome] | None:  # fmt: skip
        """Predict, minimise, and take the velocity from what the minimisation moved."""
        model, objective = ws.model, ws.objective
        x_tilde, speed = ws.predict(control, world, x, v, h)
        x_tilde[model.pin_ids], speed[model.pin_ids] = pins
        if not (np.isfinite(x_tilde).all() and np.isfinite(x).all()):
            return None
        ws.x_prev[world] = x
        objective.begin(x, h, softness, held)
        coast = objective.place(x_tilde, np.zeros_like(x))
        moving = objective.energy(coast)
        rest = x.copy()
        rest[model.pin_ids] = pins[0]
        stay = objective.place(rest, -h * speed)
        start = min(coast.residual, stay.residual)
        lead = np.zeros_like(speed)  # velocity that the base itself stands for
        if not objective.energy(stay) < moving:
            stay, rest, lead = objective.place(x_tilde, np.zeros_like(x)), x_tilde, speed
        lead[model.pin_ids] = pins[1]
        outcome = constrained(objective, stay.d, start, self.tolerance, self.max_iterations, RIGID)
        d = objective.way(outcome.value.d)
        x_new, v_new = rest + d, lead + d * (1 / h)
        if not (np.isfinite(x_new).all() and np.isfinite(v_new).all()):
            return None
        for law in ws.lambda_:
            ws.lambda_[law][world] = -(h**2) * objective.forces(law, outcome.value.d)
        return x_new, v_new, outcome

    def multipliers(self, model: Model, ws: Workspace, law: str) -> Array:
        """lambda (W, E, rows) of a law at the end of the last step, in the order constraints were added.

        ``lambda / h^2`` is the generalised force of each row; it is negative where C is positive (tension).
        """
        if law not in ws.lambda_:
            present = ", ".join(ws.lambda_) or "none"
            raise SolverError(f'this scene has no constraints of law "{law}"; it has {present}')
        back = np.argsort(model.blocks[law].file_order, kind="stable")
        return ws.lambda_[law][:, back]


def _check_step(dt: float, report: str) -> None:
    if not (np.isfinite(dt) and dt > 0):
        raise SolverError(f"dt is {dt!r}, it must be a finite number greater than 0 [s]")
    if report not in ("status", "full"):
        raise SolverError(f'report is {report!r}, it must be "status" or "full"')
