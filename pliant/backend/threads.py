"""Threads, locks and processes.

Numba's thread pools survive neither a fork nor, in one of their kinds, two Python threads at once.
Every public call that runs kernels therefore holds :data:`lock`, and a forked child is refused with an
error that names the cure.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numba

from ..errors import PliantError

_lock = threading.RLock()
_launched = False
_forked = False


def _after_fork_in_child() -> None:
    global _lock, _forked
    _lock = threading.RLock()
    _forked = _launched


os.register_at_fork(after_in_child=_after_fork_in_child) if hasattr(os, "register_at_fork") else None


@contextmanager
def launching() -> Iterator[None]:
    """Hold the one lock around kernels that use threads."""
    global _launched
    if _forked:
        raise PliantError(
            "this process was forked after Pliant had started its threads, which do not survive a fork; "
            'start workers with the "spawn" method: multiprocessing.get_context("spawn")'
        )
    with _lock:
        _launched = True
        yield


def set_threads(n: int) -> None:
    """Use ``n`` threads in all later calls (at most ``NUMBA_NUM_THREADS``, default: the cores)."""
    limit = numba.config.NUMBA_NUM_THREADS
    if not 1 <= n <= limit:
        raise PliantError(f"set_threads({n}): between 1 and {limit}; raise NUMBA_NUM_THREADS before the start")
    numba.set_num_threads(n)


def get_threads() -> int:
    """Number of threads that kernels use."""
    return numba.get_num_threads()
