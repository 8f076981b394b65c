"""Bending rigidity that a triangulation really has: energy on a cylinder against ½ B κ² times its area.

Verification against closed forms of the grids' own anisotropy, and the figures of docs/meshes.md.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from pliant.geometry import measures, shapes, topology
from pliant.geometry.mesh import TriMesh

EDGE = 1.0 / 32.0
ROW = EDGE * np.sqrt(0.75)
DIRECTIONS = (0, 15, 30, 45, 60, 75, 90, 105, 120, 135, 150, 165)
SHEETS = {
    "right": (shapes.grid(33, 33), (0.5, 0.5)),
    "alternating": (shapes.grid(33, 33, pattern="alternating"), (0.5, 0.5)),
    "cross": (shapes.grid(33, 33, pattern="cross"), (0.5, 0.5)),
    "equilateral": (shapes.equilateral((1.0, 32 * ROW), EDGE), (0.5, 16 * ROW)),
    "unstructured": (shapes.unstructured((1.0, 1.0), EDGE), (0.8, 0.8)),
}
CLOSED_FORM = {
    "right": lambda s: 1.0 + s + s**2,
    "alternating": lambda s: 1.0 + 0.5 * s**2,
    "cross": lambda s: 1.5 - 0.5 * s**2,
    "equilateral": lambda s: 1.0 + 0.0 * s,
}


def on_cylinder(mesh: TriMesh, degrees: float, curvature: float) -> np.ndarray:
    """The flat sheet bent without stretch to ``curvature`` (1/m), curving along a direction in its plane."""
    phi = np.radians(degrees)
    along, across = np.array([np.cos(phi), np.sin(phi), 0.0]), np.array([-np.sin(phi), np.cos(phi), 0.0])
    s, t = mesh.vertices @ along, mesh.vertices @ across
    up = (1.0 - np.cos(curvature * s)) / curvature
    return np.outer(np.sin(curvature * s) / curvature, along) + np.outer(t, across) + np.outer(up, [0, 0, 1])


def rigidity(
    mesh: TriMesh, window: tuple[float, float], degrees: float, curvature: float
) -> tuple[float, float]:
    """Isometric and dihedral energy of the hinges in a window of whole cells, over ½ κ² A / 3.

    Every triangle has three hinges, so a third of A0 + A1 is the area that belongs to a hinge.
    """
    hinges = topology.hinges(mesh.triangles)
    middle = mesh.vertices[hinges[:, :2]].mean(axis=1)[:, :2] + 1e-9
    hinges = hinges[(np.abs(middle) < 0.5 * np.asarray(window)).all(axis=1)]
    stencil, area = measures.cotangent_stencil(mesh.vertices, hinges)
    x = on_cylinder(mesh, degrees, curvature)
    isometric = ((stencil[:, :, None] * x[hinges]).sum(axis=1) ** 2).sum(axis=1) / area
    length = measures.edge_lengths(mesh.vertices, hinges[:, :2])
    dihedral = (length * measures.hinge_angles(x, hinges)) ** 2 / area
    share = curvature**2 * (area / 3.0).sum()
    return float(isometric.sum() / share), float(dihedral.sum() / share)


@pytest.mark.parametrize("name", CLOSED_FORM)
@pytest.mark.parametrize("degrees", DIRECTIONS)
def test_small_curvature_gives_the_closed_form(name: str, degrees: int) -> None:
    expected = CLOSED_FORM[name](np.sin(2.0 * np.radians(degrees)))
    for measured in rigidity(*SHEETS[name], degrees, 0.01 / EDGE):
        assert measured == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("degrees", DIRECTIONS)
def test_an_irregular_mesh_is_nearly_isotropic_and_a_little_stiff(degrees: int) -> None:
    for seed in range(3):
        mesh = shapes.unstructured((1.0, 1.0), EDGE, seed=seed)
        for measured in rigidity(mesh, (0.8, 0.8), degrees, 0.01 / EDGE):
            assert 1.0 < measured < 1.1


@pytest.mark.parametrize("name", ["right", "equilateral"])
@pytest.mark.parametrize("bend", [0.1, 0.2, 0.4])
def test_finite_curvature_costs_the_chord_only(name: str, bend: float) -> None:
    """Along an axis across whole rows the dihedral form stays exact, the isometric one loses (κ r)²/6."""
    degrees, row = (0, EDGE) if name == "right" else (90, ROW)
    isometric, dihedral = rigidity(*SHEETS[name], degrees, bend / row)
    assert dihedral == pytest.approx(1.0, rel=1e-9)
    chord = 2.0 * np.sin(bend / 2.0) * np.sinc(bend / (2.0 * np.pi)) / bend
    assert isometric == pytest.approx(chord**2, rel=1e-9)


def test_a_bent_strip_has_half_b_kappa_squared_times_its_area() -> None:
    """The whole strip, its ends included: only the half cells at the two ends have no hinge to bend."""
    strip = shapes.grid(81, 5, (20.0, 1.0))
    hinges = topology.hinges(strip.triangles)
    stencil, area = measures.cotangent_stencil(strip.vertices, hinges)
    x = on_cylinder(strip, 0.0, 0.02)
    energy = 0.5 * (((stencil[:, :, None] * x[hinges]).sum(axis=1) ** 2).sum(axis=1) / area).sum()
    assert energy / (0.5 * 0.02**2 * strip.area) == pytest.approx(79 / 80, rel=1e-5)


def test_the_documented_table_is_measured() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "meshes.md").read_text(encoding="utf-8")
    for name, sheet in SHEETS.items():
        row = re.search(rf"^\| {name} \|(.*)\|$", text, re.MULTILINE)
        assert row, f"no row for {name}"
        stated = [float(cell) for cell in row[1].split("|")[: len(DIRECTIONS)]]
        measured = [rigidity(*sheet, degrees, 0.01 / EDGE)[0] for degrees in DIRECTIONS]
        np.testing.assert_allclose(stated, measured, atol=0.0051, err_msg=name)
