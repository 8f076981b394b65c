"""The nearest point of a triangle mesh, and the side of it that a point is on. Plain numbers, point by point.

What is *found* is a tuple: squared distance, face, feature of that face (0 the face itself, 1 to 3 its
edges, 4 to 6 its corners, as in geometry/surfaces.py), and the vector from the nearest point. Of two features
equally near the one of the first face counts, so lists and trees give the same answer.
"""

from __future__ import annotations

import math
from typing import Any

from ..backend.jit import kernel
from ..laws.scalars import INFINITY
from ..laws.vectors import Vec, dot, minus
from .surfaces import (
    COUNT,
    DEPTH,
    DET,
    DOT00,
    DOT01,
    DOT11,
    EDGE0,
    EDGE1,
    FACE_NORMAL,
    FACES,
    INV00,
    INV11,
    INV22,
    NODES,
    ORIGIN,
    RIM,
    SIZE,
)

COINCIDENT = 1e-10
"""A point nearer to an edge than this share of the mesh's size has no direction of its own there."""

ASIDE = (0.5377e-7, 0.1834e-7, 0.8259e-7)
"""Share of a way by which it is moved aside before crossings are counted: it shall meet no edge exactly."""


@kernel
def triple(a: Any, row: Any, k: Any) -> Vec:
    """Three numbers of a row from place ``k`` on. (A view of the row would cost more than its numbers.)"""
    return (a[row, k], a[row, k + 1], a[row, k + 2])


@kernel
def part_of_edge(d: Vec, e: Vec, inverse: Any) -> tuple[Any, Any, Vec]:
    """Squared distance to the edge from 0 to ``e``, where on it (0 to 1) the nearest point is, the vector."""
    u = min(max(dot(d, e) * inverse, 0.0), 1.0)
    w = (d[0] - u * e[0], d[1] - u * e[1], d[2] - u * e[2])
    return dot(w, w), u, w


@kernel
def nearest_on_face(rows: Any, face: Any, q: Vec) -> tuple[Any, Any, Vec]:
    """Squared distance, feature, vector from the nearest point of one triangle to ``q``."""
    d = minus(q, triple(rows, face, ORIGIN))
    e0, e1 = triple(rows, face, EDGE0), triple(rows, face, EDGE1)
    d0, d1 = dot(e0, d), dot(e1, d)
    s = rows[face, DOT11] * d0 - rows[face, DOT01] * d1
    t = rows[face, DOT00] * d1 - rows[face, DOT01] * d0
    if s >= 0.0 and t >= 0.0 and s + t <= rows[face, DET]:
        n = triple(rows, face, FACE_NORMAL)
        h = dot(d, n)
        return h * h, 0, (h * n[0], h * n[1], h * n[2])
    best, u, w = part_of_edge(d, e0, rows[face, INV00])
    feature = 1
    if u <= 0.0:
        feature = 4
    elif u >= 1.0:
        feature = 5
    d2, u, v = part_of_edge(d, e1, rows[face, INV11])
    if d2 < best:
        best, w = d2, v
        feature = 2
        if u <= 0.0:
            feature = 4
        elif u >= 1.0:
            feature = 6
    d2, u, v = part_of_edge(minus(d, e0), minus(e1, e0), rows[face, INV22])
    if d2 < best:
        best, w = d2, v
        feature = 3
        if u <= 0.0:
            feature = 5
        elif u >= 1.0:
            feature = 6
    return best, feature, w


@kernel
def nearer(found: Any, q: Vec, rows: Any, face: Any) -> Any:
    """What is found, or the nearest point of ``face`` if that is nearer."""
    d2, feature, w = nearest_on_face(rows, face, q)
    if d2 < found[0] or (d2 == found[0] and face < found[1]):
        return (d2, face, feature, w)
    return found


@kernel
def nearest_listed(q: Vec, rows: Any, faces: Any, gap: Any, start: Any, stop: Any, moved: Any) -> Any:
    """The nearest of some faces, whose distances were ``gap``, ascending, before ``q`` moved so far."""
    found = (INFINITY, -1, 0, (0.0, 0.0, 0.0))
    for n in range(start, stop):
        if gap[n] - moved > math.sqrt(found[0]):
            break
        found = nearer(found, q, rows, int(faces[n]))
    return found


@kernel
def box_distance2(box: Any, n: Any, q: Vec) -> Any:
    """Squared distance to box ``n``; 0 inside."""
    x = max(max(box[n, 0] - q[0], q[0] - box[n, 3]), 0.0)
    y = max(max(box[n, 1] - q[1], q[1] - box[n, 4]), 0.0)
    z = max(max(box[n, 2] - q[2], q[2] - box[n, 5]), 0.0)
    return x * x + y * y + z * z


@kernel
def leaf(table: Any, f: Any, number: Any) -> tuple[Any, Any]:
    """Faces of leaf ``number`` of the tree of surface ``f``: first, and one past the last."""
    count, depth, first = table[f, COUNT], table[f, DEPTH], table[f, FACES]
    return first + ((count * number) >> depth), first + ((count * (number + 1)) >> depth)


@kernel
def next_node(node: Any) -> Any:
    """The node after a finished subtree; 0 at the end."""
    while node & 1:
        node >>= 1
    return node + 1 if node > 0 else 0


