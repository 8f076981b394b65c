"""Meshes as people have them: strays, seams, back sides, several pieces, three triangles on an edge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.errors import MeshWarning
from pliant.geometry import topology
from pliant.geometry.topology import components
from tests.cases.scenes import G, fabric
from tests.geometry import flaws

Array = np.ndarray
SHEET = fabric(200.0, bending_rigidity=1e-4)


def drape(mesh: pl.TriMesh, pins: Any = (), steps: int = 12, **options: Any) -> tuple[pl.Cloth, Array]:
    """A cloth that falls onto a sphere for 0.2 s; it, and its positions by the file's vertices."""
    scene = pl.Scene()
    cloth = scene.add_cloth(
        mesh, SHEET, position=(0.02, 0.01, 0.18), pins=pins, bending="dihedral", **options
    )
    scene.add_collider(pl.Sphere(0.12))
    sim = pl.Simulation(scene, pl.XPBD(substeps=10))
    sim.run(steps=steps, progress=False)
    x = cloth.in_file_order(cloth.x[0])
    cloth.kept = sim  # type: ignore[attr-defined]
    return cloth, x


def mass_of(cloth: pl.Cloth) -> float:
    return float(cloth.simulation.model.mass[cloth.vertices].sum())


# ---- M01


@pytest.mark.parametrize("gravity", [0.0, G])
def test_m01_a_vertex_that_no_triangle_uses_is_left_out(gravity: float) -> None:
    """M01: one triangle and a stray vertex, one step: finite, the mass is that of the triangle."""
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [2, 2, 0]])
    scene = pl.Scene(gravity=(0, 0, -gravity))
    with pytest.warns(MeshWarning, match=r"1 vertex left out that nothing uses \(first: 3\)"):
        cloth = scene.add_cloth(pl.TriMesh(x, np.array([[0, 1, 2]])), fabric(areal_density=1.0))
    assert cloth.file_ids.tolist() == [0, 1, 2, -1]
    sim = pl.Simulation(scene, pl.XPBD(substeps=1, iterations=1), dt=0.01)
    assert sim.step("full").ok()
    assert np.isfinite(sim.x).all()
    assert sim.model.mass.sum() == pytest.approx(0.5, rel=1e-6)
    listed = cloth.in_file_order(cloth.x)
    assert listed.shape == (1, 4, 3)
    assert np.isnan(listed[:, 3]).all()
    assert np.isfinite(listed[:, :3]).all()
    with pytest.raises(pl.SceneError, match="vertex 3 of the file belongs to no triangle and was left out"):
        cloth.particles([3])


def test_m01_strays_among_many_change_nothing() -> None:
    """M01: a sheet with three strays, one of them inside the collider, moves as the sheet alone; pins too."""
    mesh = flaws.sheet(9)
    stray = flaws.with_strays(mesh)
    with pytest.warns(MeshWarning, match="3 vertices left out"):
        cloth, x = drape(stray, pins=[1, 10])
    used = np.unique(stray.triangles)
    _, expected = drape(mesh, pins=[0, 9])
    assert np.isnan(x[np.setdiff1d(np.arange(len(x)), used)]).all()
    np.testing.assert_array_equal(x[used], expected)
    assert mass_of(cloth) == pytest.approx(0.2 * mesh.area, rel=1e-6)


# ---- M03


