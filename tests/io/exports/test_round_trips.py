"""A mesh that is written, read and written again: the same mesh, the same bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pliant as pl

TETS = pl.shapes.ball(0.123, 2)
SHEET = pl.shapes.unstructured((0.3, 0.2), 0.03, seed=3).transformed((0.1, 0.2, 0.3), (0.1, 1.2, 0.3))


@pytest.mark.parametrize("unit", ["m", "cm", "in"])
@pytest.mark.parametrize("suffix", ["obj", "ply", "stl", "vtu"])
def test_the_second_trip_writes_the_same_bytes(tmp_path: Path, suffix: str, unit: str) -> None:
    mesh = TETS if suffix == "vtu" else SHEET
    once, twice = tmp_path / f"once.{suffix}", tmp_path / f"twice.{suffix}"
    pl.write(mesh, once, unit=unit)
    again = pl.read_mesh(once, unit=unit)
    pl.write(again, twice, unit=unit)
    if unit == "m" or suffix == "obj":
        assert once.read_bytes() == twice.read_bytes()
    if suffix == "stl":  # corners of a facet, in single precision
        x, y = (m.vertices[m.triangles] for m in (mesh, again))
        np.testing.assert_allclose(y, x, rtol=0, atol=1e-7 * np.abs(x).max())
        return
    np.testing.assert_allclose(again.vertices, mesh.vertices, rtol=0 if unit == "m" else 1e-14, atol=0)
    cells = "tets" if suffix == "vtu" else "triangles"
    np.testing.assert_array_equal(getattr(again, cells), getattr(mesh, cells))
    np.testing.assert_array_equal(again.file_ids, mesh.file_ids)


def test_numbers_of_a_file_in_centimetres_come_back_as_they_stand(tmp_path: Path) -> None:
    """0.1 cm is 0.001 m, and 0.001 m is not exactly a tenth of a centimetre."""
    rng = np.random.default_rng(0)
    x = np.round(100 * rng.random((40, 3)), 6)
    lines = [f"v {a!r} {b!r} {c!r}" for a, b, c in x.tolist()]
    lines += [f"f {k + 1} {k + 2} {k + 3}" for k in range(38)]
    (tmp_path / "a.obj").write_text("\n".join(lines) + "\n")
    pl.write(pl.read_mesh(tmp_path / "a.obj", unit="cm"), tmp_path / "b.obj", unit="cm")
    written = [line.split()[1:] for line in (tmp_path / "b.obj").read_text().splitlines() if line[:2] == "v "]
    np.testing.assert_array_equal(np.array(written, dtype=float), x)
