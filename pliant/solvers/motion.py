"""What moves as told within a step: pinned particles and the points that hold attachments.

P pins, A attachments, T tiles, L lanes. A kernel works on one tile, items ``lo`` to ``hi``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..backend.jit import kernel, law
from ..backend.lanes import load3, store3
from ..laws.vectors import Vec, minus, plus
from ..laws.vectors import times as scaled

if TYPE_CHECKING:
    from ..state import Control

Array = np.ndarray

H, INV_H, INV_H2, SLOW, INV_DT, RELAX = 0, 1, 2, 3, 4, 5
"""Places in the array of numbers of a step: h [s], 1/h, 1/h^2, 1/(1 + h air_drag), 1/dt, relaxation."""


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


@lru_cache(maxsize=64)
def shares(substeps: int, dtype: np.dtype) -> Array:
    """Of the way at the end of each substep, (substeps,); nobody writes to it."""
    return ((np.arange(substeps) + 1) / substeps).astype(dtype)


def pins_of(control: Control, ids: Array, start: Array, substeps: int) -> Pins:
    """Pins on their way from where they are, start (T, P, 3, L), to their targets."""
    arcs = control.arcs("pins", substeps)
    return Pins(ids, start, control.pin_targets, shares(substeps, start.dtype), arcs)


def hold_of(control: Control, order: Array, substeps: int) -> Hold:
    """Attachments on their way."""
    arcs = control.arcs("attachments", substeps)
    return Hold(control.attachment_start, control.attachment_targets, arcs, order)


@kernel
def coordinates(a: Any) -> Any:
    """(N, 3, L) as (3 N, L): what is done alike to every coordinate fills the lanes of one world too."""
    return a.reshape((a.shape[0] * 3, a.shape[2]))


@law
def share_of_way(start: Vec, target: Vec, share: Any) -> Vec:
    """A share of the straight way; the target itself at its end."""
    return plus(start, scaled(share, minus(target, start))) if share < 1 else target


@kernel(inline=True)
def arc_at(arc: Any, sub: Any, k: Any) -> Any:
    """How far from the straight way target ``k`` is at the end of substep ``sub``."""
    return arc[sub, k, 0], arc[sub, k, 1], arc[sub, k, 2]


@kernel
def pin(x: Any, v: Any, pins: Any, t: Any, sub: Any, times: Any, lo: Any, hi: Any, lanes: Any) -> None:
    """Pinned particles move to their share of the way to the target, at constant speed."""
    for k in range(lo, hi):
        start = load3(pins.start[t], k, lanes)
        target = load3(pins.target[t], k, lanes)
        here = share_of_way(start, target, pins.share[sub])
        speed = scaled(times[INV_DT], minus(target, start))
        if pins.arc.shape[0] > 0:
            arc = arc_at(pins.arc, sub, k)
            here = plus(here, arc)
            if sub > 0:
                arc = minus(arc, arc_at(pins.arc, sub - 1, k))
            speed = plus(speed, scaled(times[INV_H], arc))
        store3(v, pins.ids[k], speed, lanes)
        store3(x, pins.ids[k], here, lanes)


@kernel
def hold(held: Any, way: Any, share: Any, t: Any, sub: Any, lo: Any, hi: Any, lanes: Any) -> None:
    """Attachments move to their share of the way; where they were is kept for damping."""
    for c in range(lo, hi):
        k = way.order[c]
        start = load3(way.start[t], k, lanes)
        here = share_of_way(start, load3(way.target[t], k, lanes), share[sub])
        if way.arc.shape[0] > 0:
            here = plus(here, arc_at(way.arc, sub, k))
        before = start
        if sub > 0:
            before = load3(held[t, 0], c, lanes)
        store3(held[t, 1], c, before, lanes)
        store3(held[t, 0], c, here, lanes)
