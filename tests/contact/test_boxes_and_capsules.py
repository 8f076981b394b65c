"""Box and capsule: distances against a nearest-point search, and their display surfaces."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.contact.distances import box_distance, capsule_distance

Array = np.ndarray


def box(p: Array, half: tuple[float, float, float], rounding: float) -> tuple[float, Array]:
    d, n = box_distance(tuple(p), half, rounding)
    return d, np.array(n)


def slow_box(p: Array, half: Array, rounding: float) -> float:
    """Distance to the inner box, less the rounding; inside, to the nearest side."""
    inner = half - rounding
    nearest = np.clip(p, -inner, inner)
    away = float(np.linalg.norm(p - nearest))
    return (away if away > 0 else -float((inner - np.abs(p)).min())) - rounding


@pytest.mark.parametrize("rounding", [0.0, 0.1, 0.3])
def test_box_distance(rounding: float) -> None:
    rng = np.random.default_rng(1)
    half = np.array([0.5, 0.4, 0.3])
    signs = set()
    for p in rng.uniform(-1, 1, (400, 3)):
        d, n = box(p, tuple(half), rounding)
        assert d == pytest.approx(slow_box(p, half, rounding), abs=1e-14)
        assert np.linalg.norm(n) == pytest.approx(1, abs=1e-14)
        eps = 1e-6
        slope = [(box(p + eps * e, tuple(half), rounding)[0] - d) / eps for e in np.eye(3)]
        if (
            np.abs(np.sort(np.abs(p) - half)[-2:]).min() > 1e-3
        ):  # off the planes where the nearest side changes
            assert np.abs(np.array(slope) - n).max() < 1e-4 or d < -rounding
        signs.add(d > 0)
    assert signs == {True, False}


def test_capsule_distance() -> None:
    rng = np.random.default_rng(2)
    axis = np.c_[np.zeros((2001, 2)), np.linspace(-0.6, 0.6, 2001)]
    for p in rng.uniform(-1, 1, (200, 3)):
        d, n = capsule_distance(tuple(p), 0.2, 0.6)
        assert d == pytest.approx(np.linalg.norm(p - axis, axis=1).min() - 0.2, abs=1e-6)
        assert np.linalg.norm(n) == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize(
    "shape",
    [
        pl.Box((0.4, 0.3, 0.2)),
        pl.Box((0.4, 0.3, 0.2), rounding=0.05),
        pl.Box((0.2, 0.2, 0.2), rounding=0.1),
        pl.Capsule(0.1, 0.5),
        pl.Sphere(0.3),
        pl.Cylinder(0.3, 0.2, 0.04),
    ],
)
def test_display_lies_on_the_surface_and_faces_outwards(shape) -> None:
    from pliant.build import _shape_row
    from pliant.contact.distances import collider_distance

    v, t = shape.display(1.0)
    kind, size, frame = _shape_row(shape)
    rows = tuple(tuple(r) for r in frame)
    gaps = [collider_distance(kind, tuple(size), rows, (0.0, 0.0, 0.0), tuple(p))[0] for p in v]
    assert np.abs(gaps).max() < 1e-12
    a, b, c = (v[t[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    real = np.linalg.norm(normal, axis=1) > 1e-12
    assert real.sum() > 10
    assert ((normal * (a + b + c)).sum(axis=1)[real] > 0).all()  # all shapes are convex about the origin


@pytest.mark.parametrize(
    "make", [lambda: pl.Box((1, 0, 1)), lambda: pl.Box((1, 1, 1), 0.6), lambda: pl.Capsule(-1, 1)]
)
def test_bad_sizes_are_named(make) -> None:
    with pytest.raises(pl.SceneError, match=r"Box|Capsule"):
        make()
