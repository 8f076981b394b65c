"""PLY files: order, polygons, colours, texture; mistakes by face."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from mesh_files import ply_ascii, ply_binary, ply_header, ply_mixed, written

from pliant.errors import MeshError
from pliant.geometry import shapes
from pliant.geometry.mesh import TriMesh
from pliant.io.meshes import read_mesh

SHEET = shapes.unstructured((1.0, 0.7), 0.2, seed=4)


@pytest.mark.parametrize(
    "content",
    [ply_ascii(SHEET), ply_binary(SHEET), ply_binary(SHEET, ">")],
    ids=["ascii", "binary with texture", "big endian"],
)
def test_ply_keeps_the_order_of_the_file(tmp_path: Path, content: bytes) -> None:
    mesh = read_mesh(written(tmp_path, "a.ply", content), unit="cm")
    np.testing.assert_array_equal(mesh.vertices, SHEET.vertices * 0.01)
    np.testing.assert_array_equal(mesh.triangles, SHEET.triangles)
    assert mesh.file_ids.tolist() == list(range(SHEET.n_vertices))


def test_ply_with_triangles_and_quads_keeps_the_order_of_faces(tmp_path: Path) -> None:
    points = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n2 0 0\n2 1 0\n"
    text = ply_header("ascii", 6, 3) + points + "3 0 1 2\n4 1 4 5 2\n3 0 2 3\n"
    mesh = read_mesh(written(tmp_path, "a.ply", text))
    assert mesh.triangles.tolist() == [[0, 1, 2], [1, 4, 5], [1, 5, 2], [0, 2, 3]]


@pytest.mark.parametrize(
    ("faces", "message"),
    [
        ("3 0 1 2\n5 0 1 2 3 4\n", "face 1: a face with 5 corners that crosses itself"),
        ("3 0 1 2\n2 0 1\n", "face 1: a face with 2 corners; remove it"),
        ("3 0 1 9\n", r"face 0: refers to vertex 9 \(from 0\), the file has 5"),
        ("3 0 1 -1\n", "face 0: refers to vertex -1"),
        ("3 0 1 1\n", "face 0: names a vertex twice"),
        ("3 0 1 2\n3 0 2 3\n3 0 1 4\n", "face 2: has no area"),
        ("", "no faces"),
    ],
)
def test_ply_mistakes_are_named_by_face(tmp_path: Path, faces: str, message: str) -> None:
    points = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n2 0 0\n"
    text = ply_header("ascii", 5, faces.count("\n")) + points + faces
    with pytest.raises(MeshError, match=rf"bad\.ply:? {message}"):
        read_mesh(written(tmp_path, "bad.ply", text))


def test_binary_polygons_of_any_size_with_colours(tmp_path: Path) -> None:
    mesh = read_mesh(written(tmp_path, "a.ply", ply_mixed()))
    assert isinstance(mesh, TriMesh)
    assert mesh.polygons == ((0, 1, 5), (1, 2, 3, 4), (1, 4, 5))
    np.testing.assert_allclose(mesh.colors, [[10 * k / 255, 1, 0] for k in range(6)])
    assert mesh.uv is None


def test_texture_per_vertex_and_per_corner(tmp_path: Path) -> None:
    mesh = read_mesh(written(tmp_path, "a.ply", ply_binary(SHEET)))
    assert isinstance(mesh, TriMesh)
    assert (mesh.uv == [0.5, 0.25]).all()
    head = ply_header("ascii", 4, 2).replace("end_header", "property list uchar float texcoord\nend_header")
    rows = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2 6 0 0 1 0 1 1\n3 0 2 3 6 0.3 0 1 1 0.5 0.5\n"
    mesh = read_mesh(written(tmp_path, "b.ply", head + rows))
    assert isinstance(mesh, TriMesh)
    assert mesh.uv[mesh.uv_triangles[1, 2]].tolist() == [0.5, 0.5]  # type: ignore[index]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ply\n", "plx\n", "line 1: a PLY file begins with 'ply'"),
        ("format ascii 1.0\n", "", "the header states no format"),
        ("format ascii 1.0", "format ascii 2.0", "line 2: 'format ascii 2.0' is no line of a PLY header"),
        ("element vertex 4", "element vertex 5", "6 rows, its header promises 7"),
        ("element vertex 4", "element vertex -4", "line 4: 'element vertex -4' is no line"),
        ("element face 2", "element vertex 2", "the header names an element twice"),
        ("property double x", "property doubel x", "line 5: property 'x' has the type 'doubel'"),
        ("property double y", "property double x", "line 6: property 'x' .*stands there twice"),
        ("property double z\n", "", "4 numbers do not fit|3 numbers do not fit"),
        ("vertex_indices", "vertex_numbers", r"no faces \(4 vertices\)"),
        ("list uchar int", "list float int", "is no line of a PLY header"),
        ("list uchar int", "list uchar float", "by numbers with decimals"),
        ("end_header", "end_haeder", "'end_haeder' is no line of a PLY header"),
        ("3 0 1 2", "3 0 1", "line 15: 3 numbers do not fit"),
        ("3 0 1 2", "3 0 1 2 3", "line 15: 5 numbers do not fit"),
        ("3 0 1 2", "3 0 1 1.5", "'vertex_indices' that is no int"),
        ("3 0 1 2", "300 0 1 2", "line 15: 4 numbers do not fit"),
        ("1 1 0", "1 1,5 0", "line 13: '1 1,5 0' are not numbers; write decimal points"),
        ("1 1 0", "1 nan 0", "vertex 2: coordinates are not finite"),
    ],
)
def test_ply_contradictions_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = ply_header("ascii", 4, 2) + "0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 3\n"
    assert old in text
    with pytest.raises(MeshError, match=rf"bad\.ply:? .*({message})"):
        read_mesh(written(tmp_path, "bad.ply", text.replace(old, new, 1)))


@pytest.mark.parametrize("content", [ply_binary(SHEET), ply_mixed()], ids=["alike", "mixed"])
def test_binary_ply_cut_short_or_too_long_is_refused(tmp_path: Path, content: bytes) -> None:
    for length in range(0, len(content), 37):
        with pytest.raises(MeshError):
            read_mesh(written(tmp_path, "a.ply", content[:length]))
    with pytest.raises(MeshError, match="4 bytes follow the last row"):
        read_mesh(written(tmp_path, "a.ply", content + b"more"))
