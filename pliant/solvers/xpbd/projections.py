"""Projection bodies: one per law. Each visits constraints ``lo`` to ``hi`` of one tile.

A body evaluates its law at ``x``, finds the multiplier's change (Macklin, Müller, Chentanez 2016, XPBD,
eq. 18; with damping eq. 26 in the exact form of :func:`change`), and adds the corrections to ``out``.
Gauss-Seidel passes ``out = x``; Jacobi passes an array with a slot per constraint and corner.

Lanes are worlds, or constraints of one colour of a single world; then all constants are lane values too, and
nothing may branch on them (:mod:`pliant.backend.memory`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backend.jit import kernel, law
from ...backend.lanes import (
    any_lane,
    const,
    index,
    load,
    load3,
    span,
    splat,
    store,
    stride,
    where,
    world,
)
from ...laws.attachment import attachment
from ...laws.bending import carried, dihedral, dihedral_acos, isometric3, mean_normal
from ...laws.distance import distance
from ...laws.membrane import Pair, arap_plane, columns, corners, lifted
from ...laws.scalars import reciprocal
from ...laws.vectors import Vec, dot, minus
from ...laws.vectors import times as scaled
from ..motion import INV_H, INV_H2, RELAX
from ..pool import DAMPED, LOAD, STORE
from .corrections import crowded, land3


@law
def change(c: Any, c_prev: Any, weight: Any, alpha_h: Any, gamma: Any, lambda_: Any) -> Any:
    """Change of the multiplier of one row.

    ``(-C - alpha~ lambda - gamma (C - C_n)) / ((1 + gamma) weight + alpha~)``, ``gamma = tau/h``; 0 where the
    denominator is 0. ``weight = sum w |grad C|^2``, times the crowd for Jacobi (see ``Rows``). ``C_n`` is the
    value at the start of the substep: unlike ``grad C . (x - x_n)`` the difference vanishes for every rigid
    motion.
    """
    numerator = -c - alpha_h * lambda_ - gamma * (c - c_prev)
    return numerator * reciprocal(weight + gamma * weight + alpha_h)


@kernel
def project_distance(
    x: Any, out: Any, x_prev: Any, w: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, order: Any,
    lanes: Any,
) -> None:  # fmt: skip
    """C = |xi - xj| - L."""
    softness = world(r.softness, lanes)
    zero = splat(x, 0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i, j = index(r.ids, (0, c), lanes), index(r.ids, (1, c), lanes)
        wi, wj = const(w, (i,), lanes), const(w, (j,), lanes)
        alpha_h = const(r.data, (0, c), lanes) * times[INV_H2] * softness
        rest = const(r.data, (1, c), lanes)
        xi, xj = load3(x, i, lanes), load3(x, j, lanes)
        value, n = distance(xi, xj, rest)
        before, gamma = value, zero
        if flags & DAMPED:
            gamma = zero + const(r.tau, (c,), lanes) * times[INV_H]
            earlier, _ = distance(load3(x_prev, i, lanes), load3(x_prev, j, lanes), rest)
            before = where(gamma > 0.0, earlier, value)
        old = zero
        if flags & LOAD:
            old = load(r.lambda_, (0, c), lanes)
        weight = (wi + wj) * dot(n, n)
        weight = crowded(order, weight, r.crowd, c, lanes)
        step = times[RELAX] * change(value, before, weight, alpha_h, gamma, old)
        if flags & STORE:
            store(r.lambda_, (0, c), old + step, lanes)
        land3(order, x, out, r.slots, (0, c), i, xi, wi * step, n, lanes)
        land3(order, x, out, r.slots, (1, c), j, xj, -wj * step, n, lanes)


@law
def solve_rows(a11: Any, a12: Any, a22: Any, b1: Any, b2: Any) -> tuple[Any, Any]:
    """Two coupled rows at once, by elimination; a row without weight and compliance stays untouched."""
    first = reciprocal(a11)
    ratio = a12 * first
    y2 = (b2 - ratio * b1) * reciprocal(a22 - ratio * a12)
    return (b1 - a12 * y2) * first, y2


@law
def weighted(w: Any, a: Any, b: Any) -> Any:
    """sum w a . b over three corners, in the plane."""
    return (
        w[0] * (a[0][0] * b[0][0] + a[0][1] * b[0][1])
        + w[1] * (a[1][0] * b[1][0] + a[1][1] * b[1][1])
        + w[2] * (a[2][0] * b[2][0] + a[2][1] * b[2][1])
    )


@law
def moved(y1: Any, g: Pair, y2: Any, h: Pair, e1: Vec, e2: Vec) -> Vec:
    """Both rows' corrections of one corner, in space."""
    return lifted((y1 * g[0] + y2 * h[0], y1 * g[1] + y2 * h[1]), e1, e2)


