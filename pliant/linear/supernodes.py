"""Supernodes: neighbouring columns of a factor with (nearly) the same rows, kept as one dense block.

Columns with exactly the same rows always go together. A supernode is then merged with its parent where this
adds few zeros: dense work on zeros costs less than another small block. Source: Ashcraft, Grimes, "The
influence of relaxed supernode partitions on the multifrontal method" (ACM TOMS 15, 1989).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend.jit import kernel

NARROW = 4
"""Blocks that are together no wider are always merged."""
MOST_ZEROS = ((16, 0.5), (48, 0.15), (1 << 30, 0.04))
"""Share of zeros that a merged block may have, by its width."""


@kernel
def tolerated(width: Any) -> Any:
    """Share of zeros that a block of this width may have."""
    for limit, share in MOST_ZEROS:
        if width <= limit:
            return share
    return 0.0


@kernel
def partition(parent: Any, counts: Any) -> Any:
    """First column of each supernode (s + 1,); columns are in postorder.

    in   parent (n,), counts (n,) of :func:`pliant.linear.elimination.elimination_tree`
    """
    n = len(parent)
    first = np.empty(n + 1, np.int64)  # of the supernodes so far, a stack
    entries = np.empty(n + 1, np.int64)  # true ones
    number = 0
    for j in range(n):
        if j > 0 and parent[j - 1] == j and counts[j - 1] == counts[j] + 1:
            entries[number - 1] += counts[j]
        else:
            first[number], entries[number] = j, counts[j]
            number += 1
        closes = j + 1 == n or parent[j] != j + 1 or counts[j] != counts[j + 1] + 1
        while closes and number > 1 and 0 <= parent[first[number - 1] - 1] <= j:
            width = j + 1 - first[number - 2]
            below = counts[j] - 1
            full = width * (width + 1) // 2 + width * below
            both = entries[number - 2] + entries[number - 1]
            if width > NARROW and full - both > tolerated(width) * full:
                break
            entries[number - 2] = both
            number -= 1
    first[number] = n
    return first[: number + 1].copy()


@kernel
def row_starts(first: Any, counts: Any) -> Any:
    """Where the rows below each supernode begin in one list (s + 1,)."""
    number = len(first) - 1
    out = np.zeros(number + 1, np.int64)
    for s in range(number):
        out[s + 1] = out[s] + counts[first[s + 1] - 1] - 1
    return out


@kernel
def below(start: Any, index: Any, order: Any, first: Any, rows_at: Any) -> Any:
    """Rows below each supernode, ascending, and the parent (s,) of each supernode."""
    n, number = len(order), len(first) - 1
    step = np.empty(n, np.int64)
    of = np.empty(n, np.int64)
    for k in range(n):
        step[order[k]] = k
    for s in range(number):
        of[first[s] : first[s + 1]] = s
    rows = np.empty(rows_at[number], np.int32)
    seen = np.full(n, -1, np.int64)
    parent = np.full(number, -1, np.int64)
    head = np.full(number, -1, np.int64)
    following = np.full(number, -1, np.int64)
    for s in range(number):
        fill, last = rows_at[s], first[s + 1]
        for j in range(first[s], last):
            for p in range(start[order[j]], start[order[j] + 1]):
                i = step[index[p]]
                if i >= last and seen[i] != s:
                    seen[i] = s
                    rows[fill] = i
                    fill += 1
        child = head[s]
        while child >= 0:
            for p in range(rows_at[child], rows_at[child + 1]):
                i = rows[p]
                if i >= last and seen[i] != s:
                    seen[i] = s
                    rows[fill] = i
                    fill += 1
            child = following[child]
        rows[rows_at[s] : fill] = np.sort(rows[rows_at[s] : fill])
        if fill > rows_at[s]:
            mother = of[rows[rows_at[s]]]
            parent[s] = mother
            following[s] = head[mother]
            head[mother] = s
    return rows, parent


@kernel
def places(first: Any, rows_at: Any, rows: Any, parent: Any) -> Any:
    """Where each row below a supernode lies in its parent's front: number of the row there."""
    out = np.empty(len(rows), np.int32)
    for s in range(len(parent)):
        mother = parent[s]
        if mother < 0:
            continue
        begin, end = first[mother], first[mother + 1]
        q = rows_at[mother]
        for p in range(rows_at[s], rows_at[s + 1]):
            if rows[p] < end:
                out[p] = rows[p] - begin
            else:
                while rows[q] != rows[p]:
                    q += 1
                out[p] = end - begin + q - rows_at[mother]
    return out


@kernel
def entries_of_fronts(start: Any, index: Any, order: Any, first: Any, rows_at: Any, rows: Any) -> Any:
    """Which number of the matrix goes where: per supernode sources, and rows and columns in its front.

    out  at (s + 1,), source (m,), place (m, 2)
    """
    n, number = len(order), len(first) - 1
    step = np.empty(n, np.int64)
    for k in range(n):
        step[order[k]] = k
    at = np.zeros(number + 1, np.int64)
    source = np.empty(len(index), np.int64)
    place = np.empty((len(index), 2), np.int32)
    where = np.empty(n, np.int32)
    fill = 0
    for s in range(number):
        width = first[s + 1] - first[s]
        for p in range(rows_at[s], rows_at[s + 1]):
            where[rows[p]] = width + p - rows_at[s]
        for j in range(first[s], first[s + 1]):
            where[j] = j - first[s]
        for j in range(first[s], first[s + 1]):
            for p in range(start[order[j]], start[order[j] + 1]):
                i = step[index[p]]
                if i >= j:
                    source[fill], place[fill, 0], place[fill, 1] = p, where[i], j - first[s]
                    fill += 1
        at[s + 1] = fill
    return at, source[:fill].copy(), place[:fill].copy()
