"""USD (``.usd``, ``.usda``, ``.usdc``, ``.usdz``): meshes of a stage, by Pixar's library (extra ``usd``).

All meshes are one surface, at the places and the earliest time that the stage has for them. Subdivision is
not applied: the cage is the mesh.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import MeshError, MissingExtraError, PliantError
from pliant.io.colors import screen
from pliant.io.obj import unit_colors
from pliant.io.raw import RawSurface

TEXTURE = ("st", "uv", "UVMap", "map1", "st0")
"""Names that programs give to texture coordinates."""


def _library() -> tuple[Any, Any]:
    try:
        from pxr import Usd, UsdGeom
    except ImportError as error:
        raise MissingExtraError("reading USD files", "usd-core", "usd") from error
    return Usd, UsdGeom


def read_usd(file: Path) -> RawSurface:
    """The polygons of all active meshes on a stage; ``metres`` is the stage's metersPerUnit."""
    Usd, UsdGeom = _library()
    try:
        raw = _opened(file, Usd, UsdGeom)
    except (PliantError, OSError):
        raise
    except Exception as error:
        raise MeshError(f"{file}: not a readable USD file ({_reason(error)}); export it again") from error
    if not (raw.metres is not None and np.isfinite(raw.metres) and raw.metres > 0.0):
        raise MeshError(
            f"{file}: metersPerUnit is {raw.metres}; give a unit, as in read_mesh(path, unit='cm')"
        )
    return raw


def _reason(error: Exception) -> str:
    """The library's words; they quote the file, and cannot be had where that is no text."""
    try:
        return " ".join(str(error).split())[:160]
    except UnicodeDecodeError:
        return "it is no UTF-8 text"


def _opened(file: Path, Usd: Any, UsdGeom: Any) -> RawSurface:
    stage = Usd.Stage.Open(str(file), Usd.Stage.LoadAll)
    places = UsdGeom.XformCache(Usd.TimeCode.EarliestTime())
    prims = Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies())
    parts = [_mesh(file, prim, places, Usd, UsdGeom) for prim in prims if prim.IsA(UsdGeom.Mesh)]
    raw = _joined(parts)
    raw.metres = float(UsdGeom.GetStageMetersPerUnit(stage))
    if not UsdGeom.StageHasAuthoredMetersPerUnit(stage):
        raw.remarks.append(f"states no metersPerUnit; USD's own {raw.metres:g} is taken")
    return raw


def _mesh(file: Path, prim: Any, places: Any, Usd: Any, UsdGeom: Any) -> RawSurface:
    mesh, path, time = UsdGeom.Mesh(prim), str(prim.GetPath()), Usd.TimeCode.EarliestTime()
    x = np.array(mesh.GetPointsAttr().Get(time) or [], dtype=np.float64).reshape(-1, 3)
    sizes = np.array(mesh.GetFaceVertexCountsAttr().Get(time) or [], dtype=np.int64)
    corners = np.array(mesh.GetFaceVertexIndicesAttr().Get(time) or [], dtype=np.int64)
    if (sizes < 0).any() or sizes.sum() != len(corners):
        raise MeshError(
            f"{file} {path}: faceVertexIndices has {len(corners)} numbers, faceVertexCounts promises "
            f"{sizes.sum()}; the mesh is damaged, export it again"
        )
    if corners.size and not 0 <= corners.min() <= corners.max() < len(x):
        raise MeshError(f"{file} {path}: faces refer to points from 0 to {corners.max()}, it has {len(x)}")
    matrix = np.array(places.GetLocalToWorldTransform(prim), dtype=np.float64)
    raw = RawSurface(
        x @ matrix[:3, :3] + matrix[3, :3],
        corners,
        sizes,
        np.arange(len(x)),
        lambda v: f"{path} point {v}",
        lambda f: f"{path} face {f}",
    )
    _add_texture(raw, file, path, UsdGeom.PrimvarsAPI(prim), time)
    _add_colors(raw, mesh, time)
    holes = np.array(mesh.GetHoleIndicesAttr().Get(time) or [], dtype=np.int64)
    if holes.size:
        raw.remarks.append(f"{path}: {len(holes)} faces are marked as holes; they are kept")
    left = mesh.GetOrientationAttr().Get(time) == UsdGeom.Tokens.leftHanded
    if left != bool(np.linalg.det(matrix[:3, :3]) < 0.0):
        _turn(raw)
    return raw


