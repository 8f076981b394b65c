"""A square of wool hangs from two corners; the pins carry its weight.

python examples/hanging_cloth.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import pliant as pl

SIDE = 0.6  # m


def main(quick: bool = False) -> dict[str, Any]:
    """Simulate until it hangs still."""
    n = 13 if quick else 31
    scene = pl.Scene(air_drag=3.0)
    mesh = pl.shapes.grid(n, n, size=(SIDE, SIDE), pattern="alternating")
    corners = [n * (n - 1), n * n - 1]
    start = np.array([0, 0, 1.0])
    cloth = scene.add_cloth(
        mesh, pl.fabrics.wool, start, rotation=(np.pi / 2, 0, 0), pins=corners, name="wool"
    )
    sim = pl.Simulation(scene, pl.XPBD(substeps=40))
    recording = sim.new_recording("Wool on two pins", every=2)
    held = cloth.x[0, corners]
    for step in range(1, (60 if quick else 180) + 1):
        info = sim.step("full")
        if step % 2 == 0:
            recording.add(sim.time, sim.x[0], sim.vertex_strain())
    return {"info": info, "recording": recording, "x": cloth.x[0], "corners": corners, "held": held}


def check(results: dict[str, Any]) -> None:
    """Pinned corners do not move at all; the upper edge sags between them; the cloth is almost at rest."""
    x, info = results["x"], results["info"]
    assert info.ok(), info.status
    np.testing.assert_array_equal(x[results["corners"]], results["held"])
    n = round(len(x) ** 0.5)
    edge = x[n * (n - 1) :, 2]
    assert 0.005 < edge[0] - edge[n // 2] < 0.2, "the upper edge sags"
    assert info.kinetic[0] < 0.02 * info.elastic[0], "it has come to rest"
    assert info.max_penetration[0] == 0


def figure(results: dict[str, Any], path: str | Path) -> Path:
    """Write the recording: .html, .png or .npz."""
    from pliant import viewer

    return viewer.write(results["recording"], path)


if __name__ == "__main__":
    found = main()
    check(found)
    print(figure(found, "hanging_cloth.html"))
