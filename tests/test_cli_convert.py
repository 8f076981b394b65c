"""``pliant convert``: what comes out, and what is refused in one line."""

from __future__ import annotations

from pathlib import Path

import exported
import fakes
import numpy as np
import pytest

from pliant.cli import ERROR, OK, main
from pliant.io.recording import Recording
from pliant.viewer import write
from pliant.viewer.html import write_html
from pliant.viewer.pages import read_page


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_recording_in_other_axes_units_and_times(here: Path, capsys: pytest.CaptureFixture) -> None:
    recording = fakes.hung_sheets(1, 9, 7)
    write(recording, "a.npz")
    arguments = ["--fps", "120", "--up", "y", "--unit", "cm", "--quiet"]
    assert main(["convert", "a.npz", "a.mdd", *arguments]) == OK
    assert capsys.readouterr().out == "a.mdd\n"
    found = exported.read_mdd(here / "a.mdd")
    x = np.stack(recording.frames).astype(float)
    middle = 0.5 * (x[:-1] + x[1:])
    assert len(found.points) == 13
    for have, want in ((found.points[::2], x), (found.points[1::2], middle)):
        assert np.ptp(want, axis=0).max() > 0.01
        np.testing.assert_allclose(have, 100 * want[..., [0, 2, 1]] * [1, 1, -1], rtol=1e-6, atol=1e-5)


def test_one_frame_of_it(here: Path) -> None:
    recording = fakes.pushed_sheet()
    write(recording, "a.npz")
    assert main(["convert", "a.npz", "a.obj", "--frame", "2", "--no-colliders", "--quiet"]) == OK
    found = exported.read_obj(here / "a.obj")
    np.testing.assert_array_equal(found.points[0].astype(np.float32), recording.frames[2])


@pytest.mark.parametrize("exact", [False, True])
def test_a_page_gives_its_recording_back(here: Path, exact: bool) -> None:
    recording = fakes.pushed_sheet()
    write_html(recording, "a.html", exact=exact)
    again = read_page("a.html")
    extent = np.ptp(np.stack(recording.frames), axis=(0, 1)).max()
    error = 1e-6 if exact else 1.02 * extent / 65535 / 2 + 1e-6
    np.testing.assert_allclose(np.stack(again.frames), np.stack(recording.frames), atol=error, rtol=0)
    assert (again.times, again.title) == (recording.times, recording.title)
    for a, b in zip(recording.parts, again.parts, strict=True):
        assert (a.name, a.start, a.stop) == (b.name, b.start, b.stop)
        np.testing.assert_array_equal(a.triangles, b.triangles)
    assert recording.moves().any()
    for k in (0, 5):
        for a, b in zip(recording.placed(k), again.placed(k), strict=True):
            x, y = (s.vertices[s.triangles].reshape(-1, 9) for s in (a, b))
            np.testing.assert_allclose(y, x, atol=2e-6 * max(1.0, np.abs(x).max()))
    assert main(["convert", "a.html", "a.glb", "--quiet"]) == OK
    assert len(exported.read_glb(here / "a.glb")) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.npz", "a.abc"], "pictures and recordings end in .html"),
        (["none.npz", "a.obj"], "none.npz: no such file"),
        (["bad.html", "a.obj"], "bad.html is not a page that Pliant wrote"),
        (["a.npz", "nowhere/a.obj"], "there is no folder"),
        (["a.npz", "a.obj", "--unit", "yard"], "choose one of m, cm"),
        (["a.npz", "a.obj", "--frame", "99"], "frame 99 does not exist"),
        (["a.npz", "a.html", "--fps", "24"], "options of exports"),
        (["flat.obj", "a.mdd"], "a mesh is exported as"),
    ],
)
def test_mistakes_are_one_line(
    here: Path, capsys: pytest.CaptureFixture, arguments: list[str], message: str
) -> None:
    write(fakes.pushed_sheet(), "a.npz")
    Path("bad.html").write_text("<html></html>")
    Path("flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    assert main(["convert", *arguments, "--quiet"]) == ERROR
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert sorted(p.name for p in here.iterdir()) == ["a.npz", "bad.html", "flat.obj"]


def test_a_damaged_page_is_named(here: Path) -> None:
    Path("a.html").write_text('<script type="application/json" id="recording">{"view": 3}</script>')
    assert main(["convert", "a.html", "b.obj", "--quiet"]) == ERROR


SCENE = """
[simulation]
seconds = 0.1
substeps = 2
output = ["own.mdd"]
[[cloth]]
shape = { kind = "grid", nx = 4, ny = 4 }
material = "cotton"
[[collider]]
kind = "sphere"
radius = 0.1
"""


def test_a_run_writes_exports_like_all_else(here: Path) -> None:
    Path("a.toml").write_text(SCENE)
    names = ["a.glb", "a.pc2", "a_##.OBJ", "a.html", "a.npz", "a.json", "a.pvd"]
    assert main(["run", "a.toml", "--quiet", *(w for name in names for w in ("--out", name))]) == OK
    assert {p.name for p in here.iterdir()} > {*names, "a_00.OBJ", "a_0000.vtp"} - {"a_##.OBJ"}
    frames = np.stack(Recording.load_npz("a.npz").frames)
    np.testing.assert_array_equal(exported.read_pc2(here / "a.pc2").points, frames)
    assert sorted(exported.read_glb(here / "a.glb")) == ["grid", "sphere 0"]
    assert not (here / "own.mdd").exists()
    assert main(["run", "a.toml", "--quiet"]) == OK
    np.testing.assert_array_equal(exported.read_mdd(here / "own.mdd").points, frames)


def test_a_run_refuses_an_unknown_suffix_before_it_starts(here: Path, capsys: pytest.CaptureFixture) -> None:
    Path("a.toml").write_text(SCENE)
    assert main(["run", "a.toml", "--quiet", "--out", "a.glb", "--out", "a.abc"]) == ERROR
    assert ".pc2" in capsys.readouterr().err
    assert [p.name for p in here.iterdir()] == ["a.toml"]


def test_npz_to_npz_keeps_everything(here: Path) -> None:
    recording = fakes.pushed_sheet()
    write(recording, "a.npz")
    assert main(["convert", "a.npz", "b.npz", "--quiet"]) == OK
    for a, b in zip(recording.frames, Recording.load_npz("b.npz").frames, strict=True):
        np.testing.assert_array_equal(a, b)
