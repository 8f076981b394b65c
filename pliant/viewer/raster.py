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
    """Coefficients e of the edge functions: ``e[f, i] @ (px, py, 1)`` is weight i over depth, >= 0 inside.

    Args:
        corners: (F, 3, 3), rows (x w, y w, w): pixel coordinates times depth, and the depth w; w = 1 for a
            parallel projection.

    Returns:
        (F, 3, 3); NaN for triangles seen edge on, which cover nothing.
    """
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    cross = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1)
    det = np.einsum("ij,ij->i", a, cross[:, 0])
    size = np.prod(np.linalg.norm(corners, axis=2), axis=1)
    det = np.where(np.abs(det) > 1e-12 * size, det, np.nan)
    return cross / det[:, None, None]


def rasterise(
    corners: np.ndarray, depth: np.ndarray, width: int, height: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The nearest triangle at every pixel centre (i + 0.5, j + 0.5), y downwards.

    Args:
        corners: (F, 3, 3), as :func:`edge_functions` takes them.
        depth: (F, 3) at the corners, positive, interpolated perspective-correctly; the smaller one is seen.
        width, height: size of the picture.

    Returns:
        The triangle of every pixel (height, width) int32, -1 for none; its depth, float32, infinite for none;
        and the edge functions, for :func:`barycentric`.
    """
    edges = edge_functions(corners)
    best = np.full(width * height, _EMPTY, dtype=np.int64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        face, y = _scanlines(corners, edges, height)
        left, count = _spans(edges[face], y, width)
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
    """(n, 3) perspective-correct weights at pixels (px, py) of the triangles with edge functions (n, 3, 3)."""
    weight = edges[:, :, 0] * px[:, None] + edges[:, :, 1] * py[:, None] + edges[:, :, 2]
    return weight / weight.sum(axis=1, keepdims=True)


def _scanlines(corners: np.ndarray, edges: np.ndarray, height: int) -> tuple[np.ndarray, np.ndarray]:
    """Every (triangle, row) that may have pixels."""
    w = corners[:, :, 2]
    rows = corners[:, :, 1] / w
    whole = (w > 0).all(axis=1)
    top = np.where(whole, rows.min(axis=1), 0.0)
    bottom = np.where(whole, rows.max(axis=1), height)
    shown = (w > 0).any(axis=1) & np.isfinite(edges[:, 0, 0]) & (bottom >= 0) & (top <= height)
    faces = np.flatnonzero(shown)
    first = np.ceil(np.clip(top[faces], 0, height) - 0.5 - _SLACK).astype(np.int64).clip(0)
    last = np.floor(np.clip(bottom[faces], 0, height) - 0.5 + _SLACK).astype(np.int64).clip(None, height - 1)
    n = np.maximum(last - first + 1, 0)
    return np.repeat(faces, n), np.repeat(first, n) + _ramp(n)


def _spans(edges: np.ndarray, y: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """First pixel and number of pixels of each scanline: where all three edge functions are >= 0."""
    slope = edges[:, :, 0]
    rest = edges[:, :, 1] * (y + 0.5)[:, None] + edges[:, :, 2]
    root = -rest / slope
    left = np.where(slope > 0, root, -np.inf).max(axis=1)
    right = np.where(slope < 0, root, np.inf).min(axis=1)
    outside = ((slope == 0) & (rest < 0)).any(axis=1)
    first = np.ceil(np.clip(left, -1, width + 1) - 0.5 - _SLACK).astype(np.int64).clip(0)
    last = np.floor(np.clip(right, -1, width + 1) - 0.5 + _SLACK).astype(np.int64).clip(None, width - 1)
    return first, np.where(outside, 0, np.maximum(last - first + 1, 0))


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
    e = edges[face]
    row = e[:, :, 1] * (y + 0.5)[:, None] + e[:, :, 2]
    z = depth[face]
    linear = np.stack([(e[:, :, 0] * z).sum(1), (row * z).sum(1), e[:, :, 0].sum(1), row.sum(1)])
    x = np.repeat(left, count) + _ramp(count)
    a, b, c, d = np.repeat(linear, count, axis=1)
    fragment = ((a * (x + 0.5) + b) / (c * (x + 0.5) + d)).astype(np.float32)
    # The bits of positive floats sort like the floats; the triangle's number breaks ties.
    key = (fragment.view(np.int32).astype(np.int64) << 32) | np.repeat(face, count)
    good = fragment > 0
    np.minimum.at(best, (np.repeat(y * width, count) + x)[good], key[good])


def _ramp(counts: np.ndarray) -> np.ndarray:
    """0, 1, …, counts[0]-1, 0, 1, …, counts[1]-1, …"""
    total = int(counts.sum())
    return np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
