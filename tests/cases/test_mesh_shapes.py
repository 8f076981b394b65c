"""Slivers, vertices on each other, irregular garments, units of length and of material."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.errors import MeshWarning
from pliant.geometry import measures, tetrahedra
from tests.cases.scenes import STAND, G, fabric, kinetic, settle
from tests.geometry import flaws

Array = np.ndarray

# ---- M12


def slivered(n: int = 3, radius: float = 0.1) -> pl.TetMesh:
    """A ball in which one vertex was pushed almost into a face that it belongs to."""
    ball = pl.shapes.ball(radius, n)
    x = ball.vertices.copy()
    around = np.flatnonzero((ball.tets == 5).any(axis=1))
    others = ball.tets[around[0]][ball.tets[around[0]] != 5]
    x[5] += (1 - 1e-3) * (x[others].mean(axis=0) - x[5])
    keep = np.abs(tetrahedra.tet_volumes(x, ball.tets)) > 0
    return pl.TetMesh(x, ball.tets[keep], name="bunny")


def test_m12_slivers_are_listed() -> None:
    """M12: the report lists the worst tetrahedra by number, angle and volume."""
    mesh = slivered()
    report = pl.check_mesh(mesh)
    angle = np.degrees(tetrahedra.smallest_dihedral(mesh.vertices, mesh.tets))
    assert angle.min() < 2.0
    assert report["sliver"].first[0] == int(angle.argmin())
    worst = report.counts["worst"]
    assert [w["tetrahedron"] for w in worst] == np.argsort(angle, kind="stable")[:5].tolist()
    assert worst[0]["volume"] == pytest.approx(
        abs(tetrahedra.tet_volumes(mesh.vertices, mesh.tets)).min(), rel=0.5
    )
    assert f"worst {worst[0]['tetrahedron']}:" in str(report)


@pytest.mark.parametrize("dt", [1e-3, 1 / 60])
def test_m12_a_body_with_slivers_falls_and_stays_finite(dt: float) -> None:
    """M12: no NaN in 2 s from a height of 1 m, at either step; at rest without gravity nothing moves."""
    mesh = slivered(2)
    volume = mesh.volume
    material = pl.SolidMaterial(density=5.0 / volume, youngs_modulus=5e4, poisson_ratio=0.2)
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_solid(mesh, material)
    sim = pl.Simulation(scene, pl.XPBD(substeps=4), dt=dt)
    sim.run(seconds=1.0, progress=False)
    assert np.abs(sim.x - sim.model.x_rest).max() < 1e-6 * mesh.length
    assert sim.model.mass.sum() == pytest.approx(5.0, rel=1e-6)
    scene = pl.Scene()
    scene.add_solid(mesh, material, position=(0, 0, 1.0))
    scene.add_collider(pl.Plane())
    sim = pl.Simulation(scene, pl.XPBD(substeps=4), dt=dt)
    assert sim.run(seconds=2.0, progress=False).ok()
    assert np.isfinite(sim.x).all()
    assert np.abs(sim.x[..., 2]).max() < 1.2


def test_the_mass_of_a_body_does_not_depend_on_winding_or_splitting() -> None:
    """Tetrahedra of either winding, nodes given once for each: density times volume, within 1e-6."""
    bar = pl.shapes.bar((0.4, 0.2, 0.1), (4, 2, 1))
    turned = np.random.default_rng(0).random(bar.n_tets) < 0.5
    tets = np.where(turned[:, None], bar.tets[:, [1, 0, 2, 3]], bar.tets)
    apart = pl.repair_mesh((bar.vertices[tets].reshape(-1, 3), np.arange(tets.size).reshape(-1, 4))).mesh
    assert pl.TetMesh(bar.vertices, tets).turned == turned.sum() > 10
    for mesh in (bar, pl.TetMesh(bar.vertices, tets), apart):
        scene = pl.Scene()
        scene.add_solid(mesh, pl.SolidMaterial(density=1000, youngs_modulus=1e5, poisson_ratio=0.3))
        model = scene.build()
        assert model.mass.sum() == pytest.approx(8.0, rel=1e-6)
        assert model.n_particles == bar.n_vertices


# ---- M13, without contact of cloth with itself


def test_m13_a_shirt_with_vertices_on_each_other_falls_as_one(data: Any) -> None:
    """M13: cut open along seams, edges as short as the thickness: no speed of its own, energy bounded.

    There is no contact of cloth with itself here, so no force between overlapping layers to be filtered.
    """
    shirt = pl.read_mesh(data / "diffcloth/tshirt1900.obj", unit="dm").transformed(scale=0.5)
    cut, _ = flaws.seamed(shirt)  # type: ignore[arg-type]
    scene = pl.Scene()
    material = pl.Fabric(
        "shirt",
        areal_density=0.2,
        thickness=8e-3,
        youngs_modulus=3e5,
        poisson_ratio=0.0,
        bending_rigidity=1e-5,
    )
    with pytest.warns(MeshWarning, match="joined with others"):
        scene.add_cloth(cut, material, position=(0, 0, 2), bending="curved")
    sim = pl.Simulation(scene, pl.XPBD(substeps=2), dt=2e-3)
    height = float(sim.model.mass @ sim.model.x_rest[:, 2])
    for k in range(20):
        assert sim.step().ok()
        if k == 4:
            assert np.linalg.norm(sim.state.v[0], axis=1).max() < 0.2
    fallen = height - float(sim.model.mass @ sim.x[0][:, 2])
    assert 0 < kinetic(sim) <= G * fallen * 1.05


# ---- M14


def hanging(mesh: pl.TriMesh, pins: Any) -> pl.Simulation:
    scene = pl.Scene(air_drag=2.0)
    scene.add_cloth(mesh, fabric(500.0, bending_rigidity=2e-5, damping_time=2e-3), rotation=STAND, pins=pins)
    return pl.Simulation(scene, pl.XPBD(substeps=25))


def corners_up(mesh: pl.TriMesh) -> list[int]:
    x = mesh.vertices
    return [int(np.argmax(x[:, 1] + s * x[:, 0])) for s in (-1, 1)]


def test_m14_an_irregular_mesh_hangs_as_a_grid_does() -> None:
    """M14: half a metre of cloth by two corners: the lowest point of a grid and of random triangles."""
    lowest = []
    for mesh in (pl.shapes.grid(15, 15, (0.5, 0.5)), pl.shapes.unstructured((0.5, 0.5), 0.5 / 14)):
        sim = hanging(mesh, corners_up(mesh))
        sim.run(seconds=2.5, progress=False)
        top = sim.x[0][sim.model.pin_ids, 2].max()
        lowest.append(top - sim.x[0][:, 2].min())
    assert abs(lowest[1] / lowest[0] - 1) < 0.05
    assert lowest[0] > 0.5


def test_m14_a_skirt_of_loose_panels_with_uneven_edges_holds() -> None:
    """M14: edges of 10:1, several loose panels: all there, counted, finite, stretched by less than 10 %."""
    skirt = pl.shapes.grid(13, 13, (0.6, 0.5))
    x = skirt.vertices.copy()
    x[:, :2] += 0.33 * x[:, :2] * (np.abs(x[:, :2]) / 0.3) ** 1.2
    x[:, 0] = np.sign(x[:, 0]) * np.abs(x[:, 0]) ** 1.6
    panel = pl.shapes.grid(4, 6, (0.1, 0.3))
    parts = [pl.TriMesh(x, skirt.triangles)] + [panel.transformed((0.6 + 0.2 * k, 0, 0)) for k in range(3)]
    first = np.cumsum([0, *(p.n_vertices for p in parts)])
    mesh = pl.TriMesh(
        np.concatenate([p.vertices for p in parts]),
        np.concatenate([p.triangles + k for p, k in zip(parts, first, strict=False)]),
        name="skirt",
    )
    counts = pl.check_mesh(mesh).counts
    assert counts["pieces"] == 4
    assert counts["edge_longest"] > 10 * counts["edge_shortest"]
    top = np.concatenate(
        [
            k + np.flatnonzero(p.vertices[:, 1] > p.vertices[:, 1].max() - 1e-9)
            for p, k in zip(parts, first, strict=False)
        ]
    )
    sim = hanging(mesh, top)
    assert sim.run(seconds=1.0, progress=False).ok()
    part = sim.model.parts[0]
    stretch = measures.triangle_stretches(sim.x[0], part.triangles, part.inv_rest_matrix).max() - 1
    assert 0 < stretch < 0.1


# ---- M17


@pytest.mark.parametrize("size", [1e-3, 1e-2, 0.1, 10.0, 1000.0])
def test_m17_a_body_of_any_size_moves_alike(size: float) -> None:
    """M17: stiffness in proportion to the size, steps to its root: x/L over a fall and a bounce."""
    small, one = bounce(size), bounce(1.0)
    assert one[:, 2].min() < 0.6  # it did meet the floor
    np.testing.assert_allclose(small, one, rtol=0, atol=1e-2 * np.ptp(one[:, 2]))
    np.testing.assert_allclose(small, one, rtol=0, atol=1e-6)  # what we measure


def bounce(size: float) -> Array:
    """Centre of a soft ball that falls and bounces, over its size."""
    scene = pl.Scene()
    material = pl.SolidMaterial(density=1000, youngs_modulus=2e5 * size, poisson_ratio=0.4)
    scene.add_solid(
        pl.shapes.ball(0.5 * size, 2), material, position=(0, 0, 0.8 * size), contact_radius=0.01 * size
    )
    scene.add_collider(pl.Plane(), friction=0.3)
    sim = pl.Simulation(scene, pl.XPBD(substeps=10), dt=np.sqrt(size) / 60)
    out = []
    for _ in range(50):
        sim.step()
        out.append(sim.model.mass @ sim.x[0] / sim.model.mass.sum() / size)
    return np.array(out)


# ---- M18


@pytest.mark.parametrize("n", [11, 21])
def test_m18_a_pulled_strip_gives_its_modulus_back(n: int) -> None:
    """M18: 1 m x 0.1 m of 1 mm and 10^6 Pa under 1 N: 10 mm longer, within 2 %, by documented units."""
    mesh = pl.shapes.grid(n, max(3, n // 5), (1.0, 0.1))
    material = pl.Fabric(
        "strip",
        areal_density=0.2,
        thickness=1e-3,
        youngs_modulus=1e6,
        poisson_ratio=0.0,
        bending_rigidity=0.0,
    )
    left, right = (np.flatnonzero(np.abs(mesh.vertices[:, 0] - e) < 1e-9) for e in (-0.5, 0.5))
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_cloth(mesh, material, pins=left)
    sim = pl.Simulation(scene, pl.XPBD(substeps=80), dt=1 / 240)
    pull = np.zeros((1, mesh.n_vertices, 3))
    share = np.ones(len(right))
    share[[0, -1]] = 0.5
    pull[0, right, 0] = 1.0 * share / share.sum()
    sim.control.set_force(pull)
    settle(sim, period=0.06, times=15)
    longer = float(sim.x[0][right, 0].mean() - 0.5)
    assert longer == pytest.approx(10.0e-3, rel=0.02)
