"""Colours of the pictures: one strain scale and one palette, for the page and the contact sheet alike.

The strain scale is a path through Oklab (B. Ottosson, "A perceptual color space for image processing",
2020): lightness rises steadily, the hue turns from violet over blue, teal and green to yellow, the chroma
is a fixed share of what sRGB can show, and the samples lie at equal distances along the path. Equal steps
of strain so look like equal steps of colour, and the scale still orders in a grey print.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

__all__ = [
    "BACKGROUND",
    "PARTS",
    "SOLID",
    "StrainScale",
    "back_colour",
    "linear",
    "scale_between",
    "strain_scale",
    "strain_table",
]

# sRGB bytes. Muted, of about one lightness, apart in hue for every common colour blindness when neighbours.
PARTS: tuple[tuple[int, int, int], ...] = (
    (96, 139, 193),
    (214, 123, 88),
    (106, 163, 124),
    (214, 171, 84),
    (156, 114, 170),
    (80, 160, 168),
    (204, 118, 142),
    (128, 134, 148),
)
SOLID = (176, 168, 158)
BACKGROUND = (231, 231, 229)

_LMS_FROM_LAB = np.array(
    [
        [1.0, 0.3963377774, 0.2158037573],
        [1.0, -0.1055613458, -0.0638541728],
        [1.0, -0.0894841775, -1.2914855480],
    ]
)
_RGB_FROM_LMS = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)

_LIGHTNESS = (0.30, 0.92)
_HUE = (math.radians(305.0), math.radians(103.0))
_CHROMA_SHARE = 0.92
TAILS = (0.005, 0.995)  # of the strains: what the colours span
_ROUNDING = 8 * float(
    np.finfo(np.float32).eps
)  # strain that positions in single precision cannot tell from 0


@dataclass(frozen=True)
class StrainScale:
    """The range that the colours span, and what the data really spans.

    Attributes:
        low, high: strain at the two ends of the colour bar.
        least, most: smallest and largest strain of the recording; beyond the ends the end colours show.
    """

    low: float
    high: float
    least: float
    most: float

    def ticks(self) -> list[float]:
        """Round values inside the scale, ends included."""
        step = (self.high - self.low) / 4
        return [self.low + i * step for i in range(5)]

    def labels(self) -> list[str]:
        """A label in per cent for each tick; the ends say when the data goes on beyond them."""
        step = 100 * (self.high - self.low) / 4
        digits = max(0, -math.floor(math.log10(step)) + (f"{step:.6e}"[2] != "0"))
        texts = [f"{100 * tick:.{digits}f} %".replace("-", "−") for tick in self.ticks()]
        tolerance = 1e-6 * (self.high - self.low)
        if self.least < self.low - tolerance:
            texts[0] = "≤ " + texts[0]
        if self.most > self.high + tolerance:
            texts[-1] = "≥ " + texts[-1]
        return texts

    def position(self, strain: np.ndarray) -> np.ndarray:
        """Place of each strain on the scale, 0 to 1; beyond the ends it is the end."""
        return np.clip((np.asarray(strain, dtype=np.float64) - self.low) / (self.high - self.low), 0.0, 1.0)


def strain_scale(strains: Sequence[np.ndarray | None]) -> StrainScale | None:
    """The scale for a recording, or None where no frame has strain.

    It spans 99 % of the values, rounded outwards, so that a few torn corners do not flatten the rest; it
    starts at zero unless something is compressed.
    """
    kept = [np.asarray(s, dtype=np.float64).ravel() for s in strains if s is not None and np.size(s)]
    if not kept:
        return None
    values = np.concatenate(kept)
    least, most = float(values.min()), float(values.max())
    low, high = np.quantile(values, TAILS)
    return scale_between(float(low), float(high), least, most)


def scale_between(low: float, high: float, least: float, most: float) -> StrainScale:
    """The scale that spans ``low`` to ``high``, and zero, for data from ``least`` to ``most``."""
    low, high = min(low, 0.0), max(high, 0.0)
    if high - low < _ROUNDING:  # nothing strains: show one per cent, the smallest scale that one expects
        low, high = 0.0, 0.01
    step = _round_up((high - low) / 4)
    while math.floor(low / step) * step + 4 * step < high * (1 - 1e-9):
        step = _round_up(step * 1.01)
    low = math.floor(low / step) * step  # zero is always one of the ticks
    return StrainScale(low, low + 4 * step, least, most)


def _round_up(value: float) -> float:
    """The next number with the digits 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    digits = next(d for d in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if value <= d * power * (1 + 1e-9))
    return digits * power


@cache
def strain_table(n: int = 256) -> np.ndarray:
    """The colours of the strain scale: (n, 3) uint8, sRGB, read-only."""
    fine = np.linspace(0.0, 1.0, 4096)
    lightness = _LIGHTNESS[0] + fine * (_LIGHTNESS[1] - _LIGHTNESS[0])
    hue = _HUE[0] + fine * (_HUE[1] - _HUE[0])
    chroma = _CHROMA_SHARE * _smooth(_gamut_chroma(lightness, hue))
    lab = np.stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)], axis=1)
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(lab, axis=0), axis=1))])
    even = np.linspace(0.0, way[-1], n)
    picked = np.stack([np.interp(even, way, lab[:, k]) for k in range(3)], axis=1)
    table = np.round(255 * encode(_linear_from_lab(picked))).astype(np.uint8)
    table.flags.writeable = False
    return table


def linear(srgb: np.ndarray | Sequence[int]) -> np.ndarray:
    """sRGB bytes to linear light in [0, 1]."""
    s = np.asarray(srgb, dtype=np.float64) / 255
    return np.where(s <= 0.04045, s / 12.92, ((s + 0.055) / 1.055) ** 2.4)


def encode(light: np.ndarray) -> np.ndarray:
    """Linear light to sRGB in [0, 1] (IEC 61966-2-1); what a screen cannot show becomes its nearest end."""
    c = np.clip(light, 0.0, 1.0)
    return np.where(c <= 0.0031308, 12.92 * c, 1.055 * np.power(c, 1 / 2.4) - 0.055)


def back_colour(colour: tuple[int, int, int]) -> tuple[int, int, int]:
    """The other side of a cloth: paler, so that a fold that turns over can be seen."""
    r, g, b = (round(0.58 * c + 0.42 * 226) for c in colour)
    return r, g, b


def _linear_from_lab(lab: np.ndarray) -> np.ndarray:
    return (lab @ _LMS_FROM_LAB.T) ** 3 @ _RGB_FROM_LMS.T


def _gamut_chroma(lightness: np.ndarray, hue: np.ndarray) -> np.ndarray:
    """The largest chroma that sRGB can show, by bisection."""
    low, high = np.zeros_like(lightness), np.full_like(lightness, 0.5)
    for _ in range(40):
        middle = 0.5 * (low + high)
        lab = np.stack([lightness, middle * np.cos(hue), middle * np.sin(hue)], axis=1)
        rgb = _linear_from_lab(lab)
        inside = ((rgb >= 0.0) & (rgb <= 1.0)).all(axis=1)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return low


def _smooth(values: np.ndarray) -> np.ndarray:
    """A lower envelope without corners: corners of the gamut would show as bands."""
    width = len(values) // 8
    padded = np.pad(values, width, mode="edge")
    floor = np.min(np.lib.stride_tricks.sliding_window_view(padded, 2 * width + 1), axis=1)
    padded = np.pad(floor, width, mode="edge")
    return np.convolve(padded, np.hanning(2 * width + 1) / np.hanning(2 * width + 1).sum(), mode="valid")
