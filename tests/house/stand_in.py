"""A project in the place of Pliant that dev.py can set up in seconds and without a network.

Its build backend is its own (nothing to download), it needs no packages, and its commands tell what they
were called with.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from conftest import ROOT

PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "pliant"
version = "0"
dependencies = []
"""

BACKEND = '''
"""Just enough of a build backend for an installation in place."""
import zipfile, pathlib

META = "Metadata-Version: 2.1\\nName: pliant\\nVersion: 0\\nProvides-Extra: cli\\nProvides-Extra: mesh\\n" \\
       "Provides-Extra: dev\\nProvides-Extra: viewer\\n"
INFO = "pliant-0.dist-info"

def build_editable(folder, config_settings=None, metadata_directory=None):
    name = "pliant-0-py3-none-any.whl"
    here = pathlib.Path(__file__).resolve().parent
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w") as wheel:
        wheel.writestr("pliant.pth", str(here))
        wheel.writestr(INFO + "/METADATA", META + (here / "needs.txt").read_text())
        wheel.writestr(INFO + "/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(INFO + "/RECORD", "")
    return name

build_wheel = build_editable
'''

MAIN = """
import json, os, sys, time
print(json.dumps({"argv": sys.argv[1:], "cwd": os.getcwd(), "prefix": sys.prefix}), flush=True)
if "wait" in sys.argv:
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        time.sleep(0.3)
        print("partial recording saved", flush=True)
        sys.exit(130)
sys.exit(7 if "fail" in sys.argv else 0)
"""


def make(folder: Path) -> Path:
    """Lay the stand-in out in ``folder``; returns its dev.py, a copy of the real one."""
    files = {"pyproject.toml": PYPROJECT, "backend.py": BACKEND, "needs.txt": "", "pliant/__init__.py": ""}
    files["pliant/__main__.py"] = MAIN
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Path(shutil.copy(ROOT / "dev.py", folder / "dev.py"))


def environment() -> dict[str, str]:
    """The caller's, with a pip that may ask no index."""
    fixed = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_USER": "1"}  # dev.py undoes the last
    return {**os.environ, **fixed}


def call(dev: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run ``python dev.py arguments`` in ``cwd``."""
    argv = [sys.executable, str(dev), *arguments]
    return subprocess.run(argv, cwd=cwd, env=environment(), capture_output=True, text=True, timeout=120)
