"""Polygons become triangles that cover them once; areas against the shoelace formula."""

from __future__ import annotations

import time

import numpy as np
import pytest

from pliant.geometry.mesh import FLATTEST, degenerate_triangles, rotation_matrix
from pliant.geometry.polygons import MOST_CORNERS, cut


def cut_one(x: np.ndarray) -> tuple[np.ndarray, bool]:
    """Triangles of one polygon, and whether it was refused."""
    pieces = cut(x, np.arange(len(x)), np.array([len(x)]))
    return pieces.corners, bool(pieces.uncut.size)


def areas(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    return 0.5 * np.linalg.norm(np.cross(x[t[:, 1]] - x[t[:, 0]], x[t[:, 2]] - x[t[:, 0]]), axis=1)


def shoelace(p: np.ndarray) -> float:
    q = np.roll(p, -1, axis=0)
    return 0.5 * float((p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]).sum())


def crosses_itself(p: np.ndarray) -> bool:
    """Whether two sides that do not follow each other meet."""

    def turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
        return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))

    n = len(p)
    for i in range(n):
        for j in range(i + 2, n - (i == 0)):
            a, b, c, d = p[i], p[i + 1], p[j], p[(j + 1) % n]
            if turn(a, b, c) * turn(a, b, d) <= 1e-12 and turn(c, d, a) * turn(c, d, b) <= 1e-12:
                return True
    return False


def star(rng: np.random.Generator, n: int) -> np.ndarray:
    angle = 2.0 * np.pi * np.sort(rng.random(n))
    return (0.2 + rng.random(n))[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def comb(teeth: int) -> np.ndarray:
    """A comb: all of its lower side is one line with many corners in it."""
    low = [(float(i), 0.0) for i in range(2 * teeth + 1)]
    return np.array([*low, *[(float(i), 1.0 if i % 2 else 0.1) for i in range(2 * teeth, -1, -1)]])


def with_straight_corners(p: np.ndarray, k: int, count: int) -> np.ndarray:
    share = np.arange(1, count + 1)[:, None] / (count + 1)
    return np.insert(p, k + 1, p[k] + (np.roll(p, -1, axis=0)[k] - p[k]) * share, axis=0)


@pytest.mark.parametrize("seed", range(4))
def test_any_polygon_is_covered_once_and_has_no_flat_triangle(seed: int) -> None:
    """Stars and combs, concave, some corners in a straight line, at any size, turned and moved."""
    rng = np.random.default_rng(seed)
    done = refused = 0
    for _ in range(150):
        p = comb(int(rng.integers(1, 8))) if rng.random() < 0.3 else star(rng, int(rng.integers(4, 24)))
        if rng.random() < 0.5:
            p = with_straight_corners(p, int(rng.integers(len(p))), int(rng.integers(1, 4)))
        p = np.roll(p, int(rng.integers(len(p))), axis=0)[:: 1 if rng.random() < 0.5 else -1]
        x = np.c_[p, 0 * p[:, 0]] @ rotation_matrix(rng.normal(size=3)).T + rng.normal(size=3)
        size = 10.0 ** rng.uniform(-6, 6)
        triangles, failed = cut_one(size * x)
        if failed:
            assert crosses_itself(p)
            refused += 1
            continue
        done += 1
        assert len(triangles) == len(p) - 2
        assert areas(x, triangles).sum() == pytest.approx(abs(shoelace(p)), rel=1e-9)
        assert degenerate_triangles(x, triangles).size == 0
        assert all(shoelace(p[corners]) * np.sign(shoelace(p)) > 0 for corners in triangles)
        assert set(triangles.ravel()) == set(range(len(p)))
    assert done > 120
    assert refused < 15


def test_a_hole_with_a_bridge_to_it_is_left_open() -> None:
    p = np.array([[0, 0], [4, 0], [4, 4], [0, 4], [0, 0], [1, 1], [1, 2], [2, 2], [2, 1], [1, 1]], float)
    x = np.c_[p, 0 * p[:, 0]]
    triangles, failed = cut_one(x)
    assert not failed
    assert areas(x, triangles).sum() == pytest.approx(15.0)
    middles = x[triangles].mean(axis=1)[:, :2]
    assert not ((middles > 1) & (middles < 2)).all(axis=1).any()


def test_warped_polygons_are_cut_without_folds() -> None:
    """Seen along its normal no triangle is turned, for 16 corners that leave their plane by a fifth."""
    angle = 2.0 * np.pi * np.arange(16) / 16
    x = np.stack([np.cos(angle), np.sin(angle), 0.2 * np.cos(3 * angle)], axis=1)
    triangles, failed = cut_one(x)
    assert not failed
    normals = np.cross(x[triangles[:, 1]] - x[triangles[:, 0]], x[triangles[:, 2]] - x[triangles[:, 0]])
    assert (normals[:, 2] > 0).all()
    assert areas(x, triangles).sum() > 0.5 * 16 * np.sin(np.pi / 8)


def test_quadrilaterals_are_cut_from_their_first_corner_where_that_folds_nothing() -> None:
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]])
    assert cut_one(square)[0].tolist() == [[0, 1, 2], [0, 2, 3]]
    straight = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [1, 1, 0.0]])
    for turn in range(4):
        triangles, failed = cut_one(np.roll(straight, turn, axis=0))
        assert not failed
        assert (areas(np.roll(straight, turn, axis=0), triangles) > 0.4).all()


