"""The strain scale is even to the eye, and says what its ends mean."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.viewer import colours
from pliant.viewer.colours import PARTS, back_colour, encode, linear, strain_scale, strain_table


def lab(srgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* (D65): another colour space than the one that the table was made in."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    t = linear(srgb) @ to_xyz.T / (to_xyz.sum(axis=1))
    f = np.where(t > 216 / 24389, np.cbrt(t), (24389 / 27 * t + 16) / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)


def test_lightness_rises_all_the_way():
    lightness = lab(strain_table(256))[:, 0]
    assert (np.diff(lightness[::4]) > 0).all()
    assert lightness[0] < 25
    assert lightness[-1] > 85


def test_steps_look_equal():
    table = lab(strain_table(33))
    steps = np.linalg.norm(np.diff(table, axis=0), axis=1)
    assert steps.min() > 3
    assert steps.max() / steps.min() < 2.5
    rainbow = lab(np.clip(255 * np.abs(np.linspace(0, 1, 33)[:, None] * 4 - [3, 2, 1]) % 256, 0, 255))
    wild = np.linalg.norm(np.diff(rainbow, axis=0), axis=1)
    assert wild.max() / wild.min() > 5  # the measure can tell a bad scale


def test_the_table_is_kept_and_cannot_be_changed():
    assert strain_table(256) is strain_table(256)
    with pytest.raises(ValueError, match="read-only"):
        strain_table(256)[0, 0] = 1


def test_srgb_round_trip():
    every = np.arange(256)
    np.testing.assert_array_equal(np.round(255 * encode(linear(every))), every)


def test_parts_and_their_backs_are_all_different():
    colours = [*PARTS, *(back_colour(colour) for colour in PARTS)]
    table = lab(np.array(colours))
    apart = np.linalg.norm(table[:, None] - table[None], axis=2)[~np.eye(len(table), dtype=bool)]
    assert apart.min() > 5


def test_no_strain_has_no_scale():
    assert strain_scale([]) is None
    assert strain_scale([None, None]) is None


def test_rest_shows_one_per_cent():
    scale = strain_scale([np.zeros(9)])
    assert scale is not None
    assert (scale.low, scale.high) == (0.0, 0.01)
    assert scale.labels() == ["0.00 %", "0.25 %", "0.50 %", "0.75 %", "1.00 %"]


def test_a_few_torn_corners_do_not_flatten_the_rest():
    strain = np.concatenate([np.linspace(0, 0.02, 4000), [0.9, 1.1]])
    scale = strain_scale([strain])
    assert scale is not None
    assert scale.high == pytest.approx(0.02)
    assert scale.labels()[-1] == "≥ 2.0 %"
    assert scale.labels()[0] == "0.0 %"
    assert scale.most == 1.1


@given(st.lists(st.floats(-0.9, 9.0), min_size=1, max_size=50))
def test_a_scale_holds_its_values_and_zero(values):
    scale = strain_scale([np.array(values), None])
    assert scale is not None
    ticks = np.array(scale.ticks())
    assert len(ticks) == len(scale.labels()) == 5
    assert np.abs(ticks).min() <= 1e-9 * (scale.high - scale.low)
    inside = np.quantile(values, [0.005, 0.995])
    slack = 1e-6 * (scale.high - scale.low) + colours._ROUNDING  # less is taken for nothing
    assert scale.low <= inside[0] + slack
    assert scale.high >= inside[1] - slack
    assert scale.high > scale.low
    assert scale.high - scale.low <= 6 * max(np.ptp([0.0, *inside]), 0.0) + 0.011
    place = scale.position(np.array(values))
    assert ((place >= 0) & (place <= 1)).all()
