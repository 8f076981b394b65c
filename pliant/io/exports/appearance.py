"""What formats with materials are given: colours, normals, rotations as quaternions."""

from __future__ import annotations

import numpy as np

__all__ = ["SOLID", "part_colour", "unit_quaternions", "vertex_normals"]

Array = np.ndarray

PARTS = ((0.07, 0.22, 0.55), (0.60, 0.16, 0.05), (0.06, 0.33, 0.14), (0.30, 0.10, 0.38), (0.50, 0.36, 0.05))
"""Colours of the parts, linear red, green, blue."""
SOLID = (0.35, 0.32, 0.28)


def part_colour(k: int) -> tuple[float, float, float]:
    """Linear colour of the k-th part."""
    return PARTS[k % len(PARTS)]


def vertex_normals(x: Array, triangles: Array) -> Array:
    """Unit normals (n, 3), the triangles' weighted by area; +z where there is none."""
    corners = x[triangles].astype(np.float64)
    face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    ids = triangles.ravel()
    total = np.stack([np.bincount(ids, np.repeat(face[:, k], 3), len(x)) for k in range(3)], axis=1)
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.where(length > 0, total / np.where(length > 0, length, 1.0), [0.0, 0.0, 1.0])


def unit_quaternions(rotations: Array) -> Array:
    """Unit quaternions (K, 4) x y z w of rotation matrices (K, 3, 3), each on the near side of the last."""
    from scipy.spatial.transform import Rotation

    q = Rotation.from_matrix(rotations).as_quat(canonical=True)
    for k in range(1, len(q)):
        if np.dot(q[k], q[k - 1]) < 0:
            q[k] = -q[k]
    return (q / np.linalg.norm(q, axis=1, keepdims=True)).astype(np.float32)
