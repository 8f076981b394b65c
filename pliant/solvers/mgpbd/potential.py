"""The incremental potential with multipliers of its own in the Hessian, and what solves its systems."""

from __future__ import annotations

import numpy as np

from ...errors import SolverError
from ...model import Model
from ..newton.elements import Element
from ..newton.elements.base import Array, Terms
from ..newton.elements.hinges import DampedIsometric
from ..newton.minimize import Value
from ..newton.objective import Incremental
from ..newton.pattern import Factor
from .linear import Direct, Multigrid
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


class Potential(Incremental):
    """E(d), as :class:`Incremental` has it, whose Hessian bends with the multipliers."""

    def __init__(self, model: Model, linear: str = "direct") -> None:
        super().__init__(model)
        found = ((law, multipliers_of(e, model.n_worlds)) for law, e in self.elements.items())
        self.multipliers = {law: m for law, m in found if m is not None}
        self.linear: Direct | Multigrid = Direct(self.pattern)
        if linear == "multigrid":
            self.linear = Multigrid(self.pattern, *self.at_rest())

    def at_rest(self) -> tuple[Array, Array]:
        """Numbers of the elements' matrix at the start, without inertia, and the free particles' places."""
        model = self.model
        held = model.attachment_targets
        if "attachment" in self.elements:
            held = held[model.blocks["attachment"].file_order]
        pressure = np.array([p.pressure for p in model.pressures])
        if self.obstacles is not None:
            self.obstacles.move(model.control(), 1)
        self.begin(model.x_rest, 1.0, dict.fromkeys(self.elements, 1.0), (held, held), pressure, 0)
        self.place(model.x_rest, np.zeros_like(model.x_rest))
        value = self.expand(np.zeros(self.n))
        return self.pattern.assemble([*value.blocks, value.own]), model.x_rest[self.free]

    def select(self, world: int) -> None:
        """Work in this world from now on."""
        for m in self.multipliers.values():
            m.select(world)

    def terms(self, law: str, z: Array, order: int, projected: bool) -> Terms:
        if law in self.multipliers:
            return self.multipliers[law].terms(z, order)
        return super().terms(law, z, order, projected)

    def expand(self, d: Array) -> Value:
        """The potential at d to second order."""
        return self.value(d, hessian=True, projected=True)

    def downhill(self, value: Value) -> Array | None:
        """The Newton step from there; None where the Hessian is singular."""
        try:
            ready = self.linear.prepare(self.matrix(value), self.places(value.d))
            self.factored = Factor(ready, value.columns)
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

    def restart(self) -> None:
        """Take the multipliers of the positions that were last expanded."""
        self.linearise(np.zeros(self.n))
        self.follow(1.0)