@kernel
def project_membrane(
    x: Any, out: Any, x_prev: Any, w: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, order: Any,
    lanes: Any,
) -> None:  # fmt: skip
    """Shape and trace rows of the ARAP triangle, solved together: they share all particles."""
    softness = world(r.softness, lanes)
    zero = splat(x, 0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i, j, k = index(r.ids, (0, c), lanes), index(r.ids, (1, c), lanes), index(r.ids, (2, c), lanes)
        d = (
            const(r.data, (2, c), lanes),
            const(r.data, (3, c), lanes),
            const(r.data, (4, c), lanes),
            const(r.data, (5, c), lanes),
        )
        mobility = (const(w, (i,), lanes), const(w, (j,), lanes), const(w, (k,), lanes))
        xi, xj, xk = load3(x, i, lanes), load3(x, j, lanes), load3(x, k, lanes)
        f1, f2 = columns(xi, xj, xk, d)
        shape, s1, s2, trace, t1, t2, e1, e2 = arap_plane(f1, f2)
        b1, b2, gamma = -shape, -trace, zero
        if flags & DAMPED:
            gamma = zero + const(r.tau, (c,), lanes) * times[INV_H]
            p1, p2 = columns(load3(x_prev, i, lanes), load3(x_prev, j, lanes), load3(x_prev, k, lanes), d)
            shape_prev, _, _, trace_prev, _, _, _, _ = arap_plane(p1, p2)
            b1 = where(gamma > 0.0, b1 - gamma * (shape - shape_prev), b1)
            b2 = where(gamma > 0.0, b2 - gamma * (trace - trace_prev), b2)
        old1 = zero
        if flags & LOAD:
            old1 = load(r.lambda_, (0, c), lanes)
        old2 = zero
        if flags & LOAD:
            old2 = load(r.lambda_, (1, c), lanes)
        g = corners(d, s1, s2)
        h = corners(d, t1, t2)
        many = crowded(order, 1.0 + gamma, r.crowd, c, lanes)
        alpha1 = const(r.data, (0, c), lanes) * times[INV_H2] * softness
        a11 = many * weighted(mobility, g, g) + alpha1
        b1 = b1 - alpha1 * old1
        y1, y2 = b1 * reciprocal(a11), zero
        alpha = zero + const(r.data, (1, c), lanes)
        coupled = alpha < np.inf
        if any_lane(coupled):
            alpha2 = where(coupled, alpha, 0.0) * times[INV_H2] * softness
            a22 = many * weighted(mobility, h, h) + alpha2
            a12 = many * weighted(mobility, g, h)
            z1, z2 = solve_rows(a11, a12, a22, b1, b2 - alpha2 * old2)
            y1, y2 = where(coupled, z1, y1), where(coupled, z2, 0.0)
        y1 = times[RELAX] * y1
        y2 = times[RELAX] * y2
        if flags & STORE:
            store(r.lambda_, (0, c), old1 + y1, lanes)
            store(r.lambda_, (1, c), old2 + y2, lanes)
        to_i = moved(y1, g[0], y2, h[0], e1, e2)
        to_j = moved(y1, g[1], y2, h[1], e1, e2)
        to_k = moved(y1, g[2], y2, h[2], e1, e2)
        land3(order, x, out, r.slots, (0, c), i, xi, mobility[0], to_i, lanes)
        land3(order, x, out, r.slots, (1, c), j, xj, mobility[1], to_j, lanes)
        land3(order, x, out, r.slots, (2, c), k, xk, mobility[2], to_k, lanes)


@kernel(inline=True)
def three(a: Any, c: Any, lanes: Any) -> Any:
    """Three rows' multipliers of a constraint."""
    return load(a, (0, c), lanes), load(a, (1, c), lanes), load(a, (2, c), lanes)


@kernel
def project_isometric(
    x: Any, out: Any, x_prev: Any, w: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, order: Any,
    lanes: Any,
) -> None:  # fmt: skip
    """Three linear rows with the same gradient and compliance.

    Damping compares their sum with the one of before as the cloth has turned it since.
    """
    softness = world(r.softness, lanes)
    zero = splat(x, 0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i, j = index(r.ids, (0, c), lanes), index(r.ids, (1, c), lanes)
        k, l = index(r.ids, (2, c), lanes), index(r.ids, (3, c), lanes)
        s0, s1 = const(r.data, (3, c), lanes), const(r.data, (4, c), lanes)
        s2, s3 = const(r.data, (5, c), lanes), const(r.data, (6, c), lanes)
        wi, wj = const(w, (i,), lanes) * s0, const(w, (j,), lanes) * s1
        wk, wl = const(w, (k,), lanes) * s2, const(w, (l,), lanes) * s3
        alpha_h = const(r.data, (0, c), lanes) * times[INV_H2] * softness
        gamma = zero
        if flags & DAMPED:
            gamma = zero + const(r.tau, (c,), lanes) * times[INV_H]
        many = crowded(order, 1.0 + gamma, r.crowd, c, lanes)
        weight = many * (wi * s0 + wj * s1 + wk * s2 + wl * s3)
        inverse = times[RELAX] * reciprocal(weight + alpha_h)
        k4 = (s0, s1, s2, s3)
        xi, xj, xk, xl = load3(x, i, lanes), load3(x, j, lanes), load3(x, k, lanes), load3(x, l, lanes)
        value = isometric3(k4, xi, xj, xk, xl)
        short = (-value[0], -value[1], -value[2])
        if flags & DAMPED:
            pi, pj = load3(x_prev, i, lanes), load3(x_prev, j, lanes)
            pk, pl = load3(x_prev, k, lanes), load3(x_prev, l, lanes)
            normal, before = mean_normal(xi, xj, xk, xl), mean_normal(pi, pj, pk, pl)
            earlier = carried(isometric3(k4, pi, pj, pk, pl), before, normal)
            short = minus(short, scaled(gamma, minus(value, earlier)))
        old = (zero, zero, zero)
        if flags & LOAD:
            old = three(r.lambda_, c, lanes)
        step = scaled(inverse, minus(short, scaled(alpha_h, old)))
        if flags & STORE:
            store(r.lambda_, (0, c), old[0] + step[0], lanes)
            store(r.lambda_, (1, c), old[1] + step[1], lanes)
            store(r.lambda_, (2, c), old[2] + step[2], lanes)
        land3(order, x, out, r.slots, (0, c), i, xi, wi, step, lanes)
        land3(order, x, out, r.slots, (1, c), j, xj, wj, step, lanes)
        land3(order, x, out, r.slots, (2, c), k, xk, wk, step, lanes)
        land3(order, x, out, r.slots, (3, c), l, xl, wl, step, lanes)


@kernel
def project_dihedral(
    x: Any, out: Any, x_prev: Any, w: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, signed: Any,
    order: Any, lanes: Any,
) -> None:  # fmt: skip
    """C = theta - theta_0, signed, or the acos baseline."""
    softness = world(r.softness, lanes)
    zero = splat(x, 0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i, j = index(r.ids, (0, c), lanes), index(r.ids, (1, c), lanes)
        k, l = index(r.ids, (2, c), lanes), index(r.ids, (3, c), lanes)
        wi, wj = const(w, (i,), lanes), const(w, (j,), lanes)
        wk, wl = const(w, (k,), lanes), const(w, (l,), lanes)
        rest = const(r.data, (1, c), lanes)
        xi, xj, xk, xl = load3(x, i, lanes), load3(x, j, lanes), load3(x, k, lanes), load3(x, l, lanes)
        if signed:
            value, gi, gj, gk, gl = dihedral(xi, xj, xk, xl, rest)
        else:
            value, gi, gj, gk, gl = dihedral_acos(xi, xj, xk, xl, rest)
        before, gamma = value, zero
        if flags & DAMPED:
            gamma = zero + const(r.tau, (c,), lanes) * times[INV_H]
            pi, pj = load3(x_prev, i, lanes), load3(x_prev, j, lanes)
            pk, pl = load3(x_prev, k, lanes), load3(x_prev, l, lanes)
            if signed:
                earlier, _, _, _, _ = dihedral(pi, pj, pk, pl, rest)
            else:
                earlier, _, _, _, _ = dihedral_acos(pi, pj, pk, pl, rest)
            before = where(gamma > 0.0, earlier, value)
        weight = wi * dot(gi, gi) + wj * dot(gj, gj) + wk * dot(gk, gk) + wl * dot(gl, gl)
        weight = crowded(order, weight, r.crowd, c, lanes)
        alpha_h = const(r.data, (0, c), lanes) * times[INV_H2] * softness
        old = zero
        if flags & LOAD:
            old = load(r.lambda_, (0, c), lanes)
        step = times[RELAX] * change(value, before, weight, alpha_h, gamma, old)
        if flags & STORE:
            store(r.lambda_, (0, c), old + step, lanes)
        land3(order, x, out, r.slots, (0, c), i, xi, wi * step, gi, lanes)
        land3(order, x, out, r.slots, (1, c), j, xj, wj * step, gj, lanes)
        land3(order, x, out, r.slots, (2, c), k, xk, wk * step, gk, lanes)
        land3(order, x, out, r.slots, (3, c), l, xl, wl * step, gl, lanes)


@kernel
def project_attachment(
    x: Any, out: Any, x_prev: Any, w: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, held: Any,
    order: Any, lanes: Any,
) -> None:  # fmt: skip
    """C = x - target, three rows; held: targets at the end and at the start of the substep."""
    softness = world(r.softness, lanes)
    zero = splat(x, 0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i = index(r.ids, (0, c), lanes)
        wi = const(w, (i,), lanes)
        alpha_h = const(r.data, (0, c), lanes) * times[INV_H2] * softness
        gamma = zero
        if flags & DAMPED:
            gamma = zero + const(r.tau, (c,), lanes) * times[INV_H]
        here = load3(x, i, lanes)
        value = attachment(here, load3(held[0], span(c, lanes), lanes))
        before = attachment(load3(x_prev, i, lanes), load3(held[1], span(c, lanes), lanes))
        weight = crowded(order, zero + wi, r.crowd, c, lanes)
        old = (zero, zero, zero)
        if flags & LOAD:
            old = three(r.lambda_, c, lanes)
        step = (
            times[RELAX] * change(value[0], before[0], weight, alpha_h, gamma, old[0]),
            times[RELAX] * change(value[1], before[1], weight, alpha_h, gamma, old[1]),
            times[RELAX] * change(value[2], before[2], weight, alpha_h, gamma, old[2]),
        )
        if flags & STORE:
            store(r.lambda_, (0, c), old[0] + step[0], lanes)
            store(r.lambda_, (1, c), old[1] + step[1], lanes)
            store(r.lambda_, (2, c), old[2] + step[2], lanes)
        land3(order, x, out, r.slots, (0, c), i, here, wi, step, lanes)
