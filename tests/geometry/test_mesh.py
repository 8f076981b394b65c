from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.errors import MeshError
from pliant.geometry import shapes
from pliant.geometry.mesh import TriMesh, rotation_matrix

SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
TWO = np.array([[0, 1, 2], [0, 2, 3]])


def test_a_mesh_is_float64_int32_and_read_only() -> None:
    vertices = SQUARE.astype(np.float32)
    mesh = TriMesh(vertices, TWO)
    assert mesh.vertices.dtype == np.float64
    assert mesh.triangles.dtype == np.int32
    assert mesh.file_ids.tolist() == [0, 1, 2, 3]
    assert mesh.file_ids.dtype == np.int32
    for array in (mesh.vertices, mesh.triangles, mesh.file_ids, mesh.edges, mesh.bounds):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    vertices[0] = 7.0
    assert mesh.vertices[0].tolist() == [0, 0, 0]


def test_the_mesh_does_not_freeze_the_callers_arrays() -> None:
    triangles = TWO.astype(np.int32)
    vertices = SQUARE.copy()
    ids = np.arange(4, dtype=np.int32)
    TriMesh(vertices, triangles, ids)
    triangles[0, 0] = vertices[0, 0] = ids[0] = 0


def test_measures_of_a_square() -> None:
    mesh = TriMesh(2.0 * SQUARE, TWO)
    assert (mesh.n_vertices, mesh.n_triangles) == (4, 2)
    assert mesh.edges.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]]
    assert mesh.area == 4.0
    assert mesh.bounds.tolist() == [[0, 0, 0], [2, 2, 0]]
    assert mesh.length == pytest.approx(np.sqrt(8.0))


@pytest.mark.parametrize(
    ("vertices", "triangles", "message"),
    [
        (SQUARE, np.zeros((0, 3), int), "no triangles"),
        (SQUARE[:, :2], TWO, r"vertices has shape \(4, 2\)"),
        (SQUARE, TWO.astype(float), r"\(F, 3\) of integers"),
        (SQUARE, [[0, 1, 2, 3]], r"\(F, 3\) of integers"),
        (SQUARE, [[0, 1, 2], [0, 1]], "rows of 3 vertex ids"),
        (SQUARE * [1, np.nan, 1], TWO, "vertex 0 is at"),
        (SQUARE, [[0, 1, 4]], r"triangle 0 refers to vertices \[0, 1, 4\], the mesh has 4"),
        (SQUARE, [[0, 1, 2], [0, -1, 2]], "triangle 1 refers"),
        (SQUARE, [[0, 1, 2], [0, 2, 2]], "triangle 1 names a vertex twice"),
        (np.vstack([SQUARE, [[2.0, 0, 0]]]), [[0, 1, 2], [0, 1, 4]], "triangle 1 .*has no area"),
        (SQUARE, [[0, 1, 2**40]], "ids must fit in 32 bits"),
        ("abc", TWO, "vertices must be numbers"),
    ],
)
def test_a_bad_mesh_is_refused_by_name(vertices: object, triangles: object, message: str) -> None:
    with pytest.raises(MeshError, match=f"^towel: .*{message}"):
        TriMesh(vertices, triangles, name="towel")  # type: ignore[arg-type]


def test_the_source_is_named_before_the_name() -> None:
    with pytest.raises(MeshError, match=r"^a/b\.obj: "):
        TriMesh(SQUARE, [[0, 0, 1]], name="b", source="a/b.obj")  # type: ignore[arg-type]


@given(st.integers(-60, 60))
def test_no_area_does_not_depend_on_the_unit(exponent: int) -> None:
    scale = 2.0**exponent
    thin = np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 2e-6, 0]]) * scale
    flat = np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 5e-7, 0]]) * scale
    TriMesh(thin, [[0, 1, 2]])  # type: ignore[arg-type]
    with pytest.raises(MeshError, match="has no area"):
        TriMesh(flat, [[0, 1, 2]])  # type: ignore[arg-type]


def test_coincident_corners_have_no_area() -> None:
    with pytest.raises(MeshError, match="has no area"):
        TriMesh(np.zeros((3, 3)), [[0, 1, 2]])  # type: ignore[arg-type]


def test_file_ids_and_uv_are_checked() -> None:
    with pytest.raises(MeshError, match="file_ids must be"):
        TriMesh(SQUARE, TWO, np.array([0, 4]))
    with pytest.raises(MeshError, match="uv has 3 rows"):
        TriMesh(SQUARE, TWO, uv=np.zeros((3, 2)))


def test_transformed_scales_then_turns_then_moves() -> None:
    mesh = TriMesh(SQUARE, TWO, np.array([3, 2, 1, 0]), name="towel")
    moved = mesh.transformed((0, 0, 5), rotation=(0, 0, np.pi / 2), scale=2.0)
    np.testing.assert_allclose(moved.vertices, [[0, 0, 5], [0, 2, 5], [-2, 2, 5], [-2, 0, 5]], atol=1e-15)
    assert moved.file_ids.tolist() == [3, 2, 1, 0]
    assert moved.name == "towel"
    with pytest.raises(MeshError, match="scale is 0"):
        mesh.transformed(scale=0.0)
    with pytest.raises(MeshError, match="position must be"):
        mesh.transformed(position=(0, 0))


@given(st.lists(st.floats(-7, 7), min_size=3, max_size=3))
def test_the_three_spellings_of_a_rotation_agree(vector: list[float]) -> None:
    r = np.array(vector)
    angle = np.linalg.norm(r)
    axis = r / angle if angle > 0 else r
    quaternion = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis])
    matrix = rotation_matrix(r)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(matrix @ r, r, atol=1e-13)
    np.testing.assert_allclose(rotation_matrix(3.0 * quaternion), matrix, atol=1e-14)
    np.testing.assert_array_equal(rotation_matrix(matrix), matrix)


@pytest.mark.parametrize(
    "rotation", [np.diag([1.0, 1, -1]), 2 * np.eye(3), np.zeros(4), [1.0, 2.0], [np.nan] * 3]
)
def test_what_is_no_rotation_is_refused(rotation: object) -> None:
    with pytest.raises(MeshError, match="rotation"):
        rotation_matrix(rotation)  # type: ignore[arg-type]


def test_repr_diagnoses() -> None:
    assert "closed" in repr(shapes.sphere(1.0, 1))
    text = repr(shapes.grid(3, 3))
    assert "9 vertices, 8 triangles" in text
    assert "1 piece;" in text
    assert "8 boundary edges" in text
    fan = TriMesh(np.vstack([SQUARE, [[0.0, 0, 1]]]), [[0, 1, 2], [0, 2, 3], [0, 2, 4]])  # type: ignore[arg-type]
    assert "1 non-manifold edges" in repr(fan)
