"""What is exported: surfaces over time, at whole frames, in the axes and the unit of the file.

A recording has frames at the times of its steps; a file has frame k at exactly k / fps. In between positions
are interpolated linearly, colliders turn about one axis at a constant rate. Frames that fall on a recorded
one, to within a millionth of their distance, are that one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pliant.errors import PliantError
from pliant.geometry.mesh import TriMesh
from pliant.geometry.motion import between
from pliant.geometry.tetmesh import TetMesh
from pliant.io.filed import Filed, joined
from pliant.io.meshes import UNITS
from pliant.io.recording import Recording, Solid

__all__ = ["AXES", "Clip", "Piece"]

Array = np.ndarray

AXES = {
    "z": np.eye(3),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
}
"""Rotation from Pliant's axes (z up) to those of a file: y up is (x, z, -y)."""

SNAP = 1e-6
PLANE = 20.0  # times the size of what moves: a rectangle from there on stands for an infinite plane


@dataclass(frozen=True, eq=False)
class Piece:
    """One cloth or body: its name, its first particle, how its file lists it, and its own triangles."""

    name: str
    start: int
    filed: Filed
    triangles: Array


@dataclass(frozen=True, eq=False)
class Clip:
    """Surfaces over time.

    Attributes:
        title: of the recording, or the mesh's name.
        pieces: what moves.
        solids: colliders, in the axes and unit of the file.
        fps: frames per second.
        start: time of frame 0 in the recording, s.
        numbers: which frames k there are; frame k is at ``start + k / fps``.
        times, frames, strains, poses: as recorded; float64 positions for a mesh, float32 for a recording.
        up, unit: of the file.
        still: a mesh, which has no time.
    """

    title: str
    pieces: tuple[Piece, ...]
    solids: tuple[Solid, ...]
    fps: float
    start: float
    numbers: tuple[int, ...]
    times: Array
    frames: Sequence[Array]
    strains: Sequence[Array | None]
    poses: Sequence[Array]
    up: str = "z"
    unit: str = "m"
    still: bool = False

    @classmethod
    def of(
        cls,
        what: Recording | TriMesh | TetMesh,
        fps: float | None = None,
        up: str = "z",
        unit: str = "m",
        colliders: bool = True,
    ) -> Clip:
        """A clip of a recording or of a mesh.

        Args:
            what: a recording with at least one frame, or a mesh.
            fps: frames per second of the file; None: as the recording has them, by the median of their
                distances.
            up: "z" or "y".
            unit: what one unit of the file means, one of "m", "cm", "mm", "dm", "in", "ft".
            colliders: whether to take them along.

        Raises:
            PliantError: no frames, or an argument that is none of these.
        """
        if up not in AXES:
            raise PliantError(f'up is {up!r}; it must be "z" or "y"')
        if unit not in UNITS:
            raise PliantError(f"unit {unit!r} is unknown; choose one of {', '.join(UNITS)}")
        if fps is not None and not (isinstance(fps, int | float | np.number) and 0 < fps < math.inf):
            raise PliantError(f"fps is {fps!r}; it must be a number of frames per second greater than 0")
        if not isinstance(what, Recording):
            filed = Filed.of(what)
            piece = Piece(what.name, 0, filed, what.triangles)
            return cls(
                what.name, (piece,), (), float(fps or 24.0), 0.0, (0,), np.zeros(1), [what.vertices], [None],
                [np.zeros((0, 3, 4))], up, unit, True,
            )  # fmt: skip
        if not len(what):
            raise PliantError(f'recording "{what.title}" holds no frame, so there is nothing to export')
        rate = float(fps or _rate(what))
        times = np.asarray(what.times, dtype=np.float64)
        last = math.floor((times[-1] - times[0]) * rate + SNAP)
        parts = [part for part in what.parts if len(part.triangles)]
        if not parts:
            raise PliantError(f'recording "{what.title}" holds no surface, so there is nothing to export')
        pieces = tuple(Piece(p.name, p.start, p.listing, p.triangles) for p in parts)
        shown = [k for k, solid in enumerate(what.solids) if colliders and len(solid.triangles)]
        solids = tuple(_shown(what, k) for k in shown)
        poses = [pose[shown] for pose in what.poses]
        axes, scale = AXES[up], 1 / UNITS[unit]
        turned = tuple(Solid(s.name, s.vertices @ axes.T * scale, s.triangles) for s in solids)
        return cls(
            what.title, pieces, turned, rate, float(times[0]), tuple(range(last + 1)), times, what.frames,
            what.strains, poses, up, unit,
        )  # fmt: skip

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.numbers)

    def only(self, frame: int) -> Clip:
        """One frame of it; negative numbers count from the end.

        Raises:
            PliantError: there is no such frame.
        """
        n = len(self)
        if isinstance(frame, bool) or not isinstance(frame, int | np.integer) or not -n <= frame < n:
            raise PliantError(f"frame {frame!r} does not exist; there are frames 0 to {n - 1}")
        return replace(self, numbers=(self.numbers[int(frame)],))

    @property
    def kind(self) -> type:
        """Precision of the positions: float64 for a mesh, float32 for a recording."""
        return np.float64 if self.still else np.float32

    @property
    def metres(self) -> float:
        """Metres in one unit of the file."""
        return UNITS[self.unit]

    @cached_property
    def whole(self) -> Filed:
        """All pieces as one surface, for formats that hold one; inner vertices of bodies are left out."""
        return joined([(piece.start, piece.filed.shell) for piece in self.pieces])

    def seconds(self, i: int) -> float:
        """Time of the file's i-th frame in the file, s: k / fps."""
        return self.numbers[i] / self.fps

    def points(self, i: int) -> Array:
        """Positions (N, 3) of all particles in the i-th frame, in the file's axes and unit."""
        x = self._mixed(i, lambda k: np.asarray(self.frames[k], dtype=np.float64))
        return self._in_file(x).astype(self.kind)

    def listed(self, i: int, filed: Filed, start: int = 0) -> Array:
        """Positions (n, 3) of a file's vertices; one that was left out is put where the first one is."""
        return self.points(i)[start + np.maximum(filed.sources, 0)]

    def velocities(self, i: int) -> Array:
        """Velocity (N, 3) of all particles, unit/s, from the recorded frames on both sides."""
        return self._in_file(self._mixed(i, self._speed)).astype(np.float32)

    def strain(self, i: int) -> Array | None:
        """Strain (N,) of all particles, or None where a frame has none."""
        a, b, _ = self._between(i)
        if self.strains[a] is None or self.strains[b] is None:
            return None
        return self._mixed(i, lambda k: np.asarray(self.strains[k], dtype=np.float64)).astype(np.float32)

    def fields(self, i: int, sources: Array) -> dict[str, Array]:
        """What there is beside positions, for vertices of the file: strain [-], velocity [unit/s]."""
        if self.still:
            return {}
        ids = np.maximum(sources, 0)
        out = {"velocity": self.velocities(i)[ids]} if len(self.times) > 1 else {}
        strain = self.strain(i)
        return out if strain is None else {"strain": strain[ids]} | out

    def has_strain(self) -> bool:
        """Whether every recorded frame has strain."""
        return all(value is not None for value in self.strains)

    def placed(self, i: int) -> Array:
        """Rotation and position (S, 3, 4) of the colliders in the i-th frame, in the file's axes and unit."""
        a, b, share = self._between(i)
        axes, out = AXES[self.up], np.empty((len(self.solids), 3, 4))
        for k in range(len(self.solids)):
            start, end = (self.poses[f][k] for f in (a, b))
            position, rotation = between((start[:, 3], start[:, :3]), (end[:, 3], end[:, :3]), share)
            if share == 0:
                position, rotation = start[:, 3], start[:, :3]
            out[k, :, :3] = axes @ rotation @ axes.T
            out[k, :, 3] = axes @ position / self.metres
        return out

    def _in_file(self, x: Array) -> Array:
        if self.up != "z":
            x = np.stack([x[:, 0], x[:, 2], 0.0 - x[:, 1]], axis=1)  # 0 - 0 is not -0
        return x if self.unit == "m" else x / self.metres

    def _between(self, i: int) -> tuple[int, int, float]:
        """Two recorded frames and the share of the way from one to the other."""
        if len(self.times) == 1:
            return 0, 0, 0.0
        time = self.start + self.seconds(i)
        a = int(np.clip(np.searchsorted(self.times, time, side="right") - 1, 0, len(self.times) - 2))
        gap = self.times[a + 1] - self.times[a]
        share = float((time - self.times[a]) / gap) if gap > 0 else 1.0
        if share <= SNAP:
            return a, a, 0.0
        if share >= 1 - SNAP:
            return a + 1, a + 1, 0.0
        return a, a + 1, share

    def _mixed(self, i: int, value: object) -> Array:
        a, b, share = self._between(i)
        first = value(a)  # type: ignore[operator]
        return first if share == 0 else (1 - share) * first + share * value(b)  # type: ignore[operator]

    def _speed(self, k: int) -> Array:
        """Velocity in a recorded frame, m/s."""
        a, b = max(k - 1, 0), min(k + 1, len(self.times) - 1)
        gap = self.times[b] - self.times[a]
        if gap <= 0:
            return np.zeros_like(self.frames[k], dtype=np.float64)
        return (np.asarray(self.frames[b], dtype=np.float64) - self.frames[a]) / gap


