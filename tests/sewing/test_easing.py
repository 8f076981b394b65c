"""Strain taken out of sewn panels: gradients, a sheet with a known answer, off the body, the same bits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from crossing_triangles import crossing_triangles

import pliant as pl
from pliant.garments import Edge, Panel, Pattern, Seam, meshed
from pliant.garments.mannequin import Limb
from pliant.sewing import easing, panel_strains


def sheet() -> pl.garments.Garment:
    return pl.garments.towel(0.05, 0.4, 0.5)


def wavy(garment: pl.garments.Garment, stretch: float = 1.1) -> pl.garments.Garment:
    x = garment.mesh.vertices * (stretch, 1 / stretch, 1)
    x[:, 2] = 0.02 * np.sin(9 * x[:, 0]) * np.cos(7 * x[:, 1])
    return garment.at(x)


def test_a_stretched_sheet_becomes_what_was_cut() -> None:
    bent = wavy(sheet())
    assert np.abs(panel_strains(bent)).max() > 0.09
    eased = easing.eased(bent)
    assert np.abs(panel_strains(eased)).max() < easing.EASED
    again = easing.eased(bent)
    assert again.places.tobytes() == eased.places.tobytes()


def test_the_gradient_is_that_of_the_energy() -> None:
    bent = wavy(sheet())
    shape = easing._shape_of(bent)
    body = [Limb("ball", np.array([0.0, 0, -0.1]), np.array([0.1, 0, -0.1]), 0.11)]
    x = bent.mesh.vertices
    value = easing._value(shape, body, x)
    assert value.touching.any()
    assert not value.touching.all()
    way = np.random.default_rng(0).normal(size=x.shape)
    h = 1e-6
    ahead, behind = (easing._value(shape, body, x + s * h * way).energy for s in (1, -1))
    slope = float((value.gradient * way).sum())
    assert abs(slope) > 1e-3
    assert (ahead - behind) / (2 * h) == pytest.approx(slope, rel=1e-6)


def test_a_sheet_is_pushed_off_the_body() -> None:
    """A flat sheet through a rod bends around it, and its lengths stay."""
    rod = Limb("rod", np.array([0.0, -1, -0.05]), np.array([0.0, 1, -0.05]), 0.08)
    flat = sheet()
    assert rod.depth(flat.mesh.vertices)[0].max() > 0.02
    assert easing.eased(flat).places.tobytes() == flat.places.tobytes(), "nothing to do"
    for start in (flat, wavy(flat)):
        eased = easing.eased(start, [rod])
        assert np.abs(panel_strains(eased)).max() < easing.EASED
        assert rod.depth(eased.mesh.vertices)[0].max() < 0.01 * 0.05


def test_depth_in_a_limb() -> None:
    limb = Limb("arm", np.zeros(3), np.array([1.0, 0, 0]), 0.1)
    x = np.array([[0.5, 0.06, 0], [0.5, 0, -0.2], [1.05, 0, 0]])
    depth, outward = limb.depth(x)
    np.testing.assert_allclose(depth, [0.04, 0, 0.05], atol=1e-15)
    np.testing.assert_allclose(outward, [[0, 1, 0], [0, 0, -1], [1, 0, 0]], atol=1e-15)


def test_a_seam_that_is_curved_both_ways_keeps_its_panels() -> None:
    """Two lenses sewn along arcs: no flat sheet has their shape, each bends along its own lines."""
    edges = [Edge("below", (0.0, 0.0), bulge=0.3), Edge("above", (0.4, 0.0), bulge=0.3)]
    lenses = Pattern("lenses", [Panel("one", edges), Panel("other", edges)],
                     [Seam("rim", ["one.below"], ["-other.above"])])  # fmt: skip
    garment = meshed(lenses, 0.03)
    x = np.column_stack([garment.flat, np.zeros(len(garment.flat))])
    other = np.unique(garment.pieces[garment.panel_of == 1])
    x[other] = x[other] * (1, 1, 0) + (0, -0.12, 0)
    x[:, 2] = 0.3 * np.abs(x[:, 1] + 0.06)
    sewn = replace(garment, places=x)
    sewn = sewn.at(sewn.mesh.vertices)
    assert np.abs(panel_strains(sewn)).max() > 0.05
    eased = easing.eased(sewn)
    assert np.abs(panel_strains(eased)).max() < 1e-3
    assert eased.gap == 0


def test_crossings_are_seen_by_the_counter() -> None:
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, -1], [0.3, 0.2, 1], [0.2, 0.3, 1]])
    t = np.array([[0, 1, 2], [3, 4, 5]])
    assert crossing_triangles(x, t).tolist() == [[0, 1]]
    x[3:, 0] += 2
    assert len(crossing_triangles(x, t)) == 0


def test_cloth_through_itself_is_told_of() -> None:
    """A towel bent into a loop that runs through itself: its strain goes, the crossing stays."""
    towel = sheet()
    angle = 1.5 * np.pi * towel.flat[:, 1] / 0.5 * 2
    s, r = angle / (3 * np.pi), 0.5 / (3 * np.pi)
    x = np.column_stack([towel.flat[:, 0] + 0.05 * s, r * np.sin(angle) + 0.1 * s, r * np.cos(angle)])
    with pytest.warns(pl.MeshWarning, match=r'garment "towel": cloth passes through itself at \d+ edges'):
        sewn = pl.sew(towel.at(x), settle=0.05)
    assert len(crossing_triangles(sewn.mesh.vertices, sewn.triangles)) > 0
    assert np.abs(panel_strains(sewn)).max() < easing.EASED
