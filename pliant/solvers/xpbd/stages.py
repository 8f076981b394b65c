"""Stages of a substep besides projections, and the two ways to run a list of stages.

A step is a table of rows ``(operation, lo, hi, flags, substep)``. Many worlds: each thread takes tiles and
runs the whole table on each. Few worlds: the table is run row by row, threads sharing the rows of one
colour, or by the calling thread alone where rows are short. All visit the items of a row in the same order
within what one item can see, so the bits agree.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backend.jit import feature, kernel, prange
from ...backend.lanes import const, load, load3, store, store3, stride, where
from ...forces.stages import FIRST_LOAD, run_load
from ...laws.vectors import plus
from ..motion import INV_H, SLOW, H, coordinates, hold, pin
from ..pool import SMALLEST_SHARE, STORE, rows_of
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
TOUCH = -1
"""Where a table is parted: contact between surfaces, which is found world by world (touching.py)."""
FIRST_LAW = 100
DISTANCE, MEMBRANE, ISOMETRIC, DIHEDRAL, DIHEDRAL_ACOS, ATTACHMENT = 100, 101, 102, 103, 104, 105
ARAP_TET, NEO_HOOKEAN, VOLUME = 109, 110, 111
"""Operations; more are in :mod:`pliant.forces.stages`. A law's is ``FIRST_LAW`` plus its place in the table
of laws."""


@kernel
def _fall(
    x: Any, v: Any, x_prev: Any, v_last: Any, f: Any, g: Any, mass: Any, times: Any, flags: Any, lo: Any,
    hi: Any, lanes: Any,
) -> None:  # fmt: skip
    """Coordinates ``lo`` to ``hi``, whole groups, of :func:`predict`."""
    h = times[H]
    for k in range(lo, hi, stride(lanes)):
        w = const(mass, (k,), lanes)
        here, before = load(x, (k,), lanes), load(v, (k,), lanes)
        store(x_prev, (k,), here, lanes)
        if flags & STORE:
            store(v_last, (k,), before, lanes)
        speed = before + h * load(g, (k % 3,), lanes)
        if f.shape[0] > 0:
            speed = speed + (h * w) * load(f, (k,), lanes)
        speed = speed * times[SLOW]
        store(v, (k,), where(w > 0, speed, before), lanes)
        store(x, (k,), where(w > 0, here + h * speed, here), lanes)


@kernel
def _rest(x: Any, v: Any, x_prev: Any, mass: Any, times: Any, lo: Any, hi: Any, lanes: Any) -> None:
    """Coordinates ``lo`` to ``hi``, whole groups, of :func:`finish`."""
    h = times[H]
    for k in range(lo, hi, stride(lanes)):
        speed = load(v, (k,), lanes)
        moved = load(x, (k,), lanes) - (load(x_prev, (k,), lanes) + h * speed)
        free = const(mass, (k,), lanes) > 0
        store(v, (k,), where(free, speed + moved * times[INV_H], speed), lanes)


@kernel
def predict(
    x: Any, v: Any, x_prev: Any, v_last: Any, f: Any, g: Any, mass: Any, times: Any, flags: Any, lo: Any,
    hi: Any, lanes: Any, items: Any,
) -> None:  # fmt: skip
    """v <- (v + h (g + w f)) / (1 + h k), x <- x + h v. Pinned particles wait for :func:`pin`.

    The last substep keeps the velocity that it starts from, for the report.
    """
    x, v, x_prev, v_last = coordinates(x), coordinates(v), coordinates(x_prev), coordinates(v_last)
    f = coordinates(f)
    end = 3 * hi
    whole = end - (end - 3 * lo) % stride(items)
    _fall(x, v, x_prev, v_last, f, g, mass, times, flags, 3 * lo, whole, items)
    _fall(x, v, x_prev, v_last, f, g, mass, times, flags, whole, end, lanes)


@kernel
def finish(
    x: Any, v: Any, x_prev: Any, mass: Any, times: Any, lo: Any, hi: Any, lanes: Any, items: Any
) -> None:
    """v <- v + (what constraints moved)/h: exactly zero where none did, in any precision."""
    x, v, x_prev = coordinates(x), coordinates(v), coordinates(x_prev)
    end = 3 * hi
    whole = end - (end - 3 * lo) % stride(items)
    _rest(x, v, x_prev, mass, times, 3 * lo, whole, items)
    _rest(x, v, x_prev, mass, times, whole, end, lanes)


@kernel
def collect(x: Any, out: Any, g: Any, lo: Any, hi: Any, lanes: Any) -> None:
    """Jacobi: each particle adds up the corrections in its slots, in a fixed order."""
    for i in range(lo, hi):
        total = load3(x, i, lanes)
        for s in range(g.start[i], g.start[i + 1]):
            total = plus(total, load3(out, g.slots[s], lanes))
        store3(x, i, total, lanes)


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
        predict(
            x, v, x_prev, p.v_last[t], p.f_ext[t], p.gravity[t], p.inv_mass_of, times, flags, lo, hi, lanes,
            items,
        )  # fmt: skip
    elif op == FINISH:
        finish(x, v, x_prev, p.inv_mass_of, times, lo, hi, lanes, items)
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
