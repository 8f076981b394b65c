"""Clean meshes from files, with the map from the file's vertices to ours.

Bodies of tetrahedra are read by :mod:`pliant.io.tets`. A triangle mesh takes three steps: read the file into
a :class:`_RawMesh`, refuse what is not clean, hand over a ``TriMesh``. Mending a mesh instead of refusing it
belongs between the first two.

OBJ has a reader here: it must keep every ``v`` in file order whatever ``vt`` says, take relative indices, and
name the line of a mistake. PLY and STL are parsed by trimesh (extra ``mesh``), without its processing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import MeshError, MissingExtraError
from pliant.geometry import topology
from pliant.geometry.mesh import TriMesh, degenerate_triangles
from pliant.geometry.tetmesh import TetMesh
from pliant.io.tets import FORMATS as TET_FORMATS
from pliant.io.tets import read_tets

UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "dm": 0.1, "in": 0.0254, "ft": 0.3048}
"""Metres in one unit of the file."""


@dataclass
class _RawMesh:
    """What a file says, in its own unit: vertices (N, 3), triangles (F, 3), and how to point at either."""

    vertices: np.ndarray
    triangles: np.ndarray
    file_ids: np.ndarray
    vertex_place: Callable[[int], str]
    triangle_place: Callable[[int], str]


def read_mesh(path: str | Path, unit: str = "m") -> TriMesh | TetMesh:
    """Read a clean mesh of triangles or tetrahedra; coordinates are multiplied into metres.

    Parameters
    ----------
    path : a ``.obj``, ``.ply`` or ``.stl`` file for a surface (quads are cut in two, larger polygons are
        refused), a ``.msh``, ``.vtk``, ``.vtu`` or ``.mesh`` file for a body of tetrahedra
    unit : what one unit in the file means: "m", "cm", "mm", "dm", "in" or "ft"

    Returns
    -------
    TetMesh
        Of the tetrahedra in the file; ``file_ids`` is the place of each point, -1 for points that no
        tetrahedron uses. Surface triangles in the file are not needed and left out.
    TriMesh
        With ``file_ids``: OBJ and PLY vertices keep the file's order, so it is the identity (an OBJ vertex is
        never split by ``vt`` or ``vn``); STL corners at exactly one position become one vertex, and
        ``file_ids[3 f + c]`` is the vertex of corner c of facet f.

    Raises
    ------
    MeshError
        No such file, another format, a file that cannot be parsed, no faces, a coordinate that is not finite,
        ids out of range, vertices that no face uses or that share one position, polygons with more than four
        corners, faces without area, edges with more than two triangles; no tetrahedra, cells that are no
        linear tetrahedra, what :class:`TetMesh` refuses. The message names the file, the place in it and the
        cure.
    MissingExtraError
        Any but OBJ without the extra ``mesh``.
    """
    file = Path(path)
    if unit not in UNITS:
        raise MeshError(f"{file}: unit {unit!r} is unknown; choose one of {', '.join(UNITS)}")
    reader = _READERS.get(file.suffix.lower())
    tets = file.suffix.lower() in TET_FORMATS
    if reader is None and not tets:
        known = ", ".join([*_READERS, *TET_FORMATS])
        raise MeshError(f"{file}: files ending in {file.suffix!r} are not read; use one of {known}")
    if not file.is_file():
        raise MeshError(f"{file}: {'not a file' if file.exists() else 'no such file'}; check the path")
    try:
        if reader is None:
            return read_tets(file, UNITS[unit])
        raw = reader(file)
    except OSError as error:
        raise MeshError(f"{file}: cannot be read: {error.strerror}") from error
    _refuse_unclean(raw, file)
    return TriMesh(raw.vertices * UNITS[unit], raw.triangles, raw.file_ids, name=file.stem, source=str(file))


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


# ---- clean or not


def _refuse_unclean(raw: _RawMesh, file: Path) -> None:
    x, tri = raw.vertices, raw.triangles
    if not len(tri):
        raise MeshError(f"{file}: no faces ({len(x)} vertices); export the surface with its faces")
    _refuse(
        np.flatnonzero(~np.isfinite(x).all(axis=1)),
        file,
        raw.vertex_place,
        "coordinates are not finite; write numbers",
    )
    beyond = np.flatnonzero(((tri < 0) | (tri >= len(x))).any(axis=1))
    _refuse(beyond, file, raw.triangle_place, f"refers to a vertex that is not among the file's {len(x)}")
    used = np.zeros(len(x), dtype=bool)
    used[tri] = True
    _refuse(
        np.flatnonzero(~used),
        file,
        raw.vertex_place,
        "no face uses it; delete loose vertices before exporting",
    )
    _refuse(
        degenerate_triangles(x, tri),
        file,
        raw.triangle_place,
        "has no area; dissolve degenerate faces before exporting",
    )
    _, first, group = np.unique(x + 0.0, axis=0, return_index=True, return_inverse=True)
    twin = first[group.ravel()]
    _refuse(
        np.flatnonzero(twin != np.arange(len(x))),
        file,
        lambda v: f"{raw.vertex_place(v)} and {raw.vertex_place(int(twin[v]))}",
        "at one position, so the cloth would fall apart there; merge vertices by distance",
    )
    edges, counts = topology.edge_use(tri)
    bad = np.flatnonzero(counts > 2)
    if bad.size:
        a, b = edges[bad[0]].tolist()
        around = np.flatnonzero((tri == a).any(axis=1) & (tri == b).any(axis=1))
        places = ", ".join(raw.triangle_place(int(f)) for f in around[:4])
        raise MeshError(
            f"{file}: edge from {raw.vertex_place(a)} to {raw.vertex_place(b)} has "
            f"{counts[bad[0]]} triangles ({places}; {bad.size} such edges); "
            "split the surface there so that each edge has at most two"
        )


def _refuse(bad: np.ndarray, file: Path, place: Callable[[int], str], what: str) -> None:
    if bad.size:
        more = f" ({bad.size} such)" if bad.size > 1 else ""
        raise MeshError(f"{file} {place(int(bad[0]))}: {what}{more}")


# ---- OBJ

_OBJ_IGNORED = frozenset({
    "vt", "vn", "vp", "g", "o", "s", "mg", "usemtl", "mtllib", "usemap", "maplib", "lod", "bevel", "c_interp",
    "d_interp", "shadow_obj", "trace_obj", "l", "p",
})  # fmt: skip
"""Statements that say nothing about the surface: texture, normals, groups, materials, loose lines."""


def _read_obj(file: Path) -> _RawMesh:
    data = file.read_bytes()
    if b"\0" in data:
        raise MeshError(f"{file}: holds binary data, so it is not an OBJ file; export it again as OBJ")
    vertices: list[list[float]] = []
    vertex_lines: list[int] = []
    faces: list[list[int]] = []
    face_lines: list[int] = []
    text = data.decode("utf-8", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    for number, words in _obj_statements(text):
        keyword = words[0]
        if keyword == "v":
            vertices.append(_obj_position(words, file, number))
            vertex_lines.append(number)
        elif keyword == "f":
            faces.append(_obj_corners(words, len(vertices), file, number))
            face_lines.append(number)
        elif keyword not in _OBJ_IGNORED:
            raise MeshError(
                f"{file} line {number}: {keyword[:40]!r} is no OBJ statement that belongs to a mesh; "
                "remove the line, or put # before it if it is a comment"
            )
    _check_obj_ids(faces, face_lines, len(vertices), file)
    x = np.array(vertices, dtype=np.float64).reshape(-1, 3)
    triangles, face_of = _triangulated(x, faces)
    return _RawMesh(
        x,
        triangles,
        np.arange(len(x)),
        lambda v: f"line {vertex_lines[v]} (vertex {v + 1})",
        lambda f: f"line {face_lines[face_of[f]]} (face {face_of[f] + 1})",
    )


def _obj_statements(text: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and words of each statement; a backslash at the end of a line joins it with the next."""
    held: list[str] = []
    first = 0
    for number, line in enumerate(text.split("\n"), start=1):
        body = line.split("#", 1)[0].rstrip()
        first = first if held else number
        if body.endswith("\\"):
            held.append(body[:-1])
            continue
        words = " ".join([*held, body]).split()
        held = []
        if words:
            yield first, words
    if held and (words := " ".join(held).split()):
        yield first, words


