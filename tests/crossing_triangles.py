"""Triangles of one surface that cross, counted without the library: interval overlap of Möller 1997.

T. Möller 1997, A fast triangle-triangle intersection test, Journal of Graphics Tools 2(2). Pairs that share a
vertex are left to their other edges; pairs in one plane do not count.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def crossing_triangles(x: Array, triangles: Array) -> Array:
    """Pairs (K, 2) of triangles without a common vertex that pass through each other."""
    x, t = np.asarray(x, float), np.asarray(triangles)
    a, b = _near(x[t].min(axis=1), x[t].max(axis=1))
    apart = ~(t[a][:, :, None] == t[b][:, None, :]).any(axis=(1, 2))
    a, b = a[apart], b[apart]
    hit = _cross(x[t[a]], x[t[b]])
    pairs = np.sort(np.stack([a[hit], b[hit]], axis=1), axis=1)
    return pairs[np.lexsort(pairs.T[::-1])]


def _near(low: Array, high: Array) -> tuple[Array, Array]:
    """Pairs of boxes that overlap: swept along the longest way, the other two axes looked at after."""
    axis = int(np.argmax(high.max(axis=0) - low.min(axis=0)))
    order = np.argsort(low[:, axis], kind="stable")
    last = np.searchsorted(low[order, axis], high[order, axis], side="right")
    ones, others = [], []
    for k, end in enumerate(last):
        i, j = order[k], order[k + 1 : end]
        near = ((low[j] <= high[i]) & (low[i] <= high[j])).all(axis=1)
        others.append(j[near])
        ones.append(np.full(int(near.sum()), i))
    return np.concatenate(ones), np.concatenate(others)


def _cross(p: Array, q: Array) -> Array:
    """Which triangles p (K, 3, 3) cross the triangles q."""
    sides_p, sides_q = _heights(p, q), _heights(q, p)
    straddle = (sides_p.min(axis=1) < 0) & (sides_p.max(axis=1) > 0)
    straddle &= (sides_q.min(axis=1) < 0) & (sides_q.max(axis=1) > 0)
    way = np.cross(_normals(p), _normals(q))
    p_low, p_high = _interval(p, sides_p, way)
    q_low, q_high = _interval(q, sides_q, way)
    return straddle & (p_low < q_high) & (q_low < p_high)


def _normals(p: Array) -> Array:
    return np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])


def _heights(p: Array, q: Array) -> Array:
    """Heights (K, 3) of the corners of p over the planes of q."""
    return ((p - q[:, :1]) * _normals(q)[:, None]).sum(axis=2)


def _interval(p: Array, sides: Array, way: Array) -> tuple[Array, Array]:
    """Where a triangle meets the line along ``way`` in which both planes meet."""
    along = (p * way[:, None]).sum(axis=2)
    low, high = np.full(len(p), np.inf), np.full(len(p), -np.inf)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        crossed = sides[:, i] * sides[:, j] < 0
        share = sides[:, i] / np.where(crossed, sides[:, i] - sides[:, j], 1.0)
        at = along[:, i] + share * (along[:, j] - along[:, i])
        low = np.where(crossed, np.minimum(low, at), low)
        high = np.where(crossed, np.maximum(high, at), high)
    return low, high
