"""Substitution with one panel of a factor, for the right-hand sides that lie side by side in the lanes.

A panel is at most :data:`WIDEST` neighbouring columns of a supernode: a triangle, packed by rows, with
1 / diagonal, and the rows below it, whose numbers follow by rows. ``y`` (steps, columns, 1) holds the
right-hand sides in the order of elimination, ``c`` is the first of those in the lanes. A lane never meets
another one, and the numbers that meet in a sum and their order are the same however many rows or columns of
the panel are dealt with at a time, so bits depend on neither.
"""

from __future__ import annotations

from typing import Any

from ..backend.entry import entry
from ..backend.jit import kernel
from ..backend.lanes import load, store, stride

WIDEST = 64
"""Columns of a panel."""
NARROW = 8
"""Up to so many lanes, eight rows or columns are kept in registers, else four."""


@kernel(inline=True)
def triangle(y: Any, values: Any, j: Any, w: Any, v: Any, c: Any, lanes: Any) -> None:
    """Solve the w x w triangle at v for rows j to j + w of y, four at a time."""
    k, v0 = 0, v
    while k + 4 <= w:
        v1, v2, v3 = v0 + k + 1, v0 + 2 * k + 3, v0 + 3 * k + 6
        y0, y1 = load(y, (j + k, c), lanes), load(y, (j + k + 1, c), lanes)
        y2, y3 = load(y, (j + k + 2, c), lanes), load(y, (j + k + 3, c), lanes)
        for m in range(k):
            x = load(y, (j + m, c), lanes)
            y0, y1 = y0 - entry(values, v0 + m) * x, y1 - entry(values, v1 + m) * x
            y2, y3 = y2 - entry(values, v2 + m) * x, y3 - entry(values, v3 + m) * x
        y0 = y0 * entry(values, v0 + k)
        y1 = (y1 - entry(values, v1 + k) * y0) * entry(values, v1 + k + 1)
        y2 = (y2 - entry(values, v2 + k) * y0) - entry(values, v2 + k + 1) * y1
        y2 = y2 * entry(values, v2 + k + 2)
        y3 = (y3 - entry(values, v3 + k) * y0) - entry(values, v3 + k + 1) * y1
        y3 = (y3 - entry(values, v3 + k + 2) * y2) * entry(values, v3 + k + 3)
        store(y, (j + k, c), y0, lanes)
        store(y, (j + k + 1, c), y1, lanes)
        store(y, (j + k + 2, c), y2, lanes)
        store(y, (j + k + 3, c), y3, lanes)
        v0 = v0 + 4 * k + 10
        k += 4
    while k < w:
        y0 = load(y, (j + k, c), lanes)
        for m in range(k):
            y0 = y0 - entry(values, v0 + m) * load(y, (j + m, c), lanes)
        store(y, (j + k, c), y0 * entry(values, v0 + k), lanes)
        v0 = v0 + k + 1
        k += 1


@kernel(inline=True)
def below(
    y: Any, values: Any, rows: Any, j: Any, w: Any, lo: Any, hi: Any, v: Any, c: Any, lanes: Any
) -> None:
    """Subtract columns j to j + w from rows[lo:hi] of y; the numbers of rows[lo] begin at v."""
    i = lo
    if stride(lanes) <= NARROW:
        while i + 8 <= hi:
            eight_rows(y, values, rows, j, w, i, v, c, lanes)
            i += 8
            v += 8 * w
    while i + 4 <= hi:
        r0, r1, r2, r3 = entry(rows, i), entry(rows, i + 1), entry(rows, i + 2), entry(rows, i + 3)
        v1, v2, v3 = v + w, v + 2 * w, v + 3 * w
        y0, y1 = load(y, (r0, c), lanes), load(y, (r1, c), lanes)
        y2, y3 = load(y, (r2, c), lanes), load(y, (r3, c), lanes)
        for m in range(w):
            x = load(y, (j + m, c), lanes)
            y0, y1 = y0 - entry(values, v + m) * x, y1 - entry(values, v1 + m) * x
            y2, y3 = y2 - entry(values, v2 + m) * x, y3 - entry(values, v3 + m) * x
        store(y, (r0, c), y0, lanes)
        store(y, (r1, c), y1, lanes)
        store(y, (r2, c), y2, lanes)
        store(y, (r3, c), y3, lanes)
        i += 4
        v += 4 * w
    while i < hi:
        r0 = entry(rows, i)
        y0 = load(y, (r0, c), lanes)
        for m in range(w):
            y0 = y0 - entry(values, v + m) * load(y, (j + m, c), lanes)
        store(y, (r0, c), y0, lanes)
        i += 1
        v += w


