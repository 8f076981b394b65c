"""Sparse Cholesky factors of symmetric positive definite matrices, for any number of right-hand sides.

    factor = Cholesky(matrix)             # order, blocks and numbers: A = L L^T
    x = factor.solve(b)                   # b (n,) or (n, k)
    factor.solve_lanes(b, out=b)          # b (tiles, n, axis, lanes), the layout of worlds in lanes
    factor.refactor(changed)              # the same pattern with other numbers

Same matrix and right-hand side, same bits: for any number of columns, lanes and threads.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any

import llvmlite.binding
import numpy as np
import scipy.sparse

from ..backend.lanes import Items
from ..backend.threads import get_threads, launching
from ..errors import SolverError
from . import fronts, substitution
from .analysis import analyze
from .ordering import Ordering, best_ordering, named_ordering
from .schedule import PAD

Array = np.ndarray

SYMMETRIC = 1e-12
"""How far mirror images may differ, relative to the largest number of the matrix."""
FEW = 4
"""Up to so many columns are solved in lanes of this width."""
GROUP = 768
"""Bytes of a row of right-hand sides that a thread works on at once."""
MEMORY = 2**28
"""Bytes of working memory that all threads together take for right-hand sides."""
ALONE = 400_000
"""Numbers of the factor times columns that the calling thread solves before others would be awake."""


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
        self._dealt: dict[int, Array] = {}
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
        if b.size == 0:
            return out
        flat, x = b.reshape(tiles, n, axes * lanes, 1), out.reshape(tiles, n, axes * lanes, 1)
        a = self.analysis
        values = self.values if b.dtype == np.float64 else self._single
        factor = (values, a.order, a.panels, a.panel_rows)
        work = (a.part_panels, a.top_panels, a.spans, a.outside, a.outside_at)
        with launching():
            threads = get_threads()
            width, group, groups = grouping(tiles, axes * lanes, n, b.dtype, threads)
            tag = Items(width)
            if threads == 1 or a.stored * group * groups < ALONE:
                substitution.solve_alone(flat, x, self._scratch(1, group, b.dtype), factor, work, tag)
            elif groups < threads:
                y = self._scratch(1, group, b.dtype)
                turns = self._turns(threads)
                substitution.solve_together(flat, x, y, factor, work, turns, threads, tag)
            else:
                y = self._scratch(threads, group, b.dtype)
                substitution.solve_many(flat, x, y, factor, work, tag)
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
        shape = (a.first, a.rows_at, a.places, a.child, a.child_at, a.updates_at, a.panels, a.panel_at)
        work = (a.parts, a.top, a.fronts_at, a.columns_at)
        front, columns, update = (np.empty(size) for size in a.sizes)
        memory = (data, front[:, None], columns[:, None], update, self.values)
        with launching():
            threads = get_threads()
            turns = self._turns(threads)
            matrix = (a.source, a.place, a.source_at)
            bad = fronts.factor(memory, shape, matrix, work, turns, threads, Items(PAD))
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
        if threads not in self._dealt:
            self._dealt[threads] = self._deal(threads)
        return self._dealt[threads]

    def _deal(self, threads: int) -> Array:
        a = self.analysis
        begin, end = a.panel_at[a.parts].T if len(a.parts) else np.zeros((2, 0), np.int64)
        numbers = np.append(a.panels[:, 4], a.stored)
        weight = numbers[end] - numbers[begin]
        mine: list[list[int]] = [[] for _ in range(max(1, min(threads, len(weight))))]
        load = np.zeros(len(mine))
        for k in np.argsort(-weight, kind="stable"):
            thread = int(load.argmin())
            mine[thread].append(int(k))
            load[thread] += weight[k]
        most = max(len(m) for m in mine)
        return np.array([m + [-1] * (most - len(m)) for m in mine], np.int64).reshape(len(mine), most)

    def _scratch(self, threads: int, group: int, dtype: Any) -> Array:
        key = (threads, group, np.dtype(dtype).type)
        if key not in self._memory:
            self._memory[key] = np.empty((threads, self.n + len(self.analysis.outside), group, 1), dtype)
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


@cache
def register() -> int:
    """Bytes of the processor's vector registers."""
    features = llvmlite.binding.get_host_cpu_features()
    return 64 if features.get("avx512f") else 32


def grouping(tiles: int, columns: int, n: int, dtype: Any, threads: int) -> tuple[int, int, int]:
    """Columns that are solved side by side in lanes, columns of a group, and groups. Bits depend on none.

    A group is as wide as its memory allows, but narrower where threads would have nothing to do.
    """
    size = np.dtype(dtype).itemsize
    if columns <= FEW:
        return FEW, FEW, tiles
    one = register() // size
    width = 2 * one if size == 4 and one == 16 and columns % 32 == 0 else one
    chunks = -(-columns // width)
    most = min(chunks, GROUP // (width * size), max(1, MEMORY // (threads * n * width * size)))
    cost = {g: -(-tiles * -(-chunks // g) // threads) * g for g in range(most, 0, -1)}
    group = min(cost, key=lambda g: cost[g])
    return width, group * width, tiles * -(-chunks // group)


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
