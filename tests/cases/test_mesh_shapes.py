"""Rest shapes, slivers, irregular garments, units of length and of material; checks before, arrays after."""

from __future__ import annotations

import json
import time
import warnings
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.errors import MeshWarning
from pliant.geometry import measures, tetrahedra, topology
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


# ---- I04

PLANTED: dict[str, tuple[Any, str, int, list[Any]]] = {
    "duplicate": (lambda: twice(flaws.sheet(), 5), "duplicate", 1, [72]),
    "non-manifold": (flaws.fins, "non_manifold", 4, []),
    "flipped": (lambda: turned(flaws.sheet(), [3, 9]), "winding", 2, [3, 9]),
    "T-vertex": (lambda: flaws.t_vertex()[0], "t_vertex", 1, [25]),
    "self-crossing": (flaws.crossed, "self_intersection", 0, []),
    "3,000 m shirt": (lambda: flaws.sheet().transformed(scale=5000.0), "units", 1, []),
    "sliver": (lambda: sliver(), "near_degenerate", 1, [0]),
}


def twice(mesh: pl.TriMesh, f: int) -> pl.TriMesh:
    return pl.TriMesh(mesh.vertices, np.concatenate([mesh.triangles, mesh.triangles[f : f + 1]]))


def turned(mesh: pl.TriMesh, faces: list[int]) -> pl.TriMesh:
    triangles = mesh.triangles.copy()
    triangles[faces] = triangles[faces][:, ::-1]
    return pl.TriMesh(mesh.vertices, triangles)


def sliver() -> pl.TriMesh:
    """A triangle of aspect 10^4, and a decent one."""
    x = np.array([[0, 0, 0], [1, 0, 0], [0.5, 1e-4, 0], [3, 0, 0], [4, 0, 0], [3, 1, 0]])
    return pl.TriMesh(x, np.array([[0, 1, 2], [3, 4, 5]]))


@pytest.mark.parametrize("name", PLANTED)
def test_i04_each_defect_is_named_with_its_count_and_first_indices(name: str) -> None:
    """I04: named, counted, located, as plain data; what repair takes on is gone afterwards, with a map."""
    make, word, count, first = PLANTED[name]
    mesh = make()
    report = pl.check_mesh(mesh)
    finding = {f["name"]: f for f in json.loads(json.dumps(report.to_dict()))["findings"]}[word]
    assert finding["count"] == count or (not count and finding["count"] > 0)
    assert finding["first"] == first or (not first)
    assert len(finding["cure"]) > 10
    repair = pl.repair_mesh(mesh)
    assert len(repair.vertex_map) == mesh.n_vertices
    assert len(repair.triangle_map) == mesh.n_triangles
    if word in ("duplicate", "non_manifold", "winding"):
        assert pl.check_mesh(repair.mesh).ok


def test_i04_a_clean_grid_is_silent_and_a_large_one_quick() -> None:
    """I04: no finding on a grid; 100,352 triangles in less than a second, crossings apart."""
    assert pl.check_mesh(pl.shapes.grid(20, 20)).findings == ()
    large = pl.shapes.grid(225, 225)
    start = time.process_time()
    report = pl.check_mesh(large, self_intersections=False)
    assert time.process_time() - start < 1.0
    assert report.ok
    assert report.counts["triangles"] == 100_352


# ---- I05


def dressed(scale: float = 1.0, shift: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> pl.Scene:
    """A garment around a body that is a mesh."""
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.tube(0.2, 0.5, 16, 9), fabric(), position=(0, 0, 1.1), bending="dihedral")
    body = pl.MeshCollider(pl.shapes.sphere(0.18, 2).transformed(scale=scale))
    scene.add_collider(body, position=np.add((0, 0, 1.0), shift))
    return scene


