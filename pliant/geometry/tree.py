"""A balanced tree of boxes over triangles, for finding the nearest one. Plain arrays, built once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray

LEAF = 4
"""Triangles in a leaf, at most."""


class BoxTree(NamedTuple):
    """A complete binary tree. Node 1 is the root, node n has the children 2 n and 2 n + 1.

    order (F,): triangles leaf by leaf; leaf j of the 2^depth leaves holds those from F j >> depth to
    F (j + 1) >> depth. box (2^(depth + 1), 6): lowest and highest corner of each node; row 0 is unused.
    """

    order: Array
    depth: int
    box: Array


def box_tree(corners: Array) -> BoxTree:
    """Tree over triangles with corners (F, 3, 3): halved along the longest side of the centres' box."""
    n = len(corners)
    depth = max(0, int(np.ceil(np.log2(n / LEAF))))
    centre = corners.mean(axis=1)
    order = np.arange(n)
    for level in range(depth):
        bounds = n * np.arange(2**level + 1) >> level
        segment = np.repeat(np.arange(2**level), np.diff(bounds))
        c = centre[order]
        span = np.maximum.reduceat(c, bounds[:-1]) - np.minimum.reduceat(c, bounds[:-1])
        key = c[np.arange(n), span.argmax(axis=1)[segment]]
        order = order[np.lexsort((key, segment))]
    first = (n * np.arange(2**depth) >> depth).astype(np.int64)
    box = np.zeros((2 ** (depth + 1), 6))
    low, high = corners.min(axis=1)[order], corners.max(axis=1)[order]
    box[2**depth :, :3] = np.minimum.reduceat(low, first)
    box[2**depth :, 3:] = np.maximum.reduceat(high, first)
    for level in range(depth - 1, -1, -1):
        a, b = 2**level, 2 ** (level + 1)
        child = box[b : 2 * b].reshape(a, 2, 6)
        box[a:b, :3] = child[:, :, :3].min(axis=1)
        box[a:b, 3:] = child[:, :, 3:].max(axis=1)
    return BoxTree(order, depth, box)
