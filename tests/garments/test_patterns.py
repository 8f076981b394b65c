"""Patterns: curves, seams and their vertices, placements, and mistakes, each refused by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import pliant as pl
from pliant.garments import Edge, Panel, Pattern, Placement, Seam, meshed, troubles
from pliant.garments.curves import Curve


def sheet(name: str, width: float = 0.4, height: float = 0.3, **more: object) -> Panel:
    edges = [Edge("bottom", (0, 0)), Edge("right", (width, 0)), Edge("top", (width, height)),
             Edge("left", (0, height))]  # fmt: skip
    return Panel(name, edges, **more)  # type: ignore[arg-type]


BAG = Pattern("bag", [sheet("front"), sheet("back")], [
    Seam("first side", ["front.right"], ["-back.left"]), Seam("second side", ["front.left"], ["-back.right"]),
], {"mouth": ["front.top", "back.top"]})  # fmt: skip


def test_curves_by_arc_length() -> None:
    quarter = Curve(np.array([1.0, 0]), np.array([0, 1.0]), np.zeros((0, 2)), np.tan(np.pi / 8))
    assert quarter.length() == pytest.approx(np.pi / 2, rel=1e-5)
    s = np.linspace(0, 1, 7)
    angle = 0.5 * np.pi * s
    np.testing.assert_allclose(quarter.along(s), np.stack([np.cos(angle), np.sin(angle)], axis=1), atol=1e-5)
    bezier = Curve(np.zeros(2), np.array([1.0, 0]), np.array([[0.1, 0.4], [0.2, 0.4]]))
    steps = np.linalg.norm(np.diff(bezier.along(np.linspace(0, 1, 21)), axis=0), axis=1)
    assert steps.max() / steps.min() < 1.05
    straight = Curve(np.zeros(2), np.array([3.0, 4]), np.zeros((0, 2)))
    assert straight.length() == 5
    np.testing.assert_allclose(straight.along(np.array([0.2])), [[0.6, 0.8]])


def test_a_bag_is_one_mesh_with_one_metric_for_each_panel() -> None:
    bag = meshed(BAG, 0.05)
    assert set(bag.loops) == {"mouth", "front.bottom"}
    assert bag.area == pytest.approx(2 * 0.4 * 0.3, rel=1e-12)
    assert len(bag.flat) - bag.n_vertices == 2 * 7  # seven vertices on each side seam
    flat = bag.flat[bag.edge_ids["front.right"]]
    np.testing.assert_allclose(flat[[0, -1]], [[0.4, 0], [0.4, 0.3]])


def test_a_bag_with_a_bottom_has_no_ears() -> None:
    """Corners that are sewn on both sides: no triangle of one panel lies on one of the other."""
    bottom = Seam("bottom", ["front.bottom"], ["-back.bottom"])
    for size in (0.1, 0.05, 0.03):
        bag = meshed(replace(BAG, seams=[*BAG.seams, bottom]), size)
        assert list(bag.loops) == ["mouth"]


def test_placements_keep_lengths() -> None:
    x = np.random.default_rng(0).uniform(0, 0.4, (40, 2))
    near = x + np.random.default_rng(1).uniform(-1e-6, 1e-6, x.shape)
    for place in (Placement((1, 2, 3), (0.3, 0.2, 0.1)), Placement((1, 2, 3), (0.3, 0.2, 0.1), 0.11, 0.2)):
        apart = np.linalg.norm(place(x) - place(near), axis=1)
        np.testing.assert_allclose(apart, np.linalg.norm(x - near, axis=1), rtol=1e-4)
    bent = Placement(wrap=0.2)(np.array([[0.0, 0.1], [0.1 * np.pi, 0.1]]))
    np.testing.assert_allclose(bent, [[0, 0.1, 0], [0.2, 0.1, -0.2]], atol=1e-12)


def test_unequal_sides_are_gathered_and_joints_meet() -> None:
    """A frill, 1.4 times as long as the two edges it is sewn to: a T-junction where these meet."""
    frill = sheet("frill", 0.84, 0.1)
    pattern = Pattern("frilled", [sheet("one", 0.2), sheet("two", 0.4), frill], [
        Seam("middle", ["one.right"], ["-two.left"]),
        Seam("gathers", ["one.bottom", "two.bottom"], ["-frill.top"], ease=0.5),
    ])  # fmt: skip
    g = meshed(pattern, 0.04)
    joint = g.sewn[g.edge_ids["one.bottom"][-1]]
    assert joint == g.sewn[g.edge_ids["two.bottom"][0]] == g.sewn[g.edge_ids["two.left"][-1]]
    top = g.edge_ids["frill.top"]
    at = top[np.flatnonzero(g.sewn[top] == joint)]
    assert len(at) == 1
    np.testing.assert_allclose(g.flat[at[0]], [0.84 / 3, 0.1], atol=1e-9)
    assert len(g.loops) == 1


def wrong(change: str) -> tuple[Pattern, str]:
    """A bag with one mistake, and what is said of it."""
    front, back = BAG.panels
    first, second = BAG.seams
    e = list(front.edges)
    if change == "missing edge":
        return replace(BAG, seams=[first, replace(second, other=["-back.rigth"])]), (
            'seam "second side": panel "back" has no edge "rigth"; it has bottom, right, top, left'
        )
    if change == "missing panel":
        return replace(BAG, seams=[replace(first, one=["fornt.right"]), second]), (
            'seam "first side": has no panel "fornt"'
        )
    if change == "crossing":
        edges = [e[0], replace(e[1], start=(0.4, 0.3)), replace(e[2], start=(0.4, 0)), e[3]]
        return replace(BAG, panels=[replace(front, edges=edges), back], seams=[]), (
            'panel "front": its outline crosses or touches itself at (0.2, 0.15) m'
        )
    if change == "no length":
        edges = [*e, Edge("nothing", (0, 0))]
        return replace(BAG, panels=[replace(front, edges=edges), back]), (
            'edge "front.nothing" has no length; remove it or move its ends apart'
        )
    if change == "mismatch":
        return replace(BAG, panels=[front, sheet("back", 0.4, 0.42)]), (
            'seam "first side": its sides are 0.3 m and 0.42 m long, 40 % apart, and its ease is 5 %'
        )
    if change == "clockwise":
        flipped = [replace(edge, start=(-edge.start[0], edge.start[1])) for edge in e]
        return replace(BAG, panels=[replace(front, edges=flipped), back]), 'panel "front" runs clockwise'
    if change == "twice":
        return replace(BAG, seams=[first, second, Seam("third", ["front.right"], ["-back.top"], 1.0)]), (
            'seam "third": the edge "front.right" is sewn twice'
        )
    assert change == "twist"
    return replace(BAG, seams=[first, replace(second, other=["back.right"])]), (
        'the seam "second side" joins the right side of the cloth to the wrong side'
    )


MISTAKES = (
    "missing edge",
    "missing panel",
    "crossing",
    "no length",
    "mismatch",
    "clockwise",
    "twice",
    "twist",
)


@pytest.mark.parametrize("change", MISTAKES)
def test_mistakes_are_refused_by_name(change: str) -> None:
    assert troubles(BAG) == []
    pattern, said = wrong(change)
    with pytest.raises(pl.PatternError) as caught:
        meshed(pattern, 0.05)
    assert 'pattern "bag"' in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize("change", ["crossing", "no length", "mismatch"])
def test_mistakes_are_ringed_in_the_picture(change: str, tmp_path: Path) -> None:
    pattern, said = wrong(change)
    rings = {}
    for name, drawn in (("sound", BAG), ("wrong", pattern)):
        pl.garments.draw(drawn, tmp_path / f"{name}.svg")
        tree = ElementTree.parse(tmp_path / f"{name}.svg")
        rings[name] = [e for e in tree.iter() if e.tag.endswith("circle")]
        words = " ".join((e.text or "").strip() for e in tree.iter() if e.tag.endswith("text"))
        assert (said in words) == (name == "wrong")
    assert rings["sound"] == []
    assert len(rings["wrong"]) == {"crossing": 1, "no length": 1, "mismatch": 4}[change]


def test_a_picture_in_pixels(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    meshed(BAG, 0.05).draw(tmp_path / "bag.png")
    assert image.open(tmp_path / "bag.png").size[0] > 600
    with pytest.raises(pl.PatternError, match=r"\.svg or \.png"):
        pl.garments.draw(BAG, tmp_path / "bag.pdf")
