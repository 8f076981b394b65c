"""A point tied to a place on a triangle, or over it: three rows that move and turn with what they join."""

from __future__ import annotations

from typing import Any

from ..backend.jit import law
from ..backend.lanes import sqrt
from .scalars import reciprocal
from .vectors import Vec, cross, dot, minus, mix, plus, times


@law
def tie(b: Vec, gap: Any, x: Vec, y1: Vec, y2: Vec, y3: Vec) -> tuple[Vec, Vec, Vec, Vec, Vec]:
    """C = x - (b1 y1 + b2 y2 + b3 y3 + gap n), n the triangle's unit normal, sum b = 1: three rows [m].

    Returns C, n, s1, s2, s3. The gradient of row m at x is the unit vector m, at y_k it is ``-b_k`` times
    that plus ``s_k[m] n``: moving y_k along n by dz turns the normal by ``-dz`` times the slope of the k-th
    hat function, and ``s_k`` is gap times that slope. A triangle without area has no normal and no gap.

    Compliance [m/N], one for all rows: the energy is that of a spring without length, ``|C|^2/(2 alpha)``.
    """
    e1, e2, e3 = minus(y3, y2), minus(y1, y3), minus(y2, y1)
    area = cross(e3, times(-1.0, e2))
    inverse = reciprocal(sqrt(dot(area, area)))
    n = times(inverse, area)
    place = plus(mix(b[0], y1, b[1], y2), mix(b[2], y3, gap, n))
    slope = gap * inverse
    s1, s2, s3 = times(slope, cross(n, e1)), times(slope, cross(n, e2)), times(slope, cross(n, e3))
    return minus(x, place), n, s1, s2, s3
