"""Films: read back frame by frame, at the right speed, and never half."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import fakes
import numpy as np
import pytest

from pliant.errors import MissingExtraError, PliantError
from pliant.io.recording import Recording
from pliant.viewer import check, video, write
from pliant.viewer.framing import framing
from pliant.viewer.tile import Studio
from pliant.viewer.video import schedule, write_animation, write_video

SIZE = (240, 160)


def decoded(path: Path) -> tuple[dict, list[np.ndarray]]:
    """What a player is told about a film, and its pictures."""
    av = pytest.importorskip("av", reason="a film needs PyAV")
    with av.open(str(path)) as film:
        stream = film.streams.video[0]
        context = stream.codec_context
        facts = {"codec": context.name, "pixels": context.pix_fmt, "size": (context.width, context.height)}
        facts |= {"rate": stream.average_rate, "seconds": float(stream.duration * stream.time_base)}
        return facts, [frame.to_ndarray(format="rgb24") for frame in film.decode(stream)]


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recording, Path]:
    pytest.importorskip("av", reason="a film needs PyAV")
    pytest.importorskip("PIL", reason="a film needs Pillow")
    recording = fakes.tablecloth(17, 9)
    path = tmp_path_factory.mktemp("film") / "cloth.mp4"
    write_video(recording, path, SIZE)
    return recording, path


# --- which frames ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gap", "rate"), [(1 / 60, 60), (1 / 30, 30), (0.02, 50), (2 / 60, 30), (1 / 40, 40), (0.0166667, 60)]
)
def test_a_usual_rate_shows_every_frame_once(gap: float, rate: int) -> None:
    assert schedule([gap * k for k in range(100)]) == (Fraction(rate), list(range(100)))


def test_a_slow_recording_shows_each_frame_for_a_while() -> None:
    rate, shown = schedule([0.0, 0.1, 0.2, 0.3])
    assert rate == 30
    assert shown == [0, 0, 1, 1, 1, 2, 2, 2, 3, 3]  # the nearest to k/30 s


def test_a_fast_recording_leaves_frames_out() -> None:
    rate, shown = schedule([k / 1000 for k in range(101)])
    assert rate == 60
    assert shown == [round(1000 * k / 60) for k in range(6)] + [100]


def test_the_last_frame_is_shown_whenever_it_comes() -> None:
    rate, shown = schedule([0, 1 / 30, 2 / 30, 0.075])
    assert rate == 30
    assert shown == [0, 1, 3]


def test_speed_and_rate_can_be_wished_for() -> None:
    assert schedule([0, 0.001, 0.002], speed=0.03) == (Fraction(30), [0, 1, 2])
    assert schedule([k / 60 for k in range(61)], fps=20)[1] == list(range(0, 61, 3))


def test_one_frame_or_none() -> None:
    assert schedule([3.0]) == (Fraction(30), [0])
    assert schedule([3.0, 3.0]) == (Fraction(30), [1])
    assert schedule([]) == (Fraction(30), [-1])


# --- the file --------------------------------------------------------------------------------------


def test_a_film_has_what_players_need(film: tuple[Recording, Path]) -> None:
    facts, pictures = decoded(film[1])
    assert facts["codec"] == "h264"
    assert facts["pixels"] == "yuv420p"
    assert facts["size"] == SIZE
    assert facts["rate"] == 60
    assert facts["seconds"] == pytest.approx(9 / 60)
    assert len(pictures) == 9
    start = film[1].read_bytes()[:4096]
    assert b"moov" in start  # before the pictures: a browser may begin before it has all


def test_the_pictures_are_those_of_the_recording(film: tuple[Recording, Path]) -> None:
    recording, path = film
    _, pictures = decoded(path)
    studio = Studio(recording, framing(recording), SIZE, samples=2, ground_step=4, margin=video.MARGIN)
    for k in (0, 4, 8):
        off = pictures[k][:105].astype(float) - studio.draw(k)[:105]  # above the time
        assert np.abs(off).mean() < 3
        assert pictures[k].std() > 20
    moved = np.abs(pictures[8].astype(int) - pictures[0]).max(axis=2) > 40
    assert moved.mean() > 0.05


def test_the_time_is_written_on_it(film: tuple[Recording, Path]) -> None:
    _, pictures = decoded(film[1])
    corner = [picture[-44:-20, 20:100].astype(int) for picture in pictures]
    assert (corner[0].min(axis=2) > 235).mean() > 0.4  # paper
    assert (corner[0].max(axis=2) < 90).sum() > 20  # ink
    assert np.abs(corner[0] - corner[8]).max() > 100


def test_a_picture_that_stays_is_drawn_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("av", reason="a film needs PyAV")
    recording = fakes.flat_sheet(5, 3)
    recording.times = [0.0, 0.2, 0.4]
    drawn = []
    monkeypatch.setattr(
        video.Studio, "draw", lambda *a: drawn.append(a[1]) or np.zeros((64, 64, 3), np.uint8)
    )
    write_video(recording, tmp_path / "a.mp4", (64, 64))
    assert drawn == [0, 1, 2]
    assert len(decoded(tmp_path / "a.mp4")[1]) == 13


def test_strain_slow_motion_and_a_wished_rate(tmp_path: Path) -> None:
    pytest.importorskip("av", reason="a film needs PyAV")
    recording = fakes.tablecloth(9, 4)
    write_video(recording, tmp_path / "a.mp4", (640, 360), fps=24, speed=0.1, strain=True)
    facts, pictures = decoded(tmp_path / "a.mp4")
    assert facts["rate"] == 24
    assert len(pictures) == 13  # 0.05 s, ten times slower
    bar = pictures[-1][60:250, 530:540].reshape(-1, 3).astype(int)
    assert np.ptp(bar, axis=0).min() > 80  # from violet to yellow


def test_no_frames_and_one_are_films_too(tmp_path: Path) -> None:
    pytest.importorskip("av", reason="a film needs PyAV")
    for frames in (0, 1):
        write_video(fakes.tablecloth(9, frames), tmp_path / "a.mp4", (64, 64))
        assert len(decoded(tmp_path / "a.mp4")[1]) == 1


@pytest.mark.parametrize("stop", [KeyboardInterrupt, RuntimeError])
def test_what_is_broken_off_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: type[BaseException]
) -> None:
    pytest.importorskip("av", reason="a film needs PyAV")
    target = tmp_path / "a.mp4"
    target.write_bytes(b"old")
    draw = video.Studio.draw

    def half(studio: Studio, index: int, strain: object) -> np.ndarray:
        if index == 2:
            raise stop
        return draw(studio, index, strain)  # type: ignore[arg-type]

    monkeypatch.setattr(video.Studio, "draw", half)
    with pytest.raises(stop):
        write_video(fakes.flat_sheet(5, 4), target, (64, 64))
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    recording = fakes.flat_sheet(5, 2)
    with pytest.raises(PliantError, match=r"size \(641, 480\).*even"):
        write_video(recording, tmp_path / "a.mp4", (641, 480))
    with pytest.raises(PliantError, match="speed 0"):
        write_video(recording, tmp_path / "a.mp4", speed=0)
    with pytest.raises(PliantError, match="fps 0"):
        write_animation(recording, tmp_path / "a.gif", fps=0)
    with pytest.raises(PliantError, match=r"cannot write .*nowhere"):
        write_video(recording, tmp_path / "nowhere" / "a.mp4", (64, 64))
    assert list(tmp_path.iterdir()) == []


def test_without_the_package_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    for act in (lambda path: check(path), lambda path: write(fakes.flat_sheet(5, 2), path)):
        with pytest.raises(MissingExtraError, match=r'"av": pip install "pliant\[video\]"'):
            act(tmp_path / "a.mp4")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".gif", ".webp"])
def test_moving_images(tmp_path: Path, suffix: str) -> None:
    image = pytest.importorskip("PIL.Image")
    recording = fakes.tablecloth(9, 6)
    recording.times = [0.04 * k for k in range(6)]
    path = write(recording, tmp_path / f"a{suffix}")
    with image.open(path) as moving:
        assert (moving.n_frames, moving.size) == (6, (640, 360))
        first = np.asarray(moving.convert("RGB")).astype(int)
        moving.seek(5)
        last = np.asarray(moving.convert("RGB")).astype(int)
        assert moving.info["duration"] == 40
    assert (np.abs(last - first).max(axis=2) > 40).mean() > 0.03
