"""The sparse symmetric matrix that elements add up to: where each number goes, and its factor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

Array = np.ndarray


class Factor:
    """A factor of a matrix, and of what it becomes with a few columns more.

    Solves ``(H + U U^T) x = b`` for the columns U (n, k), by Sherman, Morrison, Woodbury.
    """

    def __init__(self, lu: scipy.sparse.linalg.SuperLU, columns: Array) -> None:
        self.lu = lu
        self.columns = columns
        self.inner: Array | None = None
        if columns.shape[1]:
            self.solved = lu.solve(columns)
            self.inner = np.linalg.inv(np.eye(columns.shape[1]) + columns.T @ self.solved)

    def solve(self, b: Array) -> Array:
        """x (n,)."""
        x: Array = self.lu.solve(b)
        if self.inner is not None:
            x = x - self.solved @ (self.inner @ (self.columns.T @ x))
        return x


class Pattern:
    """Where the blocks of all elements lie in a matrix of the free particles' coordinates.

    groups: ids (E, c) of the particles of each group of elements; free (N,): True where a particle may move.
    """

    def __init__(self, groups: Sequence[Array], free: Array) -> None:
        self.free = free
        self.n = 3 * int(free.sum())
        of = np.full(len(free), -1, np.int64)
        of[free] = np.arange(self.n // 3)
        alone = np.flatnonzero(free)[:, None]  # inertia and contact: a block of each particle's own
        keys = [self._keys(of[ids]) for ids in (*groups, alone)]
        every = np.concatenate([*keys, np.zeros(0, np.int64)])
        used = np.unique(every[every >= 0])
        self.nnz = len(used)
        slots = np.where(every >= 0, np.searchsorted(used, every), self.nnz)
        self.slots = slots.astype(np.intp)
        self.rows = (used % max(self.n, 1)).astype(np.int32)
        columns = used // max(self.n, 1)
        self.start = np.searchsorted(columns, np.arange(self.n + 1)).astype(np.int32)

    def _keys(self, of: Array) -> Array:
        """Column-major place of each number of each element's matrix; -1 where a corner is pinned."""
        dof = np.where(of[:, :, None] < 0, -1, 3 * of[:, :, None] + np.arange(3)).reshape(len(of), -1)
        row, column = dof[:, :, None], dof[:, None, :]
        return np.where((row < 0) | (column < 0), -1, column * self.n + row).ravel()

    def assemble(self, blocks: Sequence[Array]) -> Array:
        """Sum of the elements' matrices (E, 3 c, 3 c), a group each, and of one (n/3, 3, 3) per particle."""
        values = np.concatenate([b.ravel() for b in blocks])
        return np.bincount(self.slots, weights=values, minlength=self.nnz + 1)[: self.nnz]

    def matrix(self, data: Array) -> scipy.sparse.csc_matrix:
        """The matrix with these numbers."""
        return scipy.sparse.csc_matrix((data, self.rows, self.start), shape=(self.n, self.n))

    def factor(self, data: Array, columns: Array) -> Factor | None:
        """A factor; None where the matrix is not positive definite.

        SuperLU in its symmetric mode pivots on the diagonal, so the signs of U's diagonal are those of the
        pivots of an LDL^T.
        """
        lu = self._split(data)
        if lu is None or not np.array_equal(lu.perm_r, lu.perm_c) or not np.all(lu.U.diagonal() > 0):
            return None
        return Factor(lu, columns)

    def negative_direction(self, data: Array) -> Array | None:
        """A unit vector along which an indefinite matrix is negative: ``L^T v = e_k`` for the smallest pivot.

        None for a matrix that is positive, or whose factor needed other pivots than the diagonal.
        """
        lu = self._split(data)
        if lu is None or not np.array_equal(lu.perm_r, lu.perm_c):
            return None
        upper = lu.U.tocsr()
        pivots = upper.diagonal()
        k = int(np.argmin(pivots))
        if not pivots[k] < 0:
            return None
        unit = np.zeros(self.n)
        unit[k] = pivots[k]
        w: Array = scipy.sparse.linalg.spsolve_triangular(upper, unit, lower=False)
        v = w[lu.perm_c]
        return v / np.linalg.norm(v)

    def _split(self, data: Array) -> scipy.sparse.linalg.SuperLU | None:
        """LU by diagonal pivots; None for a singular matrix."""
        try:
            return scipy.sparse.linalg.splu(
                self.matrix(data),
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True, "Equil": False},
            )
        except RuntimeError:  # exactly singular
            return None
