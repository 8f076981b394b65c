"""Sums and combinations of vectors, lane by lane, by one thread or by a team.

A sum runs over fixed chunks of 256 rows, in each over eight strands (row k belongs to strand k mod 8), then
over the strands in a fixed tree and over the chunks in order: one world, whose strands are the lanes of a
register, gets the same bits as a world among many.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backend.jit import feature, kernel, prange
from ...backend.lanes import load, splat, store, stride, world

CHUNK, STRANDS = 256, 8


@kernel
def chunk_sums(
    a: Any, b: Any, minus: Any, partial: Any, strands: Any, lo: Any, hi: Any, lanes: Any, items: Any
) -> None:
    """Sums of ``a b``, or of ``a - b``, over chunks ``lo`` to ``hi``."""
    for c in range(lo, hi):
        last = min((c + 1) * CHUNK, a.shape[0])
        for j in range(0, STRANDS, stride(items)):
            v = splat(a, 0.0, items)
            if minus:
                for k in range(c * CHUNK + j, last, STRANDS):
                    v = v + (load(a, (k,), items) - load(b, (k,), items))
            else:
                for k in range(c * CHUNK + j, last, STRANDS):
                    v = v + load(a, (k,), items) * load(b, (k,), items)
            store(strands, (j,), v, items)
        v01, v23 = load(strands, (0,), lanes) + load(strands, (1,), lanes), load(strands, (2,), lanes)
        v23 = v23 + load(strands, (3,), lanes)
        v45, v67 = load(strands, (4,), lanes) + load(strands, (5,), lanes), load(strands, (6,), lanes)
        v67 = v67 + load(strands, (7,), lanes)
        store(partial, (c,), (v01 + v23) + (v45 + v67), lanes)


@kernel
def total(partial: Any, chunks: Any, out: Any, lanes: Any) -> None:
    """Sum over the chunks, in order."""
    v = splat(partial, 0.0, lanes)
    for c in range(chunks):
        v = v + load(partial, (c,), lanes)
    store(out, (), v, lanes)


@kernel
def _sum_alone(
    a: Any, b: Any, minus: Any, out: Any, partial: Any, strands: Any, lanes: Any, items: Any
) -> None:
    chunks = (a.shape[0] + CHUNK - 1) // CHUNK
    chunk_sums(a, b, minus, partial, strands[0], 0, chunks, lanes, items)
    total(partial, chunks, out, lanes)


@kernel(parallel=True)
def _sum_together(
    a: Any, b: Any, minus: Any, out: Any, partial: Any, strands: Any, lanes: Any, items: Any
) -> None:
    chunks, shares = (a.shape[0] + CHUNK - 1) // CHUNK, strands.shape[0]
    for k in prange(shares):
        lo, hi = chunks * np.int64(k) // shares, chunks * (np.int64(k) + 1) // shares
        chunk_sums(a, b, minus, partial, strands[k], lo, hi, lanes, items)
    total(partial, chunks, out, lanes)


sum_of = feature("team", _sum_together, _sum_alone)
"""``sum_of(team, a, b, minus, out, partial, strands, lanes, items)``: the sum over rows of ``a b`` (of ``a -
b`` if minus), (rows, L) each, into out (L,)."""


@kernel
def combine_rows(out: Any, a: Any, c: Any, b: Any, lo: Any, hi: Any, items: Any) -> None:
    """out = a + c b, rows ``lo`` to ``hi``."""
    factor = world(c, items)
    for k in range(lo, hi, stride(items)):
        store(out, (k,), load(a, (k,), items) + factor * load(b, (k,), items), items)


@kernel
def _combine_alone(out: Any, a: Any, c: Any, b: Any, strands: Any, items: Any) -> None:
    combine_rows(out, a, c, b, 0, a.shape[0], items)


@kernel(parallel=True)
def _combine_together(out: Any, a: Any, c: Any, b: Any, strands: Any, items: Any) -> None:
    groups, shares = a.shape[0] // STRANDS, strands.shape[0]
    for k in prange(shares):
        lo = groups * np.int64(k) // shares * STRANDS
        hi = groups * (np.int64(k) + 1) // shares * STRANDS
        combine_rows(out, a, c, b, lo, hi, items)


combine = feature("team", _combine_together, _combine_alone)
"""``combine(team, out, a, c, b, strands, items)``: out = a + c b; a, b, out (rows, L), c (L,)."""
