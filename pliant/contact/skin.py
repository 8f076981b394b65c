"""The surfaces that can touch each other: all faces of cloths, the outer ones of solids, in one list."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import PliantError
from ..geometry import topology
from ..model import Model

Array = np.ndarray


class Skin(NamedTuple):
    """triangles (F, 3), edges (E, 2), vertices (V,): particles; radius (N,): half of what a pair keeps
    between itself [m]; piece (N,): particles of different pieces have no distance at rest; rest (N, 3):
    places at rest [m], in float64."""

    triangles: Array
    edges: Array
    vertices: Array
    radius: Array
    piece: Array
    rest: Array


def skin_of(triangles: Array, radius: Array | float, rest: Array, piece: Array | None = None) -> Skin:
    """The skin that some triangles (F, 3) make; ``rest`` (N, 3) [m], ``radius`` (N,) or one number [m]."""
    t = np.array(triangles, np.int32, order="C").reshape(-1, 3)
    y = np.array(rest, np.float64, order="C")
    if t.size and not (t.min() >= 0 and t.max() < len(y)):
        raise PliantError(f"triangles name vertices beyond the {len(y)} that have a place at rest")
    edges = topology.edges(t) if len(t) else np.zeros((0, 2), np.int32)
    of = np.zeros(len(y), np.int32) if piece is None else np.array(piece, np.int32)
    r = np.array(np.broadcast_to(np.asarray(radius, np.float64), (len(y),)))
    return Skin(t, edges.astype(np.int32), np.unique(t).astype(np.int32), r, of, y)


def faces_of(model: Model) -> Array:
    """Faces of all bodies of a model (F, 3), in particles of the scene."""
    return np.concatenate([np.zeros((0, 3), np.int32), *(p.triangles + p.start for p in model.parts)])
