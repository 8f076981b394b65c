"""Lanes: a fixed number of worlds side by side in one SIMD value.

A kernel that works on many worlds loads one number of each world into a *lane value*, computes with it
as if it were a plain float, and stores it back. In compiled code a lane value is an LLVM vector
``<width x float>``, so every arithmetic operator is one vector instruction and nothing depends on an
automatic vectoriser's mood; in plain Python (``NUMBA_DISABLE_JIT=1``) it is a NumPy array of the same
length and precision. Both obey strict IEEE arithmetic, hence give the same bits for every width.

Arrays are laid out ``(items, axis, lanes)``. The width travels as the *type* of a :class:`Lanes` tag::

    a = load3(x, i, lanes)           # three lane values: x[i, 0, :], x[i, 1, :], x[i, 2, :]
    add3(x, i, s, a, lanes)          # x[i] += s * a

Numbers (Python literals, scalars loaded from constant arrays) mix freely with lane values and take
their precision, which is what keeps float32 kernels free of float64.

A single world has no worlds to put side by side. Its lanes are neighbouring constraints of one colour
instead, which share no particle: the tag is :class:`Items`, particle numbers become tuples of indices and
constants lane values. One body serves both (:mod:`pliant.backend.memory`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba.extending import overload

from .lane_types import (
    Features,
    Items,
    Lanes,
    LaneType,
    MaskType,
    lane_abs,
    lane_sqrt,
    lane_where,
    mask_any,
    mask_both,
    mask_either,
)
from .memory import INLINE, add, add3, const, index, load, load3, span, splat, store, store3, stride, world
from .plain import PlainLane, PlainMask, numbers

__all__ = [
    "Features",
    "Items",
    "Lanes",
    "PlainLane",
    "absolute",
    "add",
    "add3",
    "any_lane",
    "both",
    "const",
    "either",
    "index",
    "load",
    "load3",
    "maximum",
    "minimum",
    "numbers",
    "span",
    "splat",
    "sqrt",
    "store",
    "store3",
    "stride",
    "where",
    "world",
]


# --- functions on lane values and on plain numbers -------------------------------------------------


def sqrt(x: Any) -> Any:
    """Correctly rounded square root."""
    return np.sqrt(x)


def absolute(x: Any) -> Any:
    """|x|."""
    return np.abs(x)


def where(mask: Any, a: Any, b: Any) -> Any:
    """``a`` in the lanes where ``mask`` holds, else ``b``; both are evaluated."""
    return mask.choose(a, b) if isinstance(mask, PlainMask) else (a if mask else b)


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two; ``b`` where the comparison is unordered (NaN)."""
    return where(a < b, a, b)


def maximum(a: Any, b: Any) -> Any:
    """The larger of two; ``b`` where the comparison is unordered (NaN)."""
    return where(a > b, a, b)


def both(a: Any, b: Any) -> Any:
    """Logical and of two masks."""
    return a & b if isinstance(a, PlainMask) else (a and b)


def either(a: Any, b: Any) -> Any:
    """Logical or of two masks."""
    return a | b if isinstance(a, PlainMask) else (a or b)


def any_lane(mask: Any) -> Any:
    """True when the mask holds in at least one lane."""
    return mask.any() if isinstance(mask, PlainMask) else bool(mask)


@overload(any_lane, strict=False, jit_options=INLINE)
def _ov_any_lane(mask: Any) -> Any:
    if isinstance(mask, MaskType):
        return lambda mask: mask_any(mask)
    return lambda mask: mask


@overload(sqrt, strict=False, jit_options=INLINE)
def _ov_sqrt(x: Any) -> Any:
    if isinstance(x, LaneType):
        return lambda x: lane_sqrt(x)
    return lambda x: math.sqrt(x)


@overload(absolute, strict=False, jit_options=INLINE)
def _ov_absolute(x: Any) -> Any:
    if isinstance(x, LaneType):
        return lambda x: lane_abs(x)
    return lambda x: abs(x)


@overload(where, strict=False, jit_options=INLINE)
def _ov_where(mask: Any, a: Any, b: Any) -> Any:
    if isinstance(mask, MaskType):
        return lambda mask, a, b: lane_where(mask, a, b)
    return lambda mask, a, b: a if mask else b


@overload(minimum, strict=False, jit_options=INLINE)
def _ov_minimum(a: Any, b: Any) -> Any:
    return lambda a, b: where(a < b, a, b)


@overload(maximum, strict=False, jit_options=INLINE)
def _ov_maximum(a: Any, b: Any) -> Any:
    return lambda a, b: where(a > b, a, b)


@overload(both, strict=False, jit_options=INLINE)
def _ov_both(a: Any, b: Any) -> Any:
    if isinstance(a, MaskType):
        return lambda a, b: mask_both(a, b)
    return lambda a, b: a and b


@overload(either, strict=False, jit_options=INLINE)
def _ov_either(a: Any, b: Any) -> Any:
    if isinstance(a, MaskType):
        return lambda a, b: mask_either(a, b)
    return lambda a, b: a or b
