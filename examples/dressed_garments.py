"""Every garment is sewn, hung and dropped over a ball; a table of what was measured and a page of pictures.

python examples/dressed_garments.py [vertices]

``vertices`` is about how many each garment has: 500, 2000 (default) or 8000, which takes many minutes. Layers
keep off each other; should any cross, they are counted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pliant as pl
from pliant.sewing import panel_strains

Array = np.ndarray

BALL = 0.2  # radius, m
FELT = 0.007  # how much thinner the bodies are drawn, m
FIBRE = pl.fabrics.cotton
SUBSTEP_SPEED = 1.7  # edges times substeps, m: as soft at any size (docs/solvers/xpbd.md)


class Plan(NamedTuple):
    """make: a garment from a size [m]; sizes: for 500, 2000 and 8000 vertices; held: what it hangs by;
    openings: how many; legs: how far those of the mannequin that it is sewn around are spread; worn: whether
    it hangs around it; middle: the share of its height that comes to lie over the ball; pressure [Pa] inside.
    """

    make: Callable[[float], pl.garments.Garment]
    sizes: tuple[float, float, float]
    held: Callable[[pl.garments.Garment], Array]
    openings: int
    legs: float | None = None
    worn: bool = False
    middle: float = 0.5
    pressure: float = 0.0


def corners(garment: pl.garments.Garment) -> Array:
    """The two vertices that lie furthest to the left and the right at the back."""
    x = garment.mesh.vertices
    return np.array([np.argmax(x[:, 1] - x[:, 0]), np.argmax(x[:, 1] + x[:, 0])])


PLANS = {
    "T-shirt": Plan(
        pl.garments.tshirt,
        (0.0425, 0.021, 0.0105),
        lambda g: g.edge("front.left shoulder", "front.right shoulder"),
        openings=4,
        legs=6.0,
        worn=True,
    ),
    "trousers": Plan(
        pl.garments.trousers,
        (0.0445, 0.024, 0.0122),
        lambda g: g.loops["waist"],
        openings=3,
        legs=3.0,
        middle=0.62,
    ),
    "skirt": Plan(
        pl.garments.skirt, (0.037, 0.0185, 0.0093), lambda g: g.loops["waist"], openings=2, legs=6.0
    ),
    "towel": Plan(pl.garments.towel, (0.03, 0.0155, 0.0077), corners, openings=1),
    "pillow": Plan(pl.garments.pillow, (0.029, 0.0143, 0.0072), corners, openings=0, pressure=5.0),
}
LAID_DOWN = (-0.5 * np.pi, 0.0, 0.0)


def main(quick: bool = False, vertices: int = 2000) -> dict[str, Any]:
    """Sew, hang and drape; returns what was found of each garment, and its recordings."""
    which = (500, 2000, 8000).index(vertices)
    if quick:
        return {name: _worn(name, PLANS[name], 0.06, 0.2) for name in ("towel", "skirt")}
    return {name: _worn(name, plan, plan.sizes[which], 2.0) for name, plan in PLANS.items()}


def _worn(name: str, plan: Plan, size: float, seconds: float) -> dict[str, Any]:
    garment = plan.make(size)
    body = pl.garments.mannequin(legs=plan.legs) if plan.legs is not None else []
    sewn = pl.sew(garment, body, FIBRE) if body else garment
    x = sewn.mesh.vertices
    found: dict[str, Any] = {"sewn": sewn, "plan": plan, "crossings": _crossings(x, sewn)}
    scene = pl.Scene(air_drag=1.0, contact=pl.Contact())
    cloth = scene.add_cloth(sewn, FIBRE, pins=plan.held(sewn))
    for limb in body if plan.worn else []:
        scene.add_collider(**limb.collider)
    found["hung"] = _run(scene, cloth, sewn, plan, seconds, f"{name}, hung")
    scene = pl.Scene(air_drag=1.0, contact=pl.Contact())
    turn = LAID_DOWN if body else (0.0, 0.0, 0.0)
    lying = x[:, [0, 2, 1]] * (1, 1, -1) if body else x
    low, high = lying.min(axis=0), lying.max(axis=0)
    over = np.array([*-(low + (0.5, plan.middle, 0) * (high - low))[:2], 2 * BALL + 0.02 - low[2]])
    cloth = scene.add_cloth(sewn, FIBRE, over, turn)
    scene.add_collider(pl.Sphere(BALL), position=(0, 0, BALL), friction=0.5, name="ball")
    scene.add_collider(pl.Plane(), friction=0.5, name="floor")
    found["draped"] = _run(scene, cloth, sewn, plan, seconds, f"{name}, over a ball")
    return found


def _run(
    scene: pl.Scene, cloth: pl.Cloth, sewn: pl.garments.Garment, plan: Plan, seconds: float, title: str
) -> dict[str, Any]:
    """Where the cloth is after some time, and what was measured there."""
    if plan.pressure:
        scene.add_pressure(cloth, plan.pressure)
    sim = pl.Simulation(scene, pl.XPBD(substeps=max(20, round(SUBSTEP_SPEED / sewn.size))))
    recording = sim.new_recording(title, every=6)
    recording.add(sim.time, sim.x[0], sim.vertex_strain())
    for step in range(1, round(60 * seconds) + 1):
        sim.step()
        if step % 6 == 0:
            recording.add(sim.time, sim.x[0], sim.vertex_strain())
    x = np.array(cloth.x[0])
    strain = sim.vertex_strain()
    return {"x": x, "crossings": _crossings(x, sewn), "strain": strain, "recording": recording}


def _crossings(x: Array, garment: pl.garments.Garment) -> int:
    return len(pl.self_intersections(x, garment.triangles))


def check(results: dict[str, Any]) -> None:
    """Seams closed, panels as they were cut, no crossing at the start; held things hang, the ball holds."""
    for name, found in results.items():
        sewn, plan = found["sewn"], found["plan"]
        assert sewn.gap < 1e-4, f"{name}: no seam is open"
        assert np.abs(panel_strains(sewn)).max() < 1e-3, f"{name}: its panels are not strained before gravity"
        assert len(sewn.loops) == plan.openings, f"{name}: its openings"
        assert found["crossings"] == 0, f"{name}: nothing crosses at the start"
        assert found["hung"]["crossings"] == found["draped"]["crossings"] == 0, f"{name}: nor when worn"
        held = plan.held(sewn)
        np.testing.assert_array_equal(found["hung"]["x"][held], sewn.mesh.vertices[held])
        away = np.linalg.norm(found["draped"]["x"] - (0, 0, BALL), axis=1) - BALL
        assert away.min() > -1e-3, f"{name}: nothing is in the ball"
        if len(away) > 400:
            assert (away < 2e-3).sum() > 10, f"{name}: it lies on the ball"


def table(results: dict[str, Any]) -> str:
    """What was measured, a line for each garment: 99 of 100 vertices have less than the worn strain."""
    head = ["garment", "vertices", "gap, mm", "strain, %", "crossings"]
    head += ["hung: strain, %", "crossings", "draped: strain, %", "crossings"]
    lines = [head, ["---"] * len(head)]
    for name, found in results.items():
        sewn, worn = found["sewn"], (found["hung"], found["draped"])
        strain = 100 * np.abs(panel_strains(sewn)).max()
        row = [name, f"{sewn.n_vertices}", f"{1e3 * sewn.gap:.2g}", f"{strain:.3f}", f"{found['crossings']}"]
        for part in worn:
            row += [f"{100 * np.quantile(part['strain'], 0.99):.1f}", f"{part['crossings']}"]
        lines.append(row)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def figure(results: dict[str, Any], path: str | Path) -> Path:
    """A page of pictures (.png): a row for each garment, sewn, hung, draped; else one recording."""
    from pliant import viewer
    from pliant.viewer.png import render

    if Path(path).suffix != ".png":
        return viewer.write(next(iter(results.values()))["hung"]["recording"], path)
    from PIL import Image

    rows = []
    for found in results.values():
        looks = [(found["sewn"].mesh.vertices, [])]
        looks += [
            (part["x"], _inset(part["recording"].placed(0))) for part in (found["hung"], found["draped"])
        ]
        triangles = found["sewn"].triangles
        rows.append(np.concatenate([render(x, triangles, (420, 420), solids) for x, solids in looks], axis=1))
    Image.fromarray(np.concatenate(rows, axis=0)).quantize(128).save(path, optimize=True)
    return Path(path)


def _inset(solids: list[Any]) -> list[Any]:
    """Solids drawn thinner: triangles of cloth are chords of what is round, and it would show through."""
    out = []
    for solid in solids:
        a, b, c = (solid.vertices[solid.triangles[:, k]] for k in range(3))
        normals = np.zeros_like(solid.vertices)
        for k in range(3):
            np.add.at(normals, solid.triangles[:, k], np.cross(b - a, c - a))
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        thinner = 0.0 if solid.name == "floor" else FELT
        out.append(replace(solid, vertices=solid.vertices - thinner * normals))
    return out


if __name__ == "__main__":
    found = main(vertices=int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
    sys.stdout.write(table(found) + "\n")
    sys.stdout.write(f"{figure(found, 'garments.png')}\n")
    check(found)
