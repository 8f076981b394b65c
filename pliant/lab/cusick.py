"""Experiment: the drape test of Cusick. A round specimen over a smaller disc, its shadow and its folds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..diagnostics.drape import drape_coefficient, shadow_area
from ..geometry import shapes
from ..geometry.mesh import TriMesh
from ..materials import Fabric
from ..scene import Scene
from ..simulation import Simulation
from ..solvers.xpbd.solver import XPBD
from .textile import G

Array = np.ndarray

DISC, SPECIMEN = 0.09, 0.15
"""Radii [m] of the disc and of the specimen: BS 5058, ISO 9073-9."""


LOWERED = 2.0
"""The specimen is let down over one part in so many of the time."""


@dataclass(frozen=True)
class Drape:
    """A specimen at rest: mesh, positions (N, 3) [m], drape coefficient [%], folds, profile of the rim.

    profile (A,): how far the shadow's rim is from the axis [m] at A angles from 0 to 2 pi; speed: the fastest
    particle's [m/s], what is left of the motion.
    """

    mesh: TriMesh
    x: Array
    coefficient: float
    folds: int
    profile: Array
    speed: float


def drape(
    fabric: Fabric, edge: float = 0.008, substeps: int = 40, seconds: float = 4.0, specimen: float = SPECIMEN
) -> Drape:
    """Let the overhang fall from flat, in air that takes its motion, until it is at rest.

    Only the overhang is simulated; what lies between the discs holds it, level, half an element inside its
    second ring of vertices. Nothing keeps folds from crossing one another. A ripple of a hundredth of an
    edge, the same for all, lets it choose where to fold.
    """
    rings = max(3, round((specimen - DISC) / (edge * np.sqrt(0.75))))
    width = (specimen - DISC) / (rings + 0.5)
    mesh = shapes.annulus(DISC - 0.5 * width, specimen, width / np.sqrt(0.75))
    x = mesh.vertices
    r = np.linalg.norm(x[:, :2], axis=1)
    held = np.flatnonzero(r < DISC + 0.75 * width)
    scene = Scene(air_drag=3.0)
    cloth = scene.add_cloth(mesh, fabric, pins=held)
    sim = Simulation(scene, XPBD(substeps), dt=1 / 60)
    start = sim.x[0].copy()
    ripple = np.random.default_rng(0).standard_normal(len(x))
    start[:, 2] += 0.01 * width * ripple * (r > DISC + 0.75 * width)
    sim.state.set_x(start)
    steps = round(60 * seconds)
    for k in range(steps):
        sim.set(gravity=(0, 0, -G * min(1.0, LOWERED * (k + 1) / steps)))
        sim.step()
    end = cloth.x[0].copy()
    inner = np.pi * (DISC - 0.5 * width) ** 2  # the hole of the mesh
    shadow = shadow_area(end, mesh.triangles, 600) + inner
    coefficient = 100 * drape_coefficient(shadow, np.pi * DISC**2, np.pi * specimen**2)
    profile = rim(end[r > specimen * (1 - 1e-6)])
    return Drape(mesh, end, coefficient, folds(profile), profile, float(np.abs(sim.state.v).max()))


def rim(x: Array, angles: int = 360) -> Array:
    """Distance from the axis (angles,) [m] of a closed line of points (n, 3) around it."""
    a = np.arctan2(x[:, 1], x[:, 0])
    order = np.argsort(a)
    t = np.linspace(-np.pi, np.pi, angles, endpoint=False)
    return np.interp(t, a[order], np.linalg.norm(x[order, :2], axis=1), period=2 * np.pi)


def folds(profile: Array) -> int:
    """How many waves a rim has: rises through its mean and back, by more than a tenth of its largest
    swing."""
    off = profile - profile.mean()
    room = 0.1 * float(np.abs(off).max())
    state, count = 0, 0
    for value in np.concatenate([off, off[: len(off) // 8]]) if room > 0 else []:
        if value > room and state <= 0:
            count, state = count + (state < 0), 1
        elif value < -room:
            state = -1
    return count
