"""Light: one unit on open ground, less in folds, none through cloth, and no surface shades itself."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.viewer.lighting import irradiance, lights
from pliant.viewer.shade_kernels import light_up

VIEW = np.array([0.4, -0.75, 0.5])
UP = np.array([[0.0, 0.0, 1.0]])


def square(half: float, z: float) -> np.ndarray:
    """(2, 3, 3) corners of a level square."""
    v = np.array([[-half, -half, z], [half, -half, z], [half, half, z], [-half, half, z]])
    return v[[[0, 1, 2], [0, 2, 3]]]


NOTHING = np.zeros((0, 3, 3))


def test_open_ground_gets_one_unit():
    light = irradiance(np.zeros((1, 3)), UP, NOTHING, lights(VIEW))
    np.testing.assert_allclose(light, 1.03, atol=0.06)


def test_a_flat_cloth_does_not_shade_itself():
    rng = np.random.default_rng(0)
    points = np.c_[rng.uniform(-0.45, 0.45, size=(200, 2)), np.zeros(200)]
    sources = lights(VIEW)
    alone = irradiance(points, np.repeat(UP, 200, axis=0), NOTHING, sources)
    lying = irradiance(points, np.repeat(UP, 200, axis=0), square(0.5, 0.0), sources)
    np.testing.assert_allclose(lying, alone, atol=1e-5)


def test_the_side_that_lies_down_is_dark():
    sources = lights(VIEW)
    below = irradiance(np.zeros((1, 3)), -UP, square(0.5, 0.0), sources)
    above = irradiance(np.zeros((1, 3)), UP, square(0.5, 0.0), sources)
    assert (below < 0.3 * above).all()
    assert (below > 0).all()


def test_a_roof_takes_the_light_and_its_edge_a_part():
    sources = lights(VIEW)
    points = np.array([[0.0, 0, 0], [0.55, 0, 0], [5.0, 0, 0]])
    light = irradiance(points, np.repeat(UP, 3, axis=0), square(0.6, 0.3), sources).mean(axis=1)
    assert light[0] < 0.45
    assert light[0] < light[1] < light[2] - 0.05
    assert light[2] == pytest.approx(irradiance(np.zeros((1, 3)), UP, NOTHING, sources).mean(), abs=1e-5)


def test_light_is_the_same_as_its_slow_twin():
    """The compiled loop against one point and one light at a time, with depth pictures of random numbers."""
    rng = np.random.default_rng(4)
    n, side = 5000, 34  # more than one chunk of points
    place, slope = (rng.normal(size=(3, n)).astype(np.float32) for _ in range(2))
    turns = np.linalg.qr(rng.normal(size=(3, 3, 3)))[0].astype(np.float32)
    power = rng.uniform(0.1, 1, size=(3, 3)).astype(np.float32)
    near = np.full((3, side, side), np.inf, np.float32)
    near[:, 1:-1, 1:-1] = rng.uniform(6, 10, size=(3, side - 2, side - 2))
    scale, far = np.float32(10), np.float32(8)
    total = np.zeros((3, n), np.float32)
    light_up(0, n, place, slope, turns, power, near.reshape(3, -1), np.int32(side), scale, far, total)
    expected = np.zeros((3, n))
    for light, (u, v, w) in enumerate(turns.astype(float)):
        column, row = (np.clip(10 * (way @ place) + side / 2, 0, side - 1) for way in (u, v))
        seen = 8 - w @ place <= near[light, row.astype(int), column.astype(int)]
        expected += power[light][:, None] * np.maximum(w @ slope, 0) * seen
    off = np.abs(total - expected).max(axis=0) > 1e-5
    assert off.mean() < 2e-3  # a point on the border of two pixels may fall to either side
    assert (expected > 0).mean() > 0.5


def test_the_key_light_comes_over_the_left_shoulder():
    way = lights(VIEW)[0].way
    right = np.cross([0, 0, 1.0], VIEW)
    assert way @ VIEW > 0.2
    assert way @ right < -0.2
    assert way[2] > 0.4
    assert np.isfinite([light.way for light in lights(np.array([0.0, 0.0, 1.0]))]).all()
