"""The fabric tests hold, their table of angles is the elastica's, and a wrong rigidity is found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from pliant.errors import SolverError
from pliant.lab import fabric_tests, loops, specimens
from pliant.lab.loops import HEIGHT, first_guess, loop
from pliant.lab.targets import targets
from pliant.model import Model


def test_every_verdict_holds_and_names_its_row() -> None:
    found = fabric_tests.run(quick=True)
    assert [v.what for v in found.verdicts if not v.ok] == []
    said = " ".join(v.source for v in found.verdicts)
    named = [t.id.split("_")[0] for t in targets() if "lab:fabric_tests" in t.held_by]
    assert len(named) > 12
    assert [row for row in named if row not in said] == []
    for _, _, _, rigidity, measured in found.tables[1].rows:
        assert measured == pytest.approx(rigidity, rel=0.01)


def elastica_chord(load: float) -> float:
    """Angle of the chord [deg]: theta'' = -load (1 - s) cos theta, found by shooting from the free end."""

    def path(tip: float) -> np.ndarray:
        def slope(s: float, y: np.ndarray) -> list[float]:  # s from the free end
            return [y[1], -load * s * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])]

        return solve_ivp(slope, (0, 1), [tip, 0, 0, 0], rtol=1e-10, atol=1e-12).y[:, -1]

    end = path(brentq(lambda tip: path(tip)[0], 1e-3, 1.57))
    return float(np.degrees(np.arctan2(end[3], end[2])))


def test_the_table_of_angles_is_the_elasticas() -> None:
    for degrees, ratio in fabric_tests.CHORD.items():
        assert elastica_chord(ratio**-3) == pytest.approx(degrees, abs=0.02)
    assert elastica_chord(8.0) == pytest.approx(41.487, abs=1e-3)


def test_a_rigidity_that_is_off_by_a_fifth_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    true = specimens.stiff_ribs

    def soft(model: Model, law: str = "isometric") -> Model:
        model = true(model, law)
        block = model.blocks[law]
        return replace(model, blocks={**model.blocks, law: replace(block, compliance=1.2 * block.compliance)})

    assert abs(fabric_tests.overhang() - 2) < 0.01
    monkeypatch.setattr(specimens, "stiff_ribs", soft)
    assert fabric_tests.overhang() < 2 * 0.98
    assert specimens.level_strip(0.05)[1] == pytest.approx(1.2 * 0.05 / 8, rel=0.01)
    assert specimens.critical(False, (1.6, 1.9)) == pytest.approx(np.pi**2 / 4 / 1.2, rel=0.01)


def test_what_does_not_come_to_rest_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    true = specimens.Newton
    monkeypatch.setattr(specimens, "Newton", lambda: true(max_iterations=1))
    with pytest.raises(SolverError, match="did not come to rest"):
        specimens.level_strip(20.0)


@pytest.mark.parametrize("kind", ["heart", "pear"])
def test_a_loop_is_found_from_a_shape_that_is_none(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A start with ripples ends in the same height; the error, 0.2 % at 40 elements, falls as 1/n^2."""
    coarse, fine = (loop(kind, n) for n in (40, 80))
    off = [height / HEIGHT[kind] - 1 for height in (coarse, fine)]
    assert 0 < off[1] < off[0] / 3 < 1e-3
    monkeypatch.setattr(loops, "first_guess", lambda k, u: first_guess(k, u) + 0.3 * np.sin(3 * np.pi * u))
    u = np.linspace(0, 1, 401)
    start = -np.trapezoid(np.sin(loops.first_guess(kind, u)), u) / 2
    assert abs(start / HEIGHT[kind] - 1) > 0.015
    assert loop(kind, 40) == pytest.approx(coarse, rel=1e-5)


def test_a_loop_with_another_weight_reads_another_bending_length() -> None:
    assert loops.bending_length(loop("heart", 40, c=0.15)) == pytest.approx(0.15, rel=0.05)
    assert loops.bending_length(loop("heart", 40, c=0.18)) == pytest.approx(0.18, rel=0.05)
