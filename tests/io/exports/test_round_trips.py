"""A mesh that is written, read and written again: the same mesh, the same bytes."""

from __future__ import annotations

from pathlib import Path

import exported
import numpy as np
import pytest

import pliant as pl
from pliant.errors import MeshWarning
from pliant.io.exports.formats import MESHES

TETS = pl.shapes.ball(0.123, 2)
SHEET = pl.shapes.unstructured((0.3, 0.2), 0.03, seed=3).transformed((0.1, 0.2, 0.3), (0.1, 1.2, 0.3))


@pytest.mark.parametrize("unit", ["m", "cm", "in"])
@pytest.mark.parametrize("suffix", ["obj", "ply", "stl", "vtu"])
def test_the_second_trip_writes_the_same_bytes(tmp_path: Path, suffix: str, unit: str) -> None:
    mesh = TETS if suffix == "vtu" else SHEET
    once, twice = tmp_path / f"once.{suffix}", tmp_path / f"twice.{suffix}"
    pl.write(mesh, once, unit=unit)
    again = pl.read_mesh(once, unit=unit)
    pl.write(again, twice, unit=unit)
    if unit == "m" or suffix == "obj":
        assert once.read_bytes() == twice.read_bytes()
    if suffix == "stl":  # corners of a facet, in single precision
        x, y = (m.vertices[m.triangles] for m in (mesh, again))
        np.testing.assert_allclose(y, x, rtol=0, atol=1e-7 * np.abs(x).max())
        return
    np.testing.assert_allclose(again.vertices, mesh.vertices, rtol=0 if unit == "m" else 1e-14, atol=0)
    cells = "tets" if suffix == "vtu" else "triangles"
    np.testing.assert_array_equal(getattr(again, cells), getattr(mesh, cells))
    np.testing.assert_array_equal(again.file_ids, mesh.file_ids)


def test_numbers_of_a_file_in_centimetres_come_back_as_they_stand(tmp_path: Path) -> None:
    """0.1 cm is 0.001 m, and 0.001 m is not exactly a tenth of a centimetre."""
    rng = np.random.default_rng(0)
    x = np.round(100 * rng.random((40, 3)), 6)
    lines = [f"v {a!r} {b!r} {c!r}" for a, b, c in x.tolist()]
    lines += [f"f {k + 1} {k + 2} {k + 3}" for k in range(38)]
    (tmp_path / "a.obj").write_text("\n".join(lines) + "\n")
    pl.write(pl.read_mesh(tmp_path / "a.obj", unit="cm"), tmp_path / "b.obj", unit="cm")
    written = [line.split()[1:] for line in (tmp_path / "b.obj").read_text().splitlines() if line[:2] == "v "]
    np.testing.assert_array_equal(np.array(written, dtype=float), x)


def textured() -> pl.TriMesh:
    """Two quads and a triangle, a seam of the texture along the edge 1-4, colours."""
    return pl.TriMesh(
        vertices=np.array(
            [[0, 0, 0], [1, 0, 0.1], [2, 0, 0], [0, 1, 0], [1, 1, 0.3], [2, 1, 0.25], [3, 0.5, 0]]
        ),
        triangles=np.array([[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4], [2, 6, 5]]),
        uv=np.array([[0, 0], [0.5, 0], [0.5, 1], [0, 1], [0.6, 0], [1, 0], [1, 1], [0.6, 1], [0.9, 0.5]]),
        uv_triangles=np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7], [5, 8, 6]]),
        colors=np.linspace(0, 1, 21).reshape(7, 3),
        polygons=((0, 1, 4, 3), (1, 2, 5, 4), (2, 6, 5)),
        triangle_polygon=np.array([0, 0, 1, 1, 2]),
        name="flag",
    )


def assert_alike(mesh: pl.TriMesh, again: pl.TriMesh) -> None:
    for name in ("vertices", "triangles", "file_ids", "uv", "uv_triangles", "colors", "triangle_polygon"):
        one, other = getattr(mesh, name), getattr(again, name)
        assert (one is None) == (other is None), name
        if one is not None:
            np.testing.assert_array_equal(one, other, err_msg=name)
    assert mesh.polygons == again.polygons


