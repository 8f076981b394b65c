"""Part a surface where an edge has more than two triangles, or where only a vertex holds it together."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from pliant.errors import MeshError
from pliant.geometry import defects
from pliant.geometry.defects import EdgeGroups

Array = np.ndarray

WAYS = 3
"""Ways to pair the triangles of a crowded edge, tried in turn: the flattest, neighbours, other neighbours."""


class Parted(NamedTuple):
    """triangles (F, 3); source (N',): the vertex that each vertex is a copy of, the old ones first; n_edges
    that had more than two triangles."""

    triangles: Array
    source: Array
    n_edges: int


def split_apart(x: Array, triangles: Array, edges: bool, bow_ties: bool, where: str) -> Parted | None:
    """Give vertices copies, until no edge has more than two triangles and, if wanted, no vertex is a bow tie.

    The two triangles of an edge that lie flattest to each other stay together, then the next two. Where that
    parts nothing, for the surface comes round to the same edge again, neighbours around the edge are paired.
    The fan of most triangles keeps a vertex, others get copies. None where there is nothing to part.

    Raises MeshError, which names ``where``, for an edge that no pairing parts.
    """
    groups = defects.edge_groups(triangles)
    crowded = np.flatnonzero(groups.count > 2)
    if not edges or not len(crowded):
        links = defects.all_links(groups) if len(crowded) else groups.pairs
        found = _parted(triangles, groups, links, np.full(len(x), bow_ties), len(x))
        return None if found is None else Parted(*found, 0)
    at_crowd = np.full(len(x), bow_ties)
    side = groups.order[groups.first[crowded]]
    at_crowd[groups.tail[side]] = at_crowd[groups.head[side]] = True
    way = np.zeros(len(crowded), int)
    for _ in range(WAYS):
        pairs = [
            _pairs(x, triangles, groups, *each) for each in zip(crowded.tolist(), way.tolist(), strict=True)
        ]
        found = _parted(triangles, groups, np.concatenate([groups.pairs, *pairs]), at_crowd, len(x))
        left = crowded if found is None else _still_crowded(found[0], groups, crowded)
        if found is not None and not len(left):
            return Parted(*found, len(crowded))
        way[np.isin(crowded, left)] += 1
    faces = sorted((groups.sides(left[0]) // 3).tolist())
    raise MeshError(
        f"{where}: edge {tuple(groups.edges[left[0]].tolist())} has {len(faces)} triangles, {faces[:8]} "
        f"({len(left)} such edges), and the surface cannot be parted there alone; remove some of them"
    )


def _parted(
    triangles: Array, groups: EdgeGroups, links: Array, may: Array, n: int
) -> tuple[Array, Array] | None:
    """Triangles and sources when only links hold corners together; may (N,): vertices that may be parted."""
    fan = defects.fans(triangles, links)
    n_corners = np.bincount(fan, minlength=len(fan))
    lead = np.flatnonzero(fan == np.arange(len(fan)))
    vertex = groups.tail[lead]
    order = np.lexsort((lead, -n_corners[lead], vertex))
    first = np.ones(len(order), bool)
    first[1:] = np.diff(vertex[order]) != 0
    more = order[~first]
    more = np.sort(more[may[vertex[more]]])
    if not len(more):
        return None
    name = vertex.copy()
    name[more] = n + np.arange(len(more))
    of_fan = np.empty(len(fan), np.int64)
    of_fan[lead] = name
    return of_fan[fan].reshape(-1, 3), np.concatenate([np.arange(n), vertex[more]])


def _still_crowded(triangles: Array, groups: EdgeGroups, crowded: Array) -> Array:
    """Those of the old edges whose sides still come to more than two on one edge."""
    now = defects.edge_groups(triangles)
    bad = now.count > 2
    busy = np.zeros(len(now.order), bool)
    busy[now.order] = np.repeat(bad, now.count)
    return np.array([e for e in crowded if busy[groups.sides(e)].any()], np.int64)


def _pairs(x: Array, triangles: Array, groups: EdgeGroups, edge: int, way: int) -> Array:
    """Pairs (P, 2) of the sides of one edge that stay together, no side twice."""
    sides = groups.sides(edge)
    a, b = groups.tail[sides[0]], groups.head[sides[0]]
    along = (x[b] - x[a]) / np.linalg.norm(x[b] - x[a])
    arm = x[triangles[sides // 3, (sides % 3 + 2) % 3]] - x[a]
    arm = arm - np.outer(arm @ along, along)
    arm = arm / np.maximum(np.linalg.norm(arm, axis=1, keepdims=True), np.finfo(float).tiny)
    if way > 0:
        angle = np.round(np.arctan2(arm @ np.cross(along, arm[0]), arm @ arm[0]), 9)
        around = np.roll(np.argsort(angle, kind="stable"), 1 - way)
        return sides[around[: len(around) // 2 * 2]].reshape(-1, 2)
    cosine = np.round(arm @ arm.T, 9)  # ties are for the order of the file to break, not for rounding
    taken: set[int] = set()
    pairs = []
    for i, j in sorted(combinations(range(len(sides)), 2), key=lambda p: (cosine[p], p)):
        if not {i, j} & taken:
            taken |= {i, j}
            pairs.append([sides[i], sides[j]])
    return np.array(pairs, np.int64)
