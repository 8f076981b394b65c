"""Stages of a substep that bring the forces on faces to the particles; on one tile, items ``lo`` to ``hi``.

At its start PRESS finds the force of air and of given pressures on each face, from the positions and
velocities there, and GIVE adds it to the velocities. A gas is stiff, so it takes part in the solve: after
each sweep over the constraints, CONES, SLOPES, ADJUST and SWELL move its shell as the pressure of the volume
at the end demands (:func:`pliant.laws.pressure.gas_push`).
"""

from __future__ import annotations

from typing import Any

from ..backend.jit import kernel
from ..backend.lanes import add3, const, index, load, load3, span, splat, store, store3, stride, world
from ..laws.air import face_drag
from ..laws.pressure import LEAST_VOLUME, area_vector, cone_volume, gas_push
from ..laws.vectors import dot, minus, plus, times

PRESS, GIVE, CONES, SLOPES, ADJUST, SWELL = 40, 41, 42, 43, 44, 45
FIRST_LOAD = PRESS
"""Operations."""
AIR = 1
"""Flag of PRESS: there is air."""
AGAIN = 1
"""Flag of ADJUST: multipliers go on from an earlier sweep."""
CHUNK = 256
"""Sums run over fixed chunks of so many items, then over the chunks: the order depends on nothing else."""


@kernel
def press(x: Any, v: Any, d: Any, t: Any, inv_h: Any, flags: Any, lo: Any, hi: Any, items: Any) -> None:
    """Force of pressure and air on each face.

    Air never turns a face's velocity against the wind around within a substep: its factor is at most the
    face's mass over h. Summed over the faces around a particle that is at most the particle's own mass.
    """
    wind = (world(d.wind[t, 0], items), world(d.wind[t, 1], items), world(d.wind[t, 2], items))
    for f in range(lo, hi, stride(items)):
        i, j, k = index(d.ids, (0, f), items), index(d.ids, (1, f), items), index(d.ids, (2, f), items)
        a = area_vector(load3(x, i, items), load3(x, j, items), load3(x, k, items))
        force = times(load(d.pressure[t], (index(d.pressure_of, (f,), items),), items), a)
        if flags & AIR:
            sum_v = plus(plus(load3(v, i, items), load3(v, j, items)), load3(v, k, items))
            u = minus(wind, times(1.0 / 3.0, sum_v))
            across, along = const(d.air, (0, f), items), const(d.air, (1, f), items)
            force = plus(force, face_drag(u, a, across, along, const(d.air, (2, f), items) * inv_h))
        store3(d.force[t], span(f, items), force, items)


@kernel
def give(v: Any, w: Any, d: Any, t: Any, h: Any, lo: Any, hi: Any, lanes: Any) -> None:
    """Velocities of the particles from a third of the force on each face around them."""
    for i in range(lo, hi):
        if w[i] > 0 and d.start[i] < d.start[i + 1]:
            force = load3(d.force[t], d.rows[d.start[i]], lanes)
            for s in range(d.start[i] + 1, d.start[i + 1]):
                force = plus(force, load3(d.force[t], d.rows[s], lanes))
            add3(v, i, h * w[i], times(1.0 / 3.0, force), lanes)


@kernel
def cones(x: Any, g: Any, t: Any, lo: Any, hi: Any, items: Any) -> None:
    """Area vector and volume of the faces of gases."""
    for n in range(lo, hi, stride(items)):
        xi = load3(x, index(g.ids, (0, n), items), items)
        xj = load3(x, index(g.ids, (1, n), items), items)
        xk = load3(x, index(g.ids, (2, n), items), items)
        apex = load3(x, index(g.ids, (3, n), items), items)
        store3(g.area[t], span(n, items), area_vector(xi, xj, xk), items)
        store(g.cone[t], (n,), cone_volume(apex, xi, xj, xk), items)


@kernel
def total(a: Any, first: Any, last: Any, lanes: Any) -> Any:
    """Sum of rows ``first`` to ``last`` of ``a`` (rows, L), chunk by chunk."""
    out = splat(a, 0.0, lanes)
    for start in range(first, last, CHUNK):
        part = splat(a, 0.0, lanes)
        for n in range(start, min(start + CHUNK, last)):
            part = part + load(a, (n,), lanes)
        out = out + part
    return out


@kernel
def slopes(w: Any, g: Any, t: Any, lo: Any, hi: Any, lanes: Any) -> None:
    """Gradient of the volume at the particles of gases, and its weight."""
    for n in range(lo, hi):
        sum_a = load3(g.area[t], g.rows[g.start[n]], lanes)
        for s in range(g.start[n] + 1, g.start[n + 1]):
            sum_a = plus(sum_a, load3(g.area[t], g.rows[s], lanes))
        gradient = times(1.0 / 3.0, sum_a)
        store3(g.slope[t], n, gradient, lanes)
        store(g.weight[t], (n,), w[g.particles[n]] * dot(gradient, gradient), lanes)


@kernel
def adjust(g: Any, t: Any, flags: Any, h: Any, lo: Any, hi: Any, lanes: Any) -> None:
    """Multipliers of the gases after the sweep, from the volumes that it left."""
    for n in range(lo, hi):
        volume = total(g.cone[t], g.face_start[n], g.face_stop[n], lanes)
        slope = total(g.weight[t], g.particle_start[n], g.particle_start[n + 1], lanes)
        old = 0.0 * volume
        if flags & AGAIN:
            old = load(g.push[t], (n, 0), lanes)
        amount = g.volume[n] * (load(g.set[t], (g.of[n],), lanes) + g.ambient[n])
        y = gas_push(volume, slope, amount, g.ambient[n], LEAST_VOLUME * g.volume[n], old, h * h)
        store(g.push[t], (n, 0), y, lanes)
        store(g.push[t], (n, 1), y - old, lanes)


@kernel
def swell(x: Any, w: Any, g: Any, t: Any, lo: Any, hi: Any, lanes: Any) -> None:
    """Particles of gases move along the gradient of the volume."""
    shell = 0
    for n in range(lo, hi):
        while n >= g.particle_start[shell + 1]:
            shell += 1
        y = load(g.push[t], (shell, 1), lanes)
        add3(x, g.particles[n], w[g.particles[n]] * y, load3(g.slope[t], n, lanes), lanes)


@kernel
def run_load(
    op: Any, lo: Any, hi: Any, flags: Any, t: Any, p: Any, loads: Any, gases: Any, h: Any, inv_h: Any,
    lanes: Any, items: Any,
) -> None:  # fmt: skip
    """One row of the table of a step. Tags: lanes, of work on particles; items, of work on faces."""
    if op == PRESS:
        press(p.x[t], p.v[t], loads, t, inv_h, flags, lo, hi, items)
    elif op == GIVE:
        give(p.v[t], p.inv_mass, loads, t, h, lo, hi, lanes)
    elif op == CONES:
        cones(p.x[t], gases, t, lo, hi, items)
    elif op == SLOPES:
        slopes(p.mobility, gases, t, lo, hi, lanes)
    elif op == ADJUST:
        adjust(gases, t, flags, h, lo, hi, lanes)
    else:
        swell(p.x[t], p.mobility, gases, t, lo, hi, lanes)
