"""Validation of XPBD with real material laws against closed forms of mechanics.

Row names are those of the table of physical targets that these tests were chosen from. Every experiment
runs twice, the second time with doubled substeps: the answer may change by less than 1 %.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_bvp
from scipy.optimize import brentq

from pliant.lab.textile import (
    CATENARY,
    ELASTICA,
    Measured,
    catenary,
    converged_pair,
    hanging_strip,
    heavy_elastica,
    sagging_sheet,
    tensile_strip,
)


def assert_rest(*runs: Measured) -> None:
    for run in runs:
        assert run.rest.converged.all(), run.rest
        assert np.isfinite(run.readings).all()


def relative(a: np.ndarray, b: np.ndarray) -> float:
    assert (np.abs(b) > 0).all()
    return float(np.abs(a / b - 1).max())


def test_tensile_strip_t01_t02() -> None:
    """Extension F L/(E t W) = 2.00 mm within 1 % (nu = 0), 2 % (nu = 0.3); contraction nu within 5 %."""
    nu = [0.0, 0.3]
    coarse, fine = converged_pair(lambda s: tensile_strip(nu, s, cells=(16, 4)), 60)
    assert_rest(coarse, fine)
    extension, contraction = fine.readings.T
    assert extension[0] == pytest.approx(2.00e-3, rel=0.01)
    assert extension[1] == pytest.approx(2.00e-3, rel=0.02)
    assert contraction[1] == pytest.approx(0.3, rel=0.05)
    assert abs(contraction[0]) < 0.005
    assert relative(coarse.readings[:, 0], extension) < 0.01
    assert relative(coarse.readings[1:, 1], contraction[1:]) < 0.01


def test_hanging_strip_t03_t04() -> None:
    """Own weight: w L^2/(2 E t) = 0.981 mm; with 10 g at the end 2.943 mm; both within 1 %."""
    coarse, fine = converged_pair(lambda s: hanging_strip([0.0, 0.01], s), 100)
    assert_rest(coarse, fine)
    np.testing.assert_allclose(fine.readings[:, 0], [0.981e-3, 2.943e-3], rtol=0.01)
    assert relative(coarse.readings, fine.readings) < 0.01


def test_heavy_elastica_b04() -> None:
    """Tip within 2 % of L at 20 elements (measured: 0.2 %), all rows in one batch."""
    coarse, fine = converged_pair(lambda s: heavy_elastica(list(ELASTICA), s, elements=20), 200)
    assert_rest(coarse, fine)
    error = np.abs(fine.readings - np.array(list(ELASTICA.values())))
    assert error.max() < 0.005  # of L; the bar is 0.02
    assert np.abs(coarse.readings - fine.readings).max() < 0.01  # of L


def test_catenary_k01() -> None:
    """Sag within 1 % at 40 segments, six slacknesses in one batch."""
    coarse, fine = converged_pair(lambda s: catenary(list(CATENARY), s), 100)
    assert_rest(coarse, fine)
    np.testing.assert_allclose(fine.readings[:, 0], list(CATENARY.values()), rtol=0.01)
    assert relative(coarse.readings, fine.readings) < 0.01


def test_sag_does_not_depend_on_the_mesh() -> None:
    """The same material sags alike at 17 x 17, 33 x 33 and 65 x 65 vertices within 3 %."""
    coarse17, z = sagging_sheet(17, 50)
    fine17, z = sagging_sheet(17, 100, z)
    coarse33, z = sagging_sheet(33, 100, z)
    fine33, z = sagging_sheet(33, 200, z)
    finest, z = sagging_sheet(65, 200, z, tolerance=1e-4)
    assert_rest(coarse17, fine17, coarse33, fine33, finest)
    sag = np.array([r.readings[0, 0] for r in (fine17, fine33, finest)])
    assert sag.min() > 0.03
    assert np.ptp(sag) / sag.mean() < 0.01  # the bar is 0.03
    assert relative(coarse17.readings, fine17.readings) < 0.01
    assert relative(coarse33.readings, fine33.readings) < 0.01


def test_the_tables_are_the_closed_forms() -> None:
    """The targets themselves, recomputed: the catenary's equation, the elastica's boundary value problem."""
    for ratio, sag in CATENARY.items():
        a = brentq(lambda a, r=ratio: 2 * a * np.sinh(0.5 / a) - r, 0.05, 10)
        assert sag == pytest.approx(a * (np.cosh(0.5 / a) - 1), abs=1e-5 * max(1, 1 / sag))
    for load, (x, drop) in ELASTICA.items():
        tip = elastica_tip(load)
        assert tip == pytest.approx((x, drop), abs=2e-5)


def elastica_tip(load: float) -> tuple[float, float]:
    """theta'' = -load (1 - s) cos theta, theta(0) = theta'(1) = 0, angle downwards; tip x, drop."""

    def slope(s: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.stack([y[1], -load * (1 - s) * np.cos(y[0])])

    s = np.linspace(0, 1, 201)
    guess = np.stack([1.2 * np.minimum(1, load / 6) * (1 - (1 - s) ** 3), 0 * s])
    solution = solve_bvp(slope, lambda a, b: np.array([a[0], b[1]]), s, guess, tol=1e-9, max_nodes=20000)
    assert solution.success
    t = np.linspace(0, 1, 20001)
    theta = solution.sol(t)[0]
    return float(np.trapezoid(np.cos(theta), t)), float(np.trapezoid(np.sin(theta), t))