def test_i05_a_garment_beside_its_body_or_in_other_units_is_told_of() -> None:
    """I05: sizes that differ by more than 20, or places from which nothing falls onto the body: a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dressed().build()
        dressed(shift=(0.1, 0, 0)).build()  # off by 10 cm: they still meet
        dressed(shift=(0, 0, -20.0)).build()  # far below: the garment falls onto it
    with pytest.warns(MeshWarning, match=r"one is 82.6 times the size of the other; are both in metres"):
        dressed(scale=100.0).build()
    with pytest.warns(MeshWarning, match="one is .* times the size of the other"):
        dressed(scale=0.01).build()
    with pytest.warns(MeshWarning, match="lie apart, so that none falls onto the other.*y up"):
        dressed(shift=(3.0, 0, 0)).build()
    with pytest.warns(MeshWarning, match="lie apart"):
        dressed(shift=(0, 0, 5.0)).build()


# ---- I06


def test_i06_topology_and_maps_are_arrays_of_a_running_environment() -> None:
    """I06: faces, edges, texture, file's vertex to particle, what is held: the same after a reset."""
    uv = np.random.default_rng(0).random((49, 2))
    sheet = flaws.sheet()
    cut, source = flaws.seamed(pl.TriMesh(sheet.vertices, sheet.triangles, uv=uv))
    cut = pl.TriMesh(cut.vertices, cut.triangles, uv=uv[source])
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(3, 3), fabric())
    with pytest.warns(MeshWarning):
        cloth = scene.add_cloth(cut, fabric(), pins=[0, cut.n_vertices - 1], bending="dihedral")
    sim = pl.Simulation(scene, worlds=3)

    def known() -> list[Array]:
        return [
            cloth.mesh.triangles,
            cloth.mesh.edges,
            cloth.mesh.uv,
            cloth.file_ids,
            cloth.pins,
            sim.model.pin_ids,
        ]

    before = [a.copy() for a in known()]
    triangles, edges, texture, ids, pins, held = before
    sim.run(steps=3, progress=False)
    sim.reset(worlds=[1])
    for a, b in zip(before, known(), strict=True):
        np.testing.assert_array_equal(a, b)
    assert cloth.x.shape == (3, 49, 3)
    assert triangles.max() == 48 == edges.max()
    np.testing.assert_array_equal(texture, uv)
    assert ids.shape == (cut.n_vertices,)
    np.testing.assert_array_equal(ids, source + 9)
    np.testing.assert_array_equal(pins, np.unique(ids[[0, -1]]))
    np.testing.assert_array_equal(held, pins)
    np.testing.assert_array_equal(cloth.in_file_order(cloth.x), cloth.x[:, source])
    area = measures.triangle_areas(sim.x[0], triangles + cloth.vertices.start)
    assert area.sum() == pytest.approx(sheet.area, rel=0.05)


# ---- rest shape and start shape


def test_another_file_may_give_the_shape_at_rest(data: Any) -> None:
    """A shirt that starts on the body and was cut flat: rest lengths and mass are those of the flat one."""
    start = pl.read_mesh(data / "diffcloth/tshirt1900.obj", unit="dm")
    flat = pl.read_mesh(data / "diffcloth/tshirt1900-flattened.obj", unit="dm")
    assert isinstance(start, pl.TriMesh)
    assert isinstance(flat, pl.TriMesh)
    scene = pl.Scene(gravity=(0, 0, 0))
    cloth = scene.add_cloth(start, fabric(), rest_mesh=flat, membrane="edges", bending="none")
    model = scene.build()
    assert model.mass.sum() == pytest.approx(0.2 * flat.area, rel=1e-12)
    springs = model.blocks["distance"]
    lengths = np.linalg.norm(flat.vertices[springs.ids[:, 0]] - flat.vertices[springs.ids[:, 1]], axis=1)
    np.testing.assert_allclose(springs.params[:, 0], lengths, rtol=1e-12)
    np.testing.assert_array_equal(model.x_rest, start.vertices)
    assert cloth.rest.area == pytest.approx(flat.area)


