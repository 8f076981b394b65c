"""Both bending laws: one angle, one energy, and that of a sheet of the rigidity asked for."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.geometry import measures, shapes, topology
from pliant.materials import Fabric, dihedral_compliance, isometric_compliance
from tests.laws.batches import configurations, evaluate

Array = np.ndarray

EDGE = 1 / 16
ROW = EDGE * np.sqrt(0.75)


def cylinder(x: Array, curvature: float, degrees: float) -> Array:
    """A flat sheet in z = 0 bent without stretch about an axis in its plane; z < 0 is inside."""
    a = np.radians(degrees)
    along, across = np.array([np.cos(a), np.sin(a), 0.0]), np.array([-np.sin(a), np.cos(a), 0.0])
    s = x @ along
    bent = np.outer(np.sin(curvature * s) / curvature, along) + np.outer(x @ across, across)
    bent[:, 2] = (np.cos(curvature * s) - 1.0) / curvature
    return bent


@pytest.mark.parametrize("law", ["isometric", "dihedral", "dihedral_acos"])
@pytest.mark.parametrize("degrees", [0.0, 15.0, 30.0, 50.0, 90.0])
def test_a_cylinder_stores_half_b_kappa_squared(law: str, degrees: float) -> None:
    """On an equilateral mesh, per hinge the third of its two triangles' area."""
    material, kappa = Fabric(bending_rigidity=3e-5), 0.02 / EDGE
    mesh = shapes.equilateral((1.0, 16 * ROW), EDGE)
    hinges = topology.hinges(mesh.triangles)
    middle = mesh.vertices[hinges[:, :2]].mean(axis=1)
    # whole cells of the middle: the same number of hinges of each direction
    hinges = hinges[
        (np.abs(middle[:, 0] - 0.01 * EDGE) < 4 * EDGE) & (np.abs(middle[:, 1] - 0.01 * ROW) < 4 * ROW)
    ]
    stencil, area = measures.cotangent_stencil(mesh.vertices, hinges)
    bent = cylinder(mesh.vertices, kappa, degrees)[hinges]
    if law == "isometric":
        alpha, params = isometric_compliance(material, area), stencil
    else:
        alpha = dihedral_compliance(material, area, measures.edge_lengths(mesh.vertices, hinges[:, :2]))
        params = np.zeros((len(hinges), 1))
    value, _ = evaluate(law, bent, params)
    energy = (value**2 / (2 * alpha)).sum()
    exact = 0.5 * material.bending_rigidity * kappa**2 * area.sum() / 3
    assert energy == pytest.approx(exact, rel=2e-3 if degrees % 30 else 5e-4)


FINE = 1 / 32
PLATES = {
    "equilateral": (
        shapes.equilateral((1.0, 32 * np.sqrt(0.75) * FINE), FINE),
        (0.5, 16 * np.sqrt(0.75) * FINE),
    ),
    "right": (shapes.grid(33, 33), (0.5, 0.5)),
    "alternating": (shapes.grid(33, 33, pattern="alternating"), (0.5, 0.5)),
    "cross": (shapes.grid(33, 33, pattern="cross"), (0.5, 0.5)),
}


@pytest.mark.parametrize("name", PLATES)
def test_the_documented_plate_is_measured(name: str) -> None:
    """Energy per area over B/2 as a form of the curvatures (k11, k22, k12), for small bending."""
    mesh, window = PLATES[name]
    hinges = topology.hinges(mesh.triangles)
    middle = mesh.vertices[hinges[:, :2]].mean(axis=1)[:, :2] + 1e-9
    hinges = hinges[(np.abs(middle) < 0.5 * np.asarray(window)).all(axis=1)]
    stencil, area = measures.cotangent_stencil(mesh.vertices, hinges)
    length = measures.edge_lengths(mesh.vertices, hinges[:, :2])
    x, y = mesh.vertices[:, 0], mesh.vertices[:, 1]
    small = 1e-4
    rows = []
    for height in (0.5 * x**2, 0.5 * y**2, x * y):
        bent = (mesh.vertices + small * height[:, None] * [0, 0, 1])[hinges]
        isometric = evaluate("isometric", bent, stencil)[0][:, 2] / small
        angle = evaluate("dihedral", bent, np.zeros((len(hinges), 1)))[0][:, 0] / small
        np.testing.assert_allclose(
            np.abs(isometric), length * np.abs(angle), atol=1e-6 * np.abs(isometric).max()
        )
        rows.append(-isometric / np.sqrt(area))
    form = np.array(rows) @ np.array(rows).T / (area.sum() / 3)
    strip = 1 / np.linalg.inv(form)[0, 0]
    measured = [form[0, 0], form[1, 1], 2 * form[0, 1], form[2, 2], 2 * form[0, 2], strip]
    text = (ROOT / "docs" / "laws" / "bending.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| {name} \|(.*)\|$", text, re.MULTILINE)
    assert row, name
    stated = [float(Fraction(cell.strip())) for cell in row[1].split("|")]
    np.testing.assert_allclose(measured, stated, atol=1e-6)


