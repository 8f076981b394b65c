"""Sparse Cholesky factors of symmetric positive definite matrices, for any number of right-hand sides.

    factor = Cholesky(matrix)             # order, blocks and numbers: A = L L^T
    x = factor.solve(b)                   # b (n,) or (n, k)
    factor.solve_lanes(b, out=b)          # b (tiles, n, axis, lanes), the layout of worlds in lanes
    factor.refactor(changed)              # the same pattern with other numbers

Same matrix and right-hand side, same bits: for any number of columns, lanes and threads.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from ..backend.lanes import Items, Lanes
from ..backend.threads import get_threads, launching
from ..errors import SolverError
from . import fronts, substitution
from .analysis import PAD, analyze
from .ordering import Ordering, best_ordering, named_ordering

Array = np.ndarray

SYMMETRIC = 1e-12
"""How far mirror images may differ, relative to the largest number of the matrix."""
FEW = 4
"""Columns that one chunk of its own width takes."""


class Cholesky:
    """The factor L of ``P A P^T = L L^T`` in supernodal blocks.

    matrix: SciPy sparse, (n, n), symmetric with both triangles, float64. order: ``"best"`` of all ways, the
    name of one, or an array (n,) of the unknowns in the order of elimination. Raises SolverError where the
    matrix is not square, symmetric, finite or positive definite; the message names the entry or the column.

    Sources stand in :mod:`pliant.linear.minimum_degree`, :mod:`pliant.linear.elimination`,
    :mod:`pliant.linear.supernodes` and :mod:`pliant.linear.fronts`.
    """

    def __init__(self, matrix: Any, order: str | Array = "best") -> None:
        csc = checked(matrix)
        self._start, self._index = csc.indptr, csc.indices
        self.analysis = analyze(self._start, self._index, _ordering(csc, order))
        self.values = np.empty(self.analysis.stored)
        self._memory: dict[tuple[int, int, type], Array] = {}
        self._numeric(csc.data)

    def refactor(self, matrix: Any) -> None:
        """Take other numbers in the same places.

        Raises SolverError as the constructor does, and for another pattern.

        After an error the factor must not be used until a refactor succeeds: ``solve`` refuses.
        """
        csc = checked(matrix)
        same = np.array_equal(csc.indptr, self._start) and np.array_equal(csc.indices, self._index)
        if not same:
            raise SolverError(
                "refactor: the matrix has entries in other places than the one that was analysed; "
                "make a new Cholesky of it"
            )
        self._numeric(csc.data)

    def solve(self, b: Any, dtype: Any = None) -> Array:
        """x with A x = b; b (n,) or (n, k). dtype: float64, or float32 for half the memory and time."""
        b = np.asarray(b)
        if b.ndim not in (1, 2) or b.shape[0] != self.n:
            raise SolverError(f"solve: b has shape {b.shape}; this factor takes ({self.n},) or ({self.n}, k)")
        kind = np.dtype(np.float64 if dtype is None else dtype)
        columns = np.ascontiguousarray(b, kind).reshape(1, self.n, -1, 1)
        return self.solve_lanes(columns, np.empty_like(columns)).reshape(b.shape)

    def solve_lanes(self, b: Array, out: Array | None = None) -> Array:
        """Solve for every lane and axis of b (tiles, n, axis, lanes), float32 or float64; ``out`` may be b.

        The first call with a precision and a number of columns reserves memory; later ones do not.
        """
        out = np.empty_like(b) if out is None else out
        self._check(b, out)
        tiles, n, axes, lanes = b.shape
        columns = axes * lanes
        if b.size == 0:
            return out
        flat, x = b.reshape(tiles, n, columns, 1), out.reshape(tiles, n, columns, 1)
        width = chunk_width(columns, b.dtype)
        values = self.values if b.dtype == np.float64 else self._single
        a = self.analysis
        shape = (a.first, a.rows_at, a.solve_rows, a.values_at)
        work = (a.parts, a.top, a.outside)
        tags = (Lanes(width), Items(width))
        with launching():
            threads = get_threads()
            chunks = tiles * -(-columns // width)
            if chunks == 1:
                y = self._scratch(1, width, b.dtype)
                turns = self._turns(threads)
                substitution.solve_one(flat, x, y, values, a.step, shape, work, turns, *tags)
            else:
                y = self._scratch(min(threads, chunks), width, b.dtype)
                substitution.solve_many(flat, x, y, values, a.step, shape, work, *tags)
        return out

    @property
    def n(self) -> int:
        """Unknowns."""
        return self.analysis.n

    @property
    def nbytes(self) -> int:
        """Memory of the factor's numbers and of what places them [B], without working memory."""
        a = self.analysis
        arrays = [v for v in vars(a).values() if isinstance(v, np.ndarray)]
        single = self.__dict__.get("_single")
        return sum(v.nbytes for v in (*arrays, self.values)) + (0 if single is None else single.nbytes)

    def __repr__(self) -> str:
        a = self.analysis
        tried = ", ".join(f"{name} {entries:,}" for name, entries in a.ordering.tried.items())
        return (
            f"Cholesky(n={a.n:,}, entries={a.entries:,} in {a.blocks:,} supernodes ({a.stored:,} stored), "
            f"{a.flops / 1e6:,.1f} Mflop, {self.nbytes / 2**20:,.1f} MiB, "
            f"order: {a.ordering.name} (tried: {tried}), {len(a.parts)} parts)"
        )

    # --- inside ------------------------------------------------------------------------------------

    def _numeric(self, data: Array) -> None:
        a = self.analysis
        self.__dict__.pop("_single", None)
        self._sound = False
        shape = (a.first, a.rows_at, a.places, a.child, a.child_at, a.updates_at, a.values_at)
        matrix = (a.source, a.place, a.source_at)
        work = (a.parts, a.top, a.fronts_at, a.panels_at)
        front, panel, update = (np.empty(size) for size in a.sizes)
        memory = (front[:, None], panel[:, None], update)
        with launching():
            turns = self._turns(get_threads())
            bad = fronts.factor(data, *memory, self.values, shape, matrix, work, turns, Items(PAD))
        if bad < a.n:
            raise SolverError(
                f"Cholesky: the matrix is not positive definite, found at column {a.order[bad]} "
                f"(step {bad} of {a.n}); check the signs of stiffnesses, and that all has mass or is held"
            )
        self._sound = True

    @cached_property
    def _single(self) -> Array:
        return self.values.astype(np.float32)

    def _turns(self, threads: int) -> Array:
        """Parts (threads, most) that each thread does, heaviest first; -1: none."""
        a = self.analysis
        weight = a.values_at[a.parts[:, 1]] - a.values_at[a.parts[:, 0]]
        mine: list[list[int]] = [[] for _ in range(max(1, min(threads, len(weight))))]
        load = np.zeros(len(mine))
        for k in np.argsort(-weight, kind="stable"):
            thread = int(load.argmin())
            mine[thread].append(int(k))
            load[thread] += weight[k]
        most = max(len(m) for m in mine)
        return np.array([m + [-1] * (most - len(m)) for m in mine], np.int64).reshape(len(mine), most)

    def _scratch(self, threads: int, width: int, dtype: Any) -> Array:
        key = (threads, width, np.dtype(dtype).type)
        if key not in self._memory:
            self._memory[key] = np.empty((threads, self.n + len(self.analysis.outside), width), dtype)
        return self._memory[key]

    def _check(self, b: Array, out: Array) -> None:
        if not self._sound:
            raise SolverError("solve: the last refactor failed, so there is no factor; refactor first")
        if b.ndim != 4 or b.shape[1] != self.n or b.dtype not in (np.float32, np.float64):
            raise SolverError(
                f"solve_lanes: b is {b.dtype} of shape {b.shape}; it must be float32 or float64 of shape "
                f"(tiles, {self.n}, axis, lanes)"
            )
        fits = out.shape == b.shape and out.dtype == b.dtype
        if not (fits and out.flags.c_contiguous and b.flags.c_contiguous):
            raise SolverError("solve_lanes: b and out must be C-contiguous, of one shape and precision")


