"""What a mesh carries beside its shape: texture coordinates, colours, the polygons of its file."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.errors import MeshError

X = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
TWO = np.array([[0, 1, 2], [0, 2, 3]])
UV = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5]])
CARRIED = {
    "uv": UV,
    "uv_triangles": [[0, 1, 2], [4, 2, 3]],
    "colors": np.linspace(0.0, 1.0, 12).reshape(4, 3),
    "polygons": ((0, 1, 2, 3),),
    "triangle_polygon": np.array([0, 0]),
}


def same(a: pl.TriMesh, b: pl.TriMesh) -> None:
    for name in ("uv", "uv_triangles", "colors", "triangle_polygon"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
        assert getattr(a, name) is not None
        assert not getattr(a, name).flags.writeable
    assert a.polygons == b.polygons == ((0, 1, 2, 3),)


def test_all_is_kept_and_carried_along() -> None:
    mesh = pl.TriMesh(X, TWO, **CARRIED)  # type: ignore[arg-type]
    np.testing.assert_array_equal(mesh.colors, CARRIED["colors"])
    np.testing.assert_array_equal(mesh.uv[mesh.uv_triangles[1, 0]], [0.5, 0.5])  # type: ignore[index]
    same(mesh, mesh.transformed((1, 2, 3), (0.1, 0.2, 0.3), 2.0))


def test_a_scene_keeps_them_too() -> None:
    mesh = pl.TriMesh(X, TWO, **CARRIED)  # type: ignore[arg-type]
    scene = pl.Scene()
    same(mesh, scene.add_cloth(mesh, pl.fabrics.cotton, position=(0, 0, 1)).mesh)
    same(mesh, scene.add_cloth(mesh, pl.fabrics.cotton, start=X + 1.0).mesh)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"uv_triangles": None}, "uv has 5 rows, the mesh has 4 vertices; give one per vertex, or uv_tri"),
        ({"uv": None}, "uv_triangles without uv"),
        ({"uv": UV * np.nan}, "uv row 0 is not finite"),
        ({"uv_triangles": [[0, 1, 2]]}, "uv_triangles has 1 rows, the mesh has 2 triangles"),
        ({"uv_triangles": [[0, 1, 2], [0, 2, 5]]}, r"uv_triangles row 1 is \[0, 2, 5\]; uv has 5 rows"),
        ({"uv_triangles": [[0, 1, 2], [0, 2, -1]]}, "uv_triangles row 1"),
        ({"colors": np.full((4, 3), 255.0)}, "color 0 is .*; give numbers from 0 to 1"),
        ({"colors": np.full((4, 3), np.nan)}, "color 0 is"),
        ({"colors": np.zeros((3, 3))}, "colors has 3 rows"),
        ({"colors": np.zeros((4, 2))}, r"colors has shape \(4, 2\)"),
        ({"polygons": None}, "polygons and triangle_polygon belong"),
        ({"triangle_polygon": np.array([0, 1])}, "triangle_polygon must hold ids from 0 to 0"),
        (
            {"triangle_polygon": np.array([0.0, 0.0])},
            "triangle_polygon has shape .* one integer for each of the 2",
        ),
        ({"polygons": ((0, 1, 2, 4),)}, "polygons refer to vertices that do not exist; the mesh has 4"),
        (
            {"polygons": ((0, 1, 2), (0, 1, 2)), "triangle_polygon": np.array([0, 1])},
            "triangle 1 with vertices .* is no part of its polygon 1",
        ),
    ],
)
def test_what_does_not_fit_is_refused(changed: dict, message: str) -> None:
    with pytest.raises(MeshError, match=f"towel: {message}"):
        pl.TriMesh(X, TWO, name="towel", **{**CARRIED, **changed})


def test_file_triangles_lead_to_the_triangles() -> None:
    """Vertex 1 is in the file twice, as 1 and as 3."""
    given = {"vertices": np.eye(3), "triangles": np.array([[0, 1, 2]]), "file_ids": np.array([0, 1, 2, 1])}
    assert pl.TriMesh(**given, file_triangles=np.array([[0, 3, 2]])).file_triangles.tolist() == [[0, 3, 2]]
    with pytest.raises(MeshError, match=r"row 0 is \[0, 2, 3\].*triangle 0 is \[0, 1, 2\]"):
        pl.TriMesh(**given, file_triangles=np.array([[0, 2, 3]]))
    for bad in ([[0, 1, 4]], [[0, 1, -1]], [[0, 1, 2], [0, 1, 2]]):
        with pytest.raises(MeshError, match="file_triangles has shape"):
            pl.TriMesh(**given, file_triangles=np.array(bad))
