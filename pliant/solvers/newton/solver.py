"""Projected Newton on the incremental potential: what every other solver approximates, to rounding."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...errors import SolverError
from ...model import Model
from ...protocol import Claims, Protocol, StepInfo
from ...state import Control, State
from ..base import check_counts
from .elements.base import Array
from .stepping import multipliers, step
from .workspace import Workspace


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
            minimises=True,
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
        budget = (self.substeps, self.tolerance, self.max_iterations)
        return step(model, state, control, ws, dt, report, budget)

    def multipliers(self, model: Model, ws: Workspace, law: str) -> Array:
        """lambda (W, E, rows) of a law at the end of the last step, in the order constraints were added.

        ``lambda / h^2`` is the generalised force of each row; it is negative where C is positive (tension).
        """
        return multipliers(model, ws, law)
