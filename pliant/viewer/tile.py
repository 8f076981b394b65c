"""One picture of one frame, drawn in software: coverage, then light, then the average over each pixel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from pliant.io.recording import Recording
from pliant.viewer import shade_kernels
from pliant.viewer.colours import (
    BACKGROUND,
    PARTS,
    SOLID,
    StrainScale,
    back_colour,
    encode,
    linear,
    strain_table,
)
from pliant.viewer.framing import FIELD_OF_VIEW, Framing, backdrops, fit
from pliant.viewer.ground import Ground, Plane, find_planes, look
from pliant.viewer.lighting import irradiance, lights
from pliant.viewer.parts import in_parts
from pliant.viewer.raster import rasterise
from pliant.viewer.surfaces import along, corner_normals, skins, vertex_normals

__all__ = ["Studio", "draw_frame"]

_DEPTH_BIN = 0.04


@dataclass(frozen=True)
class _Camera:
    """Position, rows right, up and backward, size of the picture in pixels, samples along a pixel's side.

    Coordinates count samples.
    """

    position: np.ndarray
    axes: np.ndarray
    width: int
    height: int
    samples: int

    @property
    def middle(self) -> tuple[float, float]:
        return 0.5 * self.samples * self.width, 0.5 * self.samples * self.height

    @property
    def focal(self) -> float:
        return self.middle[1] / math.tan(FIELD_OF_VIEW / 2)

    def project(self, points: np.ndarray) -> np.ndarray:
        """Homogeneous coordinates (3, …): x w, y w, w with w the depth."""
        local = points - self.position
        w = -along(local, self.axes[2])
        x = self.focal * along(local, self.axes[0]) + self.middle[0] * w
        y = -self.focal * along(local, self.axes[1]) + self.middle[1] * w
        return np.stack([x, y, w])

    def rays(self, px: np.ndarray, py: np.ndarray) -> np.ndarray:
        """Rays through coordinates, of depth one: (n, 3)."""
        x, y = (px - self.middle[0]) / self.focal, (self.middle[1] - py) / self.focal
        right, up, back = self.axes
        return np.stack([x * right[k] + y * up[k] - back[k] for k in range(3)], axis=-1)


@dataclass(frozen=True)
class _Soup:
    """Triangles of all that is drawn but the ground, in units of the radius around the centre."""

    corners: np.ndarray  # (F, 3, 3)
    normals: np.ndarray  # (F, 3, 3)
    colours: np.ndarray  # (F, 2, 3) linear, of the back and the front
    strain: np.ndarray  # (F, 3) place on the strain scale, NaN where it is not shown
    body: np.ndarray  # (F,) number of the part or solid


@dataclass(frozen=True)
class _Spots:
    """Where light is asked for: every surface in every pixel, pixel by pixel."""

    start: np.ndarray  # (n + 1,) the spots of pixel k are start[k]:start[k + 1]
    portion: np.ndarray  # (S,) of the pixel
    point: np.ndarray  # (3, S)
    normal: np.ndarray  # (3, S) of the side that is seen
    colour: np.ndarray  # (3, S) linear


def draw_frame(
    recording: Recording,
    frame: Framing,
    index: int | None,
    size: tuple[int, int],
    strain: StrainScale | None = None,
) -> np.ndarray:
    """Picture of one frame: (height, width, 3) uint8, sRGB.

    Args:
        recording: what to draw.
        frame: where the camera looks; one for all pictures of a recording.
        index: number of the frame, or None for the colliders alone.
        size: width and height in pixels.
        strain: colours of the strain instead of the parts' own.
    """
    return Studio(recording, frame, size).draw(index, strain)


class Studio:
    """One camera before a recording: what all its pictures share is made once.

    Args:
        recording, frame, size: as for :func:`draw_frame`.
        samples: of every pixel, along each side.
        margin: as for :func:`pliant.viewer.framing.fit`.
        ground_step: light on the ground changes slowly, so it is found at every so-manieth row and column.
    """

    def __init__(
        self,
        recording: Recording,
        frame: Framing,
        size: tuple[int, int],
        samples: int = 3,
        ground_step: int = 2,
        margin: float = 1.06,
    ) -> None:
        self.recording, self.frame, self.size = recording, frame, size
        width, height = size
        points = (frame.points - frame.centre) / frame.radius
        position, *directions = fit(points, frame.direction, width / height, margin)
        self.camera = _Camera(position, np.stack(directions), width, height, samples)
        py, px = np.divmod(np.arange(width * height), width)
        self.rays = self.camera.rays((px + 0.5) * samples, (py + 0.5) * samples)
        self.lights = lights(frame.direction)
        self.surfaces = skins(recording)
        self.step = ground_step
        rows, columns = np.arange(0, height, ground_step), np.arange(0, width, ground_step)
        self.known = rows[:, None] * width + columns
        self.ground: tuple[list[Plane], Ground] | None = None
        planes = backdrops(recording, frame, None)
        self.ground_moves = any(planes[k] is not None for k in np.flatnonzero(recording.moves()))

    def draw(self, index: int | None, strain: StrainScale | None = None) -> np.ndarray:
        """Picture of one frame, as :func:`draw_frame` makes it."""
        width, height = self.size
        if self.ground is None or self.ground_moves:
            planes = find_planes(self.recording, self.frame, index)
            grid = self.frame.grid / self.frame.radius
            self.ground = planes, look(planes, grid, self.camera.position, self.rays, width)
        planes, ground = self.ground
        soup = _collect(self.recording, self.frame, index, strain, self.surfaces)
        spots = _spots(soup, planes, self.camera)
        lit = ground.share[self.known] > 0
        under = self.known[lit]
        points = np.concatenate([spots.point, ground.point[under].T], axis=1)
        normals = np.concatenate([spots.normal, ground.normal[under].T], axis=1)
        light = irradiance(points.T, normals.T, soup.corners, self.lights).T
        ground_light = np.ones((3, *self.known.shape), dtype=np.float32)
        ground_light[:, lit] = light[:, spots.start[-1] :]
        picture = np.empty((height, width, 3), np.uint8)
        in_parts(
            height, 32, shade_kernels.compose, spots.start, spots.portion, spots.colour, light, ground.colour,
            ground.share, ground_light, self.step, linear(BACKGROUND), _codes(), picture,
        )  # fmt: skip
        return picture


@cache
def _codes() -> np.ndarray:
    """The sRGB byte for 65536 equal steps of linear light."""
    return np.round(255 * encode(np.linspace(0.0, 1.0, 65536))).astype(np.uint8)


def _collect(
    recording: Recording,
    frame: Framing,
    index: int | None,
    strain: StrainScale | None,
    surfaces: list[tuple[np.ndarray, np.ndarray]],
) -> _Soup:
    pieces: list[tuple[np.ndarray, ...]] = []
    if index is not None:
        x = (recording.frames[index].astype(np.float64) - frame.centre) / frame.radius
        values = recording.strains[index]
        for i, part in enumerate(recording.parts):
            source, t = surfaces[i]
            own, colour = x[part.start + source], PARTS[i % len(PARTS)]
            place = np.full(t.shape, np.nan)
            if strain is not None and values is not None:
                place = strain.position(values[part.start + source])[t]
            sides = linear(np.array([back_colour(colour), colour]))
            pieces.append((own[t], vertex_normals(own, t)[t], sides, place))
    for solid, plane in zip(recording.placed(index), backdrops(recording, frame, index), strict=True):
        if plane is None:
            v, t = (solid.vertices - frame.centre) / frame.radius, solid.triangles
            sides = linear(np.array([SOLID, SOLID]))
            pieces.append((v[t], corner_normals(v, t), sides, np.full(t.shape, np.nan)))
    count = np.array([len(piece[0]) for piece in pieces], dtype=np.int64)
    columns = list(zip(*pieces, strict=True)) if pieces else [()] * 4
    return _Soup(
        corners=np.concatenate([np.zeros((0, 3, 3)), *columns[0]]),
        normals=np.concatenate([np.zeros((0, 3, 3)), *columns[1]]),
        colours=np.repeat(np.reshape(columns[2], (-1, 2, 3)), count, axis=0),
        strain=np.concatenate([np.zeros((0, 3)), *columns[3]]),
        body=np.repeat(np.arange(len(pieces)), count),
    )


def _spots(soup: _Soup, planes: list[Plane], camera: _Camera) -> _Spots:
    """One spot for each surface that a pixel sees: samples of one body, one side and one depth share it."""
    flat = camera.project(soup.corners.transpose(1, 0, 2)).transpose(1, 0, 2)
    n = camera.samples
    triangle, depth, edges = rasterise(flat, flat[:, 2], n * camera.width, n * camera.height)
    out = np.cross(soup.corners[:, 1] - soup.corners[:, 0], soup.corners[:, 2] - soup.corners[:, 0])
    front = np.einsum("ij,ij->i", out, camera.position - soup.corners[:, 0]) > 0
    hiding = [plane.numbers(camera.position) for plane in planes if plane.solid]
    shape = camera.height, camera.width
    count = np.empty(shape, np.int32)
    chosen, share = (np.empty((*shape, n * n), np.int32) for _ in range(2))
    # The sample in the middle of the pixel speaks for its surface where it belongs to it.
    order = np.array(
        sorted(np.ndindex(n, n), key=lambda at: abs(at[0] - n // 2) + abs(at[1] - n // 2)), np.int32
    )
    in_parts(
        camera.height, 32, shade_kernels.surfaces, triangle, depth, soup.body, front,
        np.reshape(hiding, (-1, 16)), camera.axes, camera.focal, _DEPTH_BIN, order, count, chosen, share,
    )  # fmt: skip
    start = np.concatenate([[0], np.cumsum(count, dtype=np.int64)])
    portion = np.empty(start[-1])
    point, normal, colour = (np.empty((3, start[-1])) for _ in range(3))
    in_parts(
        camera.height, 32, shade_kernels.describe, start, chosen, share, order, triangle, edges, soup.corners,
        soup.normals, front, soup.colours, soup.strain, linear(strain_table(256)), portion, point, normal,
        colour,
    )  # fmt: skip
    return _Spots(start, portion, point, normal, colour)
