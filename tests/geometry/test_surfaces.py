"""Surfaces with two sides: winding, pieces, normals; against winding numbers and volumes in closed form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.geometry import surfaces as g
from pliant.geometry.measures import triangle_areas
from pliant.geometry.tree import LEAF, box_tree
from tests.contact.meshes import bowl, box, closed, flipped, joined, slow_nearest, winding_number

Array = np.ndarray

BALL = pl.shapes.sphere(1.0, 2)


def against(tri: Array) -> int:
    """Inner edges that faces do not run through as often one way as the other."""
    start, end = tri.ravel(), np.roll(tri, -1, axis=1).ravel()
    edges, ids, count = np.unique(
        np.sort(np.stack([start, end], axis=1), axis=1), axis=0, return_inverse=True, return_counts=True
    )
    balance = np.bincount(ids.ravel(), np.where(start < end, 1, -1), len(edges))
    return int((np.abs(balance[count > 1]) > 0).sum())


@pytest.mark.parametrize("share", [0.0, 0.1, 0.45, 0.8, 1.0])
def test_a_closed_piece_is_wound_outwards_whatever_the_file_says(share: float) -> None:
    mesh = flipped(BALL, share, seed=1)
    c = pl.MeshCollider(mesh)
    (piece,) = c.surfaces.pieces
    assert piece.closed
    assert against(piece.triangles) == 0
    x = mesh.vertices[piece.triangles]
    assert ((np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]) * x.mean(axis=1)).sum(axis=1) > 0).all()
    assert 3.6 < piece.volume < 4 * np.pi / 3
    turned = np.any(mesh.triangles != BALL.triangles, axis=1).sum()
    areas = triangle_areas(mesh.vertices, mesh.triangles)
    minority = areas[np.any(mesh.triangles != BALL.triangles, axis=1)].sum() < 0.5 * areas.sum()
    assert c.turned == (turned if minority else mesh.n_triangles - turned)
    assert c.sides == ("outside",)


def test_an_open_piece_keeps_the_winding_of_its_greater_part() -> None:
    mesh = bowl(1.0, 2)
    some = pl.MeshCollider(flipped(mesh, 0.3))
    most = pl.MeshCollider(flipped(mesh, 0.7))
    assert some.sides == most.sides == ("both",)
    assert some.turned > 0
    np.testing.assert_array_equal(some.surfaces.pieces[0].triangles, mesh.triangles)
    np.testing.assert_array_equal(
        np.sort(most.surfaces.pieces[0].triangles[:, ::-1]), np.sort(mesh.triangles)
    )
    assert against(most.surfaces.pieces[0].triangles) == 0


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0, 1))
def test_any_flips_of_any_pieces_give_the_same_surfaces(seed: int, share: float) -> None:
    mesh = joined(BALL.transformed((3, 0, 0)), bowl(0.5, 1), box((1, 2, 3)).transformed((-4, 0, 0)))
    whole, mixed = pl.MeshCollider(mesh), pl.MeshCollider(flipped(mesh, share, seed))
    for a, b in zip(whole.surfaces.pieces, mixed.surfaces.pieces, strict=True):
        assert (a.closed, a.volume) == (b.closed, b.volume)
        same = np.array_equal(a.triangles, b.triangles)
        assert same or (not a.closed and np.array_equal(a.triangles, b.triangles[:, ::-1]))
    assert whole.turned == 0


def test_pieces_come_largest_first_each_with_its_side() -> None:
    c = pl.MeshCollider(joined(box((1, 1, 1)), BALL.transformed((3, 0, 0)), bowl(0.5, 1)))
    assert [len(p.triangles) for p in c.surfaces.pieces] == [320, len(bowl(0.5, 1).triangles), 12]
    assert c.sides == ("outside", "both", "outside")
    assert pl.MeshCollider(c.mesh, side="inside").sides == ("inside",) * 3
    assert pl.MeshCollider(c.mesh, side="both").sides == ("both",) * 3
    assert "2 x outside, 1 x both" in repr(c)


def test_corners_split_by_an_exporter_are_one(capsys: pytest.CaptureFixture[str]) -> None:
    cube = box((1, 1, 1))
    loose = pl.TriMesh(cube.vertices[cube.triangles].reshape(-1, 3), np.arange(36).reshape(-1, 3))
    c = pl.MeshCollider(loose)
    assert len(c.surfaces.pieces) == 1
    assert c.surfaces.pieces[0].volume == pytest.approx(1)


def test_solids_that_share_an_edge_stay_apart() -> None:
    """Two cubes that touch along an edge: four faces there, joined two by two."""
    cube = box((1, 1, 1))
    c = pl.MeshCollider(joined(cube, cube.transformed((1, 1, 0))))
    assert all(p.closed and against(p.triangles) == 0 for p in c.surfaces.pieces)
    assert sum(p.volume for p in c.surfaces.pieces) == pytest.approx(2)


def test_faces_given_twice_count_once() -> None:
    sheet = pl.shapes.grid(4, 4)
    both = pl.TriMesh(sheet.vertices, np.concatenate([sheet.triangles, sheet.triangles[:, ::-1]]))
    c = pl.MeshCollider(both)
    assert c.doubled == sheet.n_triangles
    assert c.sides == ("both",)


def test_a_closed_piece_that_encloses_nothing_has_no_inside() -> None:
    """A square and its back, of other triangles."""
    x = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]])
    mesh = pl.TriMesh(x, np.array([[0, 1, 2], [0, 2, 3], [1, 0, 3], [1, 3, 2]]))
    with pytest.raises(pl.SceneError, match="4 faces form a closed surface that encloses nothing"):
        pl.MeshCollider(mesh)
    c = pl.MeshCollider(mesh, side="both")
    assert c.surfaces.pieces[0].closed
    assert c.sides == ("both",)


def test_solids_that_touch_are_told_apart() -> None:
    """Two boxes face to face: as two parts of a file, of either winding, and as loose faces."""
    a = box((1, 1, 1))
    moved = a.transformed((1, 0, 0))  # cuts the common square along the other diagonal
    mirrored = pl.TriMesh(moved.vertices * (-1, 1, 1) + (2, 0, 0), moved.triangles[:, ::-1])
    for b in (moved, mirrored):
        for turned in (0.0, 1.0):
            c = pl.MeshCollider(joined(a, flipped(b, turned)))
            assert [p.volume for p in c.surfaces.pieces] == pytest.approx([1, 1])
        two = joined(a, b)
        soup = pl.TriMesh(two.vertices[two.triangles].reshape(-1, 3), np.arange(72).reshape(-1, 3))
        assert [p.volume for p in pl.MeshCollider(soup).surfaces.pieces] == pytest.approx([1, 1])


def moebius() -> pl.TriMesh:
    n = 12
    a = np.linspace(0, 2 * np.pi, n, endpoint=False)
    radial = np.stack([np.cos(a), np.sin(a), 0 * a], axis=1)
    across = 0.3 * (np.cos(a / 2)[:, None] * radial + np.sin(a / 2)[:, None] * [0, 0, 1])
    x = np.concatenate([radial - across, radial + across])
    faces = []
    for k in range(n):
        a0, b0 = k, n + k
        a1, b1 = (k + 1, n + k + 1) if k < n - 1 else (n, 0)
        faces += [(a0, a1, b1), (a0, b1, b0)]
    return pl.TriMesh(x, np.array(faces), name="strip")


def test_what_has_no_two_sides_is_refused_by_name() -> None:
    with pytest.raises(pl.MeshError, match=r"collider strip: .* only one side, like a Möbius strip"):
        pl.MeshCollider(moebius())
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1.0]])
    fan = pl.TriMesh(x, np.array([[0, 1, 2], [1, 0, 3], [0, 1, 4]]), name="fan")
    with pytest.raises(pl.MeshError, match=r"fan: 3 faces meet in the edge from \(0, 0, 0\) to \(1, 0, 0\)"):
        pl.MeshCollider(fan)
    with pytest.raises(pl.SceneError, match='side="left" is unknown'):
        pl.MeshCollider(BALL, side="left")
    with pytest.raises(pl.SceneError, match="must be a TriMesh"):
        pl.MeshCollider("ball.obj")  # type: ignore[arg-type]


def test_turned_faces_are_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLIANT_QUIET", raising=False)
    pl.MeshCollider(BALL)
    assert capsys.readouterr().err == ""
    c = pl.MeshCollider(flipped(BALL, 0.2))
    assert f"{c.turned} of 320 faces turned over" in capsys.readouterr().err


SOLIDS = {
    "ball": BALL,
    "box": box((1, 0.6, 0.3)),
    "table": closed(pl.Cylinder(0.8, 0.3, 0.1)),
    "ring": None,
}


def ring() -> pl.TriMesh:
    """A torus: not convex."""
    u, v = np.meshgrid(np.arange(16), np.arange(8), indexing="ij")
    a, b = 2 * np.pi * u / 16, 2 * np.pi * v / 8
    x = np.stack(
        [(1 + 0.4 * np.cos(b)) * np.cos(a), (1 + 0.4 * np.cos(b)) * np.sin(a), 0.4 * np.sin(b)], axis=2
    )

    def at(i: Array, j: Array) -> Array:
        return (i % 16) * 8 + j % 8

    quads = np.stack([at(u, v), at(u + 1, v), at(u + 1, v + 1), at(u, v + 1)], axis=2).reshape(-1, 4)
    return pl.TriMesh(x.reshape(-1, 3), np.concatenate([quads[:, :3], quads[:, [0, 2, 3]]]), name="ring")


@pytest.mark.parametrize("name", SOLIDS)
def test_normals_at_faces_edges_and_corners_tell_inside_from_outside(name: str) -> None:
    """The sign of (p - c) . n at the nearest feature, against the winding number."""
    mesh = ring() if name == "ring" else SOLIDS[name]
    assert mesh is not None
    piece = pl.MeshCollider(mesh).surfaces.pieces[0]
    x, tri = mesh.vertices, piece.triangles
    p = np.random.default_rng(0).uniform(-0.75, 0.75, (400, 3)) * np.diff(mesh.bounds, axis=0)
    n, rim = g.normals(x, tri), g.border(tri)
    assert not rim.any()
    inside = winding_number(x[tri], p) > 0.5
    assert 20 < inside.sum() < 380
    face = slow_nearest(x[tri], p).argmin(axis=1)
    seen = set()
    for k, f in enumerate(face):
        c, feature = nearest_feature(x[tri[f]], p[k])
        seen.add(feature)
        assert ((p[k] - c) @ n[f, feature] < 0) == inside[k]
    assert len(seen) > 3


def nearest_feature(corner: Array, p: Array) -> tuple[Array, int]:
    """Nearest point of one triangle and its feature, by trying all."""
    sides = [(0, 1), (0, 2), (1, 2)]
    u, v = corner[1] - corner[0], corner[2] - corner[0]
    s = np.linalg.solve([[u @ u, u @ v], [u @ v, v @ v]], [u @ (p - corner[0]), v @ (p - corner[0])])
    found = []
    if s.min() >= 0 and s.sum() <= 1:
        found.append((corner[0] + s[0] * u + s[1] * v, 0))
    for k, (i, j) in enumerate(sides):
        e = corner[j] - corner[i]
        t = (p - corner[i]) @ e / (e @ e)
        if 0 < t < 1:
            found.append((corner[i] + t * e, 1 + k))
    found += [(corner[k], 4 + k) for k in range(3)]
    return min(found, key=lambda c: np.linalg.norm(p - c[0]))


def test_the_rim_of_an_open_piece() -> None:
    """A square of two triangles: four sides of it, every corner."""
    tri = pl.shapes.grid(2, 2).triangles
    rim = g.border(tri)
    assert not rim[:, 0].any()
    assert rim[:, 1:4].sum() == 4
    assert rim[:, 4:].all()


@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 200), seed=st.integers(0, 2**32 - 1))
def test_a_tree_holds_every_triangle_once_in_boxes_that_nest(n: int, seed: int) -> None:
    corner = np.random.default_rng(seed).standard_normal((n, 3, 3))
    tree = box_tree(corner)
    np.testing.assert_array_equal(np.sort(tree.order), np.arange(n))
    leaves = 2**tree.depth
    assert n <= LEAF * leaves
    for j in range(leaves):
        inside = tree.order[n * j // leaves : n * (j + 1) // leaves]
        assert 1 <= len(inside) <= LEAF
        assert (tree.box[leaves + j, :3] == corner[inside].min(axis=(0, 1))).all()
        assert (tree.box[leaves + j, 3:] == corner[inside].max(axis=(0, 1))).all()
    for k in range(1, leaves):
        children = tree.box[2 * k : 2 * k + 2]
        assert (tree.box[k, :3] == children[:, :3].min(axis=0)).all()
        assert (tree.box[k, 3:] == children[:, 3:].max(axis=0)).all()


def test_real_meshes_become_colliders_or_one_clear_line(data: Path) -> None:
    """Every OBJ beside the repository, as its numbers stand: closed, open, in pieces, split, broken."""
    verdicts = {}
    for path in sorted(data.glob("*/*.obj")):
        x, tri = plain_obj(path)
        name = f"{path.parent.name}/{path.stem}"
        try:
            c = pl.MeshCollider(pl.TriMesh(x, tri, source=path.name))
        except pl.PliantError as error:
            verdicts[name] = (
                ("refused",) if path.name in str(error) and "\n" not in str(error) else str(error)
            )
            continue
        assert all(against(p.triangles) == 0 for p in c.surfaces.pieces)
        verdicts[name] = c.sides
    assert verdicts["mujoco/spot"] == ("outside",)
    assert verdicts["diffpd/spot"] == ("outside",)
    assert verdicts["trimesh/cubevt"] == ("outside",)
    assert verdicts["trimesh/rabbit"] == ("outside",) * 9
    assert verdicts["mujoco/cap"] == ("both",)
    refused = [name for name, sides in verdicts.items() if sides == ("refused",)]
    assert verdicts["trimesh/joined_tetrahedra"] == ("outside", "outside")
    assert set(refused) >= {"mujoco/bag", "trimesh/not_convex"}
    assert len(refused) < 0.3 * len(verdicts)


def plain_obj(path: Path) -> tuple[Array, Array]:
    """Vertices and faces of an OBJ file, fans for polygons; unused vertices are kept."""
    x, tri = [], []
    for line in path.read_text(errors="replace").replace("\\\n", " ").splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            x.append([float(w) for w in words[1:4]])
        elif words[:1] == ["f"]:
            ids = [int(w.split("/")[0]) for w in words[1:]]
            ids = [i - 1 if i > 0 else len(x) + i for i in ids]
            tri += [(ids[0], ids[k], ids[k + 1]) for k in range(1, len(ids) - 1)]
    return np.array(x), np.array(tri)
