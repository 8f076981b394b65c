"""Experiment 3: two triangles. Rest angle and rigidity; gradients through folds and slivers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..geometry.mesh import TriMesh
from ..materials import Fabric
from ..model import Model
from ..scene import Scene
from ..simulation import Simulation
from ..solvers.xpbd.solver import XPBD
from .experiment import Experiment, Line, Plot, Table, Verdict
from .gradients import energy_and_gradient
from .statics import relax

Array = np.ndarray

EDGE = 0.1
HEIGHT = EDGE * np.sqrt(0.75)
RIGIDITY, AREAL_DENSITY = 1e-4, 0.2


def wings(angle: float, height: float = HEIGHT) -> TriMesh:
    """Triangles over an edge along y, the second turned by ``angle`` [rad] (positive: a ridge)."""
    wing = [height * np.cos(angle), 0, -height * np.sin(angle)]
    x = [[0, -EDGE / 2, 0], [0, EDGE / 2, 0], [-height, 0, 0], wing]
    return TriMesh(np.array(x), np.array([[0, 1, 2], [1, 0, 3]]), name="hinge")


def turned(x: Array) -> float:
    """Angle of the second wing [rad], in (-pi, pi]."""
    return float(np.arctan2(-x[3, 2], x[3, 0]))


def sag(rigidity: float) -> tuple[float, float]:
    """Angle of a wing that its weight bends down, and that of the balance k theta = m g height cos theta.

    k = B l^2/(A0 + A1), of U = k (theta - theta_0)^2/2; m is a third of the triangle's mass.
    """
    scene = Scene(gravity=(0, 0, -9.81))
    fabric = Fabric(
        areal_density=AREAL_DENSITY, youngs_modulus=1e9, poisson_ratio=0.0, bending_rigidity=rigidity
    )
    scene.add_cloth(wings(0.0), fabric, pins=[0, 1, 2], bending="dihedral")
    sim = Simulation(scene, XPBD(substeps=50), dt=1 / 240)
    relax(sim, tolerance=1e-8)
    stiffness = rigidity * EDGE**2 / (EDGE * HEIGHT)
    torque = AREAL_DENSITY * EDGE * HEIGHT / 2 / 3 * 9.81 * HEIGHT
    theta = 0.0
    for _ in range(200):
        theta -= (stiffness * theta - torque * np.cos(theta)) / (stiffness + torque * np.sin(theta))
    return turned(sim.x[0]), float(theta)


def returns(rest: float, start: float) -> float:
    """How far a hinge let go at ``start`` ends from its rest angle [rad], without gravity, damped."""
    scene = Scene(gravity=(0, 0, 0))
    fabric = Fabric(areal_density=AREAL_DENSITY, youngs_modulus=1e7, bending_rigidity=RIGIDITY)
    scene.add_cloth(wings(rest), fabric, pins=[0, 1, 2], bending="dihedral", start=wings(start).vertices)
    sim = Simulation(scene, XPBD(substeps=20), dt=1 / 240)
    relax(sim, tolerance=1e-8, length=EDGE)
    off = turned(sim.x[0]) - rest
    return float(abs((off + np.pi) % (2 * np.pi) - np.pi))


def model_of(bending: str, height: float = HEIGHT) -> Model:
    """The hinge with its bending alone, flat at rest."""
    scene = Scene(gravity=(0, 0, 0))
    scene.add_cloth(wings(0.0, height), Fabric(bending_rigidity=RIGIDITY), membrane="none", bending=bending)
    model = scene.build(1)
    law = "dihedral_acos" if bending == "dihedral_acos" else "dihedral"
    return replace(model, blocks={law: model.blocks[law]})


def gradient_error(model: Model, angle: float, height: float = HEIGHT) -> float:
    """Error of dU/dx against central differences, relative to its size; inf where not finite."""
    (law,) = model.blocks
    x = wings(angle, height).vertices
    _, g = energy_and_gradient(model, law, x)
    eps = 1e-6 * min(EDGE, height)
    found = np.zeros_like(g)
    for i in np.ndindex(*g.shape):
        step = np.zeros_like(x)
        step[i] = eps
        above, below = (energy_and_gradient(model, law, x + s)[0] for s in (step, -step))
        found[i] = (above - below) / (2 * eps)
    alpha = float(model.blocks[law].compliance[0, 0])
    size = max(np.abs(g).max(), np.abs(found).max(), abs(angle) / alpha / height * 1e-3)
    error = float(np.abs(g - found).max() / size)
    return error if np.isfinite(error) else float("inf")


def run(quick: bool = False) -> Experiment:
    """Static angles, returns through the fold, gradients over the angle and over the wing's height."""
    out = Experiment(
        "hinge",
        "Two-triangle hinge",
        "Two triangles share an edge. The rest angle and the bending rigidity are changed; the hinge must "
        "come to rest where a torque balance says, also from the other side of a full fold. The gradient is "
        "compared with central differences through ±pi and towards triangles without height, for the signed "
        "angle (atan2) and for the arc cosine of the older papers.",
        {"dt": "1/240 s", "substeps": 50, "iterations": 1, "dtype": "float64", "edge": f"{EDGE} m"},
    )
    _angles(out, quick)
    _gradients(out, quick)
    return out


