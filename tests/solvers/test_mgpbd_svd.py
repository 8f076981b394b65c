"""Singular values of 3 x 3 matrices, against LAPACK's."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.solvers.mgpbd.svd import signed_svd

Array = np.ndarray


def split(f: Array) -> tuple[Array, Array, Array]:
    """u, s, vt, from poisoned memory."""
    u, s, vt = np.full(f.shape, np.nan), np.full(f.shape[:2], np.nan), np.full(f.shape, np.nan)
    signed_svd(f, u, s, vt)
    return u, s, vt


def hard() -> Array:
    """Random, nearly rotations, mirrored, flat, of rank one, zero, graded over ten decades."""
    rng = np.random.default_rng(0)
    some = rng.normal(size=(400, 3, 3))
    turns = np.linalg.qr(some)[0]
    flat, line = some[:50].copy(), some[50:100].copy()
    flat[:, :, 2] = 0.3 * flat[:, :, 0] - flat[:, :, 1]
    line[:, :, 1:] = line[:, :, :1] * np.array([2.0, -0.5])
    graded = some[100:150] * np.array([1.0, 1e-5, 1e-10])
    nearly = turns + 1e-9 * some
    exact = np.stack([np.eye(3), -np.eye(3), np.diag([1.0, 2, 3]), np.diag([1.0, 1, -1]), np.zeros((3, 3))])
    return np.concatenate([some, turns, nearly, flat, line, graded, exact, 1e-100 * some, 1e100 * some])


def test_factors_multiply_and_are_rotations() -> None:
    f = hard()
    u, s, vt = split(f)
    size = np.linalg.norm(f, axis=(1, 2))[:, None, None]
    assert np.all(np.abs((u * s[:, None]) @ vt - f) <= 4e-15 * size)
    for turn in (u, vt):
        np.testing.assert_allclose(
            turn @ turn.transpose(0, 2, 1), np.broadcast_to(np.eye(3), f.shape), atol=4e-15
        )
        np.testing.assert_allclose(np.linalg.det(turn), 1.0, atol=1e-14)
    assert np.all(np.diff(np.abs(s), axis=1) <= 0)
    assert np.all(s[:, :2] >= 0)


def test_values_are_lapacks_and_the_sign_that_of_the_determinant() -> None:
    f = hard()
    _, s, _ = split(f)
    exact = np.linalg.svd(f)[1]
    assert np.all(np.abs(np.abs(s) - exact) <= 4e-15 * exact[:, :1])
    clear = exact[:, 2] > 1e-6 * exact[:, 0]
    assert clear.sum() > 1000
    scaled = f[clear] / exact[clear, :1, None]
    np.testing.assert_array_equal(np.sign(s[clear, 2]), np.sign(np.linalg.det(scaled)))
    assert np.any(s[:, 2] < -0.1)
    assert np.any(s[:, 2] > 0.1)


@pytest.mark.parametrize("factor", [2.0**-40, 4.0])
def test_units_change_no_bit(factor: float) -> None:
    f = hard()[:900]
    u, s, vt = split(f)
    v, t, wt = split(factor * f)
    np.testing.assert_array_equal(u, v)
    np.testing.assert_array_equal(factor * s, t)
    np.testing.assert_array_equal(vt, wt)
