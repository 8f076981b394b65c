"""Lists of near pairs for all worlds, kept up to date while particles move, and the certificate on top.

A list is good until a vertex has left its margin; then it is made again from where the vertices are safe,
with margins that cover where they want to go: nothing limits their speed. Every world has a list of its own,
in one row of arrays (CSR); what it holds depends on that world alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..backend.jit import kernel
from .boxes import Boxes
from .certificate import common, deflect, displacement, go, select, shorten
from .pairs import Pairs, Search, empty_pairs, find, room_to_search
from .skin import Skin

Array = np.ndarray

PAIRS, CLOSE, SHORTENED, WANTED, REMOVED, NEAREST, SEARCHES, STUCK, FIGURES = 0, 1, 2, 3, 4, 5, 6, 7, 8
"""Places in ``Guard.figures``: pairs listed; pairs nearer than they keep; vertices that went a smaller share;
motion that was wanted and that was removed, summed over vertices and rounds [m]; smallest distance over what
a pair keeps; searches; rounds in which a whole world had to stay."""

COVER, AHEAD, MARGIN, FEW, LEAST_MARGIN = 1.05, 1.5, 0.25, 4.0, 0.02
"""A margin holds a little more than the motion at hand, or so many times the motion until the next step, but
of that no more than so many lengths of the scene, or a few such motions and a length; and a little more."""

STRIDE, STRIDES = 1.0, 16
"""Longest way between two searches, in lengths of the scene; most of them. Longer ways are gone in parts."""


class Guard(NamedTuple):
    """W worlds, N particles, P places for pairs. All places in float64 [m].

    safe, goal, want, origin (W, N, 3): where a world is known to be free of intersections, where it shall go
    next and in the end, where its list was made; kept (W, N, 3): what it becomes, in the model's precision;
    margin, moved, share (W, N); first (W + 1,): where the list of a world begins, counts (W, 2): pairs with a
    triangle and all pairs; owner, partner, ids, distance, keep (P, ...): the pairs (:class:`Pairs`); near,
    spare, normal, start, weight (P, ...): those that are looked at now; fresh (W,): 0 where a list has to be
    made; figures (W, 8); free: 1 where no vertex of the skin is pinned; length [m].
    """

    safe: Array
    goal: Array
    want: Array
    origin: Array
    kept: Array
    margin: Array
    moved: Array
    share: Array
    first: Array
    counts: Array
    owner: Array
    partner: Array
    ids: Array
    distance: Array
    keep: Array
    near: Array
    spare: Array
    normal: Array
    start: Array
    weight: Array
    fresh: Array
    figures: Array
    free: int
    length: float


class Rooms(NamedTuple):
    """Room to search in, one for each thread: arrays of :class:`Search`, flat, with a leading axis; moving
    (threads, 4, 3). Flat, because Numba's threads take no tuples of tuples."""

    vertex_item: Array
    vertex_order: Array
    vertex_code: Array
    vertex_node: Array
    edge_item: Array
    edge_order: Array
    edge_code: Array
    edge_node: Array
    triangle_item: Array
    triangle_order: Array
    triangle_code: Array
    triangle_node: Array
    counter: Array
    moving: Array


def guard_of(skin: Skin, worlds: int, dtype: Any, pinned: bool, length: float, room: int = 256) -> Guard:
    """Empty lists for some worlds; ``room`` pairs for each to begin with."""
    n, p = len(skin.rest), worlds * room
    places: list[Any] = [np.zeros((worlds, n, 3)) for _ in range(4)]
    numbers: list[Any] = [np.zeros((worlds, n)) for _ in range(3)]
    lists: list[Any] = [*empty_pairs(p), *_room_for(p)]
    return Guard._make(
        [
            *places,
            np.zeros((worlds, n, 3), dtype),
            *numbers,
            np.arange(worlds + 1, dtype=np.int64) * room,
            np.zeros((worlds, 2), np.int64),
            *lists,
            np.zeros(worlds, np.int64),
            np.zeros((worlds, FIGURES)),
            int(not pinned),
            float(length),
        ]
    )


def _room_for(p: int) -> tuple[Array, ...]:
    whole = (np.zeros(p, np.int32), np.zeros(p, np.int32))
    return *whole, np.zeros((p, 3)), np.zeros(p), np.zeros((p, 4))


def rooms_of(skin: Skin, threads: int) -> Rooms:
    """Room to search in for some threads."""
    one = room_to_search(skin)
    trees = (one.vertices, one.edges, one.triangles)
    boxes: list[Any] = [np.stack([a] * threads) for b in trees for a in b]
    return Rooms._make([*boxes, np.stack([one.counter] * threads), np.zeros((threads, 4, 3))])


