"""Faces, edges, volumes, rest matrices and quality of tetrahedra: pure functions of (E, 4) ids.

A tetrahedron is wound so that ``det [x1 - x0, x2 - x0, x3 - x0]`` is positive. Positions may carry leading
axes (worlds, frames): (..., N, 3).
"""

from __future__ import annotations

import numpy as np

FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
"""Corners of the four faces, seen counter-clockwise from outside."""
EDGES = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])


def edges(tets: np.ndarray) -> np.ndarray:
    """Every edge once: (M, 2) int32, smaller id first, rows in lexicographic order."""
    pairs = np.sort(np.asarray(tets)[:, EDGES].reshape(-1, 2), axis=1)
    return np.unique(pairs, axis=0).astype(np.int32)


def face_use(tets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Faces (4 E, 3) int32, outward from their own tetrahedron and in its order, and their use (4 E,).

    Use is how many tetrahedra have the face: 1 on the boundary, 2 inside, more where they overlap.
    """
    faces = np.asarray(tets)[:, FACES].reshape(-1, 3)
    _, group, count = np.unique(np.sort(faces, axis=1), axis=0, return_inverse=True, return_counts=True)
    return faces.astype(np.int32), count[group.ravel()]


def boundary_triangles(tets: np.ndarray) -> np.ndarray:
    """Faces of one tetrahedron alone: (F, 3) int32, outward, in the order of tetrahedra and of their faces.

    Outward for tetrahedra that are wound as :class:`pliant.TetMesh` winds them.
    """
    faces, use = face_use(tets)
    return faces[use == 1]


def edge_matrices(x: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """D = [x1 - x0, x2 - x0, x3 - x0]: (..., E, 3, 3), m, edges in columns."""
    corners = x[..., tets, :]
    return np.swapaxes(corners[..., 1:, :] - corners[..., :1, :], -1, -2)


def tet_volumes(x: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """Signed volumes (..., E), m³."""
    d = edge_matrices(x, tets)
    return (d[..., 0] * np.cross(d[..., 1], d[..., 2])).sum(axis=-1) / 6.0


def inv_rest_matrices(x: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """Dm⁻¹ of every tetrahedron: (E, 3, 3), 1/m, by its cofactors. ``F = D Dm⁻¹`` is the identity at rest."""
    a, b, c = np.moveaxis(edge_matrices(np.asarray(x, dtype=np.float64), tets), -1, 0)
    rows = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=-2)
    return rows / (a * rows[..., 0, :]).sum(axis=-1)[..., None, None]


def tet_gradients(x: np.ndarray, tets: np.ndarray, inv_rest_matrix: np.ndarray) -> np.ndarray:
    """Deformation gradients F = D Dm⁻¹: (..., E, 3, 3), no unit."""
    return edge_matrices(x, tets) @ inv_rest_matrix


def vertex_volumes(x: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """A quarter of the volume of the tetrahedra around each vertex: (N,), m³. ``x`` is (N, 3)."""
    quarter = np.repeat(tet_volumes(x, tets) / 4.0, 4)
    return np.bincount(np.asarray(tets).ravel(), weights=quarter, minlength=len(x))


def quality(x: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """``6 sqrt 2 V / (root mean square edge)³``: (E,), 1 for the regular tetrahedron, 0 for a flat one."""
    corners = np.asarray(x, dtype=np.float64)[tets]
    squares = ((corners[:, EDGES[:, 0]] - corners[:, EDGES[:, 1]]) ** 2).sum(axis=2)
    return 6.0 * np.sqrt(2.0) * tet_volumes(x, tets) / squares.mean(axis=1) ** 1.5


def smallest_dihedral(x: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """Smallest angle between two faces of each tetrahedron: (E,), rad; 1.231 for the regular one."""
    corners = np.asarray(x, dtype=np.float64)[np.asarray(tets)[:, FACES]]
    normal = np.cross(corners[:, :, 1] - corners[:, :, 0], corners[:, :, 2] - corners[:, :, 0])
    normal = normal / np.linalg.norm(normal, axis=2, keepdims=True)
    cosines = [-(normal[:, i] * normal[:, j]).sum(axis=1) for i in range(4) for j in range(i)]
    return np.arccos(np.clip(cosines, -1.0, 1.0)).min(axis=0)
