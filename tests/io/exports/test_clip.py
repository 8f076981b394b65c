"""Frames at whole multiples of 1 / fps, whatever the times of the recorded ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pliant as pl
from pliant.io.exports.clip import Clip
from pliant.io.recording import Part, Recording, Solid

TRIANGLE = np.array([[0, 1, 2]])


def recorded(times: list[float], seed: int = 0, dt: float = 0.1) -> Recording:
    rng = np.random.default_rng(seed)
    out = Recording("r", dt, [Part("p", 0, 3, TRIANGLE)], [Solid("s", np.eye(3), TRIANGLE)])
    for t in times:
        out.add(t, rng.normal(size=(3, 3)), rng.normal(size=3))
    return out


@given(
    gaps=st.lists(st.floats(0.0, 0.3), min_size=1, max_size=6),
    start=st.floats(0.0, 10.0),
    fps=st.floats(1.0, 200.0),
)
def test_frames_lie_on_the_line_between_recorded_ones(gaps: list[float], start: float, fps: float) -> None:
    times = np.concatenate([[0.0], np.cumsum(gaps)]) + start
    recording = recorded(times.tolist())
    clip = Clip.of(recording, fps=fps)
    assert len(clip) == int(np.floor((times[-1] - times[0]) * fps + 1e-6)) + 1
    for i in {0, len(clip) // 2, len(clip) - 1}:
        assert clip.seconds(i) == i / fps
        t = start + i / fps
        a = int(np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2))
        near = (recording.frames[a], recording.frames[a + 1])
        share = np.clip((t - times[a]) / (times[a + 1] - times[a]), 0, 1) if times[a + 1] > times[a] else 1.0
        want = (1 - share) * near[0].astype(float) + share * near[1]
        size = max(np.abs(frame).max() for frame in recording.frames)
        assert np.abs(clip.points(i) - want).max() < 1e-5 * size  # a frame that is near by is that one


def test_a_frame_on_a_recorded_one_is_that_one() -> None:
    """Sums of 0.1 s and quotients by 10 differ in the last digit: no trace of that may remain."""
    times = np.cumsum([0.1] * 60)
    assert (times != np.arange(1, 61) / 10).any()
    recording = recorded(times.tolist())
    for fps, every in ((10, 1), (20, 2), (None, 1)):
        clip = Clip.of(recording, fps=fps)
        assert len(clip) == 59 * every + 1
        for k in range(60):
            np.testing.assert_array_equal(clip.points(k * every), recording.frames[k])
            strain = clip.strain(k * every)
            assert strain is not None
            np.testing.assert_array_equal(strain, recording.strains[k])


def test_the_rate_of_a_recording_is_that_of_most_of_its_frames() -> None:
    times = [0.0, 1 / 60, 2 / 60, 3 / 60, 3.5 / 60]  # a run's last frame may come early
    assert Clip.of(recorded(times)).fps == 60
    assert len(Clip.of(recorded(times))) == 4
    assert Clip.of(recorded([0.0, 0.3, 0.6])).fps == pytest.approx(1 / 0.3)
    one = Clip.of(recorded([2.0], dt=0.05))
    assert (one.fps, len(one), one.seconds(0)) == (20, 1, 0.0)


def test_without_strain_in_one_frame_there_is_none_beside_it() -> None:
    recording = recorded([0.0, 0.1, 0.2])
    recording.strains[1] = None
    clip = Clip.of(recording, fps=20)
    assert [clip.strain(i) is None for i in range(5)] == [False, True, True, True, False]
    assert not clip.has_strain()


@pytest.mark.parametrize("up", ["z", "y"])
def test_velocity_of_steady_motion(up: str) -> None:
    """In units of the file per second, in its axes, also between recorded frames and at both ends."""
    speed = np.array([1.0, 2.0, -0.5])
    recording = Recording("r", 0.1, [Part("p", 0, 3, TRIANGLE)])
    for k in range(4):
        recording.add(0.1 * k, np.eye(3) + 0.1 * k * speed)
    clip = Clip.of(recording, fps=25, up=up, unit="cm")
    want = 100 * (speed if up == "z" else speed[[0, 2, 1]] * [1, 1, -1])
    for i in range(len(clip)):
        np.testing.assert_allclose(clip.velocities(i), np.tile(want, (3, 1)), rtol=1e-5)
        assert "velocity" in clip.fields(i, np.arange(3))


def test_colliders_turn_about_one_axis_between_frames() -> None:
    """A quarter turn about z in a frame: an eighth half way, with the position on the straight line."""
    recording = recorded([])
    quarter = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    recording.add(0.0, np.zeros((3, 3)), poses=[(np.zeros(3), np.eye(3))])
    recording.add(1.0, np.ones((3, 3)), poses=[(np.array([2.0, 0, 4]), quarter)])
    pose = Clip.of(recording, fps=2).placed(1)[0]
    c = np.sqrt(0.5)
    np.testing.assert_allclose(pose[:, :3], [[c, -c, 0], [c, c, 0], [0, 0, 1]], atol=1e-12)
    np.testing.assert_allclose(pose[:, 3], [1, 0, 2], atol=1e-12)
    turned = Clip.of(recording, fps=2, up="y", unit="mm")
    point = turned.placed(1)[0] @ np.append(turned.solids[0].vertices[1], 1)
    x = pose @ np.append(recording.solids[0].vertices[1], 1)
    np.testing.assert_allclose(point, 1000 * np.array([x[0], x[2], -x[1]]), atol=1e-9)


def test_one_frame_of_a_clip() -> None:
    clip = Clip.of(recorded([0.0, 0.1, 0.2]))
    assert (clip.only(-1).numbers, clip.only(1).seconds(0)) == ((2,), 0.1)
    for frame in (3, -4, 1.0, True, None):
        with pytest.raises(pl.PliantError, match="frames 0 to 2"):
            clip.only(frame)  # type: ignore[arg-type]
