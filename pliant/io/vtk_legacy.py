"""VTK's legacy files (``.vtk``): unstructured grids and polygonal data, ASCII and binary, up to version 5.1.

The format is that of "VTK file formats" in the VTK User's Guide. Fields on points and cells are not read. It
is read here, and not by a library, because meshio reads no polygonal data and takes damaged counts.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from pliant.errors import MeshError
from pliant.io.cells import RawCells
from pliant.io.text import text_of
from pliant.io.vtk_cells import POLYGON, STRIP, sorted_vtk

TYPES = {
    "char": "i1", "signed_char": "i1", "unsigned_char": "u1", "short": "i2", "unsigned_short": "u2",
    "int": "i4", "unsigned_int": "u4", "long": "i8", "unsigned_long": "u8", "vtktypeint32": "i4",
    "vtktypeint64": "i8", "vtkidtype": "i8", "float": "f4", "double": "f8",
}  # fmt: skip
POLY = {"VERTICES": 2, "LINES": 4, "POLYGONS": POLYGON, "TRIANGLE_STRIPS": STRIP}
"""Sections of polygonal data, and the type of their cells in a grid."""


class _Reader:
    """A place in the bytes of a file, and the ways to read on from there."""

    def __init__(self, data: bytes, file: Path) -> None:
        self.data, self.file, self.at, self.binary = data, file, 0, False

    def fail(self, what: str) -> MeshError:
        line = self.data.count(b"\n", 0, max(self.at - 1, 0)) + 1
        where = "" if self.binary else f" line {line}"
        return MeshError(f"{self.file}{where}: {what}; export it again")

    def line(self) -> list[str]:
        """Words of the next line that has any; none at the end of the file."""
        while self.at < len(self.data):
            end = self.data.find(b"\n", self.at)
            end = len(self.data) if end < 0 else end
            words = self.data[self.at : end].decode("latin-1").split()
            self.at = end + 1
            if words:
                return words
        return []

    def numbers(self, n: int, kind: str) -> np.ndarray:
        """``n`` numbers of one of VTK's types."""
        if kind.lower() not in TYPES:
            raise self.fail(f"numbers of type {kind[:20]!r} are not read")
        dtype = np.dtype(">" + TYPES[kind.lower()])
        if not 0 <= n <= len(self.data):
            raise self.fail(f"promises {n} numbers, more than it has bytes")
        if self.binary:
            if n * dtype.itemsize > len(self.data) - self.at:
                raise self.fail(f"ends before the {n} numbers that its header promises, so it is cut short")
            found = np.frombuffer(self.data, dtype, n, self.at)
            self.at += n * dtype.itemsize
            return found.astype(np.float64 if dtype.kind == "f" else np.int64)
        return self._written(n, dtype)

    def _written(self, n: int, dtype: np.dtype) -> np.ndarray:
        words = self.data[self.at :].split(None, n)
        rest = len(words.pop()) if len(words) > n else 0
        self.at = len(self.data) - rest
        try:
            if b"_" in b"".join(words):
                raise ValueError
            values = [float(w) for w in words] if dtype.kind == "f" else [int(w) for w in words]
            found = np.array(values, dtype=np.float64 if dtype.kind == "f" else np.int64)
        except (ValueError, OverflowError) as error:
            raise self.fail(f"what stands where {n} numbers are due is none") from error
        if len(words) < n:
            raise self.fail(f"ends before the {n} numbers that its header promises, so it is cut short")
        return found


