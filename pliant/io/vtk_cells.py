"""Cells as VTK's files list them: a type, and a stretch of one long list of points, for each."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.errors import MeshError
from pliant.io.cells import NO_IDS, RawCells

TRIANGLE, STRIP, POLYGON, PIXEL, QUAD, TETRA = 5, 6, 7, 8, 9, 10
FACES = (TRIANGLE, STRIP, POLYGON, PIXEL, QUAD)
NAMES = {
    1: "vertex", 2: "vertices", 3: "line", 4: "lines", 11: "voxel", 12: "hexahedron", 13: "wedge",
    14: "pyramid", 21: "line3", 22: "triangle6", 23: "quad8", 24: "tetra10", 25: "hexahedron20",
    26: "wedge15", 27: "pyramid13", 28: "quad9", 29: "hexahedron27", 34: "triangle7", 42: "polyhedron",
    68: "line of Lagrange", 69: "triangle of Lagrange", 70: "quad of Lagrange", 71: "tetra of Lagrange",
}  # fmt: skip
WIDTHS = {TRIANGLE: 3, PIXEL: 4, QUAD: 4, TETRA: 4}


def sorted_vtk(types: np.ndarray, ends: np.ndarray, points: np.ndarray, file: Path) -> dict:
    """Tets, polygons and counts of the rest, for ``RawCells``, in the order of the file.

    ``types`` (E,), ``ends`` (E,) where the points of each cell end in the list ``points``.
    """
    types, ends, points = (np.asarray(a).astype(np.int64) for a in (types, ends, points))
    sizes = np.diff(ends, prepend=0)
    if len(types) != len(ends) or (sizes < 0).any() or (ends[-1] if len(ends) else 0) != len(points):
        raise MeshError(
            f"{file}: {len(types)} types, {len(ends)} offsets and {len(points)} points of cells contradict "
            "each other; the file is cut short or damaged, export it again"
        )
    for kind, width in WIDTHS.items():
        odd = np.flatnonzero((types == kind) & (sizes != width))
        if odd.size:
            raise MeshError(f"{file}: cell {odd[0]} of type {kind} has {sizes[odd[0]]} points, not {width}")
    starts = ends - sizes
    tets = np.flatnonzero(types == TETRA)
    faces = np.flatnonzero(np.isin(types, FACES))
    pixels = np.flatnonzero(types == PIXEL)
    points = points.copy()
    points[starts[pixels] + 2], points[starts[pixels] + 3] = (
        points[starts[pixels] + 3],
        points[starts[pixels] + 2],
    )
    others: dict[str, int] = {}
    for kind in types[~np.isin(types, (*FACES, TETRA))].tolist():
        name = NAMES.get(kind, f"VTK {kind}")
        others[name] = others.get(name, 0) + 1
    corners, counts, cell = _faces(types[faces], starts[faces], sizes[faces], points)
    return {
        "tets": points[starts[tets, None] + np.arange(4)].reshape(-1, 4),
        "corners": corners,
        "sizes": counts,
        "others": others,
        "face_place": lambda f: f"cell {faces[cell[f]]}",
    }


def _faces(
    types: np.ndarray, starts: np.ndarray, sizes: np.ndarray, points: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Corners and sizes of polygons, and the face that each comes from: a strip gives many triangles."""
    if not (types == STRIP).any():
        inside = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
        return points[inside], sizes, np.arange(len(sizes))
    corners, counts, cell = [NO_IDS], [NO_IDS], [NO_IDS]
    for f, (kind, start, size) in enumerate(
        zip(types.tolist(), starts.tolist(), sizes.tolist(), strict=True)
    ):
        if kind == STRIP:
            rows = strip_triangles(points[start : start + size])
            corners.append(rows.ravel())
            counts.append(np.full(len(rows), 3))
        else:
            corners.append(points[start : start + size])
            counts.append(np.array([size]))
        cell.append(np.full(len(counts[-1]), f))
    return np.concatenate(corners), np.concatenate(counts), np.concatenate(cell)


def strip_triangles(ids: np.ndarray) -> np.ndarray:
    """Triangles (n - 2, 3) of a strip (n,), every other one turned so that all are wound alike."""
    rows = (
        np.stack([ids[:-2], ids[1:-1], ids[2:]], axis=1) if len(ids) > 2 else np.zeros((0, 3), dtype=np.int64)
    )
    rows[1::2] = rows[1::2, [1, 0, 2]]
    return rows


def joined(parts: list[RawCells]) -> RawCells:
    """Several pieces as one, one after the other; texture and colours where all pieces have them."""
    if len(parts) == 1:
        return parts[0]
    start = np.cumsum([0, *(len(p.points) for p in parts)])[:-1].tolist()
    others: dict[str, int] = {}
    for p in parts:
        for kind, n in p.others.items():
            others[kind] = others.get(kind, 0) + n

    def rows(name: str) -> np.ndarray | None:
        every = [getattr(p, name) for p in parts]
        widths = {a.shape[1] for a in every if a is not None}
        return np.concatenate(every) if all(a is not None for a in every) and len(widths) == 1 else None

    return RawCells(
        np.concatenate([p.points for p in parts]),
        np.concatenate([p.tets + s for p, s in zip(parts, start, strict=True)]),
        np.concatenate([p.corners + s for p, s in zip(parts, start, strict=True)]),
        np.concatenate([p.sizes for p in parts]),
        others,
        rows("uv"),
        rows("colors"),
        [remark for p in parts for remark in p.remarks],
    )
