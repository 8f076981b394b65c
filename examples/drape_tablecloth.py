"""A round cotton cloth drapes over a round table.

python examples/drape_tablecloth.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import pliant as pl
from pliant.diagnostics.drape import drape_coefficient, shadow_area
from pliant.diagnostics.intersections import self_intersections

CLOTH, TABLE, HEIGHT = 0.45, 0.25, 0.7  # radii and height of the table, m


def main(quick: bool = False) -> dict[str, Any]:
    """Simulate; returns the simulation, its last report and a recording."""
    scene = pl.Scene(air_drag=1.5)
    mesh = pl.shapes.disc(CLOTH, 0.05 if quick else 0.02)
    cloth = scene.add_cloth(mesh, pl.fabrics.cotton, position=(0.01, 0, HEIGHT + 0.005), name="tablecloth")
    scene.add_collider(pl.Cylinder(TABLE, 0.08, rounding=0.04), position=(0, 0, HEIGHT - 0.04), name="table")
    sim = pl.Simulation(scene, pl.XPBD(substeps=20 if quick else 60))
    recording = sim.new_recording("A cotton tablecloth", every=2)
    for step in range(1, (36 if quick else 180) + 1):
        info = sim.step("full")
        if step % 2 == 0:
            recording.add(sim.time, sim.x[0], sim.vertex_strain())
    x = cloth.x[0]
    shadow = shadow_area(x, mesh.triangles)
    return {
        "info": info,
        "recording": recording,
        "x": x,
        "drape": drape_coefficient(shadow, np.pi * TABLE**2, mesh.area),
        "crossings": len(self_intersections(x, mesh.triangles)),
        "quick": quick,
    }


def check(results: dict[str, Any]) -> None:
    """The cloth lies on the table, hangs over its rim and has come to folds."""
    x, info = results["x"], results["info"]
    assert info.ok(), info.status
    thickness = pl.fabrics.cotton.thickness
    top = x[np.hypot(x[:, 0], x[:, 1]) < TABLE - 0.06, 2]
    assert np.abs(top - HEIGHT - 0.5 * thickness).max() < 2 * thickness, "the top lies flat on the table"
    reach = CLOTH + 0.01 - (TABLE - 0.04)  # from where the rim begins to the edge
    assert x[:, 2].min() > HEIGHT - 1.02 * reach, "the overhang is not stretched"
    assert x[:, 2].min() < HEIGHT - 0.7 * reach, "the overhang hangs"
    if not results["quick"]:
        assert 0 < results["drape"] < 0.6
        assert info.kinetic[0] < 1e-3, "it has come to rest"


def figure(results: dict[str, Any], path: str | Path) -> Path:
    """Write the recording: .html, .png or .npz."""
    from pliant import viewer

    return viewer.write(results["recording"], path)


if __name__ == "__main__":
    found = main()
    check(found)
    print(f"drape coefficient {found['drape']:.2f}, {found['crossings']} crossings with itself")
    print(figure(found, "tablecloth.html"))
