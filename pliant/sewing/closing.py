"""Seams pulled together over time: ties between their two sides, stronger and stronger, at last rigid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pliant.errors import SceneError
from pliant.garments.garment import OPEN, WARP, Garment
from pliant.garments.mannequin import Limb
from pliant.materials import Fabric
from pliant.scene import Scene
from pliant.simulation import Simulation
from pliant.solvers.base import Solver
from pliant.solvers.xpbd.solver import XPBD

Array = np.ndarray

SOFT, FIRM = 2.0, 200.0
"""Forces at first and at last of a seam's threads, over the weight of the cloth that each vertex has and its
distance, in units of g per metre [1/m]."""
STAGES, ROUNDS = 5, 6
MARGIN = 0.003
"""How far cloth stays off the body [m] while sewing: triangles are chords of its roundness."""
DRAG = 6.0
"""Damping [1/s] while sewing: panels glide, they do not swing."""
GRAVITY = 9.81


@dataclass(frozen=True)
class Table:
    """What a garment is sewn with and around: body, fabric, solver, dt [s], who watches."""

    body: Sequence[Limb]
    fabric: Fabric
    solver: Solver
    dt: float
    seen: Callable[[Array], None]

    def scene(self) -> Scene:
        """Only the body, without gravity, in air that brakes."""
        scene = Scene(gravity=(0, 0, 0), air_drag=DRAG)
        for limb in self.body:
            scene.add_collider(**limb.grown(MARGIN).collider, friction=0.0)
        return scene

    def run(self, scene: Scene, steps: int) -> Array:
        """Positions (N, 3) [m] of the scene's one cloth after some steps."""
        sim = Simulation(scene, self.solver, dt=self.dt)
        for _ in range(steps):
            sim.step()
            self.seen(sim.x[0])
        return np.array(sim.x[0], float)


def closed(garment: Garment, table: Table, seconds: float) -> Garment:
    """The garment with its seams closed, its panels strained; SceneError for one that stays open."""
    steps = max(1, round(seconds / table.dt / (STAGES + 1)))
    weight = GRAVITY * table.fabric.areal_density * garment.area / len(garment.flat)
    x = garment.places
    for k in range(STAGES):
        x = _pulled(garment, x, table, weight * SOFT * (FIRM / SOFT) ** (k / (STAGES - 1)), steps)
    for _ in range(ROUNDS):
        x = _pulled(garment, x, table, np.inf, steps)
        if isinstance(table.solver, XPBD):  # finer steps: what a rigid tie leaves open shrinks with them
            finer = replace(table.solver, substeps=2 * table.solver.substeps)
            table, steps = replace(table, solver=finer), max(1, steps // 2)
        if replace(garment, places=x).gap < OPEN:
            break
    _require_closed(replace(garment, places=x))
    return garment.at(garment.joined(x))


def settled(garment: Garment, table: Table, seconds: float) -> Garment:
    """The sewn garment after some time around the body."""
    scene = table.scene()
    scene.add_cloth(garment, table.fabric)
    return garment.at(table.run(scene, round(seconds / table.dt)))


def _pulled(garment: Garment, x: Array, table: Table, stiffness: float, steps: int) -> Array:
    """Positions of the panels' vertices after ties of a stiffness [N/m] have pulled for a while."""
    scene = table.scene()
    handle = scene.add_cloth(
        garment.panels_mesh, table.fabric, rest_mesh=garment.rest, warp_direction=WARP, start=x, weld=False
    )
    first = np.full(garment.n_vertices, len(garment.flat))
    np.minimum.at(first, garment.sewn, np.arange(len(garment.flat)))
    leader = first[garment.sewn]
    led = np.flatnonzero(leader != np.arange(len(leader)))
    scene.add_attachment(handle, led, handle, stiffness, onto=leader[led])
    return table.run(scene, steps)


def _require_closed(garment: Garment) -> None:
    gaps = garment.gaps
    worst = max(gaps, key=lambda seam: gaps[seam])
    if not gaps[worst] < OPEN:
        raise SceneError(
            f'garment "{garment.name}": the seam "{worst}" stays open by {1e3 * gaps[worst]:.3g} mm; give it '
            "more seconds=, place its panels nearer to each other, or look whether the body is in between"
        )
