"""Contact sheets: what they show, and that they show it the same way every time."""

from __future__ import annotations

import sys

import fakes
import numba
import numpy as np
import pytest

from pliant.backend.threads import set_threads
from pliant.errors import MissingExtraError, PliantError
from pliant.io.recording import Part, Recording
from pliant.viewer import write
from pliant.viewer.colours import BACKGROUND, PARTS, strain_table
from pliant.viewer.framing import framing
from pliant.viewer.ground import find_planes
from pliant.viewer.png import render, sheet, write_png
from pliant.viewer.tile import draw_frame

SIZE = (120, 90)


def hue_share(picture: np.ndarray, colour: tuple[int, int, int]) -> float:
    """Share of the pixels that have about the hue of a colour, whatever the light."""
    rgb = picture.reshape(-1, 3).astype(float)
    rgb, wish = rgb - rgb.min(axis=1, keepdims=True), np.array(colour, dtype=float) - min(colour)
    length = np.linalg.norm(rgb, axis=1)
    cosine = rgb @ wish / (np.maximum(length, 1) * np.linalg.norm(wish))
    return float(((cosine > 0.97) & (length > 20)).mean())


@pytest.fixture(scope="module")
def drape():
    return fakes.tablecloth(17, 9)


def test_the_file_holds_the_sheet(drape, tmp_path):
    image = pytest.importorskip("PIL.Image")
    write_png(drape, tmp_path / "a.png", frames=2, size=SIZE)
    with image.open(tmp_path / "a.png") as picture:
        np.testing.assert_array_equal(np.asarray(picture), sheet(drape, 2, SIZE))


def test_cloth_is_lit_and_has_folds(drape):
    picture = draw_frame(drape, framing(drape), 8, (200, 150))
    assert picture.shape == (150, 200, 3)
    assert picture.dtype == np.uint8
    assert hue_share(picture, PARTS[0]) > 0.2
    blue = picture[(picture[..., 2].astype(int) - picture[..., 0] > 40)].astype(int).sum(axis=1)
    assert np.quantile(blue, 0.95) - np.quantile(blue, 0.05) > 100  # light and shade
    corner = picture[:6, :6].reshape(-1, 3).mean(axis=0)
    np.testing.assert_allclose(corner, BACKGROUND, atol=25)


def test_the_same_recording_gives_the_same_bytes_with_any_number_of_threads(drape):
    frame, pictures = framing(drape), []
    for threads in (1, 2, 2):
        set_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
        pictures.append(draw_frame(drape, frame, 4, SIZE))
    first = pictures[0]
    assert first.tobytes() == pictures[1].tobytes() == pictures[2].tobytes()
    assert np.abs(first.astype(int) - draw_frame(drape, frame, 0, SIZE)).max() > 40


@pytest.mark.parametrize("scale", [1e-3 / 1.6, 1e3 / 1.6])
def test_millimetres_and_kilometres_look_alike(drape, scale):
    other = fakes.tablecloth(17, 9, scale=scale)
    # the unit decides where grid lines lie, so compare the cloth only
    a, b = (draw_frame(r, framing(r), 8, SIZE).astype(int) for r in (drape, other))
    cloth = a[..., 2] - a[..., 0] > 40
    assert cloth.mean() > 0.15
    assert np.quantile(np.abs(a - b)[cloth], 0.99) < 12


def test_z_is_up_and_x_goes_right():
    quad = np.array([[0.0, 0, 0], [0.2, 0, 0], [0.2, 0, 0.2], [0, 0, 0.2]])
    two = [[0, 1, 2], [0, 2, 3]]
    recording = Recording("", 1.0, [Part("low left", 0, 4, two), Part("high right", 4, 8, two)])
    recording.add(0.0, np.concatenate([quad, quad + np.array([0.8, 0, 0.8])]))
    picture = draw_frame(recording, framing(recording), 0, (100, 100)).astype(int)
    blue = np.argwhere(picture[..., 2] - picture[..., 0] > 40).mean(axis=0)
    orange = np.argwhere(picture[..., 0] - picture[..., 2] > 60).mean(axis=0)
    assert orange[0] < blue[0] - 30  # higher up in the picture
    assert orange[1] > blue[1] + 30  # further to the right