@kernel(inline=True)
def eight_rows(y: Any, values: Any, rows: Any, j: Any, w: Any, i: Any, v: Any, c: Any, lanes: Any) -> None:
    """Subtract columns j to j + w from rows[i:i + 8] of y."""
    r0, r1, r2, r3 = entry(rows, i), entry(rows, i + 1), entry(rows, i + 2), entry(rows, i + 3)
    r4, r5, r6, r7 = entry(rows, i + 4), entry(rows, i + 5), entry(rows, i + 6), entry(rows, i + 7)
    v1, v2, v3 = v + w, v + 2 * w, v + 3 * w
    v4, v5, v6, v7 = v + 4 * w, v + 5 * w, v + 6 * w, v + 7 * w
    y0, y1 = load(y, (r0, c), lanes), load(y, (r1, c), lanes)
    y2, y3 = load(y, (r2, c), lanes), load(y, (r3, c), lanes)
    y4, y5 = load(y, (r4, c), lanes), load(y, (r5, c), lanes)
    y6, y7 = load(y, (r6, c), lanes), load(y, (r7, c), lanes)
    for m in range(w):
        x = load(y, (j + m, c), lanes)
        y0, y1 = y0 - entry(values, v + m) * x, y1 - entry(values, v1 + m) * x
        y2, y3 = y2 - entry(values, v2 + m) * x, y3 - entry(values, v3 + m) * x
        y4, y5 = y4 - entry(values, v4 + m) * x, y5 - entry(values, v5 + m) * x
        y6, y7 = y6 - entry(values, v6 + m) * x, y7 - entry(values, v7 + m) * x
    store(y, (r0, c), y0, lanes)
    store(y, (r1, c), y1, lanes)
    store(y, (r2, c), y2, lanes)
    store(y, (r3, c), y3, lanes)
    store(y, (r4, c), y4, lanes)
    store(y, (r5, c), y5, lanes)
    store(y, (r6, c), y6, lanes)
    store(y, (r7, c), y7, lanes)


@kernel(inline=True)
def above(
    y: Any, values: Any, rows: Any, j: Any, w: Any, lo: Any, hi: Any, v: Any, k: Any, end: Any, c: Any,
    lanes: Any,
) -> None:  # fmt: skip
    """Subtract rows[lo:hi] of y from rows j + k to j + end; the numbers of rows[lo] begin at v."""
    if stride(lanes) <= NARROW:
        while k + 8 <= end:
            eight_columns(y, values, rows, j, w, lo, hi, v, k, c, lanes)
            k += 8
    while k + 4 <= end:
        y0, y1 = load(y, (j + k, c), lanes), load(y, (j + k + 1, c), lanes)
        y2, y3 = load(y, (j + k + 2, c), lanes), load(y, (j + k + 3, c), lanes)
        at = v + k
        for i in range(lo, hi):
            x = load(y, (entry(rows, i), c), lanes)
            y0, y1 = y0 - entry(values, at) * x, y1 - entry(values, at + 1) * x
            y2, y3 = y2 - entry(values, at + 2) * x, y3 - entry(values, at + 3) * x
            at += w
        store(y, (j + k, c), y0, lanes)
        store(y, (j + k + 1, c), y1, lanes)
        store(y, (j + k + 2, c), y2, lanes)
        store(y, (j + k + 3, c), y3, lanes)
        k += 4
    while k < end:
        y0 = load(y, (j + k, c), lanes)
        at = v + k
        for i in range(lo, hi):
            y0 = y0 - entry(values, at) * load(y, (entry(rows, i), c), lanes)
            at += w
        store(y, (j + k, c), y0, lanes)
        k += 1


