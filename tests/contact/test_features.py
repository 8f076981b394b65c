"""Nearest points of vertices and triangles, and of two edges, against a minimisation face by face."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.contact.features import CORNER_A, CROSSED, EDGE_AB, ENDED, FACE, edge_edge, vertex_triangle

ON_GRID = st.integers(-3, 3).map(float)
POINT = st.tuples(ON_GRID, ON_GRID, ON_GRID)
ANYWHERE = st.tuples(*[st.floats(-1, 1, width=32)] * 3)
FOUR = st.one_of(st.tuples(*[POINT] * 4), st.tuples(*[ANYWHERE] * 4))


def nearest_of_hulls(one: np.ndarray, other: np.ndarray) -> float:
    """Distance of two simplices: the least over all pairs of their faces whose nearest points lie inside.

    Least squares over each pair of faces; where the nearest points are many, a smaller pair has them too.
    """
    best = np.inf
    for k, l in itertools.product(range(1, len(one) + 1), range(1, len(other) + 1)):
        for a, b in itertools.product(itertools.combinations(one, k), itertools.combinations(other, l)):
            a, b = np.array(a), np.array(b)
            directions = np.concatenate([a[1:] - a[0], b[0] - b[1:]]).T
            if directions.size and np.linalg.matrix_rank(directions) < directions.shape[1]:
                continue
            weights = np.zeros(0)
            if directions.size:
                weights = np.linalg.lstsq(directions, b[0] - a[0], rcond=None)[0]
            u, v = weights[: k - 1], weights[k - 1 :]
            if min([0.0, *u, *v]) < -1e-12 or max(u.sum(), v.sum()) > 1 + 1e-12:
                continue
            best = min(best, float(np.linalg.norm(a[0] - b[0] + directions @ weights)))
    return best


def corner(p: np.ndarray) -> tuple[float, np.ndarray, int]:
    d2, u, v, feature = vertex_triangle(*map(tuple, p))
    assert u >= 0
    assert v >= 0
    assert u + v <= 1 + 1e-15
    return np.sqrt(d2), p[0] - (1 - u - v) * p[1] - u * p[2] - v * p[3], feature


def edges(p: np.ndarray) -> tuple[float, np.ndarray, int]:
    d2, s, t, feature = edge_edge(*map(tuple, p))
    assert 0 <= s <= 1
    assert 0 <= t <= 1
    return np.sqrt(d2), (1 - s) * p[0] + s * p[1] - (1 - t) * p[2] - t * p[3], feature


@settings(max_examples=150)
@given(FOUR)
def test_a_vertex_and_a_triangle(points: tuple) -> None:
    p = np.array(points, float)
    d, way, _ = corner(p)
    assert d == pytest.approx(nearest_of_hulls(p[:1], p[1:]), rel=1e-9, abs=1e-12)
    assert np.linalg.norm(way) == pytest.approx(d, rel=1e-9, abs=1e-12)


@settings(max_examples=150)
@given(FOUR)
def test_two_edges(points: tuple) -> None:
    p = np.array(points, float)
    d, way, _ = edges(p)
    assert d == pytest.approx(nearest_of_hulls(p[:2], p[2:]), rel=1e-7, abs=1e-10)
    assert np.linalg.norm(way) == pytest.approx(d, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("size", [2.0**-100, 1.0, 2.0**100])
def test_features_and_lengths_do_not_depend_on_the_unit(size: float) -> None:
    triangle = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    for p, feature, gap in (
        ((0.25, 0.25, -0.5), FACE, 0.5),
        ((0.5, -0.3, 0.4), EDGE_AB, 0.5),
        ((-0.3, -0.4, 0.0), CORNER_A, 0.5),
    ):
        d, _, found = corner(size * np.array([p, *triangle]))
        assert (d / size, found) == (pytest.approx(gap, rel=1e-14), feature)
    cross = np.array([[0.0, 0, 0], [1, 0, 0], [0.5, -1, 0.25], [0.5, 1, 0.25]])
    assert edges(size * cross)[::2] == (0.25 * size, CROSSED)
    beside = cross + np.array([[0, 0, 0], [0, 0, 0], [2, 0, 0], [2, 0, 0]])
    assert edges(size * beside)[2] == ENDED
    assert edges(size * beside)[0] == pytest.approx(size * np.hypot(1.5, 0.25), rel=1e-14)


def test_thin_triangles_and_almost_parallel_edges() -> None:
    rng = np.random.default_rng(3)
    for thin in 10.0 ** -np.arange(1, 17):
        for _ in range(20):
            p = rng.normal(size=(4, 3))
            p[3] = p[1] + rng.uniform(0.2, 1.5) * (p[2] - p[1]) + thin * rng.normal(size=3)
            sides = min(edges(p[[0, 0, i, j]])[0] for i, j in ((1, 2), (1, 3), (2, 3)))
            assert corner(p)[0] <= sides * (1 + 1e-12)
            samples = [
                (1 - u - v) * p[1] + u * p[2] + v * p[3] for u, v in rng.dirichlet((1, 1, 1), 50)[:, :2]
            ]
            assert corner(p)[0] <= np.linalg.norm(samples - p[0], axis=1).min() * (1 + 1e-12)
            q = rng.normal(size=(4, 3))
            q[3] = q[2] + (q[1] - q[0]) + thin * rng.normal(size=3)
            s, t = rng.uniform(size=(2, 50, 1))
            gaps = np.linalg.norm((1 - s) * q[0] + s * q[1] - (1 - t) * q[2] - t * q[3], axis=1)
            assert edges(q)[0] <= gaps.min() * (1 + 1e-12)


def test_an_independent_library_measures_the_same() -> None:
    ipctk = pytest.importorskip("ipctk", reason="needs ipctk: pip install ipctk")
    rng = np.random.default_rng(1)
    for p in rng.normal(size=(300, 4, 3)):
        assert corner(p)[0] ** 2 == pytest.approx(ipctk.point_triangle_distance(*p), rel=1e-10)
        assert edges(p)[0] ** 2 == pytest.approx(ipctk.edge_edge_distance(*p), rel=1e-10)
