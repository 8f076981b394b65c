"""Contacts with meshes, found once per step, and the side each particle is on.

The margins are those of contact/detection.py. A particle near a surface gets an entry; what the substeps need
to know of it is how far it may go without touching anything, and which faces are near enough to matter until
then (a few; where they do not suffice, the surface's tree is searched). Sides: docs/adr/0011.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backend.jit import kernel, prange
from ..laws.scalars import INFINITY
from ..laws.vectors import Vec, cross, dot, minus
from .arrays import PLACE, SHIFT, SPIN, TURN
from .nearest import (
    crossings,
    gap_at,
    list_faces,
    nearer,
    nearest_in_tree,
    nearest_listed,
    side_at,
    triple,
    within,
)
from .surfaces import (
    BODY,
    CLEAR,
    DET,
    DOT00,
    DOT01,
    DOT11,
    EDGE0,
    EDGE1,
    FACE_NORMAL,
    FIRST,
    ID,
    INV00,
    INV11,
    INV22,
    LAST,
    ORIGIN,
    PLANE,
    RADIUS,
    REACH,
    RULE,
    SAFE,
    SIDE,
    START,
    STOP,
    SURFACE,
)

ROOM = 32
"""Faces that an entry lists at most."""

HAIR = 1e-3
"""Share of its rest distance by which a particle must be off a surface to count as clear of it."""


@kernel
def to_local(data: Any, sub: Any, k: Any, p: Vec) -> Vec:
    """A point in the frame of collider ``k`` at the end of substep ``sub`` - 1."""
    x, y, z = p[0] - data[sub, k, PLACE], p[1] - data[sub, k, PLACE + 1], p[2] - data[sub, k, PLACE + 2]
    return (
        data[sub, k, TURN] * x + data[sub, k, TURN + 3] * y + data[sub, k, TURN + 6] * z,
        data[sub, k, TURN + 1] * x + data[sub, k, TURN + 4] * y + data[sub, k, TURN + 7] * z,
        data[sub, k, TURN + 2] * x + data[sub, k, TURN + 5] * y + data[sub, k, TURN + 8] * z,
    )


@kernel
def to_world(data: Any, sub: Any, k: Any, n: Vec) -> Vec:
    """A direction in the frame of collider ``k``, turned into the world's."""
    return (
        data[sub, k, TURN] * n[0] + data[sub, k, TURN + 1] * n[1] + data[sub, k, TURN + 2] * n[2],
        data[sub, k, TURN + 3] * n[0] + data[sub, k, TURN + 4] * n[1] + data[sub, k, TURN + 5] * n[2],
        data[sub, k, TURN + 6] * n[0] + data[sub, k, TURN + 7] * n[1] + data[sub, k, TURN + 8] * n[2],
    )


@kernel
def lane3(a: Any, i: Any, lane: Any) -> Vec:
    """Three numbers of one world in float64."""
    return (np.float64(a[i, 0, lane]), np.float64(a[i, 1, lane]), np.float64(a[i, 2, lane]))


@kernel
def distance(a: Vec, b: Vec) -> Any:
    """|a - b|"""
    d = minus(a, b)
    return math.sqrt(dot(d, d))


@kernel
def margins(speed: Any, radius: Any, reach: Any, fall: Any, data: Any, k: Any, p: Vec) -> Any:
    """How near collider ``k`` may come to a particle during the step."""
    arm = (p[0] - data[0, k, PLACE], p[1] - data[0, k, PLACE + 1], p[2] - data[0, k, PLACE + 2])
    travel = data[0, k, SHIFT] + data[0, k, SPIN] * math.sqrt(dot(arm, arm))
    return radius + reach[1] + fall + 2.0 * reach[0] * speed + travel


@kernel
def drift(velocity: Vec, dt: Any, data: Any, k: Any, p: Vec) -> Any:
    """How far a particle would go over the surface of collider ``k`` in the step, at constant velocity."""
    n = data.shape[0] - 1.0
    arm = (p[0] - data[0, k, PLACE], p[1] - data[0, k, PLACE + 1], p[2] - data[0, k, PLACE + 2])
    turned = cross((data[1, k, SPIN], data[1, k, SPIN + 1], data[1, k, SPIN + 2]), arm)
    return distance(
        (dt * velocity[0], dt * velocity[1], dt * velocity[2]),
        (
            n * (data[1, k, SHIFT] + turned[0]),
            n * (data[1, k, SHIFT + 1] + turned[1]),
            n * (data[1, k, SHIFT + 2] + turned[2]),
        ),
    )


