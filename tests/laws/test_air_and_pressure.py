"""Laws of what acts on faces, against the formulas that they state written out in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.laws.air import face_drag
from pliant.laws.pressure import LEAST_VOLUME, area_vector, cone_volume, gas_push

Array = np.ndarray
SEEDS = st.integers(0, 2**32 - 1)


def vec(a: Array) -> tuple[float, float, float]:
    return float(a[0]), float(a[1]), float(a[2])


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS)
def test_the_force_of_air_is_the_stated_formula(seed: int) -> None:
    rng = np.random.default_rng(seed)
    u, a = rng.standard_normal(3) * 10, rng.standard_normal(3)
    kn, kt = rng.uniform(0, 2, 2)
    n, area = a / np.linalg.norm(a), np.linalg.norm(a)
    across = (u @ n) * n
    stated = area * np.linalg.norm(u) * (kn * across + kt * (u - across))
    assert np.abs(stated).max() > 0
    np.testing.assert_allclose(face_drag(vec(u), vec(a), kn, kt, np.inf), stated, rtol=1e-12)
    turned_over = face_drag(vec(u), vec(-a), kn, kt, np.inf)
    np.testing.assert_allclose(turned_over, stated, rtol=1e-12, err_msg="a face has no front")


def test_air_across_along_and_at_rest() -> None:
    assert face_drag((0.0, 0.0, 3.0), (0.0, 0.0, 2.0), 0.5, 0.1, np.inf) == (0.0, 0.0, 0.5 * 2 * 9)
    assert face_drag((3.0, 0.0, 0.0), (0.0, 0.0, 2.0), 0.5, 0.1, np.inf) == pytest.approx((0.1 * 2 * 9, 0, 0))
    assert face_drag((0.0, 0.0, 0.0), (0.0, 0.0, 2.0), 0.5, 0.1, np.inf) == (0.0, 0.0, 0.0)
    assert face_drag((1.0, 2.0, 3.0), (0.0, 0.0, 0.0), 0.5, 0.1, np.inf) == (0.0, 0.0, 0.0)


def test_the_limit_bounds_the_force_over_the_speed() -> None:
    f = face_drag((0.0, 0.0, 1e4), (0.0, 0.0, 2.0), 0.5, 0.1, 7.0)
    assert f == pytest.approx((0.0, 0.0, 7e4))


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS)
def test_area_vectors_and_cones_of_a_tetrahedron(seed: int) -> None:
    """Its faces' vectors add up to nothing, its cones to its volume from any apex; a third is the slope."""
    rng = np.random.default_rng(seed)
    x, apex = rng.standard_normal((4, 3)), rng.standard_normal(3)
    faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    volume = np.linalg.det(x[1:] - x[0]) / 6

    def cones(x: Array) -> float:
        return sum(cone_volume(vec(apex), *(vec(x[i]) for i in f)) for f in faces)

    assert cones(x) == pytest.approx(volume, rel=1e-9, abs=1e-12)
    vectors = np.array([area_vector(*(vec(x[i]) for i in f)) for f in faces])
    np.testing.assert_allclose(vectors.sum(axis=0), 0, atol=1e-13)
    gradient = np.zeros((4, 3))
    np.add.at(gradient, faces, vectors[:, None] / 3)
    step = 1e-6
    for i in range(4):
        for m in range(3):
            ahead, behind = x.copy(), x.copy()
            ahead[i, m] += step
            behind[i, m] -= step
            slope = (cones(ahead) - cones(behind)) / (2 * step)
            assert slope == pytest.approx(gradient[i, m], abs=1e-8)


@settings(max_examples=50, deadline=None)
@given(seed=SEEDS)
def test_the_push_of_a_gas_solves_its_equation(seed: int) -> None:
    """y = h^2 (K/V' - pa) at V' = V + G (y - old), V' > 0, however far from equilibrium it starts."""
    rng = np.random.default_rng(seed)
    h2 = 10.0 ** rng.uniform(-8, -2)
    volume, slope = 10.0 ** rng.uniform(-4, 0), 10.0 ** rng.uniform(-6, 6)
    ambient = rng.choice([0.0, 1e5])
    amount = volume * (ambient + rng.uniform(1, 1e4)) * rng.uniform(0.2, 5)
    old = h2 * rng.uniform(-1e3, 1e3)
    y = gas_push(volume, slope, amount, ambient, 0.0, old, h2)
    after = volume + slope * (y - old)
    size = h2 * (amount / volume + ambient) + abs(old)
    assert after > -1e-9 * volume
    assert abs((y + h2 * ambient) * after - h2 * amount) <= 1e-9 * size * (volume + slope * size)


def test_a_gas_at_rest_pushes_with_its_pressure() -> None:
    """Without slope (all pinned) y is h^2 p; a collapsed shell counts as the least volume."""
    assert gas_push(2.0, 0.0, 2.0 * 1500, 1000.0, 1e-9, 0.0, 1e-4) == pytest.approx(1e-4 * 500)
    least = LEAST_VOLUME * 2.0
    y = gas_push(-1.0, 0.0, 2.0 * 1500, 1000.0, least, 0.0, 1e-4)
    assert y == pytest.approx(1e-4 * (2.0 * 1500 / least - 1000))
