"""The arrays that XPBD's kernels read and write, grouped by what they are.

T tiles, N particles, E constraints of a law, P pins, K colliders, M contact entries, S correction slots,
L lanes. ``f`` is the model's precision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray


class Particles(NamedTuple):
    """x, v, x_prev, v_last (T, N, 3, L); f_ext (T, N or 0, 3, L); gravity (T, 3, L); inv_mass (N,);
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
    """ids (P,); start and target of the step (T, P, 3, L); share (substeps,) of the way, 1 at the end;
    arc (substeps or 0, P, 3): how far the way leaves the straight one."""

    ids: Array
    start: Array
    target: Array
    share: Array
    arc: Array


class Hold(NamedTuple):
    """Where attachments hold: start and target of the step (T, A, 3, L), arc as of pins, all in the order in
    which they were added; order: which of them is at each place of the pool."""

    start: Array
    target: Array
    arc: Array
    order: Array


class Rows(NamedTuple):
    """Constraints of one law on one tile, with ``c`` corners, ``r`` rows and ``p`` parameters.

    ids (c, E) particles read; slots (c, E) rows of ``out`` written: the same, but for Jacobi; data (r+p, E):
    compliance of the rows, parameters of the law; tau (E,) damping time; crowd (E,) factor on the weight (for
    Jacobi the largest number of constraints around one of the particles, else 1); lambda_ (r, E, L);
    softness (L,): factor on the compliance of each world.

    E counts places. For a single world, whose constraints are worked on ``Items`` at a time, each colour is
    filled up to whole groups by repeating its last constraint, which then does the same work again in the
    same instant and writes the same numbers.
    """

    ids: Array
    slots: Array
    data: Array
    tau: Array
    crowd: Array
    lambda_: Array
    softness: Array


class Pool(NamedTuple):
    """The constraints of all laws, one after the other; :func:`pliant.solvers.xpbd.stages.rows_of` finds
    those of one. layout (laws, 8): corners, rows, fields, E, first place in ids and slots, in data, in
    lambda_, in tau and crowd. held (T, 2, A, 3, L): where attachments
    hold at the end and at the start of the substep, place by place."""

    layout: Array
    ids: Array
    slots: Array
    data: Array
    tau: Array
    crowd: Array
    lambda_: Array
    softness: Array
    held: Array


CORNERS, ROWS, FIELDS, COUNT, AT_IDS, AT_DATA, AT_LAMBDA, AT_ITEMS, LAYOUT_SIZE = 0, 1, 2, 3, 4, 5, 6, 7, 8
"""Columns of ``Pool.layout``."""

LOAD, STORE, DAMPED = 1, 2, 4
"""Flags of a stage: multipliers continue from earlier sweeps; multipliers are kept; some damping time is not
zero."""


class Gather(NamedTuple):
    """Jacobi only: corrections (T, S, 3, L) and each particle's slots in CSR: start (N + 1,), slots (S,)."""

    out: Array
    start: Array
    slots: Array


H, INV_H, INV_H2, SLOW, INV_DT, RELAX = 0, 1, 2, 3, 4, 5
"""Places in the array of numbers of a step: h [s], 1/h, 1/h^2, 1/(1 + h air_drag), 1/dt, relaxation."""