def grown(guard: Guard) -> Guard:
    """The same with half as much room again as each list that did not fit needs; these are made anew."""
    room, needed = np.diff(guard.first), guard.counts[:, 1]
    lacks = needed > room
    room = np.where(lacks, needed + needed // 2, room)
    first = np.concatenate([[0], np.cumsum(room)]).astype(np.int64)
    p = int(first[-1])
    listed = empty_pairs(p)
    for w in np.flatnonzero(~lacks):
        n = int(needed[w])
        for new, name in zip(listed, Pairs._fields, strict=True):
            old = getattr(guard, name)
            new[first[w] : first[w] + n] = old[guard.first[w] : guard.first[w] + n]
    guard.fresh[lacks] = 0
    names = (*Pairs._fields, "near", "spare", "normal", "start", "weight")
    arrays: dict[str, Any] = dict(zip(names, (*listed, *_room_for(p)), strict=True))
    return guard._replace(first=first, **arrays)


def memory(guard: Guard) -> int:
    """Bytes of a guard."""
    return sum(a.nbytes for a in guard if isinstance(a, np.ndarray))


@kernel
def pairs_of(g: Any, w: Any) -> Any:
    """The list of a world, with all its room."""
    a, b = g.first[w], g.first[w + 1]
    return Pairs(g.owner[a:b], g.partner[a:b], g.ids[a:b], g.distance[a:b], g.keep[a:b])


@kernel
def room_of(r: Any, k: Any) -> Any:
    """The room of thread k."""
    return Search(
        Boxes(r.vertex_item[k], r.vertex_order[k], r.vertex_code[k], r.vertex_node[k]),
        Boxes(r.edge_item[k], r.edge_order[k], r.edge_code[k], r.edge_node[k]),
        Boxes(r.triangle_item[k], r.triangle_order[k], r.triangle_code[k], r.triangle_node[k]),
        r.counter[k],
    )


@kernel
def drift_of(g: Any, skin: Any, origin: Any, x: Any) -> Any:
    """What all vertices of a world have in common, if none is pinned."""
    if g.free == 0:
        return 0.0, 0.0, 0.0
    return common(skin.vertices, origin, x)


@kernel
def covered(g: Any, w: Any, skin: Any) -> Any:
    """Note how far each vertex is from where the list was made, safe or at its goal; True if all are within
    their margins."""
    origin, safe, goal = g.origin[w], g.safe[w], g.goal[w]
    here, there = drift_of(g, skin, origin, safe), drift_of(g, skin, origin, goal)
    inside = g.fresh[w] == 1
    for i in skin.vertices:
        far = max(displacement(i, origin, safe, here), displacement(i, origin, goal, there))
        g.moved[w, i] = far
        inside = inside and far <= g.margin[w, i]
    return inside


@kernel
def relist(g: Any, w: Any, skin: Any, rooms: Any, k: Any, ahead: Any) -> Any:
    """Make the list of a world, good for some ``ahead`` moves like that at hand; False if it lacks room."""
    drift = drift_of(g, skin, g.safe[w], g.goal[w])
    for i in skin.vertices:
        step = displacement(i, g.safe[w], g.goal[w], drift)
        least = LEAST_MARGIN * g.length
        most = max(MARGIN * g.length, min(FEW * step, g.length))
        g.margin[w, i] = least + max(COVER * step, min(AHEAD * ahead * step, most))
        for m in range(3):
            g.origin[w, i, m] = g.safe[w, i, m]
    search = room_of(rooms, k)
    p = pairs_of(g, w)
    a, b = g.first[w], g.first[w + 1]
    sort = Pairs(g.near[a:b], g.spare[a:b], p.ids, g.start[a:b], p.keep)
    corners, n = find(g.safe[w], g.margin[w], skin, search, p, sort)
    g.counts[w, 0], g.counts[w, 1] = corners, n
    g.figures[w, SEARCHES] += 1
    g.figures[w, PAIRS] = n
    if n > b - a:
        g.fresh[w] = 0
        return False
    g.fresh[w] = 1
    return covered(g, w, skin)


@kernel
def near_pairs(g: Any, w: Any, skin: Any) -> Any:
    """Gather the pairs of a world that may come too near on the way to its goal; how many."""
    near = g.near[g.first[w] : g.first[w + 1]]
    return select(pairs_of(g, w), g.counts[w, 0], g.counts[w, 1], g.moved[w], skin.radius, 0.25, near)


@kernel
def deflect_world(g: Any, w: Any, skin: Any, inv_mass: Any) -> None:
    """Change the goal of a world so that little has to be held back; needs :func:`covered`."""
    a, b = g.first[w], g.first[w + 1]
    n, corners = near_pairs(g, w, skin), g.counts[w, 0]
    if n > 0:
        deflect(
            g.safe[w], g.goal[w], pairs_of(g, w), corners, g.near[a:b], n, skin.radius, inv_mass,
            g.normal[a:b], g.start[a:b],
        )  # fmt: skip


@kernel
def next_stride(g: Any, w: Any, skin: Any) -> None:
    """Set the goal of a world to the end of its way, or to one stride towards it."""
    drift = drift_of(g, skin, g.safe[w], g.want[w])
    far = 0.0
    for i in skin.vertices:
        far = max(far, displacement(i, g.safe[w], g.want[w], drift))
    part = min(1.0, STRIDE * g.length / far) if far > 0.0 else 1.0
    for i in skin.vertices:
        for m in range(3):
            g.goal[w, i, m] = g.want[w, i, m]
            if part < 1.0:
                g.goal[w, i, m] = g.safe[w, i, m] + part * (g.want[w, i, m] - g.safe[w, i, m])


@kernel
def certify(g: Any, w: Any, skin: Any, moving: Any) -> Any:
    """Move a world to its goal as far as that is safe: fills ``kept`` and ``safe``; needs :func:`covered`.

    The share of the motion that was left out.
    """
    safe, goal, x, share = g.safe[w], g.goal[w], g.kept[w], g.share[w]
    a, b = g.first[w], g.first[w + 1]
    n, corners = near_pairs(g, w, skin), g.counts[w, 0]
    drift = drift_of(g, skin, safe, goal)
    for i in skin.vertices:
        share[i] = 1.0
        go(safe, goal, x, share, i, drift)
    rounds = shorten(
        safe, goal, x, share, pairs_of(g, w), corners, g.near[a:b], n, skin.radius, drift, g.normal[a:b],
        g.start[a:b], moving,
    )  # fmt: skip
    wanted, removed, shortened = 0.0, 0.0, 0
    for i in skin.vertices:
        step = displacement(i, safe, goal, drift)
        wanted += step
        if rounds < 0:
            share[i] = 0.0
            for m in range(3):
                x[i, m] = safe[i, m]
        if share[i] < 1.0:
            removed += (1.0 - share[i]) * step
            shortened += 1
        for m in range(3):
            safe[i, m] = x[i, m]
    f = g.figures[w]
    f[WANTED] += wanted
    f[REMOVED] += removed
    f[SHORTENED] += shortened
    f[STUCK] += 1 if rounds < 0 else 0
    return removed / wanted if wanted > 0.0 else 0.0


@kernel
def at_end(g: Any, w: Any, skin: Any, left_out: Any, strides: Any) -> Any:
    """Whether a world goes no further: nearly all of its way is gone, it was stopped, or STRIDES are made.

    What was left out of a single stride is tried again once.
    """
    if left_out > 0.5 or strides >= STRIDES:
        return True
    drift = drift_of(g, skin, g.safe[w], g.want[w])
    far = 0.0
    for i in skin.vertices:
        far = max(far, displacement(i, g.safe[w], g.want[w], drift))
    return far == 0.0 or (far < STRIDE * g.length and (left_out == 0.0 or strides > 1))


@kernel
def go_safely(g: Any, w: Any, skin: Any, rooms: Any, k: Any, stride: Any) -> Any:
    """Move a world towards ``want`` stride by stride; how many were made, or -1 - that: its list lacks room.

    stride: how many were made before.
    """
    while True:
        next_stride(g, w, skin)
        if not covered(g, w, skin) and not relist(g, w, skin, rooms, k, 1.0):
            return -1 - stride
        left_out = certify(g, w, skin, rooms.moving[k])
        stride += 1
        if at_end(g, w, skin, left_out, stride):
            return stride


def move_safely(g: Guard, skin: Skin, rooms: Rooms, goal: Array) -> tuple[Guard, Array]:
    """Move every world towards its goal (W, N, 3) [m] as far as that is safe; the guard, where they are."""
    g.want[...] = goal
    for w in range(len(goal)):
        stride = 0
        while (stride := int(go_safely(g, w, skin, rooms, 0, stride))) < 0:
            g, stride = grown(g), -1 - stride
    return g, g.kept.copy()
