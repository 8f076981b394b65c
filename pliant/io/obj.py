"""Wavefront OBJ: every ``v`` in file order whatever ``vt`` says, polygons, relative indices, vertex colours.

It is read here, and not by a library, for the order of its vertices and for messages that name the line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pliant.errors import MeshError
from pliant.io.raw import RawSurface
from pliant.io.text import comma_hint, numbers, text_of, wholes

IGNORED = frozenset({
    "vn", "vp", "g", "o", "s", "mg", "usemtl", "mtllib", "usemap", "maplib", "lod", "bevel", "c_interp",
    "d_interp", "shadow_obj", "trace_obj", "l", "p",
})  # fmt: skip
"""Statements that say nothing about the surface: normals, groups, materials, loose points and lines."""


@dataclass
class _Found:
    """What the statements of one file have said so far."""

    file: Path
    vertices: list[list[float]] = field(default_factory=list)
    vertex_lines: list[int] = field(default_factory=list)
    colors: list[list[float]] = field(default_factory=list)
    uv: list[list[float]] = field(default_factory=list)
    corners: list[int] = field(default_factory=list)
    uv_corners: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    face_lines: list[int] = field(default_factory=list)
    comments: list[int] = field(default_factory=list)

    def fail(self, line: int, what: str) -> MeshError:
        return MeshError(f"{self.file} line {line}: {what}")


def read_obj(file: Path) -> RawSurface:
    """The surface in an OBJ file; all its objects and groups are one."""
    found = _Found(file)
    for line, words in _statements(text_of(file.read_bytes(), file, "an OBJ file")):
        keyword = words[0]
        if keyword == "v":
            _vertex(found, line, words)
        elif keyword == "f":
            _face(found, line, words)
        elif keyword == "vt":
            found.uv.append(_texture(found, line, words))
        elif keyword not in IGNORED:
            _foreign(found, line, words)
    _check_ids(found)
    return RawSurface(
        np.array(found.vertices, dtype=np.float64).reshape(-1, 3),
        np.array(found.corners, dtype=np.int64),
        np.array(found.sizes, dtype=np.int64),
        np.arange(len(found.vertices)),
        lambda v: f"line {found.vertex_lines[v]} (vertex {v + 1})",
        lambda f: f"line {found.face_lines[f]} (face {f + 1})",
        uv=np.array(found.uv) if found.uv else None,
        uv_corners=np.array(found.uv_corners, dtype=np.int64) if found.uv else None,
        **_colors(found),
    )


def _statements(text: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and words of each statement; a backslash at the end of a line joins it with the next."""
    held: list[str] = []
    first = 0
    for number_of_line, line in enumerate(text.split("\n"), start=1):
        body = line.split("#", 1)[0].rstrip()
        first = first if held else number_of_line
        if body.endswith("\\"):
            held.append(body[:-1])
            continue
        words = " ".join([*held, body]).split() if held else body.split()
        held = []
        if words:
            yield first, words
    if held and (words := " ".join(held).split()):
        yield first, words


def _numbers(found: _Found, line: int, words: list[str], what: str) -> list[float]:
    try:
        return numbers(words)
    except ValueError as error:
        given = " ".join(words)[:60]
        raise found.fail(line, f"{what} are not numbers: {given!r}{comma_hint(words)}") from error


def _vertex(found: _Found, line: int, words: list[str]) -> None:
    """x, y, z, then nothing, a weight, or red, green, blue and perhaps opacity."""
    if len(words) < 4:
        raise found.fail(line, f"a vertex needs three coordinates, it has {len(words) - 1}")
    if len(words) > 8:
        raise found.fail(line, f"a vertex with {len(words) - 1} numbers; write three, and a colour at most")
    found.vertices.append(_numbers(found, line, words[1:4], "vertex coordinates"))
    found.vertex_lines.append(line)
    rest = _numbers(found, line, words[4:], "what follows the vertex coordinates")
    if len(rest) >= 3:
        found.colors.append(rest)


def _texture(found: _Found, line: int, words: list[str]) -> list[float]:
    """u, v; v may be left out, a third number is not used."""
    if len(words) < 2:
        raise found.fail(line, "a texture coordinate without numbers; remove it or complete it")
    pair = _numbers(found, line, words[1:3], "texture coordinates")
    if not np.isfinite(pair).all():
        raise found.fail(line, f"texture coordinates are not finite: {' '.join(words[1:3])[:60]!r}")
    return pair if len(pair) == 2 else [pair[0], 0.0]