def read_vtk(file: Path) -> RawCells:
    """Points and cells of an unstructured grid or of polygonal data."""
    reader = _Reader(file.read_bytes(), file)
    dataset = _dataset(reader)
    points = np.zeros((0, 3))
    kinds: list[np.ndarray] = []
    sizes: list[np.ndarray] = []
    ids: list[np.ndarray] = []
    seen: set[str] = set()
    while words := reader.line():
        name = words[0].upper()
        if name in ("POINT_DATA", "CELL_DATA", "FIELD"):
            break
        if name == "METADATA":
            _skip_metadata(reader)
            continue
        if name in seen:
            raise reader.fail(f"a second section {name}")
        seen.add(name)
        if name == "POINTS" and len(words) == 3:
            n = _count(reader, words[1])
            points = reader.numbers(3 * n, words[2]).astype(np.float64).reshape(n, 3)
        elif name == "CELLS" if dataset == "UNSTRUCTURED_GRID" else name in POLY:
            cell_sizes, cell_ids = _cells(reader, words)
            sizes.append(cell_sizes)
            ids.append(cell_ids)
            if name in POLY:
                kinds.append(np.full(len(cell_sizes), POLY[name]))
        elif name == "CELL_TYPES" and len(words) == 2:
            kinds.append(reader.numbers(_count(reader, words[1]), "int"))
        else:
            raise reader.fail(f"{' '.join(words)[:60]!r} where a section is due")
    none = np.zeros(0, dtype=np.int64)
    ends = np.cumsum(np.concatenate([none, *sizes]))
    return RawCells(
        points, **sorted_vtk(np.concatenate([none, *kinds]), ends, np.concatenate([none, *ids]), file)
    )


def _dataset(reader: _Reader) -> str:
    """The kind of data; sets whether they are binary."""
    first = " ".join(reader.line())
    if not re.match(r"# vtk DataFile Version \d", first, re.IGNORECASE):
        if b"\0" not in reader.data[:4096]:
            text_of(reader.data[:4096], reader.file, "a VTK file")
        raise MeshError(f"{reader.file}: begins with {first[:40]!r}, not as a VTK file does; export it again")
    end = reader.data.find(b"\n", reader.at)  # a title, which may be empty
    reader.at = end + 1 if end >= 0 else len(reader.data)
    form = " ".join(reader.line()).upper()
    if form not in ("ASCII", "BINARY"):
        raise reader.fail(f"{form[:40]!r} where ASCII or BINARY is due")
    reader.binary = form == "BINARY"
    words = reader.line()
    dataset = words[1].upper() if len(words) == 2 and words[0].upper() == "DATASET" else " ".join(words)
    if dataset not in ("UNSTRUCTURED_GRID", "POLYDATA"):
        raise MeshError(
            f"{reader.file}: holds {dataset[:40]!r}; only UNSTRUCTURED_GRID and POLYDATA are read"
        )
    return dataset


def _count(reader: _Reader, word: str) -> int:
    if not (word.isdecimal() and word.isascii() and len(word) < 16):
        raise reader.fail(f"{word[:40]!r} where a count is due")
    return int(word)


def _cells(reader: _Reader, words: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """How many points each cell has, and the points of all."""
    if len(words) != 3:
        raise reader.fail(f"{' '.join(words)[:60]!r} where a section and two counts are due")
    n, total = (_count(reader, word) for word in words[1:])
    before = reader.at
    following = reader.line()
    if following[:1] == ["OFFSETS"] and len(following) == 2:
        ends = reader.numbers(n, following[1])
        head = reader.line()
        if head[:1] != ["CONNECTIVITY"] or len(head) != 2:
            raise reader.fail("the offsets of cells without CONNECTIVITY after them")
        ids = reader.numbers(total, head[1])
        if n == 0 or ends[0] != 0 or ends[-1] != total or (np.diff(ends) < 0).any():
            raise reader.fail(f"offsets of cells contradict the {total} points that they have")
        return np.diff(ends), ids
    reader.at = before
    flat = reader.numbers(total, "int").tolist()
    sizes, at = [], 0
    ids = np.ones(total, dtype=bool)
    for _ in range(n):
        if at >= total or not 0 <= flat[at] < total - at:
            raise reader.fail(f"{n} cells do not fit the {total} numbers promised for them")
        sizes.append(flat[at])
        ids[at] = False
        at += 1 + flat[at]
    if at != total:
        raise reader.fail(f"{n} cells do not fill the {total} numbers promised for them")
    return np.array(sizes, dtype=np.int64), np.array(flat, dtype=np.int64)[ids]


def _skip_metadata(reader: _Reader) -> None:
    """Up to the next empty line."""
    end = re.compile(rb"\n[ \t\r]*(\n|$)").search(reader.data, max(reader.at - 1, 0))
    reader.at = end.end() if end else len(reader.data)
