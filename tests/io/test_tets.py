"""Bodies of tetrahedra from files."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from pliant.errors import MeshError, MissingExtraError
from pliant.geometry import shapes
from pliant.geometry.mesh import TriMesh
from pliant.geometry.tetmesh import TetMesh
from pliant.io.meshes import read_mesh

meshio = pytest.importorskip("meshio")

BOX = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)
TETS = np.array([[0, 1, 3, 7], [0, 1, 7, 5], [0, 5, 7, 4], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7]])
SKIN = TetMesh(BOX, TETS).triangles

REAL = {  # tetrahedra, triangles of the surface: data/README.md
    "libuipc/ball.msh": (1647, 7056, 1568),
    "libuipc/link.msh": (491, 1499, 796),
    "libuipc/cube.msh": (8, 5, 12),
    "libuipc/tet.msh": (4, 1, 4),
}


def gmsh_22(x: np.ndarray, triangles: np.ndarray, tets: np.ndarray) -> str:
    """Gmsh 2.2: one list of nodes, one of elements of both kinds."""
    nodes = "".join(f"{k + 1} {p[0]} {p[1]} {p[2]}\n" for k, p in enumerate(x.tolist()))
    rows = [f"2 2 0 1 {' '.join(str(v + 1) for v in t)}" for t in triangles.tolist()]
    rows += [f"4 2 0 1 {' '.join(str(v + 1) for v in t)}" for t in tets.tolist()]
    elements = "".join(f"{k + 1} {row}\n" for k, row in enumerate(rows))
    return (
        f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{len(x)}\n{nodes}$EndNodes\n"
        f"$Elements\n{len(rows)}\n{elements}$EndElements\n"
    )


def gmsh_41(x: np.ndarray, triangles: np.ndarray, tets: np.ndarray) -> str:
    """Gmsh 4.1: all nodes in one block of a surface, elements in a block for each kind."""
    tags = "".join(f"{k + 1}\n" for k in range(len(x)))
    places = "".join(f"{p[0]} {p[1]} {p[2]}\n" for p in x.tolist())
    blocks, count, n = "", 0, 0
    for dimension, kind, cells in ((2, 2, triangles), (3, 4, tets)):
        if len(cells):
            rows = (f"{n + k + 1} {' '.join(str(v + 1) for v in c)}\n" for k, c in enumerate(cells.tolist()))
            blocks += f"{dimension} 1 {kind} {len(cells)}\n" + "".join(rows)
            count, n = count + 1, n + len(cells)
    return (
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
        f"$Nodes\n1 {len(x)} 1 {len(x)}\n2 1 0 {len(x)}\n{tags}{places}$EndNodes\n"
        f"$Elements\n{count} {n} 1 {n}\n{blocks}$EndElements\n"
    )


NONE = np.zeros((0, 3), int)


@pytest.mark.parametrize("write", [gmsh_22, gmsh_41])
@pytest.mark.parametrize(("size", "volume"), [((5, 5, 5), 125.0), ((4, 8, 3), 96.0)])
def test_gmsh_files_with_and_without_their_surface(
    tmp_path: Path, write: object, size: tuple[int, ...], volume: float
) -> None:
    """Public trackers of other simulators are full of such boxes that would not load."""
    for name, skin in (("both", SKIN), ("volume", NONE)):
        path = tmp_path / f"{name}.msh"
        path.write_text(write(BOX * size, skin, TETS))  # type: ignore[operator]
        mesh = read_mesh(path)
        assert isinstance(mesh, TetMesh)
        assert (mesh.n_vertices, mesh.n_tets, mesh.turned) == (8, 6, 0)
        assert mesh.volume == pytest.approx(volume, abs=1e-9)
        assert mesh.file_ids.tolist() == list(range(8))
        assert (mesh.name, mesh.source) == (name, str(path))


@pytest.mark.parametrize("write", [gmsh_22, gmsh_41])
def test_a_surface_without_its_inside_has_no_tetrahedra(tmp_path: Path, write: object) -> None:
    path = tmp_path / "skin.msh"
    path.write_text(write(BOX, SKIN, np.zeros((0, 4), int)))  # type: ignore[operator]
    with pytest.raises(
        MeshError, match=r"skin\.msh: no tetrahedra \(8 points, 12 of type 'triangle'\); mesh the"
    ):
        read_mesh(path)


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
        ([("line", [[0, 1]])], r"no tetrahedra \(8 points, 1 of type 'line'\)"),
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
    with pytest.raises(MeshError, match=rf"foreign\{suffix}: (not a readable|no tetrahedra)"):
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
    path = tmp_path / "box.msh"
    path.write_text(gmsh_22(BOX, NONE, TETS))
    monkeypatch.setitem(sys.modules, "meshio.gmsh", None)
    with pytest.raises(
        MissingExtraError, match=r'Gmsh files needs the package "meshio": pip install "pliant\[mesh\]"'
    ):
        read_mesh(path)


def test_surfaces_are_still_triangle_meshes(tmp_path: Path) -> None:
    path = tmp_path / "sheet.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    assert isinstance(read_mesh(path), TriMesh)
    with pytest.raises(
        MeshError, match=r"'\.xyz' are not read; use one of \.obj, \.ply, \.stl, \.off, \.msh, \.vtk, "
    ):
        read_mesh(tmp_path / "sheet.xyz")
