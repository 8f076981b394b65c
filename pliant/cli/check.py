"""``pliant check``: what is wrong with a mesh file, on one screen, and the way to mend it."""

from __future__ import annotations

import argparse
import shlex
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant import viewer
from pliant.checking.check import check_mesh
from pliant.checking.report import MeshReport
from pliant.cli import ERROR, OK
from pliant.cli.outputs import can_write
from pliant.cli.report import json_text
from pliant.errors import MeshError, MeshWarning, PliantError
from pliant.geometry.mesh import TriMesh
from pliant.geometry.repair import Repair, arrays_of, repair_mesh
from pliant.geometry.tetmesh import TetMesh
from pliant.io.meshes import read_mesh, read_pair

Mesh = Any
"""TriMesh, TetMesh or a pair of arrays."""


def run(args: argparse.Namespace) -> int:
    """Print the report; 0 for a clean mesh, 1 for one with errors or warnings."""
    file = Path(args.file)
    out = None if args.repair is None else _checked_output(file, Path(args.repair))
    if args.picture is not None:
        can_write(Path(args.picture))
    mesh = read(file, args.unit)
    report = check_mesh(mesh, name=str(file))
    repair = None if report.ok and out is None else _mended(mesh, file)
    after = (
        None if repair is None or isinstance(repair, str) else check_mesh(repair.mesh, name=str(out or file))
    )
    if args.json:
        print(json_text({"report": report.to_dict(), "repair": _plain(repair, after)}))
    else:
        print(report)
        for line in _offer(file, args.unit, repair, after, out):
            print(line)
    if args.picture is not None:
        from pliant.checking.picture import write_picture

        x, ids, _ = arrays_of(mesh, str(file))
        write_picture(args.picture, x, ids, report)
    if out is None:
        return OK if report.ok else ERROR
    if not isinstance(repair, Repair):
        raise PliantError(f"{file}: nothing was written: {repair}")
    if isinstance(repair.mesh, TetMesh) and out.suffix.lower() != ".vtu":
        raise PliantError(f"{out}: of a body only .vtu keeps the tetrahedra; rename the file")
    viewer.write(numbered_afresh(repair.mesh), out)
    return OK if after is not None and after.ok else ERROR


def read(file: Path, unit: str | None) -> Mesh:
    """The mesh of a file, or its arrays where no mesh can be made of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshWarning)  # the report says it all
        try:
            return read_mesh(file, unit)
        except MeshError as error:
            try:
                return read_pair(file, unit)
            except MeshError:
                raise error from None


def numbered_afresh(mesh: TriMesh | TetMesh) -> TriMesh | TetMesh:
    """The mesh as a file of its own: exports list what a file listed, seams and strays included."""
    if isinstance(mesh, TriMesh):
        return replace(mesh, file_ids=np.arange(mesh.n_vertices), file_triangles=None)
    return TetMesh(mesh.vertices, mesh.tets, name=mesh.name, source=mesh.source)


def _checked_output(file: Path, out: Path) -> Path:
    viewer.check(out)
    can_write(out)
    if out.exists() and file.exists() and out.samefile(file):
        raise PliantError(f"{out} would overwrite the mesh that is checked; name another file")
    return out


def _mended(mesh: Mesh, file: Path) -> Repair | str:
    """The repair, or why there is none."""
    try:
        return repair_mesh(mesh, name=file.stem)
    except MeshError as error:
        return str(error)


def _plain(repair: Repair | str | None, after: MeshReport | None) -> Any:
    if repair is None or isinstance(repair, str):
        return repair
    changes = [
        {"name": c.name, "count": c.count, "first": list(c.first), "words": c.words} for c in repair.changes
    ]
    return {"changes": changes, "left": None if after is None else after.to_dict()["findings"]}


def _offer(
    file: Path, unit: str | None, repair: Repair | str | None, after: MeshReport | None, out: Path | None
) -> list[str]:
    """What repair does or would do, and what it leaves."""
    if repair is None:
        return []
    if isinstance(repair, str):
        return [f"repair is not possible: {repair}"]
    if not repair.changes:
        return ["nothing of it can be repaired by itself"] if out is None else ["nothing to repair", f"{out}"]
    lines = [f"  {change}" for change in repair.changes]
    left = [] if after is None else [f.name for f in after.findings if f.severity != "note"]
    rest = f"; left: {', '.join(left)}" if left else "; nothing is left"
    if out is not None:
        return ["repaired:", *lines, f"{out}{rest}"]
    suffix = ".vtu" if isinstance(repair.mesh, TetMesh) else ".obj"
    target = file.with_name(f"{file.stem}-repaired{suffix}")
    words = ["pliant", "check", str(file), *(["--unit", unit] if unit else []), "--repair", str(target)]
    return [f"to repair: {shlex.join(words)}", *lines, rest[2:]]
