"""Stages of a substep besides projections, and the two ways to run a list of stages.

A step is a table of rows ``(operation, lo, hi, flags, substep)``. Many worlds: each thread takes tiles and
runs the whole table on each. Few worlds: the table is run row by row, threads sharing the rows of one
colour, or by the calling thread alone where rows are short. All visit the items of a row in the same order
within what one item can see, so the bits agree.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backend.jit import feature, kernel, law, prange
from ...backend.lanes import load, load3, store, store3
from ...forces.stages import FIRST_LOAD, run_load
from ...laws.vectors import Vec, minus, plus
from ...laws.vectors import times as scaled
from .arrays import (
    AT_DATA,
    AT_IDS,
    AT_ITEMS,
    AT_LAMBDA,
    CORNERS,
    COUNT,
    FIELDS,
    INV_DT,
    INV_H,
    ROWS,
    SLOW,
    STORE,
    H,
    Rows,
)
from .collisions import collide, separate
from .projections import (
    project_attachment,
    project_dihedral,
    project_distance,
    project_isometric,
    project_membrane,
)
from .sheets import run_sheets
from .solids import run_arap, run_determinants
from .surface_collisions import FIRST_SURFACE, run_surfaces
from .ties import TIE, run_ties

PREDICT, PIN, FINISH, CONTACT, SEPARATE, COLLECT, HOLD = 0, 1, 2, 3, 4, 5, 6
FIRST_LAW = 100
DISTANCE, MEMBRANE, ISOMETRIC, DIHEDRAL, DIHEDRAL_ACOS, ATTACHMENT = 100, 101, 102, 103, 104, 105
ARAP_TET, NEO_HOOKEAN, VOLUME = 109, 110, 111
"""Operations; more are in :mod:`pliant.forces.stages`. A law's is ``FIRST_LAW`` plus its place in the table
of laws."""

SMALLEST_SHARE = 1024
"""Fewer items per thread are not worth a fork and a join: some 10 us, and a projection is 20 to 70 ns."""


@kernel
def predict(
    x: Any,
    v: Any,
    x_prev: Any,
    v_last: Any,
    f: Any,
    g: Any,
    p: Any,
    times: Any,
    flags: Any,
    lo: Any,
    hi: Any,
    lanes: Any,
) -> None:
    """v <- (v + h (g + w f)) / (1 + h k), x <- x + h v. Pinned particles wait for :func:`pin`.

    The last substep keeps the velocity that it starts from, for the report.
    """
    h = times[H]
    for i in range(lo, hi):
        w = p.inv_mass[i]
        for m in range(3):
            here = load(x, (i, m), lanes)
            store(x_prev, (i, m), here, lanes)
            speed = load(v, (i, m), lanes)
            if flags & STORE:
                store(v_last, (i, m), speed, lanes)
            if w > 0:
                speed = speed + h * load(g, (m,), lanes)
                if f.shape[0] > 0:
                    speed = speed + (h * w) * load(f, (i, m), lanes)
                speed = speed * times[SLOW]
                store(v, (i, m), speed, lanes)
                store(x, (i, m), here + h * speed, lanes)


@kernel
def finish(x: Any, v: Any, x_prev: Any, p: Any, times: Any, lo: Any, hi: Any, lanes: Any) -> None:
    """v <- v + (what constraints moved)/h: exactly zero where none did, in any precision."""
    h = times[H]
    for i in range(lo, hi):
        if p.inv_mass[i] > 0:
            for m in range(3):
                speed = load(v, (i, m), lanes)
                moved = load(x, (i, m), lanes) - (load(x_prev, (i, m), lanes) + h * speed)
                store(v, (i, m), speed + moved * times[INV_H], lanes)


@law
def share_of_way(start: Vec, target: Vec, share: Any) -> Vec:
    """A share of the straight way; the target itself at its end."""
    return plus(start, scaled(share, minus(target, start))) if share < 1 else target


@kernel(inline=True)
def arc_at(arc: Any, sub: Any, k: Any) -> Any:
    """How far from the straight way target ``k`` is at the end of substep ``sub``."""
    return arc[sub, k, 0], arc[sub, k, 1], arc[sub, k, 2]


@kernel
def pin(x: Any, v: Any, pins: Any, t: Any, sub: Any, times: Any, lo: Any, hi: Any, lanes: Any) -> None:
    """Pinned particles move to their share of the way to the target, at constant speed."""
    for k in range(lo, hi):
        start = load3(pins.start[t], k, lanes)
        target = load3(pins.target[t], k, lanes)
        here = share_of_way(start, target, pins.share[sub])
        speed = scaled(times[INV_DT], minus(target, start))
        if pins.arc.shape[0] > 0:
            arc = arc_at(pins.arc, sub, k)
            here = plus(here, arc)
            if sub > 0:
                arc = minus(arc, arc_at(pins.arc, sub - 1, k))
            speed = plus(speed, scaled(times[INV_H], arc))
        store3(v, pins.ids[k], speed, lanes)
        store3(x, pins.ids[k], here, lanes)


@kernel
def hold(held: Any, way: Any, share: Any, t: Any, sub: Any, lo: Any, hi: Any, lanes: Any) -> None:
    """Attachments move to their share of the way; where they were is kept for damping."""
    for c in range(lo, hi):
        k = way.order[c]
        start = load3(way.start[t], k, lanes)
        here = share_of_way(start, load3(way.target[t], k, lanes), share[sub])
        if way.arc.shape[0] > 0:
            here = plus(here, arc_at(way.arc, sub, k))
        before = start
        if sub > 0:
            before = load3(held[t, 0], c, lanes)
        store3(held[t, 1], c, before, lanes)
        store3(held[t, 0], c, here, lanes)


@kernel
def collect(x: Any, out: Any, g: Any, lo: Any, hi: Any, lanes: Any) -> None:
    """Jacobi: each particle adds up the corrections in its slots, in a fixed order."""
    for i in range(lo, hi):
        total = load3(x, i, lanes)
        for s in range(g.start[i], g.start[i + 1]):
            total = plus(total, load3(out, g.slots[s], lanes))
        store3(x, i, total, lanes)


@kernel
def rows_of(pool: Any, law: Any, t: Any) -> Any:
    """The constraints of one law on one tile."""
    at = pool.layout[law]
    n, c, f, r = at[COUNT], at[CORNERS], at[FIELDS], at[ROWS]
    i, d, m, k = at[AT_IDS], at[AT_DATA], at[AT_LAMBDA], at[AT_ITEMS]
    return Rows(
        pool.ids[i : i + c * n].reshape((c, n)),
        pool.slots[i : i + c * n].reshape((c, n)),
        pool.data[d : d + f * n].reshape((f, n)),
        pool.tau[k : k + n],
        pool.crowd[k : k + n],
        pool.lambda_[t, m : m + r * n].reshape((r, n, pool.lambda_.shape[2])),
        pool.softness[t, law],
    )


@kernel
def _run_angles(
    op: Any, x: Any, out: Any, y: Any, w: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, order: Any,
    lanes: Any,
) -> None:  # fmt: skip
    """Laws of the group "angle"."""
    if op == DIHEDRAL:
        project_dihedral(x, out, y, w, r, times, flags, lo, hi, True, order, lanes)
    else:
        project_dihedral(x, out, y, w, r, times, flags, lo, hi, False, order, lanes)


run_angles = feature("angle", _run_angles)


@kernel
def run_law(
    op: Any, lo: Any, hi: Any, flags: Any, t: Any, p: Any, pool: Any, out: Any, times: Any, order: Any,
    extras: Any, lanes: Any,
) -> None:  # fmt: skip
    """Constraints ``lo`` to ``hi`` of one law, on one tile."""
    x, y, w = p.x[t], p.x_prev[t], p.mobility
    r = rows_of(pool, op - FIRST_LAW, t)
    if op == DISTANCE:
        project_distance(x, out, y, w, r, times, flags, lo, hi, order, lanes)
    elif op == MEMBRANE:
        project_membrane(x, out, y, w, r, times, flags, lo, hi, order, lanes)
    elif op == ISOMETRIC:
        project_isometric(x, out, y, w, r, times, flags, lo, hi, order, lanes)
    elif op == ATTACHMENT:
        project_attachment(x, out, y, w, r, times, flags, lo, hi, pool.held[t], order, lanes)
    elif op <= DIHEDRAL_ACOS:
        run_angles(extras, op, x, out, y, w, r, times, flags, lo, hi, order, lanes)
    elif op == FIRST_LAW + TIE:
        run_ties(extras, x, out, y, w, r, times, flags, lo, hi, order, lanes)
    elif op < ARAP_TET:
        run_sheets(extras, op - FIRST_LAW, x, out, y, w, r, times, flags, lo, hi, order, lanes)
    elif op == ARAP_TET:
        run_arap(extras, x, out, y, w, r, times, flags, lo, hi, order, lanes)
    else:
        run_determinants(extras, op == NEO_HOOKEAN, x, out, y, w, r, times, flags, lo, hi, order, lanes)


run_loads = feature("faces", run_load)
"""What acts on faces, where anything does."""
run_meshes = feature("meshes", run_surfaces)
"""Contact with meshes, where a scene has any."""


@kernel
def run_stage(
    row: Any, lo: Any, hi: Any, t: Any, p: Any, pins: Any, way: Any, pool: Any, g: Any, c: Any, col: Any,
    m: Any, loads: Any, gases: Any, times: Any, order: Any, extras: Any, lanes: Any, items: Any,
) -> None:  # fmt: skip
    """Items ``lo`` to ``hi`` of one row of the table, on one tile.

    Tags: order, whether Jacobi; extras, the optional groups of laws that the scene has; lanes, of what is
    done particle by particle; items, of what is done constraint by constraint. Without mesh colliders ``m``
    is None, and their stages are not compiled.
    """
    op, flags = row[0], row[3]
    x, v, x_prev = p.x[t], p.v[t], p.x_prev[t]
    if op >= FIRST_LAW:
        run_law(op, lo, hi, flags, t, p, pool, g.out[t], times, order, extras, items)
    elif op >= FIRST_LOAD:
        run_loads(extras, op, lo, hi, flags, t, p, loads, gases, times[H], times[INV_H], lanes, items)
    elif op >= FIRST_SURFACE:
        run_meshes(extras, op, lo, hi, flags, t, x, x_prev, p.inv_mass, m, row[4])
    elif op == PREDICT:
        predict(x, v, x_prev, p.v_last[t], p.f_ext[t], p.gravity[t], p, times, flags, lo, hi, lanes)
    elif op == FINISH:
        finish(x, v, x_prev, p, times, lo, hi, lanes)
    elif op == PIN:
        pin(x, v, pins, t, row[4], times, lo, hi, lanes)
    elif op == HOLD:
        hold(pool.held, way, pins.share, t, row[4], lo, hi, lanes)
    elif op == CONTACT:
        collide(x, x_prev, p, c, t, col, row[4], flags, lo, hi, lanes)
    elif op == SEPARATE:
        separate(x, p, c, t, col, lo, hi, lanes)
    else:
        collect(x, g.out[t], g, lo, hi, lanes)


@kernel
def run_table(
    table: Any, t: Any, p: Any, pins: Any, way: Any, pool: Any, g: Any, c: Any, col: Any, m: Any,
    loads: Any, gases: Any, times: Any, order: Any, extras: Any, lanes: Any, items: Any,
) -> None:  # fmt: skip
    """The whole table on one tile, in one thread."""
    for k in range(table.shape[0]):
        row = table[k]
        run_stage(
            row, row[1], row[2], t, p, pins, way, pool, g, c, col, m, loads, gases, times, order, extras,
            lanes, items,
        )  # fmt: skip


@kernel(parallel=True)
def run_tiles(
    table: Any, p: Any, pins: Any, way: Any, pool: Any, g: Any, c: Any, col: Any, m: Any, loads: Any,
    gases: Any, times: Any, order: Any, extras: Any, lanes: Any, items: Any,
) -> None:  # fmt: skip
    """The whole table on every tile; threads share tiles."""
    for t in prange(p.x.shape[0]):
        run_table(
            table, np.int64(t), p, pins, way, pool, g, c, col, m, loads, gases, times, order, extras, lanes,
            items,
        )  # fmt: skip


@kernel(parallel=True)
def run_rows(
    table: Any, p: Any, pins: Any, way: Any, pool: Any, g: Any, c: Any, col: Any, m: Any, loads: Any,
    gases: Any, times: Any, threads: Any, order: Any, extras: Any, lanes: Any, items: Any,
) -> None:  # fmt: skip
    """The table row by row; threads share the items of a row where they are many, 16 items or more each."""
    for n in range(table.shape[0]):
        row = table[n]
        lo, hi = row[1], row[2]
        blocks = (hi - lo + 15) // 16
        shares = min(threads, (hi - lo) // SMALLEST_SHARE)
        for t in range(p.x.shape[0]):
            if shares < 2:
                run_stage(
                    row, lo, hi, t, p, pins, way, pool, g, c, col, m, loads, gases, times, order, extras,
                    lanes, items,
                )  # fmt: skip
                continue
            for s in prange(shares):
                k = np.int64(s)
                a = lo + blocks * k // shares * 16
                b = min(lo + blocks * (k + 1) // shares * 16, hi)
                run_stage(
                    row, a, b, t, p, pins, way, pool, g, c, col, m, loads, gases, times, order, extras, lanes,
                    items,
                )  # fmt: skip
