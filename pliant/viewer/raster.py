"""A z-buffer in NumPy: which triangle does each pixel see?

Triangles stay in homogeneous coordinates (Olano and Greer, "Triangle Scan Conversion using 2D Homogeneous
Coordinates", 1997): the inverse of the matrix of a triangle's corners gives three edge functions that are at
once the test for "inside" and the perspective-correct barycentric weights, and a triangle that crosses the
plane of the eye needs no clipping. Every scanline of every triangle is one exact span, so that only covered
pixels are touched; all spans are expanded and compared together.
"""

from __future__ import annotations

import numpy as np

__all__ = ["barycentric", "edge_functions", "rasterise"]

_FRAGMENTS = 1_500_000
_EMPTY = np.iinfo(np.int64).max
# A pixel centre this near to an edge counts as inside for both neighbours: no cracks, at most a tie.
_SLACK = 1e-6


def edge_functions(corners: np.ndarray) -> np.ndarray:
    """Edge functions e: ``e[i, :, f] @ (px, py, 1)`` is corner i's weight over depth, >= 0 inside triangle f.

    Args:
        corners: (3, 3, F); for corner i the rows x w, y w, w: pixel coordinates times depth, and the depth;
            w = 1 for a parallel projection.

    Returns:
        (3, 3, F); NaN for triangles seen edge on, which cover nothing.
    """
    a, b, c = corners
    cross = np.stack([_cross(b, c), _cross(c, a), _cross(a, b)])
    det = _dot(a, cross[0])
    size = np.sqrt(_dot(a, a) * _dot(b, b) * _dot(c, c))
    return cross / np.where(np.abs(det) > 1e-12 * size, det, np.nan)


def rasterise(
    corners: np.ndarray, depth: np.ndarray, width: int, height: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The nearest triangle at every pixel centre (i + 0.5, j + 0.5), y downwards.

    Args:
        corners: (3, 3, F), as :func:`edge_functions` takes them.
        depth: (3, F) at the corners, positive, interpolated perspective-correctly; the smaller one is seen.
        width, height: size of the picture.

    Returns:
        The triangle of every pixel (height, width) int32, -1 for none; its depth, float32, infinite for none;
        and the edge functions, for :func:`barycentric`.
    """
    edges = edge_functions(corners)
    best = np.full(width * height, _EMPTY, dtype=np.int64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        face, y = _scanlines(corners, edges, height)
        left, count = _spans(edges[:, :, face], y, width)
        keep = count > 0
        face, y, left, count = face[keep], y[keep], left[keep], count[keep]
        chunk = np.cumsum(count) // _FRAGMENTS
        for part in np.split(np.arange(len(face)), np.flatnonzero(np.diff(chunk)) + 1):
            _draw(best, edges, depth, face[part], y[part], left[part], count[part], width)
    seen = best != _EMPTY
    triangle = np.where(seen, best & 0xFFFFFFFF, -1).astype(np.int32)
    near = np.where(seen, best >> 32, 0).astype(np.int32).view(np.float32)
    near = np.where(seen, near, np.float32(np.inf))
    return triangle.reshape(height, width), near.reshape(height, width), edges


def barycentric(edges: np.ndarray, px: np.ndarray, py: np.ndarray) -> np.ndarray:
    """(3, n) perspective-correct weights at pixels (px, py) of triangles with edge functions (3, 3, n)."""
    weight = edges[:, 0] * px + edges[:, 1] * py + edges[:, 2]
    return weight / (weight[0] + weight[1] + weight[2])


def _scanlines(corners: np.ndarray, edges: np.ndarray, height: int) -> tuple[np.ndarray, np.ndarray]:
    """Every (triangle, row) that may have pixels."""
    w0, w1, w2 = corners[:, 2]
    a, b, c = corners[:, 1] / corners[:, 2]
    whole = (w0 > 0) & (w1 > 0) & (w2 > 0)
    top = np.where(whole, np.minimum(np.minimum(a, b), c), 0.0)
    bottom = np.where(whole, np.maximum(np.maximum(a, b), c), height)
    shown = ((w0 > 0) | (w1 > 0) | (w2 > 0)) & np.isfinite(edges[0, 0]) & (bottom >= 0) & (top <= height)
    faces = np.flatnonzero(shown)
    first, last = _pixels(top[faces], bottom[faces], height)
    n = np.maximum(last - first + 1, 0)
    return np.repeat(faces, n), np.repeat(first, n) + _ramp(n)


def _spans(edges: np.ndarray, y: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """First pixel and number of pixels of each scanline: where all three edge functions are >= 0."""
    left, right = np.full(len(y), -np.inf), np.full(len(y), np.inf)
    outside = np.zeros(len(y), dtype=bool)
    for slope, down, rest in edges:
        rest = down * (y + 0.5) + rest
        root = -rest / slope
        np.maximum(left, root, out=left, where=slope > 0)
        np.minimum(right, root, out=right, where=slope < 0)
        outside |= (slope == 0) & (rest < 0)
    first, last = _pixels(left, right, width)
    return first, np.where(outside, 0, np.maximum(last - first + 1, 0))


def _pixels(low: np.ndarray, high: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """First and last of the n pixels whose centres lie between two coordinates."""
    first = np.ceil(np.clip(low, 0, n) - 0.5 - _SLACK).astype(np.int64)
    last = np.floor(np.clip(high, 0, n) - 0.5 + _SLACK).astype(np.int64)
    return np.maximum(first, 0), np.minimum(last, n - 1)


def _draw(
    best: np.ndarray,
    edges: np.ndarray,
    depth: np.ndarray,
    face: np.ndarray,
    y: np.ndarray,
    left: np.ndarray,
    count: np.ndarray,
    width: int,
) -> None:
    """Expand the spans into fragments and keep the nearest at each pixel, the lower triangle at a tie."""
    e, z = edges[:, :, face], depth[:, face]
    slope, rest = e[:, 0], e[:, 1] * (y + 0.5) + e[:, 2]
    a, b = np.repeat(_dot(slope, z), count), np.repeat(_dot(rest, z), count)
    c, d = np.repeat(slope[0] + slope[1] + slope[2], count), np.repeat(rest[0] + rest[1] + rest[2], count)
    x = np.repeat(left, count) + _ramp(count)
    fragment = ((a * (x + 0.5) + b) / (c * (x + 0.5) + d)).astype(np.float32)
    # The bits of positive floats sort like the floats; the triangle's number breaks ties.
    key = (fragment.view(np.int32).astype(np.int64) << 32) | np.repeat(face, count)
    good = fragment > 0
    np.minimum.at(best, (np.repeat(y * width, count) + x)[good], key[good])


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _ramp(counts: np.ndarray) -> np.ndarray:
    """0, 1, …, counts[0]-1, 0, 1, …, counts[1]-1, …"""
    total = int(counts.sum())
    return np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
