"""A flag in gusts of wind, and three more in steady winds of other worlds.

python examples/flag_in_wind.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import pliant as pl

WIDTH, HEIGHT = 0.9, 0.6  # m
WINDS = (2.0, 4.0, 6.0, 9.0)  # m/s, one for each world


def flag(quick: bool) -> tuple[pl.Scene, pl.Cloth, np.ndarray]:
    """A flag of polyester at a pole along z, in air."""
    scene = pl.Scene(air_density=1.2)
    mesh = pl.shapes.equilateral((WIDTH, HEIGHT), 0.06 if quick else 0.025)
    pole = np.flatnonzero(mesh.vertices[:, 0] < mesh.vertices[:, 0].min() + 1e-9)
    cloth = scene.add_cloth(
        mesh, pl.fabrics.polyester, (0, 0, 1), rotation=(np.pi / 2, 0, 0), pins=pole, name="flag"
    )
    return scene, cloth, pole


def main(quick: bool = False) -> dict[str, Any]:
    """Winds across the flag's plane at first, which it turns into; gusty in the first world."""
    scene, cloth, pole = flag(quick)
    sim = pl.Simulation(scene, pl.XPBD(substeps=10 if quick else 30), worlds=len(WINDS))
    recording = sim.new_recording("A flag in gusts", world=3, every=2)
    rest = cloth.mesh.vertices[:, 0].mean() - cloth.mesh.vertices[pole, 0].mean()
    reach, lift = [], []
    for step in range(1, (120 if quick else 300) + 1):
        gust = 1 + 0.3 * np.sin(5 * sim.time) * np.sin(1.7 * sim.time)
        side = 0.15 * np.sin(4 * sim.time + 0.5)
        sim.set(wind=[(u * gust, 0.1 * u + u * side, 0) for u in WINDS])
        info = sim.step()
        x = cloth.x
        reach.append((x[:, :, 0].mean(axis=1) - x[:, pole, 0].mean(axis=1)) / rest)
        lift.append(x[:, :, 2].mean(axis=1) - 1)
        if step % 2 == 0:
            recording.add(sim.time, sim.x[3], sim.vertex_strain(3))
    return {"info": info, "recording": recording, "reach": np.array(reach), "lift": np.array(lift)}


def check(results: dict[str, Any]) -> None:
    """The stronger the wind, the higher a flag flies; all keep their size."""
    assert results["info"].ok(), results["info"].status
    late = results["lift"][len(results["lift"]) // 2 :].mean(axis=0)
    assert late[0] < late[1] < min(late[2], late[3]), f"mean height over the pole's middle {late}"
    assert np.abs(results["reach"]).max() < 1.1, "no flag is torn out of shape"


def figure(results: dict[str, Any], path: str | Path) -> Path:
    """Write the recording of the strongest wind: .html, .png or .npz."""
    from pliant import viewer

    return viewer.write(results["recording"], path)


if __name__ == "__main__":
    found = main()
    check(found)
    print(figure(found, "flag_in_wind.html"))
