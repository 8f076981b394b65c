"""Branch-free functions of one or two numbers, for plain floats and for lane values."""

from __future__ import annotations

from typing import Any

from ..backend.jit import law
from ..backend.lanes import absolute, both, maximum, minimum, sqrt, where

INFINITY = float("inf")
PI = 3.141592653589793
TAN_PI_8 = 0.41421356237309503

# atan(r)/r = sum a_k r^(2k) on |r| <= tan(pi/8), Chebyshev fit in r^2, error of the fit 1.3e-18
# (mpmath.chebyfit of degree 11, 50 digits).
ATAN = (
    1.0,
    -0.3333333333333312,
    0.19999999999940893,
    -0.14285714279250245,
    0.11111110744919658,
    -0.09090896809064027,
    0.07692045330902225,
    -0.06662951813629191,
    0.05846878297330872,
    -0.05035102456601552,
    0.03796525745386593,
    -0.017805397205419446,
)


@law
def reciprocal(x: Any) -> Any:
    """1/x for x > 0, and 0 where x is 0 or so small that 1/x overflows.

    The guard of every normalisation: nothing but the range of the numbers themselves is a threshold.
    """
    r = 1.0 / where(x > 0.0, x, 1.0)
    return where(both(x > 0.0, r < INFINITY), r, 0.0)


@law
def spacing(x: Any) -> Any:
    """Distance from 1 to the next number in the precision of x, whatever the value of x (NaN for NaN).

    ``|3 (4/3 - 1) - 1|`` is the rounding error of 4/3, three times.
    """
    third = (x * 0.0 + 4.0) / 3.0 - 1.0
    return absolute(3.0 * third - 1.0)


@law
def arctan2(y: Any, x: Any) -> Any:
    """Angle of the point (x, y) in (-pi, pi], 0 at the origin; error below 4 ulp of the result's octave."""
    ax = absolute(x)
    ay = absolute(y)
    big = maximum(ax, ay)
    r = minimum(ax, ay) / where(big > 0.0, big, 1.0)
    steep = r > TAN_PI_8
    r = where(steep, (r - 1.0) / (r + 1.0), r)
    z = r * r
    p = ATAN[11] * z + ATAN[10]
    p = p * z + ATAN[9]
    p = p * z + ATAN[8]
    p = p * z + ATAN[7]
    p = p * z + ATAN[6]
    p = p * z + ATAN[5]
    p = p * z + ATAN[4]
    p = p * z + ATAN[3]
    p = p * z + ATAN[2]
    p = p * z + ATAN[1]
    p = p * z + ATAN[0]
    angle = p * r
    angle = where(steep, angle + 0.25 * PI, angle)
    angle = where(ay > ax, 0.5 * PI - angle, angle)
    angle = where(x < 0.0, PI - angle, angle)
    return where(y < 0.0, -angle, angle)


@law
def arccos(d: Any) -> Any:
    """Angle in [0, pi] whose cosine is ``d``, with ``d`` clamped to [-1, 1]."""
    c = maximum(minimum(d, 1.0), -1.0)
    return arctan2(sqrt((1.0 - c) * (1.0 + c)), c)


@law
def wrapped(angle: Any) -> Any:
    """An angle in (-2 pi, 2 pi) brought into (-pi, pi]."""
    down = where(angle > PI, angle - 2.0 * PI, angle)
    return where(down <= -PI, down + 2.0 * PI, down)
