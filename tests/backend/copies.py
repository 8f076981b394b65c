"""A copy of the package with one small kernel of its own, run in a fresh interpreter with its own cache."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conftest import ROOT

PROBE = """
from ..backend.jit import kernel, prange
from ..laws.distance import distance


@kernel
def probe_one(a, b, rest_length):
    return distance((a, 0.0, 0.0), (b, 0.0, 0.0), rest_length)[0]


@kernel(parallel=True)
def probe(ends, out):
    for i in prange(out.shape[0]):
        out[i] = probe_one(ends[i, 0], ends[i, 1], 1.5)
"""

CALL = """
import json, sys
import numpy as np
from pliant.solvers.probe import probe
ends, out = np.array([[0, 2], [0, 3], [1, 6.5]], dtype), np.full(3, np.nan, dtype)
probe(ends, out)
print(json.dumps(out.tolist()))
"""

RIGHT = [0.5, 1.5, 4.0]
"""What the unchanged law answers: |b - a| - 1.5."""


@dataclass
class Run:
    """What a process said."""

    code: int
    out: str
    err: str

    @property
    def result(self) -> Any:
        """Its last line of output, as JSON."""
        assert self.code == 0, self.err
        return json.loads(self.out.splitlines()[-1])

    def lines(self, word: str) -> list[str]:
        """Lines of stderr with a word in them."""
        return [line for line in self.err.splitlines() if word in line]


@dataclass
class Copy:
    """A package folder and the caches it uses."""

    folder: Path
    cache: Path

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace a text that occurs exactly once."""
        path = self.folder / "pliant" / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{file} has {old!r} {text.count(old)} times"
        path.write_text(text.replace(old, new), encoding="utf-8")

    def start(self, dtype: str = "float", before: str = "", **env: str) -> subprocess.Popen[str]:
        """Begin to call the probe."""
        code = f"{before}\ndtype = {dtype!r}\n{CALL}"
        return subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=self.folder,
            env=environment(NUMBA_CACHE_DIR=str(self.cache)) | env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def call(self, dtype: str = "float", before: str = "", **env: str) -> Run:
        """Call the probe and wait."""
        return ended(self.start(dtype, before, **env))

    def kernels(self) -> list[Path]:
        """Files of compiled kernels."""
        return sorted(self.cache.rglob("*.kernel"))


def ended(process: subprocess.Popen[str], timeout: float = 120) -> Run:
    """Wait for a process; end it after ``timeout`` seconds."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return Run(process.returncode, out, err)


def environment(**changes: str) -> dict[str, str]:
    """This process's environment without what would decide about caches, threads and messages."""
    ours = ("NUMBA_", "PLIANT_", "PYTHONPATH", "GOMP_", "OMP_", "XDG_CACHE")
    return {k: v for k, v in os.environ.items() if not k.startswith(ours)} | changes


def copied(folder: Path) -> Copy:
    """The package without its viewer, and the probe."""
    skip = shutil.ignore_patterns("__pycache__", "data", "lab")
    shutil.copytree(ROOT / "pliant", folder / "pliant", ignore=skip)
    (folder / "pliant" / "solvers" / "probe.py").write_text(PROBE, encoding="utf-8")
    return Copy(folder, folder / "cache")
