"""A towel is held by two corners and carried aside: pins that move.

python examples/moving_pins.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import pliant as pl

WAY, TIME = 0.5, 1.0  # m, s


def offset(time: float) -> np.ndarray:
    """Where the hands are at a time [s], from where they began [m]: off and to rest without a jerk."""
    s = min(time / TIME, 1.0)
    return np.array([0.0, WAY * s * s * (3 - 2 * s), 0.0])


def main(quick: bool = False) -> dict[str, Any]:
    """Carry the towel for a second, then wait."""
    scene = pl.Scene(air_drag=1.0)
    mesh = pl.shapes.equilateral((0.4, 0.6), 0.05 if quick else 0.025)
    top = np.flatnonzero(mesh.vertices[:, 1] > 0.3 - 1e-9)
    hands = [top[0], top[-1]]
    towel = scene.add_cloth(
        mesh, pl.fabrics.cotton, (0, 0, 1), rotation=(np.pi / 2, 0, 0), pins=hands, name="towel"
    )
    sim = pl.Simulation(scene, pl.XPBD(substeps=30))
    recording = sim.new_recording("A towel carried aside", every=2)
    start = towel.x[0, hands]
    lag, worst = [], 0.0
    for step in range(1, (60 if quick else 150) + 1):
        there = start + offset(sim.time + sim.dt)
        towel.set_targets(hands, there)
        info = sim.step()
        x = towel.x[0]
        worst = max(worst, float(np.abs(x[hands] - there).max()))
        lag.append(float(x[hands, 1].mean() - x[:, 1].mean()))
        if step % 2 == 0:
            recording.add(sim.time, sim.x[0], sim.vertex_strain())
    return {"info": info, "recording": recording, "lag": lag, "worst": worst}


def check(results: dict[str, Any]) -> None:
    """Hands are where they were told to be, to rounding; the towel trails them, then swings past."""
    assert results["info"].ok(), results["info"].status
    assert results["worst"] < 1e-15
    assert max(results["lag"]) > 0.05, "the towel trails"
    if len(results["lag"]) > 100:
        assert min(results["lag"]) < -0.005, "and swings past the hands"


def figure(results: dict[str, Any], path: str | Path) -> Path:
    """Write the recording: .html, .png or .npz."""
    from pliant import viewer

    return viewer.write(results["recording"], path)


if __name__ == "__main__":
    found = main()
    check(found)
    print(figure(found, "moving_pins.html"))