def _rate(recording: Recording) -> float:
    """Frames per second of a recording."""
    gaps = np.diff(recording.times)
    gaps = gaps[gaps > 0]
    rate = 1 / float(np.median(gaps) if len(gaps) else recording.dt)
    return float(round(rate)) if abs(rate - round(rate)) < SNAP * rate and rate > 0.5 else rate


def _shown(recording: Recording, k: int) -> Solid:
    """A collider; of a rectangle that stands for an infinite plane, as much as the scene needs."""
    solid = recording.solids[k]
    if len(solid.vertices) != 4 or not recording.n_vertices:
        return solid
    cloud = np.concatenate([recording.frames[0], recording.frames[-1]]).astype(np.float64)
    size = float(np.linalg.norm(np.ptp(cloud, axis=0)))
    half = 0.5 * float(np.linalg.norm(solid.vertices[2] - solid.vertices[0]))
    if size == 0 or half < PLANE * size:
        return solid
    pose = recording.poses[0][k]
    middle = (0.5 * (cloud.min(axis=0) + cloud.max(axis=0)) - pose[:, 3]) @ pose[:, :3]
    a, b = (solid.vertices[j] - solid.vertices[0] for j in (1, 3))
    normal = np.cross(a, b)
    foot = middle - normal * (np.dot(middle - solid.vertices[0], normal) / np.dot(normal, normal))
    return Solid(
        solid.name, foot + (solid.vertices - solid.vertices.mean(axis=0)) * (2 * size / half), solid.triangles
    )
