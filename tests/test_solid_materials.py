"""Materials of solids: SI in, coefficients out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

from pliant.errors import SceneError
from pliant.materials import (
    SolidMaterial,
    arap_compliance,
    neo_hookean_compliance,
    solids,
    volume_compliance,
)

RUBBER = SolidMaterial("rubber", density=1100.0, youngs_modulus=3e6, poisson_ratio=0.4)


@pytest.mark.parametrize("key", ["density", "youngs_modulus"])
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_what_must_be_positive_is_refused_otherwise(key: str, value: float) -> None:
    with pytest.raises(SceneError, match=rf'"lump": {key} is .*must be greater than 0'):
        SolidMaterial("lump", **{key: value})


@pytest.mark.parametrize("key", ["damping_time", "friction"])
def test_what_may_be_nought_may_not_be_negative(key: str) -> None:
    assert getattr(SolidMaterial(**{key: 0.0}), key) == 0.0
    for value in (-1e-9, np.nan, np.inf):
        with pytest.raises(SceneError, match=rf"{key} is .*at least 0"):
            SolidMaterial(**{key: value})


@pytest.mark.parametrize("nu", [-0.1, 0.5, 0.6, np.nan, "0.3", True])
def test_poissons_ratio_of_a_solid_lies_below_a_half(nu: object) -> None:
    with pytest.raises(SceneError, match=r'"lump": poisson_ratio is .*(below|in \[0, 0\.5\)|a number)'):
        SolidMaterial("lump", poisson_ratio=nu)  # type: ignore[arg-type]


def test_moduli_are_those_of_hookes_law() -> None:
    """E = 9 K mu/(3 K + mu), nu = (3 K - 2 mu)/(2 (3 K + mu)), lambda = K - 2 mu/3."""
    for nu in (0.0, 0.2, 0.3, 0.49):
        m = SolidMaterial(youngs_modulus=2e6, poisson_ratio=nu)
        k, mu = m.bulk_modulus, m.shear_modulus
        assert 9 * k * mu / (3 * k + mu) == pytest.approx(2e6, rel=1e-12)
        assert (3 * k - 2 * mu) / (2 * (3 * k + mu)) == pytest.approx(nu, abs=1e-12)
        assert m.lame_modulus == pytest.approx(k - 2 * mu / 3, rel=1e-9, abs=1e-6)


def test_compliances_carry_the_rest_volume() -> None:
    volume = np.array([1e-6, 2e-6])
    mu, lam = RUBBER.shear_modulus, RUBBER.lame_modulus
    np.testing.assert_allclose(arap_compliance(RUBBER, volume)[:, 0], 1 / (2 * mu * volume))
    np.testing.assert_allclose(arap_compliance(RUBBER, volume)[:, 1], 1 / (lam * volume))
    np.testing.assert_allclose(neo_hookean_compliance(RUBBER, volume)[:, 0], 1 / (mu * volume))
    np.testing.assert_allclose(neo_hookean_compliance(RUBBER, volume)[:, 1], 1 / (lam * volume))
    np.testing.assert_allclose(volume_compliance(RUBBER, volume)[:, 0], 1 / (RUBBER.bulk_modulus * volume))
    soft = RUBBER.with_(poisson_ratio=0.0)
    assert np.isinf(arap_compliance(soft, volume)[:, 1]).all()
    assert np.isinf(neo_hookean_compliance(soft, volume)[:, 1]).all()


def test_a_changed_copy_leaves_the_material_alone_and_is_checked() -> None:
    stiff = RUBBER.with_(youngs_modulus=5e6, name="stiff")
    assert (stiff.youngs_modulus, stiff.name, stiff.density) == (5e6, "stiff", 1100.0)
    assert RUBBER.youngs_modulus == 3e6
    with pytest.raises(
        SceneError, match=r'a SolidMaterial has no "thickness"; it has damping_time, .*youngs'
    ):
        RUBBER.with_(thickness=3.0)


def test_presets_are_cited_and_listed_in_the_page() -> None:
    assert (solids.rubber.youngs_modulus, solids.rubber.poisson_ratio) == (3e6, 0.49)
    assert (solids.silicone.youngs_modulus, solids.silicone.poisson_ratio) == (2e6, 0.49)
    page = Path(ROOT / "docs" / "materials.md").read_text(encoding="utf-8")
    for name, m in vars(solids).items():
        assert m.name == name
        assert "not measured" in m.source
        row = (
            f"| `{name}` | {m.density:g} | {m.youngs_modulus / 1e6:g} | {m.poisson_ratio:g} | "
            f"{m.damping_time * 1e3:g} | {m.friction:g} |"
        )
        assert row in page, row
