"""Where a surface crosses itself: pairs of an edge and a triangle.

Broad phase: a box tree over the triangles, its leaves in Morton order of their centres (Lauterbach et al.
2009, Fast BVH Construction on GPUs, stored as an implicit binary heap), so that triangles of very different
sizes cost nothing extra. Narrow phase: signed volumes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend.jit import kernel, law
from ..errors import PliantError
from ..geometry import topology

Array = np.ndarray
Point = tuple[float, float, float]

LEAF = 4
ROUNDING = 32 * np.finfo(np.float64).eps
"""Bound on the rounding error of a triple product, over the product of the three lengths in it."""


def self_intersections(x: Array, triangles: Array, limit: int | None = None) -> Array:
    """Edges of a triangulated surface that pass through one of its triangles.

    Parameters
    ----------
    x : (N, 3) positions, any length
    triangles : (F, 3) integers
    limit : stop once so many pairs are found; None finds all

    Returns
    -------
    (K, 2) int32, in lexicographic order: row of ``topology.edges(triangles)``, row of ``triangles``. With a
    limit, its first ``limit`` rows.

    An edge crosses a triangle with which it shares no vertex when its ends lie strictly on opposite sides
    and the point between them lies in the triangle, its border included. "Strictly" allows for rounding,
    relative to the lengths involved: what touches, or lies in one plane, does not cross. An edge through the
    common side of two triangles counts with both.

    Raises
    ------
    PliantError
        Wrong shapes, a position that is not finite, a limit below 1.
    """
    x = np.ascontiguousarray(x, dtype=np.float64)
    triangles = np.ascontiguousarray(triangles, dtype=np.int64)
    _check(x, triangles, limit)
    if not len(triangles):
        return np.zeros((0, 2), np.int32)
    edges = topology.edges(triangles).astype(np.int64)
    order, low, high = box_tree(x[triangles].min(axis=1), x[triangles].max(axis=1))
    most = np.iinfo(np.int64).max if limit is None else int(limit)
    room = 1024
    while True:
        pairs = np.empty((room, 2), np.int64)
        found = search(x, edges, triangles, order, low, high, pairs, most)
        if found <= room:
            break
        room = found
    pairs = pairs[:found]
    return pairs[np.lexsort(pairs.T[::-1])][:limit].astype(np.int32)


def _check(x: Array, triangles: Array, limit: int | None) -> None:
    if x.ndim != 2 or x.shape[1] != 3:
        raise PliantError(f"self_intersections: x must have shape (N, 3), it has {x.shape}")
    if triangles.ndim != 2 or triangles.shape[1] != 3:
        raise PliantError(f"self_intersections: triangles must have shape (F, 3), got {triangles.shape}")
    if triangles.size and not (triangles.min() >= 0 and triangles.max() < len(x)):
        raise PliantError(f"self_intersections: triangles name vertices beyond the {len(x)} of x")
    bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
    if bad.size:
        raise PliantError(f"self_intersections: vertex {int(bad[0])} is not finite ({bad.size} such)")
    if limit is not None and limit < 1:
        raise PliantError(f"self_intersections: limit is {limit!r}, it must be at least 1")


def box_tree(low: Array, high: Array) -> tuple[Array, Array, Array]:
    """A complete binary tree over boxes (F, 3): order (F,), and the corners (2 P, 3) of every node.

    Node 1 is the root, node n has children 2 n and 2 n + 1, the last P nodes are leaves of LEAF boxes each in
    ``order``. Empty leaves have low = inf, high = -inf.
    """
    order = np.argsort(morton(0.5 * (low + high)), kind="stable")
    leaves = -(-len(low) // LEAF)
    p = 1 << max(leaves - 1, 0).bit_length()
    node_low, node_high = np.full((2 * p, 3), np.inf), np.full((2 * p, 3), -np.inf)
    first = np.arange(0, len(low), LEAF)
    node_low[p : p + leaves] = np.minimum.reduceat(low[order], first)
    node_high[p : p + leaves] = np.maximum.reduceat(high[order], first)
    while p > 1:
        p //= 2
        node_low[p : 2 * p] = node_low[2 * p : 4 * p].reshape(p, 2, 3).min(axis=1)
        node_high[p : 2 * p] = node_high[2 * p : 4 * p].reshape(p, 2, 3).max(axis=1)
    return order, node_low, node_high


def morton(points: Array) -> Array:
    """Place (F,) of each point on a Z-shaped curve through their bounding box, 20 bits an axis."""
    start = points.min(axis=0)
    extent = float(np.ptp(points, axis=0).max())
    cell = ((points - start) / (extent or 1.0) * (2**20 - 1)).astype(np.uint64)
    code = np.zeros(len(points), np.uint64)
    for bit in range(20):
        for axis in range(3):
            code |= ((cell[:, axis] >> np.uint64(bit)) & np.uint64(1)) << np.uint64(3 * bit + axis)
    return code


@law
def minus(a: Point, b: Point) -> Point:
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@law
def norm(a: Point) -> float:
    """|a|."""
    return np.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@law
def side(a: Point, b: Point, c: Point) -> int:
    """Sign of the triple product a . (b x c); 0 within its rounding error."""
    volume = (
        a[0] * (b[1] * c[2] - b[2] * c[1])
        + a[1] * (b[2] * c[0] - b[0] * c[2])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
    )
    slack = ROUNDING * norm(a) * norm(b) * norm(c)
    return 1 if volume > slack else (-1 if volume < -slack else 0)


@law
def crosses(p: Point, q: Point, a: Point, b: Point, c: Point) -> bool:
    """Whether the segment pq passes through the triangle abc (see :func:`self_intersections`)."""
    ab, ac = minus(b, a), minus(c, a)
    s = side(minus(p, a), ab, ac)
    if s == 0 or s * side(minus(q, a), ab, ac) >= 0:
        return False
    d, pa, pb, pc = minus(q, p), minus(a, p), minus(b, p), minus(c, p)
    u, v, w = side(d, pa, pb), side(d, pb, pc), side(d, pc, pa)
    return (u >= 0 and v >= 0 and w >= 0) or (u <= 0 and v <= 0 and w <= 0)


@kernel
def search(x: Any, edges: Any, triangles: Any, order: Any, low: Any, high: Any, pairs: Any, most: Any) -> Any:
    """Write crossing pairs (edge, triangle) as long as there is room; returns how many there are.

    Stops after the edge with which ``most`` are reached.
    """
    found = 0
    first_leaf = low.shape[0] // 2
    stack = np.empty(64, np.int64)
    for e in range(edges.shape[0]):
        i, j = edges[e, 0], edges[e, 1]
        p = (x[i, 0], x[i, 1], x[i, 2])
        q = (x[j, 0], x[j, 1], x[j, 2])
        stack[0] = 1
        depth = 1
        while depth > 0:
            depth -= 1
            n = stack[depth]
            apart = False
            for m in range(3):
                apart = apart or min(p[m], q[m]) > high[n, m] or max(p[m], q[m]) < low[n, m]
            if apart:
                continue
            if n < first_leaf:
                stack[depth] = 2 * n + 1
                stack[depth + 1] = 2 * n
                depth += 2
                continue
            start = (n - first_leaf) * LEAF
            for k in range(start, min(start + LEAF, order.shape[0])):
                t = order[k]
                ia, ib, ic = triangles[t, 0], triangles[t, 1], triangles[t, 2]
                if i in (ia, ib, ic) or j in (ia, ib, ic):
                    continue
                a = (x[ia, 0], x[ia, 1], x[ia, 2])
                b = (x[ib, 0], x[ib, 1], x[ib, 2])
                c = (x[ic, 0], x[ic, 1], x[ic, 2])
                if crosses(p, q, a, b, c):
                    if found < pairs.shape[0]:
                        pairs[found, 0] = e
                        pairs[found, 1] = t
                    found += 1
        if found >= most:
            return found
    return found
