"""glTF: nodes, primitives, accessors of every kind, written by hand and by trimesh."""

from __future__ import annotations

import base64
import copy
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.errors import MeshError, MeshWarning
from pliant.geometry import topology
from pliant.geometry.mesh import TriMesh

QUAD = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], "<f4")
UV = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], "<f4")
TWO = np.array([0, 1, 2, 0, 2, 3], "<u2")


class Book:
    """A document under construction: arrays become accessors of one buffer."""

    def __init__(self) -> None:
        self.data = b""
        self.document: dict[str, Any] = {"asset": {"version": "2.0"}, "accessors": [], "bufferViews": []}

    def add(self, rows: np.ndarray, **more: Any) -> int:
        kind = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}[rows.shape[1] if rows.ndim == 2 else 1]
        component = {
            "<i1": 5120,
            "|i1": 5120,
            "|u1": 5121,
            "<i2": 5122,
            "<u2": 5123,
            "<u4": 5125,
            "<f4": 5126,
        }
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": rows.nbytes}
        self.data += rows.tobytes() + b"\0" * (-rows.nbytes % 4)
        self.document["bufferViews"].append(view)
        accessor = {"bufferView": len(self.document["bufferViews"]) - 1, "count": len(rows), "type": kind}
        self.document["accessors"].append(accessor | {"componentType": component[rows.dtype.str]} | more)
        return len(self.document["accessors"]) - 1

    def quad(self, **attributes: int) -> dict:
        return {"attributes": {"POSITION": self.add(QUAD), **attributes}, "indices": self.add(TWO)}

    def glb(self) -> bytes:
        self.document["buffers"] = [{"byteLength": len(self.data)}]
        text = json.dumps(self.document).encode()
        text += b" " * (-len(text) % 4)
        parts = struct.pack("<II", len(text), 0x4E4F534A) + text
        parts += struct.pack("<II", len(self.data), 0x004E4942) + self.data
        return struct.pack("<4sII", b"glTF", 2, 12 + len(parts)) + parts

    def mesh(self, *primitives: dict, nodes: list | None = None) -> bytes:
        self.document |= {"meshes": [{"primitives": list(primitives)}], "nodes": nodes or [{"mesh": 0}]}
        self.document |= {"scenes": [{"nodes": [0]}], "scene": 0}
        return self.glb()


def read(folder: Path, data: bytes, name: str = "a.glb", **options: Any) -> TriMesh:
    (folder / name).write_bytes(data)
    mesh = pl.read_mesh(folder / name, **options)
    assert isinstance(mesh, TriMesh)
    return mesh


def test_a_quad_with_texture_and_colours(tmp_path: Path) -> None:
    book = Book()
    colors = book.add(np.full((4, 4), 51, "u1"), normalized=True)
    mesh = read(tmp_path, book.mesh(book.quad(TEXCOORD_0=book.add(UV), COLOR_0=colors)))
    np.testing.assert_array_equal(mesh.vertices, QUAD)
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    np.testing.assert_array_equal(mesh.uv, QUAD[:, :2])  # glTF counts v from the top
    tint = 1.055 * 0.2 ** (1 / 2.4) - 0.055  # files of glTF hold linear colours, a mesh those of the screen
    np.testing.assert_allclose(mesh.colors, np.tile([tint, tint, tint, 0.2], (4, 1)), rtol=1e-12)
    assert mesh.file_ids.tolist() == [0, 1, 2, 3]


def test_vertices_split_by_a_seam_are_one_again(tmp_path: Path) -> None:
    """A cube of loose triangles, each with the whole picture; the file's numbers lead to its corners."""
    book = Book()
    cube = pl.shapes.bar((1.0, 1.0, 1.0), (1, 1, 1)).surface
    corners = cube.vertices[cube.triangles].reshape(-1, 3).astype("<f4")
    uv = np.tile(np.array([[0, 0], [1, 0], [0, 1]], "<f4"), (12, 1))
    primitive = {"attributes": {"POSITION": book.add(corners), "TEXCOORD_0": book.add(uv)}}
    mesh = read(tmp_path, book.mesh(primitive))
    assert (mesh.n_vertices, mesh.n_triangles) == (8, 12)
    assert len(topology.boundary_loops(mesh.triangles)) == 0
    np.testing.assert_array_equal(mesh.vertices[mesh.file_ids], corners)
    assert mesh.uv_triangles is not None
    np.testing.assert_array_equal(mesh.uv[mesh.uv_triangles].reshape(-1, 2), [0, 1] + uv * [1, -1])  # type: ignore[index]


