"""The closest proper rotation against the singular value decomposition, for F of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pliant.backend.jit import kernel
from pliant.backend.lanes import Lanes, load3, store3
from pliant.laws.rotations import closest_rotation
from tests.laws.batches import in_lanes, out_of_lanes, random_rotations

Array = np.ndarray

PRECISIONS = ["float64", "float32"]


@kernel
def rotations(f: Any, r: Any, lanes: Any) -> None:
    """f, out: r (M, 3, 3, L): columns."""
    for n in range(f.shape[0]):
        r1, r2, r3 = closest_rotation(load3(f[n], 0, lanes), load3(f[n], 1, lanes), load3(f[n], 2, lanes))
        store3(r[n], 0, r1, lanes)
        store3(r[n], 1, r2, lanes)
        store3(r[n], 2, r3, lanes)


def closest(f: Array, dtype: Any) -> Array:
    """R (n, 3, 3) of F (n, 3, 3), by the law."""
    lanes = in_lanes(np.swapaxes(f, 1, 2), 16, dtype)
    r = np.full_like(lanes, np.nan)
    rotations(lanes, r, Lanes(16))
    return np.swapaxes(out_of_lanes(r, len(f)), 1, 2).astype(float)


def stretched(s: Array, seed: int, dtype: Any) -> Array:
    """F (n, 3, 3) in all directions with (signed) singular values s (n, 3), rounded to the precision."""
    turn = random_rotations(2 * len(s), seed)
    f = turn[: len(s)] @ (s[:, :, None] * turn[len(s) :])
    return f.astype(dtype).astype(float)


def exact(f: Array) -> tuple[Array, Array]:
    """R by singular values with the sign of the least of them turned where F is a reflection, and those."""
    u, s, v = np.linalg.svd(f)
    flip = np.where(np.linalg.det(u @ v) < 0.0, -1.0, 1.0)
    u[:, :, 2] *= flip[:, None]
    s[:, 2] *= flip
    return u @ v, s


def off_rotation(r: Array) -> float:
    """How far R is from orthonormal and right-handed."""
    return max(
        float(np.abs(np.swapaxes(r, 1, 2) @ r - np.eye(3)).max()), float(np.abs(np.linalg.det(r) - 1.0).max())
    )


def distance_lost(f: Array, r: Array) -> Array:
    """How much ``tr(R^T F)`` falls short of its maximum, relative to the largest singular value."""
    s = exact(f)[1]
    return (s.sum(axis=1) - np.einsum("nij,nij->n", r, f)) / np.maximum(s[:, 0], 1e-300)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize(
    "s",
    [(1, 1, 1), (1.01, 1, 0.99), (2, 1, 0.3), (1, 1, 1e-2), (1, 0.1, 0.1), (1, 1, 1e-4), (100, 1, 0.01),
     (1, 1, 0), (1, 0.5, 0), (1, 0.9, -0.2), (1, 0.9, -0.7)],
)  # fmt: skip
def test_it_is_the_rotation_of_the_singular_values(s: tuple[float, ...], dtype: str) -> None:
    """To 60 roundings over the gap ``s2 + s3``, by which R answers to a change of F at all.

    Much of that is LAPACK's: other ways to find R differ from it by as much.
    """
    f = stretched(np.tile(np.array(s, float), (4000, 1)), 1, dtype)
    r = closest(f, dtype)
    eps = float(np.finfo(dtype).eps)
    assert off_rotation(r) < 16 * eps
    reference, values = exact(f)
    gap = (values[:, 1] + values[:, 2]) / values[:, 0]
    assert (np.abs(r - reference).max(axis=(1, 2)) < 60 * eps / np.minimum(gap, 0.5)).all()


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_random_matrices_half_of_them_reflections(dtype: str) -> None:
    f = np.random.default_rng(3).standard_normal((20000, 3, 3)).astype(dtype).astype(float)
    r = closest(f, dtype)
    eps = float(np.finfo(dtype).eps)
    assert off_rotation(r) < 16 * eps
    reference, values = exact(f)
    gap = (values[:, 1] + values[:, 2]) / values[:, 0]
    assert ((values[:, 2] < 0).mean() > 0.4).all()
    clear = gap > 0.05
    assert clear.mean() > 0.9
    error = np.abs(r - reference).max(axis=(1, 2))
    assert (error[clear] < 60 * eps / gap[clear]).all()
    assert distance_lost(f, r).max() < (1e-8 if dtype == "float64" else 1e-5)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("thin", [1e-4, 1e-8, 1e-15, 1e-30, 0.0])
@pytest.mark.parametrize("kind", ["plate", "needle", "folded needle", "inside out", "mirrored"])
def test_where_several_are_as_close_it_is_one_of_them(kind: str, thin: float, dtype: str) -> None:
    """|F - R| is right, whatever R; that is what energy and forces need."""
    s = {
        "plate": (1.0, 1.0, thin),
        "needle": (1.0, thin, thin),
        "folded needle": (1.0, thin, -thin),
        "inside out": (1.0, 1.0, -1.0 + thin),
        "mirrored": (1.0, 0.5, -0.5 + thin),
    }[kind]
    f = stretched(np.tile(s, (4000, 1)), 2, dtype)
    r = closest(f, dtype)
    eps = float(np.finfo(dtype).eps)
    assert off_rotation(r) < 16 * eps
    assert distance_lost(f, r).max() < (3e-6 if dtype == "float64" else 3e-3)
    if thin < eps**2:
        assert distance_lost(f, r).max() < 2e4 * eps


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_whatever_the_singular_values_it_is_a_rotation_and_all_but_the_closest(dtype: str) -> None:
    """Values over eight decades, ties and reflections: the worst of 200,000."""
    rng = np.random.default_rng(5)
    s = 10.0 ** rng.uniform(-8, 0, (200000, 3))
    s[:100000, 2] = s[:100000, 1] * (1.0 + 10.0 ** rng.uniform(-17, -1, 100000))
    s[:, 0] = 1.0
    s[:, 2] *= rng.choice([-1.0, 1.0], len(s))
    f = stretched(s, 6, dtype)
    r = closest(f, dtype)
    assert off_rotation(r) < 16 * float(np.finfo(dtype).eps)
    assert distance_lost(f, r).max() < (3e-5 if dtype == "float64" else 1e-2)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_lattice_matrices_repeat_and_zero_gives_the_identity(dtype: str) -> None:
    f = np.random.default_rng(7).choice([-2.0, -1.0, 0.0, 1.0, 3.0], (20000, 3, 3))
    f[0] = 0.0
    r = closest(f, dtype)
    np.testing.assert_array_equal(r[0], np.eye(3))
    assert off_rotation(r) < 16 * float(np.finfo(dtype).eps)
    assert distance_lost(f, r).max() < 2e4 * float(np.finfo(dtype).eps)
    np.testing.assert_array_equal(closest(f[::-1], dtype), r[::-1])


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("size", [1e-30, 1e-12, 1e12, 1e30])
def test_the_size_of_f_is_of_no_consequence(size: float, dtype: str) -> None:
    f = np.random.default_rng(8).standard_normal((1000, 3, 3))
    f *= 2.0 ** np.round(np.log2(size))
    np.testing.assert_array_equal(closest(f, dtype), closest(f / 2.0 ** np.round(np.log2(size)), dtype))
