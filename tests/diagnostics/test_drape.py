"""Shadows of known area, and the drape coefficient at its ends."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.diagnostics.drape import drape_coefficient, shadow_area
from pliant.errors import PliantError
from pliant.geometry import shapes
from pliant.geometry.mesh import rotation_matrix


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_a_flat_sheet_casts_its_own_area(scale: float) -> None:
    for mesh in (
        shapes.disc(1.0, 0.07),
        shapes.annulus(0.4, 1.0, 0.07),
        shapes.unstructured((2.0, 1.0), 0.1),
    ):
        turned = mesh.vertices @ rotation_matrix([0, 0, 0.4]).T * scale
        assert shadow_area(turned, mesh.triangles) == pytest.approx(mesh.area * scale**2, rel=1e-3)


def test_overlaps_count_once_and_winding_does_not_matter() -> None:
    mesh = shapes.grid(11, 11, (2.0, 1.0))
    x = mesh.vertices.copy()
    x[:, 2] = 0.1 * x[:, 0]
    x[:, 0] = np.abs(x[:, 0])  # folded over itself
    assert shadow_area(x, mesh.triangles) == pytest.approx(1.0, rel=2e-3)


def test_a_tilted_sheet_casts_less() -> None:
    mesh = shapes.disc(1.0, 0.07)
    x = mesh.vertices @ rotation_matrix([1.0, 0, 0]).T
    assert shadow_area(x, mesh.triangles) == pytest.approx(mesh.area * np.cos(1.0), rel=2e-3)


def test_the_coefficient_at_its_ends() -> None:
    assert drape_coefficient(9.0, 4.0, 9.0) == 1.0
    assert drape_coefficient(4.0, 4.0, 9.0) == 0.0
    with pytest.raises(PliantError, match="larger than its support"):
        drape_coefficient(4.0, 4.0, 4.0)


def test_nothing_to_see_is_refused() -> None:
    with pytest.raises(PliantError, match="finite"):
        shadow_area(np.full((3, 3), np.nan), np.array([[0, 1, 2]]))