def test_nodes_move_turn_mirror_and_nest(tmp_path: Path) -> None:
    book = Book()
    half = float(np.sqrt(0.5))
    nodes = [
        {"children": [1, 2], "translation": [0, 0, 5]},
        {"mesh": 0, "rotation": [0, 0, half, half], "scale": [2, 1, 1]},
        {"mesh": 0, "matrix": [-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -3, 0, 0, 1]},
    ]
    mesh = read(tmp_path, book.mesh(book.quad(), nodes=nodes))
    turned = np.stack([-QUAD[:, 1], 2 * QUAD[:, 0], 0 * QUAD[:, 0] + 5], axis=1)
    np.testing.assert_allclose(mesh.vertices[:4], turned, atol=1e-15)
    np.testing.assert_array_equal(mesh.vertices[4:], QUAD * (-1, 1, 1) + (-3, 0, 5))
    x = mesh.vertices[mesh.triangles]
    assert (np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])[:, 2] > 0).all()  # the mirrored one is turned back
    assert mesh.file_ids.tolist() == list(range(8))


def test_primitives_share_their_vertices_and_others_are_left_out(tmp_path: Path) -> None:
    book = Book()
    position = book.add(QUAD)
    parts = [{"attributes": {"POSITION": position}, "indices": book.add(TWO[k : k + 3])} for k in (0, 3)]
    lines = {"attributes": {"POSITION": position}, "mode": 1}
    with pytest.warns(MeshWarning, match="1 primitives of points and lines are left out"):
        mesh = read(tmp_path, book.mesh(*parts, lines))
    assert mesh.file_ids.tolist() == [0, 1, 2, 3]
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]


@pytest.mark.parametrize(("mode", "ids"), [(5, [0, 1, 3, 2]), (6, [0, 1, 2, 3]), (5, [0, 0, 1, 3, 2])])
def test_strips_and_fans(tmp_path: Path, mode: int, ids: list[int]) -> None:
    book = Book()
    primitive = book.quad() | {"indices": book.add(np.array(ids, "u1")), "mode": mode}
    mesh = read(tmp_path, book.mesh(primitive))
    assert (mesh.n_triangles, mesh.area) == (2, 1.0)
    assert topology.inconsistent_edges(mesh.triangles).size == 0


