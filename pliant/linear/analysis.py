"""What a factor of a pattern looks like, before any number: order, blocks, and who works on what.

The blocks (supernodes) form a tree. Some of its subtrees, the *parts*, touch nothing of each other and can
be worked on at the same time; what is above them, the *top*, follows. Which subtrees those are depends on
the pattern alone, so neither results nor memory depend on the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import elimination, supernodes
from .ordering import Ordering

Array = np.ndarray

PART = 1 / 16
"""A subtree with more of the factor's entries than this is split further."""
SMALLEST = 1 / 256
"""A subtree with fewer is left to the top, as is everything in a small factor."""
SMALL = 20_000
"""Entries of a factor that is not worth a second thread."""
PAD = 16
"""Numbers behind each row of a front, that blocks of a kernel may run over."""


@dataclass(frozen=True)
class Analysis:
    """The blocks of a factor and where everything lies.

    n: unknowns; entries, flops: of the true factor; order (n,): unknown at each step, step (n,): the reverse.
    first (s + 1,): first step of each block; rows, rows_at: steps below each block; parent (s,);
    places: rows in the parent's front; child, child_at: children of each block.
    values_at (s + 1,): where a block begins among the factor's numbers.
    parts (p, 2): first and last + 1 block of each part; top (t,): the other blocks, ascending.
    solve_rows: as rows, but what lies outside a part is a place of the part's own, n + ...; outside: the
    steps that those places stand for, outside_at (p + 1,) by part.
    updates_at (s,): where a block leaves what its parent adds up; fronts_at (p + 1,): where each part, and
    last the top, assembles its fronts, panels_at: keeps a panel; sizes: numbers of fronts, panels, updates.
    source, place, source_at: which numbers of the matrix a front takes, and where.
    """

    n: int
    ordering: Ordering
    entries: int
    flops: float
    order: Array
    step: Array
    first: Array
    rows: Array
    rows_at: Array
    parent: Array
    places: Array
    child: Array
    child_at: Array
    values_at: Array
    parts: Array
    top: Array
    solve_rows: Array
    outside: Array
    outside_at: Array
    updates_at: Array
    fronts_at: Array
    panels_at: Array
    sizes: tuple[int, int, int]
    source: Array
    place: Array
    source_at: Array

    @property
    def blocks(self) -> int:
        """Number of supernodes."""
        return len(self.parent)

    @property
    def stored(self) -> int:
        """Numbers that the blocks hold, zeros included."""
        return int(self.values_at[-1])


def analyze(start: Array, index: Array, ordering: Ordering) -> Analysis:
    """Blocks of the factor of a symmetric pattern (both triangles) in a given order."""
    n = len(start) - 1
    parent, counts = elimination.elimination_tree(start, index, ordering.order)
    order = ordering.order[elimination.postorder(parent, counts)]
    parent, counts = elimination.elimination_tree(start, index, order)
    first = supernodes.partition(parent, counts)
    rows_at = supernodes.row_starts(first, counts)
    rows, mother = supernodes.below(start, index, order, first, rows_at)
    source_at, source, place = supernodes.entries_of_fronts(start, index, order, first, rows_at, rows)
    width, height = np.diff(first), np.diff(rows_at)
    values_at = np.concatenate([[0], np.cumsum(width * (width + height))]).astype(np.int64)
    child_at, child = _children(mother)
    parts = _parts(mother, width * (width + height))
    top = _others(parts, len(width))
    solve_rows, outside, outside_at = _outside(n, parts, first, rows, rows_at)
    updates_at, update = _updates(parts, top, child, child_at, height)
    fronts_at, front, panels_at, panel = _fronts(parts, top, width + height)
    return Analysis(
        n=n,
        ordering=ordering,
        entries=int(counts.sum()),
        flops=float((counts.astype(float) ** 2).sum()),
        order=order,
        step=np.argsort(order),
        first=first,
        rows=rows,
        rows_at=rows_at,
        parent=mother,
        places=supernodes.places(first, rows_at, rows, mother),
        child=child,
        child_at=child_at,
        values_at=values_at,
        parts=parts,
        top=top,
        solve_rows=solve_rows,
        outside=outside,
        outside_at=outside_at,
        updates_at=updates_at,
        fronts_at=fronts_at,
        panels_at=panels_at,
        sizes=(front, panel, update),
        source=source,
        place=place,
        source_at=source_at,
    )