def _obj_position(words: list[str], file: Path, number: int) -> list[float]:
    """x, y, z; what follows (a weight or a colour) is not read."""
    if len(words) < 4:
        raise MeshError(f"{file} line {number}: a vertex needs three coordinates, it has {len(words) - 1}")
    try:
        return [float(w) for w in words[1:4]]
    except ValueError as error:
        raise MeshError(
            f"{file} line {number}: vertex coordinates are not numbers: {' '.join(words[1:4])[:60]!r}"
        ) from error


def _obj_corners(words: list[str], n_vertices: int, file: Path, number: int) -> list[int]:
    """Vertex ids from 0 of a face; negative indices count back from the last vertex so far."""
    try:
        given = [int(w.split("/", 1)[0]) for w in words[1:]]
    except ValueError as error:
        raise MeshError(
            f"{file} line {number}: a face lists vertex numbers, got {' '.join(words[1:])[:60]!r}"
        ) from error
    if not 3 <= len(given) <= 4:
        cure = "remove it" if len(given) < 3 else "triangulate the mesh before exporting"
        raise MeshError(f"{file} line {number}: a face with {len(given)} corners; {cure}")
    for i in given:
        if i == 0 or -i > n_vertices:
            raise MeshError(
                f"{file} line {number}: face refers to vertex {i}; numbers start at 1, "
                f"or at -1 back from the last of the {n_vertices} vertices above it"
            )
    return [i - 1 if i > 0 else n_vertices + i for i in given]