def _turn(raw: RawSurface) -> None:
    """Every face the other way round, from the same corner."""
    inside = np.arange(len(raw.corners)) - np.repeat(raw.starts, raw.sizes)
    size, start = np.repeat(raw.sizes, raw.sizes), np.repeat(raw.starts, raw.sizes)
    at = start + np.where(inside == 0, 0, size - inside)
    raw.corners = raw.corners[at]
    raw.uv_corners = None if raw.uv_corners is None else raw.uv_corners[at]


def _add_texture(raw: RawSurface, file: Path, path: str, primvars: Any, time: Any) -> None:
    for name in TEXTURE:
        found = primvars.GetPrimvar(name)
        if not found or not found.HasValue():
            continue
        pairs = np.array(found.Get(time), dtype=np.float64)
        ids = np.array(found.GetIndices(time) or [], dtype=np.int64)
        ids = ids if ids.size else np.arange(len(pairs))
        way = str(found.GetInterpolation())
        due = {"faceVarying": len(raw.corners), "vertex": len(raw.vertices), "varying": len(raw.vertices)}
        if pairs.ndim != 2 or pairs.shape[1] != 2 or way not in due:
            continue
        if len(ids) != due[way] or (ids.size and not 0 <= ids.min() <= ids.max() < len(pairs)):
            raise MeshError(
                f"{file} {path}: {len(ids)} texture coordinates {name!r} where {due[way]} are due, or "
                "numbers beyond them; export it again"
            )
        raw.uv, raw.uv_corners = pairs, ids if way == "faceVarying" else ids[raw.corners]
        return


def _add_colors(raw: RawSurface, mesh: Any, time: Any) -> None:
    found = mesh.GetDisplayColorPrimvar()
    rows = np.array(found.ComputeFlattened(time) if found and found.HasValue() else [], dtype=np.float64)
    if rows.shape != raw.vertices.shape or str(found.GetInterpolation()) not in ("vertex", "varying"):
        return
    clear = mesh.GetDisplayOpacityPrimvar()
    alpha = np.array(clear.ComputeFlattened(time) if clear and clear.HasValue() else [], dtype=np.float64)
    if alpha.shape == (len(rows),):
        rows = np.c_[rows, alpha]
    colors, remark = unit_colors(rows)
    raw.colors = None if colors is None else screen(colors)
    raw.remarks += [remark] if remark else []


def _joined(parts: list[RawSurface]) -> RawSurface:
    """All meshes one after the other; colours only where every mesh has them."""
    none, no_ids = np.zeros((0, 3)), np.zeros(0, dtype=np.int64)
    start = np.cumsum([0, *(len(p.vertices) for p in parts)]).tolist()
    faces = np.cumsum([0, *(len(p.sizes) for p in parts)]).tolist()
    uv_start = np.cumsum([0, *(0 if p.uv is None else len(p.uv) for p in parts)]).tolist()

    def owner(starts: list[int], k: int) -> tuple[RawSurface, int]:
        i = int(np.searchsorted(starts, k, side="right")) - 1
        return parts[i], k - starts[i]

    def vertex_place(v: int) -> str:
        part, k = owner(start, v)
        return part.vertex_place(k)

    def face_place(f: int) -> str:
        part, k = owner(faces, f)
        return part.face_place(k)

    textured = any(p.uv is not None for p in parts)
    uv_corners = [
        np.full(len(p.corners), -1) if p.uv_corners is None else p.uv_corners + uv_start[i]
        for i, p in enumerate(parts)
    ]
    widths = {None if p.colors is None else p.colors.shape[1] for p in parts}
    return RawSurface(
        np.concatenate([none, *(p.vertices for p in parts)]),
        np.concatenate([no_ids, *(p.corners + start[i] for i, p in enumerate(parts))]),
        np.concatenate([no_ids, *(p.sizes for p in parts)]),
        np.arange(start[-1]),
        vertex_place,
        face_place,
        uv=np.concatenate([p.uv for p in parts if p.uv is not None]) if textured else None,
        uv_corners=np.concatenate(uv_corners) if textured else None,
        colors=np.concatenate([p.colors for p in parts if p.colors is not None])
        if len(widths) == 1 and None not in widths
        else None,
        remarks=[remark for p in parts for remark in p.remarks],
    )
