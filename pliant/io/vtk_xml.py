"""VTK's XML files: unstructured grids (``.vtu``) and polygonal data (``.vtp``), with all their encodings.

ASCII, base64 and appended raw data, both byte orders, zlib and LZMA; several pieces are read as one. The
format is that of "VTK XML file formats" in the VTK User's Guide. Of the fields on points, texture coordinates
and colours are kept.
"""

from __future__ import annotations

import base64
import binascii
import lzma
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from pliant.errors import MeshError
from pliant.io.cells import RawCells
from pliant.io.obj import unit_colors
from pliant.io.vtk_cells import POLYGON, STRIP, joined, sorted_vtk

TYPES = {
    f"{sign}Int{bits}": f"{kind}{bits // 8}"
    for sign, kind in (("", "i"), ("U", "u"))
    for bits in (8, 16, 32, 64)
}
TYPES |= {"Float32": "f4", "Float64": "f8"}
POLY = {"Verts": 2, "Lines": 4, "Strips": STRIP, "Polys": POLYGON}
COLORS = ("rgba", "rgb", "colors", "color", "colours")
"""Names of fields that hold colours, in small letters."""
COMPRESSORS = ("vtkZLibDataCompressor", "vtkLZMADataCompressor")
LARGEST = 1 << 30
"""Bytes that compressed data may have at most."""


@dataclass
class _File:
    """The parsed file and what its head says of its numbers."""

    file: Path
    root: ElementTree.Element
    order: str
    header: str
    compressor: str
    appended: bytes
    raw: bool

    def fail(self, what: str) -> MeshError:
        return MeshError(f"{self.file}: {what}; export it again")


def read_vtk_xml(file: Path) -> RawCells:
    """Points and cells of all pieces."""
    source = _opened(file)
    kind = source.root.get("type", "")
    grid = source.root.find(kind) if kind in ("UnstructuredGrid", "PolyData") else None
    if grid is None:
        raise source.fail(f"holds {kind[:40]!r}; only UnstructuredGrid and PolyData are read")
    pieces = grid.findall("Piece")
    if not pieces:
        raise source.fail("has no Piece")
    return joined([_piece(source, piece, kind) for piece in pieces])


def _opened(file: Path) -> _File:
    data = file.read_bytes()
    appended, raw = b"", False
    start = re.search(rb"<AppendedData[^>]*>", data)
    if start:
        raw = b"raw" in start.group()
        end = data.rfind(b"</AppendedData>")
        if end < start.end():
            raise MeshError(f"{file}: its AppendedData does not end, so it is cut short; export it again")
        appended = data[start.end() : end].lstrip()[1:]  # after an underscore
        if not raw:
            appended = appended.rstrip()
        data = data[: start.end()] + data[end:]
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise MeshError(f"{file}: is no VTK file, it declares entities; export it again")
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise MeshError(f"{file}: is no whole XML file ({error}); export it again") from error
    if root.tag != "VTKFile":
        raise MeshError(f"{file}: is XML, but begins with {root.tag[:40]!r}, a VTK file with 'VTKFile'")
    header = TYPES.get(root.get("header_type", "UInt32"), "")
    compressor = root.get("compressor", "")
    if header not in ("u4", "u8") or compressor not in ("", *COMPRESSORS):
        raise MeshError(
            f"{file}: compressed by {compressor[:40]!r}, headers of {root.get('header_type', '')[:20]!r}; "
            "save it with zlib or without compression"
        )
    order = ">" if root.get("byte_order") == "BigEndian" else "<"
    return _File(file, root, order, header, compressor, appended, raw)


# ---- arrays


def _array(source: _File, array: ElementTree.Element) -> np.ndarray:
    """Numbers of a DataArray: (n,), or (n, k) for k components."""
    kind = TYPES.get(array.get("type", ""))
    if kind is None:
        raise source.fail(f"an array of type {array.get('type', '')[:20]!r} is not read")
    dtype = np.dtype(source.order + kind)
    form = array.get("format", "ascii")
    if form == "ascii":
        found = _written(source, array.text or "", dtype)
    else:
        data = _decoded(source, array, form)
        if len(data) % dtype.itemsize:
            raise source.fail(f"array {array.get('Name', '')[:40]!r} ends within a number")
        found = np.frombuffer(data, dtype)
    width = array.get("NumberOfComponents", "1")
    if not (width.isdecimal() and int(width[:6]) > 0 and len(found) % int(width[:6]) == 0):
        raise source.fail(f"array {array.get('Name', '')[:40]!r} does not hold whole rows of {width[:20]}")
    return found.reshape(-1, int(width)) if width != "1" else found


def _written(source: _File, text: str, dtype: np.dtype) -> np.ndarray:
    words = text.split()
    try:
        if "_" in text or not text.isascii():
            raise ValueError
        return np.array([float(w) if dtype.kind == "f" else int(w) for w in words]).astype(
            np.float64 if dtype.kind == "f" else np.int64
        )
    except (ValueError, OverflowError) as error:
        raise source.fail(f"{' '.join(words)[:40]!r}… holds what is no number") from error


