"""Elimination of columns in a dense front, sixteen and then :data:`pliant.linear.schedule.DEEP` at a time.

A front is a lower triangle, stored by rows from ``at`` on, ``ld`` numbers apart; what lies above the diagonal
is never read. ``t`` keeps the columns being eliminated, transposed: column p + k of the front is row k, from
``tat + k ld`` on. Neighbouring numbers of a row lie in the lanes. Every number of the front is reduced by the
products of one column after the other, in order: bits depend neither on the sizes of blocks nor on who works
on which rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend.entry import entry, place
from ..backend.jit import kernel
from ..backend.lanes import load, store, stride
from .schedule import DEEP, PAD


@kernel
def diagonal(f: Any, at: Any, ld: Any, p: Any, nb: Any) -> Any:
    """Cholesky factor of the nb x nb block at p of the front at ``at``; the column that fails, or -1."""
    for k in range(p, p + nb):
        pivot = entry(f, at + k * ld + k)
        if not pivot > 0.0:  # NaN too
            return k
        root = np.sqrt(pivot)
        place(f, at + k * ld + k, root)
        for i in range(k + 1, p + nb):
            place(f, at + i * ld + k, entry(f, at + i * ld + k) / root)
        for i in range(k + 1, p + nb):
            s = entry(f, at + i * ld + k)
            for j in range(k + 1, i + 1):
                place(f, at + i * ld + j, entry(f, at + i * ld + j) - s * entry(f, at + j * ld + k))
    return -1


@kernel
def columns_below(
    f: Any, at: Any, ld: Any, t: Any, tat: Any, p: Any, nb: Any, lo: Any, hi: Any, lanes: Any
) -> None:
    """Rows lo to hi of the columns p to p + nb, in the front and in ``t``."""
    for i in range(lo, hi):
        for k in range(nb):
            place(t, tat + k * ld + i, entry(f, at + i * ld + p + k))
    for i in range(lo, hi, stride(lanes)):
        for k in range(nb):
            row = at + (p + k) * ld + p
            s = load(t, (tat + k * ld + i,), lanes)
            for m in range(k):
                s = s - entry(f, row + m) * load(t, (tat + m * ld + i,), lanes)
            store(t, (tat + k * ld + i,), s / entry(f, row + k), lanes)
    for i in range(lo, hi):
        for k in range(nb):
            place(f, at + i * ld + p + k, entry(t, tat + k * ld + i))


@kernel
def tiles(
    f: Any, at: Any, ld: Any, t: Any, tat: Any, p: Any, nb: Any, lo: Any, hi: Any, q: Any, end: Any,
    lanes: Any,
) -> None:  # fmt: skip
    """Subtract the outer product of columns p to p + nb from rows lo to hi, columns q to ``end``.

    Columns are rounded up to whole lanes: what is behind ``end`` must lie above the diagonal or not matter.
    """
    for j in range(q, min(end, hi), stride(lanes)):
        i = max(lo, lo + (j - lo) // 4 * 4)
        while i + 4 <= hi:
            a0 = at + i * ld
            a1, a2, a3 = a0 + ld, a0 + 2 * ld, a0 + 3 * ld
            c0, c1 = load(f, (a0 + j,), lanes), load(f, (a1 + j,), lanes)
            c2, c3 = load(f, (a2 + j,), lanes), load(f, (a3 + j,), lanes)
            for k in range(nb):
                b = load(t, (tat + k * ld + j,), lanes)
                c0, c1 = c0 - entry(f, a0 + p + k) * b, c1 - entry(f, a1 + p + k) * b
                c2, c3 = c2 - entry(f, a2 + p + k) * b, c3 - entry(f, a3 + p + k) * b
            store(f, (a0 + j,), c0, lanes)
            store(f, (a1 + j,), c1, lanes)
            store(f, (a2 + j,), c2, lanes)
            store(f, (a3 + j,), c3, lanes)
            i += 4
        while i < hi:
            a0 = at + i * ld
            c0 = load(f, (a0 + j,), lanes)
            for k in range(nb):
                c0 = c0 - entry(f, a0 + p + k) * load(t, (tat + k * ld + j,), lanes)
            store(f, (a0 + j,), c0, lanes)
            i += 1


@kernel
def rows_below(
    f: Any, at: Any, ld: Any, t: Any, tat: Any, p: Any, deep: Any, lo: Any, hi: Any, lanes: Any
) -> None:
    """Rows lo to hi of the columns p to p + deep, whose diagonal block is done."""
    end = p + deep
    q = p
    while q < end:
        nb = step_of(q, end)
        columns_below(f, at, ld, t, tat + (q - p) * ld, q, nb, lo, hi, lanes)
        tiles(f, at, ld, t, tat + (q - p) * ld, q, nb, lo, hi, q + nb, end, lanes)
        q += nb


@kernel
def deep_block(f: Any, at: Any, ld: Any, t: Any, tat: Any, p: Any, deep: Any, lanes: Any) -> Any:
    """Cholesky factor of the block p to p + deep on the diagonal; the column that fails, or -1."""
    end = p + deep
    q = p
    while q < end:
        nb = step_of(q, end)
        bad = diagonal(f, at, ld, q, nb)
        if bad >= 0:
            return bad
        columns_below(f, at, ld, t, tat + (q - p) * ld, q, nb, q + nb, end, lanes)
        tiles(f, at, ld, t, tat + (q - p) * ld, q, nb, q + nb, end, q + nb, end, lanes)
        q += nb
    return -1


@kernel(inline=True)
def step_of(q: Any, end: Any) -> Any:
    """Columns of the next step: the odd ones first, so that all that follow are whole lanes."""
    odd = (end - q) % PAD
    return odd if odd > 0 else PAD


@kernel(inline=True)
def deep_of(p: Any, width: Any) -> Any:
    """Columns of the next deep step, the odd ones first."""
    odd = (width - p) % DEEP
    return odd if odd > 0 else DEEP
