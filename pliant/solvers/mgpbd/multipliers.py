"""Multipliers of their own: what bends the Hessian is lambda, not the force that the positions stand for.

Newton's Hessian of an element is ``k grad C grad C^T + (dU/dC) Hess C``. Its second part is as large as
the strain of the moment, which in a stiff body far from equilibrium is nothing like that of the answer. Here
it is ``y Hess C`` with a pull y that is an unknown beside x, updated by its linearised equation
``y = dU/dC at C + grad C . dx`` and by the same share of the step as x. Both equations are solved at the
answer, where ``y = -lambda/h^2`` is the force of the row. Negative curvature is cut away, so that a step
always goes downhill.

Sources: C. Li and others, MGPBD (2025) for lambda as an unknown of a global system; Andrews, Teichmann,
Kry, Geometric stiffness for real-time constrained multibody dynamics (2017), for its part in the Hessian.
"""

from __future__ import annotations

import numpy as np

from ..newton.elements.base import Array, Element, Terms, inverse, outer, positive

EYE = np.eye(3)


class Multipliers:
    """Elements of one law with pulls of their own, in every world.

    kept (W, E, ...): the pulls, which stay from step to step: they are only as old as the last iteration.
    """

    def __init__(self, element: Element, worlds: int) -> None:
        self.element = element
        self.kept = np.zeros((worlds, len(element.ids), *self.shape()))
        self.aim = self.kept[0]
        self.select(0)

    def shape(self) -> tuple[int, ...]:
        """Of an element's pull."""
        raise NotImplementedError

    def select(self, world: int) -> None:
        """Work in this world from now on."""
        self.pull = self.kept[world]

    def terms(self, z: Array, order: int) -> Terms:
        """Energy and gradient of the element; of order 2, a positive semidefinite Hessian by the pull."""
        raise NotImplementedError

    def linearise(self, dz: Array) -> None:
        """What the pulls would be where the vectors have gone by dz, to first order."""
        raise NotImplementedError

    def follow(self, share: float) -> None:
        """Go this share of the way there."""
        self.pull += share * (self.aim - self.pull)


class Rows(Multipliers):
    """A law of rows: one pull each."""

    def shape(self) -> tuple[int, ...]:
        return self.element.block.compliance.shape[1:]

    def terms(self, z: Array, order: int) -> Terms:
        e = self.element
        if order < 2:
            return e.terms(z, order, False)
        self.c, self.j = e.rows(z)
        energy, pull, stiff = e.response(self.c)
        gradient = np.einsum("er,ern->en", pull, self.j)
        stiffness = np.einsum("er,ern,ern->e", stiff, self.j, self.j)
        return Terms(energy.sum(axis=1), gradient, stiffness, self.hessian(z, stiff))

    def hessian(self, z: Array, stiff: Array) -> Array:
        """(E, n, n)."""
        rows = np.matmul((self.j * stiff[:, :, None]).transpose(0, 2, 1), self.j)
        return positive(rows + self.element.curvature(z, self.pull))

    def linearise(self, dz: Array) -> None:
        change = np.einsum("ern,en->er", self.j, dz.reshape(len(dz), -1))
        self.aim = self.element.response(self.c + change)[1]


class Springs(Rows):
    """``k n n^T + y/l (I - n n^T)`` with y/l between 0, as compression buckles, and k."""

    def hessian(self, z: Array, stiff: Array) -> Array:
        n = self.j[:, 0]
        turn = self.pull[:, 0] * inverse(np.linalg.norm(z[:, 0], axis=1))
        turn = np.clip(turn, 0.0, stiff[:, 0])
        return turn[:, None, None] * EYE + (stiff[:, 0] - turn)[:, None, None] * outer(n, n)
