"""Energy and gradient of constraints, all other laws; see :mod:`.forces`.

Their energies are not squares of a linear function less its projection, so that the constant matrix only
stands in for their stiffness (Liu, Bouaziz, Kavan 2017, Quasi-Newton methods for real-time simulation of
hyperelastic materials): the minimiser is the same, the way there longer.
"""

from __future__ import annotations

from typing import Any

from ...backend.jit import kernel, law
from ...backend.lanes import const, index, load3, splat, stride, world
from ...laws.bending import dihedral, dihedral_acos
from ...laws.curved import curved
from ...laws.membrane import columns
from ...laws.orthotropic import orthotropic
from ...laws.solid import (
    Corners,
    arap_tet,
    carried,
    neo_hookean,
    tet_columns,
    tet_corners,
    volume,
)
from ...laws.tie import tie
from ...laws.vectors import Vec, dot, minus, mix, opposite_sum, plus
from ...laws.vectors import times as scaled
from ..pool import DAMPED, STORE
from .forces import book, keep, land, late_by, response, response3


@kernel
def force_dihedral(
    x: Any, y: Any, g: Any, e: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, signed: Any, lanes: Any
) -> None:
    """Hinge angles, signed or by acos."""
    factor, zero = world(r.softness, lanes), splat(x, 0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i, j = index(r.ids, (0, c), lanes), index(r.ids, (1, c), lanes)
        k, l = index(r.ids, (2, c), lanes), index(r.ids, (3, c), lanes)
        rest = const(r.data, (1, c), lanes)
        xi, xj, xk, xl = load3(x, i, lanes), load3(x, j, lanes), load3(x, k, lanes), load3(x, l, lanes)
        if signed:
            value, gi, gj, gk, gl = dihedral(xi, xj, xk, xl, rest)
        else:
            value, gi, gj, gk, gl = dihedral_acos(xi, xj, xk, xl, rest)
        before, gamma = value, zero
        if flags & DAMPED:
            gamma = zero + late_by(r, c, times, lanes)
            pi, pj = load3(y, i, lanes), load3(y, j, lanes)
            pk, pl = load3(y, k, lanes), load3(y, l, lanes)
            if signed:
                before, _, _, _, _ = dihedral(pi, pj, pk, pl, rest)
            else:
                before, _, _, _, _ = dihedral_acos(pi, pj, pk, pl, rest)
        pull, u = response(value, before, const(r.data, (0, c), lanes) * factor, gamma)
        if flags & STORE:
            keep(r.lambda_, 0, c, pull, times, lanes)
        land(g, i, scaled(pull, gi), lanes)
        land(g, j, scaled(pull, gj), lanes)
        land(g, k, scaled(pull, gk), lanes)
        land(g, l, scaled(pull, gl), lanes)
        book(e, i, u, lanes)


@kernel
def force_curved(
    x: Any, y: Any, g: Any, e: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, lanes: Any
) -> None:
    """Bending about a curved rest shape: ``|sum K x - r n|``, n projected."""
    factor, zero = world(r.softness, lanes), splat(x, 0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i, j = index(r.ids, (0, c), lanes), index(r.ids, (1, c), lanes)
        k, l = index(r.ids, (2, c), lanes), index(r.ids, (3, c), lanes)
        s = (
            const(r.data, (1, c), lanes),
            const(r.data, (2, c), lanes),
            const(r.data, (3, c), lanes),
            const(r.data, (4, c), lanes),
        )
        rest = const(r.data, (5, c), lanes)
        xi, xj, xk, xl = load3(x, i, lanes), load3(x, j, lanes), load3(x, k, lanes), load3(x, l, lanes)
        value, n = curved(s, xi, xj, xk, xl, rest)
        before, gamma = value, zero
        if flags & DAMPED:
            gamma = zero + late_by(r, c, times, lanes)
            pi, pj = load3(y, i, lanes), load3(y, j, lanes)
            before, _ = curved(s, pi, pj, load3(y, k, lanes), load3(y, l, lanes), rest)
        pull, u = response(value, before, const(r.data, (0, c), lanes) * factor, gamma)
        if flags & STORE:
            keep(r.lambda_, 0, c, pull, times, lanes)
        land(g, i, scaled(s[0] * pull, n), lanes)
        land(g, j, scaled(s[1] * pull, n), lanes)
        land(g, k, scaled(s[2] * pull, n), lanes)
        land(g, l, scaled(s[3] * pull, n), lanes)
        book(e, i, u, lanes)


@kernel
def force_orthotropic(
    x: Any, y: Any, g: Any, e: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, lanes: Any
) -> None:
    """Woven triangles: warp, weft, shear."""
    factor, zero = world(r.softness, lanes), splat(x, 0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i, j, k = index(r.ids, (0, c), lanes), index(r.ids, (1, c), lanes), index(r.ids, (2, c), lanes)
        d = (
            const(r.data, (3, c), lanes),
            const(r.data, (4, c), lanes),
            const(r.data, (5, c), lanes),
            const(r.data, (6, c), lanes),
        )
        ratio = const(r.data, (7, c), lanes)
        f1, f2 = columns(load3(x, i, lanes), load3(x, j, lanes), load3(x, k, lanes), d)
        warp, w1, w2, weft, n2, shear, s1, s2 = orthotropic(f1, f2, ratio)
        warp_prev, weft_prev, shear_prev, gamma = warp, weft, shear, zero
        if flags & DAMPED:
            gamma = zero + late_by(r, c, times, lanes)
            p1, p2 = columns(load3(y, i, lanes), load3(y, j, lanes), load3(y, k, lanes), d)
            warp_prev, _, _, weft_prev, _, shear_prev, _, _ = orthotropic(p1, p2, ratio)
        a, ua = response(warp, warp_prev, const(r.data, (0, c), lanes) * factor, gamma)
        b, ub = response(weft, weft_prev, const(r.data, (1, c), lanes) * factor, gamma)
        q, uq = response(shear, shear_prev, const(r.data, (2, c), lanes) * factor, gamma)
        if flags & STORE:
            keep(r.lambda_, 0, c, a, times, lanes)
            keep(r.lambda_, 1, c, b, times, lanes)
            keep(r.lambda_, 2, c, q, times, lanes)
        c1, c2 = mix(a, w1, q, s1), plus(mix(a, w2, b, n2), scaled(q, s2))
        g1, g2 = mix(d[0], c1, d[1], c2), mix(d[2], c1, d[3], c2)
        land(g, i, opposite_sum(g1, g2), lanes)
        land(g, j, g1, lanes)
        land(g, k, g2, lanes)
        book(e, i, ua + ub + uq, lanes)


@kernel(inline=True)
def frame9(data: Any, first: Any, c: Any, lanes: Any) -> Any:
    """inv_rest_matrix of a tetrahedron, by rows."""
    return (
        (
            const(data, (first, c), lanes),
            const(data, (first + 1, c), lanes),
            const(data, (first + 2, c), lanes),
        ),
        (
            const(data, (first + 3, c), lanes),
            const(data, (first + 4, c), lanes),
            const(data, (first + 5, c), lanes),
        ),
        (
            const(data, (first + 6, c), lanes),
            const(data, (first + 7, c), lanes),
            const(data, (first + 8, c), lanes),
        ),
    )


@law
def drag(f: Any, p: Any, weight: Any) -> tuple[Vec, Vec, Vec, Any]:
    """Stress and energy of ``weight |F - Q F_n|^2/2``, Q the closest rotation since."""
    t = carried(f, p)
    d1, d2, d3 = minus(f[0], t[0]), minus(f[1], t[1]), minus(f[2], t[2])
    u = 0.5 * weight * (dot(d1, d1) + dot(d2, d2) + dot(d3, d3))
    return scaled(weight, d1), scaled(weight, d2), scaled(weight, d3), u


@kernel(inline=True)
def corners_at(x: Any, i: Any, j: Any, k: Any, l: Any, lanes: Any) -> Any:
    """Four corners."""
    return load3(x, i, lanes), load3(x, j, lanes), load3(x, k, lanes), load3(x, l, lanes)


@kernel(inline=True)
def land_tet(g: Any, i: Any, j: Any, k: Any, l: Any, v: Any, lanes: Any) -> None:
    """Add to the gradient at four corners."""
    land(g, i, v[0], lanes)
    land(g, j, v[1], lanes)
    land(g, k, v[2], lanes)
    land(g, l, v[3], lanes)


@kernel
def force_arap(
    x: Any, y: Any, g: Any, e: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, lanes: Any
) -> None:
    """ARAP tetrahedra with a trace row."""
    factor, zero = world(r.softness, lanes), splat(x, 0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i, j = index(r.ids, (0, c), lanes), index(r.ids, (1, c), lanes)
        k, l = index(r.ids, (2, c), lanes), index(r.ids, (3, c), lanes)
        d = frame9(r.data, 2, c, lanes)
        f = tet_columns(corners_at(x, i, j, k, l, lanes), d)
        shape, n1, n2, n3, trace, r1, r2, r3 = arap_tet(f[0], f[1], f[2])
        before, gamma = trace, zero
        stiff = const(r.data, (0, c), lanes) * factor
        a = stiff * shape
        s1, s2, s3, u = scaled(a, n1), scaled(a, n2), scaled(a, n3), 0.5 * a * shape
        if flags & DAMPED:
            gamma = zero + late_by(r, c, times, lanes)
            p = tet_columns(corners_at(y, i, j, k, l, lanes), d)
            _, _, _, _, before, _, _, _ = arap_tet(p[0], p[1], p[2])
            d1, d2, d3, late = drag(f, p, stiff * gamma)
            s1, s2, s3, u = plus(s1, d1), plus(s2, d2), plus(s3, d3), u + late
        b, w = response(trace, before, const(r.data, (1, c), lanes) * factor, gamma)
        if flags & STORE:
            keep(r.lambda_, 0, c, a, times, lanes)
            keep(r.lambda_, 1, c, b, times, lanes)
        v = tet_corners(d, plus(s1, scaled(b, r1)), plus(s2, scaled(b, r2)), plus(s3, scaled(b, r3)))
        land_tet(g, i, j, k, l, v, lanes)
        book(e, i, u + w, lanes)


@kernel
def force_neo_hookean(
    x: Any, y: Any, g: Any, e: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, lanes: Any
) -> None:
    """Neo-Hookean tetrahedra."""
    factor, zero = world(r.softness, lanes), splat(x, 0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i, j = index(r.ids, (0, c), lanes), index(r.ids, (1, c), lanes)
        k, l = index(r.ids, (2, c), lanes), index(r.ids, (3, c), lanes)
        d = frame9(r.data, 2, c, lanes)
        f = tet_columns(corners_at(x, i, j, k, l, lanes), d)
        shape, n1, n2, n3, swell, c1, c2, c3 = neo_hookean(f[0], f[1], f[2])
        before, gamma = swell, zero
        stiff = const(r.data, (0, c), lanes) * factor
        a = stiff * shape
        s1, s2, s3, u = scaled(a, n1), scaled(a, n2), scaled(a, n3), 0.5 * a * shape
        if flags & DAMPED:
            gamma = zero + late_by(r, c, times, lanes)
            p = tet_columns(corners_at(y, i, j, k, l, lanes), d)
            _, _, _, _, before, _, _, _ = neo_hookean(p[0], p[1], p[2])
            d1, d2, d3, late = drag(f, p, 2.0 * stiff * gamma)
            s1, s2, s3, u = plus(s1, d1), plus(s2, d2), plus(s3, d3), u + late
        b, w = response(swell, before, const(r.data, (1, c), lanes) * factor, gamma)
        if flags & STORE:
            keep(r.lambda_, 0, c, a, times, lanes)
            keep(r.lambda_, 1, c, b, times, lanes)
        v = tet_corners(d, plus(s1, scaled(b, c1)), plus(s2, scaled(b, c2)), plus(s3, scaled(b, c3)))
        land_tet(g, i, j, k, l, v, lanes)
        book(e, i, u + w, lanes)


@kernel
def force_volume(
    x: Any, y: Any, g: Any, e: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, lanes: Any
) -> None:
    """Volumes of tetrahedra."""
    factor, zero = world(r.softness, lanes), splat(x, 0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i, j = index(r.ids, (0, c), lanes), index(r.ids, (1, c), lanes)
        k, l = index(r.ids, (2, c), lanes), index(r.ids, (3, c), lanes)
        d = frame9(r.data, 1, c, lanes)
        f = tet_columns(corners_at(x, i, j, k, l, lanes), d)
        value, c1, c2, c3 = volume(f[0], f[1], f[2])
        before, gamma = value, zero
        if flags & DAMPED:
            gamma = zero + late_by(r, c, times, lanes)
            p = tet_columns(corners_at(y, i, j, k, l, lanes), d)
            before, _, _, _ = volume(p[0], p[1], p[2])
        b, u = response(value, before, const(r.data, (0, c), lanes) * factor, gamma)
        if flags & STORE:
            keep(r.lambda_, 0, c, b, times, lanes)
        land_tet(g, i, j, k, l, tet_corners(d, scaled(b, c1), scaled(b, c2), scaled(b, c3)), lanes)
        book(e, i, u, lanes)


@law
def tie_corners(b: Any, y: Vec, n: Vec, s1: Vec, s2: Vec, s3: Vec) -> Corners:
    """Gradients at the point and at the triangle's corners, for pulls y of the three rows."""
    return (
        y,
        mix(-b[0], y, dot(s1, y), n),
        mix(-b[1], y, dot(s2, y), n),
        mix(-b[2], y, dot(s3, y), n),
    )


@kernel
def force_tie(
    x: Any, y: Any, g: Any, e: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, lanes: Any
) -> None:
    """Points tied to triangles."""
    factor, zero = world(r.softness, lanes), splat(x, 0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i, j = index(r.ids, (0, c), lanes), index(r.ids, (1, c), lanes)
        k, l = index(r.ids, (2, c), lanes), index(r.ids, (3, c), lanes)
        b = (const(r.data, (3, c), lanes), const(r.data, (4, c), lanes), const(r.data, (5, c), lanes))
        gap = const(r.data, (6, c), lanes)
        p = corners_at(x, i, j, k, l, lanes)
        value, n, s1, s2, s3 = tie(b, gap, p[0], p[1], p[2], p[3])
        before, gamma = value, zero
        if flags & DAMPED:
            gamma = zero + late_by(r, c, times, lanes)
            q = corners_at(y, i, j, k, l, lanes)
            before, _, _, _, _ = tie(b, gap, q[0], q[1], q[2], q[3])
        pull, u = response3(value, before, const(r.data, (0, c), lanes) * factor, gamma)
        if flags & STORE:
            keep(r.lambda_, 0, c, pull[0], times, lanes)
            keep(r.lambda_, 1, c, pull[1], times, lanes)
            keep(r.lambda_, 2, c, pull[2], times, lanes)
        land_tet(g, i, j, k, l, tie_corners(b, pull, n, s1, s2, s3), lanes)
        book(e, i, u, lanes)