@pytest.mark.parametrize("name", ["bullet3/cloth_z_up.obj", "disc"])
def test_m03_open_meshes_have_the_constraints_that_they_should(data: Any, name: str) -> None:
    """M03: springs on all edges, bending over inner edges: as many as there are, none to nowhere."""
    mesh = pl.shapes.disc(0.5, 0.1) if name == "disc" else pl.read_mesh(data / name)
    assert isinstance(mesh, pl.TriMesh)
    scene = pl.Scene()
    scene.add_cloth(mesh, fabric(500.0, bending_rigidity=1e-4), membrane="edges")
    sim = pl.Simulation(scene, pl.XPBD(substeps=10))
    springs, hinges = sim.model.blocks["distance"], sim.model.blocks["isometric"]
    edges, use = topology.edge_use(mesh.triangles)
    assert len(springs) == len(edges)
    assert len(hinges) == int((use == 2).sum()) < len(edges)
    for block in (springs, hinges):
        assert 0 <= block.ids.min() <= block.ids.max() < mesh.n_vertices
    longest = np.linalg.norm(mesh.vertices[edges[:, 0]] - mesh.vertices[edges[:, 1]], axis=1).max()
    assert springs.params[:, 0].max() == pytest.approx(longest)
    sim.run(seconds=2, progress=False)
    a, b = springs.ids.T
    x = sim.x[0]
    strain = np.linalg.norm(x[a] - x[b], axis=1) / springs.params[:, 0] - 1
    n, h = 120 * 10, 1 / 600
    assert np.abs(strain).max() < 1e-5
    np.testing.assert_allclose(
        x - sim.model.x_rest, np.broadcast_to([0, 0, -G * h * h * n * (n + 1) / 2], x.shape), atol=1e-4
    )


# ---- M05


def pillow_with_flaws() -> tuple[Array, Array, int]:
    """A pillow with one face twice and a flap on one of its edges; the flap's edge row."""
    pillow = pl.shapes.pillow(7, 7, (0.3, 0.3))
    a, b = pillow.triangles[20, :2]
    x = np.concatenate([pillow.vertices, [0.5 * (pillow.vertices[a] + pillow.vertices[b]) + [0, 0, 0.05]]])
    flap = [[a, b, pillow.n_vertices]]
    return x, np.concatenate([pillow.triangles, pillow.triangles[11:12], flap]), pillow.n_triangles


def test_m05_a_face_twice_and_an_edge_of_three_are_named_and_mended() -> None:
    """M05: refused with the edge and the cure; once repaired, the pillow inflates to a steady volume."""
    x, triangles, n = pillow_with_flaws()
    mesh = pl.TriMesh(x, triangles, name="airbag")
    report = pl.check_mesh(mesh)
    assert report["duplicate"].first == [n]
    assert report["non_manifold"].count == 1
    edge = report["non_manifold"].first[0]
    with pytest.raises(
        pl.MeshError, match=rf"airbag: edge \({edge[0]}, {edge[1]}\) has 3 triangles, .*pl.repair_mesh"
    ):
        pl.Scene().add_cloth(mesh, SHEET)
    repair = pl.repair_mesh(mesh)
    assert repair.triangle_map[n] == -1
    pieces = components(repair.mesh.triangles, repair.mesh.n_vertices)
    body = pl.repair_mesh(
        (repair.mesh.vertices, repair.mesh.triangles[pieces[repair.mesh.triangles[:, 0]] == 0])
    ).mesh
    assert not len(topology.boundary_edges(body.triangles))
    scene = pl.Scene(gravity=(0, 0, 0), air_drag=5.0)
    cloth = scene.add_cloth(body, fabric(2000.0, damping_time=5e-3), bending="none")
    inside = scene.add_pressure(cloth, 50.0)
    sim = pl.Simulation(scene, pl.XPBD(substeps=20))
    sim.run(seconds=2, progress=False)
    before = inside.enclosed[0]
    sim.run(seconds=1, progress=False)
    assert before > 1e-3
    assert abs(inside.enclosed[0] / before - 1) < 1e-3


# ---- M06


