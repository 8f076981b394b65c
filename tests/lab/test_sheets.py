"""Validation of woven membranes and curved bending against plane stress and the curved beam.

Row names are those of the table of physical targets that these tests were chosen from.
"""

from __future__ import annotations

import numpy as np
import pytest

from pliant.lab.sheets import EXAMPLE as WOVEN
from pliant.lab.sheets import RING, direction_modulus, quarter_ring, simple_shear, woven_strip
from pliant.lab.textile import Measured, converged_pair
from pliant.materials import Fabric


def assert_rest(*runs: Measured) -> None:
    for run in runs:
        assert run.rest.converged.all(), run.rest
        assert np.isfinite(run.readings).all()


def test_strips_along_warp_weft_and_bias_t05() -> None:
    """E1, E2 and 1/E45 = (1/E1 + 1/E2 - 2 nu12/E1 + 1/G)/4 within 1, 1, 3 %; contraction within 3 %."""
    angles = [0.0, 90.0, 45.0]
    coarse, fine = converged_pair(lambda s: woven_strip(WOVEN, angles, s), 40)
    assert_rest(coarse, fine)
    exact = np.array([direction_modulus(WOVEN, a) for a in angles])
    assert exact[2, 0] == pytest.approx(4 / (1e-3 + 2.5e-3 - 0.5e-3 + 2e-2))
    error = fine.readings / exact - 1
    assert (np.abs(error[:, 0]) < [0.01, 0.01, 0.03]).all()
    assert np.abs(error[:, 1]).max() < 0.03
    assert np.abs(coarse.readings / fine.readings - 1).max() < 0.02


def test_an_isotropic_fabric_taken_as_woven_is_the_isotropic_sheet() -> None:
    """E t and nu, whatever direction is called the warp."""
    fabric = Fabric(thickness=1e-3, youngs_modulus=4e5, poisson_ratio=0.3)
    run = woven_strip(fabric, [0.0, 30.0], 60)
    assert_rest(run)
    np.testing.assert_allclose(run.readings, [[400.0, 0.3]] * 2, rtol=0.015)


@pytest.mark.parametrize("degrees", [0.5, 2.0])
def test_simple_shear_t06(degrees: float) -> None:
    """Force per edge length G t gamma within 2 % up to 2 degrees, woven and isotropic."""
    angle = np.radians(degrees)
    run = simple_shear(WOVEN, angle)
    assert_rest(run)
    np.testing.assert_allclose(run.readings, 50.0 * angle, rtol=0.02)
    sheet = Fabric(thickness=1e-3, youngs_modulus=4e5, poisson_ratio=0.25)
    for membrane in ("triangles", "orthotropic"):
        run = simple_shear(sheet, angle, membrane)
        assert_rest(run)
        np.testing.assert_allclose(run.readings, 160.0 * angle, rtol=0.02)


@pytest.mark.parametrize("bending", ["curved", "dihedral"])
def test_a_quarter_ring_opens_as_a_curved_beam(bending: str) -> None:
    """Castigliano within 3 % at 20 elements (measured: 0.5 % along the radius, 1.4 % along the tangent)."""
    run = quarter_ring(bending, 20)
    assert_rest(run)
    radius, both, tangent = RING
    np.testing.assert_allclose(run.readings, [[radius, both], [both, tangent]], rtol=0.03)


def test_curved_and_dihedral_bending_are_one_material() -> None:
    """The same ring, loaded to a tenth of its radius: tips within 1 % of each other."""
    runs = [quarter_ring(bending, 20, load=0.15) for bending in ("curved", "dihedral")]
    assert_rest(*runs)
    assert np.abs(runs[0].readings * 0.15).max() > 0.1
    np.testing.assert_allclose(runs[0].readings, runs[1].readings, rtol=0.01)
