"""Meshes made in memory: flat ones lie in z = 0 with normal +z, all are centred at the origin."""

from __future__ import annotations

import numpy as np

from pliant.errors import MeshError
from pliant.geometry.mesh import TriMesh

PATTERNS = ("right", "left", "alternating", "cross")


def grid(nx: int, ny: int, size: tuple[float, float] = (1.0, 1.0), pattern: str = "right") -> TriMesh:
    """A rectangle of nx × ny vertices, id = iy nx + ix, x first; ``size`` (2,) m.

    ``pattern``: "right" cuts every cell from lower left to upper right, "left" the other way, "alternating" by
    turns, "cross" both ways with a vertex in the middle of each cell (ids nx ny onwards, row by row).
    """
    _counts(nx=(nx, 2), ny=(ny, 2))
    _lengths(**{"size[0]": size[0], "size[1]": size[1]})
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
