"""Forward and backward substitution, many right-hand sides side by side in the lanes.

Work is cut into chunks of columns. A chunk is copied into memory of its own ``y`` (n + outside, lanes), in
the order of elimination, and back when it is solved. A lane never meets another one, and sums run over the
same numbers in the same order for every width, so a column's bits depend neither on its neighbours nor on
their number.
"""

from __future__ import annotations

from typing import Any

from ..backend.jit import kernel, prange
from ..backend.lanes import load, splat, store


@kernel
def forward(s: Any, y: Any, values: Any, shape: Any, lanes: Any) -> None:
    """Solve supernode s and subtract it from the rows below, four at a time."""
    first, rows_at, rows, values_at = shape[0], shape[1], shape[2], shape[3]
    j0, width = first[s], first[s + 1] - first[s]
    below, height, v = rows_at[s], rows_at[s + 1] - rows_at[s], values_at[s]
    k = 0
    while k + 4 <= width:
        v0 = v + k * width
        v1, v2, v3 = v0 + width, v0 + 2 * width, v0 + 3 * width
        y0, y1 = load(y, (j0 + k,), lanes), load(y, (j0 + k + 1,), lanes)
        y2, y3 = load(y, (j0 + k + 2,), lanes), load(y, (j0 + k + 3,), lanes)
        for m in range(k):
            x = load(y, (j0 + m,), lanes)
            y0, y1 = y0 - values[v0 + m] * x, y1 - values[v1 + m] * x
            y2, y3 = y2 - values[v2 + m] * x, y3 - values[v3 + m] * x
        y0 = y0 * values[v0 + k]
        y1 = (y1 - values[v1 + k] * y0) * values[v1 + k + 1]
        y2 = ((y2 - values[v2 + k] * y0) - values[v2 + k + 1] * y1) * values[v2 + k + 2]
        y3 = ((y3 - values[v3 + k] * y0) - values[v3 + k + 1] * y1) - values[v3 + k + 2] * y2
        y3 = y3 * values[v3 + k + 3]
        store(y, (j0 + k,), y0, lanes)
        store(y, (j0 + k + 1,), y1, lanes)
        store(y, (j0 + k + 2,), y2, lanes)
        store(y, (j0 + k + 3,), y3, lanes)
        k += 4
    while k < width:
        v0 = v + k * width
        y0 = load(y, (j0 + k,), lanes)
        for m in range(k):
            y0 = y0 - values[v0 + m] * load(y, (j0 + m,), lanes)
        store(y, (j0 + k,), y0 * values[v0 + k], lanes)
        k += 1
    i = 0
    while i + 4 <= height:
        v0 = v + (width + i) * width
        v1, v2, v3 = v0 + width, v0 + 2 * width, v0 + 3 * width
        r0, r1, r2, r3 = rows[below + i], rows[below + i + 1], rows[below + i + 2], rows[below + i + 3]
        y0, y1, y2, y3 = (
            load(y, (r0,), lanes),
            load(y, (r1,), lanes),
            load(y, (r2,), lanes),
            load(y, (r3,), lanes),
        )
        for m in range(width):
            x = load(y, (j0 + m,), lanes)
            y0, y1 = y0 - values[v0 + m] * x, y1 - values[v1 + m] * x
            y2, y3 = y2 - values[v2 + m] * x, y3 - values[v3 + m] * x
        store(y, (r0,), y0, lanes)
        store(y, (r1,), y1, lanes)
        store(y, (r2,), y2, lanes)
        store(y, (r3,), y3, lanes)
        i += 4
    while i < height:
        v0, r0 = v + (width + i) * width, rows[below + i]
        y0 = load(y, (r0,), lanes)
        for m in range(width):
            y0 = y0 - values[v0 + m] * load(y, (j0 + m,), lanes)
        store(y, (r0,), y0, lanes)
        i += 1


@kernel
def backward(s: Any, y: Any, values: Any, shape: Any, lanes: Any) -> None:
    """Solve the transpose of supernode s, four columns at a time, the last ones first."""
    first, rows_at, rows, values_at = shape[0], shape[1], shape[2], shape[3]
    j0, width = first[s], first[s + 1] - first[s]
    below, height, v = rows_at[s], rows_at[s + 1] - rows_at[s], values_at[s]
    k = width
    while k >= 4:
        k -= 4
        y0, y1 = load(y, (j0 + k,), lanes), load(y, (j0 + k + 1,), lanes)
        y2, y3 = load(y, (j0 + k + 2,), lanes), load(y, (j0 + k + 3,), lanes)
        for i in range(height):
            x = load(y, (rows[below + i],), lanes)
            at = v + (width + i) * width + k
            y0, y1 = y0 - values[at] * x, y1 - values[at + 1] * x
            y2, y3 = y2 - values[at + 2] * x, y3 - values[at + 3] * x
        for m in range(k + 4, width):
            x = load(y, (j0 + m,), lanes)
            at = v + m * width + k
            y0, y1 = y0 - values[at] * x, y1 - values[at + 1] * x
            y2, y3 = y2 - values[at + 2] * x, y3 - values[at + 3] * x
        at = v + k * width + k
        y3 = y3 * values[at + 3 * width + 3]
        y2 = (y2 - values[at + 3 * width + 2] * y3) * values[at + 2 * width + 2]
        y1 = ((y1 - values[at + 3 * width + 1] * y3) - values[at + 2 * width + 1] * y2) * values[
            at + width + 1
        ]
        y0 = ((y0 - values[at + 3 * width] * y3) - values[at + 2 * width] * y2) - values[at + width] * y1
        store(y, (j0 + k,), y0 * values[at], lanes)
        store(y, (j0 + k + 1,), y1, lanes)
        store(y, (j0 + k + 2,), y2, lanes)
        store(y, (j0 + k + 3,), y3, lanes)
    while k > 0:
        k -= 1
        y0 = load(y, (j0 + k,), lanes)
        for i in range(height):
            y0 = y0 - values[v + (width + i) * width + k] * load(y, (rows[below + i],), lanes)
        for m in range(k + 1, width):
            y0 = y0 - values[v + m * width + k] * load(y, (j0 + m,), lanes)
        store(y, (j0 + k,), y0 * values[v + k * width + k], lanes)