def test_colliders_are_drawn_where_they_are():
    """The grey cube goes from the left edge of the sheet to its right one, before the sheet."""
    recording = fakes.pushed_sheet()
    frame = framing(recording)

    def place(index: int) -> np.ndarray:
        picture = draw_frame(recording, frame, index, SIZE).astype(int)
        warm = picture[..., 0] - picture[..., 2]  # the solid's colour; sheet and floor are not
        return np.argwhere(warm > 6).mean(axis=0)

    first, middle, last = (place(k) for k in (0, 4, 8))
    assert first[1] + 15 < middle[1] < last[1] - 15
    only_once = sheet(recording, 2, SIZE, strain=False)
    assert only_once.shape[1] > 2 * SIZE[0]


def test_the_lines_of_a_floor_move_with_it():
    recording = fakes.pushed_sheet()
    frame = framing(recording)
    start, end = (find_planes(recording, frame, k)[0] for k in (0, 8))
    np.testing.assert_allclose(frame.radius * (end.origin - start.origin), [0.8, 0, 0], atol=1e-12)
    np.testing.assert_allclose(end.u, start.u)


def test_a_cloth_under_the_floor_is_hidden():
    recording = fakes.flat_sheet(9, 1)
    recording.frames[0][:, 2] = -0.05
    assert hue_share(draw_frame(recording, framing(recording), 0, SIZE), PARTS[0]) == 0
    recording.frames[0][:, 2] = 0.05
    assert hue_share(draw_frame(recording, framing(recording), 0, SIZE), PARTS[0]) > 0.2


def test_strain_is_shown_in_the_colours_of_the_scale():
    u, v = np.meshgrid(np.linspace(0, 1, 9), np.linspace(0, 1, 9))
    x = np.stack([u, v, 0 * u], axis=-1).reshape(-1, 3)
    picture = render(x, fakes.grid_triangles(9), SIZE, strain=np.where(u.ravel() > 0.5, 0.04, 0.0))
    table = strain_table(256)
    assert hue_share(picture, tuple(table[0])) > 0.1
    assert hue_share(picture, tuple(table[-1])) > 0.1
    assert hue_share(picture, PARTS[0]) < 0.02


def test_the_sheet_has_a_tile_for_each_time_and_one_for_strain(drape):
    pytest.importorskip("PIL")
    size = (230, 150)
    plain, both = sheet(drape, 2, size, strain=False), sheet(drape, 2, size)
    assert plain.shape[1] == 2 * 230 + 44
    assert both.shape[1] > plain.shape[1] + 60  # room for the colour bar
    middle = tuple(strain_table(256)[110])
    assert hue_share(both[:, 256:486], middle) > hue_share(plain[:, 256:486], middle) + 0.02
    assert hue_share(both[:, 256:486], PARTS[0]) < 0.5 * hue_share(plain[:, 256:486], PARTS[0])
    assert sheet(drape, 3, size, strain=False).shape[0] > plain.shape[0] + 50


def test_several_parts_are_named_in_their_colours():
    pytest.importorskip("PIL")
    recording = fakes.hung_sheets(3, 7, 1)
    picture = sheet(recording, 1, SIZE)
    header = picture[:80]
    for colour in PARTS[:3]:
        assert (header == colour).all(axis=-1).sum() > 60
        assert hue_share(picture, colour) > 0.01


def test_no_frames_one_frame_and_bad_counts(tmp_path):
    pytest.importorskip("PIL")
    write(fakes.tablecloth(9, 0), tmp_path / "none.png")
    assert (tmp_path / "none.png").read_bytes().startswith(b"\x89PNG")
    assert sheet(fakes.tablecloth(9, 1), 6, SIZE).ndim == 3
    assert sheet(Recording("nothing", 1.0, []), 6, SIZE).ndim == 3
    with pytest.raises(PliantError, match="at least one picture"):
        sheet(fakes.tablecloth(9, 1), 0)


def test_without_pillow_the_extra_is_named(drape, tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name == "PIL" or name.startswith("PIL.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtraError, match=r'pip install "pliant\[render\]"'):
        write(drape, tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []
    assert render(np.eye(3), np.array([[0, 1, 2]]), SIZE).shape == (90, 120, 3)  # needs no words
