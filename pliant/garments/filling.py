"""Flat panels filled with triangles: rows of near-equilateral ones along the weft, fitted to the outline.

Points come from a lattice of rows square to the warp, kept off the outline; their Delaunay triangulation is
evened out near the outline, where the lattice does not fit. The points on the outline stay as they are given,
so that panels fit together at seams, and each side of the outline is an edge of a triangle.
"""

from __future__ import annotations

import numpy as np

from pliant.errors import PatternError
from pliant.geometry import topology

Array = np.ndarray

CLEARANCE = 0.62
"""Lattice points nearer to the outline than this share of the size there are left out."""
GRADING = 0.3
"""How fast the size may grow with the distance from a fine part of the outline."""
SHARP = 50.0
"""Corners [degrees] that are as sharp are not cut in two."""
ROUNDS = 24
FINEST = 5
"""Levels of the lattice, each half as wide as the one before."""


def filled(outline: Array, size: float, grain: tuple[float, float], what: str) -> tuple[Array, Array]:
    """Triangulate the inside of a closed polygon.

    Parameters
    ----------
    outline : (n, 2) m, counter-clockwise, its sides the edges that the triangles shall have there
    size : edge to aim at inside, m
    grain : direction of the warp
    what : named in errors

    Returns
    -------
    points (m, 2), the first n those of the outline, and triangles (F, 3), counter-clockwise.

    Raises PatternError where the outline cannot be filled.
    """
    n = len(outline)
    points = np.concatenate([outline, _lattice(outline, size, grain)])
    near = _near_outline(points, outline, size)
    triangles = _triangulated(points, n, what)
    for k in range(ROUNDS):
        evened = _evened(points, triangles, near, n)
        moved, step = evened, 1.0
        while _inverted(moved, triangles) and step > 1e-3:
            step *= 0.5
            moved = points + step * (evened - points)
        points = points if _inverted(moved, triangles) else moved
        triangles = _triangulated(points, n, what)
        if k in (7, 13):
            crowded = _crowded(points, triangles, n)
            if crowded.size:
                keep = np.ones(len(points), bool)
                keep[crowded] = False
                points, near = points[keep], near[keep]
                triangles = _triangulated(points, n, what)
    return points, _without_ears(points, triangles, n)


def smallest_angles(points: Array, triangles: Array) -> Array:
    """The smallest angle of each triangle (F,), degrees."""
    return _angles(points, triangles).min(axis=1)


def _angles(points: Array, triangles: Array) -> Array:
    """Angles (F, 3) at the corners of each triangle, degrees."""
    out = np.empty((len(triangles), 3))
    for c in range(3):
        a, b, d = (points[triangles[:, (c + k) % 3]] for k in range(3))
        u, v = b - a, d - a
        out[:, c] = np.degrees(np.arctan2(np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]), (u * v).sum(axis=1)))
    return out


def _lattice(outline: Array, size: float, grain: tuple[float, float]) -> Array:
    """Points inside, in rows square to the grain, finer where the outline has short sides."""
    up = np.asarray(grain, float) / np.linalg.norm(grain)
    axes = np.array([[up[1], -up[0]], up])  # weft, warp
    turned = outline @ axes.T
    low, high = turned.min(axis=0), turned.max(axis=0)
    middle = 0.5 * (low + high)
    kept: list[Array] = []
    shortest = np.linalg.norm(outline - np.roll(outline, 1, axis=0), axis=1).min()
    levels = min(FINEST, 1 + max(0, int(np.ceil(np.log2(size / (1.45 * shortest))))))
    for level in reversed(range(levels)):
        h = size / 2**level
        rows = int(np.ceil((high[1] - low[1]) / 2 / (h * np.sqrt(0.75)))) + 1
        cells = int(np.ceil((high[0] - low[0]) / 2 / h)) + 1
        v, u = np.meshgrid(np.arange(-rows, rows + 1), np.arange(-cells, cells + 1), indexing="ij")
        grid = np.stack([(u + 0.5 * (v % 2)) * h, v * h * np.sqrt(0.75)], axis=2).reshape(-1, 2) + middle
        grid = grid[_inside(grid, turned)]
        if not len(grid):
            continue
        distance, local = _distance_and_size(grid, turned, size)
        wanted = (local <= h * 1.38) | (level == 0)
        if level + 1 < levels:
            wanted &= local > h / 1.45
        grid = grid[wanted & (distance > CLEARANCE * local)]
        if not len(grid):
            continue
        if kept:
            others = np.concatenate(kept)
            gap = np.sqrt(((grid[:, None] - others[None]) ** 2).sum(axis=2)).min(axis=1)
            grid = grid[gap > 0.75 * h]
        kept.append(grid)
    return (np.concatenate(kept) if kept else np.zeros((0, 2))) @ axes


