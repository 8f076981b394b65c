"""Sewing a T-shirt: closed seams, panels without strain, its openings, how it hangs and drapes."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from conftest import data_dir
from crossing_triangles import crossing_triangles

import pliant as pl
from pliant.garments.filling import smallest_angles
from pliant.geometry import measures, topology
from pliant.sewing import panel_strains

SIZES = {500: 0.0425, 2000: 0.021, 8000: 0.0105}
NAMES = {"hem", "neck", "left cuff", "right cuff"}


@cache
def shirt(size: float) -> pl.garments.Garment:
    return pl.sew(pl.garments.tshirt(size), pl.garments.mannequin())


def check_sewn(sewn: pl.garments.Garment, vertices: int) -> None:
    """What the sewn garment is held to before gravity."""
    assert sewn.n_vertices == pytest.approx(vertices, rel=0.12)
    assert smallest_angles(sewn.flat, sewn.pieces).min() >= 20
    assert sewn.gap < 1e-4
    assert {name: len(loop) > 5 for name, loop in sewn.loops.items()} == dict.fromkeys(NAMES, True)
    assert len(topology.boundary_loops(sewn.triangles)) == 4
    assert np.abs(panel_strains(sewn)).max() < 1e-3
    assert len(pl.self_intersections(sewn.mesh.vertices, sewn.mesh.triangles)) == 0
    assert len(crossing_triangles(sewn.mesh.vertices, sewn.triangles)) == 0
    outline = sum(_polygon(panel.outline(2000)) for panel in sewn.pattern.panels)
    assert sewn.area == pytest.approx(outline, rel=2e-3)  # the outlines' chords cut off a sliver
    model, cloth = built(sewn)
    density = cloth.material.areal_density
    assert model.mass.sum() == pytest.approx(density * sewn.area, rel=1e-6)
    assert model.parts[0].rest_area.sum() == pytest.approx(sewn.area, rel=1e-6)


def _polygon(points: np.ndarray) -> float:
    x, y = points.T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def built(sewn: pl.garments.Garment) -> tuple[pl.Model, pl.Cloth]:
    scene = pl.Scene()
    cloth = scene.add_cloth(sewn, pl.fabrics.cotton)
    return scene.build(), cloth


def test_placed_panels_do_not_touch() -> None:
    garment = pl.garments.tshirt(SIZES[500])
    mesh = garment.panels_mesh
    assert garment.gap > 0.1
    assert len(pl.self_intersections(mesh.vertices, mesh.triangles)) == 0
    assert len(topology.boundary_loops(mesh.triangles)) == 4  # one around each panel
    frames = measures.rest_frames(np.pad(garment.flat, ((0, 0), (0, 1))), garment.pieces)
    stretch = measures.triangle_stretches(mesh.vertices, mesh.triangles, frames)
    assert np.abs(stretch - 1).max() < 0.03, "wrapped around cylinders, in chords"


def test_a_small_tshirt() -> None:
    check_sewn(shirt(SIZES[500]), 500)


def test_seams_that_are_open_are_not_simulated() -> None:
    with pytest.raises(pl.SceneError, match=r"its seam .* is open by .* mm.*pl\.sew"):
        pl.Scene().add_cloth(pl.garments.tshirt(SIZES[500]), pl.fabrics.cotton)
    with pytest.raises(pl.SceneError, match=r'the seam ".*" stays open by .* mm'):
        pl.sew(pl.garments.tshirt(SIZES[500]), seconds=0.1, solver=pl.XPBD(substeps=1))


def test_it_hangs_by_its_shoulders() -> None:
    sewn = shirt(SIZES[500])
    held = sewn.edge("front.left shoulder", "front.right shoulder")
    scene = pl.Scene(air_drag=1.0)
    cloth = scene.add_cloth(sewn, pl.fabrics.cotton, pins=held)
    for limb in pl.garments.mannequin():
        scene.add_collider(**limb.collider)
    sim = pl.Simulation(scene, pl.XPBD(substeps=20))
    for _ in range(60):
        info = sim.step("full")
    x = cloth.x[0]
    assert info.ok()
    np.testing.assert_array_equal(x[held], sewn.mesh.vertices[held])
    shoulder, hem = x[held, 2].mean(), x[sewn.loops["hem"], 2]
    assert 0.60 < shoulder - hem.mean() < 0.75
    assert np.abs(sim.vertex_strain()).max() < 0.08


@pytest.mark.slow
def test_cotton_at_rest() -> None:
    """With its own bending, without gravity: strained again at curved seams, where triangles are fine."""
    strains = {}
    for vertices in (500, 2000):
        sewn = shirt(SIZES[vertices])
        scene = pl.Scene(gravity=(0, 0, 0), air_drag=2.0)
        cloth = scene.add_cloth(sewn, pl.fabrics.cotton)
        sim = pl.Simulation(scene, pl.Newton(), dt=0.2)
        for _ in range(4):
            assert sim.step().ok()
        strains[vertices] = np.abs(panel_strains(sewn.at(cloth.x[0])))
    assert strains[500].max() < 1e-3
    assert 1e-3 < strains[2000].max() < 5e-3
    assert strains[2000].mean() < 5e-4


@pytest.mark.slow
@pytest.mark.parametrize("vertices", [2000, 8000])
def test_a_tshirt(vertices: int) -> None:
    check_sewn(shirt(SIZES[vertices]), vertices)


@pytest.mark.slow
def test_it_drapes_over_a_sphere() -> None:
    sewn = shirt(SIZES[2000])
    scene = pl.Scene(air_drag=1.0)
    chest = sewn.mesh.vertices[:, 2].mean()
    cloth = scene.add_cloth(sewn, pl.fabrics.cotton, (0, -chest, 0.6), (-0.5 * np.pi, 0, 0))
    scene.add_collider(pl.Sphere(0.2), position=(0, 0, 0.2), friction=0.5)
    sim = pl.Simulation(scene, pl.XPBD(substeps=30))
    for _ in range(120):
        info = sim.step("full")
    assert info.ok()
    gap = np.linalg.norm(cloth.x[0] - (0, 0, 0.2), axis=1) - 0.2
    assert gap.min() > -1e-3
    assert (gap < 2e-3).sum() > 20, "it rests on the sphere"
    assert np.abs(sim.vertex_strain()).max() < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["skirt", "trousers"])
def test_the_others(name: str) -> None:
    """Sewn, without strain and crossing; they hang by the waist."""
    body = pl.garments.mannequin(legs=3 if name == "trousers" else 6)
    sewn = pl.sew(getattr(pl.garments, name)(), body)
    assert sewn.gap < 1e-4
    assert np.abs(panel_strains(sewn)).max() < 1e-3
    assert len(crossing_triangles(sewn.mesh.vertices, sewn.triangles)) == 0
    scene = pl.Scene(air_drag=1.0)
    cloth = scene.add_cloth(sewn, pl.fabrics.cotton, pins=sewn.loops["waist"])
    sim = pl.Simulation(scene, pl.XPBD(substeps=20))
    for _ in range(60):
        info = sim.step("full")
    assert info.ok()
    length = np.ptp(cloth.x[0][:, 2])
    assert length == pytest.approx({"skirt": 0.53, "trousers": 1.01}[name], abs=0.04)
    assert np.abs(sim.vertex_strain()).max() < 0.06


def test_the_shirt_of_garmentcode_is_sewn_and_hangs() -> None:
    """The body that it was made for is not part of it: it is sewn around nothing.

    At its armpits, where edges are 8 mm long, strain is left that falls with the size of triangles: 0.95 %
    at 50 mm, 0.5 % at 30 mm, 0.24 % at 20 mm; a warning says so.
    """
    pattern = pl.garments.read_pattern(data_dir() / "garmentcode" / "shirt_mean_specification.json")
    with pytest.warns(pl.MeshWarning, match=r"its panels stay strained by up to 0\.\d+ %"):
        sewn = pl.sew(pl.garments.meshed(pattern, 0.045))
    assert sewn.gap < 1e-4
    assert np.abs(panel_strains(sewn)).max() < 0.01
    assert np.quantile(np.abs(panel_strains(sewn)), 0.9) < 1e-3
    assert len(sewn.loops) == 4
    assert len(crossing_triangles(sewn.mesh.vertices, sewn.triangles)) == 0
    neck = max(sewn.loops.values(), key=lambda loop: sewn.mesh.vertices[loop, 2].mean())
    scene = pl.Scene(air_drag=2.0)
    cloth = scene.add_cloth(sewn, pl.fabrics.cotton, pins=neck)
    sim = pl.Simulation(scene, pl.XPBD(substeps=60))
    for _ in range(30):
        info = sim.step("full")
    assert info.ok()
    hang = cloth.x[0][neck, 2].mean() - cloth.x[0][:, 2].min()
    assert 0.40 < hang < 0.65
    assert np.quantile(np.abs(sim.vertex_strain()), 0.99) < 0.04
