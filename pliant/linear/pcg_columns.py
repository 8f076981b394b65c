"""Conjugate gradients for many right-hand sides at once, with a preconditioner that has ``solve``.

    found = pcg_columns(matrix, b, Jacobi(matrix))   # or a Cholesky of another matrix
    found.x, found.iterations, found.residuals

Sums run over fixed chunks whose sums are then added in order, and a column stops when it is done: a column's
bits depend neither on the number of threads nor on the columns beside it. :mod:`.pcg` is for one column and
takes a function. Source: Hestenes, Stiefel, "Methods of conjugate gradients for solving linear systems" (J.
Res. NBS 49, 1952).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse

from ..backend.jit import kernel, prange
from ..backend.threads import launching
from ..errors import SolverError

Array = np.ndarray

CHUNK = 2048
"""Rows that are summed up one after the other."""


class Preconditioner(Protocol):
    """What stands for the inverse of the matrix: symmetric and positive definite."""

    def solve(self, b: Array) -> Array:
        """About A^-1 b, of the shape of b (n, k)."""


class Jacobi:
    """The inverse of the diagonal. Raises SolverError where it is not positive."""

    def __init__(self, matrix: Any) -> None:
        diagonal = scipy.sparse.csr_array(matrix).diagonal()
        bad = np.flatnonzero(~(diagonal > 0))
        if len(bad):
            raise SolverError(
                f"Jacobi: diagonal entry {bad[0]} is {diagonal[bad[0]]}; all must be positive, so check "
                "that every unknown has mass or is held"
            )
        self.inverse = 1 / diagonal

    def solve(self, b: Array) -> Array:
        """b (n,) or (n, k), each row over its diagonal entry."""
        return b * (self.inverse if b.ndim == 1 else self.inverse[:, None])


@dataclass(frozen=True)
class Solution:
    """x: like b; iterations (k,) and residual |b - A x| / |b| (k,) as the recursion has it, per column;
    converged (k,); residuals (i + 1, k): that of every iteration, a column's last one repeated."""

    x: Array
    iterations: Array
    residual: Array
    converged: Array
    residuals: Array


def pcg_columns(
    matrix: Any,
    b: Array,
    preconditioner: Preconditioner,
    x: Array | None = None,
    tolerance: float = 1e-8,
    most: int = 1000,
) -> Solution:
    """Solve A x = b, column by column side by side, until |b - A x| <= tolerance |b| or ``most`` iterations.

    matrix: SciPy sparse, (n, n), symmetric positive definite, both triangles; b (n,) or (n, k), float64;
    x: where to start (0). Raises SolverError for shapes that do not fit, numbers that are not finite, and
    where matrix or preconditioner turn out not to be positive definite.
    """
    csr = scipy.sparse.csr_array(matrix, dtype=np.float64)
    right = np.asarray(b, np.float64)
    columns = np.ascontiguousarray(right.reshape(len(right), -1)) if right.ndim in (1, 2) else right
    if csr.shape[0] != csr.shape[1] or columns.ndim != 2 or columns.shape[0] != csr.shape[0]:
        raise SolverError(f"pcg_columns: a matrix {csr.shape} and right-hand sides {right.shape} do not fit")
    if x is not None and np.shape(x) != right.shape:
        raise SolverError(
            f"pcg_columns: the start has shape {np.shape(x)}, the right-hand sides {right.shape}"
        )
    if not (np.isfinite(columns).all() and np.isfinite(csr.data).all()):
        raise SolverError("pcg_columns: matrix and right-hand sides must be finite")
    at = np.zeros_like(columns) if x is None else np.array(x, np.float64).reshape(columns.shape)
    found = _iterate(csr, columns, at, preconditioner, tolerance, most)
    return Solution(found[0].reshape(right.shape), *found[1:])


def _iterate(
    csr: Any, b: Array, x: Array, preconditioner: Preconditioner, tolerance: float, most: int
) -> tuple[Array, Array, Array, Array, Array]:
    r = b - product(csr, x)
    size = np.sqrt(dots(b, b))
    goal = tolerance * size
    done = np.zeros(b.shape[1], np.int64)
    norms = [np.sqrt(dots(r, r))]
    p, before = np.zeros_like(b), np.ones(b.shape[1])
    for k in range(most):
        active = norms[-1] > goal
        if not active.any():
            break
        z = preconditioner.solve(r)
        rz = dots(r, z)
        _must_be_positive(rz, active, "preconditioner", k)
        p = z + np.where(active & (k > 0), rz / before, 0.0) * p
        q = product(csr, p)
        pq = dots(p, q)
        _must_be_positive(pq, active, "matrix", k)
        step = np.where(active, rz / np.where(active, pq, 1.0), 0.0)
        x += step * p
        r -= step * q
        before = np.where(active, rz, 1.0)
        done += active
        norms.append(np.where(active, np.sqrt(dots(r, r)), norms[-1]))
    relative = np.array(norms) / np.where(size > 0, size, 1.0)
    return x, done, relative[-1], norms[-1] <= goal, relative


def _must_be_positive(value: Array, active: Array, what: str, iteration: int) -> None:
    bad = np.flatnonzero(active & ~(value > 0))
    if len(bad):
        raise SolverError(
            f"pcg_columns: the {what} is not positive definite: its form is {value[bad[0]]:.3g} for the "
            f"direction of column {bad[0]} in iteration {iteration}"
        )


def product(csr: Any, x: Array) -> Array:
    """A x (n, k), rows side by side."""
    out = np.empty_like(x)
    with launching():
        _product(csr.indptr, csr.indices, csr.data, x, out)
    return out


def dots(a: Array, b: Array) -> Array:
    """Inner products (k,) of the columns of a and b (n, k)."""
    sums = np.zeros((-(-len(a) // CHUNK), a.shape[1]))
    with launching():
        _dots(a, b, sums)
    out = np.zeros(a.shape[1])
    for chunk in sums:
        out += chunk
    return out


@kernel(parallel=True)
def _product(start: Any, index: Any, data: Any, x: Any, out: Any) -> None:
    for chunk in prange((len(start) - 2) // CHUNK + 1):
        for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, len(start) - 1)):
            out[i] = 0.0
            for p in range(start[i], start[i + 1]):
                for c in range(x.shape[1]):
                    out[i, c] += data[p] * x[index[p], c]


@kernel(parallel=True)
def _dots(a: Any, b: Any, sums: Any) -> None:
    for chunk in prange(len(sums)):
        for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, len(a))):
            for c in range(a.shape[1]):
                sums[chunk, c] += a[i, c] * b[i, c]
