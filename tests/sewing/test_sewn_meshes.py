"""DiffCloth's skirt and hat, sewn meshes of others: without panels their own shape is at rest, curved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import data_dir

import pliant as pl
from pliant.geometry import measures, topology

COTTON = pl.fabrics.cotton


def hung_skirt(solver: Any, steps: int, dt: float) -> tuple[np.ndarray, float]:
    """Strains (N,) of the skirt when it hangs still by its waist, and what its weight does there on average.

    The waist carries the weight W of the skirt on its length L: a strain of W/(L E t) where its threads share
    it evenly, less below.
    """
    mesh = pl.read_mesh(data_dir() / "diffcloth" / "skirt1252.obj", unit="m", up="y")
    waist = next(loop for loop in topology.boundary_loops(mesh.triangles) if len(loop) == 26)
    scene = pl.Scene(air_drag=5.0)
    cloth = scene.add_cloth(mesh, COTTON, pins=waist, bending="curved")
    sim = pl.Simulation(scene, solver, dt=dt)
    for _ in range(steps):
        info = sim.step()
    assert info.ok()
    np.testing.assert_array_equal(cloth.x[0][waist], mesh.vertices[waist])
    assert len(pl.self_intersections(cloth.x[0], mesh.triangles)) == 0
    weight = 9.81 * COTTON.areal_density * measures.triangle_areas(mesh.vertices, mesh.triangles).sum()
    ring = mesh.vertices[np.append(waist, waist[0])]
    length = np.linalg.norm(np.diff(ring, axis=0), axis=1).sum()
    return np.abs(sim.vertex_strain()), weight / (length * COTTON.youngs_modulus * COTTON.thickness)


def test_the_skirt_hangs_by_its_waist() -> None:
    """Its edges there are 3 mm short, so that XPBD is soft unless it takes small substeps.

    At 20 substeps omega h is 31 and the strain at the pins 21 %; 80: 6.7 %; 320: 3.7 %; 1280: 2.6 %; Newton
    1.7 %. Nothing is wrong with the rest shape: four of five vertices have less than the mean of the waist.
    """
    strain, mean = hung_skirt(pl.XPBD(substeps=320), 30, 1 / 60)
    assert mean == pytest.approx(0.00255, rel=0.01)
    assert np.quantile(strain, 0.8) < 1.1 * mean
    assert np.quantile(strain, 0.99) < 0.02
    assert strain.max() < 0.04
    soft, _ = hung_skirt(pl.XPBD(substeps=20), 30, 1 / 60)
    assert soft.max() > 4 * strain.max(), "the substeps were the cause"


@pytest.mark.slow
def test_the_skirt_at_rest() -> None:
    """The equilibrium itself: Newton with long steps."""
    strain, mean = hung_skirt(pl.Newton(), 12, 0.2)
    assert np.quantile(strain, 0.8) < mean
    assert strain.max() < 0.02


def test_the_hat_is_put_on_a_head() -> None:
    """Read in cm it is a large one: a ball of 28 cm fits in. The brim hangs from the crown, which lies on it.

    Twice as many substeps as these change the largest strain by less than a tenth. Hung by its
    brim the crown snaps through, sooner or later by the solver: no state to hold a test to.
    """
    mesh = pl.read_mesh(data_dir() / "diffcloth" / "agenthat2-579-rotated.obj", unit="cm", up="y")
    centre, radius = np.array([0, 0.05, 0.14]), 0.14
    scene = pl.Scene(air_drag=2.0)
    cloth = scene.add_cloth(mesh, COTTON, bending="curved")
    scene.add_collider(pl.Sphere(radius), position=centre, friction=0.5)
    sim = pl.Simulation(scene, pl.XPBD(substeps=160))
    for _ in range(60):
        info = sim.step("full")
    assert info.ok()
    gap = np.linalg.norm(cloth.x[0] - centre, axis=1) - radius
    assert gap.min() > 0
    assert (gap < 2e-3).sum() > 25, "the crown lies on the head"
    assert cloth.x[0][:, 2].max() < centre[2] + radius + 0.03
    strain = np.abs(sim.vertex_strain())
    assert np.quantile(strain, 0.8) < 0.006
    assert np.quantile(strain, 0.99) < 0.025
    assert strain.max() < 0.035
