"""Normals point where they should."""

from __future__ import annotations

import fakes
import numpy as np

from pliant.geometry import shapes
from pliant.viewer.surfaces import along, corner_normals, creased, split_corners, vertex_normals


def ball(n: int = 24) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.meshgrid(np.linspace(0.2, 2.9, n), np.linspace(0, 5.8, n))
    x = np.stack([np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)], axis=-1).reshape(-1, 3)
    return x, fakes.grid_triangles(n)


def test_a_ball_has_radial_normals():
    x, triangles = ball()
    normals = vertex_normals(x, triangles)
    inner = np.linalg.norm(normals, axis=1) > 0
    assert inner.all()
    cosine = np.abs((normals * x).sum(axis=1))
    assert cosine.min() > 0.98
    smooth = corner_normals(x, triangles)
    np.testing.assert_allclose(smooth, normals[triangles], atol=1e-12)


def test_a_vertex_without_triangles_has_no_normal():
    x = np.vstack([np.eye(3), [[9.0, 9, 9]]])
    normals = vertex_normals(x, np.array([[0, 1, 2]]))
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), [1, 1, 1, 0])


def test_a_cylinder_keeps_its_rim_sharp():
    vertices, triangles = fakes.cylinder(1.0, 0.0, 1.0, 32)
    normals = corner_normals(vertices, triangles)
    level = np.abs(normals[..., 2])
    assert ((level < 1e-9) | (level > 1 - 1e-9)).all()
    assert (level < 0.5).any()
    assert (level > 0.5).any()
    side = triangles[:64]
    radial = vertices[side][..., :2]
    np.testing.assert_allclose((normals[:64, :, :2] * radial).sum(axis=-1), 1, atol=0.01)


def test_a_wide_fan_is_flat():
    vertices, triangles = fakes.cylinder(1.0, 0.0, 1.0, 400)  # more faces at the hub than are looked at
    normals = corner_normals(vertices, triangles)
    np.testing.assert_allclose(np.abs(normals[-1, 2]), [0, 0, 1], atol=1e-12)


def test_split_corners_say_the_same_with_fewer_vertices():
    vertices, triangles = fakes.cylinder(1.0, 0.0, 1.0, 32)
    x, n, t = split_corners(vertices, triangles)
    assert len(vertices) < len(x) < 3 * len(triangles)
    np.testing.assert_array_equal(x[t], vertices[triangles])
    np.testing.assert_allclose(n[t], corner_normals(vertices, triangles), atol=2e-4)


def cube() -> tuple[np.ndarray, np.ndarray]:
    """A cube, and a point inside it that no triangle has."""
    solid = fakes.pushed_sheet(3, 1).solids[0]
    return np.vstack([solid.vertices, [[0.0, 0, 0]]]), solid.triangles


def test_a_body_is_parted_along_its_sharp_edges():
    x, triangles = cube()
    source, parted = creased(x, triangles)
    assert len(source) == 24  # eight corners, each in three faces
    assert set(source) == set(range(8))
    np.testing.assert_array_equal(source[parted], triangles)
    np.testing.assert_allclose(np.abs(vertex_normals(x[source], parted)).max(axis=1), 1)


def test_a_smooth_body_and_an_open_sheet_stay_whole():
    mesh = shapes.sphere(0.5, 2)
    source, parted = creased(mesh.vertices, mesh.triangles)
    np.testing.assert_array_equal(source[parted], mesh.triangles)
    assert len(source) == len(mesh.vertices)
    x, triangles = ball()
    source, parted = creased(x, triangles)
    np.testing.assert_array_equal(source, np.arange(len(x)))
    np.testing.assert_array_equal(parted, triangles)


def test_along_is_the_dot_product():
    points = np.random.default_rng(0).normal(size=(7, 3))
    np.testing.assert_allclose(along(points, points[0]), points @ points[0])
