"""A body of capsules to dress: arms held away from it, legs apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.geometry.colliders import Capsule

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Limb:
    """A capsule between two points a and b (3,) [m], as ``scene.add_collider(**limb.collider)`` takes it."""

    name: str
    a: Array
    b: Array
    radius: float

    @property
    def collider(self) -> dict[str, Any]:
        """shape, position, rotation and name."""
        way = self.b - self.a
        length = float(np.linalg.norm(way))
        z = way / length
        side = np.eye(3)[np.argmin(np.abs(z))]
        x = np.cross(side, z)
        x /= np.linalg.norm(x)
        return {
            "shape": Capsule(self.radius, length),
            "position": 0.5 * (self.a + self.b),
            "rotation": np.column_stack([x, np.cross(z, x), z]),
            "name": self.name,
        }

    def depth(self, x: Array) -> tuple[Array, Array]:
        """How far points x (N, 3) [m] are inside (N,), 0 where they are not, and the way out (N, 3), unit."""
        way = self.b - self.a
        share = np.clip((x - self.a) @ way / max(float(way @ way), np.finfo(float).tiny), 0, 1)
        off = x - self.a - share[:, None] * way
        distance = np.linalg.norm(off, axis=1)
        outward = off / np.maximum(distance, np.finfo(float).tiny)[:, None]
        return np.maximum(self.radius - distance, 0.0), outward

    def grown(self, by: float) -> Limb:
        """The same, thicker by so much [m] all around."""
        return replace(self, radius=self.radius + by)


def mannequin(height: float = 1.72, arms: float = 25.0, legs: float = 6.0) -> list[Limb]:
    """A standing body that faces -y, its soles at z = 0: a head, a trunk, two arms and two legs.

    height [m]; arms: how far below the horizontal they point, legs: how far each is spread [degrees]. The
    proportions are plain ones for a mannequin, not measured from people.
    """
    h = height / 1.72
    out: list[tuple[str, Any, Any, float]] = [
        ("neck", (0, 0, 1.42), (0, 0, 1.50), 0.055),
        ("head", (0, 0, 1.58), (0, 0, 1.63), 0.09),
        ("shoulders", (-0.115, 0, 1.375), (0.115, 0, 1.375), 0.055),
        ("waist", (-0.045, 0, 1.04), (0.045, 0, 1.04), 0.082),
        ("hips", (-0.06, 0, 0.90), (0.06, 0, 0.90), 0.09),
    ]
    for k, side in enumerate(("left", "right")):
        s = 1 - 2 * k
        out.append((f"{side} chest", (s * 0.05, 0, 1.10), (s * 0.055, 0, 1.29), 0.088))
        down = np.radians(arms)
        shoulder = np.array([s * 0.125, 0, 1.375])
        hand = shoulder + 0.56 * np.array([s * np.cos(down), 0, -np.sin(down)])
        out.append((f"{side} arm", shoulder, hand, 0.034))
        spread = np.radians(legs)
        hip = np.array([s * 0.085, 0, 0.86])
        foot = hip + 0.80 * np.array([s * np.sin(spread), 0, -np.cos(spread)])
        out.append((f"{side} leg", hip, foot, 0.05))
    return [Limb(name, h * np.asarray(a, float), h * np.asarray(b, float), h * r) for name, a, b, r in out]
