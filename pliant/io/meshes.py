"""Meshes from files, with the map from the file's vertices to ours.

A reader for each format gives a :class:`~pliant.io.raw.RawSurface` or a body of tetrahedra; what is not clean
is refused, the rest becomes a mesh. Mending a mesh instead of refusing it belongs between the two.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from pliant.errors import MeshError
from pliant.geometry.mesh import TriMesh
from pliant.geometry.tetmesh import TetMesh
from pliant.io.obj import read_obj
from pliant.io.off import read_off
from pliant.io.ply import read_ply
from pliant.io.raw import RawSurface, to_mesh
from pliant.io.stl import read_stl
from pliant.io.tets import FORMATS as TET_FORMATS
from pliant.io.tets import read_tets

UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "dm": 0.1, "in": 0.0254, "ft": 0.3048}
"""Metres in one unit of the file."""


def read_mesh(path: str | Path, unit: str = "m") -> TriMesh | TetMesh:
    """Read a clean mesh of triangles or tetrahedra; coordinates are multiplied into metres.

    Parameters
    ----------
    path : a ``.obj``, ``.ply``, ``.stl`` or ``.off`` file for a surface (polygons are cut into triangles), a
        ``.msh``, ``.vtk``, ``.vtu`` or ``.mesh`` file for a body of tetrahedra
    unit : what one unit in the file means: "m", "cm", "mm", "dm", "in" or "ft"

    Returns
    -------
    TetMesh
        Of the tetrahedra in the file; ``file_ids`` is the place of each point, -1 for points that no
        tetrahedron uses. Surface triangles in the file are not needed and left out.
    TriMesh
        With ``file_ids``: vertices keep the file's order, so it is the identity (a vertex is never split by
        texture coordinates or normals); STL corners at exactly one position become one vertex, and
        ``file_ids[3 f + c]`` is the vertex of corner c of facet f. Texture coordinates, vertex colours and
        polygons are kept where the file has them.

    Raises
    ------
    MeshError
        No such file, another format, a file that cannot be parsed, no faces, a coordinate that is not finite,
        ids out of range, vertices that no face uses or that share one position, polygons that cannot be cut,
        faces without area, edges with more than two triangles; no tetrahedra, cells that are no
        linear tetrahedra, what :class:`TetMesh` refuses. The message names the file, the place in it and the
        cure.
    MissingExtraError
        A body of tetrahedra without the extra ``mesh``.

    Warns
    -----
    MeshWarning
        The mesh is longer than 100 m or shorter than 1 mm; something in the file was left out.
    """
    file = Path(path)
    if unit not in UNITS:
        raise MeshError(f"{file}: unit {unit!r} is unknown; choose one of {', '.join(UNITS)}")
    reader = READERS.get(file.suffix.lower())
    tets = file.suffix.lower() in TET_FORMATS
    if reader is None and not tets:
        known = ", ".join([*READERS, *TET_FORMATS])
        raise MeshError(f"{file}: files ending in {file.suffix!r} are not read; use one of {known}")
    if not file.is_file():
        raise MeshError(f"{file}: {'not a file' if file.exists() else 'no such file'}; check the path")
    try:
        if reader is None:
            return read_tets(file, UNITS[unit])
        raw = reader(file)
    except OSError as error:
        raise MeshError(f"{file}: cannot be read: {error.strerror}") from error
    return to_mesh(raw, file, UNITS[unit])


READERS: dict[str, Callable[[Path], RawSurface]] = {
    ".obj": read_obj,
    ".ply": read_ply,
    ".stl": read_stl,
    ".off": read_off,
}


def write_obj(
    path: str | Path, mesh_or_vertices: TriMesh | np.ndarray, triangles: np.ndarray | None = None
) -> None:
    """Write an OBJ file in metres: a ``TriMesh``, or vertices (N, 3) and triangles (F, 3).

    Reading it back gives the same bits.
    """
    if isinstance(mesh_or_vertices, TriMesh):
        vertices = mesh_or_vertices.vertices
        triangles = mesh_or_vertices.triangles if triangles is None else triangles
    else:
        vertices = np.asarray(mesh_or_vertices, dtype=np.float64)
    if triangles is None:
        raise MeshError(f"{path}: no triangles to write; give a TriMesh, or vertices and triangles")
    lines = [f"v {x!r} {y!r} {z!r}\n" for x, y, z in vertices.tolist()]
    lines += [f"f {a} {b} {c}\n" for a, b, c in (np.asarray(triangles) + 1).tolist()]
    Path(path).write_text("".join(lines), encoding="utf-8")
