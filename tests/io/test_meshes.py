from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mesh_files import ply_ascii, ply_binary, ply_header, stl_ascii, stl_binary

from pliant.errors import MeshError, MeshWarning
from pliant.geometry import shapes, topology
from pliant.io.meshes import UNITS, read_mesh, write_obj

SHEET = shapes.unstructured((1.0, 0.7), 0.2, seed=4)
SQUARE = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

CLEAN = {  # vertices, triangles, lengths of the border loops: data/README.md (the dress touches itself twice)
    "diffcloth/tshirt1900.obj": (1921, 3726, [51, 25, 24, 20]),
    "diffcloth/tshirt1900-flattened.obj": (1921, 3726, [51, 25, 24, 20]),
    "diffcloth/tshirt1900-folding-biFolded.obj": (1921, 3726, [51, 25, 24, 20]),
    "diffcloth/tshirt1900-folding-triFolded.obj": (1921, 3726, [51, 25, 24, 20]),
    "diffcloth/skirt1252.obj": (681, 1252, [84, 26]),
    "diffcloth/sock482.obj": (482, 944, [18]),
    "diffcloth/agenthat2-579-rotated.obj": (579, 1099, [57]),
    "diffcloth/hat_target.obj": (579, 1099, [57]),
    "diffcloth/wind24x24.obj": (576, 1058, [92]),
    "pbd/plane_30x30.obj": (961, 1800, [120]),
    "diffcloth/dress-v5k-f10k.obj": (5563, 10180, [849, 63, 16, 14, 8, 4]),
    "trimesh/quadknot.obj": (1440, 2880, []),
    "trimesh/rabbit.obj": (644, 1252, []),
    "trimesh/polygonfaces.obj": (5, 3, [5]),
    "trimesh/negative_indices.obj": (8, 12, []),
    "mujoco/cap.obj": (217, 384, [48]),
    "mujoco/spot.obj": (2930, 5856, []),
    "bullet3/cloth_z_up.obj": (25, 32, [16]),
}
HOSTILE = {
    "diffpd/spot.obj": r"line 58 \(vertex 58\): no face uses it.*225 such",
    "trimesh/cubevt.obj": "at one position.*16 such",
    "trimesh/tube.obj": "at one position",
    "trimesh/not_convex.obj": "at one position",
    "trimesh/joined_tetrahedra.obj": r"has 4 triangles .*3 such edges",
    "trimesh/notenoughindices.obj": "line 9: a face with 2 corners",
    "trimesh/wallhole.obj": r"line 13 \(vertex 9\) and line 7 \(vertex 3\): at one position.*57 such",
    "trimesh/two_objects.obj": "at one position",
    "trimesh/emptyIO/obj_empty.obj": r"no faces \(0 vertices\)",
    "trimesh/emptyIO/obj_points.obj": r"no faces \(8 vertices\)",
    "trimesh/emptyIO/obj_wireframe.obj": r"no faces \(8 vertices\)",
    "mujoco/bag.obj": "has 3 triangles .*48 such edges",
    "garmentcode/shirt_mean_specification.json": r"'\.json' are not read; use one of \.obj, \.ply, \.stl",
}


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# ---- real files


@pytest.mark.filterwarnings("ignore::pliant.errors.MeshWarning")
@pytest.mark.parametrize("name", CLEAN)
def test_real_clean_files_are_read_whole_and_in_order(data: Path, name: str) -> None:
    begin = time.perf_counter()
    mesh = read_mesh(data / name)
    assert time.perf_counter() - begin < 2.0
    n_vertices, n_triangles, loops = CLEAN[name]
    assert (mesh.n_vertices, mesh.n_triangles) == (n_vertices, n_triangles)
    assert [len(loop) for loop in topology.boundary_loops(mesh.triangles)] == loops
    assert mesh.file_ids.tolist() == list(range(n_vertices))
    lines = [line.split() for line in (data / name).read_text().splitlines()]
    positions = np.array([words[1:4] for words in lines if words[:1] == ["v"]], dtype=np.float64)
    np.testing.assert_array_equal(mesh.vertices, positions)
    faces = [[int(w.split("/")[0]) for w in words[1:]] for words in lines if words[:1] == ["f"]]
    assert set(mesh.triangles[0].tolist()) <= {i - 1 if i > 0 else n_vertices + i for i in faces[0]}
    assert mesh.source == str(data / name)


