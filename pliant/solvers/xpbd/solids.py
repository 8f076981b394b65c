"""Projection bodies of tetrahedra; see :mod:`pliant.solvers.xpbd.projections`.

Two rows of an element share its four particles and much of their gradients. They are solved together, in
the form of :func:`solve_pair`, which holds however parallel the gradients are.

**Damping** of the laws with a shape row is that of Kelvin and Voigt: a stress of ``tau`` times the rate at
which Hooke's stress changes, in all directions of strain. The strain since the start of the substep is
``F - Q F_n``, Q the closest rotation from one to the other; so no rigid motion is damped, and ``Q F_n F^T``
is symmetric, so that nothing is turned. (``C - C_n`` of the row, as for the other laws, damps only what
changes the size of the strain: next to nothing beside a strain that stays.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backend.jit import feature, kernel, law
from ...backend.lanes import const, index, load, load3, splat, sqrt, store, stride, where, world
from ...laws.scalars import reciprocal
from ...laws.solid import (
    Columns,
    Corners,
    arap_tet,
    carried,
    neo_hookean,
    tet_columns,
    tet_corners,
    volume,
)
from ...laws.vectors import Vec, dot, minus, mix
from ...laws.vectors import times as scaled
from ..motion import INV_H, INV_H2, RELAX
from ..pool import DAMPED, LOAD, STORE
from .corrections import crowded, land3
from .projections import change


@law
def weighted4(w: Any, a: Corners, b: Corners) -> Any:
    """sum w a . b over four corners"""
    return w[0] * dot(a[0], b[0]) + w[1] * dot(a[1], b[1]) + w[2] * dot(a[2], b[2]) + w[3] * dot(a[3], b[3])


@law
def distance_to(f: Columns, t: Columns) -> tuple[Any, Vec, Vec, Vec]:
    """``|F - T|`` and its gradient with respect to the columns of F, zero where there is none."""
    d1, d2, d3 = minus(f[0], t[0]), minus(f[1], t[1]), minus(f[2], t[2])
    size = sqrt(dot(d1, d1) + dot(d2, d2) + dot(d3, d3))
    scale = reciprocal(size)
    return size, scaled(scale, d1), scaled(scale, d2), scaled(scale, d3)


@law
def dragged(value: Any, n: Columns, f: Columns, p: Columns, gamma: Any) -> tuple[Any, Vec, Vec, Vec, Any]:
    """A shape row with a drag towards ``p``: its value, its gradient, and a factor on its compliance.

    The row stands for a stress ``C n/alpha``, its stiffness along n is ``|n|^2/alpha``, that of the drag is
    ``2 gamma/alpha`` (twice the shear modulus mu, and alpha = 1/(mu V)). The row that is returned has the sum
    of both stresses, and of both stiffnesses; it is the one that came in where gamma is 0.
    """
    squared = dot(n[0], n[0]) + dot(n[1], n[1]) + dot(n[2], n[2])
    stress1 = mix(value, n[0], 2.0 * gamma, minus(f[0], p[0]))
    stress2 = mix(value, n[1], 2.0 * gamma, minus(f[1], p[1]))
    stress3 = mix(value, n[2], 2.0 * gamma, minus(f[2], p[2]))
    size = sqrt(dot(stress1, stress1) + dot(stress2, stress2) + dot(stress3, stress3))
    length = where(squared > 0.0, sqrt(squared), 1.4142135623730951)
    softer = length * reciprocal(squared + 2.0 * gamma)
    scale = length * reciprocal(size)
    return (
        size * softer,
        scaled(scale, stress1),
        scaled(scale, stress2),
        scaled(scale, stress3),
        length * softer,
    )


@law
def solve_pair(
    w11: Any, ratio: Any, rest: Any, alpha1: Any, alpha2: Any, b1: Any, b2: Any
) -> tuple[Any, Any]:
    """Two rows at once: the correction along the first gradient, and the second row's multiplier.

    ``ratio`` is w12/w11 and ``rest`` the weight of what is left of the second gradient beside the first. No
    term of the denominators is negative and none is a difference: it does not matter how stiff the rows
    are or how parallel. A second row of infinite compliance is absent.
    """
    whole = reciprocal(w11 + alpha1)
    share = ratio * w11 * whole
    y2 = (b2 - share * b1) * reciprocal(rest + alpha2 + share * ratio * alpha1)
    return (b1 + alpha1 * ratio * y2) * whole, y2


@kernel(inline=True)
def rest_rows(data: Any, at: Any, c: Any, lanes: Any) -> Any:
    """inv_rest_matrix, row by row, from field ``at`` on."""
    return (
        (const(data, (at, c), lanes), const(data, (at + 1, c), lanes), const(data, (at + 2, c), lanes)),
        (const(data, (at + 3, c), lanes), const(data, (at + 4, c), lanes), const(data, (at + 5, c), lanes)),
        (const(data, (at + 6, c), lanes), const(data, (at + 7, c), lanes), const(data, (at + 8, c), lanes)),
    )


@kernel(inline=True)
def tet_ids(ids: Any, c: Any, lanes: Any) -> Any:
    """The four particles."""
    return (
        index(ids, (0, c), lanes),
        index(ids, (1, c), lanes),
        index(ids, (2, c), lanes),
        index(ids, (3, c), lanes),
    )


@kernel(inline=True)
def four3(x: Any, i: Any, lanes: Any) -> Any:
    """Four particles' positions."""
    return load3(x, i[0], lanes), load3(x, i[1], lanes), load3(x, i[2], lanes), load3(x, i[3], lanes)


