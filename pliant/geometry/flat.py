"""Take triangles without area out of a surface, and open no crack."""

from __future__ import annotations

import numpy as np

from pliant.geometry.mesh import degenerate_triangles

Array = np.ndarray

NEEDLE = 1e-3
"""A triangle without area is a needle when its shortest side is at most this fraction of the longest."""


def without_flat(x: Array, triangles: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Mend triangles without area: needles are collapsed, caps flipped, borders cut off.

    A needle's short side becomes a point, which takes out the triangle beyond that side as well. A cap, whose
    one corner lies on the opposite side, gives that side away: with the triangle beyond it, it is cut along
    the other diagonal. On the border, or where the side has more than two triangles, the cap is left out.

    Returns triangles (F, 3), a mask of those to keep (F,), the vertex that takes each one's place (N,), rows
    that were left out, rows that were changed by a flip.
    """
    t = np.array(triangles, np.int64)
    keep = np.ones(len(t), bool)
    leader = np.arange(len(x))
    flipped: set[int] = set()
    for _ in range(len(t)):  # those beside one another need several passes
        live = np.flatnonzero(keep)
        flat = live[degenerate_triangles(x, t[live])] if len(live) else live
        if not len(flat):
            break
        beside = _Beside(t, live, flat)
        touched: set[int] = set()
        for f in flat.tolist():
            if f not in touched and keep[f]:
                _mend(f, x, t, keep, leader, beside, touched, flipped)
        if not touched:
            break
        moved = leader[t]
        if (moved != t).any():
            t = moved
            a, b, c = t.T
            keep &= ~((a == b) | (b == c) | (c == a))
    live = np.flatnonzero(keep)
    if len(live):
        keep[live[degenerate_triangles(x, t[live])]] = False
    rows = np.array(sorted(f for f in flipped if keep[f]), np.int64)
    return t, keep, leader, np.flatnonzero(~keep), rows


class _Beside:
    """Triangles on the edges and at the corners of the flat ones."""

    def __init__(self, t: Array, live: Array, flat: Array) -> None:
        corners = np.zeros(int(t.max()) + 1, bool)
        corners[t[flat]] = True
        self.edge: dict[tuple[int, int], list[int]] = {}
        self.vertex: dict[int, set[int]] = {}
        for f in live[corners[t[live]].any(axis=1)].tolist():
            a, b, c = t[f].tolist()
            for i, j in ((a, b), (b, c), (c, a)):
                self.edge.setdefault((min(i, j), max(i, j)), []).append(f)
                self.vertex.setdefault(i, set()).add(f)


def _mend(
    f: int,
    x: Array,
    t: Array,
    keep: Array,
    leader: Array,
    beside: _Beside,
    touched: set[int],
    flipped: set[int],
) -> None:
    """Mend one flat triangle; ``touched`` are those whose neighbours are no longer as ``beside`` says."""
    corner = t[f].tolist()
    lengths = [float(np.linalg.norm(x[corner[k]] - x[corner[(k + 1) % 3]])) for k in range(3)]
    if min(lengths) <= NEEDLE * max(lengths):
        k = int(np.argmin(lengths))
        one, other = sorted((corner[k], corner[(k + 1) % 3]))
        if leader[one] == one and leader[other] == other:
            near = beside.vertex[one] | beside.vertex[other]
            if not near & touched:
                leader[leader == other] = one
                touched |= near
        return
    k = int(np.argmax(lengths))
    a, c, b = corner[k], corner[(k + 1) % 3], corner[(k + 2) % 3]  # the longest side a-c, b lies on it
    around = beside.edge[min(a, c), max(a, c)]
    others = [g for g in around if g != f]
    if any(g in touched for g in around):
        return
    if len(others) != 1:
        keep[f] = False
        touched.add(f)
        return
    g = others[0]
    d = next(v for v in t[g].tolist() if v not in (a, c))
    if d == b:
        keep[f] = False
        touched |= {f, g}
        return
    row = t[g].tolist()
    start = row.index(a)
    forward = row[(start + 1) % 3] == c
    t[g] = [a, b, d] if forward else [b, a, d]
    t[f] = [b, c, d] if forward else [c, b, d]
    touched |= {f, g}
    flipped |= {f, g}
