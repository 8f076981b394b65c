"""Lanes against NumPy, bit for bit: every operation, precision and width, with the compiler and without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

from pliant.backend import lanes as vocabulary
from pliant.backend.jit import config, kernel
from pliant.backend.lanes import (
    Lanes,
    absolute,
    add,
    add3,
    any_lane,
    both,
    either,
    load,
    load3,
    maximum,
    minimum,
    splat,
    sqrt,
    store,
    store3,
    where,
)
from tests.backend import tiny_scene

Array = np.ndarray

PRECISIONS = ["float64", "float32"]
WIDTHS = [1, 8, 16]
compiled_only = pytest.mark.skipif(config.DISABLE_JIT, reason="the compiler is switched off")


@kernel
def operations(a: Any, b: Any, c: Any, s: Any, out: Any, lanes: Any) -> None:
    """a, b, c (n, L), numbers s (n,); out (n, 27, L): see :func:`expected`."""
    for n in range(a.shape[0]):
        x, y, z, number = load(a, (n,), lanes), load(b, (n,), lanes), load(c, (n,), lanes), s[n]
        store(out, (n, 0), x + y, lanes)
        store(out, (n, 1), x - y, lanes)
        store(out, (n, 2), x * y, lanes)
        store(out, (n, 3), x / y, lanes)
        store(out, (n, 4), -x, lanes)
        store(out, (n, 5), sqrt(x), lanes)
        store(out, (n, 6), absolute(x), lanes)
        store(out, (n, 7), where(x < y, x, z), lanes)
        store(out, (n, 8), where(x <= y, x, z), lanes)
        store(out, (n, 9), where(x > y, x, z), lanes)
        store(out, (n, 10), where(x >= y, x, z), lanes)
        store(out, (n, 11), minimum(x, y), lanes)
        store(out, (n, 12), maximum(x, y), lanes)
        store(out, (n, 13), where(both(x < y, y < z), x, y), lanes)
        store(out, (n, 14), where(either(x < y, y < z), x, y), lanes)
        store(out, (n, 15), x * y + z, lanes)
        store(out, (n, 16), z - x * y, lanes)
        store(out, (n, 17), number + x, lanes)
        store(out, (n, 18), number - x, lanes)
        store(out, (n, 19), number / x, lanes)
        store(out, (n, 20), x * number, lanes)
        store(out, (n, 21), splat(out, number, lanes), lanes)
        store(out, (n, 22), 0.1 * x + 3, lanes)
        store(out, (n, 23), where(x < 0.0, 0.1, 2), lanes)
        store(out, (n, 24), where(x < 0.0, 0.1, 2) * y, lanes)
        store(out, (n, 25), (x + y) - x, lanes)
        store(out, (n, 26), (x / 3.0) * 0.0, lanes)


def expected(x: Array, y: Array, z: Array, number: Array) -> Array:
    """What NumPy makes of the same formulas (27, n, L) in the precision of its arrays."""
    f = x.dtype.type
    s = number[:, None]
    with np.errstate(all="ignore"):
        sign = np.where(x < 0, f(0.1), f(2))
        rows = [
            x + y, x - y, x * y, x / y, -x, np.sqrt(x), np.abs(x),
            np.where(x < y, x, z), np.where(x <= y, x, z), np.where(x > y, x, z), np.where(x >= y, x, z),
            np.where(x < y, x, y), np.where(x > y, x, y),
            np.where((x < y) & (y < z), x, y), np.where((x < y) | (y < z), x, y),
            x * y + z, z - x * y, s + x, s - x, s / x, x * s, np.broadcast_to(s, x.shape),
            f(0.1) * x + f(3), sign, sign * y, (x + y) - x, (x / f(3)) * f(0),
        ]  # fmt: skip
    assert all(row.dtype == x.dtype for row in rows)
    return np.stack(rows)


def numbers(dtype: str, n: int, width: int, seed: int) -> tuple[Array, ...]:
    """Three arrays (n, width) of all kinds of numbers: ordinary, any bit pattern, and the special ones."""
    rng, info = np.random.default_rng(seed), np.finfo(dtype)
    special = np.array(
        [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, info.max, info.tiny, info.smallest_subnormal]
    )
    bits = {"float64": np.uint64, "float32": np.uint32}[dtype]
    out = []
    for _ in range(3):
        any_bits = rng.integers(0, np.iinfo(bits).max, (n, width), bits, endpoint=True).view(dtype)
        kind = rng.integers(0, 3, (n, width))
        ordinary = rng.standard_normal((n, width)).astype(dtype)
        picked = rng.choice(special, (n, width)).astype(dtype)
        out.append(np.choose(kind, [ordinary, any_bits, picked]))
    return tuple(np.ascontiguousarray(a) for a in out)


def assert_same_bits(result: Array, exact: Array) -> None:
    """Equal bits, where any NaN equals any other."""
    assert result.dtype == exact.dtype
    both_nan = np.isnan(result) & np.isnan(exact)
    unsigned = {4: np.uint32, 8: np.uint64}[result.itemsize]
    a, b = (np.where(both_nan, 0, x).astype(x.dtype).view(unsigned) for x in (result, exact))
    np.testing.assert_array_equal(a, b)


def plain(fn: Any) -> Any:
    """The same kernel without the compiler."""
    return getattr(fn, "py_func", fn)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("width", WIDTHS)
def test_every_operation_has_the_bits_of_numpy(width: int, dtype: str) -> None:
    n = 4096 // width
    a, b, c = numbers(dtype, n, width, seed=width)
    s = np.random.default_rng(1).standard_normal(n).astype(dtype)
    exact = expected(a, b, c, s)
    out = np.full((n, len(exact), width), np.nan, dtype)
    operations(a, b, c, s, out, Lanes(width))
    for row, result in zip(exact, np.moveaxis(out, 1, 0), strict=True):
        assert_same_bits(result, row)
    ordinary = np.isfinite(exact).mean(axis=(1, 2))
    assert (ordinary > 0.2).all(), "NaN alone would prove nothing"


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("width", WIDTHS)
def test_plain_python_has_the_same_bits(width: int, dtype: str) -> None:
    n = 512 // width
    a, b, c = numbers(dtype, n, width, seed=width)
    s = np.random.default_rng(1).standard_normal(n).astype(dtype)
    exact = expected(a, b, c, s)
    out = np.full((n, len(exact), width), np.nan, dtype)
    with np.errstate(all="ignore"):
        plain(operations)(a, b, c, s, out, Lanes(width))
    for row, result in zip(exact, np.moveaxis(out, 1, 0), strict=True):
        assert_same_bits(result, row)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_product_is_rounded_before_it_is_added(width: int, dtype: str) -> None:
    """With c = -(a b), rounded, a fused multiply-add would leave the rounding error; two leave nothing."""
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal((256, width)).astype(dtype) for _ in range(2))
    c = -(a * b)
    out = np.full((256, 27, width), np.nan, dtype)
    operations(a, b, c, np.ones(256, dtype), out, Lanes(width))
    assert (out[:, 15] == 0.0).all()
    if dtype == "float32":
        error = a.astype(float) * b.astype(float) + c.astype(float)
        assert (error != 0.0).mean() > 0.9, "a fused operation would show"


def test_minimum_and_maximum_take_the_second_where_one_is_no_number() -> None:
    a, b = np.array([[np.nan], [1.0]]), np.array([[1.0], [np.nan]])
    out = np.zeros((2, 27, 1))
    operations(a, b, a, np.ones(2), out, Lanes(1))
    for row in (11, 12):
        np.testing.assert_array_equal(out[:, row, 0], [1.0, np.nan])
    for row in (7, 8, 9, 10):  # every comparison with NaN is false: where() takes its third argument
        np.testing.assert_array_equal(out[:, row, 0], a[:, 0])
    assert vocabulary.minimum(float("nan"), 1.0) == 1.0
    assert np.isnan(vocabulary.maximum(1.0, float("nan")))


@kernel
def move(x: Any, y: Any, flag: Any, lanes: Any) -> None:
    """Row 1 of x goes to row 2 of y; rows 0 and 3 must not notice."""
    a = load3(x, 1, lanes)
    store3(y, 2, a, lanes)
    add3(y, 2, 2.0, a, lanes)
    add(y, (2, 1), a[0], lanes)
    flag[0] = any_lane(a[0] > 100.0)
    flag[1] = any_lane(a[0] > -100.0)
    flag[2] = any_lane(a[0] >= a[1])


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("how", ["compiled", "plain"])
def test_loads_and_stores_touch_their_own_row_alone(how: str, width: int, dtype: str) -> None:
    x = np.arange(4 * 3 * width).reshape(4, 3, width).astype(dtype) / 7
    y, flag = np.full_like(x, np.nan), np.zeros(3, bool)
    before = x.copy()
    (move if how == "compiled" else plain(move))(x, y, flag, Lanes(width))
    expected_row = x[1] + np.asarray(2, dtype) * x[1]
    expected_row[1] += x[1, 0]
    np.testing.assert_array_equal(y[2], expected_row)
    assert np.isnan(y[[0, 1, 3]]).all()
    np.testing.assert_array_equal(x, before)
    assert flag.tolist() == [False, True, False]


def test_views_of_larger_arrays_are_read_where_they_lie() -> None:
    x = np.arange(2 * 4 * 3 * 8, dtype=float).reshape(2, 4, 3, 8)
    y, flag = np.zeros((2, 4, 3, 8)), np.zeros(3, bool)
    move(x[1], y[1], flag, Lanes(8))
    np.testing.assert_array_equal(y[1, 2, 0], 3 * x[1, 1, 0])
    assert not y[0].any()


@kernel
def branch(a: Any, lanes: Any) -> None:
    """Not allowed: a lane value has no single answer."""
    x = load(a, (0,), lanes)
    if x > 0.0:
        store(a, (0,), -x, lanes)


@kernel
def mix_precisions(a: Any, b: Any, lanes: Any) -> None:
    """Not allowed: float32 and float64 lanes in one operation."""
    store(a, (0,), load(a, (0,), lanes) + load(b, (0,), lanes), lanes)


@compiled_only
def test_the_compiler_refuses_to_branch_on_lanes_and_to_mix_precisions() -> None:
    from numba.core.errors import TypingError

    with pytest.raises((TypingError, NotImplementedError)):
        branch(np.ones((1, 8)), Lanes(8))
    with pytest.raises(TypingError):
        mix_precisions(np.ones((1, 8)), np.ones((1, 8), "float32"), Lanes(8))


def test_plain_python_refuses_the_same() -> None:
    with pytest.raises(TypeError, match="where"):
        plain(branch)(np.ones((1, 8)), Lanes(8))
    with pytest.raises(TypeError, match="float32"):
        plain(mix_precisions)(np.ones((1, 8)), np.ones((1, 8), "float32"), Lanes(8))


def test_plain_numbers_pass_through_the_vocabulary() -> None:
    assert where(True, 1.0, 2.0) == 1.0
    assert minimum(1.0, 2.0) == 1.0
    assert maximum(1.0, 2.0) == 2.0
    assert absolute(-1.5) == 1.5
    assert sqrt(2.25) == 1.5
    assert both(True, False) is False
    assert either(True, False) is True
    assert any_lane(True) is True


@compiled_only
def test_a_simulation_without_the_compiler_has_the_same_bits() -> None:
    """The slow oracle: every law and stage of XPBD in plain Python, 1 and 3 worlds, both precisions."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PLIANT_QUIET": "1"}
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.backend.tiny_scene"],
        cwd=ROOT, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    head, *records = (json.loads(line) for line in run.stdout.splitlines())
    assert head == {"compiled": False}
    assert [tuple(record["case"]) for record in records] == tiny_scene.CASES
    differ = []
    for record in records:
        assert record["sound"]
        assert record["touching"] > 0
        bits = {name: tiny_scene.digest(a) for name, a in tiny_scene.simulate(*record["case"]).items()}
        assert bits.keys() == record["bits"].keys()
        differ += [(record["case"], name) for name in bits if bits[name] != record["bits"][name]]
    assert differ == []


def test_the_digest_tells_one_bit() -> None:
    a = np.array([1.0, 2.0])
    assert tiny_scene.digest(a) == tiny_scene.digest(a.copy())
    assert tiny_scene.digest(a) != tiny_scene.digest(np.array([1.0, np.nextafter(2.0, 3.0)]))
    assert tiny_scene.digest(np.array([0.0])) == tiny_scene.digest(np.array([-0.0]))
