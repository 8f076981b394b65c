"""Multigrid by unsmoothed aggregation: a preconditioner whose work does not grow faster than the matrix.

    levels = Hierarchy(matrix, near_kernel=rigid_modes(x))
    solved = pcg(matrix, b, levels.cycle)
    levels.refresh(changed)               # the same pattern with other numbers; the coarse spaces stay
    levels.inject(rigid_modes(turned))    # groups stay, the near-kernel is another

Source: Li and others, MGPBD (2025); see :mod:`pliant.linear.aggregation`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from ..errors import SolverError
from .aggregation import Galerkin, aggregate, constants, inject, strengths
from .cholesky import Cholesky
from .smoothers import Smoother, smoother_of

Array = np.ndarray

CYCLES = {"V": 1, "W": 2}
"""Coarse corrections of each level."""
DEEPEST = 20
"""Levels at most."""


@dataclass
class Level:
    """A matrix and the way to the next.

    matrix: BSR; group (n,), prolong (n, b, k): the prolongator; galerkin: places of the next matrix; used:
    which unknowns of the next level stand for something.
    """

    matrix: Any
    smoother: Smoother
    group: Array
    prolong: Array
    galerkin: Galerkin
    used: Array

    def restrict(self, r: Array) -> Array:
        """``P^T r``."""
        n, b, k = self.prolong.shape
        parts = np.matmul(self.prolong.transpose(0, 2, 1), r.reshape(n, b, 1))[:, :, 0]
        out = np.empty((self.galerkin.groups, k))
        for m in range(k):
            out[:, m] = np.bincount(self.group, parts[:, m], self.galerkin.groups)
        return out.ravel()

    def extend(self, e: Array) -> Array:
        """``P e``."""
        n, b, k = self.prolong.shape
        out: Array = np.matmul(self.prolong, e.reshape(-1, k)[self.group][:, :, None])
        return out.reshape(n * b)


class Hierarchy:
    """The levels of a symmetric positive definite matrix of blocks.

    matrix       SciPy sparse (n, n), both triangles, every diagonal block present
    near_kernel  (nodes, b, k): vectors whose energy is small (default: constants); b is the size of a block
    theta        connections weaker than this are not used to aggregate
    coarsest     a level with at most so many unknowns is solved exactly
    smoother     "chebyshev", "jacobi" or "gauss_seidel", with so many steps
    cycle        "V" or "W"
    Raises SolverError where these do not fit.
    """

    def __init__(
        self, matrix: Any, near_kernel: Array | None = None, *, block: int = 3, theta: float = 0.1,
        coarsest: int = 400, smoother: str = "chebyshev", steps: int = 2, cycle: str = "V",
    ) -> None:  # fmt: skip
        if cycle not in CYCLES:
            raise SolverError(f'cycle "{cycle}" is not known; choose one of {", ".join(CYCLES)}')
        b = block if near_kernel is None else near_kernel.shape[1]
        if matrix.shape[0] != matrix.shape[1] or matrix.shape[0] % b:
            raise SolverError(f"multigrid: a matrix of shape {matrix.shape} has no blocks of {b}")
        vectors = constants(matrix.shape[0] // b, b) if near_kernel is None else near_kernel
        if len(vectors) != matrix.shape[0] // b:
            raise SolverError(
                f"multigrid: near_kernel has {len(vectors)} nodes, the matrix {matrix.shape[0] // b}"
            )
        self.cycles = CYCLES[cycle]
        self.name = f"{smoother} {steps}, {cycle}-cycle, theta {theta:g}"
        self.levels: list[Level] = []
        a = blocked(matrix, b)
        while a.shape[0] > coarsest and len(self.levels) < DEEPEST:
            group = aggregate(a.indptr, a.indices, strengths(a.indptr, a.indices, a.data), theta)
            prolong, vectors, used = inject(group, vectors)
            if used.size >= a.shape[0]:
                break  # it does not get smaller
            galerkin = Galerkin(a.indptr, a.indices, group)
            level = Level(a, smoother_of(smoother, steps), group, prolong, galerkin, used)
            self.levels.append(level)
            a = self._next(level)
        self.bottom = a
        self.exact = Cholesky(a.tocsc())
        self._smoothers()

    def refresh(self, matrix: Any) -> None:
        """Take other numbers in the same places: coarse matrices and smoothers follow, coarse spaces stay."""
        a = blocked(matrix, self.block)
        for level in self.levels:
            if level.matrix.data.shape != a.data.shape:
                raise SolverError(
                    "multigrid: the matrix has entries in other places; make a new Hierarchy of it"
                )
            level.matrix = a
            a = self._next(level)
        self.bottom = a
        self.exact.refactor(a.tocsc())
        self._smoothers()

    def inject(self, near_kernel: Array) -> None:
        """Other near-kernel vectors for the same groups, as of a body that has turned; then refresh."""
        vectors = near_kernel
        for level in self.levels:
            level.prolong, vectors, level.used = inject(level.group, vectors)
            level.smoother.vector = None

    def cycle(self, r: Array) -> Array:
        """One cycle from zero: about ``A^-1 r``, symmetric in r."""
        return self._cycle(r, 0)

    @property
    def block(self) -> int:
        """Unknowns of a node of the first level."""
        first = self.levels[0].matrix if self.levels else self.bottom
        return int(first.blocksize[0])

    @property
    def operator_complexity(self) -> float:
        """Numbers of all levels over those of the first."""
        sizes = [level.matrix.nnz for level in self.levels] + [self.bottom.nnz]
        return sum(sizes) / sizes[0]

    def __repr__(self) -> str:
        lines = [f"Hierarchy({self.name}, operator complexity {self.operator_complexity:.2f})"]
        for k, level in enumerate(self.levels):
            a, top = level.matrix, getattr(level.smoother, "top", None)
            reach = "" if top is None else f", spectrum to {top:.2f}"
            lines.append(
                f"  {k}: {a.shape[0]:,} unknowns in blocks of {a.blocksize[0]}, {a.nnz:,} numbers, "
                f"{len(level.group) / level.galerkin.groups:.1f} nodes to a group{reach}"
            )
        a = self.bottom
        lines.append(f"  {len(self.levels)}: {a.shape[0]:,} unknowns, {a.nnz:,} numbers, solved exactly")
        return "\n".join(lines)

    # --- inside ------------------------------------------------------------------------------------

    def _next(self, level: Level) -> Any:
        """``P^T A P``, with ones for unknowns that stand for nothing."""
        g = level.galerkin
        data = g.product(level.matrix.data, level.prolong)
        k = data.shape[1]
        row = np.repeat(np.arange(g.groups), np.diff(g.start))
        own = np.flatnonzero(row == g.index)
        node, unknown = np.nonzero(~level.used)
        data[own[node], unknown, unknown] = 1.0
        return scipy.sparse.bsr_array((data, g.index, g.start), shape=(k * g.groups, k * g.groups))

    def _smoothers(self) -> None:
        for level in self.levels:
            a = level.matrix
            row = np.repeat(np.arange(len(a.indptr) - 1), np.diff(a.indptr))
            own = a.data[row == a.indices]
            if len(own) != len(a.indptr) - 1:
                raise SolverError("multigrid: a diagonal block has no entries")
            try:
                level.smoother.refresh(a, np.linalg.inv(own))
            except np.linalg.LinAlgError as error:
                raise SolverError("multigrid: a diagonal block is singular; all must be held") from error

    def _cycle(self, r: Array, k: int) -> Array:
        if k == len(self.levels):
            return self.exact.solve(r)
        level = self.levels[k]
        x = level.smoother.before(r)
        for _ in range(self.cycles):
            x = x + level.extend(self._cycle(level.restrict(r - level.matrix @ x), k + 1))
        return level.smoother.after(r, x)


def blocked(matrix: Any, b: int) -> Any:
    """The matrix in sorted blocks (BSR)."""
    out = scipy.sparse.bsr_array(matrix, blocksize=(b, b))
    out.sort_indices()
    return out


class Patience:
    """When coarse spaces that were made for other numbers should be made anew: when they no longer serve.

    growth: iterations may grow to so many times those right after they were made; most: solves they serve.
    """

    def __init__(self, growth: float = 1.5, most: int = 200) -> None:
        self.growth, self.most = growth, most
        self.first, self.served = 0, 0

    def renewed(self) -> None:
        """New coarse spaces begin."""
        self.first, self.served = 0, 0

    def worn(self, iterations: int) -> bool:
        """Tell how many iterations a solve took; True where the next should have new coarse spaces."""
        self.served += 1
        self.first = self.first or max(iterations, 4)
        return iterations > self.growth * self.first or self.served >= self.most
