"""Animation export: one topology, frame k at k / fps, axes, units, positions, colliders."""

from __future__ import annotations

from pathlib import Path

import exported
import numpy as np
import pytest

import pliant as pl

FRAMES, DT = 300, 1 / 100
Y_UP = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
FLIGHT = pl.Steady((0.1, 0.2, 0.3), (0.1, 0.05, -0.02), (0.4, 0.3, 2.0))
METRES = {"m": 1.0, "cm": 0.01, "in": 0.0254}


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> pl.Recording:
    """300 steps of 1/100 s of a cloth of 30 x 30 that hangs by two corners and is hit by a turning box.

    It is the second world of two, pushed from the side: exports show its own positions, with no offset.
    """
    scene = pl.Scene()
    cloth = scene.add_cloth(
        pl.shapes.grid(30, 30), pl.fabrics.cotton, (0, 0, 1.5), (np.pi / 2, 0, 0), [870, 899]
    )
    scene.add_collider(pl.Box((0.3, 0.2, 0.1)), motion=FLIGHT)
    sim = pl.Simulation(scene, pl.XPBD(substeps=2), dt=DT, worlds=2)
    push = np.zeros((2, 900, 3))
    push[1, :, 1] = 1e-3
    sim.control.set_force(push)
    path = tmp_path_factory.mktemp("recording") / "cloth.npz"
    sim.run(steps=FRAMES, record=path, world=1, progress=False)
    out = pl.Recording.load_npz(path)
    np.testing.assert_array_equal(out.frames[-1], cloth.x[1].astype(np.float32))
    assert np.abs(cloth.x[1] - cloth.x[0]).max() > 1e-3
    return out


def wanted(recording: pl.Recording, fps: float) -> tuple[np.ndarray, np.ndarray]:
    """Times k / fps (K,) and positions (K, 900, 3) at them, coordinate by coordinate."""
    times = np.arange(int(np.floor(recording.times[-1] * fps + 1e-6)) + 1) / fps
    x = np.stack(recording.frames).reshape(len(recording), -1).astype(float)
    columns = [np.interp(times, recording.times, column) for column in x.T]
    return times, np.stack(columns, axis=1).reshape(len(times), -1, 3)


def box_at(recording: pl.Recording, times: np.ndarray) -> np.ndarray:
    """Where the motion itself puts the box: (K, n, 3)."""
    poses = [FLIGHT(t) for t in times]
    return np.stack([recording.solids[0].vertices @ turn.T + place for place, turn in poses])


def check(found: np.ndarray, want: np.ndarray, up: str, unit: str, error: float = 1e-6) -> None:
    """Positions of a file, taken back to metres and z up, against those that they should be."""
    x = found.astype(float) * METRES[unit]
    x = x @ Y_UP if up == "y" else x
    assert x.shape == want.shape
    assert np.abs(x - want).max() < error


def test_i02_point_caches_and_lists_of_surfaces(tmp_path: Path, recording: pl.Recording) -> None:
    """I02: .mdd, .pc2 and .pvd at 24, 30 and 60 frames a second, z and y up, metres and centimetres."""
    triangles = recording.parts[0].triangles.tolist()
    for fps, up, unit in ((24, "z", "m"), (30, "y", "cm"), (60, "z", "in"), (100, "y", "m")):
        times, x = wanted(recording, fps)
        pl.write(recording, tmp_path / "a.mdd", fps=fps, up=up, unit=unit)
        mdd = exported.read_mdd(tmp_path / "a.mdd")
        check(mdd.points, x, up, unit)
        assert mdd.times is not None
        np.testing.assert_array_equal(mdd.times, times.astype(np.float32))
        pl.write(recording, tmp_path / "a.pc2", fps=fps, up=up, unit=unit)
        np.testing.assert_array_equal(exported.read_pc2(tmp_path / "a.pc2").points, mdd.points)
    pl.write(recording, tmp_path / "a.pvd", fps=24, up="y", unit="cm")
    vtp = exported.read_pvd(tmp_path / "a.pvd")
    times, x = wanted(recording, 24)
    check(vtp.points, x, "y", "cm")
    np.testing.assert_array_equal(vtp.times, times)
    assert vtp.faces == triangles


def test_i02_gltf(tmp_path: Path, recording: pl.Recording) -> None:
    """I02: .glb at 24 and 30 frames a second; the collider is where its motion says at k / fps."""
    for fps in (24, 30):
        times, x = wanted(recording, fps)
        pl.write(recording, tmp_path / "a.glb", fps=fps)
        found = exported.read_glb(tmp_path / "a.glb")
        cloth, box = found[recording.parts[0].name], found[recording.solids[0].name]
        check(cloth.points, x, "y", "m")
        assert cloth.faces == recording.parts[0].triangles.tolist()
        assert cloth.times is not None
        np.testing.assert_array_equal(cloth.times, times.astype(np.float32))
        check(box.points, box_at(recording, times), "y", "m")


def test_i02_usd(tmp_path: Path, recording: pl.Recording) -> None:
    """I02: .usdc says rate, axis and unit itself; all of it comes back."""
    pytest.importorskip("pxr")
    for fps, up, unit in ((24, "y", "cm"), (60, "z", "m")):
        times, x = wanted(recording, fps)
        pl.write(recording, tmp_path / "a.usdc", fps=fps, up=up, unit=unit)
        cloth, box = exported.read_usd(tmp_path / "a.usdc").values()
        head = cloth.more
        assert (head["up"], head["rate"]) == (up.upper(), fps)
        assert head["metres"] == METRES[unit]
        assert head["codes"] == (0, len(times) - 1)
        assert head["samples"] == list(range(len(times)))
        check(cloth.points, x, up, unit)
        check(box.points, box_at(recording, times), up, unit)
        assert cloth.faces == recording.parts[0].triangles.tolist()


def test_i02_a_sequence_of_obj_files(tmp_path: Path, recording: pl.Recording) -> None:
    """I02: a file for each frame, its faces the same in all of them."""
    pl.write(recording, tmp_path / "a_###.obj", fps=24, up="y", unit="cm")
    times, x = wanted(recording, 24)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a_{k:03d}.obj" for k in range(len(times))]
    faces = {
        tuple(line for line in path.read_text().splitlines() if line[:2] in ("f ", "vt"))
        for path in tmp_path.iterdir()
    }
    assert len(faces) == 1
    some = range(0, len(times), 12)
    found = [exported.read_obj(tmp_path / f"a_{k:03d}.obj") for k in some]
    assert all(one.faces == found[0].faces for one in found)
    check(np.stack([one.points[0][:900] for one in found]), x[some], "y", "cm")
    check(np.stack([one.points[0][900:] for one in found]), box_at(recording, times[some]), "y", "cm")


def test_i02_the_check_sees_a_wrong_transform(tmp_path: Path, recording: pl.Recording) -> None:
    """I02: the same comparison fails for another axis, another unit and a frame's delay."""
    pl.write(recording, tmp_path / "a.mdd", fps=30, up="y", unit="cm")
    found = exported.read_mdd(tmp_path / "a.mdd").points
    _, x = wanted(recording, 30)
    check(found, x, "y", "cm")
    for wrong in ((x, "z", "cm"), (x, "y", "in"), (np.roll(x, 1, axis=0), "y", "cm")):
        with pytest.raises(AssertionError):
            check(found, *wrong)
