"""A few constraints of every law, away from rest."""

from __future__ import annotations

import numpy as np

from pliant.laws import LAWS
from pliant.model import Block

Array = np.ndarray

N = 8


def constraints(law: str, rng: np.random.Generator) -> tuple[Block, Array]:
    """A few constraints of a law, and corners (N, c, 3) some way from their rest shape."""
    shape = LAWS[law]
    p = rng.normal(size=(N, shape.params))
    x = rng.normal(size=(N, shape.corners, 3))
    simplex = {4: 2, 5: 2, 9: 3}.get(shape.params, 0) if law not in ("isometric", "curved", "tie") else 0
    if simplex:
        frames = np.eye(simplex) + 0.2 * rng.normal(size=(N, simplex, simplex))
        p[:, : simplex**2] = frames.reshape(N, -1)
        corners = np.vstack([np.zeros(3), np.eye(3)[:simplex]])
        x = corners + 0.2 * x
    if law == "orthotropic":
        p[:, 4] = 0.3
    elif law == "strain_limit":
        p[:, 4] = 0.5
    elif law in ("curved", "isometric"):
        p[:, :4] -= p[:, :4].mean(axis=1, keepdims=True)
    elif law == "tie":
        p[:, :3] /= p[:, :3].sum(axis=1, keepdims=True)
        x[:, 1:] = np.eye(3) + 0.2 * x[:, 1:]
    elif law.startswith("dihedral"):
        x = np.array([[0, 0, 0], [1, 0, 0], [0.4, 1, 0.9], [0.6, -1, 0.7]]) + 0.1 * x
        p[:, 0] = 0.1
    alpha = np.zeros((N, shape.rows)) if shape.one_sided else rng.uniform(0.5, 2, (N, shape.rows))
    ids = np.arange(N * shape.corners).reshape(N, -1)
    return Block(law, ids, p, alpha, np.zeros(N), np.array([0, N]), np.arange(N)), x
