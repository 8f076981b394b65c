"""The arrays that XPBD's kernels read and write, grouped by what they are.

T tiles, N particles, E constraints of a law, P pins, K colliders, M contact entries, S correction slots,
L lanes. ``f`` is the model's precision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray


class Particles(NamedTuple):
    """x, v, x_prev, v_last (T, N, 3, L); f_ext (T, N or 0, 3, L); gravity (T, 12, L): four times over, so
    that a group of coordinates is loaded from any axis on; inv_mass (N,); inv_mass_of (3 N,): that of each
    coordinate; mobility (N,) = inv_mass/(1 + h air_drag): what constraints see, so that drag is implicit."""

    x: Array
    v: Array
    x_prev: Array
    v_last: Array
    inv_mass: Array
    inv_mass_of: Array
    mobility: Array
    f_ext: Array
    gravity: Array
