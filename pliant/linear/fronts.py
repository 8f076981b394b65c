"""The numeric factor: every supernode gathers what is below it in a dense front and eliminates its columns.

Source: Duff, Reid, "The multifrontal solution of indefinite sparse symmetric linear equations" (ACM TOMS 9,
1983). Parts of the tree are worked on side by side, each by one thread; of the top's fronts the large ones
are worked on by all threads, each with rows of its own. Every number is the result of the same operations in
the same order, whatever the number of threads (:mod:`.dense`).

Arguments of most kernels: ``memory`` = numbers of the matrix, fronts f, columns t, updates u, the factor's
numbers out; ``shape``, ``matrix``: arrays of the analysis, in the order of :func:`factor`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend.entry import entry, place
from ..backend.jit import kernel, prange
from .dense import deep_block, deep_of, rows_below, tiles
from .schedule import PAD

LARGE = 4e6
"""Operations of a front that are worth more than one thread."""
ROWS = 64
"""Rows that a thread takes at a time."""
NONE = np.int64(0)
ASSEMBLE, BELOW, TILES, HAND_ON = np.int64(0), np.int64(1), np.int64(2), np.int64(3)
"""Jobs of :func:`shared`, typed: a kernel is compiled afresh for each literal number among its arguments."""


@kernel
def size(s: Any, shape: Any) -> Any:
    """Columns that supernode s eliminates, and rows of its front."""
    first, rows_at = shape[0], shape[1]
    width = first[s + 1] - first[s]
    return width, width + rows_at[s + 1] - rows_at[s]


@kernel
def assemble(s: Any, at: Any, lo: Any, hi: Any, memory: Any, shape: Any, matrix: Any) -> None:
    """Rows lo to hi of the front of supernode s: numbers of the matrix and what its children hand on."""
    data, f, u = memory[0], memory[1], memory[3]
    rows_at, places, child, child_at, updates_at = shape[1], shape[2], shape[3], shape[4], shape[5]
    source, into, source_at = matrix
    ld = size(s, shape)[1] + PAD
    for i in range(lo, hi):
        for j in range(i + 1):
            place(f, at + i * ld + j, 0.0)
    for p in range(source_at[s], source_at[s + 1]):
        if lo <= into[p, 0] < hi:
            f[at + into[p, 0] * ld + into[p, 1], 0] += data[source[p]]
    for c in range(child_at[s], child_at[s + 1]):
        p, m, v = rows_at[child[c]], rows_at[child[c] + 1] - rows_at[child[c]], updates_at[child[c]]
        for i in range(m):
            if lo <= places[p + i] < hi:
                row = at + places[p + i] * ld
                for j in range(i + 1):
                    to = row + entry(places, p + j)
                    place(f, to, entry(f, to) + entry(u, v + i * m + j))


@kernel
def hand_on(s: Any, at: Any, lo: Any, hi: Any, memory: Any, shape: Any) -> None:
    """Rows lo to hi of the front: columns into ``out``, by panels, with 1 / diagonal; the rest into ``u``."""
    f, u, out = memory[1], memory[3], memory[4]
    updates_at, panels, panel_at = shape[5], shape[6], shape[7]
    width, nf = size(s, shape)
    ld = nf + PAD
    c = 0
    for p in range(panel_at[s], panel_at[s + 1]):
        w, v = panels[p, 1], panels[p, 4]
        below = v + w * (w + 1) // 2
        for i in range(max(lo, c), hi):
            row, k = at + i * ld + c, i - c
            if k < w:
                for j in range(k):
                    place(out, v + k * (k + 1) // 2 + j, entry(f, row + j))
                out[v + k * (k + 1) // 2 + k] = 1.0 / entry(f, row + k)
            else:
                for j in range(w):
                    place(out, below + (k - w) * w + j, entry(f, row + j))
        c += w
    height, v = nf - width, updates_at[s]
    for i in range(max(lo, width), hi):
        for j in range(i - width + 1):
            place(u, v + (i - width) * height + j, entry(f, at + i * ld + width + j))


@kernel
def eliminate(s: Any, at: Any, tat: Any, memory: Any, shape: Any, matrix: Any, lanes: Any) -> Any:
    """Columns of supernode s, by one thread; the step that fails, or -1."""
    f, t = memory[1], memory[2]
    width, nf = size(s, shape)
    ld = nf + PAD
    assemble(s, at, NONE, nf, memory, shape, matrix)
    p = 0
    while p < width:
        deep = deep_of(p, width)
        bad = deep_block(f, at, ld, t, tat, p, deep, lanes)
        if bad >= 0:
            return shape[0][s] + bad
        rows_below(f, at, ld, t, tat, p, deep, p + deep, nf, lanes)
        p += deep
        for lo in range(p, nf, ROWS):
            tiles(f, at, ld, t, tat, p - deep, deep, lo, min(lo + ROWS, nf), p, nf, lanes)
    hand_on(s, at, NONE, nf, memory, shape)
    return -1


@kernel(parallel=True)
def shared(
    job: Any, s: Any, at: Any, tat: Any, p: Any, deep: Any, threads: Any, memory: Any, shape: Any,
    matrix: Any, lanes: Any,
) -> None:  # fmt: skip
    """One job of :func:`eliminate` by all threads: each takes every ``threads``-th piece of rows."""
    f, t = memory[1], memory[2]
    nf = size(s, shape)[1]
    ld = nf + PAD
    begin = p + deep if job in (BELOW, TILES) else NONE
    for thread in prange(threads):
        for lo in range(begin + thread * ROWS, nf, threads * ROWS):
            hi = min(lo + ROWS, nf)
            if job == ASSEMBLE:
                assemble(s, at, lo, hi, memory, shape, matrix)
            elif job == BELOW:
                rows_below(f, at, ld, t, tat, p, deep, lo, hi, lanes)
            elif job == TILES:
                tiles(f, at, ld, t, tat, p, deep, lo, hi, p + deep, nf, lanes)
            else:
                hand_on(s, at, lo, hi, memory, shape)


@kernel
def eliminate_together(
    s: Any, at: Any, tat: Any, threads: Any, memory: Any, shape: Any, matrix: Any, lanes: Any
) -> Any:
    """Columns of supernode s, by all threads; the step that fails, or -1."""
    width, nf = size(s, shape)
    shared(ASSEMBLE, s, at, tat, NONE, NONE, threads, memory, shape, matrix, lanes)
    p = 0
    while p < width:
        deep = deep_of(p, width)
        bad = deep_block(memory[1], at, nf + PAD, memory[2], tat, p, deep, lanes)
        if bad >= 0:
            return shape[0][s] + bad
        shared(BELOW, s, at, tat, p, deep, threads, memory, shape, matrix, lanes)
        shared(TILES, s, at, tat, p, deep, threads, memory, shape, matrix, lanes)
        p += deep
    shared(HAND_ON, s, at, tat, NONE, NONE, threads, memory, shape, matrix, lanes)
    return -1


@kernel(parallel=True)
def parts_side_by_side(
    memory: Any, shape: Any, matrix: Any, work: Any, turns: Any, failed: Any, lanes: Any
) -> None:
    """The blocks of the parts, each thread its own parts; ``failed``: the step that fails, by part."""
    parts, fronts_at, columns_at = work[0], work[2], work[3]
    for thread in prange(turns.shape[0]):
        for k in turns[thread]:
            if k >= 0:
                for s in range(parts[k, 0], parts[k, 1]):
                    bad = eliminate(s, fronts_at[k], columns_at[k], memory, shape, matrix, lanes)
                    if bad >= 0:
                        failed[k] = bad
                        break


@kernel
def factor(memory: Any, shape: Any, matrix: Any, work: Any, turns: Any, threads: Any, lanes: Any) -> Any:
    """All numbers of a factor; returns the first step that fails, or n.

    in   shape: first, rows_at, places, child, child_at, updates_at, panels, panel_at; matrix: source, place,
         source_at; work: parts, top, fronts_at, columns_at; turns (threads, most): parts that each thread
         does, -1: none
    """
    parts, top, fronts_at, columns_at = work
    number = len(parts)
    n = shape[0][len(shape[0]) - 1]
    if number > 0:
        failed = np.full(number, n, np.int64)
        parts_side_by_side(memory, shape, matrix, work, turns, failed, lanes)
        if failed.min() < n:
            return failed.min()
    at, tat = fronts_at[number], columns_at[number]
    for s in top:
        width, nf = size(s, shape)
        if threads > 1 and 1.0 * width * nf * nf > LARGE:
            bad = eliminate_together(s, at, tat, threads, memory, shape, matrix, lanes)
        else:
            bad = eliminate(s, at, tat, memory, shape, matrix, lanes)
        if bad >= 0:
            return bad
    return n
