"""Lanes that are neighbouring items of a single world, against NumPy: gathers, scatters, copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pliant.backend.jit import config, feature, kernel
from pliant.backend.lanes import (
    Features,
    Items,
    Lanes,
    add3,
    const,
    index,
    load,
    load3,
    span,
    splat,
    store,
    store3,
    stride,
    world,
)

WIDTH = 8


@kernel
def touch_all(
    x: Any, targets: Any, ids: Any, data: Any, mass: Any, soft: Any, kept: Any, out: Any, lanes: Any
) -> None:
    """out (n, 3, 1), kept (2, E, 1): every accessor once; see :func:`expected`."""
    softness = world(soft, lanes)
    for c in range(0, ids.shape[1], stride(lanes)):
        i = index(ids, (0, c), lanes)
        m = const(mass, (i,), lanes)
        a = const(data, (1, c), lanes)
        here = load3(x, i, lanes)
        goal = load3(targets, span(c, lanes), lanes)
        y = load(x, (index(ids, (1, c), lanes), 1), lanes)
        store(kept, (1, c), a * softness + y, lanes)
        store(kept, (0, c), load(kept, (1, c), lanes) + splat(x, 2.0, lanes), lanes)
        store3(out, i, (here[0] * m, here[1] * a, goal[2]), lanes)
        add3(out, i, a, goal, lanes)


def expected(x: Any, targets: Any, ids: Any, data: Any, mass: Any, soft: Any) -> Any:
    """What :func:`touch_all` shall give, item by item."""
    kept, out = np.zeros((2, ids.shape[1], 1), x.dtype), np.zeros_like(x)
    kept[1, :, 0] = data[1] * soft[0] + x[ids[1], 1, 0]
    kept[0] = kept[1] + x.dtype.type(2)
    i = ids[0]
    first = np.stack([x[i, 0, 0] * mass[i], x[i, 1, 0] * data[1], targets[:, 2, 0]], axis=1)
    out[i, :, 0] = first + data[1][:, None] * targets[:, :, 0]
    return kept, out


def inputs(dtype: str, copies: bool) -> tuple[Any, ...]:
    """24 constraints between 60 particles, those of a group disjoint; the last ones of a group are copies."""
    rng = np.random.default_rng(5)
    ids = rng.permutation(60)[:48].reshape(2, 24).astype(np.int32)
    x, targets = rng.normal(size=(60, 3, 1)).astype(dtype), rng.normal(size=(24, 3, 1)).astype(dtype)
    data, mass = rng.normal(size=(3, 24)).astype(dtype), rng.normal(size=60).astype(dtype)
    if copies:
        for k in (6, 7):  # places 6 and 7 of each group repeat place 5
            ids[:, k::WIDTH], data[:, k::WIDTH] = ids[:, 5::WIDTH], data[:, 5::WIDTH]
            targets[k::WIDTH] = targets[5::WIDTH]
    return x, targets, ids, data, mass, np.array([1.5], dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    ("lanes", "copies"), [(Items(WIDTH), False), (Items(WIDTH), True), (Lanes(1), False)], ids=str
)
def test_every_accessor_against_numpy(lanes: Any, dtype: str, copies: bool) -> None:
    """Bit for bit; a copy of an item changes nothing, though its numbers are written twice."""
    given = inputs(dtype, copies)
    kept, out = np.zeros((2, 24, 1), dtype), np.zeros((60, 3, 1), dtype)
    touch_all(*given, kept, out, lanes)
    for mine, right in zip((kept, out), expected(*given), strict=True):
        assert mine.tobytes() == right.tobytes()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_plain_python_gives_the_same_bits(dtype: str) -> None:
    """The accessors' Python bodies, which serve where the compiler is switched off."""
    given = inputs(dtype, copies=True)
    kept, out = np.zeros((2, 24, 1), dtype), np.zeros((60, 3, 1), dtype)
    plain = touch_all if config.DISABLE_JIT else touch_all.py_func
    plain(*given, kept, out, Items(WIDTH))
    for mine, right in zip((kept, out), expected(*given), strict=True):
        assert mine.tobytes() == right.tobytes()


@kernel
def _twice(x: Any) -> Any:
    return 2.0 * x


@kernel
def _same(x: Any) -> Any:
    return x


chosen = feature("doubling", _twice, _same)
nothing_else = feature("doubling", _twice)


@kernel
def ask(features: Any, x: Any) -> Any:
    """What a run with these features makes of x."""
    nothing_else(features, x)
    return chosen(features, x)


def test_a_feature_is_on_or_off() -> None:
    assert ask(Features("doubling", "another"), 3.0) == 6.0
    assert ask(Features(), 3.0) == 3.0
    assert chosen(Features("doubling"), 3.0) == 6.0
    assert nothing_else(Features(), 3.0) is None
