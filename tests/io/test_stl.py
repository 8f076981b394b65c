"""STL files: corners at one position become one vertex; mistakes by facet or line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from mesh_files import stl_ascii, stl_binary, written

from pliant.errors import MeshError
from pliant.geometry import shapes, topology
from pliant.io.meshes import read_mesh

SHEET = shapes.unstructured((1.0, 0.7), 0.2, seed=4)


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
        ("vertex 0.5 0.5 0.0", "vertex 0.5 -0.5 0.0", "facet 0: names a vertex twice"),
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


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("endfacet", "endfact", "line 8: 'endfact' where 'endfacet' is due"),
        ("outer loop", "outer", "line 3: 'outer' where 'outer' is due"),
        ("endsolid towel", "", "ends inside a solid; it is cut short"),
        ("   vertex -0.5 -0.5 0.0\n", "   vertex -0.5 -0.5 0.0\n" * 2, "line 8: a facet with 4 corners"),
        ("facet normal 0 0 1", "facet", "line 2: 'facet' where 'facet' or 'endsolid' is due"),
        ("vertex 0.5 0.5 0.0", "vertex 0,5 0.5 0.0", "not numbers: '0,5 0.5 0.0'; write decimal points"),
        ("solid towel", "<html>", "line 1: is a page of the web"),
    ],
)
def test_stl_contradictions_are_named_by_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = stl_ascii(shapes.grid(2, 2))
    assert old in text
    with pytest.raises(MeshError, match=rf"bad\.stl:? .*{message}"):
        read_mesh(written(tmp_path, "bad.stl", text.replace(old, new, 1)))


def test_binary_stl_of_another_length_is_refused(tmp_path: Path) -> None:
    data = stl_binary(SHEET)
    for content in (data[:-1], data + b"\0", data[:80] + b"\7\0\0\0" + data[84:], b"\1\0" * 17):
        with pytest.raises(MeshError, match=f"{len(content)} bytes do not fit the"):
            read_mesh(written(tmp_path, "bad.stl", content))


def test_several_solids_are_one_surface(tmp_path: Path) -> None:
    text = stl_ascii(shapes.grid(2, 2)) + "\n" + stl_ascii(shapes.grid(2, 2).transformed((0, 0, 1))).upper()
    mesh = read_mesh(written(tmp_path, "a.stl", text))
    assert (mesh.n_vertices, len(mesh.triangles)) == (8, 4)
