"""Where the files of an export go: names of numbered ones, and all of them at once or none."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pliant.errors import PliantError

__all__ = ["Staging", "another", "file_name", "is_series", "numbered", "staged", "without_number"]

NUMBER = re.compile(r"#+|%0?\d*d")


class Staging:
    """A hidden folder beside the target; what is written there appears in the target's folder at the end."""

    def __init__(self, folder: Path, target: Path) -> None:
        self.folder = folder
        self.target = target

    def path(self, name: str) -> Path:
        """Where to write the file that shall be called ``name``."""
        return self.folder / name


@contextmanager
def staged(target: Path) -> Iterator[Staging]:
    """A staging whose files appear, and replace old ones, only when all are complete.

    Raises:
        PliantError: the folder of ``target`` cannot be written.
    """
    folder = target.with_name(f".{NUMBER.sub('', target.name)}.{os.getpid()}.part")
    try:
        folder.mkdir()
    except OSError as error:
        raise PliantError(
            f"cannot write {target}: {error.strerror}; choose a folder that can be written"
        ) from error
    try:
        yield Staging(folder, target)
        paths = sorted(folder.iterdir())
        taken = [path.name for path in paths if target.with_name(path.name).is_dir()]
        if taken:
            raise PliantError(
                f"cannot write {target.with_name(taken[0])}: it is a folder; choose another name"
            )
        for path in paths:
            path.replace(target.with_name(path.name))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def is_series(path: Path) -> bool:
    """Whether a name asks for numbered files: ``drape_####.obj`` or ``drape_%04d.obj``."""
    return NUMBER.search(path.stem) is not None


def numbered(path: Path, number: int) -> str:
    """The name of the file of a frame; the number is as wide as the signs that stand for it, or wider."""
    signs = list(NUMBER.finditer(path.stem))[-1]
    width = len(signs[0]) if signs[0].startswith("#") else int(signs[0].strip("%d") or 0)
    return f"{path.stem[: signs.start()]}{number:0{width}d}{path.stem[signs.end() :]}{path.suffix}"


def without_number(path: Path) -> str:
    """The stem of a series' name without its number: ``drape`` for ``drape_####.vtp``."""
    return NUMBER.sub("", path.stem).strip("_-. ") or "series"


def file_name(name: str, taken: Sequence[str] = ()) -> str:
    """A name of a part as a part of a file's name, another one than those in ``taken``."""
    return another(re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII).strip("._") or "part", taken)


def another(name: str, taken: Sequence[str]) -> str:
    """The name itself, or with a number at its end where it is taken."""
    out, k = name, 2
    while out in taken:
        out, k = f"{name}_{k}", k + 1
    return out