def _distance_and_size(points: Array, outline: Array, size: float) -> tuple[Array, Array]:
    """Distance to the outline and the size aimed at there, (n,) each; the size grows from fine sides."""
    distance, local = np.full(len(points), np.inf), np.full(len(points), float(size))
    for a, b in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        d = b - a
        length = float(np.linalg.norm(d))
        t = np.clip((points - a) @ d / length**2, 0, 1)
        away = np.linalg.norm(points - a - t[:, None] * d, axis=1)
        distance = np.minimum(distance, away)
        local = np.minimum(local, length + GRADING * np.maximum(away - 0.5 * length, 0))
    return distance, local


def _near_outline(points: Array, outline: Array, size: float) -> Array:
    """Which points may move: those inside whose surroundings are not the plain lattice."""
    distance, local = _distance_and_size(points, outline, size)
    near = (distance < 2.6 * local) | (local < 0.999 * size)
    near[: len(outline)] = False
    return near


def _inside(points: Array, outline: Array) -> Array:
    """Which points lie in a polygon, by the number of sides to their right."""
    inside = np.zeros(len(points), bool)
    x, y = points.T
    for (ax, ay), (bx, by) in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        if ay == by:
            continue
        inside ^= ((ay > y) != (by > y)) & (x < (bx - ax) * (y - ay) / (by - ay) + ax)
    return inside


def _triangulated(points: Array, n: int, what: str) -> Array:
    """Triangles inside the outline of the first n points, each side of it among their edges."""
    from scipy.spatial import Delaunay

    triangles = Delaunay(np.concatenate([_bulged(points[:n]), points[n:]])).simplices.astype(np.int64)
    doubled = _doubled_areas(points, triangles)
    triangles = np.where((doubled < 0)[:, None], triangles[:, [0, 2, 1]], triangles)
    triangles = _with_sides(points, triangles, n, what)
    centres = points[triangles].mean(axis=1)
    triangles = triangles[_inside(centres, points[:n]) & (_doubled_areas(points, triangles) > 0)]
    first = np.argmin(triangles, axis=1)
    triangles = np.take_along_axis(triangles, (first[:, None] + np.arange(3)) % 3, axis=1)
    triangles = triangles[np.lexsort(triangles.T[::-1])]
    border = (
        {tuple(edge) for edge in topology.boundary_edges(triangles).tolist()} if len(triangles) else set()
    )
    if border != {(i, (i + 1) % n) for i in range(n)} or len(np.unique(triangles)) < len(points):
        raise PatternError(f"{what} cannot be filled with triangles; is it thinner than an edge somewhere?")
    return triangles


def _bulged(outline: Array) -> Array:
    """The outline, its straight runs bent outwards by a hair.

    Three points in a line make a triangle without area, on whichever side rounding says; bent so, none has
    an empty circle.
    """
    n = len(outline)
    before, after = outline - np.roll(outline, 1, axis=0), np.roll(outline, -1, axis=0) - outline
    turn = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    scale = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    corners = np.flatnonzero(np.abs(turn) > 1e-6 * scale)
    out = outline.copy()
    for a, b in zip(corners, np.append(corners[1:], corners[0] + n), strict=True):
        ids = np.arange(a + 1, b) % n
        chord = outline[b % n] - outline[a]
        s = (outline[ids] - outline[a]) @ chord / (chord @ chord)
        out[ids] += 1e-5 * (s * (1 - s))[:, None] * np.array([chord[1], -chord[0]])
    return out


def _doubled_areas(points: Array, triangles: Array) -> Array:
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])


def _with_sides(points: Array, triangles: Array, n: int, what: str) -> Array:
    """Flip edges until every side of the outline is one (Sloan 1993, A fast algorithm for generating
    constrained Delaunay triangulations)."""
    have = {tuple(edge) for edge in topology.edges(triangles).tolist()}
    sides = [(i, (i + 1) % n) for i in range(n)]
    for a, b in sides:
        if (min(a, b), max(a, b)) in have:
            continue
        for _ in range(4 * len(triangles)):
            hinges = topology.hinges(triangles)
            crossing = _crossed_by(points, hinges, a, b)
            if not len(crossing):
                break
            flippable = [h for h in crossing if _convex(points, h)]
            if not flippable:
                raise PatternError(f"{what}: a side of the outline cannot be made an edge of a triangle")
            i, j, k, l = flippable[0].tolist()
            rows = [r for r, t in enumerate(triangles.tolist()) if i in t and j in t]
            triangles[rows[0]], triangles[rows[1]] = [k, i, l], [l, j, k]
        have = {tuple(edge) for edge in topology.edges(triangles).tolist()}
        if (min(a, b), max(a, b)) not in have:
            raise PatternError(f"{what}: a side of the outline runs through another of its points")
    return triangles


