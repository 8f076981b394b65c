"""Colours meant for the screen (sRGB), as most files have them, and linear ones, as glTF and USD want them.

The two pieces of the curve are those of IEC 61966-2-1, joined without a gap, so that each undoes the other.
"""

from __future__ import annotations

import numpy as np

__all__ = ["linear", "screen"]

BEND = 0.04045


def linear(colors: np.ndarray) -> np.ndarray:
    """Colours of the screen (n, 3 or 4) in [0, 1] as linear ones; a fourth column, opacity, stays."""
    out = np.array(colors, dtype=np.float64)
    c = out[:, :3]
    out[:, :3] = np.where(c <= BEND, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return out


def screen(colors: np.ndarray) -> np.ndarray:
    """Linear colours (n, 3 or 4) in [0, 1] as those of the screen; a fourth column, opacity, stays."""
    out = np.array(colors, dtype=np.float64)
    c = out[:, :3]
    root = c ** (1 / 2.4)
    curve = root + 0.055 * (root - 1.0)  # 1.055 root - 0.055, but exactly 1 for white
    out[:, :3] = np.where(c <= BEND / 12.92, 12.92 * c, curve)
    return out
