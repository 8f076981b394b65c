"""Bars of tetrahedra against closed forms, and against a linear finite element program on the same mesh.

Row names are those of the table of physical targets.
"""

from __future__ import annotations

import numpy as np
import pytest
import solid_fem

from pliant.geometry import shapes
from pliant.lab.bars import (
    DENSITY,
    HEIGHT,
    TORSION,
    YOUNG,
    extrapolated,
    short_cantilever,
    timoshenko,
    torsion,
)
from pliant.materials import SolidMaterial


@pytest.mark.parametrize(("row", "breadth"), [("C05", 1), ("C06", 2)])
def test_torsion_c05_c06(row: str, breadth: int) -> None:
    """Saint-Venant's torsional stiffness within 2 % (the bar is 3 %), extrapolated from two meshes."""
    coarse, fine = torsion(breadth, 3), torsion(breadth, 6)
    assert coarse.rest.converged.all()
    assert fine.rest.converged.all()
    assert extrapolated(coarse.ratio, fine.ratio, 3, 6) == pytest.approx(1, abs=0.02), row
    assert coarse.ratio > 1.3 * fine.ratio, "the meshes' own stiffness is there, and falls"


def test_short_cantilever_c03() -> None:
    """Timoshenko's drop within 2 % (the bar is 3 %); the mesh's own answer within 0.5 %."""
    coarse, fine = short_cantilever(3), short_cantilever(6)
    assert coarse.rest.converged.all()
    assert fine.rest.converged.all()
    assert coarse.ratio == pytest.approx(fem_drop(3), rel=5e-3)
    assert fine.ratio == pytest.approx(fem_drop(6), rel=5e-3)
    assert extrapolated(coarse.ratio, fine.ratio, 3, 6) == pytest.approx(1, abs=0.02)
    limit = extrapolated(fem_drop(6), fem_drop(12), 6, 12)
    bending, shear = timoshenko(0.0)
    assert limit == pytest.approx(1, abs=0.004)
    assert limit > bending / (bending + shear) + 0.015, "and not Euler's"


def fem_drop(n: int) -> float:
    """What linear elasticity on the mesh itself says, as a ratio to Timoshenko's."""
    length = 5 * HEIGHT
    mesh = shapes.bar((length, HEIGHT, HEIGHT), (5 * n, n, n))
    x = mesh.vertices
    end = np.flatnonzero(x[:, 0] > 0.4999 * length)
    share = 0.5 ** (np.abs(x[end, 1:]) > 0.4999 * HEIGHT).sum(axis=1)
    force = np.zeros_like(x)
    force[end, 2] = share / share.sum()
    material = SolidMaterial(density=DENSITY, youngs_modulus=YOUNG, poisson_ratio=0.0)
    u = solid_fem.displacement(mesh, material, force, np.flatnonzero(x[:, 0] < -0.4999 * length))
    return float((share * u[end, 2]).sum() / share.sum() / sum(timoshenko(0.0)))


def test_the_torsion_table_is_the_series() -> None:
    """k = 1/3 (1 - 192/pi^5 a/b sum over odd n of tanh(n pi b/2a)/n^5)."""
    n = np.arange(1, 200, 2)
    for ratio, k in TORSION.items():
        series = (1 - 192 / (np.pi**5 * ratio) * (np.tanh(n * np.pi * ratio / 2) / n**5).sum()) / 3
        assert k == pytest.approx(series, abs=6e-6)
