"""Normals of what is drawn: smooth on cloth, with creases on colliders."""

from __future__ import annotations

import math

import numpy as np

__all__ = ["along", "corner_normals", "split_corners", "vertex_normals"]

_CREASE = math.cos(math.radians(35.0))
_MOST_FACES = 256


def vertex_normals(x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Area-weighted unit normal of every vertex: (N, 3); zero where no triangle has an area."""
    corners = x[triangles]
    face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    n = len(x)
    ids = triangles.ravel()
    total = np.stack([np.bincount(ids, np.repeat(face[:, k], 3), n) for k in range(3)], axis=1)
    return unit(total)


def corner_normals(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """(F, 3, 3) unit normals of every triangle corner, smooth except across edges sharper than 35 degrees."""
    corners = vertices[triangles]
    face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    way = unit(face)
    ids = triangles.ravel()
    order = np.argsort(ids, kind="stable")
    count = np.bincount(ids, minlength=len(vertices))
    start = np.concatenate([[0], np.cumsum(count)])
    own = np.repeat(np.arange(len(triangles)), 3)
    # Every pair (corner, face at the same vertex); a vertex of very many faces keeps its flat normals.
    reach = np.where(count[ids] <= _MOST_FACES, count[ids], 0)
    mine = np.repeat(np.arange(len(ids)), reach)
    step = np.arange(len(mine)) - np.repeat(np.cumsum(reach) - reach, reach)
    other = own[order[start[ids[mine]] + step]]
    smooth = np.einsum("ij,ij->i", way[own[mine]], way[other]) > _CREASE
    mine, other = mine[smooth], other[smooth]
    total = np.stack([np.bincount(mine, face[other, k], len(ids)) for k in range(3)], axis=1)
    alone = ~total.any(axis=1)
    total[alone] = face[own[alone]]
    return unit(total).reshape(-1, 3, 3)


def split_corners(vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices doubled where their corners' normals differ: positions, normals (n, 3), triangles (F, 3)."""
    normals = corner_normals(vertices, triangles).reshape(-1, 3)
    key = np.concatenate([triangles.reshape(-1, 1).astype(np.float64), np.round(normals, 4) + 0.0], axis=1)
    _, first, back = np.unique(key, axis=0, return_index=True, return_inverse=True)
    return vertices[triangles.ravel()[first]], normals[first], back.reshape(-1, 3).astype(np.int32)


def along(points: np.ndarray, way: np.ndarray) -> np.ndarray:
    """Dot products (n,) of the rows of ``points`` (n, 3) with one vector.

    Written out, because a matrix product of this shape wakes the threads of a BLAS, which then wait for each
    other on a busy machine.
    """
    return points[..., 0] * way[0] + points[..., 1] * way[1] + points[..., 2] * way[2]


def unit(vectors: np.ndarray) -> np.ndarray:
    """Rows divided by their length; zero rows stay zero."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