def trip(mesh: pl.TriMesh, path: Path) -> pl.TriMesh:
    pl.write(mesh, path)
    return pl.read_mesh(path, up="y" if path.suffix == ".glb" else None)


@pytest.mark.parametrize("suffix", MESHES)
def test_texture_and_polygons_after_a_second_trip(tmp_path: Path, suffix: str) -> None:
    """What a format keeps at all it keeps for good."""
    if suffix.startswith(".usd"):
        pytest.importorskip("pxr")
    once = trip(textured(), tmp_path / f"flag{suffix}")
    (tmp_path / "again").mkdir()
    twice = trip(once, tmp_path / "again" / f"flag{suffix}")
    assert_alike(once, twice)
    assert (tmp_path / f"flag{suffix}").read_bytes() == (tmp_path / "again" / f"flag{suffix}").read_bytes()


def test_an_obj_file_keeps_all_of_a_mesh(tmp_path: Path) -> None:
    assert_alike(textured(), trip(textured(), tmp_path / "flag.obj"))


def test_a_usd_file_keeps_it_in_single_precision(tmp_path: Path) -> None:
    pytest.importorskip("pxr")
    again = trip(textured(), tmp_path / "flag.usdc")
    assert again.colors is not None
    np.testing.assert_allclose(again.colors, textured().colors, atol=1e-6)
    assert again.polygons == textured().polygons
    assert again.uv is not None
    pairs, want = again.uv[again.uv_triangles], textured().uv[textured().uv_triangles]  # type: ignore[index]
    np.testing.assert_allclose(pairs, want, atol=1e-7)
    np.testing.assert_allclose(again.vertices, textured().vertices, atol=1e-7)


@pytest.mark.parametrize("suffix", [".ply", ".vtp", ".vtu"])
def test_colours_in_eight_bits(tmp_path: Path, suffix: str) -> None:
    again = trip(textured(), tmp_path / f"flag{suffix}")
    assert again.colors is not None
    np.testing.assert_allclose(again.colors, textured().colors, atol=0.5 / 255 + 1e-9)
    np.testing.assert_array_equal(again.colors, trip(again, tmp_path / f"b{suffix}").colors)


@pytest.mark.parametrize("textures", [True, False])
def test_a_seam_that_was_closed_is_open_again(tmp_path: Path, textures: bool) -> None:
    """A file that is split along a seam, mended for simulation, goes out as it came: same vertices, same
    faces, same texture if it has one."""
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0], [2, 0, 0], [1, 1, 0], [2, 1, 0.0]])
    uv = np.array([[0, 0], [0.4, 0], [0, 1], [0.4, 1], [0.6, 0], [1, 0], [0.6, 1], [1, 1]])
    triangles = np.array([[0, 1, 3], [0, 3, 2], [4, 5, 7], [4, 7, 6]])
    apart = pl.TriMesh(x, triangles, uv=uv if textures else None, name="two")
    scene = pl.Scene()
    with pytest.warns(MeshWarning, match="joined"):
        cloth = scene.add_cloth(apart, pl.fabrics.cotton, pins=[0])
    assert cloth.mesh.n_vertices == 6
    sim = pl.Simulation(scene, pl.XPBD(substeps=2))
    sim.run(steps=2, progress=False)
    pl.write(sim.new_recording(), tmp_path / "two.obj")
    found = exported.read_obj(tmp_path / "two.obj")
    assert found.faces == triangles.tolist()
    moved = found.points[0].astype(np.float32)
    np.testing.assert_array_equal(moved, cloth.in_file_order(cloth.x[0]).astype(np.float32))
    np.testing.assert_array_equal(moved[[1, 3]], moved[[4, 6]])
    if textures:
        np.testing.assert_array_equal(found.more["uv"], uv)
        assert found.more["uv_faces"] == triangles.tolist()


def test_vertices_that_no_file_has_come_last(tmp_path: Path) -> None:
    mesh = pl.TriMesh(np.eye(3), np.array([[0, 1, 2]]), file_ids=np.array([2, 0]))
    pl.write(mesh, tmp_path / "a.obj")
    found = exported.read_obj(tmp_path / "a.obj")
    np.testing.assert_array_equal(found.points[0], np.eye(3)[[2, 0, 1]])
    assert found.faces == [[1, 2, 0]]
