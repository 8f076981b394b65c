"""Laws of tetrahedra: small strain against Hooke's law, large strain against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.materials import (
    SolidMaterial,
    arap_compliance,
    neo_hookean_compliance,
    volume_compliance,
)
from tests.laws.batches import evaluate, random_rotations

Array = np.ndarray

X = np.array([[0.1, 0.2, -0.1], [1.1, 0.1, 0.0], [0.2, 1.3, 0.1], [0.0, 0.1, 0.9]])
"""A tetrahedron of no symmetry."""
DM = (X[1:] - X[0]).T
V = float(np.linalg.det(DM) / 6.0)
COMPLIANCE = {"arap_tet": arap_compliance, "neo_hookean": neo_hookean_compliance, "volume": volume_compliance}


def energy_and_stress(law: str, material: SolidMaterial, f: Array) -> tuple[Array, Array]:
    """Energy per volume (n,) [Pa] and first Piola stress (n, 3, 3) [Pa] of F (n, 3, 3)."""
    moved = np.einsum("nij,kj->nki", f, X - X[0]) + 0.3
    value, g = evaluate(law, moved, np.tile(np.linalg.inv(DM).reshape(1, 9), (len(f), 1)))
    alpha = COMPLIANCE[law](material, np.array([V]))
    force = ((value / alpha)[:, :, None, None] * g).sum(axis=1)  # dU/dx, corner by corner
    stress = np.einsum("nki,kj->nij", force, X - X[0]) / V
    return (value**2 / (2 * alpha)).sum(axis=1) / V, stress


def hooke(material: SolidMaterial, e: Array) -> Array:
    trace = np.trace(e, axis1=1, axis2=2)[:, None, None]
    return 2 * material.shear_modulus * e + material.lame_modulus * trace * np.eye(3)


NU = st.floats(0.0, 0.49, allow_subnormal=False)


@settings(max_examples=40, deadline=None)
@given(law=st.sampled_from(["arap_tet", "neo_hookean"]), nu=NU, seed=st.integers(0, 2**32 - 1))
def test_small_strain_gives_hookes_law(law: str, nu: float, seed: int) -> None:
    """sigma = 2 mu e + lambda tr e I of random strains of 1e-7, around random rotations, to 1e-5."""
    material = SolidMaterial(youngs_modulus=2e6, poisson_ratio=nu)
    e = np.random.default_rng(seed).standard_normal((16, 3, 3))
    e = 0.5e-7 * (e + np.swapaxes(e, 1, 2))
    turn = random_rotations(16, seed)
    _, stress = energy_and_stress(law, material, turn @ (np.eye(3) + e))
    expected = hooke(material, e)
    got = np.swapaxes(turn, 1, 2) @ stress
    assert np.abs(got - expected).max() < 1e-5 * np.abs(expected).max() + 1e-14 * material.lame_modulus / 1e-7


@pytest.mark.parametrize("law", ["arap_tet", "neo_hookean"])
@pytest.mark.parametrize("nu", [0.0, 0.3, 0.45, 0.499])
def test_uniaxial_stress_reads_young_and_poisson(law: str, nu: float) -> None:
    """The pure law's elastic tensor by differences of stress: E and nu to 1e-4."""
    material = SolidMaterial(youngs_modulus=1e6, poisson_ratio=nu)
    step = 1e-6
    along = step * np.eye(3)[:, :, None] * np.eye(3)[:, None, :]
    both = [energy_and_stress(law, material, np.eye(3) + sign * along)[1] for sign in (1, -1)]
    stiffness = np.einsum("nii->ni", (both[0] - both[1]) / (2 * step))
    strain = np.linalg.solve(stiffness, [1.0, 0.0, 0.0])
    assert 1.0 / strain[0] == pytest.approx(1e6, rel=1e-4)
    assert -strain[1] / strain[0] == pytest.approx(nu, abs=1e-4)


@pytest.mark.parametrize("law", ["arap_tet", "neo_hookean"])
def test_at_rest_there_is_no_stress_in_any_orientation(law: str) -> None:
    for nu in (0.0, 0.3, 0.49):
        material = SolidMaterial(poisson_ratio=nu)
        _, stress = energy_and_stress(law, material, random_rotations(100, 1))
        assert np.abs(stress).max() < 1e-14 * (material.lame_modulus + material.shear_modulus)


@pytest.mark.parametrize("nu", [0.0, 0.3, 0.49])
def test_arap_is_quadratic_in_the_stretches(nu: float) -> None:
    """U = mu sum (s - 1)^2 + lambda/2 (sum (s - 1))^2, with the least stretch negative inside out."""
    m = SolidMaterial(poisson_ratio=nu)
    s = np.array([[1.3, 0.9, 0.5], [2.0, 1.0, -0.4], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1.5, 0.2, 0.2]])
    turn = random_rotations(10, 4)
    energy, _ = energy_and_stress("arap_tet", m, turn[:5] @ (s[:, :, None] * turn[5:]))
    u = s - 1.0
    expected = m.shear_modulus * (u**2).sum(axis=1) + 0.5 * m.lame_modulus * u.sum(axis=1) ** 2
    np.testing.assert_allclose(energy, expected, rtol=1e-9)


