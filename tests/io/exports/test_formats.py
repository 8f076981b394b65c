"""Every export, read back by other readers, holds the same points, faces and fields; files are whole."""

from __future__ import annotations

from pathlib import Path

import exported
import fakes
import numpy as np
import pytest

import pliant as pl
from pliant import viewer
from pliant.io.exports import formats
from pliant.io.filed import Filed
from pliant.io.recording import Part, Recording, Solid

Y_UP = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])

TEXTURED = pl.TriMesh(
    vertices=np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0], [1, 1, 0], [2, 1, 0.25], [3, 0.5, 0]]),
    triangles=np.array([[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4], [2, 6, 5]]),
    uv=np.array([[0, 0], [0.5, 0], [0.5, 1], [0, 1], [0.6, 0], [1, 0], [1, 1], [0.6, 1], [0.9, 0.5]]),
    uv_triangles=np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7], [5, 8, 6]]),
    colors=np.array(
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.2, 0.4, 0.6], [1, 1, 1], [0.5, 0.5, 0.5]]
    ),
    polygons=((0, 1, 4, 3), (1, 2, 5, 4), (2, 6, 5)),
    triangle_polygon=np.array([0, 0, 1, 1, 2]),
    name="flag",
)
"""Two quads and a triangle; the texture has a seam along the edge 1-4."""
POLYGONS = [[0, 1, 4, 3], [1, 2, 5, 4], [2, 6, 5]]


def waving(mesh: pl.TriMesh = TEXTURED, frames: int = 7, dt: float = 0.1) -> Recording:
    """A textured flag that waves and a ball that flies and turns, from t = 0.3 s on."""
    quad = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.5]])
    solid = Solid("a kite", quad, np.array([[0, 1, 2], [0, 2, 3]]))
    part = Part("flag", 0, mesh.n_vertices, mesh.triangles, Filed.of(mesh))
    out = Recording("Flag & kite", dt, [part], [solid])
    for k in range(frames):
        t = 0.3 + dt * k
        x = mesh.vertices + np.array([0.1 * t, 0, 0]) + np.sin(3 * t + mesh.vertices) * [0, 0, 0.2]
        a = 2.0 * k * dt
        turn = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
        out.add(t, x, np.sin(x[:, 0] + t), [(np.array([t, 0, 2]), turn)])
    return out


@pytest.fixture(scope="module")
def recording() -> Recording:
    return waving()


def same(found: np.ndarray, frames: list[np.ndarray], error: float = 0.0) -> None:
    assert np.ptp(np.stack(frames), axis=0).max() > 0.02, "nothing moves: this proves nothing"
    np.testing.assert_allclose(found, np.stack(frames), rtol=0, atol=error)


@pytest.mark.parametrize("suffix", ["pc2", "mdd"])
def test_point_caches(tmp_path: Path, recording: Recording, suffix: str) -> None:
    pl.write(recording, tmp_path / f"flag.{suffix}")
    read = exported.read_pc2 if suffix == "pc2" else exported.read_mdd
    found = read(tmp_path / f"flag.{suffix}")
    same(found.points, recording.frames)
    np.testing.assert_allclose(found.times, np.arange(7) * (1 if suffix == "pc2" else 0.1), rtol=1e-7)


def test_a_cache_for_each_part(tmp_path: Path) -> None:
    recording = fakes.hung_sheets(2, 5, 4)
    assert pl.write(recording, tmp_path / "two.pc2") == tmp_path / "two.pc2"
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"two.{part.name.replace(' ', '_')}.pc2" for part in recording.parts]
    for part, name in zip(recording.parts, names, strict=True):
        found = exported.read_pc2(tmp_path / name)
        same(found.points, [frame[part.start : part.stop] for frame in recording.frames])


@pytest.mark.parametrize("suffix", ["vtp", "vtu"])
def test_vtk_series_with_its_list(tmp_path: Path, recording: Recording, suffix: str) -> None:
    pl.write(recording, tmp_path / f"flag_###.{suffix}")
    assert len(list(tmp_path.glob(f"flag_00?.{suffix}"))) == 7
    found = exported.read_pvd(tmp_path / "flag.pvd")
    same(found.points, recording.frames)
    assert found.faces == POLYGONS
    np.testing.assert_allclose(found.times, 0.1 * np.arange(7), atol=1e-12)
    np.testing.assert_array_equal(found.fields["strain"], recording.strains[-1])
    np.testing.assert_array_equal(found.fields["color"], np.rint(255 * TEXTURED.colors))
    assert "uv" not in found.fields  # two pairs at one vertex: the format has no place for that


