"""Pins and attachments that a moving frame carries: a motion, or a collider."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .errors import SceneError
from .geometry.motion import Motion, Pose, checked_pose, rotation_vector
from .model import Model
from .scene import Collider, Scene
from .state import Control, Way

Array = np.ndarray


@dataclass(frozen=True)
class Carried:
    """Targets that move rigidly with a frame.

    rows (n,) of the pins' or the attachments' targets; local (n, 3) [m] where they are in the frame.
    """

    what: str
    kind: str
    rows: Array
    local: Array
    frame: Motion | Collider


def carried_by_frames(scene: Scene, model: Model) -> list[Carried]:
    """Everything in a scene that a frame carries, placed by where the frame is at the start."""
    out = []
    slot = np.full(model.n_particles, -1)
    slot[model.pin_ids] = np.arange(len(model.pin_ids))
    for body in scene.bodies:
        for particles, frame in body.followed:
            points = body.mesh.vertices[particles - body.vertices.start]
            what = f'{body.kind} "{body.name}": the frame that its pins follow'
            out.append(_carried(scene, what, "pins", slot[particles], points, frame))
    first = 0
    for k, a in enumerate(scene.attachments):
        rows = first + np.arange(len(a.particles))
        first += len(a.particles)
        if a.frame is not None:
            what = f"attachment {k}: its frame"
            out.append(_carried(scene, what, "attachments", rows, a.targets, a.frame))
    return out


def _carried(
    scene: Scene, what: str, kind: str, rows: Array, points: Array, frame: Motion | Collider
) -> Carried:
    if isinstance(frame, Collider):
        if not any(c is frame for c in scene.colliders):
            raise SceneError(f'{what}: collider "{frame.name}" does not belong to this scene')
        position, rotation = frame.position, frame.rotation
    else:
        position, rotation = checked_pose(frame, 0.0, what)
    return Carried(what, kind, rows, (points - position) @ rotation, frame)


def carry(carried: list[Carried], scene: Scene, control: Control, time: float, dt: float) -> None:
    """Targets for the step from ``time`` to ``time + dt``; colliders have been told where they go."""
    control.ways.clear()
    for c in carried:
        if isinstance(c.frame, Collider):
            k = next(k for k, other in enumerate(scene.colliders) if other is c.frame)
            start, end = control.collider_start[k], control.collider_target[k]
        else:
            start = checked_pose(c.frame, time, c.what)
            end = next_pose(c.frame, start, time, dt, c.what)
        control.carry(Way(c.kind, c.rows, c.local, start, end))


def next_pose(motion: Motion, start: Pose, time: float, dt: float, what: str) -> Pose:
    """Where a motion is after a step; refuses turns too fast to follow."""
    halfway = checked_pose(motion, time + 0.5 * dt, what)
    end = checked_pose(motion, time + dt, what)
    ways = ((start, halfway), (halfway, end))
    turn = sum(float(np.linalg.norm(rotation_vector(b[1] @ a[1].T))) for a, b in ways)
    if turn > 0.99 * np.pi:
        raise SceneError(
            f"{what} turns by {np.degrees(turn):.0f} degrees within one step at t = {time:.3f} s; "
            "half a turn or more cannot be followed: use a smaller dt"
        )
    return end
