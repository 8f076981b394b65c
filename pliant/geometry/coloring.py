"""Colours: rows of one colour share no vertex, so they may be projected in any order or at once."""

from __future__ import annotations

import numpy as np


def color(ids: np.ndarray, n_vertices: int, fixed: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Sort the rows of ``ids`` (E, k) into colours in which no two rows share a vertex.

    Vertices flagged in ``fixed`` (n_vertices,) bool never move, so they never conflict.

    Returns ``order`` (E,) int32 and ``color_start`` (n_colors + 1,) int32: colour c is
    ``order[color_start[c]:color_start[c + 1]]``, ascending inside.

    Deterministic first-fit greedy (Welsh & Powell 1967) over rows grouped by their pattern of id differences,
    so that the regular part of a mesh gets its few colours first; where that needs more than the rows around
    the busiest vertex, rows in lexicographic order are tried too and the fewer colours win.
    """
    rows = np.asarray(ids, dtype=np.int64)
    if not len(rows):
        return np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int32)
    slot = np.sort(rows, axis=1)
    sequence = _pattern_order(slot)
    lexicographic = np.lexsort(slot.T[::-1])
    if fixed is not None:
        slot = np.where(np.asarray(fixed, dtype=bool)[slot], n_vertices, slot)
    fewest = int(np.bincount(slot.ravel(), minlength=n_vertices + 1)[:n_vertices].max(initial=0))
    colors = first_fit(slot, sequence, n_vertices)
    if colors.max() + 1 > fewest:
        other = first_fit(slot, lexicographic, n_vertices)
        colors = other if other.max() < colors.max() else colors
    start = np.zeros(int(colors.max()) + 2, dtype=np.int32)
    np.cumsum(np.bincount(colors), out=start[1:])
    return np.argsort(colors, kind="stable").astype(np.int32), start


def first_fit(slot: np.ndarray, sequence: np.ndarray, n_vertices: int) -> np.ndarray:
    """For each row of vertices, in ``sequence``, the lowest colour that no earlier row at them has (E,).

    A set of colours is the bits of one Python integer: under 1 µs a row and no limit on colours. The slot
    ``n_vertices`` stands for every fixed vertex and never conflicts.
    """
    used = [0] * (n_vertices + 1)
    out = []
    for row in slot[sequence].tolist():
        taken = 0
        for v in row:
            taken |= used[v]
        free = ~taken & (taken + 1)
        for v in row:
            used[v] |= free
        used[n_vertices] = 0
        out.append(free.bit_length() - 1)
    colors = np.empty(len(slot), dtype=np.int32)
    colors[sequence] = out
    return colors


def _pattern_order(rows: np.ndarray) -> np.ndarray:
    """Ids of ``rows`` (sorted inside), commonest pattern of id differences first, ascending inside one."""
    key = np.zeros(len(rows), dtype=np.uint64)
    for column in (rows[:, 1:] - rows[:, :1]).T:
        key = key * np.uint64(0x9E3779B97F4A7C15) + column.astype(np.uint64)
    _, pattern, count = np.unique(key, return_inverse=True, return_counts=True)
    return np.lexsort((np.arange(len(rows)), pattern, -count[pattern]))
