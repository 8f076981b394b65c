"""A point held at a target by a spring: three linear rows ``C = x - target``."""

from __future__ import annotations

from ..backend.jit import law
from .vectors import Vec, minus


@law
def attachment(x: Vec, target: Vec) -> Vec:
    """Constraint values of the three rows [m]; the gradient of row m is the unit vector m.

    Compliance [m/N] per row: the energy is that of a spring of zero rest length, ``|x - p|^2/(2 alpha)``.
    """
    return minus(x, target)
