"""64 worlds at once: one strip of denim, clamped at one end, with another bending stiffness in each world.

python examples/many_worlds.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import pliant as pl
from pliant.io.recording import Part, Recording

WORLDS = 64
LENGTH, WIDTH, EDGE = 0.1, 0.04, 0.0125  # m
PLAIN = 16
"""The world whose factor is exactly 1."""


def factors() -> np.ndarray:
    """Bending stiffness of each world over that of denim, from 1/4 to almost 64."""
    return 2.0 ** np.linspace(-2, 6, WORLDS, endpoint=False)


def strip(worlds: int, substeps: int) -> pl.Simulation:
    """A strip along x in every world, its first two rows of vertices clamped."""
    mesh = pl.shapes.equilateral((LENGTH, WIDTH), EDGE)
    scene = pl.Scene(air_drag=4.0)
    clamped = np.flatnonzero(mesh.vertices[:, 0] < -0.5 * LENGTH + 1.1 * EDGE)
    scene.add_cloth(mesh, pl.fabrics.denim, position=(0, 0, 1), pins=clamped, name="strip")
    return pl.Simulation(scene, pl.XPBD(substeps=substeps), worlds=worlds)


def main(quick: bool = False) -> dict[str, Any]:
    """Let all strips sag, and the plain one alone as well."""
    steps, substeps = (60, 20) if quick else (150, 60)
    many, one = strip(WORLDS, substeps), strip(1, substeps)
    many.set(bending_scale=factors())
    for _ in range(steps):
        info = many.step()
        one.step()
    tip = many.model.x_rest[:, 0] > 0.5 * LENGTH - 1e-3 * LENGTH
    sag = 1 - many.x[:, tip, 2].mean(axis=1)
    return {"info": info, "sag": sag, "x": many.x, "alone": one.x[0], "part": many.model.parts[0]}


def check(results: dict[str, Any]) -> None:
    """Stiffer strips sag less, and a world does not know how many others there are."""
    assert results["info"].ok(), results["info"].status
    assert factors()[PLAIN] == 1
    sag = results["sag"]
    assert sag[0] > 1.3 * sag[-1] > 0
    assert np.all(np.diff(sag[::8]) < 0), "sag falls with stiffness"
    np.testing.assert_array_equal(results["x"][PLAIN], results["alone"])


def figure(results: dict[str, Any], path: str | Path) -> Path:
    """Every eighth world beside the next, softest first."""
    from pliant import viewer

    x, part = results["x"][::8], results["part"]
    n = x.shape[1]
    parts = [Part(f"x {f:.3g}", k * n, (k + 1) * n, part.triangles) for k, f in enumerate(factors()[::8])]
    recording = Recording("One strip, eight stiffnesses", 1 / 60, parts)
    beside = np.array([0, 1.5 * WIDTH, 0])
    recording.add(0.0, np.concatenate([world + k * beside for k, world in enumerate(x)]))
    return viewer.write(recording, path)


if __name__ == "__main__":
    found = main()
    check(found)
    for factor, sag in zip(factors()[::8], found["sag"][::8], strict=True):
        print(f"bending x {factor:7.4f}   sag {100 * sag:5.2f} cm")
    print(figure(found, "many_worlds.html"))
