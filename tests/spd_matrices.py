"""Symmetric positive definite matrices that tests and benchmarks factor."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def grid_laplacian(*shape: int) -> sp.csc_matrix:
    """2D + 1 point Laplacian of a box of grid points, held at its sides."""
    n = int(np.prod(shape))
    total = sp.csc_matrix((n, n))
    for axis, length in enumerate(shape):
        line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(length, length))
        before, after = int(np.prod(shape[:axis])), int(np.prod(shape[axis + 1 :]))
        total = total + sp.kron(sp.kron(sp.eye(before), line), sp.eye(after))
    return total.tocsc()


def cloth(side: int, h: float = 1 / 60, stiffness: float = 1000.0) -> sp.csc_matrix:
    """``M + h² Σ w GᵀG`` of a sheet of 1 m, 0.2 kg/m², with springs [N/m] along its triangles' edges."""
    ids = np.arange(side * side).reshape(side, side)
    pairs = ((ids[:-1], ids[1:]), (ids[:, :-1], ids[:, 1:]), (ids[:-1, :-1], ids[1:, 1:]))
    i, j = (np.concatenate([pair[k].ravel() for pair in pairs]) for k in (0, 1))
    edge, ones = np.arange(len(i)), np.ones(len(i))
    g = sp.coo_matrix((np.r_[ones, -ones], (np.r_[edge, edge], np.r_[i, j])), shape=(len(i), side * side))
    mass = 0.2 / side**2 * sp.eye(side * side)
    return (mass + h * h * stiffness * (g.T @ g)).tocsc()


def random_spd(n: int, density: float, seed: int) -> sp.csc_matrix:
    """A matrix without structure, diagonally dominant."""
    rng = np.random.default_rng(seed)
    part = sp.random(n, n, density, random_state=rng, data_rvs=rng.standard_normal)
    both = part + part.T
    return (both + sp.diags(_sums(both) + 1.0)).tocsc()


def _sums(matrix: sp.spmatrix) -> np.ndarray:
    return np.asarray(np.abs(matrix).sum(axis=1)).ravel()
