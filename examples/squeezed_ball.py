"""A soft ball is pressed flat by a falling plate and is round again when the plate has gone.

python examples/squeezed_ball.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import pliant as pl

RADIUS = 0.1  # m


def main(quick: bool = False) -> dict[str, Any]:
    """Press it to 60 % of its height, hold, let go."""
    material = pl.SolidMaterial(
        "soft foam", density=200.0, youngs_modulus=2e4, poisson_ratio=0.3, damping_time=2e-3
    )
    scene = pl.Scene(gravity=(0, 0, -9.81))
    ball = scene.add_solid(
        pl.shapes.ball(RADIUS, 3 if quick else 5), material, position=(0, 0, RADIUS), name="ball"
    )
    scene.add_collider(pl.Plane(), friction=0.5)
    up, down = (0, 0, 2 * RADIUS + 0.06), (0, 0, 1.2 * RADIUS + 0.05)
    plate = pl.Keyframes([0.0, 0.5, 0.7, 1.0], positions=[up, down, down, up])
    scene.add_collider(pl.Box((0.4, 0.4, 0.1), rounding=0.01), friction=0.5, motion=plate, name="plate")
    sim = pl.Simulation(scene, pl.XPBD(substeps=20 if quick else 40))
    recording = sim.new_recording("A ball under a plate", every=2)
    heights = []
    for step in range(1, 121):
        info = sim.step("full" if step == 120 else "status")
        heights.append(float(np.ptp(ball.x[0, :, 2])))
        if step % 2 == 0:
            recording.add(sim.time, sim.x[0], sim.vertex_strain())
    return {"info": info, "recording": recording, "heights": heights, "x": ball.x[0], "mesh": ball.rest}


def check(results: dict[str, Any]) -> None:
    """It was pressed to 60 %, it is round again, whole, and lies on the floor."""
    heights, mesh, x = results["heights"], results["mesh"], results["x"]
    assert results["info"].ok(), results["info"].status
    height = float(np.ptp(mesh.vertices[:, 2]))
    assert 0.5 < min(heights) / height < 0.65, "pressed flat"
    assert 0.95 < heights[-1] / height < 1.01, "round again, but for its weight"
    corners = x[mesh.tets]
    assert (np.linalg.det(corners[:, 1:] - corners[:, :1]) > 0).all(), "no tetrahedron inside out"
    assert abs(x[:, 2].min()) < 1e-3, "on the floor"


def figure(results: dict[str, Any], path: str | Path) -> Path:
    """Write the recording: .html, .png or .npz."""
    from pliant import viewer

    return viewer.write(results["recording"], path)


if __name__ == "__main__":
    found = main()
    check(found)
    print(figure(found, "squeezed_ball.html"))
