"""Planted crossings are found, all of them and nothing else; brute force over all pairs is the oracle."""

from __future__ import annotations

import functools
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.diagnostics.intersections import self_intersections
from pliant.errors import PliantError
from pliant.geometry import shapes, topology

TRIANGLE = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])


def exact_volume(a: list, b: list, c: list, d: list) -> Fraction:
    """Signed volume of a tetrahedron in rational numbers, six times."""
    u, v, w = ([Fraction(p[m]) - Fraction(a[m]) for m in range(3)] for p in (b, c, d))
    return (
        u[0] * (v[1] * w[2] - v[2] * w[1])
        + u[1] * (v[2] * w[0] - v[0] * w[2])
        + u[2] * (v[0] * w[1] - v[1] * w[0])
    )


def brute_force(x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Every edge against every triangle, without rounding."""
    points, pairs = x.tolist(), []
    for e, (i, j) in enumerate(topology.edges(triangles).tolist()):
        for t, corners in enumerate(triangles.tolist()):
            if {i, j} & set(corners):
                continue
            p, q, (a, b, c) = points[i], points[j], (points[k] for k in corners)
            if exact_volume(a, b, c, p) * exact_volume(a, b, c, q) >= 0:
                continue
            volumes = [exact_volume(p, q, *side) for side in ((a, b), (b, c), (c, a))]
            if min(volumes) >= 0 or max(volumes) <= 0:
                pairs.append((e, t))
    return np.array(pairs, np.int32).reshape(-1, 2)


@functools.cache
def rolled_oracle() -> np.ndarray:
    return brute_force(*rolled())


def pierced(p: tuple, q: tuple) -> bool:
    """Whether the edge pq of one triangle is said to cross another, which lies in z = 0."""
    x = np.array([*TRIANGLE, p, q, (5.0, 5.0, 3.0)], float)
    triangles = np.array([[0, 1, 2], [3, 4, 5]])
    pairs = self_intersections(x, triangles)
    assert pairs.dtype == np.int32
    np.testing.assert_array_equal(pairs, brute_force(x, triangles))
    edge = topology.edges(triangles).tolist().index([3, 4])
    return [edge, 0] in pairs.tolist()


def rolled(turns: float = 1.6, n: int = 9) -> tuple[np.ndarray, np.ndarray]:
    """A strip that is rolled up into a circle and runs into itself; tilted, so that nothing is special."""
    mesh = shapes.unstructured((1.0, 0.4), 1.0 / n, seed=2)
    angle = 2 * np.pi * turns * mesh.vertices[:, 0]
    r = 0.2 + 0.01 * np.sin(3.3 * angle)
    x = np.stack([r * np.cos(angle), r * np.sin(angle), mesh.vertices[:, 1] + 0.02 * angle], axis=1)
    return x, mesh.triangles


@pytest.mark.parametrize(
    ("p", "q", "crossing"),
    [
        ((0.2, 0.2, -1.0), (0.2, 0.2, 1.0), True),
        ((0.2, 0.2, -1.0), (0.2, 0.2, -0.1), False),  # ends before it
        ((0.9, 0.9, -1.0), (0.9, 0.9, 1.0), False),  # passes beside it
        ((0.5, 0.5, -1.0), (0.5, 0.5, 1.0), True),  # through its side
        ((0.0, 0.0, -1.0), (0.0, 0.0, 1.0), True),  # through its corner
        ((0.2, 0.2, 0.0), (0.2, 0.2, 1.0), False),  # touches it from above
        ((0.2, 0.2, -1.0), (0.2, 0.2, 0.0), False),  # and from below
        ((-1.0, 0.2, 0.0), (1.0, 0.2, 0.0), False),  # lies in its plane
        ((0.2, 0.2, -1e-9), (0.2, 0.2, 1.0), True),  # hardly through it
    ],
)
def test_planted_cases(p: tuple, q: tuple, crossing: bool) -> None:
    assert pierced(p, q) == crossing
    assert pierced(q, p) == crossing


def test_an_edge_through_the_common_side_of_two_triangles_counts_with_both() -> None:
    x = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, -1], [0.5, 0.5, 1], [5, 5, 5]])
    triangles = np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6]])
    assert self_intersections(x, triangles)[:, 1].tolist() == [0, 1]


def test_neighbours_and_flat_sheets_do_not_cross() -> None:
    for mesh in (shapes.grid(9, 7), shapes.sphere(1.0, 2), shapes.unstructured((1.0, 1.0), 0.1)):
        assert len(self_intersections(mesh.vertices, mesh.triangles)) == 0


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_rolled_strip_agrees_with_brute_force_in_any_unit(scale: float) -> None:
    x, triangles = rolled()
    oracle = rolled_oracle()
    assert len(oracle) > 10
    np.testing.assert_array_equal(self_intersections(x * scale, triangles), oracle)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 16), small=st.floats(1e-3, 1.0))
def test_random_soups_agree_with_brute_force(seed: int, n: int, small: float) -> None:
    rng = np.random.default_rng(seed)
    size = np.where(rng.random(n) < 0.5, 1.0, small)[:, None, None]  # triangles of very different size
    x = (rng.random((n, 1, 3)) + size * rng.normal(size=(n, 3, 3))).reshape(-1, 3)
    triangles = np.arange(3 * n).reshape(-1, 3)
    np.testing.assert_array_equal(self_intersections(x, triangles), brute_force(x, triangles))


def test_the_order_of_triangles_changes_only_their_names() -> None:
    x, triangles = rolled()
    order = np.random.default_rng(0).permutation(len(triangles))
    one, two = self_intersections(x, triangles), self_intersections(x, triangles[order])
    renamed = np.stack([two[:, 0], order[two[:, 1]]], axis=1)  # the edges are sorted by vertex in both
    np.testing.assert_array_equal(renamed[np.lexsort(renamed.T[::-1])], one)


def test_a_limit_gives_the_first_pairs() -> None:
    x, triangles = rolled()
    every = self_intersections(x, triangles)
    for limit in (1, 5, len(every), len(every) + 9):
        np.testing.assert_array_equal(self_intersections(x, triangles, limit), every[:limit])


def test_more_pairs_than_the_first_room() -> None:
    x, triangles = rolled(turns=5.0, n=40)
    assert len(self_intersections(x, triangles)) > 1024


def test_a_hundred_thousand_triangles_take_seconds() -> None:
    mesh = shapes.grid(225, 225)
    x = mesh.vertices.copy()
    x[:, 2] = 0.05 * np.sin(40 * x[:, 0]) * np.cos(30 * x[:, 1])
    fold = x[:, 0] > 0.2
    x[fold, 0] = 0.4 - x[fold, 0]  # turned back over the rest, and through it
    assert mesh.n_triangles > 100_000
    self_intersections(x[:3], np.array([[0, 1, 2]]))
    start = time.perf_counter()
    pairs = self_intersections(x, mesh.triangles)
    seconds = time.perf_counter() - start
    assert len(pairs) > 500
    assert seconds < 10, f"{seconds:.1f} s"  # 0.4 s on an idle core


@pytest.mark.parametrize(
    ("x", "triangles", "limit", "message"),
    [
        (np.full((3, 3), np.nan), [[0, 1, 2]], None, "vertex 0 is not finite"),
        (np.zeros((3, 2)), [[0, 1, 2]], None, "shape"),
        (np.zeros((3, 3)), [[0, 1, 3]], None, "beyond"),
        (np.zeros((3, 3)), [[0, 1]], None, "triangles"),
        (TRIANGLE, [[0, 1, 2]], 0, "limit"),
    ],
)
def test_bad_input_is_refused(x: np.ndarray, triangles: list, limit: int | None, message: str) -> None:
    with pytest.raises(PliantError, match=message):
        self_intersections(x, np.array(triangles), limit)


def test_nothing_crosses_nothing() -> None:
    assert self_intersections(np.zeros((0, 3)), np.zeros((0, 3), int)).shape == (0, 2)