def test_pvd_alone_asks_for_the_series(tmp_path: Path, recording: Recording) -> None:
    pl.write(recording, tmp_path / "flag.pvd", fps=20)
    found = exported.read_pvd(tmp_path / "flag.pvd")
    assert len(found.points) == 13
    np.testing.assert_array_equal(found.points[::2], np.stack(recording.frames))


def test_vtp_as_paraview_reads_it(tmp_path: Path, recording: Recording) -> None:
    pytest.importorskip("vtkmodules")
    pl.write(recording, tmp_path / "flag.vtp")
    found = exported.read_vtp_by_vtk(tmp_path / "flag.vtp")
    np.testing.assert_array_equal(found.points[0], recording.frames[-1])
    assert found.faces == POLYGONS
    assert found.times is not None
    np.testing.assert_allclose(found.times, [0.6])
    np.testing.assert_array_equal(found.fields["strain"], recording.strains[-1])


def test_vtu_as_meshio_reads_it(tmp_path: Path, recording: Recording) -> None:
    meshio = pytest.importorskip("meshio")
    pl.write(recording, tmp_path / "flag.vtu", frame=2)
    found = meshio.read(tmp_path / "flag.vtu")
    np.testing.assert_array_equal(found.points, recording.frames[2])
    assert [block.type for block in found.cells] == ["quad", "triangle"]
    assert [c for block in found.cells for c in block.data.tolist()] == POLYGONS
    np.testing.assert_array_equal(found.point_data["strain"], recording.strains[2])
    speed = (recording.frames[3].astype(float) - recording.frames[1]) / 0.2
    np.testing.assert_allclose(found.point_data["velocity"], speed, rtol=1e-5)


def test_a_body_as_tetrahedra_and_as_its_surface(tmp_path: Path) -> None:
    meshio = pytest.importorskip("meshio")
    body = pl.shapes.ball(0.1, 2)
    pl.write(body, tmp_path / "ball.vtu")
    found = meshio.read(tmp_path / "ball.vtu")
    np.testing.assert_array_equal(found.points, body.vertices)
    np.testing.assert_array_equal(found.cells_dict["tetra"], body.tets)
    pl.write(body, tmp_path / "ball.obj")
    shell = exported.read_obj(tmp_path / "ball.obj")
    assert len(shell.points[0]) == len(np.unique(body.triangles)) < body.n_vertices
    np.testing.assert_array_equal(shell.points[0][shell.faces], body.vertices[body.triangles])


@pytest.mark.parametrize("suffix", ["usd", "usda", "usdc"])
def test_usd(tmp_path: Path, recording: Recording, suffix: str) -> None:
    pytest.importorskip("pxr")
    pl.write(recording, tmp_path / f"flag.{suffix}")
    meshes = exported.read_usd(tmp_path / f"flag.{suffix}")
    flag = meshes["flag"]
    same(flag.points, recording.frames)
    assert flag.faces == POLYGONS
    np.testing.assert_allclose(flag.times, 0.1 * np.arange(7), atol=1e-12)
    assert (flag.more["up"], flag.more["metres"], flag.more["rate"]) == ("Z", 1.0, 10.0)
    assert flag.more["codes"] == (0, 6)
    assert flag.more["default"] == "/World"
    np.testing.assert_array_equal(flag.fields["strain"], recording.strains[-1])
    corners = TEXTURED.uv[[0, 1, 2, 3, 4, 5, 6, 7, 5, 8, 6]]
    np.testing.assert_allclose(flag.fields["st"], corners, rtol=1e-7)
    speed = (recording.frames[6].astype(float) - recording.frames[5]) / 0.1
    np.testing.assert_allclose(flag.more["velocity"], speed, rtol=1e-5, atol=1e-7)
    kite = meshes["a_kite"]
    same(kite.points, [solid.vertices for k in range(7) for solid in recording.placed(k)], 1e-6)
    with (tmp_path / f"flag.{suffix}").open("rb") as file:
        assert file.read(8) == (b"#usda 1." if suffix == "usda" else b"PXR-USDC")


