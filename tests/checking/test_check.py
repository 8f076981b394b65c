"""Each planted flaw is named, counted and located, and nothing else is said; clean meshes are silent."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.checking.report import SEVERITIES
from pliant.errors import MeshError
from pliant.geometry import defects, shapes, topology
from pliant.geometry.mesh import TriMesh
from tests.geometry import flaws
from tests.geometry.random_meshes import surfaces

CLEAN = {
    "grid": shapes.grid(9, 7),
    "equilateral": shapes.equilateral((1.0, 0.8), 0.1),
    "unstructured": shapes.unstructured((1.0, 1.0), 0.1),
    "disc": shapes.disc(0.4, 0.05),
    "annulus": shapes.annulus(0.1, 0.4, 0.05),
    "sphere": shapes.sphere(0.3, 3),
    "tube": shapes.tube(0.2, 0.5, 12, 9),
    "bar": shapes.bar((1.0, 0.2, 0.2), (10, 2, 2)),
    "ball": shapes.ball(0.3, 4),
    "uneven sheet": flaws.sheet(),
}


def found(report: pl.MeshReport) -> dict[str, int]:
    return {f.name: f.count for f in report.findings}


@pytest.mark.parametrize("name", CLEAN)
@pytest.mark.parametrize("scale", [0.05, 1.0, 15.0])
def test_clean_meshes_are_silent(name: str, scale: float) -> None:
    report = pl.check_mesh(CLEAN[name].transformed((0.3, -2.0, 0.1), scale=scale))
    assert report.findings == ()
    assert report.ok
    assert str(report).endswith("\nclean")


def test_the_layers_of_a_pillow_are_no_back_sides() -> None:
    pillow = shapes.pillow(9, 9)
    report = pl.check_mesh(pillow)
    assert found(report) == {"coincident": pillow.n_vertices - len(np.unique(pillow.vertices, axis=0))}
    assert report.ok


def test_counts_are_those_of_the_mesh() -> None:
    counts = pl.check_mesh(shapes.annulus(0.1, 0.4, 0.05)).counts
    mesh = shapes.annulus(0.1, 0.4, 0.05)
    assert (counts["vertices"], counts["triangles"]) == (mesh.n_vertices, mesh.n_triangles)
    assert counts["edges"] == len(mesh.edges)
    assert counts["area"] == pytest.approx(mesh.area, rel=1e-12)
    assert counts["pieces"] == 1
    assert counts["loop_lengths"] == [len(loop) for loop in topology.boundary_loops(mesh.triangles)]
    body = pl.check_mesh(shapes.bar((1.0, 0.5, 0.5), (4, 2, 2))).counts
    assert body["volume"] == pytest.approx(0.25, rel=1e-12)
    assert len(body["worst"]) == 5


def test_a_seam_is_named() -> None:
    cut, source = flaws.seamed(flaws.sheet())
    report = pl.check_mesh(cut)
    assert found(report) == {"split_seam": len(source) - flaws.sheet().n_vertices}
    assert report["split_seam"].first[0] == flaws.sheet().n_vertices
    assert report.counts["pieces"] == 1
    assert not report.ok


@pytest.mark.parametrize("own_vertices", [False, True])
def test_a_back_side_is_named(own_vertices: bool) -> None:
    mesh = flaws.sheet()
    report = pl.check_mesh(flaws.doubled(mesh, own_vertices))
    assert found(report) == {"double_sided": mesh.n_triangles}
    assert report["double_sided"].first == list(range(mesh.n_triangles, mesh.n_triangles + 10))
    assert report.counts["area"] == pytest.approx(mesh.area, rel=1e-12)


def test_a_duplicate_is_named() -> None:
    mesh = flaws.sheet()
    twice = TriMesh(mesh.vertices, np.concatenate([mesh.triangles, mesh.triangles[[5, 7]][:, [1, 2, 0]]]))
    report = pl.check_mesh(twice)
    assert found(report) == {"duplicate": 2}
    assert report["duplicate"].first == [mesh.n_triangles, mesh.n_triangles + 1]


def test_strays_are_named() -> None:
    report = pl.check_mesh(flaws.with_strays(flaws.sheet()))
    assert found(report) == {"unused": 3}
    assert report["unused"].first == [0, 25, 51]
    assert "3 vertices that no triangle uses [0, 25, 51]" in str(report)


def test_edges_of_three_triangles_are_named() -> None:
    report = pl.check_mesh(flaws.fins())
    assert report["non_manifold"].severity == "error"
    edges = report["non_manifold"].ids
    assert len(edges) == 4
    np.testing.assert_array_equal(edges, topology.non_manifold_edges(flaws.fins().triangles))


def test_turned_triangles_are_named_by_the_smaller_part() -> None:
    mesh = flaws.sheet()
    turned = np.array([3, 4, 20])
    triangles = mesh.triangles.copy()
    triangles[turned] = triangles[turned][:, ::-1]
    report = pl.check_mesh(TriMesh(mesh.vertices, triangles))
    assert found(report) == {"winding": 3}
    assert report["winding"].first == turned.tolist()


def test_a_moebius_strip_has_one_side() -> None:
    n = 24
    angle = 2 * np.pi * np.arange(n) / n
    ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    across = np.cos(angle / 2)[:, None] * ring + np.sin(angle / 2)[:, None] * [0, 0, 1]
    x = np.concatenate([ring - 0.15 * across, ring + 0.15 * across])
    k = np.arange(n - 1)
    quads = np.concatenate([np.stack([k, k + 1, k + n + 1, k + n], axis=1), [[n - 1, n, 0, 2 * n - 1]]])
    report = pl.check_mesh(TriMesh(x, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])))
    assert found(report) == {"one_sided": 2 * n}
    assert report.ok


def test_a_crack_at_a_t_vertex_is_named() -> None:
    mesh, vertex = flaws.t_vertex()
    report = pl.check_mesh(mesh)
    assert [f.name for f in report.findings if f.severity != "note"] == ["t_vertex"]
    assert report["t_vertex"].count == 1
    assert report["t_vertex"].first == [vertex]


def test_a_cap_is_an_error_and_no_crack() -> None:
    x, triangles = flaws.cap()
    report = pl.check_mesh((x, triangles), name="capped")
    assert found(report) == {"degenerate": 1}
    assert report["degenerate"].first == [len(triangles) - 1]
    assert str(report).startswith("capped: 26 vertices")


def test_a_sliver_is_named_and_so_is_the_spread() -> None:
    mesh = shapes.grid(3, 3)
    x = np.concatenate([mesh.vertices, [[0.5, 0.5 + 1e-4, 0]]])
    edge = mesh.triangles[:, :2][0]
    del edge
    triangles = np.concatenate([mesh.triangles, [[7, 8, 9]]])
    x[9] = 0.5 * (x[7] + x[8]) + [0, 0.5e-4, 0]
    report = pl.check_mesh((x, triangles))
    assert report["near_degenerate"].first == [8]
    assert found(report)["near_degenerate"] == 1
    assert "up to 1e+04" in str(report)


def test_crossing_sheets_are_named() -> None:
    report = pl.check_mesh(flaws.crossed())
    pairs = pl.self_intersections(flaws.crossed().vertices, flaws.crossed().triangles)
    assert found(report) == {"self_intersection": len(pairs)}
    edge = flaws.crossed().edges[pairs[0, 0]].tolist()
    assert report["self_intersection"].first[0] == [*edge, pairs[0, 1]]
    quick = pl.check_mesh(flaws.crossed(), self_intersections=False)
    assert quick.findings == ()
    assert "not looked at: self-intersections" in str(quick)


@pytest.mark.parametrize(
    ("scale", "words"), [(3000.0, 'unit="mm"'), (100.0, 'unit="cm"'), (1e-3, "check the unit")]
)
def test_a_size_that_looks_wrong_is_named(scale: float, words: str) -> None:
    report = pl.check_mesh(flaws.sheet().transformed(scale=scale))
    assert found(report) == {"units": 1}
    assert words in report["units"].cure


def test_bow_ties_and_touching_vertices_are_notes() -> None:
    x = np.array([[0.0, 0, 0], [1, 1, 0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0]])
    report = pl.check_mesh(TriMesh(x, np.array([[0, 2, 1], [0, 3, 4]])))
    assert found(report) == {"bow_tie": 1}
    assert report["bow_tie"].first == [0]
    assert report.ok
    apart = pl.check_mesh(TriMesh(x[[0, 2, 1, 0, 3, 4]], np.arange(6).reshape(2, 3)))
    assert found(apart) == {"coincident": 1}


def test_vertices_that_nearly_coincide_are_named() -> None:
    cut, source = flaws.seamed(flaws.sheet())
    x = cut.vertices.copy()
    x[flaws.sheet().n_vertices :] += 1e-7
    report = pl.check_mesh(TriMesh(x, cut.triangles), self_intersections=False)
    assert found(report)["nearly_coincident"] == len(source) - flaws.sheet().n_vertices


def test_bodies_are_told_what_is_wrong_with_them() -> None:
    bar = shapes.bar((1.0, 0.5, 0.5), (4, 2, 2))
    x, tets = bar.vertices.copy(), bar.tets.astype(int)
    tets[7] = tets[7, [1, 0, 2, 3]]
    x = np.concatenate([x, x[:1], [[0.0, 0, 1e-3 + 0.25]]])
    tets = np.concatenate([tets, tets[3:4], [[0, 1, 2, 2]]])
    report = pl.check_mesh((x, tets))
    names = found(report)
    assert names["winding"] == 1
    assert names["duplicate"] == 1
    assert names["degenerate"] == 1
    assert names["unused"] == 2
    assert report["winding"].first == [7]
    assert report["duplicate"].first == [bar.n_tets]
    assert report["degenerate"].first == [bar.n_tets + 1]
    flat = shapes.bar((1.0, 0.5, 0.5), (4, 2, 2)).vertices.copy()
    inner = flat[:, 0] == flat[flat[:, 0] > flat[:, 0].min(), 0].min()
    flat[inner, 0] = flat[:, 0].min() + 1e-4
    slivers = pl.check_mesh((flat, bar.tets))
    assert slivers["sliver"].count > 5
    assert slivers["sliver"].first[0] == slivers.counts["worst"][0]["tetrahedron"]
    assert slivers.counts["smallest_dihedral"] < 0.1


def test_a_body_that_falls_apart_is_named() -> None:
    bar = shapes.bar((1.0, 0.5, 0.5), (2, 1, 1))
    half = bar.vertices[bar.tets].mean(axis=1)[:, 0] > 0
    x = np.concatenate([bar.vertices, bar.vertices])
    tets = np.where(half[:, None], bar.tets + bar.n_vertices, bar.tets)
    assert found(pl.check_mesh((x, tets)))["coincident"] == 4


def test_what_no_mesh_could_be_is_said_and_nothing_else() -> None:
    assert found(pl.check_mesh((np.full((3, 3), np.nan), [[0, 1, 7]]))) == {
        "not_finite": 3,
        "out_of_range": 1,
    }
    assert found(pl.check_mesh((np.eye(3), np.zeros((0, 3), int)))) == {"empty": 1}
    assert "degenerate" in pl.check_mesh((np.eye(3), [[0, 1, 1]]))
    for bad in ("shirt.obj", None, (np.eye(3), [[0, 1]]), (np.eye(3), 7)):
        with pytest.raises(MeshError):
            pl.check_mesh(bad)  # type: ignore[arg-type]


def test_the_report_is_plain_data_and_one_screen() -> None:
    report = pl.check_mesh(flaws.soup(flaws.doubled(flaws.rewound(flaws.with_strays(flaws.fins())))))
    data = json.loads(json.dumps(report.to_dict()))
    assert data["ok"] is False
    assert {f["name"] for f in data["findings"]} == set(found(report))
    assert all(
        set(f) == {"name", "severity", "element", "count", "first", "words", "cure"} for f in data["findings"]
    )
    order = [SEVERITIES.index(f["severity"]) for f in data["findings"]]
    assert order == sorted(order)
    assert len(str(report).splitlines()) < 24
    with pytest.raises(KeyError, match="not found in mesh"):
        report["nothing"]


@pytest.mark.parametrize("kind", ["clean", "soup"])
def test_a_hundred_thousand_triangles_take_less_than_a_second(kind: str) -> None:
    mesh = shapes.grid(225, 225)
    mesh = flaws.soup(mesh) if kind == "soup" else mesh
    pl.check_mesh(shapes.grid(3, 3), self_intersections=False)
    start = time.process_time()
    report = pl.check_mesh(mesh, self_intersections=False)
    seconds = time.process_time() - start
    assert ("split_seam" in report) == (kind == "soup")
    assert seconds < (1.0 if kind == "clean" else 4.0), f"{seconds:.2f} s"


def test_mending_leaves_nothing_that_mending_could_cure() -> None:
    for mesh in (
        flaws.soup(flaws.sheet()), flaws.seamed(shapes.sphere(0.3, 2))[0], flaws.rewound(flaws.sheet()),
        flaws.doubled(flaws.sheet()), flaws.with_strays(flaws.sheet()), flaws.fins(), flaws.cap(),
    ):  # fmt: skip
        assert not pl.check_mesh(mesh).ok
        assert pl.check_mesh(pl.repair_mesh(mesh).mesh).ok


# ---- slow twins


@settings(max_examples=60, deadline=None)
@given(mesh=surfaces())
def test_bow_ties_and_winding_agree_with_walking_around(mesh: tuple[np.ndarray, np.ndarray]) -> None:
    x, triangles = mesh
    groups = defects.edge_groups(triangles)
    expected = [v for v in range(len(x)) if fans_around(triangles, v) > 1]
    assert defects.bow_ties(triangles, groups, len(x)).tolist() == expected
    area = np.ones(len(triangles))
    wound = defects.winding(triangles, groups, area)
    assert sorted(map(tuple, wound.clashes.tolist())) == sorted(
        map(tuple, topology.inconsistent_edges(triangles).tolist())
    )
    fixed = np.where(wound.turned[:, None], triangles[:, ::-1], triangles)
    if not len(wound.one_sided):
        assert not len(topology.inconsistent_edges(fixed))
    for k in np.unique(wound.piece):
        assert wound.turned[wound.piece == k].mean() <= 0.5


def fans_around(triangles: np.ndarray, v: int) -> int:
    """Groups of triangles around a vertex that edges hold together, by walking."""
    left = {f: set(t) - {v} for f, t in enumerate(triangles.tolist()) if v in t}
    fans = 0
    while left:
        fans += 1
        front = left.pop(next(iter(left)))
        while True:
            near = [f for f, ends in left.items() if ends & front]
            if not near:
                break
            for f in near:
                front |= left.pop(f)
    return fans


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_t_vertices_agree_with_trying_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 5, (12, 3)).astype(float)
    triangles = np.array([t for t in rng.integers(0, 12, (6, 3)).tolist() if len(set(t)) == 3])
    if not len(triangles):
        return
    expected = set()
    for a, b in topology.boundary_edges(triangles).tolist():
        for v in range(12):
            along, arm = x[b] - x[a], x[v] - x[a]
            s = along @ arm / max(along @ along, 1e-30)
            if np.linalg.norm(along) > 0 and 1e-5 < s < 1 - 1e-5 and np.allclose(arm, s * along, atol=1e-9):
                expected.add(v)
    assert set(defects.t_vertices(x, triangles, np.arange(12))[0].tolist()) == expected
