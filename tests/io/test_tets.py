"""Bodies of tetrahedra from files."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from mesh_files import BOX, TETS, gmsh_22, gmsh_22_binary, gmsh_41, gmsh_41_binary

import pliant as pl
from pliant.errors import MeshError, MissingExtraError, SceneError
from pliant.geometry import shapes
from pliant.geometry.mesh import TriMesh
from pliant.geometry.tetmesh import TetMesh
from pliant.io.meshes import read_mesh

meshio = pytest.importorskip("meshio")

SKIN = TetMesh(BOX, TETS).triangles

REAL = {  # tetrahedra, triangles of the surface: data/README.md
    "libuipc/ball.msh": (1647, 7056, 1568),
    "libuipc/link.msh": (491, 1499, 796),
    "libuipc/cube.msh": (8, 5, 12),
    "libuipc/tet.msh": (4, 1, 4),
}


NONE = np.zeros((0, 3), int)


WRITERS = {
    "2.2": gmsh_22,
    "4.1": gmsh_41,
    "2.2 binary": gmsh_22_binary,
    "4.1 binary": gmsh_41_binary,
    "2.2 big endian": partial(gmsh_22_binary, order=">"),
    "4.1 big endian": partial(gmsh_41_binary, order=">"),
}


def gmsh(path: Path, version: str, x: np.ndarray, triangles: np.ndarray, tets: np.ndarray) -> Path:
    content = WRITERS[version](x, triangles, tets)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("version", WRITERS)
@pytest.mark.parametrize(("size", "volume"), [((5, 5, 5), 125.0), ((4, 8, 3), 96.0)])
def test_gmsh_files_with_and_without_their_surface(
    tmp_path: Path, version: str, size: tuple[int, ...], volume: float
) -> None:
    """Public trackers of other simulators are full of such boxes that would not load."""
    for name, skin in (("both", SKIN), ("volume", NONE)):
        path = gmsh(tmp_path / f"{name}.msh", version, BOX * size, skin, TETS)
        mesh = read_mesh(path)
        assert isinstance(mesh, TetMesh)
        assert (mesh.n_vertices, mesh.n_tets, mesh.turned) == (8, 6, 0)
        assert mesh.volume == pytest.approx(volume, abs=1e-9)
        assert mesh.file_ids.tolist() == list(range(8))
        assert (mesh.name, mesh.source) == (name, str(path))


@pytest.mark.parametrize("version", WRITERS)
def test_a_surface_without_its_inside_is_cloth_and_no_solid(tmp_path: Path, version: str) -> None:
    path = gmsh(tmp_path / "skin.msh", version, BOX, SKIN, np.zeros((0, 4), int))
    mesh = read_mesh(path)
    assert isinstance(mesh, TriMesh)
    np.testing.assert_array_equal(mesh.triangles, SKIN)
    with pytest.raises(SceneError, match=r"not TriMesh; .*skin\.msh has no tetrahedra, mesh its volume too"):
        pl.Scene().add_solid(mesh, pl.solids.rubber)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("suffix", "options"),
    [
        (".msh", {"file_format": "gmsh", "binary": True}),
        (".msh", {"file_format": "gmsh22", "binary": True}),
        (".vtk", {"binary": True}),
        (".vtk", {"binary": False}),
        (".vtu", {"binary": True}),
        (".mesh", {}),
    ],
)
def test_every_format_gives_the_same_body(tmp_path: Path, suffix: str, options: dict) -> None:
    ball = shapes.ball(0.3, 2)
    path = tmp_path / f"ball{suffix}"
    cells = [("triangle", ball.triangles), ("tetra", ball.tets)]
    if options.get("file_format") == "gmsh":
        cells = cells[1:]  # meshio cannot write more than one kind
    meshio.Mesh(ball.vertices, cells).write(path, **options)
    mesh = read_mesh(path, unit="cm")
    assert isinstance(mesh, TetMesh)
    np.testing.assert_array_equal(mesh.tets, ball.tets)
    np.testing.assert_allclose(mesh.vertices, 0.01 * ball.vertices, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", REAL)
def test_real_bodies_are_read(name: str, data: Path) -> None:
    vertices, tets, triangles = REAL[name]
    mesh = read_mesh(data / name)
    assert isinstance(mesh, TetMesh)
    assert (mesh.n_vertices, mesh.n_tets, len(mesh.triangles)) == (vertices, tets, triangles)
    assert mesh.turned == 0


def test_nodes_that_no_tetrahedron_uses_are_left_out_and_the_numbers_kept(tmp_path: Path) -> None:
    """Gmsh writes a point of its geometry wherever one was needed, the centre of an arc for example."""
    x = np.vstack([[[9.0, 9, 9]], BOX[:3], [[7.0, 7, 7]], BOX[3:]])
    ids = np.array([1, 2, 3, 5, 6, 7, 8, 9])
    path = tmp_path / "box.msh"
    path.write_text(gmsh_22(x, NONE, ids[TETS]))
    mesh = read_mesh(path)
    assert mesh.file_ids.tolist() == [-1, 0, 1, 2, -1, 3, 4, 5, 6, 7]
    np.testing.assert_array_equal(mesh.vertices, BOX)


def test_turned_tetrahedra_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "box.msh"
    mixed = TETS.copy()
    mixed[:2] = mixed[:2][:, [1, 0, 2, 3]]
    path.write_text(gmsh_22(BOX, NONE, mixed))
    mesh = read_mesh(path)
    assert isinstance(mesh, TetMesh)
    assert (mesh.turned, mesh.volume) == (2, pytest.approx(1.0))


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (
            [("hexahedron", [[0, 1, 3, 2, 4, 5, 7, 6]])],
            "1 of type 'hexahedron'.*mesh with tetrahedra of 4 nodes",
        ),
        ([("tetra10", [[0, 1, 2, 4, 3, 5, 6, 7, 3, 5]])], "1 of type 'tetra10'.*first-order elements"),
        ([("tetra", TETS), ("wedge", [[0, 1, 2, 3, 4, 5]])], "1 of type 'wedge'"),
        ([("line", [[0, 1]])], r"no tetrahedra and no faces \(8 points, 1 of type 'line'\)"),
        ([("tetra", [[0, 1, 2, 3]])], "tetrahedron 0 with vertices .*has no volume"),
    ],
)
def test_what_is_no_body_of_linear_tetrahedra_is_refused(tmp_path: Path, cells: list, message: str) -> None:
    path = tmp_path / "odd.vtk"
    meshio.Mesh(BOX, [(kind, np.array(rows)) for kind, rows in cells]).write(path)
    with pytest.raises(MeshError, match=rf"odd\.vtk: .*{message}"):
        read_mesh(path)


def test_coincident_nodes_are_refused_by_their_place_in_the_file(tmp_path: Path) -> None:
    x = np.vstack([[[9.0, 9, 9]], BOX, BOX[:1]])
    tets = TETS + 1
    tets[3:, 0] = 9
    path = tmp_path / "split.msh"
    path.write_text(gmsh_22(x, NONE, tets))
    with pytest.raises(MeshError, match=r"points 1 and 9 \(counted from 0\) are at one position.*1 such"):
        read_mesh(path)


@pytest.mark.parametrize("suffix", [".msh", ".vtk", ".vtu", ".mesh"])
@pytest.mark.parametrize(
    "content", [b"", b"<html>not found</html>", b"\0\1\2\3" * 50, b"$MeshFormat\n2.2 0 8\n"]
)
def test_foreign_files_are_refused_by_name(
    tmp_path: Path, suffix: str, content: bytes, capsys: pytest.CaptureFixture
) -> None:
    path = tmp_path / f"foreign{suffix}"
    path.write_bytes(content)
    with pytest.raises(MeshError, match=rf"foreign\{suffix}[: ]"):
        read_mesh(path)
    assert capsys.readouterr().out == ""


def test_a_file_cut_short_is_refused(tmp_path: Path) -> None:
    text = gmsh_22(BOX, SKIN, TETS)
    path = tmp_path / "short.msh"
    for share in (0.3, 0.6, 0.9):
        path.write_text(text[: int(share * len(text))])
        with pytest.raises(MeshError, match=r"short\.msh"):
            read_mesh(path)


def test_without_the_extra_the_cure_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "box.mesh"
    path.write_text("MeshVersionFormatted 2\n")
    monkeypatch.setitem(sys.modules, "meshio", None)
    with pytest.raises(
        MissingExtraError, match=r'Medit files needs the package "meshio": pip install "pliant\[mesh\]"'
    ):
        read_mesh(path)


def test_surfaces_are_still_triangle_meshes(tmp_path: Path) -> None:
    path = tmp_path / "sheet.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    assert isinstance(read_mesh(path), TriMesh)
    with pytest.raises(MeshError, match=r"'\.xyz' are not read; use one of \.obj, \.ply, \.stl, .*\.msh, "):
        read_mesh(tmp_path / "sheet.xyz")
