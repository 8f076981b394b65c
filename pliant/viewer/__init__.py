"""What a recording is written as: a page, a contact sheet, a film, the data itself, or an export.

Meshes are written here, too: the suffix says in which format.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path

from pliant.errors import PliantError
from pliant.geometry.mesh import TriMesh
from pliant.geometry.tetmesh import TetMesh
from pliant.io.exports import formats
from pliant.io.recording import Recording

__all__ = ["SUFFIXES", "check", "write", "write_all"]

PICTURES = (".html", ".png", ".mp4", ".gif", ".webp", ".npz")
SUFFIXES = (*PICTURES, *formats.SUFFIXES)
SLOW = (".mp4", ".gif", ".webp")  # a picture for each frame: seconds to minutes


def write(
    what: Recording | TriMesh | TetMesh,
    path: str | os.PathLike[str],
    progress: bool = False,
    *,
    fps: float | None = None,
    up: str | None = None,
    unit: str | None = None,
    frame: int | None = None,
    colliders: bool = True,
) -> Path:
    """Write a recording or a mesh in the format that the suffix of ``path`` names.

    Of a recording, ``.html`` is one self-contained page, ``.png`` a contact sheet (needs the extra
    ``render``), ``.mp4`` a film (needs the extra ``video``), ``.gif`` and ``.webp`` a moving image
    (``render``), ``.npz`` the data, with any number of frames, none included. All else is an export for other
    programs: ``.obj``, ``.ply``, ``.stl``, ``.vtp``, ``.vtu`` hold one frame (or one each, where the name has
    ``####``), ``.pvd``, ``.pc2``, ``.mdd``, ``.glb`` and ``.usd``, ``.usda``, ``.usdc`` (extra ``usd``) all.
    Everything appears whole or not at all.

    Args:
        what: a recording, or a mesh, which can be written in formats that hold a single one.
        path: the file.
        progress: show a bar where it takes long.
        fps: of an export, frames per second: frame k is at k / fps after the first, s, interpolated linearly
            between the recorded ones. None: as recorded.
        up: of an export, "z" or "y"; None: z, or y for ``.glb``.
        unit: of an export, what one unit of the file means: "m" (None), "cm", "mm", "dm", "in", "ft".
        frame: of an export, only this frame; negative ones count from the end. Formats that hold one frame
            have the last if it is None.
        colliders: of an export, whether they are written, where the format holds several objects.

    Returns:
        The path that was written.

    Raises:
        PliantError: the suffix is unknown, an option does not belong to it, or the folder cannot be written.
        MissingExtraError: a package is not installed.
    """
    target = Path(path)
    options = formats.Options(fps, up, unit, frame, colliders)
    if target.suffix.lower() in formats.SUFFIXES:
        formats.export(what, target, options)
        return target
    writer = _picture(target, progress)
    if not isinstance(what, Recording):
        raise PliantError(f"{target}: a mesh is exported as {', '.join(formats.MESHES)}; rename the file")
    if options != formats.Options():
        raise PliantError(
            f"{target}: fps, up, unit, frame and colliders are options of exports "
            f"({', '.join(formats.SUFFIXES)}); leave them out"
        )
    writer(what, target)
    return target


def write_all(
    recording: Recording,
    paths: Sequence[str | os.PathLike[str]],
    say: Callable[[str], None] | None = None,
    slowly: AbstractContextManager[None] | None = None,
) -> None:
    """Write ``recording`` to every path, whatever becomes of the others; then raise the first error.

    Args:
        recording: what to write.
        paths: those that are soon done are written first.
        say: is told each path before it is written, and of the errors that are not raised; shows progress.
        slowly: entered for the paths that take long.
    """
    first: Exception | None = None
    slow = [path for path in paths if Path(path).suffix.lower() in SLOW]
    for some, around in (
        ([p for p in paths if p not in slow], nullcontext()),
        (slow, slowly or nullcontext()),
    ):
        if not some:
            continue
        with around:
            for path in some:
                if say is not None:
                    say(f"writing {path}")
                try:
                    write(recording, path, progress=say is not None)
                except Exception as error:
                    if first is None:
                        first = error
                    elif say is not None:
                        say(f"{path} was not written: {error}")
    if first is not None:
        raise first


def check(path: str | os.PathLike[str]) -> None:
    """Raise now what :func:`write` would raise about ``path`` later (after a long run, say)."""
    target = Path(path)
    if target.suffix.lower() in formats.SUFFIXES:
        return formats.check(target)
    _picture(target, False)
    if target.suffix.lower() in (".png", ".gif", ".webp"):
        from pliant.viewer import png

        png.needs()
    elif target.suffix.lower() == ".mp4":
        from pliant.viewer import video

        video.needs()


def _picture(target: Path, progress: bool) -> Callable[[Recording, Path], None]:
    suffix = target.suffix.lower()
    if suffix == ".npz":
        return Recording.save_npz
    if suffix == ".html":
        from pliant.viewer.html import write_html

        return write_html
    if suffix == ".png":
        from pliant.viewer.png import write_png

        return write_png
    if suffix == ".mp4":
        from pliant.viewer.video import write_video

        return partial(write_video, progress=progress)
    if suffix in (".gif", ".webp"):
        from pliant.viewer.video import write_animation

        return partial(write_animation, progress=progress)
    raise PliantError(
        f"{target}: pictures and recordings end in {', '.join(PICTURES)}, exports in "
        f'{", ".join(formats.SUFFIXES)}, not in "{suffix}"; rename the file'
    )
