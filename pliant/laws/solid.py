"""Elastic tetrahedra: ARAP with a trace row, neo-Hookean, and volume alone.

All take the columns of the deformation gradient ``F = [x1 - x0, x2 - x0, x3 - x0] inv_rest_matrix`` and
return constraint values without unit, with their gradients with respect to those columns. V: rest volume::

    ARAP         C_shape = |F - R|        alpha = 1 / (w V),          w = 2 mu
                 C_trace = tr(R^T F) - 3  alpha = 1 / (lambda V)
    neo-Hookean  C_hydro = det F - rest   alpha = 1 / (lambda^ V),    lambda^ = lambda + mu,
                 C_dev   = |F|            alpha = 1 / (mu V)          rest = 1 + mu/lambda^
    volume       C       = det F - 1      alpha = 1 / (K V)
"""

from __future__ import annotations

from typing import Any

from ..backend.jit import law
from ..backend.lanes import sqrt
from .rotations import closest_rotation
from .scalars import reciprocal
from .vectors import Vec, cross, dot, minus, times


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
def neo_hookean(f1: Vec, f2: Vec, f3: Vec, rest: Any) -> tuple[Any, Vec, Vec, Vec, Any, Vec, Vec, Vec]:
    """``C_hydro`` and its gradients, ``C_dev`` and its gradients.

    At rest neither is zero: the forces of the two rows balance. The gradient of the second does not exist for
    F = 0; it is zero there. Source: Macklin, Müller 2021, A Constraint-based Formulation of Stable
    Neo-Hookean Materials, eq. 8 to 10, with ``lambda^`` for their lambda so that small strains see lambda.
    """
    c1, c2, c3 = cross(f2, f3), cross(f3, f1), cross(f1, f2)
    size = sqrt(dot(f1, f1) + dot(f2, f2) + dot(f3, f3))
    scale = reciprocal(size)
    return dot(f1, c1) - rest, c1, c2, c3, size, times(scale, f1), times(scale, f2), times(scale, f3)


@law
def volume(f1: Vec, f2: Vec, f3: Vec) -> tuple[Any, Vec, Vec, Vec]:
    """``det F - 1`` and its gradients, the columns of the cofactor of F. Resists no shear at all."""
    c1, c2, c3 = cross(f2, f3), cross(f3, f1), cross(f1, f2)
    return dot(f1, c1) - 1.0, c1, c2, c3
