"""USD stages: polygons, units, places, texture coordinates; damaged ones are refused."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.errors import MeshError, MeshWarning, MissingExtraError
from pliant.geometry.mesh import TriMesh

STAGE = """#usda 1.0
(
    metersPerUnit = {metres}
    upAxis = "Y"
)
def Xform "World"
{{
    double3 xformOp:translate = (0, 0, 100)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Mesh "sheet"
    {{
        int[] faceVertexCounts = {counts}
        int[] faceVertexIndices = {ids}
        point3f[] points = [(0, 0, 0), (100, 0, 0), (100, 100, 0), (0, 100, 0), (200, 0, 0), (200, 100, 0)]
        {more}
    }}
}}
"""
X = np.array([[0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1], [2, 0, 1], [2, 1, 1]], float)


def stage(
    folder: Path,
    metres: str = "0.01",
    counts: str = "[4, 3, 3]",
    ids: str = "[0, 1, 2, 3, 1, 4, 5, 1, 5, 2]",
    more: str = "",
    name: str = "a.usda",
) -> Path:
    pytest.importorskip("pxr")
    (folder / name).write_text(STAGE.format(metres=metres, counts=counts, ids=ids, more=more))
    return folder / name


def read(path: Path, **options: str) -> TriMesh:
    mesh = pl.read_mesh(path, **options)
    assert isinstance(mesh, TriMesh)
    return mesh


@pytest.mark.filterwarnings("ignore::pliant.errors.MeshWarning")
def test_polygons_in_the_stages_own_unit(tmp_path: Path) -> None:
    mesh = read(stage(tmp_path))
    np.testing.assert_allclose(mesh.vertices, X)
    assert mesh.polygons == ((0, 1, 2, 3), (1, 4, 5), (1, 5, 2))
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 2]]
    np.testing.assert_allclose(read(tmp_path / "a.usda", unit="mm").vertices, 0.1 * X)
    np.testing.assert_allclose(read(stage(tmp_path, "1", name="b.usda")).vertices, 100 * X)


def test_a_stage_without_a_unit_is_warned_of(tmp_path: Path) -> None:
    path = stage(tmp_path)
    path.write_text(path.read_text().replace("metersPerUnit = 0.01", ""))
    with pytest.warns(MeshWarning, match=r"states no metersPerUnit; USD's own 0\.01 is taken"):
        np.testing.assert_allclose(read(path).vertices, X)


def test_faces_of_the_left_hand_are_turned(tmp_path: Path) -> None:
    pairs = ", ".join(f"({k}, 0)" for k in range(10))
    more = (
        'uniform token orientation = "leftHanded"\n'
        f'texCoord2f[] primvars:st = [{pairs}] (interpolation = "faceVarying")'
    )
    mesh = read(stage(tmp_path, more=more))
    assert mesh.polygons == ((0, 3, 2, 1), (1, 5, 4), (1, 2, 5))
    assert mesh.uv_triangles.tolist() == [[0, 3, 2], [0, 2, 1], [4, 6, 5], [7, 9, 8]]  # type: ignore[union-attr]


def test_texture_and_colours(tmp_path: Path) -> None:
    more = (
        "texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1), (0.5, 0.5)] "
        '(interpolation = "faceVarying")\n'
        "int[] primvars:st:indices = [0, 1, 2, 3, 4, 1, 2, 4, 2, 3]\n"
        "color3f[] primvars:displayColor = "
        "[(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 1, 1)] "
        '(interpolation = "vertex")\n'
        'float[] primvars:displayOpacity = [1, 1, 1, 1, 1, 0.5] (interpolation = "vertex")\n'
    )
    mesh = read(stage(tmp_path, more=more))
    assert mesh.uv_triangles.tolist() == [[0, 1, 2], [0, 2, 3], [4, 1, 2], [4, 2, 3]]  # type: ignore[union-attr]
    assert mesh.uv[4].tolist() == [0.5, 0.5]  # type: ignore[index]
    assert mesh.colors[5].tolist() == [1, 1, 1, 0.5]  # type: ignore[index]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"counts": "[3, 3, 3]"},
            "/World/sheet: faceVertexIndices has 10 numbers, faceVertexCounts promises 9",
        ),
        ({"counts": "[4, 3, 3, 3]"}, "faceVertexIndices has 10 numbers, faceVertexCounts promises 13"),
        ({"counts": "[4, -3, 3]"}, "faceVertexIndices has 10 numbers"),
        ({"ids": "[0, 1, 2, 3, 1, 4, 5, 1, 5, 9]"}, "faces refer to points from 0 to 9, it has 6"),
        ({"ids": "[0, 1, 2, 3, 1, 4, 4, 1, 5, 2]"}, "/World/sheet face 1: names a vertex twice"),
        ({"counts": "[]", "ids": "[]"}, "no faces"),
        ({"metres": "0"}, "metersPerUnit is 0.0"),
        (
            {"more": 'texCoord2f[] primvars:st = [(0, 0)] (interpolation = "vertex")'},
            "1 texture coordinates 'st'",
        ),
    ],
)
def test_contradictions_are_named(tmp_path: Path, changed: dict, message: str) -> None:
    with pytest.raises(MeshError, match=rf"a\.usda.*{message}"):
        read(stage(tmp_path, **changed))


def test_what_is_no_stage_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pxr")
    for name, content in (
        ("a.usda", b"#usda 1.0\ndef {"),
        ("a.usdc", b"\0" * 90),
        ("a.usd", b""),
        ("a.usdz", b"x"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(MeshError, match=f"{name}: not a readable USD file"):
            read(tmp_path / name)


def test_without_the_extra_the_cure_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.usda").write_text("#usda 1.0\n")
    monkeypatch.setitem(sys.modules, "pxr", None)
    with pytest.raises(MissingExtraError, match=r'"usd-core": pip install "pliant\[usd\]"'):
        pl.read_mesh(tmp_path / "a.usda")
