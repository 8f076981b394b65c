"""Which files a run writes: checked before it starts, so that nothing is lost at its end."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import util
from pathlib import Path

from pliant import viewer
from pliant.backend.notice import notice
from pliant.errors import PliantError


def pictures() -> bool:
    """Whether contact sheets can be drawn here."""
    return util.find_spec("PIL") is not None


def default_outputs(stem: Path) -> list[Path]:
    """A page and, where it can be drawn, a contact sheet, named after ``stem``."""
    page, sheet = Path(f"{stem}.html"), Path(f"{stem}.png")
    if pictures():
        return [page, sheet]
    notice(f'no {sheet.name}: a contact sheet needs Pillow, pip install "pliant[render]"')
    return [page]


def checked(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Recordings and reports (.json) among ``paths``; raises now what writing them would raise later."""
    reports = [path for path in paths if path.suffix.lower() == ".json"]
    recordings = [path for path in paths if path not in reports]
    for path in recordings:
        viewer.check(path)
    for path in paths:
        can_write(path)
    return recordings, reports


def can_write(path: Path) -> None:
    """Raise PliantError where ``path`` has no folder that can be written."""
    folder = path.absolute().parent
    if not folder.is_dir():
        raise PliantError(f"cannot write {path}: there is no folder {folder}; make it first")
    if path.is_dir() or not os.access(folder, os.W_OK):
        raise PliantError(f"cannot write {path}; choose another place")


def written_since(paths: Sequence[Path], began: float) -> str:
    """Those of ``paths`` that were written after a time (of ``time.time``), in words."""
    made = [str(path) for path in paths if path.exists() and path.stat().st_mtime >= began]
    return f"; what was made so far is in {', '.join(made)}" if made else ""


def frames_apart(dt: float, wanted: float = 1 / 30) -> int:
    """Steps between two frames of a recording that are about ``wanted`` seconds apart."""
    return max(1, round(wanted / dt))