def test_glb(tmp_path: Path, recording: Recording) -> None:
    """Vertices 1 and 4 lie on the texture's seam: their copies come after all vertices of the file."""
    pl.write(recording, tmp_path / "flag.glb")
    found = exported.read_glb(tmp_path / "flag.glb")
    flag = found["flag"]
    frames = [frame @ Y_UP.T for frame in recording.frames]
    same(flag.points[:, :7], frames, 1e-6)
    np.testing.assert_array_equal(flag.points[:, 7:], flag.points[:, [1, 4]])
    copies = np.array([0, 1, 2, 3, 4, 5, 6, 1, 4])
    np.testing.assert_array_equal(copies[np.array(flag.faces)], TEXTURED.triangles)
    for f, face in enumerate(flag.faces):
        pairs = TEXTURED.uv[TEXTURED.uv_triangles[f]]
        np.testing.assert_allclose(flag.fields["TEXCOORD_0"][face], pairs * [1, -1] + [0, 1], rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(flag.fields["NORMAL"], axis=1), 1, rtol=1e-6)
    assert flag.fields["COLOR_0"][4] == pytest.approx([0.0331, 0.1329, 0.3185], abs=1e-4)  # sRGB, linear
    np.testing.assert_allclose(flag.times, 0.1 * np.arange(7), atol=1e-7)
    kite = [recording.placed(k)[0].vertices @ Y_UP.T for k in range(7)]
    same(found["a kite"].points, kite, 1e-6)


def test_glb_as_trimesh_reads_it(tmp_path: Path, recording: Recording) -> None:
    trimesh = pytest.importorskip("trimesh")
    pl.write(recording, tmp_path / "flag.glb", frame=3)
    scene = trimesh.load_scene(tmp_path / "flag.glb", process=False)
    assert sorted(scene.geometry) == ["a kite", "flag"]
    np.testing.assert_allclose(
        scene.geometry["flag"].vertices[:7], recording.frames[3] @ Y_UP.T, atol=1e-6, rtol=0
    )
    placed = scene.to_mesh().vertices
    np.testing.assert_allclose(
        placed[-4:] if np.allclose(placed[:7], scene.geometry["flag"].vertices[:7]) else placed[:4],
        recording.placed(3)[0].vertices @ Y_UP.T,
        atol=1e-6,
    )


def test_obj_series_with_objects(tmp_path: Path, recording: Recording) -> None:
    pl.write(recording, tmp_path / "flag_%02d.obj")
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"flag_0{k}.obj" for k in range(7)]
    for k in (0, 5):
        found = exported.read_obj(tmp_path / f"flag_0{k}.obj")
        assert found.more["names"] == ["flag", "a_kite"]
        np.testing.assert_array_equal(found.points[0][:7].astype(np.float32), recording.frames[k])
        np.testing.assert_allclose(found.points[0][7:], recording.placed(k)[0].vertices, atol=1e-6)
        assert found.faces[:3] == POLYGONS
        assert found.faces[3:] == [[7, 8, 9], [7, 9, 10]]
        assert found.more["uv_faces"][:3] == [[0, 1, 2, 3], [4, 5, 6, 7], [5, 8, 6]]
        np.testing.assert_array_equal(found.more["uv"], TEXTURED.uv)
        np.testing.assert_array_equal(found.more["colors"][:7], TEXTURED.colors)
    pl.write(recording, tmp_path / "alone.obj", colliders=False)
    assert exported.read_obj(tmp_path / "alone.obj").more["names"] == []


def test_ply_as_trimesh_reads_it(tmp_path: Path, recording: Recording) -> None:
    trimesh = pytest.importorskip("trimesh")
    pl.write(recording, tmp_path / "flag.ply", frame=4)
    with (tmp_path / "flag.ply").open("rb") as file:
        raw = trimesh.exchange.ply.load_ply(file, fix_texture=False)["metadata"]["_ply_raw"]
    table = raw["vertex"]["data"]
    x = np.stack([table[name] for name in "xyz"], axis=1).reshape(7, 3)
    np.testing.assert_array_equal(x, recording.frames[4])
    np.testing.assert_array_equal(np.ravel(table["strain"]), recording.strains[4])
    np.testing.assert_array_equal(np.ravel(table["green"]), np.rint(255 * TEXTURED.colors[:, 1]))


