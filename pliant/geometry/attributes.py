"""Checked arrays, and what a triangle mesh carries beside its shape: texture, colours, polygons."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from pliant.errors import MeshError


def checked_uv(
    uv: np.ndarray | None, uv_triangles: np.ndarray | None, n_vertices: int, n_triangles: int, where: str
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Read-only copies of texture coordinates and of the triangles that index them; see ``TriMesh``."""
    if uv is None:
        if uv_triangles is not None:
            raise MeshError(f"{where}: uv_triangles without uv; give the texture coordinates too")
        return None, None
    pairs = float_rows(uv, 2, where, "uv")
    bad = np.flatnonzero(~np.isfinite(pairs).all(axis=1))
    if bad.size:
        raise MeshError(f"{where}: uv row {bad[0]} is not finite ({bad.size} such); write numbers")
    if uv_triangles is None:
        if len(pairs) != n_vertices:
            raise MeshError(
                f"{where}: uv has {len(pairs)} rows, the mesh has {n_vertices} vertices; "
                "give one per vertex, or uv_triangles"
            )
        return frozen(pairs), None
    corners = id_rows(uv_triangles, 3, where, "uv_triangles")
    if len(corners) != n_triangles:
        raise MeshError(
            f"{where}: uv_triangles has {len(corners)} rows, the mesh has {n_triangles} triangles"
        )
    bad = np.flatnonzero(((corners < 0) | (corners >= len(pairs))).any(axis=1))
    if bad.size:
        raise MeshError(
            f"{where}: uv_triangles row {bad[0]} is {corners[bad[0]].tolist()}; "
            f"uv has {len(pairs)} rows (ids 0 to {len(pairs) - 1})"
        )
    return frozen(pairs), frozen(corners)


def checked_colors(colors: np.ndarray | None, n_vertices: int, where: str) -> np.ndarray | None:
    """A read-only copy of colours per vertex; see ``TriMesh``."""
    if colors is None:
        return None
    width = 4 if np.shape(colors)[-1:] == (4,) else 3
    rows = float_rows(colors, width, where, "colors")
    if len(rows) != n_vertices:
        raise MeshError(
            f"{where}: colors has {len(rows)} rows, the mesh has {n_vertices} vertices; give one per vertex"
        )
    bad = np.flatnonzero(~((rows >= 0.0) & (rows <= 1.0)).all(axis=1))
    if bad.size:
        raise MeshError(f"{where}: color {bad[0]} is {rows[bad[0]].tolist()}; give numbers from 0 to 1")
    return frozen(rows)


def checked_polygons(
    polygons: Sequence[Sequence[int]] | None,
    triangle_polygon: np.ndarray | None,
    triangles: np.ndarray,
    n_vertices: int,
    where: str,
) -> tuple[tuple[tuple[int, ...], ...] | None, np.ndarray | None]:
    """The faces of a file and, for each triangle, the face it is a part of; see ``TriMesh``."""
    if (polygons is None) != (triangle_polygon is None):
        raise MeshError(f"{where}: polygons and triangle_polygon belong together; give both or neither")
    if polygons is None:
        return None, None
    faces = tuple(tuple(map(int, face)) for face in polygons)
    part_of = np.asarray(triangle_polygon)
    if part_of.shape != (len(triangles),) or part_of.dtype.kind not in "iu":
        raise MeshError(
            f"{where}: triangle_polygon has shape {part_of.shape} of {part_of.dtype}; "
            f"it must be one integer for each of the {len(triangles)} triangles"
        )
    if ((part_of < 0) | (part_of >= len(faces))).any():
        raise MeshError(
            f"{where}: triangle_polygon must hold ids from 0 to {len(faces) - 1}, one per polygon"
        )
    corners = np.fromiter(chain.from_iterable(faces), dtype=np.int64)
    if ((corners < 0) | (corners >= n_vertices)).any():
        raise MeshError(f"{where}: polygons refer to vertices that do not exist; the mesh has {n_vertices}")
    of = np.repeat(np.arange(len(faces)), [len(face) for face in faces])
    used = part_of.astype(np.int64)[:, None] * n_vertices + triangles
    bad = np.flatnonzero(~np.isin(used, of * n_vertices + corners).all(axis=1))
    if bad.size:
        f = int(bad[0])
        raise MeshError(
            f"{where}: triangle {f} with vertices {triangles[f].tolist()} is no part of its polygon "
            f"{part_of[f]}, {list(faces[part_of[f]])[:20]}"
        )
    return faces, frozen(part_of.astype(np.int32))


def checked_file_triangles(
    of_file: np.ndarray | None, file_ids: np.ndarray, triangles: np.ndarray, where: str
) -> np.ndarray | None:
    """A read-only copy of the file's vertices at the corners; see ``TriMesh``."""
    if of_file is None:
        return None
    rows = id_rows(of_file, 3, where, "file_triangles")
    if rows.shape != triangles.shape or rows.min() < 0 or rows.max() >= len(file_ids):
        raise MeshError(
            f"{where}: file_triangles has shape {rows.shape}; it must be {triangles.shape} of the file's "
            f"vertices, 0 to {len(file_ids) - 1}"
        )
    bad = np.flatnonzero((file_ids[rows] != triangles).any(axis=1))
    if bad.size:
        f = int(bad[0])
        raise MeshError(
            f"{where}: file_triangles row {f} is {rows[f].tolist()}, which file_ids leads to "
            f"{file_ids[rows[f]].tolist()}; triangle {f} is {triangles[f].tolist()}"
        )
    return frozen(rows)


def scale_factors(scale: float | Sequence[float] | np.ndarray, name: str) -> np.ndarray:
    """One factor () or three (3,), greater than 0. Raises MeshError that names the mesh."""
    try:
        factors = np.asarray(scale, dtype=np.float64)
    except (TypeError, ValueError):
        factors = np.zeros(1)
    if factors.shape not in ((), (3,)) or not (np.isfinite(factors) & (factors > 0.0)).all():
        raise MeshError(
            f"{name}: scale is {scale!r}; it must be a positive number, or three of them for x, y and z"
        )
    return factors


def float_rows(values: np.ndarray, width: int, where: str, what: str) -> np.ndarray:
    """A float64 copy (N, width) of numbers. Raises MeshError that names ``where`` and ``what``."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MeshError(f"{where}: {what} must be numbers in rows of {width}: {error}") from error
    if array.ndim != 2 or array.shape[1] != width or not len(array):
        raise MeshError(f"{where}: {what} has shape {array.shape}; it must be (N, {width}) with N > 0")
    return array


def id_rows(values: np.ndarray, width: int, where: str, what: str) -> np.ndarray:
    """An int32 copy (n, width) of vertex ids. Raises MeshError that names ``where`` and ``what``."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise MeshError(f"{where}: {what} must be rows of {width} vertex ids: {error}") from error
    if array.size == 0:
        return np.zeros((0, width), dtype=np.int32)
    if array.ndim != 2 or array.shape[1] != width or array.dtype.kind not in "iu":
        shape = f"({'F' if width == 3 else 'E'}, {width})"
        raise MeshError(
            f"{where}: {what} has shape {array.shape} of {array.dtype}; it must be {shape} of integers"
        )
    if array.max() > np.iinfo(np.int32).max or array.min() < np.iinfo(np.int32).min:
        raise MeshError(f"{where}: {what} holds vertex id {array.max()}; ids must fit in 32 bits")
    return np.array(array, dtype=np.int32)


def frozen(array: np.ndarray) -> np.ndarray:
    """The same array, read-only from now on."""
    array.setflags(write=False)
    return array
