"""Short runs of what has long tests of its own (marked slow): solids, mesh colliders, woven cloth."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.lab.statics import relax

SOFT = pl.SolidMaterial(density=1000, youngs_modulus=1e5, poisson_ratio=0.3)


@pytest.mark.parametrize("law", ["arap", "neo_hookean"])
def test_a_bar_keeps_its_volume_and_falls_as_it_must(law: str) -> None:
    """Free fall to the discrete closed form g h^2 n(n+1)/2, shape kept to 1e-9 of its length."""
    scene = pl.Scene()
    bar = scene.add_solid(pl.shapes.bar((1.0, 0.25, 0.25), (4, 1, 1)), SOFT, law=law)
    sim = pl.Simulation(scene, pl.XPBD(substeps=5))
    start = sim.x[0]
    sim.run(steps=6, progress=False)
    n, h = 30, 1 / 300
    fall = 9.81 * h**2 * n * (n + 1) / 2
    np.testing.assert_allclose(bar.x[0], start - [0, 0, fall], atol=1e-9)


def test_a_bar_comes_to_rest_on_a_mesh() -> None:
    """A soft block dropped on a closed mesh stays above it, and its surface is drawn by its Part."""
    scene = pl.Scene(air_drag=2.0)
    scene.add_solid(pl.shapes.bar((0.2, 0.2, 0.2), (2, 2, 2)), SOFT, position=(0, 0, 0.42))
    scene.add_collider(pl.MeshCollider(pl.shapes.sphere(0.3, 3)), friction=0.5)
    sim = pl.Simulation(scene, pl.XPBD(substeps=10))
    info = sim.run(seconds=0.5, progress=False)
    assert info.ok()
    assert info.contacts[0] > 0
    assert np.linalg.norm(sim.x[0], axis=1).min() > 0.3 * 0.98  # the mesh lies inside the ball


def test_woven_cloth_obeys_its_limit() -> None:
    """A heavy weight stretches the strip to its limit of 5 %, not to the 30 % of its stiffness."""
    mesh = pl.shapes.grid(6, 3, size=(0.25, 0.1))
    fabric = pl.Fabric(youngs_modulus=1e5, weft_modulus=5e4, poisson_ratio=0.0, strain_limit=0.05)
    scene = pl.Scene()
    left = np.flatnonzero(mesh.vertices[:, 0] < -0.12)
    right = np.flatnonzero(mesh.vertices[:, 0] > 0.12)
    scene.add_cloth(mesh, fabric, rotation=(0, np.pi / 2, 0), pins=left, warp_direction=(1, 0, 0))
    sim = pl.Simulation(scene, pl.XPBD(substeps=40), dt=2e-3)
    load = np.zeros_like(mesh.vertices)
    load[right, 2] = np.array([-0.25, -0.5, -0.25]) * 0.3 * 50 * 0.1
    sim.control.set_force(load)
    relax(sim, tolerance=1e-5)
    length = float(sim.model.x_rest[left, 2].mean() - sim.x[0, right, 2].mean())
    assert length / 0.25 == pytest.approx(1.05, abs=0.01)
