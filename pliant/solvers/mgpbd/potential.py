"""The incremental potential with multipliers of its own in the Hessian, and a factor whose places stay."""

from __future__ import annotations

import numpy as np

from ...errors import SolverError
from ...linear.cholesky import Cholesky
from ...linear.ordering import best_ordering
from ...model import Model
from ..newton.elements import Element
from ..newton.elements.base import Array, Terms
from ..newton.elements.hinges import DampedIsometric
from ..newton.minimize import Value
from ..newton.objective import Incremental
from ..newton.pattern import Factor, Pattern
from .multipliers import Multipliers, Rows, Springs
from .stresses import PRINCIPAL, Stresses

PLAIN = ("isometric", "attachment", "strain_limit")
"""Laws whose Hessian needs no multiplier: linear rows, and one that has a multiplier already."""


def multipliers_of(element: Element, worlds: int) -> Multipliers | None:
    """The multipliers of a law; None where it needs none."""
    law = element.block.law
    if law in PLAIN or isinstance(element, DampedIsometric):
        return None
    if law in PRINCIPAL:
        return Stresses(element, worlds)
    return Springs(element, worlds) if law == "distance" else Rows(element, worlds)


class Direct:
    """A Cholesky factor whose order and blocks are found once; later only numbers change."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.factor: Cholesky | None = None

    def prepare(self, data: Array) -> Direct:
        """Take the numbers of a matrix. Raises SolverError where it is not positive definite.

        They are divided by a power of two first: the square roots of a factor would tell units apart.
        """
        self.exponent = int(np.frexp(np.abs(data).max())[1])
        matrix = self.pattern.matrix(np.ldexp(data, -self.exponent))
        if self.factor is None:
            by_particle = matrix[::3, ::3].tocsc()
            by_particle.sort_indices()
            order = best_ordering(by_particle.indptr, by_particle.indices).order
            self.factor = Cholesky(matrix, (3 * order[:, None] + np.arange(3)).ravel())
        else:
            self.factor.refactor(matrix)
        return self

    def solve(self, b: Array) -> Array:
        """x (n,) or (n, k)."""
        assert self.factor is not None
        return np.ldexp(self.factor.solve(b), -self.exponent)


class Potential(Incremental):
    """E(d), as :class:`Incremental` has it, whose Hessian bends with the multipliers."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        found = ((law, multipliers_of(e, model.n_worlds)) for law, e in self.elements.items())
        self.multipliers = {law: m for law, m in found if m is not None}
        self.linear = Direct(self.pattern)

    def select(self, world: int) -> None:
        """Work in this world from now on."""
        for m in self.multipliers.values():
            m.select(world)

    def terms(self, law: str, z: Array, order: int, projected: bool) -> Terms:
        if order == 2 and law in self.multipliers:
            return self.multipliers[law].terms(z)
        return super().terms(law, z, order, projected)

    def expand(self, d: Array) -> Value:
        """The potential at d to second order."""
        return self.value(d, hessian=True, projected=True)

    def downhill(self, value: Value) -> Array | None:
        """The Newton step from there; None where the Hessian is singular."""
        try:
            self.factored = Factor(self.linear.prepare(self.matrix(value)), value.columns)
        except SolverError:
            return None
        return -self.factored.solve(value.gradient)

    def linearise(self, step: Array) -> None:
        """Aim all multipliers at what they would be after a whole step."""
        way = self.way(step)
        for m in self.multipliers.values():
            e = m.element
            m.linearise(e.vectors(way[e.ids]))

    def follow(self, share: float) -> None:
        """Let all multipliers go the same share of the way as the positions."""
        for m in self.multipliers.values():
            m.follow(share)

    def accelerates(self, gradient: Array) -> float:
        """How far the force that is left would carry the particle that it carries furthest, in a step [m]."""
        return float(np.abs(gradient / self.inertia).max(initial=0.0))
