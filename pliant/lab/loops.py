"""Loops of a strip whose ends share one clamp: the heart and the pear, under Newton.

Without weight their heights depend on the length alone, not on the rigidity; with it, the heart's tells the
bending length (Peirce 1930).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from ..geometry import shapes
from ..materials import Fabric
from ..scene import Scene
from ..simulation import Simulation
from ..solvers.newton.solver import Newton
from .specimens import FOREVER, settled, stiff_ribs

Array = np.ndarray

HEIGHT = {"heart": 0.13386, "pear": 0.42431}
"""From the clamp to the lowest point, over the length: closed elastica, both tangents up or both down."""


def first_guess(kind: str, u: Array) -> Array:
    """Angle of the tangent [rad] on one half, u from 0 at the clamp to 1 at the lowest point: a loop that
    closes, its curvature a constant and one sine."""
    start, turn = (0.5 * np.pi, 1.5 * np.pi) if kind == "heart" else (-0.5 * np.pi, 0.5 * np.pi)
    t = np.linspace(0, 1, 2001)

    def across(a: float) -> float:
        return float(np.trapezoid(np.cos(start + turn * t - a * np.sin(np.pi * t)), t))

    tries = np.linspace(-2.0, 2.0, 82)
    ends = np.array([across(a) for a in tries])
    closing = np.flatnonzero(ends[:-1] * ends[1:] <= 0)
    k = closing[np.argmin(np.abs(tries[closing]))]
    a = brentq(across, tries[k], tries[k + 1])
    return start + turn * u - a * np.sin(np.pi * u)


def bending_length(height: float) -> float:
    """Bending length over strip length from a heart loop's height over length, by Peirce's formula.

    ``c = l0 (cos a/tan a)^(1/3)``, a = 32.85 degrees (l - l0)/l0, l0 the height without weight (ASTM D1388,
    option B): approximate.
    """
    l0 = HEIGHT["heart"]
    a = np.radians(32.85) * (height - l0) / l0
    return float(l0 * (np.cos(a) / np.tan(a)) ** (1 / 3))


def loop(kind: str, elements: int = 60, length: float = 0.2, c: float = np.inf) -> float:
    """Height over length of a ``"heart"`` or a ``"pear"``; c: bending length over length, of a strip with
    weight.

    ``elements`` is even; the first and the last are pinned, and the clamp lies half an element inside each.
    """
    rigidity = 1e-5
    spacing = length / (elements - 1)
    mesh = shapes.grid(elements + 1, 2, size=(elements * spacing, spacing))
    x = mesh.vertices
    place = np.rint((x[:, 0] - x[:, 0].min()) / spacing).astype(int)
    middle = np.arange(elements // 2)  # elements of one half, by their middles
    angle = first_guess(kind, np.clip(middle * spacing / (0.5 * length), 0, 1))
    half = np.zeros((elements // 2 + 1, 2))
    half[1:] = np.cumsum(spacing * np.stack([np.cos(angle), np.sin(angle)], axis=1), axis=0)
    half -= 0.5 * (half[0] + half[1])
    curve = np.concatenate([half, half[-2::-1] * [-1, 1]])
    fabric = Fabric(youngs_modulus=1e4 * rigidity / spacing**2 / 5e-4 / 100, poisson_ratio=0.0,
                    bending_rigidity=rigidity)  # fmt: skip
    gravity = rigidity / (c * length) ** 3 / fabric.areal_density
    pins = np.flatnonzero((place < 2) | (place > elements - 2))
    scene = Scene(gravity=(0, 0, -gravity))
    scene.add_cloth(mesh, fabric, pins=pins)
    sim = Simulation.of_model(scene, stiff_ribs(scene.build(1)), Newton(), dt=FOREVER)
    start = np.stack([curve[place, 0], x[:, 1], curve[place, 1]], axis=1)
    sim.state.set_x(start)
    sim.control.set_pins(pins, start[None, pins])
    settled(sim)
    return float(-sim.x[0, :, 2].min() / length)
