"""Contact stages with meshes: as in collisions.py, one world and one particle at a time."""

from __future__ import annotations

import math
from typing import Any

from ...backend.jit import kernel
from ...contact.detection import way_of_surface
from ...contact.nearest import gap_at, nearest_listed, side_at, triple
from ...contact.surface_detection import (
    HAIR,
    distance,
    lane3,
    look,
    searched,
    side_now,
    to_local,
    to_world,
)
from ...contact.surfaces import (
    BODY,
    CLEAR,
    DRAG,
    FIRST,
    ID,
    LAST,
    NORMAL,
    OWNER,
    PLANE,
    PUSH,
    RADIUS,
    REACH,
    RULE,
    SAFE,
    SIDE,
    START,
    STOP,
    SURFACE,
)
from ...laws.friction import coulomb, tangential
from ...laws.scalars import reciprocal
from ...laws.vectors import Vec, dot, minus, plus
from ...laws.vectors import times as scaled
from ..pool import LOAD

SURFACES, SEPARATE_SURFACES = 20, 21
FIRST_SURFACE = SURFACES
"""Operations."""

MORE = 2
"""Faces that a particle is pushed off besides the nearest, at most."""


@kernel
def whole_particles(entry: Any, n: Any, lo: Any, hi: Any) -> tuple[Any, Any]:
    """The share ``lo`` to ``hi`` (of the capacity) of ``n`` entries, moved to where a particle's begin."""
    lo, hi = n * lo // entry.shape[0], n * hi // entry.shape[0]
    while 0 < lo < n and entry[lo, ID] == entry[lo - 1, ID]:
        lo += 1
    while 0 < hi < n and entry[hi, ID] == entry[hi - 1, ID]:
        hi += 1
    return lo, hi


@kernel
def collide_surfaces(
    x: Any, x_prev: Any, inv_mass: Any, t: Any, m: Any, sub: Any, flags: Any, lo: Any, hi: Any
) -> None:
    """Keep particles on their side; friction acts on how far each slid since the substep began."""
    pose, mu, rows, around = m.data, m.mu, m.rows, m.around
    parts = m.entry.shape[1] // x.shape[2]
    for j in range(m.used[t]):
        lane = j // parts
        entry, notes, faces, gaps = m.entry[t, j], m.notes[t, j], m.faces[t, j], m.gap[t, j]
        first, last = whole_particles(entry, m.found[t, j, 0], lo, hi)
        for e in range(first, last):
            i, f, side = entry[e, ID], entry[e, SURFACE], entry[e, SIDE]
            if not inv_mass[i] > 0:
                continue
            k, radius = m.table[f, OWNER], notes[e, RADIUS]
            here, start = lane3(x, i, lane), lane3(x_prev, i, lane)
            q = to_local(pose, sub + 1, k, here)
            moved = distance(q, triple(notes, e, START))
            old, held, single = 0.0, (0.0, 0.0, 0.0), True
            if flags & LOAD:
                old, held = notes[e, PUSH], triple(notes, e, DRAG)
            if side != 0 and moved <= notes[e, SAFE]:  # all the way above or below one face
                n = scaled(side, triple(notes, e, PLANE))
                gap = dot(q, n) - side * notes[e, PLANE + 3]
            elif old == 0.0 and moved <= notes[e, CLEAR]:
                gap, n = radius, (0.0, 0.0, 0.0)
            else:
                found = nearest_listed(q, rows, faces, gaps, entry[e, FIRST], entry[e, STOP], moved)
                if not math.sqrt(found[0]) <= notes[e, REACH] - moved:
                    found = searched(found, q, moved, m.table, rows, m.boxes, entry, notes, e)
                entry[e, LAST] = found[1]
                now = side_at(found, around, radius)
                if m.table[f, RULE] == 1:
                    side = abs(now)
                elif notes[e, CLEAR] > 0.0 or now == 0 or side == 0:
                    side = side_now(now, side, q, to_local(pose, sub, k, start), m, t, j, e)
                entry[e, SIDE] = side
                gap, n = gap_at(found, rows, around, side)
                if gap < 0.0:
                    gap, n = way_back(gap, n, q, to_local(pose, sub, k, start), side, m, t, j, e)
                single = False
            push = max(old - (gap - radius), 0.0)
            if push == 0.0 and old == 0.0:
                for a in range(PUSH, NORMAL):
                    notes[e, a] = 0.0
                continue
            move = scaled(push - old, n)
            if not single:
                push, n, move = in_corner(q, push, n, move, m, t, j, e)
            n, move = to_world(pose, sub + 1, k, n), to_world(pose, sub + 1, k, move)
            slip = tangential(minus(minus(here, start), way_of_surface(m, sub + 1, k, here)), n)
            body = entry[e, BODY]
            drag = coulomb(minus(held, slip), push, mu[0, body, k], mu[1, body, k])
            notes[e, PUSH] = push
            move = plus(move, minus(drag, held))
            if not single:  # friction knows of one face only
                there = to_local(pose, sub + 1, k, plus(here, move))
                move = plus(move, to_world(pose, sub + 1, k, off_others(there, m, t, j, e)))
            for a in range(3):
                notes[e, DRAG + a], notes[e, NORMAL + a] = drag[a], n[a]
                x[i, a, lane] += move[a]
    follow(x, t, m, lo, hi)