def chunk_width(columns: int, dtype: Any) -> int:
    """Columns that are solved side by side. Bits do not depend on it."""
    if columns <= FEW:
        return FEW
    return 32 if np.dtype(dtype) == np.float32 and columns >= 32 else 16


def checked(matrix: Any) -> scipy.sparse.csc_array:
    """The matrix in sorted columns. Raises SolverError if it is not square, finite and symmetric."""
    csc = scipy.sparse.csc_array(matrix, dtype=np.float64)
    if csc.shape[0] != csc.shape[1] or csc.shape[0] == 0:
        raise SolverError(f"Cholesky: a matrix of shape {csc.shape} has no factor; it must be square")
    if not csc.has_canonical_format:
        csc = csc.copy()
        csc.sum_duplicates()
    bad = np.flatnonzero(~np.isfinite(csc.data))
    if len(bad):
        column = int(np.searchsorted(csc.indptr, bad[0], side="right")) - 1
        raise SolverError(
            f"Cholesky: entry ({csc.indices[bad[0]]}, {column}) is {csc.data[bad[0]]}; all must be finite"
        )
    mirrored = csc.T.tocsc()
    if not (np.array_equal(csc.indptr, mirrored.indptr) and np.array_equal(csc.indices, mirrored.indices)):
        raise SolverError("Cholesky: an entry has no mirror image; give both triangles of a symmetric matrix")
    off = np.abs(csc.data - mirrored.data)
    if len(off) and off.max() > SYMMETRIC * np.abs(csc.data).max():
        worst = int(off.argmax())
        column = int(np.searchsorted(csc.indptr, worst, side="right")) - 1
        raise SolverError(
            f"Cholesky: entries ({csc.indices[worst]}, {column}) and ({column}, {csc.indices[worst]}) differ "
            f"by {off[worst]:.3g}; the matrix must be symmetric"
        )
    return csc


def _ordering(csc: scipy.sparse.csc_array, order: str | Array) -> Ordering:
    if isinstance(order, str):
        return best_ordering(csc.indptr, csc.indices, order)
    return named_ordering(csc.indptr, csc.indices, np.asarray(order))
