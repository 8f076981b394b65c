"""The regular icosahedron, of which spheres and balls are made."""

from __future__ import annotations

import numpy as np


def icosahedron() -> tuple[np.ndarray, np.ndarray]:
    """Vertices (12, 3) on the unit sphere and triangles (20, 3) with outward normals."""
    g = 0.5 * (1.0 + np.sqrt(5.0))
    x = np.array([[0.0, s, t * g] for s in (-1.0, 1.0) for t in (-1.0, 1.0)])
    x = np.concatenate([x, np.roll(x, 1, axis=1), np.roll(x, 2, axis=1)])
    near = ((x[:, None] - x[None]) ** 2).sum(axis=2).round(9) == 4.0
    faces = [
        (a, b, c)
        for a in range(12)
        for b in range(a + 1, 12)
        for c in range(b + 1, 12)
        if near[a, b] and near[b, c] and near[c, a]
    ]
    tri = np.array(faces)
    inward = np.linalg.det(x[tri]) < 0.0
    tri[inward] = tri[inward][:, [0, 2, 1]]
    return x / np.linalg.norm(x[0]), tri
