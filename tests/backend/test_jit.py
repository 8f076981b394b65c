"""The decorators: what they compile, when they speak, and that plain Python gives the same."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

from pliant.backend.jit import KernelCache, kernel, law, prange
from pliant.backend.notice import notice
from tests.backend.copies import RIGHT, copied, environment


@law
def ratio(a, b):
    return a / b


@law
def shifted(a, b):
    return ratio(a, b) + 1.0


@kernel
def row(x, out, i):
    out[i] = shifted(x[i], x[0])


@kernel(parallel=True)
def rows(x, out):
    for i in prange(x.shape[0]):
        row(x, out, i)


X = np.array([0.0, 1.0, -1.0, 0.0])


def test_division_by_zero_follows_ieee_in_laws_and_kernels() -> None:
    assert np.isnan(ratio(0.0, 0.0))
    assert ratio(1.0, 0.0) == np.inf
    out = np.full(4, -7.0)
    rows(X, out)
    assert np.isnan(out[[0, 3]]).all()
    assert out[1] == np.inf
    assert out[2] == -np.inf


def test_the_same_function_serves_calls_from_python_and_from_compiled_code() -> None:
    out = np.full(4, -7.0)
    row(X + 2, out, 1)
    assert out.tolist() == [-7.0, shifted(3.0, 2.0), -7.0, -7.0]
    rows(X + 2, out)
    assert out.tolist() == [shifted(x, 2.0) for x in X + 2]


def test_no_function_trades_ieee_arithmetic_for_speed() -> None:
    for fn in (ratio, row, rows):
        options = fn.targetoptions
        assert not options.get("fastmath")
        assert options["error_model"] == "numpy"


def test_functions_without_a_source_file_are_not_kept() -> None:
    space: dict = {}
    exec("def f(x):\n    return x + 1", space)
    assert not KernelCache(space["f"], "called").active
    assert KernelCache(ratio.py_func, "called").active
    assert law(space["f"])(1.0) == 2.0


def test_functions_outside_the_package_are_stamped_with_their_folder() -> None:
    assert KernelCache(ratio.py_func, "called").stamp
    from pliant.laws.distance import distance

    assert KernelCache(distance.py_func, "called").stamp == "", "the cache folder is the stamp"


def test_enclosed_values_and_uses_have_code_of_their_own() -> None:
    def made(k: float):
        @law
        def f(x):
            return k * x

        return f

    two, three = made(2.0), made(3.0)
    assert (two(1.0), three(1.0)) == (2.0, 3.0)

    class Codegen:
        @staticmethod
        def magic_tuple():
            return "some processor"

    keys = {
        KernelCache(f.py_func, use)._key(("float64",), Codegen) for f in (two, three) for use in ("a", "b")
    }
    assert len(keys) == 4


# --- what is said ----------------------------------------------------------------------------------


def test_lines_when_compiling_and_none_from_the_cache(tmp_path) -> None:
    copy = copied(tmp_path)
    cold = copy.call()
    assert cold.result == RIGHT
    said = cold.err.splitlines()
    assert len(said) == 2
    assert said[0].startswith("pliant: compiling probe (first use only")
    assert said[1].startswith("pliant: compiled in ")
    assert cold.out.count("\n") == 1, "standard output is the user's"
    warm = copy.call()
    assert (warm.result, warm.err) == (RIGHT, "")
    other = copy.call("float32", PLIANT_QUIET="1")
    assert (other.result, other.err) == (RIGHT, "")


def test_importing_says_nothing() -> None:
    code = "import pliant; pliant.Simulation; pliant.XPBD"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment(), capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_plain_python_gives_the_same_without_compiling(tmp_path) -> None:
    plain = copied(tmp_path).call(NUMBA_DISABLE_JIT="1")
    assert (plain.result, plain.err) == (RIGHT, "")
    assert not list(tmp_path.rglob("*.kernel"))


def test_notices_can_be_turned_off(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PLIANT_QUIET", raising=False)
    notice("one line")
    assert capfd.readouterr().err == "pliant: one line\n"
    monkeypatch.setenv("PLIANT_QUIET", "1")
    notice("one line")
    assert capfd.readouterr().err == ""
