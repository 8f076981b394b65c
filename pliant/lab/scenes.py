"""Steps on which solvers are compared: scenes, each just before the step that is to be made.

A scene is brought there by Newton, once; positions and velocities are kept in ``saved/`` with Newton's
answer to the step, and so are what each file was made by. :func:`load` reads them, ``python -m
pliant.lab.scenes`` makes them anew (a minute).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..errors import PliantError
from ..geometry import shapes
from ..geometry.colliders import Sphere
from ..geometry.mesh import rotation_matrix
from ..materials import Fabric, SolidMaterial
from ..scene import Scene
from ..simulation import Simulation
from ..solvers.base import Solver
from ..solvers.newton.solver import Newton
from ..solvers.xpbd.solver import XPBD

Array = np.ndarray

FOLDER = Path(__file__).parent / "saved"
COMMAND = "python -m pliant.lab.scenes"
DT = 1 / 60
RECORDED = (1, 64, 512)
"""Sweeps of coloured XPBD whose distance to Newton's answer is saved, too."""

CLOTH = Fabric("sheet", areal_density=0.2, thickness=5e-4, youngs_modulus=4e5, poisson_ratio=0.3)
"""Undamped; E t = 200 N/m."""


def still(sim: Simulation) -> None:
    """No target moves."""


@dataclass(frozen=True)
class Start:
    """A step to be made.

    file, name  of the saved state; as tables show it
    make        a simulation with a solver, at rest
    move        sets targets before the step
    warm_up     steps under Newton that lead to the state from which the step is made
    jolt        the step begins with a jump: of pins, or onto a collider; times of its motion are short
    resolved    substeps from which XPBD's distance to the limit h -> 0 falls in proportion to h; 0 where none
                that we tried does
    """

    file: str
    name: str
    make: Callable[[Solver], Simulation]
    move: Callable[[Simulation], None] = still
    warm_up: int = 0
    jolt: bool = False
    resolved: int = 0

    def begin(self, solver: Solver, x: Array, v: Array) -> Simulation:
        """A simulation about to make the step from positions and velocities (N, 3)."""
        sim = self.make(solver)
        sim.state.set_x(x)
        sim.state.set_v(v)
        self.move(sim)
        return sim


@dataclass(frozen=True)
class Saved:
    """x, v (N, 3) before the step; best (N, 3): Newton's answer to it; about: what it was made by, and how
    far XPBD was from it."""

    x: Array
    v: Array
    best: Array
    about: dict[str, Any]


def hanging(file: str, modulus: float, resolved: int) -> Start:
    """A sheet of 17 x 17 let go flat, held at two corners, 5 steps on its way down."""

    def make(solver: Solver) -> Simulation:
        scene = Scene()
        fabric = CLOTH.with_(youngs_modulus=modulus)
        scene.add_cloth(shapes.grid(17, 17, (0.5, 0.5)), fabric, pins=[0, 16])
        return Simulation(scene, solver, dt=DT)

    return Start(file, f"cloth, E t = {modulus * CLOTH.thickness:g} N/m", make, warm_up=5, resolved=resolved)


def bar(file: str, name: str, turn: tuple[float, float, float]) -> Start:
    """A bar of 1,280 tetrahedra, 1 MPa, one end of which is turned at once; from rest."""

    def make(solver: Solver) -> Simulation:
        scene = Scene(gravity=(0, 0, 0))
        mesh = shapes.bar((0.4, 0.1, 0.1), (16, 4, 4))
        ends = np.flatnonzero(np.abs(mesh.vertices[:, 0]) > 0.4 / 2 - 1e-9)
        scene.add_solid(mesh, SolidMaterial("m", 1000.0, 1e6, 0.4), pins=ends)
        return Simulation(scene, solver, dt=DT)

    def move(sim: Simulation) -> None:
        ids = sim.model.pin_ids[sim.model.x_rest[sim.model.pin_ids, 0] > 0]
        x = sim.model.x_rest[ids]
        centre = x.mean(axis=0)
        sim.control.set_pins(ids, centre + (x - centre) @ rotation_matrix(np.array(turn)).T)

    return Start(file, name, make, move, jolt=True, resolved=4096)


