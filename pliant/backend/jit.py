"""The two decorators through which all compiled code of Pliant passes.

``@law``     a pure function of numbers and small tuples: no arrays, no allocation, no side effects.
``@kernel``  a function over arrays; ``@kernel(parallel=True)`` may hold one ``prange``.

Both compile on first call with strict IEEE arithmetic (no fastmath: same bits for any lane width) and
NumPy's error model (a division by zero gives inf instead of a branch), and are cached on disk
(:mod:`pliant.backend.cache`). ``NUMBA_DISABLE_JIT=1`` leaves plain Python: the slow oracle.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar, overload

import numba
from numba.core import config, event

from .cache import cache_folder
from .notice import notice

F = TypeVar("F", bound=Callable[..., Any])

prange = numba.prange


def _compile(fn: Callable[..., Any], **options: Any) -> Any:
    if config.DISABLE_JIT:
        return fn
    before = config.CACHE_DIR
    config.CACHE_DIR = str(cache_folder())  # read by numba at decoration time only; others keep theirs
    try:
        return numba.njit(error_model="numpy", cache=True, nogil=True, **options)(fn)
    finally:
        config.CACHE_DIR = before


def law(fn: F) -> F:
    """Compile a pure element function: numbers and tuples in, numbers and tuples out."""
    return _compile(fn)


@overload
def kernel(fn: F) -> F: ...
@overload
def kernel(*, parallel: bool = False) -> Callable[[F], F]: ...
def kernel(fn: Any = None, *, parallel: bool = False) -> Any:
    """Compile a function over arrays."""
    if fn is None:
        return lambda f: _kernel(f, parallel=parallel)
    return _kernel(fn)


_kernels: set[Callable[..., Any]] = set()


def _kernel(fn: Callable[..., Any], **options: Any) -> Any:
    _kernels.add(fn)
    return _compile(fn, **options)


class _Announcer(event.Listener):
    """Says one line when a kernel has to be compiled because no cached one was found."""

    def __init__(self) -> None:
        self.depth = 0
        self.started = 0.0
        self.mine = False

    def on_start(self, ev: Any) -> None:
        if self.depth == 0:
            fn = ev.data["dispatcher"].py_func
            self.mine = fn in _kernels
            self.started = time.perf_counter()
            if self.mine:
                notice(f"compiling {fn.__name__} (first use only, then cached; up to half a minute) ...")
        self.depth += 1

    def on_end(self, ev: Any) -> None:
        self.depth -= 1
        if self.depth == 0 and self.mine:
            notice(f"compiled in {time.perf_counter() - self.started:.0f} s")


event.register("numba:compile", _Announcer())
