"""Colours of the screen and linear ones: the published curve, and each way undoes the other."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.io.colors import BEND, linear, screen


def test_values_of_the_published_curve() -> None:
    """IEC 61966-2-1: 18 % grey, the bend, black and white."""
    assert linear(np.array([[0.46135612950044164, 0.0, 1.0]]))[0] == pytest.approx([0.18, 0, 1], abs=1e-12)
    assert screen(np.array([[0.18, 0.0, 1.0]]))[0].tolist() == [pytest.approx(0.461356, abs=1e-6), 0, 1]
    below, above = (linear(np.full((1, 3), BEND * (1 + e)))[0, 0] for e in (-1e-9, 1e-9))
    assert 0 < above - below < 1e-7


def test_each_undoes_the_other_and_leaves_opacity_alone() -> None:
    colors = np.concatenate([np.linspace(0, 1, 1001)[:, None] ** [1, 2, 3], np.full((1001, 1), 0.3)], axis=1)
    assert np.abs(linear(colors) - colors)[:, :3].max() > 0.2
    np.testing.assert_allclose(screen(linear(colors)), colors, atol=1e-15)
    single = linear(colors).astype(np.float32)
    np.testing.assert_array_equal(linear(screen(single)).astype(np.float32), single)
    assert screen(single)[:, :3].max() <= 1
