"""Collapsed, flat and folded elements: no law answers with NaN, and what it answers is what its page says."""

from __future__ import annotations

import numpy as np
import pytest

from tests.laws.batches import SHAPES, configurations, evaluate, random_params, random_rotations

Array = np.ndarray

PRECISIONS = ["float64", "float32"]
POOLS = {
    "coincident": [0.0, 1.0],
    "on a lattice": [-1.0, 0.0, 1.0],
    "one ulp apart": [1.0, 1.0 + 2.0**-23, 1.0 + 2.0**-52],
    "tiny": [0.0, 1e-20, -1e-20, 1.0],
    "very tiny": [0.0, 1e-10, 1e-30, 1.0],
    "squares underflow": [0.0, 1e-38, 1e-160, 1e-300, 1.0],
    "smallest numbers": [0.0, 1e-45, 5e-324, 1e-42, 1.0],
    "large": [0.0, 1e6, -1e6, 1.0],
}


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("law", SHAPES)
def test_no_configuration_however_collapsed_gives_nan(law: str, pool: str, dtype: str) -> None:
    rng = np.random.default_rng(11)
    x = rng.choice(POOLS[pool], (20000, SHAPES[law].corners, 3))
    value, g = evaluate(law, x, random_params(law, rng, len(x)), dtype)
    assert np.isfinite(value).all()
    assert np.isfinite(g).all()


