"""Gmsh's MSH files, versions 2.2 and 4.1, ASCII and binary of either byte order.

The format is that of the Gmsh reference manual, "MSH file format". It is read here, and not by a library:
meshio 5.3 takes files whose counts contradict what they hold, and numbers that are none.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from pliant.errors import MeshError
from pliant.io.cells import Block, RawCells, sorted_cells
from pliant.io.text import as_wholes, text_of

KINDS = {
    1: ("line", 2), 2: ("triangle", 3), 3: ("quad", 4), 4: ("tetra", 4), 5: ("hexahedron", 8),
    6: ("wedge", 6), 7: ("pyramid", 5), 8: ("line3", 3), 9: ("triangle6", 6), 10: ("quad9", 9),
    11: ("tetra10", 10), 12: ("hexahedron27", 27), 13: ("wedge18", 18), 14: ("pyramid14", 14),
    15: ("vertex", 1), 16: ("quad8", 8), 17: ("hexahedron20", 20), 18: ("wedge15", 15),
    19: ("pyramid13", 13), 20: ("triangle9", 9), 21: ("triangle10", 10), 22: ("triangle12", 12),
    23: ("triangle15", 15), 26: ("line4", 4), 27: ("line5", 5), 28: ("line6", 6), 29: ("tetra20", 20),
    30: ("tetra35", 35), 31: ("tetra56", 56),
}  # fmt: skip
"""Name and number of nodes of Gmsh's element types."""
Cells = list[Block]


class _Reader:
    """A place in the bytes of a file, and the ways to read on from there."""

    def __init__(self, data: bytes, file: Path) -> None:
        self.data, self.file = data, file
        self.at = self.line_number = 0
        self.binary, self.order = False, "<"

    def fail(self, what: str) -> MeshError:
        where = "" if self.binary else f" line {self.line_number}"
        return MeshError(f"{self.file}{where}: {what}; export it again")

    def line(self) -> str:
        """The next line that is not empty; "" at the end of the file."""
        while self.at < len(self.data):
            end = self.data.find(b"\n", self.at)
            end = len(self.data) if end < 0 else end
            words = self.data[self.at : end].decode("latin-1").strip()
            self.at, self.line_number = end + 1, self.line_number + 1
            if words:
                return words
        return ""

    def skip_to(self, mark: str) -> None:
        end = self.data.find(mark.encode(), self.at)
        if end < 0:
            raise self.fail(f"ends before {mark}, so it is cut short")
        self.line_number += self.data.count(b"\n", self.at, end)
        self.at = end

    def close(self, section: str) -> None:
        if self.line() != f"$End{section}":
            raise self.fail(f"the section ${section} goes on where its counts say that it ends")

    def counts(self, n: int, wide: bool = False) -> list[int]:
        """``n`` whole numbers: a line of text, or binary ones of 4 (``wide``: 8) bytes."""
        if self.binary:
            return self.take("i8" if wide else "i4", n).tolist()
        words = self.line().split()
        values = _whole(words)
        if values is None or len(values) != n:
            raise self.fail(f"{' '.join(words)[:60]!r} where {n} whole numbers are due")
        return values.tolist()

    def take(self, kind: str, n: int) -> np.ndarray:
        """``n`` binary numbers."""
        dtype = np.dtype(self.order + kind)
        if not 0 <= n * dtype.itemsize <= len(self.data) - self.at:
            raise self.fail(f"ends before the {n} numbers that its header promises, so it is cut short")
        found = np.frombuffer(self.data, dtype, n, self.at)
        self.at += n * dtype.itemsize
        return found

    def rows(self, n: int) -> list[list[str]]:
        """The words of ``n`` lines."""
        if not 0 <= n <= len(self.data) - self.at:
            raise self.fail(f"ends before the {n} lines that its header promises, so it is cut short")
        return [self.line().split() for _ in range(n)]

    def table(self, n: int, width: int, whole: bool) -> np.ndarray:
        """``n`` lines of ``width`` numbers each."""
        first = self.line_number
        rows = self.rows(n)
        flat = [word for row in rows for word in row]
        values = _whole(flat) if whole else _numbers(flat)
        odd = next((k for k, row in enumerate(rows) if len(row) != width), None)
        if odd is None and values is None:
            odd = next(k for k, row in enumerate(rows) if (_whole(row) if whole else _numbers(row)) is None)
        if odd is not None:
            self.line_number = first + odd + 1
            kind = "whole numbers" if whole else "numbers"
            raise self.fail(f"{' '.join(rows[odd])[:60]!r} where {width} {kind} are due")
        assert values is not None
        return values.reshape(n, width)


