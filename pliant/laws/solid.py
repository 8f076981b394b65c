"""Elastic tetrahedra: ARAP with a trace row, neo-Hookean, and volume alone.

All take the columns of the deformation gradient ``F = [x1 - x0, x2 - x0, x3 - x0] inv_rest_matrix`` and
return constraint values without unit, with their gradients with respect to those columns. V: rest volume::

    ARAP         C_shape = |F - R|                        alpha = 1 / (w V),   w = 2 mu
                 C_trace = tr(R^T F) - 3                  alpha = 1 / (lambda V)
    neo-Hookean  C_shape = sqrt(|F|^2 - 4 J + J^2)        alpha = 1 / (mu V),  J = det F
                 C_volume = J - 1                         alpha = 1 / (lambda V)
    volume       C = J - 1                                alpha = 1 / (K V)

Every value is zero at rest.
"""

from __future__ import annotations

from typing import Any

from ..backend.jit import law
from ..backend.lanes import absolute, maximum, sqrt
from .membrane import plane_frame
from .rotations import closest_rotation
from .scalars import reciprocal
from .vectors import Vec, cross, dot, minus, mix, plus, times

Columns = tuple[Vec, Vec, Vec]
Corners = tuple[Vec, Vec, Vec, Vec]


@law
def combined(a: Any, u: Vec, b: Any, v: Vec, c: Any, w: Vec) -> Vec:
    """a u + b v + c w"""
    return plus(mix(a, u, b, v), times(c, w))


@law
def tet_columns(x: Corners, d: Columns) -> Columns:
    """Columns of the deformation gradient; ``d``: rows of inv_rest_matrix."""
    e1, e2, e3 = minus(x[1], x[0]), minus(x[2], x[0]), minus(x[3], x[0])
    return (
        combined(d[0][0], e1, d[1][0], e2, d[2][0], e3),
        combined(d[0][1], e1, d[1][1], e2, d[2][1], e3),
        combined(d[0][2], e1, d[1][2], e2, d[2][2], e3),
    )


@law
def tet_corners(d: Columns, c1: Vec, c2: Vec, c3: Vec) -> Corners:
    """Gradients at the corners from those with respect to the columns of F."""
    g1 = combined(d[0][0], c1, d[0][1], c2, d[0][2], c3)
    g2 = combined(d[1][0], c1, d[1][1], c2, d[1][2], c3)
    g3 = combined(d[2][0], c1, d[2][1], c2, d[2][2], c3)
    return times(-1.0, plus(plus(g1, g2), g3)), g1, g2, g3


@law
def carried(f: Columns, p: Columns) -> Columns:
    """Columns of Q F_n: the earlier gradient ``p``, turned as close to ``f`` as a rotation can."""
    m1 = combined(p[0][0], f[0], p[1][0], f[1], p[2][0], f[2])
    m2 = combined(p[0][1], f[0], p[1][1], f[1], p[2][1], f[2])
    m3 = combined(p[0][2], f[0], p[1][2], f[1], p[2][2], f[2])
    q1, q2, q3 = closest_rotation(m1, m2, m3)
    return (
        combined(p[0][0], q1, p[0][1], q2, p[0][2], q3),
        combined(p[1][0], q1, p[1][1], q2, p[1][2], q3),
        combined(p[2][0], q1, p[2][1], q2, p[2][2], q3),
    )


@law
def arap_tet(f1: Vec, f2: Vec, f3: Vec) -> tuple[Any, Vec, Vec, Vec, Any, Vec, Vec, Vec]:
    """``C_shape`` and its gradients, ``C_trace`` and its gradients; R is the closest proper rotation.

    The gradient of the shape row does not exist at ``F = R``; it is zero there. That of the trace row is R.
    Source: Chao, Pinkall, Sanan, Schröder 2010, A Simple Geometric Model for Elastic Deformations.
    """
    r1, r2, r3 = closest_rotation(f1, f2, f3)
    d1, d2, d3 = minus(f1, r1), minus(f2, r2), minus(f3, r3)
    shape = sqrt(dot(d1, d1) + dot(d2, d2) + dot(d3, d3))
    scale = reciprocal(shape)
    trace = dot(r1, f1) + dot(r2, f2) + dot(r3, f3) - 3.0
    return shape, times(scale, d1), times(scale, d2), times(scale, d3), trace, r1, r2, r3


@law
def in_frame(p: Vec, e1: Vec, e2: Vec, e3: Vec) -> Vec:
    """The vector with these components along the axes of a frame."""
    return plus(mix(p[0], e1, p[1], e2), times(p[2], e3))


@law
def neo_hookean(f1: Vec, f2: Vec, f3: Vec) -> tuple[Any, Vec, Vec, Vec, Any, Vec, Vec, Vec]:
    """``C_shape`` and its gradients, ``C_volume`` and its gradients.

    The energy is that of Macklin, Müller 2021 (A Constraint-based Formulation of Stable Neo-Hookean
    Materials) less its value at rest: ``mu/2 |F|^2 + (lambda + mu)/2 (J - 1 - mu/(lambda + mu))^2``. Computed
    from U, in a frame in which ``F = I + U`` is upper triangular, so that nothing cancels near rest. The
    gradient of the shape row does not exist at a rotation, nor at F = 0; it is zero there.
    """
    e1, e2, a, b, d = plane_frame(f1, f2)
    e3 = cross(e1, e2)
    c, e, f = dot(f3, e1), dot(f3, e2), dot(f3, e3)
    u, v, w = a - 1.0, d - 1.0, f - 1.0
    pairs, third = u * v + v * w + w * u, u * v * w
    q = u + v + w + pairs + third
    # |U|^2 - 2 (second and third invariant of U) + q^2, with q^2 kept within range
    big = maximum(absolute(q), 1.0)
    small = 1.0 / big
    rest = u * u + v * v + w * w + b * b + c * c + e * e - 2.0 * (pairs + third)
    shape = big * sqrt(maximum(rest * small * small + (q * small) * (q * small), 0.0))
    k = reciprocal(shape)
    qk = q * k
    sk = k - qk
    n1 = (k * (u - v - w - v * w) + qk * (d * f), sk * b * f, sk * (d * c - b * e))
    n2 = (k * b, k * (v - w - u - w * u) + qk * (a * f), sk * (a * e))
    n3 = (k * c, k * e, k * (w - u - v - u * v) + qk * (a * d))
    zero = 0.0 * a
    c1, c2, c3 = (d * f, -b * f, b * e - d * c), (zero, a * f, -a * e), (zero, zero, a * d)
    return (
        shape,
        in_frame(n1, e1, e2, e3),
        in_frame(n2, e1, e2, e3),
        in_frame(n3, e1, e2, e3),
        q,
        in_frame(c1, e1, e2, e3),
        in_frame(c2, e1, e2, e3),
        in_frame(c3, e1, e2, e3),
    )


@law
def volume(f1: Vec, f2: Vec, f3: Vec) -> tuple[Any, Vec, Vec, Vec]:
    """``det F - 1`` and its gradients, the columns of the cofactor of F. Resists no shear at all."""
    c1, c2, c3 = cross(f2, f3), cross(f3, f1), cross(f1, f2)
    return dot(f1, c1) - 1.0, c1, c2, c3