def chain() -> Start:
    """A chain of 20 springs of 1e4 N/m, 1 g each, with 1 kg at its end, swinging from level."""

    def make(solver: Solver) -> Simulation:
        scene = Scene()
        strip = shapes.grid(21, 2, (0.4, 0.02))
        stiff = CLOTH.with_(youngs_modulus=1e7)
        scene.add_cloth(strip, stiff, pins=[0, 21], membrane="edges", bending="none")
        model = scene.build(1, "float64")
        mass = np.full(model.n_particles, 1e-3)
        mass[[20, 41]] = 1.0
        inverse = np.where(model.inv_mass > 0, 1 / mass, 0.0)
        heavy = replace(model, mass=mass, inv_mass=inverse)
        return Simulation.of_model(scene, heavy, solver, dt=DT)

    return Start("chain", "chain, masses 1 : 1000", make, warm_up=3, resolved=512)


def ball() -> Start:
    """A sheet of 17 x 17 that has begun to wrap a smooth ball of 0.15 m; no friction.

    Some steps later it folds, and XPBD finds a fold of lower energy than Newton does: no reference any more.
    """

    def make(solver: Solver) -> Simulation:
        scene = Scene()
        scene.add_cloth(shapes.grid(17, 17, (0.5, 0.5)), CLOTH, position=(0, 0, 0.16))
        scene.add_collider(Sphere(0.15), friction=0.0)
        return Simulation(scene, solver, dt=DT)

    return Start("ball", "cloth on a smooth ball", make, warm_up=8, jolt=True, resolved=2048)


SCENES: tuple[Start, ...] = (
    hanging("cloth-soft", 4e4, 128),
    hanging("cloth", 4e6, 4096),
    hanging("cloth-stiff", 4e8, 0),
    bar("bar-twisted", "bar, twisted by 60 degrees", (np.pi / 3, 0, 0)),
    bar("bar-bent", "bar, bent by 60 degrees", (0, np.pi / 3, 0)),
    chain(),
    ball(),
)


def made(start: Start) -> Saved:
    """Newton's way to the step and its answer. ArithmeticError where it does not converge."""
    sim = start.make(Newton())
    for _ in range(start.warm_up):
        sim.step()
    x, v = sim.x[0].copy(), sim.state.v[0].copy()
    again = start.begin(Newton(), x, v)
    info = again.step()
    if not info.ok():
        raise ArithmeticError(f"{start.name}: the reference did not converge")
    about = {
        "command": COMMAND,
        "pliant": __version__,
        "scene": start.name,
        "steps_before": start.warm_up,
        "protocol": again.protocol.to_dict(),
        "gradient_N": float(info.primal_residual[0]),  # type: ignore[index]
    }
    best, mass = again.x[0].copy(), again.model.mass
    record = {}
    for n in RECORDED:
        other = start.begin(XPBD(1, n), x, v)
        other.step()
        off = np.sqrt(np.sum(mass * np.sum((other.x[0] - best) ** 2, axis=1)) / mass.sum())
        record[str(n)] = float(off) / again.model.length
    return Saved(x, v, best, {**about, "xpbd_edges": record})


def load(start: Start) -> Saved:
    """What is saved of a scene; one that is not is made. Raises PliantError where the file does not fit
    it."""
    path = FOLDER / f"{start.file}.npz"
    if not path.is_file():
        return made(start)
    with np.load(path) as data:
        x, v, best, about = data["x"], data["v"], data["best"], json.loads(str(data["about"]))
    if about["scene"] != start.name or about["steps_before"] != start.warm_up:
        raise PliantError(f"{path} was saved of another scene ({about['scene']}); run {COMMAND}")
    return Saved(x, v, best, about)


def main() -> None:
    """Make every saved file anew."""
    FOLDER.mkdir(exist_ok=True)
    for start in SCENES:
        found = made(start)
        path = FOLDER / f"{start.file}.npz"
        np.savez_compressed(
            path, x=found.x, v=found.v, best=found.best, about=np.array(json.dumps(found.about))
        )
        print(f"{path.name}: {path.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
