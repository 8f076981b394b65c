"""Signed distances: slope one along their normal, and the distance to the nearest point of the surface."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.backend.jit import kernel
from pliant.backend.lanes import Lanes, load3, store, store3
from pliant.contact.distances import CYLINDER, PLANE, SPHERE, collider_distance
from tests.laws.batches import in_lanes, out_of_lanes, random_rotations

Array = np.ndarray

PRECISIONS = ["float64", "float32"]
SIZES = {  # name: kind, (radius, half height, rounding)
    "plane": (PLANE, (0.0, 0.0, 0.0)),
    "ball": (SPHERE, (0.7, 0.0, 0.0)),
    "cylinder": (CYLINDER, (0.6, 0.4, 0.0)),
    "rounded": (CYLINDER, (0.6, 0.4, 0.15)),
    "lens": (CYLINDER, (0.6, 0.25, 0.25)),
    "pill": (CYLINDER, (0.3, 0.8, 0.3)),
}
SEEDS = st.integers(0, 2**32 - 1)


@kernel
def distances(kind: Any, size: Any, turn: Any, place: Any, p: Any, gap: Any, normal: Any, lanes: Any) -> None:
    """p (M, 1, 3, L); out: gap (M, L), normal (M, 1, 3, L)."""
    axes = ((turn[0, 0], turn[0, 1], turn[0, 2]), (turn[1, 0], turn[1, 1], turn[1, 2]),
            (turn[2, 0], turn[2, 1], turn[2, 2]))  # fmt: skip
    sizes, where_ = (size[0], size[1], size[2], size[3]), (place[0], place[1], place[2])
    for n in range(p.shape[0]):
        d, g = collider_distance(kind, sizes, axes, where_, load3(p[n], 0, lanes))
        store(gap, (n,), d, lanes)
        store3(normal[n], 0, g, lanes)


def signed_distance(
    shape: str, points: Array, turn: Array | None = None, place: Any = (0.0, 0.0, 0.0), dtype: Any = "float64"
) -> tuple[Array, Array]:
    """Distances (n,) and normals (n, 3) of points (n, 3)."""
    kind, size = SIZES[shape]
    p = in_lanes(points[:, None], 16, dtype)
    gap, normal = np.full((len(p), 16), np.nan, dtype), np.full_like(p, np.nan)
    row = (size[0], size[1], 0.0, size[2])
    constants = (np.asarray(a, dtype) for a in (row, np.eye(3) if turn is None else turn, place))
    distances(kind, *constants, p, gap, normal, Lanes(16))
    return out_of_lanes(gap, len(points)), out_of_lanes(normal, len(points))[:, 0]


def surface(shape: str, spacing: float) -> Array:
    """Points (m, 3) all over the surface of a shape of revolution, the farthest about ``spacing`` apart."""
    kind, (radius, half, rounding) = SIZES[shape]
    if kind == SPHERE:
        t = np.linspace(0.0, np.pi, int(np.pi * radius / spacing) + 2)
        profile = radius * np.stack([np.sin(t), np.cos(t)], axis=1)
    else:
        arc = np.linspace(0.0, 0.5 * np.pi, max(2, int(2 * rounding / spacing)))
        rim = [radius - rounding, half - rounding] + rounding * np.stack([np.sin(arc), np.cos(arc)], axis=1)
        lid = np.linspace(0.0, radius - rounding, int((radius - rounding) / spacing) + 2)
        side = np.linspace(half - rounding, 0.0, int((half - rounding) / spacing) + 2)
        upper = np.concatenate([np.c_[lid, 0 * lid + half], rim, np.c_[0 * side + radius, side]])
        profile = np.concatenate([upper, upper * [1, -1]])
    out = []
    for r, z in profile:
        a = np.linspace(0.0, 2 * np.pi, int(2 * np.pi * r / spacing) + 1, endpoint=False)
        out.append(np.stack([r * np.cos(a), r * np.sin(a), 0 * a + z], axis=1))
    return np.concatenate(out)


def inside(shape: str, p: Array) -> Array:
    """Whether points (n, 3) lie within a shape, from its plain description."""
    kind, (radius, half, rounding) = SIZES[shape]
    if kind == SPHERE:
        return (p**2).sum(axis=1) < radius**2
    r, z = np.hypot(p[:, 0], p[:, 1]), np.abs(p[:, 2])
    rim = (r > radius - rounding) & (z > half - rounding)
    in_rim = (r - radius + rounding) ** 2 + (z - half + rounding) ** 2 < rounding**2
    return (r < radius) & (z < half) & (~rim | in_rim)


@pytest.mark.parametrize("shape", [name for name in SIZES if name != "plane"])
def test_the_distance_is_that_to_the_nearest_point_of_the_surface(shape: str) -> None:
    rng, (radius, half, _) = np.random.default_rng(1), SIZES[shape][1]
    box = np.array([radius, radius, half or radius])
    points = np.concatenate([rng.uniform(-1.2, 1.2, (200, 3)), rng.uniform(-box, box, (100, 3))])
    spacing = 0.01
    cloud = surface(shape, spacing)
    gap, normal = signed_distance(shape, points)
    brute = np.empty(len(points))
    nearest = np.empty_like(points)
    for n, p in enumerate(points):
        d2 = ((cloud - p) ** 2).sum(axis=1)
        nearest[n] = cloud[d2.argmin()]
        brute[n] = np.sqrt(d2.min())
    within = inside(shape, points)
    assert 30 < within.sum() < 270
    np.testing.assert_array_equal(gap < 0.0, within)
    assert (np.abs(gap) <= brute + 1e-12).all()
    # a sample lies at most t = spacing/sqrt 2 beside the true foot, on a surface of curvature up to 1/0.15
    assert (brute <= np.sqrt(gap**2 + 2 * (0.71 * spacing) ** 2 * (1 + np.abs(gap) / 0.15))).all()
    foot = points - gap[:, None] * normal
    unique = np.linalg.norm(foot - nearest, axis=1) < 0.12  # elsewhere two points are equally near
    assert unique.mean() > 0.9
    assert np.abs(signed_distance(shape, foot)[0]).max() < 1e-12, "the foot lies on the surface"


@pytest.mark.parametrize("shape", SIZES)
@settings(max_examples=15, deadline=None)
@given(seed=SEEDS)
def test_the_normal_is_the_gradient_of_the_distance(shape: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    turn, place = random_rotations(1, seed)[0], rng.standard_normal(3)
    points = rng.uniform(-1.5, 1.5, (64, 3))
    _, normal = signed_distance(shape, points, turn, place)
    eps = 1e-6
    steps = np.concatenate([eps * np.eye(3), -eps * np.eye(3)])
    moved, turned = signed_distance(shape, (points[:, None] + steps).reshape(-1, 3), turn, place)
    slope = (moved.reshape(64, 6)[:, :3] - moved.reshape(64, 6)[:, 3:]) / (2 * eps)
    smooth = np.abs(turned.reshape(64, 6, 3) - normal[:, None]).max(axis=(1, 2)) < 1e-3  # not on a ridge
    assert smooth.sum() > 50
    np.testing.assert_allclose(slope[smooth], normal[smooth], atol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, rtol=1e-14)


@pytest.mark.parametrize("shape", SIZES)
@settings(max_examples=15, deadline=None)
@given(seed=SEEDS)
def test_a_placed_collider_is_the_same_shape_elsewhere(shape: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    turn, place = random_rotations(1, seed)[0], rng.standard_normal(3)
    points = rng.uniform(-1.5, 1.5, (64, 3))
    gap, normal = signed_distance(shape, points)
    there, normal_there = signed_distance(shape, points @ turn.T + place, turn, place)
    np.testing.assert_allclose(there, gap, atol=1e-13)
    kept = np.abs(normal_there @ turn - normal).max(axis=1) < 1e-9
    assert kept.mean() > 0.95  # on a ridge rounding chooses the side


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_centres_axes_and_corners_have_a_unit_normal_too(dtype: str) -> None:
    """Where the normal is not unique one is chosen, the same every time."""
    corner = [[0.6, 0.0, 0.4], [0.6, 0.0, -0.4], [0.0, 0.6, 0.4], [0.0, -0.6, -0.4]]
    axis = [[0.0, 0.0, z] for z in (-2.0, -0.4, -0.1, 0.0, 0.1, 0.4, 2.0)]
    points = np.array(corner + axis + [[1e-30, 0.0, 0.0], [0.0, 0.0, -1e-30], [0.6, 0, 0], [0.2, 0, 0]])
    for shape in SIZES:
        gap, normal = signed_distance(shape, points, dtype=dtype)
        assert np.isfinite(gap).all()
        np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, rtol=1e-6, err_msg=shape)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_known_places(dtype: str) -> None:
    bound = 8 * float(np.finfo(dtype).eps)
    cases = [
        ("plane", (0.3, -0.2, 0.5), 0.5, (0, 0, 1)),
        ("plane", (0.3, -0.2, -0.5), -0.5, (0, 0, 1)),
        ("ball", (0.0, 0.0, 0.0), -0.7, (0, 0, 1)),
        ("ball", (0.0, -2.0, 0.0), 1.3, (0, -1, 0)),
        ("cylinder", (0.0, 0.0, 0.0), -0.4, (0, 0, 1)),
        ("cylinder", (0.0, 0.0, -0.3), -0.1, (0, 0, -1)),
        ("cylinder", (0.5, 0.0, 0.0), -0.1, (1, 0, 0)),
        ("cylinder", (0.9, 0.0, 0.8), 0.5, (0.6, 0, 0.8)),
        ("rounded", (0.75, 0.0, 0.65), np.hypot(0.3, 0.4) - 0.15, (0.6, 0, 0.8)),
        ("pill", (0.0, 0.0, 1.8), 1.0, (0, 0, 1)),
        ("pill", (0.0, 0.4, 0.0), 0.1, (0, 1, 0)),
    ]
    for shape, point, gap, normal in cases:
        d, n = signed_distance(shape, np.array([point]), dtype=dtype)
        assert d[0] == pytest.approx(gap, abs=bound), shape
        np.testing.assert_allclose(n[0], normal, atol=bound, err_msg=shape)


def test_pills_and_lenses_are_what_they_say() -> None:
    """A cylinder rounded by its radius is the set within that distance of a segment."""
    points = np.random.default_rng(3).uniform(-1.5, 1.5, (500, 3))
    on_segment = np.clip(points[:, 2], -0.5, 0.5)[:, None] * [0, 0, 1]
    exact = np.linalg.norm(points - on_segment, axis=1) - 0.3
    gap, _ = signed_distance("pill", points)
    np.testing.assert_allclose(gap, exact, atol=1e-14)
