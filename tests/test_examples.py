"""The examples run, and their own checks hold; so do the example scene files."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from conftest import ROOT

from pliant.cli import main
from pliant.io.recording import Recording

EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
SCENES = sorted(EXAMPLES.glob("*.toml"))


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_examples() -> None:
    assert len(SCRIPTS) >= 4
    assert len(SCENES) >= 4


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.stem)
def test_example(path: Path, tmp_path: Path) -> None:
    example = loaded(path)
    results = example.main(quick=True)
    example.check(results)
    written = example.figure(results, tmp_path / "figure.html")
    assert written.stat().st_size > 10_000
    data = example.figure(results, tmp_path / "figure.npz")
    assert len(Recording.load_npz(data)) >= 1


def test_the_checks_see_what_is_wrong() -> None:
    example = loaded(EXAMPLES / "moving_pins.py")
    results = example.main(quick=True)
    with pytest.raises(AssertionError):
        example.check({**results, "worst": 1e-3})
    with pytest.raises(AssertionError, match="trails"):
        example.check({**results, "lag": [0.0]})


@pytest.mark.parametrize("path", SCENES, ids=lambda p: p.stem)
def test_scene(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "short.npz"
    assert main(["run", str(path), "--seconds", "0.1", "--out", str(out), "--quiet"]) == 0
    recording = Recording.load_npz(out)
    assert recording.times[-1] == pytest.approx(0.1, abs=0.02)
    assert np.abs(recording.frames[-1] - recording.frames[0]).max() > 1e-3
