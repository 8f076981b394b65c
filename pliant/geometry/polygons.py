"""Polygons cut into triangles: concave ones, warped ones, ones with corners in a straight line.

A polygon is seen along its Newell normal. Triangles there are counter-clockwise and cover it exactly, so no
triangle is folded over another. Triangles and quadrilaterals take a short path; larger polygons become a fan
where a good one exists, else ears are clipped one by one (G. H. Meisters, "Polygons have ears", American
Mathematical Monthly 82, 1975), the best-shaped first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.geometry.mesh import FLATTEST

MOST_CORNERS = 500
"""Larger polygons are not cut: clipping ears takes time with the cube of the number, at worst."""
GOOD_FAN, MOST_IN_FAN = 1e-2, 32
"""Least height over longest edge, and most corners, of a fan that is taken without looking for better."""


@dataclass(frozen=True)
class Cut:
    """Polygons cut into triangles.

    Attributes
    ----------
    corners : (T, 3) int64; places in the list of all corners, one polygon after the other
    polygon : (T,) int64; the polygon of each triangle, ascending
    uncut : ids of polygons that cannot be cut: fewer than three corners, more than MOST_CORNERS, no area, or
        crossing themselves as seen along their normal
    """

    corners: np.ndarray
    polygon: np.ndarray
    uncut: np.ndarray


def cut(x: np.ndarray, ids: np.ndarray, sizes: np.ndarray) -> Cut:
    """Cut every polygon into ``size - 2`` triangles, in the order of the polygons.

    ``x`` (N, 3) positions, ``ids`` (C,) vertex of each corner, polygon after polygon, ``sizes`` (F,) corners
    of each polygon. A triangle is passed on as it is, flat ones too; every other triangle has an area unless
    the polygon leaves no choice. A quadrilateral is cut from its first to its third corner where that folds
    nothing.
    """
    starts = np.cumsum(sizes) - sizes
    good = (sizes >= 3) & (sizes <= MOST_CORNERS)
    pieces: list[tuple[np.ndarray, np.ndarray]] = []
    uncut = [np.flatnonzero(~good)]
    for size in np.unique(sizes[good]).tolist():
        which = np.flatnonzero(sizes == size)
        places = starts[which, None] + np.arange(size)
        with np.errstate(over="ignore", invalid="ignore"):
            local, failed = _cut_alike(x[ids[places]])
        kept = which[~failed]
        triangles = np.take_along_axis(places[~failed, None, :], local[~failed], axis=2)
        pieces.append((triangles.reshape(-1, 3), np.repeat(kept, size - 2)))
        uncut.append(which[failed])
    corners = np.concatenate([p[0] for p in pieces] or [np.zeros((0, 3), np.int64)])
    polygon = np.concatenate([p[1] for p in pieces] or [np.zeros(0, np.int64)])
    order = np.argsort(polygon, kind="stable")
    return Cut(corners[order], polygon[order], np.sort(np.concatenate(uncut)))


def _cut_alike(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Local corners (G, n - 2, 3) of polygons with equally many corners (G, n, 3), and which ones failed."""
    count, n = x.shape[:2]
    if n == 3:
        return np.tile(np.arange(3), (count, 1, 1)), np.zeros(count, dtype=bool)
    flat, failed = _projected(x)
    local, shape = (
        _best_fans(flat) if n <= MOST_IN_FAN else (np.zeros((count, n - 2, 3), int), np.zeros(count))
    )
    if n == 4:
        return local, failed | ~(shape > FLATTEST)
    for g in np.flatnonzero(~failed & ~(shape > GOOD_FAN)).tolist():
        ears = _clip_ears(flat[g])
        failed[g] = ears is None
        local[g] = 0 if ears is None else ears
    return local, failed


