"""Energy and gradient of constraints, laws of the group "cloth": the local step.

A body visits constraints ``lo`` to ``hi`` of one tile. With C and its gradient from the law, k = 1/alpha and
gamma = tau/h, a row holds the energy ``k (C^2 + gamma (C - C_n)^2)/2`` and pulls with ``k (C + gamma
(C - C_n))``; C_n is its value at the start of the substep. For ARAP that is the stress ``k (F - R)``, R the
projection of F: the right-hand side of projective dynamics (Bouaziz et al. 2014, eq. 10), as a gradient.

    in   x, y (N, 3, L) now and at the start of the substep; r: rows of a law, whose ``data`` holds 1/alpha
         and whose ``softness`` the factor on it of each world
    out  g (N, 3, L): dU/dx is added; e (N, L): each constraint's energy is added at its first corner;
         with STORE, lambda = -h^2 dU/dC of each row
"""

from __future__ import annotations

from typing import Any

from ...backend.jit import kernel, law
from ...backend.lanes import const, index, load, load3, span, splat, store, store3, stride, world
from ...laws.attachment import attachment
from ...laws.bending import carried, isometric3, mean_normal
from ...laws.distance import distance
from ...laws.membrane import arap_plane, columns, corners, lifted
from ...laws.vectors import Vec, dot, minus, plus
from ...laws.vectors import times as scaled
from ..motion import INV_H, H

STORE, DAMPED = 2, 4
"""Flags: multipliers are kept; some damping time is not zero."""


@law
def response(c: Any, c_prev: Any, k: Any, gamma: Any) -> tuple[Any, Any]:
    """Pull dU/dC of a row, and its energy."""
    late = c - c_prev
    return k * (c + gamma * late), 0.5 * k * (c * c + gamma * late * late)


@kernel(inline=True)
def land(g: Any, i: Any, v: Any, lanes: Any) -> None:
    """Add a vector to the gradient at a particle."""
    store3(g, i, plus(load3(g, i, lanes), v), lanes)


@kernel(inline=True)
def book(e: Any, i: Any, u: Any, lanes: Any) -> None:
    """Add an energy at a particle."""
    store(e, (i,), load(e, (i,), lanes) + u, lanes)


@kernel(inline=True)
def keep(lambda_: Any, row: Any, c: Any, pull: Any, times: Any, lanes: Any) -> None:
    """The multiplier of a row that pulls so much."""
    store(lambda_, (row, c), -(times[H] * times[H]) * pull, lanes)


@kernel(inline=True)
def late_by(r: Any, c: Any, times: Any, lanes: Any) -> Any:
    """gamma = tau/h."""
    return const(r.tau, (c,), lanes) * times[INV_H]


