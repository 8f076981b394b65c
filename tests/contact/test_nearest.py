"""Nearest points of meshes, lists of candidates, sides, crossings: against a look at every face."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.backend.jit import kernel
from pliant.contact.nearest import (
    crossings,
    gap_at,
    list_faces,
    nearest_in_tree,
    nearest_listed,
    side_at,
    within,
)
from pliant.contact.surfaces import RIM, SurfaceSet, surface_set
from tests.contact.meshes import (
    bowl,
    box,
    bumpy,
    joined,
    slow_crossings,
    slow_nearest,
    winding_number,
)

Array = np.ndarray

MESHES = {
    "ball": pl.shapes.sphere(1.0, 3),
    "box": box((2, 1.2, 0.4)),
    "bowl": bowl(1.0, 3),
    "bumpy": bumpy(31, 2.0, 0.3),
    "tube": pl.shapes.tube(0.7, 1.5, 17, 9),
    "needles": pl.TriMesh(
        np.array([[0, 0, 0], [2, 1e-4, 0], [2, 0, 0], [0, 1e-4, 1.0]]), np.array([[0, 2, 1], [0, 1, 3]])
    ),
    "one": pl.TriMesh(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.5]]), np.array([[0, 1, 2]])),
}
TWO_SIDED = {name: pl.MeshCollider(mesh, side="both") for name, mesh in MESHES.items()}
SETS = {name: surface_set((c,)) for name, c in TWO_SIDED.items()}


@kernel
def ask(p: Any, s: Any, f: Any, limit: Any, radius: Any, out: Any) -> None:
    """p (n, 3); out (n, 9): distance, face, feature, vector from the nearest point, side, gap, |normal|^2."""
    for i in range(p.shape[0]):
        q = (p[i, 0], p[i, 1], p[i, 2])
        found = nearest_in_tree(q, s.table, s.rows, s.boxes, f, within(limit))
        out[i, 0], out[i, 1], out[i, 2] = np.sqrt(found[0]), found[1], found[2]
        if found[1] >= 0:
            side = side_at(found, s.around, radius)
            gap, n = gap_at(found, s.rows, s.around, side)
            out[i, 6], out[i, 7] = side, gap
            for a in range(3):
                out[i, 3 + a] = found[3][a]
            out[i, 8] = n[0] * n[0] + n[1] * n[1] + n[2] * n[2]


@kernel
def ask_lists(
    p: Any, moved: Any, s: Any, f: Any, reach: Any, room: Any, faces: Any, gap: Any, out: Any
) -> None:
    """Lists at p (n, 3): faces, gap (n, room); out (n, 4): count, radius, what is found at ``moved``."""
    for i in range(p.shape[0]):
        q = (p[i, 0], p[i, 1], p[i, 2])
        count, complete = list_faces(q, s.table, s.rows, s.boxes, f, reach, faces[i], gap[i], 0, room)
        out[i, 0], out[i, 1] = count, complete
        r = (moved[i, 0], moved[i, 1], moved[i, 2])
        way = np.sqrt((r[0] - q[0]) ** 2 + (r[1] - q[1]) ** 2 + (r[2] - q[2]) ** 2)
        found = nearest_listed(r, s.rows, faces[i], gap[i], 0, count, way)
        out[i, 2], out[i, 3] = np.sqrt(found[0]), found[1]


@kernel
def ask_crossings(a: Any, b: Any, s: Any, f: Any, out: Any) -> None:
    """out (n,): how often each way from a to b (n, 3) passes through the surface."""
    for i in range(a.shape[0]):
        p, q = (a[i, 0], a[i, 1], a[i, 2]), (b[i, 0], b[i, 1], b[i, 2])
        out[i] = crossings(s.table, s.rows, s.boxes, f, p, q)


def corners(s: SurfaceSet, f: int = 0) -> Array:
    """Triangles (F, 3, 3) of a surface, in the order of its tree."""
    first, count = s.table[f, 4], s.table[f, 5]
    rows = s.rows[first : first + count]
    return np.stack([rows[:, :3], rows[:, :3] + rows[:, 3:6], rows[:, :3] + rows[:, 6:9]], axis=1)


def points(name: str, n: int, seed: int = 0) -> Array:
    """Near and far, inside and outside, on faces, edges and corners."""
    rng = np.random.default_rng(seed)
    c = corners(SETS[name])
    on = (c[rng.integers(len(c), size=n)] * rng.dirichlet([0.4] * 3, n)[..., None]).sum(axis=1)
    near = on + 10.0 ** rng.uniform(-9, -1, (n, 1)) * rng.standard_normal((n, 3))
    far = rng.uniform(-1.8, 1.8, (n, 3))
    return np.concatenate([near, far, c.reshape(-1, 3)[: n // 4], c[:, :2].mean(axis=1)[: n // 4]])


@pytest.mark.parametrize("name", MESHES)
def test_the_tree_finds_the_nearest_face(name: str) -> None:
    s, p = SETS[name], points(name, 200)
    out = np.full((len(p), 9), np.nan)
    ask(p, s, 0, np.inf, 0.0, out)
    every = slow_nearest(corners(s), p)
    np.testing.assert_allclose(out[:, 0], every.min(axis=1), atol=1e-14 if name != "needles" else 1e-9)
    np.testing.assert_allclose(every[np.arange(len(p)), out[:, 1].astype(int)], out[:, 0], atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(out[:, 3:6], axis=1), out[:, 0], atol=1e-14)
    np.testing.assert_allclose(out[:, 8], 1, atol=1e-9)  # normals
    np.testing.assert_allclose(np.abs(out[:, 7]), out[:, 0], atol=1e-9)  # the gap is that distance
    assert (out[:, 7] >= -1e-9).all(), "on the side where it is nobody is inside"


@pytest.mark.parametrize("name", ["ball", "bowl", "bumpy"])
def test_nothing_is_found_beyond_the_limit_and_everything_within(name: str) -> None:
    s, p = SETS[name], points(name, 200)
    out, limited = np.full((len(p), 9), np.nan), np.full((len(p), 9), np.nan)
    ask(p, s, 0, np.inf, 0.0, out)
    ask(p, s, 0, 0.1, 0.0, limited)
    found = limited[:, 1] >= 0
    assert 50 < found.sum() < len(p) - 50
    np.testing.assert_array_equal(found, out[:, 0] < 0.1)
    np.testing.assert_array_equal(limited[found], out[found])


@pytest.mark.parametrize("name", ["ball", "box", "tube"])
def test_the_side_is_what_the_winding_number_says(name: str) -> None:
    mesh = MESHES[name]
    closed = name != "tube"
    s, p = SETS[name], points(name, 300, seed=1)
    out = np.full((len(p), 9), np.nan)
    ask(p, s, 0, np.inf, 0.0, out)
    clear = out[:, 0] > 1e-12
    if closed:
        inside = winding_number(mesh.vertices[TWO_SIDED[name].surfaces.pieces[0].triangles], p) > 0.5
        assert 50 < inside[clear].sum() < clear.sum() - 50
        np.testing.assert_array_equal(out[clear, 6], np.where(inside, -1, 1)[clear])
    else:  # a tube has no inside, but a rim beyond which there are no sides
        beyond = np.abs(p[:, 2] - 0.5 * (p[:, 2].min() + p[:, 2].max())) > 10
        assert not beyond.any()
        assert (out[:, 6] == 0).sum() > 20
        radial = np.linalg.norm(p[:, :2], axis=1)
        plain = clear & (np.abs(radial - 0.7) > 0.05) & (out[:, 6] != 0)
        np.testing.assert_array_equal(out[plain, 6] > 0, outward(s, radial)[plain])


def outward(s: SurfaceSet, radial: Array) -> Array:
    """Whether points are on the side of the normals of a tube about z."""
    c = corners(s)
    out = (s.rows[0, 9:11] @ c[0, :, :2].mean(axis=0)) > 0
    return (radial > 0.7) == out


def test_beyond_the_rim_a_surface_has_no_sides() -> None:
    """A square in the plane z = 0: sides above and below it and up to the radius beside it."""
    s = surface_set((pl.MeshCollider(pl.shapes.grid(4, 4)),))
    x = np.array([0.3, 0.49, 0.5, 0.509, 0.511, 0.6])
    p = np.array([[a, b, z] for z in (-0.2, -1e-3, 1e-3, 0.2) for a in x for b in (0.1, -0.3)])
    out = np.full((len(p), 9), np.nan)
    ask(p, s, 0, np.inf, 0.01, out)
    up = np.sign(s.rows[0, 11])
    beside = p[:, 0] < 0.51
    np.testing.assert_array_equal(out[:, 6], np.where(beside, up * np.sign(p[:, 2]), 0))


@pytest.mark.parametrize("name", MESHES)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), reach=st.floats(1e-3, 1.0), room=st.sampled_from([2, 8, 32]))
def test_lists_hold_every_face_within_their_radius(name: str, seed: int, reach: float, room: int) -> None:
    """And what they find, however far the point has moved, is right wherever they claim to suffice."""
    s, p = SETS[name], points(name, 40, seed)
    moved = p + np.random.default_rng(seed).standard_normal(p.shape) * reach / 3
    faces, gap = np.full((len(p), room), -1, np.int32), np.full((len(p), room), np.nan)
    out = np.full((len(p), 4), np.nan)
    ask_lists(p, moved, s, 0, reach, room, faces, gap, out)
    every, later = slow_nearest(corners(s), p), slow_nearest(corners(s), moved)
    for i in range(len(p)):
        n, radius = int(out[i, 0]), out[i, 1]
        assert (np.diff(gap[i, :n]) >= 0).all()
        np.testing.assert_allclose(gap[i, :n], every[i, faces[i, :n]], atol=1e-9)
        missing = np.setdiff1d(np.flatnonzero(every[i] < radius - 1e-9), faces[i, :n])
        assert missing.size == 0
        assert radius == reach or n == room
        if out[i, 2] <= radius - np.linalg.norm(moved[i] - p[i]):
            assert out[i, 2] == pytest.approx(later[i].min(), abs=1e-9)


@pytest.mark.parametrize("name", MESHES)
def test_crossings_are_counted(name: str) -> None:
    s = SETS[name]
    rng = np.random.default_rng(3)
    a, b = rng.uniform(-1.5, 1.5, (300, 3)), rng.uniform(-1.5, 1.5, (300, 3))
    out = np.full(300, -1)
    ask_crossings(a, b, s, 0, out)
    np.testing.assert_array_equal(out, slow_crossings(corners(s), a, b))
    assert (out > 0).any() or name in ("needles", "one")


def test_a_way_through_a_corner_or_an_edge_crosses_once() -> None:
    """Ways straight through every corner and the middle of every edge of a plane grid."""
    mesh = pl.shapes.grid(9, 9, pattern="cross")
    s = surface_set((pl.MeshCollider(mesh),))
    e = mesh.edges
    inner = (np.abs(mesh.vertices[:, :2]) < 0.4).all(axis=1)
    through = np.concatenate([mesh.vertices[inner], mesh.vertices[e].mean(axis=1)[inner[e].all(axis=1)]])
    out = np.full(len(through), -1)
    up = np.array([0, 0, 1.0])
    ask_crossings(through - 0.3 * up, through + 0.5 * up, s, 0, out)
    assert len(out) > 100
    assert (out == 1).all()


def test_several_meshes_lie_in_one_set() -> None:
    """Their tables point at the right faces: each surface answers as it does alone."""
    two = joined(MESHES["ball"], MESHES["bowl"].transformed((3, 0, 0)))
    s = surface_set((pl.MeshCollider(MESHES["box"]), pl.MeshCollider(two), TWO_SIDED["bumpy"]))
    assert s.first.tolist() == [0, 1, 3, 4]
    assert s.table[:, 0].tolist() == [0, 1, 1, 2]
    assert s.table[:, 1].tolist() == [1, 1, 0, 0]
    p = np.random.default_rng(0).uniform(-2, 4, (100, 3))
    for f in range(4):
        out = np.full((100, 9), np.nan)
        ask(p, s, f, np.inf, 0.0, out)
        np.testing.assert_allclose(out[:, 0], slow_nearest(corners(s, f), p).min(axis=1), atol=1e-14)
    assert not s.around[: s.table[2, 4], RIM:].any()


def test_inside_means_the_other_side() -> None:
    out_, in_ = (surface_set((pl.MeshCollider(MESHES["ball"], side=side),)) for side in ("outside", "inside"))
    np.testing.assert_array_equal(out_.boxes, in_.boxes)
    assert (out_.rows[:, 9:12] * corners(out_).mean(axis=1)).sum(axis=1).min() > 0
    assert (in_.rows[:, 9:12] * corners(in_).mean(axis=1)).sum(axis=1).max() < 0
