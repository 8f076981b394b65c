"""The linear systems of the outer loop: by a factor, or by conjugate gradients with multigrid.

Numbers are divided by a power of two first: the square roots of a factor would tell units apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...linear.aggregation import rigid_modes
from ...linear.cholesky import Cholesky
from ...linear.multigrid import Hierarchy, Patience, blocked
from ...linear.ordering import best_ordering
from ...linear.pcg import pcg
from ..newton.elements.base import Array
from ..newton.pattern import Pattern

INNER = 1e-4
"""Residual of an inner solve, over its right-hand side."""
HELD = 1e-3
"""Share of its own diagonal that holds the matrix at rest, which may be singular else."""


class Direct:
    """A Cholesky factor whose order and blocks are found once; later only numbers change."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.factor: Cholesky | None = None

    def begin(self) -> None:
        """A new substep."""

    def prepare(self, data: Array, x: Array) -> Direct:
        """Take the numbers of a matrix. Raises SolverError where it is not positive definite."""
        self.exponent = int(np.frexp(np.abs(data).max())[1])
        matrix = self.pattern.matrix(np.ldexp(data, -self.exponent))
        if self.factor is None:
            by_particle = matrix[::3, ::3].tocsc()
            by_particle.sort_indices()
            order = best_ordering(by_particle.indptr, by_particle.indices).order
            self.factor = Cholesky(matrix, (3 * order[:, None] + np.arange(3)).ravel())
        else:
            self.factor.refactor(matrix)
        return self

    def solve(self, b: Array) -> Array:
        """x (n,) or (n, k)."""
        assert self.factor is not None
        return np.ldexp(self.factor.solve(b), -self.exponent)


class Multigrid:
    """Conjugate gradients, with rigid modes on groups of particles for coarse spaces.

    Groups are made once, from the matrix at rest (numbers ``data``, free particles at x (n/3, 3)). The modes
    follow the positions: at the start of a substep, and when iterations grow. Nothing that decides a bit
    outlives a substep.
    """

    def __init__(self, pattern: Pattern, data: Array, x: Array) -> None:
        self.pattern = pattern
        self.patience = Patience()
        self.iterations: list[int] = []
        self.worn = True
        self.hierarchy: Hierarchy | None = None
        if pattern.n:
            rest = pattern.matrix(data)
            own = rest.diagonal()
            rest.setdiag(own + HELD * np.maximum(own, own.mean() or 1.0))
            self.hierarchy = Hierarchy(rest, rigid_modes(x))

    def begin(self) -> None:
        """A new substep."""
        self.worn = True
        self.iterations.clear()

    def prepare(self, data: Array, x: Array) -> Multigrid:
        """Take the numbers of a matrix, of particles at x. Raises SolverError: not positive definite."""
        assert self.hierarchy is not None
        self.exponent = int(np.frexp(np.abs(data).max())[1])
        self.matrix: Any = blocked(self.pattern.matrix(np.ldexp(data, -self.exponent)), 3)
        if self.worn:
            self.hierarchy.inject(rigid_modes(x))
            self.patience.renewed()
        self.hierarchy.refresh(self.matrix)
        return self

    def solve(self, b: Array) -> Array:
        """x (n,) or (n, k)."""
        if b.ndim == 2:
            return np.stack([self.solve(c) for c in b.T], axis=1) if b.shape[1] else b.copy()
        assert self.hierarchy is not None
        solved = pcg(self.matrix, b, self.hierarchy.cycle, INNER)
        self.iterations.append(solved.iterations)
        self.worn = self.patience.worn(solved.iterations)
        return np.ldexp(solved.x, -self.exponent)


LINEAR = ("direct", "multigrid")
"""Names of linear solvers."""
