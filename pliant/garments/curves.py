"""Lines and curves in the plane, followed by arc length."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

Array = np.ndarray

FINE = 257
"""Points by which the length of a curve is measured."""


@dataclass(frozen=True, eq=False)
class Curve:
    """From one point to another in the plane [m]: straight, a Bézier curve or an arc of a circle.

    start, end (2,); controls (k, 2): none for a line, one for a quadratic and two for a cubic Bézier curve;
    bulge: for an arc, the height of its middle over the chord, over half the chord, positive to the right of
    the way from start to end (outside, for an outline that runs counter-clockwise).
    """

    start: Array
    end: Array
    controls: Array
    bulge: float = 0.0

    def at(self, t: Array) -> Array:
        """Points (n, 2) at parameters t (n,) from 0 to 1."""
        t = np.asarray(t, float)[:, None]
        if self.bulge:
            return self._arc(t)
        points = [self.start, *self.controls, self.end]
        while len(points) > 1:  # de Casteljau
            points = [(1 - t) * a + t * b for a, b in itertools.pairwise(points)]
        return points[0] + np.zeros((len(t), 2))

    def _arc(self, t: Array) -> Array:
        chord = self.end - self.start
        right = np.array([chord[1], -chord[0]])
        half = 2 * np.arctan(self.bulge)  # half the angle that the arc spans
        middle = 0.5 * (self.start + self.end)
        centre = middle - 0.5 * right / np.tan(half)
        spoke = self.start - centre
        angle = 2 * half * t
        turned = np.concatenate(
            [
                np.cos(angle) * spoke[0] - np.sin(angle) * spoke[1],
                np.sin(angle) * spoke[0] + np.cos(angle) * spoke[1],
            ],
            axis=1,
        )
        return np.where(t == 0, self.start, np.where(t == 1, self.end, centre + turned))

    def length(self) -> float:
        """Arc length [m]."""
        return float(self._table()[1][-1])

    def along(self, s: Array) -> Array:
        """Points (n, 2) at shares s (n,) of the arc length; the ends are exact."""
        s = np.asarray(s, float)
        t, length = self._table()
        if length[-1] == 0:
            return np.tile(self.start, (len(s), 1))
        at = np.where((s == 0) | (s == 1), s, np.interp(s * length[-1], length, t))
        return self.at(at)

    def _table(self) -> tuple[Array, Array]:
        if not len(self.controls) and not self.bulge:
            return np.array([0.0, 1.0]), np.array([0.0, float(np.linalg.norm(self.end - self.start))])
        t = np.linspace(0, 1, FINE)
        steps = np.linalg.norm(np.diff(self.at(t), axis=0), axis=1)
        return t, np.concatenate([[0.0], np.cumsum(steps)])
