"""Meshes made in memory: flat ones lie in z = 0 with normal +z, all are centred at the origin.

Solid ones are in :mod:`pliant.geometry.solid_shapes`.
"""

from __future__ import annotations

import numpy as np

from pliant.errors import MeshError
from pliant.geometry.icosahedron import icosahedron
from pliant.geometry.mesh import TriMesh
from pliant.geometry.solid_shapes import ball, bar

__all__ = [
    "PATTERNS", "annulus", "ball", "bar", "disc", "equilateral", "grid", "pillow", "sphere", "tube",
    "unstructured",
]  # fmt: skip

PATTERNS = ("right", "left", "alternating", "cross")
MOST_VERTICES = 3_000_000
"""A shape of more is refused: a slip of the pen would fill the memory."""


def grid(nx: int, ny: int, size: tuple[float, float] = (1.0, 1.0), pattern: str = "right") -> TriMesh:
    """A rectangle of nx × ny vertices, id = iy nx + ix, x first; ``size`` (2,) m.

    ``pattern``: "right" cuts every cell from lower left to upper right, "left" the other way, "alternating"
    by turns, "cross" both ways with a vertex in the middle of each cell (ids nx ny onwards, row by row).
    """
    _counts(nx=(nx, 2), ny=(ny, 2))
    _size(size)
    _affordable("grid", float(nx) * ny)
    u, v = np.meshgrid(np.linspace(0.0, 1.0, nx), np.linspace(0.0, 1.0, ny))
    uv = np.stack([u.ravel(), v.ravel()], axis=1)
    cell = (np.arange(ny - 1)[:, None] * nx + np.arange(nx - 1)).ravel()
    a, b, c, d = cell, cell + 1, cell + nx + 1, cell + nx
    right = np.stack([a, b, c, a, c, d], axis=1)
    left = np.stack([a, b, d, b, c, d], axis=1)
    if pattern == "right":
        triangles = right
    elif pattern == "left":
        triangles = left
    elif pattern == "alternating":
        odd = (cell % nx + cell // nx) % 2 == 1
        triangles = np.where(odd[:, None], left, right)
    elif pattern == "cross":
        m = nx * ny + np.arange(len(cell))
        triangles = np.stack([a, b, m, b, c, m, c, d, m, d, a, m], axis=1)
        uv = np.concatenate([uv, 0.25 * (uv[a] + uv[b] + uv[c] + uv[d])])
    else:
        raise MeshError(f"grid pattern {pattern!r} is unknown; choose one of {', '.join(PATTERNS)}")
    return _flat((uv - 0.5) * np.asarray(size, dtype=np.float64), triangles.reshape(-1, 3), "grid", uv)


def pillow(nx: int, ny: int, size: tuple[float, float] = (1.0, 1.0)) -> TriMesh:
    """Two rectangles on top of each other that share their rims: closed, flat, empty; ``size`` (2,) m.

    Each has nx × ny vertices and one in the middle of each cell (``grid``'s pattern "cross"): first all of
    the upper one as ``grid`` numbers them, then those of the lower one that are not on the rim.
    """
    top = grid(nx, ny, size, "cross")
    n = top.n_vertices
    x, y = np.arange(n) % nx, np.arange(n) // nx
    rim = (np.arange(n) < nx * ny) & ((x == 0) | (x == nx - 1) | (y == 0) | (y == ny - 1))
    below = np.where(rim, np.arange(n), n - 1 + np.cumsum(~rim))
    vertices = np.concatenate([top.vertices, top.vertices[~rim]])
    return TriMesh(vertices, np.concatenate([top.triangles, below[top.triangles[:, ::-1]]]), name="pillow")


def equilateral(size: tuple[float, float], edge: float) -> TriMesh:
    """A rectangle of near-equilateral triangles in rows along x, with straight borders; lengths in m.

    Every second row is shifted by half an edge and ends in half triangles. Edges are stretched so that whole
    cells fit: by under 1 / (2 cells) each way.
    """
    _size(size)
    _lengths(edge=edge)
    _affordable("equilateral", 1.2 * max(1.0, size[0] / edge) * max(1.0, size[1] / edge))
    cells = max(1, round(size[0] / edge))
    rows = max(1, round(size[1] / (edge * np.sqrt(0.75))))
    even = np.arange(cells + 1.0)
    odd = np.concatenate([[0.0], np.arange(cells) + 0.5, [cells]])
    xs = [odd if row % 2 else even for row in range(rows + 1)]
    start = np.concatenate([[0], np.cumsum([len(x) for x in xs])])
    u = np.concatenate(xs) / cells
    v = np.repeat(np.linspace(0.0, 1.0, rows + 1), [len(x) for x in xs])
    uv = np.stack([u, v], axis=1)
    strips = [_strip(xs[row], xs[row + 1]) for row in range(rows)]
    triangles = [
        np.where(upper, start[row + 1] + local, start[row] + local)
        for row, (local, upper) in enumerate(strips)
    ]
    return _flat(
        (uv - 0.5) * np.asarray(size, dtype=np.float64), np.concatenate(triangles), "equilateral", uv
    )


def unstructured(size: tuple[float, float], edge: float, seed: int = 0) -> TriMesh:
    """A rectangle with an irregular Delaunay triangulation (no preferred direction); lengths in m.

    The border has evenly spaced vertices about ``edge`` apart; inside, one random point per cell of a lattice
    with the density of equilateral triangles of that edge, evened out by moving each to the mean of its
    neighbours a few times. The same ``seed`` gives the same mesh.
    """
    from scipy.spatial import Delaunay

    _size(size)
    _lengths(edge=edge)
    _affordable("unstructured", 1.2 * max(1.0, size[0] / edge) * max(1.0, size[1] / edge))
    w, h = (float(s) for s in size)
    nx, ny = max(1, round(w / edge)), max(1, round(h / edge))
    x, y = np.linspace(-0.5 * w, 0.5 * w, nx + 1), np.linspace(-0.5 * h, 0.5 * h, ny + 1)
    border = np.concatenate(
        [
            np.stack([x[:-1], np.full(nx, y[0])], axis=1),
            np.stack([np.full(ny, x[-1]), y[:-1]], axis=1),
            np.stack([x[:0:-1], np.full(nx, y[-1])], axis=1),
            np.stack([np.full(ny, x[0]), y[:0:-1]], axis=1),
        ]
    )
    rng = np.random.default_rng(seed)
    pitch = edge * 0.75**0.25
    room = np.array([w, h]) - pitch
    cells = np.maximum(1, np.round(room / pitch)).astype(int) if (room > 0.0).all() else np.zeros(2, int)
    lattice = np.stack(np.meshgrid(np.arange(cells[0]), np.arange(cells[1])), axis=-1).reshape(-1, 2)
    inner = ((lattice + rng.random(lattice.shape)) / np.maximum(cells, 1) - 0.5) * room
    points = np.concatenate([border, inner])
    for _ in range(5):
        if not len(inner):
            break
        tri = Delaunay(points).simplices
        here, there = tri.ravel(), tri[:, [1, 2, 0]].ravel()
        total = np.stack([np.bincount(here, weights=points[there, axis]) for axis in (0, 1)], axis=1)
        mean = total / np.bincount(here)[:, None]
        points = np.concatenate([border, mean[len(border) :]])
    return _delaunay(points, size, "unstructured")


def disc(radius: float, edge: float) -> TriMesh:
    """A disc of rings around vertex 0, ring k of 6 k vertices; ``radius`` and the edge to aim at in m."""
    _lengths(radius=radius, edge=edge)
    _affordable("disc", 3.0 * (radius / edge) * (radius / edge))
    rings = max(1, round(radius / edge))
    counts = [1] + [6 * k for k in range(1, rings + 1)]
    radii = radius * np.arange(rings + 1) / rings
    return _rings(radii, counts, "disc")


def annulus(inner: float, outer: float, edge: float) -> TriMesh:
    """A flat ring between two radii, in near-equilateral triangles; lengths in m, inner ring first."""
    _lengths(inner=inner, outer=outer, edge=edge)
    if not inner < outer:
        raise MeshError(
            f"annulus has inner radius {inner} and outer radius {outer}; inner must be the smaller"
        )
    _affordable("annulus", 3.6 * (outer / edge) * (outer / edge) - 3.6 * (inner / edge) * (inner / edge))
    _affordable("annulus", 2.0 * np.pi * outer / edge)
    rings = max(1, round((outer - inner) / (edge * np.sqrt(0.75))))
    radii = np.linspace(inner, outer, rings + 1)
    counts = [max(3, round(2.0 * np.pi * r / edge)) for r in radii]
    return _rings(radii, counts, "annulus")


def sphere(radius: float, subdivisions: int = 3) -> TriMesh:
    """An icosphere with outward normals: 10·4ˢ + 2 vertices on the sphere of ``radius`` m."""
    _lengths(radius=radius)
    _counts(subdivisions=(subdivisions, 0))
    if subdivisions > 9:
        raise MeshError(f"subdivisions is {subdivisions}; 9 already gives 2.6 million vertices")
    x, tri = icosahedron()
    for _ in range(subdivisions):
        x, tri = _quartered(x, tri)
    return TriMesh(radius * x, tri.astype(np.int32), name="sphere")


def tube(radius: float, height: float, n: int, m: int) -> TriMesh:
    """An open cylinder about the z axis with outward normals: m rings of n vertices, bottom first.

    Lengths in m. Vertices stand above each other, so that the sides are flat and the tube is convex.
    """
    _lengths(radius=radius, height=height)
    _counts(n=(n, 3), m=(m, 2))
    _affordable("tube", float(n) * m)
    ring, step = np.divmod(np.arange(n * m), n)
    angle = 2.0 * np.pi * step / n
    z = height * (ring / (m - 1) - 0.5)
    x = np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)
    return TriMesh(x, _ring_triangles([n] * m, [0.0] * m)[:, [0, 2, 1]].astype(np.int32), name="tube")