def test_stl_as_trimesh_reads_it(tmp_path: Path, recording: Recording) -> None:
    trimesh = pytest.importorskip("trimesh")
    pl.write(recording, tmp_path / "flag.stl")
    found = trimesh.load(tmp_path / "flag.stl", process=False)
    np.testing.assert_array_equal(found.triangles, recording.frames[-1][TEXTURED.triangles])
    up = recording.frames[-1][TEXTURED.triangles].astype(float)
    normal = np.cross(up[:, 1] - up[:, 0], up[:, 2] - up[:, 0])
    given = np.frombuffer((tmp_path / "flag.stl").read_bytes()[84:], "<f4,<f4,<f4,(9,)<f4,<u2")
    np.testing.assert_allclose(
        np.stack([given[f"f{k}"] for k in range(3)], axis=1),
        normal / np.linalg.norm(normal, axis=1, keepdims=True),
        atol=1e-6,
    )


def test_every_suffix_is_known_everywhere(tmp_path: Path, recording: Recording) -> None:
    with pytest.raises(pl.PliantError) as caught:
        viewer.check("cloth.abc")
    for suffix in viewer.SUFFIXES:
        assert suffix in str(caught.value)
    with pytest.raises(pl.PliantError, match=r'exported as .*\.obj.*not "\.pc2"'):
        pl.write(TEXTURED, tmp_path / "cloth.pc2")
    with pytest.raises(pl.PliantError, match=r"mesh is exported as .*\.obj"):
        pl.write(TEXTURED, tmp_path / "cloth.html")
    with pytest.raises(pl.PliantError, match=r"exported as|end in"):
        pl.write(TEXTURED, tmp_path / "cloth.abc")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("a.glb", {"up": "z"}, r'up of a \.glb file is "y"'),
        ("a.glb", {"unit": "cm"}, r'unit of a \.glb file is "m"'),
        ("a.obj", {"up": "x"}, 'it must be "z" or "y"'),
        ("a.obj", {"unit": "yard"}, "choose one of m, cm"),
        ("a.obj", {"fps": 0}, "fps is 0"),
        ("a.obj", {"fps": float("nan")}, "fps is nan"),
        ("a.obj", {"frame": 7}, "frames 0 to 6"),
        ("a_###.pc2", {}, r"holds all frames; write .*a\.pc2"),
        ("a.html", {"fps": 24}, "options of exports"),
        ("nowhere/a.obj", {}, "cannot write .*nowhere"),
    ],
)
def test_bad_wishes_are_refused(
    tmp_path: Path, recording: Recording, name: str, options: dict, message: str
) -> None:
    with pytest.raises(pl.PliantError, match=message):
        pl.write(recording, tmp_path / name, **options)
    assert list(tmp_path.iterdir()) == []


def test_loose_vertices_of_a_file_keep_their_numbers(tmp_path: Path) -> None:
    """Vertex 2 of the file was left out: the numbers after it stay."""
    mesh = pl.TriMesh(np.eye(3), np.array([[0, 1, 2]]), file_ids=np.array([0, 1, -1, 2]))
    pl.write(mesh, tmp_path / "a.obj")
    found = exported.read_obj(tmp_path / "a.obj")
    np.testing.assert_array_equal(found.points[0], np.eye(3)[[0, 1, 0, 2]])
    assert found.faces == [[0, 1, 3]]
    pl.write(waving(mesh), tmp_path / "a.pc2")
    assert exported.read_pc2(tmp_path / "a.pc2").points.shape == (7, 4, 3)