@kernel
def way_back(
    gap: Any, n: Vec, q: Vec, before: Vec, side: Any, m: Any, t: Any, j: Any, e: Any
) -> tuple[Any, Vec]:
    """Gap and normal for what got to the wrong side during the substep: back where it came from.

    The nearest way out may lead through something else, as under a box on a floor.
    """
    found = look(
        before, m.table, m.rows, m.boxes, m.entry[t, j], m.notes[t, j], m.faces[t, j], m.gap[t, j], e
    )
    if side_at(found, m.around, m.notes[t, j, e, RADIUS]) != 0:
        then, normal = gap_at(found, m.rows, m.around, side)
        through = then + dot(normal, minus(q, before))
        if then > 0.0 and through < 0.0:
            return through, normal
    return gap, n


@kernel
def in_corner(q: Vec, push: Any, n: Vec, move: Vec, m: Any, t: Any, j: Any, e: Any) -> tuple[Any, Vec, Vec]:
    """Where another face is in the way of a push off the nearest one: off that too, as one push together.

    Returns the sum of pushes, its direction and the way to go, with them all.
    """
    more = off_others(plus(q, move), m, t, j, e)
    if dot(more, more) > 0.0:
        total = plus(scaled(push, n), more)
        push = math.sqrt(dot(total, total))
        n = scaled(reciprocal(push), total)
        move = plus(move, more)
    return push, n, move


@kernel
def off_others(q: Vec, m: Any, t: Any, j: Any, e: Any) -> Vec:
    """The way from ``q`` off the faces that it is too near to, one after the other."""
    entry, notes, faces, gaps = m.entry[t, j], m.notes[t, j], m.faces[t, j], m.gap[t, j]
    radius, way = notes[e, RADIUS], (0.0, 0.0, 0.0)
    for _ in range(MORE):
        there = plus(q, way)
        found = look(there, m.table, m.rows, m.boxes, entry, notes, faces, gaps, e)
        side = entry[e, SIDE] * abs(side_at(found, m.around, radius))
        gap, other = gap_at(found, m.rows, m.around, side)
        if not gap < (1.0 - HAIR) * radius:
            break
        way = plus(way, scaled(radius - gap, other))
    return way


@kernel
def separate_surfaces(x: Any, inv_mass: Any, t: Any, m: Any, lo: Any, hi: Any) -> None:
    """Once a step: move out what starts inside a solid or on a wrong side, without giving it speed."""
    parts = m.entry.shape[1] // x.shape[2]
    for j in range(m.used[t]):
        lane = j // parts
        entry, notes, faces, gaps = m.entry[t, j], m.notes[t, j], m.faces[t, j], m.gap[t, j]
        first, last = whole_particles(entry, m.found[t, j, 0], lo, hi)
        for e in range(first, last):
            i, f = entry[e, ID], entry[e, SURFACE]
            k = m.table[f, OWNER]
            q = to_local(m.data, 0, k, lane3(x, i, lane))
            if not inv_mass[i] > 0 or distance(q, triple(notes, e, START)) <= notes[e, CLEAR]:
                continue
            found = look(q, m.table, m.rows, m.boxes, entry, notes, faces, gaps, e)
            gap, n = gap_at(found, m.rows, m.around, entry[e, SIDE])
            if gap < notes[e, RADIUS]:
                n = to_world(m.data, 0, k, n)
                for a in range(3):
                    x[i, a, lane] += (notes[e, RADIUS] - gap) * n[a]
    follow(x, t, m, lo, hi)


@kernel
def run_surfaces(
    op: Any, lo: Any, hi: Any, flags: Any, t: Any, x: Any, x_prev: Any, inv_mass: Any, m: Any, sub: Any
) -> None:
    """Entries ``lo`` to ``hi`` of one stage, on one tile."""
    if op == SURFACES:
        collide_surfaces(x, x_prev, inv_mass, t, m, sub, flags, lo, hi)
    else:
        separate_surfaces(x, inv_mass, t, m, lo, hi)


@kernel
def follow(x: Any, t: Any, m: Any, lo: Any, hi: Any) -> None:
    """Spare lanes repeat the last world."""
    if m.used[t] < x.shape[2]:
        last = m.used[t] - 1  # batches have one list a world
        entry = m.entry[t, last]
        first, stop = whole_particles(entry, m.found[t, last, 0], lo, hi)
        for e in range(first, stop):
            for a in range(3):
                for lane in range(last + 1, x.shape[2]):
                    x[entry[e, ID], a, lane] = x[entry[e, ID], a, last]
