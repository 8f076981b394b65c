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
    the busiest vertex, rows in lexicographic order are tried too and the fewer colours win. All of this is
    decided piece by piece (rows that hang together by vertices): what is elsewhere never changes the colours
    of a piece, so that a body moves alike alone and beside others.
    """
    rows = np.asarray(ids, dtype=np.int64)
    if not len(rows):
        return np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int32)
    slot = np.sort(rows, axis=1)
    piece = _pieces(slot, n_vertices)
    sequence = _pattern_order(slot, piece)
    lexicographic = np.lexsort(slot.T[::-1])
    if fixed is not None:
        slot = np.where(np.asarray(fixed, dtype=bool)[slot], n_vertices, slot)
    busy = np.bincount(slot.ravel(), minlength=n_vertices + 1)
    busy[n_vertices] = 0
    fewest = _most(busy[slot].max(axis=1), piece)
    colors = first_fit(slot, sequence, n_vertices)
    most = _most(colors, piece)
    if (most + 1 > fewest).any():
        other = first_fit(slot, lexicographic, n_vertices)
        better = (most + 1 > fewest) & (_most(other, piece) < most)
        colors = np.where(better[piece], other, colors)
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


def _pattern_order(rows: np.ndarray, piece: np.ndarray) -> np.ndarray:
    """Ids of ``rows`` (sorted inside), commonest pattern of id differences in their piece first, ascending
    inside one."""
    key = np.zeros(len(rows), dtype=np.uint64)
    for column in (rows[:, 1:] - rows[:, :1]).T:
        key = key * np.uint64(0x9E3779B97F4A7C15) + column.astype(np.uint64)
    pattern = np.unique(key, return_inverse=True)[1]
    of_piece = piece * (int(pattern.max()) + 1) + pattern
    _, pattern_here, count = np.unique(of_piece, return_inverse=True, return_counts=True)
    return np.lexsort((np.arange(len(rows)), key, -count[pattern_here]))


def _pieces(rows: np.ndarray, n_vertices: int) -> np.ndarray:
    """Number of the piece that each row belongs to; rows of one piece hang together by shared vertices."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first = np.repeat(rows[:, 0], rows.shape[1])
    links = coo_array((np.ones(rows.size, np.int8), (first, rows.ravel())), shape=(n_vertices, n_vertices))
    label = connected_components(links, directed=False)[1][rows[:, 0]]
    return np.unique(label, return_inverse=True)[1]


def _most(values: np.ndarray, piece: np.ndarray) -> np.ndarray:
    """Largest value in each piece."""
    out = np.zeros(int(piece.max()) + 1, dtype=np.int64)
    np.maximum.at(out, piece, values)
    return out