def _rings(radii: np.ndarray, counts: list[int], name: str) -> TriMesh:
    shift = [0.0 if counts[0] == 1 else 0.5 * (k % 2) for k in range(len(counts))]
    angle = np.concatenate([2.0 * np.pi * (np.arange(n) + s) / n for n, s in zip(counts, shift, strict=True)])
    r = np.repeat(radii, counts)
    points = np.stack([r * np.cos(angle), r * np.sin(angle)], axis=1)
    return _flat(points, _ring_triangles(counts, shift), name)


def _ring_triangles(counts: list[int], shift: list[float]) -> np.ndarray:
    """Triangles between closed rings of ``counts`` vertices, each turned by ``shift`` of its own step.

    Wound so that the next ring lies to the right of the direction of travel (outside, counter-clockwise).
    A first ring of one vertex is the centre of a fan.
    """
    start = np.concatenate([[0], np.cumsum(counts)])
    parts = []
    for k in range(len(counts) - 1):
        a, b = counts[k], counts[k + 1]
        if a == 1:
            i = np.arange(b)
            parts.append(np.stack([np.zeros(b, dtype=int), 1 + i, 1 + (i + 1) % b], axis=1))
            continue
        here = (np.arange(a + 1) + shift[k]) / a
        ahead = (np.arange(b + 1) + shift[k + 1]) / b
        local, upper = _strip(here, ahead)
        wrapped = np.where(upper, start[k + 1] + local % b, start[k] + local % a)
        parts.append(wrapped[:, [0, 2, 1]])
    return np.concatenate(parts)


