from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.errors import MeshError
from pliant.geometry import shapes
from pliant.geometry.tetmesh import TetMesh

TWO = np.array([[0, 1, 2, 3], [4, 1, 3, 2]])
X = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])


def test_a_mesh_is_float64_int32_and_read_only() -> None:
    vertices = X.astype(np.float32)
    mesh = TetMesh(vertices, TWO)
    assert mesh.vertices.dtype == np.float64
    assert mesh.tets.dtype == np.int32
    assert mesh.file_ids.tolist() == [0, 1, 2, 3, 4]
    for array in (mesh.vertices, mesh.tets, mesh.file_ids, mesh.edges, mesh.bounds, mesh.triangles):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    vertices[0] = 7.0
    assert mesh.vertices[0].tolist() == [0, 0, 0]


def test_the_mesh_does_not_touch_the_callers_arrays() -> None:
    tets = np.array([[0, 2, 1, 3], [4, 1, 3, 2]], dtype=np.int32)
    vertices, before = X.copy(), tets.copy()
    assert TetMesh(vertices, tets).turned == 1
    np.testing.assert_array_equal(tets, before)
    tets[0, 0] = vertices[0, 0] = 0


def test_measures_of_two_tetrahedra() -> None:
    mesh = TetMesh(2.0 * X, TWO)
    assert (mesh.n_vertices, mesh.n_tets, mesh.turned) == (5, 2, 0)
    assert mesh.volume == pytest.approx(8.0 / 6.0 + 8.0 / 3.0)
    assert len(mesh.edges) == 9
    assert len(mesh.triangles) == 6
    assert mesh.bounds.tolist() == [[0, 0, 0], [2, 2, 2]]
    assert mesh.length == pytest.approx(np.sqrt(12.0))


def test_tetrahedra_that_came_inside_out_are_turned_round_and_counted() -> None:
    mesh = TetMesh(X, TWO[:, [1, 0, 2, 3]], name="lump")
    assert mesh.turned == 2
    corners = mesh.vertices[mesh.tets]
    assert (np.linalg.det(corners[:, 1:] - corners[:, :1]) > 0.0).all()
    assert {tuple(sorted(t)) for t in mesh.tets.tolist()} == {(0, 1, 2, 3), (1, 2, 3, 4)}
    assert "2 came inside out and were turned round" in repr(mesh)
    assert mesh.transformed((0, 0, 1)).turned == 2


@pytest.mark.parametrize(
    ("vertices", "tets", "message"),
    [
        (X, np.zeros((0, 4), int), "no tetrahedra"),
        (X[:, :2], TWO, r"vertices has shape \(5, 2\)"),
        (X, TWO.astype(float), r"\(E, 4\) of integers"),
        (X, [[0, 1, 2]], r"\(E, 4\) of integers"),
        (X, [[0, 1, 2, 3], [0, 1]], "rows of 4 vertex ids"),
        (X * [1, np.nan, 1], TWO, r"vertex 0 is at .*\(5 such\)"),
        (X, [[0, 1, 2, 5]], r"tetrahedron 0 with vertices \[0, 1, 2, 5\] refers .*the mesh has 5"),
        (X, [[0, 1, 2, 3], [0, -1, 2, 4]], "tetrahedron 1 .*refers"),
        (X, [[0, 1, 2, 3], [4, 2, 3, 2]], r"tetrahedron 1 .*names a vertex twice; remove it \(1 such\)"),
        (X[:4] * [1, 1, 0], [[0, 1, 2, 3]], "tetrahedron 0 .*has no volume"),
        (X, TWO[:1], "no tetrahedron uses vertex 4 .*leave such vertices out"),
        (X, [[0, 1, 2, 2**40]], "ids must fit in 32 bits"),
        (
            np.vstack([X, [[2.0, 2, 2]]]),
            [[0, 1, 2, 3], [4, 1, 2, 3], [5, 1, 2, 3]],
            r"face of vertices \[1, 2, 3\] belongs to 3 tetrahedra \(0, 1, 2\).*overlap",
        ),
    ],
)
def test_a_bad_mesh_is_refused_by_name(vertices: object, tets: object, message: str) -> None:
    with pytest.raises(MeshError, match=f"^lump: .*{message}"):
        TetMesh(vertices, tets, name="lump")  # type: ignore[arg-type]


