"""Gas in a closed shell: isothermal, ``p V = amount``, with the potential ``-amount log V + ambient V``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...laws.pressure import LEAST_VOLUME
from ...model import Model
from .elements.base import Array, positive
from .elements.solids import cofactor, determinant_curvature


class GasTerms(NamedTuple):
    """energy [J]; gradient (F, 3, 3) at the corners of each face [N]; blocks (F, 9, 9) of the Hessian, and
    what the whole shell adds to it, ``stiffness slope slope^T`` with the slope (F, 3, 3) of the volume by
    each face's corners; slack [J] and noise (F, 3) [N]: the size of the numbers that were added up."""

    energy: float
    gradient: Array
    blocks: Array | None
    stiffness: float
    slope: Array
    slack: float
    noise: Array


class Gas:
    """One of a model's gases; ids (F, 3) are the faces of its shell, wound outwards.

    The volume is a sum over faces of ``x_i . (x_j x x_k)/6`` from an origin that stays in a substep. Below
    ``LEAST_VOLUME`` of what the gas was set at, its pressure stays what it is there, as in XPBD.
    """

    def __init__(self, model: Model, row: int) -> None:
        assert model.faces is not None
        self.row = row
        self.inside = model.pressures[row]
        self.ids = np.asarray(model.faces.ids[model.faces.pressure_of == row], np.int64)

    def begin(self, overpressure: float) -> None:
        """Start a substep with this overpressure at the gas's own volume [Pa]."""
        self.amount = self.inside.volume * (overpressure + self.inside.ambient)

    def place(self, base: Array) -> None:
        """Count corners from the middle of the shell."""
        corners = base[self.ids]
        self.corners = corners - corners.mean(axis=(0, 1))

    def pressure(self, volume: float) -> float:
        """p [Pa], over nothing."""
        return self.amount / max(volume, LEAST_VOLUME * self.inside.volume)

    def potential(self, volume: float) -> float:
        """U [J], zero where the gas was set."""
        least = LEAST_VOLUME * self.inside.volume
        out = -self.amount * np.log(max(volume, least) / self.inside.volume)
        out += self.inside.ambient * (volume - self.inside.volume)
        return float(out - self.amount / least * min(volume - least, 0.0))

    def terms(self, way: Array, order: int, projected: bool) -> GasTerms:
        """Energy and derivatives where the particles have gone this way (N, 3) from the base."""
        z = self.corners + way[self.ids]
        slope = (cofactor(z) / 6).reshape(z.shape)
        cones = np.einsum("fi,fi->f", z[:, 0], slope[:, 0])
        volume = float(np.sum(cones))
        p = self.pressure(volume)
        over = p - self.inside.ambient
        blocks = None
        if order == 2:
            blocks = (-over / 6) * determinant_curvature(z)
            blocks = positive(blocks) if projected else blocks
        least = LEAST_VOLUME * self.inside.volume
        stiffness = self.amount / volume**2 if volume > least else 0.0
        slack = p * float(np.sum(np.abs(cones)))
        noise = p * np.linalg.norm(slope, axis=2)
        return GasTerms(self.potential(volume), -over * slope, blocks, stiffness, slope, slack, noise)


def gases_of(model: Model) -> list[Gas]:
    """The gases of a model."""
    return [Gas(model, row) for row, p in enumerate(model.pressures) if p.gas]
