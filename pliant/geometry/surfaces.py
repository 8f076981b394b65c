"""Surfaces that have two sides: pieces of a triangle mesh, wound coherently, with normals for every corner.

A *piece* is what hangs together over edges that two faces share. Where four or more faces meet in an edge
they are joined two by two around it, so that solids which touch along an edge stay apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import MeshError
from . import topology

Array = np.ndarray

EMPTY = 1e-9
"""A closed piece encloses nothing when its volume is at most this share of its area to the power 3/2."""


FLUSH = 1e-6
"""Faces that meet in an edge at a smaller angle [rad] lie on each other."""


@dataclass(frozen=True, eq=False)
class Piece:
    """A surface in one piece.

    triangles (F, 3): coherently wound; of closed pieces, normals point out
    closed     no edge is left open
    turned     how many faces run against the winding of the others in the file
    volume     enclosed [m^3]; 0 for open pieces
    """

    triangles: Array
    closed: bool
    turned: int
    volume: float


@dataclass(frozen=True, eq=False)
class Surfaces:
    """The pieces of a mesh, largest first, over common vertices (N, 3) [m]; doubled: faces left out because
    another stands on the same three places."""

    vertices: Array
    pieces: tuple[Piece, ...]
    doubled: int

    @property
    def turned(self) -> int:
        """Faces that had to be turned over."""
        return sum(p.turned for p in self.pieces)


def surfaces(vertices: Array, triangles: Array, where: str) -> Surfaces:
    """Wind a mesh coherently, piece by piece.

    Where the mesh has open edges, vertices at one place count as one. Of faces on the same three vertices one
    is kept, unless they part two solids that touch. Raises MeshError, which names ``where``, for an edge with
    an odd number of faces above one, and for a piece that has only one side (a Möbius strip).
    """
    x, tri = _closed_up(np.asarray(vertices, float), np.asarray(triangles, np.int64))
    once = np.sort(np.unique(np.sort(tri, axis=1), axis=0, return_index=True)[1])
    if len(once) < len(tri):
        try:
            pieces = _pieces(x, tri, where)
            if all(p.volume > 0 for p in pieces if p.closed):
                return Surfaces(x, pieces, 0)
        except MeshError:
            pass  # not two solids with a wall between them
    return Surfaces(x, _pieces(x, tri[once], where), len(tri) - len(once))


def _pieces(x: Array, tri: Array, where: str) -> tuple[Piece, ...]:
    """The pieces of a mesh, largest first."""
    pairs = _joined_sides(x, tri, where)
    turn, label = _turns(tri, pairs, where)
    open_sides = np.ones(3 * len(tri), bool)
    open_sides[pairs.ravel()] = False
    has_border = np.zeros(len(tri), bool)
    has_border[np.flatnonzero(open_sides) % len(tri)] = True
    pieces = [
        _piece(x, tri[label == k], turn[label == k], not has_border[label == k].any())
        for k in range(int(label.max()) + 1)
    ]
    order = sorted(range(len(pieces)), key=lambda k: (-len(pieces[k].triangles), k))
    return tuple(pieces[k] for k in order)


def _closed_up(x: Array, tri: Array) -> tuple[Array, Array]:
    """Vertices and faces, those of parts with open edges joined at vertices that stand exactly at one place.

    Parts that are closed as they are stay by themselves, also where they touch others.
    """
    part = topology.components(tri, len(x))
    used, count = topology.edge_use(tri)
    is_open = np.zeros(int(part.max()) + 1, bool)
    is_open[part[used[count == 1, 0]]] = True
    loose = is_open[part[tri[:, 0]]]
    _, first, group = np.unique(x + 0.0, axis=0, return_index=True, return_inverse=True)  # -0 is 0
    ids = np.where(loose[:, None], len(x) + first[group.ravel()][tri], tri)
    kept, ids = np.unique(ids, return_inverse=True)
    return x[kept % len(x)], ids.reshape(-1, 3)


def _joined_sides(x: Array, tri: Array, where: str) -> Array:
    """Sides of faces that are joined, (P, 2); side s of face f is s F + f and runs from corner s to s + 1."""
    start, end = tri.T.ravel(), np.roll(tri, -1, axis=1).T.ravel()
    low, high = np.minimum(start, end), np.maximum(start, end)
    key = low * (int(tri.max()) + 1) + high
    order = np.argsort(key, kind="stable")
    bounds = np.flatnonzero(np.concatenate([[True], np.diff(key[order]) > 0, [True]]))
    count = np.diff(bounds)
    odd = np.flatnonzero((count > 1) & (count % 2 == 1))
    if odd.size:
        side = order[bounds[odd[0]] : bounds[odd[0] + 1]]
        faces = sorted((side % len(tri)).tolist())
        raise MeshError(
            f"{where}: {len(faces)} faces meet in the edge from {_place(x, low[side[0]])} to "
            f"{_place(x, high[side[0]])} ({odd.size} such edges), so the surface has no two sides there; "
            "remove the faces inside, or split the mesh along these edges into several colliders"
        )
    two = bounds[:-1][count == 2]
    pairs = [np.stack([order[two], order[two + 1]], axis=1)]
    for k in np.flatnonzero(count > 2):
        side = order[bounds[k] : bounds[k + 1]]
        pairs.append(_around_edge(x, low[side[0]], high[side[0]], side, tri))
    return np.concatenate(pairs)


def _place(x: Array, v: int) -> str:
    return "(" + ", ".join(f"{c:.6g}" for c in x[v]) + ")"


def _around_edge(x: Array, a: int, b: int, side: Array, tri: Array) -> Array:
    """Join an even number of faces around an edge two by two: neighbours, with the sharpest wedge blunter.

    Faces that lie on each other are taken in the order in which the ways along the edge alternate.
    """
    n = len(tri)
    opposite = tri[side % n, (side // n + 2) % 3]
    along = (x[b] - x[a]) / np.linalg.norm(x[b] - x[a])
    across = x[opposite] - x[a]
    across -= np.outer(across @ along, along)
    u = across[0] / np.linalg.norm(across[0])
    angle = np.arctan2(across @ np.cross(along, u), across @ u)
    forward = tri[side % n, side // n] == a
    left = np.argsort(angle, kind="stable").tolist()
    while len(left) > 1 and angle[left[1]] - angle[left[0]] < FLUSH:  # begin where one face stands alone
        left = [*left[1:], left[0]]
        angle[left[-1]] += 2 * np.pi
    order = [left.pop(0)]
    while left:
        flush = [k for k in left if angle[k] - angle[left[0]] < FLUSH]
        turns = [k for k in flush if forward[k] != forward[order[-1]]]
        order.append((turns or flush)[0])
        left.remove(order[-1])
    wedge = np.diff(np.append(angle[order], angle[order[0]] + 2 * np.pi))
    if wedge[1::2].min() > wedge[::2].min() + FLUSH:
        order = [*order[1:], order[0]]
    return side[order].reshape(-1, 2)


def _turns(tri: Array, pairs: Array, where: str) -> tuple[Array, Array]:
    """Which faces to turn so that neighbours agree (F,), and the piece of each face (F,).

    Every face appears twice, as it is and turned over; joined sides link what fits together. A piece with two
    sides falls into two mirror images, one with a single side does not.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n = len(tri)
    start = tri.T.ravel()
    f, g = pairs.T % n
    against = (start[pairs[:, 0]] == start[pairs[:, 1]]).astype(np.int64)  # both run the same way along it
    rows = np.concatenate([f, f + n])
    cols = np.concatenate([g + n * against, g + n * (1 - against)])
    links = coo_matrix((np.ones(len(rows), np.int8), (rows, cols)), shape=(2 * n, 2 * n))
    half = connected_components(links, directed=False)[1]
    own, mirror = half[:n], half[n:]
    one_sided = np.flatnonzero(own == mirror)
    if one_sided.size:
        raise MeshError(
            f"{where}: the piece with face {int(one_sided[0])} has only one side, like a Möbius strip, so "
            "nothing can be kept on one side of it; cut it open along edges across the strip"
        )
    first = np.minimum(own, mirror)
    label = np.unique(first, return_inverse=True)[1].ravel()
    return own != first, label


