"""Prescribed motion of colliders and frames: where something is at a time.

A motion is anything that is called with a time [s] and returns ``(position, rotation)``: a point (3,) [m]
and a 3 x 3 matrix. The ones here are plain data; a function of your own serves as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import SceneError
from .mesh import rotation_matrix

Array = np.ndarray
Pose = tuple[Array, Array]
Motion = Callable[[float], Pose]


def rotation_vector(matrix: Array) -> Array:
    """Axis times angle (3,) [rad] of a rotation matrix, angle in [0, pi]."""
    skew = 0.5 * np.array(
        [matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]]
    )
    sine, cosine = float(np.linalg.norm(skew)), 0.5 * (float(np.trace(matrix)) - 1)
    angle = np.arctan2(sine, cosine)
    if sine > 1e-6:
        return skew * (angle / sine)
    if cosine > 0:
        return skew
    axis = np.sqrt(np.maximum((np.diag(matrix) + 1) / 2, 0))  # half a turn: R + 1 = 2 a a^T
    lead = int(np.argmax(axis))
    axis = (matrix[lead] + np.eye(3)[lead]) / (2 * axis[lead])
    return angle * axis / np.linalg.norm(axis)


def between(start: Pose, end: Pose, share: float) -> Pose:
    """The pose at a share in [0, 1] of the way: straight, turning about one axis at a constant rate."""
    if share >= 1:
        return end
    turn = rotation_vector(end[1] @ start[1].T)
    return start[0] + share * (end[0] - start[0]), rotation_matrix(share * turn) @ start[1]


def placed(local: Array, pose: Pose) -> Array:
    """Points (n, 3) given in a frame, in space."""
    return local @ pose[1].T + pose[0]


@dataclass(frozen=True)
class Steady:
    """Constant velocity [m/s] and rate of turning [rad/s] (axis times rate) about the collider's position."""

    position: Sequence[float]
    velocity: Sequence[float] = (0.0, 0.0, 0.0)
    angular_velocity: Sequence[float] = (0.0, 0.0, 0.0)
    rotation: Sequence[float] | Array = (0.0, 0.0, 0.0)

    def __call__(self, time: float) -> Pose:
        """The pose at a time [s]."""
        turn = rotation_matrix(time * np.asarray(self.angular_velocity, float))
        where = np.asarray(self.position, float) + time * np.asarray(self.velocity, float)
        return where, turn @ rotation_matrix(self.rotation)


@dataclass(frozen=True)
class Keyframes:
    """Poses at times [s], straight and steadily turning in between, at rest before and after.

    times (n,) ascending; positions (n, 3) [m]; rotations: n of what ``rotation_matrix`` takes, or None.
    """

    times: Sequence[float]
    positions: Sequence[Sequence[float]]
    rotations: Sequence[Sequence[float]] | None = None

    def __post_init__(self) -> None:
        t = np.asarray(self.times, float)
        if t.ndim != 1 or len(t) == 0 or not np.isfinite(t).all() or (np.diff(t) <= 0).any():
            raise SceneError("Keyframes: times must be finite and ascending, at least one")
        if np.shape(self.positions) != (len(t), 3) or not np.isfinite(self.positions).all():
            raise SceneError(f"Keyframes: positions must be finite with shape ({len(t)}, 3)")
        if self.rotations is not None and len(self.rotations) != len(t):
            raise SceneError(f"Keyframes: {len(t)} times need as many rotations, not {len(self.rotations)}")

    def _pose(self, k: int) -> Pose:
        turn = np.eye(3) if self.rotations is None else rotation_matrix(self.rotations[k])
        return np.asarray(self.positions[k], float), turn

    def __call__(self, time: float) -> Pose:
        """The pose at a time [s]."""
        t = np.asarray(self.times, float)
        k = int(np.searchsorted(t, time, side="right"))
        if k == 0:
            return self._pose(0)
        if k == len(t):
            return self._pose(len(t) - 1)
        return between(self._pose(k - 1), self._pose(k), (time - t[k - 1]) / (t[k] - t[k - 1]))


def checked_pose(motion: Motion, time: float, what: str) -> Pose:
    """The pose of a motion at a time, or a SceneError that names whose it is."""
    try:
        position, rotation = motion(time)
    except (TypeError, ValueError) as error:
        raise SceneError(
            f"{what}: its motion must return (position, rotation) for a time: {error}"
        ) from error
    where = np.asarray(position, float)
    if where.shape != (3,) or not np.isfinite(where).all():
        raise SceneError(f"{what}: its motion gives the position {position!r} at t = {time:g} s")
    return where, rotation_matrix(rotation)