def test_parts_of_one_recording_become_one_surface(tmp_path: Path) -> None:
    """A textured flag and a plain sheet: vertices, faces, texture one after the other, a number at each."""
    flag, sheet = Filed.of(TEXTURED), pl.shapes.grid(2, 2)
    plain = pl.TriMesh(sheet.vertices, sheet.triangles)
    parts = [Part("flag", 0, 7, TEXTURED.triangles, flag), Part("sheet", 7, 11, plain.triangles)]
    recording = Recording("two", 0.1, parts)
    x = np.concatenate([TEXTURED.vertices, plain.vertices])
    recording.add(0.0, x)
    pl.write(recording, tmp_path / "a.vtp")
    found = exported.read_vtk_xml(tmp_path / "a.vtp")
    np.testing.assert_array_equal(found.points[0], x.astype(np.float32))
    assert found.faces == POLYGONS + (plain.triangles + 7).tolist()
    assert found.more["cells"]["part"].tolist() == [0, 0, 0, 1, 1]
    np.testing.assert_array_equal(found.fields["color"][7:], np.full((4, 4), 255))
    pl.write(recording, tmp_path / "a.obj")
    two = exported.read_obj(tmp_path / "a.obj")
    assert two.faces == found.faces
    assert two.more["names"] == ["flag", "sheet"]
    assert [len(face) for face in two.more["uv_faces"]] == [4, 4, 3, 0, 0]


def test_a_folder_of_that_name_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a_01.obj").mkdir()
    with pytest.raises(pl.PliantError, match=r"a_01\.obj: it is a folder"):
        pl.write(waving(), tmp_path / "a_##.obj")
    assert [path.name for path in tmp_path.iterdir()] == ["a_01.obj"]


def test_a_recording_without_a_surface_is_refused(tmp_path: Path) -> None:
    recording = Recording("dust", 0.1, [Part("dust", 0, 3, np.zeros((0, 3)))])
    recording.add(0.0, np.eye(3))
    with pytest.raises(pl.PliantError, match="holds no surface"):
        pl.write(recording, tmp_path / "a.ply")


def test_a_recording_without_frames_is_refused(tmp_path: Path) -> None:
    with pytest.raises(pl.PliantError, match="holds no frame"):
        pl.write(waving(frames=0), tmp_path / "a.glb")


@pytest.mark.parametrize("name", ["a.obj", "a_##.obj", "a.pvd", "a.mdd", "a.glb", "a.ply"])
def test_a_failed_export_leaves_what_was_there(
    tmp_path: Path, recording: Recording, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pl.write(recording, tmp_path / name)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    real = formats.Clip.points

    def fails(self: formats.Clip, i: int) -> np.ndarray:
        if i == len(self) - 1:  # the last frame, or the only one
            raise KeyboardInterrupt
        return real(self, i) + 1

    monkeypatch.setattr(formats.Clip, "points", fails)
    with pytest.raises(KeyboardInterrupt):
        pl.write(recording, tmp_path / name)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("suffix", formats.SUFFIXES)
def test_the_same_recording_gives_the_same_bytes(tmp_path: Path, recording: Recording, suffix: str) -> None:
    if suffix.startswith(".usd"):
        pytest.importorskip("pxr")
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        pl.write(recording, tmp_path / folder / f"flag{suffix}")
    first = {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    assert first == {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()}
    assert first


def test_a_recording_kept_as_npz_exports_the_same(tmp_path: Path, recording: Recording) -> None:
    """What the file says of the surface travels along."""
    recording.save_npz(tmp_path / "flag.npz")
    again = Recording.load_npz(tmp_path / "flag.npz")
    for name in ("flag.obj", "flag.glb", "flag.ply"):
        pl.write(recording, tmp_path / name)
        pl.write(again, tmp_path / f"again_{name}")
        assert (tmp_path / name).read_bytes() == (tmp_path / f"again_{name}").read_bytes()


def test_a_plane_is_shown_as_large_as_the_scene_needs(tmp_path: Path) -> None:
    """An infinite plane is recorded out to the horizon; other programs shall still frame the cloth."""
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(3, 3), pl.fabrics.cotton, position=(5, 2, 1))
    scene.add_collider(pl.Plane(), rotation=(0.2, 0, 0))
    sim = pl.Simulation(scene)
    pl.write(sim.new_recording(), tmp_path / "a.obj")
    found = exported.read_obj(tmp_path / "a.obj").points[0]
    plane = found[9:]
    size = np.linalg.norm(np.ptp(found[:9], axis=0))
    assert size < np.linalg.norm(np.ptp(plane, axis=0)) < 10 * size
    normal = np.array([0, -np.sin(0.2), np.cos(0.2)])
    np.testing.assert_allclose(plane @ normal, 0, atol=1e-6)
    foot = np.array([5, 2, 1]) - normal * np.dot([5, 2, 1], normal)
    np.testing.assert_allclose(plane.mean(axis=0), foot, atol=1e-5)
