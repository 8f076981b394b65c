"""The law of ties over batches; see :mod:`tests.laws.batches`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.backend.jit import kernel
from pliant.backend.lanes import load, load3, store
from pliant.laws.tie import tie

Array = np.ndarray


@kernel
def evaluate_ties(x: Any, p: Any, value: Any, g: Any, lanes: Any) -> None:
    """x (M, 4, 3, L), p (M, 4, L); out: value (M, 3, L), g (M, 3, 4, 3, L)."""
    for n in range(x.shape[0]):
        b = (load(p, (n, 0), lanes), load(p, (n, 1), lanes), load(p, (n, 2), lanes))
        y1, y2, y3 = load3(x[n], 1, lanes), load3(x[n], 2, lanes), load3(x[n], 3, lanes)
        c, normal, s1, s2, s3 = tie(b, load(p, (n, 3), lanes), load3(x[n], 0, lanes), y1, y2, y3)
        for m in range(3):
            store(value, (n, m), c[m], lanes)
            for k in range(3):
                own = 1.0 if k == m else 0.0
                store(g, (n, m, 0, k), own, lanes)
                store(g, (n, m, 1, k), s1[m] * normal[k] - own * b[0], lanes)
                store(g, (n, m, 2, k), s2[m] * normal[k] - own * b[1], lanes)
                store(g, (n, m, 3, k), s3[m] * normal[k] - own * b[2], lanes)


def random_params(rng: np.random.Generator, n: int) -> Array:
    """Places on and beside the triangle, gaps of either sign."""
    b = rng.uniform(-0.3, 1.0, (n, 3))
    return np.c_[b[:, :2], 1 - b[:, 0] - b[:, 1], rng.uniform(-0.5, 0.5, n)]


def far_from_singular(x: Array, room: float) -> Array:
    """Mask (n,) of triangles that have an area."""
    return np.linalg.norm(np.cross(x[:, 2] - x[:, 1], x[:, 3] - x[:, 1]), axis=1) > 2 * room
