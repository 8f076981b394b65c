"""A recording: what a simulation looked like over time, ready to be kept or pictured.

A recording owns no physics. It holds the triangles of every part once, the positions frame by frame in
single precision, an optional strain per vertex, the colliders' display geometry once and where each of them
is frame by frame, and a free ``meta`` dictionary (protocol, report). It may hold no frame at all, and is
valid after every :meth:`Recording.add`, so a run that is stopped early still leaves a whole file.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pliant.errors import PliantError
from pliant.io.filed import Filed

__all__ = ["Part", "Recording", "Solid", "whole_path", "written_whole"]

FORMAT = 3
READABLE = (1, 2, 3)  # 1: colliders had no poses; 2: parts did not know how their files list them


@dataclass
class Part:
    """One cloth or body of the recording: a slice of the vertices and its surface.

    Attributes:
        name: shown in the pictures.
        start, stop: the part's vertices are ``frame[start:stop]``.
        triangles: (F, 3) int32, local to the part (0 is vertex ``start``).
        filed: how the file that the part comes from lists it, for exports; None: as it is here.
    """

    name: str
    start: int
    stop: int
    triangles: np.ndarray
    filed: Filed | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.stop:
            raise PliantError(f'part "{self.name}": needs 0 <= start <= stop, got {self.start}, {self.stop}')
        n = self.stop - self.start
        self.triangles = _triangles(self.triangles, n, f'part "{self.name}"')
        if self.filed is not None and self.filed.sources.max(initial=-1) >= n:
            raise PliantError(f'part "{self.name}": its file lists vertices beyond the {n} that there are')

    @property
    def listing(self) -> Filed:
        """How a file lists it."""
        return self.filed or Filed.plain(self.stop - self.start, self.triangles)


@dataclass
class Solid:
    """Display geometry of a collider, in the frame that the recording's poses move.

    Attributes:
        name: shown in the pictures.
        vertices: (n, 3) m; where a recording has no poses, where they are. An infinite plane comes as a quad.
        triangles: (m, 3) int32.
    """

    name: str
    vertices: np.ndarray
    triangles: np.ndarray

    def __post_init__(self) -> None:
        where = f'solid "{self.name}"'
        self.vertices = np.ascontiguousarray(self.vertices, dtype=np.float64)
        if self.vertices.ndim != 2 or self.vertices.shape[1] != 3:
            raise PliantError(f"{where}: vertices must have shape (n, 3), got {self.vertices.shape}")
        _refuse_non_finite(self.vertices, where)
        self.triangles = _triangles(self.triangles, len(self.vertices), where)

    def placed(self, pose: np.ndarray) -> Solid:
        """The solid where a pose (3, 4), rotation matrix and position, puts it."""
        if np.array_equal(pose, _HERE):
            return self
        return Solid(self.name, self.vertices @ pose[:, :3].T + pose[:, 3], self.triangles)


_HERE = np.eye(3, 4)


@dataclass
class Recording:
    """Frames of one world, in SI units with z up.

    Attributes:
        title: heading of the pictures.
        dt: time between two steps of the simulation, s (frames may be further apart).
        parts: what moves.
        solids: the colliders.
        times: seconds, one per frame.
        frames: (N, 3) float32, m, one per frame.
        strains: (N,) float32 without unit, or None, one per frame.
        poses: (S, 3, 4) float64, one per frame: rotation matrix and, as the last column, position in m of
            each solid. Left out, no solid moves.
        meta: JSON-able; the keys ``protocol`` and ``report`` are shown with the pictures.
    """

    title: str
    dt: float
    parts: list[Part]
    solids: list[Solid] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    frames: list[np.ndarray] = field(default_factory=list)
    strains: list[np.ndarray | None] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)
    poses: list[np.ndarray] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.poses:
            self.poses = [self._here() for _ in self.frames]

    @property
    def n_vertices(self) -> int:
        """Vertices of one frame."""
        return max((part.stop for part in self.parts), default=0)

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.frames)

    def __repr__(self) -> str:
        span = f", {self.times[0]:g} to {self.times[-1]:g} s" if self.times else ""
        return (
            f"Recording({self.title!r}: {len(self)} frames{span}, {self.n_vertices} vertices, "
            f"{len(self.parts)} parts, {len(self.solids)} solids)"
        )

    def _here(self) -> np.ndarray:
        return np.repeat(_HERE[None], len(self.solids), axis=0)

    def placed(self, index: int | None) -> list[Solid]:
        """The solids where they are in a frame; None: in the first one, or as they were given."""
        first = self.poses[0] if self.poses else self._here()
        poses = first if index is None else self.poses[index]
        return [solid.placed(pose) for solid, pose in zip(self.solids, poses, strict=True)]

    def moves(self) -> np.ndarray:
        """Which solids move from frame to frame: (S,) bool."""
        if not self.poses:
            return np.zeros(len(self.solids), dtype=bool)
        return (np.stack(self.poses) != self.poses[0]).any(axis=(0, 2, 3))

    def add(
        self,
        time: float,
        x: np.ndarray,
        strain: np.ndarray | None = None,
        poses: Sequence[tuple[np.ndarray, np.ndarray]] | None = None,
    ) -> None:
        """Append a copy of one frame.

        Args:
            time: s.
            x: (N, 3) positions, m; kept in single precision.
            strain: (N,) strain of each vertex (0 is unstretched, 0.01 is one per cent), or None.
            poses: position (3,) in m and rotation matrix (3, 3) of each solid; None: as in the frame before.

        Raises:
            PliantError: a shape does not fit, a value is not finite, or time went back. Nothing was added.
        """
        where = f'recording "{self.title}", frame {len(self)} (t = {float(time):g} s)'
        if not math.isfinite(time):
            raise PliantError(f"{where}: the time is not finite")
        if self.times and time < self.times[-1]:
            raise PliantError(f"{where}: time went back from {self.times[-1]:g} s; start a new recording")
        frame = _single(x, (self.n_vertices, 3), f"{where}: x", self.parts)
        value = (
            None if strain is None else _single(strain, (self.n_vertices,), f"{where}: strain", self.parts)
        )
        if poses is None:
            placed = self.poses[-1] if self.poses else self._here()
        else:
            placed = _poses(poses, self.solids, where)
        self.frames.append(frame)
        self.strains.append(value)
        self.poses.append(placed)
        self.times.append(float(time))

    def save_npz(self, path: str | os.PathLike[str]) -> None:
        """Write everything, compressed and without pickles; :meth:`load_npz` gives the same bits back."""
        header = {
            "format": FORMAT,
            "title": self.title,
            "dt": float(self.dt),
            "parts": [{"name": p.name, "start": int(p.start), "stop": int(p.stop)} for p in self.parts],
            "solids": [s.name for s in self.solids],
            "meta": self.meta,
        }
        kept = [s for s in self.strains if s is not None]
        arrays: dict[str, np.ndarray] = {
            "header": np.frombuffer(json.dumps(header, default=plain).encode(), dtype=np.uint8),
            "times": np.asarray(self.times, dtype=np.float64),
            "frames": _stacked(self.frames, (self.n_vertices, 3)),
            "has_strain": np.array([s is not None for s in self.strains], dtype=bool),
            "strains": _stacked(kept, (self.n_vertices,)),
            "poses": _stacked(self.poses, (len(self.solids), 3, 4), np.float64),
        }
        for i, part in enumerate(self.parts):
            arrays[f"part_{i}_triangles"] = part.triangles
            if part.filed is not None:
                arrays |= {f"part_{i}_filed_{name}": a for name, a in part.filed.arrays().items()}
        for i, solid in enumerate(self.solids):
            arrays[f"solid_{i}_vertices"] = solid.vertices
            arrays[f"solid_{i}_triangles"] = solid.triangles
        with written_whole(path) as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]

    @classmethod
    def load_npz(cls, path: str | os.PathLike[str]) -> Recording:
        """Read what :meth:`save_npz` wrote.

        Raises:
            PliantError: the file is not a recording, or was written by a later format.
        """
        try:
            with np.load(path, allow_pickle=False) as archive:
                data = dict(archive)
            header = json.loads(data["header"].tobytes())
        except FileNotFoundError:
            raise PliantError(f"{path}: no such file") from None
        except (KeyError, ValueError, OSError, EOFError, AttributeError, TypeError) as error:
            raise PliantError(f"{path} is not a Pliant recording ({error}); save one with .npz") from error
        if header.get("format") not in READABLE:
            raise PliantError(
                f"{path}: recording format {header.get('format')}, this version reads up to {FORMAT}; record "
                "again, or take a newer Pliant"
            )
        strains = iter(data["strains"])
        return cls(
            title=header["title"],
            dt=header["dt"],
            parts=[
                Part(p["name"], p["start"], p["stop"], data[f"part_{i}_triangles"], _filed(data, i))
                for i, p in enumerate(header["parts"])
            ],
            solids=[
                Solid(name, data[f"solid_{i}_vertices"], data[f"solid_{i}_triangles"])
                for i, name in enumerate(header["solids"])
            ],
            times=data["times"].tolist(),
            frames=list(data["frames"]),
            strains=[next(strains) if has else None for has in data["has_strain"]],
            meta=header["meta"],
            poses=list(data.get("poses", ())),
        )


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file that appears at ``path`` only when it is complete; an error leaves the old one."""
    with whole_path(path) as part, part.open("wb") as file:
        yield file


