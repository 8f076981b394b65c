"""pypbd: the Python bindings of PositionBasedDynamics (Bender et al.), double precision, OpenMP.

Its XPBD distance constraint is Pliant's (compliance 1/(k h^2), multipliers reset in each substep, no
damping). Its XPBD isometric bending takes the energy of Bergou et al. as *the constraint*, U = k C^2 / 2
with C = 3/4 |Kx|^2 / A: as many constraints of as many vertices, but quartic in the curvature. k is chosen
so that both energies agree at a curvature of 10 per metre.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..contestants import Contestant
from ..workloads import Bar, Cloth

Array = np.ndarray

CURVATURE = 10.0
DISTANCE_XPBD, ISOMETRIC_XPBD, FEM_XPBD = 4, 3, 3  # the numbers of its constraint types


class Scene:
    """One model in the library's one simulation, y up; substeps of one sweep, no velocity sweeps."""

    def __init__(self, dt: float, substeps: int) -> None:
        import pypbd

        self.sim = pypbd.Simulation.getCurrent()
        self.sim.initDefault()
        self.model = self.sim.getModel()
        self.stepper = self.sim.getTimeStep()
        keys = pypbd.TimeStepController
        self.stepper.setValueUInt(keys.NUM_SUB_STEPS, substeps)
        self.stepper.setValueUInt(keys.MAX_ITERATIONS, 1)
        self.stepper.setValueUInt(keys.MAX_ITERATIONS_V, 0)
        pypbd.TimeManager.getCurrent().setTimeStepSize(dt)

    def set_masses(self, mass: Array, held: Any) -> None:
        """Masses (N,) of all particles; held ones get none, which fixes them."""
        masses = mass.copy()
        masses[held] = 0.0
        particles = self.model.getParticles()
        for k, m in enumerate(masses):
            particles.setMass(k, float(m))

    def step(self) -> None:
        """One frame."""
        self.stepper.step(self.model)

    def positions(self) -> Array:
        """(N, 3) [m], z up."""
        x = np.array(self.model.getParticles().getVertices())
        return np.stack([x[:, 0], -x[:, 2], x[:, 1]], axis=1)


def y_up(x: Array) -> list[Array]:
    """Points as the library wants them."""
    return list(np.stack([x[:, 0], x[:, 2], -x[:, 1]], axis=1))


def cloth(work: Cloth) -> Scene:
    """Springs on all edges and a bending constraint on all inner edges; all worlds in one model."""
    scene = Scene(work.dt, 20)
    mean_hinge = 1.0 / len(work.hinges)  # area of the sheet for each hinge [m^2]
    bending = work.bending_rigidity / (0.5625 * CURVATURE**2 * mean_hinge)
    for _ in range(work.worlds):
        indices = work.mesh.triangles.ravel().tolist()
        sheet = scene.model.addTriangleModel(y_up(work.mesh.vertices), indices, testMesh=False)
        scene.model.addClothConstraints(sheet, DISTANCE_XPBD, work.stiffness, 0, 0, 0, 0, 0, False, False)
        scene.model.addBendingConstraints(sheet, ISOMETRIC_XPBD, bending)
    n = len(work.mass)
    held = [w * n + pin for w in range(work.worlds) for pin in work.pins]
    scene.set_masses(np.tile(work.mass, work.worlds), held)
    return scene


def bar(work: Bar) -> Scene:
    """XPBD of the energy of a St. Venant-Kirchhoff solid, a constraint per tetrahedron."""
    scene = Scene(work.dt, 20)
    solid = scene.model.addTetModel(y_up(work.vertices), work.tets.ravel().tolist(), testMesh=False)
    moduli = (work.youngs_modulus, work.poisson_ratio, 1.0)
    scene.model.addSolidConstraints(solid, FEM_XPBD, *moduli, False, False)
    scene.set_masses(work.mass, work.held)
    return scene


TEXT = "XPBD, 20 substeps of 1 sweep, float64"
CLOTH = TEXT + "; 1 kN/m on each edge, isometric bending of equal energy at 10/m"
ONE = {"OMP_NUM_THREADS": "1"}
SAME = "springs, XPBD 20 x 1"
CONTESTANTS = [
    Contestant("pypbd XPBD 20x1", "cloth", "pypbd", CLOTH, cloth, SAME),
    Contestant("pypbd XPBD 20x1, 1 thread", "cloth", "pypbd", CLOTH, cloth, SAME, ONE),
    Contestant("pypbd XPBD 20x1", "worlds", "pypbd", CLOTH + "; all worlds in one model", cloth, SAME),
    Contestant("pypbd XPBD 20x1", "bar", "pypbd", TEXT + "; FEM tetrahedra (St. Venant-Kirchhoff)", bar),
]