def test_m06_vertices_on_sewing_lines_are_told_of() -> None:
    """M06: two sheets and free vertices on the lines between them: these are left out, with their numbers."""
    sheet = pl.shapes.grid(11, 11, (0.5, 0.5))
    n = sheet.n_vertices
    right = sheet.transformed((0.7, 0, 0)).vertices
    middle = 0.5 * (sheet.vertices[[10, 21, 32]] + right[[0, 11, 22]])
    x = np.concatenate([sheet.vertices, right, middle])
    mesh = pl.TriMesh(x, np.concatenate([sheet.triangles, sheet.triangles + n]))
    scene = pl.Scene()
    with pytest.warns(MeshWarning, match=rf"3 vertices left out .*first: {2 * n}, {2 * n + 1}, {2 * n + 2}"):
        cloth = scene.add_cloth(mesh, SHEET, pins=np.arange(0, n, 11))
    scene.add_attachment(cloth, np.arange(10, n, 11), cloth, stiffness=1e3, onto=n + np.arange(0, n, 11))
    sim = pl.Simulation(scene, pl.XPBD(substeps=10))
    assert sim.run(seconds=0.5, progress=False).ok()
    assert np.isfinite(sim.x).all()
    with pytest.raises(pl.SceneError, match=f"vertex {2 * n} of the file belongs to no triangle"):
        scene.add_attachment(cloth, [2 * n])


def test_m06_a_vertex_on_an_edge_that_does_not_know_it_is_told_of() -> None:
    """M06: a crack would open; the warning names the vertex, and so does the check."""
    mesh, vertex = flaws.t_vertex()
    with pytest.warns(MeshWarning, match=rf"a crack opens there \(first: {vertex}\)"):
        pl.Scene().add_cloth(mesh, SHEET)


# ---- M08


def uv_cube(size: float = 0.3) -> pl.TriMesh:
    """A cube as renderers have it: four vertices and four texture pairs for each of its faces."""
    x, uv, quads = [], [], []
    for axis in range(3):
        for end in (-0.5, 0.5):
            corners = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]
            for k, (a, b) in enumerate(corners if end > 0 else corners[::-1]):
                p = np.zeros(3)
                p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3] = end, a, b
                x.append(size * p)
                uv.append([0.1 * len(quads) + 0.05 * (k % 2), 0.07 * k])
            quads.append([len(x) - 4, len(x) - 3, len(x) - 2, len(x) - 1])
    t = [[q[0], q[1], q[2]] for q in quads] + [[q[0], q[2], q[3]] for q in quads]
    return pl.TriMesh(np.array(x), np.array(t), uv=np.array(uv), name="cube")


def seam_ball() -> pl.TriMesh:
    """A sphere of rings with a seam, each vertex of which is there twice, and poles that are there often."""
    n, m = 12, 7
    theta, phi = np.linspace(0, np.pi, m), np.linspace(0, 2 * np.pi, n + 1)
    p, t = np.meshgrid(phi, theta)
    x = 0.15 * np.stack([np.sin(t) * np.cos(p), np.sin(t) * np.sin(p), np.cos(t)], axis=-1)
    x[:, -1] = x[:, 0]
    x[0], x[-1] = x[0, 0], x[-1, 0]
    faces = []
    for i in range(m - 1):
        for j in range(n):
            a, b, c, d = (
                i * (n + 1) + j,
                i * (n + 1) + j + 1,
                (i + 1) * (n + 1) + j + 1,
                (i + 1) * (n + 1) + j,
            )
            faces += [[a, d, c]] if i < m - 2 else []
            faces += [[a, c, b]] if i > 0 else []
    used, packed = np.unique(np.array(faces), return_inverse=True)
    return pl.TriMesh(x.reshape(-1, 3)[used], packed.reshape(-1, 3), name="ball")


