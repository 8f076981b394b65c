"""Contact of surfaces with each other, between the sweeps of a substep.

Where a substep would bring a pair of features nearer than it keeps, the pair is pushed back along the line
that joined its nearest points where they were safe, as a constraint without compliance: what it takes off the
velocity stays off. A pair that is too near already is opened little by little, with little speed. Then
the certificate decides how far each vertex really goes (contact/certificate.py). docs/contact.md
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...backend.jit import kernel, prange
from ...contact.certificate import at_pair, select
from ...contact.guard import (
    CLOSE,
    NEAREST,
    at_end,
    certify,
    covered,
    deflect_world,
    next_stride,
    pairs_of,
    relist,
)
from ...contact.pairs import point
from ...laws.vectors import dot

DONE, PHASES = -1, 3
"""How far a world is in a round: at its end, or so many strides with three phases each: pairs are pushed
apart, goals deflected, the way certified. A world whose list lacks room waits."""

SURE = 1.0 - 1e-6
"""Share of what it keeps below which a pair counts as in contact: rounding alone makes none."""

PASSES, GOOD = 8, 0.02
"""Visits to every pair in a round, at most; fewer if no pair lacks more than this share of what it keeps."""


@kernel
def look_at_pairs(g: Any, w: Any, skin: Any) -> Any:
    """Gather the pairs that may come too near, with normal, weights and distance where they are safe.

    How many. Edges count where the nearest points lie inside both; what is nearest at a corner is a pair of
    the corner, too.
    """
    a, b = g.first[w], g.first[w + 1]
    near, normal, start, weight = g.near[a:b], g.normal[a:b], g.start[a:b], g.weight[a:b]
    p, corners = pairs_of(g, w), g.counts[w, 0]
    n, close = 0, 0
    least = g.figures[w, NEAREST]
    count = select(p, corners, g.counts[w, 1], g.moved[w], skin.radius, 1.0, near)
    for e in range(count):
        k = near[e]
        r, weights, inside = at_pair(g.safe[w], p.ids, k, k < corners)
        d = math.sqrt(dot(r, r))
        if d <= 0.0 or not (k < corners or inside):
            continue
        for m in range(3):
            normal[n, m] = r[m] / d
        for c in range(4):
            weight[n, c] = weights[c]
        near[n], start[n] = k, d
        n += 1
        if d < SURE * p.keep[k]:
            close += 1
        if p.keep[k] > 0.0:
            least = min(least, d / p.keep[k])
    g.figures[w, CLOSE], g.figures[w, NEAREST] = close, least
    return n


@kernel
def gap_along(x: Any, ids: Any, k: Any, weight: Any, n: Any) -> Any:
    """Distance of what are the nearest points, along their normal, with the corners at x."""
    o = point(x, ids[k, 0])
    out = 0.0
    for c in range(1, 4):
        i = ids[k, c]
        out += weight[c] * (n[0] * (x[i, 0] - o[0]) + n[1] * (x[i, 1] - o[1]) + n[2] * (x[i, 2] - o[2]))
    return out


@kernel
def push(x: Any, ids: Any, k: Any, weight: Any, n: Any, inv_mass: Any, lack: Any) -> None:
    """Open a pair by ``lack``, each corner as its mass and weight have it."""
    total = 0.0
    for c in range(4):
        total += inv_mass[ids[k, c]] * weight[c] * weight[c]
    if total > 0.0:
        for c in range(4):
            i = ids[k, c]
            s = lack * inv_mass[i] * weight[c] / total
            for m in range(3):
                x[i, m] += s * n[m]


@kernel
def push_apart(g: Any, w: Any, skin: Any, lift: Any, inv_mass: Any, ease: Any) -> None:
    """Correct the goals of a world; lift (N, 3): what is no motion, included in them. ease: share of what a
    pair lacks that it gets back, 0 to leave ``lift`` as it is."""
    a = g.first[w]
    n, p, goal = look_at_pairs(g, w, skin), pairs_of(g, w), g.goal[w]
    if ease > 0.0:
        open_pairs(g, w, skin, n, lift, inv_mass, ease)
    for _ in range(PASSES):
        worst = 0.0
        for e in range(n):
            k, line, weight = g.near[a + e], point(g.normal, a + e), g.weight[a + e]
            lifted = gap_along(lift, p.ids, k, weight, line) if ease > 0.0 else 0.0
            lack = min(p.keep[k], g.start[a + e] + lifted) - gap_along(goal, p.ids, k, weight, line)
            if lack > 0.0:
                worst = max(worst, lack - GOOD * p.keep[k])
                push(goal, p.ids, k, weight, line, inv_mass, lack)
        if worst <= 0.0:
            return


@kernel
def open_pairs(g: Any, w: Any, skin: Any, n: Any, lift: Any, inv_mass: Any, ease: Any) -> None:
    """Write ``lift`` and add it to the goals of a world, whose n pairs were looked at."""
    a, p = g.first[w], pairs_of(g, w)
    for i in skin.vertices:
        for m in range(3):
            lift[i, m] = 0.0
    for e in range(n):
        k, line, weight = g.near[a + e], point(g.normal, a + e), g.weight[a + e]
        lack = ease * (p.keep[k] - g.start[a + e]) - gap_along(lift, p.ids, k, weight, line)
        if g.start[a + e] < p.keep[k] and lack > 0.0:
            push(lift, p.ids, k, weight, line, inv_mass, lack)
    for i in skin.vertices:
        for m in range(3):
            g.goal[w, i, m] += lift[i, m]
            g.want[w, i, m] += lift[i, m]


@kernel
def read_goal(x: Any, lane: Any, skin: Any, goal: Any) -> Any:
    """Where a world wants to go; False if it holds what is no number."""
    check = 0.0
    for i in skin.vertices:
        for m in range(3):
            goal[i, m] = x[i, m, lane]
            check += 0.0 * goal[i, m]
    return check == 0.0


@kernel
def round_of_world(
    x: Any, x_prev: Any, g: Any, w: Any, skin: Any, rooms: Any, k: Any, stage: Any, lift: Any, inv_mass: Any,
    ahead: Any, ease: Any,
) -> None:  # fmt: skip
    """One world of :func:`rounds`, as far as its list has room."""
    lane = w % x.shape[3]
    here, before = x[w // x.shape[3]], x_prev[w // x.shape[3]]
    if stage[w] == 0 and not read_goal(here, lane, skin, g.want[w]):
        stage[w] = DONE
    while stage[w] != DONE:
        phase = stage[w] % PHASES
        if phase == 0:
            next_stride(g, w, skin)
        if not covered(g, w, skin) and not relist(g, w, skin, rooms, k, ahead):
            return
        if phase == 0:
            push_apart(g, w, skin, lift[w], inv_mass, ease if stage[w] == 0 else 0.0)
        elif phase == 1:
            deflect_world(g, w, skin, inv_mass)
        else:
            left_out = certify(g, w, skin, rooms.moving[k])
            if at_end(g, w, skin, left_out, stage[w] // PHASES + 1):
                break
        stage[w] += 1
    if stage[w] != DONE:
        stage[w] = DONE
        for i in skin.vertices:
            for m in range(3):
                here[i, m, lane] = g.kept[w, i, m]
                before[i, m, lane] += lift[w, i, m]


@kernel(parallel=True)
def rounds_of_worlds(
    x: Any, x_prev: Any, g: Any, skin: Any, rooms: Any, stage: Any, lift: Any, inv_mass: Any, ahead: Any,
    ease: Any,
) -> None:  # fmt: skip
    """:func:`rounds`, threads sharing worlds."""
    for j in prange(rooms.counter.shape[0]):
        k = np.int64(j)
        for w in range(k, stage.size, rooms.counter.shape[0]):
            if stage[w] != DONE:
                round_of_world(x, x_prev, g, w, skin, rooms, k, stage, lift, inv_mass, ahead, ease)


def rounds(
    x: Any, x_prev: Any, g: Any, skin: Any, rooms: Any, stage: Any, lift: Any, inv_mass: Any, ahead: Any,
    ease: Any,
) -> None:  # fmt: skip
    """Bring every world as far as its list has room; those that are not done need more (guard.grown)."""
    if stage.size == 1:
        round_of_world(x, x_prev, g, 0, skin, rooms, 0, stage, lift, inv_mass, ahead, ease)
    else:
        rounds_of_worlds(x, x_prev, g, skin, rooms, stage, lift, inv_mass, ahead, ease)
