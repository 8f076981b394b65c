"""What acts on faces from outside, as :mod:`pliant.forces.stages` defines it: air, and given pressures.

Both are found from positions and velocities at the start of a substep and act as an external force: that of
air has no potential. A gas answers to its volume: :mod:`.gases`.
"""

from __future__ import annotations

import numpy as np

from ...model import Faces
from .elements.base import Array, inverse


def face_forces(faces: Faces, x: Array, v: Array, wind: Array, pressure: Array, h: float) -> Array:
    """Force on each particle (N, 3) [N]: a third of what acts on each face around it.

    x, v (N, 3); wind (3,) [m/s]; pressure (S,) [Pa]. Air never turns a face's velocity against the wind
    around: its factor is at most the face's mass over h.
    """
    i, j, k = faces.ids.T
    area = 0.5 * np.cross(x[j] - x[i], x[k] - x[i])
    over = np.append(pressure, 0.0)[faces.pressure_of]  # -1 is the last
    force = over[:, None] * area
    if faces.air.any():
        u = wind - (v[i] + v[j] + v[k]) / 3
        size = np.linalg.norm(area, axis=1)
        n = inverse(size)[:, None] * area
        flow, limit = size * np.linalg.norm(u, axis=1), faces.mass / h
        across, along = (np.minimum(faces.air[:, m] * flow, limit)[:, None] for m in (0, 1))
        force = force + along * u + (across - along) * np.einsum("fi,fi->f", u, n)[:, None] * n
    out = np.zeros_like(x)
    for corner in (i, j, k):
        for m in range(3):
            out[:, m] += np.bincount(corner, force[:, m] / 3, len(x))
    return out