@contextmanager
def whole_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to whose file goes to ``path`` when all went well; an error leaves the old one."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.touch()
    except OSError as error:
        raise PliantError(
            f"cannot write {target}: {error.strerror}; choose a folder that can be written"
        ) from error
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def plain(value: object) -> Any:
    """What ``json`` cannot write, as something it can (NumPy scalars and arrays, paths)."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise PliantError(
        f"meta of a recording holds a {type(value).__name__}; use numbers, text, lists and dicts"
    )


def _filed(data: dict[str, np.ndarray], i: int) -> Filed | None:
    """How the file of a part lists it, from the arrays of a recording."""
    head = f"part_{i}_filed_"
    named = {name[len(head) :]: a for name, a in data.items() if name.startswith(head)}
    try:
        return Filed(**named) if named else None
    except TypeError as error:
        raise PliantError(f"a part of the recording is damaged ({error}); record again") from error


def _triangles(triangles: np.ndarray, n: int, where: str) -> np.ndarray:
    out = np.ascontiguousarray(np.asarray(triangles).reshape(-1, 3) if np.size(triangles) == 0 else triangles)
    if out.ndim != 2 or out.shape[1] != 3:
        raise PliantError(f"{where}: triangles must have shape (m, 3), got {out.shape}")
    if out.size and not (out.min() >= 0 and out.max() < n):
        row = int(np.flatnonzero(((out < 0) | (out >= n)).any(axis=1))[0])
        raise PliantError(f"{where}: triangle {row} refers to {out[row].tolist()}, there are {n} vertices")
    return out.astype(np.int32)


def _single(values: np.ndarray, shape: tuple[int, ...], where: str, parts: list[Part]) -> np.ndarray:
    out = np.array(values, dtype=np.float32)
    if out.shape != shape:
        raise PliantError(f"{where} must have shape {shape}, got {out.shape}")
    if not np.isfinite(out).all():
        i = int(np.flatnonzero(~np.isfinite(out.reshape(len(out), -1)).all(axis=1))[0])
        name = next((p.name for p in parts if p.start <= i < p.stop), "no part")
        raise PliantError(
            f'{where} is not finite at vertex {i} (part "{name}"); record only worlds whose status is clean'
        )
    return out


def _poses(poses: Sequence[tuple[np.ndarray, np.ndarray]], solids: list[Solid], where: str) -> np.ndarray:
    if len(poses) != len(solids):
        raise PliantError(f"{where}: {len(poses)} poses for {len(solids)} solids; give one for each")
    out = np.empty((len(solids), 3, 4))
    for k, (position, rotation) in enumerate(poses):
        out[k, :, :3], out[k, :, 3] = rotation, position
        if not np.isfinite(out[k]).all():
            raise PliantError(f'{where}: the pose of solid "{solids[k].name}" is not finite')
    return out


def _stacked(rows: list[np.ndarray], shape: tuple[int, ...], kind: type = np.float32) -> np.ndarray:
    return np.stack(rows) if rows else np.zeros((0, *shape), dtype=kind)


def _refuse_non_finite(values: np.ndarray, where: str) -> None:
    if not np.isfinite(values).all():
        i = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        raise PliantError(f"{where}: vertex {i} is not finite; draw an infinite plane as a quad")
