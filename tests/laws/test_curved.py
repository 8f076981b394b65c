"""Bending about a curved rest shape: at rest nothing, flat the isometric law, between them one energy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.geometry import measures, shapes, topology
from pliant.geometry.mesh import TriMesh
from tests.laws.batches import configurations, evaluate, random_rotations

Array = np.ndarray

HINGE = np.array([[0, 1, 2, 3]])


def folded(angle: float, heights: tuple[float, float] = (0.7, 0.4), length: float = 1.0) -> Array:
    """A hinge (4, 3) with wings of two heights, folded by an angle; positive is a ridge seen from above."""
    c, s = np.cos(angle), np.sin(angle)
    up, down = heights
    return np.array([[0, 0, 0], [length, 0, 0], [0.2, up, 0], [0.7, -down * c, -down * s]])


def params_of(x: Array, hinges: Array) -> Array:
    """Stencil and signed length at rest (H, 5)."""
    stencil, _ = measures.cotangent_stencil(x, hinges)
    return np.c_[stencil, measures.stencil_lengths(x, hinges, stencil)]


@pytest.mark.parametrize("rest", [-3.1, -1.0, -0.01, 0.0, 0.01, 0.6, 2.5, 3.1])
def test_the_stencil_of_a_folded_hinge_is_that_of_the_unfolded_one(rest: float) -> None:
    """And its signed length is 2 l sin(theta/2) for any fold of any rest shape."""
    flat, _ = measures.cotangent_stencil(folded(0.0, length=1.3), HINGE)
    bent, _ = measures.cotangent_stencil(folded(rest, length=1.3), HINGE)
    np.testing.assert_allclose(bent, flat, atol=1e-13)
    for angle in (-3.0, -0.4, 0.3, 2.0):
        length = measures.stencil_lengths(folded(angle, length=1.3), HINGE, bent)
        assert length[0] == pytest.approx(2 * 1.3 * np.sin(0.5 * angle), abs=1e-14)


@pytest.mark.parametrize(
    "mesh", [shapes.sphere(0.3, 2), shapes.tube(0.2, 0.5, 16, 5)], ids=["sphere", "tube"]
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_curved_shape_is_at_rest_wherever_it_is_put(mesh: TriMesh, dtype: str) -> None:
    hinges = topology.hinges(mesh.triangles)
    params = params_of(mesh.vertices, hinges)
    assert np.abs(params[:, 4]).max() > 0.01
    moved = mesh.vertices @ random_rotations(1, 7)[0].T + [1.0, -2.0, 0.5]
    value, _ = evaluate("curved", moved[hinges], params, dtype)
    assert np.abs(value).max() < 40 * np.finfo(dtype).eps


def test_turning_the_triangles_over_turns_the_sign() -> None:
    """A sphere is all ridges with its normals outwards, all valleys with them inwards."""
    ball = shapes.sphere(1.0, 1)
    for sign, triangles in ((1.0, ball.triangles), (-1.0, ball.triangles[:, ::-1])):
        hinges = topology.hinges(triangles)
        assert (sign * params_of(ball.vertices, hinges)[:, 4] > 0.1).all()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_with_a_flat_rest_shape_it_has_the_energy_and_the_force_of_the_isometric_law(seed: int) -> None:
    """However bent and stretched: C^2 = |sum K x|^2, C grad C = K (sum K x)."""
    x, p = configurations("curved", 64, seed)
    p[:, 4] = 0.0
    value, g = evaluate("curved", x, p)
    vector, rows = evaluate("isometric", x, p[:, :4])
    np.testing.assert_allclose(value[:, 0] ** 2, (vector**2).sum(axis=1), rtol=1e-11)
    force = (vector[:, :, None, None] * rows).sum(axis=1)
    np.testing.assert_allclose(value[:, :, None] * g[:, 0], force, atol=1e-11 * np.abs(force).max())


@pytest.mark.parametrize("rest", [-1.0, 0.2, 1.2])
def test_opening_costs_the_square_of_the_difference_and_reversing_four_times_flattening(rest: float) -> None:
    stencil, _ = measures.cotangent_stencil(folded(rest), HINGE)
    p = np.c_[stencil, measures.stencil_lengths(folded(rest), HINGE, stencil)]
    for angle in (-2.0, -0.5, 0.1, 0.9, 2.2):
        value, _ = evaluate("curved", folded(angle)[None], p)
        assert value[0, 0] == pytest.approx(2 * np.sin(0.5 * angle) - 2 * np.sin(0.5 * rest), abs=1e-14)
    flat, over = (evaluate("curved", folded(a)[None], p)[0][0, 0] for a in (1e-9, -rest))
    assert over**2 == pytest.approx(4 * flat**2, rel=1e-6)


@pytest.mark.parametrize("from_radius", [np.inf, 0.4, -0.4])
@pytest.mark.parametrize("to_radius", [0.2, 0.8, -0.8])
def test_bending_one_cylinder_into_another_stores_the_difference_of_the_curvatures(
    from_radius: float, to_radius: float
) -> None:
    """B/2 (1/R - 1/R0)^2 per area on an equilateral mesh, any direction of the axis; R < 0: a valley."""
    edge = 1 / 64
    mesh = shapes.equilateral((24 * edge, 24 * edge * np.sqrt(0.75)), edge)
    hinges = topology.hinges(mesh.triangles)
    middle = mesh.vertices[hinges[:, :2]].mean(axis=1)
    room = [6 * edge, 6 * edge * np.sqrt(0.75)]
    hinges = hinges[(np.abs(middle[:, :2] - 0.01 * edge) < room).all(axis=1)]
    for degrees in (0.0, 30.0, 50.0):
        rest = rolled(mesh.vertices, from_radius, degrees)
        stencil, area = measures.cotangent_stencil(rest, hinges)
        p = np.c_[stencil, measures.stencil_lengths(rest, hinges, stencil)]
        value, _ = evaluate("curved", rolled(mesh.vertices, to_radius, degrees)[hinges], p)
        energy = (0.5 * value[:, 0] ** 2 / area).sum() / (area.sum() / 3)
        exact = 0.5 * (1 / to_radius - 1 / from_radius) ** 2
        assert energy == pytest.approx(exact, rel=1e-2)


def rolled(x: Array, radius: float, degrees: float) -> Array:
    """A flat sheet in z = 0 rolled onto a cylinder, z < 0 inside (outside for a negative radius)."""
    if np.isinf(radius):
        return x.copy()
    a = np.radians(degrees)
    along, across = np.array([np.cos(a), np.sin(a), 0.0]), np.array([-np.sin(a), np.cos(a), 0.0])
    s = x @ along / radius
    out = radius * np.outer(np.sin(s), along) + np.outer(x @ across, across)
    out[:, 2] = radius * (np.cos(s) - 1.0)
    return out


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("rest", [-0.5, 0.5])
def test_a_hinge_pressed_flat_is_pushed_to_its_side_along_the_normal(rest: float, dtype: str) -> None:
    """Also where the sum is nothing but rounding, in any plane: its direction is then the mean normal."""
    p = np.repeat(params_of(folded(rest), HINGE), 200, axis=0)
    turn = random_rotations(200, 2)
    x = np.einsum("nab,cb->nca", turn, folded(0.0) * 0.01 + 1.0)
    p[:, 4] *= 0.01
    value, g = evaluate("curved", x, p, dtype)
    np.testing.assert_allclose(value[:, 0], -p[:, 4], rtol=1e-3)
    np.testing.assert_allclose(g[:, 0], p[:, :4, None] * turn[:, None, :, 2], atol=1e-3)


@pytest.mark.parametrize("rest", [-0.5, 0.5])
def test_a_hinge_that_is_flat_to_the_last_bit_is_pushed_to_its_side_though_it_is_strained(
    rest: float,
) -> None:
    """Its sum lies in the plane and would never leave it; with a flat rest shape it must not."""
    p = params_of(folded(rest), HINGE)
    x = folded(0.0)
    x[2, :2] += [0.05, 0.02]
    value, g = evaluate("curved", x[None], p)
    strain = np.linalg.norm((p[0, :4, None] * x).sum(axis=0))
    assert 0.01 < strain < abs(p[0, 4])
    assert value[0, 0] == pytest.approx(strain - p[0, 4], rel=1e-12)
    np.testing.assert_allclose(g[0, 0], p[0, :4, None] * [0.0, 0.0, 1.0], atol=1e-12)
    p[0, 4] = 0.0
    vector, _ = evaluate("isometric", x[None], p[:, :4])
    value, g = evaluate("curved", x[None], p)
    np.testing.assert_allclose(value[0, 0] * g[0, 0], p[0, :4, None] * vector[0], atol=1e-14)


def test_a_hinge_without_area_has_no_normal_and_moves_nowhere() -> None:
    x = np.full((1, 4, 3), 0.3)
    value, g = evaluate("curved", x, np.array([[1.0, 1.0, -1.0, -1.0, 0.2]]))
    assert value[0, 0] == -0.2
    np.testing.assert_array_equal(g, 0.0)