@kernel
def top_blocks(y: Any, values: Any, shape: Any, work: Any, lanes: Any) -> None:
    """Add up what the parts leave outside, solve the top both ways, hand the parts what they need."""
    top, outside = work[1], work[2]
    n = shape[0][len(shape[0]) - 1]
    for k in range(len(outside)):
        r = outside[k]
        store(y, (r,), load(y, (r,), lanes) + load(y, (n + k,), lanes), lanes)
    for s in top:
        forward(s, y, values, shape, lanes)
    for k in range(len(top)):
        backward(top[len(top) - 1 - k], y, values, shape, lanes)
    for k in range(len(outside)):
        store(y, (n + k,), load(y, (outside[k],), lanes), lanes)


@kernel
def read(b: Any, tile: Any, column: Any, step: Any, y: Any, outside: Any, lanes: Any, items: Any) -> None:
    """Columns of a tile from ``column`` on into y, in the order of elimination; zero where there are none.

    It goes through b as it lies in memory: rows far apart are found sooner in y, which is small.
    """
    n, many = len(step), min(y.shape[1], b.shape[2] - column)
    if many == y.shape[1]:
        for i in range(n):
            store(y, (step[i],), load(b, (tile, i, column), items), lanes)
    else:
        for i in range(n):
            for c in range(many):
                y[step[i], c] = b[tile, i, column + c, 0]
            for c in range(many, y.shape[1]):
                y[step[i], c] = 0
    for k in range(n, n + outside):
        store(y, (k,), splat(y, 0, lanes), lanes)


@kernel
def write(y: Any, step: Any, tile: Any, column: Any, x: Any, lanes: Any, items: Any) -> None:
    """The reverse of :func:`read`."""
    n, many = len(step), min(y.shape[1], x.shape[2] - column)
    if many == y.shape[1]:
        for i in range(n):
            store(x, (tile, i, column), load(y, (step[i],), lanes), items)
    else:
        for i in range(n):
            for c in range(many):
                x[tile, i, column + c, 0] = y[step[i], c]


@kernel(parallel=True)
def solve_many(
    b: Any, x: Any, y: Any, values: Any, step: Any, shape: Any, work: Any, lanes: Any, items: Any
) -> None:
    """Solve chunk by chunk, each by one thread.

    in   b (tiles, n, columns, 1); step (n,): when an unknown is eliminated; turns: see :mod:`.fronts`
    out  x (tiles, n, columns, 1), which may be b; y (threads, n + outside, lanes): memory
    """
    parts, outside = work[0], work[2]
    chunks = (b.shape[2] + y.shape[2] - 1) // y.shape[2]
    for thread in prange(y.shape[0]):
        mine = y[thread]
        for chunk in range(thread, b.shape[0] * chunks, y.shape[0]):
            tile, column = chunk // chunks, chunk % chunks * y.shape[2]
            read(b, tile, column, step, mine, len(outside), lanes, items)
            for k in range(len(parts)):
                for s in range(parts[k, 0], parts[k, 1]):
                    forward(s, mine, values, shape, lanes)
            top_blocks(mine, values, shape, work, lanes)
            for k in range(len(parts)):
                for s in range(parts[k, 1] - 1, parts[k, 0] - 1, -1):
                    backward(s, mine, values, shape, lanes)
            write(mine, step, tile, column, x, lanes, items)


@kernel(parallel=True)
def forward_parts(y: Any, values: Any, shape: Any, parts: Any, turns: Any, lanes: Any) -> None:
    """Forward substitution of the parts, each thread its own."""
    for thread in prange(turns.shape[0]):
        for k in turns[thread]:
            if k >= 0:
                for s in range(parts[k, 0], parts[k, 1]):
                    forward(s, y, values, shape, lanes)


@kernel(parallel=True)
def backward_parts(y: Any, values: Any, shape: Any, parts: Any, turns: Any, lanes: Any) -> None:
    """Backward substitution of the parts, each thread its own."""
    for thread in prange(turns.shape[0]):
        for k in turns[thread]:
            if k >= 0:
                for s in range(parts[k, 1] - 1, parts[k, 0] - 1, -1):
                    backward(s, y, values, shape, lanes)


@kernel
def solve_one(
    b: Any, x: Any, y: Any, values: Any, step: Any, shape: Any, work: Any, turns: Any, lanes: Any, items: Any
) -> None:
    """Solve one chunk with all threads; arguments as in :func:`solve_many`, y (1, n + outside, lanes)."""
    mine = y[0]
    read(b, 0, 0, step, mine, len(work[2]), lanes, items)
    forward_parts(mine, values, shape, work[0], turns, lanes)
    top_blocks(mine, values, shape, work, lanes)
    backward_parts(mine, values, shape, work[0], turns, lanes)
    write(mine, step, 0, 0, x, lanes, items)
