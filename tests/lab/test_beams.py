"""A strip as a beam against closed forms; row names are those of the table of physical targets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_bvp

from pliant.lab.beams import FIRST_ROOT, TIP_LOAD, bending_frequency, mode, tip_load


def test_load_at_the_tip_c01_c04() -> None:
    """Drop and shortening within 0.2 % of L at 20 elements (the bar is 1 %), small loads and large ones."""
    coarse, fine = (tip_load(list(TIP_LOAD), s) for s in (50, 100))
    assert coarse.rest.converged.all()
    assert fine.rest.converged.all()
    assert np.abs(fine.readings - np.array(list(TIP_LOAD.values()))).max() < 0.002
    assert np.abs(coarse.readings - fine.readings).max() < 0.01
    assert fine.readings[0, 0] == pytest.approx(0.1 / 3, rel=0.03)  # C01: F L^3/(3 E I)


def test_first_bending_frequency_c07() -> None:
    """Within 3 % of the beam's; the error, softness of unconverged sweeps, falls as h^2."""
    coarse, fine = 1 - bending_frequency(40, periods=1), 1 - bending_frequency(80, periods=1)
    assert 0 < fine < 0.03
    assert coarse / fine == pytest.approx(4.0, rel=0.25)


def test_the_tables_are_the_closed_forms() -> None:
    """The elastica under a tip load, theta'' = -P cos theta; the frequency's root; the mode's ends."""
    for load, (drop, short) in TIP_LOAD.items():
        s = np.linspace(0, 1, 101)
        guess = np.stack([0.5 * min(load, 2) * s, 0.5 * min(load, 2) + 0 * s])
        solution = solve_bvp(
            lambda _, y, p=load: np.stack([y[1], -p * np.cos(y[0])]),
            lambda a, b: np.array([a[0], b[1]]),
            s,
            guess,
            tol=1e-9,
            max_nodes=20000,
        )
        assert solution.success
        t = np.linspace(0, 1, 10001)
        theta = solution.sol(t)[0]
        assert drop == pytest.approx(np.trapezoid(np.sin(theta), t), abs=2e-5)
        assert short == pytest.approx(1 - np.trapezoid(np.cos(theta), t), abs=2e-5)
    assert np.cos(FIRST_ROOT) * np.cosh(FIRST_ROOT) == pytest.approx(-1, abs=1e-9)
    assert mode(np.array([0.0, 1.0])) == pytest.approx([0, 1], abs=1e-9)
