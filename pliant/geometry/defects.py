"""What is wrong with triangles, as index arrays: whoever shares a place, an edge, a side.

Everything here takes vertices (N, 3) that are finite and triangles (F, 3) of three different valid ids, and
returns ids; which of it is trouble, and what to do about it, is for others to say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray

ON_EDGE = 1e-5
"""A vertex lies on an edge when it is nearer than this fraction of the edge's length."""


@dataclass(frozen=True, eq=False)
class EdgeGroups:
    """The sides of triangles, grouped by edge. Side 3 f + s of triangle f runs from corner s to s + 1.

    tail, head (3F,): ends of each side; order (3F,): sides edge by edge, ascending within one; first (E,):
    where each edge begins in ``order``; count (E,): its sides. Edges are in lexicographic order of their
    ends, the smaller one first.
    """

    tail: Array
    head: Array
    order: Array
    first: Array
    count: Array

    @property
    def edges(self) -> Array:
        """(E, 2), the smaller id first."""
        side = self.order[self.first]
        ends = np.stack([self.tail[side], self.head[side]], axis=1)
        return np.sort(ends, axis=1)

    def sides(self, edge: int) -> Array:
        """Sides of one edge, ascending."""
        return self.order[self.first[edge] : self.first[edge] + self.count[edge]]

    @property
    def open(self) -> Array:
        """Sides that no other triangle shares, by edge."""
        return self.order[self.first[self.count == 1]]

    @property
    def pairs(self) -> Array:
        """(P, 2) sides of the edges with exactly two triangles."""
        at = self.first[self.count == 2]
        return np.stack([self.order[at], self.order[at + 1]], axis=1)


def edge_groups(triangles: Array) -> EdgeGroups:
    """Group the sides of triangles by edge."""
    t = np.asarray(triangles, np.int64).reshape(-1, 3)
    tail, head = t.ravel(), np.roll(t, -1, axis=1).ravel()
    key = np.minimum(tail, head) * (int(t.max(initial=0)) + 1) + np.maximum(tail, head)
    order, first = grouped(key)
    return EdgeGroups(tail, head, order, first, np.diff(np.append(first, len(key))))


def grouped(key: Array) -> tuple[Array, Array]:
    """Order (n,) that sorts integer keys, equal ones in their own order, and where groups begin in it."""
    order = np.argsort(key, kind="stable")
    new = np.ones(len(key), bool)
    new[1:] = np.diff(key[order]) != 0
    return order, np.flatnonzero(new)


def places(x: Array, tolerance: float = 0.0) -> Array:
    """The smallest vertex at the place of each vertex: (N,). With a tolerance [m], chains of near ones count.

    Without one, two vertices share a place when all their coordinates are equal.
    """
    if tolerance > 0.0:
        from scipy.spatial import cKDTree

        return joined(cKDTree(x).query_pairs(tolerance, output_type="ndarray"), len(x))
    order = np.lexsort(x.T)
    new = np.ones(len(x), bool)
    new[1:] = (x[order][1:] != x[order][:-1]).any(axis=1)
    smallest = np.minimum.reduceat(order, np.flatnonzero(new))
    out = np.empty(len(x), np.int64)
    out[order] = smallest[np.cumsum(new) - 1]
    return out


