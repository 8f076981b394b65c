"""Normals of what is drawn: smooth on cloth, with creases on colliders."""

from __future__ import annotations

import math

import numpy as np

from pliant.io.recording import Recording

__all__ = ["along", "corner_normals", "creased", "skins", "split_corners", "vertex_normals"]

_CREASE = math.cos(math.radians(35.0))
_SHARP = math.cos(math.radians(50.0))
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


def skins(recording: Recording) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each part the vertices that its surface is drawn with and its triangles among them.

    The surface of a body, which is closed, is parted along the sharp edges of its first frame, so that a bar
    keeps its edges when normals are averaged; cloth is smooth everywhere.
    """
    found = []
    for part in recording.parts:
        source, triangles = np.arange(part.stop - part.start), part.triangles
        if len(recording) and len(triangles):
            source, triangles = creased(recording.frames[0][part.start : part.stop], triangles)
        found.append((source.astype(np.int64), triangles.astype(np.int32)))
    return found


def creased(x: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A closed surface parted along edges sharper than 50 degrees: source (n,), triangles (F, 3).

    Vertex i of the new surface is vertex ``source[i]`` of ``x``; what is not closed comes back as it is.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    tail, head = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    key = np.minimum(tail, head).astype(np.int64) * len(x) + np.maximum(tail, head)
    order = np.argsort(key, kind="stable")
    if len(key) % 2 or (key[order[::2]] != key[order[1::2]]).any() or (np.diff(key[order[::2]]) == 0).any():
        return np.arange(len(x)), triangles
    corners = x[triangles].astype(np.float64)
    way = unit(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
    one, other = order[::2], order[1::2]
    smooth = np.einsum("ij,ij->i", way[one // 3], way[other // 3]) > _SHARP
    one, other = one[smooth], other[smooth]
    after_one, after_other = one - one % 3 + (one + 1) % 3, other - other % 3 + (other + 1) % 3
    same = tail[one] == tail[other]  # where two neighbours run along their edge the same way
    pairs = np.concatenate(
        [
            np.stack([one, np.where(same, other, after_other)]),
            np.stack([after_one, np.where(same, after_other, other)]),
        ],
        axis=1,
    )
    n = len(tail)
    graph = coo_array((np.ones(pairs.shape[1], bool), (pairs[0], pairs[1])), shape=(n, n))
    count, label = connected_components(graph, directed=False)
    source = np.empty(count, dtype=np.int64)
    source[label] = tail
    return source, label.reshape(-1, 3)


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
