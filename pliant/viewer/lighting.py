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
    # Columns, and no matrix products: these are too small for the threads that a BLAS would start.
    place = [np.ascontiguousarray(points[:, k], dtype=np.float32) for k in range(3)]
    slope = [np.ascontiguousarray(normals[:, k], dtype=np.float32) for k in range(3)]
    shapes = [np.ascontiguousarray(corners[:, :, k].T) for k in range(3)]
    total = np.empty((len(points), 3), dtype=np.float32)
    total[:] = (_GROUND_SHARE * (0.5 - 0.5 * normals[:, 2:])) * _GROUND_COLOUR + _LEAST
    for light in sources:
        cosine = _along(slope, light.way)
        np.maximum(cosine, 0, out=cosine)
        if len(corners):
            cosine *= _visible(place, slope, shapes, light)
        total += cosine[:, None] * light.power.astype(np.float32)
    return total.astype(np.float64)


def _visible(
    place: list[np.ndarray], slope: list[np.ndarray], shapes: list[np.ndarray], light: Light
) -> np.ndarray:
    """Which points the light reaches: (n,) bool, from the nearest pixel of its depth picture."""
    u, v, w = axes(light.way)
    n = light.pixels
    scale = 0.5 * n / _REACH
    across, along = _along(shapes, u) * scale + n / 2, _along(shapes, v) * scale + n / 2
    depth = rasterise(
        np.stack([across, along, np.ones(across.shape)], axis=1), _FAR - _along(shapes, w), n, n
    )[1]
    # A border that shadows nothing: what lies outside the picture is lit.
    nearest = np.pad(depth, 1, constant_values=np.inf)
    # Step off the surface by a pixel and a half, sideways where light grazes it: no surface shades itself.
    step = np.float32(1.5 / scale)
    lifted = [x + step * n_k for x, n_k in zip(place, slope, strict=True)]
    column, row = (
        np.clip(_along(lifted, axis) * np.float32(scale) + np.float32(n / 2 + 1), 0, n + 1).astype(np.int32)
        for axis in (u, v)
    )
    return np.float32(_FAR - 0.5 / scale) - _along(lifted, w) <= nearest.ravel()[row * (n + 2) + column]


def _along(columns: list[np.ndarray], way: np.ndarray) -> np.ndarray:
    """Dot product of the vectors with components ``columns`` and ``way``, in the precision of the columns."""
    a, b, c = (columns[0].dtype.type(k) for k in way)
    return columns[0] * a + columns[1] * b + columns[2] * c
