"""Lane values in memory: load and store, for lanes that are worlds and for lanes that are items.

Arrays of what differs between worlds are ``(items, axis, lanes)``; constants are ``(field, items)``. With a
:class:`Lanes` tag an index is a number and the lanes are the last axis. With an :class:`Items` tag (one
world: the last axis has length 1) the lanes are neighbouring items:

    i = index(ids, (0, c), lanes)       # number | the numbers ids[0, c], ..., ids[0, c + 7]
    m = const(mass, (i,), lanes)        # number | lane value mass[i]
    a = const(data, (1, c), lanes)      # number | lane value data[1, c:c + 8]
    x = load3(x, i, lanes)              # three lane values of the worlds | of the items

An index tuple may hold one tuple of indices, from :func:`index` or :func:`span`; items are then gathered and
scattered one by one. Without one, an item access is a piece of contiguous memory. Two lanes may name the same
place only if both write the same value there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.types.containers import BaseTuple, UniTuple
from numba.extending import intrinsic, overload, register_jitable

from .lane_types import Items, ItemsType, LaneType
from .plain import PlainLane, numbers

INLINE = {"forceinline": True}
"""What is this small becomes part of its caller: a call would cost more than the work."""


def _gathers(index: Any) -> bool:
    """Whether an index type holds a tuple of indices."""
    return any(isinstance(t, BaseTuple) for t in index)


def _place(context: Any, builder: Any, arrty: Any, arr: Any, tys: Any, vals: Any, lane: int) -> Any:
    """Pointer to the number that belongs to a lane; trailing axes (the single world) are 0."""
    at = []
    for t, v in zip(tys, vals, strict=True):
        item, kind = (builder.extract_value(v, lane), t[lane]) if isinstance(t, BaseTuple) else (v, t)
        at.append(context.cast(builder, item, kind, types.intp))
    zero = context.get_constant(types.intp, 0)
    at += [zero] * (arrty.ndim - len(at))
    array = context.make_array(arrty)(context, builder, arr)
    return cgutils.get_item_pointer(context, builder, arrty, array, at, wraparound=False)


def _number(k: int) -> Any:
    return ir.Constant(ir.IntType(32), k)


@intrinsic
def _vector_load(typingctx: Any, a: Any, index: Any, lanes: Any) -> Any:
    lane = LaneType(a.dtype, lanes.width)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        at = cgutils.unpack_tuple(builder, args[1])
        ptr = _place(context, builder, sig.args[0], args[0], list(sig.args[1]), at, 0)
        value = builder.load(builder.bitcast(ptr, lane.llvm.as_pointer()))
        value.align = lane.dtype.bitwidth // 8
        return value

    return lane(a, index, lanes), codegen


@intrinsic
def _vector_store(typingctx: Any, a: Any, index: Any, value: Any, lanes: Any) -> Any:
    lane = LaneType(a.dtype, lanes.width)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        at = cgutils.unpack_tuple(builder, args[1])
        ptr = _place(context, builder, sig.args[0], args[0], list(sig.args[1]), at, 0)
        inst = builder.store(args[2], builder.bitcast(ptr, lane.llvm.as_pointer()))
        inst.align = lane.dtype.bitwidth // 8
        return context.get_dummy_value()

    return types.none(a, index, lane, lanes), codegen


@intrinsic
def _gather(typingctx: Any, a: Any, index: Any, lanes: Any) -> Any:
    lane = LaneType(a.dtype, lanes.width)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        at = cgutils.unpack_tuple(builder, args[1])
        value = ir.Constant(lane.llvm, ir.Undefined)
        for k in range(lane.width):
            ptr = _place(context, builder, sig.args[0], args[0], list(sig.args[1]), at, k)
            value = builder.insert_element(value, builder.load(ptr), _number(k))
        return value

    return lane(a, index, lanes), codegen


@intrinsic
def _scatter(typingctx: Any, a: Any, index: Any, value: Any, lanes: Any) -> Any:
    lane = LaneType(a.dtype, lanes.width)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        at = cgutils.unpack_tuple(builder, args[1])
        for k in range(lane.width):
            ptr = _place(context, builder, sig.args[0], args[0], list(sig.args[1]), at, k)
            builder.store(builder.extract_element(args[2], _number(k)), ptr)
        return context.get_dummy_value()

    return types.none(a, index, lane, lanes), codegen


def _triple(context: Any, builder: Any, arrty: Any, arr: Any, i: Any) -> Any:
    """Pointer to the three neighbouring numbers of item ``i`` of an (items, 3, 1) array."""
    data = context.make_array(arrty)(context, builder, arr).data
    return cgutils.gep(builder, data, builder.mul(i, context.get_constant(types.intp, 3)))


@intrinsic
def _gather3(typingctx: Any, a: Any, i: Any, lanes: Any) -> Any:
    lane = LaneType(a.dtype, lanes.width)
    out = UniTuple(lane, 3)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        values = [ir.Constant(lane.llvm, ir.Undefined)] * 3
        for k in range(lane.width):
            item = context.cast(builder, builder.extract_value(args[1], k), sig.args[1][k], types.intp)
            ptr = _triple(context, builder, sig.args[0], args[0], item)
            for m in range(3):
                number = builder.load(cgutils.gep(builder, ptr, m))
                values[m] = builder.insert_element(values[m], number, _number(k))
        return context.make_tuple(builder, out, values)

    return out(a, i, lanes), codegen


@intrinsic
def _scatter3(typingctx: Any, a: Any, i: Any, value: Any, lanes: Any) -> Any:
    lane = LaneType(a.dtype, lanes.width)
    triple = UniTuple(lane, 3)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        values = cgutils.unpack_tuple(builder, args[2])
        for k in range(lane.width):
            item = context.cast(builder, builder.extract_value(args[1], k), sig.args[1][k], types.intp)
            ptr = _triple(context, builder, sig.args[0], args[0], item)
            for m in range(3):
                number = builder.extract_element(values[m], _number(k))
                builder.store(number, cgutils.gep(builder, ptr, m))
        return context.get_dummy_value()

    return types.none(a, i, triple, lanes), codegen


@intrinsic
def _index_load(typingctx: Any, a: Any, index: Any, lanes: Any) -> Any:
    out = UniTuple(types.intp, lanes.width)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        at = cgutils.unpack_tuple(builder, args[1])
        first = _place(context, builder, sig.args[0], args[0], list(sig.args[1]), at, 0)
        items = []
        for k in range(lanes.width):
            item = builder.load(cgutils.gep(builder, first, k))
            items.append(context.cast(builder, item, sig.args[0].dtype, types.intp))
        return context.make_tuple(builder, out, items)

    return out(a, index, lanes), codegen


@intrinsic
def _index_span(typingctx: Any, c: Any, lanes: Any) -> Any:
    out = UniTuple(types.intp, lanes.width)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        first = context.cast(builder, args[0], sig.args[0], types.intp)
        items = [builder.add(first, context.get_constant(types.intp, k)) for k in range(lanes.width)]
        return context.make_tuple(builder, out, items)

    return out(c, lanes), codegen


@intrinsic
def _lane_splat(typingctx: Any, a: Any, value: Any, lanes: Any) -> Any:
    lane = LaneType(a.dtype, lanes.width)
    return lane(a, lane, lanes), lambda context, builder, sig, args: args[1]


# --- the vocabulary, in plain Python ---------------------------------------------------------------


def _spread(index: Any, lanes: Any) -> Any:
    """A plain index of all items: numbers move along the last one, tuples stay."""
    if any(isinstance(i, tuple) for i in index):
        return tuple(list(i) if isinstance(i, tuple) else i for i in index)
    return (*index[:-1], slice(index[-1], index[-1] + lanes.width))


def splat(a: Any, value: Any, lanes: Any) -> Any:
    """The number ``value`` in every lane, in the precision of array ``a``."""
    return np.full(lanes.width, value, dtype=a.dtype).view(PlainLane)


def load(a: Any, index: Any, lanes: Any) -> Any:
    """Lane value ``a[index + (:,)]``; with items, of the items from ``index`` on or named by it."""
    if isinstance(lanes, Items):
        return a[(*_spread(index, lanes), 0)].copy().view(PlainLane)
    return a[index].copy().view(PlainLane)


def store(a: Any, index: Any, value: Any, lanes: Any) -> None:
    """``a[index + (:,)] = value``; see :func:`load`."""
    if isinstance(lanes, Items):
        a[(*_spread(index, lanes), 0)] = numbers(value, a.dtype)
    else:
        a[index] = numbers(value, a.dtype)


def index(ids: Any, at: Any, lanes: Any) -> Any:
    """The particle ``ids[at]``; with items, a tuple of those of the items from ``at`` on."""
    if isinstance(lanes, Items):
        return tuple(int(i) for i in ids[_spread(at, lanes)])
    return ids[at]


def const(a: Any, index: Any, lanes: Any) -> Any:
    """The constant ``a[index]``, a number; with items a lane value of theirs."""
    if isinstance(lanes, Items):
        return a[_spread(index, lanes)].copy().view(PlainLane)
    return a[index]


def span(c: Any, lanes: Any) -> Any:
    """Row ``c``; with items, rows ``c`` to ``c + width - 1`` as indices to gather."""
    return tuple(range(int(c), int(c) + lanes.width)) if isinstance(lanes, Items) else c


def world(a: Any, lanes: Any) -> Any:
    """What an array (L,) holds for each world; with items, that of the single world in every lane."""
    return splat(a, a[0], lanes) if isinstance(lanes, Items) else load(a, (), lanes)


def stride(lanes: Any) -> Any:
    """Items that one round of a loop deals with."""
    return lanes.width if isinstance(lanes, Items) else 1


def load3(a: Any, i: Any, lanes: Any) -> Any:
    """The three lane values of row ``i`` of an ``(items, 3, lanes)`` array."""
    return load(a, (i, 0), lanes), load(a, (i, 1), lanes), load(a, (i, 2), lanes)


def store3(a: Any, i: Any, value: Any, lanes: Any) -> None:
    """``a[i] = value`` for a triple of lane values."""
    store(a, (i, 0), value[0], lanes)
    store(a, (i, 1), value[1], lanes)
    store(a, (i, 2), value[2], lanes)


# --- the vocabulary, compiled ----------------------------------------------------------------------


@overload(splat, strict=False, jit_options=INLINE)
def _ov_splat(a: Any, value: Any, lanes: Any) -> Any:
    return lambda a, value, lanes: _lane_splat(a, value, lanes)


@overload(load, strict=False, jit_options=INLINE)
def _ov_load(a: Any, index: Any, lanes: Any) -> Any:
    if _gathers(index):
        return lambda a, index, lanes: _gather(a, index, lanes)
    return lambda a, index, lanes: _vector_load(a, index, lanes)


@overload(store, strict=False, jit_options=INLINE)
def _ov_store(a: Any, index: Any, value: Any, lanes: Any) -> Any:
    if _gathers(index):
        return lambda a, index, value, lanes: _scatter(a, index, value, lanes)
    return lambda a, index, value, lanes: _vector_store(a, index, value, lanes)


@overload(load3, strict=False, jit_options=INLINE)
def _ov_load3(a: Any, i: Any, lanes: Any) -> Any:
    if isinstance(i, BaseTuple):
        return lambda a, i, lanes: _gather3(a, i, lanes)
    return lambda a, i, lanes: (load(a, (i, 0), lanes), load(a, (i, 1), lanes), load(a, (i, 2), lanes))


@overload(store3, strict=False, jit_options=INLINE)
def _ov_store3(a: Any, i: Any, value: Any, lanes: Any) -> Any:
    if isinstance(i, BaseTuple):
        return lambda a, i, value, lanes: _scatter3(a, i, value, lanes)

    def lane_by_lane(a, i, value, lanes):  # type: ignore[no-untyped-def]
        store(a, (i, 0), value[0], lanes)
        store(a, (i, 1), value[1], lanes)
        store(a, (i, 2), value[2], lanes)

    return lane_by_lane


@overload(index, strict=False, jit_options=INLINE)
def _ov_index(ids: Any, at: Any, lanes: Any) -> Any:
    if isinstance(lanes, ItemsType):
        return lambda ids, at, lanes: _index_load(ids, at, lanes)
    return lambda ids, at, lanes: ids[at]


@overload(const, strict=False, jit_options=INLINE)
def _ov_const(a: Any, index: Any, lanes: Any) -> Any:
    if not isinstance(lanes, ItemsType):
        return lambda a, index, lanes: a[index]
    if _gathers(index):
        return lambda a, index, lanes: _gather(a, index, lanes)
    return lambda a, index, lanes: _vector_load(a, index, lanes)


@overload(span, strict=False, jit_options=INLINE)
def _ov_span(c: Any, lanes: Any) -> Any:
    if isinstance(lanes, ItemsType):
        return lambda c, lanes: _index_span(c, lanes)
    return lambda c, lanes: c


@overload(world, strict=False, jit_options=INLINE)
def _ov_world(a: Any, lanes: Any) -> Any:
    if isinstance(lanes, ItemsType):
        return lambda a, lanes: _lane_splat(a, a[0], lanes)
    return lambda a, lanes: _vector_load(a, (), lanes)


@overload(stride, strict=False, jit_options=INLINE)
def _ov_stride(lanes: Any) -> Any:
    n = lanes.width if isinstance(lanes, ItemsType) else 1
    return lambda lanes: n


@register_jitable(**INLINE)
def add(a: Any, index: Any, value: Any, lanes: Any) -> None:
    """``a[index + (:,)] += value``."""
    store(a, index, load(a, index, lanes) + value, lanes)


@register_jitable(**INLINE)
def add3(a: Any, i: Any, s: Any, value: Any, lanes: Any) -> None:
    """``a[i] += s * value`` for a triple of lane values."""
    here = load3(a, i, lanes)
    store3(a, i, (here[0] + s * value[0], here[1] + s * value[1], here[2] + s * value[2]), lanes)
