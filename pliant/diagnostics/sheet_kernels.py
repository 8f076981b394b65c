"""Values and energy gradients of the laws in the group "sheets"; see :mod:`pliant.diagnostics.kernels`."""

from __future__ import annotations

from typing import Any

from ..backend.jit import kernel
from ..backend.lanes import add3, load3, store
from ..laws.curved import curved
from ..laws.orthotropic import orthotropic
from ..laws.strain_limit import strain_limit
from ..laws.vectors import minus, mix, opposite_sum, plus, times
from .kernels import hinge, pull_of


@kernel(inline=True)
def columns_of(x: Any, ids: Any, params: Any, c: Any, lanes: Any) -> Any:
    """Columns of the deformation gradient of a triangle."""
    xi = load3(x, ids[c, 0], lanes)
    e1, e2 = minus(load3(x, ids[c, 1], lanes), xi), minus(load3(x, ids[c, 2], lanes), xi)
    return mix(params[c, 0], e1, params[c, 2], e2), mix(params[c, 1], e1, params[c, 3], e2)


@kernel(inline=True)
def add_columns(g: Any, ids: Any, params: Any, c: Any, f1: Any, f2: Any, lanes: Any) -> None:
    """Add dU/dx of the corners, from dU with respect to the columns."""
    g1, g2 = mix(params[c, 0], f1, params[c, 1], f2), mix(params[c, 2], f1, params[c, 3], f2)
    add3(g, ids[c, 0], 1.0, opposite_sum(g1, g2), lanes)
    add3(g, ids[c, 1], 1.0, g1, lanes)
    add3(g, ids[c, 2], 1.0, g2, lanes)


@kernel
def evaluate_orthotropic(
    x: Any, ids: Any, params: Any, alpha: Any, force: Any, held: Any, out: Any, g: Any, lanes: Any
) -> None:
    """Woven triangles: warp, weft, shear."""
    for w in range(x.shape[0]):
        for c in range(ids.shape[0]):
            f1, f2 = columns_of(x[w], ids, params, c, lanes)
            warp, w1, w2, weft, n2, shear, s1, s2 = orthotropic(f1, f2, params[c, 4])
            store(out[w], (c, 0), warp, lanes)
            store(out[w], (c, 1), weft, lanes)
            store(out[w], (c, 2), shear, lanes)
            a = pull_of(out[w], alpha[w], force[w], c, 0)
            b = pull_of(out[w], alpha[w], force[w], c, 1)
            q = pull_of(out[w], alpha[w], force[w], c, 2)
            c1, c2 = mix(a, w1, q, s1), plus(mix(a, w2, b, n2), times(q, s2))
            add_columns(g[w], ids, params, c, c1, c2, lanes)


@kernel
def evaluate_strain_limit(
    x: Any, ids: Any, params: Any, alpha: Any, force: Any, held: Any, out: Any, g: Any, lanes: Any
) -> None:
    """Largest stretch less its limit: the force is the one that the solver found."""
    for w in range(x.shape[0]):
        for c in range(ids.shape[0]):
            f1, f2 = columns_of(x[w], ids, params, c, lanes)
            value, c1, c2 = strain_limit(f1, f2, params[c, 4])
            store(out[w], (c, 0), value, lanes)
            s = pull_of(out[w], alpha[w], force[w], c, 0)
            add_columns(g[w], ids, params, c, times(s, c1), times(s, c2), lanes)


@kernel
def evaluate_curved(
    x: Any, ids: Any, params: Any, alpha: Any, force: Any, held: Any, out: Any, g: Any, lanes: Any
) -> None:
    """Bending about a curved rest shape."""
    for w in range(x.shape[0]):
        for c in range(ids.shape[0]):
            p = hinge(x[w], ids, c, lanes)
            k = (params[c, 0], params[c, 1], params[c, 2], params[c, 3])
            value, n = curved(k, p[0], p[1], p[2], p[3], params[c, 4])
            store(out[w], (c, 0), value, lanes)
            s = pull_of(out[w], alpha[w], force[w], c, 0)
            for m in range(4):
                add3(g[w], ids[c, m], s * params[c, m], n, lanes)


EVALUATE_SHEETS = {
    "orthotropic": evaluate_orthotropic,
    "strain_limit": evaluate_strain_limit,
    "curved": evaluate_curved,
}
