"""One picture of one frame, drawn in software: coverage, then light, then the average over each pixel."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pliant.io.recording import Recording
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
from pliant.viewer.ground import Ground, Plane, find_planes, look, spread
from pliant.viewer.lighting import irradiance, lights
from pliant.viewer.raster import barycentric, rasterise
from pliant.viewer.surfaces import along, corner_normals, unit, vertex_normals

__all__ = ["draw_frame"]

_SAMPLES = 3
_DEPTH_BIN = 0.04


@dataclass(frozen=True)
class _Camera:
    """Position, rows right, up and backward, and the size of the picture in samples."""

    position: np.ndarray
    axes: np.ndarray
    width: int
    height: int

    @property
    def focal(self) -> float:
        return 0.5 * self.height / math.tan(FIELD_OF_VIEW / 2)

    def project(self, points: np.ndarray) -> np.ndarray:
        """Homogeneous pixel coordinates (3, …): x w, y w, w with w the depth."""
        local = points - self.position
        w = -along(local, self.axes[2])
        x = self.focal * along(local, self.axes[0]) + 0.5 * self.width * w
        y = -self.focal * along(local, self.axes[1]) + 0.5 * self.height * w
        return np.stack([x, y, w])

    def rays(self, px: np.ndarray, py: np.ndarray) -> np.ndarray:
        """Rays through pixel coordinates, of depth one: (n, 3)."""
        x, y = (px - 0.5 * self.width) / self.focal, -(py - 0.5 * self.height) / self.focal
        right, up, back = self.axes
        return np.stack([x * right[k] + y * up[k] - back[k] for k in range(3)], axis=-1)


@dataclass(frozen=True)
class _Soup:
    """Triangles of all that is drawn but the ground, in units of the radius around the centre."""

    corners: np.ndarray  # (F, 3, 3)
    normals: np.ndarray  # (F, 3, 3)
    front: np.ndarray  # (F, 3) linear colour
    back: np.ndarray  # (F, 3)
    strain: np.ndarray  # (F, 3) place on the strain scale, NaN where it is not shown
    body: np.ndarray  # (F,) number of the part or solid


@dataclass(frozen=True)
class _Spots:
    """Where light is asked for: one row for every surface in every pixel."""

    pixel: np.ndarray  # (n,)
    share: np.ndarray  # (n,) of the pixel
    point: np.ndarray  # (n, 3)
    normal: np.ndarray  # (n, 3) of the side that is seen
    colour: np.ndarray  # (n, 3) linear


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
    width, height = size
    position, *directions = fit((frame.points - frame.centre) / frame.radius, frame.direction, width / height)
    camera = _Camera(position, np.stack(directions), width * _SAMPLES, height * _SAMPLES)
    soup = _collect(recording, frame, index, strain)
    planes = find_planes(recording, frame, index)
    py, px = np.divmod(np.arange(width * height), width)
    rays = camera.rays((px + 0.5) * _SAMPLES, (py + 0.5) * _SAMPLES)
    ground = look(planes, frame.grid / frame.radius, position, rays, width)
    spots = _spots(soup, planes, camera, width, height)

    # Light on the ground changes slowly: every other row and column will do.
    rows, columns = np.arange(0, height, 2), np.arange(0, width, 2)
    known = (rows[:, None] * width + columns).ravel()
    lit = known[ground.share[known] > 0]
    points = np.concatenate([spots.point, ground.point[lit]])
    normals = np.concatenate([spots.normal, ground.normal[lit]])
    light = irradiance(points, normals, soup.corners, lights(frame.direction))
    ground_light = np.ones((width * height, 3))
    ground_light[lit] = light[len(spots.pixel) :]
    ground_light = spread(ground_light[known], rows, columns, width, height)
    return _compose(spots, light[: len(spots.pixel)], ground, ground_light).reshape(height, width, 3)


def _compose(spots: _Spots, light: np.ndarray, ground: Ground, ground_light: np.ndarray) -> np.ndarray:
    """Average of what each pixel sees, in linear light, then as sRGB bytes: (n, 3)."""
    share = ground.share[:, None]
    picture = np.where(
        share > 0, (1 - share) * linear(BACKGROUND) + share * ground.colour * ground_light, ground.colour
    )
    colour = spots.colour * light
    n = len(picture)
    covered = np.bincount(spots.pixel, spots.share, n)
    for k in range(3):
        picture[:, k] = (1 - covered) * picture[:, k] + np.bincount(
            spots.pixel, spots.share * colour[:, k], n
        )
    return np.round(255 * encode(picture)).astype(np.uint8)


def _collect(recording: Recording, frame: Framing, index: int | None, strain: StrainScale | None) -> _Soup:
    pieces: list[tuple[np.ndarray, ...]] = []
    if index is not None:
        x = (recording.frames[index].astype(np.float64) - frame.centre) / frame.radius
        values = recording.strains[index]
        for i, part in enumerate(recording.parts):
            t, own, colour = part.triangles, x[part.start : part.stop], PARTS[i % len(PARTS)]
            place = np.full(t.shape, np.nan)
            if strain is not None and values is not None:
                place = strain.position(values[part.start : part.stop])[t]
            pieces.append(
                (own[t], vertex_normals(own, t)[t], linear(colour), linear(back_colour(colour)), place)
            )
    for solid, plane in zip(recording.placed(index), backdrops(recording, frame, index), strict=True):
        if plane is None:
            v, t = (solid.vertices - frame.centre) / frame.radius, solid.triangles
            pieces.append(
                (v[t], corner_normals(v, t), linear(SOLID), linear(SOLID), np.full(t.shape, np.nan))
            )
    count = np.array([len(piece[0]) for piece in pieces], dtype=np.int64)
    columns = list(zip(*pieces, strict=True)) if pieces else [()] * 5
    return _Soup(
        corners=np.concatenate([np.zeros((0, 3, 3)), *columns[0]]),
        normals=np.concatenate([np.zeros((0, 3, 3)), *columns[1]]),
        front=np.repeat(np.reshape(columns[2], (-1, 3)), count, axis=0),
        back=np.repeat(np.reshape(columns[3], (-1, 3)), count, axis=0),
        strain=np.concatenate([np.zeros((0, 3)), *columns[4]]),
        body=np.repeat(np.arange(len(pieces)), count),
    )


def _spots(soup: _Soup, planes: list[Plane], camera: _Camera, width: int, height: int) -> _Spots:
    """One spot for each surface that a pixel sees: samples of one body, one side and one depth share it."""
    flat = camera.project(soup.corners.transpose(1, 0, 2)).transpose(1, 0, 2)
    triangle, depth, edges = rasterise(flat, flat[:, 2], camera.width, camera.height)
    row, column = np.nonzero(triangle >= 0)
    for plane in planes:  # samples behind the ground belong to the ground
        if plane.solid and len(row):
            rays = camera.rays(column + 0.5, row + 0.5)
            open_ = depth[row, column] <= plane.depth(camera.position, rays)
            row, column = row[open_], column[open_]
    face = triangle[row, column]
    out = np.cross(soup.corners[:, 1] - soup.corners[:, 0], soup.corners[:, 2] - soup.corners[:, 0])
    front = (np.einsum("ij,ij->i", out, camera.position - soup.corners[:, 0]) > 0)[face]
    layer = np.floor(depth[row, column] / _DEPTH_BIN).astype(np.int64)
    pixel = (row // _SAMPLES) * width + column // _SAMPLES
    bodies, layers = int(soup.body.max(initial=0)) + 1, int(layer.max(initial=0)) + 1
    surface = ((pixel * bodies + soup.body[face]) * 2 + front) * layers + layer
    # The sample in the middle of the pixel speaks for its surface where it belongs to it.
    aside = (row % _SAMPLES != _SAMPLES // 2).astype(np.int64) + (column % _SAMPLES != _SAMPLES // 2)
    order = np.argsort(surface * 3 + aside, kind="stable")
    _, first, count = np.unique(surface[order], return_index=True, return_counts=True)
    chosen = order[first]
    weight = barycentric(edges[:, :, face[chosen]], column[chosen] + 0.5, row[chosen] + 0.5)
    return _surface(soup, face[chosen], weight, front[chosen], pixel[chosen], count / _SAMPLES**2)


def _surface(
    soup: _Soup, face: np.ndarray, weight: np.ndarray, front: np.ndarray, pixel: np.ndarray, share: np.ndarray
) -> _Spots:
    """Place, normal and colour at barycentric weights (3, n) of faces (n,)."""
    point = np.einsum("in,nik->nk", weight, soup.corners[face])
    normal = unit(np.einsum("in,nik->nk", weight, soup.normals[face])) * np.where(front, 1.0, -1.0)[:, None]
    colour = np.where(front[:, None], soup.front[face], soup.back[face])
    place = np.einsum("in,ni->n", weight, soup.strain[face])
    shown = ~np.isnan(place)
    table = linear(strain_table(256))
    at = np.clip(np.rint(255 * place[shown]), 0, 255).astype(np.int64)
    colour[shown] = table[at]
    return _Spots(pixel, share, point, normal, colour)
