"""Facts about this installation and machine, for ``pliant info`` and for reports."""

from __future__ import annotations

import os
import platform
import re
from importlib import import_module, metadata
from typing import Any

from pliant import __version__
from pliant.bench.machine import processor

CORE = ("numpy", "scipy", "numba", "llvmlite")


def versions() -> dict[str, str]:
    """Versions of Pliant, Python and what the core is built on."""
    found = {name: installed(name) or "missing" for name in CORE}
    return {"pliant": __version__, "python": platform.python_version(), **found}


def installed(distribution: str) -> str | None:
    """Version of an installed distribution, else None."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def extras() -> dict[str, dict[str, str | None]]:
    """Per extra the packages that it brings and their versions (None: missing).

    Empty where Pliant is used from its folder without being installed.
    """
    try:
        needs = metadata.requires("pliant") or []
    except metadata.PackageNotFoundError:
        return {}
    found: dict[str, dict[str, str | None]] = {}
    for line in needs:
        match = re.match(r"([A-Za-z0-9_.\-]+).*extra == ['\"]([\w\-]+)['\"]", line)
        if match and not match[1].lower().startswith("pliant"):
            found.setdefault(match[2], {})[match[1]] = installed(match[1])
    return found


def machine() -> dict[str, Any]:
    """Processor, cores and system."""
    return {
        "processor": processor(),
        "architecture": platform.machine(),
        "cores": cores(),
        "system": f"{platform.system()} {platform.release()}",
    }


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threading_layer() -> str:
    """The thread pool that Numba uses, or will use once the first parallel kernel runs."""
    import numba

    try:
        return str(numba.threading_layer())
    except ValueError:  # not started yet
        asked = str(numba.config.THREADING_LAYER)
    if asked in ("tbb", "omp", "workqueue"):
        return asked
    pools = {"tbb": "tbbpool", "omp": "omppool", "workqueue": "workqueue"}
    return next((name for name, module in pools.items() if _loads(f"numba.np.ufunc.{module}")), "none")


def _loads(module: str) -> bool:
    """Whether a thread pool is there with the library that it needs."""
    try:
        import_module(module)
    except ImportError:
        return False
    return True


def kernel_cache() -> dict[str, Any]:
    """Folder of the compiled kernels of these sources, and its size in bytes."""
    from pliant.backend.cache import cache_folder

    folder = cache_folder()
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {
        "folder": str(folder),
        "kernels": sum(path.suffix in (".kernel", ".nbc") for path in files),
        "bytes": sum(path.stat().st_size for path in files),
    }
