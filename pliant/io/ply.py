"""PLY, ASCII and binary of either byte order: polygons in file order, colours, texture coordinates.

It is read here, and not by a library: trimesh 5.2 reorders faces where polygons are mixed, takes a file whose
rows contradict its header, and reads no mixed binary polygons.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pliant.errors import MeshError
from pliant.io.obj import unit_colors
from pliant.io.raw import RawSurface
from pliant.io.text import comma_hint, numbers, text_of

TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2",
    "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4",
    "double": "f8", "float64": "f8",
}  # fmt: skip
"""NumPy's names of PLY's types, without the byte order."""
ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
TEXTURE = (("s", "t"), ("u", "v"), ("texture_u", "texture_v"))
LONGEST_HEADER = 1 << 16


@dataclass
class _Property:
    name: str
    kind: str
    count: str | None = None  # the type of a list's length


@dataclass
class _Element:
    name: str
    length: int
    properties: list[_Property] = field(default_factory=list)


@dataclass
class _List:
    """A list property of all rows: (C,) values, one row after the other, and (n,) lengths."""

    values: np.ndarray
    sizes: np.ndarray


_Columns = dict[str, "np.ndarray | _List"]


def read_ply(file: Path) -> RawSurface:
    """The polygons in a PLY file."""
    data = file.read_bytes()
    order, elements, at, line = _header(data, file)
    rows = _binary(data, at, order, elements, file) if order else _ascii(data[at:], line, elements, file)
    return _surface(rows, file)


# ---- header


def _header(data: bytes, file: Path) -> tuple[str, list[_Element], int, int]:
    """Byte order ("" for ASCII), elements, and the byte and line where the rows begin."""
    if data[:3] != b"ply":
        text_of(data[:4096], file, "a PLY file")  # has its own words for binary data and for web pages
        raise MeshError(f"{file} line 1: a PLY file begins with 'ply'; export it again")
    at, line, order = 0, 0, None
    elements: list[_Element] = []
    while True:
        end = data.find(b"\n", at, LONGEST_HEADER)
        if end < 0:
            raise MeshError(f"{file} line {line + 1}: the header has no end_header; export it again")
        words = data[at:end].decode("latin-1").split()
        at, line = end + 1, line + 1
        match words:
            case ["end_header"]:
                break
            case ["format", kind, "1.0"] if kind in ORDERS and order is None and not elements:
                order = ORDERS[kind]
            case ["element", name, length] if length.isdecimal() and length.isascii() and len(length) < 16:
                elements.append(_Element(name, int(length)))
            case ["property", "list", count, kind, name] if elements and TYPES.get(count, "f")[0] != "f":
                _add(elements[-1], _Property(name, kind, count), file, line)
            case ["property", kind, name] if elements:
                _add(elements[-1], _Property(name, kind), file, line)
            case ["ply"] if line == 1:
                pass
            case [] | ["comment" | "obj_info", *_]:
                pass
            case _:
                shown = " ".join(words)[:60]
                raise MeshError(f"{file} line {line}: {shown!r} is no line of a PLY header; export it again")
    if order is None:
        raise MeshError(f"{file}: the header states no format; export it again")
    if len({e.name for e in elements}) < len(elements):
        raise MeshError(f"{file}: the header names an element twice; export it again")
    return order, elements, at, line


def _add(element: _Element, new: _Property, file: Path, line: int) -> None:
    if new.kind not in TYPES or new.name in {p.name for p in element.properties}:
        raise MeshError(
            f"{file} line {line}: property {new.name[:40]!r} has the type {new.kind[:40]!r}, which is none, "
            "or stands there twice; export it again"
        )
    element.properties.append(new)


# ---- rows


def _ascii(data: bytes, line: int, elements: list[_Element], file: Path) -> dict[str, _Columns]:
    text = data.decode("latin-1").replace("\r\n", "\n").replace("\r", "\n")
    rows = [(line + k, words) for k, row in enumerate(text.split("\n"), start=1) if (words := row.split())]
    promised = sum(element.length for element in elements)
    if len(rows) != promised:
        raise MeshError(
            f"{file}: {len(rows)} rows, its header promises {promised}; "
            "the file is cut short or damaged, export it again"
        )
    tables, at = {}, 0
    for element in elements:
        tables[element.name] = _ascii_rows(element, rows[at : at + element.length], file)
        at += element.length
    return tables


def _ascii_rows(element: _Element, rows: list[tuple[int, list[str]]], file: Path) -> _Columns:
    flat: dict[str, list[float]] = {p.name: [] for p in element.properties}
    sizes: dict[str, list[int]] = {p.name: [] for p in element.properties if p.count}
    for line, words in rows:
        try:
            values = numbers(words)
        except ValueError as error:
            shown = " ".join(words)[:60]
            raise MeshError(f"{file} line {line}: {shown!r} are not numbers{comma_hint(words)}") from error
        at = 0
        for p in element.properties:
            n = 1
            if p.count:
                n = int(values[at]) if at < len(values) and values[at] in range(len(values)) else len(values)
                sizes[p.name].append(n)
                at += 1
            flat[p.name] += values[at : at + n]
            at += n
        if at != len(values):
            raise MeshError(
                f"{file} line {line}: {len(values)} numbers do not fit what the header says of "
                f"{element.name!r}; export it again"
            )
    columns: _Columns = {}
    for p in element.properties:
        found = np.array(flat[p.name], dtype=np.float64)
        if TYPES[p.kind][0] != "f":
            if not _fit(found, TYPES[p.kind]):
                raise MeshError(f"{file}: {element.name} has {p.name!r} that is no {p.kind}; export it again")
            found = found.astype(TYPES[p.kind])
        columns[p.name] = _List(found, np.array(sizes[p.name], dtype=np.int64)) if p.count else found
    return columns


def _fit(values: np.ndarray, kind: str) -> bool:
    """Whether all values are whole and within the range of an integer type."""
    limits = np.iinfo(kind)
    return bool(((values >= limits.min) & (values <= limits.max) & (values == np.floor(values))).all())


def _binary(data: bytes, at: int, order: str, elements: list[_Element], file: Path) -> dict[str, _Columns]:
    tables = {}
    for element in elements:
        row = sum(np.dtype(TYPES[p.count or p.kind]).itemsize for p in element.properties)
        if element.length * row > len(data) - at:
            raise _short(file, element)
        if any(p.count for p in element.properties):
            tables[element.name], at = _binary_lists(data, at, order, element, file)
        else:
            kinds = [(f"p{i}", order + TYPES[p.kind]) for i, p in enumerate(element.properties)]
            table = np.frombuffer(data, np.dtype(kinds), element.length if kinds else 0, at)
            tables[element.name] = {p.name: table[f"p{i}"] for i, p in enumerate(element.properties)}
            at += element.length * row
    if data[at:].strip(b"\r\n\t \0"):
        raise MeshError(
            f"{file}: {len(data) - at} bytes follow the last row that its header promises; export it again"
        )
    return tables


def _short(file: Path, element: _Element) -> MeshError:
    return MeshError(
        f"{file}: ends before the {element.length} of {element.name!r} that its header promises; "
        "the file is cut short or damaged, export it again"
    )


def _binary_lists(data: bytes, at: int, order: str, element: _Element, file: Path) -> tuple[_Columns, int]:
    """Rows with lists: in one go where all lists are as long as in the first row, else one by one."""
    kinds: list[tuple] = []
    first = at
    for i, p in enumerate(element.properties):
        n = 1
        if p.count and element.length:
            kinds.append((f"n{i}", order + TYPES[p.count]))
            n = _one(data, first, order + TYPES[p.count], element, file)
            first += np.dtype(TYPES[p.count]).itemsize
        if not 0 <= n <= len(data):
            raise _short(file, element)
        kinds.append((f"p{i}", order + TYPES[p.kind], (n,)))
        first += n * np.dtype(TYPES[p.kind]).itemsize
    size = np.dtype(kinds).itemsize
    if element.length * size <= len(data) - at:
        table = np.frombuffer(data, kinds, element.length, at)
        counts = [i for i, p in enumerate(element.properties) if p.count]
        if not element.length or all((table[f"n{i}"] == table[f"p{i}"].shape[1]).all() for i in counts):
            columns: _Columns = {}
            for i, p in enumerate(element.properties):
                values = table[f"p{i}"]
                sizes = np.full(element.length, values.shape[1])
                columns[p.name] = _List(values.ravel(), sizes) if p.count else values.ravel()
            return columns, at + element.length * size
    return _one_by_one(data, at, order, element, file)


def _one(data: bytes, at: int, kind: str, element: _Element, file: Path) -> int:
    if at + np.dtype(kind).itemsize > len(data):
        raise _short(file, element)
    return int(np.frombuffer(data, kind, 1, at)[0])


def _one_by_one(data: bytes, at: int, order: str, element: _Element, file: Path) -> tuple[_Columns, int]:
    parts: dict[str, list[np.ndarray]] = {p.name: [] for p in element.properties}
    sizes: dict[str, list[int]] = {p.name: [] for p in element.properties}
    kinds = [(p.name, p.count, np.dtype(order + TYPES[p.kind])) for p in element.properties]
    for _ in range(element.length):
        for name, count, kind in kinds:
            n = 1
            if count:
                n = _one(data, at, order + TYPES[count], element, file)
                at += np.dtype(TYPES[count]).itemsize
            if not 0 <= n * kind.itemsize <= len(data) - at:
                raise _short(file, element)
            parts[name].append(np.frombuffer(data, kind, n, at))
            sizes[name].append(n)
            at += n * kind.itemsize
    columns: _Columns = {}
    for p in element.properties:
        values = np.concatenate(parts[p.name])
        columns[p.name] = _List(values, np.array(sizes[p.name], dtype=np.int64)) if p.count else values
    return columns, at


# ---- what the rows mean


def _surface(tables: dict[str, _Columns], file: Path) -> RawSurface:
    vertex = tables.get("vertex", {})
    missing = [axis for axis in "xyz" if not isinstance(vertex.get(axis), np.ndarray)]
    if missing:
        raise MeshError(f"{file}: its vertices have no {', '.join(missing)}; export it again")
    x = _columns(vertex, list("xyz"))
    face = tables.get("face", {})
    lists = _List(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    for name in ("vertex_index", "vertex_indices"):
        given = face.get(name)
        lists = given if isinstance(given, _List) else lists
    if lists.values.dtype.kind == "f":
        raise MeshError(f"{file}: faces refer to vertices by numbers with decimals; export it again")
    uv, uv_corners = _texture(vertex, face, lists.sizes)
    colors, remarks = _colors(vertex)
    return RawSurface(
        x,
        lists.values.astype(np.int64),
        lists.sizes,
        np.arange(len(x)),
        lambda v: f"vertex {v}",
        lambda f: f"face {f}",
        uv=uv,
        uv_corners=uv_corners,
        colors=colors,
        remarks=remarks,
    )


def _texture(
    vertex: _Columns, face: _Columns, sizes: np.ndarray
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Pairs per corner of each face where the file has them, else per vertex."""
    wedge = face.get("texcoord")
    if isinstance(wedge, _List) and (wedge.sizes == 2 * sizes).all() and len(wedge.values):
        pairs, at = np.unique(wedge.values.reshape(-1, 2), axis=0, return_inverse=True)
        return pairs, at.ravel()
    for u, v in TEXTURE:
        if isinstance(vertex.get(u), np.ndarray) and isinstance(vertex.get(v), np.ndarray):
            return _columns(vertex, [u, v]), None
    return None, None


def _columns(table: _Columns, names: list[str]) -> np.ndarray:
    return np.stack([np.asarray(table[name], dtype=np.float64) for name in names], axis=1)


def _colors(vertex: _Columns) -> tuple[np.ndarray | None, list[str]]:
    for before in ("", "diffuse_"):
        names = [before + name for name in ("red", "green", "blue")]
        if not all(isinstance(vertex.get(name), np.ndarray) for name in names):
            continue
        names += [n for n in ("alpha", before + "alpha") if isinstance(vertex.get(n), np.ndarray)][:1]
        kind = np.asarray(vertex[names[0]]).dtype
        rows = _columns(vertex, names)
        if kind.kind == "u":
            rows = rows / np.iinfo(kind).max
        colors, remark = unit_colors(rows) if len(rows) else (None, None)
        return colors, [remark] if remark else []
    return None, []
