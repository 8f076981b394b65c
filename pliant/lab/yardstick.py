"""How far a solver is from the minimiser of its own step, by sweeps and by milliseconds.

Every solver starts a step from the same state; ``pl.Newton`` gives the answer x* of that step, at the same h.
Measured of each setting: the distance to x*, weighted by mass, over the mean edge, and the gap of the
incremental potential, ``(E - E*)/(E(x~) - E*)``: 0 is the minimiser, 1 no better than the prediction. That is
the error of the solver; the error of the time step, against h -> 0, is another matter.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..geometry import shapes
from ..geometry.mesh import rotation_matrix
from ..materials import Fabric, SolidMaterial
from ..scene import Scene
from ..simulation import Simulation
from ..solvers.base import Solver
from ..solvers.newton.solver import Newton
from ..solvers.xpbd.solver import XPBD
from .experiment import Experiment, Line, Plot, Table, Verdict

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


def run(quick: bool) -> Experiment:
    """The yardstick on all scenes; quick: on three, with up to 64 sweeps."""
    scenes, sweeps = (SCENES, SWEEPS) if not quick else ((SCENES[0], SCENES[3], SCENES[5]), SWEEPS[:7])
    out = Experiment(
        "yardstick",
        "The yardstick",
        "One step from the same state, by Newton to rounding and by other solvers at the same h. What is "
        "changed: the solver and its sweeps. Recorded: the distance to Newton's answer, weighted by mass, in "
        "mean edges, and the gap (E - E*)/(E(x~) - E*) of the incremental potential.",
        {
            "dt": "1/60 s",
            "substeps": 1,
            "sweeps": list(sweeps),
            "dtype": "float64",
            "reference": repr(Newton()),
        },
    )
    heads = ("solver", "sweeps", "step [ms]", "distance [edges]", "gap")
    for start in scenes:
        marks = measure(start, sweeps)
        rows = [(m.solver, m.sweeps, m.milliseconds, m.distance, m.gap) for m in marks]
        out.tables.append(Table(start.name, heads, rows))
        for axis, label in (("sweeps", "sweeps"), ("milliseconds", "time of the step [ms]")):
            lines = [
                Line(name, [getattr(m, axis) for m in mine], [m.distance for m in mine])
                for name in LADDERS
                if (mine := [m for m in marks if m.solver == name])
            ]
            title = f"{start.name}, by {axis}"
            out.plots.append(Plot(title, label, "distance to the minimiser [edges]", lines, "xy"))
        out.verdicts += verdicts(start.name, marks)
    return out


def verdicts(scene: str, marks: Sequence[Mark]) -> list[Verdict]:
    """Nothing lies below the reference, and sweeps bring XPBD closer to it."""
    first, *_, last = [m for m in marks if m.solver == "XPBD, coloured"]
    below = max(0.0, -min(m.gap for m in marks))
    about = "E* is the minimum of the step's potential"
    closer = "many sweeps against one, coloured XPBD"
    return [
        Verdict(f"{scene}: any answer below the reference, gap", below, 1e-9, 0, about, at_most=True),
        Verdict(f"{scene}: distance left by {last.sweeps} sweeps, share of that after 1",
                last.distance / first.distance, 0.9, 0, closer, at_most=True),
    ]  # fmt: skip
