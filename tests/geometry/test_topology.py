from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

from pliant.errors import MeshError
from pliant.geometry import measures, shapes, topology
from tests.geometry.random_meshes import surfaces

FAN = np.array([[0, 1, 2], [0, 2, 3], [2, 0, 4]])


def sides(triangle: list[int]) -> list[tuple[int, int]]:
    a, b, c = triangle
    return [(a, b), (b, c), (c, a)]


def slow_hinges(triangles: np.ndarray) -> list[tuple[int, int, int, int]]:
    """Straight from the words: for every edge with two triangles, first triangle's direction, both tips."""
    around: dict[tuple[int, int], list[int]] = defaultdict(list)
    for f, triangle in enumerate(triangles.tolist()):
        for a, b in sides(triangle):
            around[min(a, b), max(a, b)].append(f)
    out = []
    for edge in sorted(around):
        if len(around[edge]) == 2:
            first, second = (triangles[f].tolist() for f in around[edge])
            (i, j) = next(s for s in sides(first) if set(s) == set(edge))
            (k,) = set(first) - set(edge)
            (l,) = set(second) - set(edge)
            out.append((i, j, k, l))
    return out


@given(surfaces())
def test_hinges_and_edges_equal_the_slow_way(surface: tuple[np.ndarray, np.ndarray]) -> None:
    _, triangles = surface
    hinges = topology.hinges(triangles)
    assert hinges.dtype == np.int32
    assert [tuple(row) for row in hinges.tolist()] == slow_hinges(triangles)
    slow = sorted({(min(s), max(s)) for t in triangles.tolist() for s in sides(t)})
    assert [tuple(row) for row in topology.edges(triangles).tolist()] == slow
    boundary = len(topology.boundary_edges(triangles))
    assert 2 * len(hinges) + boundary == 3 * len(triangles)


@given(surfaces(flips=False))
def test_hinges_of_a_wound_surface_hold_both_triangles_as_they_are(
    surface: tuple[np.ndarray, np.ndarray],
) -> None:
    _, triangles = surface
    rows = {tuple(np.roll(t, -int(np.argmin(t))).tolist()) for t in triangles}
    assert len(topology.inconsistent_edges(triangles)) == 0
    for i, j, k, l in topology.hinges(triangles).tolist():
        for t in ([i, j, k], [j, i, l]):
            assert tuple(np.roll(t, -int(np.argmin(t))).tolist()) in rows


def test_inconsistent_edges_name_where_the_winding_turns() -> None:
    triangles = np.array([[0, 1, 2], [0, 2, 3], [1, 4, 2]])
    assert topology.inconsistent_edges(triangles).tolist() == []
    triangles[1] = [0, 3, 2]
    assert topology.inconsistent_edges(triangles).tolist() == [[0, 2]]
    assert topology.hinges(triangles).tolist() == [[2, 0, 1, 3], [1, 2, 0, 4]]


def test_a_non_manifold_edge_is_refused_with_its_triangles() -> None:
    with pytest.raises(MeshError, match=r"edge \(0, 2\) has 3 triangles, \[0, 1, 2\] \(1 such edges\)"):
        topology.hinges(FAN)
    assert topology.non_manifold_edges(FAN).tolist() == [[0, 2]]
    rows, counts = topology.edge_use(FAN)
    assert counts[(rows == [0, 2]).all(axis=1)].tolist() == [3]


def test_no_triangles_have_no_topology() -> None:
    none = np.zeros((0, 3), dtype=np.int32)
    assert topology.edges(none).shape == (0, 2)
    assert topology.hinges(none).shape == (0, 4)
    assert topology.boundary_edges(none).shape == (0, 2)
    assert topology.boundary_loops(none) == []
    assert topology.components(none, 3).tolist() == [0, 1, 2]


@given(surfaces())
def test_components_equal_a_flood_fill(surface: tuple[np.ndarray, np.ndarray]) -> None:
    vertices, triangles = surface
    n = len(vertices)
    label = np.full(n, -1)
    pieces = 0
    touching = defaultdict(set)
    for t in triangles.tolist():
        for a, b in combinations(t, 2):
            touching[a].add(b)
            touching[b].add(a)
    for v in range(n):
        if label[v] < 0:
            todo = [v]
            while todo:
                u = todo.pop()
                if label[u] < 0:
                    label[u] = pieces
                    todo += touching[u]
            pieces += 1
    assert topology.components(triangles, n).tolist() == label.tolist()


