"""Pattern files: written and read back, GarmentCode's, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import data_dir

import pliant as pl
from pliant.garments import meshed, read_pattern, write_pattern
from pliant.garments.filling import smallest_angles

PATTERNS = {
    "T-shirt": pl.garments.tshirt_pattern(),
    "skirt": pl.garments.skirt_pattern(),
    "trousers": pl.garments.trousers_pattern(),
}


@pytest.mark.parametrize("name", list(PATTERNS))
def test_written_and_read_back(name: str, tmp_path: Path) -> None:
    write_pattern(PATTERNS[name], tmp_path / "p.json")
    one, two = meshed(PATTERNS[name], 0.06), meshed(read_pattern(tmp_path / "p.json"), 0.06)
    np.testing.assert_array_equal(one.sewn, two.sewn)
    np.testing.assert_allclose(one.places, two.places, atol=1e-12)
    assert list(one.loops) == list(two.loops)


@pytest.mark.parametrize("name", list(PATTERNS))
def test_every_garment_is_in_good_triangles(name: str) -> None:
    g = meshed(PATTERNS[name], 0.03)
    assert smallest_angles(g.flat, g.pieces).min() >= 20
    from pliant.geometry import topology

    e = topology.edges(g.pieces)
    size = np.linalg.norm(g.flat[e[:, 0]] - g.flat[e[:, 1]], axis=1)
    assert size.max() / size.min() < 3
    openings = {"T-shirt": 4, "skirt": 2, "trousers": 3}
    assert len(g.loops) == openings[name]
    mesh = g.panels_mesh
    assert len(pl.self_intersections(mesh.vertices, mesh.triangles)) == 0


def changed(tmp_path: Path, change: Any) -> Path:
    write_pattern(PATTERNS["skirt"], tmp_path / "good.json")
    data = json.loads((tmp_path / "good.json").read_text())
    change(data)
    (tmp_path / "bad.json").write_text(json.dumps(data))
    return tmp_path / "bad.json"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d["panels"]["front"].update(colour="red"), 'panel "front": "colour" is unknown'),
        (lambda d: d["panels"]["front"]["edges"][1].update(start=[0]), 'panel "front", edge 1'),
        (lambda d: d["seams"]["band"].update(one="front.top"), "seam \"band\": 'front.top' must be a list"),
        (lambda d: d.update(format="pliant pattern 9"), "is neither a pattern of Pliant"),
        (lambda d: d["panels"]["band"]["placement"].update(wrap=-1), "wrap greater than 0"),
    ],
)
def test_files_with_mistakes(change: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(pl.PatternError) as caught:
        read_pattern(changed(tmp_path, change))
    assert "bad.json" in str(caught.value)
    assert said in str(caught.value)


def test_what_is_no_pattern(tmp_path: Path) -> None:
    with pytest.raises(pl.PatternError, match=r"nowhere.json: cannot be read"):
        read_pattern(tmp_path / "nowhere.json")
    (tmp_path / "text.json").write_text("{")
    with pytest.raises(pl.PatternError, match=r"text.json: is no JSON"):
        read_pattern(tmp_path / "text.json")


def test_the_shirt_of_garmentcode() -> None:
    path = data_dir() / "garmentcode" / "shirt_mean_specification.json"
    pattern = read_pattern(path)
    assert len(pattern.panels) == 8
    assert len(pattern.seams) == 18
    for seam in pattern.seams:  # what the data's own page says: the two edges agree to 0.4 %
        one, other = pattern.chain_length(seam.one), pattern.chain_length(seam.other)
        assert one == pytest.approx(other, rel=4e-3)
    g = meshed(pattern, 0.03)
    assert len(g.loops) == 4
    x = g.panels_mesh.vertices  # fronts lie before the backs, in metres, z up
    front = g.panel_of == [p.name for p in pattern.panels].index("left_ftorso")
    back = g.panel_of == [p.name for p in pattern.panels].index("left_btorso")
    assert x[g.pieces[front], 1].max() < -0.2
    assert x[g.pieces[back], 1].min() > 0.15
    assert x[:, 2].min() == pytest.approx(0.9457, abs=1e-3)
    assert len(pl.self_intersections(x, g.pieces)) == 0


def test_the_shirt_of_garmentcode_in_large_triangles() -> None:
    """Edges of 0.75 cm in panels of 20 cm: levels of the lattice may have no room."""
    pattern = read_pattern(data_dir() / "garmentcode" / "shirt_mean_specification.json")
    for size in (0.05, 0.08):
        assert len(meshed(pattern, size).loops) == 4


def test_specifications_with_mistakes(tmp_path: Path) -> None:
    text = (data_dir() / "garmentcode" / "shirt_mean_specification.json").read_text()
    for change, said in (
        (lambda d: d["pattern"]["stitches"][3][0].update(edge=9), 'stitch 3 names edge 9 of "left_sleeve_b"'),
        (lambda d: d["pattern"]["panels"]["left_ftorso"]["edges"].pop(2), 'panel "left_ftorso": edge 1'),
        (lambda d: d.pop("properties"), "no specification of GarmentCode"),
    ):
        data = json.loads(text)
        change(data)
        (tmp_path / "spec.json").write_text(json.dumps(data))
        with pytest.raises(pl.PatternError, match=r"spec.json") as caught:
            read_pattern(tmp_path / "spec.json")
        assert said in str(caught.value)
