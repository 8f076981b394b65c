"""The two decorators through which all compiled code of Pliant passes.

``@law``     a pure function of numbers and small tuples: no arrays, no allocation, no side effects.
``@kernel``  a function over arrays; ``@kernel(parallel=True)`` may hold one ``prange``.

Both compile on first call with strict IEEE arithmetic (no fastmath: same bits for any lane width) and
NumPy's error model (a division by zero gives inf instead of a branch), and are cached on disk
(:mod:`pliant.backend.cache`). ``NUMBA_DISABLE_JIT=1`` leaves plain Python: the slow oracle.
"""

from __future__ import annotations

import hashlib
import pickle
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, overload

import numba
from numba import extending
from numba.core import caching, compiler, config, event, serialize

from .cache import KERNEL_FOLDERS, KernelFile, Turn, cache_folder, text_hash
from .notice import notice

F = TypeVar("F", bound=Callable[..., Any])

prange = numba.prange


def _compile(fn: Callable[..., Any], parallel: bool = False, inline: bool = False) -> Any:
    if config.DISABLE_JIT:
        return fn
    options = {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}
    outer = numba.njit(parallel=parallel, **options)(fn)
    outer._cache = KernelCache(fn, "called")
    if not parallel:
        # What calls from compiled code run is compiled without the wrapper for calls from Python, which
        # would be a quarter of the time that a kernel and its laws take to compile.
        inner = numba.njit(no_cpython_wrapper=True, forceinline=inline, **options)(fn)
        inner._cache = KernelCache(fn, "inlined")
        outer.get_call_template, outer.get_overload = inner.get_call_template, inner.get_overload
    return outer


def law(fn: F) -> F:
    """Compile a pure element function: numbers and tuples in, numbers and tuples out."""
    return _compile(fn, inline=True)


@overload
def kernel(fn: F) -> F: ...
@overload
def kernel(*, parallel: bool = False, inline: bool = False) -> Callable[[F], F]: ...
def kernel(fn: Any = None, *, parallel: bool = False, inline: bool = False) -> Any:
    """Compile a function over arrays. ``inline``: it becomes part of every kernel that calls it."""
    if fn is None:
        return lambda f: _kernel(f, parallel, inline)
    return _kernel(fn)


def feature(name: str, on: Any, off: Any = None) -> Any:
    """A function ``f(features, *args)``: ``on(*args)`` for a run with a feature, else ``off(*args)``.

    features is a :class:`pliant.backend.lane_types.Features`; what it rules out is not even compiled. Without
    ``off`` nothing happens then.
    """

    def call(features: Any, *args: Any) -> Any:
        chosen = on if name in features.names else off
        return None if chosen is None else chosen(*args)

    @extending.overload(call, strict=False, jit_options={"forceinline": True})
    def _ov_call(features: Any, *args: Any) -> Any:
        chosen = on if name in features.names else off
        if chosen is None:
            return lambda features, *args: None
        return lambda features, *args: chosen(*args)

    return call


_kernels: set[Callable[..., Any]] = set()


def _kernel(fn: Callable[..., Any], parallel: bool = False, inline: bool = False) -> Any:
    _kernels.add(fn)
    return _compile(fn, parallel, inline)


class KernelCache(caching._Cache):
    """What Numba asks for code compiled earlier, and hands new code to.

    The file's name follows from function, signature and processor; the file repeats them in full, and code
    is taken from it only if they are equal. Sources of this package's kernels need no stamp: the folder is
    theirs. Functions from elsewhere are stamped with all sources beside theirs, or not kept without any.
    """

    def __init__(self, fn: Callable[..., Any], use: str) -> None:
        self.fn = fn
        self.name = f"{fn.__module__}.{fn.__qualname__}".replace("<", "").replace(">", "")
        self.use = use
        self.folder = cache_folder()
        file = Path(fn.__code__.co_filename)
        self.stamp = _stamp(file.parent) if file.is_file() else None
        self.active = self.stamp is not None and self.folder.is_dir()

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(self.folder)

    def enable(self) -> None:
        """Use the cache, if there is one for this function."""
        self.active = self.stamp is not None and self.folder.is_dir()

    def disable(self) -> None:
        """Compile afresh, keep nothing."""
        self.active = False

    def flush(self) -> None:
        """Nothing to forget: files of other sources lie in other folders."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for a signature, or None. The first to ask for a missing kernel gets to compile it."""
        target_context.refresh()
        if not self.active:
            return None
        key = self._key(sig, target_context.codegen())
        found = self._read(key, target_context)
        if found is None and _announcer.depth == 0 and _announcer.begin_turn(self._file(key).path, self.fn):
            found = self._read(key, target_context)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep new code; where the disk refuses, say so once and go on."""
        if self.active and not data.lifted and not data.library.has_dynamic_globals:
            key = self._key(sig, data.codegen)
            try:
                self._file(key).write(serialize.dumps((key, data._reduce())))
            except OSError as error:
                _announcer.complain(
                    f"a compiled kernel could not be kept ({error}); it lasts for this run only"
                )
        if _announcer.depth == 0:
            _announcer.end_turn()

    def _read(self, key: Any, target_context: Any) -> Any:
        content = self._file(key).read()
        if content is None:
            return None
        known, reduced = pickle.loads(content)
        return compiler.CompileResult._rebuild(target_context, *reduced) if known == key else None

    def _key(self, sig: Any, codegen: Any) -> Any:
        enclosed = tuple(cell.cell_contents for cell in self.fn.__closure__ or ())
        body = hashlib.sha256(self.fn.__code__.co_code + serialize.dumps(enclosed)).hexdigest()
        return sig, codegen.magic_tuple(), self.use, self.stamp, body

    def _file(self, key: Any) -> KernelFile:
        return KernelFile(
            self.folder / f"{self.name}-{hashlib.sha256(str(key).encode()).hexdigest()[:20]}.kernel"
        )


@cache
def _stamp(folder: Path) -> str:
    """Hash of the sources that functions of a folder may be made of, besides this package's."""
    package = Path(__file__).resolve().parent.parent
    here = folder.resolve()
    inside = here.is_relative_to(package) and here != package
    if inside and here.relative_to(package).parts[0] in KERNEL_FOLDERS:
        return ""
    return text_hash(folder.glob("*.py"), folder)


class _Announcer(event.Listener):
    """Says one line when a kernel has to be compiled because no cached one was found, and takes turns."""

    def __init__(self) -> None:
        self.depth = 0
        self.started = 0.0
        self.mine = False
        self.turn: Turn | None = None
        self.complained = False

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
        if self.depth == 0 and ev._exc_details is not None:
            self.end_turn()
        elif self.depth == 0 and self.mine:
            notice(f"compiled in {time.perf_counter() - self.started:.0f} s")

    def begin_turn(self, path: Any, fn: Any) -> bool:
        """Wait until no other process compiles what shall go to ``path``; True if one did."""
        self.end_turn()
        self.turn = Turn(path, fn.__name__)
        waited = self.turn.take()
        if waited and path.exists():
            self.end_turn()
        return waited

    def end_turn(self) -> None:
        """Others may go on."""
        if self.turn is not None:
            self.turn.give()
            self.turn = None

    def complain(self, text: str) -> None:
        """Say a line once."""
        if not self.complained:
            self.complained = True
            notice(text)


_announcer = _Announcer()
event.register("numba:compile", _announcer)
