"""Our own angle functions against the library's in extended precision, over millions of points."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.backend.jit import kernel
from pliant.backend.lanes import Lanes, load, store
from pliant.laws.scalars import ATAN, PI, TAN_PI_8, arccos, arctan2, reciprocal, spacing, wrapped

Array = np.ndarray

WIDTH = 16
POINTS = 1 << 19
PRECISIONS = ["float64", "float32"]


@kernel
def functions(y: Any, x: Any, out: Any, lanes: Any) -> None:
    """out (M, 5, L): arctan2(y, x), arccos(x), wrapped(x), reciprocal(x), spacing(x)."""
    for n in range(x.shape[0]):
        a, b = load(y, (n,), lanes), load(x, (n,), lanes)
        store(out, (n, 0), arctan2(a, b), lanes)
        store(out, (n, 1), arccos(b), lanes)
        store(out, (n, 2), wrapped(b), lanes)
        store(out, (n, 3), reciprocal(b), lanes)
        store(out, (n, 4), spacing(b), lanes)


def in_lanes(dtype: Any, x: Array, y: Array | None = None) -> Array:
    """All five functions (5, n) of points (n,); the points are rounded to the precision first."""
    n, spare = len(x), -len(x) % WIDTH
    x, y = (np.pad(np.asarray(a, dtype), (0, spare)).reshape(-1, WIDTH) for a in (x, x if y is None else y))
    out = np.full((len(x), 5, WIDTH), np.nan, dtype)
    functions(y, x, out, Lanes(WIDTH))
    return np.moveaxis(out, 1, 0).reshape(5, -1)[:, :n]


def ulps(result: Array, exact: Array) -> float:
    """The largest error in units of the last place of the exact result."""
    unit = np.spacing(np.abs(exact).astype(result.dtype))
    return float((np.abs(result.astype(np.longdouble) - exact) / unit).max())


def points(rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
    """(y, x) around the circle, over sixteen decades, and near the seams of the reduction."""
    angle = rng.uniform(-np.pi, np.pi, POINTS)
    yield np.sin(angle), np.cos(angle)
    decades = 10.0 ** rng.uniform(-8.0, 8.0, (2, POINTS)) * rng.choice([-1.0, 1.0], (2, POINTS))
    yield decades[0], decades[1]
    seam = np.pi / 8.0 * rng.integers(-8, 9, POINTS) + 10.0 ** rng.uniform(-9, -1, POINTS)
    yield np.sin(seam), np.cos(seam)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_arctan2_is_good_to_four_units_in_the_last_place(dtype: str) -> None:
    worst = 0.0
    for y, x in points(np.random.default_rng(1)):
        y, x = y.astype(dtype), x.astype(dtype)
        exact = np.arctan2(y.astype(np.longdouble), x.astype(np.longdouble))
        worst = max(worst, ulps(in_lanes(dtype, x, y)[0], exact))
    assert 0.5 < worst < 4.0


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_arccos_is_good_to_five_units_in_the_last_place(dtype: str) -> None:
    rng, eps = np.random.default_rng(2), float(np.finfo(dtype).eps)
    near = 10.0 ** rng.uniform(np.log10(eps), 0.0, POINTS)
    worst = 0.0
    for x in (rng.uniform(-1.0, 1.0, POINTS), 1.0 - near, near - 1.0):
        x = x.astype(dtype)
        worst = max(worst, ulps(in_lanes(dtype, x)[1], np.arccos(x.astype(np.longdouble))))
    assert 0.5 < worst < 5.0


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_arccos_clamps_its_argument(dtype: str) -> None:
    result = in_lanes(dtype, np.array([1.0, 1.0 + 1e-6, 5.0, np.inf, -1.0, -1.0 - 1e-6, -np.inf, 0.0]))[1]
    pi = np.asarray(PI, dtype)
    np.testing.assert_array_equal(result, np.array([0, 0, 0, 0, pi, pi, pi, 0.5 * pi], dtype))


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_arctan2_is_exact_on_the_axes_and_nought_at_the_origin(dtype: str) -> None:
    y = np.array([0.0, -0.0, 1.0, -1.0, 0.0, -0.0, 0.0, -0.0])
    x = np.array([0.0, -0.0, 0.0, 0.0, 1.0, 1.0, -1.0, -1.0])
    pi = np.asarray(PI, dtype)
    expected = np.array([0, 0, pi / 2, -pi / 2, 0, 0, pi, pi], dtype)  # never -pi: (-pi, pi]
    np.testing.assert_array_equal(in_lanes(dtype, x, y)[0], expected)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_arctan2_holds_over_all_magnitudes(dtype: str) -> None:
    info = np.finfo(dtype)
    size = 2.0 ** np.arange(info.minexp - info.nmant, info.maxexp, dtype=float)
    result = in_lanes(
        dtype, np.concatenate([size, size, 0.0 * size]), np.concatenate([size, 0.0 * size, size])
    )[0]
    expected = np.repeat(np.array([PI / 4, 0.0, PI / 2], dtype), len(size))
    np.testing.assert_allclose(result, expected, rtol=4 * info.eps)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_wrapped_angles_are_the_same_direction_within_one_turn(dtype: str) -> None:
    angle = np.random.default_rng(3).uniform(-2 * np.pi, 2 * np.pi, 1 << 16).astype(dtype)
    result = in_lanes(dtype, angle)[2]
    pi, eps = np.asarray(PI, dtype), np.finfo(dtype).eps
    assert (result > -pi).all()
    assert (result <= pi).all()
    turns = (angle - result).astype(float) / (2 * np.pi)
    assert set(np.round(turns)) == {-1.0, 0.0, 1.0}
    np.testing.assert_allclose(turns, np.round(turns), atol=2 * eps)
    same = np.round(turns) == 0
    np.testing.assert_array_equal(result[same], angle[same])
    np.testing.assert_array_equal(
        in_lanes(dtype, np.array([pi, -pi, 0.0]))[2], np.array([pi, pi, 0.0], dtype)
    )


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_the_reciprocal_is_nought_where_there_is_none(dtype: str) -> None:
    x = np.array([0.0, -0.0, -2.0, np.nan, np.inf, 4.0, 3.0])
    expected = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.25, 1.0], dtype)
    expected[-1] /= np.asarray(3.0, dtype)
    np.testing.assert_array_equal(in_lanes(dtype, x)[3], expected)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_the_spacing_of_numbers_is_that_of_the_precision(dtype: str) -> None:
    x = np.array([0.0, 1.0, -7.3, 1e30, 1e-30])
    np.testing.assert_array_equal(in_lanes(dtype, x)[4], np.full(5, np.finfo(dtype).eps, dtype))


@settings(deadline=None)
@given(st.floats(-10.0, 10.0), st.floats(-10.0, 10.0))
def test_plain_numbers_take_the_same_way(y: float, x: float) -> None:
    lane = in_lanes("float64", np.array([x]), np.array([y]))[:, 0]
    plain = [arctan2(y, x), arccos(x), wrapped(x), reciprocal(x), spacing(x)]
    assert np.array(plain).tobytes() == lane.tobytes()


def test_the_polynomial_is_the_arc_tangent_over_its_argument() -> None:
    r = np.linspace(1e-3, TAN_PI_8, 1001)
    fit = np.polyval(ATAN[::-1], r**2)
    np.testing.assert_allclose(fit, np.arctan(r) / r, rtol=3e-16)
    assert pytest.approx(math.tan(math.pi / 8), rel=1e-15) == TAN_PI_8
