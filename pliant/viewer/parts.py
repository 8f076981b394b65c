"""Work on many rows, shared out to Python threads.

The compiled loops of the pictures hold no lock of Python while they run, so its own threads serve. They are
gone when the call returns: a picture leaves nothing behind that a fork would break, and two threads may draw
at once. Compiling loops that Numba shares out by itself takes twice as long.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pliant.backend.threads import get_threads

__all__ = ["in_parts"]


def in_parts(n: int, size: int, work: Callable[..., Any], *arguments: Any) -> None:
    """Call ``work(first, stop, *arguments)`` for parts of ``range(n)`` of about ``size`` items each.

    The parts may run at once and in any order; each must write only what its items own.
    """
    parts = [(first, min(first + size, n)) for first in range(0, n, size)]
    threads = min(get_threads(), len(parts))
    if threads < 2:
        for first, stop in parts:
            work(first, stop, *arguments)
        return
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(work, first, stop, *arguments) for first, stop in parts]:
            done.result()
