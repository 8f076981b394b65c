"""What is wrong in a Gmsh file is named; independent writers are read alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from mesh_files import BOX, TETS, gmsh_22, gmsh_41, gmsh_41_binary

import pliant as pl
from pliant.errors import MeshError
from pliant.geometry.tetmesh import TetMesh

SKIN = TetMesh(BOX, TETS).triangles
NONE = np.zeros((0, 3), int)
TEXT = {"2.2": gmsh_22(BOX, SKIN, TETS), "4.1": gmsh_41(BOX, SKIN, TETS)}


def read(tmp_path: Path, text: str | bytes) -> object:
    path = tmp_path / "box.msh"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return pl.read_mesh(path)


@pytest.mark.parametrize(
    ("version", "old", "new", "message"),
    [
        ("2.2", "$Nodes\n8\n", "$Nodes\n7\n", r"line 13: the section \$Nodes goes on where its counts"),
        ("2.2", "$Nodes\n8\n", "$Nodes\n9\n", "line 14: '.EndNodes' where 4 numbers are due"),
        ("2.2", "$Nodes\n8\n", "$Nodes\n-1\n", "line 5: '-1' where a count is due"),
        ("2.2", "$Nodes\n8\n", "$Nodes\n999999999999\n", "ends before the 999999999999 lines"),
        ("2.2", "1 0.0 0.0 0.0\n", "1 0.0 0,5 0.0\n", "line 6: '1 0.0 0,5 0.0' where 4 numbers are due"),
        ("2.2", "1 0.0 0.0 0.0\n", "1 0.0 0_0 0.0\n", "line 6: '1 0.0 0_0 0.0' where 4 numbers are due"),
        ("2.2", "1 0.0 0.0 0.0\n", "1 0.0 nan 0.0\n", "coordinates must be finite"),
        ("2.2", "1 0.0 0.0 0.0\n", "2 0.0 0.0 0.0\n", "node 2 stands there twice"),
        ("2.2", "1 0.0 0.0 0.0\n", "1e30 0.0 0.0 0.0\n", "a node with a number that is not whole"),
        ("2.2", "1 0.0 0.0 0.0\n", "99 0.0 0.0 0.0\n", "an element of type 'triangle' refers to node 1,"),
        ("2.2", "13 4 2 0 1 1 2 4 8\n", "13 4 2 0 1 1 2 4\n", "an element of type 'tetra' has 4 nodes"),
        ("2.2", "13 4 2 0 1 1 2 4 8\n", "13 4 9 0 1 1 2 4 8\n", "is no element"),
        ("2.2", "13 4 2 0 1 1 2 4 8\n", "13 44 2 0 1 1 2 4 8\n", "elements of type 44 are not known"),
        ("2.2", "13 4 2 0 1 1 2 4 8\n", "13 4 2 0 1 1 2 4 77\n", "'tetra' refers to node 77, which is not"),
        ("2.2", "2.2 0 8", "3.7 0 8", "MSH version 3.7 is not read; save it as version 4.1 or 2.2"),
        ("2.2", "2.2 0 8", "2.2 1 8", "the mark of the byte order is damaged"),
        ("2.2", "$EndNodes", "$EndNotes", r"the section \$Nodes goes on"),
        ("2.2", "$Elements", "$Nodes", "where a section is due that was not there yet"),
        ("2.2", "$MeshFormat", "<html>", "line 1: is a page of the web"),
        ("4.1", "$Nodes\n1 8", "$Nodes\n1 9", "holds 8 nodes, its header promises 9"),
        ("4.1", "$Nodes\n1 8", "$Nodes\n2 8", "'.EndNodes' where 4 whole numbers are due"),
        ("4.1", "2 1 0 8", "2 1 1 8", "where 5 numbers are due"),
        ("4.1", "2 1 0 8", "2 1 0 7", "'8' where 3 numbers are due"),
        ("4.1", "$Elements\n2 18", "$Elements\n2 17", "holds 18 elements, its header promises 17"),
        ("4.1", "$Elements\n2 18", "$Elements\n1 18", "holds 12 elements, its header promises 18"),
        ("4.1", "3 1 4 6", "3 1 4 5", "holds 17 elements, its header promises 18"),
        ("4.1", "3 1 4 6", "3 1 5 6", "where 9 whole numbers are due"),
    ],
)
def test_contradictions_are_named(tmp_path: Path, version: str, old: str, new: str, message: str) -> None:
    assert old in TEXT[version]
    with pytest.raises(MeshError, match=rf"box\.msh:? ?.*{message}"):
        read(tmp_path, TEXT[version].replace(old, new, 1))


@pytest.mark.parametrize("version", TEXT)
def test_a_missing_section_is_named(tmp_path: Path, version: str) -> None:
    text = TEXT[version]
    with pytest.raises(MeshError, match=r"has no section \$Elements"):
        read(tmp_path, text[: text.index("$Elements")])


def test_binary_files_cut_short_anywhere_are_refused(tmp_path: Path) -> None:
    data = gmsh_41_binary(BOX, SKIN, TETS)
    assert isinstance(read(tmp_path, data), TetMesh)
    for length in range(0, len(data) - 1, 7):
        with pytest.raises(MeshError):
            read(tmp_path, data[:length])


def test_numbers_of_nodes_may_have_gaps_and_any_order(tmp_path: Path) -> None:
    """The first node is the last of the list, and numbers run in steps of a million."""
    nodes = [f"{1000000 * (k + 1)} {x} {y} {z}\n" for k, (x, y, z) in enumerate(BOX.tolist())]
    rows = [f"{k} 4 1 0 " + " ".join(str(1000000 * (v + 1)) for v in t) + "\n" for k, t in enumerate(TETS)]
    text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n8\n" + "".join(nodes[::-1])
    body = read(tmp_path, f"{text}$EndNodes\n$Elements\n6\n{''.join(rows)}$EndElements\n")
    assert isinstance(body, TetMesh)
    np.testing.assert_array_equal(body.vertices, BOX[::-1])
    np.testing.assert_array_equal(np.sort(body.tets), np.sort(7 - TETS))


def test_faces_that_are_refused_are_named_by_the_number_in_the_file(tmp_path: Path) -> None:
    bad = SKIN.copy()
    bad[4] = bad[4, [0, 1, 1]]
    with pytest.raises(MeshError, match="element 5: names a vertex twice"):
        read(tmp_path, gmsh_22(BOX, bad, NONE))
