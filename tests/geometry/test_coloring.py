from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.geometry import shapes, topology
from pliant.geometry.coloring import color
from tests.geometry.random_meshes import surfaces


def assert_valid(ids: np.ndarray, fixed: np.ndarray, order: np.ndarray, start: np.ndarray) -> None:
    assert sorted(order.tolist()) == list(range(len(ids)))
    assert start[0] == 0
    assert start[-1] == len(ids)
    assert (np.diff(start) > 0).all()
    for c in range(len(start) - 1):
        mine = order[start[c] : start[c + 1]]
        assert (np.diff(mine) > 0).all()
        moving = [set(row) - set(np.flatnonzero(fixed).tolist()) for row in ids[mine].tolist()]
        assert len(set().union(*moving)) == sum(len(m) for m in moving)


@given(surfaces(), st.sampled_from(["edges", "triangles", "hinges"]), st.floats(0, 1), st.integers(0, 99))
def test_rows_of_one_colour_share_no_moving_vertex(
    surface: tuple[np.ndarray, np.ndarray], what: str, share: float, seed: int
) -> None:
    vertices, triangles = surface
    ids = triangles if what == "triangles" else getattr(topology, what)(triangles)
    fixed = np.random.default_rng(seed).random(len(vertices)) < share
    order, start = color(ids, len(vertices), fixed=fixed)
    assert order.dtype == start.dtype == np.int32
    assert_valid(ids, fixed, order, start)
    again = color(ids, len(vertices), fixed=fixed)
    assert (order.tolist(), start.tolist()) == (again[0].tolist(), again[1].tolist())


@given(st.integers(1, 6), st.integers(0, 80), st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_any_rows_can_be_coloured(width: int, n_rows: int, n_vertices: int, seed: int) -> None:
    width = min(width, n_vertices)
    rng = np.random.default_rng(seed)
    ids = np.array([rng.permutation(n_vertices)[:width] for _ in range(n_rows)], int).reshape(-1, width)
    order, start = color(ids, n_vertices)
    assert_valid(ids, np.zeros(n_vertices, dtype=bool), order, start)
    assert len(start) - 1 <= width * max(np.bincount(ids.ravel()).max(initial=0) - 1, 0) + 1


def test_a_star_needs_a_colour_for_each_arm_unless_its_middle_is_fixed() -> None:
    star = np.array([[0, i] for i in range(1, 101)])
    assert len(color(star, 101)[1]) - 1 == 100
    fixed = np.arange(101) == 0
    assert color(star, 101, fixed=fixed)[1].tolist() == [0, 100]


def test_nothing_to_colour() -> None:
    order, start = color(np.zeros((0, 2), dtype=np.int32), 5)
    assert order.size == 0
    assert start.tolist() == [0]


@pytest.mark.parametrize(
    ("mesh", "most"),
    [
        (shapes.grid(65, 65), (6, 7, 12)),
        (shapes.grid(65, 65, pattern="alternating"), (8, 8, 19)),
        (shapes.grid(65, 65, pattern="cross"), (8, 8, 20)),
        (shapes.equilateral((1.0, 1.0), 1 / 64), (7, 8, 16)),
        (shapes.unstructured((1.0, 1.0), 1 / 64), (9, 10, 19)),
    ],
    ids=["right", "alternating", "cross", "equilateral", "unstructured"],
)
def test_few_colours(mesh: shapes.TriMesh, most: tuple[int, int, int]) -> None:
    rows = (mesh.edges, mesh.triangles, topology.hinges(mesh.triangles))
    counts = tuple(len(color(ids, mesh.n_vertices)[1]) - 1 for ids in rows)
    assert all(c <= m for c, m in zip(counts, most, strict=True)), counts


def test_a_large_grid_has_few_colours() -> None:
    mesh = shapes.grid(257, 257)
    rows = (topology.edges(mesh.triangles), mesh.triangles, topology.hinges(mesh.triangles))
    counts = [len(color(ids, mesh.n_vertices)[1]) - 1 for ids in rows]
    assert counts == [6, 7, 12]


@pytest.mark.parametrize("what", ["edges", "triangles", "hinges"])
def test_a_piece_is_coloured_as_if_it_were_alone(what: str) -> None:
    """Pieces of other patterns and numbers change neither the colours nor the order of a piece's own rows."""
    mesh, other = shapes.grid(9, 8, pattern="alternating"), shapes.disc(1.0, 0.1)
    mine, theirs = (
        m.triangles if what == "triangles" else getattr(topology, what)(m.triangles) for m in (mesh, other)
    )
    order, start = color(mine, mesh.n_vertices)
    alone = [order[a:b].tolist() for a, b in itertools.pairwise(start)]
    for first in (True, False):
        rows = [mine, theirs + mesh.n_vertices] if first else [theirs, mine + other.n_vertices]
        both, ends = color(np.concatenate(rows), mesh.n_vertices + other.n_vertices)
        lowest = 0 if first else len(theirs)
        here = [
            [k - lowest for k in both[a:b].tolist() if 0 <= k - lowest < len(mine)]
            for a, b in itertools.pairwise(ends)
        ]
        assert [h for h in here if h] == alone
