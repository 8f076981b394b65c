"""Who touches whom: edges, hinges, boundaries, pieces, incidence. Pure index work on (F, 3) triangles."""

from __future__ import annotations

import numpy as np

from pliant.errors import MeshError


def edges(triangles: np.ndarray) -> np.ndarray:
    """Every edge once: (E, 2) int32, smaller id first, rows in lexicographic order."""
    return edge_use(triangles)[0]


def edge_use(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every edge once and the number of triangles on it: (E, 2) int32, (E,) int32.

    A count of 1 is a boundary edge, above 2 the edge is non-manifold.
    """
    low, high, _ = _half_edges(triangles)
    base = _base(triangles)
    keys, counts = np.unique(low * base + high, return_counts=True)
    return np.stack([keys // base, keys % base], axis=1).astype(np.int32), counts.astype(np.int32)


def hinges(triangles: np.ndarray) -> np.ndarray:
    """The two triangles across every inner edge: (H, 4) int32 rows (i, j, k, l), ordered by edge.

    (i, j, k) has the winding of the first of the two triangles (the one with the smaller index) and
    (j, i, l) continues it across the edge: the winding of the second where the mesh is consistently wound,
    and the second flipped where it is not (see :func:`inconsistent_edges`). Boundary edges have no hinge.

    Raises MeshError for an edge with more than two triangles; the message names the edge and its triangles.
    """
    pairs = _paired_half_edges(triangles)
    first, second = pairs[:, 0], pairs[:, 1]
    tri = np.asarray(triangles)
    n = len(tri)
    corner = np.concatenate([tri[:, 2], tri[:, 0], tri[:, 1]])
    start = np.concatenate([tri[:, 0], tri[:, 1], tri[:, 2]])
    end = np.concatenate([tri[:, 1], tri[:, 2], tri[:, 0]])
    swap = (second % n) < (first % n)
    one, two = np.where(swap, second, first), np.where(swap, first, second)
    return np.stack([start[one], end[one], corner[one], corner[two]], axis=1).astype(np.int32)


def inconsistent_edges(triangles: np.ndarray) -> np.ndarray:
    """Inner edges that both triangles run through in the same direction: (M, 2) int32, smaller id first."""
    pairs = _paired_half_edges(triangles)
    low, high, forward = _half_edges(triangles)
    bad = pairs[forward[pairs[:, 0]] == forward[pairs[:, 1]], 0]
    return np.stack([low[bad], high[bad]], axis=1).astype(np.int32)


def oriented(triangles: np.ndarray) -> np.ndarray:
    """The same faces (F, 3), wound alike in each piece that edges join; its first face keeps its winding.

    Raises MeshError where that cannot be (a Möbius strip), or for an edge with more than two triangles.
    """
    pairs = _paired_half_edges(triangles)
    _, _, forward = _half_edges(triangles)
    n = len(triangles)
    differ = forward[pairs[:, 0]] == forward[pairs[:, 1]]
    faces = pairs % n
    ends = np.concatenate([faces, faces[:, ::-1]])
    start, rows = vertex_incidence(ends[:, :1], n)
    other, turn = ends[:, 1].tolist(), np.concatenate([differ, differ]).tolist()
    flip: list[bool | None] = [None] * n
    for first in range(n):
        if flip[first] is not None:
            continue
        flip[first], front = False, [first]
        while front:
            f = front.pop()
            for row in rows[start[f] : start[f + 1]].tolist():
                if flip[other[row]] is None:
                    flip[other[row]] = flip[f] != turn[row]
                    front.append(other[row])
    turned = np.array(flip, bool)
    if (turned[faces[:, 0]] ^ turned[faces[:, 1]] ^ differ).any():
        raise MeshError("the surface has one side only, like a Möbius strip: it cannot be oriented")
    return np.where(turned[:, None], np.asarray(triangles)[:, ::-1], triangles)


def non_manifold_edges(triangles: np.ndarray) -> np.ndarray:
    """Edges with more than two triangles: (M, 2) int32, smaller id first."""
    rows, counts = edge_use(triangles)
    return rows[counts > 2]


def boundary_edges(triangles: np.ndarray) -> np.ndarray:
    """Edges with one triangle: (M, 2) int32, directed as in it, ordered by (smaller, larger) id."""
    low, high, forward = _half_edges(triangles)
    order, group_start = _groups(low * _base(triangles) + high)
    alone = order[group_start[:-1][np.diff(group_start) == 1]]
    a, b = low[alone], high[alone]
    out = np.where(forward[alone][:, None], np.stack([a, b], axis=1), np.stack([b, a], axis=1))
    return out.astype(np.int32)


def boundary_loops(triangles: np.ndarray) -> list[np.ndarray]:
    """The border as closed chains of vertex ids, each (L,) int32, longest first (then smallest vertex).

    Each loop starts at its smallest vertex and runs as the triangles do where the winding is consistent (the
    surface lies to the left, seen from the side the normals point to). Where loops meet in one vertex (a bow
    tie) they are parted there, so that no loop passes a vertex twice.

    Raises MeshError where the border does not close (only next to non-manifold edges).
    """
    border = boundary_edges(triangles)
    ahead: dict[int, list[int]] = {}
    behind: dict[int, list[int]] = {}
    for edge, (a, b) in enumerate(border.tolist()):
        ahead.setdefault(a, []).append(edge)
        behind.setdefault(b, []).append(edge)
    left = [True] * len(border)
    loops = []
    for edge in range(len(border)):
        while left[edge]:
            loops.append(_walk_loop(edge, border, ahead, behind, left))
    return sorted(loops, key=lambda loop: (-len(loop), int(loop[0])))


def components(triangles: np.ndarray, n_vertices: int) -> np.ndarray:
    """The piece each vertex belongs to: (n_vertices,) int32, numbered by smallest vertex.

    Vertices joined by an edge share a piece; an unreferenced vertex is a piece of its own.
    """
    pairs = edges(triangles).astype(np.int64)
    parent = np.arange(n_vertices)
    while len(pairs):
        low = np.minimum(pairs[:, 0], pairs[:, 1])
        np.minimum.at(parent, np.maximum(pairs[:, 0], pairs[:, 1]), low)
        while True:
            jumped = parent[parent]
            if np.array_equal(jumped, parent):
                break
            parent = jumped
        pairs = parent[pairs]
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return np.unique(parent, return_inverse=True)[1].astype(np.int32)


def vertex_incidence(ids: np.ndarray, n_vertices: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of ``ids`` (E, k) that use each vertex, as CSR: start (n_vertices + 1,), row ids (E k,), int32.

    Rows of vertex v are ``rows[start[v]:start[v + 1]]``, ascending.
    """
    flat = np.asarray(ids)
    width = flat.shape[1]
    order = np.argsort(flat.ravel(), kind="stable")
    start = np.zeros(n_vertices + 1, dtype=np.int32)
    np.cumsum(np.bincount(flat.ravel(), minlength=n_vertices), out=start[1:])
    return start, (order // width).astype(np.int32)


def _base(triangles: np.ndarray) -> int:
    return int(np.max(triangles, initial=0)) + 1


def _half_edges(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Half-edge s F + f is side s of triangle f: smaller id, larger id, whether it runs from the smaller."""
    tri = np.asarray(triangles, dtype=np.int64).reshape(-1, 3)
    start = np.concatenate([tri[:, 0], tri[:, 1], tri[:, 2]])
    end = np.concatenate([tri[:, 1], tri[:, 2], tri[:, 0]])
    return np.minimum(start, end), np.maximum(start, end), start < end


def _groups(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    change = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    bounds = [0] if len(keys) else []
    return order, np.concatenate([bounds, change, [len(keys)]]).astype(np.int64)


def _paired_half_edges(triangles: np.ndarray) -> np.ndarray:
    low, high, _ = _half_edges(triangles)
    order, start = _groups(low * _base(triangles) + high)
    count = np.diff(start)
    if (count > 2).any():
        worst = int(np.flatnonzero(count > 2)[0])
        half = order[start[worst] : start[worst + 1]]
        faces = sorted((half % len(triangles)).tolist())
        raise MeshError(
            f"edge ({low[half[0]]}, {high[half[0]]}) has {len(faces)} triangles, {faces[:8]} "
            f"({int((count > 2).sum())} such edges); cloth needs at most two: split the mesh there"
        )
    inner = start[:-1][count == 2]
    return np.stack([order[inner], order[inner + 1]], axis=1)


def _walk_loop(
    edge: int,
    border: np.ndarray,
    ahead: dict[int, list[int]],
    behind: dict[int, list[int]],
    left: list[bool],
) -> np.ndarray:
    """Follow unused border edges until a vertex returns; give the loop so closed back, return the others."""
    start = int(border[edge, 0])
    path, taken, seen = [start], [], {start: 0}
    vertex, current = start, edge
    while True:
        a, b = border[current].tolist()
        vertex = b if vertex == a else a
        left[current] = False
        taken.append(current)
        if vertex in seen:
            at = seen[vertex]
            for unused in taken[:at]:
                left[unused] = True
            loop = np.array(path[at:], dtype=np.int32)
            return np.roll(loop, -int(np.argmin(loop)))
        seen[vertex] = len(path)
        path.append(vertex)
        follow = [e for e in ahead.get(vertex, []) if left[e]] or [
            e for e in behind.get(vertex, []) if left[e]
        ]
        if not follow:
            raise MeshError(
                f"the border does not close at vertex {vertex}; mend the non-manifold edges there"
            )
        current = follow[0]
