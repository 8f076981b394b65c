"""TetGen's pairs of files: points in ``.node``, tetrahedra in ``.ele``; either name leads to both."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.errors import MeshError
from pliant.io.cells import RawCells
from pliant.io.text import as_wholes, numbers, text_of, wholes

Rows = list[tuple[int, list[str]]]


def read_tetgen(file: Path) -> RawCells:
    """The tetrahedra of a pair of files; numbers may begin at 0 or at 1."""
    nodes, elements = file.with_suffix(".node"), file.with_suffix(".ele")
    for part in (nodes, elements):
        if not part.is_file():
            raise MeshError(f"{file}: {part.name} is missing beside it; a TetGen mesh is a pair of files")
    table, first = _table(nodes, "points", 3)
    tets, _ = _table(elements, "tetrahedra", 4)
    ids = as_wholes(tets)
    if ids is None:
        raise MeshError(f"{elements}: refers to a point by a number that is not whole; export it again")
    return RawCells(table, tets=ids - first)


def _rows(file: Path) -> Rows:
    lines = enumerate(text_of(file.read_bytes(), file, "a TetGen file").split("\n"), start=1)
    return [(line, words) for line, row in lines if (words := row.split("#", 1)[0].split())]


def _table(file: Path, what: str, width: int) -> tuple[np.ndarray, int]:
    """The ``width`` numbers after the running number of each row, and the number of the first row."""
    rows = _rows(file)
    try:
        head = wholes(rows[0][1])
        n, found, extra = head[0], head[1], sum(head[2:])
    except (IndexError, ValueError) as error:
        raise MeshError(
            f"{file}: does not begin with the counts of a TetGen file; export it again"
        ) from error
    if found != width:
        cure = "mesh with first-order elements" if width == 4 else "export it again"
        raise MeshError(f"{file} line {rows[0][0]}: {what} of {found} numbers, not {width}; {cure}")
    if len(rows) != 1 + n:
        raise MeshError(
            f"{file}: {len(rows) - 1} rows, its head promises {n} {what}; it is cut short or damaged"
        )
    out, first = np.zeros((n, width)), 0
    for k, (line, words) in enumerate(rows[1:]):
        try:
            values = numbers(words)
        except ValueError as error:
            raise MeshError(f"{file} line {line}: {' '.join(words)[:60]!r} are not numbers") from error
        first = int(values[0]) if k == 0 and values[0] in (0, 1) else first
        if len(values) != 1 + width + extra or values[0] != first + k:
            raise MeshError(
                f"{file} line {line}: {' '.join(words)[:60]!r} where number {first + k} and "
                f"{width + extra} numbers are due; export it again"
            )
        out[k] = values[1 : 1 + width]
    return out, first
