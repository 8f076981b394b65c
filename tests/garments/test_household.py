"""Towel and pillow: nothing to sew; the pillow is closed and can be filled."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.geometry import measures, topology


def test_a_towel_is_a_cloth() -> None:
    towel = pl.garments.towel(0.05, 0.5, 0.9)
    assert towel.gap == 0
    assert towel.area == pytest.approx(0.45, rel=1e-12)
    scene = pl.Scene()
    woven = pl.fabrics.cotton.with_(weft_modulus=0.5e6, shear_modulus=0.1e6)
    cloth = scene.add_cloth(towel, woven)
    np.testing.assert_array_equal(cloth.warp_direction, (0, 1, 0))
    assert scene.build().mass.sum() == pytest.approx(0.45 * woven.areal_density, rel=1e-12)


def test_a_pillow_is_closed_and_fills() -> None:
    pillow = pl.garments.pillow(0.04)
    assert pillow.loops == {}
    assert pillow.gap == 0
    assert len(topology.boundary_edges(pillow.triangles)) == 0
    assert len(pl.self_intersections(pillow.mesh.vertices, pillow.triangles)) == 0
    assert 0 < measures.enclosed_volume(pillow.mesh.vertices, pillow.triangles) < 1e-3
    scene = pl.Scene(gravity=(0, 0, 0), air_drag=3.0)
    cloth = scene.add_cloth(pillow, pl.fabrics.cotton)
    inside = scene.add_pressure(cloth, 30.0)
    sim = pl.Simulation(scene, pl.XPBD(substeps=20))
    for _ in range(60):
        info = sim.step("full")
    assert info.ok()
    assert inside.enclosed[0] > 0.005
