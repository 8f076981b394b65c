"""``pliant convert``: a recording or a mesh in another format."""

from __future__ import annotations

import argparse
from pathlib import Path

from pliant import viewer
from pliant.backend.notice import notice
from pliant.cli import OK
from pliant.cli.outputs import can_write
from pliant.geometry.mesh import TriMesh
from pliant.geometry.tetmesh import TetMesh
from pliant.io.meshes import read_mesh
from pliant.io.recording import Recording


def run(args: argparse.Namespace) -> int:
    """Read the one file, write the other, say what was written."""
    source, target = Path(args.source), Path(args.target)
    viewer.check(target)
    can_write(target)
    what = read(source, args.source_unit)
    notice(f"{source}: {what!r}")
    viewer.write(
        what,
        target,
        progress=not args.quiet,
        fps=args.fps,
        up=args.up,
        unit=args.unit,
        frame=args.frame,
        colliders=not args.no_colliders,
    )
    print(target)
    return OK


def read(path: Path, unit: str | None) -> Recording | TriMesh | TetMesh:
    """A recording (.npz, .html) or a mesh; ``unit`` is that of a mesh file."""
    suffix = path.suffix.lower()
    if suffix == ".npz":
        return Recording.load_npz(path)
    if suffix == ".html":
        from pliant.viewer.pages import read_page

        return read_page(path)
    return read_mesh(path, unit)
