"""A step that begins without intersections ends without: how far each vertex may go on its way.

Every vertex goes straight from where it is safe to where the solver wants it, or a share of that way. A pair
of features keeps apart all the way where a plane between them can move with it: the least place of one side
over the greatest of the other along a fixed normal is a concave function of time, so looking at both ends is
enough. The normals tried are those where the way begins, ends, and halfway. Where none serves, conservative
advancement of the pair alone is tried (Li, Kaufman, Jiang 2021, Codimensional IPC, additive CCD). Where that
fails, too, the pair's vertices go a smaller share of their ways, and pairs are looked at again until none is
left. To make that rare, goals can be deflected along the normals first, which keeps momentum and what moves
sideways. What a whole world has in common is no motion: it is taken off first.

All arithmetic is in float64 on the numbers that are kept, whatever their precision.
"""

from __future__ import annotations

import math
from typing import Any

from ..backend.jit import kernel
from ..laws.vectors import Vec, dot
from .features import CROSSED, FACE, edge_edge, vertex_triangle
from .pairs import point

SHARE, BOTTOM = 0.2, 0.02
"""What a pair has left in the worst case: such shares of its distance or, if less, of what it keeps."""

LITTLE, HELD, LEAST = 0.01, 0.95, 1e-4
"""A pair that has no more left than the share LITTLE of what it keeps goes no nearer than HELD of that; with
a share of LEAST it goes no nearer at all."""

DEFLECTIONS, PASSES, ADVANCES = 10, 20, 64
"""Rounds of deflection; rounds in which shares are made smaller little by little, before they are made
nothing; steps of conservative advancement."""


@kernel
def at_pair(x: Any, ids: Any, k: Any, corner: Any) -> Any:
    """Nearest points of a pair: difference vector (3), weights (4) that make it of the corners, whether both
    lie inside the features."""
    i, j, k, l = ids[k, 0], ids[k, 1], ids[k, 2], ids[k, 3]
    return at_points(point(x, i), point(x, j), point(x, k), point(x, l), corner)


@kernel
def at_points(a: Vec, b: Vec, c: Vec, d: Vec, corner: Any) -> Any:
    """:func:`at_pair` of a pair's corners."""
    if corner:
        _, u, v, feature = vertex_triangle(a, b, c, d)
        w = (1.0, u + v - 1.0, -u, -v)
        inside = feature == FACE
    else:
        _, s, t, feature = edge_edge(a, b, c, d)
        w = (1.0 - s, s, t - 1.0, -t)
        inside = feature == CROSSED
    # corner by corner from the first, so that far from the origin nothing is lost
    r = (
        w[1] * (b[0] - a[0]) + w[2] * (c[0] - a[0]) + w[3] * (d[0] - a[0]),
        w[1] * (b[1] - a[1]) + w[2] * (c[1] - a[1]) + w[3] * (d[1] - a[1]),
        w[1] * (b[2] - a[2]) + w[2] * (c[2] - a[2]) + w[3] * (d[2] - a[2]),
    )
    return r, w, inside


@kernel
def clearance(x: Any, ids: Any, k: Any, corner: Any, n: Vec) -> Any:
    """How far the first side of a pair lies beyond the second along n."""
    o = point(x, ids[k, 0])
    low, high = 0.0, -math.inf
    for c in range(1, 4):
        i = ids[k, c]
        place = n[0] * (x[i, 0] - o[0]) + n[1] * (x[i, 1] - o[1]) + n[2] * (x[i, 2] - o[2])
        if c == 1 and not corner:
            low = min(low, place)
        else:
            high = max(high, place)
    return low - high


@kernel
def least_gap(d: Any, keep: Any) -> Any:
    """How near a pair may come on its way that begins at distance d."""
    if d > LITTLE * keep:
        return min(SHARE * d, BOTTOM * keep)
    return HELD * d if d > LEAST * keep else (1.0 - 1e-9) * d


@kernel
def on_the_way(safe: Any, x: Any, ids: Any, k: Any, corner: Any, part: Any, moving: Any) -> Vec:
    """Difference of the nearest points of a pair that has gone a part of its way. moving (4, 3): room."""
    o = ids[k, 0]
    for c in range(4):
        i = ids[k, c]
        for m in range(3):
            way = (x[i, m] - safe[i, m]) - (x[o, m] - safe[o, m])
            moving[c, m] = safe[i, m] - safe[o, m] + part * way
    first, second = point(moving, 0), point(moving, 1)
    return at_points(first, second, point(moving, 2), point(moving, 3), corner)[0]


