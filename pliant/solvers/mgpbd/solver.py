"""MGPBD: XPBD's inputs and outputs, by global solves for positions and multipliers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ...errors import SolverError
from ...model import Model
from ...protocol import Claims, Protocol, StepInfo
from ...state import Control, State
from ..base import check_counts
from ..newton.elements.base import Array
from ..newton.stepping import multipliers, step
from .linear import LINEAR
from .workspace import Workspace


@dataclass(frozen=True)
class MGPBD:
    """The global solver: minimises E(x) = |x - x~|^2_M/(2 h^2) + sum U(x) in a few global solves.

    substeps        a step dt is divided into substeps of h = dt/substeps
    tolerance       a substep ends when what is left to gain is at most this share of what E has fallen
    max_iterations  of a substep; a world that needs more reports NOT_CONVERGED and goes on
    polish          steps that may follow with the last matrix, while each leaves a tenth of the gradient:
                    each costs a back-substitution; they make momentum exact to rounding (claimed from 8 on)
    linear          "direct": sparse Cholesky; "multigrid": conjugate gradients with unsmoothed aggregation

    Takes compliance and gives multipliers as XPBD does. Float64 only; friction, mesh colliders and rigid
    materials are refused by ``init``. Worlds run one by one. docs/solvers/mgpbd.md has the equations.
    """

    substeps: int = 1
    tolerance: float = 1e-6
    max_iterations: int = 100
    polish: int = 8
    linear: str = "direct"
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
        check_counts(self, "MGPBD", "substeps", "max_iterations")
        if not 0 < self.tolerance < 1:
            raise SolverError(f"MGPBD: tolerance is {self.tolerance!r}, it must lie between 0 and 1")
        if not (isinstance(self.polish, (int, np.integer)) and self.polish >= 0):
            raise SolverError(f"MGPBD: polish is {self.polish!r}, it must be a whole number, 0 or more")
        if self.linear not in LINEAR:
            raise SolverError(f'MGPBD: linear="{self.linear}" is unknown; choose one of {", ".join(LINEAR)}')
        if self.polish < 8:
            object.__setattr__(self, "claims", replace(self.claims, momentum=False))

    def protocol(self, model: Model, dt: float) -> Protocol:
        """The numeric protocol of a run with these parameters."""
        return Protocol(
            solver=type(self).__name__,
            dt=float(dt),
            substeps=int(self.substeps),
            iterations=int(self.max_iterations),
            order="all at once",
            multiplier_reset="never",
            dtype=str(model.dtype),
            contact={"colliders": len(model.colliders)},
            options={"tolerance": self.tolerance, "polish": int(self.polish), "linear": self.linear},
        )

    def init(self, model: Model) -> Workspace:
        """Elements, multipliers, the pattern of the matrix. SolverError names what it cannot solve."""
        return Workspace(model, int(self.polish), self.linear)

    def step(
        self, model: Model, state: State, control: Control, ws: Workspace, dt: float, report: str = "status"
    ) -> StepInfo:
        """Advance ``state`` by dt [s].

        Every substep, in :func:`pliant.solvers.mgpbd.descent.minimize`, is::

            x <- x~ = x_n + h v_n + h^2 M^-1 f, or x_n if E is less there
            repeat
                g = M (x - x~)/h^2 + sum of grad C dU/dC         # grad E
                H = M/h^2 + sum of k grad C grad C^T + y Hess C  # no negative part; y: multipliers
                solve H dx = -g;  y' = dU/dC at C + grad C . dx
                t = the first of 1, 1/2, 1/4 ... for which E falls by 1e-4 t |g . dx|
                x <- x + t dx;  y <- y + t (y' - y)
            until -g . dx/2 <= tolerance times the fall of E
            lambda = -h^2 dU/dC

        ``incremental_potential`` and ``primal_residual`` are always reported, the rest by ``report="full"``.
        """
        budget = (self.substeps, self.tolerance, self.max_iterations)
        return step(model, state, control, ws, dt, report, budget)

    def multipliers(self, model: Model, ws: Workspace, law: str) -> Array:
        """lambda (W, E, rows) of a law at the end of the last step, in the order constraints were added.

        ``lambda / h^2`` is the generalised force of each row; it is negative where C is positive (tension).
        """
        return multipliers(model, ws, law)
