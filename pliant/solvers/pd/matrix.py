"""The constant matrix of projective dynamics: what stands in for the Hessian of E, once for all worlds.

``A = M (1 + h k)/h^2 + sum w G G^T`` over all constraints, one number for all three axes (Bouaziz et al.
2014, eq. 10). G maps positions to what a constraint projects: the columns of F, the cotangent sum of a hinge,
the vector of a spring. w is the stiffness of the row: for ARAP and isometric bending that of the energy
itself; for rows that only act along one direction of many (trace, volume) the share that is left on average.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse

from ...geometry.measures import cotangent_stencil
from ...model import Block, Model

Array = np.ndarray


def inverse(alpha: Array) -> Array:
    """1/alpha, 0 where a row is absent."""
    return np.divide(1.0, alpha, out=np.zeros_like(alpha), where=np.isfinite(alpha) & (alpha > 0))


def frame(inv_rest: Array) -> Array:
    """G (E, corners, axes) of simplices: columns of F from positions; inv_rest (E, axes, axes)."""
    return np.concatenate([-inv_rest.sum(axis=1, keepdims=True), inv_rest], axis=1)


def spread(block: Block, model: Model) -> tuple[Array, Array]:
    """G (E, c, m) and w (E,) of the constraints of a law."""
    k, p, law = inverse(block.compliance), block.params, block.law
    if law == "distance":
        return np.broadcast_to(np.array([[-1.0], [1.0]]), (len(block), 2, 1)), k[:, 0]
    if law == "membrane":
        return frame(p.reshape(-1, 2, 2)), k[:, 0] + k[:, 1]
    if law == "orthotropic":  # C1 = e1 + ratio e2 holds both stretches
        return frame(p[:, :4].reshape(-1, 2, 2)), np.maximum(k[:, 0], k[:, 1]) + k[:, 2]
    if law in ("isometric", "curved"):
        return p[:, :4, None], k[:, 0]
    if law in ("dihedral", "dihedral_acos"):
        x = model.x_rest[block.ids]
        length = np.linalg.norm(x[:, 1] - x[:, 0], axis=1)
        stencil, _ = cotangent_stencil(model.x_rest, block.ids)
        return stencil[:, :, None], inverse(length**2) * k[:, 0]
    if law == "attachment":
        return np.ones((len(block), 1, 1)), k[:, 0]
    if law == "tie":
        return np.concatenate([np.ones((len(block), 1)), -p[:, :3]], axis=1)[:, :, None], k[:, 0]
    g = frame(p[:, :9].reshape(-1, 3, 3))
    if law == "volume":
        return g, k[:, 0] / 3
    return g, k[:, 0] * (2 if law == "neo_hookean" else 1) + k[:, 1] / 3


def constant_matrix(
    model: Model, size: int, inertia: Array, h: float
) -> tuple[scipy.sparse.csc_array, float]:
    """A (size, size) in units of force per m, and that unit [N]; inertia (size,) the masses over h^2 [N/m].

    The unit is a power of two about as large as A, so that roots of its numbers are those of the same scene
    in other units of mass and time. Pinned particles and rows beyond the particles stand alone: 1 d = 0.
    """
    held = np.ones(size, bool)
    held[: model.n_particles] = model.inv_mass <= 0
    total = scipy.sparse.diags_array(np.where(held, 0.0, inertia), format="csc")
    for block in model.blocks.values():
        g, w = spread(block, model)
        w = w * (1 + block.damping_time / h)
        blocks = np.einsum("e,eam,ebm->eab", w, g, g)
        c = block.ids.shape[1]
        i = np.broadcast_to(block.ids[:, :, None], (len(block), c, c))
        free = ~held[i] & ~held[i.swapaxes(1, 2)]
        rows, columns, values = i[free], i.swapaxes(1, 2)[free], blocks[free]
        total = total + scipy.sparse.csc_array((values, (rows, columns)), shape=(size, size))
    unit = float(2.0 ** np.floor(np.log2(total.max()))) if total.max() > 0 else 1.0
    alone = scipy.sparse.diags_array(np.where(held, 1.0, 0.0), format="csc")
    return scipy.sparse.csc_array((total + total.T) * (0.5 / unit) + alone), unit
