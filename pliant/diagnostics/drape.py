"""The drape test: how much of its overhang a fabric keeps spread out when it hangs over a disc.

Cusick, "The measurement of fabric drape", J. Textile Inst. 59 (1968) 253; ISO 9073-9: a disc of 18 cm under a
specimen of 24, 30 or 36 cm, its shadow measured from above.
"""

from __future__ import annotations

import numpy as np

from ..errors import PliantError

Array = np.ndarray


def drape_coefficient(shadow: float, support: float, fabric: float) -> float:
    """Share of the overhanging area that is still seen from above: 1 for a board, 0 for a limp cloth.

    ``(shadow - support) / (fabric - support)``, three areas in one unit: of the draped cloth's shadow, of
    the disc it lies on, of the cloth laid flat. Raises PliantError where nothing overhangs.
    """
    if not fabric > support > 0:
        raise PliantError(
            f"drape_coefficient: the fabric ({fabric:g}) must be larger than its support ({support:g})"
        )
    return (shadow - support) / (fabric - support)


def shadow_area(x: Array, triangles: Array, cells: int = 1000) -> float:
    """Area [m^2] of the shadow that a surface casts straight down (along z), overlaps counted once.

    x (N, 3) m, triangles (F, 3). Counts the centres that are covered in a lattice with ``cells`` cells along
    the longer side of the shadow: good to about its border's length times a cell's, over the square root of
    the number of cells along the border.
    """
    p = np.asarray(x, dtype=np.float64)[:, :2]
    start = p.min(axis=0)
    cell = float(np.ptp(p, axis=0).max()) / cells
    if not (np.isfinite(cell) and cell > 0):
        raise PliantError("shadow_area: the positions must be finite and not all above one another")
    corners = ((p - start) / cell - 0.5)[np.asarray(triangles)]  # centres have whole coordinates
    covered = np.zeros((cells + 1, cells + 1), bool)
    first = np.ceil(corners.min(axis=1)).astype(int)
    last = np.floor(corners.max(axis=1)).astype(int) + 1
    for (a, b, c), (i0, j0), (i1, j1) in zip(corners, first, last, strict=True):
        u = np.arange(i0, i1)[:, None]
        v = np.arange(j0, j1)[None, :]
        ab = _left_of(a, b, u, v)
        bc = _left_of(b, c, u, v)
        ca = _left_of(c, a, u, v)
        covered[i0:i1, j0:j1] |= ((ab >= 0) & (bc >= 0) & (ca >= 0)) | ((ab <= 0) & (bc <= 0) & (ca <= 0))
    return float(covered.sum()) * cell**2


def _left_of(a: Array, b: Array, u: Array, v: Array) -> Array:
    """Positive where (u, v) lies to the left of the line from a to b."""
    return (b[0] - a[0]) * (v - a[1]) - (b[1] - a[1]) * (u - a[0])
