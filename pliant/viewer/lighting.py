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
from pliant.viewer.raster import rasterise

__all__ = ["Light", "irradiance", "lights"]

# Depth pictures span this half width around the centre; what lies outside casts no shadow.
_REACH = 1.3
_FAR = 8.0
_KEY_COLOUR = np.array([1.06, 1.0, 0.93])
_SKY_COLOUR = np.array([0.96, 1.0, 1.05])
_GROUND_COLOUR = np.array([1.03, 1.0, 0.96])
_KEY_SHARE, _SKY_SHARE, _GROUND_SHARE = 0.56, 0.44, 0.16


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


def lights(direction: np.ndarray, n_key: int = 12, n_sky: int = 56) -> list[Light]:
    """The lights of a picture seen from ``direction``; an open level surface gets one unit of light in all."""
    ahead = np.array([direction[0], direction[1], 0.0])
    ahead = ahead / np.linalg.norm(ahead) if np.linalg.norm(ahead) > 1e-3 else np.array([0.0, -1.0, 0.0])
    right = np.array([-ahead[1], ahead[0], 0.0])
    key = 0.62 * ahead - 0.78 * right + np.array([0.0, 0.0, 0.95])
    key /= np.linalg.norm(key)
    u, v, _ = axes(key)
    out = []
    for i in range(n_key):  # a disc of 2.5 degrees: soft edges of the shadows
        r, a = math.radians(2.5) * math.sqrt((i + 0.5) / n_key), i * math.pi * (3 - math.sqrt(5))
        way = key + r * (math.cos(a) * u + math.sin(a) * v)
        out.append(Light(way / np.linalg.norm(way), _KEY_COLOUR * _KEY_SHARE / (n_key * key[2]), 512))
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
    total = (_GROUND_SHARE * (0.5 - 0.5 * normals[:, 2:])) * _GROUND_COLOUR + 0.03
    for light in sources:
        facing = np.flatnonzero(normals @ light.way > 0)
        cosine = normals[facing] @ light.way
        share = _visible(points[facing], normals[facing], corners, light)
        total[facing] += (cosine * share)[:, None] * light.power
    return total


def _visible(points: np.ndarray, normals: np.ndarray, corners: np.ndarray, light: Light) -> np.ndarray:
    """Share of the light that reaches each point, smoothed over the four nearest pixels of the depth picture."""
    if not len(corners):
        return np.ones(len(points))
    u, v, w = axes(light.way)
    n = light.pixels
    scale = 0.5 * n / _REACH
    flat = np.stack([corners @ u * scale + n / 2, corners @ v * scale + n / 2, np.ones(corners.shape[:2])], axis=2)
    depth = rasterise(flat, _FAR - corners @ w, n, n)[1]
    # Step off the surface by a pixel and a half, sideways where the light grazes it: no surface shades itself.
    pixel = 1.0 / scale
    lifted = points + 1.5 * pixel * normals
    behind = _FAR - lifted @ w - 0.5 * pixel
    x, y = lifted @ u * scale + n / 2 - 0.5, lifted @ v * scale + n / 2 - 0.5
    i, j = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    fx, fy = x - i, y - j
    padded = np.pad(depth, 1, constant_values=np.inf)
    share = np.zeros(len(points))
    for di, dj in ((0, 0), (1, 0), (0, 1), (1, 1)):
        column, row = np.clip(i + di, -1, n) + 1, np.clip(j + dj, -1, n) + 1
        weight = (fx if di else 1 - fx) * (fy if dj else 1 - fy)
        share += weight * (behind <= padded[row, column])
    return share
