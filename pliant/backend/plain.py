"""Lane values of plain Python (``NUMBA_DISABLE_JIT=1``): NumPy arrays that obey the compiled ones' rules."""

from __future__ import annotations

from typing import Any

import numpy as np


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
