"""The bar at rest by linear finite elements: the reference for its tip.

Linear tetrahedra and small strain (any textbook, e.g. Hughes, The Finite Element Method, ch. 2), the same
lumped weight as the contestants', one sparse solve.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Array = np.ndarray

# A cube with corner 4a + 2b + c at (a, b, c), cut into five tetrahedra in two mirrored ways.
EVEN = ((0, 4, 2, 1), (6, 2, 4, 7), (5, 4, 1, 7), (3, 1, 2, 7), (1, 2, 4, 7))
ODD = ((4, 0, 6, 5), (2, 6, 0, 3), (1, 0, 5, 3), (7, 5, 6, 3), (0, 6, 5, 3))


def tet_grid(cells: Sequence[int], size: Sequence[float]) -> tuple[Array, Array]:
    """A box from the origin: vertices (N, 3) [m] and tetrahedra (T, 4) of positive volume."""
    shape = tuple(k + 1 for k in cells)
    axes = [np.linspace(0.0, s, k) for s, k in zip(size, shape, strict=True)]
    x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    ids = np.arange(len(x)).reshape(shape)
    corners = np.stack(
        [
            ids[a : a + cells[0], b : b + cells[1], c : c + cells[2]]
            for a in (0, 1)
            for b in (0, 1)
            for c in (0, 1)
        ],
        axis=-1,
    ).reshape(-1, 8)
    odd = (np.indices(cells).sum(axis=0).ravel() % 2).astype(bool)
    cut = np.where(odd[:, None, None], np.array(ODD), np.array(EVEN))
    tets = np.take_along_axis(corners, cut.reshape(-1, 20), axis=1).reshape(-1, 4)
    sides = x[tets[:, 1:]] - x[tets[:, :1]]
    flip = np.linalg.det(sides) < 0
    tets[flip] = tets[flip][:, [0, 1, 3, 2]]
    return x, tets


def static_displacements(
    x: Array, tets: Array, lame: tuple[float, float], force: Array, held: Array
) -> Array:
    """Displacements (N, 3) [m] of a linear elastic solid under nodal forces (N, 3) [N], ``held`` at zero."""
    from scipy import sparse
    from scipy.sparse.linalg import spsolve

    mu, lam = lame
    sides = np.swapaxes(x[tets[:, 1:]] - x[tets[:, :1]], 1, 2)
    volume = np.linalg.det(sides) / 6
    inverse = np.linalg.inv(sides)
    grads = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)
    dots = np.einsum("tai,tbi->tab", grads, grads)
    blocks = mu * np.einsum("tab,ij->taibj", dots, np.eye(3))
    blocks += mu * np.einsum("taj,tbi->taibj", grads, grads) + lam * np.einsum("tai,tbj->taibj", grads, grads)
    blocks *= volume[:, None, None, None, None]
    rows = (3 * tets[:, :, None] + np.arange(3)).reshape(len(tets), 12)
    pairs = (np.repeat(rows, 12, axis=1).ravel(), np.tile(rows, (1, 12)).ravel())
    matrix = sparse.csc_matrix((blocks.ravel(), pairs), (x.size, x.size))
    free = np.ones((len(x), 3), bool)
    free[held] = False
    keep = np.flatnonzero(free)
    out = np.zeros(x.size)
    out[keep] = spsolve(matrix[keep][:, keep], force.ravel()[keep])
    return out.reshape(-1, 3)
