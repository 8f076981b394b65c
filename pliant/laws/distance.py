"""Distance between two points: ``C = |a - b| - L``."""

from __future__ import annotations

from typing import Any

from ..backend.jit import law
from ..backend.lanes import sqrt
from .scalars import reciprocal
from .vectors import Vec, dot, minus, times


@law
def distance(a: Vec, b: Vec, rest_length: Any) -> tuple[Any, Vec]:
    """Constraint value [m] and its gradient with respect to ``a``; the one for ``b`` is its negative.

    Coincident points have no direction: the gradient is then zero, so that nothing moves.
    Source: Müller et al. 2006, Position Based Dynamics, eq. 10 and 11.
    """
    d = minus(a, b)
    length = sqrt(dot(d, d))
    return length - rest_length, times(reciprocal(length), d)