def _without_ears(points: Array, triangles: Array, n: int) -> Array:
    """Corners of the outline with an edge inside: their triangle is cut along the other diagonal.

    Where two panels are sewn on both sides of a corner, triangles that fill it would share all three edges.
    """
    out = triangles.copy()
    hinges = topology.hinges(triangles)
    for i, j, k, l in hinges.tolist():
        for tip, other in ((k, l), (l, k)):
            a, b = (tip - 1) % n, (tip + 1) % n
            if max(i, j, tip) >= n or {i, j} != {a, b} or not _convex(points, np.array([a, b, tip, other])):
                continue
            rows = np.flatnonzero((triangles == i).any(axis=1) & (triangles == j).any(axis=1))
            if (
                _angles(points, np.array([[tip, b, a]]))[0, 0] < SHARP
                or not (out[rows] == triangles[rows]).all()
            ):
                continue
            out[rows[0]], out[rows[1]] = [tip, other, a], [tip, b, other]
    return out


def _crossed_by(points: Array, hinges: Array, a: int, b: int) -> Array:
    """Hinges whose edge is crossed by the segment from point a to point b."""
    i, j = hinges[:, 0], hinges[:, 1]
    apart = (i != a) & (i != b) & (j != a) & (j != b)
    p, q = points[a], points[b]
    one = _side(points[i], p, q) * _side(points[j], p, q) < 0
    other = _side(p, points[i], points[j]) * _side(q, points[i], points[j]) < 0
    return hinges[apart & one & other]


def _side(x: Array, a: Array, b: Array) -> Array:
    d, r = b - a, x - a
    return np.asarray(d[..., 0] * r[..., 1] - d[..., 1] * r[..., 0])


def _convex(points: Array, hinge: Array) -> bool:
    i, j, k, l = points[hinge]
    return bool(_side(i, k, l) * _side(j, k, l) < 0)


def _evened(points: Array, triangles: Array, near: Array, n: int) -> Array:
    """Points that may move, each at the mean of the circumcentres around it, by area.

    Chen & Holst 2011, Efficient mesh optimization schemes based on optimal Delaunay triangulations. A
    circumcentre outside its triangle is replaced by the centre of gravity.
    """
    a, b, c = (points[triangles[:, k]] for k in range(3))
    area = 0.5 * _doubled_areas(points, triangles)
    ab, ac = b - a, c - a
    det = 2 * (ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0])
    bb, cc = (ab**2).sum(axis=1), (ac**2).sum(axis=1)
    offset = np.stack([ac[:, 1] * bb - ab[:, 1] * cc, ab[:, 0] * cc - ac[:, 0] * bb], axis=1) / det[:, None]
    obtuse = _angles(points, triangles).max(axis=1) > 90
    centre = np.where(obtuse[:, None], (a + b + c) / 3, a + offset)
    weight = np.repeat(area, 3)
    ids = triangles.ravel()
    total = np.bincount(ids, weight, len(points))
    mean = [np.bincount(ids, weight * np.repeat(centre[:, k], 3), len(points)) / total for k in (0, 1)]
    return np.where(near[:, None], np.stack(mean, axis=1), points)


def _inverted(points: Array, triangles: Array) -> bool:
    return bool((_doubled_areas(points, triangles) <= 0).any())


def _crowded(points: Array, triangles: Array, n: int) -> Array:
    """Points inside of which each has an angle under 30 degrees opposite one of its edges, worst first,
    none beside another."""
    angles = _angles(points, triangles)
    taken = np.zeros(len(points), bool)
    out = []
    for f in np.argsort(angles.min(axis=1), kind="stable"):
        c = int(np.argmin(angles[f]))
        if angles[f, c] > 28:
            break
        short = [int(v) for k, v in enumerate(triangles[f]) if k != c and v >= n]
        if short and not taken[triangles[f]].any():
            out.append(short[0])
            taken[triangles[(triangles == short[0]).any(axis=1)]] = True
    return np.array(out, int)
