"""The friction law: a circular cone with a static and a kinetic radius."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.backend.jit import kernel
from pliant.backend.lanes import Lanes, load, load3, store3
from pliant.laws.friction import coulomb, tangential
from tests.laws.batches import in_lanes, out_of_lanes, random_rotations

Array = np.ndarray

PRECISIONS = ["float64", "float32"]
SEEDS = st.integers(0, 2**32 - 1)


@kernel
def friction(f: Any, normal: Any, mu: Any, n: Any, out: Any, along: Any, lanes: Any) -> None:
    """f, n (M, 1, 3, L), normal (M, L), mu (2,); out and along as f."""
    for k in range(f.shape[0]):
        wish = load3(f[k], 0, lanes)
        store3(out[k], 0, coulomb(wish, load(normal, (k,), lanes), mu[0], mu[1]), lanes)
        store3(along[k], 0, tangential(wish, load3(n[k], 0, lanes)), lanes)


def apply(
    f: Array, normal: Array, static: float, kinetic: float, n: Array | None = None, dtype: Any = "float64"
) -> tuple[Array, Array]:
    """The correction on the cone (m, 3), and the part of f at right angles to n (m, 3)."""
    lanes_f = in_lanes(f[:, None], 16, dtype)
    lanes_n = in_lanes((np.zeros_like(f) if n is None else n)[:, None], 16, dtype)
    out, along = np.full_like(lanes_f, np.nan), np.full_like(lanes_f, np.nan)
    mu = np.array([static, kinetic], dtype)
    friction(lanes_f, in_lanes(normal, 16, dtype), mu, lanes_n, out, along, Lanes(16))
    return out_of_lanes(out, len(f))[:, 0], out_of_lanes(along, len(f))[:, 0]


@pytest.mark.parametrize("dtype", PRECISIONS)
@settings(max_examples=30, deadline=None)
@given(seed=SEEDS)
def test_inside_the_static_cone_nothing_changes_outside_the_kinetic_length_remains(
    dtype: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    f = (rng.standard_normal((200, 3)) * 10.0 ** rng.uniform(-6, 0, (200, 1))).astype(dtype).astype(float)
    normal = (10.0 ** rng.uniform(-6, 0, 200)).astype(dtype).astype(float)
    kinetic = rng.uniform(0.1, 1.0)
    static = kinetic * rng.uniform(1.0, 2.0)
    out, _ = apply(f, normal, static, kinetic, dtype=dtype)
    size = np.linalg.norm(f, axis=1)
    ratio = size / (static * normal)
    sticks, slides = ratio < 1 - 1e-6, ratio > 1 + 1e-6
    assert min(sticks.sum(), slides.sum()) > 10
    np.testing.assert_array_equal(out[sticks], f[sticks])
    eps = 20 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(
        np.linalg.norm(out[slides].astype(float), axis=1), kinetic * normal[slides], rtol=eps
    )
    direction = f[slides] / size[slides, None]
    reached = out[slides] / np.linalg.norm(out[slides].astype(float), axis=1)[:, None]
    np.testing.assert_allclose(reached, direction, atol=eps)


def test_the_cone_is_round() -> None:
    """The same length in every direction; a box per axis would reach sqrt 2 of it at 45 degrees."""
    a = np.linspace(0.0, 2 * np.pi, 720, endpoint=False)
    f = np.stack([np.cos(a), np.sin(a), 0 * a], axis=1)
    out, _ = apply(f, np.ones(720), 0.5, 0.4)
    np.testing.assert_allclose(np.linalg.norm(out, axis=1), 0.4, rtol=1e-14)
    np.testing.assert_allclose(out, 0.4 * f, atol=1e-15)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_the_thresholds(dtype: str) -> None:
    eps = float(np.finfo(dtype).eps)
    f = np.array([[0.5, 0.0, 0.0], [0.5 * (1 + 4 * eps), 0.0, 0.0], [0.45, 0.0, 0.0]])
    out, _ = apply(f, np.ones(3), 0.5, 0.25, dtype=dtype)
    np.testing.assert_allclose(out[:, 0], [0.5, 0.25, 0.45], rtol=2 * eps)  # on it, just over it, within


def test_static_and_kinetic_alike_leave_no_jump() -> None:
    f = np.array([[0.3 * (1 - 1e-9), 0.0, 0.0], [0.3 * (1 + 1e-9), 0.0, 0.0]])
    out, _ = apply(f, np.ones(2), 0.3, 0.3)
    np.testing.assert_allclose(out[:, 0], 0.3, rtol=3e-9)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_no_pressure_no_wish_and_no_coefficient_give_no_friction(dtype: str) -> None:
    one = np.array([[0.3, -0.4, 0.0]])
    np.testing.assert_array_equal(apply(one, np.zeros(1), 0.5, 0.4, dtype=dtype)[0], 0.0)
    np.testing.assert_array_equal(apply(0 * one, np.ones(1), 0.5, 0.4, dtype=dtype)[0], 0.0)
    np.testing.assert_array_equal(apply(0 * one, np.zeros(1), 0.5, 0.4, dtype=dtype)[0], 0.0)
    np.testing.assert_array_equal(apply(one, np.ones(1), 0.0, 0.0, dtype=dtype)[0], 0.0)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_the_tangential_part_is_square_to_the_normal_and_the_rest_is_along_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    u, n = rng.standard_normal((64, 3)), random_rotations(64, seed)[:, :, 0]
    _, along = apply(u, np.ones(64), 1.0, 1.0, n)
    np.testing.assert_allclose((along * n).sum(axis=1), 0.0, atol=1e-14)
    np.testing.assert_allclose(along + (u * n).sum(axis=1)[:, None] * n, u, atol=1e-14)
