"""A contact sheet: a few frames over time, drawn in software, with times and a colour bar of the strain."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.errors import MissingExtraError, PliantError
from pliant.io.recording import Part, Recording, Solid, written_whole
from pliant.viewer.captions import protocol_text
from pliant.viewer.colours import PARTS, StrainScale, strain_scale, strain_table
from pliant.viewer.framing import Framing, axes, framing, length_text
from pliant.viewer.tile import draw_frame

if TYPE_CHECKING:
    from PIL import ImageDraw

__all__ = ["render", "sheet", "write_png"]

_PAPER = (250, 250, 249)
_INK = (36, 39, 43)
_SOFT = (91, 96, 103)
_GAP = 8
_EDGE = 18
_TILE_PIXELS = 190_000
_GLYPHS = str.maketrans({"≥": ">", "≤": "<", "−": "-", "µ": "u"})  # Pillow's own font has no others


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
    _pillow().Image.fromarray(picture).save(buffer, "PNG")
    with written_whole(path) as file:
        file.write(buffer.getvalue())


def sheet(
    recording: Recording, frames: int = 6, size: tuple[int, int] | None = None, strain: bool | None = None
) -> np.ndarray:
    """The picture that :func:`write_png` writes: (H, W, 3) uint8, sRGB."""
    if frames < 1:
        raise PliantError(f"a contact sheet needs at least one picture, got frames={frames}")
    pil = _pillow()
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
    canvas = pil.Image.new("RGB", (total_width, top + rows * (height + _GAP) - _GAP + _EDGE), _PAPER)
    canvas.paste(header, (0, 0))
    draw = pil.ImageDraw.Draw(canvas)
    for k, tile in enumerate(tiles):
        x, y = _EDGE + (k % columns) * (width + _GAP), top + (k // columns) * (height + _GAP)
        picture = draw_frame(recording, frame, tile.index, (width, height), scale if tile.strain else None)
        canvas.paste(pil.Image.fromarray(picture), (x, y))
        _label(pil, draw, recording, tile, (x, y + height))
    if bar and scale is not None:
        _bar(pil, canvas, scale, (total_width - _EDGE - bar + 16, top, min(height, 260)))
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


def _header(pil: Any, recording: Recording, frame: Framing, width: int) -> Any:
    """Title, protocol and, where there are several, the parts in their colours."""
    image = pil.Image.new("RGB", (width, 400), _PAPER)
    draw = pil.ImageDraw.Draw(image)
    y = 14
    for line in _wrapped(pil, recording.title, width - 2 * _EDGE, 21):
        draw.text((_EDGE, y), line, fill=_INK, font=_font(pil, 21))
        y += 26
    words = f"{protocol_text(recording)} · grid {length_text(frame.grid)}".translate(_GLYPHS)
    for line in _wrapped(pil, words, width - 2 * _EDGE, 14):
        draw.text((_EDGE, y), line, fill=_SOFT, font=_font(pil, 14))
        y += 19
    if len(recording.parts) > 1:
        x, y = _EDGE, y + 3
        for i, part in enumerate(recording.parts):
            wide = 32 + round(draw.textlength(part.name, font=_font(pil, 14)))
            if x + wide > width - _EDGE and x > _EDGE:
                x, y = _EDGE, y + 20
            draw.rectangle((x, y + 4, x + 10, y + 14), fill=PARTS[i % len(PARTS)])
            draw.text((x + 16, y), part.name, fill=_INK, font=_font(pil, 14))
            x += wide
        y += 20
    return image.crop((0, 0, width, y + 8))


def _label(
    pil: Any, draw: ImageDraw.ImageDraw, recording: Recording, tile: _Tile, corner: tuple[int, int]
) -> None:
    """The time of a picture in its lower left corner."""
    if tile.index is None:
        text = "no frames"
    else:
        text = f"{recording.times[tile.index]:.{_decimals(recording)}f} s" + (
            "  strain" if tile.strain else ""
        )
    x, y = corner
    wide = draw.textlength(text, font=_font(pil, 15))
    draw.rounded_rectangle((x + 8, y - 33, x + 24 + wide, y - 8), 5, fill=_PAPER)
    draw.text((x + 16, y - 29), text, fill=_INK, font=_font(pil, 15))


def _decimals(recording: Recording) -> int:
    """Digits after the point that tell the pictures' times apart."""
    span = recording.times[-1] - recording.times[0]
    return max(0, 2 - math.floor(math.log10(span))) if span > 0 else 3


def _bar(pil: Any, canvas: Any, scale: StrainScale, place: tuple[int, int, int]) -> None:
    """Colour bar with numbers; ``place`` is its left, its top and its height with the heading."""
    x, y, height = place
    draw = pil.ImageDraw.Draw(canvas)
    draw.text((x, y), "strain", fill=_INK, font=_font(pil, 14))
    top, length = y + 28, height - 40
    column = strain_table(length)[::-1, None, :]
    canvas.paste(pil.Image.fromarray(np.ascontiguousarray(np.repeat(column, 14, axis=1))), (x, top))
    labels = scale.labels()
    for i, label in enumerate(labels):
        at = top + round((length - 1) * (1 - i / (len(labels) - 1)))
        draw.line((x + 14, at, x + 18, at), fill=_SOFT)
        draw.text((x + 22, at), label.translate(_GLYPHS), fill=_INK, font=_font(pil, 12), anchor="lm")


def _wrapped(pil: Any, text: str, width: int, size: int) -> list[str]:
    """The text in lines that fit."""
    lines, font = [""], _font(pil, size)
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if font.getlength(longer) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _font(pil: Any, size: int) -> Any:
    return pil.ImageFont.load_default(size)


def _pillow() -> Any:
    """Pillow, or a word on how to get it."""
    try:
        import PIL
        import PIL.Image
        import PIL.ImageDraw
        import PIL.ImageFont
    except ImportError:
        raise MissingExtraError("A contact sheet (.png)", "pillow", "render") from None
    return PIL
