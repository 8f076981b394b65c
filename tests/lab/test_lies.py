"""Known lies about XPBD are found: which part of the suite or of the lab finds each is said by its test.

(a) multipliers that are set to zero in every iteration, and (d) a gradient with the wrong sign are in
``test_experiments.py``: `hanging` finds the one, the gradient laboratory the other.
"""

from __future__ import annotations

import numpy as np
import pytest
from lying_solvers import ColdStartWhereItWas, DetectionInside, Lie, RelaxedPositions, tell

from pliant.lab import friction
from pliant.lab.conformance import check_solver
from pliant.lab.scenes import SCENES
from pliant.lab.yardstick import measure
from pliant.solvers.xpbd.solver import XPBD

ONE = {"dtypes": ("float64",), "worlds": (5,)}
STATICS = ("hung_weight", "chain_forces")


def failing(solver: XPBD, names: tuple[str, ...]) -> set[str]:
    return {r.name for r in check_solver(solver, **ONE, names=names).failures}


def test_iteration_by_iteration_it_is_the_same_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a lie, the way in which the lies are told changes no bit."""

    def end() -> np.ndarray:
        sim = SCENES[0].make(XPBD(2, 3))
        for _ in range(3):
            sim.step()
        return sim.x

    true = end()
    tell(Lie(), monkeypatch)
    assert np.array_equal(end(), true)
    assert failing(XPBD(4, 5), (*STATICS, "free_fall", "incline_slides")) == set()


def test_b_positions_relaxed_but_not_multipliers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The conformance suite finds it: weights hang lower, and lambda/h^2 is not the weight.

    XPBD's own relaxation, of both, is another matter: with iterations enough it tends to the same answer.
    """
    names = ("chain_forces", "sheet_forces")
    assert failing(XPBD(4, 20, relaxation=0.5), names) == set()
    tell(RelaxedPositions(), monkeypatch)
    assert failing(XPBD(4, 20), ("hung_weight", *names)) == {"hung_weight", *names}


def test_c_detection_inside_the_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lab's capstan finds it: contacts that forget what they pushed let go of what friction should hold.

    One sweep in each substep has nothing to forget, and no row of the conformance suite, with its loose
    sheets, sees it.
    """
    below = np.array([0.85, 0.95])
    assert np.abs(friction.capstan(0.3, XPBD(10, 8), below)).max() < 1e-5
    tell(DetectionInside(), monkeypatch)
    assert failing(XPBD(4, 5), ("incline_sticks", "incline_slides", "rests_on_the_floor")) == set()
    assert np.abs(friction.capstan(0.3, XPBD(20, 1), below)).max() < 1e-5
    assert friction.capstan(0.3, XPBD(10, 8), below).max() > friction.CREEP


def test_e_a_start_from_the_previous_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The conformance suite finds it, and the yardstick; the primal residual shows the whole weight.

    The cloth stops in the air: its constraints are met better than those of the true solver, which moves.
    """
    start = SCENES[0]

    def step() -> tuple[float, float]:
        """Worst residual of constraints, and the primal residual over the weight of each particle, RMS."""
        sim = start.make(XPBD(1, 16))
        for _ in range(start.warm_up):
            info = sim.step("full")
        assert info.primal_residual is not None
        weight = 9.81 * np.linalg.norm(sim.model.mass[sim.model.inv_mass > 0])
        worst = max(float(r["max"][0]) for r in info.constraint_residual.values())
        return worst, float(info.primal_residual[0]) / weight

    (true_constraint, _), true = step(), measure(start, (16,))[0][1]
    tell(ColdStartWhereItWas(), monkeypatch)
    (constraint, primal), lie = step(), measure(start, (16,))[0][1]
    assert constraint < 0.1 * true_constraint
    assert primal == pytest.approx(1, rel=0.02)
    assert lie.gap > 50 * true.gap
    assert lie.distance > 10 * true.distance
    assert "free_fall" in failing(XPBD(4, 5), ("free_fall",))
