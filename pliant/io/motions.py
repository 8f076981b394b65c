"""The motion of a collider in a scene file: keyframes, or a steady velocity and spin."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.geometry.motion import Keyframes, Motion, Steady
from pliant.io.fields import Table, is_vector, shown

__all__ = ["read_motion", "rotation_of"]

KEYFRAMES = ("times", "positions", "rotations")
STEADY = ("velocity", "spin")


def read_motion(collider: Table, position: Any, rotation: Any) -> Motion | None:
    """What ``motion = {...}`` of a [[collider]] says, or None where it rests.

    Args:
        collider: its table.
        position: (3,) m and
        rotation: what the table's other keys say, axis times angle (3,) in rad or None: where a steady motion
            begins, and what keyframes that leave one of the two out keep.
    """
    if "motion" not in collider:
        return None
    table = collider.table("motion")
    table.only(*KEYFRAMES, *STEADY)
    turn = np.zeros(3) if rotation is None else np.asarray(rotation, float)
    if "times" in table:
        return _keyframes(collider, table, position, turn)
    for key in ("positions", "rotations"):
        if key in table:
            table.fail(key, "needs times beside it")
    if not any(key in table for key in STEADY):
        collider.fail("motion", f"needs times for keyframes, or one of {', '.join(STEADY)}")
    return Steady(
        position=position,
        velocity=table.vector("velocity", (0.0, 0.0, 0.0), "m/s"),
        angular_velocity=tuple(np.radians(table.vector("spin", (0.0, 0.0, 0.0), "degrees/s"))),
        rotation=tuple(turn),
    )


def _keyframes(collider: Table, table: Table, position: Any, turn: np.ndarray) -> Keyframes:
    for key in STEADY:
        if key in table:
            table.fail(key, "does not go with times; give keyframes or a steady motion")
    if "positions" not in table and "rotations" not in table:
        table.fail("times", "needs positions or rotations beside it")
    times = table.get("times")
    if not (isinstance(times, list) and times and is_vector(times, len(times))):
        table.fail("times", f"must be a list of numbers in s, not {shown(times)}")
    if np.any(np.diff(times) <= 0):
        table.fail("times", "must grow")
    for key, rival in (("positions", "position"), ("rotations", "rotation_degrees")):
        if key in table and rival in collider:
            collider.fail(rival, f"does not go with the motion's {key}, which say it for every time")
    n = len(times)
    positions = table.vectors("positions", np.tile(position, (n, 1)), "m")
    rotations = np.radians(table.vectors("rotations", np.tile(np.degrees(turn), (n, 1)), "degrees"))
    for key, rows in (("positions", positions), ("rotations", rotations)):
        if len(rows) != n:
            table.fail(key, f"has {len(rows)} rows for {n} times; give one for each")
    return Keyframes(tuple(map(float, times)), positions.tolist(), rotations.tolist())


def rotation_of(table: Table) -> np.ndarray | None:
    """Rotation vector (3,) [rad] of an axis and an angle in degrees."""
    angle = table.number("rotation_degrees", None, "degrees")
    axis = table.vector("rotation_axis", None)
    if angle is None and axis is None:
        return None
    if angle is None:
        table.fail("rotation_axis", "needs rotation_degrees beside it")
    along = np.array((0.0, 0.0, 1.0) if axis is None else axis)
    if not np.linalg.norm(along) > 0:
        table.fail("rotation_axis", "must not be zero")
    return np.radians(angle) * along / np.linalg.norm(along)
