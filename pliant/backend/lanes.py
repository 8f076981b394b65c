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
import operator
from functools import cached_property
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import (
    intrinsic,
    lower_builtin,
    lower_cast,
    models,
    NativeValue,
    overload,
    register_jitable,
    register_model,
    typeof_impl,
    unbox,
)

__all__ = [
    "Lanes", "load", "store", "add", "load3", "store3", "add3", "splat",
    "sqrt", "where", "minimum", "maximum", "absolute", "both", "either", "any_lane",
]  # fmt: skip


class Lanes:
    """Tag that carries the lane width of a kernel call in its type."""

    def __init__(self, width: int) -> None:
        self.width = int(width)

    def __repr__(self) -> str:
        return f"Lanes({self.width})"


# --- types -----------------------------------------------------------------------------------------


class LanesType(types.Type):
    """Numba type of a :class:`Lanes` tag."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Lanes({width})")


class LaneType(types.Type):
    """Numba type of a lane value: ``width`` numbers of type ``dtype``."""

    def __init__(self, dtype: types.Float, width: int) -> None:
        self.dtype = dtype
        self.width = width
        super().__init__(name=f"Lane({dtype}x{width})")

    @cached_property
    def llvm(self) -> ir.VectorType:
        return ir.VectorType(_llvm_scalar(self.dtype), self.width)


class MaskType(types.Type):
    """Numba type of a comparison of lane values; it remembers the precision that it came from."""

    def __init__(self, dtype: types.Float, width: int) -> None:
        self.dtype = dtype
        self.width = width
        super().__init__(name=f"Mask({dtype}x{width})")


def _llvm_scalar(dtype: types.Float) -> ir.Type:
    return ir.FloatType() if dtype is types.float32 else ir.DoubleType()


@typeof_impl.register(Lanes)
def _typeof_lanes(value: Lanes, context: Any) -> LanesType:
    return LanesType(value.width)


register_model(LanesType)(models.OpaqueModel)


@unbox(LanesType)
def _unbox_lanes(typ: LanesType, obj: Any, c: Any) -> NativeValue:
    return NativeValue(c.context.get_dummy_value())


@register_model(LaneType)
class _LaneModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: LaneType) -> None:
        super().__init__(dmm, fe_type, fe_type.llvm)


@register_model(MaskType)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: MaskType) -> None:
        super().__init__(dmm, fe_type, ir.VectorType(ir.IntType(1), fe_type.width))


# --- arithmetic ------------------------------------------------------------------------------------


def _common(args: tuple[Any, ...]) -> LaneType | None:
    """The lane type that a mixed operation has, or None when it is not ours to type."""
    lane = next((a for a in args if isinstance(a, LaneType)), None)
    if lane is None:
        return None
    ok = all(a == lane or isinstance(a, (types.Float, types.Integer)) for a in args)
    return lane if ok else None


def _splat(context: Any, builder: Any, value: Any, lane: LaneType) -> Any:
    undef = ir.Constant(lane.llvm, ir.Undefined)
    first = builder.insert_element(undef, value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), lane.width), [0] * lane.width)
    return builder.shuffle_vector(first, undef, zeros)


@lower_cast(types.Float, LaneType)
@lower_cast(types.Integer, LaneType)
def _number_to_lane(context: Any, builder: Any, fromty: Any, toty: LaneType, value: Any) -> Any:
    return _splat(context, builder, context.cast(builder, value, fromty, toty.dtype), toty)


def _register_binary(op: Any, emit: Any) -> None:
    @infer_global(op)
    class _Binary(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            lane = _common(args) if len(args) == 2 else None
            return None if lane is None else signature(lane, lane, lane)

    @lower_builtin(op, LaneType, LaneType)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return emit(builder)(args[0], args[1])


_register_binary(operator.add, lambda b: b.fadd)
_register_binary(operator.sub, lambda b: b.fsub)
_register_binary(operator.mul, lambda b: b.fmul)
_register_binary(operator.truediv, lambda b: b.fdiv)


@infer_global(operator.neg)
class _Negate(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(args[0], args[0]) if isinstance(args[0], LaneType) else None


@lower_builtin(operator.neg, LaneType)
def _lower_neg(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.fneg(args[0])


def _register_compare(op: Any, symbol: str) -> None:
    @infer_global(op)
    class _Compare(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            lane = _common(args) if len(args) == 2 else None
            return None if lane is None else signature(MaskType(lane.dtype, lane.width), lane, lane)

    @lower_builtin(op, LaneType, LaneType)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.fcmp_ordered(symbol, args[0], args[1])


_register_compare(operator.lt, "<")
_register_compare(operator.le, "<=")
_register_compare(operator.gt, ">")
_register_compare(operator.ge, ">=")


# --- functions on lane values and on plain numbers -------------------------------------------------


def _call_llvm(builder: Any, name: str, lane: LaneType, args: Any) -> Any:
    """Call an LLVM intrinsic of one lane argument."""
    full = f"{name}.v{lane.width}f{lane.dtype.bitwidth}"
    fn = builder.module.declare_intrinsic(full, (), ir.FunctionType(lane.llvm, [lane.llvm]))
    return builder.call(fn, args)


@intrinsic
def _lane_sqrt(typingctx: Any, a: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _call_llvm(builder, "llvm.sqrt", sig.return_type, args)

    return a(a), codegen


@intrinsic
def _lane_abs(typingctx: Any, a: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _call_llvm(builder, "llvm.fabs", sig.return_type, args)

    return a(a), codegen


@intrinsic
def _lane_where(typingctx: Any, mask: Any, a: Any, b: Any) -> Any:
    lane = LaneType(mask.dtype, mask.width)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(args[0], args[1], args[2])

    return lane(mask, lane, lane), codegen


@intrinsic
def _mask_both(typingctx: Any, a: Any, b: Any) -> Any:
    return a(a, b), lambda context, builder, sig, args: builder.and_(args[0], args[1])


@intrinsic
def _mask_either(typingctx: Any, a: Any, b: Any) -> Any:
    return a(a, b), lambda context, builder, sig, args: builder.or_(args[0], args[1])


@intrinsic
def _mask_any(typingctx: Any, a: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        bits = builder.bitcast(args[0], ir.IntType(sig.args[0].width))
        return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    return types.boolean(a), codegen


def sqrt(x: Any) -> Any:
    """Correctly rounded square root."""
    return np.sqrt(x)


def absolute(x: Any) -> Any:
    """|x|."""
    return np.abs(x)


def where(mask: Any, a: Any, b: Any) -> Any:
    """``a`` in the lanes where ``mask`` holds, else ``b``; both are evaluated."""
    return np.where(mask, a, b) if isinstance(mask, np.ndarray) else (a if mask else b)


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two; ``b`` where the comparison is unordered (NaN)."""
    return where(a < b, a, b)


