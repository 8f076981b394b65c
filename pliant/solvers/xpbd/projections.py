"""Projection bodies: one per law. Each visits constraints ``lo`` to ``hi`` of one tile.

A body evaluates its law at ``x``, finds the multiplier's change (Macklin, Müller, Chentanez 2016, XPBD,
eq. 18; with damping eq. 26 in the exact form of :func:`change`), and adds the corrections to ``out``.
Gauss-Seidel passes ``out = x``; Jacobi passes an array with a slot per constraint and corner.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backend.jit import kernel, law
from ...backend.lanes import add, add3, load, load3, store
from ...laws.attachment import attachment
from ...laws.bending import dihedral, dihedral_acos, isometric
from ...laws.distance import distance
from ...laws.membrane import Pair, arap_plane, lifted
from ...laws.scalars import reciprocal
from ...laws.vectors import Vec, dot, minus, mix
from .arrays import INV_H, INV_H2

LOAD, STORE = 1, 2
"""Flags of a sweep: multipliers continue from earlier sweeps; multipliers are kept."""


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


@law
def columns(x0: Vec, x1: Vec, x2: Vec, d: Any) -> tuple[Vec, Vec]:
    """Columns of the deformation gradient; ``d`` is inv_rest_matrix, row by row."""
    e1 = minus(x1, x0)
    e2 = minus(x2, x0)
    return mix(d[0], e1, d[2], e2), mix(d[1], e1, d[3], e2)


@kernel
def project_distance(
    x: Any,
    out: Any,
    x_prev: Any,
    w: Any,
    r: Any,
    lam: Any,
    soft: Any,
    times: Any,
    flags: Any,
    lo: Any,
    hi: Any,
    lanes: Any,
) -> None:
    """C = |xi - xj| - L."""
    softness = load(soft, (), lanes)
    for c in range(lo, hi):
        i, j = r.ids[c, 0], r.ids[c, 1]
        wi, wj = w[i], w[j]
        alpha_h = r.data[c, 3] * times[INV_H2] * softness
        gamma = r.data[c, 2] * times[INV_H]
        value, n = distance(load3(x, i, lanes), load3(x, j, lanes), r.data[c, 4])
        before = value
        if gamma > 0:
            before, _ = distance(load3(x_prev, i, lanes), load3(x_prev, j, lanes), r.data[c, 4])
        old = softness * 0.0
        if flags & LOAD:
            old = load(lam, (c, 0), lanes)
        step = r.data[c, 0] * change(value, before, r.data[c, 1] * (wi + wj) * dot(n, n), alpha_h, gamma, old)
        if flags & STORE:
            store(lam, (c, 0), old + step, lanes)
        add3(out, r.ids[c, 2], wi * step, n, lanes)
        add3(out, r.ids[c, 3], -wj * step, n, lanes)


@law
def solve_rows(a11: Any, a12: Any, a22: Any, b1: Any, b2: Any) -> tuple[Any, Any]:
    """Two coupled rows at once, by elimination; a row without weight and compliance stays untouched."""
    first = reciprocal(a11)
    ratio = a12 * first
    y2 = (b2 - ratio * b1) * reciprocal(a22 - ratio * a12)
    return (b1 - a12 * y2) * first, y2


@law
def corners(d: Any, c1: Pair, c2: Pair) -> tuple[Pair, Pair, Pair]:
    """Gradients at the corners from those with respect to the columns of F, in the plane of the triangle."""
    u1, v1 = d[0] * c1[0] + d[1] * c2[0], d[0] * c1[1] + d[1] * c2[1]
    u2, v2 = d[2] * c1[0] + d[3] * c2[0], d[2] * c1[1] + d[3] * c2[1]
    return (-(u1 + u2), -(v1 + v2)), (u1, v1), (u2, v2)


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
    x: Any, out: Any, x_prev: Any, w: Any, r: Any, lam: Any, soft: Any, times: Any, flags: Any, lo: Any,
    hi: Any, lanes: Any,
) -> None:  # fmt: skip
    """Shape and trace rows of the ARAP triangle, solved together: they share all particles."""
    softness = load(soft, (), lanes)
    for c in range(lo, hi):
        i, j, k = r.ids[c, 0], r.ids[c, 1], r.ids[c, 2]
        d = (r.data[c, 5], r.data[c, 6], r.data[c, 7], r.data[c, 8])
        mobility = (w[i], w[j], w[k])
        gamma = r.data[c, 2] * times[INV_H]
        f1, f2 = columns(load3(x, i, lanes), load3(x, j, lanes), load3(x, k, lanes), d)
        shape, s1, s2, trace, t1, t2, e1, e2 = arap_plane(f1, f2)
        shape_prev, trace_prev = shape, trace
        if gamma > 0:
            p1, p2 = columns(load3(x_prev, i, lanes), load3(x_prev, j, lanes), load3(x_prev, k, lanes), d)
            shape_prev, _, _, trace_prev, _, _, _, _ = arap_plane(p1, p2)
        old1 = softness * 0.0
        old2 = old1
        if flags & LOAD:
            old1 = load(lam, (c, 0), lanes)
            old2 = load(lam, (c, 1), lanes)
        g = corners(d, s1, s2)
        h = corners(d, t1, t2)
        crowd = r.data[c, 1] + r.data[c, 1] * gamma
        alpha1 = r.data[c, 3] * times[INV_H2] * softness
        a11 = crowd * weighted(mobility, g, g) + alpha1
        b1 = -shape - alpha1 * old1 - gamma * (shape - shape_prev)
        y2 = old1 * 0.0
        if r.data[c, 4] < np.inf:
            alpha2 = r.data[c, 4] * times[INV_H2] * softness
            a22 = crowd * weighted(mobility, h, h) + alpha2
            a12 = crowd * weighted(mobility, g, h)
            b2 = -trace - alpha2 * old2 - gamma * (trace - trace_prev)
            y1, y2 = solve_rows(a11, a12, a22, b1, b2)
        else:
            y1 = b1 * reciprocal(a11)
        y1 = r.data[c, 0] * y1
        y2 = r.data[c, 0] * y2
        if flags & STORE:
            store(lam, (c, 0), old1 + y1, lanes)
            store(lam, (c, 1), old2 + y2, lanes)
        add3(out, r.ids[c, 3], mobility[0], moved(y1, g[0], y2, h[0], e1, e2), lanes)
        add3(out, r.ids[c, 4], mobility[1], moved(y1, g[1], y2, h[1], e1, e2), lanes)
        add3(out, r.ids[c, 5], mobility[2], moved(y1, g[2], y2, h[2], e1, e2), lanes)


@kernel
def project_isometric(
    x: Any,
    out: Any,
    x_prev: Any,
    w: Any,
    r: Any,
    lam: Any,
    soft: Any,
    times: Any,
    flags: Any,
    lo: Any,
    hi: Any,
    lanes: Any,
) -> None:
    """Three linear rows with the same gradient."""
    softness = load(soft, (), lanes)
    for c in range(lo, hi):
        i, j, k, l = r.ids[c, 0], r.ids[c, 1], r.ids[c, 2], r.ids[c, 3]
        s = (r.data[c, 6], r.data[c, 7], r.data[c, 8], r.data[c, 9])
        wi, wj, wk, wl = w[i] * s[0], w[j] * s[1], w[k] * s[2], w[l] * s[3]
        alpha_h = r.data[c, 3] * times[INV_H2] * softness
        gamma = r.data[c, 2] * times[INV_H]
        crowd = r.data[c, 1] + r.data[c, 1] * gamma
        weight = crowd * (wi * s[0] + wj * s[1] + wk * s[2] + wl * s[3])
        inverse = r.data[c, 0] * reciprocal(weight + alpha_h)
        for m in range(3):
            p = (
                load(x, (i, m), lanes),
                load(x, (j, m), lanes),
                load(x, (k, m), lanes),
                load(x, (l, m), lanes),
            )
            value = isometric(s, p)
            b = -value
            if gamma > 0:
                q0, q1 = load(x_prev, (i, m), lanes), load(x_prev, (j, m), lanes)
                q2, q3 = load(x_prev, (k, m), lanes), load(x_prev, (l, m), lanes)
                b = b - gamma * (value - isometric(s, (q0, q1, q2, q3)))
            old = softness * 0.0
            if flags & LOAD:
                old = load(lam, (c, m), lanes)
            step = (b - alpha_h * old) * inverse
            if flags & STORE:
                store(lam, (c, m), old + step, lanes)
            add(out, (r.ids[c, 4], m), wi * step, lanes)
            add(out, (r.ids[c, 5], m), wj * step, lanes)
            add(out, (r.ids[c, 6], m), wk * step, lanes)
            add(out, (r.ids[c, 7], m), wl * step, lanes)


@kernel
def project_dihedral(
    x: Any,
    out: Any,
    x_prev: Any,
    w: Any,
    r: Any,
    lam: Any,
    soft: Any,
    times: Any,
    flags: Any,
    lo: Any,
    hi: Any,
    signed: Any,
    lanes: Any,
) -> None:
    """C = theta - theta_0, signed, or the acos baseline."""
    softness = load(soft, (), lanes)
    for c in range(lo, hi):
        i, j, k, l = r.ids[c, 0], r.ids[c, 1], r.ids[c, 2], r.ids[c, 3]
        wi, wj, wk, wl = w[i], w[j], w[k], w[l]
        rest = r.data[c, 4]
        gamma = r.data[c, 2] * times[INV_H]
        xi, xj, xk, xl = load3(x, i, lanes), load3(x, j, lanes), load3(x, k, lanes), load3(x, l, lanes)
        if signed:
            value, gi, gj, gk, gl = dihedral(xi, xj, xk, xl, rest)
        else:
            value, gi, gj, gk, gl = dihedral_acos(xi, xj, xk, xl, rest)
        before = value
        if gamma > 0:
            pi, pj = load3(x_prev, i, lanes), load3(x_prev, j, lanes)
            pk, pl = load3(x_prev, k, lanes), load3(x_prev, l, lanes)
            if signed:
                before, _, _, _, _ = dihedral(pi, pj, pk, pl, rest)
            else:
                before, _, _, _, _ = dihedral_acos(pi, pj, pk, pl, rest)
        weight = wi * dot(gi, gi) + wj * dot(gj, gj) + wk * dot(gk, gk) + wl * dot(gl, gl)
        weight = r.data[c, 1] * weight
        alpha_h = r.data[c, 3] * times[INV_H2] * softness
        old = softness * 0.0
        if flags & LOAD:
            old = load(lam, (c, 0), lanes)
        step = r.data[c, 0] * change(value, before, weight, alpha_h, gamma, old)
        if flags & STORE:
            store(lam, (c, 0), old + step, lanes)
        add3(out, r.ids[c, 4], wi * step, gi, lanes)
        add3(out, r.ids[c, 5], wj * step, gj, lanes)
        add3(out, r.ids[c, 6], wk * step, gk, lanes)
        add3(out, r.ids[c, 7], wl * step, gl, lanes)


@kernel
def project_attachment(
    x: Any,
    out: Any,
    x_prev: Any,
    w: Any,
    r: Any,
    lam: Any,
    soft: Any,
    times: Any,
    flags: Any,
    lo: Any,
    hi: Any,
    targets: Any,
    lanes: Any,
) -> None:
    """C = x - target, three rows."""
    softness = load(soft, (), lanes)
    for c in range(lo, hi):
        i = r.ids[c, 0]
        alpha_h = r.data[c, 3] * times[INV_H2] * softness
        gamma = r.data[c, 2] * times[INV_H]
        p = load3(targets, c, lanes)
        value = attachment(load3(x, i, lanes), p)
        before = attachment(load3(x_prev, i, lanes), p)
        for m in range(3):
            old = softness * 0.0
            if flags & LOAD:
                old = load(lam, (c, m), lanes)
            step = r.data[c, 0] * change(value[m], before[m], r.data[c, 1] * w[i], alpha_h, gamma, old)
            if flags & STORE:
                store(lam, (c, m), old + step, lanes)
            add(out, (r.ids[c, 1], m), w[i] * step, lanes)