def test_polygons_may_be_cut_along_other_diagonals_at_rest(tmp_path: Any) -> None:
    """Two files of the same quadrilaterals, folded in one of them: the one of the start decides on the cut."""
    quad = "v 0 0 0\nv 1 0 0\nv {0} 1 0\nv 0 1 0\nf 1 2 3 4\n"
    (tmp_path / "start.obj").write_text(quad.format("0.2"))
    (tmp_path / "rest.obj").write_text(quad.format("1") + "# square\n")
    start, rest = pl.read_mesh(tmp_path / "start.obj"), pl.read_mesh(tmp_path / "rest.obj")
    assert isinstance(start, pl.TriMesh)
    bent = pl.TriMesh(
        start.vertices, [[0, 1, 3], [1, 2, 3]], polygons=((0, 1, 2, 3),), triangle_polygon=[0, 0]
    )
    cloth = pl.Scene().add_cloth(bent, fabric(), rest_mesh=rest)
    np.testing.assert_array_equal(cloth.rest.triangles, bent.triangles)
    assert cloth.rest.area == pytest.approx(1.0)


def test_panel_coordinates_may_give_the_shape_at_rest() -> None:
    """A tube rolled from a flat panel: with the panel's 2-D coordinates at rest it springs open."""
    panel = pl.shapes.grid(13, 5, (0.6, 0.2))
    angle = 1.5 * np.pi * panel.vertices[:, 0] / 0.6
    r = 0.6 / (1.5 * np.pi)
    x = np.stack([r * np.sin(angle), panel.vertices[:, 1], -r * np.cos(angle)], axis=1)
    scene = pl.Scene(gravity=(0, 0, 0), air_drag=2.0)
    cloth = scene.add_cloth(
        pl.TriMesh(x, panel.triangles), fabric(500.0, bending_rigidity=5e-3, damping_time=5e-3),
        rest_mesh=panel.vertices[:, :2],
    )  # fmt: skip
    sim = pl.Simulation(scene, pl.XPBD(substeps=20))
    assert sim.model.mass.sum() == pytest.approx(0.2 * 0.12, rel=1e-12)
    before = np.ptp(cloth.x[0], axis=0)
    sim.run(seconds=3, progress=False)
    assert np.ptp(cloth.x[0], axis=0)[0] > 0.58 > before[0] + 0.1
    with pytest.raises(pl.SceneError, match=r"rest_mesh has shape \(7, 2\); it must be \(65, 2\)"):
        scene.add_cloth(panel, fabric(), rest_mesh=panel.vertices[:7, :2])
    with pytest.raises(pl.SceneError, match="same vertices and faces as mesh, in the same order"):
        scene.add_cloth(panel, fabric(), rest_mesh=pl.shapes.grid(5, 13))


def test_a_rest_shape_goes_through_welding_where_it_agrees() -> None:
    """Seams joined in the start shape may be at one place at rest, too; a start must agree."""
    sheet = flaws.sheet()
    cut, source = flaws.seamed(sheet)
    flat = sheet.vertices[source] * [1.1, 1.1, 0.0]
    scene = pl.Scene()
    with pytest.warns(MeshWarning):
        cloth = scene.add_cloth(cut, fabric(), rest_mesh=flat, start=cut.vertices * 0.9)
    np.testing.assert_allclose(cloth.rest.vertices, sheet.vertices * [1.1, 1.1, 0.0])
    np.testing.assert_allclose(cloth.mesh.vertices, sheet.vertices * 0.9)
    with pytest.raises(
        pl.SceneError, match=r"start has vertices \d+ and \d+ at places .* m apart.*weld=False"
    ):
        scene.add_cloth(cut, fabric(), start=cut.vertices + np.arange(cut.n_vertices)[:, None])


