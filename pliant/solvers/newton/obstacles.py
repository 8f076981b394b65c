"""Analytic colliders without friction: ``gap(x) >= radius`` for every particle, as inequalities.

Distances and normals are those of :mod:`pliant.contact.distances`, of all particles at once and with second
derivatives. A particle and a collider have one row ``C = radius - gap <= 0`` with a multiplier and a penalty,
as a rigid one-sided row of an element has.
"""

from __future__ import annotations

import numpy as np

from ...contact.arrays import PLACE, SIZE, TURN, collider_arrays
from ...contact.distances import BOX, CAPSULE, CYLINDER, PLANE, SPHERE
from ...model import Model
from ...state import Control
from .elements.base import ABSENT, Array, inverse, outer

EYE = np.eye(3)
Gap = tuple[Array, Array, Array]
"""Distances (N,), normals (N, 3) and second derivatives (N, 3, 3)."""


def plane_gap(p: Array) -> Gap:
    """Half space below z = 0."""
    return p[:, 2], np.broadcast_to(EYE[2], p.shape), np.zeros((len(p), 3, 3))


def sphere_gap(p: Array, radius: float) -> Gap:
    """Ball about the origin."""
    length = np.linalg.norm(p, axis=1)
    n = np.where((length > 0)[:, None], inverse(length)[:, None] * p, EYE[2])
    return length - radius, n, inverse(length)[:, None, None] * (EYE - outer(n, n))


def capsule_gap(p: Array, radius: float, half: float) -> Gap:
    """Points within a radius of a piece of the z axis: beside it, turning is about the axis alone."""
    q = p.copy()
    q[:, 2] -= np.clip(p[:, 2], -half, half)
    gap, n, h = sphere_gap(q, radius)
    beside = np.abs(p[:, 2]) < half
    h[beside, 2, :] = 0
    h[beside, :, 2] = 0
    return gap, n, h


def box_gap(p: Array, half: Array, rounding: float) -> Gap:
    """Rounded box: corners and edges are balls and cylinders."""
    sign = np.where(p < 0, -1.0, 1.0)
    q = p * sign - (half - rounding)
    o = np.maximum(q, 0.0)
    out = np.linalg.norm(o, axis=1)
    through = EYE[np.argmax(q, axis=1)]
    m = np.where((out > 0)[:, None], inverse(out)[:, None] * o, through)
    h = inverse(out)[:, None, None] * ((q > 0)[:, :, None] * EYE - outer(m, m))
    n = m * sign
    return out + np.minimum(q.max(axis=1), 0.0) - rounding, n, h * outer(sign, sign)


def cylinder_gap(p: Array, radius: float, half: float, rounding: float) -> Gap:
    """Rounded cylinder about z: a box in the plane of radius and height, turned about the axis."""
    r = np.hypot(p[:, 0], p[:, 1])
    e = np.zeros_like(p)
    e[:, 0] = np.where(r > 0, p[:, 0] * inverse(r), 1.0)
    e[:, 1] = p[:, 1] * inverse(r)
    flat = np.stack([r, p[:, 2], np.zeros_like(r)], axis=1)  # never near the third side
    gap, m, g = box_gap(flat, np.array([radius, half, 4.0 * (radius + half)]), rounding)
    n = m[:, :1] * e
    n[:, 2] = m[:, 1]
    axes = np.zeros((len(p), 2, 3))
    axes[:, 0], axes[:, 1, 2] = e, 1.0
    h = np.matmul(axes.transpose(0, 2, 1), np.matmul(g[:, :2, :2], axes))
    around = np.stack([-e[:, 1], e[:, 0], np.zeros_like(r)], axis=1)
    return gap, n, h + (m[:, 0] * inverse(r))[:, None, None] * outer(around, around)


def gap_to(kind: int, size: Array, p: Array) -> Gap:
    """Distances of points (N, 3) in a collider's frame."""
    if kind == PLANE:
        return plane_gap(p)
    if kind == SPHERE:
        return sphere_gap(p, size[0])
    if kind == CYLINDER:
        return cylinder_gap(p, size[0], size[1], size[3])
    if kind == CAPSULE:
        return capsule_gap(p, size[0], size[1])
    assert kind == BOX
    return box_gap(p, size[:3], size[3])


