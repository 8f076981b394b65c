"""Films: pictures of the contact sheet's kind at real speed, as video or as a moving image."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import MissingExtraError, PliantError
from pliant.io.recording import Recording, whole_path, written_whole
from pliant.progress import Progress
from pliant.viewer.captions import protocol_text
from pliant.viewer.colours import StrainScale, strain_scale
from pliant.viewer.framing import framing, length_text
from pliant.viewer.lettering import (
    INK,
    PAPER,
    SOFT,
    font,
    printable,
    scale_bar,
    seconds_text,
    tag,
    typesetter,
)
from pliant.viewer.tile import Studio

__all__ = ["needs", "schedule", "write_animation", "write_video"]

WHAT = "A video (.mp4)"
SIZE = (1280, 720)
SMALL = (640, 360)
SLOWEST, FASTEST = 20, 60  # frames a second that any player shows evenly
USUAL = (24, 25, 30, 48, 50, 60)
QUALITY = {"crf": "19", "preset": "medium"}
MARGIN = 1.16  # around what moves, for the words
_EDGE = 24


def write_video(
    recording: Recording,
    path: str | os.PathLike[str],
    size: tuple[int, int] = SIZE,
    fps: float | None = None,
    speed: float = 1.0,
    strain: bool = False,
    progress: bool = False,
) -> None:
    """Write an H.264 film in an MP4 file, which every current player and browser shows.

    Args:
        recording: any number of frames, none included.
        path: the file to write; it appears whole or not at all.
        size: width and height in pixels, even numbers.
        fps: frames a second; by default those of the recording, where that is a rate that players take.
        speed: 1 is real time, 0.1 ten times slower.
        strain: colour by strain, where the recording has it.
        progress: show a bar with the time left.

    Raises:
        MissingExtraError: PyAV or Pillow is not installed.
        PliantError: the size or the speed makes no sense, or the file cannot be written.
    """
    if not all(isinstance(side, int) and side >= 16 and side % 2 == 0 for side in size):
        raise PliantError(f"size {size}: width and height of a video must be even numbers, at least 16")
    if not speed > 0 or (fps is not None and not fps > 0):
        raise PliantError(f"speed {speed!r} and fps {fps!r} must be greater than 0")
    rate, shown = schedule(recording.times, fps, speed)
    pictures = _pictures(recording, shown, size, strain, "" if speed == 1 else f"  {speed:g}x")
    with (
        whole_path(path) as part,
        _encoder(part, size, rate) as encode,
        Progress(len(shown), enabled=progress, unit="frame") as bar,
    ):
        for picture in pictures:
            encode(picture)
            bar.advance()


def write_animation(
    recording: Recording,
    path: str | os.PathLike[str],
    size: tuple[int, int] = SMALL,
    fps: float = 25.0,
    speed: float = 1.0,
    strain: bool = False,
    progress: bool = False,
) -> None:
    """Write a moving image that plays by itself and over and over, as GIF or WebP by the path's suffix.

    Larger and coarser than a video of the same; made for pages that show images only. The arguments are those
    of :func:`write_video`; times between two pictures are whole milliseconds (WebP) or hundredths (GIF).

    Raises:
        MissingExtraError: Pillow is not installed.
        PliantError: the speed makes no sense, or the file cannot be written.
    """
    if not (speed > 0 and fps > 0):
        raise PliantError(f"speed {speed!r} and fps {fps!r} must be greater than 0")
    kind = Path(path).suffix[1:].lower()
    pil = typesetter(f"A moving image (.{kind})", "render")
    rate, shown = schedule(recording.times, fps, speed)
    pictures = _pictures(recording, shown, size, strain, "" if speed == 1 else f"  {speed:g}x")
    with written_whole(path) as file, Progress(len(shown), enabled=progress, unit="frame") as bar:

        def images() -> Iterator[Any]:
            for picture in pictures:
                yield pil.Image.fromarray(picture)
                bar.advance()

        rest = images()
        pause = round(1000 / float(rate))
        next(rest).save(file, kind, save_all=True, append_images=rest, duration=pause, loop=0)


def schedule(times: list[float], fps: float | None = None, speed: float = 1.0) -> tuple[Fraction, list[int]]:
    """Frames a second, and which frame of the recording each frame of the film shows.

    Nothing is made up between two frames of the recording: the film shows the nearest, and ends on the last.

    Args:
        times: of the recording's frames, s; not descending.
        fps: a wish.
        speed: seconds of the recording in a second of the film.
    """
    t = np.asarray(times, float)
    gaps = np.diff(t)[np.diff(t) > 0] / speed
    if not len(gaps):
        return _fraction(fps or 30.0), [len(t) - 1]
    rate = fps or _rate(1 / float(np.median(gaps)))
    fraction = _fraction(rate)
    count = int(np.floor((t[-1] - t[0]) / speed * float(fraction) + 0.5)) + 1
    wanted = t[0] + np.arange(count) * speed / float(fraction)
    after = np.clip(np.searchsorted(t, wanted), 1, len(t) - 1)
    nearest = np.where(wanted - t[after - 1] <= t[after] - wanted, after - 1, after)
    nearest[-1] = len(t) - 1
    return fraction, nearest.tolist()


def _rate(natural: float) -> float:
    """The rate of a recording, or the nearest that players like."""
    usual = [r for r in USUAL if abs(natural / r - 1) < 2e-3]
    if usual:
        return float(usual[0])
    return natural if SLOWEST <= natural <= FASTEST else 30.0 if natural < SLOWEST else 60.0


def _fraction(rate: float) -> Fraction:
    return Fraction(rate).limit_denominator(1001)


def _pictures(
    recording: Recording, shown: list[int], size: tuple[int, int], strain: bool, suffix: str
) -> Iterator[np.ndarray]:
    """The pictures of the film, with their words; one that is shown again is not drawn again."""
    pil = typesetter(WHAT, "video")
    frame = framing(recording)
    studio = Studio(recording, frame, size, samples=2, ground_step=4, margin=MARGIN)
    scale = strain_scale(recording.strains) if strain else None
    widest = size[0] - 2 * _EDGE - (120 if scale is not None else 0)
    heading = _heading(pil, recording, widest, length_text(frame.grid))
    last, picture = None, np.zeros((0, 0, 3), np.uint8)
    for index in shown:
        if index != last:
            now = index if index >= 0 else None
            text = "no frames" if now is None else seconds_text(recording, now) + suffix
            picture = _lettered(pil, studio.draw(now, scale), heading, text, scale)
            last = index
        yield picture


def _heading(pil: Any, recording: Recording, widest: int, grid: str) -> Any:
    """Title and protocol on paper of their own size, half transparent; cut where they are too long."""
    lines = [(recording.title, 22, INK), (printable(f"{protocol_text(recording)} · grid {grid}"), 14, SOFT)]
    wide = max(min(max(round(font(pil, n).getlength(text)) for text, n, _ in lines) + 28, widest), 1)
    paper = pil.Image.new("RGBA", (wide, 66), (*PAPER, 200))
    draw = pil.ImageDraw.Draw(paper)
    for (text, n, ink), y in zip(lines, (8, 38), strict=True):
        draw.text((14, y), text, fill=ink, font=font(pil, n))
    return paper


def _lettered(
    pil: Any, picture: np.ndarray, heading: Any, text: str, scale: StrainScale | None
) -> np.ndarray:
    """The picture with heading, time and, where strain is shown, its scale."""
    canvas = pil.Image.fromarray(picture)
    if heading.width + 2 * _EDGE <= canvas.width and 4 * heading.height <= canvas.height:
        canvas.paste(heading, (_EDGE, _EDGE), heading)
    tag(pil, pil.ImageDraw.Draw(canvas), text, (_EDGE - 8, canvas.height - _EDGE + 8))
    if scale is not None and canvas.height >= 320:
        left, top = canvas.width - _EDGE - 92, _EDGE
        paper = pil.Image.new("RGBA", (104, 252), (*PAPER, 200))
        canvas.paste(paper, (left - 12, top - 6), paper)
        scale_bar(pil, canvas, scale, (left, top, 240))
    return np.asarray(canvas)


@contextmanager
def _encoder(path: Path, size: tuple[int, int], rate: Fraction) -> Iterator[Any]:
    """A function that takes the pictures one after the other; the file is whole at the end."""
    av = _library()
    try:
        with av.open(str(path), "w", format="mp4", options={"movflags": "faststart"}) as container:
            stream = container.add_stream("h264", rate=rate, options=dict(QUALITY))
            stream.width, stream.height = size
            stream.pix_fmt = "yuv420p"
            # What the numbers mean is written into the file; players guess differently otherwise.
            context = stream.codec_context
            context.color_range = context.color_primaries = context.color_trc = context.colorspace = 1

            def encode(picture: np.ndarray) -> None:
                frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
                frame = frame.reformat(format="yuv420p", dst_colorspace="ITU709", dst_color_range="MPEG")
                container.mux(stream.encode(frame))

            yield encode
            container.mux(stream.encode())
    except OSError as error:
        raise PliantError(f"the video could not be written: {error}") from error


def _library() -> Any:
    """PyAV, or a word on how to get it."""
    try:
        import av
        import av.error
    except ImportError:
        raise MissingExtraError(WHAT, "av", "video") from None
    return av


def needs() -> None:
    """Raise MissingExtraError where a video cannot be made here."""
    _library()
    typesetter(WHAT, "video")
