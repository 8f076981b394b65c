"""Projection bodies of the laws in the group "sheets": woven, limited and curved cloth.

They are compiled for scenes that have one of these laws; see :mod:`pliant.solvers.xpbd.projections`.
"""

from __future__ import annotations

from typing import Any

from ...backend.jit import feature, kernel, law
from ...backend.lanes import (
    any_lane,
    const,
    either,
    index,
    load,
    load3,
    minimum,
    splat,
    sqrt,
    store,
    store3,
    stride,
    where,
    world,
)
from ...laws import LAWS
from ...laws.curved import curved
from ...laws.membrane import Pair, chosen, columns, corners, lifted
from ...laws.orthotropic import orthotropic
from ...laws.scalars import reciprocal
from ...laws.strain_limit import strain_limit_plane
from ...laws.vectors import Vec, dot, mix, opposite_sum, plus
from ...laws.vectors import times as scaled
from ..motion import INV_H, INV_H2, RELAX
from ..pool import DAMPED, LOAD, STORE
from .corrections import crowded, land3
from .projections import change, weighted

DEPENDENT = 1e-6
"""What elimination leaves of a row's weight, as a share of it, below which the row says nothing new."""

ORTHOTROPIC, CURVED, STRAIN_LIMIT = (
    list(LAWS).index(name) for name in ("orthotropic", "curved", "strain_limit")
)
"""Places of these laws in the table of laws."""


@law
def pivot(left: Any, whole: Any) -> Any:
    """1 over what elimination left of a row's weight, 0 where that is rounding; see ``DEPENDENT``."""
    return where(left > DEPENDENT * whole, reciprocal(left), 0.0)


@law
def solve_three(
    a11: Any, a12: Any, a13: Any, a22: Any, a23: Any, a33: Any, b1: Any, b2: Any, b3: Any
) -> tuple[Any, Any, Any]:
    """Three coupled rows at once, by elimination in their order."""
    first = reciprocal(a11)
    r2, r3 = a12 * first, a13 * first
    c23 = a23 - r2 * a13
    second = pivot(a22 - r2 * a12, a22)
    d2 = b2 - r2 * b1
    q = c23 * second
    y3 = (b3 - r3 * b1 - q * d2) * pivot(a33 - r3 * a13 - q * c23, a33)
    y2 = (d2 - c23 * y3) * second
    return (b1 - a12 * y2 - a13 * y3) * first, y2, y3


@law
def at_corners(d: Any, c1: Vec, c2: Vec) -> tuple[Vec, Vec, Vec]:
    """Gradients at the corners from those with respect to the columns of F, in space."""
    g1, g2 = mix(d[0], c1, d[1], c2), mix(d[2], c1, d[3], c2)
    return opposite_sum(g1, g2), g1, g2


@law
def weighed(w: Any, a: Any, b: Any) -> Any:
    """sum w a . b over three corners, in space."""
    return w[0] * dot(a[0], b[0]) + w[1] * dot(a[1], b[1]) + w[2] * dot(a[2], b[2])


@law
def together(y1: Any, g: Vec, y2: Any, h: Vec, y3: Any, s: Vec) -> Vec:
    """The three rows' corrections of one corner."""
    return plus(mix(y1, g, y2, h), scaled(y3, s))


@kernel(inline=True)
def frame_of(data: Any, first: Any, c: Any, lanes: Any) -> Any:
    """inv_rest_matrix of a triangle, row by row."""
    return (
        const(data, (first, c), lanes),
        const(data, (first + 1, c), lanes),
        const(data, (first + 2, c), lanes),
        const(data, (first + 3, c), lanes),
    )