def _angles(out: Experiment, quick: bool) -> None:
    rows = []
    for rigidity in (1e-4, 1e-3, 1e-2):
        seen, exact = sag(rigidity)
        rows.append((rigidity, np.degrees(seen), np.degrees(exact)))
        out.verdicts.append(
            Verdict(f"wing under its weight, B = {rigidity:g} N m [rad]", seen, exact, 0.01,
                    "B l²/(A0 + A1) theta = m g height cos theta")
        )  # fmt: skip
    out.tables.append(Table("Angle under own weight", ("B [N m]", "angle [°]", "balance [°]"), rows))
    rests = [(0.0, 2.0), (2.5, -2.9), (-2.5, 2.9)] + ([] if quick else [(1.0, -1.0), (3.1, -3.1)])
    for rest, start in rests:
        off = returns(rest, start)
        out.verdicts.append(
            Verdict(
                f"back to {rest:g} rad from {start:g} rad [rad off]",
                off,
                1e-3,
                0,
                "rest angle; nearest way, through pi",
                at_most=True,
            )
        )


def _gradients(out: Experiment, quick: bool) -> None:
    angles = np.radians(
        np.concatenate([np.arange(-178, 179, 8 if quick else 4), [-179.9, 179.9, -0.01, 0.01]])
    )
    angles.sort()
    lines = []
    for bending, name in (("dihedral", "signed angle (atan2)"), ("dihedral_acos", "arc cosine")):
        model = model_of(bending)
        found = [gradient_error(model, float(a)) for a in angles]
        lines.append(Line(name, np.degrees(angles), np.maximum(found, 1e-16)))
        if bending == "dihedral":
            out.verdicts.append(
                Verdict(
                    "signed angle: worst gradient, -179.9° to 179.9°",
                    max(found),
                    1e-4,
                    0,
                    "central differences",
                    at_most=True,
                )
            )
    out.plots.append(Plot("Gradient error over the angle", "angle [°]", "relative error", lines, "y"))
    heights = 10.0 ** -np.arange(0, 5.0)
    thin = []
    for bending, name in (("dihedral", "signed angle (atan2)"), ("dihedral_acos", "arc cosine")):
        found = [gradient_error(model_of(bending, h * EDGE), 1.0, h * EDGE) for h in heights]
        thin.append(Line(name, heights, np.maximum(found, 1e-16)))
        if bending == "dihedral":
            out.verdicts.append(
                Verdict("signed angle: worst gradient down to a height of 1e-4 edges", max(found), 1e-3, 0,
                        "central differences", at_most=True)
            )  # fmt: skip
    out.plots.append(
        Plot("Gradient error of thin wings, at 1 rad", "height [edges]", "relative error", thin, "xy")
    )
