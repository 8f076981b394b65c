"""Forward and backward substitution, many right-hand sides side by side in the lanes.

A thread takes a group of columns of a tile, copies it into memory of its own ``y`` (n + outside, group, 1),
in the order of elimination, and back when it is solved. Panels are the outer loop and the lanes' worth of
columns the inner one, so that a panel's numbers are read once for the whole group. Where there are fewer
groups than threads, all threads work on one: subtrees side by side, then large panels row by row.

The columns' bits depend neither on their neighbours nor on who works on them (:mod:`.panels`).

Arguments of most kernels: ``factor`` = values, order (n,), panels, panel_rows; ``work`` = part_panels,
top_panels, spans, outside, outside_at (:class:`pliant.linear.analysis.Analysis`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend.jit import kernel, prange
from ..backend.lanes import load, splat, store, stride
from .panels import above, below, transposed, triangle

LARGE = 32_768
"""Numbers of a panel below its triangle that are worth more than one thread."""
NONE = np.int64(0)
DOWN, UP, BELOW, ABOVE = np.int64(0), np.int64(1), np.int64(2), np.int64(3)
"""Jobs of :func:`shared`, typed: a kernel is compiled afresh for each literal number among its arguments."""


@kernel
def down(y: Any, factor: Any, p: Any, lanes: Any) -> None:
    """Solve panel p for all columns and subtract it from the rows below."""
    values, panels, rows = factor[0], factor[2], factor[3]
    j, w, lo, hi, v = panels[p, 0], panels[p, 1], panels[p, 2], panels[p, 3], panels[p, 4]
    for c in range(0, y.shape[1], stride(lanes)):
        triangle(y, values, j, w, v, c, lanes)
        below(y, values, rows, j, w, lo, hi, v + w * (w + 1) // 2, c, lanes)


@kernel
def up(y: Any, factor: Any, p: Any, lanes: Any) -> None:
    """Solve the transpose of panel p for all columns."""
    values, panels, rows = factor[0], factor[2], factor[3]
    j, w, lo, hi, v = panels[p, 0], panels[p, 1], panels[p, 2], panels[p, 3], panels[p, 4]
    for c in range(0, y.shape[1], stride(lanes)):
        above(y, values, rows, j, w, lo, hi, v + w * (w + 1) // 2, NONE, w, c, lanes)
        transposed(y, values, j, w, v, c, lanes)


@kernel
def read(b: Any, tile: Any, column: Any, order: Any, y: Any, begin: Any, end: Any, lanes: Any) -> None:
    """Columns of a tile from ``column`` on into y, steps begin to end; zero where there are no columns."""
    many, width = min(y.shape[1], b.shape[2] - column), stride(lanes)
    full = many // width * width
    for i in range(begin, end):
        for c in range(0, full, width):
            store(y, (i, c), load(b, (tile, order[i], column + c), lanes), lanes)
        if full < y.shape[1]:
            for c in range(full, many):
                y[i, c, 0] = b[tile, order[i], column + c, 0]
            for c in range(many, y.shape[1]):
                y[i, c, 0] = 0


@kernel
def write(y: Any, begin: Any, end: Any, order: Any, tile: Any, column: Any, x: Any, lanes: Any) -> None:
    """The reverse of :func:`read`."""
    many, width = min(y.shape[1], x.shape[2] - column), stride(lanes)
    full = many // width * width
    for i in range(begin, end):
        for c in range(0, full, width):
            store(x, (tile, order[i], column + c), load(y, (i, c), lanes), lanes)
        for c in range(full, many):
            x[tile, order[i], column + c, 0] = y[i, c, 0]


@kernel
def part_down(k: Any, b: Any, tile: Any, column: Any, y: Any, factor: Any, work: Any, lanes: Any) -> None:
    """Read what part k needs and eliminate it."""
    part_panels, spans, outside_at, n = work[0], work[2], work[4], len(factor[1])
    read(b, tile, column, factor[1], y, spans[k, 0], spans[k, 1], lanes)
    for i in range(n + outside_at[k], n + outside_at[k + 1]):
        for c in range(0, y.shape[1], stride(lanes)):
            store(y, (i, c), splat(y, 0, lanes), lanes)
    for p in range(part_panels[k, 0], part_panels[k, 1]):
        down(y, factor, p, lanes)


@kernel
def part_up(k: Any, y: Any, tile: Any, column: Any, x: Any, factor: Any, work: Any, lanes: Any) -> None:
    """Substitute in part k, backwards, and write the solution."""
    part_panels, spans = work[0], work[2]
    for p in range(part_panels[k, 1] - 1, part_panels[k, 0] - 1, -1):
        up(y, factor, p, lanes)
    write(y, spans[k, 0], spans[k, 1], factor[1], tile, column, x, lanes)


@kernel
def before_top(b: Any, tile: Any, column: Any, y: Any, factor: Any, work: Any, lanes: Any) -> None:
    """Read the top's rows and add up, part by part, what the parts leave outside."""
    part_panels, spans, outside, n = work[0], work[2], work[3], len(factor[1])
    for r in range(len(part_panels), len(spans)):
        read(b, tile, column, factor[1], y, spans[r, 0], spans[r, 1], lanes)
    for k in range(len(outside)):
        r = outside[k]
        for c in range(0, y.shape[1], stride(lanes)):
            store(y, (r, c), load(y, (r, c), lanes) + load(y, (n + k, c), lanes), lanes)


