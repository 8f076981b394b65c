"""The membrane law: its rotation against singular values, its energy against plane stress."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.backend.jit import kernel
from pliant.backend.lanes import Lanes, load3, store, store3
from pliant.laws.membrane import rotation
from pliant.materials import Fabric, membrane_compliance
from tests.laws.batches import evaluate, in_lanes, out_of_lanes, random_rotations

Array = np.ndarray

PRECISIONS = ["float64", "float32"]


@kernel
def rotations(f: Any, r: Any, trace: Any, lanes: Any) -> None:
    """f (M, 2, 3, L) columns; out: r (M, 2, 3, L), trace (M, L)."""
    for n in range(f.shape[0]):
        r1, r2, total = rotation(load3(f[n], 0, lanes), load3(f[n], 1, lanes))
        store3(r[n], 0, r1, lanes)
        store3(r[n], 1, r2, lanes)
        store(trace, (n,), total, lanes)


def closest_rotation(f: Array, dtype: Any) -> tuple[Array, Array]:
    """R (n, 3, 2) and the sum of the singular values (n,) of F (n, 3, 2), by the law."""
    lanes = in_lanes(np.swapaxes(f, 1, 2), 16, dtype)
    r, trace = np.full_like(lanes, np.nan), np.full((len(lanes), 16), np.nan, dtype)
    rotations(lanes, r, trace, Lanes(16))
    return np.swapaxes(out_of_lanes(r, len(f)), 1, 2).astype(float), out_of_lanes(trace, len(f)).astype(float)


def stretched(thin: float, n: int, seed: int, dtype: Any) -> Array:
    """F (n, 3, 2) in all directions with singular values 1 and ``thin``, rounded to the precision."""
    flat = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, 2, 2)))[0]
    f = (random_rotations(n, seed)[:, :, :2] * np.array([1.0, thin])) @ flat
    return f.astype(dtype).astype(float)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("thin", [5.0, 1.0, 0.5, 1e-1, 1e-2, 1e-3])
def test_the_rotation_is_that_of_the_singular_value_decomposition(thin: float, dtype: str) -> None:
    f = stretched(thin, 2000, 1, dtype)
    u, s, v = np.linalg.svd(f, full_matrices=False)
    r, trace = closest_rotation(f, dtype)
    eps = float(np.finfo(dtype).eps)
    np.testing.assert_allclose(r, u @ v, atol=20 * eps * max(1.0, 1.0 / thin))
    np.testing.assert_allclose(trace, s.sum(axis=1), rtol=8 * eps)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("thin", [1e-4, 1e-6, 1e-7, 1e-8, 1e-12, 1e-15, 1e-16, 1e-17, 1e-30, 0.0])
def test_however_thin_the_triangle_the_rotation_is_one_and_the_distance_right(
    thin: float, dtype: str
) -> None:
    """Which way the second axis points gets lost to rounding; its length, |F - R| and the trace must not."""
    f = stretched(thin, 5000, 2, dtype)
    u, s, v = np.linalg.svd(f, full_matrices=False)
    r, trace = closest_rotation(f, dtype)
    bound = 12 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(np.swapaxes(r, 1, 2) @ r, np.broadcast_to(np.eye(2), (5000, 2, 2)), atol=bound)
    np.testing.assert_allclose(trace, s.sum(axis=1), rtol=bound)
    exact = np.linalg.norm(f - u @ v, axis=(1, 2))
    np.testing.assert_allclose(np.linalg.norm(f - r, axis=(1, 2)), exact, atol=bound)


LENGTHS = st.sampled_from([0.0, 1.0, -1.0]) | st.floats(1e-3, 4.0) | st.floats(-4.0, -1e-3)


@settings(max_examples=60, deadline=None)
@given(a=LENGTHS, b=LENGTHS, seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from(PRECISIONS))
def test_columns_on_one_line_leave_a_rotation(a: float, b: float, seed: int, dtype: str) -> None:
    along = random_rotations(16, seed)[:, :, 0]
    f = np.stack([a * along, b * along], axis=2).astype(dtype).astype(float)
    if a == b == 0.0:
        return
    r, trace = closest_rotation(f, dtype)
    bound = 12 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(np.swapaxes(r, 1, 2) @ r, np.broadcast_to(np.eye(2), (16, 2, 2)), atol=bound)
    np.testing.assert_allclose(trace, np.linalg.norm(f, axis=(1, 2)), rtol=bound)


def law_stress(material: Fabric, strain: Array) -> Array:
    """Membrane stress (2, 2) [N/m] of one triangle under a homogeneous strain, from C, grad C and alpha."""
    area = 0.5
    x = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    moved = x.copy()
    moved[:, :2] = x[:, :2] @ (np.eye(2) + strain)
    value, g = evaluate("membrane", moved[None], np.array([[1.0, 0.0, 0.0, 1.0]]))
    alpha = membrane_compliance(material, np.array([area]))
    force = ((value / alpha)[:, :, None, None] * g).sum(axis=1)[0]  # dU/dx
    return (force[:, :2].T @ x[:, :2]) / area


def law_energy(material: Fabric, strain: Array) -> float:
    x = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    x[:, :2] = x[:, :2] @ (np.eye(2) + strain)
    value, _ = evaluate("membrane", x[None], np.array([[1.0, 0.0, 0.0, 1.0]]))
    return float((value**2 / (2 * membrane_compliance(material, np.array([0.5])))).sum())


@settings(max_examples=50, deadline=None)
@given(nu=st.floats(0.0, 0.9, allow_subnormal=False), seed=st.integers(0, 2**32 - 1))
def test_small_strain_gives_plane_stress(nu: float, seed: int) -> None:
    """sigma t = E t/(1 - nu^2) ((1 - nu) e + nu tr e I), to 1e-6 at strains of 1e-7."""
    material = Fabric(youngs_modulus=2e6, thickness=3e-4, poisson_ratio=nu)
    e = np.random.default_rng(seed).standard_normal((2, 2))
    e = 0.5e-7 * (e + e.T)
    modulus = material.membrane_stiffness / (1 - nu**2)
    expected = modulus * ((1 - nu) * e + nu * np.trace(e) * np.eye(2))
    size = modulus * np.abs(e).max()
    np.testing.assert_allclose(law_stress(material, e), expected, atol=1e-6 * size)
    exact = 0.5 * 0.5 * (expected * e).sum()
    assert law_energy(material, e) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("nu", [0.0, 0.25, 0.5])
def test_uniaxial_stress_reads_young_and_poisson(nu: float) -> None:
    material = Fabric(youngs_modulus=1e6, thickness=1e-3, poisson_ratio=nu)
    pull = 1e-7
    s = law_stress(material, np.diag([pull, -nu * pull]))
    assert s[0, 0] / pull == pytest.approx(material.membrane_stiffness, rel=1e-6)
    assert abs(s[1, 1]) < 1e-6 * s[0, 0]
    wrong = law_stress(material, np.diag([pull, -(nu + 0.1) * pull]))
    assert abs(wrong[1, 1]) > 0.05 * s[0, 0], "another contraction is not free of stress across"


def test_without_the_trace_row_poissons_ratio_is_nought() -> None:
    alpha = membrane_compliance(Fabric(poisson_ratio=0.0), np.array([0.5, 2.0]))
    assert np.isinf(alpha[:, 1]).all()
    assert np.isfinite(alpha[:, 0]).all()
