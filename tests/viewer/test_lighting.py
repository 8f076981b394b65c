"""Light: one unit on open ground, less in folds, none through cloth, and no surface shades itself."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.viewer.lighting import irradiance, lights

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


def test_the_key_light_comes_over_the_left_shoulder():
    way = lights(VIEW)[0].way
    right = np.cross([0, 0, 1.0], VIEW)
    assert way @ VIEW > 0.2
    assert way @ right < -0.2
    assert way[2] > 0.4
    assert np.isfinite([light.way for light in lights(np.array([0.0, 0.0, 1.0]))]).all()
