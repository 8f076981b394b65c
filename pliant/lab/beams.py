"""A strip as a beam: large deflection under a load at its tip, and the first bending frequency.

The strip is that of :func:`pliant.lab.textile.heavy_elastica`: ribbed, clamped at one end half an element
inside the pinned one, its rigidity per width standing for E I/width of a beam.
"""

from __future__ import annotations

import numpy as np

from ..geometry import shapes
from ..materials import Fabric
from ..scene import Scene
from ..simulation import Simulation
from ..solvers.xpbd.solver import XPBD
from .experiment import Experiment, Line, Plot, Table, Verdict
from .statics import relax
from .textile import Measured, edge_load, ribbed

Array = np.ndarray

TIP_LOAD = {
    0.1: (0.0333, 0.00067),
    0.25: (0.08275, 0.00412),
    0.5: (0.16214, 0.01592),
    1.0: (0.30172, 0.05643),
    2.0: (0.49346, 0.16064),
    3.0: (0.60325, 0.25442),
    5.0: (0.71379, 0.38763),
    10.0: (0.81061, 0.555),
}
"""F L^2/(E I): drop/L and shortening/L of a cantilever under a dead load at its tip (Bisshopp & Drucker 1945;
Mattiasson 1981)."""

FIRST_ROOT = 1.8751040687
"""Smallest root of cos a cosh a = -1: clamped-free bending, f1 = a^2/(2 pi) sqrt(B/(rho_A L^4))."""


def strip(
    elements: int, length: float, rigidity: float, areal_density: float, gravity: float, worlds: int
) -> tuple[Simulation, Array, float]:
    """A clamped strip along x with substeps to be chosen, its free end's vertices, and where the clamp is."""
    spacing = length / (elements + 0.5)
    mesh = shapes.grid(elements + 2, 2, size=((elements + 1) * spacing, spacing))
    x = mesh.vertices
    root = x[:, 0].min() + spacing
    fabric = Fabric(
        areal_density=areal_density,
        youngs_modulus=1000 * rigidity / length**2 / 5e-4,
        poisson_ratio=0.0,
        bending_rigidity=rigidity,
    )
    scene = Scene(gravity=(0, 0, -gravity))
    scene.add_cloth(mesh, fabric, pins=np.flatnonzero(x[:, 0] < root + 0.5 * spacing))
    model = ribbed(scene.build(worlds), "isometric")
    sim = Simulation.of_model(scene, model, XPBD(substeps=1))
    return sim, np.flatnonzero(x[:, 0] > x[:, 0].max() - 0.5 * spacing), root - 0.5 * spacing


def tip_load(loads: list[float], substeps: int, elements: int = 20, length: float = 0.1) -> Measured:
    """C01 and C04: a dead load at the tip, one world per F L^2/(E I). Readings: drop/L, shortening/L."""
    rigidity = 1e-3 * length**2
    sim, tip, clamp = strip(elements, length, rigidity, 0.2, 0.0, max(2, len(loads)))
    x = sim.model.x_rest
    width = float(np.ptp(x[:, 1]))
    sim = Simulation.of_model(sim.scene, sim.model, XPBD(substeps=substeps), dt=1 / 240)
    sim.set(bending_scale=np.resize(1 / np.asarray(loads, float), sim.model.n_worlds))
    load = np.zeros_like(x)
    load[tip] = edge_load(x, tip, np.array([0.0, 0.0, -rigidity * width / length**2]))
    sim.control.set_force(load)
    rest = relax(sim, tolerance=2e-5)
    end = sim.x[: len(loads), tip].mean(axis=1)
    return Measured(np.stack([-end[:, 2] / length, 1 - (end[:, 0] - clamp) / length], axis=1), rest)


