"""Words and scales on software pictures, set with Pillow."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.errors import MissingExtraError
from pliant.io.recording import Recording
from pliant.viewer.colours import StrainScale, strain_table

__all__ = [
    "INK",
    "PAPER",
    "SOFT",
    "font",
    "printable",
    "scale_bar",
    "seconds_text",
    "tag",
    "typesetter",
    "wrapped",
]

PAPER = (250, 250, 249)
INK = (36, 39, 43)
SOFT = (91, 96, 103)
_GLYPHS = str.maketrans({"≥": ">", "≤": "<", "−": "-", "µ": "u"})  # Pillow's own font has no others


def typesetter(what: str, extra: str) -> Any:
    """Pillow, or a word on how to get it: ``what`` needs it, ``extra`` brings it."""
    try:
        import PIL
        import PIL.Image
        import PIL.ImageDraw
        import PIL.ImageFont
    except ImportError:
        raise MissingExtraError(what, "pillow", extra) from None
    return PIL


def font(pil: Any, size: int) -> Any:
    """The font that Pillow brings, in pixels."""
    return pil.ImageFont.load_default(size)


def printable(text: str) -> str:
    """The text with what the font lacks replaced."""
    return text.translate(_GLYPHS)


def wrapped(pil: Any, text: str, width: int, size: int) -> list[str]:
    """The text in lines that fit."""
    lines, letters = [""], font(pil, size)
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if letters.getlength(longer) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def tag(pil: Any, draw: Any, text: str, corner: tuple[int, int]) -> None:
    """A label on paper; ``corner`` is the lower left one of the picture that it belongs to."""
    x, y = corner
    wide = draw.textlength(text, font=font(pil, 15))
    draw.rounded_rectangle((x + 8, y - 33, x + 24 + wide, y - 8), 5, fill=PAPER)
    draw.text((x + 16, y - 29), text, fill=INK, font=font(pil, 15))


def seconds_text(recording: Recording, index: int) -> str:
    """The time of a frame with the digits that tell a few frames apart."""
    span = recording.times[-1] - recording.times[0]
    digits = max(0, 2 - int(np.floor(np.log10(span)))) if span > 0 else 3
    return f"{recording.times[index]:.{digits}f} s"


def scale_bar(pil: Any, canvas: Any, scale: StrainScale, place: tuple[int, int, int]) -> None:
    """Colour bar of the strain; ``place`` is its left, its top and its height with the heading."""
    x, y, height = place
    draw = pil.ImageDraw.Draw(canvas)
    draw.text((x, y), "strain", fill=INK, font=font(pil, 14))
    top, length = y + 28, height - 40
    column = strain_table(length)[::-1, None, :]
    canvas.paste(pil.Image.fromarray(np.ascontiguousarray(np.repeat(column, 14, axis=1))), (x, top))
    labels = scale.labels()
    for i, label in enumerate(labels):
        at = top + round((length - 1) * (1 - i / (len(labels) - 1)))
        draw.line((x + 14, at, x + 18, at), fill=SOFT)
        draw.text((x + 22, at), printable(label), fill=INK, font=font(pil, 12), anchor="lm")
