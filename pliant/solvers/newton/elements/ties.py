"""Ties of a point to a place on, or over, a triangle; see :mod:`pliant.laws.tie`."""

from __future__ import annotations

import numpy as np

from .base import Array, Element, inverse, outer, skew

EYE = np.eye(3)


class Tie(Element):
    """``C = x - (b1 y1 + b2 y2 + b3 y3 + gap n)``; vectors: x, y2 and y3 from y1."""

    def shape_matrix(self) -> Array:
        s = np.zeros((4, 3))
        s[1] = -1
        s[[0, 2, 3], [0, 1, 2]] = 1
        return np.broadcast_to(s, (len(self.ids), 4, 3))

    def normal(self, z: Array) -> tuple[Array, Array, Array]:
        """N = p x q, 1/|N|, n."""
        n = np.cross(z[:, 1], z[:, 2])
        over = inverse(np.linalg.norm(n, axis=1))
        return n, over, over[:, None] * n

    def by_sides(self, z: Array) -> Array:
        """dN (E, 3, 6) by both sides."""
        return np.concatenate([-skew(z[:, 2]), skew(z[:, 1])], axis=2)

    def rows(self, z: Array) -> tuple[Array, Array]:
        b, gap = self.params[:, 1:3], self.params[:, 3:4]
        _, over, n = self.normal(z)
        c = z[:, 0] - b[:, :1] * z[:, 1] - b[:, 1:] * z[:, 2] - gap * n
        turn = over[:, None, None] * (EYE - outer(n, n))
        j = np.zeros((len(z), 3, 9))
        j[:, :, 0:3] = EYE
        j[:, :, 3:6] = -b[:, 0, None, None] * EYE
        j[:, :, 6:9] = -b[:, 1, None, None] * EYE
        j[:, :, 3:9] -= gap[:, :, None] * np.matmul(turn, self.by_sides(z))
        return c, j

    def curvature(self, z: Array, pull: Array) -> Array:
        """Of ``-gap n . pull``: by N, then N's own, which is bilinear in the sides."""
        _, over, n = self.normal(z)
        f = -self.params[:, 3:4] * pull
        along = np.einsum("ei,ei->e", f, n)
        square = (over * over)[:, None, None]
        by_n = square * (
            3 * along[:, None, None] * outer(n, n) - outer(f, n) - outer(n, f) - along[:, None, None] * EYE
        )
        sides = self.by_sides(z)
        h = np.zeros((len(z), 9, 9))
        h[:, 3:, 3:] = np.matmul(sides.transpose(0, 2, 1), np.matmul(by_n, sides))
        g = skew(over[:, None] * (f - along[:, None] * n))
        h[:, 3:6, 6:9] -= g  # g . (dp x dq) = dp . (dq x g)
        h[:, 6:9, 3:6] += g
        return h
