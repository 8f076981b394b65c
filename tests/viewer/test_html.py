"""The page as a file: whole, small, and free of the network. test_html_browser.py opens it."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import fakes
import numpy as np
import pytest

from pliant.errors import PliantError
from pliant.io.recording import Part, Recording
from pliant.viewer import check, write
from pliant.viewer.html import page_data, write_html
from pliant.viewer.packing import unpack


def recording_in(page: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="recording">(.*?)</script>', page)[1])


def test_the_page_holds_everything_and_asks_for_nothing(tmp_path):
    write(fakes.tablecloth(9, 3), tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text("utf-8")
    assert not re.findall(r"<(?:script|link|img|iframe)[^>]*\s(?:src|href)=", page)
    assert not re.findall(r"@import|url\(", page.split("</style>")[0])
    assert "{{" not in page.replace("{{…}}", "")
    assert page.count("</script>") == 3
    licence = (files("pliant.viewer") / "data" / "three.LICENSE.txt").read_text("utf-8")
    assert "MIT" in licence
    assert licence in page
    assert "three.js" in page


def test_the_page_holds_the_recording():
    recording = fakes.tablecloth(9, 5)
    data = page_data(recording)
    x = unpack(data["frames"]["values"]) * data["frames"]["step"] + data["frames"]["low"]
    x = x * data["view"]["radius"] + data["view"]["centre"]
    extent = np.ptp(np.stack(recording.frames), axis=(0, 1)).max()
    np.testing.assert_allclose(x, np.stack(recording.frames), atol=1.01 * extent / 65535 / 2)
    assert data["frames"]["note"] == "positions within 12.2 µm"
    assert data["times"] == recording.times
    np.testing.assert_array_equal(unpack(data["parts"][0]["triangles"])[0], recording.parts[0].triangles)
    assert len(data["solids"]) == 3
    assert [s["plane"] is not None for s in data["solids"]] == [False, False, True]


def test_strain_is_kept_where_it_is_and_only_there():
    recording = fakes.tablecloth(9, 4)
    recording.strains[1] = None
    strain = page_data(recording)["strain"]
    assert strain["has"] == [True, False, True, True]
    assert unpack(strain["values"]).shape == (3, 81, 1)
    assert page_data(fakes.hung_sheets(1, 5, 2))["strain"] is None


def test_a_body_is_drawn_with_sharp_edges():
    cube = fakes.pushed_sheet(3, 1).solids[0]
    recording = Recording("cube", 1.0, [Part("cube", 0, 8, cube.triangles)])
    recording.add(0, cube.vertices)
    part = page_data(recording)["parts"][0]
    source, triangles = unpack(part["source"])[0, :, 0], unpack(part["triangles"])[0]
    assert (part["count"], len(source)) == (8, 24)
    np.testing.assert_array_equal(source[triangles], cube.triangles)


def test_moving_colliders_come_with_their_poses():
    recording = fakes.pushed_sheet()
    data = page_data(recording)
    view = data["view"]
    poses = unpack(data["poses"]).reshape(9, 2, 3, 4)
    assert [solid["moves"] for solid in data["solids"]] == [True, True]
    cube = unpack(data["solids"][0]["positions"])[0]
    for k in (0, 5):
        shown = (cube @ poses[k, 0, :, :3].T + poses[k, 0, :, 3]) * view["radius"] + view["centre"]
        expected = recording.placed(k)[0].vertices
        assert np.abs(shown[:, None] - expected).sum(axis=2).min(axis=1).max() < 1e-6  # each is a corner
    assert data["solids"][1]["plane"] is not None
    assert unpack(page_data(fakes.tablecloth(9, 2))["poses"]).shape == (2, 0, 12)


def test_a_tiny_cloth_on_a_long_way_keeps_single_precision():
    recording = Recording("fall", 1.0, [Part("p", 0, 81, fakes.grid_triangles(9))])
    u, v = np.meshgrid(np.linspace(0, 0.01, 9), np.linspace(0, 0.01, 9))
    for i in range(3):
        recording.add(i, np.stack([u, v, 0 * u - 100.0 * i], axis=-1).reshape(-1, 3))
    data = page_data(recording)
    assert data["frames"]["values"]["type"] == "float32"
    assert data["frames"]["note"] == "positions in single precision"
    assert page_data(fakes.tablecloth(9, 2), exact=True)["frames"]["values"]["type"] == "float32"


@pytest.mark.parametrize(("n", "limit"), [(33, 3e6), (101, 8e6)])
def test_pages_stay_small(tmp_path, n, limit):
    recording = fakes.tablecloth(n, 180 if n < 50 else 60, noise=1e-4)
    write(recording, tmp_path / "a.html")
    empty = 0.7e6
    size = (tmp_path / "a.html").stat().st_size
    assert empty + (size - empty) * 180 / len(recording) < limit


def test_what_the_user_writes_cannot_break_the_page(tmp_path):
    recording = fakes.flat_sheet(3, 1)
    recording.title = "</script><b>{{three}} & 布料 “ü”"
    recording.meta = {"protocol": {"note": "</script><!--"}, "report": {"e": [float("nan"), float("inf")]}}
    write(recording, tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text("utf-8")
    assert page.count("</script>") == 3
    data = recording_in(page)
    assert data["title"] == recording.title
    assert data["meta"]["protocol"]["note"] == "</script><!--"
    assert data["meta"]["report"]["e"] == ["NaN", "Infinity"]
    assert "<title>&lt;/script&gt;&lt;b&gt;{{three}} &amp; 布料 “ü”</title>" in page


def test_the_protocol_is_one_line():
    recording = fakes.flat_sheet(3, 1)
    recording.meta["protocol"] = {"solver": "PD", "dt": np.float64(0.02), "warm": True, "inner": {"a": 1}}
    assert page_data(recording)["protocol"] == "PD · dt 20 ms · warm on"
    recording.meta.clear()
    assert page_data(recording)["protocol"] == "dt 16.67 ms"


def test_no_frames_is_a_whole_page(tmp_path):
    write_html(fakes.tablecloth(9, 0), tmp_path / "a.html")
    data = recording_in((tmp_path / "a.html").read_text("utf-8"))
    assert data["times"] == []
    assert data["frames"]["values"]["shape"] == [0, 81, 3]


@pytest.mark.parametrize("suffix", [".html", ".npz", ".HTML"])
def test_the_suffix_picks_the_format(tmp_path, suffix):
    assert write(fakes.flat_sheet(3, 2), tmp_path / f"a{suffix}") == tmp_path / f"a{suffix}"
    start = (tmp_path / f"a{suffix}").read_bytes()[:15].lower()
    assert start.startswith(b"pk" if suffix == ".npz" else b"<!doctype html>")


@pytest.mark.parametrize("name", ["a.avi", "a", "html"])
def test_an_unknown_suffix_lists_the_known_ones(tmp_path, name):
    with pytest.raises(PliantError, match=r"end in \.html, \.png, \.mp4"):
        write(fakes.flat_sheet(3, 1), tmp_path / name)
    with pytest.raises(PliantError, match=r"end in \.html, \.png, \.mp4"):
        check(tmp_path / name)
    check(tmp_path / "a.html")