def _numbers(words: list[str]) -> np.ndarray | None:
    try:
        values = np.array(words, dtype=np.str_).astype(np.float64) if words else np.zeros(0)
    except ValueError:
        return None
    return None if any("_" in word for word in words) else values


def _whole(words: list[str]) -> np.ndarray | None:
    try:
        values = np.array([int(word) for word in words], dtype=np.int64)
    except (ValueError, OverflowError):
        return None
    return None if any("_" in word for word in words) else values


def read_gmsh(file: Path) -> RawCells:
    """All nodes and elements in an MSH file; what else is in it is skipped."""
    reader = _Reader(file.read_bytes(), file)
    version = _format(reader)
    nodes, elements = (_nodes_22, _elements_22) if version == "2.2" else (_nodes_41, _elements_41)
    found: dict[str, tuple] = {}
    parsers: dict[str, Callable[[_Reader], tuple]] = {"Nodes": nodes, "Elements": elements}
    while line := reader.line():
        name = line.removeprefix("$")
        if name == line or name in found:
            raise reader.fail(f"{line[:60]!r} where a section is due that was not there yet")
        if name in parsers:
            found[name] = parsers[name](reader)
        else:
            reader.skip_to(f"$End{name}")
        reader.close(name)
    for name in ("Nodes", "Elements"):
        if name not in found:
            raise MeshError(f"{file}: has no section ${name}; export it again")
    tags, points = found["Nodes"]
    return RawCells(points, **sorted_cells(_numbered(found["Elements"][0], tags, file)))


def _format(reader: _Reader) -> str:
    """The version; sets whether the file is binary, and its byte order."""
    if (first := reader.line()) != "$MeshFormat":
        if b"\0" not in reader.data[:4096]:
            text_of(reader.data[:4096], reader.file, "a Gmsh file")
        raise MeshError(
            f"{reader.file}: begins with {first[:40]!r}, a Gmsh file with '$MeshFormat'; export it again"
        )
    words = reader.line().split()
    if len(words) != 3 or words[1] not in ("0", "1"):
        raise reader.fail(f"{' '.join(words)[:60]!r} where version, type and size of numbers are due")
    version = "2.2" if words[0] in ("2.2", "2", "2.1") else words[0]
    if version not in ("2.2", "4.1"):
        raise MeshError(
            f"{reader.file}: MSH version {words[0][:20]} is not read; save it as version 4.1 or 2.2"
        )
    if words[1] == "1":
        if words[2] != "8":
            raise reader.fail(f"numbers of {words[2][:20]} bytes are not read")
        mark = reader.data[reader.at : reader.at + 4]
        if mark not in (b"\1\0\0\0", b"\0\0\0\1"):
            raise reader.fail("the mark of the byte order is damaged")
        reader.binary, reader.order = True, "<" if mark[0] else ">"
        reader.at += 4
    reader.close("MeshFormat")
    return version


# ---- version 2.2


def _count(reader: _Reader) -> int:
    words = reader.line().split()
    values = _whole(words)
    if values is None or len(values) != 1 or values[0] < 0:
        raise reader.fail(f"{' '.join(words)[:60]!r} where a count is due")
    return int(values[0])


def _nodes_22(reader: _Reader) -> tuple[np.ndarray, np.ndarray]:
    n = _count(reader)
    if not reader.binary:
        table = reader.table(n, 4, whole=False)
        tags = as_wholes(table[:, 0])
        if tags is None:
            raise reader.fail("a node with a number that is not whole")
        return tags, table[:, 1:]
    row = np.dtype([("tag", reader.order + "i4"), ("x", reader.order + "f8", 3)])
    table = reader.take("u1", n * row.itemsize).view(row)
    return table["tag"].astype(np.int64), table["x"].astype(np.float64)