def _best_fans(flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The fan (G, n - 2, 3) from one corner that has the best triangles, and how good the worst of them is.

    A quadrilateral has two; the first is taken where it will do.
    """
    count, n = flat.shape[:2]
    fans = (np.arange(n)[:, None, None] + [[0, i, i + 1] for i in range(1, n - 1)]) % n  # (start, n - 2, 3)
    shape = np.stack([_fan_shape(flat, fan) for fan in fans[: 2 if n == 4 else n]], axis=1)
    best = shape.argmax(axis=1)
    if n == 4:
        best[shape[:, 0] > FLATTEST] = 0
    return fans[best], shape[np.arange(count), best]


def _projected(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Polygons (G, n, 3) across their normal, counter-clockwise, of size 1; which have no area."""
    rel = x - x[:, :1]
    span = np.abs(rel).max(axis=(1, 2))
    rel = rel / np.where(span > 0.0, span, 1.0)[:, None, None]
    normal = np.cross(rel, np.roll(rel, -1, axis=1)).sum(axis=1)
    length = np.linalg.norm(normal, axis=1)
    failed = ~(length > FLATTEST)
    normal = normal / np.where(failed, 1.0, length)[:, None]
    least = np.eye(3)[np.abs(normal).argmin(axis=1)]
    u = np.cross(least, normal)
    u /= np.maximum(np.linalg.norm(u, axis=1), 0.1)[:, None]
    v = np.cross(normal, u)
    return np.stack([np.einsum("gnk,gk->gn", rel, u), np.einsum("gnk,gk->gn", rel, v)], axis=2), failed


def _fan_shape(flat: np.ndarray, fan: np.ndarray) -> np.ndarray:
    """Least height over longest edge in a fan, (G,); negative if a triangle is turned or the fan overlaps."""
    shape = _shape(flat[:, fan[:, 0]], flat[:, fan[:, 1]], flat[:, fan[:, 2]]).min(axis=1)
    apex = flat[:, fan[0, 0]]
    first, last = flat[:, fan[:, 1]] - apex[:, None], flat[:, fan[:, 2]] - apex[:, None]
    angle = np.arctan2(_cross(first, last), (first * last).sum(axis=2)).sum(axis=1)
    return np.where(angle < 2.0 * np.pi - 1e-9, shape, -1.0)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def _shape(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Signed height over the longest edge, against that edge, of triangles in the plane."""
    longest = np.maximum(((b - a) ** 2).sum(-1), np.maximum(((c - b) ** 2).sum(-1), ((a - c) ** 2).sum(-1)))
    return _cross(b - a, c - a) / np.where(longest > 0.0, longest, 1.0)


def _clip_ears(p: np.ndarray) -> np.ndarray | None:
    """Triangles (n - 2, 3) of one polygon (n, 2), counter-clockwise and of size 1; None if it crosses itself.

    Corners on the border of an ear keep it from being clipped, for clipping would leave corners in one line.
    """
    left = list(range(len(p)))
    out = []
    while len(left) > 3:
        ids = np.array(left)
        ring = p[ids]
        shape = _shape(np.roll(ring, 1, axis=0), ring, np.roll(ring, -1, axis=0))
        convex = np.flatnonzero(shape > FLATTEST)
        ears = convex[np.argsort(-shape[convex], kind="stable")]
        k = next((k for k in ears if _is_ear(ring, k, FLATTEST)), None)
        if k is None:
            k = next((k for k in ears if _is_ear(ring, k, 0.0)), None)
        if k is None:
            return None
        out.append((left[k - 1], left[k], left[(k + 1) % len(left)]))
        del left[k]
    out.append((left[0], left[1], left[2]))
    triangles = np.array(out)
    areas = _cross(p[triangles[:, 1]] - p[triangles[:, 0]], p[triangles[:, 2]] - p[triangles[:, 0]])
    whole = _cross(p, np.roll(p, -1, axis=0)).sum()
    covered = abs(np.abs(areas).sum() - whole) <= 1e-9 * whole
    return triangles if covered and (areas > -1e-12).all() else None


def _is_ear(ring: np.ndarray, k: int, tolerance: float) -> bool:
    """No other corner lies in the triangle at corner ``k``, and no side crosses the line that cuts it off.

    Corners at the position of one of the triangle's are judged by the sides that leave them: a polygon with
    a hole meets itself along the bridge to it.
    """
    n = len(ring)
    before, after = (k - 1) % n, (k + 1) % n
    a, b, c = ring[before], ring[k], ring[after]
    inside = (_cross(b - a, ring - a) >= -tolerance) & (_cross(c - b, ring - b) >= -tolerance)
    side = _cross(a - c, ring - c)  # positive on the side of the ear
    inside &= side >= -tolerance
    inside[[before, k, after]] = False
    which = np.flatnonzero(inside)
    at_corner = (ring[which, None] == np.stack([a, b, c])).all(axis=2).any(axis=1)
    if not at_corner.all():
        return False
    if not which.size:
        return True
    start, end = ring, np.roll(ring, -1, axis=0)
    cut_by = side * np.roll(side, -1) < 0.0
    across = _cross(end - start, a - start) * _cross(end - start, c - start) < 0.0
    return not (cut_by & across).any()
