"""Linear elasticity on a mesh of tetrahedra, assembled the textbook way: what solids must agree with.

Linear shape functions, constant strain; stiffness ``V B^T C B`` (Zienkiewicz, Taylor, The Finite Element
Method, vol. 1), with scipy's sparse solvers and not a line of the package but rest matrices and volumes.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from pliant.geometry import tetrahedra
from pliant.geometry.tetmesh import TetMesh
from pliant.materials import SolidMaterial

Array = np.ndarray


def shape_gradients(mesh: TetMesh) -> Array:
    """Gradients (E, 4, 3) of the four shape functions, 1/m."""
    rows = tetrahedra.inv_rest_matrices(mesh.vertices, mesh.tets)
    return np.concatenate([-rows.sum(axis=1, keepdims=True), rows], axis=1)


def stiffness(mesh: TetMesh, material: SolidMaterial) -> scipy.sparse.csr_matrix:
    """K (3 N, 3 N), N/m."""
    mu, lam = material.shear_modulus, material.lame_modulus
    g, volume = shape_gradients(mesh), tetrahedra.tet_volumes(mesh.vertices, mesh.tets)
    k = np.einsum("e,eai,ebj->eaibj", lam * volume, g, g) + np.einsum("e,eaj,ebi->eaibj", mu * volume, g, g)
    same = np.einsum("e,eak,ebk->eab", mu * volume, g, g)
    for i in range(3):
        k[:, :, i, :, i] += same
    dof = (3 * mesh.tets[:, :, None] + np.arange(3)).reshape(-1, 12)
    rows, columns = np.repeat(dof, 12, axis=1).ravel(), np.tile(dof, (1, 12)).ravel()
    n = 3 * mesh.n_vertices
    return scipy.sparse.csr_matrix((k.ravel(), (rows, columns)), shape=(n, n))


def displacement(
    mesh: TetMesh, material: SolidMaterial, force: Array, held: Array, moved: Array | float = 0.0
) -> Array:
    """Static displacement u (N, 3) [m] under forces (N, 3) [N], vertices ``held`` moved by (n, 3) [m]."""
    k = stiffness(mesh, material)
    u = np.zeros((mesh.n_vertices, 3))
    u[held] = moved
    fixed = (3 * np.asarray(held)[:, None] + np.arange(3)).ravel()
    free = np.setdiff1d(np.arange(u.size), fixed)
    load = force.ravel() - k @ u.ravel()
    out = u.ravel()
    out[free] = scipy.sparse.linalg.spsolve(k[free][:, free].tocsc(), load[free])
    return out.reshape(-1, 3)


def weight(mesh: TetMesh, material: SolidMaterial, gravity: Array) -> Array:
    """Lumped own weight (N, 3) [N]."""
    mass = material.density * tetrahedra.vertex_volumes(mesh.vertices, mesh.tets)
    return mass[:, None] * np.asarray(gravity, float)
