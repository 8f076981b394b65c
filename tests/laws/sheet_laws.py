"""The laws for woven, limited and curved sheets over batches; see :mod:`tests.laws.batches`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.backend.jit import kernel
from pliant.backend.lanes import load, load3, store, store3
from pliant.laws.curved import curved
from pliant.laws.orthotropic import orthotropic
from pliant.laws.strain_limit import strain_limit
from pliant.laws.vectors import minus, mix, opposite_sum, times

Array = np.ndarray

KINDS = {"orthotropic": 0, "strain_limit": 1, "curved": 2}


@kernel
def store_columns(g: Any, d: Any, c1: Any, c2: Any, lanes: Any) -> None:
    """The gradient of one row at the three corners, from those with respect to the columns of F."""
    g1, g2 = mix(d[0], c1, d[1], c2), mix(d[2], c1, d[3], c2)
    store3(g, 0, opposite_sum(g1, g2), lanes)
    store3(g, 1, g1, lanes)
    store3(g, 2, g2, lanes)


@kernel
def evaluate_sheets(kind: Any, x: Any, p: Any, value: Any, g: Any, lanes: Any) -> None:
    """x (M, c, 3, L), p (M, p, L); out: value (M, r, L), g (M, r, c, 3, L). See KINDS."""
    for n in range(x.shape[0]):
        a, b, c = load3(x[n], 0, lanes), load3(x[n], 1, lanes), load3(x[n], 2, lanes)
        d = (load(p, (n, 0), lanes), load(p, (n, 1), lanes), load(p, (n, 2), lanes), load(p, (n, 3), lanes))
        last = load(p, (n, 4), lanes)
        if kind == 2:
            row, normal = curved(d, a, b, c, load3(x[n], 3, lanes), last)
            store(value, (n, 0), row, lanes)
            for k in range(4):
                store3(g[n, 0], k, times(load(p, (n, k), lanes), normal), lanes)
            continue
        e1, e2 = minus(b, a), minus(c, a)
        f1, f2 = mix(d[0], e1, d[2], e2), mix(d[1], e1, d[3], e2)
        if kind == 1:
            row, c1, c2 = strain_limit(f1, f2, last)
            store(value, (n, 0), row, lanes)
            store_columns(g[n, 0], d, c1, c2, lanes)
            continue
        warp, w1, w2, weft, n2, gamma, s1, s2 = orthotropic(f1, f2, last)
        store(value, (n, 0), warp, lanes)
        store(value, (n, 1), weft, lanes)
        store(value, (n, 2), gamma, lanes)
        store_columns(g[n, 0], d, w1, w2, lanes)
        store_columns(g[n, 1], d, times(0.0, n2), n2, lanes)
        store_columns(g[n, 2], d, s1, s2, lanes)


def random_params(law: str, rng: np.random.Generator, n: int) -> Array:
    """Parameters (n, 5) of all kinds of rest shapes."""
    if law == "curved":
        k = rng.standard_normal((n, 4))
        return np.c_[k - k.mean(axis=1, keepdims=True), rng.uniform(-1.0, 1.0, n)]
    frames = np.linalg.inv(rng.standard_normal((n, 2, 2)) * 0.3 + np.eye(2)).reshape(n, 4)
    low, high = (0.0, 0.5) if law == "orthotropic" else (1.0, 1.3)
    return np.c_[frames, rng.uniform(low, high, n)]


def far_from_singular(law: str, x: Array, p: Array, room: float) -> Array:
    """Mask (n,): yarns that are neither crushed nor parallel, two stretches apart, hinges far from flat."""
    if law == "curved":
        v = (p[:, :4, None] * x).sum(axis=1)
        m = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 3])
        size, normal = np.linalg.norm(v, axis=1), np.linalg.norm(m, axis=1)
        return (size > room) & (normal > room) & (np.abs((v * m).sum(axis=1)) > room * size * normal)
    f = np.stack([x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]], axis=-1) @ p[:, :4].reshape(-1, 2, 2)
    s = np.linalg.svd(f, compute_uv=False)
    if law == "strain_limit":
        return (s[:, 1] > room) & (s[:, 0] < 5.0) & (s[:, 0] - s[:, 1] > room)
    yarns = np.linalg.norm(f, axis=1)
    cosine = (f[:, :, 0] * f[:, :, 1]).sum(axis=1) / yarns.prod(axis=1)
    return (yarns.min(axis=1) > room) & (s[:, 0] < 5.0) & (np.abs(cosine) < 0.9)
