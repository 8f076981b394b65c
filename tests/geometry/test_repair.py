"""Planted flaws are mended, nothing else is touched, and the maps lead from the old mesh to the new one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.errors import MeshError
from pliant.geometry import shapes, tetrahedra, topology
from pliant.geometry.mesh import TriMesh, degenerate_triangles
from pliant.geometry.repair import Repair, repair_mesh
from pliant.geometry.tetmesh import TetMesh
from tests.geometry import flaws

MESHES = {
    "sheet": flaws.sheet(),
    "ball": shapes.sphere(0.3, 2),
    "tube": shapes.tube(0.2, 0.5, 9, 6),
    "soup": flaws.soup(flaws.sheet()),
    "seamed": flaws.seamed(shapes.sphere(0.3, 2))[0],
    "rewound": flaws.rewound(shapes.sphere(0.3, 2)),
    "doubled": flaws.doubled(flaws.sheet()),
    "doubled apart": flaws.doubled(flaws.sheet(), own_vertices=True),
    "strays": flaws.with_strays(flaws.sheet()),
    "fins": flaws.fins(),
    "cap": flaws.cap(),
    "cracked": flaws.t_vertex()[0],
    "pillow": shapes.pillow(6, 5),
    "crossed": flaws.crossed(),
    "all at once": flaws.soup(flaws.doubled(flaws.rewound(flaws.with_strays(flaws.fins())))),
}


def arrays(mesh: TriMesh | tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    return (mesh.vertices, mesh.triangles) if isinstance(mesh, TriMesh) else mesh


def check_maps(old: TriMesh | tuple[np.ndarray, np.ndarray], repair: Repair) -> None:
    """Every kept vertex is where it was, every kept triangle has the corners that its old one maps to."""
    x, triangles = arrays(old)
    new = repair.mesh
    assert repair.vertex_map.shape == (len(x),)
    assert repair.triangle_map.shape == (len(triangles),)
    kept = repair.vertex_map >= 0
    np.testing.assert_array_equal(new.vertices[repair.vertex_map[kept]], x[kept])
    rows = np.flatnonzero(repair.triangle_map >= 0)
    assert np.array_equal(np.sort(repair.triangle_map[rows]), np.arange(new.n_triangles))
    cut_anew = {i for c in repair.changes if c.name == "flipped" for i in c.first}
    for f in rows.tolist():
        if f not in cut_anew:
            one, two = x[triangles[f]], new.vertices[new.triangles[repair.triangle_map[f]]]
            np.testing.assert_array_equal(one[np.lexsort(one.T)], two[np.lexsort(two.T)])


@pytest.mark.parametrize("name", MESHES)
def test_mended_meshes_are_clean_and_mending_them_again_does_nothing(name: str) -> None:
    old = MESHES[name]
    repair = repair_mesh(old)
    new = repair.mesh
    check_maps(old, repair)
    topology.hinges(new.triangles)  # refuses edges of three triangles
    assert not len(degenerate_triangles(new.vertices, new.triangles))
    assert len(np.unique(new.triangles)) == new.n_vertices
    assert not len(topology.inconsistent_edges(new.triangles))
    again = repair_mesh(new)
    assert again.changes == ()
    assert again.mesh is new
    assert str(again).endswith("nothing to repair")
    np.testing.assert_array_equal(again.vertex_map, np.arange(new.n_vertices))
    np.testing.assert_array_equal(again.triangle_map, np.arange(new.n_triangles))


@pytest.mark.parametrize("name", ["sheet", "ball", "tube", "crossed", "pillow"])
def test_clean_meshes_come_back_themselves(name: str) -> None:
    repair = repair_mesh(MESHES[name])
    assert repair.mesh is MESHES[name]
    assert repair.changes == ()


def test_a_seam_is_joined_to_what_it_was_before_it_was_cut() -> None:
    whole = shapes.sphere(0.3, 2)
    cut, source = flaws.seamed(whole)
    assert len(topology.boundary_edges(cut.triangles)) > 20
    repair = repair_mesh(cut)
    np.testing.assert_array_equal(repair.mesh.vertices, whole.vertices)
    np.testing.assert_array_equal(repair.mesh.triangles, whole.triangles)
    np.testing.assert_array_equal(repair.vertex_map, source)
    np.testing.assert_array_equal(repair.mesh.file_ids, source)
    [change] = repair.changes
    assert (change.name, change.count) == ("welded", cut.n_vertices - whole.n_vertices)
    assert change.first[0] == whole.n_vertices
    assert f"{change.count} vertices joined" in str(repair)


def test_a_soup_becomes_the_surface_in_the_order_of_first_appearance() -> None:
    whole = flaws.sheet()
    repair = repair_mesh(flaws.soup(whole))
    assert repair.mesh.n_vertices == whole.n_vertices
    assert len(topology.boundary_loops(repair.mesh.triangles)) == 1
    corners = whole.vertices[whole.triangles].reshape(-1, 3)
    np.testing.assert_array_equal(repair.mesh.vertices[repair.vertex_map], corners)


@pytest.mark.parametrize("own_vertices", [False, True])
def test_a_double_sided_sheet_becomes_one_sheet(own_vertices: bool) -> None:
    whole = flaws.sheet()
    repair = repair_mesh(flaws.doubled(whole, own_vertices))
    np.testing.assert_array_equal(repair.mesh.vertices, whole.vertices)
    np.testing.assert_array_equal(repair.mesh.triangles, whole.triangles)
    assert {c.name: c.count for c in repair.changes}["double_sided"] == whole.n_triangles
    n = whole.n_vertices
    np.testing.assert_array_equal(repair.vertex_map[-n:], np.arange(n))  # a vertex of the back is known, too


def test_layers_and_solids_that_touch_stay_apart() -> None:
    one = shapes.sphere(0.3, 1)
    two = one.transformed((2 * 0.3, 0, 0))
    x = np.concatenate([one.vertices, two.vertices])
    x[np.abs(x[:, 0] - 0.3) < 1e-9, 0] = 0.3
    two_balls = TriMesh(x, np.concatenate([one.triangles, two.triangles + one.n_vertices]))
    assert len(np.unique(x, axis=0)) < len(x)
    assert repair_mesh(two_balls).changes == ()
    one, two = shapes.grid(5, 5), shapes.grid(5, 5, pattern="left")  # vertices at one place, triangles not
    layers = TriMesh(
        np.concatenate([one.vertices, two.vertices]), np.concatenate([one.triangles, two.triangles + 25])
    )
    inner = repair_mesh(layers).vertex_map[[12, 37]]
    assert inner[0] != inner[1]


def test_a_fin_is_parted_and_the_flat_sheets_stay_together() -> None:
    repair = repair_mesh(flaws.fins())
    new = repair.mesh
    pieces = topology.components(new.triangles, new.n_vertices)
    assert pieces.max() == 1
    sizes = [np.ptp(new.vertices[pieces == k], axis=0) for k in (0, 1)]
    assert sorted(int(np.argmin(s)) for s in sizes) == [0, 2]  # one lies in z = 0, one stands in x = 0
    assert len(repair.parted) == 5
    pair = new.file_ids[repair.parted]
    np.testing.assert_array_equal(new.vertices[pair[:, 0]], new.vertices[pair[:, 1]])
    assert (pieces[pair[:, 0]] != pieces[pair[:, 1]]).all()
    with pytest.raises(MeshError, match="has 3 triangles"):
        topology.hinges(repair_mesh(flaws.fins(), split=False).mesh.triangles)


def test_solids_that_touch_in_an_edge_are_parted_though_their_surface_is_one() -> None:
    """Three cubes of an L, stacked so that two of them touch in an edge above a common floor."""
    cells = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1), (1, 1, 1)]
    x, triangles = voxels(cells)
    assert len(topology.non_manifold_edges(triangles)) == 1
    repair = repair_mesh((x, triangles))
    assert len(topology.non_manifold_edges(repair.mesh.triangles)) == 0
    assert not len(topology.boundary_edges(repair.mesh.triangles))
    assert flaws.area(x, triangles) == pytest.approx(repair.mesh.area, rel=1e-12)


def voxels(cells: list[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """The surface of unit cubes, wound outwards."""
    ids: dict[tuple[int, ...], int] = {}
    triangles = []
    for cell in cells:
        for axis in range(3):
            for end in (0, 1):
                beside = tuple(c + (2 * end - 1) * (k == axis) for k, c in enumerate(cell))
                if beside in cells:
                    continue
                u, v = (axis + 1) % 3, (axis + 2) % 3
                quad = []
                for a, b in ((0, 0), (1, 0), (1, 1), (0, 1)):
                    p = list(cell)
                    p[axis], p[u], p[v] = p[axis] + end, p[u] + a, p[v] + b
                    quad.append(ids.setdefault(tuple(p), len(ids)))
                quad = quad if end else quad[::-1]
                triangles += [quad[:3], [quad[0], quad[2], quad[3]]]
    return np.array(list(ids), float), np.array(triangles)


def test_a_cap_gives_its_long_side_away_and_no_crack_opens() -> None:
    x, triangles = flaws.cap()
    repair = repair_mesh((x, triangles))
    assert len(topology.boundary_loops(repair.mesh.triangles)) == 1
    assert topology.boundary_edges(repair.mesh.triangles).shape == (16, 2)
    assert repair.mesh.n_triangles == len(triangles)  # the neighbour is cut in two in its place
    assert repair.mesh.area == pytest.approx(1.0, rel=1e-12)
    assert [c.name for c in repair.changes] == ["flipped"]


def test_a_needle_is_collapsed_and_no_crack_opens() -> None:
    mesh = shapes.grid(5, 5)
    x = np.concatenate([mesh.vertices, mesh.vertices[12:13] + 1e-9])
    a, b = mesh.triangles, mesh.triangles.copy()
    around = np.flatnonzero((a == 12).any(axis=1))
    right = around[mesh.vertices[a[around]].mean(axis=1)[:, 0] > 1e-3]
    b[right] = np.where(b[right] == 12, 25, b[right])
    shared = [v for v in np.intersect1d(b[right], b[np.setdiff1d(around, right)]) if v != 12]
    triangles = np.concatenate([b, [[12, 25, v] for v in shared]])
    repair = repair_mesh((x, triangles))
    assert len(topology.boundary_loops(repair.mesh.triangles)) == 1
    assert repair.mesh.n_triangles == mesh.n_triangles
    assert repair.vertex_map[25] == 12


def test_a_tolerance_joins_what_is_near_and_only_along_seams() -> None:
    cut, _ = flaws.seamed(flaws.sheet())
    x = cut.vertices + np.random.default_rng(1).uniform(-1e-6, 1e-6, cut.vertices.shape)
    cut = TriMesh(x, cut.triangles)
    assert repair_mesh(cut).changes == ()
    repair = repair_mesh(cut, tolerance=1e-5)
    assert repair.mesh.n_vertices == flaws.sheet().n_vertices
    assert repair_mesh(repair.mesh, tolerance=1e-5).changes == ()


def test_bow_ties_are_parted_on_request() -> None:
    x = np.array([[0.0, 0, 0], [1, 1, 0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0]])
    mesh = TriMesh(x, np.array([[0, 2, 1], [0, 3, 4]]))
    assert repair_mesh(mesh).changes == ()
    repair = repair_mesh(mesh, bow_ties=True)
    assert topology.components(repair.mesh.triangles, 6).max() == 1
    assert repair_mesh(repair.mesh, bow_ties=True).changes == ()


def test_uv_goes_with_its_vertex() -> None:
    whole = flaws.with_strays(flaws.sheet())
    uv = np.stack([np.arange(whole.n_vertices), -np.arange(whole.n_vertices)], axis=1).astype(float)
    mesh = TriMesh(whole.vertices, whole.triangles, uv=uv)
    repair = repair_mesh(mesh)
    kept = repair.vertex_map >= 0
    np.testing.assert_array_equal(repair.mesh.uv[repair.vertex_map[kept]], uv[kept])


def test_uv_of_joined_seams_belongs_to_corners() -> None:
    cut, _ = flaws.seamed(flaws.rewound(flaws.sheet()))
    uv = np.random.default_rng(0).random((cut.n_vertices, 2))
    colors = np.random.default_rng(1).random((cut.n_vertices, 4))
    new = repair_mesh(TriMesh(cut.vertices, cut.triangles, uv=uv, colors=colors)).mesh
    again = repair_mesh(
        TriMesh(cut.vertices, cut.triangles, uv=uv, uv_triangles=cut.triangles, colors=colors)
    ).mesh
    for mesh in (new, again):
        assert mesh.uv_triangles is not None
        for f, t in enumerate(cut.triangles.tolist()):  # no triangle was left out
            given = {tuple(cut.vertices[v]): tuple(uv[v]) for v in t}
            at = zip(mesh.vertices[mesh.triangles[f]], mesh.uv[mesh.uv_triangles[f]], strict=True)
            assert {tuple(x): tuple(q) for x, q in at} == given
        np.testing.assert_array_equal(mesh.colors, colors[: mesh.n_vertices])


def test_polygons_stay_where_they_are_whole() -> None:
    x = np.array(
        [[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [1, 0, 0], [2, 0, 0], [2, 1, 0], [1, 1, 0], [5, 5, 5]]
    )
    quads = ((0, 1, 2, 3), (7, 6, 5, 4))
    triangles = np.array([[0, 1, 2], [0, 2, 3], [7, 6, 5], [7, 5, 4]])
    mesh = TriMesh(x, triangles, polygons=quads, triangle_polygon=np.array([0, 0, 1, 1]))
    new = repair_mesh(mesh).mesh
    assert new.n_vertices == 6
    assert new.polygons == ((0, 1, 2, 3), (1, 4, 5, 2))  # the second was turned over, like its triangles
    assert new.triangle_polygon.tolist() == [0, 0, 1, 1]
    both = TriMesh(
        x, np.concatenate([triangles, triangles[:1]]), polygons=(*quads, (0, 1, 2)),
        triangle_polygon=np.array([0, 0, 1, 1, 2]),
    )  # fmt: skip
    assert repair_mesh(both).mesh.polygons == new.polygons
    torn = TriMesh(x, triangles[1:], polygons=quads, triangle_polygon=np.array([0, 1, 1]))
    assert repair_mesh(torn).mesh.polygons is None  # one of its corners is a stray


def test_file_ids_of_the_old_mesh_lead_on() -> None:
    whole = flaws.sheet()
    cut, source = flaws.seamed(whole)
    n = cut.n_vertices
    file_ids = np.concatenate([[-1], np.arange(n)[::-1]])
    new = repair_mesh(TriMesh(cut.vertices, cut.triangles, file_ids)).mesh
    assert new.file_ids[0] == -1
    np.testing.assert_array_equal(new.file_ids[1:], source[::-1])


def test_every_kind_of_repair_can_be_left_out() -> None:
    for name, option in (
        ("seamed", "weld"), ("doubled", "doubles"), ("rewound", "orient"), ("strays", "strays"),
    ):  # fmt: skip
        assert repair_mesh(MESHES[name]).changes
        left = repair_mesh(MESHES[name], **{option: False, "split": name != "doubled"})
        assert left.changes == (), name


@pytest.mark.parametrize(
    ("mesh", "words"),
    [
        ((np.full((3, 3), np.nan), [[0, 1, 2]]), "vertex 0 is at .*correct it by hand"),
        ((np.eye(3), [[0, 1, 3]]), "element 0 refers to vertices"),
        ((np.eye(3), [[0, 1, 1]]), "nothing is left"),
        ((np.eye(3), [[0, 1]]), "rows of 2 ids"),
        ("shirt.obj", "give a TriMesh"),
    ],
)
def test_what_cannot_be_mended_is_said(mesh: object, words: str) -> None:
    with pytest.raises(MeshError, match=words):
        repair_mesh(mesh, name="shirt")  # type: ignore[arg-type]
    with pytest.raises(MeshError, match="tolerance"):
        repair_mesh(flaws.sheet(), tolerance=-1.0)


# ---- bodies


def test_a_body_in_pieces_becomes_the_body() -> None:
    whole = shapes.bar((1.0, 0.5, 0.5), (4, 2, 2))
    rng = np.random.default_rng(0)
    turned = rng.random(whole.n_tets) < 0.5
    x = whole.vertices[whole.tets].reshape(-1, 3)
    tets = np.arange(4 * whole.n_tets).reshape(-1, 4)
    tets = np.where(turned[:, None], tets[:, [1, 0, 2, 3]], tets)
    x = np.concatenate([x, [[0, 0, 9.0]]])
    tets = np.concatenate([tets, tets[3:4], [[0, 1, 2, 2]]])
    repair = repair_mesh((x, tets), name="bar")
    assert isinstance(repair.mesh, TetMesh)
    assert {c.name: c.count for c in repair.changes} == {
        "welded": 4 * whole.n_tets - whole.n_vertices,
        "duplicate": 1,
        "flat": 1,
        "oriented": int(turned.sum()),
        "strays": 1,
    }
    assert repair.mesh.volume == pytest.approx(0.25, rel=1e-12)
    assert (tetrahedra.tet_volumes(repair.mesh.vertices, repair.mesh.tets) > 0).all()
    assert repair.vertex_map[-1] == -1
    assert repair.triangle_map[-2:].tolist() == [-1, -1]
    again = repair_mesh(repair.mesh)
    assert again.changes == ()
    assert again.mesh is repair.mesh


# ---- any soup at all


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(3, 12), m=st.integers(1, 40), grid=st.integers(1, 3))
def test_random_soups_are_mended_once_and_for_all(seed: int, n: int, m: int, grid: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, grid + 1, (n, 3)).astype(float)
    triangles = rng.integers(0, n, (m, 3))
    try:
        repair = repair_mesh((x, triangles))
    except MeshError as error:
        assert "nothing is left" in str(error) or "cannot be parted" in str(error)  # noqa: PT017
        return
    topology.hinges(repair.mesh.triangles)
    again = repair_mesh(repair.mesh)
    assert again.changes == ()
