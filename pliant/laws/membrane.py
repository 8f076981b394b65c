"""ARAP membrane of a triangle with a trace row.

With the deformation gradient ``F`` (3 x 2, columns ``f1``, ``f2``) and its closest rotation ``R``::

    C_shape = |F - R|            alpha = 1 / (w A),           w = 2 mu t
    C_trace = tr(R^T F) - 2      alpha = 1 / (lambda t A),    lambda = E nu / (1 - nu^2)

the energy ``sum C^2 / (2 alpha)`` is, for small strain, that of an isotropic sheet in plane stress. The
shape row alone is the same sheet with Poisson's ratio 0.
"""

from __future__ import annotations

from typing import Any

from ..backend.jit import law
from ..backend.lanes import absolute, both, sqrt, where
from .scalars import reciprocal
from .vectors import Vec, cross, dot, minus, plus, times


@law
def perpendicular(a: Vec) -> Vec:
    """A vector at right angles to ``a``: its product with the axis of its smallest component."""
    x = absolute(a[0])
    y = absolute(a[1])
    z = absolute(a[2])
    use_x = both(x <= y, x <= z)
    use_y = both(y < x, y <= z)
    zero = a[0] * 0.0
    px = (zero, a[2], -a[1])
    py = (-a[2], zero, a[0])
    pz = (a[1], -a[0], zero)
    return (
        where(use_x, px[0], where(use_y, py[0], pz[0])),
        where(use_x, px[1], where(use_y, py[1], pz[1])),
        where(use_x, px[2], where(use_y, py[2], pz[2])),
    )


@law
def unit_normal(f1: Vec, f2: Vec) -> Vec:
    """Unit normal of the plane of two vectors; any normal of their line where they are parallel."""
    n = cross(f1, f2)
    p = perpendicular(plus(f1, f2))
    flat = dot(n, n) > 0.0
    n = (where(flat, n[0], p[0]), where(flat, n[1], p[1]), where(flat, n[2], p[2]))
    return times(reciprocal(sqrt(dot(n, n))), n)


@law
def rotation(f1: Vec, f2: Vec) -> tuple[Vec, Vec, Any]:
    """Columns of the closest rotation to ``F = (f1, f2)``, and the sum of the singular values.

    In the plane of the triangle ``F + cof F`` is a multiple of the rotation, the factor being the sum of
    the singular values. Exact also for a triangle collapsed to a line; zero for one collapsed to a point.
    """
    n = unit_normal(f1, f2)
    r1 = plus(f1, cross(f2, n))
    r2 = plus(f2, cross(n, f1))
    trace = sqrt(dot(r1, r1))
    inverse = reciprocal(trace)
    return times(inverse, r1), times(inverse, r2), trace


@law
def arap_triangle(f1: Vec, f2: Vec) -> tuple[Any, Vec, Vec, Any, Vec, Vec]:
    """Both rows of the law and their gradients with respect to the columns of ``F``.

    Returns ``C_shape, dC_shape/df1, dC_shape/df2, C_trace, dC_trace/df1, dC_trace/df2`` (dimensionless).
    The gradient of the shape row does not exist at ``F = R``; it is zero there.
    """
    r1, r2, trace = rotation(f1, f2)
    d1 = minus(f1, r1)
    d2 = minus(f2, r2)
    shape = sqrt(dot(d1, d1) + dot(d2, d2))
    inverse = reciprocal(shape)
    return shape, times(inverse, d1), times(inverse, d2), trace - 2.0, r1, r2
