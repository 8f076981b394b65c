"""The numeric factor: every supernode gathers what is below it in a dense front and eliminates its columns.

Source: Duff, Reid, "The multifrontal solution of indefinite sparse symmetric linear equations" (ACM TOMS 9,
1983). Fronts are lower triangles, stored by rows with :data:`pliant.linear.analysis.PAD` numbers more than
a row needs; what lies above the diagonal is never read. ``lanes`` are neighbouring numbers of a row. Every
number is the result of the same operations in the same order, whatever the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend.jit import kernel, prange
from ..backend.lanes import load, store, stride
from .analysis import PAD

PANEL = PAD
"""Columns that are eliminated before the rest of a front learns of it."""


@kernel
def diagonal(f: Any, at: Any, ld: Any, p: Any, nb: Any) -> Any:
    """Cholesky factor of the nb x nb block at p of the front at ``at``; the column that fails, or -1."""
    for k in range(p, p + nb):
        pivot = f[at + k * ld + k, 0]
        if not pivot > 0.0:  # NaN too
            return k
        root = np.sqrt(pivot)
        f[at + k * ld + k, 0] = root
        for i in range(k + 1, p + nb):
            f[at + i * ld + k, 0] /= root
        for i in range(k + 1, p + nb):
            s = f[at + i * ld + k, 0]
            for j in range(k + 1, i + 1):
                f[at + i * ld + j, 0] -= s * f[at + j * ld + k, 0]
    return -1


@kernel
def columns_below(f: Any, at: Any, ld: Any, t: Any, tat: Any, p: Any, nb: Any, nf: Any, lanes: Any) -> None:
    """Rows p + nb to nf of the panel's columns; ``t`` keeps them transposed, row k at tat + k ld."""
    q = p + nb
    for i in range(q, nf):
        for k in range(nb):
            t[tat + k * ld + i, 0] = f[at + i * ld + p + k, 0]
    for k in range(nb):
        for i in range(nf, nf + PAD):
            t[tat + k * ld + i, 0] = 0.0
    for i in range(q, nf, stride(lanes)):
        for k in range(nb):
            row = at + (p + k) * ld + p
            s = load(t, (tat + k * ld + i,), lanes)
            for m in range(k):
                s = s - f[row + m, 0] * load(t, (tat + m * ld + i,), lanes)
            store(t, (tat + k * ld + i,), s / f[row + k, 0], lanes)
    for i in range(q, nf):
        for k in range(nb):
            f[at + i * ld + p + k, 0] = t[tat + k * ld + i, 0]


@kernel
def rest(f: Any, at: Any, ld: Any, t: Any, tat: Any, p: Any, nb: Any, nf: Any, lanes: Any) -> None:
    """Subtract the panel's outer product from the rows and columns behind it, four rows at a time."""
    q = p + nb
    i = q
    while i + 4 <= nf:
        a0 = at + i * ld
        a1, a2, a3 = a0 + ld, a0 + 2 * ld, a0 + 3 * ld
        for j in range(q, i + 4, stride(lanes)):
            c0 = load(f, (a0 + j,), lanes)
            c1 = load(f, (a1 + j,), lanes)
            c2 = load(f, (a2 + j,), lanes)
            c3 = load(f, (a3 + j,), lanes)
            for k in range(nb):
                b = load(t, (tat + k * ld + j,), lanes)
                c0 = c0 - f[a0 + p + k, 0] * b
                c1 = c1 - f[a1 + p + k, 0] * b
                c2 = c2 - f[a2 + p + k, 0] * b
                c3 = c3 - f[a3 + p + k, 0] * b
            store(f, (a0 + j,), c0, lanes)
            store(f, (a1 + j,), c1, lanes)
            store(f, (a2 + j,), c2, lanes)
            store(f, (a3 + j,), c3, lanes)
        i += 4
    while i < nf:
        a = at + i * ld
        for j in range(q, i + 1, stride(lanes)):
            c = load(f, (a + j,), lanes)
            for k in range(nb):
                c = c - f[a + p + k, 0] * load(t, (tat + k * ld + j,), lanes)
            store(f, (a + j,), c, lanes)
        i += 1


