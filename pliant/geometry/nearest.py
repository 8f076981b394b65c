"""The place on a triangulated surface nearest to a point. Every pair is looked at: for thousands of each."""

from __future__ import annotations

import numpy as np

from pliant.errors import MeshError

PAIRS = 1 << 20
"""Pairs of a point and a triangle in memory at a time."""


def nearest_on_triangles(
    points: np.ndarray, x: np.ndarray, triangles: np.ndarray, own: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The triangle nearest to each point, the first of several, and the weights of its corners at the place.

    points (n, 3), x (N, 3), triangles (F, 3); own (n,): the vertex that a point is, whose triangles do not
    count. Returns faces (n,), weights (n, 3), not negative, of sum 1. Raises MeshError where no triangle is
    left for a point.
    """
    tri = np.asarray(triangles)
    corners = np.asarray(x, float)[tri]
    faces, weights = np.zeros(len(points), int), np.zeros((len(points), 3))
    step = max(1, PAIRS // max(len(tri), 1))
    for lo in range(0, len(points), step):
        p = np.asarray(points, float)[lo : lo + step]
        w = places(p, corners)
        gap = np.sum((np.einsum("nfk,fkm->nfm", w, corners) - p[:, None]) ** 2, axis=-1)
        if own is not None:
            gap = np.where((tri[None] == np.asarray(own)[lo : lo + step, None, None]).any(-1), np.inf, gap)
        if len(tri) == 0 or np.isinf(gap.min(axis=1)).any():
            raise MeshError("there is no triangle near a point but its own")
        best = gap.argmin(axis=1)
        faces[lo : lo + step], weights[lo : lo + step] = best, w[np.arange(len(p)), best]
    return faces, weights


def flat_weights(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Weights (..., 3) of sum 1 of each point's foot on the plane of its triangle, also outside it."""
    a, b, c = (corners[..., k, :] for k in range(3))
    e1, e2, d = b - a, c - a, points - a
    n = np.cross(e1, e2)
    size = np.maximum(np.sum(n * n, axis=-1), np.finfo(float).tiny)
    v = np.sum(np.cross(d, e2) * n, axis=-1) / size
    w = np.sum(np.cross(e1, d) * n, axis=-1) / size
    return np.stack([1 - v - w, v, w], axis=-1)


def places(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Weights (n, F, 3) of the place on each triangle (F, 3, 3) that is nearest to each point (n, 3).

    The foot on the plane where it is inside; else the nearest of the places on the three sides.
    """
    p = points[:, None]
    inside = flat_weights(p, corners[None])
    best, least = inside, np.where((inside >= 0).all(-1), 0.0, np.inf)
    for k in range(3):
        a, b = corners[:, k], corners[:, (k + 1) % 3]
        e = b - a
        s = np.clip(np.sum((p - a) * e, axis=-1) / np.maximum(np.sum(e * e, axis=-1), 1e-300), 0, 1)
        gap = np.sum((a + s[..., None] * e - p) ** 2, axis=-1)
        on_side = np.zeros_like(inside)
        on_side[..., k], on_side[..., (k + 1) % 3] = 1 - s, s
        nearer = gap < least
        best = np.where(nearer[..., None], on_side, best)
        least = np.where(nearer, gap, least)
    return best
