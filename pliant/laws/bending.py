"""Bending across the edge shared by two triangles.

A hinge is ``(0, 1, 2, 3)``: shared edge 0-1, vertex 2 opposite in the triangle (0, 1, 2), vertex 3
opposite in the triangle (1, 0, 3). The angle is zero when flat, positive when the normals of the two
triangles point away from each other (a ridge, seen from the side the normals look to) and negative when
they point towards each other (a valley).
"""

from __future__ import annotations

from typing import Any

from ..backend.jit import law
from ..backend.lanes import both, sqrt, where
from .scalars import arccos, arctan2, reciprocal, wrapped
from .vectors import Vec, cross, dot, minus, mix, opposite_sum, plus, times

Four = tuple[Vec, Vec, Vec, Vec]


@law
def isometric(k: tuple[Any, Any, Any, Any], x: tuple[Any, Any, Any, Any]) -> Any:
    """One row of the isometric law, ``sum_i k_i x_i`` for one coordinate; its gradient is ``k``.

    The three rows have the compliance ``(A0 + A1)/B``. Source: Bergou et al. 2006, A Quadratic Bending
    Model for Inextensible Surfaces (their coefficient 3/(A0+A1) belongs to another angle convention).
    """
    return k[0] * x[0] + k[1] * x[1] + k[2] * x[2] + k[3] * x[3]


@law
def isometric3(k: Any, x0: Vec, x1: Vec, x2: Vec, x3: Vec) -> Vec:
    """The three rows of the isometric law."""
    return (
        isometric(k, (x0[0], x1[0], x2[0], x3[0])),
        isometric(k, (x0[1], x1[1], x2[1], x3[1])),
        isometric(k, (x0[2], x1[2], x2[2], x3[2])),
    )


@law
def mean_normal(x0: Vec, x1: Vec, x2: Vec, x3: Vec) -> Vec:
    """Sum of both triangles' unnormalised normals: the cross product of the quadrilateral's diagonals."""
    return cross(minus(x1, x0), minus(x2, x3))


@law
def carried(u: Vec, before: Vec, now: Vec) -> Vec:
    """``u`` turned by the smallest rotation that takes the direction ``before`` into ``now`` (Rodrigues)."""
    a, b = times(reciprocal(sqrt(dot(before, before))), before), times(reciprocal(sqrt(dot(now, now))), now)
    axis = cross(a, b)
    turned = cross(axis, u)
    return plus(plus(u, turned), times(reciprocal(1.0 + dot(a, b)), cross(axis, turned)))


@law
def hinge_frame(x0: Vec, x1: Vec, x2: Vec, x3: Vec) -> tuple[Vec, Vec, Vec, Any]:
    """Unnormalised normals of both triangles, the shared edge and its length."""
    e = minus(x1, x0)
    n1 = cross(e, minus(x2, x0))
    n2 = cross(minus(x3, x0), e)
    return n1, n2, e, sqrt(dot(e, e))


@law
def hinge_gradients(x0: Vec, x1: Vec, x2: Vec, x3: Vec) -> Four:
    """Gradient of the signed angle with respect to the four vertices; their sum is zero.

    Zero for a hinge with a triangle of no area. Source: Bridson, Marino, Fedkiw 2003, Simulation of
    Clothing with Folds and Wrinkles, section 4 (sign and scale per the convention above).
    """
    n1, n2, e, length = hinge_frame(x0, x1, x2, x3)
    q1 = reciprocal(dot(n1, n1))
    q2 = reciprocal(dot(n2, n2))
    valid = both(both(q1 > 0.0, q2 > 0.0), length > 0.0)
    inverse = where(valid, reciprocal(length), 0.0)
    g2 = times(where(valid, q1, 0.0), times(-length, n1))
    g3 = times(where(valid, q2, 0.0), times(-length, n2))
    # heights' feet divide the edge: shares of the opposite vertices' gradients that 0 and 1 balance
    a2 = dot(minus(x2, x1), e) * inverse * inverse
    a3 = dot(minus(x3, x1), e) * inverse * inverse
    g0 = mix(a2, g2, a3, g3)
    g1 = opposite_sum(plus(g2, g3), g0)
    return g0, g1, g2, g3


@law
def dihedral(x0: Vec, x1: Vec, x2: Vec, x3: Vec, rest_angle: Any) -> tuple[Any, Vec, Vec, Vec, Vec]:
    """``C = theta - theta_0`` wrapped to (-pi, pi] [rad], and its four gradients [rad/m].

    The signed angle ``theta = atan2((n1 x n2) . e, n1 . n2)`` is smooth through flat and defined up to a
    fold by pi. With the compliance ``(A0 + A1)/(B l^2)`` the energy is that of a sheet of rigidity B.
    """
    n1, n2, e, length = hinge_frame(x0, x1, x2, x3)
    sine = dot(cross(n1, n2), e) * reciprocal(length)
    theta = arctan2(sine, dot(n1, n2))
    g = hinge_gradients(x0, x1, x2, x3)
    return wrapped(theta - rest_angle), g[0], g[1], g[2], g[3]


@law
def dihedral_acos(x0: Vec, x1: Vec, x2: Vec, x3: Vec, rest_angle: Any) -> tuple[Any, Vec, Vec, Vec, Vec]:
    """Unsigned baseline ``C = acos(n1 . n2 / |n1||n2|) - phi_0`` and its four gradients.

    It forgets on which side the cloth is folded and its gradient does not exist at flat (zero is
    returned there) and at a full fold: kept only for comparison.
    Source: Müller et al. 2006, Position Based Dynamics, section 4.2 and appendix A.
    """
    n1, n2, e, _ = hinge_frame(x0, x1, x2, x3)
    cosine = dot(n1, n2) * reciprocal(sqrt(dot(n1, n1) * dot(n2, n2)))
    sine = dot(cross(n1, n2), e)
    sign = where(sine > 0.0, 1.0, where(sine < 0.0, -1.0, 0.0))
    g = hinge_gradients(x0, x1, x2, x3)
    return (
        arccos(cosine) - rest_angle,
        times(sign, g[0]),
        times(sign, g[1]),
        times(sign, g[2]),
        times(sign, g[3]),
    )
