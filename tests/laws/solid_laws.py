"""The laws of tetrahedra over batches; see :mod:`tests.laws.batches`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.backend.jit import kernel
from pliant.backend.lanes import load, load3, store, store3
from pliant.laws import LAWS
from pliant.laws.solid import arap_tet, neo_hookean, volume
from pliant.laws.vectors import minus, mix, plus, times

Array = np.ndarray

SHAPES = {law: LAWS[law] for law in ("arap_tet", "neo_hookean", "volume")}
KINDS = {law: kind for kind, law in enumerate(SHAPES)}


@kernel
def store_columns(g: Any, d1: Any, d2: Any, d3: Any, c1: Any, c2: Any, c3: Any, lanes: Any) -> None:
    """The gradient of one row at the four corners, from those with respect to the columns of F."""
    g1 = plus(mix(d1[0], c1, d1[1], c2), times(d1[2], c3))
    g2 = plus(mix(d2[0], c1, d2[1], c2), times(d2[2], c3))
    g3 = plus(mix(d3[0], c1, d3[1], c2), times(d3[2], c3))
    store3(g, 0, times(-1.0, plus(plus(g1, g2), g3)), lanes)
    store3(g, 1, g1, lanes)
    store3(g, 2, g2, lanes)
    store3(g, 3, g3, lanes)


@kernel
def evaluate_solids(kind: Any, x: Any, p: Any, value: Any, g: Any, lanes: Any) -> None:
    """x (M, 4, 3, L), p (M, p, L); out: value (M, r, L), g (M, r, 4, 3, L). Kinds count as SHAPES does."""
    for n in range(x.shape[0]):
        d1 = (load(p, (n, 0), lanes), load(p, (n, 1), lanes), load(p, (n, 2), lanes))
        d2 = (load(p, (n, 3), lanes), load(p, (n, 4), lanes), load(p, (n, 5), lanes))
        d3 = (load(p, (n, 6), lanes), load(p, (n, 7), lanes), load(p, (n, 8), lanes))
        a = load3(x[n], 0, lanes)
        e1, e2 = minus(load3(x[n], 1, lanes), a), minus(load3(x[n], 2, lanes), a)
        e3 = minus(load3(x[n], 3, lanes), a)
        f1 = plus(mix(d1[0], e1, d2[0], e2), times(d3[0], e3))
        f2 = plus(mix(d1[1], e1, d2[1], e2), times(d3[1], e3))
        f3 = plus(mix(d1[2], e1, d2[2], e2), times(d3[2], e3))
        if kind == 0:
            first, a1, a2, a3, second, b1, b2, b3 = arap_tet(f1, f2, f3)
            store(value, (n, 0), first, lanes)
            store(value, (n, 1), second, lanes)
            store_columns(g[n, 0], d1, d2, d3, a1, a2, a3, lanes)
            store_columns(g[n, 1], d1, d2, d3, b1, b2, b3, lanes)
        elif kind == 1:
            first, a1, a2, a3, second, b1, b2, b3 = neo_hookean(f1, f2, f3)
            store(value, (n, 0), first, lanes)
            store(value, (n, 1), second, lanes)
            store_columns(g[n, 0], d1, d2, d3, a1, a2, a3, lanes)
            store_columns(g[n, 1], d1, d2, d3, b1, b2, b3, lanes)
        else:
            first, a1, a2, a3 = volume(f1, f2, f3)
            store(value, (n, 0), first, lanes)
            store_columns(g[n, 0], d1, d2, d3, a1, a2, a3, lanes)


def random_params(law: str, rng: np.random.Generator, n: int) -> Array:
    """Parameters (n, 9) of all kinds of rest shapes."""
    return np.linalg.inv(rng.standard_normal((n, 3, 3)) * 0.3 + np.eye(3)).reshape(n, 9)


def gradients(x: Array, p: Array) -> Array:
    """F (n, 3, 3) of tetrahedra x (n, 4, 3) with inverse rest matrices p (n, 9)."""
    return np.swapaxes(x[:, 1:] - x[:, :1], 1, 2) @ p.reshape(-1, 3, 3)


def far_from_singular(law: str, x: Array, p: Array, room: float) -> Array:
    """Mask (n,): no stretch beyond 5, no rotation, and for ARAP one closest rotation only."""
    s = np.linalg.svd(gradients(x, p), compute_uv=False)
    good = (s[:, 0] < 5.0) & (s[:, 0] > room)
    if law == "volume":
        return good
    signed = s * np.stack([np.ones(len(x)), np.ones(len(x)), np.sign(np.linalg.det(gradients(x, p)))], axis=1)
    good &= np.linalg.norm(signed - 1.0, axis=1) > room
    return good if law == "neo_hookean" else good & (signed[:, 1] + signed[:, 2] > 2.0 * room)