@kernel
def force_distance(
    x: Any, y: Any, g: Any, e: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, lanes: Any
) -> None:
    """Springs."""
    factor, zero = world(r.softness, lanes), splat(x, 0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i, j = index(r.ids, (0, c), lanes), index(r.ids, (1, c), lanes)
        rest = const(r.data, (1, c), lanes)
        value, n = distance(load3(x, i, lanes), load3(x, j, lanes), rest)
        before, gamma = value, zero
        if flags & DAMPED:
            gamma = zero + late_by(r, c, times, lanes)
            before, _ = distance(load3(y, i, lanes), load3(y, j, lanes), rest)
        pull, u = response(value, before, const(r.data, (0, c), lanes) * factor, gamma)
        if flags & STORE:
            keep(r.lambda_, 0, c, pull, times, lanes)
        land(g, i, scaled(pull, n), lanes)
        land(g, j, scaled(-pull, n), lanes)
        book(e, i, u, lanes)


@kernel
def force_membrane(
    x: Any, y: Any, g: Any, e: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, lanes: Any
) -> None:
    """ARAP triangles with a trace row, in the triangle's plane."""
    factor, zero = world(r.softness, lanes), splat(x, 0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i, j, k = index(r.ids, (0, c), lanes), index(r.ids, (1, c), lanes), index(r.ids, (2, c), lanes)
        d = (
            const(r.data, (2, c), lanes),
            const(r.data, (3, c), lanes),
            const(r.data, (4, c), lanes),
            const(r.data, (5, c), lanes),
        )
        f1, f2 = columns(load3(x, i, lanes), load3(x, j, lanes), load3(x, k, lanes), d)
        shape, s1, s2, trace, t1, t2, e1, e2 = arap_plane(f1, f2)
        shape_prev, trace_prev, gamma = shape, trace, zero
        if flags & DAMPED:
            gamma = zero + late_by(r, c, times, lanes)
            p1, p2 = columns(load3(y, i, lanes), load3(y, j, lanes), load3(y, k, lanes), d)
            shape_prev, _, _, trace_prev, _, _, _, _ = arap_plane(p1, p2)
        a, u = response(shape, shape_prev, const(r.data, (0, c), lanes) * factor, gamma)
        b, w = response(trace, trace_prev, const(r.data, (1, c), lanes) * factor, gamma)
        if flags & STORE:
            keep(r.lambda_, 0, c, a, times, lanes)
            keep(r.lambda_, 1, c, b, times, lanes)
        q1 = (a * s1[0] + b * t1[0], a * s1[1] + b * t1[1])
        q2 = (a * s2[0] + b * t2[0], a * s2[1] + b * t2[1])
        gi, gj, gk = corners(d, q1, q2)
        land(g, i, lifted(gi, e1, e2), lanes)
        land(g, j, lifted(gj, e1, e2), lanes)
        land(g, k, lifted(gk, e1, e2), lanes)
        book(e, i, u + w, lanes)


@kernel
def force_isometric(
    x: Any, y: Any, g: Any, e: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, lanes: Any
) -> None:
    """Isometric bending. Damping compares with the sum of before as the cloth has turned it since."""
    factor, zero = world(r.softness, lanes), splat(x, 0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i, j = index(r.ids, (0, c), lanes), index(r.ids, (1, c), lanes)
        k, l = index(r.ids, (2, c), lanes), index(r.ids, (3, c), lanes)
        s0, s1 = const(r.data, (3, c), lanes), const(r.data, (4, c), lanes)
        s2, s3 = const(r.data, (5, c), lanes), const(r.data, (6, c), lanes)
        stiff = const(r.data, (0, c), lanes) * factor
        k4 = (s0, s1, s2, s3)
        xi, xj, xk, xl = load3(x, i, lanes), load3(x, j, lanes), load3(x, k, lanes), load3(x, l, lanes)
        value = isometric3(k4, xi, xj, xk, xl)
        pull, u = scaled(stiff, value), 0.5 * stiff * dot(value, value)
        if flags & DAMPED:
            gamma = zero + late_by(r, c, times, lanes)
            pi, pj = load3(y, i, lanes), load3(y, j, lanes)
            pk, pl = load3(y, k, lanes), load3(y, l, lanes)
            normal, before = mean_normal(xi, xj, xk, xl), mean_normal(pi, pj, pk, pl)
            late = minus(value, carried(isometric3(k4, pi, pj, pk, pl), before, normal))
            pull = plus(pull, scaled(stiff * gamma, late))
            u = u + 0.5 * stiff * gamma * dot(late, late)
        if flags & STORE:
            keep(r.lambda_, 0, c, pull[0], times, lanes)
            keep(r.lambda_, 1, c, pull[1], times, lanes)
            keep(r.lambda_, 2, c, pull[2], times, lanes)
        land(g, i, scaled(s0, pull), lanes)
        land(g, j, scaled(s1, pull), lanes)
        land(g, k, scaled(s2, pull), lanes)
        land(g, l, scaled(s3, pull), lanes)
        book(e, i, u, lanes)


@law
def response3(c: Vec, c_prev: Vec, k: Any, gamma: Any) -> tuple[Vec, Any]:
    """Pulls and energy of three rows."""
    a, u = response(c[0], c_prev[0], k, gamma)
    b, v = response(c[1], c_prev[1], k, gamma)
    d, w = response(c[2], c_prev[2], k, gamma)
    return (a, b, d), u + v + w


@kernel
def force_attachment(
    x: Any, y: Any, g: Any, e: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, held: Any, lanes: Any
) -> None:
    """Springs to points; held: where these are at the end and at the start of the substep."""
    factor, zero = world(r.softness, lanes), splat(x, 0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i = index(r.ids, (0, c), lanes)
        value = attachment(load3(x, i, lanes), load3(held[0], span(c, lanes), lanes))
        before, gamma = value, zero
        if flags & DAMPED:
            gamma = zero + late_by(r, c, times, lanes)
            before = attachment(load3(y, i, lanes), load3(held[1], span(c, lanes), lanes))
        pull, u = response3(value, before, const(r.data, (0, c), lanes) * factor, gamma)
        if flags & STORE:
            keep(r.lambda_, 0, c, pull[0], times, lanes)
            keep(r.lambda_, 1, c, pull[1], times, lanes)
            keep(r.lambda_, 2, c, pull[2], times, lanes)
        land(g, i, pull, lanes)
        book(e, i, u, lanes)
