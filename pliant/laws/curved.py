"""Bending of cloth that is curved at rest, from the stencil of the isometric law.

For a hinge (see :mod:`pliant.laws.bending`) with the cotangent stencil ``K`` of its rest shape, unfolded
into a plane, ``sum K_i x_i`` is ``2 l sin(theta/2)`` long as long as the triangles keep their shape, and
points along the mean normal: with it for a ridge, against it for a valley. One row compares that signed
length with the one at rest, ``C = +-|sum K_i x_i| - r``, with the compliance ``(A0 + A1)/B``.
"""

from __future__ import annotations

from typing import Any

from ..backend.jit import law
from ..backend.lanes import absolute, both, either, sqrt, where
from .membrane import chosen
from .scalars import reciprocal
from .vectors import Vec, cross, dot, minus, mix, plus, times

FLAT = 1000.0
"""A sum so many times shorter than at rest has no direction to speak of: it may be nothing but rounding."""


@law
def curved(k: tuple[Any, Any, Any, Any], x0: Vec, x1: Vec, x2: Vec, x3: Vec, rest: Any) -> tuple[Any, Vec]:
    """``C`` [m] and the unit vector ``n``; the gradient at corner i is ``k_i n``.

    The gradient is exact although the normal turns with the cloth: n is the unit vector closest to the sum,
    so that ``|sum K_i x_i - r n|`` does not change with it. All forces point along the sum, hence turn
    nobody. A hinge that is flat to the last bit, or whose sum is next to nothing, has no side yet: it is
    pushed along its mean normal, to the side of its rest shape.
    """
    e, a, b = minus(x1, x0), minus(x2, x0), minus(x3, x0)
    v = plus(times(k[1], e), mix(k[2], a, k[3], b))
    m = cross(e, minus(a, b))  # sum of both normals: the cross product of the quadrilateral's diagonals
    size = sqrt(dot(v, v))
    height = dot(v, m)
    sign = where(height < 0.0, -1.0, 1.0)
    along = times(sign * reciprocal(size), v)
    area = sqrt(dot(m, m))
    normal = times(reciprocal(area), m)
    planar = both(both(height <= 0.0, height >= 0.0), both(size < absolute(rest), area > 0.0))
    flat = either(FLAT * size <= absolute(rest), planar)
    return sign * size - rest, chosen(flat, normal, along)
