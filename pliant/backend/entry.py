"""One number of an array, read or written at a place that is known not to be negative.

Compiled code lets a negative index count from the end, which costs four instructions for every number of a
factor, where the arithmetic on it is two.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from .memory import INLINE


def entry(a: Any, i: Any) -> Any:
    """``a[i]`` of a contiguous array with one axis, or whose other axes have length 1; 0 <= i."""
    return a[i] if a.ndim == 1 else a[(i, *[0] * (a.ndim - 1))]


@intrinsic
def _entry(typingctx: Any, a: Any, i: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        return builder.load(
            cgutils.gep(builder, data, context.cast(builder, args[1], sig.args[1], types.intp))
        )

    return a.dtype(a, i), codegen


@overload(entry, strict=False, jit_options=INLINE)
def _ov_entry(a: Any, i: Any) -> Any:
    return lambda a, i: _entry(a, i)


def place(a: Any, i: Any, value: Any) -> None:
    """``a[i] = value``; see :func:`entry`."""
    a[i if a.ndim == 1 else (i, *[0] * (a.ndim - 1))] = value


@intrinsic
def _place(typingctx: Any, a: Any, i: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        at = context.cast(builder, args[1], sig.args[1], types.intp)
        number = context.cast(builder, args[2], sig.args[2], sig.args[0].dtype)
        builder.store(number, cgutils.gep(builder, data, at))
        return context.get_dummy_value()

    return types.none(a, i, value), codegen


@overload(place, strict=False, jit_options=INLINE)
def _ov_place(a: Any, i: Any, value: Any) -> Any:
    return lambda a, i, value: _place(a, i, value)
