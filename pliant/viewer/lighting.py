"""Light that shows folds: a soft key light over the viewer's shoulder and a whole sky.

Both are sums of many parallel lights, each with its own depth picture of the scene (L. Williams, "Casting
Curved Shadows on Curved Surfaces", 1978). The sky then darkens the inside of a fold because less of it can be
seen from there, which is ambient occlusion without its guesswork. Lengths are in units of the scene's radius.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pliant.viewer.framing import axes
from pliant.viewer.parts import in_parts
from pliant.viewer.raster_kernels import depth_pictures
from pliant.viewer.shade_kernels import light_up

__all__ = ["Light", "irradiance", "lights"]

# Depth pictures span this half width around the centre; what lies outside casts no shadow.
_REACH = 1.3
_FAR = 8.0
_KEY_COLOUR = np.array([1.06, 1.0, 0.93])
_SKY_COLOUR = np.array([0.96, 1.0, 1.05])
_GROUND_COLOUR = np.array([1.03, 1.0, 0.96])
_KEY_SHARE, _SKY_SHARE, _GROUND_SHARE, _LEAST = 0.56, 0.44, 0.16, 0.03


@dataclass(frozen=True)
class Light:
    """One parallel light.

    Attributes:
        way: (3,) unit vector towards the light.
        power: (3,) red, green, blue on a surface that faces it.
        pixels: side of its depth picture.
    """

    way: np.ndarray
    power: np.ndarray
    pixels: int


def lights(direction: np.ndarray, n_key: int = 14, n_sky: int = 48) -> list[Light]:
    """The lights of a picture seen from ``direction``; an open level surface gets one unit of light."""
    ahead = np.array([direction[0], direction[1], 0.0])
    ahead = ahead / np.linalg.norm(ahead) if np.linalg.norm(ahead) > 1e-3 else np.array([0.0, -1.0, 0.0])
    right = np.array([-ahead[1], ahead[0], 0.0])
    key = 0.62 * ahead - 0.78 * right + np.array([0.0, 0.0, 0.8])
    key /= np.linalg.norm(key)
    u, v, _ = axes(key)
    out = []
    for i in range(n_key):  # a disc of 2 degrees: soft edges of the shadows
        r, a = math.radians(2.0) * math.sqrt((i + 0.5) / n_key), i * math.pi * (3 - math.sqrt(5))
        way = key + r * (math.cos(a) * u + math.sin(a) * v)
        out.append(Light(way / np.linalg.norm(way), _KEY_COLOUR * _KEY_SHARE / (n_key * key[2]), 640))
    z = 0.06 + 0.94 * (np.arange(n_sky) + 0.5) / n_sky
    weight = 0.5 + z  # the sky is brighter overhead
    weight *= _SKY_SHARE / (weight * z).sum()
    for i in range(n_sky):
        a, c = i * math.pi * (3 - math.sqrt(5)), math.sqrt(1 - z[i] ** 2)
        out.append(Light(np.array([c * math.cos(a), c * math.sin(a), z[i]]), _SKY_COLOUR * weight[i], 256))
    return out


def irradiance(
    points: np.ndarray, normals: np.ndarray, corners: np.ndarray, sources: list[Light]
) -> np.ndarray:
    """Light that falls on each point from the side that its normal shows: (n, 3).

    Args:
        points, normals: (n, 3).
        corners: (F, 3, 3) of everything that casts shadows.
        sources: of :func:`lights`.
    """
    place, slope = (np.ascontiguousarray(a.T, dtype=np.float32) for a in (points, normals))
    corners = np.ascontiguousarray(corners, dtype=np.float64)
    total = np.empty((3, len(points)), dtype=np.float32)
    total[:] = (_GROUND_SHARE * (0.5 - 0.5 * slope[2])) * _GROUND_COLOUR[:, None] + _LEAST
    for pixels in sorted({light.pixels for light in sources}):
        some = [light for light in sources if light.pixels == pixels]
        frames = np.array([axes(light.way) for light in some])
        power = np.array([light.power for light in some], dtype=np.float32)
        scale = 0.5 * pixels / _REACH
        # A border that shadows nothing: what lies outside the picture is lit.
        near = np.full((len(some), pixels + 2, pixels + 2), np.inf, dtype=np.float32)
        # Step off the surface by a pixel and a half, sideways where light grazes it.
        lifted = place + np.float32(1.5 / scale) * slope
        a, b, side = np.float32(scale), np.float32(_FAR - 0.5 / scale), np.int32(pixels + 2)
        flat, turns = near.reshape(len(some), -1), frames.astype(np.float32)
        in_parts(len(some), 1, depth_pictures, corners, frames, scale, _FAR, np.empty((0, 0), np.int32), near)
        in_parts(len(points), 1 << 15, light_up, lifted, slope, turns, power, flat, side, a, b, total)
    return total.T
