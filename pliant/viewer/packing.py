"""Arrays as short text inside a page: predicted, split into bytes, deflated, base64.

Positions of neighbouring vertices and of consecutive frames differ little and smoothly, so what is stored is
the difference to a prediction, in wrapping integers; undoing it gives the same bits back. ``viewer.js`` holds
the other half.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

__all__ = ["pack", "quantise", "unpack"]


def quantise(frames: np.ndarray, low: np.ndarray, extent: float) -> tuple[np.ndarray, float]:
    """Positions as 16-bit numbers on one grid for all axes.

    Args:
        frames: (T, N, 3) m.
        low: (3,) m, the lower corner of their box.
        extent: m, the longest side of the box.

    Returns:
        (T, N, 3) uint16 and the step of the grid in m; no coordinate is off by more than half a step.
    """
    step = extent / 65535 if extent > 0 else 1.0
    return np.rint((frames - low) / step).astype(np.uint16), step


def pack(values: np.ndarray) -> dict[str, Any]:
    """Pack a (T, N, C) array of uint8, uint16, uint32 or float32; :func:`unpack` gives the same bits back."""
    words = _words(values)
    trials = [_residual(words, order, along) for order in range(3) for along in range(2)]
    cost = [float(np.log2(1.0 + r[:: 1 + len(r) // 40]).sum()) for r in trials]
    best = int(np.argmin(cost))
    planes = np.ascontiguousarray(trials[best].transpose(2, 0, 1)).reshape(-1, 1).view(np.uint8)
    raw = np.ascontiguousarray(planes.reshape(-1, words.dtype.itemsize).T).tobytes()
    return {
        "type": values.dtype.name,
        "shape": list(values.shape),
        "order": best // 2,
        "along": best % 2,
        "data": base64.b64encode(zlib.compress(raw, 8)).decode("ascii"),
    }


def unpack(packed: dict[str, Any]) -> np.ndarray:
    """The array that :func:`pack` was given."""
    t, n, c = packed["shape"]
    kind = np.dtype(packed["type"]).newbyteorder("<")
    word = np.dtype(f"<u{kind.itemsize}")
    raw = np.frombuffer(zlib.decompress(base64.b64decode(packed["data"])), dtype=np.uint8)
    planes = np.ascontiguousarray(raw.reshape(kind.itemsize, -1).T).view(word)
    r = planes.reshape(c, t, n).transpose(1, 2, 0)
    one = word.type(1)
    words = (r >> one) ^ (~(r & one) + one)
    if packed["along"]:
        words = np.cumsum(words, axis=1, dtype=word)
    for _ in range(packed["order"]):
        words = np.cumsum(words, axis=0, dtype=word)
    return np.ascontiguousarray(words).view(kind)


def _words(values: np.ndarray) -> np.ndarray:
    values = np.ascontiguousarray(values)
    if values.ndim != 3:
        raise ValueError(f"pack takes (T, N, C) arrays, got {values.shape}")
    return values.view(np.dtype(f"<u{values.dtype.itemsize}"))


def _residual(words: np.ndarray, order: int, along: int) -> np.ndarray:
    """Wrapping differences: ``order`` times over the frames, ``along`` times over the vertices; zigzagged."""
    out = words
    for axis in (0,) * order + (1,) * along:
        before = np.zeros_like(out)
        keep: list[slice] = [slice(None)] * 3
        shifted: list[slice] = [slice(None)] * 3
        keep[axis], shifted[axis] = slice(1, None), slice(None, -1)
        before[tuple(keep)] = out[tuple(shifted)]
        out = out - before
    signed = out.view(np.dtype(f"<i{out.dtype.itemsize}"))
    return ((signed << 1) ^ (signed >> (8 * out.dtype.itemsize - 1))).view(words.dtype)