@kernel(inline=True)
def four(w: Any, i: Any, lanes: Any) -> Any:
    """Four particles' constants."""
    return (
        const(w, (i[0],), lanes),
        const(w, (i[1],), lanes),
        const(w, (i[2],), lanes),
        const(w, (i[3],), lanes),
    )


@kernel(inline=True)
def land_pair(
    x: Any, out: Any, w: Any, r: Any, times: Any, flags: Any, c: Any, i: Any, here: Any, g: Any, h: Any,
    alpha1: Any, alpha2: Any, b1: Any, b2: Any, order: Any, lanes: Any,
) -> None:  # fmt: skip
    """Solve two rows with gradients ``g`` and ``h`` at the corners and move the particles.

    alpha1, alpha2: compliances over h^2; b1, b2: minus the constraint values, without multipliers.
    """
    zero = splat(x, 0.0, lanes)
    old1, old2 = zero, zero
    if flags & LOAD:
        old1 = load(r.lambda_, (0, c), lanes)
    if flags & LOAD:
        old2 = load(r.lambda_, (1, c), lanes)
    mobility = four(w, i, lanes)
    w11 = weighted4(mobility, g, g)
    ratio = weighted4(mobility, g, h) * reciprocal(w11)
    beside = (
        mix(1.0, h[0], -ratio, g[0]),
        mix(1.0, h[1], -ratio, g[1]),
        mix(1.0, h[2], -ratio, g[2]),
        mix(1.0, h[3], -ratio, g[3]),
    )
    w11 = crowded(order, w11, r.crowd, c, lanes)
    rest = crowded(order, weighted4(mobility, beside, beside), r.crowd, c, lanes)
    held2 = where(alpha2 < np.inf, alpha2 * old2, 0.0)
    z, y2 = solve_pair(w11, ratio, rest, alpha1, alpha2, b1 - alpha1 * old1, b2 - held2)
    z, y2 = times[RELAX] * z, times[RELAX] * y2
    if flags & STORE:
        store(r.lambda_, (0, c), old1 + (z - ratio * y2), lanes)
        store(r.lambda_, (1, c), old2 + y2, lanes)
    for_0 = mix(z, g[0], y2, beside[0])
    for_1 = mix(z, g[1], y2, beside[1])
    for_2 = mix(z, g[2], y2, beside[2])
    for_3 = mix(z, g[3], y2, beside[3])
    land3(order, x, out, r.slots, (0, c), i[0], here[0], mobility[0], for_0, lanes)
    land3(order, x, out, r.slots, (1, c), i[1], here[1], mobility[1], for_1, lanes)
    land3(order, x, out, r.slots, (2, c), i[2], here[2], mobility[2], for_2, lanes)
    land3(order, x, out, r.slots, (3, c), i[3], here[3], mobility[3], for_3, lanes)


