"""Shared test helpers."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Examples are the same every time, and none fails because the machine is busy.
settings.register_profile("pliant", deadline=None, derandomize=True, database=None)
settings.load_profile("pliant")

ROOT = Path(__file__).resolve().parent.parent


def data_dir() -> Path:
    """The folder of real meshes beside the repository; skips the test where it is absent."""
    path = Path(os.environ.get("PLIANT_DATA", ROOT.parent / "shared" / "data"))
    if not path.is_dir():
        pytest.skip(f"real meshes not present (set PLIANT_DATA): {path}")
    return path


@pytest.fixture(autouse=True)
def _threads_as_before() -> Iterator[None]:
    """A test that changes the number of threads does not change it for the next one."""
    module = sys.modules.get("pliant.backend.threads")
    before = module.get_threads() if module else None
    yield
    if module and module.get_threads() != before:
        module.set_threads(before)


@pytest.fixture
def data() -> Path:
    return data_dir()
