"""The shape at rest of hinges across seams: panels that were cut flat lie apart, and a seam joins them."""

from __future__ import annotations

import numpy as np

from pliant.geometry import defects, topology

Array = np.ndarray


def rest_hinges(triangles: Array, x: Array, corners: Array) -> tuple[Array, Array]:
    """Places (K, 3) [m] and rows (H, 4) into them: the shape at rest of hinges of ``triangles``.

    triangles (F, 3) are those that hang together; rows are in the order of their :func:`topology.hinges`.
    x (R, 3) [m] and corners (F, 3) are the same triangles at rest, where a vertex may lie at several places.
    Across an edge that lies at two places the second triangle is laid beside the first, flat, the middles of
    the edges on each other: a seam is flat at rest.
    """
    hinges = topology.hinges(triangles)
    if np.array_equal(triangles, corners) or not len(hinges):
        return x, hinges
    one, other = defects.edge_groups(triangles).pairs.T
    tail = np.asarray(triangles).ravel()
    slot = _slots(one)  # corners of the first triangle: i, j, k
    across = _slots(other)
    turned = tail[across[:, 0]] == tail[slot[:, 0]]
    across[~turned, :2] = across[~turned, 1::-1]  # those of the second one: i, j, l
    place = np.asarray(corners).ravel()
    first, second = x[place[slot]], x[place[across]]
    points = np.concatenate([first, second[:, 2:]], axis=1)
    apart = (first[:, :2] != second[:, :2]).any(axis=(1, 2))
    points[apart, 3] = _beside(first[apart], second[apart])
    return points.reshape(-1, 3), np.arange(4 * len(points)).reshape(-1, 4)


def _slots(side: Array) -> Array:
    """Corners (H, 3) of a triangle from one of its sides on: its tail, its head, the one opposite."""
    f, s = side // 3, side % 3
    return np.stack([side, 3 * f + (s + 1) % 3, 3 * f + (s + 2) % 3], axis=1)


def _beside(first: Array, second: Array) -> Array:
    """Where the third corner of the second triangles comes to lie beside the first ones: (H, 3)."""
    base, along, length = _edge(first)
    up = _height(first, along)
    own, own_along, own_length = _edge(second)
    arm = second[:, 2] - own
    foot = (arm * own_along).sum(axis=1) + 0.5 * (length - own_length)
    height = np.linalg.norm(_height(second, own_along), axis=1)
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    return base + foot[:, None] * along - height[:, None] * up


def _edge(corner: Array) -> tuple[Array, Array, Array]:
    arm = corner[:, 1] - corner[:, 0]
    length = np.linalg.norm(arm, axis=1)
    return corner[:, 0], arm / length[:, None], length


def _height(corner: Array, along: Array) -> Array:
    arm = corner[:, 2] - corner[:, 0]
    return arm - (arm * along).sum(axis=1, keepdims=True) * along
