"""OFF: polygons, vertex colours and texture coordinates; ASCII."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from pliant.errors import MeshError
from pliant.io.obj import unit_colors
from pliant.io.raw import RawSurface
from pliant.io.text import comma_hint, numbers, text_of, wholes

HEADER = re.compile(r"(ST)?(C)?(N)?OFF")
Row = tuple[int, list[str]]


def read_off(file: Path) -> RawSurface:
    """The polygons in an OFF file (ST, C and N before OFF: texture, colour and normal of each vertex)."""
    text = text_of(file.read_bytes(), file, "an OFF file")
    lines = enumerate(text.split("\n"), start=1)
    rows = [(line, words) for line, row in lines if (words := row.split("#", 1)[0].split())]
    kind = HEADER.fullmatch(rows[0][1][0]) if rows else None
    if kind is None or rows[0][1][1:] == ["BINARY"]:
        raise MeshError(
            f"{file}: an OFF file begins with 'OFF', and binary ones are not read; export it again"
        )
    rows[0][1].pop(0)
    rows = rows if rows[0][1] else rows[1:]
    n, f = _counts(rows, file)
    if len(rows) != 1 + n + f:
        raise MeshError(
            f"{file}: {len(rows) - 1} rows, its head promises {n} vertices and {f} faces; "
            "the file is cut short or damaged, export it again"
        )
    points = [_numbers(row, file) for row in rows[1 : 1 + n]]
    faces = [_face(row, file) for row in rows[1 + n :]]
    columns = _columns(points, kind, [line for line, _ in rows[1 : 1 + n]], file)
    return RawSurface(
        columns.pop("x"),
        np.array([v for face in faces for v in face], dtype=np.int64),
        np.array([len(face) for face in faces], dtype=np.int64),
        np.arange(n),
        lambda v: f"line {rows[1 + v][0]} (vertex {v})",
        lambda i: f"line {rows[1 + n + i][0]} (face {i})",
        **columns,
    )


def _counts(rows: list[Row], file: Path) -> tuple[int, int]:
    try:
        n, f = wholes(rows[0][1][:2])
    except (IndexError, ValueError) as error:
        raise MeshError(f"{file}: the numbers of vertices and faces are missing; export it again") from error
    if min(n, f) < 0:
        raise MeshError(f"{file} line {rows[0][0]}: {n} vertices and {f} faces; export it again")
    return n, f


def _numbers(row: Row, file: Path) -> list[float]:
    try:
        return numbers(row[1])
    except ValueError as error:
        shown = " ".join(row[1])[:60]
        raise MeshError(f"{file} line {row[0]}: {shown!r} are not numbers{comma_hint(row[1])}") from error


def _face(row: Row, file: Path) -> list[int]:
    """Vertex ids; a colour may follow."""
    line, words = row
    try:
        size = wholes(words[:1])[0]
        ids = wholes(words[1 : 1 + max(size, 0)])
    except ValueError as error:
        raise MeshError(
            f"{file} line {line}: a face lists vertex numbers, got {' '.join(words)[:60]!r}"
        ) from error
    if len(ids) != size or not 0 <= len(words) - 1 - size <= 4 or max(map(abs, ids), default=0) >= 1 << 62:
        raise MeshError(
            f"{file} line {line}: a face of {size} corners with {len(words) - 1} numbers; export it again"
        )
    return ids


def _columns(points: list[list[float]], kind: re.Match, lines: list[int], file: Path) -> dict:
    """x, y, z, then normal, colour, texture, as the first word of the file says."""
    texture, color, normal = (bool(group) for group in kind.groups())
    least = 3 + 3 * normal + 3 * color + 2 * texture
    width = len(points[0]) if points else least
    for line, row in zip(lines, points, strict=True):
        if len(row) != width or not least <= width <= least + color:
            raise MeshError(
                f"{file} line {line}: a vertex with {len(row)} numbers, not {least}; export it again"
            )
    table = np.array(points, dtype=np.float64).reshape(-1, width)
    out: dict = {"x": table[:, :3]}
    at = 3 + 3 * normal
    if color and len(table):
        out["colors"], remark = unit_colors(table[:, at : at + 3 + (width - least)])
        out["remarks"] = [remark] if remark else []
    if texture and len(table):
        out["uv"] = table[:, -2:]
    return out
