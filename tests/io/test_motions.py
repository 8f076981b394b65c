"""Moving colliders in scene files: where they are at a time, and mistakes with their place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.errors import SceneFileError
from pliant.geometry.mesh import rotation_matrix
from pliant.io.scenes import load_scene

SCENE = """[simulation]
seconds = 0.1
[[cloth]]
shape = { kind = "grid", nx = 3, ny = 3, size = [0.1, 0.1] }
material = "cotton"
position = [0, 0, 5]
[[collider]]
kind = "box"
size = [0.1, 0.2, 0.3]
"""
FIRST = SCENE.count("\n") + 1  # the line of the first key that a test adds


def scene(folder: Path, keys: str) -> pl.Scene:
    (folder / "scene.toml").write_text(SCENE + keys, encoding="utf-8")
    return load_scene(folder / "scene.toml").scene


def test_a_steady_motion_begins_where_the_collider_stands(tmp_path: Path) -> None:
    keys = "position = [1, 0, 0.5]\nrotation_axis = [1, 0, 0]\nrotation_degrees = 90\n"
    collider = scene(tmp_path, keys + "motion = { velocity = [0.2, 0, 0], spin = [0, 0, 45] }").colliders[0]
    assert collider.motion is not None
    start = rotation_matrix((np.pi / 2, 0, 0))
    for time in (0.0, 2.0):
        position, rotation = collider.motion(time)
        np.testing.assert_allclose(position, [1 + 0.2 * time, 0, 0.5], atol=1e-15)
        np.testing.assert_allclose(rotation, rotation_matrix((0, 0, time * np.pi / 4)) @ start, atol=1e-15)
    np.testing.assert_allclose(collider.position, [1, 0, 0.5])


def test_keyframes_rest_before_and_after(tmp_path: Path) -> None:
    keys = (
        "motion = { times = [1, 2], positions = [[0, 0, 1], [0, 0, 0]], rotations = [[0, 0, 0], [0, 90, 0]] }"
    )
    collider = scene(tmp_path, keys).colliders[0]
    assert collider.motion is not None
    for time, height, angle in ((0, 1, 0), (1, 1, 0), (1.5, 0.5, 45), (2, 0, 90), (9, 0, 90)):
        position, rotation = collider.motion(time)
        np.testing.assert_allclose(position, [0, 0, height], atol=1e-15)
        np.testing.assert_allclose(rotation, rotation_matrix((0, np.radians(angle), 0)), atol=1e-15)


def test_what_keyframes_leave_out_stays(tmp_path: Path) -> None:
    keys = "rotation_degrees = 30\nmotion = { times = [0, 1], positions = [[0, 0, 0], [1, 0, 0]] }"
    slides = scene(tmp_path, keys).colliders[0].motion
    keys = "position = [0, 2, 0]\nmotion = { times = [0, 1], rotations = [[0, 0, 0], [60, 0, 0]] }"
    turns = scene(tmp_path, keys).colliders[0].motion
    assert slides is not None
    assert turns is not None
    np.testing.assert_allclose(slides(0.5)[0], [0.5, 0, 0])
    np.testing.assert_allclose(slides(0.5)[1], rotation_matrix((0, 0, np.pi / 6)), atol=1e-15)
    np.testing.assert_allclose(turns(0.5)[0], [0, 2, 0])
    np.testing.assert_allclose(turns(0.5)[1], rotation_matrix((np.pi / 6, 0, 0)), atol=1e-15)


def test_a_collider_without_motion_rests(tmp_path: Path) -> None:
    assert scene(tmp_path, "").colliders[0].motion is None


@pytest.mark.parametrize(
    ("keys", "line", "words"),
    [
        ("motion = { }", 0, "motion: needs times for keyframes, or one of velocity, spin"),
        ("motion = 3", 0, "motion: must be a table"),
        ("motion = { spn = [0, 0, 1] }", 0, 'motion.spn: unknown key; did you mean "spin"'),
        ("motion = { velocity = [0, 1] }", 0, "motion.velocity: must be 3 numbers in m/s"),
        ("motion = { positions = [[0, 0, 0]] }", 0, "motion.positions: needs times"),
        ("motion = { times = [0, 1] }", 0, "motion.times: needs positions or rotations"),
        ("motion = { times = 1, positions = [[0, 0, 0]] }", 0, "must be a list of numbers in s"),
        ("motion = { times = [1, 1], positions = [[0, 0, 0], [0, 0, 0]] }", 0, "must grow"),
        ("motion = { times = [0, 1], positions = [[0, 0, 0]] }", 0, "has 1 rows for 2 times"),
        ("motion = { times = [0], rotations = [[0, 0, 0], [0, 0, 0]] }", 0, "has 2 rows for 1 times"),
        ("motion = { times = [0], positions = [[0, 0, 0]], spin = [0, 0, 1] }", 0, "does not go with times"),
        (
            "position = [0, 0, 1]\nmotion = { times = [0], positions = [[0, 0, 0]] }",
            0,
            "position: does not go with",
        ),
        ("\n[collider.motion]\nvelocity = [0, 0, true]", 2, "motion.velocity: must be 3 numbers"),
    ],
)
def test_mistakes_are_named_with_their_line(tmp_path: Path, keys: str, line: int, words: str) -> None:
    with pytest.raises(SceneFileError, match=rf"line {FIRST + line}: \[\[collider\]\]") as caught:
        scene(tmp_path, keys)
    assert words in str(caught.value)


def test_a_recording_of_the_file_shows_it_move(tmp_path: Path) -> None:
    moving = scene(tmp_path, "motion = { velocity = [0, 0, -1.5], spin = [0, 0, 600] }")
    sim = pl.Simulation(moving, pl.XPBD(substeps=2), dt=0.02)
    recording = sim.new_recording()
    for _ in range(3):
        sim.step()
        sim.record(recording)
    assert recording.moves().tolist() == [True]
    np.testing.assert_allclose(recording.poses[3][0, :, 3], [0, 0, -0.09], atol=1e-15)
