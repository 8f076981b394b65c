"""TetGen's pairs of files, and OFF."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from mesh_files import BOX, TETS

import pliant as pl
from pliant.errors import MeshError
from pliant.geometry.mesh import TriMesh
from pliant.geometry.tetmesh import TetMesh


def pair(folder: Path, first: int = 0, old: str = "", new: str = "") -> Path:
    """A box in a pair of files, numbered from ``first``; each point with an attribute and a marker."""
    nodes = ["# a comment", "8 3 1 1"]
    nodes += [f"{first + k} {x} {y} {z} 7.5 0" for k, (x, y, z) in enumerate(BOX.tolist())]
    tets = ["6 4 0"] + [f"{first + k} {' '.join(str(first + v) for v in t)}" for k, t in enumerate(TETS)]
    for suffix, rows in ((".node", nodes), (".ele", tets)):
        text = "\n".join([*rows, "# made here", ""])
        (folder / f"box{suffix}").write_text(text.replace(old, new, 1) if old else text)
    return folder / "box.node"


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("suffix", [".node", ".ele"])
def test_a_pair_is_read_by_either_name(tmp_path: Path, first: int, suffix: str) -> None:
    mesh = pl.read_mesh(pair(tmp_path, first).with_suffix(suffix), unit="cm")
    assert isinstance(mesh, TetMesh)
    np.testing.assert_array_equal(mesh.vertices, 0.01 * BOX)
    np.testing.assert_array_equal(mesh.tets, TETS)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("8 3 1 1", "9 3 1 1", "box.node: 8 rows, its head promises 9 points"),
        ("8 3 1 1", "8 2 1 1", "points of 2 numbers, not 3"),
        ("8 3 1 1", "8 3 0 1", "where number 0 and 4 numbers are due"),
        ("8 3 1 1", "eight", "does not begin with the counts"),
        ("6 4 0", "6 10 0", "tetrahedra of 10 numbers, not 4; mesh with first-order"),
        ("6 4 0", "7 4 0", "box.ele: 6 rows, its head promises 7"),
        ("0 0 1 3 7", "0 0 1 3 77", "refers to a vertex that does not exist"),
        ("0 0 1 3 7", "0 0 1 3 1e30", "by a number that is not whole"),
        ("0 0 1 3 7", "0 0 1 3 7.5", "by a number that is not whole"),
        ("0 0 1 3 7", "0 0 1 3", "where number 0 and 4 numbers are due"),
        ("1 1.0 0.0 0.0", "1 1.0 nan 0.0", "coordinates must be finite"),
        ("1 1.0 0.0 0.0", "2 1.0 0.0 0.0", "where number 1 and 5 numbers are due"),
        ("1 1.0 0.0 0.0", "1 1,0 0.0 0.0", "are not numbers"),
    ],
)
def test_contradictions_in_a_pair_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(MeshError, match=message):
        pl.read_mesh(pair(tmp_path, 0, old, new))


def test_half_a_pair_is_refused(tmp_path: Path) -> None:
    pair(tmp_path).with_suffix(".ele").unlink()
    with pytest.raises(MeshError, match=r"box\.node: box\.ele is missing beside it"):
        pl.read_mesh(tmp_path / "box.node")


# ---- OFF

SQUARES = "OFF\n# two\n6 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n2 0 0\n2 1 0\n4 0 1 2 3\n4 1 4 5 2 0.1 0.2 0.3\n"


def off(folder: Path, text: str) -> TriMesh:
    (folder / "a.off").write_text(text)
    mesh = pl.read_mesh(folder / "a.off")
    assert isinstance(mesh, TriMesh)
    return mesh


def test_off_polygons_and_what_stands_beside_them(tmp_path: Path) -> None:
    mesh = off(tmp_path, SQUARES)
    assert mesh.polygons == ((0, 1, 2, 3), (1, 4, 5, 2))
    assert mesh.area == pytest.approx(2.0)
    rows = [f"{k} 0 {k * k}  255 0 51 255  0.{k} 0.5" for k in range(3)]
    mesh = off(tmp_path, "STCOFF 3 1 3\n" + "\n".join(rows) + "\n3 0 1 2\n")
    np.testing.assert_allclose(mesh.colors, [[1.0, 0.0, 0.2, 1.0]] * 3)
    np.testing.assert_allclose(mesh.uv, [[0.0, 0.5], [0.1, 0.5], [0.2, 0.5]])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("OFF", "OOF", "an OFF file begins with 'OFF'"),
        ("OFF", "OFF BINARY", "binary ones are not read"),
        ("6 2 0", "6 3 0", "8 rows, its head promises 6 vertices and 3 faces"),
        ("6 2 0", "7 1 0", "line 10: a vertex with 5 numbers, not 3|line 4"),
        ("6 2 0", "-6 14 0", "-6 vertices"),
        ("6 2 0", "six two", "the numbers of vertices and faces are missing"),
        ("4 0 1 2 3", "4 0 1 2", "a face of 4 corners with 3 numbers"),
        ("4 0 1 2 3", "4 0 1 2 9", r"line 10 \(face 0\): refers to vertex 9"),
        ("4 0 1 2 3", "4 0 1 2 x", "a face lists vertex numbers"),
        ("1 0 0", "1 nan 0", r"line 5 \(vertex 1\): coordinates are not finite"),
    ],
)
def test_contradictions_in_off_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(MeshError, match=rf"a\.off.*({message})"):
        off(tmp_path, SQUARES.replace(old, new, 1))
