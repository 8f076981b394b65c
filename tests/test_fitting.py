"""Fabrics from laboratory readings: published ones, round trips, readings that contradict each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pliant as pl
from pliant.fitting import GF_PER_CM, KES_G
from pliant.lab.fabric_tests import overhang
from pliant.lab.sheets import direction_modulus
from pliant.materials import KES_B, fabrics

CLOTH: dict[str, Any] = {"areal_density": 0.2, "thickness": 4e-4}
PLAIN: dict[str, Any] = {**CLOTH, "kes_b": 0.1, "tensile_stiffness": 500.0}


# --- published values ------------------------------------------------------------------------------


def test_the_units_of_kes_m17() -> None:
    """1 gf = 9.80665e-3 N, a degree is pi/180."""
    assert pytest.approx(9.80665e-5) == KES_B
    assert pytest.approx(0.980665) == GF_PER_CM
    assert pytest.approx(56.188, abs=1e-3) == KES_G


@pytest.mark.parametrize(("length", "rigidity"), [(15.0, 5.56e-6), (14.5, 5.02e-6)])
def test_bending_by_fast_b14(length: float, rigidity: float) -> None:
    """Wool of 168 g/m2: B = W C^3 g in 1e-6 N m, as printed beside C."""
    wool = pl.fit_material(
        "wool", areal_density=0.168, thickness=4e-4, fast_c=length, fast_b=rigidity * 1e6, fast_e100=3.0
    )
    assert wool.fabric.bending_rigidity == pytest.approx(rigidity, rel=2e-3)
    assert all(abs(r.relative) < 2e-3 for r in wool.residuals)


@pytest.mark.parametrize(("name", "kes_b"), [("cotton", 0.118), ("wool", 0.067), ("polyester", 0.019)])
def test_three_fabrics_m07_m10(name: str, kes_b: float) -> None:
    """Tension by Penava et al. 2014, KES-FB2 by Matsudaira et al. 2015: the presets come out."""
    preset = getattr(fabrics, name)
    found = pl.fit_material(
        name, areal_density=preset.areal_density, thickness=preset.thickness, kes_b=kes_b,
        tensile_stiffness=preset.membrane_stiffness, poisson_ratio=preset.poisson_ratio,
        damping_time=preset.damping_time, friction=preset.friction, source=preset.source,
    )  # fmt: skip
    assert not found.fabric.orthotropic
    for key in ("bending_rigidity", "youngs_modulus", "poisson_ratio", "areal_density", "friction"):
        assert getattr(found.fabric, key) == pytest.approx(getattr(preset, key)), key
    assert found.assumed == ("shear_modulus",)


def test_denim_m08_m09() -> None:
    """Ends of the range of six denims: EMT 4.70 and 5.74 % are 10.4 and 8.5 kN/m, G 84 to 191 N/m."""
    for emt, g, b, tension, shear, bending in (
        (4.70, 3.40, 0.227, 10.4e3, 191.0, 2.2e-5),
        (5.74, 1.50, 0.144, 8.5e3, 84.0, 1.4e-5),
    ):
        denim = pl.fit_material(
            "denim", areal_density=0.35, thickness=1e-3, kes_b=b, kes_emt=emt, kes_g=g
        ).fabric
        assert denim.membrane_stiffness == pytest.approx(tension, rel=0.01)
        assert denim.shear * denim.thickness == pytest.approx(shear, rel=0.01)
        assert denim.bending_rigidity == pytest.approx(bending, rel=0.02)


# --- round trips -----------------------------------------------------------------------------------


@given(
    density=st.floats(0.05, 0.8), thickness=st.floats(2e-4, 2e-3), b=st.floats(1e-6, 3e-4),
    warp=st.floats(20, 2e4), weft=st.floats(20, 2e4), share=st.floats(0.01, 0.3), nu=st.floats(0, 0.1),
)  # fmt: skip
def test_readings_of_a_fabric_give_the_fabric(
    density: float, thickness: float, b: float, warp: float, weft: float, share: float, nu: float
) -> None:
    """Extensions on the bias by the modulus of sheets at 45 degrees, which simulated strips keep."""
    nu = min(nu, 0.5 * (warp / weft) ** 0.5)
    shear = share * min(warp, weft)
    cloth = pl.Fabric(
        areal_density=density, thickness=thickness, bending_rigidity=b, youngs_modulus=warp / thickness,
        weft_modulus=weft / thickness, shear_modulus=shear / thickness, poisson_ratio=nu,
    )  # fmt: skip
    c = 1e3 * (b / (density * 9.81)) ** (1 / 3)
    found = pl.fit_material(
        areal_density=density, thickness=max(thickness, density / 2500), kes_b=b / KES_B, fast_c=(c, c),
        d1388_overhang=2 * c, fast_e100=(9806.65 / warp, 9806.65 / weft), kes_g=shear / KES_G,
        fast_eb5=490.3325 / direction_modulus(cloth, 45)[0], poisson_ratio=nu,
    )  # fmt: skip
    got = found.fabric
    stiff = [m * got.thickness for m in (got.youngs_modulus, got.weft, got.shear)]
    np.testing.assert_allclose([got.bending_rigidity, *stiff], [b, warp, weft, shear], rtol=1e-9)
    assert len(found.residuals) == 8
    assert max(abs(r.relative) for r in found.residuals) < 1e-9


def test_a_simulated_cantilever_gives_the_rigidity_back_b01() -> None:
    """The overhang at 41.5 degrees of a strip under Newton, read as ASTM D1388 does: B within 1 %."""
    ratio = overhang()
    for cloth in (fabrics.cotton, fabrics.denim):
        c = (cloth.bending_rigidity / (cloth.areal_density * 9.81)) ** (1 / 3)
        found = pl.fit_material(
            areal_density=cloth.areal_density, thickness=cloth.thickness, d1388_overhang=1e3 * ratio * c,
            tensile_stiffness=cloth.membrane_stiffness,
        )  # fmt: skip
        assert found.fabric.bending_rigidity == pytest.approx(cloth.bending_rigidity, rel=0.01)


def test_what_one_fabric_cannot_show_is_a_residual() -> None:
    """Warp and weft bend differently, extensions are secants of a curve: geometric means."""
    found = pl.fit_material(**CLOTH, kes_b=(0.2, 0.05), fast_e20=1.0, fast_e100=2.0)
    assert found.fabric.bending_rigidity == pytest.approx(0.1 * KES_B)
    off = {(r.test, r.direction): r.relative for r in found.residuals}
    assert off["kes_b", "warp"] == pytest.approx(-0.5)
    assert off["kes_b", "weft"] == pytest.approx(1.0)
    assert found.fabric.membrane_stiffness == pytest.approx((1961.33 * 4903.325) ** 0.5)
    assert off["fast_e20", ""] == pytest.approx((1961.33 / 4903.325) ** 0.5 - 1)
    assert found.assumed == ("poisson_ratio", "shear_modulus", "damping_time", "friction")
    assert "kes_b warp" in str(found)
    assert "-50.0 %" in str(found)


# --- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("readings", "words"),
    [
        ({"fast_c": 30.0}, r"fast_c 30 mm means 5\.\d+e-05 N m.*contradict"),
        ({"fast_c": 15.0, "fast_b": 7.5}, "fast_b 7.5 uN m.*factor of 1.13, 1.05"),
        ({"d1388_length": 20.0, "d1388_overhang": 36.0}, "factor of 1.37"),
        ({"fast_e5": 3.0, "fast_e100": 2.0}, "3 % at 5 gf/cm but 2 % at 100"),
        ({"fast_e20": (1.0, 3.0), "kes_emt": (4.0, 2.0)}, "along the weft"),
        ({"tensile_stiffness": 50.0, "fast_eb5": 2.0}, "fast_eb5 2 % contradicts the tensile"),
        ({"kes_g": 2.0, "fast_eb5": 0.5}, "kes_g 2 .*contradict"),
        ({"areal_density": 200.0}, r"was it g/m\^2"),
        ({"thickness": 0.4}, "was it mm"),
        ({"thickness": 5e-5}, "4000 kg/m"),
        ({"kes_b": 0.0}, "kes_b is 0.0"),
        ({"kes_b": (0.1, float("nan"))}, "kes_b weft is nan"),
        ({"kes_b": (0.1, 0.1, 0.1)}, "3 values"),
        ({"kes_b": None}, "no reading of bending; give one of kes_b"),
        ({"tensile_stiffness": None}, "no reading of tension.*kes_emt"),
        ({"kes_g": True}, "kes_g is True"),
        ({"youngs_modulus": 1e6}, "youngs_modulus follows"),
        ({"colour": 1}, 'no "colour"'),
    ],
)
def test_what_cannot_be_is_refused_with_its_values(readings: dict[str, Any], words: str) -> None:
    pl.fit_material(**PLAIN)
    if "fast_b" in readings or "d1388_length" in readings:
        readings = {"kes_b": None, **readings}
    with pytest.raises(pl.SceneError, match=words):
        pl.fit_material("shirting", **(PLAIN | readings))