def _children(parent: Array) -> tuple[Array, Array]:
    """Offsets (s + 1,) and children, ascending, of each block."""
    ids = np.flatnonzero(parent >= 0)
    by_parent = ids[np.argsort(parent[ids], kind="stable")]
    at = np.concatenate([[0], np.cumsum(np.bincount(parent[ids], minlength=len(parent)))])
    return at.astype(np.int64), by_parent.astype(np.int64)


def _parts(parent: Array, numbers: Array) -> Array:
    """First and last + 1 block of each subtree that is a part."""
    size, below = np.ones(len(parent), np.int64), numbers.astype(np.int64)
    for s in range(len(parent)):
        if parent[s] >= 0:
            size[parent[s]] += size[s]
            below[parent[s]] += below[s]
    total = int(numbers.sum())
    if total < SMALL:
        return np.zeros((0, 2), np.int64)
    fits = (below <= PART * total) & (below >= SMALLEST * total)
    inside = (parent >= 0) & (below[parent] <= PART * total)
    roots = np.flatnonzero(fits & ~inside)
    return np.stack([roots + 1 - size[roots], roots + 1], axis=1)


def _others(parts: Array, blocks: int) -> Array:
    """Blocks that lie in no part."""
    free = np.ones(blocks, bool)
    for begin, end in parts:
        free[begin:end] = False
    return np.flatnonzero(free).astype(np.int64)


def _outside(n: int, parts: Array, first: Array, rows: Array, rows_at: Array) -> tuple[Array, Array, Array]:
    """Rows with those outside a part replaced by places behind the n unknowns; which these are."""
    solve_rows, outside, at = rows.copy(), [np.zeros(0, np.int32)], [0]
    for begin, end in parts:
        mine = slice(rows_at[begin], rows_at[end])
        above = rows[rows_at[end - 1] : rows_at[end]]
        out = rows[mine] >= first[end]
        replaced = n + at[-1] + np.searchsorted(above, rows[mine][out])
        solve_rows[mine][out] = replaced
        outside.append(above)
        at.append(at[-1] + len(above))
    return solve_rows, np.concatenate(outside).astype(np.int64), np.array(at, np.int64)


def _updates(parts: Array, top: Array, child: Array, child_at: Array, height: Array) -> tuple[Array, int]:
    """Where each block's update matrix lies: stacks, one per part and one for the top; the room for all."""
    at = np.zeros(len(height), np.int64)
    base, group = 0, np.zeros(len(height), np.int64)
    for k, (begin, end) in enumerate(parts):
        group[begin:end] = k + 1
    for members in (*(np.arange(begin, end) for begin, end in parts), top):
        used, most = base, base
        for s in members:
            mine = [c for c in child[child_at[s] : child_at[s + 1]] if group[c] == group[s]]
            if mine:
                used = int(at[mine[0]])
            at[s] = used
            used += int(height[s]) ** 2
            most = max(most, used)
        base = most
    return at, base


def _fronts(parts: Array, top: Array, sizes: Array) -> tuple[Array, int, Array, int]:
    """Where each part, and last the top, assembles fronts and keeps a panel of them; the room for all."""
    largest = [int(sizes[begin:end].max()) for begin, end in parts] + [int(sizes[top].max(initial=0))]
    fronts = np.cumsum([0] + [k * (k + PAD) + PAD for k in largest])
    panels = np.cumsum([0] + [PAD * (k + PAD) for k in largest])
    return fronts[:-1].astype(np.int64), int(fronts[-1]), panels[:-1].astype(np.int64), int(panels[-1])