@kernel
def nearest_in_tree(q: Vec, table: Any, rows: Any, boxes: Any, f: Any, found: Any) -> Any:
    """The nearest point of surface ``f``, if nearer than what is found already."""
    base, leaves = table[f, NODES], 1 << table[f, DEPTH]
    if not box_distance2(boxes, base + 1, q) <= found[0]:
        return found
    done = 0
    if found[1] < 0:  # a good first guess: the leaf at the end of the nearer boxes
        done = 1
        while done < leaves:
            done *= 2
            if box_distance2(boxes, base + done + 1, q) < box_distance2(boxes, base + done, q):
                done += 1
        a, b = leaf(table, f, done - leaves)
        for face in range(a, b):
            found = nearer(found, q, rows, face)
    node = 1
    while node > 0:
        if box_distance2(boxes, base + node, q) <= found[0]:
            if node < leaves:
                node *= 2
                continue
            if node != done:
                a, b = leaf(table, f, node - leaves)
                for face in range(a, b):
                    found = nearer(found, q, rows, face)
        node = next_node(node)
    return found


@kernel
def within(limit: Any) -> Any:
    """Nothing found yet, and nothing beyond a distance wanted."""
    return (limit * limit, -1, 0, (0.0, 0.0, 0.0))


@kernel
def list_faces(
    q: Vec, table: Any, rows: Any, boxes: Any, f: Any, reach: Any, faces: Any, gap: Any, start: Any, room: Any
) -> tuple[Any, Any]:
    """Write the faces of surface ``f`` within ``reach`` of ``q``, nearest first, at most ``room`` of them.

    Returns how many there are and the radius within which the list is complete.
    """
    base, leaves = table[f, NODES], 1 << table[f, DEPTH]
    count, node = 0, 1
    while node > 0:
        if box_distance2(boxes, base + node, q) <= reach * reach:
            if node < leaves:
                node *= 2
                continue
            a, b = leaf(table, f, node - leaves)
            for face in range(a, b):
                d = math.sqrt(nearest_on_face(rows, face, q)[0])
                if d > reach or (count == room and d >= reach):
                    continue
                n = start + (count if count < room else room - 1)
                while n > start and gap[n - 1] > d:
                    gap[n], faces[n] = gap[n - 1], faces[n - 1]
                    n -= 1
                gap[n], faces[n] = d, face
                count = min(count + 1, room)
                if count == room:
                    reach = gap[start + room - 1]
        node = next_node(node)
    return count, reach


@kernel
def side_at(found: Any, around: Any, radius: Any) -> Any:
    """The side a point is on: 1 that of the normals, -1 the other; 0 more than ``radius`` beyond the rim."""
    _, face, feature, w = found
    n = triple(around, face, 3 * feature)
    if around[face, RIM + feature] > 0.0:
        n = triple(around, face, 0)
        h = dot(w, n)
        if dot(w, w) - h * h > radius * radius:
            return 0
    return 1 if dot(w, n) >= 0.0 else -1


@kernel
def gap_at(found: Any, rows: Any, around: Any, side: Any) -> tuple[Any, Vec]:
    """Distance [m], negative where the point is not on ``side``, and normal; ``side`` 0 has no other side."""
    d2, face, feature, w = found
    d = math.sqrt(d2)
    rim = around[face, RIM + feature] > 0.0
    n = triple(around, face, 0 if rim else 3 * feature)
    if side == 0:
        return d, ((w[0] / d, w[1] / d, w[2] / d) if d > 0.0 else n)
    n = (side * n[0], side * n[1], side * n[2])
    h = dot(w, n)
    if feature == 0 or d <= COINCIDENT * rows[face, SIZE] or (rim and h < 0.0):
        return h, n
    sign = 1.0 if h >= 0.0 else -1.0
    return sign * d, (sign * w[0] / d, sign * w[1] / d, sign * w[2] / d)


@kernel
def crosses(rows: Any, face: Any, a: Vec, b: Vec) -> Any:
    """True where the way from ``a`` to ``b`` passes through a triangle."""
    n, o = triple(rows, face, FACE_NORMAL), triple(rows, face, ORIGIN)
    da, db = minus(a, o), minus(b, o)
    ha, hb = dot(da, n), dot(db, n)
    if (ha < 0.0) == (hb < 0.0):
        return False
    t = ha / (ha - hb)
    d = (da[0] + t * (db[0] - da[0]), da[1] + t * (db[1] - da[1]), da[2] + t * (db[2] - da[2]))
    d0, d1 = dot(triple(rows, face, EDGE0), d), dot(triple(rows, face, EDGE1), d)
    u = rows[face, DOT11] * d0 - rows[face, DOT01] * d1
    v = rows[face, DOT00] * d1 - rows[face, DOT01] * d0
    return u >= 0.0 and v >= 0.0 and u + v <= rows[face, DET]


@kernel
def crossings(table: Any, rows: Any, boxes: Any, f: Any, a: Vec, b: Vec) -> Any:
    """How often the way from ``a`` to ``b`` passes through surface ``f``."""
    d = minus(b, a)
    far = math.sqrt(dot(d, d))
    a = (a[0] + ASIDE[0] * far, a[1] + ASIDE[1] * far, a[2] + ASIDE[2] * far)
    b = (a[0] + d[0], a[1] + d[1], a[2] + d[2])
    base, leaves = table[f, NODES], 1 << table[f, DEPTH]
    count, node = 0, 1
    while node > 0:
        apart = False
        for m in range(3):
            if max(a[m], b[m]) < boxes[base + node, m] or min(a[m], b[m]) > boxes[base + node, m + 3]:
                apart = True
        if not apart:
            if node < leaves:
                node *= 2
                continue
            first, last = leaf(table, f, node - leaves)
            for face in range(first, last):
                if crosses(rows, face, a, b):
                    count += 1
        node = next_node(node)
    return count
