"""Bodies of tetrahedra from Gmsh, VTK and Medit files, by meshio (extra ``mesh``).

Only linear tetrahedra are taken. Points, lines and surface triangles that such files list beside them are
left out, for the surface follows from the tetrahedra; other cells that fill space are refused by name.
"""

from __future__ import annotations

import io
import warnings
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import MeshError, MissingExtraError
from pliant.geometry.tetmesh import TetMesh, check_tets

FORMATS = {".msh": "gmsh", ".vtk": "vtk", ".vtu": "vtu", ".mesh": "medit"}
"""What a file's suffix says, and the reader of meshio for it."""
NAMES = {".msh": "Gmsh", ".vtk": "VTK", ".vtu": "VTU", ".mesh": "Medit"}
FLAT = ("vertex", "line", "line3", "triangle", "triangle6", "triangle7", "quad", "quad8", "quad9")
"""Cells that fill no space."""


def read_tets(file: Path, scale: float) -> TetMesh:
    """The body in a file, its coordinates multiplied by ``scale``; see :func:`pliant.io.meshes.read_mesh`."""
    found = _parsed(file)
    x = np.asarray(found.points, dtype=np.float64)
    if x.ndim != 2 or x.shape[1] > 3:
        raise MeshError(
            f"{file}: not a readable {NAMES[file.suffix.lower()]} file (no points); export it again"
        )
    x = np.pad(x, ((0, 0), (0, max(0, 3 - x.shape[1]))))
    tets = [np.asarray(block.data) for block in found.cells if block.type == "tetra"]
    others = {block.type: 0 for block in found.cells if block.type != "tetra"}
    for block in found.cells:
        if block.type != "tetra":
            others[block.type] += len(block.data)
    solid = {kind: n for kind, n in others.items() if kind not in FLAT and n}
    if solid:
        what = ", ".join(f"{n} of type {kind!r}" for kind, n in solid.items())
        cure = (
            "mesh with first-order elements"
            if set(solid) <= {"tetra10"}
            else "mesh with tetrahedra of 4 nodes"
        )
        raise MeshError(f"{file}: holds cells that are no linear tetrahedra ({what}); {cure}")
    if not sum(len(t) for t in tets):
        beside = ", ".join(f"{n} of type {kind!r}" for kind, n in others.items()) or "no cells at all"
        raise MeshError(
            f"{file}: no tetrahedra ({len(x)} points, {beside}); mesh the volume too, or export the surface "
            "as .obj, .ply or .stl for a cloth"
        )
    return _body(file, x * scale, np.concatenate([t for t in tets if len(t)]))


def _body(file: Path, x: np.ndarray, tets: np.ndarray) -> TetMesh:
    """Leave out what no tetrahedron uses, and refuse what would fall apart."""
    check_tets(x, tets, str(file), loose_too=False)
    used = np.zeros(len(x), dtype=bool)
    used[tets] = True
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
    return TetMesh(x[kept], ids[tets], ids, name=file.stem, source=str(file))


def _parsed(file: Path) -> Any:
    """What meshio makes of a file; whatever goes wrong in it, the file is not one it can read."""
    suffix = file.suffix.lower()
    try:
        reader = import_module(f"meshio.{FORMATS[suffix]}")
    except ImportError as error:
        raise MissingExtraError(f"reading {NAMES[suffix]} files", "meshio", "mesh") from error
    silent = io.StringIO()
    try:
        with warnings.catch_warnings(), redirect_stdout(silent), redirect_stderr(silent):
            warnings.simplefilter("ignore")
            return reader.read(str(file))
    except OSError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".strip(": ")[:160]
        raise MeshError(f"{file}: not a readable {NAMES[suffix]} file ({reason}); export it again") from error
