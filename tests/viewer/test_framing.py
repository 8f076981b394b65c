"""The camera sees everything that matters, whatever its shape and size."""

from __future__ import annotations

import math

import fakes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.io.recording import Part, Recording, Solid
from pliant.viewer.framing import FIELD_OF_VIEW, backdrop, fit, framing, length_text


def seen(points: np.ndarray, direction: np.ndarray, aspect: float) -> np.ndarray:
    """Picture coordinates of points, -1 to 1 within the picture; the camera must be in front of them."""
    position, right, up, back = fit(points, direction, aspect)
    local = points - position
    depth = -(local @ back)
    assert (depth > 0).all()
    tall = depth * math.tan(FIELD_OF_VIEW / 2)
    return np.stack([local @ right / (tall * aspect), local @ up / tall], axis=1)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
    aspect=st.floats(0.4, 2.5),
    squeeze=st.tuples(*[st.floats(0.01, 1.0)] * 3),
)
def test_everything_is_in_the_picture_and_fills_it(seed, scale, aspect, squeeze):
    rng = np.random.default_rng(seed)
    points = scale * (rng.normal(size=(40, 3)) * squeeze + rng.normal(size=3))
    direction = rng.normal(size=3)
    place = seen(points, direction / np.linalg.norm(direction), aspect)
    assert np.abs(place).max() <= 1 / 1.06 + 1e-9
    assert np.abs(place).max() >= 1 / 1.06 - 1e-9  # no nearer camera would do
    limits = np.stack([place.min(axis=0), place.max(axis=0)])
    centred = np.abs(limits.sum(axis=0)) < 1e-6
    assert centred.any()


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_all_frames_are_seen_and_the_view_does_not_depend_on_the_unit(scale):
    recording = fakes.tablecloth(9, 20, scale=scale)
    frame = framing(recording)
    one = framing(fakes.tablecloth(9, 20))
    np.testing.assert_allclose(frame.direction, one.direction, atol=1e-6)
    np.testing.assert_allclose(frame.centre, scale * one.centre, rtol=1e-5, atol=1e-6 * scale)
    everything = np.concatenate([*recording.frames, *(s.vertices for s in recording.solids[:2])])
    low, high = everything.min(axis=0), everything.max(axis=0)
    assert (np.abs(frame.centre - (low + high) / 2) < 1e-5 * scale).all()
    position, right, up, back = fit(frame.points, frame.direction, 1.4)
    local = everything - position
    tall = -(local @ back) * math.tan(FIELD_OF_VIEW / 2)
    assert (np.abs(local @ right) <= 1.4 * tall).all()
    assert (np.abs(local @ up) <= tall).all()


def test_the_camera_is_above_with_z_up():
    for recording in (fakes.tablecloth(9, 3), fakes.hung_sheets(1, 5, 3), fakes.flat_sheet(5, 3)):
        frame = framing(recording)
        assert 0.05 < frame.direction[2] < 0.8
        assert frame.direction[1] < 0  # from the side of -y: x goes right
        _, right, up, _ = fit(frame.points, frame.direction, 1.5)
        assert right[0] > 0
        assert up[2] > 0.5


def test_flat_scenes_are_seen_from_higher_up_than_tall_ones():
    flat, tall = framing(fakes.flat_sheet(9, 3)), framing(fakes.hung_sheets(1, 9, 3))
    assert flat.direction[2] > tall.direction[2] + 0.15


def test_a_hanging_sheet_shows_its_broad_side():
    frame = framing(fakes.hung_sheets(4, 9, 3))  # broad along x
    assert abs(frame.direction[1]) > 1.5 * abs(frame.direction[0])


def test_a_large_floor_is_scenery():
    recording = fakes.flat_sheet(9, 3)
    frame = framing(recording)
    assert frame.radius < 1
    plane = backdrop(recording.solids[0], frame)
    assert plane is not None
    np.testing.assert_allclose([plane.u, plane.v], [[1, 0, 0], [0, 1, 0]])
    table = fakes.tablecloth(9, 3).solids[0]
    assert backdrop(table, frame) is None


def test_a_tilted_floor_has_level_lines():
    recording = fakes.flat_sheet(9, 3)
    v = recording.solids[0].vertices.copy()
    v[:, 2] += 0.5 * v[:, 1] + 0.25 * v[:, 0]
    plane = backdrop(Solid("ramp", v, recording.solids[0].triangles), framing(recording))
    assert plane is not None
    assert plane.u[2] == pytest.approx(0)
    assert plane.u @ plane.v == pytest.approx(0)
    np.testing.assert_allclose((v - plane.origin) @ np.cross(plane.u, plane.v), 0, atol=1e-9 * 50)


def test_a_collider_that_moves_is_followed_near_the_cloth_and_no_further():
    recording = fakes.pushed_sheet()
    assert framing(recording).points[:, 1].min() < -0.39  # the near side of the cube, beside the sheet
    far = fakes.pushed_sheet()
    far.poses = [
        pose + np.array([0, 0, 100.0])[None, :, None] * [0, 0, 0, 1] * k for k, pose in enumerate(far.poses)
    ]
    assert framing(far).radius < 1.5 * framing(recording).radius


def test_without_frames_the_small_colliders_are_framed():
    frame = framing(fakes.tablecloth(9, 0))
    assert frame.radius < 1
    assert framing(Recording("", 1.0, [])).radius > 0


def test_a_single_point_is_framed():
    recording = Recording("", 1.0, [Part("p", 0, 1, np.zeros((0, 3), dtype=int))])
    recording.add(0.0, np.array([[3.0, 4.0, 5.0]]))
    frame = framing(recording)
    assert frame.radius > 0
    assert np.isfinite(fit(frame.points, frame.direction, 1.0)[0]).all()


@pytest.mark.parametrize(
    ("length", "text"), [(2000, "2 km"), (1, "1 m"), (0.2, "20 cm"), (0.005, "5 mm"), (2e-5, "20 µm")]
)
def test_lengths_in_a_persons_unit(length, text):
    assert length_text(length) == text


@given(st.floats(1e-6, 1e6))
def test_grid_lines_are_round(radius):
    recording = Recording("", 1.0, [Part("p", 0, 2, np.zeros((0, 3), dtype=int))])
    recording.add(0.0, np.array([[-radius, 0, 0], [radius, 0, 0]]))
    frame = framing(recording)
    digit = frame.grid / 10 ** math.floor(math.log10(frame.grid) + 1e-9)
    assert min(abs(digit - d) for d in (1, 2, 5)) < 1e-6
    assert 3.9 < frame.radius / frame.grid < 10.1
