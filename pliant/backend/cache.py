"""Where compiled kernels are kept, and how.

One folder holds the kernels of one state of all sources that can end up inside a kernel, for Numba itself
does not notice when a law in *another* file changes::

    <user cache>/pliant/<hash of the sources>-numba<version>/

``NUMBA_CACHE_DIR`` is respected (the folder then lies inside it). Where nothing can be written, a temporary
folder serves for this process and one line says so. A new folder begins with what earlier ones have of
kernels whose own sources, and those that these can see, are the same (:func:`view_hashes`): who edits a
solver does not compile the laws again.

In the folder, one file holds one function for one signature and processor. Numba's own scheme, an index
and numbered files, loses entries when two processes write at once and can even hand out the code of another
signature; here no file is shared, a file appears whole or not at all, and a damaged one counts as absent.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import BinaryIO

from .notice import notice

KERNEL_FOLDERS = ("backend", "laws", "contact", "forces", "linear", "diagnostics", "solvers")
"""Folders of the package whose sources can end up inside a kernel."""

VIEWS = "views.json"
"""In a cache folder: what :func:`view_hashes` gave for its kernels."""

KEPT_FOLDERS = 12
"""How many past cache folders stay when a new one is made."""


def source_hash(package: Path | None = None) -> str:
    """Hash of every source that can reach a kernel; 16 hex digits."""
    root = package or Path(__file__).resolve().parent.parent
    return text_hash((path for folder in KERNEL_FOLDERS for path in (root / folder).rglob("*.py")), root)


def view_hashes(package: Path | None = None) -> dict[str, str]:
    """What kernels can see, by the part of the package that they are in: ``{"linear": hash, ...}``.

    Imports go one way along :data:`KERNEL_FOLDERS`, so a kernel sees its own folder and those before. Solvers
    do not see each other: ``solvers.xpbd`` sees itself and the files in ``solvers`` itself.
    """
    root = package or Path(__file__).resolve().parent.parent
    seen: list[Path] = []
    found = {}
    for name in KERNEL_FOLDERS[:-1]:
        seen += (root / name).rglob("*.py")
        found[name] = text_hash(seen, root)
    last = root / KERNEL_FOLDERS[-1]
    seen += last.glob("*.py")
    found[KERNEL_FOLDERS[-1]] = text_hash(seen, root)
    for folder in sorted(p for p in last.glob("*") if p.is_dir()):
        found[f"{last.name}.{folder.name}"] = text_hash([*seen, *folder.rglob("*.py")], root)
    return found


def text_hash(files: Iterable[Path], root: Path) -> str:
    """Hash of names (below ``root``) and contents of files, in any order; 16 hex digits."""
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def user_cache() -> Path:
    """The platform's folder for caches of this user."""
    if "NUMBA_CACHE_DIR" in os.environ:
        return Path(os.environ["NUMBA_CACHE_DIR"])
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))


@cache
def cache_folder() -> Path:
    """The folder for this process's compiled kernels, made on first call."""
    import numba

    name = f"{source_hash()}-numba{numba.__version__}"
    try:
        root = user_cache() / "pliant"
        folder = root / name
        fresh = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.write_bytes(b"")
        probe.unlink()
        os.utime(folder)  # last used now
    except (OSError, RuntimeError) as error:
        return _temporary_folder(error)
    if fresh:
        _adopt(root, folder)
        _prune(root, keep=folder)
    return folder


def _adopt(root: Path, folder: Path) -> None:
    """Begin with the kernels of earlier folders that see the same sources; where that fails, with fewer."""
    mine = view_hashes()
    earlier = sorted((p for p in root.glob(f"*/{VIEWS}") if p.parent != folder), key=_age)
    wanted = dict(mine)
    for path in earlier:
        try:
            theirs = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        same = [part for part, view in wanted.items() if theirs.get(part) == view]
        for kernel in path.parent.glob("*.kernel"):
            part = max((p for p in mine if kernel.name.startswith(f"pliant.{p}.")), key=len, default="")
            if part in same:
                _copy(kernel, folder / kernel.name)
        for part in same:
            del wanted[part]
    ours = folder / f"{VIEWS}.{os.getpid()}.part"
    try:
        ours.write_text(json.dumps(mine), encoding="utf-8")
        ours.replace(folder / VIEWS)
    except OSError:
        ours.unlink(missing_ok=True)


def _age(path: Path) -> float:
    try:
        return -path.stat().st_mtime
    except OSError:
        return 0.0


def _copy(kernel: Path, to: Path) -> None:
    """Another name for the same file, which never changes; where there are no such names, a copy."""
    try:
        os.link(kernel, to)
    except OSError:
        content = KernelFile(kernel).read()
        if content is not None:
            with suppress(OSError):
                KernelFile(to).write(content)


def _temporary_folder(reason: Exception) -> Path:
    """A folder that goes when this process ends; one that cannot be written where there is none at all."""
    notice(f"no kernel cache can be written ({reason}); kernels compiled now last for this run only")
    try:
        temporary = Path(tempfile.mkdtemp(prefix="pliant-kernels-"))
    except OSError:
        return Path(os.devnull) / "pliant-kernels"
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # a forked child ends earlier
            shutil.rmtree(temporary, ignore_errors=True)

    atexit.register(remove)
    return temporary


def _prune(root: Path, keep: Path) -> None:
    """Drop the cache folders that were not used for longest, beyond :data:`KEPT_FOLDERS`."""
    used: list[tuple[float, Path]] = []
    for path in root.iterdir():
        if path != keep and "-numba" in path.name and path.is_dir():
            try:
                used.append((path.stat().st_mtime, path))
            except FileNotFoundError:  # another process prunes as well
                continue
    for _, old in sorted(used, reverse=True)[KEPT_FOLDERS:]:
        shutil.rmtree(old, ignore_errors=True)


class KernelFile:
    """Bytes at a path: written whole, read back only if undamaged."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> bytes | None:
        """The content; None where there is none or its checksum fails."""
        try:
            data = self.path.read_bytes()
        except OSError:
            return None
        checksum, content = data[:32], data[32:]
        return content if hashlib.sha256(content).digest() == checksum else None

    def write(self, content: bytes) -> None:
        """Replace the file in one go. Raises OSError where it cannot."""
        part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(hashlib.sha256(content).digest() + content)
            part.replace(self.path)
        except OSError:
            part.unlink(missing_ok=True)
            raise


class Turn:
    """Lets one process at a time compile a kernel, so that the others can load it.

    A lock of the operating system on a file beside the kernel's: it ends with its process. Where files cannot
    be locked, and after ``patience`` seconds, the caller goes ahead: it is only about saving work.
    """

    def __init__(self, kernel: Path, name: str, patience: float = 300.0) -> None:
        self.path = kernel.with_suffix(".lock")
        self.name = name
        self.patience = patience
        self.file: BinaryIO | None = None

    def take(self) -> bool:
        """Wait for the turn; True if another process had it first (its kernel may now be there)."""
        waited, end = False, time.monotonic() + self.patience
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.file = self.path.open("wb")
            while not _locked(self.file) and time.monotonic() < end:
                if not waited:
                    notice(f"waiting for another process that compiles {self.name} ...")
                waited = True
                time.sleep(0.05)
        except OSError:
            self.give()
        return waited

    def give(self) -> None:
        """Let the next one in."""
        if self.file is not None:
            if os.name != "nt":  # which removes no open file
                self.path.unlink(missing_ok=True)
            self.file.close()
            self.file = None


def _locked(file: BinaryIO) -> bool:
    """Try once to lock a file; False if another process holds it. Raises OSError where it cannot be done."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
