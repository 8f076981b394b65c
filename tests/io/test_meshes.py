"""Meshes from files: the real ones beside the repository, units, sizes, rubbish."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mesh_files import BOX, SQUARE, TETS, gmsh_22, ply_ascii, ply_binary, stl_ascii, stl_binary, written

from pliant.errors import MeshError, MeshWarning
from pliant.geometry import shapes, topology
from pliant.geometry.mesh import TriMesh
from pliant.io.meshes import UNITS, read_mesh, read_pair

SHEET = shapes.unstructured((1.0, 0.7), 0.2, seed=4)

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
    "trimesh/polygonfaces.obj": (5, 3, [5]),
    "trimesh/negative_indices.obj": (8, 12, []),
    "mujoco/cap.obj": (217, 384, [48]),
    "mujoco/spot.obj": (2930, 5856, []),
    "bullet3/cloth_z_up.obj": (25, 32, [16]),
}
ODD = {  # vertices, places, faces, triangles, edges of more than two triangles, vertices that no face uses
    "diffpd/spot.obj": (816, 816, 1188, 1188, 5, 225),
    "trimesh/cubevt.obj": (24, 8, 12, 12, 0, 0),
    "trimesh/tube.obj": (128, 60, 120, 120, 0, 0),
    "trimesh/not_convex.obj": (288, 44, 96, 96, 0, 0),
    "trimesh/joined_tetrahedra.obj": (5, 5, 8, 8, 3, 0),
    "trimesh/wallhole.obj": (92, 35, 13, 66, 0, 0),
    "trimesh/two_objects.obj": (12, 8, 16, 16, 0, 0),
    "trimesh/rabbit.obj": (644, 644, 678, 1252, 0, 0),
    "mujoco/bag.obj": (1099, 1099, 1112, 2224, 48, 0),
}
REFUSED = {
    "trimesh/notenoughindices.obj": "line 9: a face with 2 corners",
    "trimesh/emptyIO/obj_empty.obj": r"no faces \(0 vertices\)",
    "trimesh/emptyIO/obj_points.obj": r"no faces \(8 vertices\)",
    "trimesh/emptyIO/obj_wireframe.obj": r"no faces \(8 vertices\)",
    "garmentcode/shirt_mean_specification.json": r"'\.json' are not read; use one of \.obj, \.ply, \.stl",
}
BODIES = {f"libuipc/{name}.msh" for name in ("ball", "cube", "link", "tet")}  # test_tets.py
NO_MESHES = {"README.md", "targets.csv"}


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


@pytest.mark.parametrize("name", ODD)
def test_real_files_with_flaws_are_read_whole_too(data: Path, name: str) -> None:
    """What is wrong with them stays, for others to tell of: nothing is joined or left out on the way."""
    begin = time.perf_counter()
    mesh = read_mesh(data / name)
    assert time.perf_counter() - begin < 2.0
    assert isinstance(mesh, TriMesh)
    n_vertices, n_places, n_faces, n_triangles, crowded, loose = ODD[name]
    assert (mesh.n_vertices, mesh.n_triangles) == (n_vertices, n_triangles)
    assert len(mesh.polygons or mesh.triangles) == n_faces
    assert len(np.unique(mesh.vertices, axis=0)) == n_places
    assert int((topology.edge_use(mesh.triangles)[1] > 2).sum()) == crowded
    assert n_vertices - len(np.unique(mesh.triangles)) == loose
    x, triangles = read_pair(data / name)
    np.testing.assert_array_equal(x, mesh.vertices)
    np.testing.assert_array_equal(triangles, mesh.triangles)


@pytest.mark.parametrize("name", REFUSED)
def test_real_files_without_sense_are_refused_with_place_and_cure(data: Path, name: str) -> None:
    begin = time.perf_counter()
    with pytest.raises(MeshError, match=REFUSED[name]) as caught:
        read_mesh(data / name)
    assert time.perf_counter() - begin < 2.0
    assert str(caught.value).startswith(str(data / name))


def test_every_real_file_is_in_one_of_the_lists(data: Path) -> None:
    found = {p.relative_to(data).as_posix() for p in data.rglob("*") if p.is_file()}
    found = {
        name for name in found if Path(name).suffix and not Path(name).stem.startswith(("LICENSE", "spot_"))
    }
    assert found == {*CLEAN, *ODD, *REFUSED, *BODIES, *NO_MESHES}


def test_polygons_of_real_files_are_those_of_the_file(data: Path) -> None:
    """Areas of the wall's faces, by the shoelace formula in their plane, against those of the triangles."""
    mesh = read_mesh(data / "trimesh/wallhole.obj")
    assert isinstance(mesh, TriMesh)
    assert sorted(len(p) for p in mesh.polygons or ()) == [6] * 9 + [8] * 2 + [11] * 2
    for k, polygon in enumerate(mesh.polygons or ()):
        x = mesh.vertices[list(polygon)]
        newell = 0.5 * np.linalg.norm(np.cross(x, np.roll(x, -1, axis=0)).sum(axis=0))
        t = mesh.vertices[mesh.triangles[mesh.triangle_polygon == k]]
        area = 0.5 * np.linalg.norm(np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]), axis=1).sum()
        assert area == pytest.approx(newell, rel=1e-12)


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


@pytest.mark.parametrize(("size", "warned"), [(99.0, False), (101.0, True), (0.0011, False), (0.0009, True)])
def test_odd_sizes_are_warned_of_and_never_changed(tmp_path: Path, size: float, warned: bool) -> None:
    path = written(tmp_path, "a.obj", SQUARE.replace("1", repr(size)) + "f 1 2 3 4\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert read_mesh(path).bounds[1, 0] == size
    assert [w.category for w in caught] == [MeshWarning] * warned
    if warned:
        assert Path(caught[0].filename) == Path(__file__)
        assert 'read_mesh(path, unit="cm")' in str(caught[0].message)


# ---- what no mesh can be made of


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.obj", SQUARE + "v 2 0 0\nf 1 2 5\nf 1 2 3\n", "has no area"),
        ("a.obj", SQUARE + "f 1 2 2\nf 1 2 3\n", "names a vertex twice"),
        ("a.obj", SQUARE + "v nan 0 0\nf 1 2 5\nf 1 2 3\n", "not finite"),
        ("a.stl", stl_ascii(shapes.grid(2, 2)).replace("0.5 0.5 0.0", "0.5 -0.5 0.0", 1), "vertex twice"),
        ("a.msh", gmsh_22(BOX, np.array([[0, 1, 1], [0, 1, 3]]), TETS[:0]), "names a vertex twice"),
        ("a.msh", gmsh_22(BOX * (1, 1, 0), TETS[:0, :3], TETS[:2]), "has no volume"),
    ],
)
def test_a_pair_of_arrays_is_read_for_those_who_mend(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    path = written(tmp_path, name, content)
    with pytest.raises(MeshError, match=message):
        read_mesh(path)
    x, cells = read_pair(path, unit="cm")
    assert x.shape[1] == 3
    assert np.nanmax(abs(x)) <= 0.02
    assert len(cells) == 2
    assert 0 <= cells.min() <= cells.max() < len(x)


def test_a_pair_of_arrays_has_ids_in_range_all_the_same(tmp_path: Path) -> None:
    for faces in ("f 1 2 9\n", "f 1 2\n", "f 1 3 2 4\n", ""):
        with pytest.raises(MeshError, match=r"a\.obj"):
            read_pair(written(tmp_path, "a.obj", SQUARE + faces))


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


@pytest.mark.filterwarnings("ignore::pliant.errors.MeshWarning")
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
