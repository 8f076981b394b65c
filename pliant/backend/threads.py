"""Threads, locks and processes.

Numba's thread pools survive neither a fork nor, in one of their kinds, two Python threads at once.
Every public call that runs kernels therefore holds :func:`launching`, and a forked child is refused with
an error that names the cure.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numba

from ..errors import PliantError

SPINS = "3000"
"""How often a thread of GNU OpenMP looks for work before it sleeps; about 50 microseconds.

Left alone it looks for milliseconds. One cloth has hundreds of short parallel sections a step, and when
another process holds a core, each of them then waits for a thread that waits for the core: a step of 30 ms
took up to 3 s. Not to look at all costs a waking per section: the same step took 58 ms on idle cores.
"""

_lock = threading.RLock()
_launched = False
_forked = False
_chosen: int | None = None


def _after_fork_in_child() -> None:
    global _lock, _forked
    _lock = threading.RLock()
    _forked = _launched


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)


@contextmanager
def launching() -> Iterator[None]:
    """Hold the one lock around kernels that use threads."""
    if _forked:
        raise PliantError(
            "this process was forked after Pliant had started its threads, which do not survive a fork; "
            'start workers with the "spawn" method: multiprocessing.get_context("spawn")'
        )
    with _lock:
        _launch()
        before, wanted = numba.get_num_threads(), get_threads()
        if before == wanted:
            yield
            return
        numba.set_num_threads(wanted)  # counts for this Python thread alone
        try:
            yield
        finally:
            numba.set_num_threads(before)


def _launch() -> None:
    """Load Numba's thread pool, once, so that a thread without work soon sleeps (:data:`SPINS`).

    The setting is read when the library is loaded and concerns nobody else.
    """
    global _launched
    if _launched:
        return
    _launched = not numba.config.DISABLE_JIT
    mine = not {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & os.environ.keys()
    if mine:
        os.environ["GOMP_SPINCOUNT"] = SPINS
    try:
        numba.get_num_threads()
    finally:
        if mine:
            del os.environ["GOMP_SPINCOUNT"]


def set_threads(n: int) -> None:
    """Use ``n`` threads in all later calls (at most ``NUMBA_NUM_THREADS``, default: the cores).

    Results do not depend on it: same input, same bits.
    """
    global _chosen
    limit = numba.config.NUMBA_NUM_THREADS
    if not 1 <= n <= limit:
        raise PliantError(
            f"set_threads({n}): between 1 and {limit}; raise NUMBA_NUM_THREADS before the start"
        )
    _chosen = int(n)


def get_threads() -> int:
    """Number of threads that kernels use.

    By default as many as Numba would (``NUMBA_NUM_THREADS``, else the cores that this process may use), but
    no more than the processor time that its container is granted.
    """
    if _chosen is not None:
        return _chosen
    return min(numba.get_num_threads() if _launched else numba.config.NUMBA_NUM_THREADS, granted_cores())


@cache
def granted_cores(groups: Path = Path("/sys/fs/cgroup")) -> int:
    """Processor time that Linux control groups grant, in cores, rounded up; 2^20 where there is no limit."""
    for quota_file, period_file in (("cpu.max", None), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            words = (groups / quota_file).read_text().split()
            words += (groups / period_file).read_text().split() if period_file else []
            quota, period = (int(word) for word in words)
        except (OSError, ValueError):  # no such file, or "max"
            continue
        if quota > 0 and period > 0:
            return math.ceil(quota / period)
    return 1 << 20
