"""Where compiled kernels are kept.

Numba keys its cache on the file that holds a kernel and does not notice when a law in *another* file
changes. We therefore keep one folder per state of all sources that can reach a kernel::

    <user cache>/pliant/<hash of the sources>-<numba version>/

``NUMBA_CACHE_DIR`` is respected (the folder then lives inside it). Where nothing can be written, a
temporary folder serves for this process and one line says so.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

from .notice import notice

KERNEL_FOLDERS = ("backend", "laws", "contact", "linear", "diagnostics", "solvers")
"""Folders of the package whose sources can end up inside a kernel."""

KEPT_FOLDERS = 4
"""How many past cache folders stay when a new one is made."""


def source_hash(package: Path | None = None) -> str:
    """Hash of every source that can reach a kernel; 16 hex digits."""
    root = package or Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for folder in KERNEL_FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
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
    except (OSError, RuntimeError) as error:
        temporary = Path(tempfile.mkdtemp(prefix="pliant-kernels-"))
        atexit.register(shutil.rmtree, temporary, ignore_errors=True)
        notice(f"no kernel cache can be written ({error}); kernels compiled now last for this run only")
        return temporary
    if fresh:
        _prune(root, keep=folder)
    return folder


def _prune(root: Path, keep: Path) -> None:
    """Drop the oldest cache folders beyond :data:`KEPT_FOLDERS`."""
    others = [p for p in root.iterdir() if p.is_dir() and p != keep and "-numba" in p.name]
    others.sort(key=lambda p: p.stat().st_mtime, reverse=True)
    for old in others[KEPT_FOLDERS:]:
        shutil.rmtree(old, ignore_errors=True)