@pytest.mark.parametrize(
    "p",
    [
        [(0, 0), (1, 1), (1, 0), (0, 1)],
        [(np.cos(0.8 * np.pi * k), np.sin(0.8 * np.pi * k)) for k in range(5)],
        [(0, 0), (1, 0), (2, 0), (3, 0)],
        [(0, 0), (1, 0), (2, 0), (3, 0), (1.5, FLATTEST / 10)],
        [(0, 0), (0, 0), (0, 0), (0, 0), (0, 0)],
        [(np.nan, 0), (1, 0), (2, 0), (3, 1)],
        [(1e308, 0), (1, 1e308), (-1e308, 0), (3, 1), (2, 2)],
    ],
    ids=["bow tie", "pentagram", "line", "nearly a line", "point", "nan", "overflow"],
)
def test_what_is_no_polygon_is_reported(p: list) -> None:
    x = np.array([(a, b, 0.0) for a, b in p])
    before = cut(np.eye(3), np.arange(3), np.array([3])).corners
    pieces = cut(np.vstack([np.eye(3), x]), np.arange(3 + len(p)), np.array([3, len(p)]))
    assert pieces.uncut.tolist() == [1] or (np.isfinite(x).all() and abs(x).max() > 1e300)
    np.testing.assert_array_equal(pieces.corners[:1], before)


def test_faces_keep_their_order_and_their_corners() -> None:
    """Sizes mixed: triangles come face by face, and name places in the list of corners."""
    x = np.random.default_rng(1).random((12, 3)) * [1, 1, 0]
    angle = 2 * np.pi * np.arange(5) / 5
    x[:5] = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    x[5:9] = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    ids = np.array([9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7, 8, 2, 1])
    pieces = cut(x, ids, np.array([3, 5, 4, 2]))
    assert pieces.polygon.tolist() == [0, 1, 1, 1, 2, 2]
    assert pieces.uncut.tolist() == [3]
    assert pieces.corners[0].tolist() == [0, 1, 2]
    assert set(pieces.corners[1:4].ravel()) == set(range(3, 8))
    assert pieces.corners[4:].tolist() == [[8, 9, 10], [8, 10, 11]]


def test_the_largest_polygons_take_no_time_to_speak_of() -> None:
    p = comb(MOST_CORNERS // 4 - 1)
    x = np.c_[p, 0 * p[:, 0]]
    begin = time.perf_counter()
    triangles, failed = cut_one(x)
    assert time.perf_counter() - begin < 2.0
    assert not failed
    assert areas(x, triangles).sum() == pytest.approx(shoelace(p))
    assert cut(np.eye(3), np.zeros(MOST_CORNERS + 1, int), np.array([MOST_CORNERS + 1])).uncut.tolist() == [0]
