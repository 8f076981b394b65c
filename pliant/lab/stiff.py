"""Stiff and fine bars under the global solver: solves in a step, and how far it ends from the minimum.

A free bar, 0.4 m x 0.1 m x 0.1 m, is twisted by half a turn, bent into an arc of 162 degrees, or pressed
into a plane, and let go at rest; one step of 10 ms is made. E* is the minimum that Newton's own iteration,
with the exact Hessian, reaches to rounding: from the same start for the smallest mesh, from MGPBD's answer
for the others, where it would take long.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..geometry import shapes
from ..materials import SolidMaterial
from ..scene import Scene
from ..simulation import Simulation
from ..solvers.mgpbd.solver import MGPBD
from ..solvers.newton.minimize import minimize
from ..solvers.newton.objective import Incremental
from .experiment import Experiment, Table, Verdict

Array = np.ndarray
Deform = Callable[[Array], Array]

FIRST = 5
"""Cells across the bar whose minimum Newton finds from the start."""
LEVELS = (1e-1, 1e-3, 1e-6)
"""Gaps that iterations are counted to."""
MOST = 8
"""Iterations that a step of ARAP may take to the last of them."""


def twisted(x: Array) -> Array:
    """Half a turn from end to end."""
    middle = x.mean(axis=0)
    a = np.pi * ((x[:, 0] - x[:, 0].min()) / np.ptp(x[:, 0]) - 0.5)
    y, z = x[:, 1] - middle[1], x[:, 2] - middle[2]
    turned = (x[:, 0], middle[1] + np.cos(a) * y - np.sin(a) * z, middle[2] + np.sin(a) * y + np.cos(a) * z)
    return np.stack(turned, axis=1)


def bent(x: Array) -> Array:
    """The middle line an arc of 162 degrees of its own length."""
    radius = np.ptp(x[:, 0]) / (0.9 * np.pi)
    a = (x[:, 0] - x[:, 0].min()) / radius
    r = radius - (x[:, 1] - x[:, 1].mean())
    return np.stack([r * np.sin(a), radius - r * np.cos(a), x[:, 2]], axis=1)


def squashed(x: Array) -> Array:
    """Flat."""
    return x * np.array([1.0, 1.0, 0.0])


SHAPES: dict[str, Deform] = {"twist": twisted, "bend": bent, "squash": squashed}


@dataclass(frozen=True)
class Mark:
    """One step: iterations until it ended, and to each of LEVELS (-1: never); gap at its end; seconds."""

    shape: str
    law: str
    tets: int
    modulus: float
    iterations: int
    to_level: tuple[int, ...]
    gap: float
    seconds: float


def measure(shape: str, cells: int, modulus: float, law: str = "arap", poisson: float = 0.3) -> Mark:
    """One step of a bar with so many cells across."""
    scene = Scene(gravity=(0, 0, 0))
    mesh = shapes.bar((0.4, 0.1, 0.1), (4 * cells, cells, cells))
    scene.add_solid(mesh, SolidMaterial("m", 1000.0, modulus, poisson), law=law)
    sim = Simulation(scene, MGPBD(), dt=0.01)
    sim.state.set_x(SHAPES[shape](sim.model.x_rest))
    clock = time.perf_counter()
    info = sim.step()
    seconds = time.perf_counter() - clock
    ours = sim.workspace.objective
    reference = Incremental(sim.model)
    shared = ("base", "lag", "corners", "inertia", "held", "elements")
    reference.__dict__.update({k: getattr(ours, k) for k in shared})
    answer = (sim.x[0] - ours.base)[ours.free].ravel()
    begin = np.zeros(ours.n) if cells <= FIRST else answer
    lowest = minimize(reference, begin, 1.0, 1e-300, 200).value
    here, start = (reference.value(d, False, False) for d in (answer, np.zeros(ours.n)))
    whole = reference.difference(start, lowest)
    gaps = [1 - fall / whole for fall in sim.workspace.falls[0]]
    counts = tuple(next((k + 1 for k, g in enumerate(gaps) if g <= level), -1) for level in LEVELS)
    gap = reference.difference(here, lowest) / whole
    return Mark(shape, law, len(mesh.tets), modulus, info.iterations, counts, gap, seconds)


def run(quick: bool) -> Experiment:
    """All shapes at 0.1 MPa, 10 MPa and 1 GPa; quick: the smallest mesh."""
    sizes = (FIRST,) if quick else (FIRST, 8, 12)
    cases = [("arap", n) for n in sizes] + [("neo_hookean", FIRST)]
    marks = [
        measure(shape, n, modulus, law) for law, n in cases for shape in SHAPES for modulus in (1e5, 1e7, 1e9)
    ]
    out = Experiment(
        "stiff",
        "Stiff and fine: the global solver",
        "Free bars that start twisted, bent or flat make one step. What is changed: stiffness and mesh. "
        "Recorded: iterations to gaps (E - E*)/(E(start) - E*) of 0.1, 1e-3 and 1e-6, all iterations, "
        "and the gap at the end.",
        {
            "dt": "10 ms",
            "solver": repr(MGPBD()),
            "dtype": "float64",
            "poisson_ratio": 0.3,
            "density": "1000 kg/m^3",
        },
    )
    heads = ("law", "shape", "tets", "E [Pa]", "to 0.1/1e-3/1e-6", "iterations", "gap", "step [s]")
    rows = [
        (
            m.law,
            m.shape,
            m.tets,
            f"{m.modulus:.0e}",
            "/".join(map(str, m.to_level)),
            m.iterations,
            m.gap,
            m.seconds,
        )
        for m in marks
    ]
    out.tables.append(Table("one step", heads, rows))
    out.verdicts += verdicts(marks)
    return out


def verdicts(marks: list[Mark]) -> list[Verdict]:
    """The gap at the end of every step, and iterations of ARAP."""
    minimum = "E* by Newton's iteration to rounding"
    out = []
    for law in dict.fromkeys(m.law for m in marks):
        mine = [m for m in marks if m.law == law]
        worst, below = max(m.gap for m in mine), max(0.0, -min(m.gap for m in mine))
        out += [
            Verdict(f"{law}: largest gap at the end of a step", worst, 1e-6, 0, minimum, at_most=True),
            Verdict(f"{law}: any answer below the minimum, gap", below, 1e-9, 0, minimum, at_most=True),
        ]
    counts = [m.to_level[-1] if m.to_level[-1] > 0 else np.inf for m in marks if m.law == "arap"]
    out.append(
        Verdict(
            "arap: most iterations to a gap of 1e-6",
            float(max(counts)),
            MOST,
            0,
            "a step that stays a step",
            at_most=True,
        )
    )
    return out