def _piece(x: Array, tri: Array, turn: Array, closed: bool) -> Piece:
    """Turn the smaller part (by area) over, and closed pieces inside out where normals point in."""
    flipped = np.where(turn[:, None], tri[:, ::-1], tri)
    corner = x[flipped]
    area = np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1)
    if area[turn].sum() > 0.5 * area.sum():
        flipped, turn = flipped[:, ::-1], ~turn
    volume = _volume(x[flipped]) if closed else 0.0
    if abs(volume) <= EMPTY * (0.5 * area.sum()) ** 1.5:
        volume = 0.0
    if volume < 0:
        flipped, volume = flipped[:, ::-1], -volume
    return Piece(np.ascontiguousarray(flipped, np.int32), closed, int(turn.sum()), volume)


def _volume(corner: Array) -> float:
    """Signed volume of a closed piece: positive where normals point out."""
    c = corner - corner.mean(axis=(0, 1))
    return float((c[:, 0] * np.cross(c[:, 1], c[:, 2])).sum() / 6)


def normals(x: Array, tri: Array) -> Array:
    """(F, 7, 3): unit normals of a coherently wound piece at each face, its three edges and three corners.

    Edges (corner 0 to 1, 0 to 2, 1 to 2) have the sum of their faces' normals, corners the sum weighted by
    angle: with these the sign of (p - c) . n tells the side of p for the nearest point c wherever that lies
    (Bærentzen and Aanæs 2005, Signed distance computation using the angle weighted pseudonormal).
    """
    corner = x[tri]
    face = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    face /= np.linalg.norm(face, axis=1)[:, None]
    out = np.empty((len(tri), 7, 3))
    out[:, 0] = face
    key = _edge_keys(tri)
    ids = np.unique(key, return_inverse=True)[1].reshape(key.shape)
    total = np.zeros((int(ids.max()) + 1, 3))
    for k in range(3):
        np.add.at(total, ids[:, k], face)
    out[:, 1:4] = total[ids]
    around = np.zeros((len(x), 3))
    for k in range(3):
        u, v = corner[:, (k + 1) % 3] - corner[:, k], corner[:, (k + 2) % 3] - corner[:, k]
        angle = np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), (u * v).sum(axis=1))
        np.add.at(around, tri[:, k], angle[:, None] * face)
    out[:, 4:] = around[tri]
    length = np.linalg.norm(out, axis=2, keepdims=True)
    folded = length <= 1e-12  # faces folded flat onto each other: no direction is better than the face's own
    return np.where(folded, face[:, None], out / np.where(folded, 1.0, length))


def border(tri: Array) -> Array:
    """(F, 7) bool: whether the face (never), its three edges and its three corners lie on the rim."""
    key = _edge_keys(tri)
    _, ids, count = np.unique(key, return_inverse=True, return_counts=True)
    out = np.zeros((len(tri), 7), bool)
    out[:, 1:4] = count[ids.reshape(key.shape)] == 1
    on_rim = np.zeros(int(tri.max()) + 1, bool)
    for k, (a, b) in enumerate(((0, 1), (0, 2), (1, 2))):
        on_rim[tri[out[:, 1 + k]][:, [a, b]]] = True
    out[:, 4:] = on_rim[tri]
    return out


def _edge_keys(tri: Array) -> Array:
    t = np.asarray(tri, np.int64)
    ends = np.stack([t[:, [0, 1]], t[:, [0, 2]], t[:, [1, 2]]], axis=1)
    return ends.min(axis=2) * (int(t.max()) + 1) + ends.max(axis=2)
