"""The experiment on stiff bars: what it measures can be told from outside, and lies are found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pliant.lab import stiff
from pliant.lab.stiff import SHAPES, measure, verdicts
from pliant.solvers.mgpbd.solver import MGPBD


def test_shapes_are_what_they_say() -> None:
    line = np.stack([np.linspace(-0.2, 0.2, 41), np.zeros(41), np.zeros(41)], axis=1)
    edge = line + np.array([0, 0.05, 0])
    twisted = SHAPES["twist"](np.concatenate([edge, edge * (1, -1, 1)]))
    ends = twisted[[0, 40], 1:] / 0.05
    assert float(ends[0] @ ends[1]) == pytest.approx(-1)
    bent = SHAPES["bend"](line)
    steps = np.diff(bent, axis=0)
    assert np.linalg.norm(steps, axis=1).sum() == pytest.approx(0.4, rel=1e-3)
    cosine = steps[0] @ steps[-1] / (np.linalg.norm(steps[0]) * np.linalg.norm(steps[-1]))
    assert np.degrees(np.arccos(cosine)) == pytest.approx(162 * 39 / 40, rel=1e-3)
    assert not SHAPES["squash"](np.random.default_rng(0).normal(size=(5, 3)))[:, 2].any()


def test_a_bar_is_measured_and_lies_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    mark = measure("twist", 2, 1e7)
    assert mark.tets == 4 * 2 * 2 * 2 * 5
    first, second, third = mark.to_level
    assert 1 <= first <= second <= third <= mark.iterations <= 8
    assert abs(mark.gap) < 1e-6
    assert all(v.ok for v in verdicts([mark]))
    assert [v.ok for v in verdicts([replace(mark, gap=1e-5)])] == [False, True, True]
    assert [v.ok for v in verdicts([replace(mark, gap=-1e-5)])] == [True, False, True]
    assert [v.ok for v in verdicts([replace(mark, to_level=(1, 2, -1))])] == [True, True, False]
    monkeypatch.setattr(stiff, "MGPBD", lambda: MGPBD(max_iterations=3, polish=0))
    lazy = measure("twist", 2, 1e7)
    assert lazy.gap > 1e-6
    assert lazy.to_level[-1] == -1
