"""What Numba has to know of lanes: types, operators and the instructions that they become.

The vocabulary that kernels and laws use is in :mod:`pliant.backend.lanes`; this file gives it its meaning
in compiled code. A lane value is an LLVM vector ``<width x float>``; every operator is one instruction of
strict IEEE arithmetic. Numbers that meet a lane value are cast to its precision and spread over its lanes.
"""

from __future__ import annotations

import operator
from functools import cached_property
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import (
    NativeValue,
    intrinsic,
    lower_builtin,
    lower_cast,
    models,
    register_model,
    typeof_impl,
    unbox,
)


class Lanes:
    """Tag that carries the lane width of a kernel call in its type."""

    def __init__(self, width: int) -> None:
        self.width = int(width)

    def __repr__(self) -> str:
        return f"Lanes({self.width})"


class LanesType(types.Type):
    """Numba type of a :class:`Lanes` tag."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Lanes({width})")


class Items:
    """Tag: lanes are neighbouring items (constraints of one colour) of a single world."""

    def __init__(self, width: int) -> None:
        self.width = int(width)

    def __repr__(self) -> str:
        return f"Items({self.width})"


class ItemsType(types.Type):
    """Numba type of an :class:`Items` tag."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Items({width})")


class Features:
    """Tag that carries in its type which features a run has (see :func:`pliant.backend.jit.feature`)."""

    def __init__(self, *names: str) -> None:
        self.names = tuple(sorted(set(names)))

    def __repr__(self) -> str:
        return f"Features{self.names}"


class FeaturesType(types.Type):
    """Numba type of a :class:`Features` tag."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        super().__init__(name=f"Features({','.join(names)})")


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


@typeof_impl.register(Items)
def _typeof_items(value: Items, context: Any) -> ItemsType:
    return ItemsType(value.width)


@typeof_impl.register(Features)
def _typeof_features(value: Features, context: Any) -> FeaturesType:
    return FeaturesType(value.names)


register_model(LanesType)(models.OpaqueModel)
register_model(ItemsType)(models.OpaqueModel)
register_model(FeaturesType)(models.OpaqueModel)


@unbox(LanesType)
@unbox(ItemsType)
@unbox(FeaturesType)
def _unbox_tag(typ: Any, obj: Any, c: Any) -> NativeValue:
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


# --- instructions ----------------------------------------------------------------------------------


def _call_llvm(builder: Any, name: str, lane: LaneType, args: Any) -> Any:
    """Call an LLVM intrinsic of one lane argument."""
    full = f"{name}.v{lane.width}f{lane.dtype.bitwidth}"
    fn = builder.module.declare_intrinsic(full, (), ir.FunctionType(lane.llvm, [lane.llvm]))
    return builder.call(fn, args)


@intrinsic
def lane_sqrt(typingctx: Any, a: Any) -> Any:
    """Correctly rounded square root of a lane value."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _call_llvm(builder, "llvm.sqrt", sig.return_type, args)

    return a(a), codegen


@intrinsic
def lane_abs(typingctx: Any, a: Any) -> Any:
    """Absolute value of a lane value."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _call_llvm(builder, "llvm.fabs", sig.return_type, args)

    return a(a), codegen


@intrinsic
def lane_where(typingctx: Any, mask: Any, a: Any, b: Any) -> Any:
    """``a`` in the lanes where the mask holds, else ``b``."""
    lane = LaneType(mask.dtype, mask.width)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(args[0], args[1], args[2])

    return lane(mask, lane, lane), codegen


@intrinsic
def mask_both(typingctx: Any, a: Any, b: Any) -> Any:
    """Logical and of two masks."""
    return a(a, b), lambda context, builder, sig, args: builder.and_(args[0], args[1])


@intrinsic
def mask_either(typingctx: Any, a: Any, b: Any) -> Any:
    """Logical or of two masks."""
    return a(a, b), lambda context, builder, sig, args: builder.or_(args[0], args[1])


@intrinsic
def mask_any(typingctx: Any, a: Any) -> Any:
    """Whether the mask holds in any lane."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        bits = builder.bitcast(args[0], ir.IntType(sig.args[0].width))
        return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    return types.boolean(a), codegen
