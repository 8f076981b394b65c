"""Energy and gradient of the incremental potential at the tried positions of one tile.

``E(d) = sum m' |d|^2/(2 h^2) + sum U(x~ + d)``: in terms of the way d from the prediction nothing is lost
beside large coordinates. A row of the table is ``(operation, lo, hi, flags)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backend.jit import feature, kernel, prange
from ...backend.lanes import const, load3, span, splat, store, store3, stride
from ...laws import LAWS
from ...laws.vectors import dot, times
from ..pool import SMALLEST_SHARE, rows_of
from .forces import force_attachment, force_distance, force_isometric, force_membrane
from .more_forces import (
    force_arap,
    force_curved,
    force_dihedral,
    force_neo_hookean,
    force_orthotropic,
    force_tie,
    force_volume,
)

INERTIA, HELD, FIRST_LAW = 0, 1, 100
"""Operations; a law's is ``FIRST_LAW`` plus its place in the table of laws."""

_PLACE = {law: FIRST_LAW + k for k, law in enumerate(LAWS)}
DISTANCE, MEMBRANE = _PLACE["distance"], _PLACE["membrane"]
ISOMETRIC, ATTACHMENT = _PLACE["isometric"], _PLACE["attachment"]
DIHEDRAL, DIHEDRAL_ACOS = _PLACE["dihedral"], _PLACE["dihedral_acos"]
ORTHOTROPIC, CURVED = _PLACE["orthotropic"], _PLACE["curved"]
ARAP_TET, NEO_HOOKEAN, TIE = _PLACE["arap_tet"], _PLACE["neo_hookean"], _PLACE["tie"]


@kernel
def inertia(d: Any, g: Any, e: Any, mass: Any, lo: Any, hi: Any, items: Any) -> None:
    """Gradient and energy of inertia: it is where both begin."""
    for i in range(lo, hi, stride(items)):
        w, here = const(mass, (i,), items), load3(d, span(i, items), items)
        store3(g, span(i, items), times(w, here), items)
        store(e, (i,), 0.5 * w * dot(here, here), items)


@kernel
def hold_still(g: Any, ids: Any, lo: Any, hi: Any, lanes: Any) -> None:
    """Pinned particles do not answer."""
    zero = splat(g, 0.0, lanes)
    for k in range(lo, hi):
        store3(g, ids[k], (zero, zero, zero), lanes)


@kernel
def _angles(
    op: Any, x: Any, y: Any, g: Any, e: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, items: Any
) -> None:
    if op == DIHEDRAL:
        force_dihedral(x, y, g, e, r, times, flags, lo, hi, True, items)
    else:
        force_dihedral(x, y, g, e, r, times, flags, lo, hi, False, items)


@kernel
def _sheets(
    op: Any, x: Any, y: Any, g: Any, e: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, items: Any
) -> None:
    if op == ORTHOTROPIC:
        force_orthotropic(x, y, g, e, r, times, flags, lo, hi, items)
    else:
        force_curved(x, y, g, e, r, times, flags, lo, hi, items)


@kernel
def _determinants(
    op: Any, x: Any, y: Any, g: Any, e: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, items: Any
) -> None:
    if op == NEO_HOOKEAN:
        force_neo_hookean(x, y, g, e, r, times, flags, lo, hi, items)
    else:
        force_volume(x, y, g, e, r, times, flags, lo, hi, items)


run_angles = feature("angle", _angles)
run_sheets = feature("sheets", _sheets)
run_determinants = feature("determinant", _determinants)
run_arap = feature("arap", force_arap)
run_ties = feature("ties", force_tie)


@kernel
def run_law(
    extras: Any, op: Any, x: Any, y: Any, g: Any, e: Any, r: Any, held: Any, times: Any, flags: Any, lo: Any,
    hi: Any, items: Any,
) -> None:  # fmt: skip
    """Constraints ``lo`` to ``hi`` of one law."""
    if op == DISTANCE:
        force_distance(x, y, g, e, r, times, flags, lo, hi, items)
    elif op == MEMBRANE:
        force_membrane(x, y, g, e, r, times, flags, lo, hi, items)
    elif op == ISOMETRIC:
        force_isometric(x, y, g, e, r, times, flags, lo, hi, items)
    elif op == ATTACHMENT:
        force_attachment(x, y, g, e, r, times, flags, lo, hi, held, items)
    elif op in (DIHEDRAL, DIHEDRAL_ACOS):
        run_angles(extras, op, x, y, g, e, r, times, flags, lo, hi, items)
    elif op in (ORTHOTROPIC, CURVED):
        run_sheets(extras, op, x, y, g, e, r, times, flags, lo, hi, items)
    elif op == TIE:
        run_ties(extras, x, y, g, e, r, times, flags, lo, hi, items)
    elif op == ARAP_TET:
        run_arap(extras, x, y, g, e, r, times, flags, lo, hi, items)
    else:
        run_determinants(extras, op, x, y, g, e, r, times, flags, lo, hi, items)


@kernel
def run_row(
    row: Any, lo: Any, hi: Any, t: Any, half: Any, p: Any, s: Any, pool: Any, times: Any, extras: Any,
    lanes: Any, items: Any,
) -> None:  # fmt: skip
    """Items ``lo`` to ``hi`` of one row of the table, of the half that is tried."""
    op, g, e = row[0], s.g[half, t], s.e[half, t]
    if op >= FIRST_LAW:
        r = rows_of(pool, op - FIRST_LAW, t)
        run_law(extras, op, s.x[t], p.x_prev[t], g, e, r, pool.held[t], times, row[3], lo, hi, items)
    elif op == INERTIA:
        inertia(s.d[half, t], g, e, p.inertia, lo, hi, items)
    else:
        hold_still(g, p.pin_ids, lo, hi, lanes)


@kernel
def _alone(
    table: Any, t: Any, half: Any, p: Any, s: Any, pool: Any, times: Any, extras: Any, lanes: Any, items: Any
) -> None:
    for n in range(table.shape[0]):
        row = table[n]
        run_row(row, row[1], row[2], t, half, p, s, pool, times, extras, lanes, items)


@kernel(parallel=True)
def _together(
    table: Any, t: Any, half: Any, p: Any, s: Any, pool: Any, times: Any, extras: Any, lanes: Any, items: Any
) -> None:
    """Threads share the items of a row where they are many, 16 or more each."""
    for n in range(table.shape[0]):
        row = table[n]
        lo, hi = row[1], row[2]
        blocks = (hi - lo + 15) // 16
        shares = min(s.strands.shape[0], (hi - lo) // SMALLEST_SHARE)
        if shares < 2:
            run_row(row, lo, hi, t, half, p, s, pool, times, extras, lanes, items)
            continue
        for k in prange(shares):
            a = lo + blocks * np.int64(k) // shares * 16
            b = min(lo + blocks * (np.int64(k) + 1) // shares * 16, hi)
            run_row(row, a, b, t, half, p, s, pool, times, extras, lanes, items)


evaluate = feature("team", _together, _alone)
"""``evaluate(team, table, t, half, ...)``: E and its gradient at ``s.x``, by one thread or by all."""


@kernel(parallel=True)
def evaluate_tiles(
    table: Any, first: Any, last: Any, half: Any, p: Any, s: Any, pool: Any, times: Any, extras: Any,
    lanes: Any, items: Any,
) -> None:  # fmt: skip
    """E and its gradient on the tiles ``first`` to ``last`` that search, each by one thread."""
    for n in prange(last - first):
        t = first + np.int64(n)
        if s.searching[t]:
            _alone(table, t, half, p, s, pool, times, extras, lanes, items)