@kernel
def plane_stays(safe: Any, x: Any, ids: Any, k: Any, corner: Any, moving: Any, need: Any) -> Any:
    """True where a pair stays ``need`` apart along its normal halfway, or at the end."""
    for part in (1.0, 0.5):
        r = on_the_way(safe, x, ids, k, corner, part, moving)
        d = math.sqrt(dot(r, r))
        if d > need:
            n = (r[0] / d, r[1] / d, r[2] / d)
            if clearance(safe, ids, k, corner, n) >= need and clearance(x, ids, k, corner, n) >= need:
                return True
    return False


@kernel
def advance(safe: Any, x: Any, ids: Any, k: Any, corner: Any, moving: Any, need: Any) -> Any:
    """Share of the way from ``safe`` to ``x`` on which a pair surely stays ``need`` apart; 1 is all of it.

    moving (4, 3): room.
    """
    mean = (0.0, 0.0, 0.0)
    for c in range(4):
        i = ids[k, c]
        mean = (
            mean[0] + 0.25 * (x[i, 0] - safe[i, 0]),
            mean[1] + 0.25 * (x[i, 1] - safe[i, 1]),
            mean[2] + 0.25 * (x[i, 2] - safe[i, 2]),
        )
    one, other = 0.0, 0.0
    for c in range(4):
        i = ids[k, c]
        way = (x[i, 0] - safe[i, 0] - mean[0], x[i, 1] - safe[i, 1] - mean[1], x[i, 2] - safe[i, 2] - mean[2])
        if c == 0 or (c == 1 and not corner):
            one = max(one, math.sqrt(dot(way, way)))
        else:
            other = max(other, math.sqrt(dot(way, way)))
    pace, done = one + other, 0.0
    for _ in range(ADVANCES):
        r = on_the_way(safe, x, ids, k, corner, done, moving)
        free = math.sqrt(dot(r, r)) - need
        if free >= pace * (1.0 - done):
            return 1.0
        if free <= 1e-3 * need:
            return done
        done += free / pace
    return done


@kernel
def go(safe: Any, goal: Any, x: Any, share: Any, i: Any, drift: Vec) -> None:
    """Vertex i a share of its way, besides what all have in common; the end of it exactly."""
    for m in range(3):
        if share[i] < 1.0:
            own = goal[i, m] - safe[i, m] - drift[m]
            x[i, m] = safe[i, m] + (drift[m] + share[i] * own)
        else:
            x[i, m] = goal[i, m]


@kernel
def measure_safe(safe: Any, p: Any, corners: Any, near: Any, count: Any, normal: Any, start: Any) -> None:
    """Normals (P, 3) and distances (P,) of the near pairs where they are safe; 0 where they touch already."""
    for e in range(count):
        k = near[e]
        r, _, _ = at_pair(safe, p.ids, k, k < corners)
        d = math.sqrt(dot(r, r))
        for m in range(3):
            normal[e, m] = r[m] / d if d > 0.0 else 0.0
        start[e] = clearance(safe, p.ids, k, k < corners, point(normal, e)) if d > 0.0 else 0.0


@kernel(inline=True)
def kept_apart(p: Any, k: Any, radius: Any) -> Any:
    """What a pair keeps, but at least a little of what it would keep without its distance at rest."""
    return max(p.keep[k], 0.05 * (radius[p.ids[k, 0]] + radius[p.ids[k, 3]]))


@kernel
def part_pair(x: Any, ids: Any, k: Any, corner: Any, n: Vec, inv_mass: Any, lack: Any) -> None:
    """Move apart along n, each as its mass has it, the corners of a pair that stand in each other's way."""
    o = point(x, ids[k, 0])
    low, high, i, j = 0.0, -math.inf, ids[k, 0], ids[k, 3]
    for c in range(1, 4):
        at = ids[k, c]
        place = n[0] * (x[at, 0] - o[0]) + n[1] * (x[at, 1] - o[1]) + n[2] * (x[at, 2] - o[2])
        if c == 1 and not corner:
            if place < low:
                low, i = place, at
        elif place > high:
            high, j = place, at
    total = inv_mass[i] + inv_mass[j]
    if total > 0.0:
        for m in range(3):
            x[i, m] += lack * inv_mass[i] / total * n[m]
            x[j, m] -= lack * inv_mass[j] / total * n[m]