@pytest.mark.parametrize("shape", ["cube", "ball", "tube.obj"])
def test_m08_seams_are_joined_and_the_file_s_numbers_hold(shape: str, data: Any, tmp_path: Any) -> None:
    """M08: closed again, one piece; a pin and an export by the file's numbers."""
    made = {"cube": uv_cube, "ball": seam_ball}
    mesh = made[shape]() if shape in made else pl.read_mesh(data / "trimesh" / shape).transformed(scale=0.03)
    assert isinstance(mesh, pl.TriMesh)
    scene = pl.Scene()
    with pytest.warns(MeshWarning, match="joined with others"):
        cloth = scene.add_cloth(mesh, SHEET, position=(0, 0, 1), pins=[20], bending="none")
    welded = cloth.mesh
    assert welded.n_vertices == len(np.unique(mesh.vertices, axis=0))
    assert components(welded.triangles, welded.n_vertices).max() == 0
    assert not len(topology.boundary_edges(welded.triangles))
    sim = pl.Simulation(scene, pl.XPBD(substeps=10))
    sim.run(steps=10, progress=False)
    listed = cloth.in_file_order(cloth.x[0])
    np.testing.assert_allclose(listed[20], mesh.vertices[20] + [0, 0, 1], atol=1e-6)
    cloth.set_targets([20], mesh.vertices[20] + [0, 0, 1.1])
    sim.step()
    np.testing.assert_allclose(cloth.in_file_order(cloth.x[0])[20, 2], mesh.vertices[20, 2] + 1.1, atol=1e-6)
    assert listed.shape == mesh.vertices.shape
    for same in np.unique(cloth.file_ids):
        assert len(np.unique(listed[cloth.file_ids == same], axis=0)) == 1
    np.testing.assert_array_equal(cloth.file_ids[mesh.triangles], welded.triangles + cloth.vertices.start)
    if shape == "cube":
        sim.run(steps=1, record=tmp_path / "cube.obj", progress=False)
        out = sorted(tmp_path.rglob("*.obj"))[-1].read_text().splitlines()
        assert sum(line.startswith("v ") for line in out) == 24
        assert sum(line.startswith("vt ") for line in out) == 24
        corners = [w.split("/") for line in out if line.startswith("f ") for w in line.split()[1:]]
        assert [int(c[0]) - 1 for c in corners] == mesh.triangles.ravel().tolist()


def test_m08_welding_can_be_left_out() -> None:
    """M08: weld=False leaves each face to itself, as it was in the file."""
    scene = pl.Scene()
    cloth = scene.add_cloth(uv_cube(), SHEET, weld=False, bending="none")
    assert cloth.mesh.n_vertices == 24
    lined = scene.add_cloth(
        flaws.doubled(flaws.sheet(), own_vertices=True), SHEET, weld=False, bending="none"
    )
    assert lined.mesh.n_triangles == 2 * flaws.sheet().n_triangles
    with pytest.warns(
        MeshWarning, match="72 triangles left out"
    ):  # on the very same vertices: never two sheets
        scene.add_cloth(flaws.doubled(flaws.sheet()), SHEET, weld=False, bending="none")


# ---- M09


@pytest.mark.parametrize("own_vertices", [False, True])
def test_m09_a_double_sided_sheet_is_one_sheet(own_vertices: bool) -> None:
    """M09: every triangle also turned over: mass once, and the drape of the single sheet, for 2 s."""
    mesh = pl.shapes.grid(5, 5, (0.4, 0.4))
    with pytest.warns(MeshWarning, match="32 triangles left out that stood on others as their back"):
        cloth, x = drape(flaws.doubled(mesh, own_vertices), pins=[20, 24], steps=120)
    single, expected = drape(mesh, pins=[20, 24], steps=120)
    np.testing.assert_allclose(x[:25], expected, atol=1e-6)
    if own_vertices:
        np.testing.assert_array_equal(x[25:], x[:25])
    assert mass_of(cloth) == pytest.approx(mass_of(single), rel=1e-6)
    assert mass_of(cloth) == pytest.approx(0.2 * 0.16, rel=1e-6)


# ---- M16


