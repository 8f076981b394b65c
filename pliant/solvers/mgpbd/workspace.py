"""What MGPBD holds for a model: the potential with its multipliers, which outlive a step."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...errors import PliantError
from ...model import Model
from ...state import world_ids
from ..newton.elements.base import Array
from ..newton.minimize import Outcome, constrained
from ..newton.workspace import RIGID
from ..newton.workspace import Workspace as NewtonWorkspace
from .descent import minimize
from .potential import Potential


class Workspace(NewtonWorkspace):
    """Made by ``solver.init``. Remembers the multipliers of every world: a warm start, never an answer.

    falls: how far the energy had fallen after each iteration of a world's last substep [J].
    """

    solver = "MGPBD"
    objective: Potential

    def __init__(self, model: Model, polish: int, linear: str = "direct") -> None:
        self.linear = linear
        super().__init__(model)
        self.inner = partial(minimize, polish=polish)
        self.falls: dict[int, tuple[float, ...]] = {}

    def potential(self, model: Model) -> Potential:
        return Potential(model, self.linear)

    def minimize(self, world: int, start: float, tolerance: float, most: int) -> Outcome:
        self.objective.select(world)
        self.objective.linear.begin()
        nowhere = np.zeros(self.objective.n)
        outcome = constrained(self.objective, nowhere, start, tolerance, most, RIGID, self.inner)
        self.falls[world] = outcome.falls
        return outcome

    def reset(self, worlds: Any = None) -> None:
        """Forget the multipliers of some worlds (default: all)."""
        ids = world_ids(worlds, self.model)
        for m in self.objective.multipliers.values():
            m.kept[ids] = 0.0

    def arrays(self) -> dict[str, Array]:
        """What a snapshot must hold."""
        return {f"pull_{law}": m.kept.copy() for law, m in self.objective.multipliers.items()}

    def restore(self, arrays: dict[str, Array]) -> None:
        """Back from :meth:`arrays`. Raises PliantError where something lacks or does not fit."""
        for law, m in self.objective.multipliers.items():
            saved = arrays.get(f"pull_{law}")
            if saved is None or saved.shape != m.kept.shape:
                raise PliantError(
                    f'snapshot: the multipliers of law "{law}" are missing or of another shape; it was made '
                    "by another solver or belongs to another scene"
                )
            m.kept[...] = saved
