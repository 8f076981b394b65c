"""USD: points as time samples, by the package usd-core (extra ``usd``).

Time code k is frame k; ``timeCodesPerSecond`` is the rate, so that frame k is at k / fps.
``metersPerUnit`` and ``upAxis`` say what the numbers mean. Polygons, the file's order of vertices, texture
coordinates with their seams, colours, strain (``primvars:strain``) and velocities are kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import MissingExtraError
from pliant.io.colors import linear
from pliant.io.exports.appearance import SOLID, part_colour
from pliant.io.exports.clip import Clip, Piece
from pliant.io.exports.files import another
from pliant.io.filed import Filed

__all__ = ["needs", "write_usd"]

Array = np.ndarray


def needs() -> Any:
    """The modules of usd-core. Raises MissingExtraError without it."""
    try:
        import pxr.Gf
        import pxr.Sdf
        import pxr.Tf
        import pxr.Usd
        import pxr.UsdGeom
        import pxr.Vt
    except ImportError as error:
        raise MissingExtraError("USD files", "usd-core", "usd") from error
    return pxr


def write_usd(clip: Clip, path: Path) -> None:
    """Write all frames; the suffix picks text (.usda) or binary (.usdc, .usd)."""
    pxr = needs()
    stage = pxr.Usd.Stage.CreateInMemory()
    stage.SetDefaultPrim(pxr.UsdGeom.Xform.Define(stage, "/World").GetPrim())
    pxr.UsdGeom.SetStageUpAxis(stage, clip.up.upper())
    pxr.UsdGeom.SetStageMetersPerUnit(stage, clip.metres)
    if not clip.still:
        stage.SetTimeCodesPerSecond(clip.fps)
        stage.SetFramesPerSecond(clip.fps)
        stage.SetStartTimeCode(clip.numbers[0])
        stage.SetEndTimeCode(clip.numbers[-1])
    taken: list[str] = []
    for k, piece in enumerate(clip.pieces):
        mesh = _mesh(pxr, stage, piece.name, taken, piece.filed.shell, part_colour(k))
        _points(pxr, mesh, clip, piece)
    poses = [clip.placed(i) for i in range(len(clip))]
    for k, solid in enumerate(clip.solids):
        filed = Filed.plain(len(solid.vertices), solid.triangles)
        mesh = _mesh(pxr, stage, solid.name, taken, filed, SOLID)
        mesh.CreatePointsAttr(_vectors(pxr, solid.vertices))
        mesh.CreateExtentAttr(_box(pxr, solid.vertices))
        _move(pxr, mesh, clip, [pose[k] for pose in poses])
    stage.GetRootLayer().Export(str(path))


def _mesh(pxr: Any, stage: Any, name: str, taken: list[str], filed: Filed, colour: tuple[float, ...]) -> Any:
    """A mesh with all that does not change."""
    taken.append(another(pxr.Tf.MakeValidIdentifier(name), taken))
    mesh = pxr.UsdGeom.Mesh.Define(stage, f"/World/{taken[-1]}")
    mesh.CreateFaceVertexCountsAttr(pxr.Vt.IntArray.FromNumpy(filed.counts.astype(np.int32)))
    mesh.CreateFaceVertexIndicesAttr(pxr.Vt.IntArray.FromNumpy(filed.corners.astype(np.int32)))
    mesh.CreateSubdivisionSchemeAttr(pxr.UsdGeom.Tokens.none)
    mesh.CreateDoubleSidedAttr(True)
    api = pxr.UsdGeom.PrimvarsAPI(mesh)
    if filed.uv is not None:
        seams = filed.uv_corners is not None
        kind = pxr.UsdGeom.Tokens.faceVarying if seams else pxr.UsdGeom.Tokens.vertex
        st = api.CreatePrimvar("st", pxr.Sdf.ValueTypeNames.TexCoord2fArray, kind)
        st.Set(pxr.Vt.Vec2fArray.FromNumpy(filed.uv.astype(np.float32)))
        if filed.uv_corners is not None:
            st.SetIndices(pxr.Vt.IntArray.FromNumpy(filed.uv_corners.astype(np.int32)))
    tints = np.array([[*colour]]) if filed.colors is None else linear(filed.colors)
    kind = pxr.UsdGeom.Tokens.constant if filed.colors is None else pxr.UsdGeom.Tokens.vertex
    mesh.CreateDisplayColorPrimvar(kind).Set(_vectors(pxr, tints[:, :3]))
    if tints.shape[1] == 4:
        opacity = pxr.Vt.FloatArray.FromNumpy(tints[:, 3].astype(np.float32))
        mesh.CreateDisplayOpacityPrimvar(kind).Set(opacity)
    return mesh


def _points(pxr: Any, mesh: Any, clip: Clip, piece: Piece) -> None:
    """Positions over time, and what there is beside them."""
    filed = piece.filed.shell
    at = [pxr.Usd.TimeCode.Default()] if clip.still else [pxr.Usd.TimeCode(k) for k in clip.numbers]
    points, extent = mesh.CreatePointsAttr(), mesh.CreateExtentAttr()
    api, strain = pxr.UsdGeom.PrimvarsAPI(mesh), None
    if clip.has_strain() and not clip.still:
        kind = pxr.Sdf.ValueTypeNames.FloatArray
        strain = api.CreatePrimvar("strain", kind, pxr.UsdGeom.Tokens.vertex)
    for i, time in enumerate(at):
        x = clip.listed(i, filed, piece.start)
        points.Set(_vectors(pxr, x), time)
        extent.Set(_box(pxr, x), time)
        fields = clip.fields(i, filed.sources + piece.start * (filed.sources >= 0))
        if "velocity" in fields:
            mesh.CreateVelocitiesAttr().Set(_vectors(pxr, fields["velocity"]), time)
        if strain is not None:
            strain.Set(pxr.Vt.FloatArray.FromNumpy(fields["strain"]), time)


def _move(pxr: Any, mesh: Any, clip: Clip, poses: list[Array]) -> None:
    """Where a collider is; as time samples only if it moves."""
    op = mesh.AddTransformOp()
    still = all(np.array_equal(pose, poses[0]) for pose in poses)
    for k, pose in zip(clip.numbers, poses, strict=True):
        matrix = np.eye(4)
        matrix[:3, :3], matrix[3, :3] = pose[:, :3].T, pose[:, 3]  # USD multiplies rows
        time = pxr.Usd.TimeCode.Default() if still else pxr.Usd.TimeCode(k)
        op.Set(pxr.Gf.Matrix4d(matrix.tolist()), time)
        if still:
            break


def _vectors(pxr: Any, x: Array) -> Any:
    return pxr.Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(x, dtype=np.float32))


def _box(pxr: Any, x: Array) -> Any:
    return _vectors(pxr, np.stack([x.min(axis=0), x.max(axis=0)]))
