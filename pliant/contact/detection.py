"""Contacts with analytic colliders, found once per step.

A particle is *near* a collider in a world when its distance is below its rest distance plus a margin that
bounds how far it can get during the step: twice its speed times dt, plus what gravity adds, plus half a
mean edge for what constraints may do. What nevertheless passes through is found by :func:`survey` after
the step and reported as ``Status.CONTACT_MISSED``.
"""

from __future__ import annotations

from typing import Any

from ..backend.jit import kernel, prange
from ..backend.lanes import any_lane, both, load, load3, maximum, splat, sqrt, store, where
from ..laws.vectors import dot
from .arrays import NEAR
from .distances import collider_distance


@kernel
def placed(col: Any, k: Any) -> Any:
    """Size, rotation and position of collider ``k`` as tuples."""
    d = col.data[k]
    turn = ((d[3], d[4], d[5]), (d[6], d[7], d[8]), (d[9], d[10], d[11]))
    return (d[0], d[1], d[2]), turn, (d[12], d[13], d[14])


@kernel
def detect_tile(x: Any, v: Any, t: Any, c: Any, col: Any, reach: Any, deepest: Any, lanes: Any) -> None:
    """Fill the contact list of one tile; counts on beyond its capacity so that the caller can grow it.

    reach (3,): dt, margin of gravity, margin of constraints. deepest (T, L): deepest start inside a collider.
    """
    n = 0
    capacity = c.ids.shape[1]
    deep = splat(deepest, 0.0, lanes)
    for i in range(x.shape[0]):
        here = load3(x, i, lanes)
        speed = load3(v, i, lanes)
        margin = c.radius[i] + reach[1] + reach[2] + 2.0 * reach[0] * sqrt(dot(speed, speed))
        found = False
        for k in range(col.kind.shape[0]):
            size, turn, where_ = placed(col, k)
            gap, _ = collider_distance(col.kind[k], size, turn, where_, here)
            near = gap < margin
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
def detect(x: Any, v: Any, c: Any, col: Any, reach: Any, deepest: Any, lanes: Any) -> None:
    """Fill the contact lists of all tiles, particles ascending."""
    for t in prange(x.shape[0]):
        detect_tile(x[t], v[t], t, c, col, reach, deepest, lanes)


@kernel
def survey_tile(x: Any, v: Any, t: Any, c: Any, col: Any, slack: Any, out: Any, lanes: Any) -> None:
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
        for k in range(col.kind.shape[0]):
            size, turn, where_ = placed(col, k)
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
def survey(x: Any, v: Any, c: Any, col: Any, slack: Any, out: Any, lanes: Any) -> None:
    """After a step, per world: out (T, 4, L) = (0 or NaN where a value is not finite, particles that touch,
    deepest penetration [m], 1 where a particle passed a collider that it was not known to be near).

    slack (2,): depth that counts as missed, distance that counts as touching [m].
    """
    for t in prange(x.shape[0]):
        survey_tile(x[t], v[t], t, c, col, slack, out, lanes)