def panels(n: int = 12) -> pl.TriMesh:
    """A dress of n panels, each a piece of its own."""
    one = pl.shapes.grid(4, 5, (0.1, 0.2))
    x, t = [], []
    for k in range(n):
        a = 2 * np.pi * k / n
        turn = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
        upright = np.stack([one.vertices[:, 0], 0 * one.vertices[:, 0] - 0.3, one.vertices[:, 1]], axis=1)
        x.append(upright @ turn.T)
        t.append(one.triangles + k * one.n_vertices)
    return pl.TriMesh(np.concatenate(x), np.concatenate(t), name="dress")


def test_m16_every_piece_is_simulated_and_winding_does_not_matter() -> None:
    """M16: twelve panels in one cloth, two of them sewn; with five turned over: the same, within 1e-6."""
    dress = panels()
    piece = components(dress.triangles, dress.n_vertices)
    assert pl.check_mesh(dress).counts["pieces"] == piece.max() + 1 == 12
    turned = np.isin(piece[dress.triangles[:, 0]], [1, 4, 5, 8, 11])
    other = pl.TriMesh(dress.vertices, np.where(turned[:, None], dress.triangles[:, ::-1], dress.triangles))
    results = []
    for mesh in (dress, other):
        scene = pl.Scene(wind=(2.0, 0.5, 0.0))
        tops = np.flatnonzero(np.isclose(mesh.vertices[:, 2], 0.1))
        cloth = scene.add_cloth(mesh, SHEET, pins=np.setdiff1d(tops, np.arange(20, 40)), bending="dihedral")
        scene.add_attachment(cloth, [20, 24, 28, 32, 36], cloth, onto=[3, 7, 11, 15, 19], stiffness=200.0)
        sim = pl.Simulation(scene, pl.XPBD(substeps=10))
        sim.run(steps=20, progress=False)
        results.append(cloth.x[0])
        assert mass_of(cloth) == pytest.approx(0.2 * dress.area, rel=1e-6)
        assert mass_of(cloth) == pytest.approx(0.2 * 12 * 0.02, rel=1e-6)
    start = dress.vertices
    moved = np.linalg.norm(results[0] - start, axis=1)
    assert all(moved[piece == k].max() > 1e-3 for k in range(12))
    np.testing.assert_allclose(results[1], results[0], atol=1e-6)


# ---- the bars on copies


COPIES = {
    "seam": lambda mesh: flaws.seamed(mesh)[0],
    "rewound": lambda mesh: flaws.rewound(mesh),
    "doubled": lambda mesh: flaws.doubled(mesh),
    "doubled apart": lambda mesh: flaws.doubled(mesh, own_vertices=True),
    "strays": flaws.with_strays,
}


@pytest.mark.filterwarnings("ignore::pliant.errors.MeshWarning")
@pytest.mark.parametrize("name", COPIES)
def test_a_drape_is_that_of_the_clean_mesh(name: str) -> None:
    """Seam-split, re-wound, doubled, with strays: the same drape and mass, each within 1e-6."""
    clean = flaws.sheet(9)
    copy = COPIES[name](clean)
    cloth, x = drape(copy)
    _, expected = drape(clean)
    assert np.abs(expected - clean.vertices).max() > 0.05
    place = {tuple(p): k for k, p in enumerate(clean.vertices.tolist())}
    used = np.unique(copy.triangles)
    rows = [place[tuple(p)] for p in copy.vertices[used].tolist()]
    np.testing.assert_allclose(x[used], expected[rows], atol=1e-6)
    assert mass_of(cloth) == pytest.approx(0.2 * clean.area, rel=1e-6)


