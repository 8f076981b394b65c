"""Simulation: masked reset, factors per world, runs and their recordings."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.protocol import Status
from tests.falling_cloth import DT, WORLDS, drive, prepare, scene, simulation

# --- worlds ----------------------------------------------------------------------------------------


def test_reset_of_some_worlds_leaves_every_bit_of_the_others() -> None:
    sim, other = simulation(), simulation()
    for s in (sim, other):
        prepare(s)
        drive(s, 0, 9)
    assert sim.state.frozen[3]
    sim.reset([1, 3])
    left = [0, 2, 4]
    assert np.array_equal(sim.x[left], other.x[left])
    assert np.array_equal(sim.state.v[left], other.state.v[left])
    start = simulation()
    assert np.array_equal(sim.x[[1, 3]], start.x[[1, 3]])
    assert not sim.state.frozen[3]
    assert sim.time == other.time
    info = sim.step()
    other.step()
    assert np.array_equal(sim.x[left], other.x[left])
    assert not info.status[3] & (Status.FROZEN | Status.NONFINITE), "a world that broke is well again"
    for w in (1, 3):
        assert not np.array_equal(sim.x[w], start.x[w])
    sim.reset()
    assert np.array_equal(sim.x, start.x)
    assert sim.time == 0


def test_factors_make_worlds_differ_and_come_back() -> None:
    sim = simulation()
    for _ in range(8):
        sim.step()
    assert all(np.array_equal(sim.x[0], x) for x in sim.x[1:]), "worlds are copies until told otherwise"
    sim.reset()
    sim.set(membrane_scale=[1, 1, 0.01, 1, 1], bending_scale=100.0, worlds=None)
    sim.set(material_scale=2.0, worlds=4)
    for _ in range(8):
        sim.step()
    assert np.array_equal(sim.x[0], sim.x[1])
    assert not np.array_equal(sim.x[0], sim.x[2])
    assert not np.array_equal(sim.x[0], sim.x[4])
    with pytest.raises(pl.SceneError, match="greater than 0"):
        sim.set(material_scale=0.0)
    with pytest.raises(pl.PliantError, match="worlds"):
        sim.set(material_scale=1.0, worlds=5)


# --- running ---------------------------------------------------------------------------------------


def test_a_recording_has_the_frames_that_were_asked_for(tmp_path: Path) -> None:
    sim, calls = simulation(), []
    path = tmp_path / "a.npz"
    info = sim.run(
        steps=7,
        record=path,
        world=2,
        every=3,
        before=lambda s: calls.append(s.time),
        progress=False,
        title="t",
    )
    recording = pl.Recording.load_npz(path)
    assert np.allclose(recording.times, DT * np.array([0, 3, 6, 7]))
    assert np.array_equal(recording.frames[-1], sim.x[2])
    assert np.array_equal(recording.frames[0], simulation().x[2])
    assert len(calls) == 7
    assert recording.title == "t"
    assert recording.meta["protocol"] == json.loads(json.dumps(sim.protocol.to_dict()))
    assert info.energy is not None, "the last step is reported in full"
    assert info is sim.info


def test_a_recording_shows_moving_colliders_where_they_are() -> None:
    """Frames hold the pose that the motion gives at their times; a later recording begins at the last."""
    s = scene()
    up = pl.Steady(position=(0, 0, -0.3), velocity=(0, 0, 0.6), angular_velocity=(1.0, 0, 0))
    s.add_collider(pl.Sphere(radius=0.05), motion=up, name="lift")
    sim = simulation(s)
    recording = sim.new_recording()
    for _ in range(4):
        sim.step()
        sim.record(recording)
    assert recording.moves().tolist() == [False, True]
    for time, poses in zip(recording.times, recording.poses, strict=True):
        position, rotation = up(time)
        np.testing.assert_allclose(poses[1], np.c_[rotation, position], atol=1e-14)
    assert np.array_equal(sim.new_recording().poses[0], recording.poses[-1])


def test_one_recording_that_cannot_be_written_does_not_keep_the_others_from_it(tmp_path: Path) -> None:
    paths = [tmp_path / "nowhere" / "a.npz", tmp_path / "b.npz", tmp_path / "neither" / "c.html"]
    paths += [tmp_path / "d.html"]
    with pytest.raises(pl.PliantError, match=r"nowhere/a\.npz"):
        simulation().run(steps=2, record=paths, progress=False)
    assert len(pl.Recording.load_npz(paths[1])) == 3
    assert paths[3].exists()


def test_ctrl_c_gives_a_film_up_and_keeps_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("av", reason="a film needs PyAV")
    from pliant.viewer import video

    made = []

    def pictures(*arguments: object) -> Iterator[np.ndarray]:
        for k in range(3):
            made.append(k)
            if k == 1:
                signal.raise_signal(signal.SIGINT)
            yield np.zeros((720, 1280, 3), np.uint8)

    monkeypatch.setattr(video, "_pictures", pictures)
    (tmp_path / "b.mp4").write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        simulation().run(steps=2, record=[tmp_path / "b.mp4", tmp_path / "a.npz"], progress=False)
    assert made == [0, 1]
    assert len(pl.Recording.load_npz(tmp_path / "a.npz")) == 3
    assert {p.name: p.stat().st_size for p in tmp_path.iterdir()}["b.mp4"] == 3
    assert len(list(tmp_path.iterdir())) == 2


def test_seconds_are_rounded_to_steps() -> None:
    sim = simulation()
    sim.run(seconds=0.1, progress=False)
    assert sim.time == pytest.approx(6 * DT)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "either seconds or steps"),
        ({"seconds": 1.0, "steps": 1}, "either seconds or steps"),
        ({"steps": 0}, "not even one step"),
        ({"seconds": 0.001}, "not even one step"),
        ({"steps": 1, "every": 0}, "every"),
        ({"steps": 1, "record": "a.xyz"}, "a.xyz"),
        ({"steps": 1, "record": "a.npz", "world": WORLDS}, "worlds"),
    ],
)
def test_runs_that_make_no_sense_are_refused_before_they_begin(
    arguments: dict, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sim = simulation()
    with pytest.raises(pl.PliantError, match=words):
        sim.run(**arguments, progress=False)
    assert sim.time == 0
    assert not list(tmp_path.iterdir())


def test_an_error_in_the_callers_code_leaves_the_recording(tmp_path: Path) -> None:
    def before(sim: pl.Simulation) -> None:
        if sim.time > 4.5 * DT:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        simulation().run(steps=100, record=tmp_path / "a.npz", before=before, progress=False)
    assert len(pl.Recording.load_npz(tmp_path / "a.npz")) == 6


def test_a_stranger_that_is_no_solver_is_refused() -> None:
    with pytest.raises(pl.PliantError, match=r"solvers\.base\.Solver"):
        pl.Simulation(scene(), solver=object())  # type: ignore[arg-type]


def test_forces_need_a_law_that_is_there() -> None:
    sim = simulation()
    sim.step()
    assert sim.constraint_forces("membrane").shape == (WORLDS, len(sim.model.blocks["membrane"]), 2)
    with pytest.raises(pl.SolverError, match="membrane"):
        sim.constraint_forces("distance")