def _check_obj_ids(faces: list[list[int]], lines: list[int], n_vertices: int, file: Path) -> None:
    for corners, number in zip(faces, lines, strict=True):
        for i in corners:
            if i >= n_vertices:
                raise MeshError(
                    f"{file} line {number}: face refers to vertex {i + 1}, the file has {n_vertices}; "
                    "correct the number or add the vertex"
                )
        if len(set(corners)) < len(corners):
            raise MeshError(
                f"{file} line {number}: face names a vertex twice; remove the face or the repetition"
            )


def _triangulated(x: np.ndarray, faces: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Triangles (F, 3) in the order of the faces, and the face of each; quads are cut in two.

    A quad is cut from its first to its third corner, or along the other diagonal where that would fold it.
    """
    out: list[tuple[int, int, int]] = []
    face_of: list[int] = []
    for f, corners in enumerate(faces):
        if len(corners) == 3:
            out.append((corners[0], corners[1], corners[2]))
            face_of.append(f)
            continue
        a, b, c, d = corners
        u, v, w = x[b] - x[a], x[c] - x[a], x[d] - x[a]
        if np.dot(np.cross(u, v), np.cross(v, w)) >= 0.0:
            out += [(a, b, c), (a, c, d)]
        else:
            out += [(a, b, d), (b, c, d)]
        face_of += [f, f]
    return np.array(out, dtype=np.int64).reshape(-1, 3), np.array(face_of, dtype=np.int64)


# ---- PLY and STL


def _trimesh_loader(format_name: str) -> Any:
    try:
        import trimesh.exchange.ply
        import trimesh.exchange.stl
    except ImportError as error:
        raise MissingExtraError(f"reading {format_name} files", "trimesh", "mesh") from error
    return trimesh.exchange


def _parsed(file: Path, format_name: str, load: Callable[[Any], dict]) -> dict:
    """Run another library's parser; whatever goes wrong in it, the file is not one it can read."""
    try:
        with warnings.catch_warnings(), file.open("rb") as stream:
            warnings.simplefilter("error")
            return load(stream)
    except OSError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"[:160]
        raise MeshError(f"{file}: not a readable {format_name} file ({reason}); export it again") from error


def _read_ply(file: Path) -> _RawMesh:
    loader = _trimesh_loader("PLY").ply
    found = _parsed(file, "PLY", lambda stream: _ply_arrays(loader, stream))
    x, faces = found["vertex"], found["face"]
    for name in ("vertex", "face"):
        if len(found[name]) != found["promised"][name]:
            raise MeshError(
                f"{file}: {len(found[name])} of {name}, its header promises {found['promised'][name]}; "
                "the file is cut short or damaged, export it again"
            )
    for f, corners in enumerate(faces):
        if not 3 <= len(corners) <= 4:
            cure = "remove it" if len(corners) < 3 else "triangulate the mesh before exporting"
            raise MeshError(f"{file} face {f}: a face with {len(corners)} corners; {cure}")
        for v in corners:
            if not 0 <= v < len(x):
                raise MeshError(
                    f"{file} face {f}: refers to vertex {v}, the file has {len(x)} (from 0); "
                    "correct the number"
                )
        if len(set(corners)) < len(corners):
            raise MeshError(f"{file} face {f}: names a vertex twice; remove the face or the repetition")
    triangles, face_of = _triangulated(x, faces)
    return _RawMesh(x, triangles, np.arange(len(x)), lambda v: f"vertex {v}", lambda f: f"face {face_of[f]}")


def _ply_arrays(loader: Any, stream: Any) -> dict:
    """Vertices and the faces as the file has them: trimesh cuts and reorders mixed polygons, we must not."""
    found = loader.load_ply(stream, fix_texture=False, skip_materials=True)
    elements = found["metadata"]["_ply_raw"]
    promised = {name: elements.get(name, {}).get("length", 0) for name in ("vertex", "face")}
    data = elements.get("face", {}).get("data")
    faces = found.get("faces")
    if isinstance(data, dict):
        faces = next((data[name] for name in ("vertex_index", "vertex_indices") if name in data), faces)
    x = np.array(found.get("vertices", np.zeros((0, 3))), dtype=np.float64).reshape(-1, 3)
    listed = [] if faces is None else [[int(v) for v in np.atleast_1d(face)] for face in faces]
    return {"vertex": x, "face": listed, "promised": promised}


def _read_stl(file: Path) -> _RawMesh:
    loader = _trimesh_loader("STL").stl
    corners = _parsed(file, "STL", lambda stream: _stl_corners(loader, stream))["corners"]
    bad = np.flatnonzero(~np.isfinite(corners).all(axis=1))
    _refuse(
        bad, file, lambda c: f"facet {c // 3} corner {c % 3}", "coordinates are not finite; write numbers"
    )
    _, first, group = np.unique(corners + 0.0, axis=0, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    ids = rank[group.ravel()]
    x = corners[np.sort(first)]
    triangles = ids.reshape(-1, 3)
    a, b, c = triangles.T
    repeated = np.flatnonzero((a == b) | (b == c) | (c == a))
    _refuse(repeated, file, lambda f: f"facet {f}", "has two corners at one position; remove it")
    return _RawMesh(x, triangles, ids, lambda v: f"vertex at {tuple(x[v].tolist())}", lambda f: f"facet {f}")


def _stl_corners(loader: Any, stream: Any) -> dict:
    """Corners (3 F, 3) of the facets of all solids in the file, one after the other."""
    found = loader.load_stl(stream)
    solids = list(found["geometry"].values()) if "geometry" in found else [found]
    parts = [np.array(solid["vertices"], dtype=np.float64).reshape(-1, 9) for solid in solids]
    return {"corners": np.concatenate([np.zeros((0, 9)), *parts]).reshape(-1, 3)}


_READERS: dict[str, Callable[[Path], _RawMesh]] = {".obj": _read_obj, ".ply": _read_ply, ".stl": _read_stl}
