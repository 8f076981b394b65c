"""The limit on stretch: its value is the largest singular value, its gradient that of the decomposition."""

from __future__ import annotations

import numpy as np
import pytest

from tests.laws.batches import evaluate, random_rotations

Array = np.ndarray

PRECISIONS = ["float64", "float32"]
UNIT = np.array([1.0, 0.0, 0.0, 1.0])


def stretched(first: float, second: float, n: int, seed: int) -> Array:
    """F (n, 3, 2) in all directions with these two singular values."""
    flat = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, 2, 2)))[0]
    return (random_rotations(n, seed)[:, :, :2] * np.array([first, second])) @ flat


def limit_of(f: Array, most: float, dtype: str) -> tuple[Array, Array]:
    """C (n,) and its gradient with respect to F (n, 3, 2)."""
    x = np.stack([np.zeros_like(f[:, :, 0]), f[:, :, 0], f[:, :, 1]], axis=1)
    value, g = evaluate("strain_limit", x, np.tile([*UNIT, most], (len(f), 1)), dtype)
    return value[:, 0], np.swapaxes(g[:, 0, 1:], 1, 2)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("second", [1.9, 1.0, 0.5, 1e-3, 1e-7, 0.0])
def test_the_row_is_the_largest_singular_value_less_the_limit(second: float, dtype: str) -> None:
    f = stretched(2.0, second, 1000, 3).astype(dtype).astype(float)
    u, s, v = np.linalg.svd(f, full_matrices=False)
    value, g = limit_of(f, 1.05, dtype)
    eps = float(np.finfo(dtype).eps)
    np.testing.assert_allclose(value, s[:, 0] - np.asarray(1.05, dtype), atol=16 * eps)
    outer = u[:, :, :1] @ v[:, :1]
    np.testing.assert_allclose(g, outer, atol=100 * eps / (2.0 - second))


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_where_both_stretches_meet_the_triangle_shortens_alike_in_all_directions(dtype: str) -> None:
    """Exactly so for columns of a square triangle; half the rotation, as good a direction as any."""
    f = np.array([[[1.5, 0.0], [0.0, 1.5], [0.0, 0.0]]])
    value, g = limit_of(f, 1.0, dtype)
    assert value[0] == 0.5
    np.testing.assert_array_equal(g[0], [[0.5, 0.0], [0.0, 0.5], [0.0, 0.0]])
    f = stretched(1.5, 1.5, 1000, 4)
    value, g = limit_of(f, 1.0, dtype)
    np.testing.assert_allclose(value, 0.5, atol=1e-6)
    assert np.isfinite(g).all()
    # rounding may choose a direction, which is then a true one: the derivative along the stretch itself is 1
    shrink = (g * f).sum(axis=(1, 2)) / 1.5
    np.testing.assert_allclose(shrink, 1.0, atol=1e-5)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_squeezed_folded_and_collapsed_triangles_are_below_the_limit(dtype: str) -> None:
    squeezed = stretched(0.9, 0.2, 100, 5)
    assert (limit_of(squeezed, 1.0, dtype)[0] < -0.09).all()
    value, g = limit_of(np.zeros((4, 3, 2)), 1.05, dtype)
    np.testing.assert_allclose(value, -1.05, rtol=1e-6)
    np.testing.assert_array_equal(g, 0.0)
