"""What a figure was measured on."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

MIB = 2.0**20


def machine() -> dict[str, Any]:
    """Processor, threads, versions, load and date, as plain data."""
    import numba

    from pliant import __version__

    from ..backend.threads import get_threads, launching

    with launching():
        layer = numba.threading_layer() if not numba.config.DISABLE_JIT else "none"
    return {
        "processor": processor(),
        "vectors": vector_extension(),
        "cores": os.cpu_count(),
        "threads": get_threads(),
        "threading layer": layer,
        "load": load(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "pliant": __version__,
        "commit": commit(),
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
    }


def processor() -> str:
    """Name of the processor."""
    for line in _cpuinfo():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def vector_extension() -> str:
    """The widest vectors that the processor has."""
    flags = next((line.split() for line in _cpuinfo() if line.startswith(("flags", "Features"))), [])
    names = {"avx512f": "AVX-512", "avx2": "AVX2", "avx": "AVX", "sve": "SVE", "asimd": "NEON"}
    return next((name for flag, name in names.items() if flag in flags), "unknown")


def _cpuinfo() -> list[str]:
    try:
        return Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def load() -> float | None:
    """Processes that wanted a core during the last minute: above 0 before a run, figures are noisy."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def commit() -> str | None:
    """The commit of a checkout, with a + where files differ from it."""
    call = [
        "git",
        "-C",
        str(Path(__file__).parent),
        "describe",
        "--always",
        "--abbrev=10",
        "--dirty=+",
        "--exclude=*",
    ]
    try:
        return subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def resident() -> float:
    """Memory that this process has in use now [MiB]; NaN where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / MIB
    except (OSError, ValueError):
        return float("nan")


def peak_memory() -> float:
    """The most memory that this process has had in use so far [MiB]; NaN where the system does not tell.

    Linux keeps ``ru_maxrss`` of whoever started a program; its own high-water mark starts with the program.
    """
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
        import resource
    except (OSError, ImportError):
        return float("nan")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (MIB if sys.platform == "darwin" else 1024)


def array_bytes(*roots: Any) -> int:
    """Bytes of all NumPy arrays that can be reached from some objects of this package, each counted once."""
    seen: dict[int, Any] = {}
    total, queue = 0, list(roots)
    while queue:
        item = queue.pop()
        if id(item) in seen:
            continue
        seen[id(item)] = item
        if isinstance(item, np.ndarray):
            base = item.base if isinstance(item.base, np.ndarray) else None
            total += item.nbytes if base is None else 0
            queue += [] if base is None else [base]
        elif isinstance(item, dict):
            queue += item.values()
        elif isinstance(item, (list, tuple)):
            queue += item
        elif type(item).__module__.startswith("pliant."):
            queue += vars(item).values()
    return total