@pytest.mark.parametrize("how", ["sheet", "solid"])
def test_a_drape_does_not_depend_on_the_order_of_the_file(how: str) -> None:
    """Vertices and elements in another order: the same drape over a ball within 1e-6.

    Sweeps go by where particles are in the mesh, not by their numbers. (The solid without friction, whose
    sticking and slipping makes 3e-6 m of what rounding leaves.)
    """
    rng = np.random.default_rng(0)
    clean = flaws.sheet(9) if how == "sheet" else pl.shapes.bar((0.6, 0.6, 0.1), (4, 4, 1))
    cells = clean.triangles if how == "sheet" else clean.tets
    new = rng.permutation(clean.n_vertices)
    x = np.empty_like(clean.vertices)
    x[new] = clean.vertices
    turned = np.roll(new[cells][rng.permutation(len(cells))], 1, axis=1)
    ends = []
    for vertices, elements in ((clean.vertices, cells), (x, turned)):
        scene = pl.Scene()
        if how == "sheet":
            body = scene.add_cloth(pl.TriMesh(vertices, elements), SHEET, bending="dihedral")
        else:
            body = scene.add_solid(pl.TetMesh(vertices, elements), pl.solids.foam)
        scene.add_collider(
            pl.Sphere(0.15), position=(0.02, 0.01, -0.25), friction=0.4 if how == "sheet" else 0.0
        )
        sim = pl.Simulation(scene, pl.XPBD(substeps=10))
        sim.run(steps=24, progress=False)
        ends.append(body.x[0])
    assert np.abs(ends[0] - clean.vertices).max() > 0.05
    assert np.abs(ends[1][new] - ends[0]).max() < 1e-6


def first_of(mesh: pl.TriMesh, sheet: pl.TriMesh) -> Array:
    """The first of a mesh's vertices at the place of each of the sheet's."""
    return np.array([np.flatnonzero((mesh.vertices == p).all(axis=1))[0] for p in sheet.vertices])


@pytest.mark.filterwarnings("ignore::pliant.errors.MeshWarning")
def test_m08_both_numbers_of_a_joined_vertex_may_be_named() -> None:
    """M08: pins, targets, attachments and ties by numbers that became one particle: each holds it once."""
    sheet = pl.shapes.grid(5, 5, (0.4, 0.4))
    x = sheet.vertices[sheet.triangles].reshape(-1, 3)
    soup = pl.TriMesh(x, np.arange(len(x)).reshape(-1, 3))
    top = np.flatnonzero(x[:, 1] > 0.199)
    whole = np.flatnonzero(sheet.vertices[:, 1] > 0.199)
    assert len(top) > len(whole) + 2
    ends = []
    for mesh, ids in ((soup, top), (sheet, whole)):
        scene = pl.Scene()
        corner = first_of(mesh, sheet)[whole[:1]]
        cloth = scene.add_cloth(mesh, SHEET, pins=corner)
        held = scene.add_attachment(cloth, ids, stiffness=50.0)
        hem = np.flatnonzero(mesh.vertices[:, 1] < -0.199)
        other = scene.add_cloth(sheet, SHEET, position=(0, -0.5, 0))
        tie = scene.add_attachment(cloth, hem, other, stiffness=30.0)
        assert len(held.particles) == len(tie.particles) == 5
        sim = pl.Simulation(scene, pl.XPBD(substeps=20, order="jacobi"))
        for k in range(10):
            held.set_targets(mesh.vertices[ids] + [0, 0.01 * k, 0])
            cloth.set_targets(corner, mesh.vertices[corner] + [0, 0.01 * k, 0])
            sim.step()
        ends.append(cloth.in_file_order(cloth.x[0])[first_of(mesh, sheet)])
    assert ends[0][:, 1].max() > 0.25
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)
    scene = pl.Scene()
    cloth = scene.add_cloth(soup, SHEET, pins=[0])
    sim = pl.Simulation(scene)
    copies = np.flatnonzero((x == x[0]).all(axis=1))
    cloth.set_targets(copies, np.tile([[0.0, 0.1, 0.2]], (len(copies), 1)))
    sim.step()
    np.testing.assert_allclose(cloth.in_file_order(cloth.x[0])[copies], [[0, 0.1, 0.2]] * len(copies))
    with pytest.raises(
        pl.SceneError, match=r"several numbers in the file .* is sent to two places by rows 0 and 1"
    ):
        cloth.set_targets(copies, np.arange(3.0 * len(copies)).reshape(-1, 3))
