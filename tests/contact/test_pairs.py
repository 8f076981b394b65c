"""Pairs of near features: brute force over all pairs is the oracle of the search."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.contact.oracle import all_pairs
from pliant.contact.pairs import Pairs, find_pairs
from pliant.contact.skin import Skin, skin_of
from pliant.errors import PliantError
from pliant.geometry import shapes


def same(found: tuple[Pairs, int], expected: tuple[Pairs, int]) -> None:
    assert found[1] == expected[1]
    for name, a, b in zip(Pairs._fields, found[0], expected[0], strict=True):
        np.testing.assert_array_equal(a, b, err_msg=name)


def crumpled(n: int, size: float, seed: int, dents: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """A sheet of n x n vertices squeezed into a ball, and its triangles."""
    mesh = shapes.grid(n, n, (size, size))
    rng = np.random.default_rng(seed)
    k = rng.normal(size=(6, 2)) * 9 / size
    waves = np.cos(mesh.vertices[:, :2] @ k.T + rng.uniform(0, 6, 6)) @ rng.normal(size=(6, 3))
    return dents * size * waves + 0.1 * mesh.vertices, mesh.triangles


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.floats(0, 1))
def test_soups(seed: int, count: int, reach: float) -> None:
    """Triangles of very different sizes, some of them degenerate, with margins that differ by vertex."""
    rng = np.random.default_rng(seed)
    n = rng.integers(3, 40)
    x = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-2, 0, (n, 1))
    if rng.uniform() < 0.3:
        x = np.round(4 * x) / 4  # many coincidences
    triangles = np.array([rng.choice(n, 3, replace=False) for _ in range(count)])
    skin = skin_of(triangles, 0.2 * reach * rng.uniform(size=n), rng.normal(size=(n, 3)))
    margin = 0.3 * reach * rng.uniform(size=n)
    same(find_pairs(x, skin, margin), all_pairs(x, skin, margin))


@pytest.mark.parametrize("seed", range(2))
def test_a_crumpled_sheet(seed: int) -> None:
    x, triangles = crumpled(13, 0.2, seed)
    skin = skin_of(triangles, 0.001, shapes.grid(13, 13, (0.2, 0.2)).vertices)
    pairs, corners = find_pairs(x, skin, 0.004)
    assert 0 < corners < len(pairs.owner)  # both kinds
    same((pairs, corners), all_pairs(x, skin, 0.004))
    assert pairs.keep.min() == pairs.keep.max() == 0.002


def test_the_list_is_sorted_complete_and_without_neighbours() -> None:
    x, triangles = crumpled(40, 0.2, 4)
    pairs, corners = find_pairs(x, skin_of(triangles, 0.001, x), 0.002)
    keys = np.stack([np.arange(len(pairs.owner)) >= corners, pairs.owner, pairs.partner], axis=1)
    assert (np.lexsort(keys.T[::-1]) == np.arange(len(keys))).all()
    assert len(np.unique(keys, axis=0)) == len(keys) > 1000
    assert all(len(set(ids)) == 4 for ids in pairs.ids.tolist())


def test_moved_turned_or_numbered_otherwise_the_pairs_are_the_same() -> None:
    x, triangles = crumpled(20, 0.2, 5)
    first, _ = find_pairs(x, skin_of(triangles, 0.001, x), 0.003)
    assert len(first.ids) > 1000
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    moved = x @ turn.T + 0.37
    other, _ = find_pairs(moved, skin_of(triangles, 0.001, moved), 0.003)
    np.testing.assert_array_equal(first.ids, other.ids)
    np.testing.assert_allclose(first.distance, other.distance, rtol=1e-9)
    shuffle = np.random.default_rng(1).permutation(len(x))
    back = np.argsort(shuffle)
    renumbered, corners = find_pairs(x[shuffle], skin_of(back[triangles], 0.001, x[shuffle]), 0.003)
    assert as_sets(first.ids, corners) == as_sets(shuffle[renumbered.ids], corners)


def as_sets(ids: np.ndarray, corners: int) -> set:
    split = [1] * corners + [2] * (len(ids) - corners)
    return {frozenset([frozenset(r[:k]), frozenset(r[k:])]) for r, k in zip(ids.tolist(), split, strict=True)}


def test_features_nearer_at_rest_than_they_keep_do_not_repel() -> None:
    """A mesh finer than its contact distance: no pair wants more room than it has at rest."""
    sheet = shapes.unstructured((0.1, 0.1), 0.01, seed=1)
    skin = skin_of(sheet.triangles, 0.02, sheet.vertices)
    pairs, _ = find_pairs(sheet.vertices, skin)
    assert len(pairs.keep) > 1000
    np.testing.assert_array_equal(pairs.keep, pairs.distance)
    assert pairs.keep.max() < 0.04


def test_pieces_have_no_distance_at_rest() -> None:
    """Two sheets that lie closer than they keep where they start: other pieces keep the whole distance."""
    one = shapes.grid(4, 4, (0.1, 0.1))
    x = np.concatenate([one.vertices, one.vertices + np.array([0, 0, 0.001])])
    triangles = np.concatenate([one.triangles, one.triangles + 16])
    for piece, keep in ((np.repeat([0, 1], 16), 0.004), (None, 0.001)):
        pairs, _ = find_pairs(x, skin_of(triangles, 0.002, x, piece))
        assert set(np.round(pairs.keep, 9)) == {keep}


def test_nothing_to_find() -> None:
    none = skin_of(np.zeros((0, 3), int), 0.1, np.zeros((2, 3)))
    assert len(find_pairs(np.zeros((2, 3)), none)[0].owner) == 0
    sheet = shapes.grid(30, 30)
    assert len(find_pairs(sheet.vertices, skin_of(sheet.triangles, 1e-3, sheet.vertices))[0].owner) == 0
    with pytest.raises(PliantError, match="beyond the 3"):
        skin_of([[0, 1, 3]], 0.1, np.zeros((3, 3)))


def test_an_independent_library_knows_all_pairs() -> None:
    ipctk = pytest.importorskip("ipctk", reason="needs ipctk: pip install ipctk")
    x, triangles = crumpled(30, 0.2, 7)
    skin = skin_of(triangles, 0.001, x)
    pairs, corners = find_pairs(x, skin)
    known = ipctk.Candidates()
    known.build(ipctk.CollisionMesh(x, skin.edges, skin.triangles), x, 0.0011)
    faces = {(c.vertex_id, c.face_id) for c in known.fv_candidates}
    sides = {tuple(sorted((c.edge0_id, c.edge1_id))) for c in known.ee_candidates}
    rows = list(zip(pairs.owner.tolist(), pairs.partner.tolist(), strict=True))
    assert len(rows[:corners]) > 50
    assert set(rows[:corners]) <= faces
    assert set(rows[corners:]) <= sides


def seconds(x: np.ndarray, skin: Skin) -> float:
    start = time.process_time()
    find_pairs(x, skin, 0.0005)
    return time.process_time() - start


def test_a_hundred_thousand_triangles() -> None:
    """Ten times the triangles take about ten times as long."""
    times = {}
    for n in (71, 224):
        x, triangles = crumpled(n, 0.2 * n / 71, 3, dents=0.1)
        skin = skin_of(triangles, 0.0001, x)
        seconds(x, skin)
        times[len(triangles)] = seconds(x, skin)
    (few, short), (many, long) = times.items()
    assert (few, many) == (9800, 99458)
    assert long < 25 * short
    assert long < 10.0  # about 0.4 s alone on one core of a server