@kernel
def after_top(y: Any, tile: Any, column: Any, x: Any, factor: Any, work: Any, lanes: Any) -> None:
    """Hand the parts what they need of the top's solution, and write it."""
    part_panels, spans, outside, n = work[0], work[2], work[3], len(factor[1])
    for k in range(len(outside)):
        for c in range(0, y.shape[1], stride(lanes)):
            store(y, (n + k, c), load(y, (outside[k], c), lanes), lanes)
    for r in range(len(part_panels), len(spans)):
        write(y, spans[r, 0], spans[r, 1], factor[1], tile, column, x, lanes)


@kernel
def solve_group(b: Any, x: Any, tile: Any, column: Any, y: Any, factor: Any, work: Any, lanes: Any) -> None:
    """Solve for one group of columns with one thread."""
    parts, top_panels = len(work[0]), work[1]
    for k in range(parts):
        part_down(k, b, tile, column, y, factor, work, lanes)
    before_top(b, tile, column, y, factor, work, lanes)
    for p in top_panels:
        down(y, factor, p, lanes)
    for k in range(len(top_panels)):
        up(y, factor, top_panels[len(top_panels) - 1 - k], lanes)
    after_top(y, tile, column, x, factor, work, lanes)
    for k in range(parts - 1, -1, -1):
        part_up(k, y, tile, column, x, factor, work, lanes)


@kernel
def solve_alone(b: Any, x: Any, y: Any, factor: Any, work: Any, lanes: Any) -> None:
    """Solve group by group with the calling thread: for systems that are done before others wake."""
    for tile in range(b.shape[0]):
        for column in range(0, b.shape[2], y.shape[2]):
            solve_group(b, x, tile, column, y[0], factor, work, lanes)


@kernel(parallel=True)
def solve_many(b: Any, x: Any, y: Any, factor: Any, work: Any, lanes: Any) -> None:
    """Solve group by group, each by one thread.

    in   b (tiles, n, columns, 1)
    out  x (tiles, n, columns, 1), which may be b; y (threads, n + outside, group, 1): memory
    """
    groups = (b.shape[2] + y.shape[2] - 1) // y.shape[2]
    for thread in prange(y.shape[0]):
        for g in range(thread, b.shape[0] * groups, y.shape[0]):
            solve_group(b, x, g // groups, g % groups * y.shape[2], y[thread], factor, work, lanes)


@kernel(parallel=True)
def shared(
    job: Any, p: Any, b: Any, x: Any, tile: Any, column: Any, y: Any, factor: Any, work: Any, turns: Any,
    threads: Any, lanes: Any,
) -> None:  # fmt: skip
    """One job by all threads: each has parts, or rows below panel p, or columns of it, eight at a time."""
    values, panels, rows = factor[0], factor[2], factor[3]
    j, w, lo, hi, v = panels[p, 0], panels[p, 1], panels[p, 2], panels[p, 3], panels[p, 4]
    v += w * (w + 1) // 2
    many = hi - lo if job == BELOW else w
    share = ((many + threads - 1) // threads + 7) // 8 * 8
    for thread in prange(threads):
        begin, end = min(thread * share, many), min((thread + 1) * share, many)
        if job in (DOWN, UP):
            if thread < len(turns):
                for k in turns[thread]:
                    if k >= 0 and job == DOWN:
                        part_down(k, b, tile, column, y, factor, work, lanes)
                    elif k >= 0:
                        part_up(k, y, tile, column, x, factor, work, lanes)
        else:
            for c in range(0, y.shape[1], stride(lanes)):
                if job == BELOW:
                    below(y, values, rows, j, w, lo + begin, lo + end, v + begin * w, c, lanes)
                else:
                    above(y, values, rows, j, w, lo, hi, v, begin, end, c, lanes)


@kernel
def solve_together(
    b: Any, x: Any, y: Any, factor: Any, work: Any, turns: Any, threads: Any, lanes: Any
) -> None:
    """Solve group by group, each by all threads; arguments as in :func:`solve_many`, y (1, ...).

    turns (threads, most): parts that each thread does, -1: none
    """
    values, panels, top_panels = factor[0], factor[2], work[1]
    mine, width = y[0], stride(lanes)
    for tile in range(b.shape[0]):
        for column in range(0, b.shape[2], y.shape[2]):
            shared(DOWN, NONE, b, x, tile, column, mine, factor, work, turns, threads, lanes)
            before_top(b, tile, column, mine, factor, work, lanes)
            for p in top_panels:
                if panels[p, 1] * (panels[p, 3] - panels[p, 2]) < LARGE:
                    down(mine, factor, p, lanes)
                else:
                    for c in range(0, mine.shape[1], width):
                        triangle(mine, values, panels[p, 0], panels[p, 1], panels[p, 4], c, lanes)
                    shared(BELOW, p, b, x, tile, column, mine, factor, work, turns, threads, lanes)
            for k in range(len(top_panels)):
                p = top_panels[len(top_panels) - 1 - k]
                if panels[p, 1] * (panels[p, 3] - panels[p, 2]) < LARGE:
                    up(mine, factor, p, lanes)
                else:
                    shared(ABOVE, p, b, x, tile, column, mine, factor, work, turns, threads, lanes)
                    for c in range(0, mine.shape[1], width):
                        transposed(mine, values, panels[p, 0], panels[p, 1], panels[p, 4], c, lanes)
            after_top(mine, tile, column, x, factor, work, lanes)
            shared(UP, NONE, b, x, tile, column, mine, factor, work, turns, threads, lanes)
