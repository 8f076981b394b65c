"""Pressure on faces, and gas in a closed shell."""

from __future__ import annotations

from typing import Any

from ..backend.jit import law
from ..backend.lanes import maximum, sqrt, where
from .scalars import reciprocal
from .vectors import Vec, cross, dot, minus, times

LEAST_VOLUME = 1e-3
"""A gas is not compressed further than to this share of its first volume: its pressure stays finite."""


@law
def area_vector(x0: Vec, x1: Vec, x2: Vec) -> Vec:
    """Area times unit normal [m^2]; a pressure p presses with p a/3 on each corner.

    Over a closed surface a third of it, summed around a vertex, is the gradient of the volume there.
    """
    return times(0.5, cross(minus(x1, x0), minus(x2, x0)))


@law
def cone_volume(apex: Vec, x0: Vec, x1: Vec, x2: Vec) -> Any:
    """Signed volume [m^3] between a face and a point; a closed surface encloses the sum."""
    return (1.0 / 6.0) * dot(minus(x0, apex), cross(minus(x1, apex), minus(x2, apex)))


@law
def gas_push(volume: Any, slope: Any, amount: Any, ambient: Any, least: Any, old: Any, h2: Any) -> Any:
    """Multiplier y [Pa s^2] of an isothermal gas, p V = amount [J], of which ``old`` has pushed so far.

    Solves ``y = h^2 (amount/V - ambient)``, ``V = volume + slope (y - old)``, ``slope = sum w |grad V|^2``:
    backward Euler along the gradient of the volume. Its root is found without iterating, and its volume is
    positive whatever comes in; one below ``least`` counts as that.
    """
    b = h2 * ambient
    q = volume - slope * old - b * slope
    k = slope * h2 * amount
    r = sqrt(q * q + 4.0 * k)
    solved = where(q > 0.0, 0.5 * (q + r), 2.0 * k * reciprocal(r - q))
    return h2 * amount * reciprocal(maximum(solved, least)) - b