def test_interleaved_sparse_and_whole_number_arrays(tmp_path: Path) -> None:
    book = Book()
    table = np.zeros(4, [("x", "<f4", 3), ("uv", "<u2", 2)])
    table["x"], table["uv"] = QUAD, (UV * 65535).astype("<u2")
    place = len(book.data)
    book.data += table.tobytes()
    views = book.document["bufferViews"]
    views.append({"buffer": 0, "byteOffset": place, "byteLength": 64, "byteStride": 16})
    x = {"bufferView": 0, "count": 4, "type": "VEC3", "componentType": 5126}
    uv = {
        "bufferView": 0,
        "byteOffset": 12,
        "count": 4,
        "type": "VEC2",
        "componentType": 5123,
        "normalized": True,
    }
    book.document["accessors"] += [x, uv]
    at, values = book.add(np.array([3], "u1")), book.add(np.array([[0, 2, 0]], "<f4"))
    x["sparse"] = {
        "count": 1,
        "indices": {"bufferView": book.document["accessors"][at]["bufferView"], "componentType": 5121},
        "values": {"bufferView": book.document["accessors"][values]["bufferView"]},
    }
    primitive = {"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "indices": book.add(TWO.astype("<u4"))}
    mesh = read(tmp_path, book.mesh(primitive))
    assert mesh.vertices[3].tolist() == [0, 2, 0]
    np.testing.assert_allclose(mesh.uv, QUAD[:, :2], atol=1e-7)


@pytest.mark.parametrize("beside", [False, True])
def test_buffers_in_the_text_and_beside_it(tmp_path: Path, beside: bool) -> None:
    book = Book()
    book.mesh(book.quad())
    uri = (
        "a%20b.bin"
        if beside
        else "data:application/octet-stream;base64," + base64.b64encode(book.data).decode()
    )
    if beside:
        (tmp_path / "a b.bin").write_bytes(book.data)
    book.document["buffers"][0]["uri"] = uri
    mesh = read(tmp_path, json.dumps(book.document).encode(), "a.gltf")
    assert mesh.area == 1.0


def test_y_upwards_is_turned_where_asked_for(tmp_path: Path) -> None:
    book = Book()
    data = book.mesh(book.quad())
    np.testing.assert_array_equal(read(tmp_path, data).vertices, QUAD)
    mesh = read(tmp_path, data, up="y", unit="cm")
    np.testing.assert_allclose(mesh.vertices, 0.01 * QUAD[:, [0, 2, 1]], atol=1e-15)
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    with pytest.raises(MeshError, match="up is 'x'"):
        read(tmp_path, data, up="x")


def test_what_another_writer_writes(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    ball = pl.shapes.sphere(0.5, 2)
    scene = trimesh.Scene()
    for k in range(3):
        place = np.eye(4)
        place[:3, 3] = (2.0 * k, 0, 0)
        part = trimesh.Trimesh(ball.vertices, ball.triangles, process=False)
        scene.add_geometry(part, transform=place)
    mesh = read(tmp_path, scene.export(file_type="glb"))
    assert (mesh.n_vertices, mesh.n_triangles) == (3 * ball.n_vertices, 3 * ball.n_triangles)
    assert mesh.area == pytest.approx(3 * ball.area, rel=1e-6)
    np.testing.assert_allclose(mesh.vertices[-1], ball.vertices[-1] + (4.0, 0, 0), atol=1e-6)


def _with(document: dict, path: tuple, value: Any) -> dict:
    changed = copy.deepcopy(document)
    item = changed
    for key in path[:-1]:
        item = item[key]
    item[path[-1]] = value
    return changed


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("accessors", 0, "count"), 5, "5 rows do not fit bufferView 0"),
        (("accessors", 0, "count"), -1, "count is -1, which is no count"),
        (("accessors", 0, "count"), 1e9, "count is 1000000000.0"),
        (("accessors", 0, "count"), 3, r"a primitive refers to vertex 3, it has 3"),
        (("accessors", 1, "count"), 5, "has 5 corners, which 3 does not divide"),
        (("accessors", 0, "type"), "VEC2", "accessor 0 is 'VEC2' of 5126, not VEC3"),
        (("accessors", 1, "componentType"), 5126, "3 rows|holds float32 where|6 rows do not fit"),
        (("accessors", 0, "bufferView"), 7, "refers to number 7 of its 2 bufferViews"),
        (("bufferViews", 0, "byteLength"), 4000, "bufferView 0 ends beyond its buffer"),
        (("bufferViews", 0, "byteStride"), 4, "4 rows do not fit"),
        (("buffers", 0, "byteLength"), 4000, "buffer 0 has 60 bytes, 4000 are promised"),
        (("buffers", 0, "uri"), "../secret.bin", "must be a file beside the glTF file"),
        (("buffers", 0, "uri"), "https://a/b", "must be a file beside the glTF file"),
        (("buffers", 0, "uri"), "none.bin", "none.bin is missing beside it"),
        (("buffers", 0, "uri"), "data:,???", "holds data that are no base64"),
        (("meshes", 0, "primitives", 0, "mode"), 9, "has mode 9, which is none"),
        (("meshes", 0, "primitives", 0, "attributes"), {}, "contradicts itself .*POSITION"),
        (("meshes", 0, "primitives"), 7, "contradicts itself"),
        (("nodes", 0, "children"), [0], "node 0 has two parents or is its own"),
        (("nodes", 0, "mesh"), 3, "refers to number 3 of its 1 meshes"),
        (("nodes", 0, "translation"), [0, 0, 1e999], "no JSON|has a transform that is none"),
        (("nodes", 0, "scale"), [1, 0, 0], "has no area|at one position|names a vertex twice"),
        (("nodes", 0, "matrix"), [1, 2, 3], "contradicts itself"),
        (("asset", "version"), "1.0", "is glTF version '1.0'"),
        (("extensionsRequired",), ["KHR_draco_mesh_compression"], "needs the extension 'KHR_draco"),
        (("scene",), 5, "refers to number 5 of its 1 scenes"),
        (("scenes", 0, "nodes"), [], "no faces"),
        (("accessors", 0), {"count": 4, "type": "VEC3", "componentType": 5126}, "accessor 0 has no data"),
    ],
)
def test_contradictions_are_named(tmp_path: Path, path: tuple, value: Any, message: str) -> None:
    book = Book()
    book.mesh(book.quad())
    book.document["buffers"][0]["uri"] = "data:;base64," + base64.b64encode(book.data).decode()
    with pytest.raises(MeshError, match=rf"a\.gltf:?.*({message})"):
        read(tmp_path, json.dumps(_with(book.document, path, value)).encode(), "a.gltf")


def test_files_cut_short_are_refused(tmp_path: Path) -> None:
    book = Book()
    data = book.mesh(book.quad())
    for length in range(0, len(data), 11):
        with pytest.raises(MeshError):
            read(tmp_path, data[:length])