@kernel
def project_arap_tet(
    x: Any, out: Any, x_prev: Any, w: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, order: Any,
    lanes: Any,
) -> None:  # fmt: skip
    """Shape and trace rows of the ARAP tetrahedron.

    Damped, the shape row pulls towards the mean of R and of ``Q F_n``, weights 1 and gamma.
    """
    softness = world(r.softness, lanes)
    zero = splat(x, 0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i = tet_ids(r.ids, c, lanes)
        d = rest_rows(r.data, 2, c, lanes)
        here = four3(x, i, lanes)
        f = tet_columns(here, d)
        shape, s1, s2, s3, trace, r1, r2, r3 = arap_tet(f[0], f[1], f[2])
        alpha1 = (zero + const(r.data, (0, c), lanes)) * times[INV_H2] * softness
        alpha2 = (zero + const(r.data, (1, c), lanes)) * times[INV_H2] * softness
        if flags & DAMPED:
            gamma = zero + const(r.tau, (c,), lanes) * times[INV_H]
            less = 1.0 / (1.0 + gamma)
            share = gamma * less
            p = carried(f, tet_columns(four3(x_prev, i, lanes), d))
            pull = (mix(less, r1, share, p[0]), mix(less, r2, share, p[1]), mix(less, r3, share, p[2]))
            shape, s1, s2, s3 = distance_to(f, pull)
            trace = trace - share * (dot(r1, p[0]) + dot(r2, p[1]) + dot(r3, p[2]) - 3.0)
            alpha1, alpha2 = alpha1 * less, alpha2 * less
        g, h = tet_corners(d, s1, s2, s3), tet_corners(d, r1, r2, r3)
        land_pair(
            x, out, w, r, times, flags, c, i, here, g, h, alpha1, alpha2, -shape, -trace, order, lanes
        )  # fmt: skip


@kernel
def project_neo_hookean(
    x: Any, out: Any, x_prev: Any, w: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, order: Any,
    lanes: Any,
) -> None:  # fmt: skip
    """Shape and volume rows of the neo-Hookean tetrahedron; see :func:`dragged` for its damping."""
    softness = world(r.softness, lanes)
    zero = splat(x, 0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i = tet_ids(r.ids, c, lanes)
        d = rest_rows(r.data, 2, c, lanes)
        here = four3(x, i, lanes)
        f = tet_columns(here, d)
        shape, s1, s2, s3, change_of, c1, c2, c3 = neo_hookean(f[0], f[1], f[2])
        alpha1 = (zero + const(r.data, (0, c), lanes)) * times[INV_H2] * softness
        alpha2 = (zero + const(r.data, (1, c), lanes)) * times[INV_H2] * softness
        if flags & DAMPED:
            gamma = zero + const(r.tau, (c,), lanes) * times[INV_H]
            less = 1.0 / (1.0 + gamma)
            earlier = tet_columns(four3(x_prev, i, lanes), d)
            shape, s1, s2, s3, softer = dragged(shape, (s1, s2, s3), f, carried(f, earlier), gamma)
            before, _, _, _ = volume(earlier[0], earlier[1], earlier[2])
            change_of = change_of - gamma * less * before
            alpha1, alpha2 = alpha1 * softer, alpha2 * less
        g, h = tet_corners(d, s1, s2, s3), tet_corners(d, c1, c2, c3)
        land_pair(
            x, out, w, r, times, flags, c, i, here, g, h, alpha1, alpha2, -shape, -change_of, order, lanes
        )  # fmt: skip


@kernel
def project_volume(
    x: Any, out: Any, x_prev: Any, w: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, order: Any,
    lanes: Any,
) -> None:  # fmt: skip
    """C = det F - 1."""
    softness = world(r.softness, lanes)
    zero = splat(x, 0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i = tet_ids(r.ids, c, lanes)
        d = rest_rows(r.data, 1, c, lanes)
        here = four3(x, i, lanes)
        f = tet_columns(here, d)
        value, c1, c2, c3 = volume(f[0], f[1], f[2])
        before, gamma = value, zero
        if flags & DAMPED:
            gamma = zero + const(r.tau, (c,), lanes) * times[INV_H]
            p = tet_columns(four3(x_prev, i, lanes), d)
            before, _, _, _ = volume(p[0], p[1], p[2])
        old = zero
        if flags & LOAD:
            old = load(r.lambda_, (0, c), lanes)
        mobility = four(w, i, lanes)
        g = tet_corners(d, c1, c2, c3)
        weight = crowded(order, weighted4(mobility, g, g), r.crowd, c, lanes)
        alpha_h = const(r.data, (0, c), lanes) * times[INV_H2] * softness
        step = times[RELAX] * change(value, before, weight, alpha_h, gamma, old)
        if flags & STORE:
            store(r.lambda_, (0, c), old + step, lanes)
        land3(order, x, out, r.slots, (0, c), i[0], here[0], mobility[0] * step, g[0], lanes)
        land3(order, x, out, r.slots, (1, c), i[1], here[1], mobility[1] * step, g[1], lanes)
        land3(order, x, out, r.slots, (2, c), i[2], here[2], mobility[2] * step, g[2], lanes)
        land3(order, x, out, r.slots, (3, c), i[3], here[3], mobility[3] * step, g[3], lanes)


@kernel
def _run_determinants(
    neo: Any, x: Any, out: Any, y: Any, w: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, order: Any,
    lanes: Any,
) -> None:  # fmt: skip
    """Laws of the group "determinant"."""
    if neo:
        project_neo_hookean(x, out, y, w, r, times, flags, lo, hi, order, lanes)
    else:
        project_volume(x, out, y, w, r, times, flags, lo, hi, order, lanes)


run_arap = feature("arap", project_arap_tet)
run_determinants = feature("determinant", _run_determinants)
