"""Hinges across seams are flat at rest, whichever way the panels lie and the triangles are wound."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.geometry import measures, shapes, topology
from pliant.geometry.unfolding import rest_hinges

RNG = np.random.default_rng(5)


def soup_of(x: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every triangle at rest on its own, moved and turned somewhere in the plane."""
    out = []
    for t in triangles:
        a = RNG.uniform(0, 2 * np.pi)
        turn = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
        out.append(x[t] @ turn.T + [*RNG.uniform(-5, 5, 2), 0])
    return np.concatenate(out), np.arange(3 * len(triangles)).reshape(-1, 3)


@pytest.mark.parametrize("wound", ["alike", "at random"])
def test_pieces_of_a_flat_sheet_unfold_to_the_sheet(wound: str) -> None:
    mesh = shapes.unstructured((1.0, 0.7), 0.2, seed=1)
    t = mesh.triangles.copy()
    if wound == "at random":
        turned = RNG.random(len(t)) < 0.5
        t[turned] = t[turned][:, ::-1]
    t = np.stack([np.roll(row, k % 3) for k, row in enumerate(t)])
    hinges = topology.hinges(t)
    places, rows = rest_hinges(t, *soup_of(mesh.vertices, t))
    assert rows.shape == hinges.shape
    for i, j in ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)):
        was = np.linalg.norm(mesh.vertices[hinges[:, i]] - mesh.vertices[hinges[:, j]], axis=1)
        now = np.linalg.norm(places[rows[:, i]] - places[rows[:, j]], axis=1)
        np.testing.assert_allclose(now, was, rtol=1e-12)
    assert np.abs(measures.hinge_angles(places, rows)).max() < 1e-7
    one, area = measures.cotangent_stencil(mesh.vertices, hinges)
    two, same = measures.cotangent_stencil(places, rows)
    np.testing.assert_allclose(two, one, atol=1e-9)
    np.testing.assert_allclose(same, area, rtol=1e-12)


def test_one_shape_at_rest_comes_back_itself() -> None:
    mesh = shapes.sphere(1.0, 1)
    places, rows = rest_hinges(mesh.triangles, mesh.vertices, mesh.triangles)
    assert places is mesh.vertices
    np.testing.assert_array_equal(rows, topology.hinges(mesh.triangles))


def test_edges_of_different_length_meet_in_their_middles() -> None:
    t = np.array([[0, 1, 2], [1, 0, 3]])
    x = np.array([[0, 0, 0], [1.0, 0, 0], [0.5, 1, 0], [9, 9, 0], [9, 7.8, 0], [9.5, 8.4, 0]])
    places, rows = rest_hinges(t, x, np.array([[0, 1, 2], [4, 3, 5]]))
    np.testing.assert_allclose(
        places[rows[0]], [[0, 0, 0], [1, 0, 0], [0.5, 1, 0], [0.5, -0.5, 0]], atol=1e-12
    )
