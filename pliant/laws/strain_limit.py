"""A triangle that stretches freely up to a limit, and no further.

``C = s1 - (1 + limit) <= 0`` with the largest principal stretch ``s1`` (largest singular value of the
deformation gradient). A rigid row that can only pull: its multiplier is never positive.
"""

from __future__ import annotations

from typing import Any

from ..backend.jit import law
from ..backend.lanes import sqrt
from .membrane import Pair, lifted, plane_frame
from .scalars import reciprocal
from .vectors import Vec


@law
def largest_stretch(a: Any, b: Any, d: Any) -> tuple[Any, Pair, Pair]:
    """Largest singular value of ``F = [[a, b], [0, d]]`` and its gradient ``u1 v1^T``, column by column.

    ``s1 + s2 = |F + cof F|/sqrt2`` and ``s1 - s2 = |F - cof F|/sqrt2``; half their sum, with the gradients of
    both. Where the two stretches meet, the second has no direction and is left out: what remains is half
    the rotation, which shortens the triangle alike in all directions.
    """
    plus, minus = a + d, a - d
    total = sqrt(plus * plus + b * b)
    spread = sqrt(minus * minus + b * b)
    p = 0.5 * reciprocal(total)
    q = 0.5 * reciprocal(spread)
    x, y, s, t = p * plus, p * b, q * minus, q * b
    return 0.5 * (total + spread), (x + s, t - y), (y + t, x - s)


@law
def strain_limit_plane(f1: Vec, f2: Vec, most: Any) -> tuple[Any, Pair, Pair, Vec, Vec]:
    """The row in the plane of the triangle, ``most = 1 + limit``.

    Returns ``C``, its gradients with respect to the columns of ``F``, and the frame ``e1, e2`` of both.
    """
    e1, e2, a, b, d = plane_frame(f1, f2)
    s1, g1, g2 = largest_stretch(a, b, d)
    return s1 - most, g1, g2, e1, e2


@law
def strain_limit(f1: Vec, f2: Vec, most: Any) -> tuple[Any, Vec, Vec]:
    """``C = s1 - most`` (dimensionless) and its gradients with respect to the columns of ``F``, in space."""
    c, g1, g2, e1, e2 = strain_limit_plane(f1, f2, most)
    return c, lifted(g1, e1, e2), lifted(g2, e1, e2)
