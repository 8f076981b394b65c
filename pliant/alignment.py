"""Whether bodies and mesh colliders belong together: sizes in one unit, places within reach."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from .bodies import Body, Collider
from .errors import MeshWarning
from .geometry.colliders import MeshCollider

Array = np.ndarray

RATIO = 20.0
"""Sizes that differ by more are probably in different units."""
ASIDE = 0.25
"""A gap beside the way down is one when it is larger than this share of the larger size."""


def warn_of_misfits(bodies: Sequence[Body], colliders: Sequence[Collider], gravity: Array) -> None:
    """Warn of mesh colliders that are far larger or smaller than every body, or that none can fall onto.

    Places are compared only for colliders at rest: those that move may come near.
    """
    boxes = [(body, _corners(body.mesh.bounds)) for body in bodies]
    for collider in colliders:
        if not isinstance(collider.shape, MeshCollider) or not boxes:
            continue
        used = collider.shape.surfaces.vertices
        here = (
            _corners(np.stack([used.min(axis=0), used.max(axis=0)])) @ np.asarray(collider.rotation).T
            + collider.position
        )
        ratios = [_size(here) / _size(corners) for _, corners in boxes]
        nearest = int(np.argmin(np.abs(np.log(ratios))))
        ratio, body = ratios[nearest], boxes[nearest][0]
        what = f'collider "{collider.name}" ({_size(here):.3g} m) and {body.kind} "{body.name}" '
        what += f"({_size(boxes[nearest][1]):.3g} m)"
        if max(ratio, 1 / ratio) > RATIO:
            many = f"{max(ratio, 1 / ratio):.3g} times"
            warnings.warn(
                f"{what}: one is {many} the size of the other; are both in metres? "
                'read_mesh(path, unit="cm") reads centimetres',
                MeshWarning,
                stacklevel=5,
            )
        elif collider.motion is None and all(_misses(c, here, gravity) for _, c in boxes):
            warnings.warn(
                f"{what} lie apart, so that none falls onto the other; check position= and rotation= "
                "(is one of them y up?)",
                MeshWarning,
                stacklevel=5,
            )


def _corners(bounds: Array) -> Array:
    """Corners (8, 3) of a box (2, 3)."""
    pick = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, 8).T
    return np.take_along_axis(np.asarray(bounds), pick, axis=0)


def _size(corners: Array) -> float:
    return float(np.linalg.norm(np.ptp(corners, axis=0))) or 1e-300


def _misses(falling: Array, waiting: Array, gravity: Array) -> bool:
    """Whether a box that falls along gravity misses another; without gravity: whether it is far off."""
    slack = max(_size(falling), _size(waiting))
    strength = float(np.linalg.norm(gravity))
    if strength == 0:
        return _gap(falling, waiting, np.eye(3)) > slack
    down = gravity / strength
    side = np.eye(3)[np.argmin(np.abs(down))]
    u = np.cross(down, side)
    u /= np.linalg.norm(u)
    beside = _gap(falling, waiting, np.stack([u, np.cross(down, u)]))
    above = float((falling @ down).min() - (waiting @ down).max())
    return beside > ASIDE * slack or above > slack


def _gap(one: Array, other: Array, axes: Array) -> float:
    """The largest gap between two sets of corners along some axes; negative where they overlap."""
    a, b = one @ axes.T, other @ axes.T
    return float(np.maximum(a.min(axis=0) - b.max(axis=0), b.min(axis=0) - a.max(axis=0)).max())
