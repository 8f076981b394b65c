"""Every law's gradient is that of its value: central differences, their order, balance of forces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.laws.batches import INTERNAL, SHAPES, configurations, evaluate, random_rotations

Array = np.ndarray

SEEDS = st.integers(0, 2**32 - 1)


def differences(law: str, x: Array, p: Array, eps: float) -> Array:
    """Central differences (n, r, c, 3) of the values."""
    n, corners, _ = x.shape
    step = eps * np.eye(3 * corners).reshape(-1, corners, 3)
    moved = x[:, None, None] + np.stack([step, -step], axis=1)
    values = evaluate(law, moved.reshape(-1, corners, 3), np.repeat(p, 6 * corners, axis=0))[0]
    values = values.reshape(n, corners, 3, 2, -1)
    return np.moveaxis((values[..., 0, :] - values[..., 1, :]) / (2.0 * eps), -1, 1)


@pytest.mark.parametrize("law", SHAPES)
@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_the_gradient_is_the_central_difference(law: str, seed: int) -> None:
    x, p = configurations(law, 8, seed)
    _, g = evaluate(law, x, p)
    assert (np.linalg.norm(g, axis=(2, 3)) > 1e-3).all(), "a gradient of zero would prove nothing"
    np.testing.assert_allclose(g, differences(law, x, p, 1e-5), atol=2e-7 * np.abs(g).max())


@pytest.mark.parametrize("law", SHAPES)
def test_the_error_of_differences_falls_with_the_square_of_the_step_until_rounding(law: str) -> None:
    x, p = configurations(law, 32, seed=3)
    _, g = evaluate(law, x, p)
    steps = (1e-2, 1e-3, 1e-4, 1e-5, 1e-8, 1e-10)
    rows = slice(0, 1) if law == "neo_hookean" else slice(None)  # its second is linear in each coordinate
    error = {eps: np.abs(differences(law, x, p, eps) - g)[:, rows].max() for eps in steps}
    size = np.abs(g[:, rows]).max()
    if law in ("isometric", "attachment", "volume"):  # linear in each coordinate: rounding is all there is
        assert max(error[eps] * eps for eps in steps) < 1e-14 * size
        return
    assert error[1e-2] > 1e-5 * size, "the steps must show an error at all"
    for eps in (1e-2, 1e-3):
        assert np.log10(error[eps] / error[0.1 * eps]) == pytest.approx(2.0, abs=0.1)
    assert error[1e-5] < error[1e-8] < error[1e-10], "rounding takes over in the end"
    assert error[1e-10] < 1e-3 * size


@pytest.mark.parametrize("law", INTERNAL)
@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, away=st.sampled_from([0.0, 1.0, 1e3]))
def test_a_law_between_particles_pushes_and_turns_nobody_as_a_whole(law: str, seed: int, away: float) -> None:
    """Sum g = 0 and sum x cross g = 0, for each row; for laws that are vectors, of their energy."""
    x, p = configurations(law, 16, seed)
    x = x + away
    value, g = evaluate(law, x, p)
    if law in ("isometric", "tie"):
        g = (value[:, :, None, None] * g).sum(axis=1, keepdims=True)
    size = np.abs(g).max(axis=(1, 2, 3))
    assert (size > 0.0).all()
    assert (np.abs(g.sum(axis=2)).max(axis=(1, 2)) <= 4e-16 * 10 * size).all()
    torque = np.cross(x[:, None], g).sum(axis=2)
    assert (np.abs(torque).max(axis=(1, 2)) <= 1e-13 * (1.0 + away) * size).all()


@pytest.mark.parametrize("law", INTERNAL)
@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_a_rigid_motion_changes_no_value_and_turns_the_gradient(law: str, seed: int) -> None:
    x, p = configurations(law, 16, seed)
    turn = random_rotations(16, seed)
    moved = np.einsum("nab,ncb->nca", turn, x) + np.random.default_rng(seed).standard_normal((16, 1, 3))
    assert np.abs(moved - x).max() > 0.1
    value, g = evaluate(law, x, p)
    value_moved, g_moved = evaluate(law, moved, p)
    if law in ("isometric", "tie"):  # its three rows are a vector that turns with what it joins
        np.testing.assert_allclose(value_moved, np.einsum("nab,nb->na", turn, value), atol=1e-12)
        return
    np.testing.assert_allclose(value_moved, value, atol=1e-12)
    expected = np.einsum("nab,nrcb->nrca", turn, g)
    np.testing.assert_allclose(g_moved, expected, atol=1e-11 * np.abs(g).max())


@pytest.mark.parametrize("law", INTERNAL)
@pytest.mark.parametrize("factor", [0.5, 8.0])
def test_the_unit_of_length_is_of_no_consequence(law: str, factor: float) -> None:
    """Scaled by a power of two, every bit of the value follows its dimension."""
    x, p = configurations(law, 64, seed=5)
    rest, dimension = p, 0
    if law == "distance":
        rest, dimension = factor * p, 1
    elif law == "membrane":
        rest = p / factor
    elif law in ("orthotropic", "strain_limit"):
        rest = np.c_[p[:, :4] / factor, p[:, 4]]
    elif law in ("arap_tet", "neo_hookean", "volume"):
        rest = p / factor
    elif law == "isometric":
        dimension = 1
    elif law in ("curved", "tie"):
        rest, dimension = np.c_[p[:, :-1], factor * p[:, -1]], 1
    for dtype in ("float64", "float32"):
        value, g = evaluate(law, x, p, dtype)
        scaled, g_scaled = evaluate(law, factor * x, rest, dtype)
        np.testing.assert_array_equal(scaled, value * factor**dimension)
        np.testing.assert_array_equal(g_scaled, g * factor ** (dimension - 1))


@pytest.mark.parametrize("law", SHAPES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_width_of_the_lanes_changes_no_bit(law: str, dtype: str) -> None:
    x, p = configurations(law, 100, seed=7)
    for one, many in zip(evaluate(law, x, p, dtype, 1), evaluate(law, x, p, dtype, 16), strict=True):
        assert one.dtype == dtype
        assert np.isfinite(one).all()
        assert one.tobytes() == many.tobytes()


@pytest.mark.parametrize("law", SHAPES)
def test_single_precision_is_double_precision_rounded(law: str) -> None:
    x, p = configurations(law, 500, seed=9)
    x, p = x.astype("float32").astype(float), p.astype("float32").astype(float)
    for exact, short in zip(evaluate(law, x, p), evaluate(law, x, p, "float32"), strict=True):
        error = np.abs(short - exact).max()
        assert error < 2e-5 * np.abs(exact).max()
        if law not in ("attachment", "isometric"):
            assert error > 0.0
