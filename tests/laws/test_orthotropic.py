"""The law of woven cloth: small strain is an orthotropic sheet in plane stress, in any direction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.geometry import measures
from tests.laws.batches import evaluate

Array = np.ndarray

CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.2, 0.8, 0.0]])
AREA = 0.4


def stiffness(e1: float, e2: float, nu12: float, shear: float) -> Array:
    """C (3, 3) of plane stress in the components (11, 22, 2 x 12) [N/m], moduli times thickness."""
    q = 1.0 / (1.0 - nu12**2 * e2 / e1)
    return np.array([[q * e1, q * nu12 * e2, 0.0], [q * nu12 * e2, q * e2, 0.0], [0.0, 0.0, shear]])


def frame(degrees: float) -> Array:
    """inv_rest_matrix (2, 2) of CORNERS with the warp at an angle to the x axis."""
    a = np.radians(degrees)
    warp = np.array([np.cos(a), np.sin(a), 0.0])
    return measures.rest_frames(CORNERS, np.array([[0, 1, 2]]), warp)[0]


def rows(c: Array, x: Array, degrees: float) -> tuple[Array, Array, Array]:
    """Values (3,), gradients (3, 3, 3) and stiffness (3,) of the rows that stand for C, for one triangle."""
    params = np.concatenate([frame(degrees).ravel(), [c[0, 1] / c[0, 0]]])
    value, g = evaluate("orthotropic", x[None], params[None])
    return value[0], g[0], AREA * np.array([c[0, 0], c[1, 1] - c[0, 1] ** 2 / c[0, 0], c[2, 2]])


def stress(c: Array, gradient: Array, degrees: float) -> Array:
    """Membrane stress (2, 2) [N/m] in the axes x, y under a displacement gradient (2, 2) in the plane."""
    x = CORNERS.copy()
    x[:, :2] = CORNERS[:, :2] @ (np.eye(2) + gradient).T
    value, g, k = rows(c, x, degrees)
    force = ((k * value)[:, None, None] * g).sum(axis=0)
    return (force[:, :2].T @ CORNERS[:, :2]) / AREA


def turned(c: Array, strain: Array, degrees: float) -> Array:
    """The stress that C, given in axes turned by an angle, answers to a strain (2, 2) with."""
    a = np.radians(degrees)
    r = np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]])
    e = r @ strain @ r.T
    s = c @ [e[0, 0], e[1, 1], 2 * e[0, 1]]
    return r.T @ np.array([[s[0], s[2]], [s[2], s[1]]]) @ r


@settings(max_examples=50, deadline=None)
@given(
    weft=st.floats(0.1, 10.0),
    share=st.floats(0.0, 0.9),
    shear=st.floats(0.01, 2.0),
    degrees=st.floats(0.0, 180.0),
    seed=st.integers(0, 2**32 - 1),
)
def test_small_strain_gives_orthotropic_plane_stress(
    weft: float, share: float, shear: float, degrees: float, seed: int
) -> None:
    """To 1e-6 at strains of 1e-7, turned by up to as much; nu12 up to 0.9 of what E1/E2 allows."""
    c = stiffness(1000.0, 1000.0 * weft, share / np.sqrt(weft), 1000.0 * shear)
    gradient = 0.5e-7 * np.random.default_rng(seed).standard_normal((2, 2))
    expected = turned(c, 0.5 * (gradient + gradient.T), degrees)
    np.testing.assert_allclose(stress(c, gradient, degrees), expected, atol=1e-6 * c.max() * 2e-7)
    x = CORNERS.copy()
    x[:, :2] = CORNERS[:, :2] @ (np.eye(2) + gradient).T
    value, _, k = rows(c, x, degrees)
    energy = 0.5 * AREA * (expected * gradient).sum()
    assert 0.5 * (k * value**2).sum() == pytest.approx(energy, rel=2e-5, abs=1e-12 * energy)


@pytest.mark.parametrize("degrees", [0.0, 30.0, 45.0, 90.0])
def test_a_pull_along_any_direction_reads_the_modulus_of_that_direction(degrees: float) -> None:
    """1/E(a) = cos^4/E1 + sin^4/E2 + (1/G - 2 nu12/E1) sin^2 cos^2 (Jones, Composite Materials)."""
    e1, e2, nu12, shear = 800.0, 200.0, 0.4, 50.0
    c = stiffness(e1, e2, nu12, shear)
    tiny = 1e-7
    unit = [np.diag([1.0, 0.0]), np.diag([0.0, 1.0]), np.array([[0.0, 0.5], [0.5, 0.0]])]
    answers = [stress(c, tiny * e, degrees) / tiny for e in unit]  # linear: one column each
    tangent = np.array([[s[0, 0], s[1, 1], s[0, 1]] for s in answers]).T
    modulus = 1.0 / np.linalg.inv(tangent)[0, 0]
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    inverse = cos**4 / e1 + sin**4 / e2 + (1 / shear - 2 * nu12 / e1) * (sin * cos) ** 2
    assert modulus == pytest.approx(1.0 / inverse, rel=1e-5)


@settings(max_examples=30, deadline=None)
@given(nu=st.floats(0.0, 0.9, allow_subnormal=False), seed=st.integers(0, 2**32 - 1))
def test_isotropic_values_are_the_sheet_of_the_membrane_law(nu: float, seed: int) -> None:
    """Same forces at the corners for the same small strain, whatever the frame."""
    gradient = 1e-7 * np.random.default_rng(seed).standard_normal((2, 2))
    x = CORNERS.copy()
    x[:, :2] = CORNERS[:, :2] @ (np.eye(2) + gradient).T
    et, degrees = 500.0, float(seed % 180)
    value, g, k = rows(stiffness(et, et, nu, et / (2 * (1 + nu))), x, degrees)
    force = ((k * value)[:, None, None] * g).sum(axis=0)
    value, g = evaluate("membrane", x[None], frame(degrees).reshape(1, 4))
    k = AREA * et * np.array([1 / (1 + nu), nu / (1 - nu**2)])
    expected = ((k * value[0])[:, None, None] * g[0]).sum(axis=0)
    np.testing.assert_allclose(force, expected, atol=1e-6 * np.abs(expected).max())


def test_at_finite_strain_the_rows_are_yarn_stretches_and_the_cosine_of_the_angle() -> None:
    f = np.array([[1.3, 0.4], [0.0, 0.7], [0.2, -0.5]])
    x = np.stack([np.zeros(3), f[:, 0], f[:, 1]])
    value, _ = evaluate("orthotropic", x[None], np.array([[1.0, 0.0, 0.0, 1.0, 0.3]]))
    one, two = np.linalg.norm(f, axis=0)
    cosine = f[:, 0] @ f[:, 1] / (one * two)
    np.testing.assert_allclose(value[0], [one - 1 + 0.3 * (two - 1), two - 1, cosine], rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_crushed_yarn_has_a_stretch_of_nought_and_no_direction(dtype: str) -> None:
    params = np.array([[1.0, 0.0, 0.0, 1.0, 0.25]])
    x = np.array([[[0.3, 0.3, 0.3], [0.3, 0.3, 0.3], [0.3, 1.3, 0.3]]])
    value, g = evaluate("orthotropic", x, params, dtype)
    np.testing.assert_allclose(value[0], [-1.0, 0.0, 0.0], atol=1e-7)
    np.testing.assert_allclose(g[0, 1], [[0, -1, 0], [0, 0, 0], [0, 1, 0]], atol=1e-7)
    np.testing.assert_allclose(g[0, 0], 0.25 * g[0, 1], atol=1e-7)  # what is left of the warp row


def test_shear_fades_where_a_yarn_is_crushed_and_its_gradient_stays_exact() -> None:
    """Below a thousandth of its length gamma is in proportion to it, so that no gradient exceeds 1000."""
    params = np.array([[1.0, 0.0, 0.0, 1.0, 0.0]])
    for length in (5e-4, 1e-6, 1e-12):
        x = np.array([[[0.0, 0, 0], [0.6 * length, 0.8 * length, 0], [0, 2.0, 0]]])
        value, g = evaluate("orthotropic", x, params)
        assert value[0, 2] == pytest.approx(0.8 * 1000 * length, rel=1e-12)
        np.testing.assert_allclose(g[0, 2, 1], [0, 1000.0, 0], atol=1e-6)
        step = 1e-3 * length
        for axis in range(3):
            moved = np.repeat(x, 2, axis=0)
            moved[:, 1, axis] += [step, -step]
            up, down = evaluate("orthotropic", moved, np.repeat(params, 2, axis=0))[0][:, 2]
            assert (up - down) / (2 * step) == pytest.approx(g[0, 2, 1, axis], abs=1e-4)
