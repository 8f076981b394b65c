"""Experiment 1: cloth hanging from one edge. Its mass, stiffness and step; its stretch and lambda.

Wrong signs, units and powers of h show here first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..geometry import measures, shapes
from ..materials import Fabric
from ..scene import Scene
from ..simulation import Simulation
from ..solvers.xpbd.solver import XPBD
from .experiment import Experiment, Line, Plot, Table, Verdict
from .statics import relax

Array = np.ndarray

G = 9.81
SIDE = 0.4
"""Of the cloth [m]."""
AREAL_DENSITY, STIFFNESS, DT, SUBSTEPS = 0.2, 200.0, 1 / 120, 60
"""What is not changed: kg/m^2, E t [N/m], s, and how many."""


def hang(
    areal_density: float = AREAL_DENSITY,
    stiffness: float = STIFFNESS,
    dt: float = DT,
    substeps: int = SUBSTEPS,
    n: int = 9,
) -> tuple[float, float]:
    """Stretch of a square sheet [m], and the largest error of lambda.

    Without Poisson's ratio each row of triangles carries what hangs below its middle: lambda/h^2 of a
    triangle of area A is -E t A strain = -A times the weight per width (the membrane's row |F - R|).
    Returned: the mean of a row against that, as a share of the whole weight per width.
    """
    mesh = shapes.grid(n, n, (SIDE, SIDE))
    z = mesh.vertices[:, 1]
    fabric = Fabric(
        areal_density=areal_density, youngs_modulus=stiffness / 5e-4, poisson_ratio=0.0, bending_rigidity=0.0
    )
    scene = Scene(gravity=(0, 0, -G))
    scene.add_cloth(mesh, fabric, rotation=(np.pi / 2, 0, 0), pins=np.flatnonzero(z > z.max() - 1e-9))
    sim = Simulation(scene, XPBD(substeps=substeps), dt=dt)
    relax(sim, tolerance=1e-8)
    low = z < z.min() + 1e-9
    stretch = float((sim.model.x_rest[low, 2] - sim.x[0, low, 2]).mean())
    sim.step()
    force = sim.constraint_forces("membrane")[0, :, 0]
    corner = mesh.vertices[mesh.triangles]
    area = measures.triangle_areas(mesh.vertices, mesh.triangles)
    row = np.floor((corner[:, :, 1].mean(axis=1) - z.min()) / SIDE * (n - 1)).astype(int)
    carried = np.array([(-force / area)[row == k].mean() for k in range(n - 1)])
    weight = areal_density * G * SIDE
    below = weight * (np.arange(n - 1) + 0.5) / (n - 1)
    return stretch, float(np.abs(carried - below).max() / weight)


def run(quick: bool = False) -> Experiment:
    """All three axes, each from the same middle."""
    factors = (0.5, 1.0, 2.0) if quick else (0.25, 0.5, 1.0, 2.0, 4.0)
    axes: dict[str, list[tuple[float, dict[str, Any]]]] = {
        "mass": [(f, {"areal_density": f * AREAL_DENSITY}) for f in factors],
        "stiffness": [(f, {"stiffness": f * STIFFNESS}) for f in factors],
        "step": [(f, {"dt": f * DT}) for f in factors],
    }
    out = Experiment(
        "hanging",
        "Hanging from one edge",
        "A square sheet hangs from its upper edge. Mass, stiffness (the compliance is its inverse) and step "
        "are changed one at a time, from the same middle. A stretch that depends on the step, or a "
        "multiplier that is no force after division by h², would be a wrong power of h.",
        {"dt": "1/120 s", "substeps": SUBSTEPS, "iterations": 1, "order": "colored", "dtype": "float64",
         "sheet": f"{SIDE} m, 9 x 9, E t = {STIFFNESS:g} N/m, {AREAL_DENSITY} kg/m², nu = 0"},
    )  # fmt: skip
    rows, stretch_lines, exact_lines = [], [], []
    for axis, settings in axes.items():
        seen, closed = [], []
        for factor, change in settings:
            values = {"areal_density": AREAL_DENSITY, "stiffness": STIFFNESS} | change
            exact = values["areal_density"] * G * SIDE**2 / (2 * values["stiffness"])
            stretch, off = hang(**change)
            rows.append((axis, factor, 1e3 * stretch, 1e3 * exact, off))
            seen.append(stretch)
            closed.append(exact)
            source = "rho_A g L²/(2 E t), bar under its own weight (T03)"
            room = (
                0.005 * factor ** {"mass": -1, "stiffness": 1, "step": 2}[axis]
            )  # XPBD's own error: (omega h)²
            out.verdicts.append(Verdict(f"stretch, {axis} x {factor:g} [m]", stretch, exact, room, source))
        stretch_lines.append(Line(axis, [f for f, _ in settings], [1e3 * s for s in seen]))
        exact_lines.append(Line(f"{axis}: exact", [f for f, _ in settings], [1e3 * s for s in closed], True))
    worst = max(r[4] for r in rows)
    out.verdicts.append(
        Verdict("lambda/h² against the weight below, worst row (share of all weight)", worst, 0.01, 0,
                "equilibrium: -E t A strain = -A x weight per width below", at_most=True)
    )  # fmt: skip
    heads = ("axis", "factor", "stretch [mm]", "closed form [mm]", "lambda/h² off (share of weight)")
    out.tables.append(Table("Stretch and multipliers", heads, rows))
    label = "factor on mass, stiffness, step"
    out.plots.append(Plot("Static stretch", label, "stretch [mm]", stretch_lines + exact_lines, "xy"))
    return out