@kernel
def searched(
    found: Any, q: Vec, moved: Any, table: Any, rows: Any, boxes: Any, entry: Any, data: Any, e: Any
) -> Any:
    """What was found in the list, or the nearest point of the whole surface where the list does not reach."""
    if math.sqrt(found[0]) <= data[e, REACH] - moved:
        return found
    if found[1] < 0:
        found = nearer(found, q, rows, int(entry[e, LAST]))
    return nearest_in_tree(q, table, rows, boxes, int(entry[e, SURFACE]), found)


@kernel
def look(
    q: Vec, table: Any, rows: Any, boxes: Any, entry: Any, data: Any, faces: Any, gap: Any, e: Any
) -> Any:
    """The nearest point of an entry's surface: from its list where that suffices, else from the tree."""
    moved = distance(q, triple(data, e, START))
    found = nearest_listed(q, rows, faces, gap, entry[e, FIRST], entry[e, STOP], moved)
    return searched(found, q, moved, table, rows, boxes, entry, data, e)


@kernel
def side_now(here: Any, side: Any, q: Vec, before: Vec, m: Any, t: Any, j: Any, e: Any) -> Any:
    """The side of a two-sided surface that a particle belongs to.

    here: the side it is on, at ``q``; side: the one it had; ``before``: where the substep began.
    """
    if here == 0:
        return 0
    entry, notes = m.entry[t, j], m.notes[t, j]
    if notes[e, CLEAR] > 0.0 and distance(before, triple(notes, e, START)) <= notes[e, CLEAR]:
        found = look(before, m.table, m.rows, m.boxes, entry, notes, m.faces[t, j], m.gap[t, j], e)
        side = side_at(found, m.around, notes[e, RADIUS])
    if side == 0:  # from beyond the rim: around it, or through the surface?
        side = here
        if crossings(m.table, m.rows, m.boxes, int(entry[e, SURFACE]), before, q) % 2 == 1:
            side = -here
    return side


@kernel
def safe_way(q: Vec, found: Any, rows: Any, next_gap: Any, radius: Any) -> Any:
    """How far ``q`` may go while nothing but the inside of the face where its nearest point is matters.

    The foot stays off the edges; the next face, now ``next_gap`` away, stays farther, and out of touch.
    """
    d2, face, feature, _ = found
    if feature != 0:
        return 0.0
    d = minus(q, triple(rows, face, ORIGIN))
    d0, d1 = dot(triple(rows, face, EDGE0), d), dot(triple(rows, face, EDGE1), d)
    det = rows[face, DET]
    u = (rows[face, DOT11] * d0 - rows[face, DOT01] * d1) / det
    v = (rows[face, DOT00] * d1 - rows[face, DOT01] * d0) / det
    height = math.sqrt(det)
    edge0, edge1 = v * math.sqrt(rows[face, INV00]), u * math.sqrt(rows[face, INV11])
    inside = height * min(edge0, edge1, (1.0 - u - v) * math.sqrt(rows[face, INV22]))
    return max(0.999 * min(inside, 0.5 * (next_gap - math.sqrt(d2)), next_gap - radius), 0.0)


@kernel
def add_entry(
    i: Any, f: Any, side: Any, q: Vec, radius: Any, body: Any, gap: Any, found: Any, rows: Any,
    entry: Any, notes: Any, n: Any,
) -> None:  # fmt: skip
    """Write entry ``n``."""
    entry[n, ID], entry[n, SURFACE], entry[n, SIDE] = i, f, side
    entry[n, LAST], entry[n, BODY] = found[1], body
    for a in range(3):
        notes[n, START + a] = q[a]
        notes[n, PLANE + a] = rows[found[1], FACE_NORMAL + a]
    notes[n, PLANE + 3] = dot(triple(rows, found[1], FACE_NORMAL), triple(rows, found[1], ORIGIN))
    notes[n, CLEAR] = gap - (1.0 + HAIR) * radius
    notes[n, RADIUS] = radius


