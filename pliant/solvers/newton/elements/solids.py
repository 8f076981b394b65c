"""Tetrahedra: ARAP with a trace row, neo-Hookean, volume. Vectors: the columns of F (3 x 3).

Damping of the first two is that of :mod:`pliant.solvers.xpbd.solids`: the shape row's energy plus
``gamma/2 |F - Q F_n|^2`` times its stiffness (twice that of the neo-Hookean row), with Q the closest
rotation from the start of the substep. Q minimises that distance, so its own derivative drops out of the
gradient, which is XPBD's. The trace row of ARAP is damped by ``C - C_n`` where XPBD takes
``tr(R^T Q F_n) - 3`` for ``C_n``, which has no potential: the two differ by a product of strains.
"""

from __future__ import annotations

import numpy as np

from .base import Array, Element, Terms, inverse, outer, positive, skew
from .sheets import frame_matrix

EYE9 = np.eye(9)


def polar(f: Array) -> tuple[Array, Array, Array, Array]:
    """R (E, 3, 3) with det R = 1 closest to f (E, 3, 3), and the singular values: u, s, v^T with signs."""
    u, s, vt = np.linalg.svd(f)
    mirrored = np.linalg.det(u) * np.linalg.det(vt) < 0
    u[mirrored, :, 2] *= -1
    s[mirrored, 2] *= -1
    return np.matmul(u, vt), u, s, vt


def columns(f: Array) -> Array:
    """Matrices (E, 3, 3) as vectors (E, 9), column by column."""
    return f.transpose(0, 2, 1).reshape(len(f), 9)


def turns(u: Array, s: Array, vt: Array) -> tuple[Array, Array]:
    """The three ways (E, 3, 9) in which R turns with F, and the second derivative of tr(R^T F) along each.

    ``U [e_k] V^T``, with 1/(s_i + s_j); none where the sum is not positive.
    """
    ways = np.stack([columns(np.matmul(np.matmul(u, skew(e)), vt)) for e in np.eye(3)], axis=1)
    sums = np.stack([s[:, 1] + s[:, 2], s[:, 2] + s[:, 0], s[:, 0] + s[:, 1]], axis=1)
    return ways, inverse(sums)


def turning(ways: Array, rates: Array) -> Array:
    """Second derivative (E, 9, 9) of tr(R^T F)."""
    return np.matmul((ways * rates[:, :, None]).transpose(0, 2, 1), ways)


class Tetrahedron(Element):
    """A law of the deformation gradient."""

    may_be_rigid = False
    drag = 1.0

    def shape_matrix(self) -> Array:
        return frame_matrix(self.params[:, :9].reshape(-1, 3, 3))

    def remember(self, before: Array) -> None:
        z = self.vectors(before)
        self.before = z.transpose(0, 2, 1)
        self.c_before = np.zeros_like(self.k)
        if self.damped:
            self.c_before[:, -1] = self.last_row(z)

    def last_row(self, z: Array) -> Array:
        """The row that is damped by its change: trace, or volume."""
        raise NotImplementedError

    def dragged(self, z: Array, order: int) -> tuple[Array, Array, Array | float]:
        """``|F - Q F_n|^2/2``, its gradient and its Hessian."""
        f = z.transpose(0, 2, 1)
        q, u, s, vt = polar(np.matmul(f, self.before.transpose(0, 2, 1)))
        away = columns(f - np.matmul(q, self.before))
        h: Array | float = 0.0
        if order == 2:
            ways, rates = turns(u, s, vt)
            ways = np.matmul(ways.reshape(-1, 3, 3, 3).transpose(0, 1, 3, 2), self.before[:, None])
            ways = ways.transpose(0, 1, 3, 2).reshape(-1, 3, 9)
            h = EYE9 - turning(ways, rates)
        return 0.5 * np.einsum("en,en->e", away, away), away, h

    def damp(self, terms: Terms, z: Array, order: int) -> Terms:
        """Add the drag of the shape row."""
        if self.damped:
            weight = self.drag * self.gamma[:, 0] * self.k[:, 0]
            energy, gradient, h = self.dragged(z, order)
            terms.energy = terms.energy + weight * energy
            terms.gradient = terms.gradient + weight[:, None] * gradient
            terms.stiffness = terms.stiffness + weight
            if terms.hessian is not None:
                terms.hessian = terms.hessian + weight[:, None, None] * h
        return terms

    def second(self, c: Array) -> tuple[Array, Array, Array]:
        """Energy, pull and stiffness (E,) of the last row."""
        late = c - self.c_before[:, -1]
        k, gamma = self.k[:, -1], self.gamma[:, 0]
        return 0.5 * k * (c * c + gamma * late * late), k * (c + gamma * late), k * (1 + gamma)


