"""``check_mesh``: look at a mesh before it is simulated."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.checking.bodies import body_findings
from pliant.checking.report import ERROR, SEVERITIES, WARNING, Finding, MeshReport
from pliant.checking.surfaces import surface_findings
from pliant.geometry.mesh import TriMesh
from pliant.geometry.repair import Pair, arrays_of
from pliant.geometry.tetmesh import TetMesh

Array = np.ndarray

LARGEST, SMALLEST = 20.0, 0.01
"""Sizes [m] beyond which a unit was probably left out."""


def check_mesh(
    mesh: TriMesh | TetMesh | Pair, *, self_intersections: bool = True, name: str | None = None
) -> MeshReport:
    """Say what is wrong with a mesh: how much of it, where, and the cure.

    Parameters
    ----------
    mesh : TriMesh, TetMesh, or a pair of vertices (N, 3) [m] and ids (F, 3) or (E, 4) of any state, also such
        as TriMesh and TetMesh refuse
    self_intersections : look for edges that pass through triangles, too; of all the checks the slowest
    name : for the report, where the mesh is a pair

    Returns
    -------
    MeshReport
        One finding for each kind of trouble, none for a clean mesh. docs/checking.md lists them. Tolerances
        are relative to lengths of the mesh; only the size of the whole is judged in metres.

    Raises
    ------
    MeshError
        Something that is no mesh: neither of the above, or rows of another width.
    """
    x, ids, where = arrays_of(mesh, name)
    width = ids.shape[1]
    counts: dict[str, Any] = {"vertices": len(x)}
    counts["triangles" if width == 3 else "tets"] = len(ids)
    findings = _impossible(x, ids)
    skipped: tuple[str, ...] = ()
    if findings:
        skipped = ("anything else, until this is mended",)
    else:
        findings += _size(x[np.unique(ids)], counts)
        if width == 3:
            findings += surface_findings(x, ids, counts, self_intersections)
        else:
            turned = mesh.turned if isinstance(mesh, TetMesh) else 0
            findings += body_findings(x, ids, counts, turned)
        if width == 3 and not self_intersections:
            skipped = ("self-intersections",)
    findings.sort(key=lambda f: SEVERITIES.index(f.severity))
    kind = "surface" if width == 3 else "body"
    return MeshReport(where, kind, counts, tuple(findings), skipped)


def _impossible(x: Array, ids: Array) -> list[Finding]:
    """What keeps everything else from being looked at."""
    found = []
    what = "triangle" if ids.shape[1] == 3 else "tetrahedron"
    if not len(ids):
        found.append(
            Finding("empty", ERROR, "mesh", np.zeros(0, int), f"there is no {what}", "export the faces, too")
        )
    bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
    if bad.size:
        words = f"{bad.size} coordinates are not finite (NaN or infinite)"
        found.append(Finding("not_finite", ERROR, "vertex", bad, words, "correct them by hand"))
    bad = np.flatnonzero(((ids < 0) | (ids >= len(x))).any(axis=1))
    if bad.size:
        words = f"{bad.size} refer to vertices that do not exist (there are {len(x)}, from 0)"
        found.append(Finding("out_of_range", ERROR, what, bad, words, "correct the numbers or export again"))
    return found


def _size(x: Array, counts: dict[str, Any]) -> list[Finding]:
    size = np.ptp(x, axis=0)
    counts["size"] = size.tolist()
    longest = float(size.max())
    if SMALLEST <= longest <= LARGEST:
        return []
    guess = ("mm" if longest > 15 * LARGEST else "cm") if longest > LARGEST else ""
    cure = (
        f'if the file is in {guess}, read it with unit="{guess}"'
        if guess
        else "check the unit it was read with"
    )
    words = f"it is {longest:.4g} m long, which no cloth or soft body is likely to be"
    return [Finding("units", WARNING, "mesh", np.zeros(0, int), words, cure)]