def joined(pairs: Array, n: int) -> Array:
    """The smallest of n items that each is joined to by a chain of pairs (P, 2): (n,)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pairs = np.asarray(pairs, np.int64).reshape(-1, 2)
    links = coo_array((np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    label = connected_components(links, directed=False)[1]
    smallest = np.full(int(label.max(initial=-1)) + 1, n)
    np.minimum.at(smallest, label, np.arange(n))
    return smallest[label]


def doubles(triangles: Array, place: Array) -> tuple[Array, Array]:
    """The triangle that each one is a copy of (F,), itself for most, and whether they are wound alike (F,).

    A copy has the same three vertices, or it stands on the same three places and belongs to another piece:
    the two flat layers of a pillow, sewn along their rim, are no copies of each other.
    """
    own, alike = _twins(triangles, np.arange(len(place)))
    first = own == np.arange(len(own))
    leader, same = _twins(triangles[first], place)
    t = triangles[first]
    ends = np.stack([t.ravel(), np.roll(t, -1, axis=1).ravel()], axis=1)
    piece = joined(ends, len(place))[t[:, 0]]
    apart = piece != piece[leader]
    rows = np.flatnonzero(first)
    copy_of = np.where(apart, rows[leader], rows)
    back = np.zeros(len(first), np.int64)
    back[rows] = np.arange(len(rows))
    return copy_of[back[own]], alike == np.where(apart, same, True)[back[own]]


def _twins(triangles: Array, place: Array) -> tuple[Array, Array]:
    """The first triangle on the same three places (F,), and whether each is wound as that one is (F,)."""
    t = place[triangles]
    n = int(place.max(initial=0)) + 1
    ordered = np.sort(t, axis=1)
    pair = np.unique(ordered[:, 0] * n + ordered[:, 1], return_inverse=True)[1].ravel()
    order, first = grouped(pair * n + ordered[:, 2])
    group = np.zeros(len(t), np.int64)
    group[first[1:]] = 1
    leader = np.empty(len(t), np.int64)
    leader[order] = order[first][np.cumsum(group)]
    start = t.argmin(axis=1)
    rows = np.arange(len(t))
    rising = t[rows, (start + 1) % 3] < t[rows, (start + 2) % 3]
    return leader, rising == rising[leader]


def seam_pairs(triangles: Array, place: Array) -> Array:
    """Vertices to join where open edges lie on each other, (P, 2): a surface that was cut open there.

    Only open edges count, so layers that touch, and solids side by side, stay apart.
    """
    groups = edge_groups(triangles)
    side = groups.open
    a, b = groups.tail[side], groups.head[side]
    low, high = np.minimum(place[a], place[b]), np.maximum(place[a], place[b])
    forward = place[a] < place[b]
    one, other = np.where(forward, a, b), np.where(forward, b, a)
    order, first = grouped(low * (int(place.max(initial=0)) + 1) + high)
    lead = np.repeat(order[first], np.diff(np.append(first, len(order))))
    pairs = np.concatenate(
        [np.stack([one[lead], one[order]], axis=1), np.stack([other[lead], other[order]], axis=1)]
    )
    return pairs[pairs[:, 0] != pairs[:, 1]]


def fans(triangles: Array, links: Array) -> Array:
    """The smallest corner (3 f + s) that each corner hangs together with around its vertex: (3F,).

    links (P, 2): sides across which triangles hang together, in :class:`EdgeGroups`' numbers. A vertex whose
    corners fall into several fans is a bow tie.
    """
    t = np.asarray(triangles, np.int64).reshape(-1, 3)
    tail, one, other = t.ravel(), links[:, 0], links[:, 1]
    after_one, after_other = one - one % 3 + (one + 1) % 3, other - other % 3 + (other + 1) % 3
    same = tail[one] == tail[other]  # both triangles run the same way along the edge
    pairs = np.concatenate(
        [
            np.stack([one, np.where(same, other, after_other)], axis=1),
            np.stack([after_one, np.where(same, after_other, other)], axis=1),
        ]
    )
    return joined(pairs, len(tail))


def all_links(groups: EdgeGroups) -> Array:
    """Pairs of sides (P, 2) that share an edge, each with the edge's first: also where three or more meet."""
    lead = np.repeat(groups.order[groups.first], groups.count)
    pairs = np.stack([lead, groups.order], axis=1)
    return pairs[pairs[:, 0] != pairs[:, 1]]


def bow_ties(triangles: Array, groups: EdgeGroups, n_vertices: int) -> Array:
    """Vertices that hold several fans of triangles together by nothing but themselves, ascending."""
    fan = fans(triangles, all_links(groups))
    leads = np.flatnonzero(fan == np.arange(len(fan)))
    return np.flatnonzero(np.bincount(groups.tail[leads], minlength=n_vertices) > 1)


