"""The bar at rest by linear finite elements: the reference for its tip.

Linear tetrahedra and small strain (any textbook, e.g. Hughes, The Finite Element Method, ch. 2), the same
lumped weight as the contestants', one sparse solve.
"""

from __future__ import annotations

import numpy as np

from ..geometry import tetrahedra

Array = np.ndarray


def static_displacements(
    x: Array, tets: Array, lame: tuple[float, float], force: Array, held: Array
) -> Array:
    """Displacements (N, 3) [m] of a linear elastic solid under nodal forces (N, 3) [N], ``held`` at zero."""
    from scipy import sparse
    from scipy.sparse.linalg import spsolve

    mu, lam = lame
    volume = tetrahedra.tet_volumes(x, tets)
    inverse = tetrahedra.inv_rest_matrices(x, tets)
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
