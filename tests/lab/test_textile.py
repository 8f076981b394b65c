"""Validation of XPBD with real material laws against closed forms of mechanics.

Row names are those of the table of physical targets that these tests were chosen from. Every experiment
runs twice, the second time with doubled substeps: the answer may change by less than 1 %.
"""

from __future__ import annotations

import numpy as np
import pytest

from pliant.lab.textile import (
    Measured,
    catenary,
    converged_pair,
    hanging_strip,
    heavy_elastica,
    sagging_sheet,
    tensile_strip,
)

# B04: w L^3/B: tip x/L, drop/L of the inextensible heavy elastica (solution of its boundary value problem)
ELASTICA = {
    0.1: (0.99991, 0.0125),
    0.5: (0.99778, 0.06231),
    1.0: (0.99125, 0.12347),
    2.0: (0.96689, 0.23851),
    5.0: (0.84666, 0.49591),
    8.0: (0.72442, 0.64063),
    10.0: (0.65635, 0.7002),
    20.0: (0.44523, 0.82988),
    50.0: (0.24501, 0.90792),
    100.0: (0.15922, 0.93752),
}
# K01: S/D: sag/D of the catenary
CATENARY = {1.01: 0.06145, 1.05: 0.1393, 1.1: 0.2003, 1.25: 0.3318, 1.5: 0.50263, 2.0: 0.79639}


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
    """The same material sags alike at 17 x 17, 33 x 33 and 65 x 65 vertices, within 3 % (measured: 0.3 %)."""
    coarse17, z = sagging_sheet(17, 50)
    fine17, z = sagging_sheet(17, 100, z)
    coarse33, z = sagging_sheet(33, 100, z)
    fine33, z = sagging_sheet(33, 200, z)
    finest, z = sagging_sheet(65, 200, z, tolerance=2e-5)
    assert_rest(coarse17, fine17, coarse33, fine33, finest)
    sag = np.array([r.readings[0, 0] for r in (fine17, fine33, finest)])
    assert sag.min() > 0.03
    assert np.ptp(sag) / sag.mean() < 0.01  # the bar is 0.03
    assert relative(coarse17.readings, fine17.readings) < 0.01
    assert relative(coarse33.readings, fine33.readings) < 0.01
