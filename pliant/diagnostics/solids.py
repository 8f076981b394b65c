"""Values of the laws of tetrahedra and their share of the energy's gradient; see ``diagnostics.kernels``."""

from __future__ import annotations

from typing import Any

from ..backend.jit import kernel
from ..backend.lanes import add3, load3, store
from ..laws.solid import arap_tet, neo_hookean, volume
from ..laws.vectors import minus, mix, opposite_sum, plus, times
from .pulls import pull_of


@kernel(inline=True)
def columns_of(x: Any, ids: Any, params: Any, c: Any, lanes: Any) -> Any:
    """Columns of the deformation gradient of constraint ``c``."""
    here = load3(x, ids[c, 0], lanes)
    e1, e2 = minus(load3(x, ids[c, 1], lanes), here), minus(load3(x, ids[c, 2], lanes), here)
    e3 = minus(load3(x, ids[c, 3], lanes), here)
    return (
        plus(mix(params[c, 0], e1, params[c, 3], e2), times(params[c, 6], e3)),
        plus(mix(params[c, 1], e1, params[c, 4], e2), times(params[c, 7], e3)),
        plus(mix(params[c, 2], e1, params[c, 5], e2), times(params[c, 8], e3)),
    )


@kernel(inline=True)
def spread_stress(g: Any, ids: Any, params: Any, c: Any, f1: Any, f2: Any, f3: Any, lanes: Any) -> None:
    """Add dU/dx at the corners from dU/dF, column by column."""
    g1 = plus(mix(params[c, 0], f1, params[c, 1], f2), times(params[c, 2], f3))
    g2 = plus(mix(params[c, 3], f1, params[c, 4], f2), times(params[c, 5], f3))
    g3 = plus(mix(params[c, 6], f1, params[c, 7], f2), times(params[c, 8], f3))
    add3(g, ids[c, 0], 1.0, opposite_sum(plus(g1, g2), g3), lanes)
    add3(g, ids[c, 1], 1.0, g1, lanes)
    add3(g, ids[c, 2], 1.0, g2, lanes)
    add3(g, ids[c, 3], 1.0, g3, lanes)


@kernel
def evaluate_arap_tet(
    x: Any, ids: Any, params: Any, alpha: Any, force: Any, held: Any, out: Any, g: Any, lanes: Any
) -> None:
    """ARAP tetrahedra with a trace row."""
    for w in range(x.shape[0]):
        for c in range(ids.shape[0]):
            f = columns_of(x[w], ids, params, c, lanes)
            shape, s1, s2, s3, trace, r1, r2, r3 = arap_tet(f[0], f[1], f[2])
            store(out[w], (c, 0), shape, lanes)
            store(out[w], (c, 1), trace, lanes)
            a = pull_of(out[w], alpha[w], force[w], c, 0)
            b = pull_of(out[w], alpha[w], force[w], c, 1)
            spread_stress(
                g[w], ids, params, c, mix(a, s1, b, r1), mix(a, s2, b, r2), mix(a, s3, b, r3), lanes
            )


@kernel
def evaluate_neo_hookean(
    x: Any, ids: Any, params: Any, alpha: Any, force: Any, held: Any, out: Any, g: Any, lanes: Any
) -> None:
    """Neo-Hookean tetrahedra."""
    for w in range(x.shape[0]):
        for c in range(ids.shape[0]):
            f = columns_of(x[w], ids, params, c, lanes)
            shape, s1, s2, s3, change, c1, c2, c3 = neo_hookean(f[0], f[1], f[2])
            store(out[w], (c, 0), shape, lanes)
            store(out[w], (c, 1), change, lanes)
            a = pull_of(out[w], alpha[w], force[w], c, 0)
            b = pull_of(out[w], alpha[w], force[w], c, 1)
            spread_stress(
                g[w], ids, params, c, mix(a, s1, b, c1), mix(a, s2, b, c2), mix(a, s3, b, c3), lanes
            )


@kernel
def evaluate_volume(
    x: Any, ids: Any, params: Any, alpha: Any, force: Any, held: Any, out: Any, g: Any, lanes: Any
) -> None:
    """Volumes of tetrahedra."""
    for w in range(x.shape[0]):
        for c in range(ids.shape[0]):
            f = columns_of(x[w], ids, params, c, lanes)
            value, c1, c2, c3 = volume(f[0], f[1], f[2])
            store(out[w], (c, 0), value, lanes)
            a = pull_of(out[w], alpha[w], force[w], c, 0)
            spread_stress(g[w], ids, params, c, times(a, c1), times(a, c2), times(a, c3), lanes)
