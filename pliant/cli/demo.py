"""``pliant demo``: a cotton tablecloth drapes over a round table."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.backend.notice import notice
from pliant.cli import INTERRUPTED, NOT_FINITE, OK, complain
from pliant.cli.outputs import checked, default_outputs, frames_apart, written_since
from pliant.cli.report import Sampler, crossings_text, failed_worlds, json_text, run_report, write_json
from pliant.diagnostics.drape import drape_coefficient, shadow_area
from pliant.errors import PliantError
from pliant.geometry import shapes
from pliant.geometry.colliders import Cylinder, Plane
from pliant.materials import fabrics
from pliant.model import Contact
from pliant.scene import Scene
from pliant.simulation import Simulation
from pliant.solvers.xpbd.solver import XPBD

Array = np.ndarray

TITLE = "A cotton tablecloth on a round table"
CLOTH_RADIUS = 0.68
TABLE_RADIUS = 0.40
TABLE_HEIGHT = 0.74
TOP = 0.08  # thickness of the table's top, and twice the radius of its rim
FELT = 0.003
OFF_CENTRE = (0.010, 0.006)
AIR_DRAG = 1.5
"""1/s. A sheet of 0.15 kg/m^2 that moves broadside at v is braked at rho c v/(2 sigma) = 4.8 v per second
(rho = 1.2 kg/m^3, c = 1.2): 1.5 1/s at 0.3 m/s, the speed at which the edge swings here."""


@dataclass(frozen=True)
class Size:
    """How finely the demo runs: edge [m], substeps, simulated time [s]."""

    edge: float
    substeps: int
    seconds: float


FULL = Size(edge=0.02, substeps=80, seconds=4.0)
QUICK = Size(edge=0.05, substeps=20, seconds=0.5)


@dataclass(frozen=True)
class Table(Cylinder):
    """A table top under felt: the cloth lies on the felt, the pictures show the wood.

    Contact is found at the cloth's vertices, and between them its flat triangles cut up to 2.6 mm (edges of
    29 mm, a rim of 40 mm) into a round rim; the felt (3 mm) is where they do.
    """

    felt: float = FELT

    def display(self, extent: float) -> tuple[Array, Array]:
        """The surface under the felt."""
        wood = Cylinder(self.radius - self.felt, self.height - 2 * self.felt, self.rounding - self.felt)
        return wood.display(extent)


def make_scene(edge: float) -> Scene:
    """The cloth, a little off the centre as cloths are, just above a table with one foot."""
    scene = Scene(air_drag=AIR_DRAG, contact=Contact())
    cloth = shapes.disc(CLOTH_RADIUS, edge)
    start = (*OFF_CENTRE, TABLE_HEIGHT + 0.005)
    scene.add_cloth(cloth, fabrics.cotton, position=start, name="tablecloth")
    top = Table(TABLE_RADIUS, TOP, rounding=0.5 * TOP)
    scene.add_collider(top, (0, 0, TABLE_HEIGHT - 0.5 * TOP), name="table")
    leg = TABLE_HEIGHT - 0.5 * TOP
    scene.add_collider(Cylinder(0.04, leg), (0, 0, 0.5 * leg), name="leg")
    scene.add_collider(Cylinder(0.24, 0.03, 0.01), (0, 0, 0.015), name="foot")
    scene.add_collider(Plane(), name="floor")
    return scene


def run(args: argparse.Namespace) -> int:
    """Simulate, write the files, print a summary."""
    size = QUICK if args.quick else FULL
    seconds = args.seconds or size.seconds
    folder = Path(args.out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PliantError(f"cannot make {folder}: {error.strerror}; choose another --out") from error
    report_file = folder / "report.json"
    recordings, _ = checked([*default_outputs(folder / "drape"), report_file])
    began, started = time.perf_counter(), time.time()
    scene = make_scene(size.edge)
    sim = Simulation(scene, XPBD(substeps=size.substeps))
    set_up = time.perf_counter() - began
    cloth = scene.cloths[0].mesh
    notice(
        f"draping {cloth.n_vertices} vertices of cotton for {seconds:g} s, {round(seconds / sim.dt)} steps"
    )
    sampler = Sampler(every=15)
    try:
        sim.run(
            seconds,
            record=list(recordings),
            every=frames_apart(sim.dt),
            before=sampler,
            progress=not args.quiet,
            title=TITLE,
        )
    except KeyboardInterrupt:
        made = written_since(recordings, started)
        return complain(f"interrupted at {sim.time:.2f} s{made}", INTERRUPTED)
    outputs = [*recordings, report_file]
    report = {
        "what": TITLE,
        **describe(sim),
        **run_report(sim, sampler),
        "set_up_seconds": set_up,
        "total_seconds": time.perf_counter() - began,
        "outputs": [str(path) for path in outputs],
    }
    write_json(report, report_file)
    print(json_text(report) if args.json else summary(report, outputs))
    if sim.info is not None and failed_worlds(sim.info).size:
        return complain("the cloth became non-finite and was frozen; the pictures end there", NOT_FINITE)
    return OK


def describe(sim: Simulation) -> dict[str, Any]:
    """Sizes in SI units, and what the drape amounts to."""
    cloth = sim.scene.cloths[0]
    x, support = np.asarray(sim.x[0], float), np.pi * TABLE_RADIUS**2
    shadow = shadow_area(x, cloth.mesh.triangles)
    hangs_free = float(x[:, 2].min()) > 0.05
    value = drape_coefficient(shadow, support, cloth.rest.area) if hangs_free else None
    return {
        "scene": {
            "cloth": {
                "radius": CLOTH_RADIUS,
                "vertices": cloth.mesh.n_vertices,
                "triangles": cloth.mesh.n_triangles,
                "mass": float(sim.model.mass.sum()),
            },
            "table": {"radius": TABLE_RADIUS, "height": TABLE_HEIGHT, "rim": 0.5 * TOP, "felt": FELT},
            "gravity": sim.scene.gravity.tolist(),
            "air_drag": sim.scene.air_drag,
            "lowest_point": float(x[:, 2].min()),
        },
        "drape_coefficient": {
            "value": value,
            "meaning": "(shadow - table)/(cloth - table), Cusick 1968. His specimens are 30 cm across: this "
            "cloth is larger and hangs more limply, so the figure is not one to compare with a data sheet",
        },
    }


def summary(report: dict[str, Any], outputs: list[Path]) -> str:
    """What was simulated, what came of it, what to do next."""
    scene, last, protocol = report["scene"], report["last_step"], report["protocol"]
    drape = report["drape_coefficient"]["value"]
    step = 1000 * protocol["dt"] / protocol["substeps"]
    lines = [
        f"{TITLE}: {2 * scene['cloth']['radius']:.2f} m across, {1000 * scene['cloth']['mass']:.0f} g, "
        f"{scene['cloth']['vertices']} vertices",
        f"  {report['simulated_seconds']:.2f} s simulated with {protocol['solver']}, "
        f"{protocol['substeps']} substeps of {step:.2f} ms a step, in {report['total_seconds']:.0f} s "
        f"({report['first_step_seconds']:.0f} s the first step)",
        f"  at the end {1000 * last['kinetic'][0]:.2g} mJ of motion, {last['contacts'][0]} vertices on the "
        f"table; penetration at most {1000 * report['largest_penetration']:.2g} mm",
        f"  drape coefficient {drape:.2f}" if drape is not None else "  the cloth is nearly on the floor",
        f"  {crossings_text(report)}",
        "written:",
        *(f"  {path}" for path in outputs),
        f"Open {outputs[0]} in a browser to turn, play and scrub.",
        "Next: write your own scene and run it, `pliant run scene.toml`; docs/first-scene.md shows how.",
    ]
    return "\n".join(lines)