def _elements_22(reader: _Reader) -> tuple[Cells]:
    n = _count(reader)
    cells: Cells = []
    if reader.binary:
        while n > 0:
            kind, count, n_tags = reader.counts(3)
            name, width = _kind(reader, kind)
            if not 0 < count <= n or not 0 <= n_tags < 1000:
                raise reader.fail(f"a block of {count} elements where {n} are left")
            rows = reader.take("i4", count * (1 + n_tags + width)).reshape(count, -1)
            rows = rows.astype(np.int64)
            cells.append(Block(name, rows[:, 1 + n_tags :], rows[:, 0]))
            n -= count
        return (cells,)
    by_kind: dict[int, list[np.ndarray]] = {}
    for row in reader.rows(n):
        values = _whole(row)
        if values is None or len(values) < 3 or not 0 <= values[2] <= len(values) - 3:
            raise reader.fail(f"{' '.join(row)[:60]!r} is no element")
        name, width = _kind(reader, int(values[1]))
        if len(values) != 3 + values[2] + width:
            raise reader.fail(f"{' '.join(row)[:60]!r}: an element of type {name!r} has {width} nodes")
        kept = np.r_[values[0], values[3 + values[2] :]]
        by_kind.setdefault(int(values[1]), []).append(kept)
    stacks = {kind: np.stack(rows) for kind, rows in by_kind.items()}
    return ([Block(KINDS[kind][0], rows[:, 1:], rows[:, 0]) for kind, rows in stacks.items()],)


def _kind(reader: _Reader, kind: int) -> tuple[str, int]:
    if kind not in KINDS:
        raise reader.fail(f"elements of type {kind} are not known")
    return KINDS[kind]


# ---- version 4.1


def _nodes_41(reader: _Reader) -> tuple[np.ndarray, np.ndarray]:
    blocks, n, _, _ = reader.counts(4, wide=True)
    tags, points = [np.zeros(0, dtype=np.int64)], [np.zeros((0, 3))]
    for _ in range(_sane(reader, blocks)):
        dimension, _, parametric = reader.counts(3) if reader.binary else (head := reader.counts(4))[:3]
        count = _sane(reader, reader.counts(1, wide=True)[0] if reader.binary else head[3])
        if not 0 <= dimension <= 3 or parametric not in (0, 1):
            raise reader.fail(f"a block of nodes of dimension {dimension}, parametric {parametric}")
        width = 3 + parametric * dimension
        if reader.binary:
            tags.append(reader.take("i8", count).astype(np.int64))
            x = reader.take("f8", count * width).astype(np.float64).reshape(count, width)
        else:
            tags.append(reader.table(count, 1, whole=True)[:, 0])
            x = reader.table(count, width, whole=False)
        points.append(x[:, :3])
    return _total(reader, np.concatenate(tags), n, "nodes"), np.concatenate(points)


def _elements_41(reader: _Reader) -> tuple[Cells]:
    blocks, n, _, _ = reader.counts(4, wide=True)
    cells: Cells = []
    for _ in range(_sane(reader, blocks)):
        _, _, kind = reader.counts(3) if reader.binary else (head := reader.counts(4))[:3]
        count = _sane(reader, reader.counts(1, wide=True)[0] if reader.binary else head[3])
        name, width = _kind(reader, kind)
        if reader.binary:
            rows = reader.take("i8", count * (1 + width)).astype(np.int64).reshape(count, 1 + width)
        else:
            rows = reader.table(count, 1 + width, whole=True)
        cells.append(Block(name, rows[:, 1:], rows[:, 0]))
    _total(reader, np.zeros(sum(len(block.rows) for block in cells)), n, "elements")
    return (cells,)


def _sane(reader: _Reader, count: int) -> int:
    if not 0 <= count <= len(reader.data):
        raise reader.fail(f"promises {count} blocks or rows, more than it has bytes")
    return count


def _total(reader: _Reader, found: np.ndarray, promised: int, what: str) -> np.ndarray:
    if len(found) != promised:
        raise reader.fail(f"holds {len(found)} {what}, its header promises {promised}")
    return found


# ---- numbers


def _numbered(cells: Cells, tags: np.ndarray, file: Path) -> Cells:
    """Places of the nodes, from 0, for the numbers that the file gives them."""
    order = np.argsort(tags, kind="stable")
    ascending = tags[order]
    twice = np.flatnonzero(ascending[1:] == ascending[:-1])
    if twice.size:
        raise MeshError(
            f"{file}: node {ascending[twice[0]]} stands there twice ({twice.size} such); export it again"
        )
    for block in cells:
        rows = block.rows
        place = np.minimum(np.searchsorted(ascending, rows), len(tags) - 1)
        missing = rows[ascending[place] != rows] if len(tags) else rows.ravel()
        if missing.size:
            raise MeshError(
                f"{file}: an element of type {block.kind!r} refers to node {missing[0]}, which is not among "
                f"the file's {len(tags)} ({missing.size} such); export it again"
            )
        block.rows = order[place]
    return cells