class Obstacles:
    """The analytic colliders of a model, and the rows of its free particles against them.

    y (K, n), kappa (n,): multipliers and penalties.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.free = np.flatnonzero(model.inv_mass > 0)
        self.radius = model.contact_radius[self.free]
        self.count = len(model.colliders)
        self.kind = model.colliders.kind
        self.y = np.zeros((self.count, len(self.free)))
        self.kappa = np.full(len(self.free), ABSENT)

    def move(self, control: Control, substeps: int) -> None:
        """Poses of the coming step's substeps."""
        self.poses = collider_arrays(self.model, control, substeps, dtype=float).data

    def begin(self, s: int) -> None:
        """Start substep ``s``."""
        self.pose = self.poses[s + 1]
        self.y[:] = 0
        self.kappa[:] = ABSENT

    def gap(self, k: int, x: Array, pose: Array) -> Gap:
        """Of points (N, 3) to collider ``k``."""
        turn = pose[k, TURN : TURN + 9].reshape(3, 3)
        local = (x - pose[k, PLACE : PLACE + 3]) @ turn
        gap, n, h = gap_to(int(self.kind[k]), pose[k, SIZE : SIZE + 4], local)
        return gap, n @ turn.T, turn @ h @ turn.T

    def terms(self, x: Array, order: int, projected: bool) -> tuple[Array, Array, Array, float]:
        """Energies (K,), gradient (n, 3), Hessians (n, 3, 3) and rounding, of free particles."""
        energy, total = np.zeros(self.count), np.zeros_like(x)
        h, noise = np.zeros((len(x), 3, 3)), 0.0
        for k in range(self.count):
            gap, n, bend = self.gap(k, x, self.pose)
            push = np.maximum(self.y[k] + self.kappa * (self.radius - gap), 0.0)
            energy[k] = np.sum((push * push - self.y[k] ** 2) / (2 * self.kappa))
            total -= push[:, None] * n
            if order == 2:
                touching = np.where(push > 0, self.kappa, 0.0)
                h += touching[:, None, None] * outer(n, n)
                if not projected:
                    h -= push[:, None, None] * bend  # of a convex obstacle: never positive
                noise += float(np.sum((touching * np.abs(x).max(axis=1, initial=0.0)) ** 2))
        return energy, total, h, np.sqrt(noise)

    def stiffen(self, stiff: Array) -> None:
        """Penalties: a hundred times the stiffness (n,) that holds each particle."""
        self.kappa = 100.0 * stiff

    def pushed(self, x: Array) -> Array:
        """Multipliers after a round (K, n)."""
        gaps = [self.gap(k, x, self.pose)[0] for k in range(self.count)]
        rows = [y + self.kappa * (self.radius - gap) for y, gap in zip(self.y, gaps, strict=True)]
        return np.maximum(np.array(rows).reshape(self.y.shape), 0.0)

    def violation(self, x: Array) -> float:
        """How far rows are off, over the scene's length."""
        off = np.abs(self.pushed(x) - self.y) / self.kappa
        return float(off.max(initial=0.0)) / self.model.length

    def harden(self, x: Array, factor: float) -> None:
        """Multipliers take over what penalties carry."""
        self.y = self.pushed(x)
        self.kappa = self.kappa * factor

    def depth(self, x: Array, pose: Array) -> Array:
        """Deepest violation (n,) of the rest distance over the colliders [m]; negative for none."""
        gaps = [self.gap(k, x, pose)[0] for k in range(self.count)]
        return self.radius - np.min(gaps, axis=0)

    def moved_out(self, x: Array) -> tuple[Array, float]:
        """Free particles (n, 3) that begin a step inside a collider put at its surface, and the deepest."""
        deepest = 0.0
        for k in range(self.count):
            gap, n, _ = self.gap(k, x, self.poses[0])
            push = np.maximum(self.radius - gap, 0.0)
            deepest = max(deepest, float(push.max(initial=0.0)))
            x = x + push[:, None] * n
        return x, deepest