@kernel
def project_orthotropic(
    x: Any, out: Any, x_prev: Any, w: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, order: Any,
    lanes: Any,
) -> None:  # fmt: skip
    """Rows of warp, weft and shear, solved together: they share all particles."""
    softness = world(r.softness, lanes)
    zero = splat(x, 0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i, j, k = index(r.ids, (0, c), lanes), index(r.ids, (1, c), lanes), index(r.ids, (2, c), lanes)
        d, ratio = frame_of(r.data, 3, c, lanes), const(r.data, (7, c), lanes)
        mobility = (const(w, (i,), lanes), const(w, (j,), lanes), const(w, (k,), lanes))
        xi, xj, xk = load3(x, i, lanes), load3(x, j, lanes), load3(x, k, lanes)
        f1, f2 = columns(xi, xj, xk, d)
        warp, w1, w2, weft, n2, shear, s1, s2 = orthotropic(f1, f2, ratio)
        b1, b2, b3, gamma = -warp, -weft, -shear, zero
        if flags & DAMPED:
            gamma = zero + const(r.tau, (c,), lanes) * times[INV_H]
            p1, p2 = columns(load3(x_prev, i, lanes), load3(x_prev, j, lanes), load3(x_prev, k, lanes), d)
            warp_prev, _, _, weft_prev, _, shear_prev, _, _ = orthotropic(p1, p2, ratio)
            b1 = where(gamma > 0.0, b1 - gamma * (warp - warp_prev), b1)
            b2 = where(gamma > 0.0, b2 - gamma * (weft - weft_prev), b2)
            b3 = where(gamma > 0.0, b3 - gamma * (shear - shear_prev), b3)
        old1, old2, old3 = zero, zero, zero
        if flags & LOAD:
            old1 = load(r.lambda_, (0, c), lanes)
            old2 = load(r.lambda_, (1, c), lanes)
            old3 = load(r.lambda_, (2, c), lanes)
        g, h, s = at_corners(d, w1, w2), at_corners(d, scaled(0.0, n2), n2), at_corners(d, s1, s2)
        many = crowded(order, 1.0 + gamma, r.crowd, c, lanes)
        alpha1 = const(r.data, (0, c), lanes) * times[INV_H2] * softness
        alpha2 = const(r.data, (1, c), lanes) * times[INV_H2] * softness
        alpha3 = const(r.data, (2, c), lanes) * times[INV_H2] * softness
        y1, y2, y3 = solve_three(
            many * weighed(mobility, g, g) + alpha1,
            many * weighed(mobility, g, h),
            many * weighed(mobility, g, s),
            many * weighed(mobility, h, h) + alpha2,
            many * weighed(mobility, h, s),
            many * weighed(mobility, s, s) + alpha3,
            b1 - alpha1 * old1,
            b2 - alpha2 * old2,
            b3 - alpha3 * old3,
        )
        y1, y2, y3 = times[RELAX] * y1, times[RELAX] * y2, times[RELAX] * y3
        if flags & STORE:
            store(r.lambda_, (0, c), old1 + y1, lanes)
            store(r.lambda_, (1, c), old2 + y2, lanes)
            store(r.lambda_, (2, c), old3 + y3, lanes)
        to_i = together(y1, g[0], y2, h[0], y3, s[0])
        to_j = together(y1, g[1], y2, h[1], y3, s[1])
        to_k = together(y1, g[2], y2, h[2], y3, s[2])
        land3(order, x, out, r.slots, (0, c), i, xi, mobility[0], to_i, lanes)
        land3(order, x, out, r.slots, (1, c), j, xj, mobility[1], to_j, lanes)
        land3(order, x, out, r.slots, (2, c), k, xk, mobility[2], to_k, lanes)


@kernel
def project_curved(
    x: Any, out: Any, x_prev: Any, w: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, order: Any,
    lanes: Any,
) -> None:  # fmt: skip
    """C = +-|sum K x| - r."""
    softness = world(r.softness, lanes)
    zero = splat(x, 0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i, j = index(r.ids, (0, c), lanes), index(r.ids, (1, c), lanes)
        k, l = index(r.ids, (2, c), lanes), index(r.ids, (3, c), lanes)
        s, rest = frame_of(r.data, 1, c, lanes), const(r.data, (5, c), lanes)
        wi, wj = const(w, (i,), lanes) * s[0], const(w, (j,), lanes) * s[1]
        wk, wl = const(w, (k,), lanes) * s[2], const(w, (l,), lanes) * s[3]
        xi, xj, xk, xl = load3(x, i, lanes), load3(x, j, lanes), load3(x, k, lanes), load3(x, l, lanes)
        value, n = curved(s, xi, xj, xk, xl, rest)
        before, gamma = value, zero
        if flags & DAMPED:
            gamma = zero + const(r.tau, (c,), lanes) * times[INV_H]
            pi, pj = load3(x_prev, i, lanes), load3(x_prev, j, lanes)
            pk, pl = load3(x_prev, k, lanes), load3(x_prev, l, lanes)
            earlier, _ = curved(s, pi, pj, pk, pl, rest)
            before = where(gamma > 0.0, earlier, value)
        weight = (wi * s[0] + wj * s[1] + wk * s[2] + wl * s[3]) * dot(n, n)
        weight = crowded(order, weight, r.crowd, c, lanes)
        alpha_h = const(r.data, (0, c), lanes) * times[INV_H2] * softness
        old = zero
        if flags & LOAD:
            old = load(r.lambda_, (0, c), lanes)
        step = times[RELAX] * change(value, before, weight, alpha_h, gamma, old)
        if flags & STORE:
            store(r.lambda_, (0, c), old + step, lanes)
        land3(order, x, out, r.slots, (0, c), i, xi, wi * step, n, lanes)
        land3(order, x, out, r.slots, (1, c), j, xj, wj * step, n, lanes)
        land3(order, x, out, r.slots, (2, c), k, xk, wk * step, n, lanes)
        land3(order, x, out, r.slots, (3, c), l, xl, wl * step, n, lanes)


@kernel(inline=True)
def _idle(x: Any, out: Any, slots: Any, c: Any, lanes: Any) -> None:
    nothing = splat(x, -0.0, lanes)
    for corner in range(3):
        store3(out, index(slots, (corner, c), lanes), (nothing, nothing, nothing), lanes)


idle = feature("jacobi", _idle)
"""``idle(order, x, out, slots, c, lanes)``: in Jacobi a slack triangle, too, fills its slots."""


@law
def may_exceed(f1: Vec, f2: Vec, most: Any) -> Any:
    """Whether the largest stretch might exceed ``most``, from F^T F alone: cheap, and a little early."""
    p, q, m = dot(f1, f1), dot(f2, f2), dot(f1, f2)
    return 0.5 * (p + q) + sqrt(0.25 * (p - q) * (p - q) + m * m) > 0.999 * most * most


@law
def pulled(active: Any, s: Any, g: Pair, e1: Vec, e2: Vec, nothing: Vec) -> Vec:
    """The correction of one corner; ``nothing`` where the row is slack."""
    return chosen(active, scaled(s, lifted(g, e1, e2)), nothing)


@kernel
def project_strain_limit(
    x: Any, out: Any, x_prev: Any, w: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any, order: Any,
    lanes: Any,
) -> None:  # fmt: skip
    """Largest stretch less its limit: a rigid row whose multiplier stays at or below zero.

    What a slack row adds is -0, which leaves every bit of a position as it is.
    """
    zero, none = splat(x, 0.0, lanes), splat(x, -0.0, lanes)
    for c in range(lo, hi, stride(lanes)):
        i, j, k = index(r.ids, (0, c), lanes), index(r.ids, (1, c), lanes), index(r.ids, (2, c), lanes)
        d, most = frame_of(r.data, 1, c, lanes), const(r.data, (5, c), lanes)
        xi, xj, xk = load3(x, i, lanes), load3(x, j, lanes), load3(x, k, lanes)
        f1, f2 = columns(xi, xj, xk, d)
        old = zero
        if flags & LOAD:
            old = load(r.lambda_, (0, c), lanes)
        if not any_lane(either(may_exceed(f1, f2, most), old < 0.0)):
            if flags & STORE:
                store(r.lambda_, (0, c), zero, lanes)
            idle(order, x, out, r.slots, c, lanes)
            continue
        value, g1, g2, e1, e2 = strain_limit_plane(f1, f2, most)
        g = corners(d, g1, g2)
        mobility = (const(w, (i,), lanes), const(w, (j,), lanes), const(w, (k,), lanes))
        weight = crowded(order, weighted(mobility, g, g), r.crowd, c, lanes)
        new = minimum(old - times[RELAX] * value * reciprocal(weight), zero)
        step = new - old
        if flags & STORE:
            store(r.lambda_, (0, c), new, lanes)
        active, nothing = either(step < 0.0, step > 0.0), (none, none, none)
        to_i = pulled(active, mobility[0] * step, g[0], e1, e2, nothing)
        to_j = pulled(active, mobility[1] * step, g[1], e1, e2, nothing)
        to_k = pulled(active, mobility[2] * step, g[2], e1, e2, nothing)
        land3(order, x, out, r.slots, (0, c), i, xi, 1.0, to_i, lanes)
        land3(order, x, out, r.slots, (1, c), j, xj, 1.0, to_j, lanes)
        land3(order, x, out, r.slots, (2, c), k, xk, 1.0, to_k, lanes)


@kernel
def _run(
    place: Any, x: Any, out: Any, x_prev: Any, w: Any, r: Any, times: Any, flags: Any, lo: Any, hi: Any,
    order: Any, lanes: Any,
) -> None:  # fmt: skip
    if place == ORTHOTROPIC:
        project_orthotropic(x, out, x_prev, w, r, times, flags, lo, hi, order, lanes)
    elif place == CURVED:
        project_curved(x, out, x_prev, w, r, times, flags, lo, hi, order, lanes)
    elif place == STRAIN_LIMIT:
        project_strain_limit(x, out, x_prev, w, r, times, flags, lo, hi, order, lanes)


run_sheets = feature("sheets", _run)
"""``run_sheets(extras, place, x, out, ...)``: constraints of the law at a place in the table of laws, if it
is one of these."""