@pytest.mark.parametrize("name", HOSTILE)
def test_real_hostile_files_are_refused_with_place_and_cure(data: Path, name: str) -> None:
    begin = time.perf_counter()
    with pytest.raises(MeshError, match=HOSTILE[name]) as caught:
        read_mesh(data / name)
    assert time.perf_counter() - begin < 2.0
    assert str(caught.value).startswith(str(data / name))


def test_every_real_surface_file_is_in_one_of_the_two_lists(data: Path) -> None:
    found = {p.relative_to(data).as_posix() for p in data.rglob("*.obj")}
    assert found <= set(CLEAN) | set(HOSTILE)
    assert len(found) > 25


# ---- units, paths


@pytest.mark.parametrize("unit", UNITS)
def test_units_become_metres(tmp_path: Path, unit: str) -> None:
    path = written(tmp_path, "a.obj", SQUARE + "f 1 2 3 4\n")
    metres = {"m": 1.0, "cm": 0.01, "mm": 0.001, "dm": 0.1, "in": 0.0254, "ft": 12 * 0.0254}[unit]
    mesh = read_mesh(path, unit=unit)
    assert mesh.area == pytest.approx(metres**2, rel=1e-14)
    assert mesh.name == "a"


def test_what_is_no_mesh_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MeshError, match=r"shirt\.obj: no such file; check the path"):
        read_mesh(tmp_path / "shirt.obj")
    (tmp_path / "folder.obj").mkdir()
    with pytest.raises(MeshError, match=r"folder\.obj: not a file"):
        read_mesh(tmp_path / "folder.obj")
    with pytest.raises(MeshError, match="unit 'km' is unknown; choose one of m, cm"):
        read_mesh(written(tmp_path, "a.obj", SQUARE), unit="km")
    with pytest.raises(MeshError, match="holds binary data"):
        read_mesh(written(tmp_path, "b.obj", b"v 0 0 0\0"))
    with pytest.raises(MeshError, match="'' are not read"):
        read_mesh(tmp_path)


# ---- OBJ


def test_obj_in_all_its_dress(tmp_path: Path) -> None:
    text = (
        "# a towel\r\nmtllib none.mtl\r\no towel\r\nvt 0 0\r\nvt 1 1\r\nvn 0 0 1\r\n"
        "v 0 0 0 1.0\r\nv 1 0 0 0.5 0.5 0.5\r\nv  1.0  1.0  0.0\r\n"
        "f 1/1/1 2/2/1 \\\r\n  3/1/1 # continued\r\nv 0 1 0\r\nusemtl\r\ns off\r\n"
        "f -4//1 -2//1 -1//1\r\nl 1 2"
    )
    with pytest.warns(MeshWarning, match="1 faces have no texture coordinates|1 of 4 vertices have a colour"):
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
        (SQUARE + "f 1 2 3\n", r"line 4 \(vertex 4\): no face uses it"),
        (SQUARE + "v nan 0 0\nf 1 2 3 4\n", r"line 5 \(vertex 5\): coordinates are not finite"),
        (SQUARE + "v 2 0 0\nf 1 2 3 4\nf 1 2 5\n", r"line 7 \(face 2\): has no area"),
        (
            SQUARE + "v 1 1 0\nf 1 2 5\nf 1 3 4\n",
            r"line 5 \(vertex 5\) and line 3 \(vertex 3\): at one position",
        ),
        (
            SQUARE + "v 0 0 1\nf 1 2 3\nf 1 3 4\nf 1 3 5\n",
            r"edge from line 1 \(vertex 1\) to line 3 \(vertex 3\) has 3 triangles \(line 6 \(face 1\),",
        ),
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


# ---- PLY


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
        ("3 0 1 2\n", "vertex 3: no face uses it"),
        ("3 0 1 2\n3 0 2 3\n3 0 1 4\n", "face 2: has no area"),
        ("", "no faces"),
    ],
)
def test_ply_mistakes_are_named_by_face(tmp_path: Path, faces: str, message: str) -> None:
    points = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n2 0 0\n"
    text = ply_header("ascii", 5, faces.count("\n")) + points + faces
    with pytest.raises(MeshError, match=rf"bad\.ply:? {message}"):
        read_mesh(written(tmp_path, "bad.ply", text))


