"""Mesh files as people have them: polygons, foreign files, tetrahedra of Gmsh, quads as collider, soup."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from mesh_files import (
    BOX,
    SQUARE,
    TETS,
    gmsh_22,
    gmsh_22_binary,
    gmsh_41,
    gmsh_41_binary,
    stl_binary,
    written,
)

import pliant as pl
from pliant.errors import MeshError, MeshWarning
from pliant.geometry import topology
from pliant.geometry.tetmesh import TetMesh
from tests.cases.scenes import fabric

Array = np.ndarray
LIMIT = 2.0  # seconds for any file


def corners(n: int, radius: float = 1.0, turn: float = 0.0) -> Array:
    angle = turn + 2.0 * np.pi * np.arange(n) / n
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def starred() -> Array:
    """Sixteen corners, every second one drawn in: concave."""
    p = corners(16)
    p[1::2] *= 0.4
    return p


POLYGONS = {
    "convex quad": np.array([[0, 0], [2, 0], [2, 1], [0, 1.0]]),
    "dart": np.array([[0, 0], [4, 0], [1, 1], [0, 4.0]]),
    "quad with a corner in a straight line": np.array([[0, 0], [1, 0], [2, 0], [1, 1.0]]),
    "pentagon": corners(5),
    "arrow": np.array([[0, 0], [2, 0], [2, 2], [1, 0.5], [0, 2.0]]),
    "square with three corners in a line": np.array([[0, 0], [1, 0], [2, 0], [2, 2], [0, 2.0]]),
    "16 corners": corners(16),
    "star of 16": starred(),
    "16 corners on four sides": np.array(
        [[k, 0] for k in range(4)] + [[4, k] for k in range(4)]
        + [[4 - k, 4] for k in range(4)] + [[0, 4 - k] for k in range(4)], float,
    ),
}  # fmt: skip


def as_obj(points: Array, faces: list[list[int]]) -> str:
    lines = [f"v {x!r} {y!r} {z!r}\n" for x, y, z in np.asarray(points, float).tolist()]
    return "".join([*lines, *("f " + " ".join(str(v + 1) for v in face) + "\n" for face in faces)])


@pytest.mark.parametrize("name", POLYGONS)
def test_m04_a_polygon_keeps_its_area_and_has_no_flat_triangle(tmp_path: Path, name: str) -> None:
    """M04: whichever corner comes first, however it lies in space; areas by the shoelace formula."""
    p = POLYGONS[name]
    q = np.roll(p, -1, axis=0)
    area = 0.5 * abs(float((p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]).sum()))
    turn = pl.TriMesh(np.c_[p, 0 * p[:, 0]], np.array([[0, 1, len(p) - 1]])).transformed(
        (1, 2, 3), (0.3, 1, -2)
    )
    for first in range(len(p)):
        x = np.roll(turn.vertices, first, axis=0)
        mesh = pl.read_mesh(written(tmp_path, "a.obj", as_obj(x, [list(range(len(p)))])))
        assert isinstance(mesh, pl.TriMesh)
        assert mesh.area == pytest.approx(area, rel=1e-6)
        t = mesh.vertices[mesh.triangles]
        least = 0.5 * np.linalg.norm(np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]), axis=1).min()
        assert least > 1e-12 * mesh.length**2
        assert mesh.n_triangles == len(p) - 2


def test_m04_a_sheet_of_polygons_is_simulated(tmp_path: Path) -> None:
    """M04: quads, pentagons, a star of 16 corners, some of them warped: finite from the first step on."""
    points, faces, at = [], [], 0.0
    for k, p in enumerate(POLYGONS.values()):
        faces.append(list(range(len(points), len(points) + len(p))))
        rise = 0.1 * np.cos(3.0 * np.arange(len(p))) * (k % 2)
        points += np.c_[p[:, 0] + at, p[:, 1], rise].tolist()
        at += 6.0
    mesh = pl.read_mesh(written(tmp_path, "a.obj", as_obj(np.array(points), faces)))
    assert isinstance(mesh, pl.TriMesh)
    assert mesh.polygons == tuple(map(tuple, faces))
    scene = pl.Scene()
    cloth = scene.add_cloth(mesh, fabric(200.0, bending_rigidity=1e-4), bending="dihedral")
    sim = pl.Simulation(scene, pl.XPBD(substeps=10))
    assert sim.step("full").ok()
    sim.run(steps=20, progress=False)
    assert np.isfinite(sim.x).all()
    assert float(sim.model.mass.sum()) == pytest.approx(0.2 * mesh.area, rel=1e-6)
    assert cloth.mesh.n_triangles == sum(len(f) - 2 for f in faces)


FOREIGN = {  # what comes out: triangles, or a part of the message
    "only points": (SQUARE, "no faces"),
    "lines": (SQUARE + "l 1 2\nl 2 3\n", "no faces"),
    "lines beside faces": (SQUARE + "l 1 2\nf 1 2 3 4\np 1\n", 2),
    "negative indices": (SQUARE + "f -4 -3 -2 -1\n", 2),
    "two indices": (SQUARE + "f 1 2\nf 1 2 3\n", "line 5: a face with 2 corners"),
    "index 0": (SQUARE + "f 0 1 2\n", "line 5: face refers to vertex 0; numbers start at 1"),
    "nan": (SQUARE + "v nan 0 0\nf 1 2 5\n", r"line 5 \(vertex 5\): coordinates are not finite"),
    "CRLF and continuation": (SQUARE.replace("\n", "\r\n") + "f 1 2 \\\r\n3 \\\r\n4", 2),
    "empty": ("", "no faces"),
    "a web page": ("<!doctype html><html><body>404</body></html>", "line 1: is a page of the web"),
    "decimal commas": (SQUARE.replace("1", "0,5"), "line 2: .*write decimal points, not commas"),
    "without end": (SQUARE + "f 1 2 3 \\\n" * 5000, "line 5"),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "holds binary data"),
    "byte order mark": (b"\xef\xbb\xbf" + SQUARE.encode() + b"f 1 2 3 4\n", 2),
    "two bytes a letter": ((SQUARE + "f 1 2 3 4\n").encode("utf-16"), 2),
}  # fmt: skip


@pytest.mark.parametrize("name", FOREIGN)
def test_m10_any_file_ends_in_a_mesh_or_in_its_name_and_line(tmp_path: Path, name: str) -> None:
    """M10: within two seconds, and nothing half-built."""
    content, right = FOREIGN[name]
    path = written(tmp_path, "a.obj", content)
    begin = time.perf_counter()
    if isinstance(right, int):
        mesh = pl.read_mesh(path)
        assert isinstance(mesh, pl.TriMesh)
        assert mesh.n_triangles == right
        assert np.isfinite(mesh.vertices).all()
    else:
        with pytest.raises(MeshError, match=rf"a\.obj:? .*{right}"):
            pl.read_mesh(path)
    assert time.perf_counter() - begin < LIMIT


GMSH = {"2.2": gmsh_22, "4.1": gmsh_41, "2.2 binary": gmsh_22_binary, "4.1 binary": gmsh_41_binary}
SKIN = TetMesh(BOX, TETS).triangles


@pytest.mark.parametrize("version", GMSH)
@pytest.mark.parametrize(("size", "volume"), [((5, 5, 5), 125.0), ((4, 8, 3), 96.0)])
def test_m11_boxes_of_tetrahedra(tmp_path: Path, version: str, size: tuple, volume: float) -> None:
    """M11: with and without their surface; the surface alone is cloth, and no solid."""
    x = BOX * size
    for skin in (SKIN, SKIN[:0]):
        body = pl.read_mesh(written(tmp_path, "box.msh", GMSH[version](x, skin, TETS)))
        assert isinstance(body, TetMesh)
        assert (body.n_vertices, body.n_tets, len(body.triangles)) == (8, 6, 12)
        assert body.volume == pytest.approx(volume, abs=1e-9)
    alone = pl.read_mesh(written(tmp_path, "box.msh", GMSH[version](x, SKIN, TETS[:0])))
    assert isinstance(alone, pl.TriMesh)
    with pytest.raises(pl.SceneError, match=r"box\.msh has no tetrahedra"):
        pl.Scene().add_solid(alone, pl.solids.rubber)  # type: ignore[arg-type]


def globe(rows: int = 12, columns: int = 18, radius: float = 0.2) -> tuple[Array, list[list[int]]]:
    """A sphere of quads between two caps of polygons."""
    polar = np.pi * np.arange(1, rows) / rows
    around = 2.0 * np.pi * np.arange(columns) / columns
    x = np.stack(
        [np.outer(np.sin(polar), np.cos(around)), np.outer(np.sin(polar), np.sin(around)),
         np.outer(np.cos(polar), np.ones(columns))], axis=-1,
    )  # fmt: skip
    ids = np.arange((rows - 1) * columns).reshape(rows - 1, columns)
    right = np.roll(ids, -1, axis=1)
    quads = np.stack([ids[:-1], ids[1:], right[1:], right[:-1]], axis=-1).reshape(-1, 4)
    return radius * x.reshape(-1, 3), [*quads.tolist(), ids[0].tolist(), ids[-1, ::-1].tolist()]


def test_m15_a_collider_of_quads_holds_cloth(tmp_path: Path) -> None:
    """M15: no triangle is missing, the shape is closed, and the cloth rests on it."""
    x, faces = globe()
    mesh = pl.read_mesh(written(tmp_path, "globe.obj", as_obj(x, faces)))
    assert isinstance(mesh, pl.TriMesh)
    assert mesh.n_triangles == sum(len(f) - 2 for f in faces)
    assert len(topology.boundary_edges(mesh.triangles)) == 0
    scene = pl.Scene()
    cloth = scene.add_cloth(pl.shapes.grid(13, 13, (0.4, 0.4)), fabric(100.0, bending_rigidity=1e-5),
                            position=(0.0, 0.0, 0.21))  # fmt: skip
    scene.add_collider(pl.MeshCollider(mesh), friction=0.5)
    sim = pl.Simulation(scene, pl.XPBD(substeps=15))
    for _ in range(30):
        info = sim.step()
        assert info.max_penetration[0] < cloth.material.thickness
    middle = sim.x[0][6 * 13 + 6]
    assert middle[2] > 0.19


def test_m15_an_index_list_that_does_not_match_its_counts_is_refused(tmp_path: Path) -> None:
    """M15: quads passed on as if they were triangles, in formats that count the corners of faces."""
    flat = "[0, 1, 2, 3]"
    points = "[(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]"
    usd = (
        '#usda 1.0\n(\n    metersPerUnit = 1\n)\ndef Mesh "quad"\n{{\n    int[] faceVertexCounts = {}\n'
        f"    int[] faceVertexIndices = {flat}\n    point3f[] points = {points}\n}}}}\n"
    )
    off = "OFF\n4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n"
    ply = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    ply += "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n"
    vtk = "# vtk DataFile Version 3.0\n\nASCII\nDATASET POLYDATA\nPOINTS 4 float\n0 0 0 1 0 0 1 1 0 0 1 0\n"
    vtk += "POLYGONS 1 5\n"
    files = {
        "a.off": (off + "4 0 1 2 3\n", off + "3 0 1 2 3 4 5 6 7\n"),
        "a.ply": (ply + "4 0 1 2 3\n", ply + "3 0 1 2 3\n"),
        "a.vtk": (vtk + "4 0 1 2 3\n", vtk + "3 0 1 2 3\n"),
    }
    try:
        import pxr  # noqa: F401

        files["a.usda"] = (usd.format("[4]"), usd.format("[3]"))
    except ImportError:
        pass
    for name, (right, wrong) in files.items():
        mesh = pl.read_mesh(written(tmp_path, name, right))
        assert isinstance(mesh, pl.TriMesh)
        assert (mesh.n_triangles, mesh.area) == (2, 1.0)
        with pytest.raises(MeshError, match=name):
            pl.read_mesh(written(tmp_path, name, wrong))
    with pytest.raises(MeshError, match=r"triangles has shape \(4,\)"):
        pl.TriMesh(np.eye(4, 3), np.arange(4))


def test_m15_a_collider_in_centimetres_is_told_of(tmp_path: Path) -> None:
    """M15: by its size when it is read, or by the sizes of both when they meet."""
    x, faces = globe(radius=20.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mesh = pl.read_mesh(written(tmp_path, "globe.obj", as_obj(x, faces)))
        assert isinstance(mesh, pl.TriMesh)
        scene = pl.Scene()
        scene.add_cloth(pl.shapes.grid(5, 5, (0.4, 0.4)), pl.fabrics.cotton, position=(0, 0, 21.0))
        scene.add_collider(pl.MeshCollider(mesh))
        pl.Simulation(scene, pl.XPBD())
    assert any(issubclass(w.category, MeshWarning) and "times" in str(w.message) for w in caught)


@pytest.mark.parametrize("shape", ["sphere", "bar"])
def test_m19_soup_becomes_a_closed_mesh_and_its_corners_can_be_found_again(
    tmp_path: Path, shape: str
) -> None:
    """M19: as many vertices as places, as many triangles as facets; pins are given by corners of the file."""
    mesh = (
        pl.shapes.sphere(0.2, 2) if shape == "sphere" else pl.shapes.bar((0.2, 0.1, 0.1), (4, 2, 2)).surface
    )
    back = pl.read_mesh(written(tmp_path, "a.stl", stl_binary(mesh)))
    assert isinstance(back, pl.TriMesh)
    assert (back.n_vertices, back.n_triangles) == (mesh.n_vertices, mesh.n_triangles)
    assert len(topology.boundary_edges(back.triangles)) == 0
    soup = mesh.vertices[mesh.triangles].reshape(-1, 3).astype(np.float32)
    np.testing.assert_array_equal(back.vertices[back.file_ids], soup)
    scene = pl.Scene()
    cloth = scene.add_cloth(back, pl.fabrics.cotton, pins=[3 * 7 + 1])
    assert cloth.pins.tolist() == [back.triangles[7, 1]]
