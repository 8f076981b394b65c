"""Experiment 4: a small cloth hung by two corners. Its resolution, then how it is solved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..geometry import measures, shapes, topology
from ..materials import Fabric
from ..scene import Scene
from ..simulation import Simulation
from ..solvers.xpbd.solver import XPBD
from .experiment import Experiment, Line, Plot, Table, Verdict

Array = np.ndarray

SIDE, SECONDS = 0.3, 1.5
CLOTH = Fabric(
    areal_density=0.2, thickness=5e-4, youngs_modulus=2e5, poisson_ratio=0.3, bending_rigidity=1e-4
)
QUANTILES = (50, 95, 100)


@dataclass(frozen=True)
class Swing:
    """A run: times (S,) [s], total energy (S,) [J], last positions (N, 3) [m], quantiles of |strain| of edges
    and of |curvature| of hinges [1/m] over all vertices at the end, and the largest strain at any time."""

    times: Array
    energy: Array
    x: Array
    strain: Array
    curvature: Array
    peak: float


def swing(
    n: int = 17, substeps: int = 20, iterations: int = 1, order: str = "colored", dtype: str = "float64",
    dt: float = 1 / 60, air_drag: float = 0.0, seconds: float = SECONDS,
) -> Swing:  # fmt: skip
    """Let fall from the horizontal, held at two corners."""
    mesh = shapes.grid(n, n, (SIDE, SIDE))
    scene = Scene(air_drag=air_drag)
    scene.add_cloth(mesh, CLOTH, pins=[0, n - 1])
    sim = Simulation(scene, XPBD(substeps, iterations, order), dt=dt, dtype=dtype)
    edges, hinges = mesh.edges, topology.hinges(mesh.triangles)
    length = measures.edge_lengths(mesh.vertices, edges)
    _, area = measures.cotangent_stencil(mesh.vertices, hinges)
    across = area / measures.edge_lengths(mesh.vertices, hinges[:, :2])
    times, energy, peak = [], [], 0.0
    for _ in range(round(seconds / dt)):
        info = sim.step("full")
        times.append(info.time)
        energy.append(float(info.energy[0]))  # type: ignore[index]
        x = sim.x[0].astype(float)
        peak = max(peak, float(np.abs(measures.edge_strains(x, edges, length)).max()))
    strain = np.percentile(np.abs(measures.edge_strains(x, edges, length)), QUANTILES)
    bend = np.percentile(np.abs(measures.hinge_angles(x, hinges)) / across, QUANTILES)
    return Swing(np.array(times), np.array(energy), x, strain, bend, peak)


def run(quick: bool = False) -> Experiment:
    """Resolution at two kinds of budget, then the axes."""
    out = Experiment(
        "small_cloth",
        "Small hanging cloth",
        "A sheet of 0.3 m falls, held at two corners, and comes to rest. First its resolution is changed, "
        "with the same sweeps and with sweeps that grow with it; then, one at a time, step, iterations, "
        "order of the sweep and the precision. Recorded: quantiles of strain and curvature, and the energy.",
        {"dt": "1/60 s", "substeps": 20, "iterations": 1, "order": "colored", "dtype": "float64",
         "cloth": f"E t = {CLOTH.membrane_stiffness:g} N/m, B = {CLOTH.bending_rigidity:g} N m, 0.2 kg/m²",
         "air_drag": "3 1/s where it is to come to rest, else none"},
    )  # fmt: skip
    _resolution(out, (5, 9, 17) if quick else (5, 9, 17, 33))
    _axes(out, quick)
    return out


def _resolution(out: Experiment, sizes: tuple[int, ...]) -> None:
    rows, curves, lowest = [], [], {}
    for kind in ("20 substeps", "substeps with the cells"):
        for n in sizes:
            substeps = 20 if kind == "20 substeps" else 5 * (n - 1)
            end = swing(n, substeps, air_drag=3.0, seconds=4.0)
            rows.append((kind, n, substeps, *(100 * end.strain), *end.curvature, end.x[:, 2].min()))
            lowest[kind, n] = float(end.x[:, 2].min())
            if kind != "20 substeps":
                curves.append(Line(f"{n} x {n}", end.times, 1e3 * end.energy))
    strains, bends = ("strain " + q + " [%]" for q in ("P50", "P95", "max")), ("P50", "P95", "max")
    heads = (
        "sweeps",
        "n",
        "substeps",
        *strains,
        *(f"curvature {q} [1/m]" for q in bends),
        "lowest point [m]",
    )
    out.tables.append(Table("Resolution, at rest in air", heads, rows))
    out.plots.append(Plot("Energy, at rest in air", "time [s]", "energy [mJ]", curves))
    a, b = (lowest["substeps with the cells", n] for n in sizes[-2:])
    out.verdicts.append(
        Verdict(f"lowest point, {sizes[-1]} against {sizes[-2]} a side [m]", b, a, 0.01,
                "the finer of two meshes, sweeps growing with the cells")
    )  # fmt: skip


def _axes(out: Experiment, quick: bool) -> None:
    seconds = 0.5 if quick else 1.0
    truth = swing(substeps=400, dt=1 / 240, seconds=seconds)
    axes = {
        "as it is": {},
        "step halved": {"dt": 1 / 120},
        "substeps doubled": {"substeps": 40},
        "iterations doubled": {"iterations": 2},
        "sequential": {"order": "sequential"},
        "Jacobi": {"order": "jacobi"},
        "float32": {"dtype": "float32"},
    }
    weight = CLOTH.areal_density * SIDE**2 * 9.81 * SIDE
    rows, found, curves = [], {}, []
    for name, change in axes.items():
        end = swing(seconds=seconds, **change)  # type: ignore[arg-type]
        found[name] = end
        above = 100 * float(end.energy.max() - end.energy[0]) / weight
        off = 1e3 * float(np.sqrt(((end.x - truth.x) ** 2).sum(axis=1).mean()))
        rows.append((name, off, 100 * end.peak, *(100 * end.strain), above))
        if name != "Jacobi":  # its stretch, far from resolved, would hide the others
            curves.append(Line(name, end.times, 1e3 * end.energy))
    heads = ("changed", "off the fine run, RMS [mm]", "largest strain ever [%]", "strain P50 [%]", "P95 [%]",
             "max [%]", "energy above the start [% of m g L]")  # fmt: skip
    out.tables.append(Table("One axis at a time, falling", heads, rows))
    out.plots.append(Plot("Energy while falling", "time [s]", "energy [mJ]", curves))
    by = {row[0]: row for row in rows}
    for name in ("step halved", "substeps doubled", "iterations doubled"):
        share = by[name][1] / by["as it is"][1]
        out.verdicts.append(
            Verdict(
                f"{name}: distance from the fine run, share of before",
                share,
                1.0,
                0,
                "reference run of 400 substeps at 1/240 s",
                at_most=True,
            )
        )
    gap = float(np.abs(found["float32"].x - found["as it is"].x).max())
    out.verdicts.append(
        Verdict(
            "float32 against float64, largest [m]", gap, 1e-3, 0, "the run in double precision", at_most=True
        )
    )
    for name in ("substeps doubled", "iterations doubled"):
        out.verdicts.append(
            Verdict(f"{name}: energy above the start [% of m g L]", by[name][-1], 1.0, 0,
                    "passive (20 sweeps leave stretch that no force answers to)",
                    at_most=True)
        )  # fmt: skip
