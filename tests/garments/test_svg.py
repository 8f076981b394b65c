"""Patterns drawn in an editor: units, transforms, names, seams, and mistakes refused by name."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

import pliant as pl
from pliant.garments import Edge, Panel, Pattern, Placement, Seam, meshed, read_pattern

HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" '
    'xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape" width="{w}" height="{h}" viewBox="{box}">'
)
FRONT = '<path inkscape:label="front" id="p1" d="M 50,350 H 450 V 50 H 50 Z"/>'
BACK = '<rect inkscape:label="back" x="500" y="50" width="400" height="300"/>'
WORDS = (
    '<text x="450" y="200">first side</text><text x="500" y="200">first side</text>'
    '<text x="50" y="200">second side</text><text x="900" y="200">second side</text>'
    '<text x="250" y="50">open mouth</text><text x="700" y="50">open mouth</text>'
)


def written(
    folder: Path, inside: str, w: str = "1000mm", h: str = "400mm", box: str = "0 0 1000 400"
) -> Path:
    path = folder / "bag.svg"
    path.write_text(HEAD.format(w=w, h=h, box=box) + inside + "</svg>")
    return path


def sheet(name: str, place: Placement) -> Panel:
    edges = [("0", (-0.2, 0)), ("right", (0.2, 0)), ("mouth", (0.2, 0.3)), ("left", (-0.2, 0.3))]
    return Panel(name, [Edge(edge, at) for edge, at in edges], placement=place)


def test_a_bag_drawn_and_written(tmp_path: Path) -> None:
    """The same triangles as of the pattern written in Python."""
    drawn = meshed(read_pattern(written(tmp_path, FRONT + BACK + WORDS)), 0.06)
    panels = [sheet("front", Placement((0.25, -0.35, 0))), sheet("back", Placement((0.7, -0.35, 0)))]
    seams = [Seam("first", ["front.right"], ["-back.left"]), Seam("second", ["front.left"], ["-back.right"])]
    plain = Pattern("bag", panels, seams, {"mouth": ["front.mouth", "back.mouth"]})
    wanted = meshed(plain, 0.06)
    order = np.lexsort(wanted.places.round(9).T)
    np.testing.assert_allclose(
        drawn.places[np.lexsort(drawn.places.round(9).T)], wanted.places[order], atol=1e-12
    )
    assert drawn.area == pytest.approx(0.24, rel=1e-12)
    assert drawn.n_vertices == wanted.n_vertices
    assert set(drawn.loops) == {"mouth", "front.0"}
    seams = {seam.name: (seam.one, seam.other) for seam in drawn.pattern.seams}
    assert seams["first side"] == (["front.first side"], ["-back.first side"])


@pytest.mark.parametrize(
    ("w", "h", "box"),
    [
        ("1000mm", "400mm", "0 0 1000 400"),
        ("100cm", "40cm", "0 0 1000 400"),
        ("1in", "0.4in", f"0 0 {25.4} {10.16}"),
        ("96", "38.4px", f"0 0 {25.4} {10.16}"),
        ("72pt", "28.8pt", f"0 0 {25.4} {10.16}"),
    ],
)
def test_units(w: str, h: str, box: str, tmp_path: Path) -> None:
    """All of these say that a unit is a millimetre."""
    pattern = read_pattern(written(tmp_path, FRONT, w, h, box))
    assert pattern.chain_length(["front.0"]) == pytest.approx(0.4, rel=1e-12)


def test_where_the_page_begins_and_transforms(tmp_path: Path) -> None:
    moved = (
        '<g transform="translate(-30 12) rotate(90, 10 20) scale(2,2)"><g transform="matrix(0 -.5 .5 0 3 4)">'
    )
    panels = []
    for inside, box in ((FRONT, "0 0 1000 400"), (moved + FRONT + "</g></g>", "-50 -60 1000 400")):
        (panel,) = read_pattern(written(tmp_path, inside, box=box)).panels
        panels.append([np.asarray(edge.start, float) for edge in panel.edges])
    np.testing.assert_allclose(*panels, atol=1e-12)


def test_the_pouch_of_the_examples() -> None:
    pattern = read_pattern(ROOT / "examples" / "pouch.svg")
    assert [panel.name for panel in pattern.panels] == ["front", "back"]
    assert [seam.name for seam in pattern.seams] == ["rim"]
    assert pattern.panels[0].grain == (0.0, 1.0)
    garment = meshed(pattern, 0.04)
    assert list(garment.loops) == ["mouth"]
    x = garment.places
    assert x[garment.pieces[garment.panel_of == 0], 1].max() == pytest.approx(-0.06)
    assert x[:, 2].min() == pytest.approx(0.6)
    # half of it: a rectangle, and under it a quarter of a cubic curve, whose area is a polynomial's integral
    half = 0.15 * 0.2 + 0.15 * 0.15 - _corner((0.15, 0.15), (0.15, 0.06), (0.1, 0), (0, 0))
    assert garment.area == pytest.approx(4 * half, rel=5e-3), "chords cut off a sliver"
    sewn = pl.sew(garment)
    assert sewn.gap < 1e-4
    assert np.abs(pl.sewing.panel_strains(sewn)).max() < 1e-3


def _corner(*corners: tuple[float, float]) -> float:
    """Area between a cubic curve and the corner (0.15, 0) that it rounds."""
    from numpy.polynomial import polynomial as p

    basis = [[1, -3, 3, -1], [0, 3, -6, 3], [0, 0, 3, -3], [0, 0, 0, 1]]
    x, y = (sum(c[k] * np.array(b, float) for c, b in zip(corners, basis, strict=True)) for k in (0, 1))
    under = p.polyint(p.polymul(y, p.polyder(x)))
    return 0.15 * 0.15 - abs(0.15 * 0.15 - abs(p.polyval(1.0, under)))


def test_a_seam_spelled_out_over_smooth_pieces(tmp_path: Path) -> None:
    """A band along the curved top of two panels; its chain is given by words, its ease, too."""
    top = (
        '<path inkscape:label="{0}" d="M {1},300 h 200 v -200 q -50,30 -100,30 t -100,-30 z"/>'
        '<text x="{2}" y="130">top</text>'
    )
    band = '<rect inkscape:label="band" x="0" y="350" width="400" height="40"/>'
    band += '<text x="200" y="350">upper</text>'
    said = '<text x="0" y="20">seam waist: one.top, two.top = band.upper ease 20%</text>'
    inside = top.format("one", 50, 150) + top.format("two", 400, 500) + band + said
    pattern = read_pattern(written(tmp_path, inside))
    (seam,) = pattern.seams
    assert (seam.name, seam.ease) == ("waist", 0.2)
    assert list(seam.one) == ["one.top", "one.top/2", "two.top", "two.top/2"]
    assert list(seam.other) == ["-band.upper"]
    assert pl.garments.troubles(pattern) == []


def test_the_grain_and_the_place(tmp_path: Path) -> None:
    inside = (
        FRONT.replace("/>", "><desc>facing: left\nposition: 1 2 3; wrap: 0.5</desc></path>")
        + '<line inkscape:label="grain of the front" x1="100" y1="100" x2="200" y2="100"/>'
    )
    (panel,) = read_pattern(written(tmp_path, inside)).panels
    assert panel.grain == (1.0, 0.0)
    np.testing.assert_allclose(panel.placement(np.array([[0.0, 0], [0, 0.1]])), [[1, 2, 3], [1, 2, 3.1]])
    assert panel.placement.wrap == 0.5
    np.testing.assert_allclose(np.asarray(panel.placement.rotation)[:, 2], [1, 0, 0])


MISTAKES = {
    "open": (FRONT.replace("Z", ""), 'path "front" is open; close it'),
    "no label": ("<path d='M0 0H9V9Z'/>", 'path "": its label must name the panel'),
    "two panels": (FRONT + FRONT, 'another panel is called "front"'),
    "two outlines": (FRONT.replace("Z", "Z M60 60h9v9z"), 'path "front" has 2 outlines'),
    "no path": (FRONT.replace("450", "x"), 'path "front": its path data lacks a number of "H"'),
    "word far away": (FRONT + '<text x="600" y="200">side</text>', 'the word "side" is 150 mm from'),
    "word at a corner": (
        FRONT + '<text x="452" y="352">side</text>',
        'the word "side" is as near to two edges of "front"',
    ),
    "two words": (
        FRONT + '<text x="450" y="200">a</text><text x="450" y="250">b</text>',
        'the word "b" and "a" name one edge of "front"',
    ),
    "three edges": (
        FRONT + BACK + WORDS + '<text x="250" y="350">first side</text>',
        'the word "first side" stands on 3 edges (front.first side, front.first side 2, back.first side)',
    ),
    "missing edge": (
        FRONT + BACK + WORDS + '<text x="0" y="0">seam s: front.top = back.mouth</text>',
        'seam "s": panel "front" has no edge "top"; it has 0, first side, mouth, second side',
    ),
    "missing panel": (
        FRONT + '<text x="0" y="0">seam s: front.0 = bakc.0</text>',
        'there is no panel "bakc"',
    ),
    "half a seam": (FRONT + '<text x="0" y="0">seam s: front.0</text>', '"seam s: front.0" cannot be read'),
    "clone": (FRONT + '<use href="#p1" id="c"/>', 'use "c" is a use; unlink the clone'),
    "round": ('<circle inkscape:label="hat" r="9"/>', 'circle "hat" is a circle; turn it into a path'),
    "description": (
        FRONT.replace("/>", "><desc>facing: north</desc></path>"),
        'path "front": its description says "facing: north"',
    ),
    "transform": (FRONT.replace("id=", 'transform="turn(3)" id='), 'its transform "turn(3)" cannot be read'),
    "scale": ('<text x="0" y="0">scale 1:0</text>' + FRONT, "the scale must be said once and not be zero"),
    "grain outside": (
        FRONT + '<path id="grain" d="M 0,0 L 10,0"/>',
        'path "grain" must lie in one panel, it lies in 0',
    ),
}


@pytest.mark.parametrize("mistake", list(MISTAKES))
def test_mistakes_in_a_drawing(mistake: str, tmp_path: Path) -> None:
    inside, said = MISTAKES[mistake]
    with pytest.raises(pl.PatternError, match=r"bag\.svg: ") as caught:
        read_pattern(written(tmp_path, inside))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<svg", "is no SVG"),
        ("<html/>", 'its root is "html"'),
        ('<svg xmlns="http://www.w3.org/2000/svg"/>', "shows no closed path"),
        (
            '<svg viewBox="0 0 10 10" width="100%" height="100%"/>',
            "its width is '100%'; give the size of the page",
        ),
        ('<svg viewBox="0 0 10 10" width="10mm" height="20mm"/>', "its page has another scale across"),
        ('<svg viewBox="0 0 10" width="10mm" height="20mm"/>', "its viewBox is '0 0 10'"),
    ],
)
def test_what_is_no_drawing(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.svg").write_text(text)
    with pytest.raises(pl.PatternError, match=re.escape(said)):
        read_pattern(tmp_path / "a.svg")


def test_a_crossing_outline_is_named_when_it_is_cut(tmp_path: Path) -> None:
    bow = '<path inkscape:label="bow" d="M 50,350 L 450,50 H 50 L 450,350 Z"/>'
    with pytest.raises(pl.PatternError, match='panel "bow": its outline crosses or touches itself'):
        meshed(read_pattern(written(tmp_path, bow)), 0.05)


def test_notes_and_hidden_things_are_not_read(tmp_path: Path) -> None:
    extra = (
        '<g inkscape:label="Notes"><text x="600" y="200">cut twice</text></g>'
        '<defs><path id="d" d="x"/></defs>'
        '<path id="h" style="display: none" d="M0 0"/><metadata><a/></metadata>'
    )
    assert len(read_pattern(written(tmp_path, FRONT + extra)).panels) == 1