@kernel
def first_look(
    q: Vec, s: Any, f: Any, near: Any, margin: Any, radius: Any, two_sided: Any, remembered: Any, faces: Any,
    gaps: Any, start: Any, space: Any,
) -> tuple[Any, Any, Any, Any, Any]:  # fmt: skip
    """Nearest point of a surface, gap and side there; how many faces are listed, and how far they suffice."""
    listed, complete = list_faces(q, s.table, s.rows, s.boxes, f, near, faces, gaps, start, space)
    if listed > 0:
        found = nearer(within(INFINITY), q, s.rows, int(faces[start]))
    else:  # on a wrong side it may be, however far
        limit = INFINITY if two_sided == (remembered != 0) else margin
        found = nearest_in_tree(q, s.table, s.rows, s.boxes, f, within(limit))
        complete = 0.0
    gap, side = INFINITY, 0
    if found[1] >= 0:
        side = side_at(found, s.around, radius)
        if not two_sided:
            side = abs(side)
        elif side != 0 and remembered != 0:
            side = remembered
        gap, _ = gap_at(found, s.rows, s.around, side)
    return found, gap, side, listed, complete


@kernel
def detect_part(
    x: Any,
    v: Any,
    inv_mass: Any,
    t: Any,
    j: Any,
    m: Any,
    tr: Any,
    s: Any,
    data: Any,
    reach: Any,
    fall: Any,
    out: Any,
) -> None:
    """Fill one list; counts on beyond its capacity so that the caller can grow it."""
    n, c = 0, 0
    parts = m.entry.shape[1] // x.shape[2]
    lane, part = j // parts, j % parts
    table, rows = s.table, s.rows
    entry, notes, faces, gaps, memory = m.entry[t, j], m.notes[t, j], m.faces[t, j], m.gap[t, j], m.memory[t]
    x_end, room = tr.x_end[t], faces.size
    deep = 0.0
    for i in range(x.shape[0] * part // parts, x.shape[0] * (part + 1) // parts):
        here, velocity = lane3(x, i, lane), lane3(v, i, lane)
        speed = math.sqrt(dot(velocity, velocity))
        radius = tr.radius[i]
        known = inv_mass[i] > 0.0  # what is carried through surfaces keeps no side
        for a in range(3):
            known = known and x[i, a, lane] == x_end[i, a, lane]
        for k in range(data.shape[1]):
            q = to_local(data, 0, k, here)
            margin = margins(speed, radius, reach, fall[t, lane], data, k, here)
            near = 3.0 * radius + 2.0 * drift(velocity, reach[0], data, k, here)
            for f in range(s.first[k], s.first[k + 1]):
                two_sided = table[f, RULE] == 0
                remembered = int(memory[f, i, lane]) if known else 0
                fits = n < entry.shape[0] and c + ROOM <= room
                start, space = (c, ROOM) if fits else (0, 1)
                found, gap, side, listed, complete = first_look(
                    q, s, f, near, margin, radius, two_sided, remembered, faces, gaps, start, space
                )
                if not gap < margin:
                    memory[f, i, lane] = 0 if two_sided else 1
                    continue
                memory[f, i, lane] = side if two_sided else 0
                deep = max(deep, radius - gap)
                if fits:
                    add_entry(i, f, side, q, radius, tr.body[i], gap, found, rows, entry, notes, n)
                    entry[n, FIRST], entry[n, STOP] = c, c + listed
                    notes[n, REACH] = complete
                    notes[n, SAFE] = safe_way(q, found, rows, gaps[c + 1] if listed > 1 else complete, radius)
                n += 1
                c += listed if fits else ROOM
    out[t, j, 0] = deep
    m.found[t, j, 0] = n
    m.found[t, j, 1] = c + ROOM


@kernel(parallel=True)
def detect_parts(
    x: Any, v: Any, inv_mass: Any, m: Any, tr: Any, s: Any, col: Any, reach: Any, fall: Any, out: Any
) -> None:
    """:func:`detect_surfaces`, threads sharing lists."""
    for w in prange(m.entry.shape[0] * m.entry.shape[1]):
        t, j = np.int64(w) // m.entry.shape[1], np.int64(w) % m.entry.shape[1]
        if j < m.used[t]:
            detect_part(x[t], v[t], inv_mass, t, j, m, tr, s, col.data, reach, fall, out)


def detect_surfaces(
    x: Any, v: Any, inv_mass: Any, m: Any, tr: Any, s: Any, col: Any, reach: Any, fall: Any, out: Any
) -> None:
    """Fill all lists; ``reach`` as in contact/detection.py. The first of out (T, J, 3): deepest start [m]."""
    if m.entry.shape[:2] == (1, 1):
        detect_part(x[0], v[0], inv_mass, 0, 0, m, tr, s, col.data, reach, fall, out)
    else:
        detect_parts(x, v, inv_mass, m, tr, s, col, reach, fall, out)