@pytest.mark.filterwarnings("ignore::pliant.errors.MeshWarning")
@pytest.mark.parametrize("bending", ["isometric", "curved", "dihedral"])
def test_panels_that_are_cut_apart_sew_up_to_the_whole_sheet(bending: str) -> None:
    """Two flat panels, one moved and turned in the plane: sewn along the seam they drape as the whole."""
    sheet = pl.shapes.unstructured((0.5, 0.4), 0.06, seed=3)
    cut, source = flaws.seamed(sheet)
    flat = sheet.vertices[source, :2]
    piece = topology.components(cut.triangles, cut.n_vertices)
    assert piece.max() == 1
    c, s = np.cos(0.7), np.sin(0.7)
    panels = np.where((piece == 1)[:, None], flat @ np.array([[c, s], [-s, c]]) + [1.0, -2.0], flat)
    ends = []
    for mesh, rest in ((sheet, None), (cut, panels)):
        scene = pl.Scene()
        cloth = scene.add_cloth(
            mesh, fabric(200.0, bending_rigidity=1e-4), rest_mesh=rest, bending=bending, position=(0, 0, 0.15)
        )
        scene.add_collider(pl.Sphere(0.12))
        sim = pl.Simulation(scene, pl.XPBD(substeps=10))
        assert sim.model.mass.sum() == pytest.approx(0.2 * sheet.area, rel=1e-9)
        hinges = sim.model.blocks[bending]
        assert len(hinges) == len(sheet.edges) - len(topology.boundary_edges(sheet.triangles))
        sim.run(steps=12, progress=False)
        ends.append(cloth.in_file_order(cloth.x[0])[: sheet.n_vertices])
    assert np.ptp(ends[0][:, 2]) > 0.05
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-6)
    apart = pl.Scene()
    apart.add_cloth(cut, fabric(), rest_mesh=panels, membrane="edges")
    with pytest.raises(pl.SceneError, match="vertices at several places"):
        apart.build()


def test_a_tube_sewn_from_one_panel_is_the_same_all_around() -> None:
    """A panel rolled up and closed, with places of its own at rest: the seam is no special place."""
    n = 12
    panel = pl.shapes.grid(n + 1, 4, (0.6, 0.3), pattern="left")
    ids = (np.arange(4)[:, None] * n + np.arange(n + 1) % n).ravel()
    angle = 2 * np.pi * np.arange(n) / n
    r = 0.6 / n / (2 * np.sin(np.pi / n))
    heights = panel.vertices[:: n + 1, 1]
    x = np.concatenate(
        [np.stack([r * np.cos(angle), r * np.sin(angle), 0 * angle + z], axis=1) for z in heights]
    )
    scene = pl.Scene(gravity=(0, 0, 0), air_drag=2.0)
    cloth = scene.add_cloth(
        pl.TriMesh(x, ids[panel.triangles]),
        fabric(500.0, bending_rigidity=2e-3, damping_time=5e-3),
        rest_mesh=pl.TriMesh(panel.vertices, panel.triangles),
    )
    sim = pl.Simulation(scene, pl.XPBD(substeps=40))
    assert cloth.mesh.n_vertices == 4 * n
    assert cloth.rest.n_vertices == 4 * (n + 1)
    assert sim.model.mass.sum() == pytest.approx(0.2 * 0.18, rel=1e-12)
    assert np.ptp(sim.model.mass.reshape(4, n), axis=1).max() < 1e-15
    stencils = sim.model.blocks["isometric"].in_file_order()
    assert len(stencils) == 3 * n * 2 + 2 * n
    kinds = np.unique(np.round(np.sort(stencils.params, axis=1), 9), axis=0)
    assert len(kinds) <= 3, "one kind for each direction of an edge"
    sim.run(seconds=1.0, progress=False)
    radius = np.linalg.norm(cloth.x[0][:, :2] - cloth.x[0][:, :2].mean(axis=0), axis=1).reshape(4, n)
    np.testing.assert_allclose(radius, r, rtol=3e-3)
