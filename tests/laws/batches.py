"""Laws over batches of configurations, and configurations to try them on.

A configuration is a set of corners (c, 3) with the law's parameters (p,), all in one lane; a batch of n is
spread over as many items and lanes as the width asks for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.backend.jit import kernel
from pliant.backend.lanes import Lanes, load, load3, store, store3
from pliant.laws import LAWS
from pliant.laws.attachment import attachment
from pliant.laws.bending import dihedral, dihedral_acos, isometric
from pliant.laws.distance import distance
from pliant.laws.membrane import arap_triangle
from pliant.laws.vectors import minus, mix, opposite_sum, times
from tests.laws import sheet_laws, solid_laws, tie_laws

Array = np.ndarray

SHAPES = LAWS | solid_laws.SHAPES
INTERNAL = tuple(law for law in SHAPES if law != "attachment")
"""Laws that join particles with each other, hence know no place and no direction."""
KINDS = {law: kind for kind, law in enumerate(LAWS)}
PARAMS = {law: 3 if law == "attachment" else shape.params for law, shape in SHAPES.items()}


@kernel
def evaluate_items(kind: Any, x: Any, p: Any, value: Any, g: Any, lanes: Any) -> None:
    """x (M, c, 3, L), p (M, p, L); out: value (M, r, L), g (M, r, c, 3, L). Kinds count as LAWS does."""
    for n in range(x.shape[0]):
        a = load3(x[n], 0, lanes)
        if kind == 5:
            target = (load(p, (n, 0), lanes), load(p, (n, 1), lanes), load(p, (n, 2), lanes))
            difference = attachment(a, target)
            for m in range(3):
                store(value, (n, m), difference[m], lanes)
                for k in range(3):
                    store(g, (n, m, 0, k), 1.0 if k == m else 0.0, lanes)
            continue
        b = load3(x[n], 1, lanes)
        if kind == 0:
            length, ga = distance(a, b, load(p, (n, 0), lanes))
            store(value, (n, 0), length, lanes)
            store3(g[n, 0], 0, ga, lanes)
            store3(g[n, 0], 1, times(-1.0, ga), lanes)
            continue
        c = load3(x[n], 2, lanes)
        if kind == 1:
            d0, d1 = load(p, (n, 0), lanes), load(p, (n, 1), lanes)
            d2, d3 = load(p, (n, 2), lanes), load(p, (n, 3), lanes)
            e1, e2 = minus(b, a), minus(c, a)
            shape, s1, s2, trace, t1, t2 = arap_triangle(mix(d0, e1, d2, e2), mix(d1, e1, d3, e2))
            store(value, (n, 0), shape, lanes)
            store(value, (n, 1), trace, lanes)
            store_triangle(g[n, 0], mix(d0, s1, d1, s2), mix(d2, s1, d3, s2), lanes)
            store_triangle(g[n, 1], mix(d0, t1, d1, t2), mix(d2, t1, d3, t2), lanes)
            continue
        d = load3(x[n], 3, lanes)
        if kind == 2:
            k4 = (
                load(p, (n, 0), lanes),
                load(p, (n, 1), lanes),
                load(p, (n, 2), lanes),
                load(p, (n, 3), lanes),
            )
            for m in range(3):
                corners = (load(x, (n, 0, m), lanes), load(x, (n, 1, m), lanes),
                           load(x, (n, 2, m), lanes), load(x, (n, 3, m), lanes))  # fmt: skip
                store(value, (n, m), isometric(k4, corners), lanes)
                for corner in range(4):
                    store(g, (n, m, corner, 0), 0.0, lanes)
                    store(g, (n, m, corner, 1), 0.0, lanes)
                    store(g, (n, m, corner, 2), 0.0, lanes)
                    store(g, (n, m, corner, m), load(p, (n, corner), lanes), lanes)
            continue
        rest = load(p, (n, 0), lanes)
        if kind == 3:
            angle, g0, g1, g2, g3 = dihedral(a, b, c, d, rest)
        else:
            angle, g0, g1, g2, g3 = dihedral_acos(a, b, c, d, rest)
        store(value, (n, 0), angle, lanes)
        store3(g[n, 0], 0, g0, lanes)
        store3(g[n, 0], 1, g1, lanes)
        store3(g[n, 0], 2, g2, lanes)
        store3(g[n, 0], 3, g3, lanes)


@kernel
def store_triangle(g: Any, g1: Any, g2: Any, lanes: Any) -> None:
    """The gradient of one row at the three corners, from those at the second and the third."""
    store3(g, 0, opposite_sum(g1, g2), lanes)
    store3(g, 1, g1, lanes)
    store3(g, 2, g2, lanes)


def in_lanes(a: Array, width: int, dtype: Any) -> Array:
    """``(n, ...)`` to ``(items, ..., width)``; spare lanes repeat the last row."""
    spare = -len(a) % width
    full = np.concatenate([a, np.repeat(a[-1:], spare, axis=0)]).astype(dtype)
    return np.ascontiguousarray(np.moveaxis(full.reshape(-1, width, *a.shape[1:]), 1, -1))


def out_of_lanes(a: Array, n: int) -> Array:
    """``(items, ..., width)`` to the first n rows ``(n, ...)``."""
    return np.moveaxis(a, -1, 1).reshape(-1, *a.shape[1:-1])[:n]


def evaluate(
    law: str, x: Array, params: Array, dtype: Any = "float64", width: int = 16
) -> tuple[Array, Array]:
    """Values (n, r) and gradients (n, r, c, 3) of a law for corners x (n, c, 3) and params (n, p)."""
    n, corners, rows = len(x), SHAPES[law].corners, SHAPES[law].rows
    assert x.shape[1:] == (corners, 3)
    assert params.shape == (n, PARAMS[law])
    lanes_x, lanes_p = in_lanes(x, width, dtype), in_lanes(params, width, dtype)
    value = np.full((len(lanes_x), rows, width), np.nan, dtype)
    g = np.full((len(lanes_x), rows, corners, 3, width), np.nan, dtype)
    if law == "tie":
        tie_laws.evaluate_ties(lanes_x, lanes_p, value, g, Lanes(width))
    elif law in sheet_laws.KINDS:
        sheet_laws.evaluate_sheets(sheet_laws.KINDS[law], lanes_x, lanes_p, value, g, Lanes(width))
    elif law in solid_laws.SHAPES:
        solid_laws.evaluate_solids(solid_laws.KINDS[law], lanes_x, lanes_p, value, g, Lanes(width))
    else:
        evaluate_items(KINDS[law], lanes_x, lanes_p, value, g, Lanes(width))
    return out_of_lanes(value, n), out_of_lanes(g, n)


def configurations(law: str, n: int, seed: int, room: float = 0.2) -> tuple[Array, Array]:
    """Random corners (n, c, 3) of size about 1 and parameters, at a distance ``room`` from every singularity.

    The membrane is away from a pure rotation, the unsigned angle away from flat and from a full fold.
    """
    rng = np.random.default_rng(seed)
    found_x, found_p = [], []
    while sum(len(x) for x in found_x) < n:
        x = rng.standard_normal((4 * n, SHAPES[law].corners, 3))
        p = random_params(law, rng, 4 * n)
        good = far_from_singular(law, x, p, room)
        found_x.append(x[good])
        found_p.append(p[good])
    return np.concatenate(found_x)[:n], np.concatenate(found_p)[:n]


def random_params(law: str, rng: np.random.Generator, n: int) -> Array:
    """Parameters (n, p) of all kinds of rest shapes."""
    if law == "tie":
        return tie_laws.random_params(rng, n)
    if law in sheet_laws.KINDS:
        return sheet_laws.random_params(law, rng, n)
    if law in solid_laws.SHAPES:
        return solid_laws.random_params(law, rng, n)
    if law == "distance":
        return rng.uniform(0.5, 1.5, (n, 1))
    if law in ("dihedral", "dihedral_acos"):
        return rng.uniform(-1.0, 1.0, (n, 1)) if law == "dihedral" else rng.uniform(0.0, 1.0, (n, 1))
    if law == "membrane":
        return np.linalg.inv(rng.standard_normal((n, 2, 2)) * 0.3 + np.eye(2)).reshape(n, 4)
    if law == "isometric":
        k = rng.standard_normal((n, 4))
        return k - k.mean(axis=1, keepdims=True)
    return rng.standard_normal((n, 3))


def far_from_singular(law: str, x: Array, p: Array, room: float) -> Array:
    """Mask (n,) of configurations whose constraint is smooth within about ``room``."""
    if law == "tie":
        return tie_laws.far_from_singular(x, room)
    if law in sheet_laws.KINDS:
        return sheet_laws.far_from_singular(law, x, p, room)
    if law in solid_laws.SHAPES:
        return solid_laws.far_from_singular(law, x, p, room)
    if law == "distance":
        return np.linalg.norm(x[:, 0] - x[:, 1], axis=1) > room
    if law == "membrane":
        f = deformation_gradients(x, p)
        s = np.linalg.svd(f, compute_uv=False)
        return (s[:, 1] > room) & (s[:, 0] < 5.0) & (np.abs(s - 1.0).max(axis=1) > room)
    if law in ("dihedral", "dihedral_acos"):
        e = x[:, 1] - x[:, 0]
        length = np.linalg.norm(e, axis=1)
        n1, n2 = np.cross(e, x[:, 2] - x[:, 0]), np.cross(x[:, 3] - x[:, 0], e)
        h1, h2 = np.linalg.norm(n1, axis=1), np.linalg.norm(n2, axis=1)
        cosine = (n1 * n2).sum(axis=1) / (h1 * h2)
        away = -np.cos(room) < cosine
        if law == "dihedral_acos":
            away &= cosine < np.cos(room)
        return away & (length > room) & (np.minimum(h1, h2) / length > room)
    return np.ones(len(x), bool)


def deformation_gradients(x: Array, p: Array) -> Array:
    """F (n, 3, 2) of triangles x (n, 3, 3) with inverse rest matrices p (n, 4)."""
    edges = np.stack([x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]], axis=-1)
    return edges @ p.reshape(-1, 2, 2)


def random_rotations(n: int, seed: int) -> Array:
    """Rotations (n, 3, 3), uniformly distributed."""
    q = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, 3, 3)))[0]
    return q * np.linalg.det(q)[:, None, None]
