"""Colours: rows of one colour share no vertex, so they may be projected in any order or at once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def color(ids: np.ndarray, n_vertices: int, fixed: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Sort the rows of ``ids`` (E, k) into colours in which no two rows share a vertex.

    Vertices flagged in ``fixed`` (n_vertices,) bool never move, so they never conflict.

    Returns ``order`` (E,) int32 and ``color_start`` (n_colors + 1,) int32: colour c is
    ``order[color_start[c]:color_start[c + 1]]``, ascending inside.

    Deterministic first-fit greedy (Welsh & Powell 1967) over rows grouped by their pattern of id differences, so
    that the regular part of a mesh gets its few colours first.
    """
    rows = np.asarray(ids, dtype=np.int64)
    if not len(rows):
        return np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int32)
    slot = rows
    if fixed is not None:
        slot = np.where(np.asarray(fixed, dtype=bool)[rows], n_vertices, rows)
    sequence = _pattern_order(rows)
    bits = _first_fit(slot[sequence].tolist(), n_vertices)
    colors = np.empty(len(rows), dtype=np.int32)
    colors[sequence] = bits
    order = np.argsort(colors, kind="stable").astype(np.int32)
    start = np.zeros(int(colors.max()) + 2, dtype=np.int32)
    np.cumsum(np.bincount(colors), out=start[1:])
    return order, start


def _first_fit(rows: Iterable[list[int]], n_vertices: int) -> list[int]:
    """The lowest colour that no earlier row of a shared vertex has; slot ``n_vertices`` never conflicts.

    A set of colours is the bits of one Python integer: about 0.5 µs a row, no limit on colours.
    """
    used = [0] * (n_vertices + 1)
    out = []
    for row in rows:
        taken = 0
        for v in row:
            taken |= used[v]
        free = ~taken & (taken + 1)
        for v in row:
            used[v] |= free
        used[n_vertices] = 0
        out.append(free.bit_length() - 1)
    return out


def _pattern_order(rows: np.ndarray) -> np.ndarray:
    """Row ids, the commonest pattern of id differences first, ascending inside a pattern."""
    offsets = np.sort(rows, axis=1)
    offsets = offsets[:, 1:] - offsets[:, :1]
    key = np.zeros(len(rows), dtype=np.uint64)
    for column in offsets.T:
        key = key * np.uint64(0x9E3779B97F4A7C15) + column.astype(np.uint64)
    _, pattern, count = np.unique(key, return_inverse=True, return_counts=True)
    return np.lexsort((np.arange(len(rows)), pattern, -count[pattern]))