@kernel
def assemble(s: Any, f: Any, at: Any, ld: Any, nf: Any, data: Any, u: Any, shape: Any, matrix: Any) -> None:
    """The front of supernode s: numbers of the matrix and what its children hand on."""
    rows_at, places, child, child_at, updates_at = shape[1], shape[2], shape[3], shape[4], shape[5]
    source, place, source_at = matrix
    for i in range(nf):
        for j in range(i + 1):
            f[at + i * ld + j, 0] = 0.0
    for p in range(source_at[s], source_at[s + 1]):
        f[at + place[p, 0] * ld + place[p, 1], 0] += data[source[p]]
    for c in range(child_at[s], child_at[s + 1]):
        p, m, v = rows_at[child[c]], rows_at[child[c] + 1] - rows_at[child[c]], updates_at[child[c]]
        for i in range(m):
            row = at + places[p + i] * ld
            for j in range(i + 1):
                f[row + places[p + j], 0] += u[v + i * m + j]


@kernel
def eliminate(
    s: Any,
    f: Any,
    at: Any,
    t: Any,
    tat: Any,
    data: Any,
    u: Any,
    out: Any,
    shape: Any,
    matrix: Any,
    lanes: Any,
) -> Any:
    """Columns of supernode s into ``out``, by rows, with 1 / diagonal; its update into ``u``.

    Returns the column that fails, or -1.
    """
    first, rows_at, updates_at, values_at = shape[0], shape[1], shape[5], shape[6]
    width, height = first[s + 1] - first[s], rows_at[s + 1] - rows_at[s]
    nf = width + height
    ld = nf + PAD
    assemble(s, f, at, ld, nf, data, u, shape, matrix)
    for p in range(0, width, PANEL):
        nb = min(PANEL, width - p)
        bad = diagonal(f, at, ld, p, nb)
        if bad >= 0:
            return first[s] + bad
        if p + nb < nf:
            columns_below(f, at, ld, t, tat, p, nb, nf, lanes)
            rest(f, at, ld, t, tat, p, nb, nf, lanes)
    v = values_at[s]
    for i in range(nf):
        for j in range(width):
            out[v + i * width + j] = f[at + i * ld + j, 0] if i > j else 0.0
        if i < width:
            out[v + i * width + i] = 1.0 / f[at + i * ld + i, 0]
    v = updates_at[s]
    for i in range(height):
        for j in range(i + 1):
            u[v + i * height + j] = f[at + (width + i) * ld + width + j, 0]
    return -1


@kernel(parallel=True)
def factor(
    data: Any, f: Any, t: Any, u: Any, out: Any, shape: Any, matrix: Any, work: Any, turns: Any, lanes: Any
) -> Any:
    """All numbers of a factor; returns the first step that fails, or n.

    in   data: numbers of the matrix; shape, matrix, work: of the analysis; turns (threads, most): parts that
         each thread does, -1: none
    out  f, t, u: memory; out: the factor's numbers
    """
    parts, top, fronts_at, panels_at = work
    number = len(parts)
    n = shape[0][len(shape[0]) - 1]
    failed = np.full(number + 1, n, np.int64)
    for thread in prange(turns.shape[0]):
        for k in turns[thread]:
            if k >= 0:
                for s in range(parts[k, 0], parts[k, 1]):
                    bad = eliminate(s, f, fronts_at[k], t, panels_at[k], data, u, out, shape, matrix, lanes)
                    if bad >= 0:
                        failed[k] = bad
                        break
    if failed.min() < n:
        return failed.min()
    for s in top:
        bad = eliminate(s, f, fronts_at[number], t, panels_at[number], data, u, out, shape, matrix, lanes)
        if bad >= 0:
            return bad
    return n