def _strip(lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Triangles between two rows of ascending coordinates, the upper to the left of the lower.

    Advances along whichever row has the nearer segment middle. Returns positions in their own row (T, 3) and
    whether each is in the upper row (T, 3).
    """
    middles = np.concatenate([0.5 * (lower[1:] + lower[:-1]), 0.5 * (upper[1:] + upper[:-1])])
    is_upper = np.arange(len(middles)) >= len(lower) - 1
    along = is_upper[np.argsort(middles, kind="stable")]
    j: np.ndarray = np.cumsum(along) - along
    i = np.arange(len(along)) - j
    local = np.where(along[:, None], np.stack([i, j + 1, j], axis=1), np.stack([i, i + 1, j], axis=1))
    above = np.where(along[:, None], [[False, True, True]], [[False, False, True]])
    return local, above


def _quartered(x: np.ndarray, tri: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each triangle of a unit sphere cut into four, the new vertices pushed out to the sphere."""
    sides = np.sort(tri[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    pairs, inverse = np.unique(sides, axis=0, return_inverse=True)
    middle = x[pairs].sum(axis=1)
    middle /= np.linalg.norm(middle, axis=1, keepdims=True)
    ab, bc, ca = (len(x) + inverse.reshape(-1, 3)).T
    a, b, c = tri.T
    four = np.stack([a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca], axis=1).reshape(-1, 3)
    return np.concatenate([x, middle]), four


def _delaunay(points: np.ndarray, size: tuple[float, float], name: str) -> TriMesh:
    """Delaunay triangles of points in a rectangle, counter-clockwise, without slivers along its sides."""
    from scipy.spatial import Delaunay

    tri = Delaunay(points).simplices
    a, b, c = (points[tri[:, i]] for i in range(3))
    doubled = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    tri = np.where((doubled < 0.0)[:, None], tri[:, [0, 2, 1]], tri)
    longest = np.maximum(((b - a) ** 2).sum(axis=1), ((c - a) ** 2).sum(axis=1))
    tri = tri[np.abs(doubled) > 1e-9 * longest]
    tri = np.take_along_axis(tri, (np.argmin(tri, axis=1)[:, None] + np.arange(3)) % 3, axis=1)
    tri = tri[np.lexsort(tri.T[::-1])]
    return _flat(points, tri, name, points / np.asarray(size, dtype=np.float64) + 0.5)


def _flat(points: np.ndarray, triangles: np.ndarray, name: str, uv: np.ndarray | None = None) -> TriMesh:
    vertices = np.concatenate([points, np.zeros((len(points), 1))], axis=1)
    return TriMesh(vertices, triangles.astype(np.int32), uv=uv, name=name)


def _counts(**values: tuple[int, int]) -> None:
    for name, (value, least) in values.items():
        if value != int(value) or value < least:
            raise MeshError(f"{name} is {value}; it must be a whole number of at least {least}")


def _lengths(**values: float) -> None:
    for name, value in values.items():
        if not (np.isfinite(value) and value > 0.0):
            raise MeshError(f"{name} is {value}; it must be a positive length in metres")


def _affordable(what: str, vertices: float) -> None:
    if not vertices <= MOST_VERTICES:
        raise MeshError(
            f"{what} would have about {vertices:.2g} vertices, the most is {MOST_VERTICES}; "
            "give it fewer, or longer edges"
        )


def _size(size: tuple[float, float]) -> None:
    if len(size) != 2:
        raise MeshError(f"size is {size!r}; it must be width and height in metres")
    _lengths(**{"size[0]": size[0], "size[1]": size[1]})
