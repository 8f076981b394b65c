"""Points and cells of formats that hold bodies as well as surfaces, and the mesh that follows from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import MeshError
from pliant.geometry.mesh import TriMesh
from pliant.geometry.tetmesh import TetMesh, check_tets
from pliant.io.raw import Place, RawSurface, to_mesh, warn_of_size

FLAT = ("vertex", "line", "triangle", "quad", "polygon")
"""Beginnings of the names of cells that fill no space."""
NO_IDS = np.zeros(0, dtype=np.int64)


@dataclass
class RawCells:
    """What a file says, in its own unit; nothing but its form has been checked.

    Attributes
    ----------
    points : (N, 3) float64
    tets : (E, 4) int64
    corners, sizes : (C,) and (F,) int64, polygons one after the other: triangles, quadrilaterals, others
    others : how many cells there are of each other kind
    uv, colors : one row per point, as in ``TriMesh``
    file_ids : (n_file,) point that each one of the file became, where they are not the same
    face_place : says where polygon number i stands in the file
    """

    points: np.ndarray
    tets: np.ndarray = field(default_factory=lambda: np.zeros((0, 4), dtype=np.int64))
    corners: np.ndarray = field(default_factory=lambda: NO_IDS)
    sizes: np.ndarray = field(default_factory=lambda: NO_IDS)
    others: dict[str, int] = field(default_factory=dict)
    uv: np.ndarray | None = None
    colors: np.ndarray | None = None
    remarks: list[str] = field(default_factory=list)
    face_place: Place = "face {}".format


@dataclass
class Block:
    """Cells of one kind: their corners (n, k), and their numbers (n,) in the file where it has any."""

    kind: str
    rows: np.ndarray
    numbers: np.ndarray | None = None


def sorted_cells(blocks: list[Block]) -> dict:
    """Tets, polygons and counts of the rest, for ``RawCells``."""
    tets = [b.rows for b in blocks if b.kind == "tetra" and len(b.rows)]
    faces = [b for b in blocks if b.kind in ("triangle", "quad", "polygon") and len(b.rows)]
    others: dict[str, int] = {}
    for b in blocks:
        if b.kind not in ("tetra", "triangle", "quad", "polygon") and len(b.rows):
            others[b.kind] = others.get(b.kind, 0) + len(b.rows)
    found: dict[str, Any] = {
        "tets": np.concatenate(tets) if tets else np.zeros((0, 4), dtype=np.int64),
        "corners": np.concatenate([b.rows.ravel() for b in faces]) if faces else NO_IDS,
        "sizes": np.concatenate([np.full(len(b.rows), b.rows.shape[1]) for b in faces]) if faces else NO_IDS,
        "others": others,
    }
    numbers = [b.numbers for b in faces if b.numbers is not None]
    if faces and len(numbers) == len(faces):
        every = np.concatenate(numbers)
        found["face_place"] = lambda f: f"element {every[f]}"
    return found


def to_body_or_surface(raw: RawCells, file: Path, scale: float) -> TetMesh | TriMesh:
    """The body of all tetrahedra; the surface, where there are none. MeshError for what makes no sense."""
    check_kinds(raw, file)
    if len(raw.tets):
        return _body(raw, file, scale)
    return to_mesh(surface_of(raw), file, scale)


def check_kinds(raw: RawCells, file: Path) -> None:
    """Refuse cells that are neither linear tetrahedra nor faces, and files without either."""
    solid = {kind: n for kind, n in raw.others.items() if not kind.startswith(FLAT)}
    if solid:
        cure = "mesh with tetrahedra of 4 nodes"
        if set(solid) <= {"tetra10"}:
            cure = "mesh with first-order elements"
        what = ", ".join(f"{n} of type {kind!r}" for kind, n in solid.items())
        raise MeshError(f"{file}: holds cells that are no linear tetrahedra ({what}); {cure}")
    if len(raw.tets) or len(raw.sizes):
        return
    beside = ", ".join(f"{n} of type {kind!r}" for kind, n in raw.others.items()) or "no cells at all"
    raise MeshError(
        f"{file}: no tetrahedra and no faces ({len(raw.points)} points, {beside}); "
        "export the body with its volume meshed, or a surface with first-order faces"
    )


def _body(raw: RawCells, file: Path, scale: float) -> TetMesh:
    """Leave out what no tetrahedron uses, and refuse what would fall apart."""
    x = raw.points * scale
    check_tets(x, raw.tets, str(file), loose_too=False)
    used = np.zeros(len(x), dtype=bool)
    used[raw.tets] = True
    ids = np.where(used, np.cumsum(used) - 1, -1)
    kept = np.flatnonzero(used)
    _, first, group = np.unique(x[kept] + 0.0, axis=0, return_index=True, return_inverse=True)
    twin = first[group.ravel()]
    doubled = np.flatnonzero(twin != np.arange(len(kept)))
    if doubled.size:
        a, b = kept[doubled[0]], kept[twin[doubled[0]]]
        raise MeshError(
            f"{file}: points {b} and {a} (counted from 0) are at one position, so the body would fall apart "
            f"there ({doubled.size} such); merge coincident nodes before exporting"
        )
    mesh = TetMesh(x[kept], ids[raw.tets], ids, name=file.stem, source=str(file))
    warn_of_size(mesh.bounds, file)
    return mesh


def surface_of(raw: RawCells) -> RawSurface:
    """Leave out what no face uses: mesh generators write points wherever their geometry needed one."""
    n = len(raw.points)
    inside = (raw.corners >= 0) & (raw.corners < n)
    used = np.zeros(n, dtype=bool)
    used[raw.corners[inside]] = True
    ids = np.where(used, np.cumsum(used) - 1, -1)
    kept = np.flatnonzero(used)
    beyond = np.where(raw.corners < 0, raw.corners, raw.corners - n + len(kept))
    return RawSurface(
        raw.points[kept],
        np.where(inside, ids[np.where(inside, raw.corners, 0)] if n else beyond, beyond),
        raw.sizes,
        ids,
        lambda v: f"point {kept[v]} (from 0)",
        raw.face_place,
        uv=None if raw.uv is None else raw.uv[kept],
        colors=None if raw.colors is None else raw.colors[kept],
        remarks=raw.remarks,
    )
