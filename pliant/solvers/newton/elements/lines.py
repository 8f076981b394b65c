"""Elements with a single vector: springs, attachments, and bending by a stencil."""

from __future__ import annotations

import numpy as np

from ....laws.curved import FLAT
from .base import Array, Element, Terms, inverse, outer, positive

EYE = np.eye(3)


class Distance(Element):
    """``C = |xi - xj| - L``; see :mod:`pliant.laws.distance`."""

    def shape_matrix(self) -> Array:
        return np.broadcast_to(np.array([[1.0], [-1.0]]), (len(self.ids), 2, 1))

    def rows(self, z: Array) -> tuple[Array, Array]:
        d = z[:, 0]
        length = np.linalg.norm(d, axis=1)
        return (length - self.params[:, 0])[:, None], (inverse(length)[:, None] * d)[:, None]

    def curvature(self, z: Array, pull: Array) -> Array:
        d = z[:, 0]
        length = np.linalg.norm(d, axis=1)
        n = inverse(length)[:, None] * d
        return (pull[:, 0] * inverse(length))[:, None, None] * (EYE - outer(n, n))


class Linear(Element):
    """Three rows that are the vector itself."""

    def rows(self, z: Array) -> tuple[Array, Array]:
        return z[:, 0], np.broadcast_to(EYE, (len(z), 3, 3))

    def curvature(self, z: Array, pull: Array) -> float:
        return 0.0


class Attachment(Linear):
    """``C = x - target``; corners count from the target."""

    def shape_matrix(self) -> Array:
        return np.ones((len(self.ids), 1, 1))


class Isometric(Linear):
    """``C = sum K_i x_i``; see :func:`pliant.laws.bending.isometric`.

    What is damped is the signed length ``c = +-|C|`` of the sum, as in XPBD: ``gamma (c - c_n)^2/(2 alpha)``.
    """

    may_be_rigid = False

    def shape_matrix(self) -> Array:
        return self.params[:, :4, None]

    def see(self, z: Array, p: Array) -> None:
        """The side to which each hinge is bent, from its mean normal."""
        if self.damped:
            height, _ = side(z[:, 0], p)
            self.sign = np.where(height < 0, -1.0, 1.0)

    def remember(self, before: Array) -> None:
        self.c_before = np.zeros_like(self.k)
        if self.damped:
            z = self.vectors(before)
            self.see(z, before)
            self.bend_before = self.sign * np.linalg.norm(z[:, 0], axis=1)

    def late(self, z: Array) -> tuple[Array, Array, Array, Array]:
        """c - c_n, the unit vector along the sum, its sign and one over its length."""
        size = np.linalg.norm(z[:, 0], axis=1)
        over = inverse(size)
        return self.sign * size - self.bend_before, (self.sign * over)[:, None] * z[:, 0], self.sign, over

    def terms(self, z: Array, order: int, projected: bool) -> Terms:
        k = self.k[:, 0]
        energy, gradient = 0.5 * k * np.einsum("ei,ei->e", z[:, 0], z[:, 0]), k[:, None] * z[:, 0]
        h = None
        if order == 2:
            h = k[:, None, None] * EYE
        if self.damped:
            late, n, sign, over = self.late(z)
            drag = k * self.gamma[:, 0]
            energy = energy + 0.5 * drag * late * late
            gradient = gradient + (drag * late)[:, None] * n
            if h is not None:
                turn = (late * sign * over)[:, None, None] * (EYE - outer(n, n))
                h = h + drag[:, None, None] * (outer(n, n) + turn)
                h = positive(h) if projected else h
        return Terms(energy, gradient, h)

    def forces(self, z: Array) -> Array:
        return self.terms(z, 1, False).gradient


def side(v: Array, p: Array) -> tuple[Array, Array]:
    """On which side of a hinge's mean normal v (E, 3) is, and that normal times an area (E, 3)."""
    m = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 3])
    return np.einsum("ei,ei->e", v, m), m


class Curved(Element):
    """``C = +-|sum K_i x_i| - r``; see :mod:`pliant.laws.curved`."""

    def shape_matrix(self) -> Array:
        return self.params[:, :4, None]

    def see(self, z: Array, p: Array) -> None:
        """The side of each hinge, from its mean normal."""
        v = z[:, 0]
        height, m = side(v, p)
        area = np.linalg.norm(m, axis=1)
        size, rest = np.linalg.norm(v, axis=1), np.abs(self.params[:, 4])
        self.sign = np.where(height < 0, -1.0, 1.0)
        self.flat = (FLAT * size <= rest) | ((height == 0) & (size < rest) & (area > 0))
        self.normal = inverse(area)[:, None] * m

    def rows(self, z: Array) -> tuple[Array, Array]:
        size = np.linalg.norm(z[:, 0], axis=1)
        along = (self.sign * inverse(size))[:, None] * z[:, 0]
        n = np.where(self.flat[:, None], self.normal, along)
        return (self.sign * size - self.params[:, 4])[:, None], n[:, None]

    def curvature(self, z: Array, pull: Array) -> Array:
        size = np.linalg.norm(z[:, 0], axis=1)
        n = inverse(size)[:, None] * z[:, 0]
        bend = np.where(self.flat, 0.0, self.sign * inverse(size) * pull[:, 0])
        return bend[:, None, None] * (EYE - outer(n, n))
