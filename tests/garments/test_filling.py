"""Panels in triangles: angles, lengths, alignment, the outline kept, the same every time."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.errors import PatternError
from pliant.garments.filling import filled, smallest_angles
from pliant.geometry import topology


def sampled(corners: list[tuple[float, float]], size: float) -> np.ndarray:
    """Points along a polygon, about ``size`` apart."""
    x = np.array(corners, float)
    parts = []
    for a, b in zip(x, np.roll(x, -1, axis=0), strict=True):
        n = max(1, round(np.linalg.norm(b - a) / size))
        parts.append(a + (b - a) * np.arange(n)[:, None] / n)
    return np.concatenate(parts)


def circle(radius: float, size: float) -> np.ndarray:
    t = 2 * np.pi * np.arange(round(2 * np.pi * radius / size)) / round(2 * np.pi * radius / size)
    return radius * np.stack([np.cos(t), np.sin(t)], axis=1)


SHAPES = {
    "square": [(0, 0), (1, 0), (1, 1), (0, 1)],
    "corner": [(0, 0), (1, 0), (1, 0.3), (0.3, 0.3), (0.3, 1), (0, 1)],
    "notched": [(0, 0), (1, 0), (1, 1), (0.52, 1), (0.5, 0.5), (0.48, 1), (0, 1)],
    "sharp": [(0, 0), (1, 0), (0.5, 0.5)],
}


def lengths(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    e = topology.edges(t)
    return np.linalg.norm(x[e[:, 0]] - x[e[:, 1]], axis=1)


@pytest.mark.parametrize("size", [0.11, 0.053])
@pytest.mark.parametrize("name", [*SHAPES, "circle"])
def test_good_triangles(name: str, size: float) -> None:
    outline = circle(0.5, size) if name == "circle" else sampled(SHAPES[name], size)
    x, t = filled(outline, size, (0, 1), name)
    np.testing.assert_array_equal(x[: len(outline)], outline)
    border = {tuple(e) for e in topology.boundary_edges(t).tolist()}
    assert border == {(i, (i + 1) % len(outline)) for i in range(len(outline))}
    away = np.ones(len(t), bool)
    for corner in SHAPES.get(name, []):
        at = np.argmin(np.linalg.norm(outline - corner, axis=1))
        away &= (t != at).all(axis=1)
    assert smallest_angles(x, t)[away].min() >= 20
    assert lengths(x, t).max() / lengths(x, t).min() < 3
    px, py = outline.T
    polygon = 0.5 * np.sum(px * np.roll(py, -1) - np.roll(px, -1) * py)
    a, b = x[t[:, 1]] - x[t[:, 0]], x[t[:, 2]] - x[t[:, 0]]
    area = 0.5 * (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
    assert area.min() > 0
    assert area.sum() == pytest.approx(polygon, rel=1e-12)


def test_rows_lie_along_the_weft() -> None:
    """Away from the outline a third of the edges is square to the warp, however the grain lies."""
    for angle in (0.0, 0.4):
        grain = (np.sin(angle), np.cos(angle))
        x, t = filled(sampled(SHAPES["square"], 0.05), 0.05, grain, "square")
        e = topology.edges(t)
        middle, way = x[e].mean(axis=1), x[e[:, 1]] - x[e[:, 0]]
        inner = (np.abs(middle - 0.5) < 0.25).all(axis=1)
        square = np.abs(way @ np.array(grain)) < 1e-9
        assert square[inner].mean() == pytest.approx(1 / 3, abs=0.04)


def test_a_fine_side_is_graded() -> None:
    outline = np.concatenate([
        np.stack([np.linspace(0, 1, 41)[:-1], np.zeros(40)], axis=1),
        sampled([(1, 0), (1, 1), (0, 1), (0, 0)], 0.1)[:-10],
    ])  # fmt: skip
    x, t = filled(outline, 0.1, (0, 1), "graded")
    assert smallest_angles(x, t).min() >= 20
    size = lengths(x, t)
    assert size.min() < 0.026
    assert size.max() > 0.08


def test_the_same_every_time() -> None:
    first = filled(sampled(SHAPES["corner"], 0.07), 0.07, (0, 1), "corner")
    second = filled(sampled(SHAPES["corner"], 0.07), 0.07, (0, 1), "corner")
    for a, b in zip(first, second, strict=True):
        assert a.tobytes() == b.tobytes()


def test_an_outline_that_runs_through_itself_is_refused() -> None:
    with pytest.raises(PatternError, match="bow"):
        filled(np.array([[0, 0], [1, 1], [1, 0], [0, 1.0]]), 0.5, (0, 1), "bow")
