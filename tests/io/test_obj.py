"""OBJ files as people have them: encodings, polygons, texture, colours; mistakes by line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from mesh_files import SQUARE, written

from pliant.errors import MeshError, MeshWarning
from pliant.geometry import shapes, topology
from pliant.geometry.mesh import TriMesh
from pliant.io.meshes import read_mesh, write_obj

SHEET = shapes.unstructured((1.0, 0.7), 0.2, seed=4)


def test_obj_in_all_its_dress(tmp_path: Path) -> None:
    text = (
        "# a towel\r\nmtllib none.mtl\r\no towel\r\nvt 0 0\r\nvt 1 1\r\nvn 0 0 1\r\n"
        "v 0 0 0 1.0\r\nv 1 0 0 0.5 0.5 0.5\r\nv  1.0  1.0  0.0\r\n"
        "f 1/1/1 2/2/1 \\\r\n  3/1/1 # continued\r\nv 0 1 0\r\nusemtl\r\ns off\r\n"
        "f -4//1 -2//1 -1//1\r\nl 1 2"
    )
    with pytest.warns(
        MeshWarning, match="faces without texture coordinates.*: 1|1 of 4 vertices have a colour"
    ):
        mesh = read_mesh(written(tmp_path, "towel.obj", text))
    assert mesh.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]


def test_quads_are_cut_without_folding(tmp_path: Path) -> None:
    flat = read_mesh(written(tmp_path, "a.obj", SQUARE + "f 1 2 3 4\n"))
    assert flat.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    dart = "v 0 0 0\nv 4 0 0\nv 1 1 0\nv 0 4 0\n"
    for turn in range(4):
        corners = " ".join(str(1 + (turn + i) % 4) for i in range(4))
        mesh = read_mesh(written(tmp_path, "d.obj", dart + f"f {corners}\n"))
        assert mesh.area == pytest.approx(4.0)
        assert len(topology.inconsistent_edges(mesh.triangles)) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("v 0 0\n" + SQUARE, "line 1: a vertex needs three coordinates, it has 2"),
        (SQUARE + "v 1 2 zwei\nf 1 2 3\n", "line 5: vertex coordinates are not numbers: '1 2 zwei'"),
        (SQUARE + "f 1 2 3\nf 1 2 9999\n", "line 6: face refers to vertex 9999, the file has 4"),
        (SQUARE + "f 1 2 0\n", "line 5: face refers to vertex 0; numbers start at 1"),
        (SQUARE + "f 1 2 -5\n", "line 5: face refers to vertex -5"),
        (SQUARE + "f 1 2 x\n", "line 5: a face lists vertex numbers, got '1 2 x'"),
        (SQUARE + "f 1 2 99999999999999999999\n", "line 5: face refers to vertex 99999999999999999999"),
        (SQUARE + "f 1 2 2\n", r"line 5 \(face 1\): names a vertex twice"),
        (SQUARE + "f 1 2 3 4 1\n", r"line 5 \(face 1\): names a vertex twice"),
        (SQUARE + "f 1 2 1 4\n", r"line 5 \(face 1\): names a vertex twice"),
        (SQUARE + "f\n", "line 5: a face with 0 corners; remove it"),
        (SQUARE + "v nan 0 0\nf 1 2 3 4\n", r"line 5 \(vertex 5\): coordinates are not finite"),
        (SQUARE + "v 2 0 0\nf 1 2 3 4\nf 1 2 5\n", r"line 7 \(face 2\): has no area"),
        ("\\\n" * 3 + "V 0 0 0\n", "line 1: 'V' is no OBJ statement"),
        ("", r"no faces \(0 vertices\)"),
        ("<html>not found</html>", "line 1: is a page of the web"),
    ],
)
def test_obj_mistakes_are_named_by_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(MeshError, match=rf"bad\.obj:? {message}"):
        read_mesh(written(tmp_path, "bad.obj", text))


def test_written_obj_comes_back_bit_for_bit(tmp_path: Path) -> None:
    mesh = SHEET.transformed((1e-9, 3.0, -7.1), (0.1, 0.2, 0.3), 1.0 / 3.0)
    write_obj(tmp_path / "a.obj", mesh)
    write_obj(tmp_path / "b.obj", mesh.vertices, mesh.triangles)
    for name in ("a.obj", "b.obj"):
        back = read_mesh(tmp_path / name)
        np.testing.assert_array_equal(back.vertices, mesh.vertices)
        np.testing.assert_array_equal(back.triangles, mesh.triangles)
    with pytest.raises(MeshError, match="no triangles to write"):
        write_obj(tmp_path / "c.obj", mesh.vertices)


# ---- how people's files come


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252"]
)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(tmp_path: Path, encoding: str, newline: str) -> None:
    text = f"# größe é\no ärmel\n{SQUARE}usemtl weiß\nf 1 2 \\\n 3 4".replace("\n", newline)
    mesh = read_mesh(written(tmp_path, "a.obj", text.encode(encoding)))
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("v 0,5 0 0\n" + SQUARE + "f 1 2 3\n", "line 1: .*'0,5 0 0'; write decimal points, not commas"),
        ("v 1_0 0 0\n" + SQUARE + "f 1 2 3\n", "line 1: vertex coordinates are not numbers: '1_0 0 0'"),
        (SQUARE + "f 1_0 2 3\n", "line 5: a face lists vertex numbers, got '1_0 2 3'"),
        (SQUARE + "f 1 2 ٣\n", "line 5: a face lists vertex numbers"),
        (SQUARE + "f 1 2 3.0\n", "line 5: a face lists vertex numbers, got '1 2 3.0'"),
        (SQUARE + "f 1/ 2/x 3\n", "line 5: a face lists vertex numbers"),
        (SQUARE + "f 1/1/1/1 2 3\n", "line 5: a face lists v/vt/vn, got '1/1/1/1'"),
        (SQUARE + "f / 2 3\n", "line 5: a face lists vertex numbers"),
        (SQUARE + "v 1e400 0 0\nf 1 2 3\n", r"line 5 \(vertex 5\): coordinates are not finite"),
        (SQUARE + "v 1 2 3 4 5 6 7 8\nf 1 2 3\n", "line 5: a vertex with 8 numbers"),
        (SQUARE + "vt\nf 1 2 3\n", "line 5: a texture coordinate without numbers"),
        (SQUARE + "vt nan 0\nf 1 2 3\n", "line 5: texture coordinates are not finite: 'nan 0'"),
        (SQUARE + "vt 0 0\nf 1/1 2/2 3/1\n", "line 6: face refers to texture coordinate 2, the file has 1"),
        (SQUARE + "vt 0 0\nf 1/1 2/-2 3/1\n", "line 6: face refers to texture coordinate -2, 1 stand above"),
        (SQUARE + "f 1 2 3\n4\n", "line 6: '4' is no OBJ statement"),
        (SQUARE + "ff 1 2 3\n", "line 5: 'ff' is no OBJ statement"),
        (SQUARE + "f 1 3 2 4\n", r"line 5 \(face 1\): a face with 4 corners that crosses itself"),
        (b"\xff\xfe" + SQUARE.encode("utf-16-le")[:-1], "is no whole utf-16 text"),
        (bytes(range(256)), "holds binary data, so it is not an OBJ file"),
        ("\n <!DOCTYPE html>\n<p>404</p>", "line 1: is a page of the web"),
        ("p 1\nl 1 2\n" + SQUARE, r"no faces \(4 vertices\)"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(MeshError, match=rf"bad\.obj:? {message}"):
        read_mesh(written(tmp_path, "bad.obj", content))


def test_lines_that_lost_their_comment_sign_are_warned_of(tmp_path: Path) -> None:
    text = f"File made by hand\n: 4\n{SQUARE}4 vertices, 0 normals\nf 1 2 3 4\nend of file\n"
    with pytest.warns(MeshWarning, match=r"no OBJ statements, taken for comments: 4 \(the first is line 1\)"):
        assert read_mesh(written(tmp_path, "a.obj", text)).n_triangles == 2


# ---- texture, colours, polygons


def test_texture_with_seams_is_kept_apart_from_the_vertices(tmp_path: Path) -> None:
    pairs = "".join(f"vt 0.{k} 0.5 0\n" for k in range(6))
    mesh = read_mesh(written(tmp_path, "a.obj", SQUARE + pairs + "f 1/1 2/2 3/3\nf 1/-3 3/5 4/6\n"))
    assert isinstance(mesh, TriMesh)
    assert mesh.n_vertices == 4
    assert mesh.uv_triangles.tolist() == [[0, 1, 2], [3, 4, 5]]  # type: ignore[union-attr]
    np.testing.assert_allclose(mesh.uv, [[k / 10, 0.5] for k in range(6)])


def test_texture_without_seams_is_given_per_vertex(tmp_path: Path) -> None:
    """Each vertex has one pair, whatever its number."""
    pairs = "vt 0.4\nvt 0.3 1\nvt 0.2 1\nvt 0.1 1\n"
    mesh = read_mesh(written(tmp_path, "a.obj", SQUARE + pairs + "f 1/4 2/3 3/2 4/1\n"))
    assert isinstance(mesh, TriMesh)
    assert mesh.uv_triangles is None
    assert mesh.uv.tolist() == [[0.1, 1], [0.2, 1], [0.3, 1], [0.4, 0]]  # type: ignore[union-attr]


def test_numbers_of_texture_that_is_not_there_mean_none(tmp_path: Path) -> None:
    mesh = read_mesh(written(tmp_path, "a.obj", SQUARE + "f 1/1 2/2 3/3 4/4\n"))
    assert isinstance(mesh, TriMesh)
    assert mesh.uv is None


@pytest.mark.parametrize("most", [1, 255])
def test_vertex_colours(tmp_path: Path, most: int) -> None:
    rows = [f"v {k % 2} {k // 2} 0 {most} 0 {most if k else 0}\n" for k in range(4)]
    mesh = read_mesh(written(tmp_path, "a.obj", "".join(rows) + "f 1 2 4 3\n"))
    assert isinstance(mesh, TriMesh)
    assert mesh.colors.tolist() == [[1, 0, 0], [1, 0, 1], [1, 0, 1], [1, 0, 1]]  # type: ignore[union-attr]


def test_colours_that_are_none_are_left_out_with_a_warning(tmp_path: Path) -> None:
    text = SQUARE.replace("\n", " 0 -1 nan\n") + "f 1 2 3 4\n"
    with pytest.warns(MeshWarning, match="colours are neither from 0 to 1 nor from 0 to 255"):
        assert read_mesh(written(tmp_path, "a.obj", text)).colors is None  # type: ignore[union-attr]


def test_objects_and_groups_are_one_mesh_and_polygons_are_kept(tmp_path: Path) -> None:
    more = SQUARE.replace(" 0\n", " 1\n")
    text = f"o a\n{SQUARE}g x\nf 1 2 3\nf 1 3 4\no b\n{more}g y\ns 1\nf -4 -3 -2 -1\n"
    mesh = read_mesh(written(tmp_path, "a.obj", text))
    assert isinstance(mesh, TriMesh)
    assert mesh.polygons == ((0, 1, 2), (0, 2, 3), (4, 5, 6, 7))
    assert mesh.triangle_polygon.tolist() == [0, 1, 2, 2]  # type: ignore[union-attr]
    assert read_mesh(written(tmp_path, "b.obj", SQUARE + "f 1 2 3\n")).polygons is None  # type: ignore[union-attr]


def test_a_wall_with_a_window_is_one_polygon(tmp_path: Path) -> None:
    """The face runs to the hole and back along a bridge, and so names two of its vertices twice."""
    wall = SQUARE.replace("1", "4") + "v 1 1 0\nv 1 2 0\nv 2 2 0\nv 2 1 0\nf 1 2 3 4 1 5 6 7 8 5\n"
    mesh = read_mesh(written(tmp_path, "a.obj", wall))
    assert isinstance(mesh, TriMesh)
    assert mesh.area == pytest.approx(15.0)
    assert mesh.polygons == ((0, 1, 2, 3, 0, 4, 5, 6, 7, 4),)
    assert [len(loop) for loop in topology.boundary_loops(mesh.triangles)] == [4, 4]
