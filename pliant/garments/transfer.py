"""The shape of one garment given to another of the same pattern with other triangles."""

from __future__ import annotations

import numpy as np

from pliant.garments.garment import Garment

Array = np.ndarray


def shaped_like(fine: Garment, coarse: Garment) -> Garment:
    """``fine`` where the panels of ``coarse`` have carried it, its seams closed.

    Each vertex has the place in its panel that it has in the triangle of ``coarse`` around it, or in the
    nearest one where the finer outline reaches beyond the coarser. What is flat and unstrained stays so.
    """
    places = np.empty((len(fine.flat), 3))
    for k in range(len(fine.pattern.panels)):
        rows = np.unique(fine.pieces[fine.panel_of == k])
        triangles = coarse.pieces[coarse.panel_of == k]
        face, weights = _around(fine.flat[rows], coarse.flat[triangles])
        corners = coarse.places[triangles[face]]
        places[rows] = (weights[:, :, None] * corners).sum(axis=1)
    return fine.at(fine.joined(places))


def _around(points: Array, corners: Array) -> tuple[Array, Array]:
    """For each point (n, 2) the triangle (F, 3, 2) it lies in, or least outside of; weights (n, 3)."""
    a, u, v = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    det = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    face = np.empty(len(points), int)
    weights = np.empty((len(points), 3))
    for k, p in enumerate(points):
        r = p - a
        s = (r[:, 0] * v[:, 1] - r[:, 1] * v[:, 0]) / det
        t = (u[:, 0] * r[:, 1] - u[:, 1] * r[:, 0]) / det
        inside = np.minimum(np.minimum(s, t), 1 - s - t)
        f = int(np.argmax(inside))
        face[k], weights[k] = f, (1 - s[f] - t[f], s[f], t[f])
    return face, weights
