"""How far a solver is from the minimiser of its own step, by sweeps and by milliseconds.

Every solver starts a step from the same state; ``pl.Newton`` gives the answer x* of that step, at the same h.
Measured of each setting: the distance to x*, weighted by mass, over the mean edge, and the gap of the
incremental potential, ``(E - E*)/(E(x~) - E*)``: 0 is the minimiser, 1 no better than the prediction. That is
the error of the solver; the error of the time step, against h -> 0, is another matter.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import numpy as np

from ..geometry import shapes
from ..geometry.mesh import rotation_matrix
from ..materials import Fabric, SolidMaterial
from ..scene import Scene
from ..simulation import Simulation
from ..solvers.base import Solver
from ..solvers.newton.solver import Newton
from ..solvers.xpbd.solver import XPBD
from .curves import Curve, chart

Array = np.ndarray

SWEEPS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
"""Sweeps of one substep."""

CLOTH = Fabric("sheet", areal_density=0.2, thickness=5e-4, youngs_modulus=4e5, poisson_ratio=0.3)
"""Undamped; E t = 200 N/m."""


@dataclass(frozen=True)
class Start:
    """A step to be made: a simulation under Newton, about to make it; ``move`` sets targets before it."""

    name: str
    make: Callable[[Solver], Simulation]
    move: Callable[[Simulation], None]
    warm_up: int


@dataclass(frozen=True)
class Mark:
    """One setting of a solver on one scene.

    sweeps over all constraints (of Newton: iterations); milliseconds of the step, the best of three; distance
    to x*, mass-weighted, in mean edges; gap of the incremental potential.
    """

    scene: str
    solver: str
    sweeps: int
    milliseconds: float
    distance: float
    gap: float


def still(sim: Simulation) -> None:
    """No target moves."""


def hanging(modulus: float) -> Start:
    """A sheet of 17 x 17 let go flat, held at two corners, 5 steps on its way down."""

    def make(solver: Solver) -> Simulation:
        scene = Scene()
        fabric = CLOTH.with_(youngs_modulus=modulus)
        scene.add_cloth(shapes.grid(17, 17, (0.5, 0.5)), fabric, pins=[0, 16])
        return Simulation(scene, solver, dt=1 / 60)

    return Start(f"cloth, E t = {modulus * CLOTH.thickness:g} N/m", make, still, 5)


def bar(name: str, turn: tuple[float, float, float]) -> Start:
    """A bar of 1,280 tetrahedra, 1 MPa, one end of which is turned at once; from rest."""

    def make(solver: Solver) -> Simulation:
        scene = Scene(gravity=(0, 0, 0))
        mesh = shapes.bar((0.4, 0.1, 0.1), (16, 4, 4))
        ends = np.flatnonzero(np.abs(mesh.vertices[:, 0]) > 0.4 / 2 - 1e-9)
        scene.add_solid(mesh, SolidMaterial("m", 1000.0, 1e6, 0.4), pins=ends)
        return Simulation(scene, solver, dt=1 / 60)

    def move(sim: Simulation) -> None:
        ids = sim.model.pin_ids[sim.model.x_rest[sim.model.pin_ids, 0] > 0]
        x = sim.model.x_rest[ids]
        centre = x.mean(axis=0)
        sim.control.set_pins(ids, centre + (x - centre) @ rotation_matrix(np.array(turn)).T)

    return Start(name, make, move, 0)


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
        return Simulation.of_model(scene, heavy, solver, dt=1 / 60)

    return Start("chain, masses 1 : 1000", make, still, 3)


SCENES: tuple[Start, ...] = (
    hanging(4e4),
    hanging(4e6),
    hanging(4e8),
    bar("bar, twisted by 60 degrees", (np.pi / 3, 0, 0)),
    bar("bar, bent by 60 degrees", (0, np.pi / 3, 0)),
    chain(),
)

LADDERS: dict[str, Callable[[int], Solver]] = {
    "XPBD, coloured": lambda n: XPBD(1, n),
    "XPBD, file order": lambda n: XPBD(1, n, "sequential"),
    "XPBD, Jacobi": lambda n: XPBD(1, n, "jacobi"),
}
"""Solvers by the number of sweeps, all with one substep: the same h."""


def measure(start: Start, sweeps: Sequence[int] = SWEEPS) -> list[Mark]:
    """All settings on one scene; the first mark is the reference's own."""
    reference = start.make(Newton())
    for _ in range(start.warm_up):
        reference.step()
    state, control = reference.state.arrays(), reference.control.arrays()
    start.move(reference)
    clock = time.perf_counter()
    info = reference.step()
    spent = 1e3 * (time.perf_counter() - clock)
    objective, best = reference.workspace.objective, reference.x[0]
    lowest = objective.value((best - objective.base)[objective.free].ravel(), False, False)
    predicted = objective.value(-objective.lag, False, False)
    whole = objective.difference(predicted, lowest)
    marks = [Mark(start.name, "Newton", info.iterations, spent, 0.0, 0.0)]
    if not info.ok() or not whole > 0:
        raise ArithmeticError(f"{start.name}: the reference did not converge, or has nothing to do")
    mass, edge = reference.model.mass, reference.model.length
    for name, solver in LADDERS.items():
        for n in sweeps:
            other = start.make(solver(n))
            seconds = []
            for _ in range(3):
                other.state.restore(state)
                other.control.restore(control)
                start.move(other)
                clock = time.perf_counter()
                other.step()
                seconds.append(time.perf_counter() - clock)
            x = other.x[0]
            way = np.sqrt(np.sum(mass * np.sum((x - best) ** 2, axis=1)) / mass.sum())
            here = objective.value((x - objective.base)[objective.free].ravel(), False, False)
            gap = objective.difference(here, lowest) / whole
            marks.append(Mark(start.name, name, n, 1e3 * min(seconds), float(way) / edge, gap))
    return marks


def write(marks: Sequence[Mark], folder: Path) -> list[Path]:
    """``yardstick.csv`` and a chart per scene and measure (SVG); returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "yardstick.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        rows = csv.DictWriter(file, [f.name for f in fields(Mark)])
        rows.writeheader()
        rows.writerows(asdict(mark) for mark in marks)
    made = [table]
    for k, scene in enumerate(dict.fromkeys(m.scene for m in marks)):
        for axis, label in (("sweeps", "sweeps"), ("milliseconds", "time of the step, ms")):
            curves = [
                Curve(
                    name,
                    [(getattr(m, axis), m.distance) for m in marks if (m.scene, m.solver) == (scene, name)],
                )
                for name in LADDERS
            ]
            path = folder / f"yardstick-{k + 1}-{axis}.svg"
            path.write_text(chart(scene, label, "distance to the minimiser, edges", curves), encoding="utf-8")
            made.append(path)
    return made


def main(folder: str | Path = "yardstick") -> None:
    """Measure all scenes, print a table, write CSV and charts into a folder of the current one."""
    marks: list[Mark] = []
    print(f"{'scene':30} {'solver':18} {'sweeps':>7} {'ms':>9} {'distance':>10} {'gap':>10}")
    for start in SCENES:
        found = measure(start)
        marks += found
        for m in found:
            figures = f"{m.milliseconds:9.2f} {m.distance:10.2e} {m.gap:10.2e}"
            print(f"{m.scene:30} {m.solver:18} {m.sweeps:7} {figures}")
        sys.stdout.flush()
    for path in write(marks, Path(folder)):
        print(path)
