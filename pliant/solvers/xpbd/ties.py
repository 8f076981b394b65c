"""Projection body of the law "tie", compiled for scenes that have one; see :mod:`.projections`."""

from __future__ import annotations

from typing import Any

from ...backend.jit import feature, kernel, law
from ...backend.lanes import const, index, load3, splat, store, stride, world
from ...laws import LAWS
from ...laws.tie import tie
from ...laws.vectors import Vec, dot, minus, mix, plus
from ...laws.vectors import times as scaled
from ..motion import INV_H, INV_H2, RELAX
from ..pool import DAMPED, LOAD, STORE
from .corrections import crowded, land3
from .projections import three
from .sheets import solve_three

TIE = list(LAWS).index("tie")
"""Place of the law in the table of laws."""


@law
def outer(w: Any, a: Vec, b: Vec) -> Any:
    """w (a b^T + b a^T)/2, its upper triangle by rows."""
    half = 0.5 * w
    return (
        w * a[0] * b[0],
        half * (a[0] * b[1] + a[1] * b[0]),
        half * (a[0] * b[2] + a[2] * b[0]),
        w * a[1] * b[1],
        half * (a[1] * b[2] + a[2] * b[1]),
        w * a[2] * b[2],
    )


@law
def sum_six(a: Any, b: Any) -> Any:
    """Sum of two upper triangles."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@law
def of_corner(w: Any, b: Any, s: Vec, y: Vec, n: Vec) -> Vec:
    """w times the sum over rows of multiplier y and gradient, at a corner of the triangle."""
    return mix(-w * b, y, w * dot(s, y), n)


@kernel
def project_tie(
    x: Any, out: Any, x_prev: Any, w: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, order: Any,
    lanes: Any,
) -> None:  # fmt: skip
    """Three rows solved together: with a gap they share the triangle's turning.

    Their matrix is ``sum w g g^T = (w_x + sum w_k b_k^2) 1 - (q n^T + n q^T) + sum w_k s_k s_k^T`` with
    ``q = sum w_k b_k s_k``.
    """
    softness = world(r.softness, lanes)
    zero = splat(x, 0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i, j = index(r.ids, (0, c), lanes), index(r.ids, (1, c), lanes)
        k, l = index(r.ids, (2, c), lanes), index(r.ids, (3, c), lanes)
        wi, wj = const(w, (i,), lanes), const(w, (j,), lanes)
        wk, wl = const(w, (k,), lanes), const(w, (l,), lanes)
        b = (const(r.data, (3, c), lanes), const(r.data, (4, c), lanes), const(r.data, (5, c), lanes))
        gap = const(r.data, (6, c), lanes)
        alpha_h = const(r.data, (0, c), lanes) * times[INV_H2] * softness
        gamma = zero
        if flags & DAMPED:
            gamma = zero + const(r.tau, (c,), lanes) * times[INV_H]
        xi, xj, xk, xl = load3(x, i, lanes), load3(x, j, lanes), load3(x, k, lanes), load3(x, l, lanes)
        value, n, sj, sk, sl = tie(b, gap, xi, xj, xk, xl)
        short = (-value[0], -value[1], -value[2])
        if flags & DAMPED:
            pi, pj = load3(x_prev, i, lanes), load3(x_prev, j, lanes)
            pk, pl = load3(x_prev, k, lanes), load3(x_prev, l, lanes)
            earlier, _, _, _, _ = tie(b, gap, pi, pj, pk, pl)
            short = minus(short, scaled(gamma, minus(value, earlier)))
        old = (zero, zero, zero)
        if flags & LOAD:
            old = three(r.lambda_, c, lanes)
        many = crowded(order, 1.0 + gamma, r.crowd, c, lanes)
        q = plus(mix(wj * b[0], sj, wk * b[1], sk), scaled(wl * b[2], sl))
        m = sum_six(outer(zero + wj, sj, sj), sum_six(outer(zero + wk, sk, sk), outer(zero + wl, sl, sl)))
        m = sum_six(m, outer(-2.0 + zero, q, n))
        own = zero + wi + wj * b[0] * b[0] + wk * b[1] * b[1] + wl * b[2] * b[2]
        rhs = minus(short, scaled(alpha_h, old))
        y = solve_three(
            many * (m[0] + own) + alpha_h, many * m[1], many * m[2], many * (m[3] + own) + alpha_h,
            many * m[4], many * (m[5] + own) + alpha_h, rhs[0], rhs[1], rhs[2],
        )  # fmt: skip
        step = scaled(times[RELAX], y)
        if flags & STORE:
            store(r.lambda_, (0, c), old[0] + step[0], lanes)
            store(r.lambda_, (1, c), old[1] + step[1], lanes)
            store(r.lambda_, (2, c), old[2] + step[2], lanes)
        land3(order, x, out, r.slots, (0, c), i, xi, wi, step, lanes)
        land3(order, x, out, r.slots, (1, c), j, xj, 1.0, of_corner(wj, b[0], sj, step, n), lanes)
        land3(order, x, out, r.slots, (2, c), k, xk, 1.0, of_corner(wk, b[1], sk, step, n), lanes)
        land3(order, x, out, r.slots, (3, c), l, xl, 1.0, of_corner(wl, b[2], sl, step, n), lanes)


run_ties = feature("ties", project_tie)
"""``run_ties(extras, x, out, ...)``: the scene's ties, if it has any."""