def _face(found: _Found, line: int, words: list[str]) -> None:
    """Vertex ids from 0 of a face; negative indices count back from the last vertex so far."""
    n, n_uv = len(found.vertices), len(found.uv)
    for word in words[1:]:
        v, t = _corner(found, line, words, word)
        if v == 0 or -v > n:
            raise found.fail(
                line,
                f"face refers to vertex {v}; numbers start at 1, "
                f"or at -1 back from the last of the {n} vertices above it",
            )
        found.corners.append(v - 1 if v > 0 else n + v)
        if t is not None and (t == 0 or -t > n_uv > 0):
            raise found.fail(line, f"face refers to texture coordinate {t}, {n_uv} stand above it")
        found.uv_corners.append(-1 if t is None else t - 1 if t > 0 else n_uv + t)
    if len(words) < 4:
        raise found.fail(line, f"a face with {len(words) - 1} corners; remove it")
    found.sizes.append(len(words) - 1)
    found.face_lines.append(line)


def _corner(found: _Found, line: int, words: list[str], word: str) -> tuple[int, int | None]:
    """v and vt of v, v/vt, v//vn or v/vt/vn."""
    parts = word.split("/")
    try:
        if len(parts) == 1:
            return wholes(parts)[0], None
        given = wholes([part for part in parts[1:] if part])
        v = wholes(parts[:1])[0]
    except ValueError as error:
        shown = " ".join(words[1:])[:60]
        raise found.fail(line, f"a face lists vertex numbers, got {shown!r}") from error
    if len(parts) > 3:
        raise found.fail(line, f"a face lists v/vt/vn, got {word[:60]!r}")
    return v, given[0] if parts[1] else None


def _foreign(found: _Found, line: int, words: list[str]) -> None:
    """Words with few numbers are a comment that lost its sign; what may be a damaged statement is refused."""
    numbers = sum(not word.strip("0123456789+-.eE/") for word in words)
    if numbers == len(words) or numbers >= 3:
        raise found.fail(
            line,
            f"{words[0][:40]!r} is no OBJ statement that belongs to a mesh; "
            "remove the line, or put # before it if it is a comment",
        )
    found.comments.append(line)


def _check_ids(found: _Found) -> None:
    """Refuse numbers beyond the end, which may stand above what they refer to."""
    most, most_uv = len(found.vertices), len(found.uv)
    at = 0
    for size, line in zip(found.sizes, found.face_lines, strict=True):
        corners, texture = found.corners[at : at + size], found.uv_corners[at : at + size]
        at += size
        if max(corners) >= most:
            raise found.fail(
                line,
                f"face refers to vertex {max(corners) + 1}, the file has {most}; "
                "correct the number or add the vertex",
            )
        if found.uv and max(texture) >= most_uv:
            raise found.fail(
                line,
                f"face refers to texture coordinate {max(texture) + 1}, the file has {most_uv}; "
                "export it without texture coordinates, or correct the number",
            )


def _colors(found: _Found) -> dict:
    """Colours where every vertex has one, and remarks on what was left out."""
    remarks = []
    if found.comments:
        remarks.append(
            f"lines that are no OBJ statements, taken for comments: {len(found.comments)} "
            f"(the first is line {found.comments[0]})"
        )
    colors = None
    if found.colors and len({len(c) for c in found.colors}) == 1 and len(found.colors) == len(found.vertices):
        colors, remark = unit_colors(np.array(found.colors))
        remarks += [remark] if remark else []
    elif found.colors:
        remarks.append(
            f"{len(found.colors)} of {len(found.vertices)} vertices have a colour; colours are left out"
        )
    return {"colors": colors, "remarks": remarks}


def unit_colors(rows: np.ndarray) -> tuple[np.ndarray | None, str | None]:
    """Colours from 0 to 1 of numbers from 0 to 1 or 0 to 255; None and a remark for others."""
    if not rows.size:
        return None, None
    if np.isfinite(rows).all() and rows.min() >= 0.0:
        if rows.max() <= 1.0:
            return rows, None
        if rows.max() <= 255.0:
            return rows / 255.0, None
    return None, "vertex colours are neither from 0 to 1 nor from 0 to 255; they are left out"
