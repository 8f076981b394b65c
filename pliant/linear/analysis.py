"""What a factor of a pattern looks like, before any number: order, blocks, and who works on what.

The blocks (supernodes) form a tree. Some of its subtrees, the *parts*, touch nothing of each other and can
be worked on at the same time; what is above them, the *top*, follows. Which subtrees those are depends on
the pattern alone, so neither results nor memory depend on the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import elimination, schedule, supernodes
from .ordering import Ordering

Array = np.ndarray


@dataclass(frozen=True)
class Analysis:
    """The blocks of a factor and where everything lies.

    n: unknowns; entries, flops: of the true factor; order (n,): unknown at each step.
    first (s + 1,): first step of each block; rows, rows_at: steps below each block; parent (s,);
    places: rows in the parent's front; child, child_at: children of each block.
    panels, panel_rows, panel_at: blocks cut into panels, see :func:`pliant.linear.schedule.panels_of`; a
    panel's rows outside its part are places of the part's own, n + ...; outside: the steps that those places
    stand for, outside_at (p + 1,) by part.
    parts (p, 2): first and last + 1 block of each part; top (t,): the other blocks, ascending; part_panels
    (p, 2), top_panels: likewise; spans (p + r, 2): steps of each part, then those of the top.
    updates_at (s,): where a block leaves what its parent adds up; fronts_at (p + 1,): where each part, and
    last the top, assembles its fronts, columns_at: keeps columns; sizes: numbers of fronts, columns, updates.
    source, place, source_at: which numbers of the matrix a front takes, and where.
    """

    n: int
    ordering: Ordering
    entries: int
    flops: float
    order: Array
    first: Array
    rows: Array
    rows_at: Array
    parent: Array
    places: Array
    child: Array
    child_at: Array
    panels: Array
    panel_rows: Array
    panel_at: Array
    stored: int
    parts: Array
    top: Array
    part_panels: Array
    top_panels: Array
    spans: Array
    outside: Array
    outside_at: Array
    updates_at: Array
    fronts_at: Array
    columns_at: Array
    sizes: tuple[int, int, int]
    source: Array
    place: Array
    source_at: Array

    @property
    def blocks(self) -> int:
        """Number of supernodes."""
        return len(self.parent)


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
    numbers = width * (width + 1) // 2 + width * height
    child_at, child = schedule.children(mother)
    parts = schedule.parts_of(mother, numbers)
    top = schedule.others(parts, len(width))
    solve_rows, outside, outside_at = schedule.outside(n, parts, first, rows, rows_at)
    panels, panel_rows, panel_at = schedule.panels_of(first, rows_at, solve_rows)
    part_panels, top_panels, spans = schedule.spans_of(parts, top, first, panel_at)
    updates_at, update = schedule.updates(parts, top, child, child_at, height)
    fronts_at, front, columns_at, columns = schedule.fronts(parts, top, width + height)
    return Analysis(
        n=n,
        ordering=ordering,
        entries=int(counts.sum()),
        flops=float((counts.astype(float) ** 2).sum()),
        order=order,
        first=first,
        rows=rows,
        rows_at=rows_at,
        parent=mother,
        places=supernodes.places(first, rows_at, rows, mother),
        child=child,
        child_at=child_at,
        panels=panels,
        panel_rows=panel_rows,
        panel_at=panel_at,
        stored=int(numbers.sum()),
        parts=parts,
        top=top,
        part_panels=part_panels,
        top_panels=top_panels,
        spans=spans,
        outside=outside,
        outside_at=outside_at,
        updates_at=updates_at,
        fronts_at=fronts_at,
        columns_at=columns_at,
        sizes=(front, columns, update),
        source=source,
        place=place,
        source_at=source_at,
    )