def maximum(a: Any, b: Any) -> Any:
    """The larger of two; ``b`` where the comparison is unordered (NaN)."""
    return where(a > b, a, b)


def both(a: Any, b: Any) -> Any:
    """Logical and of two masks."""
    return a & b


def either(a: Any, b: Any) -> Any:
    """Logical or of two masks."""
    return a | b


def any_lane(mask: Any) -> Any:
    """True when the mask holds in at least one lane."""
    return bool(np.any(mask))


@overload(any_lane, strict=False)
def _ov_any_lane(mask: Any) -> Any:
    if isinstance(mask, MaskType):
        return lambda mask: _mask_any(mask)
    return lambda mask: mask


@overload(sqrt, strict=False)
def _ov_sqrt(x: Any) -> Any:
    if isinstance(x, LaneType):
        return lambda x: _lane_sqrt(x)
    return lambda x: math.sqrt(x)


@overload(absolute, strict=False)
def _ov_absolute(x: Any) -> Any:
    if isinstance(x, LaneType):
        return lambda x: _lane_abs(x)
    return lambda x: abs(x)


@overload(where, strict=False)
def _ov_where(mask: Any, a: Any, b: Any) -> Any:
    if isinstance(mask, MaskType):
        return lambda mask, a, b: _lane_where(mask, a, b)
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
        return lambda a, b: _mask_both(a, b)
    return lambda a, b: a and b


@overload(either, strict=False)
def _ov_either(a: Any, b: Any) -> Any:
    if isinstance(a, MaskType):
        return lambda a, b: _mask_either(a, b)
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
    return np.full(lanes.width, value, dtype=a.dtype)


def load(a: Any, index: Any, lanes: Any) -> Any:
    """Lane value ``a[index + (:,)]``; ``index`` is a tuple of integers."""
    return a[index].copy()


def store(a: Any, index: Any, value: Any, lanes: Any) -> None:
    """``a[index + (:,)] = value``."""
    a[index] = value


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