@pytest.mark.parametrize("law", ["dihedral", "dihedral_acos"])
@pytest.mark.parametrize("size", [1e-18, 1e-19, 1e-20, 1e-21, 1e-22])
def test_an_area_whose_square_is_almost_nothing_gives_no_infinite_gradient(size: float, law: str) -> None:
    """In float32 its reciprocal is just within range, and may leave it when multiplied with the edge."""
    base = np.array([[-1.0, 1.0, -1.0], [1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 0.3, 0.7]])
    scale = np.random.default_rng(4).uniform(0.5, 1.5, (4000, 1, 1))
    x = np.tile(base, (4000, 1, 1)) * scale
    x[:, [0, 2]] *= size  # the first triangle: an edge of length 1 and next to no height
    value, g = evaluate(law, x, np.zeros((4000, 1)), "float32")
    assert np.isfinite(value).all()
    assert np.isfinite(g).all()


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_coincident_ends_have_no_direction(dtype: str) -> None:
    x = np.broadcast_to([0.1, -0.3, 0.7], (4, 2, 3))
    value, g = evaluate("distance", x, np.full((4, 1), 0.5), dtype)
    np.testing.assert_array_equal(value, -0.5)
    np.testing.assert_array_equal(g, 0.0)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_a_triangle_at_rest_has_no_shape_gradient_but_a_trace_gradient(dtype: str) -> None:
    x = np.array([[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    value, g = evaluate("membrane", x, np.array([[1.0, 0.0, 0.0, 1.0]]), dtype)
    np.testing.assert_array_equal(value, 0.0)
    np.testing.assert_array_equal(g[0, 0], 0.0)
    np.testing.assert_array_equal(g[0, 1], [[-1, -1, 0], [1, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_a_triangle_collapsed_to_a_point_is_a_rotation_away_from_rest(dtype: str) -> None:
    x = np.full((4, 3, 3), 0.3)
    value, g = evaluate("membrane", x, np.tile([1.0, 0.0, 0.0, 1.0], (4, 1)), dtype)
    np.testing.assert_allclose(value, np.tile([np.sqrt(2.0), -2.0], (4, 1)), rtol=1e-7)  # |0 - R|, 0 - 2
    np.testing.assert_array_equal(g, 0.0)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize(
    "stretch", [(1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (1.0, -1.0), (0.7, -1.4), (-2.0, -2.0)]
)
def test_a_triangle_collapsed_to_a_line_pulls_apart_again(stretch: tuple[float, float], dtype: str) -> None:
    """Its energy is right: |F - R|^2 = (s - 1)^2 + 1 with the one singular value s; so is its force."""
    direction = random_rotations(16, 4)[:, :, 0]
    x = np.stack([0.0 * direction, stretch[0] * direction, stretch[1] * direction], axis=1)
    value, g = evaluate("membrane", x, np.tile([1.0, 0.0, 0.0, 1.0], (16, 1)), dtype)
    s = np.hypot(*stretch)
    np.testing.assert_allclose(value[:, 0], np.hypot(s - 1.0, 1.0), rtol=1e-6)
    np.testing.assert_allclose(value[:, 1], s - 2.0, atol=1e-6)
    across = g[:, 0] - np.einsum("nca,na,nb->ncb", g[:, 0], direction, direction)
    np.testing.assert_allclose(np.linalg.norm(across, axis=(1, 2)) > 0.1, True)
    assert np.abs(g).max() < 2.0


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("law", ["dihedral", "dihedral_acos"])
@pytest.mark.parametrize(
    "corners",
    [
        [[0, 0, 0], [1, 0, 0], [2, 0, 0], [0.5, -1, 0]],  # first triangle without area
        [[0, 0, 0], [1, 0, 0], [0.5, 1, 0], [0.25, 0, 0]],  # second
        [[0, 0, 0], [1, 0, 0], [0, 0, 0], [1, 0, 0]],  # opposite vertices on the ends
        [[0, 0, 0], [0, 0, 0], [0.5, 1, 0], [0.5, -1, 0]],  # no shared edge
        [[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]],  # a point
    ],
)
def test_a_hinge_with_a_triangle_of_no_area_has_no_gradient(corners: list, law: str, dtype: str) -> None:
    x = np.array([corners], float)
    value, g = evaluate(law, x, np.array([[0.25]]), dtype)
    np.testing.assert_array_equal(g, 0.0)
    assert value[0, 0] == pytest.approx((0.0 if law == "dihedral" else 0.5 * np.pi) - 0.25, abs=1e-6)


def folded(angle: float) -> Array:
    """A hinge of two right isosceles halves, folded by an angle; positive is a ridge seen from above."""
    return np.array([[0, 0, 0], [1, 0, 0], [0.5, 0.5, 0], [0.5, -0.5 * np.cos(angle), -0.5 * np.sin(angle)]])


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_the_signed_angle_is_smooth_through_flat(dtype: str) -> None:
    angles = np.array([-1e-3, -1e-6, 0.0, 1e-6, 1e-3])
    value, g = evaluate("dihedral", np.stack([folded(a) for a in angles]), np.zeros((5, 1)), dtype)
    np.testing.assert_allclose(value[:, 0], angles, atol=1e-9)
    one_over_height = np.array([[0, 0, 2.0], [0, 0, 2.0], [0, 0, -2.0], [0, 0, -2.0]])
    np.testing.assert_allclose(g[2, 0], one_over_height, atol=1e-6)
    assert np.abs(g - g[2]).max() < 3e-3


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_the_signed_angle_holds_up_to_a_full_fold(dtype: str) -> None:
    angles = np.array([-np.pi + 1e-3, -3.0, 3.0, np.pi - 1e-3])
    value, g = evaluate("dihedral", np.stack([folded(a) for a in angles]), np.zeros((4, 1)), dtype)
    np.testing.assert_allclose(value[:, 0], angles, rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(g[:, 0, 2], axis=1), 2.0, rtol=1e-6)
    exact = folded(0.0)
    exact[3] = exact[2]  # both triangles on top of each other
    value, g = evaluate("dihedral", exact[None], np.zeros((1, 1)), dtype)
    assert abs(value[0, 0]) == pytest.approx(np.pi, rel=1e-6)
    np.testing.assert_allclose(np.linalg.norm(g[0, 0, 2:], axis=1), 2.0, rtol=1e-6)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_the_difference_from_the_rest_angle_takes_the_short_way_round(dtype: str) -> None:
    x = np.stack([folded(3.0), folded(-3.0), folded(3.0)])
    value, _ = evaluate("dihedral", x, np.array([[-3.0], [3.0], [2.5]]), dtype)
    np.testing.assert_allclose(value[:, 0], [6.0 - 2 * np.pi, 2 * np.pi - 6.0, 0.5], rtol=1e-6)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_the_unsigned_angle_forgets_the_side_and_has_no_gradient_at_flat(dtype: str) -> None:
    x = np.stack([folded(0.5), folded(-0.5), folded(0.0)])
    value, g = evaluate("dihedral_acos", x, np.zeros((3, 1)), dtype)
    np.testing.assert_allclose(value[:2, 0], 0.5, rtol=1e-6)
    assert value[2, 0] == 0.0
    np.testing.assert_array_equal(g[2], 0.0)
    assert (np.abs(g[:2]).max(axis=(1, 2, 3)) > 1.0).all(), "away from flat it has one"


def test_close_to_flat_the_unsigned_angle_has_lost_half_its_digits() -> None:
    """The arc cosine of 1 - angle^2/2: below 1e-8 nothing is left, where the signed angle is still exact."""
    angles = np.array([1e-2, 1e-4, 1e-6, 1e-9])
    turn = random_rotations(500, 8)
    for angle in angles:
        x = np.einsum("nab,cb->nca", turn, folded(angle))
        signed = np.abs(evaluate("dihedral", x, np.zeros((500, 1)))[0] - angle).max()
        unsigned = np.abs(evaluate("dihedral_acos", x, np.zeros((500, 1)))[0] - angle).max()
        assert signed < 2e-15
        assert unsigned < 2e-15 / angle + 3e-8
        if angle < 1e-3:
            assert unsigned > 100 * signed


@pytest.mark.parametrize("law", SHAPES)
def test_nan_of_one_lane_stays_in_its_lane(law: str) -> None:
    x, p = configurations(law, 16, seed=2)
    good, g_good = evaluate(law, x, p)
    x = x.copy()
    x[5, 0, 1] = np.nan
    value, g = evaluate(law, x, p)
    rest = np.arange(16) != 5
    assert value[rest].tobytes() == good[rest].tobytes()
    assert g[rest].tobytes() == g_good[rest].tobytes()
    assert np.isnan(value[5]).any() or np.isnan(g[5]).any()
