"""After a step: who touches a mesh, how deep, and who went through one unseen."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backend.jit import kernel, prange
from ..laws.scalars import INFINITY
from ..laws.vectors import Vec, dot
from .nearest import crossings, gap_at, nearest_in_tree, side_at, triple, within
from .surface_detection import distance, lane3, look, margins, to_local
from .surfaces import CLEAR, ID, PLANE, RADIUS, RULE, SAFE, SIDE, START, SURFACE


@kernel
def passed(start: Vec, q: Vec, radius: Any, s: Any, f: Any, slack: Any) -> Any:
    """True where a particle that no entry knows went into or through a surface."""
    if s.table[f, RULE] == 0:
        return crossings(s.table, s.rows, s.boxes, f, start, q) % 2 == 1
    found = nearest_in_tree(q, s.table, s.rows, s.boxes, f, within(INFINITY))
    if found[1] < 0:
        return False
    gap, _ = gap_at(found, s.rows, s.around, abs(side_at(found, s.around, radius)))
    return radius - gap > slack


@kernel
def survey_part(
    x: Any, x_start: Any, v_start: Any, t: Any, j: Any, m: Any, tr: Any, s: Any, data: Any, reach: Any,
    fall: Any, slack: Any, out: Any,
) -> None:  # fmt: skip
    """The particles of one list."""
    parts = m.entry.shape[1] // x.shape[2]
    lane, part = j // parts, j % parts
    entry, notes, faces, gaps = m.entry[t, j], m.notes[t, j], m.faces[t, j], m.gap[t, j]
    memory, touched, x_end = m.memory[t], tr.touched[t], tr.x_end[t]
    end = data.shape[0] - 1
    deep, missed = 0.0, 0.0
    e, n = 0, m.found[t, j, 0]
    for i in range(x.shape[0] * part // parts, x.shape[0] * (part + 1) // parts):
        here, there, velocity = lane3(x, i, lane), lane3(x_start, i, lane), lane3(v_start, i, lane)
        speed = math.sqrt(dot(velocity, velocity))
        radius = tr.radius[i]
        touched[i, lane] = 0.0
        for k in range(data.shape[1]):
            q, start = to_local(data, end, k, here), to_local(data, 0, k, there)
            way = distance(q, start)
            away = way > margins(speed, radius, reach, fall[t, lane], data, k, there) - radius
            for f in range(s.first[k], s.first[k + 1]):
                if e < n and entry[e, ID] == i and entry[e, SURFACE] == f:
                    gap, side = gap_of_entry(
                        q, s.table, s.rows, s.around, s.boxes, entry, notes, faces, gaps, e
                    )
                    if s.table[f, RULE] == 0:  # off the surface its side is plain to see
                        memory[f, i, lane] = 0 if way <= notes[e, CLEAR] else side
                    deep = max(deep, radius - gap)
                    if radius - gap > -slack[1]:
                        touched[i, lane] = 1.0
                    e += 1
                elif away and passed(start, q, radius, s, f, slack[0]):
                    missed = 1.0
                    memory[f, i, lane] = 0
        for a in range(3):
            x_end[i, a, lane] = x[i, a, lane]
    out[t, j, 1] = deep
    out[t, j, 2] = missed


@kernel
def gap_of_entry(
    q: Vec,
    table: Any,
    rows: Any,
    around: Any,
    boxes: Any,
    entry: Any,
    notes: Any,
    faces: Any,
    gaps: Any,
    e: Any,
) -> tuple[Any, Any]:
    """Gap at ``q`` on the side that an entry has, and that side: 0 if it is beyond the rim now."""
    side = entry[e, SIDE]
    if side != 0 and distance(q, triple(notes, e, START)) <= notes[e, SAFE]:
        return side * (dot(q, triple(notes, e, PLANE)) - notes[e, PLANE + 3]), side
    found = look(q, table, rows, boxes, entry, notes, faces, gaps, e)
    here = side_at(found, around, notes[e, RADIUS])
    if here == 0 or side == 0 or table[entry[e, SURFACE], RULE] == 1:
        side = abs(here) if table[entry[e, SURFACE], RULE] == 1 else here
    gap, _ = gap_at(found, rows, around, side)
    return gap, side


@kernel(parallel=True)
def survey_parts(
    x: Any,
    x_start: Any,
    v_start: Any,
    m: Any,
    tr: Any,
    s: Any,
    col: Any,
    reach: Any,
    fall: Any,
    slack: Any,
    out: Any,
) -> None:
    """:func:`survey_surfaces`, threads sharing lists."""
    for w in prange(m.entry.shape[0] * m.entry.shape[1]):
        t, j = np.int64(w) // m.entry.shape[1], np.int64(w) % m.entry.shape[1]
        if j < m.used[t]:
            survey_part(x[t], x_start[t], v_start[t], t, j, m, tr, s, col.data, reach, fall, slack, out)


def survey_surfaces(
    x: Any,
    x_start: Any,
    v_start: Any,
    m: Any,
    tr: Any,
    s: Any,
    col: Any,
    reach: Any,
    fall: Any,
    slack: Any,
    out: Any,
) -> None:
    """After a step: the second of ``out`` (T, J, 3) is the deepest penetration [m], the third 1 where a
    particle passed a surface that it was not known to be near. Notes who touches, and where the step left
    everybody."""
    if m.entry.shape[:2] == (1, 1):
        survey_part(x[0], x_start[0], v_start[0], 0, 0, m, tr, s, col.data, reach, fall, slack, out)
    else:
        survey_parts(x, x_start, v_start, m, tr, s, col, reach, fall, slack, out)