@pytest.mark.parametrize("nu", [0.0, 0.3, 0.49])
def test_neo_hookean_is_macklin_and_muellers_energy_less_its_value_at_rest(nu: float) -> None:
    """U = mu/2 (|F|^2 - 3) + lambda^/2 ((J - 1 - mu/lambda^)^2 - (mu/lambda^)^2), lambda^ = lambda + mu."""
    m = SolidMaterial(poisson_ratio=nu)
    f = np.random.default_rng(6).standard_normal((50, 3, 3))
    energy, stress = energy_and_stress("neo_hookean", m, f)
    mu, lam = m.shear_modulus, m.lame_modulus + m.shear_modulus
    det, rest = np.linalg.det(f), mu / lam
    assert (det < 0).any()
    expected = 0.5 * mu * ((f**2).sum(axis=(1, 2)) - 3) + 0.5 * lam * ((det - 1 - rest) ** 2 - rest**2)
    np.testing.assert_allclose(energy, expected, rtol=1e-12)
    cofactor = det[:, None, None] * np.swapaxes(np.linalg.inv(f), 1, 2)
    wanted = mu * f + lam * (det - 1 - rest)[:, None, None] * cofactor
    np.testing.assert_allclose(stress, wanted, atol=1e-11 * np.abs(wanted).max())


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("size", [1e-2, 1e-4, 1e-6])
def test_neo_hookean_loses_no_digits_near_rest(size: float, dtype: str) -> None:
    """Both values against ``sqrt(2 e:e)`` and ``tr e``, of strains far below the rounding of F squared."""
    rng = np.random.default_rng(9)
    e = rng.integers(-8, 9, (500, 3, 3)) * 2.0 ** np.round(np.log2(size) - 3)
    e = 0.5 * (e + np.swapaxes(e, 1, 2))
    corners = np.vstack([np.zeros(3), np.eye(3)])
    moved = np.einsum("nij,kj->nki", np.eye(3) + e, corners)  # exact in both precisions
    value, _ = evaluate("neo_hookean", moved, np.tile(np.eye(3).reshape(1, 9), (500, 1)), dtype)
    shape = np.sqrt(2 * (e**2).sum(axis=(1, 2)))
    bound = 20 * size + 40 * float(np.finfo(dtype).eps) / size
    np.testing.assert_allclose(value[:, 0], shape, atol=bound * size)
    np.testing.assert_allclose(value[:, 1], np.trace(e, axis1=1, axis2=2), atol=bound * size)
    assert bound < 0.5 or dtype == "float32"


def test_the_volume_law_is_a_fluids() -> None:
    """Pressure -K (V/V0 - 1), the same in all directions; no resistance to shear and rotation."""
    m = SolidMaterial(poisson_ratio=0.4)
    f = np.array([np.diag([1.1, 1.0, 1.0]), [[1, 0.7, 0], [0, 1, 0], [0, 0, 1]], np.diag([2.0, 0.5, 1.0])])
    energy, stress = energy_and_stress("volume", m, f)
    np.testing.assert_allclose(energy, [0.5 * m.bulk_modulus * 0.01, 0.0, 0.0], atol=1e-9 * m.bulk_modulus)
    np.testing.assert_allclose(
        stress[0], 0.1 * m.bulk_modulus * np.diag([1.0, 1.1, 1.1]), atol=1e-9 * m.bulk_modulus
    )


@pytest.mark.parametrize(("nu", "edge"), [(0.0, 0.54), (0.3, 0.29), (0.49, 0.0196)])
def test_neo_hookean_crushed_evenly_goes_on_to_a_point(nu: float, edge: float) -> None:
    """mu s = lambda^ s^2 (rest - s^3): below that size the force changes sign, as the page says."""
    f = np.array([1.05 * edge, 0.95 * edge])[:, None, None] * np.eye(3)
    pressure = energy_and_stress("neo_hookean", SolidMaterial(poisson_ratio=nu), f)[1][:, 0, 0]
    assert pressure[0] < 0.0 < pressure[1]
    assert (energy_and_stress("arap_tet", SolidMaterial(poisson_ratio=nu), f)[1][:, 0, 0] < 0.0).all()


def test_arap_pulls_a_flat_and_an_inverted_tetrahedron_back() -> None:
    """The force on the fourth corner, squeezed along its height, always points up again; neo-Hookean too."""
    height = np.array([0.5, 0.2, 0.0, -0.2])
    f = np.eye(3) * np.stack([np.ones(4), np.ones(4), height], axis=1)[:, None]
    for law in ("arap_tet", "neo_hookean"):
        _, stress = energy_and_stress(law, SolidMaterial(poisson_ratio=0.3), f)
        assert (stress[:, 2, 2] < 0.0).all(), law
