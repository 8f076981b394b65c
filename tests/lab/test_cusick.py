"""The drape test: how folds are counted and shadows measured, and that the lab's verdicts can fail."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace

import numpy as np
import pytest

from pliant.lab import cusick
from pliant.lab.cusick import DISC, SPECIMEN, Drape, drape, folds, rim, run
from pliant.lab.page import page, png
from pliant.materials import Fabric, fabrics

ANGLE = np.linspace(-np.pi, np.pi, 360, endpoint=False)


@pytest.mark.parametrize("n", [0, 1, 3, 6, 8, 14])
def test_folds_are_the_waves_of_the_rim(n: int) -> None:
    wave = 0.12 + (0.02 * np.cos(n * ANGLE + 0.3) if n else 0.0) * np.ones(360)
    assert folds(wave) == n
    if n:
        noise = 0.0005 * np.random.default_rng(1).standard_normal(360)
        assert folds(wave + noise) == n, "small ripples are no folds"
        assert folds(np.roll(wave, 17)) == n


def test_the_rim_is_read_around_the_axis() -> None:
    order = np.random.default_rng(2).permutation(360)
    wave = 0.12 + 0.02 * np.cos(5 * ANGLE)
    x = np.stack([wave * np.cos(ANGLE), wave * np.sin(ANGLE), 0 * ANGLE], axis=1)
    np.testing.assert_allclose(rim(x[order]), wave, atol=1e-12)


def test_a_fabric_hangs_between_a_board_and_a_rag() -> None:
    """Coefficients fall with rigidity; a tenth of cotton's drapes as a limp cloth does."""
    cotton = drape(fabrics.cotton, 0.014)
    soft = drape(fabrics.cotton.with_(bending_rigidity=0.1 * fabrics.cotton.bending_rigidity), 0.014)
    assert 50 < cotton.coefficient < 75
    assert 5 < soft.coefficient < cotton.coefficient - 20
    assert 3 <= cotton.folds <= 8
    r = np.linalg.norm(cotton.x[:, :2], axis=1)
    inner = np.linalg.norm(cotton.mesh.vertices[:, :2], axis=1) < DISC + 1e-3
    assert np.abs(cotton.x[inner, 2]).max() == 0, "level on the disc"
    assert r.max() < SPECIMEN
    assert cotton.x[:, 2].min() < -0.03


def test_verdicts_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    true = {"cotton": (65.0, 6), "polyester": (25.0, 12), "denim": (72.0, 6), "wool": (35.0, 7)}
    mesh = cusick.shapes.annulus(DISC, SPECIMEN, 0.03)
    shift = 0.0

    def stand_in(fabric: Fabric, edge: float = 0.009) -> Drape:
        coefficient, n = (100.0, 0) if fabric.bending_rigidity > 1e-3 else true[fabric.name]
        wave = 0.12 + 0.02 * np.cos(n * ANGLE)
        drift = shift * (edge < 0.007)
        return Drape(mesh, mesh.vertices, coefficient - 2 * shift + drift, n + int(shift), wave)

    monkeypatch.setattr(cusick, "drape", stand_in)
    for quick in (True, False):
        shift = 0.0
        found = run(quick)
        assert found.ok, found.text()
        assert len(found.pictures) == (2 if quick else 4)
        assert found.pictures[0].pixels.shape == (300, 420, 3)
        shift = 12.0
        good = [v.what for v in run(quick).verdicts if v.ok]
        assert good == ["cotton: folds"], "more than 3 they are"


def test_pictures_are_in_the_page_and_are_png() -> None:
    pytest.importorskip("matplotlib")
    pixels = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
    data = png(pixels)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (3, 2)
    start = data.index(b"IDAT")
    (length,) = struct.unpack(">I", data[start - 4 : start])
    rows = np.frombuffer(zlib.decompress(data[start + 4 : start + 4 + length]), np.uint8).reshape(2, 10)
    assert np.array_equal(rows[:, 1:].reshape(2, 3, 3), pixels)
    shown = cusick.Experiment(
        "a", "a", "a", {}, pictures=[cusick.Picture("<two> folds", pixels)], seconds=1.0
    )
    text = page([shown], {})
    assert "src='data:image/png;base64,iVBOR" in text
    assert "<figcaption>&lt;two&gt; folds</figcaption>" in text
    assert "<figure>" not in page([replace(shown, pictures=[])], {})