def test_a_ridge_is_positive_and_a_valley_negative() -> None:
    """A sphere is all ridges seen from outside, all valleys with its triangles turned over."""
    ball = shapes.sphere(1.0, 2)
    for sign, triangles in ((1.0, ball.triangles), (-1.0, ball.triangles[:, ::-1])):
        hinges = topology.hinges(triangles)
        value, _ = evaluate("dihedral", ball.vertices[hinges], np.zeros((len(hinges), 1)))
        assert (sign * value > 0.1).all()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_angle_is_that_of_the_geometry(seed: int) -> None:
    x, _ = configurations("dihedral_acos", 64, seed)  # away from flat: the arc cosine is poor there
    value, _ = evaluate("dihedral", x, np.zeros((64, 1)))
    hinges = np.arange(256).reshape(64, 4)
    np.testing.assert_allclose(value[:, 0], measures.hinge_angles(x.reshape(-1, 3), hinges), atol=1e-12)
    unsigned, _ = evaluate("dihedral_acos", x, np.zeros((64, 1)))
    np.testing.assert_allclose(unsigned, np.abs(value), atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_swapping_the_two_triangles_keeps_the_angle_and_turning_them_over_changes_its_sign(seed: int) -> None:
    x, p = configurations("dihedral", 64, seed)
    value, g = evaluate("dihedral", x, 0.0 * p)
    swapped, g_swapped = evaluate("dihedral", x[:, [1, 0, 3, 2]], 0.0 * p)
    np.testing.assert_allclose(swapped, value, atol=1e-12)
    np.testing.assert_allclose(g_swapped[:, :, [1, 0, 3, 2]], g, atol=1e-10 * np.abs(g).max())
    over, g_over = evaluate("dihedral", x[:, [1, 0, 2, 3]], 0.0 * p)
    np.testing.assert_allclose(over, -value, atol=1e-12)
    np.testing.assert_allclose(g_over[:, :, [1, 0, 2, 3]], -g, atol=1e-10 * np.abs(g).max())


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_for_a_small_fold_the_isometric_vector_has_the_length_of_edge_times_angle(seed: int) -> None:
    """|sum K x| = l |theta| to first order, for any two triangles."""
    rng = np.random.default_rng(seed)
    n = 64
    flat = np.zeros((n, 4, 3))
    flat[:, 1, 0] = rng.uniform(0.5, 1.5, n)
    flat[:, 2, :2] = rng.uniform([-0.5, 0.4], [1.5, 1.5], (n, 2))
    flat[:, 3, :2] = rng.uniform([-0.5, -1.5], [1.5, -0.4], (n, 2))
    stencil, _ = measures.cotangent_stencil(flat.reshape(-1, 3), np.arange(4 * n).reshape(n, 4))
    angle = 1e-5
    bent = flat.copy()
    bent[:, 3, 1] = flat[:, 3, 1] * np.cos(angle)
    bent[:, 3, 2] = flat[:, 3, 1] * np.sin(angle)
    value, _ = evaluate("isometric", bent, stencil)
    theta, _ = evaluate("dihedral", bent, np.zeros((n, 1)))
    np.testing.assert_allclose(theta[:, 0], angle, rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(value, axis=1), flat[:, 1, 0] * angle, rtol=1e-9)
    bent[:, 3, 1], bent[:, 3, 2] = flat[:, 3, 1] * np.cos(1.2), flat[:, 3, 1] * np.sin(1.2)
    value, _ = evaluate("isometric", bent, stencil)  # any fold of unstretched triangles
    np.testing.assert_allclose(np.linalg.norm(value, axis=1), 2 * flat[:, 1, 0] * np.sin(0.6), rtol=1e-9)
    rest, _ = evaluate("isometric", flat, stencil)
    assert np.abs(rest).max() < 1e-14 * np.abs(stencil).max()


def test_the_gradient_of_the_angle_at_the_wings_is_one_over_their_height() -> None:
    x, p = configurations("dihedral", 200, seed=4)
    _, g = evaluate("dihedral", x, p)
    edge = x[:, 1] - x[:, 0]
    for wing in (2, 3):
        height = np.linalg.norm(np.cross(edge, x[:, wing] - x[:, 0]), axis=1) / np.linalg.norm(edge, axis=1)
        np.testing.assert_allclose(np.linalg.norm(g[:, 0, wing], axis=1), 1 / height, rtol=1e-12)
