"""Constraint values and the gradient of the elastic energy, one world after the other, in float64.

One kernel per law, compiled for a report only when a scene has the law; and only one variant of each exists
(float64, one lane), whatever the precision and the batch of the run: a report must not cost every user a
second compilation. All have the same arguments:

    in   x (W, N, 3, 1), ids (E, c), params (E, p), alpha (W, E, r), force (W, E, r) = lambda/h^2,
         held (W, A, 3, 1) targets of attachments
    out  out (W, E, r, 1) constraint values; g (W, N, 3, 1): dU/dx is added
"""

from __future__ import annotations

from typing import Any

from ..backend.jit import kernel
from ..backend.lanes import add3, load3, store
from ..laws.attachment import attachment
from ..laws.bending import dihedral, dihedral_acos
from ..laws.distance import distance
from ..laws.membrane import arap_triangle
from ..laws.vectors import minus, mix, opposite_sum, plus, times
from .pulls import pull_of
from .solids import evaluate_arap_tet, evaluate_neo_hookean, evaluate_volume


@kernel
def evaluate_distance(
    x: Any, ids: Any, params: Any, alpha: Any, force: Any, held: Any, out: Any, g: Any, lanes: Any
) -> None:
    """Springs."""
    for w in range(x.shape[0]):
        for c in range(ids.shape[0]):
            i, j = ids[c, 0], ids[c, 1]
            value, n = distance(load3(x[w], i, lanes), load3(x[w], j, lanes), params[c, 0])
            store(out[w], (c, 0), value, lanes)
            s = pull_of(out[w], alpha[w], force[w], c, 0)
            add3(g[w], i, s, n, lanes)
            add3(g[w], j, -s, n, lanes)


@kernel
def evaluate_membrane(
    x: Any, ids: Any, params: Any, alpha: Any, force: Any, held: Any, out: Any, g: Any, lanes: Any
) -> None:
    """ARAP triangles with a trace row."""
    for w in range(x.shape[0]):
        for c in range(ids.shape[0]):
            i, j, k = ids[c, 0], ids[c, 1], ids[c, 2]
            d = (params[c, 0], params[c, 1], params[c, 2], params[c, 3])
            xi = load3(x[w], i, lanes)
            e1 = minus(load3(x[w], j, lanes), xi)
            e2 = minus(load3(x[w], k, lanes), xi)
            shape, s1, s2, trace, t1, t2 = arap_triangle(mix(d[0], e1, d[2], e2), mix(d[1], e1, d[3], e2))
            store(out[w], (c, 0), shape, lanes)
            store(out[w], (c, 1), trace, lanes)
            a = pull_of(out[w], alpha[w], force[w], c, 0)
            b = pull_of(out[w], alpha[w], force[w], c, 1)
            f1, f2 = mix(a, s1, b, t1), mix(a, s2, b, t2)
            g1, g2 = mix(d[0], f1, d[1], f2), mix(d[2], f1, d[3], f2)
            add3(g[w], i, 1.0, opposite_sum(g1, g2), lanes)
            add3(g[w], j, 1.0, g1, lanes)
            add3(g[w], k, 1.0, g2, lanes)


@kernel
def evaluate_isometric(
    x: Any, ids: Any, params: Any, alpha: Any, force: Any, held: Any, out: Any, g: Any, lanes: Any
) -> None:
    """Isometric bending."""
    for w in range(x.shape[0]):
        for c in range(ids.shape[0]):
            first = mix(
                params[c, 0], load3(x[w], ids[c, 0], lanes), params[c, 1], load3(x[w], ids[c, 1], lanes)
            )
            rest = mix(
                params[c, 2], load3(x[w], ids[c, 2], lanes), params[c, 3], load3(x[w], ids[c, 3], lanes)
            )
            value = plus(first, rest)
            for m in range(3):
                store(out[w], (c, m), value[m], lanes)
            rows = (
                pull_of(out[w], alpha[w], force[w], c, 0),
                pull_of(out[w], alpha[w], force[w], c, 1),
                pull_of(out[w], alpha[w], force[w], c, 2),
            )
            for m in range(4):
                add3(g[w], ids[c, m], params[c, m], rows, lanes)


@kernel(inline=True)
def hinge(x: Any, ids: Any, c: Any, lanes: Any) -> Any:
    """The four vertices of a hinge."""
    return (
        load3(x, ids[c, 0], lanes),
        load3(x, ids[c, 1], lanes),
        load3(x, ids[c, 2], lanes),
        load3(x, ids[c, 3], lanes),
    )


@kernel
def evaluate_dihedral(
    x: Any, ids: Any, params: Any, alpha: Any, force: Any, held: Any, out: Any, g: Any, lanes: Any
) -> None:
    """Signed hinge angles."""
    for w in range(x.shape[0]):
        for c in range(ids.shape[0]):
            p = hinge(x[w], ids, c, lanes)
            value, gi, gj, gk, gl = dihedral(p[0], p[1], p[2], p[3], params[c, 0])
            store(out[w], (c, 0), value, lanes)
            s = pull_of(out[w], alpha[w], force[w], c, 0)
            add3(g[w], ids[c, 0], 1.0, times(s, gi), lanes)
            add3(g[w], ids[c, 1], 1.0, times(s, gj), lanes)
            add3(g[w], ids[c, 2], 1.0, times(s, gk), lanes)
            add3(g[w], ids[c, 3], 1.0, times(s, gl), lanes)


@kernel
def evaluate_dihedral_acos(
    x: Any, ids: Any, params: Any, alpha: Any, force: Any, held: Any, out: Any, g: Any, lanes: Any
) -> None:
    """Unsigned hinge angles."""
    for w in range(x.shape[0]):
        for c in range(ids.shape[0]):
            p = hinge(x[w], ids, c, lanes)
            value, gi, gj, gk, gl = dihedral_acos(p[0], p[1], p[2], p[3], params[c, 0])
            store(out[w], (c, 0), value, lanes)
            s = pull_of(out[w], alpha[w], force[w], c, 0)
            add3(g[w], ids[c, 0], 1.0, times(s, gi), lanes)
            add3(g[w], ids[c, 1], 1.0, times(s, gj), lanes)
            add3(g[w], ids[c, 2], 1.0, times(s, gk), lanes)
            add3(g[w], ids[c, 3], 1.0, times(s, gl), lanes)


@kernel
def evaluate_attachment(
    x: Any, ids: Any, params: Any, alpha: Any, force: Any, held: Any, out: Any, g: Any, lanes: Any
) -> None:
    """Springs to points in space."""
    for w in range(x.shape[0]):
        for c in range(ids.shape[0]):
            value = attachment(load3(x[w], ids[c, 0], lanes), load3(held[w], c, lanes))
            for m in range(3):
                store(out[w], (c, m), value[m], lanes)
            rows = (
                pull_of(out[w], alpha[w], force[w], c, 0),
                pull_of(out[w], alpha[w], force[w], c, 1),
                pull_of(out[w], alpha[w], force[w], c, 2),
            )
            add3(g[w], ids[c, 0], 1.0, rows, lanes)


EVALUATE = {
    "distance": evaluate_distance,
    "membrane": evaluate_membrane,
    "isometric": evaluate_isometric,
    "dihedral": evaluate_dihedral,
    "dihedral_acos": evaluate_dihedral_acos,
    "attachment": evaluate_attachment,
    "arap_tet": evaluate_arap_tet,
    "neo_hookean": evaluate_neo_hookean,
    "volume": evaluate_volume,
}
