"""Pictures of a recording: a page to turn and play, a contact sheet, or the data itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from pliant.errors import PliantError
from pliant.io.recording import Recording

__all__ = ["SUFFIXES", "write", "write_all"]

SUFFIXES = (".html", ".png", ".npz")


def write(recording: Recording, path: str | os.PathLike[str]) -> Path:
    """Write ``recording`` in the format that the suffix of ``path`` names.

    ``.html`` is one self-contained page, ``.png`` a contact sheet (needs the extra ``render``), ``.npz`` the
    data. Any number of frames will do, none included. The file appears whole or not at all.

    Returns:
        The path that was written.

    Raises:
        PliantError: the suffix is unknown, or the folder cannot be written.
        MissingExtraError: ``.png`` without Pillow.
    """
    target = Path(path)
    _writer(target)(recording, target)
    return target


def write_all(
    recording: Recording,
    paths: Sequence[str | os.PathLike[str]],
    say: Callable[[str], None] | None = None,
) -> None:
    """Write ``recording`` to every path, whatever becomes of the others; then raise the first error.

    ``say`` is told each path before it is written, and of the errors that are not raised.
    """
    first: Exception | None = None
    for path in paths:
        if say is not None:
            say(f"writing {path}")
        try:
            write(recording, path)
        except Exception as error:
            if first is None:
                first = error
            elif say is not None:
                say(f"{path} was not written: {error}")
    if first is not None:
        raise first


def check(path: str | os.PathLike[str]) -> None:
    """Raise now what :func:`write` would raise about ``path`` later (after a long run, say)."""
    _writer(Path(path))


def _writer(target: Path) -> Callable[[Recording, Path], None]:
    suffix = target.suffix.lower()
    if suffix == ".npz":
        return Recording.save_npz
    if suffix == ".html":
        from pliant.viewer.html import write_html

        return write_html
    if suffix == ".png":
        from pliant.viewer.png import write_png

        return write_png
    raise PliantError(
        f'{target}: pictures and recordings end in {", ".join(SUFFIXES)}, not "{suffix}"; rename the file'
    )
