"""Meshes from files, with the map from the file's vertices to ours.

A reader for each format gives a :class:`~pliant.io.raw.RawSurface` or a body of tetrahedra; what makes no
sense is refused, the rest becomes a mesh.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from pliant.errors import MeshError
from pliant.geometry.mesh import TriMesh
from pliant.geometry.tetmesh import TetMesh
from pliant.io.cells import RawCells, check_kinds, surface_of, to_body_or_surface
from pliant.io.gltf import read_gltf
from pliant.io.gmsh import read_gmsh
from pliant.io.medit import read_medit
from pliant.io.obj import read_obj
from pliant.io.off import read_off
from pliant.io.ply import read_ply
from pliant.io.raw import RawSurface, check_corners, cut_faces, to_mesh
from pliant.io.stl import read_stl
from pliant.io.tetgen import read_tetgen
from pliant.io.usd import read_usd
from pliant.io.vtk_legacy import read_vtk
from pliant.io.vtk_xml import read_vtk_xml

UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "dm": 0.1, "in": 0.0254, "ft": 0.3048}
"""Metres in one unit of the file."""

READERS: dict[str, Callable[[Path], RawSurface | RawCells]] = {
    ".obj": read_obj,
    ".ply": read_ply,
    ".stl": read_stl,
    ".off": read_off,
    ".glb": read_gltf,
    ".gltf": read_gltf,
    ".usd": read_usd,
    ".usda": read_usd,
    ".usdc": read_usd,
    ".usdz": read_usd,
    ".msh": read_gmsh,
    ".vtk": read_vtk,
    ".vtu": read_vtk_xml,
    ".vtp": read_vtk_xml,
    ".node": read_tetgen,
    ".ele": read_tetgen,
    ".mesh": read_medit,
}


def read_mesh(path: str | Path, unit: str | None = None, up: str | None = None) -> TriMesh | TetMesh:
    """Read a mesh of triangles or tetrahedra; coordinates are multiplied into metres.

    What a file can mean is read: loose vertices, vertices at one position and edges of many triangles stay,
    to be told by :func:`pliant.check_mesh` and put right by ``Scene.add_cloth`` or
    :func:`pliant.repair_mesh`. What makes no sense is refused.

    Parameters
    ----------
    path : a file whose name ends in one of :data:`READERS`; docs/meshes.md says what is kept of each
    unit : what one unit in the file means: "m", "cm", "mm", "dm", "in" or "ft". Left out, it is the unit that
        the file states (USD) or that its format has (glTF: metres), else metres
    up : "y" turns a mesh whose y axis points up so that z does: (x, y, z) becomes (x, -z, y). Left out,
        coordinates stay as they are

    Returns
    -------
    TetMesh
        Of the tetrahedra in the file, if it has any; ``file_ids`` is the place of each point, -1 for points
        that no tetrahedron uses. Surface triangles beside them are not needed and left out.
    TriMesh
        Polygons are cut into triangles and kept (``polygons``), texture coordinates and vertex colours too.
        ``file_ids``: vertices keep the file's order (a vertex is never split by texture or normals). Where a
        format splits them, corners at exactly one position become one vertex: in STL ``file_ids[3 f + c]`` is
        the vertex of corner c of facet f, in glTF the vertices of a node's mesh are made one.

    Raises
    ------
    MeshError
        No such file, another format, a file that cannot be parsed or contradicts itself, no faces, a
        coordinate that is not finite, ids out of range, polygons that cannot be cut, faces without area;
        cells that are no linear tetrahedra, nodes of tetrahedra at one position, what :class:`TetMesh`
        refuses. The message names the file, the place in it and the cure.
    MissingExtraError
        USD without the extra ``usd``, Medit without the extra ``mesh``.

    Warns
    -----
    MeshWarning
        The mesh is longer than 100 m or shorter than 1 mm; something in the file was left out.
    """
    file = Path(path)
    if up not in (None, "y", "z"):
        raise MeshError(f'{file}: up is {up!r}; it must be "y" or "z", the axis of the file that points up')
    raw, scale = _read(file, unit)
    mesh = to_mesh(raw, file, scale) if isinstance(raw, RawSurface) else to_body_or_surface(raw, file, scale)
    if up != "y":
        return mesh
    turned = mesh.vertices[:, [0, 2, 1]] * (1.0, -1.0, 1.0)
    return replace(mesh, vertices=turned) if isinstance(mesh, TriMesh) else mesh.with_vertices(turned)


def read_pair(path: str | Path, unit: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (N, 3) [m] and triangles (F, 3) or tetrahedra (E, 4), also such as no mesh could be made of.

    For :func:`pliant.check_mesh` and :func:`pliant.repair_mesh`: coordinates that are not finite, faces
    without area and vertices named twice are left for them to tell of. Raises MeshError where a file cannot
    be parsed, refers to vertices that it has not, or has polygons that cannot be cut.
    """
    file = Path(path)
    raw, scale = _read(file, unit)
    if isinstance(raw, RawCells):
        check_kinds(raw, file)
        if len(raw.tets):
            return raw.points * scale, raw.tets
        raw = surface_of(raw)
    check_corners(raw, file)
    return raw.vertices * scale, raw.corners[cut_faces(raw, file).corners]


def _read(file: Path, unit: str | None) -> tuple[RawSurface | RawCells, float]:
    """What the file says, and metres in one unit of it."""
    if unit is not None and unit not in UNITS:
        raise MeshError(f"{file}: unit {unit!r} is unknown; choose one of {', '.join(UNITS)}")
    reader = READERS.get(file.suffix.lower())
    if reader is None:
        raise MeshError(
            f"{file}: files ending in {file.suffix!r} are not read; use one of {', '.join(READERS)}"
        )
    if not file.is_file():
        raise MeshError(f"{file}: {'not a file' if file.exists() else 'no such file'}; check the path")
    try:
        raw = reader(file)
    except OSError as error:
        raise MeshError(f"{file}: cannot be read: {error.strerror}") from error
    own = raw.metres if isinstance(raw, RawSurface) else None
    return raw, UNITS[unit] if unit is not None else own or 1.0


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
