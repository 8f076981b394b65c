"""A contact sheet: a few frames over time, drawn in software, with times and a colour bar of the strain."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.errors import PliantError
from pliant.io.recording import Part, Recording, Solid, written_whole
from pliant.viewer.captions import protocol_text
from pliant.viewer.colours import PARTS, StrainScale, strain_scale
from pliant.viewer.framing import Framing, axes, framing, length_text
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
    wrapped,
)
from pliant.viewer.tile import Studio, draw_frame

__all__ = ["needs", "render", "sheet", "write_png"]

WHAT = "A contact sheet (.png)"

_GAP = 8
_EDGE = 18
_TILE_PIXELS = 190_000


@dataclass(frozen=True)
class _Tile:
    index: int | None  # of the frame, None where there is none
    strain: bool


def write_png(
    recording: Recording,
    path: str | os.PathLike[str],
    frames: int = 6,
    size: tuple[int, int] | None = None,
    strain: bool | None = None,
) -> None:
    """Write a contact sheet.

    Args:
        recording: any number of frames, none included.
        path: the file to write; it appears whole or not at all.
        frames: pictures on the sheet, evenly over the recording, the first and the last frame included.
        size: width and height of one picture in pixels; by default as wide as the scene wants.
        strain: colour every picture by strain (True) or none (False). By default the last frame is shown
            twice, the second time in colours of strain, where the recording has it.

    Raises:
        MissingExtraError: Pillow is not installed.
    """
    picture = sheet(recording, frames, size, strain)
    buffer = io.BytesIO()
    typesetter(WHAT, "render").Image.fromarray(picture).save(buffer, "PNG")
    with written_whole(path) as file:
        file.write(buffer.getvalue())


def sheet(
    recording: Recording, frames: int = 6, size: tuple[int, int] | None = None, strain: bool | None = None
) -> np.ndarray:
    """The picture that :func:`write_png` writes: (H, W, 3) uint8, sRGB."""
    if frames < 1:
        raise PliantError(f"a contact sheet needs at least one picture, got frames={frames}")
    pil = typesetter(WHAT, "render")
    frame = framing(recording)
    scale = strain_scale(recording.strains) if strain is not False else None
    tiles = _choose(recording, frames, scale, strain)
    width, height = size or _tile_size(frame)
    columns = _columns(len(tiles), width / height)
    rows = math.ceil(len(tiles) / columns)
    bar = 92 if scale is not None and any(tile.strain for tile in tiles) else 0
    total_width = max(2 * _EDGE + columns * (width + _GAP) - _GAP + bar, 480)
    header = _header(pil, recording, frame, total_width)
    top = header.height
    canvas = pil.Image.new("RGB", (total_width, top + rows * (height + _GAP) - _GAP + _EDGE), PAPER)
    canvas.paste(header, (0, 0))
    draw = pil.ImageDraw.Draw(canvas)
    studio = Studio(recording, frame, (width, height))
    for k, tile in enumerate(tiles):
        x, y = _EDGE + (k % columns) * (width + _GAP), top + (k // columns) * (height + _GAP)
        picture = studio.draw(tile.index, scale if tile.strain else None)
        canvas.paste(pil.Image.fromarray(picture), (x, y))
        tag(pil, draw, _words(recording, tile), (x, y + height))
    if bar and scale is not None:
        scale_bar(pil, canvas, scale, (total_width - _EDGE - bar + 16, top, min(height, 260)))
    return np.asarray(canvas)


def render(
    x: np.ndarray,
    triangles: np.ndarray,
    size: tuple[int, int] = (640, 480),
    solids: Sequence[Solid] = (),
    strain: np.ndarray | None = None,
) -> np.ndarray:
    """One picture of one surface, without words (and without Pillow): (height, width, 3) uint8, sRGB.

    Args:
        x: (N, 3) positions, m, z up.
        triangles: (F, 3).
        size: width and height, pixels.
        solids: colliders to draw.
        strain: (N,) shown as colour.
    """
    recording = Recording("", 1.0, [Part("surface", 0, len(x), triangles)], list(solids))
    recording.add(0.0, x, strain)
    return draw_frame(recording, framing(recording), 0, size, strain_scale(recording.strains))


def _choose(recording: Recording, frames: int, scale: StrainScale | None, strain: bool | None) -> list[_Tile]:
    """Which frames the sheet shows, and how."""
    n = len(recording)
    if n == 0:
        return [_Tile(None, False)]
    last_again = strain is None and scale is not None and recording.strains[-1] is not None and frames > 1
    count = min(frames - last_again, n)
    picked = np.unique(np.rint(np.linspace(0, n - 1, count)).astype(int)) if count > 1 else [n - 1]
    tiles = [_Tile(int(i), strain is True and recording.strains[i] is not None) for i in picked]
    return [*tiles, _Tile(n - 1, True)] if last_again else tiles


def _columns(tiles: int, aspect: float) -> int:
    """Columns that bring the sheet nearest to 9:5 with the fewest empty places."""

    def badness(columns: int) -> float:
        rows = math.ceil(tiles / columns)
        return abs(math.log(columns * aspect / rows / 1.8)) + 0.5 * (columns * rows - tiles)

    return min(range(1, tiles + 1), key=badness)


def _tile_size(frame: Framing) -> tuple[int, int]:
    """Pixels of one picture: as wide or tall as the scene looks, always of about the same area."""
    right, up, _ = axes(frame.direction)
    aspect = float(np.ptp(frame.points @ right) / max(np.ptp(frame.points @ up), 1e-3 * frame.radius))
    aspect = min(max(1.1 * aspect, 0.72), 1.6)
    height = round(math.sqrt(_TILE_PIXELS / aspect))
    return round(aspect * height), height


def _words(recording: Recording, tile: _Tile) -> str:
    """What is written on a picture."""
    if tile.index is None:
        return "no frames"
    return seconds_text(recording, tile.index) + ("  strain" if tile.strain else "")


def _header(pil: Any, recording: Recording, frame: Framing, width: int) -> Any:
    """Title, protocol and, where there are several, the parts in their colours."""
    image = pil.Image.new("RGB", (width, 400), PAPER)
    draw = pil.ImageDraw.Draw(image)
    y = 14
    for line in wrapped(pil, recording.title, width - 2 * _EDGE, 21):
        draw.text((_EDGE, y), line, fill=INK, font=font(pil, 21))
        y += 26
    words = printable(f"{protocol_text(recording)} · grid {length_text(frame.grid)}")
    for line in wrapped(pil, words, width - 2 * _EDGE, 14):
        draw.text((_EDGE, y), line, fill=SOFT, font=font(pil, 14))
        y += 19
    if len(recording.parts) > 1:
        x, y = _EDGE, y + 3
        for i, part in enumerate(recording.parts):
            wide = 32 + round(draw.textlength(part.name, font=font(pil, 14)))
            if x + wide > width - _EDGE and x > _EDGE:
                x, y = _EDGE, y + 20
            draw.rectangle((x, y + 4, x + 10, y + 14), fill=PARTS[i % len(PARTS)])
            draw.text((x + 16, y), part.name, fill=INK, font=font(pil, 14))
            x += wide
        y += 20
    return image.crop((0, 0, width, y + 8))


def needs() -> None:
    """Raise MissingExtraError where a contact sheet or a moving image cannot be made here."""
    typesetter("A picture (.png, .gif, .webp)", "render")