class ArapTet(Tetrahedron):
    """``C = |F - R|`` and ``tr(R^T F) - 3``."""

    def last_row(self, z: Array) -> Array:
        return polar(z.transpose(0, 2, 1))[2].sum(axis=1) - 3

    def terms(self, z: Array, order: int, projected: bool) -> Terms:
        f = z.transpose(0, 2, 1)
        r, u, s, vt = polar(f)
        k = self.k[:, 0]
        away, rotation = columns(f - r), columns(r)
        energy, pull, stiff = self.second(s.sum(axis=1) - 3)
        energy = energy + 0.5 * k * np.einsum("en,en->e", away, away)
        terms = Terms(energy, k[:, None] * away + pull[:, None] * rotation, k + 3 * stiff)
        if order == 2:
            h = (pull - k)[:, None, None] * turning(*turns(u, s, vt)) + k[:, None, None] * EYE9
            terms.hessian = h + stiff[:, None, None] * outer(rotation, rotation)
        terms = self.damp(terms, z, order)
        if projected and terms.hessian is not None:
            terms.hessian = positive(terms.hessian)
        return terms

    def forces(self, z: Array) -> Array:
        f = z.transpose(0, 2, 1)
        r, _, s, _ = polar(f)
        stress = columns(f - r)
        if self.damped:
            stress = stress + self.gamma * self.dragged(z, 1)[1]
        shape = self.k[:, 0] * np.linalg.norm(stress, axis=1)
        return np.stack([shape, self.second(s.sum(axis=1) - 3)[1]], axis=1)


def cofactor(z: Array) -> Array:
    """Gradient of det F (E, 9)."""
    f1, f2, f3 = z[:, 0], z[:, 1], z[:, 2]
    return np.concatenate([np.cross(f2, f3), np.cross(f3, f1), np.cross(f1, f2)], axis=1)


def determinant_curvature(z: Array) -> Array:
    """Second derivative (E, 9, 9) of det F."""
    h = np.zeros((len(z), 9, 9))
    a, b, c = skew(z[:, 0]), skew(z[:, 1]), skew(z[:, 2])
    h[:, 0:3, 3:6], h[:, 0:3, 6:9], h[:, 3:6, 6:9] = -c, b, -a
    h[:, 3:6, 0:3], h[:, 6:9, 0:3], h[:, 6:9, 3:6] = c, -b, a
    return h


def volume_change(z: Array) -> Array:
    """det F - 1 (E,)."""
    return np.einsum("ei,ei->e", z[:, 0], np.cross(z[:, 1], z[:, 2])) - 1


def shape_squared(s: Array) -> Array:
    """``|F|^2 - 4 J + J^2`` from the stretches s (E, 3) less one, so that nothing cancels near rest."""
    a, b, c = (s - 1).T
    pairs, third = a * b + b * c + c * a, a * b * c
    q = a + b + c + pairs + third
    return np.maximum(a * a + b * b + c * c - 2 * (pairs + third) + q * q, 0.0)


class NeoHookean(Tetrahedron):
    """``C = sqrt(|F|^2 - 4 J + J^2)`` and ``J - 1``; see :mod:`pliant.laws.solid`."""

    drag = 2.0

    def last_row(self, z: Array) -> Array:
        return volume_change(z)

    def squared(self, z: Array) -> Array:
        """``|F|^2 - 4 J + J^2``."""
        return shape_squared(polar(z.transpose(0, 2, 1))[2])

    def terms(self, z: Array, order: int, projected: bool) -> Terms:
        k, q, cof = self.k[:, 0], volume_change(z), cofactor(z)
        energy, pull, stiff = self.second(q)
        push = pull + k * (q - 1)
        energy = energy + 0.5 * k * self.squared(z)
        gradient = k[:, None] * z.reshape(len(z), 9) + push[:, None] * cof
        terms = Terms(energy, gradient, k + (stiff + k) * np.einsum("en,en->e", cof, cof))
        if order == 2:
            h = (stiff + k)[:, None, None] * outer(cof, cof) + k[:, None, None] * EYE9
            terms.hessian = h + push[:, None, None] * determinant_curvature(z)
        terms = self.damp(terms, z, order)
        if projected and terms.hessian is not None:
            terms.hessian = positive(terms.hessian)
        return terms

    def forces(self, z: Array) -> Array:
        """As XPBD gives them: of the shape row ``C dU/dC`` is the square of a stress over the compliance."""
        k, pull = self.k[:, 0], self.second(volume_change(z))[1]
        shape = np.sqrt(self.squared(z))
        if self.damped:
            q, cof = volume_change(z), cofactor(z)
            stress = z.reshape(len(z), 9) + (q - 1)[:, None] * cof + 2 * self.gamma * self.dragged(z, 1)[1]
            n = (z.reshape(len(z), 9) + (q - 1)[:, None] * cof) * inverse(shape)[:, None]
            length = np.linalg.norm(n, axis=1)
            length = np.where(length > 0, length, np.sqrt(2.0))
            shape = np.linalg.norm(stress, axis=1) / length
        return np.stack([k * shape, pull], axis=1)


class Volume(Element):
    """``C = det F - 1``."""

    def shape_matrix(self) -> Array:
        return frame_matrix(self.params[:, :9].reshape(-1, 3, 3))

    def rows(self, z: Array) -> tuple[Array, Array]:
        return volume_change(z)[:, None], cofactor(z)[:, None]

    def curvature(self, z: Array, pull: Array) -> Array:
        return pull[:, :, None] * determinant_curvature(z)