def bending_frequency(substeps: int, elements: int = 20, length: float = 0.1, periods: int = 2) -> float:
    """C07: first bending frequency, as a ratio to the closed form.

    The strip starts in the shape of its first mode, a hundredth of its length high, and is let go; the
    frequency is read from the zero crossings of the tip, 200 steps a period.
    """
    rigidity, density = 1e-5, 0.2
    exact = FIRST_ROOT**2 / (2 * np.pi) * np.sqrt(rigidity / (density * length**4))
    sim, tip, clamp = strip(elements, length, rigidity, density, 0.0, 1)
    x = sim.model.x_rest
    dt = 1 / (200 * exact)
    sim = Simulation.of_model(sim.scene, sim.model, XPBD(substeps=substeps), dt=dt)
    s = np.maximum(x[:, 0] - clamp, 0.0) / length
    bent = x.copy()
    bent[:, 2] = 0.01 * length * mode(s)
    bent[sim.model.pin_ids] = x[sim.model.pin_ids]
    sim.state.set_x(bent)
    height = [float(bent[tip, 2].mean())]
    for _ in range(200 * periods + 60):
        sim.step()
        height.append(float(sim.x[0, tip, 2].mean()))
    z = np.array(height)
    k = np.flatnonzero(z[:-1] * z[1:] < 0)
    crossings = k + z[k] / (z[k] - z[k + 1])
    half = np.diff(crossings)[: 2 * periods - 1].mean()
    return float(1 / (2 * half * dt) / exact)


def mode(s: Array) -> Array:
    """First mode of a clamped-free beam at s in [0, 1], 1 at the tip."""
    a = FIRST_ROOT
    c = (np.cosh(a) + np.cos(a)) / (np.sinh(a) + np.sin(a))
    return (np.cosh(a * s) - np.cos(a * s) - c * (np.sinh(a * s) - np.sin(a * s))) / 2


def run(quick: bool = False) -> Experiment:
    """Tip loads with doubled substeps, and the first frequency over the substeps."""
    loads = [0.25, 1.0, 5.0] if quick else list(TIP_LOAD)
    substeps = (20, 40) if quick else (20, 40, 80, 160)
    out = Experiment(
        "beams",
        "A strip as a beam",
        "A clamped strip is bent by a dead load at its tip, from small to large, and swings in its first "
        "mode. What changes with the substeps is XPBD's own error, which falls as h².",
        {"dt": "1/240 s (load), 1/200 of the period (swing)", "elements": 20, "dtype": "float64",
         "substeps": f"200 and 100 (load), {substeps} (swing)"},
    )  # fmt: skip
    coarse, fine = (tip_load(loads, s).readings for s in (100, 200))
    rows = []
    for load, seen, before in zip(loads, fine, coarse, strict=True):
        for k, reading in enumerate(("drop/L", "shortening/L")):
            exact = TIP_LOAD[load][k]
            rows.append((load, reading, float(seen[k]), float(before[k]), exact))
            out.verdicts.append(
                Verdict(f"F L²/B = {load:g} at the tip: {reading}", float(seen[k]), exact, 0.01,
                        "Bisshopp & Drucker 1945; Mattiasson 1981 (C04)", absolute=True)
            )  # fmt: skip
    heads = ("F L²/B", "reading", "measured", "with half the substeps", "exact")
    out.tables.append(Table("Load at the tip", heads, rows))
    lines = [Line("drop/L", loads, fine[:, 0]), Line("exact", loads, [TIP_LOAD[v][0] for v in loads], True)]
    out.plots.append(Plot("Load at the tip", "F L²/B", "drop/L", lines))
    off = [1 - bending_frequency(s) for s in substeps]
    out.tables.append(Table("First frequency, below theory's by", ("substeps of 1/200 period", "share"),
                            list(zip(substeps, off, strict=True))))  # fmt: skip
    out.plots.append(Plot("First frequency", "substeps of 1/200 of the period", "below theory's by (share)",
                          [Line("measured", substeps, off)], "xy"))  # fmt: skip
    source = "1.8751²/(2 pi) sqrt(B/(rho_A L^4)) (C07)"
    room = 0.1 if quick else 0.03
    out.verdicts.append(
        Verdict(f"first frequency over theory's, {substeps[-1]} substeps", 1 - off[-1], 1.0, room, source)
    )
    out.verdicts.append(
        Verdict("first frequency: error, when the substeps double, falls by", off[0] / off[1], 4.0, 0.25,
                "XPBD's error in a stiff motion: (omega h)²")
    )  # fmt: skip
    return out
