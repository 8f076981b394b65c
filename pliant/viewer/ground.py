"""The ground of a software picture: large flat colliders with grid lines, or grid lines alone.

Planes are met ray by ray, so they may reach behind the camera. Lengths are in units of the scene's radius.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.io.recording import Recording
from pliant.viewer.colours import BACKGROUND, linear
from pliant.viewer.framing import Framing, backdrops
from pliant.viewer.surfaces import along

__all__ = ["Ground", "Plane", "find_planes", "look"]

_FADE = (1.8, 5.0)
_REFERENCE_FADE = (1.1, 2.6)


@dataclass(frozen=True)
class Plane:
    """A rectangle of a plane.

    Attributes:
        origin, u, v: (3,) a point and two unit vectors.
        low, high: (2,) its extent along u and v, from the origin.
        solid: False for grid lines where there is no collider.
    """

    origin: np.ndarray
    u: np.ndarray
    v: np.ndarray
    low: np.ndarray
    high: np.ndarray
    solid: bool

    @property
    def normal(self) -> np.ndarray:
        return np.cross(self.u, self.v)

    def numbers(self, position: np.ndarray) -> np.ndarray:
        """The sixteen numbers that :func:`pliant.viewer.kernels.plane_depth` takes, for rays from a point."""
        return np.concatenate([position - self.origin, self.normal, self.u, self.v, self.low, self.high])

    def depth(self, position: np.ndarray, rays: np.ndarray) -> np.ndarray:
        """Multiple of each ray (n, 3) at which it meets the rectangle; infinite where it does not."""
        with np.errstate(divide="ignore", invalid="ignore"):
            far = along(self.origin - position, self.normal) / along(rays, self.normal)
            start = position - self.origin
            a = along(start, self.u) + far * along(rays, self.u)
            b = along(start, self.v) + far * along(rays, self.v)
            hit = (
                (far > 0)
                & (a >= self.low[0])
                & (a <= self.high[0])
                & (b >= self.low[1])
                & (b <= self.high[1])
            )
        return np.where(hit, far, np.inf)


@dataclass(frozen=True)
class Ground:
    """What every pixel sees of the ground.

    Attributes:
        colour: (n, 3) linear, before light; the background where there is no ground.
        share: (n,) how much of it is lit ground, the rest is background.
        point, normal: (n, 3); the normal is of the side that is seen.
    """

    colour: np.ndarray
    share: np.ndarray
    point: np.ndarray
    normal: np.ndarray


def find_planes(recording: Recording, frame: Framing, index: int | None = None) -> list[Plane]:
    """The ground in a frame: the large flat colliders, or else one level grid under everything."""
    planes = []
    for solid, back in zip(recording.placed(index), backdrops(recording, frame, index), strict=True):
        if back is not None:
            origin = (back.origin - frame.centre) / frame.radius
            flat = (solid.vertices - frame.centre) / frame.radius - origin
            extent = np.stack([flat @ back.u, flat @ back.v], axis=1)
            planes.append(Plane(origin, back.u, back.v, extent.min(axis=0), extent.max(axis=0), True))
    if not planes:
        origin = (np.array([0.0, 0.0, frame.lowest]) - frame.centre) / frame.radius - np.array([0, 0, 0.01])
        wide = np.full(2, np.abs(origin).max() + 10.0)
        planes.append(Plane(origin, np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), -wide, wide, False))
    return planes


def look(planes: list[Plane], grid: float, position: np.ndarray, rays: np.ndarray, width: int) -> Ground:
    """What the rays through the pixels of a picture, row by row, see of the planes.

    Args:
        planes: of :func:`find_planes`.
        grid: distance between grid lines.
        position: (3,) of the camera.
        rays: (n, 3), one for each pixel centre.
        width: pixels in a row.
    """
    n = len(rays)
    back = linear(BACKGROUND)
    ground = Ground(np.tile(back, (n, 1)), np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3)))
    nearest = np.full(n, np.inf)
    for plane in planes:
        far = plane.depth(position, rays)
        seen = far < nearest
        nearest = np.where(seen, far, nearest)
        point = position + np.where(seen, far, 0.0)[:, None] * rays
        start, end = _FADE if plane.solid else _REFERENCE_FADE
        share = 1 - _smoothstep((np.linalg.norm(point, axis=1) - start) / (end - start))
        line = _lines(point - plane.origin, plane, grid, width)
        if plane.solid:
            ground.colour[seen] = back * (1 - 0.16 * line[seen, None])
            ground.share[seen] = share[seen]
        else:
            ground.colour[seen] = back * (1 - 0.2 * (line * share)[seen, None])
        ground.point[seen] = point[seen]
        ground.normal[seen] = plane.normal * (1.0 if (position - plane.origin) @ plane.normal > 0 else -1.0)
    return ground


def _lines(points: np.ndarray, plane: Plane, grid: float, width: int) -> np.ndarray:
    """Coverage of each pixel by grid lines of about one pixel, fading where they would crowd."""
    cover = np.zeros(len(points))
    crowd = np.zeros(len(points))
    for axis in (plane.u, plane.v):
        place = (along(points, axis) / grid).reshape(-1, width)
        step = np.hypot(*_slopes(place)).ravel()
        step = np.maximum(step, np.finfo(np.float64).tiny)
        away = np.abs(np.mod(place.ravel() - 0.5, 1.0) - 0.5)
        cover = np.maximum(cover, np.clip(1.1 - away / step, 0.0, 1.0))
        crowd = np.maximum(crowd, step)
    return cover * np.clip(1 - 3 * crowd, 0.0, 1.0)


def _slopes(image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Change per pixel along both directions; zero along a direction of one pixel."""
    rows = np.gradient(image, axis=0) if image.shape[0] > 1 else np.zeros_like(image)
    columns = np.gradient(image, axis=1) if image.shape[1] > 1 else np.zeros_like(image)
    return rows, columns


def _smoothstep(t: np.ndarray) -> np.ndarray:
    t = np.clip(t, 0.0, 1.0)
    return t * t * (3 - 2 * t)
