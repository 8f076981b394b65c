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
from ..backend.lanes import absolute, any_lane, both, sqrt, where
from .scalars import reciprocal
from .vectors import Vec, cross, dot, minus, mix, plus, times

Pair = tuple[Any, Any]


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
def chosen(mask: Any, a: Vec, b: Vec) -> Vec:
    """``a`` where the mask holds, else ``b``."""
    return where(mask, a[0], b[0]), where(mask, a[1], b[1]), where(mask, a[2], b[2])


@law
def plane_frame(f1: Vec, f2: Vec) -> tuple[Vec, Vec, Any, Any, Any]:
    """Orthonormal ``e1, e2`` with ``f1 = a e1`` and ``f2 = b e1 + d e2``, ``a, d >= 0``; then a, b, d.

    What is left of ``f2`` beside ``e1`` is made orthogonal twice; where the second pass takes most of it, it
    was rounding, and any direction at right angles serves, with d = 0.
    """
    a = sqrt(dot(f1, f1))
    base = chosen(a > 0.0, f1, perpendicular(f2))
    e1 = times(reciprocal(sqrt(dot(base, base))), base)
    b = dot(f2, e1)
    first = minus(f2, times(b, e1))
    second = minus(first, times(dot(first, e1), e1))
    size = dot(second, second)
    real = size > 0.25 * dot(first, first)
    beside = chosen(real, second, perpendicular(e1))
    length = sqrt(dot(beside, beside))
    e2 = times(reciprocal(length), beside)
    return e1, e2, a, b, where(real, length, 0.0)


@law
def plane_rotation(a: Any, b: Any, d: Any) -> tuple[Any, Any, Any]:
    """Cosine and sine of the closest rotation to ``F = [[a, b], [0, d]]``, and its sum of singular values.

    ``F`` plus its cofactor, ``[[a + d, b], [-b, a + d]]``, is the rotation times that sum.
    """
    total = sqrt((a + d) * (a + d) + b * b)
    inverse = reciprocal(total)
    return where(inverse > 0.0, (a + d) * inverse, 1.0), -b * inverse, total


@law
def arap_plane(f1: Vec, f2: Vec) -> tuple[Any, Pair, Pair, Any, Pair, Pair, Vec, Vec]:
    """Both rows of the law in the plane of the triangle.

    Returns ``C_shape``, its gradients with respect to the columns of ``F``, ``C_trace``, its gradients, and
    the frame ``e1, e2`` in which the gradients are given. The gradient of the shape row does not exist at
    ``F = R``; it is zero there.
    """
    e1, e2, a, b, d = plane_frame(f1, f2)
    c, s, trace = plane_rotation(a, b, d)
    x1, y1, x2, y2 = a - c, -s, b + s, d - c
    shape = sqrt(x1 * x1 + y1 * y1 + x2 * x2 + y2 * y2)
    scale = reciprocal(shape)
    s1 = (scale * x1, scale * y1)
    s2 = (scale * x2, scale * y2)
    return shape, s1, s2, trace - 2.0, (c, s), (-s, c), e1, e2


@law
def lifted(p: Pair, e1: Vec, e2: Vec) -> Vec:
    """A vector of the plane, in space."""
    return (p[0] * e1[0] + p[1] * e2[0], p[0] * e1[1] + p[1] * e2[1], p[0] * e1[2] + p[1] * e2[2])


@law
def columns(x0: Vec, x1: Vec, x2: Vec, d: Any) -> tuple[Vec, Vec]:
    """Columns of the deformation gradient; ``d`` is inv_rest_matrix, row by row."""
    e1 = minus(x1, x0)
    e2 = minus(x2, x0)
    return mix(d[0], e1, d[2], e2), mix(d[1], e1, d[3], e2)


@law
def corners(d: Any, c1: Pair, c2: Pair) -> tuple[Pair, Pair, Pair]:
    """Gradients at the corners from those with respect to the columns of F, in the plane of the triangle."""
    u1, v1 = d[0] * c1[0] + d[1] * c2[0], d[0] * c1[1] + d[1] * c2[1]
    u2, v2 = d[2] * c1[0] + d[3] * c2[0], d[2] * c1[1] + d[3] * c2[1]
    return (-(u1 + u2), -(v1 + v2)), (u1, v1), (u2, v2)


@law
def rotation(f1: Vec, f2: Vec) -> tuple[Vec, Vec, Any]:
    """Columns of the closest rotation to ``F = (f1, f2)``, and the sum of the singular values."""
    e1, e2, a, b, d = plane_frame(f1, f2)
    c, s, total = plane_rotation(a, b, d)
    return lifted((c, s), e1, e2), lifted((-s, c), e1, e2), total


@law
def rotation_of(f1: Vec, f2: Vec, tiny: Any) -> tuple[Vec, Vec, Any]:
    """What :func:`rotation` returns, with half of the square roots; for forces, which need no frame.

    ``F`` plus its cofactor ``(f2 x n, n x f1)`` is the rotation times the sum of stretches. A triangle
    without area to speak of (sine squared of its angle at most ``tiny``) has no normal; any direction at
    right angles to its longer column serves.
    """
    n = cross(f1, f2)
    s1, s2, size = dot(f1, f1), dot(f2, f2), dot(n, n)
    thin = size <= tiny * s1 * s2
    if any_lane(thin):
        n = chosen(thin, perpendicular(chosen(s1 >= s2, f1, f2)), n)
        size = dot(n, n)
    n = times(reciprocal(sqrt(size)), n)
    r1, r2 = plus(f1, cross(f2, n)), plus(f2, cross(n, f1))
    total = sqrt(0.5 * (dot(r1, r1) + dot(r2, r2)))
    inverse = reciprocal(total)
    return times(inverse, r1), times(inverse, r2), total


@law
def arap_triangle(f1: Vec, f2: Vec) -> tuple[Any, Vec, Vec, Any, Vec, Vec]:
    """Both rows of the law and their gradients with respect to the columns of ``F``, in space.

    Returns ``C_shape, dC_shape/df1, dC_shape/df2, C_trace, dC_trace/df1, dC_trace/df2`` (dimensionless).
    """
    shape, s1, s2, trace, t1, t2, e1, e2 = arap_plane(f1, f2)
    return (
        shape,
        lifted(s1, e1, e2),
        lifted(s2, e1, e2),
        trace,
        lifted(t1, e1, e2),
        lifted(t2, e1, e2),
    )
