"""Shared test helpers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def data_dir() -> Path:
    """The folder of real meshes beside the repository; skips the test where it is absent."""
    path = Path(os.environ.get("PLIANT_DATA", ROOT.parent / "shared" / "data"))
    if not path.is_dir():
        pytest.skip(f"real meshes not present (set PLIANT_DATA): {path}")
    return path


@pytest.fixture
def data() -> Path:
    return data_dir()
