from __future__ import annotations

import numpy as np
import pytest

from pliant.errors import MeshError
from pliant.geometry import shapes
from pliant.geometry.nearest import flat_weights, nearest_on_triangles

Array = np.ndarray


def test_the_nearest_place_beats_every_place_of_a_fine_sample() -> None:
    """Against 231 places on each of the triangles of a sphere, from inside, outside and far beside."""
    mesh = shapes.sphere(0.5, 1)
    rng = np.random.default_rng(2)
    points = rng.standard_normal((40, 3)) * rng.choice([0.1, 0.5, 2.0], (40, 1))
    faces, weights = nearest_on_triangles(points, mesh.vertices, mesh.triangles)
    corners = mesh.vertices[mesh.triangles]
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-12)
    found = np.linalg.norm(np.einsum("nk,nkm->nm", weights, corners[faces]) - points, axis=1)
    n = 20
    grid = np.array([(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)]) / n
    sampled = np.einsum("sk,fkm->fsm", grid, corners).reshape(-1, 3)
    least = np.linalg.norm(points[:, None] - sampled[None], axis=2).min(axis=1)
    assert (found <= least + 1e-12).all()
    assert (found > least - 0.02).all()


def test_places_on_faces_edges_and_corners_are_found_exactly() -> None:
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.0]])
    tri = np.array([[0, 1, 2], [1, 3, 2]])
    points = np.array([[0.2, 0.3, 0.7], [0.5, -1, 0.2], [-1, -1, 0], [0.9, 0.9, -0.1]])
    faces, weights = nearest_on_triangles(points, x, tri)
    assert faces.tolist() == [0, 0, 0, 1]
    np.testing.assert_allclose(
        weights, [[0.5, 0.2, 0.3], [0.5, 0.5, 0], [1, 0, 0], [0.1, 0.8, 0.1]], atol=1e-15
    )
    foot = np.einsum("nk,nkm->nm", flat_weights(points, x[tri[faces]]), x[tri[faces]])
    np.testing.assert_allclose(foot, points * [1, 1, 0], atol=1e-15)


def test_a_vertex_does_not_find_its_own_triangles() -> None:
    mesh = shapes.grid(3, 2, (2.0, 1.0))
    faces, weights = nearest_on_triangles(mesh.vertices[:1], mesh.vertices, mesh.triangles, np.array([0]))
    assert not (mesh.triangles[faces] == 0).any()
    place = np.einsum("nk,nkm->nm", weights, mesh.vertices[mesh.triangles[faces]])
    np.testing.assert_allclose(place, mesh.vertices[[1]], atol=1e-15)
    with pytest.raises(MeshError, match="but its own"):
        nearest_on_triangles(mesh.vertices[:1], mesh.vertices, mesh.triangles[:1], np.array([0]))