@kernel(inline=True)
def eight_columns(
    y: Any, values: Any, rows: Any, j: Any, w: Any, lo: Any, hi: Any, v: Any, k: Any, c: Any, lanes: Any
) -> None:
    """Subtract rows[lo:hi] of y from rows j + k to j + k + 8."""
    k += j
    y0, y1 = load(y, (k, c), lanes), load(y, (k + 1, c), lanes)
    y2, y3 = load(y, (k + 2, c), lanes), load(y, (k + 3, c), lanes)
    y4, y5 = load(y, (k + 4, c), lanes), load(y, (k + 5, c), lanes)
    y6, y7 = load(y, (k + 6, c), lanes), load(y, (k + 7, c), lanes)
    at = v + k - j
    for i in range(lo, hi):
        x = load(y, (entry(rows, i), c), lanes)
        y0, y1 = y0 - entry(values, at) * x, y1 - entry(values, at + 1) * x
        y2, y3 = y2 - entry(values, at + 2) * x, y3 - entry(values, at + 3) * x
        y4, y5 = y4 - entry(values, at + 4) * x, y5 - entry(values, at + 5) * x
        y6, y7 = y6 - entry(values, at + 6) * x, y7 - entry(values, at + 7) * x
        at += w
    store(y, (k, c), y0, lanes)
    store(y, (k + 1, c), y1, lanes)
    store(y, (k + 2, c), y2, lanes)
    store(y, (k + 3, c), y3, lanes)
    store(y, (k + 4, c), y4, lanes)
    store(y, (k + 5, c), y5, lanes)
    store(y, (k + 6, c), y6, lanes)
    store(y, (k + 7, c), y7, lanes)


@kernel(inline=True)
def transposed(y: Any, values: Any, j: Any, w: Any, v: Any, c: Any, lanes: Any) -> None:
    """Solve the transpose of the triangle, four columns at a time, the last ones first."""
    k = w
    while k >= 4:
        k -= 4
        y0, y1 = load(y, (j + k, c), lanes), load(y, (j + k + 1, c), lanes)
        y2, y3 = load(y, (j + k + 2, c), lanes), load(y, (j + k + 3, c), lanes)
        v0 = v + k * (k + 1) // 2 + k
        v1, v2, v3 = v0 + k + 1, v0 + 2 * k + 3, v0 + 3 * k + 6
        at = v0 + 4 * k + 10
        for m in range(k + 4, w):
            x = load(y, (j + m, c), lanes)
            y0, y1 = y0 - entry(values, at) * x, y1 - entry(values, at + 1) * x
            y2, y3 = y2 - entry(values, at + 2) * x, y3 - entry(values, at + 3) * x
            at += m + 1
        y3 = y3 * entry(values, v3 + 3)
        y2 = (y2 - entry(values, v3 + 2) * y3) * entry(values, v2 + 2)
        y1 = (y1 - entry(values, v3 + 1) * y3) - entry(values, v2 + 1) * y2
        y1 = y1 * entry(values, v1 + 1)
        y0 = ((y0 - entry(values, v3) * y3) - entry(values, v2) * y2) - entry(values, v1) * y1
        store(y, (j + k, c), y0 * entry(values, v0), lanes)
        store(y, (j + k + 1, c), y1, lanes)
        store(y, (j + k + 2, c), y2, lanes)
        store(y, (j + k + 3, c), y3, lanes)
    while k > 0:
        k -= 1
        y0 = load(y, (j + k, c), lanes)
        v0 = v + k * (k + 1) // 2 + k
        at = v0 + k + 1
        for m in range(k + 1, w):
            y0 = y0 - entry(values, at) * load(y, (j + m, c), lanes)
            at += m + 1
        store(y, (j + k, c), y0 * entry(values, v0), lanes)
