"""Experiment: the drape test of Cusick. A round specimen over a smaller disc, its shadow and its folds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..diagnostics.drape import drape_coefficient, shadow_area
from ..geometry import shapes
from ..geometry.mesh import TriMesh
from ..materials import Fabric, fabrics
from ..scene import Scene
from ..simulation import Simulation
from ..solvers.newton.solver import Newton
from ..solvers.xpbd.solver import XPBD
from .experiment import Experiment, Line, Picture, Plot, Table, Verdict
from .specimens import FOREVER, settled
from .textile import G

Array = np.ndarray

DISC, SPECIMEN = 0.09, 0.15
"""Radii [m] of the disc and of the specimen: BS 5058, ISO 9073-9."""


SECONDS, LOWERED, SUBSTEPS = 4.0, 1.5, 20
"""Time of the way down [s]; gravity is there after one part in LOWERED of it; substeps of 1/60 s."""


@dataclass(frozen=True)
class Drape:
    """A specimen at rest: mesh, positions (N, 3) [m], drape coefficient [%], folds, profile of the rim.

    profile (A,): how far the shadow's rim is from the axis [m] at A angles around it.
    """

    mesh: TriMesh
    x: Array
    coefficient: float
    folds: int
    profile: Array


def drape(fabric: Fabric, edge: float = 0.009, specimen: float = SPECIMEN) -> Drape:
    """Let the overhang down from flat, in air that takes its motion; then bring it to rest.

    XPBD lets it down, which finds the folds; Newton takes them to equilibrium, so that the coefficient is
    that of the fabric and the mesh. Only the overhang is simulated; what lies between the discs holds it,
    level, half an element inside its second ring of vertices. Nothing keeps folds from crossing one
    another. A ripple of a hundredth of an edge, the same for all, lets it choose where to fold.
    """
    rings = max(3, round((specimen - DISC) / (edge * np.sqrt(0.75))))
    width = (specimen - DISC) / (rings + 0.5)
    mesh = shapes.annulus(DISC - 0.5 * width, specimen, width / np.sqrt(0.75))
    r = np.linalg.norm(mesh.vertices[:, :2], axis=1)
    held = r < DISC + 0.75 * width
    scene = Scene(air_drag=3.0)
    scene.add_cloth(mesh, fabric, pins=np.flatnonzero(held))
    sim = Simulation(scene, XPBD(SUBSTEPS), dt=1 / 60)
    ripple = 0.01 * width * np.random.default_rng(0).standard_normal(len(r))
    start = sim.x[0].copy()
    start[:, 2] += np.where(held, 0.0, ripple)
    sim.state.set_x(start)
    steps = round(60 * SECONDS)
    for k in range(steps):
        sim.set(gravity=(0, 0, -G * min(1.0, LOWERED * (k + 1) / steps)))
        sim.step()
    rest = Simulation(scene, Newton(max_iterations=300), dt=FOREVER)
    rest.state.set_x(sim.x[0])
    settled(rest)
    end = rest.x[0].copy()
    hole = np.pi * (DISC - 0.5 * width) ** 2
    shadow = shadow_area(end, mesh.triangles, 600) + hole
    coefficient = 100 * drape_coefficient(shadow, np.pi * DISC**2, np.pi * specimen**2)
    profile = rim(end[r > specimen * (1 - 1e-6)])
    return Drape(mesh, end, coefficient, folds(profile), profile)


def rim(x: Array, angles: int = 360) -> Array:
    """Distance from the axis (angles,) [m] of a closed line of points (n, 3) around it."""
    a = np.arctan2(x[:, 1], x[:, 0])
    order = np.argsort(a)
    t = np.linspace(-np.pi, np.pi, angles, endpoint=False)
    return np.interp(t, a[order], np.linalg.norm(x[order, :2], axis=1), period=2 * np.pi)


def folds(profile: Array) -> int:
    """How many waves a rim has: rises through its mean and back, by more than a tenth of its largest
    swing."""
    off = profile - profile.mean()
    room = 0.1 * float(np.abs(off).max())
    if room < 1e-6 * float(profile.mean()):
        return 0
    count, high = 0, False
    for value in np.roll(off, -int(np.argmin(off))):
        if value > room and not high:
            count, high = count + 1, True
        elif value < -room:
            high = False
    return count


ASKED = {
    "cotton": (68.0, 8.0, "60 to 76 %, plain cotton; measured 68.4 by Gan, Ly & Steven 1991 (P03_3)"),
    "denim": (80.0, 10.0, "70 to 90 %, heavy twill, an estimate of the class (P03_5)"),
    "polyester": (28.3, 5.0, "measured on polyester faille of this B, Matsudaira et al. 2015 (P06)"),
}
"""Drape coefficients [%] of fabrics whose bending was measured: value, room in points, source."""


def run(quick: bool = False) -> Experiment:
    """Fabrics, then meshes; quick: two fabrics, one mesh."""
    edge = 0.010 if quick else 0.008
    names = ["cotton", "polyester"] if quick else ["cotton", "wool", "polyester", "denim"]
    out = Experiment(
        "cusick",
        "Drape test",
        "A round specimen of 30 cm lies on a disc of 18 cm; the drape coefficient is the share of the "
        "overhang that its shadow still covers. XPBD lets it down, Newton brings it to rest. Changed: "
        "the fabric, the mesh. Elastic fabrics fold more than real ones, which resist unfolding (P05).",
        {"way down": f"XPBD, {SUBSTEPS} substeps of 1/60 s, {SECONDS:g} s, air 3 1/s",
         "rest": "Newton, steps that last for ever", "edge": f"{1e3 * edge:g} mm", "dtype": "float64"},
    )  # fmt: skip
    found = {name: drape(getattr(fabrics, name), edge) for name in names}
    stiff = drape(fabrics.cotton.with_(bending_rigidity=1e-2, youngs_modulus=1e8), 0.014)
    what, source = "a board: drape coefficient [%]", "by definition (P01)"
    out.verdicts.append(Verdict(what, stiff.coefficient, 100.0, 0.5, source, absolute=True))
    for name, (value, room, source) in ASKED.items():
        if name not in found:
            continue
        what = f"{name}: drape coefficient [%]"
        out.verdicts.append(Verdict(what, found[name].coefficient, value, room, source, absolute=True))
    source = "3 to 8 folds on a tester (P02)"
    out.verdicts += [
        Verdict("cotton: folds", found["cotton"].folds, 3, 0, source, at_least=True),
        Verdict("cotton: folds", found["cotton"].folds, 8, 0, source, at_most=True),
    ]
    rows = []
    for name, d in found.items():
        fabric = getattr(fabrics, name)
        c = 1e3 * (fabric.bending_rigidity / (fabric.areal_density * G)) ** (1 / 3)
        rows.append((name, c, d.coefficient, d.folds, -1e3 * float(d.x[:, 2].min())))
        out.pictures.append(picture(name, d))
    heads = ("fabric", "bending length c [mm]", "drape coefficient [%]", "folds", "hangs down by [mm]")
    out.tables.append(Table("Fabrics", heads, rows))
    angle = np.linspace(-180, 180, 360, endpoint=False)
    lines = [Line(name, angle, 1e3 * d.profile) for name, d in found.items()]
    lines.append(Line("disc", [-180, 180], [1e3 * DISC] * 2, True))
    out.plots.append(Plot("Rim of the shadow", "angle [deg]", "distance from the axis [mm]", lines))
    if not quick:
        _meshes(out, found["cotton"], edge)
    return out


def _meshes(out: Experiment, middle: Drape, edge: float) -> None:
    """Cotton on three meshes."""
    edges = [1.3 * edge, edge, edge / 1.3]
    found = [drape(fabrics.cotton, edges[0]), middle, drape(fabrics.cotton, edges[2])]
    rows = [(1e3 * e, len(d.x), d.coefficient, d.folds) for e, d in zip(edges, found, strict=True)]
    heads = ("edge [mm]", "vertices", "drape coefficient [%]", "folds")
    out.tables.append(Table("Cotton on three meshes", heads, rows))
    out.verdicts.append(
        Verdict("cotton: drape coefficient of the two finer meshes, apart [points]",
                abs(found[2].coefficient - found[1].coefficient), 3.0, 0, "it must not drift (P07)",
                at_most=True)
    )  # fmt: skip


def picture(name: str, d: Drape) -> Picture:
    """A draped specimen, drawn by the viewer; what lies between the discs is put back."""
    from ..viewer.png import render

    r = np.linalg.norm(d.mesh.vertices[:, :2], axis=1)
    inner = np.flatnonzero(r < r.min() * (1 + 1e-6))
    around = inner[np.argsort(np.arctan2(d.mesh.vertices[inner, 1], d.mesh.vertices[inner, 0]))]
    middle = np.full(len(around), len(d.x))
    lid = np.stack([around, np.roll(around, -1), middle], axis=1)
    x = np.concatenate([d.x, d.x[inner].mean(axis=0, keepdims=True)])
    pixels = render(x, np.concatenate([d.mesh.triangles, lid]), (420, 300))
    return Picture(f"{name}: {d.coefficient:.0f} %, {d.folds} folds", pixels)
