"""Experiment 2: a chain of particles. The same number of sweeps, as iterations or as substeps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..geometry.mesh import TriMesh
from ..materials import Fabric
from ..model import Block, Model
from ..scene import Scene
from ..simulation import Simulation
from ..solvers.xpbd.solver import XPBD
from .experiment import Experiment, Line, Plot, Table, Verdict

Array = np.ndarray

LINKS, LENGTH, MASS, STIFFNESS = 20, 1.0, 0.01, 2000.0
"""Of the chain: links, m in all, kg each, N/m each."""
DT, SECONDS = 1 / 60, 1.0
SWEEPS = (1, 2, 5, 10, 20, 50, 100)


def chain() -> tuple[Scene, Model]:
    """Masses on springs along x, the first held: a scene, of a sheet that only lends particles, and a model.

    Particles 0 to LINKS are the chain; the sheet's other ones are held.
    """
    n, k = LINKS + 1, np.arange(LINKS)
    line = np.stack([np.linspace(0, LENGTH, n), np.zeros(n), np.zeros(n)], axis=1)
    lower, upper = np.stack([k, k + 1, n + k], axis=1), np.stack([k + 1, n + k + 1, n + k], axis=1)
    corners = np.concatenate([line, line + np.array([0, 0.05, 0])])
    mesh = TriMesh(corners, np.concatenate([lower, upper]), name="chain")
    scene = Scene()
    held = np.concatenate([[0], np.arange(n, 2 * n)])
    scene.add_cloth(mesh, Fabric(), pins=held, membrane="none", bending="none")
    model = scene.build(1)
    rest, alpha = np.full((LINKS, 1), LENGTH / LINKS), np.full((LINKS, 1), 1 / STIFFNESS)
    springs = Block.colored("distance", np.stack([k, k + 1], axis=1), rest, alpha, np.zeros(LINKS), 2 * n)
    mass = np.where(np.arange(2 * n) < n, MASS, model.mass)
    inverse = np.where(model.inv_mass > 0, 1 / MASS, 0.0)
    return scene, replace(model, mass=mass, inv_mass=inverse, blocks={"distance": springs})


def swing(substeps: int, iterations: int, order: str = "colored") -> tuple[Array, float]:
    """Path of the chain's end (steps, 3) [m], and the largest stretch |C| [m] at the end of any step."""
    scene, model = chain()
    sim = Simulation.of_model(scene, model, XPBD(substeps, iterations, order), dt=DT)
    path, worst = [], 0.0
    for _ in range(round(SECONDS / DT)):
        sim.step()
        x = sim.x[0, : LINKS + 1]
        path.append(x[-1])
        worst = max(worst, float(np.abs(np.linalg.norm(np.diff(x, axis=0), axis=1) - LENGTH / LINKS).max()))
    return np.array(path), worst


def off(path: Array, truth: Array) -> float:
    """RMS distance of two paths [m]."""
    return float(np.sqrt(((path - truth) ** 2).sum(axis=1).mean()))


def run(quick: bool = False) -> Experiment:
    """Iterations against substeps at equal sweeps; orders at one budget."""
    sweeps = (1, 5, 20) if quick else SWEEPS
    truth, least = swing(1000 if quick else 4000, 1)
    out = Experiment(
        "chain",
        "Particle chain",
        "Twenty masses on springs fall from the horizontal and swing. The same number of sweeps per step is "
        "spent on iterations of one step or on substeps of one sweep each; then only the order of the sweep "
        "is changed. Recorded: the largest stretch, and how far the end is from where a fine step takes it.",
        {"dt": "1/60 s", "seconds": SECONDS, "dtype": "float64", "masses": f"{LINKS} of {MASS} kg",
         "springs": f"{STIFFNESS:g} N/m", "reference": "1 sweep in each of many substeps"},
    )  # fmt: skip
    rows, lines = [], {}
    for name, how in (("iterations", lambda n: (1, n)), ("substeps", lambda n: (n, 1))):
        seen = [swing(*how(n)) for n in sweeps]
        errors = [off(p, truth) for p, _ in seen]
        lines[name] = (errors, [w for _, w in seen])
        rows += [(name, n, 1e3 * e, 1e3 * w) for n, e, (_, w) in zip(sweeps, errors, seen, strict=True)]
    for order in ("colored", "sequential", "jacobi"):
        path, worst = swing(20, 5, order)
        rows.append((f"20 x 5, {order}", 100, 1e3 * off(path, truth), 1e3 * worst))
    heads = (
        "spent on",
        "sweeps per step",
        "end's distance from the reference, RMS [mm]",
        "largest stretch [mm]",
    )
    out.tables.append(Table("Equal sweeps", heads, rows))
    titles = ("End off the reference", "Largest stretch")
    for k, label in ((1, "largest stretch [mm]"), (0, "end off the reference, RMS [mm]")):
        drawn = [Line(name, sweeps, [1e3 * v for v in pair[k]]) for name, pair in lines.items()]
        if k == 1:
            drawn.append(Line("reference", sweeps, [1e3 * least] * len(sweeps), True))
        out.plots.append(Plot(titles[k], "sweeps per step", label, drawn, "xy"))
    for k, n in enumerate(sweeps):
        if n >= 5:
            off_stretch = {kind: abs(pair[1][k] - least) for kind, pair in lines.items()}
            for what, share in (
                ("distance from the reference", lines["substeps"][0][k] / lines["iterations"][0][k]),
                ("largest stretch off the reference's", off_stretch["substeps"] / off_stretch["iterations"]),
            ):
                if "stretch" in what and n > 20:
                    continue  # both are near the reference's, and cross it
                out.verdicts.append(
                    Verdict(f"{n} sweeps: {what}, substeps over iterations", share, 1.0, 0,
                            "Macklin et al. 2019, Small Steps: substeps do better", at_most=True)
                )  # fmt: skip
    error = lines["substeps"][0]
    out.verdicts.append(
        Verdict("substeps: error with the most, share of that with the fewest", error[-1] / error[0], 0.1, 0,
                "convergence to the reference run", at_most=True)
    )  # fmt: skip
    return out
