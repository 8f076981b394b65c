"""Elements with a single vector: springs, attachments, and bending by a stencil."""

from __future__ import annotations

import numpy as np

from ....laws.curved import FLAT
from .base import Array, Element, inverse, outer

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
    """``C = sum K_i x_i``; see :func:`pliant.laws.bending.isometric`."""

    may_be_rigid = False

    def shape_matrix(self) -> Array:
        return self.params[:, :4, None]


class Curved(Element):
    """``C = +-|sum K_i x_i| - r``; see :mod:`pliant.laws.curved`."""

    def shape_matrix(self) -> Array:
        return self.params[:, :4, None]

    def see(self, z: Array, p: Array) -> None:
        """The side of each hinge, from its mean normal."""
        v = z[:, 0]
        m = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 3])
        height, area = np.einsum("ei,ei->e", v, m), np.linalg.norm(m, axis=1)
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
