"""What a surface file says before anything is judged, and the mesh that follows from it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pliant.errors import MeshError, MeshWarning
from pliant.geometry.mesh import TriMesh, degenerate_triangles
from pliant.geometry.polygons import MOST_CORNERS, Cut, cut

Place = Callable[[int], str]
"""How to point at a vertex or a face of a file, given its number from 0."""

LARGEST, SMALLEST = 100.0, 1e-3
"""A mesh outside these sizes (longest side of its box, m) is read with a warning."""


@dataclass
class RawSurface:
    """Vertices and polygons as a file has them, in its own unit; nothing but their form has been checked.

    Attributes
    ----------
    vertices : (N, 3) float64
    corners : (C,) int64, vertex ids of all polygons, one after the other
    sizes : (F,) int64, corners of each polygon
    file_ids : (n_file,) int; the vertex that each vertex of the file became
    vertex_place, face_place : say where vertex or polygon number i stands in the file
    uv : (n_uv, 2) float64 or None, texture coordinates
    uv_corners : (C,) int64, row of ``uv`` for each corner, -1 for none; None means ``corners``
    colors : (N, 3) or (N, 4) float64 in [0, 1] or None
    remarks : what was left out or filled in, to be warned of
    metres : metres in one unit of the file, where it says so
    """

    vertices: np.ndarray
    corners: np.ndarray
    sizes: np.ndarray
    file_ids: np.ndarray
    vertex_place: Place
    face_place: Place
    uv: np.ndarray | None = None
    uv_corners: np.ndarray | None = None
    colors: np.ndarray | None = None
    remarks: list[str] = field(default_factory=list)
    metres: float | None = None

    @property
    def starts(self) -> np.ndarray:
        """(F,) place of each polygon's first corner in ``corners``."""
        return np.cumsum(self.sizes) - self.sizes


def refuse(bad: np.ndarray, file: Path, place: Place, what: str) -> None:
    """Raise MeshError for the first of the elements ``bad`` and tell how many there are."""
    if bad.size:
        more = f" ({bad.size} such)" if bad.size > 1 else ""
        raise MeshError(f"{file} {place(int(bad[0]))}: {what}{more}")


def check_corners(raw: RawSurface, file: Path) -> None:
    """Refuse files without faces, faces of too few corners, ids out of range."""
    x, corners, sizes = raw.vertices, raw.corners, raw.sizes
    if not len(sizes):
        raise MeshError(f"{file}: no faces ({len(x)} vertices); export the surface with its faces")
    face_of = np.repeat(np.arange(len(sizes)), sizes)
    few = np.flatnonzero(sizes < 3)
    if few.size:
        refuse(few, file, raw.face_place, f"a face with {sizes[few[0]]} corners; remove it")
    beyond = np.flatnonzero((corners < 0) | (corners >= len(x)))
    if beyond.size:
        refuse(
            face_of[beyond],
            file,
            raw.face_place,
            f"refers to vertex {corners[beyond[0]]} (from 0), the file has {len(x)}; correct the number",
        )


def check_faces(raw: RawSurface, file: Path) -> None:
    """Refuse what makes no sense in a face, and coordinates that are none."""
    check_corners(raw, file)
    repeating = _repeating(raw.corners, raw.sizes)
    refuse(repeating, file, raw.face_place, "names a vertex twice; remove the repetition")
    bad = np.flatnonzero(~np.isfinite(raw.vertices).all(axis=1))
    refuse(bad, file, raw.vertex_place, "coordinates are not finite; write numbers")


def _repeating(corners: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Faces that name a vertex twice in a row; small ones that name one twice at all."""
    starts = np.cumsum(sizes) - sizes
    face_of = np.repeat(np.arange(len(sizes)), sizes)
    following = np.arange(1, len(corners) + 1)
    following[starts + sizes - 1] = starts
    twice = corners == corners[following]
    small = np.flatnonzero((sizes == 4)[face_of])  # opposite corners of a quadrilateral
    twice[small] |= corners[small] == corners[following[following[small]]]
    return np.unique(face_of[twice])


def cut_faces(raw: RawSurface, file: Path) -> Cut:
    """Triangles of the checked faces. Raises MeshError for a face that cannot be cut."""
    pieces = cut(raw.vertices, raw.corners, raw.sizes)
    if pieces.uncut.size:
        n = int(raw.sizes[pieces.uncut[0]])
        why = f"has {n} corners, more than {MOST_CORNERS}"
        if n <= MOST_CORNERS:
            why = f"a face with {n} corners that crosses itself or has no area"
        refuse(pieces.uncut, file, raw.face_place, f"{why}; triangulate it before exporting")
    return pieces


def to_mesh(raw: RawSurface, file: Path, scale: float) -> TriMesh:
    """The mesh of a file, in metres. Raises MeshError where it makes no sense, warns of odd sizes."""
    check_faces(raw, file)
    pieces = cut_faces(raw, file)
    triangles = raw.corners[pieces.corners]
    flat = degenerate_triangles(raw.vertices, triangles)
    if flat.size:
        cure = "has no area; dissolve degenerate faces before exporting"
        refuse(pieces.polygon[flat], file, raw.face_place, cure)
    uv, uv_triangles = _texture(raw, pieces)
    polygons = None
    if (raw.sizes > 3).any():
        polygons = tuple(tuple(face.tolist()) for face in np.split(raw.corners, raw.starts[1:]))
    mesh = TriMesh(
        raw.vertices * scale,
        triangles,
        raw.file_ids,
        uv,
        name=file.stem,
        source=str(file),
        uv_triangles=uv_triangles,
        colors=raw.colors,
        polygons=polygons,
        triangle_polygon=None if polygons is None else pieces.polygon,
    )
    for remark in raw.remarks:
        warnings.warn(f"{file}: {remark}", MeshWarning, stacklevel=3)
    warn_of_size(mesh.bounds, file)
    return mesh


def warn_of_size(bounds: np.ndarray, file: Path) -> None:
    """Warn where a box (2, 3) in metres is much larger or smaller than cloth and soft bodies are."""
    size = float((bounds[1] - bounds[0]).max())
    if not SMALLEST <= size <= LARGEST:
        warnings.warn(
            f"{file}: the mesh is {size:.3g} m long, {'more' if size > LARGEST else 'less'} than cloth "
            'and bodies are; say what one unit of the file means, as in read_mesh(path, unit="cm")',
            MeshWarning,
            stacklevel=4,
        )


def _texture(raw: RawSurface, pieces: Cut) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Texture coordinates per vertex where each vertex has one pair, else apart from the vertices."""
    if raw.uv is None or not len(raw.uv):
        return None, None
    at = raw.corners if raw.uv_corners is None else raw.uv_corners
    uv = raw.uv
    if raw.uv_corners is None:
        return uv, None
    bare = at < 0
    if bare.all():
        return None, None
    if bare.any():
        at = np.where(bare, len(uv), at)
        uv = np.concatenate([uv, np.zeros((1, 2))])
        faces = len(np.unique(np.repeat(np.arange(len(raw.sizes)), raw.sizes)[bare]))
        raw.remarks.append(f"faces without texture coordinates, which get (0, 0): {faces}")
    one = np.full(len(raw.vertices), -1)
    one[raw.corners] = at
    if (one[raw.corners] == at).all() and (one >= 0).all():
        return uv[one], None
    return uv, at[pieces.corners]
