"""Packed arrays come back bit for bit, small and smooth ones in few bytes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pliant.viewer.packing import pack, quantise, unpack

SHAPES = st.tuples(st.integers(0, 5), st.integers(0, 6), st.sampled_from([1, 3]))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["uint8", "uint16", "uint32"]).flatmap(lambda t: hnp.arrays(t, SHAPES)))
def test_round_trip_of_words(values):
    back = unpack(pack(values))
    assert back.dtype == values.dtype
    np.testing.assert_array_equal(back, values)


@settings(max_examples=30, deadline=None)
@given(hnp.arrays("float32", SHAPES))
def test_round_trip_of_floats_keeps_the_bits(values):
    assert unpack(pack(values)).tobytes() == values.tobytes()


@given(seed=st.integers(0, 99), scale=st.sampled_from([1e-4, 1.0, 1e5]))
def test_quantised_positions_are_within_half_a_step(seed, scale):
    x = scale * np.random.default_rng(seed).normal(size=(4, 9, 3))
    low, extent = x.min(axis=(0, 1)), np.ptp(x, axis=(0, 1)).max()
    words, step = quantise(x, low, extent)
    assert step == pytest.approx(extent / 65535)
    assert np.abs(words * step + low - x).max() <= 0.5 * step * (1 + 1e-9)
    assert words.max() == 65535


def test_one_point_needs_no_extent():
    words, step = quantise(np.ones((2, 3, 3)), np.ones(3), 0.0)
    assert (words == 0).all()
    assert step > 0


def test_smooth_motion_is_small():
    t, n = np.meshgrid(np.linspace(0, 1, 60), np.linspace(0, 6, 400), indexing="ij")
    x = np.stack([n, np.sin(n + t), np.cos(n - t)], axis=-1)
    words, _ = quantise(x, x.min(axis=(0, 1)), 6.0)
    assert len(pack(words)["data"]) < 0.3 * words.nbytes