@dataclass(frozen=True, eq=False)
class Winding:
    """How triangles are wound against each other.

    piece (F,): the piece that each triangle belongs to, over edges of exactly two triangles; turned (F,):
    those that run against the greater part (by area) of their piece; clashes (K, 2): edges, the smaller id
    first, that both triangles run along in one direction; one_sided (S,): pieces like a Möbius strip, in
    which none is called turned.
    """

    piece: Array
    turned: Array
    clashes: Array
    one_sided: Array


def winding(triangles: Array, groups: EdgeGroups, area: Array) -> Winding:
    """Compare the winding of neighbours, piece by piece. area (F,) [m^2]."""
    n, pairs = len(triangles), groups.pairs
    clash = groups.tail[pairs[:, 0]] == groups.tail[pairs[:, 1]]
    f, g = pairs[:, 0] // 3, pairs[:, 1] // 3
    # Every triangle twice, as it is and turned over: a piece with two sides falls into two mirror images.
    links = np.concatenate(
        [np.stack([f, g + n * clash], axis=1), np.stack([f + n, g + n * (1 - clash)], axis=1)]
    )
    half = joined(links, 2 * n)
    own, mirror = half[:n], half[n:]
    lead, piece = np.unique(np.minimum(own, mirror), return_inverse=True)
    piece = piece.ravel()
    turned = own != lead[piece]
    one_sided = np.unique(piece[own == mirror])
    total = np.bincount(piece, area, len(lead))
    wrong = np.bincount(piece, area * turned, len(lead))
    turned ^= (wrong > 0.5 * total * (1 + 1e-9))[piece]
    turned &= ~np.isin(piece, one_sided)
    ends = np.stack([groups.tail[pairs[clash, 0]], groups.head[pairs[clash, 0]]], axis=1)
    return Winding(piece, turned, np.sort(ends, axis=1), one_sided)


def t_vertices(x: Array, triangles: Array, candidates: Array) -> tuple[Array, Array]:
    """Vertices (K,) that lie inside an open edge of which they are no end, and that edge (K, 2).

    A crack opens there: the triangles beyond the edge end at the vertex, the one with the edge does not.
    candidates (M,): vertices to try; of several edges the first counts.
    """
    from scipy.spatial import cKDTree

    groups = edge_groups(triangles)
    side = groups.open
    a, b = groups.tail[side], groups.head[side]
    length = np.linalg.norm(x[b] - x[a], axis=1)
    a, b, length = a[length > 0], b[length > 0], length[length > 0]
    if not len(a) or not len(candidates):
        return np.zeros(0, np.int64), np.zeros((0, 2), np.int64)
    near = cKDTree(x[candidates]).query_ball_point(0.5 * (x[a] + x[b]), 0.5 * length, return_sorted=True)
    size = np.fromiter((len(found) for found in near), np.int64, len(near))
    edge = np.repeat(np.arange(len(a)), size)
    v = candidates[np.concatenate([np.asarray(found, np.int64) for found in near])]
    along = (x[b] - x[a])[edge] / length[edge, None]
    arm = x[v] - x[a[edge]]
    foot = np.einsum("ij,ij->i", arm, along)
    away = np.linalg.norm(arm - foot[:, None] * along, axis=1)
    slack = ON_EDGE * length[edge]
    hit = (away <= slack) & (foot > slack) & (foot < length[edge] - slack)
    v, edge = v[hit], edge[hit]
    found, at = np.unique(v, return_index=True)
    return found, np.stack([a[edge[at]], b[edge[at]]], axis=1)


def aspects(x: Array, triangles: Array) -> Array:
    """Longest edge over the height on it: (F,); 1.15 equilateral, 2 half a square, infinite without area."""
    corner = x[triangles]
    sides = corner - np.roll(corner, 1, axis=1)
    squared = (sides**2).sum(axis=2).max(axis=1)
    doubled = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    return np.divide(squared, doubled, out=np.full(len(squared), np.inf), where=doubled > 0)
