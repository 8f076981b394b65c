"""The arrays that XPBD's kernels read and write, grouped by what they are.

T tiles, N particles, E constraints of a law, P pins, K colliders, M contact entries, S correction slots,
L lanes. ``f`` is the model's precision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray


class Particles(NamedTuple):
    """x, v, x_prev, v_last (T, N, 3, L); f_ext (T, N or 0, 3, L); gravity (3,) f; inv_mass (N,);
    mobility (N,) = inv_mass/(1 + h air_drag): what constraints see, so that drag is implicit."""

    x: Array
    v: Array
    x_prev: Array
    v_last: Array
    inv_mass: Array
    mobility: Array
    f_ext: Array
    gravity: Array


class Pins(NamedTuple):
    """ids (P,); start and target of the step (T, P, 3, L); share (substeps,) of the way, 1 at the end."""

    ids: Array
    start: Array
    target: Array
    share: Array


class Rows(NamedTuple):
    """Constraints of one law, with ``c`` corners, ``r`` rows and ``p`` parameters.

    ids (E, 2 c): particles read, then rows of ``out`` written; data (E, 3 + r + p): relax (factor on the
    change of a multiplier), crowd (factor on its weight: 1 for Gauss-Seidel, for Jacobi the largest number
    of constraints around one of its particles), tau (damping time), compliance of the rows, parameters of
    the law; lambda_ (T, E, r, L); softness (T, L): factor on the compliance of each world.
    """

    ids: Array
    data: Array
    lambda_: Array
    softness: Array


class Laws(NamedTuple):
    """One :class:`Rows` per law, empty where a scene has none; in the order of a sweep."""

    distance: Rows
    membrane: Rows
    isometric: Rows
    dihedral: Rows
    dihedral_acos: Rows
    attachment: Rows
    attachment_targets: Array  # (T, A, 3, L)


class Gather(NamedTuple):
    """Jacobi only: corrections (T, S, 3, L) and each particle's slots in CSR: start (N + 1,), slots (S,)."""

    out: Array
    start: Array
    slots: Array


H, INV_H, INV_H2, SLOW, INV_DT = 0, 1, 2, 3, 4
"""Places in the array of step lengths: h [s], 1/h, 1/h^2, 1/(1 + h air_drag), 1/dt."""
