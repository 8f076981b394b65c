"""Who works on what, and where: parts of the tree of blocks, panels of the blocks, memory of the fronts.

All of it follows from the pattern, nothing from the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend.jit import kernel
from .panels import WIDEST

Array = np.ndarray

PART = 1 / 16
"""A subtree with more of the factor's entries than this is split further."""
SMALLEST = 1 / 256
"""A subtree with fewer is left to the top, as is everything in a small factor."""
SMALL = 20_000
"""Entries of a factor that is not worth a second thread."""
PAD = 16
"""Numbers behind each row of a front, that blocks of a kernel may run over."""
DEEP = 64
"""Columns of a front that are eliminated before the rest of it learns of them."""


def parts_of(parent: Array, numbers: Array) -> Array:
    """First and last + 1 block (p, 2) of each subtree that is a part."""
    total = int(numbers.sum())
    if total < SMALL:
        return np.zeros((0, 2), np.int64)
    size, below = subtrees(parent, numbers.astype(np.int64))
    fits = (below <= PART * total) & (below >= SMALLEST * total)
    inside = (parent >= 0) & (below[parent] <= PART * total)
    roots = np.flatnonzero(fits & ~inside)
    return np.stack([roots + 1 - size[roots], roots + 1], axis=1)


@kernel
def subtrees(parent: Any, numbers: Any) -> Any:
    """Blocks (s,) of the subtree under each block, itself too, and the sum (s,) of their numbers."""
    size, below = np.ones(len(parent), np.int64), numbers.copy()
    for s in range(len(parent)):
        if parent[s] >= 0:
            size[parent[s]] += size[s]
            below[parent[s]] += below[s]
    return size, below


def others(parts: Array, blocks: int) -> Array:
    """Blocks that lie in no part, ascending."""
    free = np.ones(blocks, bool)
    for begin, end in parts:
        free[begin:end] = False
    return np.flatnonzero(free).astype(np.int64)


def children(parent: Array) -> tuple[Array, Array]:
    """Offsets (s + 1,) and children, ascending, of each block."""
    ids = np.flatnonzero(parent >= 0)
    by_parent = ids[np.argsort(parent[ids], kind="stable")]
    at = np.concatenate([[0], np.cumsum(np.bincount(parent[ids], minlength=len(parent)))])
    return at.astype(np.int64), by_parent.astype(np.int64)


def outside(n: int, parts: Array, first: Array, rows: Array, rows_at: Array) -> tuple[Array, Array, Array]:
    """Rows with those outside a part replaced by places behind the n unknowns; which these are."""
    solve_rows, found, at = rows.copy(), [np.zeros(0, np.int32)], [0]
    for begin, end in parts:
        mine = slice(rows_at[begin], rows_at[end])
        above = rows[rows_at[end - 1] : rows_at[end]]
        out = rows[mine] >= first[end]
        solve_rows[mine][out] = n + at[-1] + np.searchsorted(above, rows[mine][out])
        found.append(above)
        at.append(at[-1] + len(above))
    return solve_rows, np.concatenate(found).astype(np.int64), np.array(at, np.int64)


@kernel
def panels_of(first: Any, rows_at: Any, rows: Any) -> Any:
    """Panels of all blocks, one after the other.

    out  panels (p, 5): first column, columns, begin and end of its rows below, place of its numbers;
         panel_rows: rows of each block, its own columns first; panel_at (s + 1,): panels of each block
    """
    blocks = len(first) - 1
    at = np.zeros(blocks + 1, np.int64)
    for s in range(blocks):
        at[s + 1] = at[s] + (first[s + 1] - first[s] + WIDEST - 1) // WIDEST
    panels = np.empty((at[blocks], 5), np.int64)
    lists = np.empty(first[blocks] + len(rows), np.int32)
    begin, v, p = 0, 0, 0
    for s in range(blocks):
        width, height = first[s + 1] - first[s], rows_at[s + 1] - rows_at[s]
        end = begin + width + height
        for k in range(width):
            lists[begin + k] = first[s] + k
        for k in range(height):
            lists[begin + width + k] = rows[rows_at[s] + k]
        for c in range(0, width, WIDEST):
            w = min(WIDEST, width - c)
            panels[p, 0], panels[p, 1] = first[s] + c, w
            panels[p, 2], panels[p, 3], panels[p, 4] = begin + c + w, end, v
            v += w * (w + 1) // 2 + w * (width + height - c - w)
            p += 1
        begin = end
    return panels, lists, at


def spans_of(parts: Array, top: Array, first: Array, panel_at: Array) -> tuple[Array, Array, Array]:
    """Panels of parts (p, 2) and of the top; steps (p + r, 2) of the parts and of each run of top blocks."""
    of_parts = panel_at[parts] if len(parts) else np.zeros((0, 2), np.int64)
    of_top = [np.arange(panel_at[s], panel_at[s + 1]) for s in top]
    new = np.flatnonzero(np.diff(top) > 1) + 1
    begins, ends = np.concatenate([top[:1], top[new]]), np.concatenate([top[new - 1], top[-1:]])
    runs = np.stack([first[begins], first[ends + 1]], axis=1).astype(np.int64)
    steps = np.concatenate([first[parts] if len(parts) else np.zeros((0, 2), np.int64), runs])
    return of_parts, np.concatenate([np.zeros(0, np.int64), *of_top]).astype(np.int64), steps.astype(np.int64)


def updates(parts: Array, top: Array, child: Array, child_at: Array, height: Array) -> tuple[Array, int]:
    """Where each block's update matrix lies: stacks, one per part and one for the top; the room for all."""
    at = np.zeros(len(height), np.int64)
    group = np.zeros(len(height), np.int64)
    for k, (begin, end) in enumerate(parts):
        group[begin:end] = k + 1
    base = 0
    for members in (*(np.arange(begin, end) for begin, end in parts), top):
        base = stacked(members, base, group, child, child_at, height, at)
    return at, int(base)


@kernel
def stacked(members: Any, base: Any, group: Any, child: Any, child_at: Any, height: Any, at: Any) -> Any:
    """Places (s,) of the members' updates from ``base`` on; returns where they end."""
    used, most = base, base
    for s in members:
        for c in range(child_at[s], child_at[s + 1]):
            if group[child[c]] == group[s]:  # what it adds up need not stay
                used = at[child[c]]
                break
        at[s] = used
        used += height[s] ** 2
        most = max(most, used)
    return most


def fronts(parts: Array, top: Array, sizes: Array) -> tuple[Array, int, Array, int]:
    """Where each part, and last the top, assembles fronts and keeps columns of them; the room for all."""
    largest = [int(sizes[begin:end].max()) for begin, end in parts] + [int(sizes[top].max(initial=0))]
    at = np.cumsum([0] + [k * (k + PAD) + PAD for k in largest])
    columns = np.cumsum([0] + [DEEP * (k + PAD) for k in largest])
    return at[:-1].astype(np.int64), int(at[-1]), columns[:-1].astype(np.int64), int(columns[-1])