# ---- STL


@pytest.mark.parametrize("kind", ["binary", "ascii"])
def test_stl_corners_at_one_position_become_one_vertex(tmp_path: Path, kind: str) -> None:
    content = stl_binary(SHEET) if kind == "binary" else stl_ascii(SHEET)
    mesh = read_mesh(written(tmp_path, "a.stl", content))
    exact = SHEET.vertices.astype(np.float32).astype(float) if kind == "binary" else SHEET.vertices
    assert mesh.n_vertices == SHEET.n_vertices
    assert mesh.file_ids.shape == (3 * SHEET.n_triangles,)
    soup = exact[SHEET.triangles].reshape(-1, 3)
    np.testing.assert_array_equal(mesh.vertices[mesh.file_ids], soup)
    np.testing.assert_array_equal(mesh.triangles, mesh.file_ids.reshape(-1, 3))
    seen = [mesh.file_ids[: i + 1].max() for i in range(len(mesh.file_ids))]
    assert (np.diff(seen) <= 1).all()
    assert mesh.file_ids[0] == 0
    assert len(topology.boundary_loops(mesh.triangles)) == 1


def test_stl_zero_of_either_sign_is_one_position(tmp_path: Path) -> None:
    text = stl_ascii(shapes.grid(2, 2)).replace("0.5 0.5 0.0", "0.5 0.5 -0.0", 1)
    assert read_mesh(written(tmp_path, "a.stl", text)).n_vertices == 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("vertex 0.5 0.5 0.0", "vertex nan 0.5 0.0", "facet 0 corner 2: coordinates are not finite"),
        ("vertex 0.5 0.5 0.0", "vertex 0.5 -0.5 0.0", "facet 0: has two corners at one position"),
        ("vertex 0.5 0.5 0.0", "vertex 0.5 halb 0.0", "line 6: coordinates are not numbers: '0.5 halb 0.0'"),
        ("vertex 0.5 0.5 0.0", "", "line 7: a facet with 2 corners"),
        ("vertex 0.5 0.5 0.0", "vertex 1.5 -0.5 0.0", "facet 0: has no area"),
    ],
)
def test_stl_mistakes_are_named_by_facet(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = stl_ascii(shapes.grid(2, 2))
    assert old in text
    with pytest.raises(MeshError, match=rf"bad\.stl ?{message}"):
        read_mesh(written(tmp_path, "bad.stl", text.replace(old, new, 1)))


# ---- whatever comes


GOOD = {
    "ascii.ply": ply_ascii(SHEET),
    "binary.ply": ply_binary(SHEET),
    "ascii.stl": stl_ascii(SHEET).encode(),
    "binary.stl": stl_binary(SHEET),
    "a.obj": (SQUARE + "f 1 2 3\nf -4//2 3/1/1 4\n").encode(),
}
WORDS = [
    b"4000000000",
    b"-7",
    b"nan",
    b"1e400",
    b"",
    b"end_header\n",
    b"\n",
    b"\xff\xfe",
    b"solid",
    b"list",
    b"0",
]


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=2000)
@given(st.sampled_from(sorted(GOOD)), st.data())
def test_a_damaged_file_is_read_or_refused_but_never_crashes(
    tmp_path: Path, name: str, data: st.DataObject
) -> None:
    content = GOOD[name]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, min(len(content), 300)) | st.integers(0, len(content)))
        cut = data.draw(st.sampled_from([0, 1, 3, 10, len(content)]))
        put = data.draw(st.sampled_from(WORDS) | st.binary(max_size=8))
        content = content[:at] + put + content[at + cut :]
    path = written(tmp_path, name, content)
    try:
        outcome = repr(read_mesh(path))
    except MeshError as error:
        outcome = str(error)
    assert outcome.startswith(("TriMesh(", str(path)))


@pytest.mark.parametrize("suffix", ["obj", "ply", "stl"])
@pytest.mark.parametrize("content", [b"", b"\n", b"ply\n", b"solid\n", bytes(84), bytes(range(256)) * 40])
def test_rubbish_is_refused(tmp_path: Path, suffix: str, content: bytes) -> None:
    with pytest.raises(MeshError):
        read_mesh(written(tmp_path, f"rubbish.{suffix}", content))