@kernel
def deflect(
    safe: Any, goal: Any, p: Any, corners: Any, near: Any, count: Any, radius: Any, inv_mass: Any,
    normal: Any, start: Any,
) -> None:  # fmt: skip
    """Change goals so that few of the near pairs have to be held back. Room as for :func:`shorten`."""
    measure_safe(safe, p, corners, near, count, normal, start)
    for _ in range(DEFLECTIONS):
        bad = 0
        for e in range(count):
            k = near[e]
            need = 1.25 * least_gap(start[e], kept_apart(p, k, radius))
            lack = min(need, start[e]) - clearance(goal, p.ids, k, k < corners, point(normal, e))
            if start[e] > 0.0 and lack > 0.0:
                bad += 1
                part_pair(goal, p.ids, k, k < corners, point(normal, e), inv_mass, lack)
        if bad == 0:
            return


@kernel
def shorten(
    safe: Any, goal: Any, x: Any, share: Any, p: Any, corners: Any, near: Any, count: Any, radius: Any,
    drift: Vec, normal: Any, start: Any, moving: Any,
) -> Any:  # fmt: skip
    """Make ``x`` reachable from ``safe`` without any of the near pairs touching; rounds it took, -1: failed.

    safe (N, 3), goal (N, 3): float64; x (N, 3): what is kept, in its precision, and share (N,): of the way,
    both are written; near (count,): places in p of the pairs that can come near. normal (P, 3), start (P,),
    moving (4, 3): room. After a failure, which rounding alone can cause, all of x is as safe.
    """
    measure_safe(safe, p, corners, near, count, normal, start)
    rounds = 0
    while True:
        bad, stuck = 0, False
        for e in range(count):
            k = near[e]
            if not start[e] > 0.0:  # it touches already: there is nothing to guard
                continue
            need = least_gap(start[e], kept_apart(p, k, radius))
            end = clearance(x, p.ids, k, k < corners, point(normal, e))
            if end >= need or plane_stays(safe, x, p.ids, k, k < corners, moving, need):
                continue
            part = advance(safe, x, p.ids, k, k < corners, moving, need)
            if part >= 1.0:
                continue
            bad += 1
            part = max(0.95 * part, (start[e] - need) / (start[e] - end))
            if rounds >= PASSES:
                stuck = stuck or largest(share, p.ids, k) == 0.0
                part = 0.0
            for c in range(4):
                i = p.ids[k, c]
                share[i] *= part
                go(safe, goal, x, share, i, drift)
        if bad == 0:
            return rounds
        if stuck:
            return -1
        rounds += 1


@kernel
def largest(share: Any, ids: Any, k: Any) -> Any:
    """The largest share of the corners of a pair."""
    return max(max(share[ids[k, 0]], share[ids[k, 1]]), max(share[ids[k, 2]], share[ids[k, 3]]))


@kernel
def select(p: Any, corners: Any, stop: Any, moved: Any, radius: Any, part: Any, near: Any) -> Any:
    """Places of the pairs that can be nearer than a part of what they keep; how many.

    moved (N,): how far each vertex may be from where the list was made.
    """
    n = 0
    for k in range(stop):
        i, j, a, b = p.ids[k, 0], p.ids[k, 1], p.ids[k, 2], p.ids[k, 3]
        one, other = moved[i], max(moved[a], moved[b])
        if k < corners:
            other = max(other, moved[j])
        else:
            one = max(one, moved[j])
        if p.distance[k] - one - other < part * kept_apart(p, k, radius):
            near[n] = k
            n += 1
    return n


@kernel
def common(ids: Any, origin: Any, x: Any) -> Vec:
    """Mean displacement of some vertices."""
    total = (0.0, 0.0, 0.0)
    for i in ids:
        total = (
            total[0] + (x[i, 0] - origin[i, 0]),
            total[1] + (x[i, 1] - origin[i, 1]),
            total[2] + (x[i, 2] - origin[i, 2]),
        )
    inverse = 1.0 / ids.size if ids.size > 0 else 0.0
    return total[0] * inverse, total[1] * inverse, total[2] * inverse


@kernel
def displacement(i: Any, origin: Any, x: Any, drift: Vec) -> Any:
    """How far vertex i is from its origin, besides what all have in common."""
    a = x[i, 0] - origin[i, 0] - drift[0]
    b = x[i, 1] - origin[i, 1] - drift[1]
    c = x[i, 2] - origin[i, 2] - drift[2]
    return math.sqrt(a * a + b * b + c * c)