def test_components_of_a_long_chain_are_found_quickly() -> None:
    mesh = shapes.grid(20001, 2, (1000.0, 0.05))
    shuffled = np.random.default_rng(0).permutation(mesh.n_vertices)[mesh.triangles]
    assert topology.components(shuffled, mesh.n_vertices).max() == 0


@given(surfaces())
def test_incidence_lists_every_use_once_in_order(surface: tuple[np.ndarray, np.ndarray]) -> None:
    vertices, triangles = surface
    start, rows = topology.vertex_incidence(triangles, len(vertices))
    assert start[-1] == rows.size == triangles.size
    for v in range(len(vertices)):
        assert rows[start[v] : start[v + 1]].tolist() == np.flatnonzero((triangles == v).any(axis=1)).tolist()


@settings(max_examples=200)
@given(surfaces())
def test_loops_use_every_border_edge_once_and_no_vertex_twice(
    surface: tuple[np.ndarray, np.ndarray],
) -> None:
    _, triangles = surface
    border = sorted(tuple(sorted(e)) for e in topology.boundary_edges(triangles).tolist())
    walked = []
    for loop in topology.boundary_loops(triangles):
        assert len(set(loop.tolist())) == len(loop) >= 3
        assert loop[0] == loop.min()
        walked += [tuple(sorted(e)) for e in zip(loop.tolist(), np.roll(loop, -1).tolist(), strict=True)]
    assert sorted(walked) == border


def test_loops_run_with_the_surface_on_their_left() -> None:
    mesh = shapes.annulus(0.3, 1.0, 0.2)
    outer, inner = topology.boundary_loops(mesh.triangles)
    assert len(outer) > len(inner)

    def signed_area(loop: np.ndarray) -> float:
        x, y = mesh.vertices[loop, 0], mesh.vertices[loop, 1]
        return float(0.5 * (x * np.roll(y, -1) - y * np.roll(x, -1)).sum())

    assert signed_area(outer) == pytest.approx(np.pi, rel=0.02)
    assert signed_area(inner) == pytest.approx(-0.09 * np.pi, rel=0.1)


def test_a_bow_tie_is_two_loops() -> None:
    triangles = np.array([[0, 1, 2], [0, 3, 4]])
    assert [loop.tolist() for loop in topology.boundary_loops(triangles)] == [[0, 1, 2], [0, 3, 4]]


def test_boundary_edges_run_as_their_triangle() -> None:
    mesh = shapes.grid(3, 3)
    assert topology.boundary_edges(mesh.triangles).tolist() == [
        [0, 1], [3, 0], [1, 2], [2, 5], [6, 3], [5, 8], [7, 6], [8, 7],
    ]  # fmt: skip


def test_a_large_grid_is_quick() -> None:
    mesh = shapes.grid(257, 257)
    edges, hinges = topology.edges(mesh.triangles), topology.hinges(mesh.triangles)
    assert len(edges) == 3 * 256**2 + 2 * 256
    assert len(hinges) == len(edges) - 4 * 256
    assert np.abs(measures.hinge_angles(mesh.vertices, hinges)).max() == 0.0


@settings(max_examples=30, deadline=None)
@given(surface=surfaces())
def test_oriented_faces_agree_across_every_edge(surface: tuple[np.ndarray, np.ndarray]) -> None:
    """Whatever faces were turned over; the same faces, and the first of each piece as it was."""
    triangles = surface[1]
    try:
        topology.hinges(triangles)
        out = topology.oriented(triangles)
    except MeshError:
        return
    assert len(topology.inconsistent_edges(out)) == 0
    np.testing.assert_array_equal(np.sort(out, axis=1), np.sort(triangles, axis=1))
    turned = triangles.copy()
    turned[1::2] = turned[1::2, ::-1]
    np.testing.assert_array_equal(np.sort(topology.oriented(turned), axis=1), np.sort(triangles, axis=1))
    if len(triangles):
        np.testing.assert_array_equal(out[0], triangles[0])


def test_a_mobius_strip_cannot_be_oriented() -> None:
    n = 5
    k = np.arange(n)
    ahead = (k + 1) % n
    low, high = 2 * k, 2 * k + 1
    low_next, high_next = np.where(ahead == 0, 1, 2 * ahead), np.where(ahead == 0, 0, 2 * ahead + 1)
    strip = np.concatenate([np.stack([low, low_next, high], 1), np.stack([high, low_next, high_next], 1)])
    with pytest.raises(MeshError, match="one side only"):
        topology.oriented(strip)
