"""A tree of boxes over moving things, rebuilt from their places in linear time.

The leaves follow a Z-shaped curve through the places (Morton 1966; Lauterbach et al. 2009, Fast BVH
Construction on GPUs), the tree is an implicit binary heap. What a search finds is sorted by whoever asks, so
nothing that is reported depends on the tree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..backend.jit import kernel

Array = np.ndarray

LEAF = 4
"""Things in a leaf, at most."""

BITS, DIGIT = 10, 1 << 10
"""Bits of a place on each axis; a place is sorted by three digits of so many bits."""


class Boxes(NamedTuple):
    """item (n, 6): lowest and highest corner of each thing; order (2, n): things along the curve, and room to
    sort; code (2, n): their places on the curve; node (2 P, 6): corners of the nodes. Node 1 is the root,
    node k has children 2 k and 2 k + 1, the last P nodes are leaves of LEAF things each in ``order[0]``."""

    item: Array
    order: Array
    code: Array
    node: Array


def empty_boxes(n: int) -> Boxes:
    """Room for n things."""
    leaves = max(1, -(-n // LEAF))
    p = 1 << (leaves - 1).bit_length()
    return Boxes(
        np.zeros((n, 6)), np.zeros((2, n), np.int32), np.zeros((2, n), np.uint32), np.zeros((2 * p, 6))
    )


@kernel
def place_on_curve(x: Any, y: Any, z: Any) -> Any:
    """Three numbers of BITS bits with their bits interleaved."""
    code = np.uint32(0)
    for bit in range(BITS):
        code |= ((x >> np.uint32(bit)) & np.uint32(1)) << np.uint32(3 * bit)
        code |= ((y >> np.uint32(bit)) & np.uint32(1)) << np.uint32(3 * bit + 1)
        code |= ((z >> np.uint32(bit)) & np.uint32(1)) << np.uint32(3 * bit + 2)
    return code


@kernel
def sort_along_curve(b: Any) -> None:
    """Fill ``order`` and ``code`` of the boxes."""
    n = b.item.shape[0]
    start = (b.item[0, 0], b.item[0, 1], b.item[0, 2])
    extent = 0.0
    for m in range(3):
        low, high = np.inf, -np.inf
        for i in range(n):
            low = min(low, b.item[i, m] + b.item[i, m + 3])
            high = max(high, b.item[i, m] + b.item[i, m + 3])
        extent = max(extent, high - low)
        if m == 0:
            start = (low, start[1], start[2])
        elif m == 1:
            start = (start[0], low, start[2])
        else:
            start = (start[0], start[1], low)
    scale = (DIGIT - 1) / extent if extent > 0.0 else 0.0
    for i in range(n):
        b.code[0, i] = place_on_curve(
            np.uint32((b.item[i, 0] + b.item[i, 3] - start[0]) * scale),
            np.uint32((b.item[i, 1] + b.item[i, 4] - start[1]) * scale),
            np.uint32((b.item[i, 2] + b.item[i, 5] - start[2]) * scale),
        )
        b.order[0, i] = i
    count = np.empty(DIGIT + 1, np.int64)
    for digit in range(3):
        source, target = digit % 2, (digit + 1) % 2
        shift = np.uint32(digit * BITS)
        count[:] = 0
        for i in range(n):
            count[((b.code[source, i] >> shift) & np.uint32(DIGIT - 1)) + 1] += 1
        for k in range(DIGIT):
            count[k + 1] += count[k]
        for i in range(n):
            k = (b.code[source, i] >> shift) & np.uint32(DIGIT - 1)
            b.code[target, count[k]] = b.code[source, i]
            b.order[target, count[k]] = b.order[source, i]
            count[k] += 1
    for i in range(n):  # after three digits the result lies in the second row
        b.order[0, i] = b.order[1, i]


@kernel
def raise_tree(b: Any) -> None:
    """Corners of all nodes, from those of the things up."""
    n, half = b.item.shape[0], b.node.shape[0] // 2
    for k in range(half):
        for m in range(3):
            low, high = np.inf, -np.inf
            for i in range(k * LEAF, min((k + 1) * LEAF, n)):
                low = min(low, b.item[b.order[0, i], m])
                high = max(high, b.item[b.order[0, i], m + 3])
            b.node[half + k, m], b.node[half + k, m + 3] = low, high
    for k in range(half - 1, 0, -1):
        for m in range(3):
            b.node[k, m] = min(b.node[2 * k, m], b.node[2 * k + 1, m])
            b.node[k, m + 3] = max(b.node[2 * k, m + 3], b.node[2 * k + 1, m + 3])


@kernel
def build_tree(b: Any) -> None:
    """The tree over the boxes as they are now."""
    if b.item.shape[0] > 0:
        sort_along_curve(b)
        raise_tree(b)


@kernel
def apart(a: Any, i: Any, b: Any, j: Any, gap: Any) -> Any:
    """True where box i of ``a`` is farther than ``gap`` from box j of ``b`` along an axis."""
    return (  # without branches: most of a search is this, and no processor guesses its outcome
        (a[i, 0] - gap > b[j, 3])
        | (a[i, 3] + gap < b[j, 0])
        | (a[i, 1] - gap > b[j, 4])
        | (a[i, 4] + gap < b[j, 1])
        | (a[i, 2] - gap > b[j, 5])
        | (a[i, 5] + gap < b[j, 2])
    )