def _decoded(source: _File, array: ElementTree.Element, form: str) -> bytes:
    text = form == "binary" or not source.raw
    if form == "binary":
        data = (array.text or "").strip().encode("ascii", "replace")
    elif form == "appended":
        offset = array.get("offset", "")
        if not offset.isdecimal() or int(offset[:16]) > len(source.appended):
            raise source.fail(f"an array begins at {offset[:20]!r}, beyond the appended data")
        data = source.appended[int(offset[:16]) :]
    else:
        raise source.fail(f"an array in the format {form[:20]!r} is not read")
    size = np.dtype(source.header).itemsize
    if not source.compressor:
        head, data = _head(source, data, 1, text)
        return _taken(source, data, head[0], text, size)
    (blocks,), _ = _head(source, data, 1, text)
    if not 0 <= blocks < len(data):
        raise source.fail("the head of compressed data is damaged")
    head, data = _head(source, data, 3 + blocks, text, own=True)
    whole, last, packed = head[1], head[2], head[3:]
    if blocks * max(whole, last) > LARGEST:
        raise source.fail(f"compressed data of {blocks * whole} bytes are too many")
    data = _taken(source, data, sum(packed), text, 0)
    out, at = [], 0
    for k, length in enumerate(packed):
        due = last if last and k == blocks - 1 else whole
        out.append(_unpacked(source, data[at : at + length], due))
        at += length
    return b"".join(out)


def _head(source: _File, data: bytes, n: int, text: bool, own: bool = False) -> tuple[list[int], bytes]:
    """``n`` numbers of a head and what follows; in base64 that of compressed data is padded on its own."""
    size = n * np.dtype(source.header).itemsize
    if not text:
        head, rest = data[:size], data[size:]
    else:
        length = 4 * ((size + 2) // 3)
        head, rest = _unbase(source, data[:length])[:size], data[length:] if own else data
    if len(head) < size:
        raise source.fail("ends within the head of an array, so it is cut short")
    return np.frombuffer(head, source.order + source.header).tolist(), rest


def _taken(source: _File, data: bytes, n: int, text: bool, skip: int) -> bytes:
    """``n`` bytes of an array; ``skip`` bytes of its head are encoded along with it."""
    if not 0 <= n <= len(data):
        raise source.fail(f"ends before the {n} bytes of an array, so it is cut short")
    found = _unbase(source, data[: 4 * ((n + skip + 2) // 3)])[skip : skip + n] if text else data[:n]
    if len(found) < n:
        raise source.fail(f"ends before the {n} bytes of an array, so it is cut short")
    return found


def _unbase(source: _File, data: bytes) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise source.fail("holds data that are no base64") from error


def _unpacked(source: _File, data: bytes, due: int) -> bytes:
    try:
        if source.compressor == COMPRESSORS[0]:
            found = zlib.decompressobj().decompress(data, due + 1)
        else:
            found = lzma.LZMADecompressor().decompress(data, due + 1)
    except (zlib.error, lzma.LZMAError, EOFError) as error:
        raise source.fail("holds compressed data that are damaged") from error
    if len(found) != due:
        raise source.fail(f"compressed data of {len(found)} bytes where {due} are due")
    return found


# ---- pieces


def _piece(source: _File, piece: ElementTree.Element, kind: str) -> RawCells:
    place = piece.find("Points/DataArray")
    points = np.zeros((0, 3)) if place is None else _array(source, place).astype(np.float64)
    if points.size == 0:
        points = np.zeros((0, 3))
    if points.ndim != 2 or points.shape[1] != 3 or str(len(points)) != piece.get("NumberOfPoints"):
        raise source.fail(
            f"holds points of shape {points.shape} where {piece.get('NumberOfPoints', '')[:20]!r} of three "
            "coordinates are promised"
        )
    none = np.zeros(0, dtype=np.int64)
    types, ends, ids = [none], [none], [none]
    for name, of in POLY.items() if kind == "PolyData" else [("Cells", 0)]:
        arrays = {array.get("Name"): _array(source, array) for array in piece.findall(f"{name}/DataArray")}
        if "connectivity" not in arrays or "offsets" not in arrays:
            continue
        if any(array.dtype.kind == "f" for array in arrays.values()):
            raise source.fail(f"numbers {name} with decimals")
        own, of_all = (arrays[k].ravel().astype(np.int64) for k in ("offsets", "connectivity"))
        promised = piece.get("NumberOfCells" if kind != "PolyData" else f"NumberOf{name}", "0")
        if str(len(own)) != promised or (own[-1] if len(own) else 0) != len(of_all):
            raise source.fail(
                f"holds {len(own)} cells of {name}, {promised[:20]!r} and other points are promised"
            )
        ends.append(own + sum(map(len, ids)))
        ids.append(of_all)
        types.append(np.full(len(own), of) if of else arrays.get("types", none).ravel().astype(np.int64))
    found = sorted_vtk(np.concatenate(types), np.concatenate(ends), np.concatenate(ids), source.file)
    return RawCells(points, **found, **_fields(source, piece, len(points)))


def _fields(source: _File, piece: ElementTree.Element, n: int) -> dict:
    """Texture coordinates and colours on the points."""
    data = piece.find("PointData")
    if data is None:
        return {}
    out: dict = {"remarks": []}
    texture = data.get("TCoords", "")
    for array in data.findall("DataArray"):
        name, width = array.get("Name", ""), array.get("NumberOfComponents")
        is_uv = width in ("2", "3") and (
            name == texture or name.lower() in ("uv", "tcoords", "texture coordinates")
        )
        is_color = width in ("3", "4") and name.lower() in COLORS
        if not (is_uv or is_color):
            continue
        rows = _array(source, array)
        if rows.shape[0] != n:
            raise source.fail(f"array {name[:40]!r} has {len(rows)} rows for {n} points")
        if is_uv:
            out["uv"] = rows[:, :2].astype(np.float64)
        elif n:
            scale = np.iinfo(rows.dtype).max if array.get("type", "").startswith("UInt8") else 1.0
            if array.get("type") == "UInt8":
                scale = 255.0
            out["colors"], remark = unit_colors(rows / scale)
            out["remarks"] += [remark] if remark else []
    return out
