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
from ...backend.lanes import const, index, load, load3, span, splat, sqrt, store, store3, stride, world
from ...laws.attachment import attachment
from ...laws.bending import isometric3
from ...laws.distance import distance
from ...laws.membrane import columns, rotation_of
from ...laws.scalars import reciprocal, spacing
from ...laws.vectors import Vec, cross, dot, minus, mix, opposite_sum, plus
from ...laws.vectors import times as scaled
from ..motion import INV_H, RELAX, H
from ..pool import DAMPED, STORE

UNIT = RELAX
"""Place of the unit of force among the numbers of a step: stiffness and inertia are given in it."""


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
    store(lambda_, (row, c), -(times[H] * times[H] * times[UNIT]) * pull, lanes)


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
    """ARAP triangles with a trace row: the stress ``k (F - R)`` plus the pull of the trace times R."""
    factor, zero = world(r.softness, lanes), splat(x, 0.0, lanes)
    tiny = 16.0 * spacing(zero)
    for c in range(lo, hi, stride(lanes)):
        i, j, k = index(r.ids, (0, c), lanes), index(r.ids, (1, c), lanes), index(r.ids, (2, c), lanes)
        d = (
            const(r.data, (2, c), lanes),
            const(r.data, (3, c), lanes),
            const(r.data, (4, c), lanes),
            const(r.data, (5, c), lanes),
        )
        f1, f2 = columns(load3(x, i, lanes), load3(x, j, lanes), load3(x, k, lanes), d)
        r1, r2, total = rotation_of(f1, f2, tiny)
        d1, d2, trace = minus(f1, r1), minus(f2, r2), total - 2.0
        stiff, square = const(r.data, (0, c), lanes) * factor, dot(d1, d1) + dot(d2, d2)
        a, u, before, gamma = stiff, 0.5 * stiff * square, trace, zero
        if flags & DAMPED:
            gamma = zero + late_by(r, c, times, lanes)
            p1, p2 = columns(load3(y, i, lanes), load3(y, j, lanes), load3(y, k, lanes), d)
            q1, q2, before = rotation_of(p1, p2, tiny)
            before, shape = before - 2.0, sqrt(square)
            q1, q2 = minus(p1, q1), minus(p2, q2)
            late = shape - sqrt(dot(q1, q1) + dot(q2, q2))
            a = stiff * (1.0 + gamma * late * reciprocal(shape))
            u = u + 0.5 * stiff * gamma * late * late
        b, w = response(trace, before, const(r.data, (1, c), lanes) * factor, gamma)
        if flags & STORE:
            keep(r.lambda_, 0, c, a * sqrt(square), times, lanes)
            keep(r.lambda_, 1, c, b, times, lanes)
        s1, s2 = mix(a, d1, b, r1), mix(a, d2, b, r2)
        g1, g2 = mix(d[0], s1, d[1], s2), mix(d[2], s1, d[3], s2)
        land(g, i, opposite_sum(g1, g2), lanes)
        land(g, j, g1, lanes)
        land(g, k, g2, lanes)
        book(e, i, u + w, lanes)


@law
def height_of(value: Vec, x0: Vec, x1: Vec, x2: Vec, x3: Vec) -> tuple[Any, Vec, Vec, Vec]:
    """A sum's component along the mean normal n of its hinge, n, and how the former changes as n turns: with
    side 0-1, and with the other diagonal 3-2."""
    a, b = minus(x1, x0), minus(x2, x3)
    m = cross(a, b)
    over = reciprocal(sqrt(dot(m, m)))
    n = scaled(over, m)
    height = dot(value, n)
    turn = scaled(over, minus(value, scaled(height, n)))
    return height, n, cross(b, turn), cross(turn, a)


@kernel
def force_isometric(
    x: Any, y: Any, g: Any, e: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, lanes: Any
) -> None:
    """Isometric bending; what is damped is the sum's component along the mean normal, as in Newton."""
    factor = world(r.softness, lanes)
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
            drag = stiff * late_by(r, c, times, lanes)
            pi, pj = load3(y, i, lanes), load3(y, j, lanes)
            pk, pl = load3(y, k, lanes), load3(y, l, lanes)
            height, n, by_i, by_k = height_of(value, xi, xj, xk, xl)
            before, _, _, _ = height_of(isometric3(k4, pi, pj, pk, pl), pi, pj, pk, pl)
            late = height - before
            pull, u = plus(pull, scaled(drag * late, n)), u + 0.5 * drag * late * late
            land(g, i, scaled(-drag * late, by_i), lanes)
            land(g, j, scaled(drag * late, by_i), lanes)
            land(g, k, scaled(drag * late, by_k), lanes)
            land(g, l, scaled(-drag * late, by_k), lanes)
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
