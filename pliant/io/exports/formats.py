"""Which export a suffix names, and what it can do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pliant.errors import PliantError
from pliant.geometry.mesh import TriMesh
from pliant.geometry.tetmesh import TetMesh
from pliant.io.exports.clip import Clip
from pliant.io.exports.files import Staging, is_series, numbered, staged, without_number
from pliant.io.recording import Recording

__all__ = ["MESHES", "SUFFIXES", "check", "export"]

STILLS = (".obj", ".ply", ".stl", ".vtp", ".vtu")
"""One frame a file; numbered files where the name has ``####``."""
FILMS = (".pc2", ".mdd", ".glb", ".usd", ".usda", ".usdc", ".pvd")
"""All frames."""
SUFFIXES = (*STILLS, *FILMS)
MESHES = tuple(suffix for suffix in SUFFIXES if suffix not in (".pc2", ".mdd", ".pvd"))
"""What a single mesh can be written as."""


@dataclass(frozen=True)
class Options:
    """How to export; None leaves it to the format.

    Attributes:
        fps: frames per second; None: those of the recording.
        up: "z" or "y"; None: z, or y where the format says so (.glb).
        unit: what one unit of the file means; None: the metre.
        frame: only this one; of formats that hold one, None is the last.
        colliders: whether they are written where the format has several objects.
    """

    fps: float | None = None
    up: str | None = None
    unit: str | None = None
    frame: int | None = None
    colliders: bool = True


def check(path: Path, options: Options = Options()) -> None:
    """Raise now what :func:`export` would raise about ``path`` later.

    Raises:
        PliantError: options that the format does not have, numbers in a name that has none.
        MissingExtraError: a package is not installed.
    """
    suffix = path.suffix.lower()
    if suffix == ".glb":
        for name, value, only in (("up", options.up, "y"), ("unit", options.unit, "m")):
            if value not in (None, only):
                raise PliantError(f'{path}: {name} of a .glb file is "{only}" by its standard, not {value!r}')
    if is_series(path) and suffix not in (*STILLS, ".glb"):
        raise PliantError(f"{path}: a {suffix} file holds all frames; write {_unnumbered(path)}")
    if suffix in (".usd", ".usda", ".usdc"):
        from pliant.io.exports import usd

        usd.needs()


def export(what: Recording | TriMesh | TetMesh, path: Path, options: Options = Options()) -> None:
    """Write a recording or a mesh in the format that the suffix names: whole, or not at all.

    Raises:
        PliantError: another suffix, no frames, an option that does not fit, a folder that cannot be written.
        MissingExtraError: a package is not installed.
    """
    suffix = path.suffix.lower()
    mesh = not isinstance(what, Recording)
    known = MESHES if mesh else SUFFIXES
    if suffix not in known:
        raise PliantError(
            f"{path}: {'a mesh is' if mesh else 'recordings are'} exported as {', '.join(known)}, "
            f'not "{suffix}"; rename the file'
        )
    check(path, options)
    up = options.up or ("y" if suffix == ".glb" else "z")
    many = suffix not in (".ply", ".stl", ".vtp", ".vtu", ".pc2", ".mdd", ".pvd")  # objects
    clip = Clip.of(what, options.fps, up, options.unit or "m", options.colliders and many)
    if options.frame is not None:
        clip = clip.only(options.frame)
    with staged(path) as staging:
        _writers(suffix)(clip, staging)


def _writers(suffix: str) -> Callable[[Clip, Staging], None]:
    if suffix in (".pc2", ".mdd"):
        from pliant.io.exports import caches

        return caches.write_pc2 if suffix == ".pc2" else caches.write_mdd
    if suffix == ".pvd":
        return _listed
    return partial(_stills, _still(suffix), suffix in STILLS)


def _still(suffix: str) -> Callable[[Clip, int, Path], None]:
    """What writes one frame; of a format with time, all of a clip."""
    if suffix == ".obj":
        from pliant.io.exports.obj import write_obj

        return write_obj
    if suffix in (".ply", ".stl"):
        from pliant.io.exports import binary

        return binary.write_ply if suffix == ".ply" else binary.write_stl
    if suffix in (".vtp", ".vtu"):
        from pliant.io.exports import vtk

        return vtk.write_vtp if suffix == ".vtp" else vtk.write_vtu
    if suffix == ".glb":
        from pliant.io.exports.glb import write_glb

        return lambda clip, _, path: write_glb(clip, path)
    from pliant.io.exports.usd import write_usd

    return lambda clip, _, path: write_usd(clip, path)


def _stills(write: Callable[[Clip, int, Path], None], one: bool, clip: Clip, staging: Staging) -> None:
    """A file, or one for each frame; for ParaView a list of them, too."""
    target = staging.target
    if not is_series(target):
        write(clip, len(clip) - 1, staging.path(target.name))
        return
    names = [numbered(target, number) for number in clip.numbers]
    for i, name in enumerate(names):
        if one:
            write(clip, i, staging.path(name))
        else:
            write(clip.only(i), 0, staging.path(name))
    if target.suffix.lower() in (".vtp", ".vtu"):
        from pliant.io.exports.vtk import write_pvd

        write_pvd(clip, names, staging.path(f"{without_number(target)}.pvd"))


def _listed(clip: Clip, staging: Staging) -> None:
    """A .pvd file and the surfaces that it lists."""
    from pliant.io.exports.vtk import write_pvd, write_vtp

    names = [f"{staging.target.stem}_{number:04d}.vtp" for number in clip.numbers]
    for i, name in enumerate(names):
        write_vtp(clip, i, staging.path(name))
    write_pvd(clip, names, staging.path(staging.target.name))


def _unnumbered(path: Path) -> Any:
    return path.with_name(without_number(path) + path.suffix)
