"""The z-buffer against one that tries every triangle at every pixel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.viewer.raster import edge_functions, rasterise

W, H = 23, 17


def brute_force(corners: np.ndarray, depth: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Triangle and depth at each pixel, and whether it is too near to an edge or a tie to tell."""
    triangle, near = np.full((H, W), -1), np.full((H, W), np.inf)
    unsure = np.zeros((H, W), dtype=bool)
    for j in range(H):
        for i in range(W):
            for f in range(corners.shape[2]):
                m = corners[:, :, f].T
                if abs(np.linalg.det(m)) < 1e-9:
                    continue
                weight = np.linalg.solve(m, [i + 0.5, j + 0.5, 1.0])
                unsure[j, i] |= abs(weight.min()) < 1e-5 * np.abs(weight).max()
                if weight.min() < 0:
                    continue
                z = weight @ depth[:, f] / weight.sum()
                unsure[j, i] |= abs(z - near[j, i]) < 1e-5
                if z < near[j, i]:
                    triangle[j, i], near[j, i] = f, z
    return triangle, near, unsure


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 6), behind=st.booleans())
def test_the_same_as_brute_force(seed, n, behind):
    rng = np.random.default_rng(seed)
    w = rng.uniform(-1.0 if behind else 0.5, 3.0, size=(3, n))
    xy = rng.uniform(-10, 35, size=(3, 2, n))
    corners = np.concatenate([xy * w[:, None], w[:, None]], axis=1)
    if behind:  # triangles that cross the plane of the eye: homogeneous positions, not pixels
        corners[:, :2] = rng.uniform(-20, 50, size=(3, 2, n))
    expected, depth, unsure = brute_force(corners, w)
    triangle, near, _ = rasterise(corners, w, W, H)
    sure = ~unsure
    np.testing.assert_array_equal(triangle[sure], expected[sure])
    np.testing.assert_allclose(near[sure], depth[sure], rtol=1e-6)


def test_a_mesh_has_no_cracks_and_no_pixel_outside():
    rng = np.random.default_rng(3)
    n = 9
    u, v = np.meshgrid(np.linspace(2, 20, n), np.linspace(2, 14, n))
    u[1:-1, 1:-1] += rng.uniform(-0.6, 0.6, size=(n - 2, n - 2))
    v[1:-1, 1:-1] += rng.uniform(-0.4, 0.4, size=(n - 2, n - 2))
    x = np.stack([u, v, np.ones_like(u)], axis=-1).reshape(-1, 3)
    i = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    triangles = np.concatenate([np.stack([i, i + 1, i + n + 1], 1), np.stack([i, i + n, i + n + 1], 1)])
    corners = x[triangles].transpose(1, 2, 0)
    triangle, _, _ = rasterise(corners, np.ones((3, len(triangles))), W, H)
    expected = np.zeros((H, W), dtype=bool)
    expected[2:14, 2:20] = True
    np.testing.assert_array_equal(triangle >= 0, expected)
    assert len(np.unique(triangle[expected])) > 60


def test_weights_are_perspective_correct():
    points = np.array([[0.0, 0.0, 1.0], [20.0, 0.0, 4.0], [0.0, 16.0, 2.0]])  # x, y in the world, depth
    corners = np.stack([points[:, 0], points[:, 1], points[:, 2]], axis=1)[:, :, None]
    inside = np.array([0.2, 0.5, 0.3]) @ points
    edges = edge_functions(corners)
    px, py = inside[:1] / inside[2], inside[1:2] / inside[2]
    weights = (edges[:, 0] * px + edges[:, 1] * py + edges[:, 2])[:, 0]
    np.testing.assert_allclose(weights / weights.sum(), [0.2, 0.5, 0.3], atol=1e-12)


def test_edge_on_and_degenerate_triangles_cover_nothing():
    line = np.array([[0.0, 0, 1], [10, 10, 1], [20, 20, 1]]).T[None].transpose(2, 1, 0)
    point = np.full((3, 3, 1), 1.0)
    corners = np.concatenate([line, point], axis=2)
    triangle, near, _ = rasterise(corners, np.ones((3, 2)), W, H)
    assert (triangle == -1).all()
    assert np.isinf(near).all()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_nearer_triangle_is_seen_in_any_order(order):
    whole = np.array([[-50.0, -50, 1], [100, -50, 1], [0, 100, 1]]).T
    corners = np.stack([whole.T, whole.T], axis=2)
    depth = np.array([[1.0, 2.0]] * 3)[:, list(order)]
    triangle, near, _ = rasterise(corners, depth, W, H)
    assert (triangle == order.index(0)).all()
    assert (near == 1.0).all()


def test_no_triangles():
    triangle, near, _ = rasterise(np.zeros((3, 3, 0)), np.zeros((3, 0)), W, H)
    assert (triangle == -1).all()
    assert near.shape == (H, W)
