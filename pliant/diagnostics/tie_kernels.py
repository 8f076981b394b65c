"""Values and energy gradients of ties; see :mod:`pliant.diagnostics.kernels`."""

from __future__ import annotations

from typing import Any

from ..backend.jit import kernel
from ..backend.lanes import add3, load3, store
from ..laws.tie import tie
from ..laws.vectors import dot, mix
from .kernels import pull_of


@kernel
def evaluate_tie(
    x: Any, ids: Any, params: Any, alpha: Any, force: Any, held: Any, out: Any, g: Any, lanes: Any
) -> None:
    """Ties to surfaces."""
    for w in range(x.shape[0]):
        for c in range(ids.shape[0]):
            b = (params[c, 0], params[c, 1], params[c, 2])
            value, n, s1, s2, s3 = tie(
                b,
                params[c, 3],
                load3(x[w], ids[c, 0], lanes),
                load3(x[w], ids[c, 1], lanes),
                load3(x[w], ids[c, 2], lanes),
                load3(x[w], ids[c, 3], lanes),
            )
            for m in range(3):
                store(out[w], (c, m), value[m], lanes)
            f = (
                pull_of(out[w], alpha[w], force[w], c, 0),
                pull_of(out[w], alpha[w], force[w], c, 1),
                pull_of(out[w], alpha[w], force[w], c, 2),
            )
            add3(g[w], ids[c, 0], 1.0, f, lanes)
            add3(g[w], ids[c, 1], 1.0, mix(-b[0], f, dot(s1, f), n), lanes)
            add3(g[w], ids[c, 2], 1.0, mix(-b[1], f, dot(s2, f), n), lanes)
            add3(g[w], ids[c, 3], 1.0, mix(-b[2], f, dot(s3, f), n), lanes)


EVALUATE_TIES = {"tie": evaluate_tie}
