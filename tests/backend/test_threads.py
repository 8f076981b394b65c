"""Threads, locks and forks: each misuse ends in a clear error, never in a wait without end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numba
import pytest
from conftest import ROOT

from pliant.backend import threads
from pliant.backend.threads import get_threads, granted_cores, launching, set_threads
from pliant.errors import PliantError
from tests.backend.copies import Run, ended, environment

FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


def run(code: str, **env: str) -> Run:
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, env=environment(**env), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    return ended(process, timeout=60)


@pytest.fixture
def own_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo what a test chooses."""
    monkeypatch.setattr(threads, "_chosen", None)


# --- forks -----------------------------------------------------------------------------------------

FORK = """
import os, sys
import numba, numpy as np
from pliant.backend.jit import kernel, prange
from pliant.backend.threads import launching, set_threads
from pliant.errors import PliantError

def work():
    with launching():
        return numba.get_num_threads()

def in_child(f):
    child = os.fork()
    if child == 0:
        try:
            f()
            code = 0
        except PliantError as error:
            code = 3 if '"spawn"' in str(error) else 4
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""


@FORKS
def test_a_fork_before_the_first_launch_is_fine() -> None:
    assert run(FORK + "print([in_child(work), in_child(work)])").result == [0, 0]
    assert run(FORK + "set_threads(1); print([in_child(work), work()])").result == [0, 1]


@FORKS
def test_a_fork_after_a_launch_is_refused_and_names_the_cure() -> None:
    assert run(FORK + "before = work(); print([in_child(work), work() - before])").result == [3, 0]
    assert run(FORK + "work(); print(in_child(lambda: work() if in_child(work) == 3 else 0))").result == 3


@FORKS
def test_a_fork_while_another_thread_holds_the_lock() -> None:
    code = """
import threading
holds, done = threading.Event(), threading.Event()
def hold():
    with launching():
        holds.set(); done.wait()
thread = threading.Thread(target=hold); thread.start(); holds.wait()
print(in_child(work)); done.set(); thread.join()
"""
    assert run(FORK + code).result == 3, (
        "an error at once; the lock of the parent is never let go in the child"
    )


@FORKS
def test_without_the_compiler_a_fork_is_fine() -> None:
    assert run(FORK + "work(); print(in_child(work))", NUMBA_DISABLE_JIT="1").result == 0


# --- the lock --------------------------------------------------------------------------------------


def test_one_launch_at_a_time_and_launches_nest() -> None:
    inside, most = 0, 0
    start = threading.Barrier(4)

    def work() -> None:
        nonlocal inside, most
        start.wait()
        for _ in range(200):
            with launching(), launching():
                inside += 1
                most = max(most, inside)
                inside -= 1

    crowd = [threading.Thread(target=work) for _ in range(4)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join(30)
    assert (most, inside) == (1, 0)


def test_the_lock_is_free_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), launching():
        raise ZeroDivisionError
    thread = threading.Thread(target=lambda: launching().__enter__())
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    threads._after_fork_in_child()  # a new lock: that thread ended without giving the old one back
    threads._forked = False


# --- how many --------------------------------------------------------------------------------------


def counted() -> int:
    with launching():
        return numba.get_num_threads()


@pytest.mark.usefixtures("own_choice")
def test_the_number_of_threads_counts_in_every_python_thread() -> None:
    seen = []
    most = numba.config.NUMBA_NUM_THREADS
    for n in {1, most}:
        set_threads(n)
        assert get_threads() == n
        assert counted() == n
        thread = threading.Thread(target=lambda: seen.append(counted()))
        thread.start()
        thread.join(10)
        assert seen.pop() == n


@pytest.mark.usefixtures("own_choice")
@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
def test_numbas_own_setting_is_obeyed_and_left_alone() -> None:
    before = numba.get_num_threads()
    set_threads(1)
    assert counted() == 1
    assert numba.get_num_threads() == before, "restored"
    threads._chosen = None
    numba.set_num_threads(1)
    try:
        assert counted() == 1
    finally:
        numba.set_num_threads(before)


@pytest.mark.usefixtures("own_choice")
@pytest.mark.parametrize("n", [0, -1, numba.config.NUMBA_NUM_THREADS + 1])
def test_impossible_numbers_are_refused(n: int) -> None:
    before = get_threads()
    with pytest.raises(PliantError, match=f"between 1 and {numba.config.NUMBA_NUM_THREADS}"):
        set_threads(n)
    assert get_threads() == before


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({}, 1 << 20),
        ({"cpu.max": "max 100000\n"}, 1 << 20),
        ({"cpu.max": "200000 100000\n"}, 2),
        ({"cpu.max": "50000 100000\n"}, 1),
        ({"cpu.max": "250000 100000\n"}, 3),
        ({"cpu.max": "nonsense"}, 1 << 20),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 1 << 20),
        ({"cpu/cpu.cfs_quota_us": "400000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 4),
    ],
)
def test_the_share_of_a_container_is_read(tmp_path: Path, files: dict[str, str], cores: int) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert granted_cores(tmp_path) == cores


@pytest.mark.usefixtures("own_choice")
def test_no_more_threads_than_the_container_is_granted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "granted_cores", lambda: 1)
    assert get_threads() == 1
    assert counted() == 1


# --- threads that wait -----------------------------------------------------------------------------

LAYER = """
import json, os
from pliant.backend.threads import launching
with launching():
    pass
import numba
print(json.dumps([numba.threading_layer(), os.environ.get("GOMP_SPINCOUNT")]))
"""


def openmp(said: Run) -> bool:
    """Whether Numba runs on GNU OpenMP here, which alone knows the setting."""
    return said.result[0] == "omp" and "GOMP_SPINCOUNT" in said.err


def test_threads_without_work_soon_sleep() -> None:
    said = run(LAYER, OMP_DISPLAY_ENV="verbose")
    assert said.result[1] is None, "other libraries and children do not see the setting"
    if not openmp(said):
        pytest.skip("Numba does not use GNU OpenMP here")
    assert f"GOMP_SPINCOUNT = '{threads.SPINS}'" in said.err


def test_the_users_own_setting_wins() -> None:
    said = run(LAYER, OMP_DISPLAY_ENV="verbose", GOMP_SPINCOUNT="77")
    assert said.result[1] == "77"
    if openmp(said):
        assert "GOMP_SPINCOUNT = '77'" in said.err
    active = run(LAYER, OMP_DISPLAY_ENV="verbose", OMP_WAIT_POLICY="active")
    if openmp(active):
        assert f"GOMP_SPINCOUNT = '{threads.SPINS}'" not in active.err
