"""What all elements share: energies, gradients and Hessians of every constraint of a law at once.

An element sees its particles through a few vectors ``z_a = sum_c S_ca x_c``: the columns of a deformation
gradient, the sides of a hinge, the difference of two ends. All laws but attachments are unmoved by a
translation, so positions count from an origin of each element's own and nothing far away is rounded.

Arrays: E elements, c corners, m vectors, r rows; ``n = 3 m``, vectors one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....model import Block

Array = np.ndarray


ABSENT = 1e-100
"""A penalty that holds nothing."""


@dataclass
class Terms:
    """Energy (E,) [J], gradient (E, n) and Hessian (E, n, n) with respect to an element's vectors.

    stiffness (E,): the size of the Hessian's part that comes from the stiffness of the rows. It tells how
    rounding of the vectors shows in the gradient; the other part grows without bound where a law has a
    kink, and would call any gradient rounding.
    """

    energy: Array
    gradient: Array
    stiffness: Array
    hessian: Array | None = None


def positive(h: Array) -> Array:
    """The closest positive semidefinite matrices: negative eigenvalues become zero."""
    values, vectors = np.linalg.eigh(h)
    bad = values[:, 0] < 0
    if not bad.any():
        return h
    v = vectors[bad]
    out = h.copy()
    out[bad] = (v * np.maximum(values[bad], 0)[:, None, :]) @ v.transpose(0, 2, 1)
    return out


def skew(v: Array) -> Array:
    """(..., 3, 3) with ``skew(v) w = v x w``."""
    out = np.zeros((*v.shape, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = v[..., 2], -v[..., 1], v[..., 0]
    return out


def inverse(x: Array) -> Array:
    """1/x where x > 0, else 0."""
    return np.divide(1.0, x, out=np.zeros_like(x), where=x > 0)


def outer(a: Array, b: Array) -> Array:
    """(E, n, n) of (E, n) and (E, n)."""
    return a[:, :, None] * b[:, None, :]


class Element:
    """The constraints of one law in one world.

    A law gives :meth:`rows` and :meth:`curvature`; those whose energy is no plain sum of rows override
    :meth:`terms` and :meth:`forces`. ``gamma = tau/h`` is the damping of the substep: a row's energy is
    ``(C^2 + gamma (C - C_n)^2)/(2 alpha)`` with C_n from its start, so that its force is what XPBD's damped
    row tends to.

    A rigid row (alpha = 0) has a multiplier and a penalty instead (augmented Lagrangian): ``y C +
    kappa C^2/2``, and ``(max(0, y + kappa C)^2 - y^2)/(2 kappa)`` for an inequality C <= 0.
    """

    one_sided = False
    may_be_rigid = True

    def __init__(self, block: Block) -> None:
        self.block = block
        self.ids = np.asarray(block.ids, np.int64)
        self.params = block.params
        self.shape = self.shape_matrix()
        self.size = np.ones(len(self.ids))
        self.rigid = block.compliance == 0
        self.any_rigid = bool(self.rigid.any())
        self.y = np.zeros(block.compliance.shape)
        self.kappa = np.full_like(self.y, ABSENT)

    # --- what a law says ---

    def shape_matrix(self) -> Array:
        """S (E, c, m)."""
        raise NotImplementedError

    def rows(self, z: Array) -> tuple[Array, Array]:
        """C (E, r) and its gradient (E, r, n) at vectors z (E, m, 3)."""
        raise NotImplementedError

    def curvature(self, z: Array, pull: Array) -> Array | float:
        """sum over rows of pull (E, r) times the Hessian of C: (E, n, n), or 0 for a linear law."""
        raise NotImplementedError

    def see(self, z: Array, p: Array) -> None:
        """Look at the corners p (E, c, 3) as well; for laws that need more than their vectors."""

    # --- a substep ---

    def begin(self, before: Array, alpha: Array, gamma: Array) -> None:
        """Start a substep: corners then (E, c, 3), compliance in this world (E, r), tau/h (E,)."""
        soft = (alpha > 0) & np.isfinite(alpha)
        self.k = np.divide(1.0, alpha, out=np.zeros_like(alpha), where=soft)
        self.gamma = gamma[:, None]
        self.damped = bool(np.any(gamma > 0))
        self.y[:] = 0
        self.kappa = np.full_like(self.y, ABSENT)  # until :meth:`stiffen`
        self.remember(before)

    def remember(self, before: Array) -> None:
        """Keep what damping needs of the start of the substep."""
        z = self.vectors(before)
        self.see(z, before)
        self.c_before = self.rows(z)[0] if self.damped else np.zeros_like(self.k)

    def vectors(self, p: Array) -> Array:
        """z (E, m, 3) of corners (E, c, 3)."""
        return np.matmul(self.shape.transpose(0, 2, 1), p)

    def measure(self, p: Array) -> None:
        """How large the numbers are that an element's vectors are summed from."""
        reach = np.matmul(np.abs(self.shape).transpose(0, 2, 1), np.abs(p))
        self.size = np.linalg.norm(reach, axis=(1, 2))

    # --- energies ---

    def response(self, c: Array) -> tuple[Array, Array, Array]:
        """Energy, pull dU/dC and d2U/dC2 of each row (E, r)."""
        late = c - self.c_before
        energy = 0.5 * self.k * (c * c + self.gamma * late * late)
        pull = self.k * (c + self.gamma * late)
        stiff = self.k * (1 + self.gamma)
        if self.any_rigid:
            push = self.y + self.kappa * c
            if self.one_sided:
                push = np.maximum(push, 0.0)
                held = (push * push - self.y * self.y) / (2 * self.kappa)
                hard = np.where(push > 0, self.kappa, 0.0)
            else:
                held = c * (self.y + 0.5 * self.kappa * c)
                hard = self.kappa
            energy = np.where(self.rigid, held, energy)
            pull = np.where(self.rigid, push, pull)
            stiff = np.where(self.rigid, hard, stiff)
        return energy, pull, stiff

    def terms(self, z: Array, order: int, projected: bool) -> Terms:
        """Energy, and from order 1 and 2 on gradient and Hessian."""
        c, j = self.rows(z)
        energy, pull, stiff = self.response(c)
        gradient = np.einsum("er,ern->en", pull, j)
        h = None
        if order == 2:
            h = np.matmul((j * stiff[:, :, None]).transpose(0, 2, 1), j) + self.curvature(z, pull)
            h = positive(h) if projected else h
        stiffness = np.einsum("er,ern,ern->e", stiff, j, j)
        return Terms(energy.sum(axis=1), gradient, stiffness, h)

    def forces(self, z: Array) -> Array:
        """dU/dC of each row (E, r): minus lambda/h^2."""
        return self.response(self.rows(z)[0])[1]

    # --- rigid rows ---

    def stiffen(self, weight: Array, p: Array) -> None:
        """Choose penalties: so many times what holds the particles without the row.

        weight (E, c) [m/N]: how far a unit of force moves a corner.
        """
        if self.any_rigid:
            z = self.vectors(p)
            j = self.rows(z)[1].reshape(len(z), -1, *z.shape[1:])
            at_corners = np.einsum("ecm,ermi->erci", self.shape, j)
            soft = np.einsum("erci,erci,ec->er", at_corners, at_corners, weight)
            self.kappa = 100.0 / np.maximum(soft, np.finfo(float).tiny ** 0.5)

    def violation(self, z: Array) -> Array:
        """How far rigid rows are off (E, r), over the size of the element's vectors."""
        c = self.rows(z)[0]
        if self.one_sided:
            c = np.maximum(c, -self.y / self.kappa)
        return np.where(self.rigid, np.abs(c), 0.0) * inverse(self.size)[:, None]

    def harden(self, z: Array, factor: float) -> None:
        """Multipliers take over what penalties carry; penalties grow by a factor."""
        c = self.rows(z)[0]
        y = self.y + self.kappa * c
        self.y = np.where(self.rigid, np.maximum(y, 0.0) if self.one_sided else y, 0.0)
        self.kappa = self.kappa * factor
