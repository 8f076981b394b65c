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
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic, overload, register_jitable

from .lane_types import (
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

__all__ = [
    "Lanes",
    "absolute",
    "add",
    "add3",
    "any_lane",
    "both",
    "either",
    "load",
    "load3",
    "maximum",
    "minimum",
    "splat",
    "sqrt",
    "store",
    "store3",
    "where",
]


# --- without the compiler -----------------------------------------------------------------------------


def numbers(value: Any, precision: np.dtype) -> np.ndarray:
    """A number or a lane value as a NumPy array of a precision.

    Raises TypeError where lane values of two precisions meet, which compiled code refuses to type.
    """
    if isinstance(value, PlainLane) and value.dtype != precision:
        raise TypeError(f"a lane value of {value.dtype} meets one of {precision}")
    return np.asarray(value, precision)


class PlainLane(np.ndarray):
    """A lane value of plain Python (``NUMBA_DISABLE_JIT=1``): numbers that meet it take its precision."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        precision = next(a.dtype for a in inputs if isinstance(a, PlainLane))
        with np.errstate(all="ignore"):
            out = getattr(ufunc, method)(*(numbers(a, precision) for a in inputs), **options)
        return PlainMask(out, precision) if out.dtype == bool else out.view(PlainLane)


class PlainMask:
    """A comparison of plain lane values: bits, and the precision that they came from."""

    def __init__(self, bits: np.ndarray, precision: np.dtype) -> None:
        self.bits = bits
        self.precision = precision

    def __and__(self, other: PlainMask) -> PlainMask:
        return PlainMask(self.bits & other.bits, self.precision)

    def __or__(self, other: PlainMask) -> PlainMask:
        return PlainMask(self.bits | other.bits, self.precision)

    def __bool__(self) -> bool:
        raise TypeError("a law cannot branch on lanes: compute both sides and choose with where()")

    def any(self) -> bool:
        """True when the mask holds in at least one lane."""
        return bool(self.bits.any())

    def choose(self, a: Any, b: Any) -> PlainLane:
        """``a`` where the mask holds, else ``b``."""
        chosen = np.where(self.bits, numbers(a, self.precision), numbers(b, self.precision))
        return chosen.view(PlainLane)


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


@overload(any_lane, strict=False)
def _ov_any_lane(mask: Any) -> Any:
    if isinstance(mask, MaskType):
        return lambda mask: mask_any(mask)
    return lambda mask: mask


@overload(sqrt, strict=False)
def _ov_sqrt(x: Any) -> Any:
    if isinstance(x, LaneType):
        return lambda x: lane_sqrt(x)
    return lambda x: math.sqrt(x)


@overload(absolute, strict=False)
def _ov_absolute(x: Any) -> Any:
    if isinstance(x, LaneType):
        return lambda x: lane_abs(x)
    return lambda x: abs(x)


@overload(where, strict=False)
def _ov_where(mask: Any, a: Any, b: Any) -> Any:
    if isinstance(mask, MaskType):
        return lambda mask, a, b: lane_where(mask, a, b)
    return lambda mask, a, b: a if mask else b


@overload(minimum, strict=False)
def _ov_minimum(a: Any, b: Any) -> Any:
    return lambda a, b: where(a < b, a, b)


@overload(maximum, strict=False)
def _ov_maximum(a: Any, b: Any) -> Any:
    return lambda a, b: where(a > b, a, b)


@overload(both, strict=False)
def _ov_both(a: Any, b: Any) -> Any:
    if isinstance(a, MaskType):
        return lambda a, b: mask_both(a, b)
    return lambda a, b: a and b


@overload(either, strict=False)
def _ov_either(a: Any, b: Any) -> Any:
    if isinstance(a, MaskType):
        return lambda a, b: mask_either(a, b)
    return lambda a, b: a or b


# --- memory ----------------------------------------------------------------------------------------


def _lane_pointer(context: Any, builder: Any, arrty: Any, arr: Any, indices: Any, lane: LaneType) -> Any:
    """Pointer to the lanes of ``arr[indices]`` as one vector; the last axis is contiguous."""
    array = context.make_array(arrty)(context, builder, arr)
    zero = context.get_constant(types.intp, 0)
    full = [*indices, zero]
    ptr = cgutils.get_item_pointer(context, builder, arrty, array, full, wraparound=False)
    return builder.bitcast(ptr, lane.llvm.as_pointer())


def _indices(context: Any, builder: Any, tys: Any, vals: Any) -> list[Any]:
    return [context.cast(builder, v, t, types.intp) for t, v in zip(tys, vals, strict=True)]


@intrinsic
def _lane_load(typingctx: Any, a: Any, index: Any, lanes: Any) -> Any:
    lane = LaneType(a.dtype, lanes.width)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        idx = cgutils.unpack_tuple(builder, args[1])
        idx = _indices(context, builder, list(sig.args[1]), idx)
        ptr = _lane_pointer(context, builder, sig.args[0], args[0], idx, lane)
        value = builder.load(ptr)
        value.align = lane.dtype.bitwidth // 8
        return value

    return lane(a, index, lanes), codegen


@intrinsic
def _lane_store(typingctx: Any, a: Any, index: Any, value: Any, lanes: Any) -> Any:
    lane = LaneType(a.dtype, lanes.width)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        idx = cgutils.unpack_tuple(builder, args[1])
        idx = _indices(context, builder, list(sig.args[1]), idx)
        ptr = _lane_pointer(context, builder, sig.args[0], args[0], idx, lane)
        inst = builder.store(args[2], ptr)
        inst.align = lane.dtype.bitwidth // 8
        return context.get_dummy_value()

    return types.none(a, index, lane, lanes), codegen


@intrinsic
def _lane_splat(typingctx: Any, a: Any, value: Any, lanes: Any) -> Any:
    lane = LaneType(a.dtype, lanes.width)
    return lane(a, lane, lanes), lambda context, builder, sig, args: args[1]


def splat(a: Any, value: Any, lanes: Any) -> Any:
    """The number ``value`` in every lane, in the precision of array ``a``."""
    return np.full(lanes.width, value, dtype=a.dtype).view(PlainLane)


def load(a: Any, index: Any, lanes: Any) -> Any:
    """Lane value ``a[index + (:,)]``; ``index`` is a tuple of integers."""
    return a[index].copy().view(PlainLane)


def store(a: Any, index: Any, value: Any, lanes: Any) -> None:
    """``a[index + (:,)] = value``."""
    a[index] = numbers(value, a.dtype)


@overload(splat, strict=False)
def _ov_splat(a: Any, value: Any, lanes: Any) -> Any:
    return lambda a, value, lanes: _lane_splat(a, value, lanes)


@overload(load, strict=False)
def _ov_load(a: Any, index: Any, lanes: Any) -> Any:
    return lambda a, index, lanes: _lane_load(a, index, lanes)


@overload(store, strict=False)
def _ov_store(a: Any, index: Any, value: Any, lanes: Any) -> Any:
    return lambda a, index, value, lanes: _lane_store(a, index, value, lanes)


@register_jitable
def add(a: Any, index: Any, value: Any, lanes: Any) -> None:
    """``a[index + (:,)] += value``."""
    store(a, index, load(a, index, lanes) + value, lanes)


@register_jitable
def load3(a: Any, i: Any, lanes: Any) -> Any:
    """The three lane values of row ``i`` of an ``(items, 3, lanes)`` array."""
    return load(a, (i, 0), lanes), load(a, (i, 1), lanes), load(a, (i, 2), lanes)


@register_jitable
def store3(a: Any, i: Any, value: Any, lanes: Any) -> None:
    """``a[i] = value`` for a triple of lane values."""
    store(a, (i, 0), value[0], lanes)
    store(a, (i, 1), value[1], lanes)
    store(a, (i, 2), value[2], lanes)


@register_jitable
def add3(a: Any, i: Any, s: Any, value: Any, lanes: Any) -> None:
    """``a[i] += s * value`` for a triple of lane values."""
    store(a, (i, 0), load(a, (i, 0), lanes) + s * value[0], lanes)
    store(a, (i, 1), load(a, (i, 1), lanes) + s * value[1], lanes)
    store(a, (i, 2), load(a, (i, 2), lanes) + s * value[2], lanes)
