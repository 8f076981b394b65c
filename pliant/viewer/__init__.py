"""Pictures of a recording: a page to turn and play, a contact sheet, a film, or the data itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path

from pliant.errors import PliantError
from pliant.io.recording import Recording

__all__ = ["SUFFIXES", "check", "write", "write_all"]

SUFFIXES = (".html", ".png", ".mp4", ".gif", ".webp", ".npz")
SLOW = (".mp4", ".gif", ".webp")  # a picture for each frame: seconds to minutes


def write(recording: Recording, path: str | os.PathLike[str], progress: bool = False) -> Path:
    """Write ``recording`` in the format that the suffix of ``path`` names.

    ``.html`` is one self-contained page, ``.png`` a contact sheet (needs the extra ``render``), ``.mp4`` a
    film (needs the extra ``video``), ``.gif`` and ``.webp`` a moving image (``render``), ``.npz`` the data.
    Any number of frames will do, none included. The file appears whole or not at all. ``progress`` shows a
    bar where it takes long.

    Returns:
        The path that was written.

    Raises:
        PliantError: the suffix is unknown, or the folder cannot be written.
        MissingExtraError: a package is not installed.
    """
    target = Path(path)
    _writer(target, progress)(recording, target)
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
    _writer(target, False)
    if target.suffix.lower() in (".png", ".gif", ".webp"):
        from pliant.viewer import png

        png.needs()
    elif target.suffix.lower() == ".mp4":
        from pliant.viewer import video

        video.needs()


def _writer(target: Path, progress: bool) -> Callable[[Recording, Path], None]:
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
        f'{target}: pictures and recordings end in {", ".join(SUFFIXES)}, not "{suffix}"; rename the file'
    )
