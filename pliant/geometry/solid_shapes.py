"""Solid bodies made in memory, of tetrahedra: centred at the origin, as :mod:`pliant.geometry.shapes` is."""

from __future__ import annotations

import numpy as np

from pliant.errors import MeshError
from pliant.geometry import tetrahedra
from pliant.geometry.icosahedron import icosahedron
from pliant.geometry.tetmesh import TetMesh

CORNERS = np.array([[c & 1, c >> 1 & 1, c >> 2] for c in range(8)])
"""Corner c of a cell, c = x + 2 y + 4 z."""
FIVE = np.array([[0, 1, 2, 4], [3, 2, 1, 7], [5, 4, 7, 1], [6, 7, 4, 2], [1, 2, 4, 7]])
"""A cell cut into four tetrahedra at every second corner and a regular one between them."""


def bar(size: tuple[float, float, float], cells: tuple[int, int, int]) -> TetMesh:
    """A box of nx × ny × nz cells of five tetrahedra each; ``size`` (3,) m.

    Vertex ids run along x first, then y, then z: id = (iz (ny + 1) + iy) (nx + 1) + ix.

    Cells are cut like the fields of a chessboard, by turns one way and its mirror image, so that their faces
    fit and no direction is preferred: with an even number of cells along an axis the body is its own mirror
    image. (Cut into six along one diagonal each, all cells alike, a bar of 4 cells of height gives way to the
    side by 7 % of its sag, bends 11 % less than this one, and has worse tetrahedra.)
    """
    if len(size) != 3 or len(cells) != 3:
        raise MeshError(f"bar: size and cells must be three numbers each, got {size!r} and {cells!r}")
    for axis, (length, count) in enumerate(zip(size, cells, strict=True)):
        if not (np.isfinite(length) and length > 0.0):
            raise MeshError(f"bar: size[{axis}] is {length}; it must be a positive length in metres")
        if count != int(count) or count < 1:
            raise MeshError(f"bar: cells[{axis}] is {count}; it must be a whole number of at least 1")
    nx, ny, nz = (int(c) for c in cells)
    axes = [np.linspace(-0.5, 0.5, n + 1) * float(s) for n, s in zip((nx, ny, nz), size, strict=True)]
    z, y, x = np.meshgrid(*axes[::-1], indexing="ij")
    k, j, i = (a.ravel() for a in np.meshgrid(np.arange(nz), np.arange(ny), np.arange(nx), indexing="ij"))
    step = np.array([1, nx + 1, (nx + 1) * (ny + 1)])
    first = i * step[0] + j * step[1] + k * step[2]
    mirrored = CORNERS ^ np.array([1, 0, 0])
    even, odd = first[:, None] + CORNERS @ step, first[:, None] + mirrored @ step
    corner = np.where(((i + j + k) % 2 == 0)[:, None], even, odd)
    vertices = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    return TetMesh(vertices, _wound(vertices, corner[:, FIVE].reshape(-1, 4)), name="bar")


def ball(radius: float, n: int = 4) -> TetMesh:
    """A ball of ``radius`` m in n shells: 20 n³ tetrahedra of about one size; vertex 0 is the centre.

    Shell k is an icosahedron whose edges are cut in k, pushed out to the sphere of k/n of the radius, with
    10 k² + 2 vertices. So every vertex of the surface lies on the sphere, and the body has the symmetry of an
    icosahedron, but for the diagonals by which the octahedra inside are cut. Its volume is short of the
    ball's by 12.6 % for n = 2, 3.4 % for 4, 0.9 % for 8.
    """
    if not (np.isfinite(radius) and radius > 0.0):
        raise MeshError(f"ball: radius is {radius}; it must be a positive length in metres")
    if n != int(n) or n < 1:
        raise MeshError(f"ball: n is {n}; it must be a whole number of at least 1")
    if n > 64:
        raise MeshError(f"ball: n is {n}; 64 already gives 5.2 million tetrahedra")
    base, faces = icosahedron()
    weights, local = _wedge(int(n))
    spread = np.zeros((20, len(weights), 12), dtype=np.int16)
    for f, corners in enumerate(faces):
        spread[f][:, corners] = weights
    keyed = np.concatenate([spread.sum(axis=2, keepdims=True), spread], axis=2).reshape(-1, 13)
    points, ids = np.unique(keyed, axis=0, return_inverse=True)
    along = points[:, 1:] @ base
    size = np.linalg.norm(along, axis=1)
    x = along * (radius * points[:, 0] / n / np.where(size > 0.0, size, 1.0))[:, None]
    place = ids.reshape(20, -1)
    tets = place[:, local[0]].reshape(-1, 4)
    cut = np.concatenate([_cut_octahedra(x, place[f][local[1]]) for f in range(20)])
    return TetMesh(x, _wound(x, np.concatenate([tets, cut])), name="ball")


def _wedge(n: int) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """A tetrahedron (centre and a face of the icosahedron) cut n times along its edges.

    Points (P, 3): weights of the face's corners, their sum the shell; then tetrahedra (E, 4) and octahedra
    (O, 6), corners c and c + 3 opposite.
    """
    grid = np.stack(np.meshgrid(*[np.arange(n + 1)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    points = grid[grid.sum(axis=1) <= n]
    at = np.full((n + 1, n + 1, n + 1), -1)
    at[tuple(points.T)] = np.arange(len(points))
    a, b, c = np.eye(3, dtype=int)

    def cells(room: int, corners: list[np.ndarray]) -> np.ndarray:
        start = points[points.sum(axis=1) <= n - room]
        return at[tuple(np.moveaxis(start[:, None] + np.array(corners), -1, 0))]

    up, down = cells(1, [0 * a, a, b, c]), cells(3, [a + b, a + c, b + c, a + b + c])
    return points, (np.concatenate([up, down]), cells(2, [a, b, c, b + c, a + c, a + b]))


def _cut_octahedra(x: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Each octahedron (O, 6) cut into four tetrahedra around its shortest diagonal."""
    lengths = np.linalg.norm(x[ids[:, :3]] - x[ids[:, 3:]], axis=2)
    shortest = np.argmin(np.round(lengths / lengths.max(initial=1e-300), 9), axis=1)
    turned = np.take_along_axis(ids, (shortest[:, None] + np.arange(3)) % 3, axis=1)
    opposite = np.take_along_axis(ids, (shortest[:, None] + np.arange(3)) % 3 + 3, axis=1)
    p, q = turned[:, 0], opposite[:, 0]
    ring = np.stack([turned[:, 1], turned[:, 2], opposite[:, 1], opposite[:, 2]], axis=1)
    four = [np.stack([p, q, ring[:, k], ring[:, (k + 1) % 4]], axis=1) for k in range(4)]
    return np.stack(four, axis=1).reshape(-1, 4)


def _wound(x: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """Tetrahedra with positive volume: two corners exchanged where it is negative."""
    inverted = tetrahedra.tet_volumes(x, tets) < 0.0
    return np.where(inverted[:, None], tets[:, [0, 2, 1, 3]], tets).astype(np.int32)
