"""Constraint values and the gradient of the elastic energy, one world after the other, in float64.

Only one variant of these kernels exists (float64, one lane), whatever the precision and the batch of the
run: a report must not cost every user a second compilation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend.jit import kernel, law, prange
from ..backend.lanes import add3, load3, store
from ..laws.attachment import attachment
from ..laws.bending import dihedral, dihedral_acos
from ..laws.distance import distance
from ..laws.membrane import arap_triangle
from ..laws.vectors import minus, mix, opposite_sum, times

DISTANCE, MEMBRANE, ISOMETRIC, DIHEDRAL, DIHEDRAL_ACOS, ATTACHMENT = 0, 1, 2, 3, 4, 5


@law
def pull(value: Any, alpha: Any, multiplier: Any) -> Any:
    """dU/dC = C/alpha; for a rigid row the force that the solver found, and 0 for an absent one."""
    return value / alpha if alpha > 0 else -multiplier


@kernel
def pulls(out: Any, alpha: Any, force: Any, c: Any) -> Any:
    """dU/dC of the three rows of constraint ``c``."""
    return (
        pull(out[c, 0, 0], alpha[c, 0], force[c, 0]),
        pull(out[c, 1, 0], alpha[c, 1], force[c, 1]),
        pull(out[c, 2, 0], alpha[c, 2], force[c, 2]),
    )


@kernel
def evaluate_one(
    kind: Any, x: Any, ids: Any, params: Any, alpha: Any, force: Any, held: Any, out: Any, g: Any, lanes: Any
) -> None:
    """One world of :func:`evaluate`."""
    for c in range(ids.shape[0]):
        i = ids[c, 0]
        if kind == ATTACHMENT:
            value = attachment(load3(x, i, lanes), load3(held, c, lanes))
            for m in range(3):
                store(out, (c, m), value[m], lanes)
            add3(g, i, 1.0, pulls(out, alpha, force, c), lanes)
            continue
        j = ids[c, 1]
        if kind == DISTANCE:
            value1, n = distance(load3(x, i, lanes), load3(x, j, lanes), params[c, 0])
            store(out, (c, 0), value1, lanes)
            s = pull(out[c, 0, 0], alpha[c, 0], force[c, 0])
            add3(g, i, s, n, lanes)
            add3(g, j, -s, n, lanes)
            continue
        k = ids[c, 2]
        if kind == MEMBRANE:
            d = (params[c, 0], params[c, 1], params[c, 2], params[c, 3])
            xi = load3(x, i, lanes)
            e1 = minus(load3(x, j, lanes), xi)
            e2 = minus(load3(x, k, lanes), xi)
            shape, s1, s2, trace, t1, t2 = arap_triangle(mix(d[0], e1, d[2], e2), mix(d[1], e1, d[3], e2))
            store(out, (c, 0), shape, lanes)
            store(out, (c, 1), trace, lanes)
            a = pull(out[c, 0, 0], alpha[c, 0], force[c, 0])
            b = pull(out[c, 1, 0], alpha[c, 1], force[c, 1])
            f1 = mix(a, s1, b, t1)
            f2 = mix(a, s2, b, t2)
            g1 = mix(d[0], f1, d[1], f2)
            g2 = mix(d[2], f1, d[3], f2)
            add3(g, i, 1.0, opposite_sum(g1, g2), lanes)
            add3(g, j, 1.0, g1, lanes)
            add3(g, k, 1.0, g2, lanes)
            continue
        l = ids[c, 3]
        xi, xj, xk, xl = load3(x, i, lanes), load3(x, j, lanes), load3(x, k, lanes), load3(x, l, lanes)
        if kind == ISOMETRIC:
            value3 = mix(params[c, 0], xi, params[c, 1], xj)
            rest = mix(params[c, 2], xk, params[c, 3], xl)
            value3 = (value3[0] + rest[0], value3[1] + rest[1], value3[2] + rest[2])
            for m in range(3):
                store(out, (c, m), value3[m], lanes)
            rows = pulls(out, alpha, force, c)
            for m in range(4):
                add3(g, ids[c, m], params[c, m], rows, lanes)
            continue
        if kind == DIHEDRAL:
            value4, gi, gj, gk, gl = dihedral(xi, xj, xk, xl, params[c, 0])
        else:
            value4, gi, gj, gk, gl = dihedral_acos(xi, xj, xk, xl, params[c, 0])
        store(out, (c, 0), value4, lanes)
        s = pull(out[c, 0, 0], alpha[c, 0], force[c, 0])
        add3(g, i, 1.0, times(s, gi), lanes)
        add3(g, j, 1.0, times(s, gj), lanes)
        add3(g, k, 1.0, times(s, gk), lanes)
        add3(g, l, 1.0, times(s, gl), lanes)


@kernel(parallel=True)
def evaluate(
    kind: Any, x: Any, ids: Any, params: Any, alpha: Any, force: Any, held: Any, out: Any, g: Any, lanes: Any
) -> None:
    """Values of one law in all worlds, and its share of the energy's gradient.

    in   x (W, N, 3, 1), ids (E, c), params (E, p), alpha (W, E, r), force (W, E, r) = lambda/h^2,
         held (W, A, 3, 1) targets of attachments
    out  out (W, E, r, 1) constraint values; g (W, N, 3, 1): dU/dx is added
    """
    for w in prange(x.shape[0]):
        n = np.int64(w)
        evaluate_one(kind, x[n], ids, params, alpha[n], force[n], held[n], out[n], g[n], lanes)
