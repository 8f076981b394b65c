"""Path data: commands, absolute and relative, arcs against circles and ellipses, what cannot be read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.errors import PatternError
from pliant.garments.svg.paths import Piece, arc, tracks

T = np.linspace(0, 1, 33)


def points(data: str) -> np.ndarray:
    """Points along the only subpath."""
    (track,) = tracks(data, "path")
    return np.concatenate([piece.at(T) for piece in track.pieces])


@pytest.mark.parametrize(
    ("absolute", "relative"),
    [
        ("M1 2 L4 6 H0 V-1 Z", "m1 2 3 4h-4v-7z"),
        ("M 0,0 C 1,0 2,1 2,2 S 3,4 4,4", "m0 0c1 0 2 1 2 2s1 2 2 2"),
        ("M0 0 Q 1 2 2 0 T 4 0 T 6 0", "M0 0q1 2 2 0t2 0 2 0"),
        ("M0 0 A 2 1 30 0 1 2 1 A 2 1 30 1 0 0 0", "m0 0a2 1 30 012 1a2 1 30 10-2-1"),
        ("M.5.5L1.5.5-1e0,2", "m.5.5 1 0-2.5,1.5"),
    ],
)
def test_absolute_and_relative(absolute: str, relative: str) -> None:
    assert len(points(absolute)) > 30
    np.testing.assert_allclose(points(absolute), points(relative), atol=1e-14)


def test_mirrored_controls() -> None:
    """S and T go on as the curve before: the second half is the first one turned about the joint."""
    for data in ("M0 0C1 2 2 2 3 0S5-2 6 0", "M0 0Q1.5 2 3 0T6 0"):
        p = points(data)
        half = len(p) // 2
        np.testing.assert_allclose(p[:half], ((6, 0) - p[half:])[::-1], atol=1e-14)
    (track,) = tracks("M0 0L1 0S2 1 3 0", "after a line the first control is the point itself")
    np.testing.assert_array_equal(track.pieces[1].controls[0], [1, 0])


@pytest.mark.parametrize("large", [0, 1])
@pytest.mark.parametrize("sweep", [0, 1])
def test_arcs_of_a_circle(large: int, sweep: int) -> None:
    """From (1, 0) to (0, 1): a quarter around the origin, or three around (1, 1), and the other way."""
    p = points(f"M1 0A1 1 0 {large} {sweep} 0 1")
    centre = np.array([0.0, 0]) if large != sweep else np.array([1.0, 1])
    np.testing.assert_allclose(np.linalg.norm(p - centre, axis=1), 1, atol=5e-6)
    length = np.linalg.norm(np.diff(p, axis=0), axis=1).sum()
    assert length == pytest.approx((1.5 if large else 0.5) * np.pi, rel=1e-3)
    a, b = p[0] - centre, p[1] - centre
    assert (a[0] * b[1] - a[1] * b[0] > 0) == bool(sweep), "sweep: with growing angle"


@given(
    st.floats(0.3, 3), st.floats(0.3, 3), st.floats(-180, 180), st.booleans(), st.booleans(), st.floats(-2, 2)
)
def test_arcs_lie_on_their_ellipse(
    rx: float, ry: float, turn: float, large: bool, sweep: bool, y: float
) -> None:
    start, end = np.array([0.0, 0]), np.array([0.7, y])
    pieces = arc(start, [rx, ry, turn, float(large), float(sweep)], end)
    np.testing.assert_array_equal(pieces[0].start, start)
    np.testing.assert_array_equal(pieces[-1].end, end)
    c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    p = np.concatenate([piece.at(T) for piece in pieces])
    p, ends = (np.atleast_2d(q) @ np.array([[c, -s], [s, c]]) / (rx, ry) for q in (p, [start, end]))
    half = 0.5 * np.linalg.norm(ends[1] - ends[0])
    radius = max(1.0, half)  # radii that are too small grow
    across = np.array([ends[0, 1] - ends[1, 1], ends[1, 0] - ends[0, 0]]) / (2 * half)
    away = np.sqrt(max(0.0, radius**2 - half**2)) * across
    off = [
        np.abs(np.linalg.norm(p - ends.mean(axis=0) - side * away, axis=1) - radius).max() for side in (1, -1)
    ]
    assert min(off) < 1e-5 * radius


def test_several_subpaths() -> None:
    one, two = tracks("M0 0L1 0L1 1ZM5 5L6 6", "path")
    assert one.closed
    assert not two.closed
    assert len(one.pieces) == 3
    np.testing.assert_array_equal(two.pieces[0].start, [5, 5])
    after = tracks("m1 1h1v1zl3 0", "after z the pen is back at the start")[1]
    np.testing.assert_array_equal(after.pieces[0].end, [4, 1])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("L0 0", 'begins with "L"'),
        ("M0 0L1", 'lacks a number of "L"'),
        ("M0 0 A1 1 0 2 0 1 1", 'lacks a number of "A" at "2 0 1 1"'),
        ("M0 0L1 1Z 5", 'cannot be read from "5"'),
        ("M0 0 B1 1", 'lacks a number of "L" at "B1 1"'),
        ("5 5", 'cannot be read from "5 5"'),
    ],
)
def test_what_cannot_be_read(data: str, said: str) -> None:
    with pytest.raises(PatternError, match="the sleeve") as caught:
        tracks(data, "the sleeve")
    assert said in str(caught.value)


def test_a_piece_turned_round() -> None:
    piece = Piece(np.zeros(2), np.array([[1.0, 0], [2, 1]]), np.array([2.0, 2]))
    np.testing.assert_allclose(piece.reversed().at(T), piece.at(1 - T), atol=1e-15)
    first, last = piece.tangents()
    np.testing.assert_allclose([first, last], [[1, 0], [0, 1]])