@given(st.integers(-60, 60))
def test_no_volume_does_not_depend_on_the_unit(exponent: int) -> None:
    scale = 2.0**exponent
    base = np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 0.8, 0], [0.5, 0.3, 2.5e-6]])
    TetMesh(base * scale, [[0, 1, 2, 3]])  # type: ignore[arg-type]
    with pytest.raises(MeshError, match="has no volume"):
        TetMesh(base * [1, 1, 0.2] * scale, [[0, 1, 2, 3]])  # type: ignore[arg-type]


def test_slivers_and_needles_are_not_refused() -> None:
    """A sliver of 0.1 degrees and a tetrahedron of 1e-12 of its edge cubed: poor, but bodies."""
    sliver = np.array([[0.0, 0, 0], [1, 0, 1e-3], [1, 1, 0], [0, 1, 1e-3]])
    needle = np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 1e-4, 0], [0.5, 0, 1e-4]])
    for x in (sliver, needle):
        assert TetMesh(x, [[0, 1, 2, 3]]).volume > 0.0  # type: ignore[arg-type]


def test_file_ids_may_say_that_a_vertex_was_left_out() -> None:
    assert TetMesh(X, TWO, np.array([-1, 0, 1, 2, 3, 4])).file_ids.tolist() == [-1, 0, 1, 2, 3, 4]
    with pytest.raises(MeshError, match="file_ids must be"):
        TetMesh(X, TWO, np.array([0, 5]))


def test_transformed_scales_then_turns_then_moves() -> None:
    mesh = TetMesh(X, TWO, np.array([4, 3, 2, 1, 0]), name="lump")
    moved = mesh.transformed((0, 0, 5), rotation=(0, 0, np.pi / 2), scale=2.0)
    np.testing.assert_allclose(moved.vertices[1:4], [[0, 2, 5], [-2, 0, 5], [0, 0, 7]], atol=1e-15)
    np.testing.assert_array_equal(moved.tets, mesh.tets)
    assert moved.file_ids.tolist() == [4, 3, 2, 1, 0]
    assert (moved.name, moved.volume) == ("lump", pytest.approx(8.0 * mesh.volume))
    with pytest.raises(MeshError, match="scale is 0"):
        mesh.transformed(scale=0.0)
    with pytest.raises(MeshError, match="position must be"):
        mesh.transformed(position=(0, 0))


def test_another_shape_may_be_flat_or_inside_out() -> None:
    mesh = TetMesh(X, TWO, name="lump")
    flat = mesh.with_vertices(X * [1, 1, -0.2])
    np.testing.assert_array_equal(flat.tets, mesh.tets)
    assert flat.volume == pytest.approx(-0.2 * mesh.volume)
    with pytest.raises(MeshError, match=r"lump: vertices must be finite with shape \(5, 3\)"):
        mesh.with_vertices(X[:4])


def test_the_surface_is_a_mesh_of_its_own() -> None:
    ball = shapes.ball(0.5, 3)
    surface = ball.surface
    assert surface.n_vertices == len(ball.surface_ids) == 92
    np.testing.assert_array_equal(surface.vertices, ball.vertices[ball.surface_ids])
    np.testing.assert_array_equal(ball.surface_ids[surface.triangles], ball.triangles)
    assert "closed" in repr(surface)


def test_repr_diagnoses() -> None:
    text = repr(shapes.bar((1.0, 0.2, 0.2), (5, 1, 1)))
    for part in ("24 vertices, 25 tetrahedra", "1 piece;", "volume 0.04 m³", "quality 0.77 at worst"):
        assert part in text
    apart = TetMesh(np.vstack([X[:4], X[:4] + 3.0]), [[0, 1, 2, 3], [4, 5, 6, 7]])  # type: ignore[arg-type]
    assert "2 pieces" in repr(apart)
