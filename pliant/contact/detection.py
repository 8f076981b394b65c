"""Contacts with analytic colliders, found once per step.

A particle is *near* a collider in a world when its distance is below its rest distance plus a margin that
bounds how far the two can come together during the step: twice its speed times dt, plus what gravity adds,
plus half a mean edge for what constraints may do, plus the way of the collider's surface. What nevertheless
passes through is found by :func:`survey` after the step and reported as ``Status.CONTACT_MISSED``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend.jit import kernel, prange
from ..backend.lanes import any_lane, both, load, load3, maximum, splat, sqrt, store, where
from ..laws.vectors import cross, dot, minus
from .arrays import NEAR, PLACE, SHIFT, SIZE, SPIN, TURN
from .distances import collider_distance


@kernel
def placed(col: Any, sub: Any, k: Any) -> Any:
    """Size, rotation and position of collider ``k`` as tuples, at the end of substep ``sub`` - 1."""
    d = col.data[sub, k]
    size = (d[SIZE], d[SIZE + 1], d[SIZE + 2], d[SIZE + 3])
    turn = (
        (d[TURN], d[TURN + 1], d[TURN + 2]),
        (d[TURN + 3], d[TURN + 4], d[TURN + 5]),
        (d[TURN + 6], d[TURN + 7], d[TURN + 8]),
    )
    return size, turn, (d[PLACE], d[PLACE + 1], d[PLACE + 2])


@kernel
def way_of_surface(col: Any, sub: Any, k: Any, p: Any) -> Any:
    """How far the surface of collider ``k`` moves at a point during the substep before ``sub``."""
    d = col.data[sub, k]
    arm = (p[0] - d[PLACE], p[1] - d[PLACE + 1], p[2] - d[PLACE + 2])
    turned = cross((d[SPIN], d[SPIN + 1], d[SPIN + 2]), arm)
    return (d[SHIFT] + turned[0], d[SHIFT + 1] + turned[1], d[SHIFT + 2] + turned[2])


@kernel
def detect_tile(
    x: Any, v: Any, t: Any, c: Any, col: Any, reach: Any, fall: Any, deepest: Any, lanes: Any
) -> None:
    """Fill the contact list of one tile; counts on beyond its capacity so that the caller can grow it.

    reach (2,): dt, margin of constraints; fall (T, L): margin of what accelerates a world, as gravity does;
    deepest (T, L): deepest start inside a collider.
    """
    n = 0
    capacity = c.ids.shape[1]
    deep = splat(deepest, 0.0, lanes)
    drop = load(fall, (t,), lanes)
    for i in range(x.shape[0]):
        here = load3(x, i, lanes)
        speed = load3(v, i, lanes)
        margin = c.radius[i] + reach[1] + drop + 2.0 * reach[0] * sqrt(dot(speed, speed))
        found = False
        for k in range(col.kind.shape[0]):
            size, turn, where_ = placed(col, 0, k)
            gap, _ = collider_distance(col.kind[k], size, turn, where_, here)
            arm = minus(here, where_)
            travel = col.data[0, k, SHIFT] + col.data[0, k, SPIN] * sqrt(dot(arm, arm))
            near = gap < margin + travel
            deep = maximum(deep, c.radius[i] - gap)
            if any_lane(near):
                found = True
            if n < capacity:
                store(c.pairs[t], (n, k, NEAR), where(near, 1.0, deep * 0.0), lanes)
        if found:
            if n < capacity:
                c.ids[t, n] = i
            n += 1
    store(deepest, (t,), deep, lanes)
    c.n_found[t] = n


@kernel(parallel=True)
def detect_tiles(x: Any, v: Any, c: Any, col: Any, reach: Any, fall: Any, deepest: Any, lanes: Any) -> None:
    """:func:`detect`, threads sharing tiles."""
    for t in prange(x.shape[0]):
        detect_tile(x[t], v[t], np.int64(t), c, col, reach, fall, deepest, lanes)


def detect(x: Any, v: Any, c: Any, col: Any, reach: Any, fall: Any, deepest: Any, lanes: Any) -> None:
    """Fill the contact lists of all tiles, particles ascending. One tile needs no team of threads."""
    if len(x) == 1:
        detect_tile(x[0], v[0], 0, c, col, reach, fall, deepest, lanes)
    else:
        detect_tiles(x, v, c, col, reach, fall, deepest, lanes)


@kernel
def survey_tile(
    x: Any, v: Any, t: Any, c: Any, col: Any, touched: Any, slack: Any, out: Any, lanes: Any
) -> None:
    """One tile of :func:`survey`."""
    finite = splat(out, 0.0, lanes)
    touching = finite
    deep = finite
    missed = finite
    e = 0
    for i in range(x.shape[0]):
        here = load3(x, i, lanes)
        speed = load3(v, i, lanes)
        for m in range(3):  # 0 for finite values, NaN for others
            finite = finite + (here[m] * 0.0 + speed[m] * 0.0)
        while e < c.n_found[t] and c.ids[t, e] < i:
            e += 1
        listed = e < c.n_found[t] and c.ids[t, e] == i
        touch = finite * 0.0
        if touched.shape[1] > 0:
            touch = load(touched, (t, i), lanes)
        for k in range(col.kind.shape[0]):
            size, turn, where_ = placed(col, col.data.shape[0] - 1, k)
            gap, _ = collider_distance(col.kind[k], size, turn, where_, here)
            inside = c.radius[i] - gap
            deep = maximum(deep, inside)
            known = deep * 0.0
            if listed:
                known = load(c.pairs[t], (e, k, NEAR), lanes)
            touch = where(inside > -slack[1], 1.0, touch)
            missed = where(both(inside > slack[0], known < 0.5), 1.0, missed)
        touching = touching + touch
    store(out, (t, 0), finite, lanes)
    store(out, (t, 1), touching, lanes)
    store(out, (t, 2), deep, lanes)
    store(out, (t, 3), missed, lanes)


@kernel(parallel=True)
def survey_tiles(x: Any, v: Any, c: Any, col: Any, touched: Any, slack: Any, out: Any, lanes: Any) -> None:
    """:func:`survey`, threads sharing tiles."""
    for t in prange(x.shape[0]):
        survey_tile(x[t], v[t], np.int64(t), c, col, touched, slack, out, lanes)


def survey(x: Any, v: Any, c: Any, col: Any, touched: Any, slack: Any, out: Any, lanes: Any) -> None:
    """After a step, per world: out (T, 4, L) = (0 or NaN where a value is not finite, particles that touch,
    deepest penetration [m], 1 where a particle passed a collider that it was not known to be near).

    slack (2,): depth that counts as missed, distance that counts as touching [m]; touched (T, N, L): 1 for
    particles that touch a mesh, or empty.
    """
    if len(x) == 1:
        survey_tile(x[0], v[0], 0, c, col, touched, slack, out, lanes)
    else:
        survey_tiles(x, v, c, col, touched, slack, out, lanes)
