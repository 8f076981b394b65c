"""A T-shirt is sewn from flat panels around a mannequin, hung by its shoulders, and dropped over a ball.

python examples/sewn_tshirt.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import pliant as pl
from pliant.sewing import panel_strains

BALL = 0.2  # radius, m


def main(quick: bool = False) -> dict[str, Any]:
    """Sew and simulate; returns the garment and what became of it."""
    size = 0.06 if quick else 0.021
    sewn = pl.sew(pl.garments.tshirt(size), pl.garments.mannequin())
    held = sewn.edge("front.left shoulder", "front.right shoulder")
    seconds = 0.4 if quick else 2.0
    hung, hung_record = _run(sewn, held, seconds)
    draped, draped_record = _run(sewn, None, seconds)
    return {
        "sewn": sewn,
        "held": held,
        "hung": hung,
        "draped": draped,
        "recording": hung_record,
        "over the ball": draped_record,
    }


def _run(sewn: pl.garments.Garment, pins: Any, seconds: float) -> tuple[np.ndarray, Any]:
    """On the mannequin, held by its shoulders; or without pins flat over a ball."""
    scene = pl.Scene(air_drag=1.0)
    if pins is not None:
        cloth = scene.add_cloth(sewn, pl.fabrics.cotton, pins=pins)
        for limb in pl.garments.mannequin():
            scene.add_collider(**limb.collider)
    else:
        chest = sewn.mesh.vertices[:, 2].mean()  # comes to lie over the ball
        cloth = scene.add_cloth(sewn, pl.fabrics.cotton, (0, -chest, 2 * BALL + 0.2), (-0.5 * np.pi, 0, 0))
        scene.add_collider(pl.Sphere(BALL), position=(0, 0, BALL), friction=0.5, name="ball")
    sim = pl.Simulation(scene, pl.XPBD(substeps=30))
    recording = sim.new_recording("A T-shirt of four panels", every=6)
    recording.add(sim.time, sim.x[0], sim.vertex_strain())
    for step in range(1, round(60 * seconds) + 1):
        sim.step()
        if step % 6 == 0:
            recording.add(sim.time, sim.x[0], sim.vertex_strain())
    return cloth.x[0], recording


def check(results: dict[str, Any]) -> None:
    """Its seams are closed, its panels as they were cut; it hangs, and the ball holds it."""
    sewn = results["sewn"]
    assert sewn.gap < 1e-4, "no seam is open"
    assert np.abs(panel_strains(sewn)).max() < 1e-3, "the panels are not strained before gravity"
    assert set(sewn.loops) == {"hem", "neck", "left cuff", "right cuff"}
    assert len(pl.self_intersections(sewn.mesh.vertices, sewn.triangles)) == 0
    hung, draped, held = results["hung"], results["draped"], results["held"]
    np.testing.assert_array_equal(hung[held], sewn.mesh.vertices[held])
    below = hung[held, 2].mean() - hung[sewn.loops["hem"], 2].mean()
    assert 0.55 < below < 0.75, "it hangs to its length"
    away = np.linalg.norm(draped - (0, 0, BALL), axis=1) - BALL
    assert away.min() > -1e-3, "nothing is in the ball"
    if len(draped) > 1000:
        assert (away < 2e-3).sum() > 50, "it lies on the ball"
        assert draped[:, 2].max() < 2 * BALL + 0.1


def figure(results: dict[str, Any], path: str | Path) -> Path:
    """Write the recording of the hanging shirt: .html, .png or .npz."""
    from pliant import viewer

    return viewer.write(results["recording"], path)


if __name__ == "__main__":
    found = main()
    check(found)
    print(found["sewn"])
    print(figure(found, "tshirt.html"))
