"""One number of an array by a place that is known not to be negative.

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
