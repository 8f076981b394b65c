"""The page in a real browser: it opens from disk, shows the right positions, and complains of nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import browser
import fakes
import numpy as np
import pytest

from pliant.viewer import write
from pliant.viewer.html import write_html

FRAMES = 12


@pytest.fixture(scope="module")
def recording():
    return fakes.tablecloth(17, FRAMES)


@pytest.fixture(scope="module")
def pages(tmp_path_factory, recording):
    """Every page that the tests look at, opened once, two at a time."""
    browser.find()
    folder = tmp_path_factory.mktemp("pages")
    write(recording, folder / "cloth.html")
    write_html(fakes.hung_sheets(2, 9, 5), folder / "exact.html", exact=True)
    slow = fakes.hung_sheets(1, 5, 5)
    slow.times = [0.0, 0.5, 1.0, 1.5, 2.0]
    write(slow, folder / "slow.html")
    write(fakes.pushed_sheet(), folder / "push.html")
    write(fakes.tablecloth(9, 0), folder / "none.html")
    write(fakes.tablecloth(9, 1), folder / "one.html")
    probe = (
        "pliant.setFrame(7); document.documentElement.dataset.x = JSON.stringify(pliant.positions());"
        "const wide = document.documentElement.scrollWidth; pliant.setFrame(1e9);"
        "document.documentElement.dataset.wide = JSON.stringify(wide);"
    )
    solids = (
        "pliant.setFrame(5); document.documentElement.dataset.solids = JSON.stringify(pliant.solids());"
        "pliant.setFrame(8);"
    )
    watch = (  # without a screen there are hardly any animation frames, so a timer stands in for them
        "window.requestAnimationFrame = (act) => setTimeout(() => act(performance.now()), 100);"
        "document.getElementById('play').click(); document.getElementById('play').click();"
        "const seen = new Set(); setInterval(() => { seen.add(pliant.frame);"
        "document.documentElement.dataset.seen = JSON.stringify([...seen].sort()); }, 10);"
    )
    asks = "fetch('http://127.0.0.1:9/x').catch(() => 0);"  # a page that is not self-contained
    wishes = {
        "first": ("cloth.html", "frame=0", (640, 480), ""),
        "last": ("cloth.html", f"frame={FRAMES - 1}", (640, 480), ""),
        "strain": ("cloth.html", f"frame={FRAMES - 1}&strain=1&wire=1", (640, 480), ""),
        "phone": ("cloth.html", "frame=3&strain=1", (390, 760), probe),
        "exact": ("exact.html", "frame=4", (640, 480), probe.replace("7", "2")),
        "push": ("push.html", "frame=8", (640, 480), solids),
        "before": ("push.html", "frame=0", (640, 480), ""),
        "play": ("slow.html", "", (390, 480), watch),
        "none": ("none.html", "", (640, 480), ""),
        "asks": ("one.html", "", (390, 480), asks),
        "one": ("one.html", "details=1", (640, 480), ""),
    }

    def visit(name: str) -> tuple[str, browser.Page]:
        file, fragment, size, script = wishes[name]
        own = folder / name
        own.mkdir()
        return name, browser.open_page(folder / file, own, fragment, size, script)

    with ThreadPoolExecutor(2) as pool:
        return dict(pool.map(visit, wishes))


@pytest.mark.parametrize("name", ["first", "last", "strain", "phone", "exact", "push", "play", "none", "one"])
def test_the_page_is_ready_and_complains_of_nothing(pages, name):
    page = pages[name]
    assert page.state["ready"] is True
    assert page.state["errors"] == []
    assert page.console == []


@pytest.mark.parametrize("name", ["first", "strain", "phone", "exact", "push", "play", "none", "one"])
def test_the_page_asks_the_network_for_nothing(pages, name):
    assert pages[name].requests == ()


def test_a_page_that_asks_is_found_out(pages):
    assert pages["asks"].requests == ("http://127.0.0.1:9/x",)


def test_the_hash_chooses_frame_and_colours(pages):
    assert (pages["first"].state["frames"], pages["first"].state["frame"]) == (FRAMES, 0)
    assert pages["last"].state["frame"] == FRAMES - 1
    assert (pages["first"].state["strain"], pages["first"].state["wireframe"]) == (False, False)
    assert (pages["strain"].state["strain"], pages["strain"].state["wireframe"]) == (True, True)
    assert f"{FRAMES} / {FRAMES}" in pages["last"].dom


def test_positions_on_the_screen_are_those_of_the_recording(pages, recording):
    shown = np.reshape(pages["phone"].data("x"), (-1, 3))
    extent = np.ptp(np.stack(recording.frames), axis=(0, 1)).max()
    assert np.abs(recording.frames[7] - recording.frames[6]).max() > 1e-3 * extent
    np.testing.assert_allclose(shown, recording.frames[7], atol=1.02 * extent / 65535 / 2)
    assert pages["phone"].state["frame"] == FRAMES - 1  # a frame beyond the end is the last


def test_single_precision_is_exact_to_rounding(pages):
    recording = fakes.hung_sheets(2, 9, 5)
    shown = np.reshape(pages["exact"].data("x"), (-1, 3))
    np.testing.assert_allclose(shown, recording.frames[2], atol=3e-7 * np.abs(recording.frames[2]).max())


def scene(page: browser.Page) -> np.ndarray:
    """The middle of the picture, where no control covers the scene."""
    h, w = page.picture.shape[:2]
    return page.picture[h // 5 : 3 * h // 5, w // 6 : 5 * w // 6].astype(int)


def test_the_picture_shows_lit_cloth(pages):
    middle = scene(pages["last"]).reshape(-1, 3)
    blue = middle[:, 2] - middle[:, 0] > 25
    assert blue.mean() > 0.2
    assert np.ptp(middle[blue].sum(axis=1)) > 120  # light and shade
    assert (~blue).mean() > 0.1  # and floor around it


def test_frames_and_colours_differ_on_the_screen(pages):
    first, last, strain = (scene(pages[name]) for name in ("first", "last", "strain"))
    assert (np.abs(first - last).max(axis=2) > 30).mean() > 0.03
    assert (np.abs(last - strain).max(axis=2) > 30).mean() > 0.1
    blue = (last[..., 2] - last[..., 0] > 25) & (last[..., 2] - last[..., 1] > 20)
    still = (strain[..., 2] - strain[..., 0] > 25) & (strain[..., 2] - strain[..., 1] > 20)
    assert still.mean() < 0.5 * blue.mean()


def test_colliders_are_where_the_recording_says(pages):
    recording = fakes.pushed_sheet()
    shown = np.reshape(pages["push"].data("solids"), (2, 3, 4))
    np.testing.assert_allclose(shown, recording.poses[5], atol=1e-5)
    assert np.abs(recording.poses[5] - recording.poses[4]).max() > 0.05
    grey = [np.abs(scene(pages[name]) - (176, 168, 158)).max(axis=2) < 40 for name in ("before", "push")]
    cube = [np.argwhere(g & ~other).mean(axis=0) for g, other in zip(grey, grey[::-1], strict=True)]
    assert cube[1][1] > cube[0][1] + 60  # to the right


def test_it_plays_by_itself(pages):
    assert pages["play"].data("seen") == [0, 1, 2, 3, 4]


def test_a_phone_needs_no_sideways_scrolling(pages):
    assert pages["phone"].data("wide") <= 500  # headless windows are at least 500 wide
    assert pages["phone"].picture.shape[1] == 390


def test_no_frames_and_one_frame(pages):
    assert pages["none"].state["frames"] == 0
    assert "This recording holds no frames." in pages["none"].dom
    assert pages["one"].state["frames"] == 1
    assert np.ptp(scene(pages["none"])) > 40  # the table is there
    blue = scene(pages["one"])[..., 2] - scene(pages["one"])[..., 0]
    assert (blue > 25).mean() > 0.05
    assert "float64" in pages["one"].dom.split('id="meta"')[1]
