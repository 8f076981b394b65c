"""What begins without crossings ends without, whatever is asked for, and little is asked for in vain."""

from __future__ import annotations

import numpy as np
import pytest
from judge import Judge

from pliant.contact.certificate import least_gap
from pliant.contact.guard import (
    REMOVED,
    STUCK,
    WANTED,
    Guard,
    guard_of,
    move_safely,
    rooms_of,
)
from pliant.contact.skin import Skin, skin_of
from pliant.geometry import shapes

DTYPES = ("float64", pytest.param("float32", marks=pytest.mark.slow))


def watched(
    x: np.ndarray, triangles: np.ndarray, radius: float, dtype: str = "float64", pinned: bool = False
) -> tuple[Guard, Skin]:
    """A guard of one world that is safe at x, which becomes a number of that precision."""
    skin = skin_of(triangles, radius, x)
    guard = guard_of(skin, 1, np.dtype(dtype), pinned, length=0.01)
    guard.safe[0] = x.astype(dtype)
    return guard, skin


def storm(seed: int, size: float, dtype: str, steps: int = 15) -> tuple[int, Guard]:
    """A sheet that is told to fold up, at random and violently; how often it crossed itself."""
    sheet = shapes.grid(17, 17, (0.17, 0.17))
    rng = np.random.default_rng(seed)
    x = sheet.vertices + np.array([0, 0, 1]) * 0.02 * np.sin(40 * sheet.vertices[:, :1])
    guard, skin = watched(x, sheet.triangles, 0.001, dtype)
    rooms, judge, bad = rooms_of(skin, 1), Judge(sheet.triangles, len(x)), 0
    for _ in range(steps):
        waves = np.cos(guard.safe[0] @ rng.normal(size=(3, 5)) * 15 + rng.uniform(0, 6, 5))
        wish = waves @ rng.normal(size=(5, 3)) + 0.2 * rng.normal(size=x.shape)
        wish -= 5 * (guard.safe[0] - guard.safe[0].mean(axis=0))
        guard, x = move_safely(guard, skin, rooms, guard.safe + size * wish)
        assert x.dtype == dtype
        np.testing.assert_array_equal(x, guard.safe)
        bad += judge.crossed(x[0])
    return bad, guard


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0.005, 0.05])
def test_no_storm_makes_a_sheet_cross_itself(size: float, dtype: str) -> None:
    bad, guard = storm(3, size, dtype)
    assert bad == 0
    assert 0 < guard.figures[0, REMOVED] < guard.figures[0, WANTED]
    assert guard.figures[0, STUCK] == 0


def test_the_judge_sees_what_nobody_holds_back() -> None:
    """A planted fault: without pairs the same motion crosses."""
    sheet = shapes.grid(17, 17, (0.17, 0.17))
    judge = Judge(sheet.triangles, sheet.n_vertices)
    x = sheet.vertices.copy()
    assert not judge.crossed(x)
    over = x[:, 0] > 0.02
    x[over] = [0.04, 0, 0.01] + (x[over] - [0.04, 0, 0]) * [-1, 1, 1]  # folded over ...
    x[over, 2] -= 0.3 * (0.04 - x[over, 0])  # ... and through the rest
    assert judge.crossed(x)
    guard, skin = watched(sheet.vertices, sheet.triangles, 0.001)
    guard, kept = move_safely(guard, skin, rooms_of(skin, 1), x[None])
    assert not judge.crossed(kept[0])


def two_sheets(gap: float) -> tuple[np.ndarray, np.ndarray]:
    one = shapes.unstructured((0.1, 0.1), 0.01, seed=1)
    x = np.concatenate([one.vertices, one.vertices[:, [1, 0, 2]] + [0.001, 0.002, gap]])
    return x, np.concatenate([one.triangles, one.triangles + one.n_vertices])


def held(
    x: np.ndarray, triangles: np.ndarray, wish: np.ndarray, pinned: bool = False
) -> tuple[float, np.ndarray]:
    """Share of a motion that is held back, and where it ends."""
    guard, skin = watched(x, triangles, 0.001, pinned=pinned)
    guard, kept = move_safely(guard, skin, rooms_of(skin, 1), x[None] + wish)
    return float(guard.figures[0, REMOVED] / guard.figures[0, WANTED]), kept[0]


def test_common_motion_and_sliding_are_free() -> None:
    """At any speed: 10 m/s for 10 ms with a gap of a tenth of what is kept; sliding 30 mm in one step."""
    x, triangles = two_sheets(0.0002)
    upper = (np.arange(len(x)) >= len(x) // 2)[:, None]
    guard, skin = watched(x, triangles, 0.001)
    guard, kept = move_safely(guard, skin, rooms_of(skin, 1), x[None] + [0.08, 0.05, -0.03])
    np.testing.assert_array_equal(kept[0], x + np.array([0.08, 0.05, -0.03]))
    for pinned in (False, True):
        share, kept = held(x, triangles, upper * [0.03, 0.01, 0.0], pinned)
        assert share < 1e-3  # 6e-4: pairs that pass each other at angles that no plane tried fits


def test_turning_as_one_is_free() -> None:
    """A quarter of a turn, with strides as chords: no plane stays between the sheets."""
    x, triangles = two_sheets(0.0005)
    angle = np.radians(9)
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    guard, skin = watched(x, triangles, 0.001)
    rooms = rooms_of(skin, 1)
    for _ in range(10):
        goal = guard.safe @ turn.T
        guard, kept = move_safely(guard, skin, rooms, goal)
        np.testing.assert_array_equal(kept, goal)


def test_what_meets_stops_short_and_only_there() -> None:
    """A corner of the upper sheet is sent through the lower one: it stops, far corners move freely."""
    x, triangles = two_sheets(0.003)
    n = len(x) // 2
    reach = np.linalg.norm(x[:, :2] - x[:, :2].max(axis=0), axis=1)
    sent = (np.arange(len(x)) >= n) & (reach < 0.03)
    share, kept = held(x, triangles, sent[:, None] * np.array([0, 0, -0.02]), pinned=True)
    assert not Judge(triangles, len(x)).crossed(kept)
    assert 0.5 < share < 0.95
    np.testing.assert_array_equal(kept[~sent], x[~sent])


def test_how_near_a_pair_may_come() -> None:
    for d, need in ((1.0, 0.02), (5.0, 0.02), (0.05, 0.01), (0.009, 0.009 * 0.95), (5e-5, 5e-5)):
        assert least_gap(d, 1.0) == pytest.approx(need, rel=1e-6)
        assert least_gap(d, 1.0) < d


def test_worlds_do_not_know_of_each_other() -> None:
    x, triangles = two_sheets(0.002)
    wishes = 0.004 * np.random.default_rng(0).normal(size=(3, *x.shape))
    skin = watched(x, triangles, 0.001)[1]
    alone = [
        move_safely(watched(x, triangles, 0.001)[0], skin, rooms_of(skin, 1), (x + w)[None])[1][0]
        for w in wishes
    ]
    many = guard_of(skin, 3, np.float64, False, 0.01, room=3)
    many.safe[...] = x
    _, together = move_safely(many, skin, rooms_of(skin, 1), x + wishes)
    np.testing.assert_array_equal(together, alone)
