"""Which vertices are near which triangles, and which edges near which edges, in one world.

A pair is listed when its distance is below the distance that it keeps plus a margin for what its ends may
move until the next search, vertex by vertex. Pairs that share a vertex are never listed. The list is sorted:
pairs of a vertex and a triangle first, by vertex, then triangle; then pairs of edges, the smaller first.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..backend.jit import kernel
from ..laws.vectors import Vec, minus
from .boxes import LEAF, Boxes, apart, build_tree, empty_boxes
from .features import beyond, edge_edge, vertex_triangle
from .nearest import next_node
from .skin import Skin

Array = np.ndarray


class Pairs(NamedTuple):
    """Pairs of one world, or room for them.

    owner, partner (P,): vertex and triangle, or edge and edge (rows of the skin); ids (P, 4): particles,
    one against three or two against two; distance (P,) where it was searched from [m]; keep (P,): the
    distance that it shall not go below [m]: the sum of both radii, or the distance at rest if that is less.
    """

    owner: Array
    partner: Array
    ids: Array
    distance: Array
    keep: Array


class Search(NamedTuple):
    """Room for a search: trees over the vertices, edges and triangles of a skin, and counters to sort by."""

    vertices: Boxes
    edges: Boxes
    triangles: Boxes
    counter: Array


def empty_pairs(room: int) -> Pairs:
    """Room for pairs."""
    return Pairs(
        np.zeros(room, np.int32),
        np.zeros(room, np.int32),
        np.zeros((room, 4), np.int32),
        np.zeros(room),
        np.zeros(room),
    )


def room_to_search(skin: Skin) -> Search:
    """Arrays that a search works in."""
    things = max(len(skin.rest), len(skin.edges), len(skin.triangles))
    return Search(
        empty_boxes(len(skin.vertices)),
        empty_boxes(len(skin.edges)),
        empty_boxes(len(skin.triangles)),
        np.zeros(things + 1, np.int64),
    )


@kernel(inline=True)
def point(x: Any, i: Any) -> Vec:
    """Row i."""
    return x[i, 0], x[i, 1], x[i, 2]


@kernel
def corner_gap2(x: Any, i: Any, ia: Any, ib: Any, ic: Any) -> Any:
    """Squared distance of a vertex from a triangle."""
    return vertex_triangle(point(x, i), point(x, ia), point(x, ib), point(x, ic))[0]


@kernel
def edge_gap2(x: Any, i: Any, j: Any, ia: Any, ib: Any) -> Any:
    """Squared distance of two edges."""
    return edge_edge(point(x, i), point(x, j), point(x, ia), point(x, ib))[0]


@kernel(inline=True)
def most(margin: Any, ids: Any, k: Any) -> Any:
    """The largest margin of the corners of an edge or a triangle."""
    out = margin[ids[k, 0]]
    for c in range(1, ids.shape[1]):
        out = max(out, margin[ids[k, c]])
    return out


@kernel
def enclose(x: Any, margin: Any, ids: Any, box: Any) -> None:
    """Boxes of edges or triangles, by the largest margin of their corners larger."""
    for k in range(ids.shape[0]):
        around = most(margin, ids, k)
        for m in range(3):
            low, high = np.inf, -np.inf
            for c in range(ids.shape[1]):
                low = min(low, x[ids[k, c], m])
                high = max(high, x[ids[k, c], m])
            box[k, m], box[k, m + 3] = low - around, high + around


@kernel(inline=True)
def note(p: Any, n: Any, owner: Any, partner: Any, d2: Any) -> Any:
    """Write a pair into place n, if there is one; the next place."""
    if n < p.owner.size:
        p.owner[n], p.partner[n], p.distance[n] = owner, partner, math.sqrt(d2)
    return n + 1


@kernel(inline=True)
def try_corner(x: Any, margin: Any, skin: Any, i: Any, t: Any, p: Any, n: Any) -> Any:
    """List vertex i and triangle t if they are near; the next place."""
    ia, ib, ic = skin.triangles[t, 0], skin.triangles[t, 1], skin.triangles[t, 2]
    if i in (ia, ib, ic):
        return n
    reach = skin.radius[i] + skin.radius[ia] + margin[i] + most(margin, skin.triangles, t)
    o = point(x, ia)
    if beyond(minus(point(x, i), o), minus(point(x, ib), o), minus(point(x, ic), o), reach):
        return n
    d2 = corner_gap2(x, i, ia, ib, ic)
    return note(p, n, i, t, d2) if d2 < reach * reach else n


@kernel(inline=True)
def try_edges(x: Any, margin: Any, skin: Any, e: Any, f: Any, p: Any, n: Any) -> Any:
    """List two edges if they are near; the next place."""
    if e > f:
        e, f = f, e
    i, j, k, l = skin.edges[e, 0], skin.edges[e, 1], skin.edges[f, 0], skin.edges[f, 1]
    if k in (i, j) or l in (i, j):
        return n
    reach = skin.radius[i] + skin.radius[k] + most(margin, skin.edges, e) + most(margin, skin.edges, f)
    p0, p2 = point(x, i), point(x, k)
    if beyond(minus(p2, p0), minus(point(x, j), p0), minus(point(x, l), p2), reach):
        return n
    d2 = edge_gap2(x, i, j, k, l)
    return note(p, n, e, f, d2) if d2 < reach * reach else n


@kernel
def join_corners(x: Any, margin: Any, skin: Any, search: Any, gap: Any, p: Any, n: Any) -> Any:
    """List vertices near triangles from place n on, leaf by leaf; the place after them."""
    own, b = search.vertices, search.triangles
    first, half = own.node.shape[0] // 2, b.node.shape[0] // 2
    for leaf in range(-(-own.item.shape[0] // LEAF)):
        node = 1
        while node > 0:
            if apart(own.node, first + leaf, b.node, node, gap):
                node = next_node(node)
                continue
            if node < half:
                node *= 2
                continue
            for a in range(leaf * LEAF, min((leaf + 1) * LEAF, own.item.shape[0])):
                v = own.order[0, a]
                for k in range((node - half) * LEAF, min((node - half + 1) * LEAF, b.item.shape[0])):
                    if not apart(own.item, v, b.item, b.order[0, k], gap):
                        n = try_corner(x, margin, skin, skin.vertices[v], b.order[0, k], p, n)
            node = next_node(node)
    return n


@kernel
def join_edges(x: Any, margin: Any, skin: Any, search: Any, gap: Any, p: Any, n: Any) -> Any:
    """List edges near edges from place n on, each leaf with itself and those after it; the place after."""
    b = search.edges
    half = b.node.shape[0] // 2
    for leaf in range(-(-b.item.shape[0] // LEAF)):
        node = half + leaf
        while node > 0:
            if apart(b.node, half + leaf, b.node, node, gap):
                node = next_node(node)
                continue
            if node < half:
                node *= 2
                continue
            for a in range(leaf * LEAF, min((leaf + 1) * LEAF, b.item.shape[0])):
                e = b.order[0, a]
                start = max(a + 1, (node - half) * LEAF)
                for k in range(start, min((node - half + 1) * LEAF, b.item.shape[0])):
                    if not apart(b.item, e, b.item, b.order[0, k], gap):
                        n = try_edges(x, margin, skin, e, b.order[0, k], p, n)
            node = next_node(node)
    return n


@kernel
def sort_by(key: Any, p: Any, q: Any, start: Any, stop: Any, count: Any) -> None:
    """Copy places ``start`` to ``stop`` of p to q, by ascending key (P,), equal ones in the order they have.

    count: room, one more than there are keys.
    """
    count[:] = 0
    for k in range(start, stop):
        count[key[k] + 1] += 1
    for k in range(1, count.size):
        count[k] += count[k - 1]
    for k in range(start, stop):
        n = start + count[key[k]]
        count[key[k]] += 1
        q.owner[n], q.partner[n], q.distance[n] = p.owner[k], p.partner[k], p.distance[k]


@kernel
def find(x: Any, margin: Any, skin: Any, search: Any, p: Any, q: Any) -> Any:
    """Fill the list p of a world; (pairs with a triangle, all pairs), counted on beyond the room there is.

    x (N, 3), margin (N,) [m]: how far each vertex may move until the list is made again. q: as p, to sort.
    """
    gap = 0.0
    for i in skin.vertices:
        gap = max(gap, 2.0 * skin.radius[i])
    for k in range(skin.vertices.size):
        i = skin.vertices[k]
        for m in range(3):
            search.vertices.item[k, m] = x[i, m] - margin[i]
            search.vertices.item[k, m + 3] = x[i, m] + margin[i]
    enclose(x, margin, skin.edges, search.edges.item)
    enclose(x, margin, skin.triangles, search.triangles.item)
    build_tree(search.vertices)
    build_tree(search.edges)
    build_tree(search.triangles)
    corners = join_corners(x, margin, skin, search, gap, p, 0)
    n = join_edges(x, margin, skin, search, gap, p, corners)
    if n > p.owner.size:
        return corners, n
    for start, stop in ((0, corners), (corners, n)):
        sort_by(p.partner, p, q, start, stop, search.counter)
        sort_by(q.owner, q, p, start, stop, search.counter)
    for k in range(n):
        describe(skin, p, k, k < corners)
    return corners, n


@kernel
def describe(skin: Any, p: Any, k: Any, corner: Any) -> None:
    """Fill in the particles of a pair, and the distance that it keeps."""
    if corner:
        p.ids[k, 0] = p.owner[k]
        for c in range(3):
            p.ids[k, c + 1] = skin.triangles[p.partner[k], c]
        other = p.ids[k, 1]
    else:
        for c in range(2):
            p.ids[k, c] = skin.edges[p.owner[k], c]
            p.ids[k, c + 2] = skin.edges[p.partner[k], c]
        other = p.ids[k, 2]
    keep = skin.radius[p.ids[k, 0]] + skin.radius[other]
    if skin.piece[p.ids[k, 0]] == skin.piece[other]:
        a, b, c, d = p.ids[k, 0], p.ids[k, 1], p.ids[k, 2], p.ids[k, 3]
        d2 = corner_gap2(skin.rest, a, b, c, d) if corner else edge_gap2(skin.rest, a, b, c, d)
        keep = min(keep, math.sqrt(d2))
    p.keep[k] = keep


def find_pairs(x: Array, skin: Skin, margin: Array | float = 0.0) -> tuple[Pairs, int]:
    """Near pairs of one world at positions x (N, 3) [m], and how many of them have a triangle.

    margin [m], one number or (N,): how much farther a pair may be than it keeps, for each of its ends.
    """
    x = np.array(x, np.float64, order="C")
    m = np.array(np.broadcast_to(np.asarray(margin, np.float64), (len(x),)))
    search, room = room_to_search(skin), 1024
    while True:
        pairs = empty_pairs(room)
        corners, n = find(x, m, skin, search, pairs, empty_pairs(room))
        if n <= room:
            return Pairs(*(a[:n] for a in pairs)), int(corners)
        room = int(n)
