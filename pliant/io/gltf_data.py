"""The parts of a glTF file: its document, its buffers, and the arrays that accessors cut from them."""

from __future__ import annotations

import base64
import binascii
import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from pliant.errors import MeshError
from pliant.io.text import text_of

COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
READABLE = ("KHR_mesh_quantization", "KHR_texture_transform", "KHR_materials_", "KHR_lights_", "EXT_texture_")
"""Beginnings of extensions that may be required: all others change what the numbers mean."""
JSON_CHUNK, BINARY_CHUNK = 0x4E4F534A, 0x004E4942


class Buffers:
    """The buffers of a file and the accessors into them; every bound is checked."""

    def __init__(self, document: dict, own: bytes | None, file: Path) -> None:
        self.document, self.own, self.file = document, own, file
        self._loaded: dict[int, bytes] = {}

    def fail(self, what: str) -> MeshError:
        return MeshError(f"{self.file}: {what}; export it again")

    def rows(self, index: Any, *kinds: str) -> np.ndarray:
        """Numbers (n, k) of an accessor of one of these kinds; normalised integers become fractions."""
        accessor, found = self._accessor(index, kinds)
        if found.dtype.kind == "f" or not accessor.get("normalized", False):
            return found.astype(np.float64)
        return np.maximum(found / np.iinfo(found.dtype).max, -1.0)

    def ids(self, index: Any) -> np.ndarray:
        """Vertex numbers (n,) of an accessor."""
        _, found = self._accessor(index, ("SCALAR",))
        if found.dtype.kind != "u":
            raise self.fail(f"accessor {index} holds {found.dtype} where vertex numbers are due")
        return found[:, 0].astype(np.int64)

    def _accessor(self, index: Any, kinds: tuple[str, ...]) -> tuple[dict, np.ndarray]:
        accessor = self._listed("accessors", index)
        kind, count = accessor.get("type"), self._count(accessor, "count")
        component = accessor.get("componentType")
        if kind not in kinds or component not in COMPONENTS:
            raise self.fail(f"accessor {index} is {kind!r} of {component!r}, not {' or '.join(kinds)}")
        dtype, width = np.dtype(COMPONENTS[component]), WIDTHS[str(kind)]
        sparse = accessor.get("sparse")
        if "bufferView" in accessor:
            found = self._view(
                accessor["bufferView"], self._count(accessor, "byteOffset", 0), count, dtype, width
            )
        elif sparse is None:
            raise self.fail(f"accessor {index} has no data (compressed perhaps: save it without compression)")
        else:
            if count > 1 << 22:
                raise self.fail(f"accessor {index} promises {count} rows without data")
            found = np.zeros((count, width), dtype)
        if sparse is not None:
            n = self._count(sparse, "count")
            at, values = sparse["indices"], sparse["values"]
            if at.get("componentType") not in (5121, 5123, 5125):
                raise self.fail(f"accessor {index} has no numbers for its sparse rows")
            kind_of_id = np.dtype(COMPONENTS[at["componentType"]])
            rows = self._view(at["bufferView"], self._count(at, "byteOffset", 0), n, kind_of_id, 1)[:, 0]
            if rows.size and rows.max() >= count:
                raise self.fail(f"accessor {index} changes row {rows.max()}, it has {count}")
            found = found.copy()
            found[rows] = self._view(
                values["bufferView"], self._count(values, "byteOffset", 0), n, dtype, width
            )
        return accessor, found

    def _view(self, index: Any, offset: int, count: int, dtype: np.dtype, width: int) -> np.ndarray:
        view = self._listed("bufferViews", index)
        data = self._buffer(view.get("buffer"))
        start, length = self._count(view, "byteOffset", 0), self._count(view, "byteLength")
        if start + length > len(data):
            raise self.fail(f"bufferView {index} ends beyond its buffer, so the file is cut short")
        size = dtype.itemsize * width
        stride = self._count(view, "byteStride", size)
        if count and (stride < size or offset + stride * (count - 1) + size > length):
            raise self.fail(f"{count} rows do not fit bufferView {index}")
        if not count:
            return np.zeros((0, width), dtype)
        view_bytes = np.frombuffer(data, np.uint8, length - offset, start + offset)
        rows = np.lib.stride_tricks.as_strided(view_bytes, (count, size), (stride, 1), writeable=False)
        return np.ascontiguousarray(rows).view(dtype).reshape(count, width)

    def _buffer(self, index: Any) -> bytes:
        buffer = self._listed("buffers", index)
        if index not in self._loaded:
            self._loaded[index] = self._load(buffer, index)
        data, length = self._loaded[index], self._count(buffer, "byteLength")
        if len(data) < length:
            raise self.fail(f"buffer {index} has {len(data)} bytes, {length} are promised")
        return data[:length]

    def _load(self, buffer: dict, index: int) -> bytes:
        uri = buffer.get("uri")
        if uri is None:
            if index or self.own is None:
                raise self.fail(f"buffer {index} has no data")
            return self.own
        if not isinstance(uri, str):
            raise self.fail(f"buffer {index} has an address that is no text")
        if uri.startswith("data:"):
            try:
                return base64.b64decode(uri.partition(",")[2], validate=True)
            except (binascii.Error, ValueError) as error:
                raise self.fail(f"buffer {index} holds data that are no base64") from error
        beside = Path(unquote(uri))
        if ":" in uri or beside.is_absolute() or ".." in beside.parts or "\0" in str(beside):
            raise self.fail(f"buffer {index} is at {uri[:60]!r}; it must be a file beside the glTF file")
        if not (self.file.parent / beside).is_file():
            raise MeshError(f"{self.file}: {beside} is missing beside it; keep the files together")
        return (self.file.parent / beside).read_bytes()

    def _listed(self, kind: str, index: Any) -> dict:
        items = self.document.get(kind, [])
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < len(items):
            raise self.fail(f"refers to number {index!r} of its {len(items)} {kind}")
        return items[index]

    def _count(self, item: dict, name: str, default: int | None = None) -> int:
        value = item.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 48:
            raise self.fail(f"{name} is {value!r}, which is no count")
        return value


def opened(file: Path) -> tuple[dict, Buffers]:
    """The document of a glTF or GLB file and its buffers. Raises MeshError for what cannot be understood."""
    data = file.read_bytes()
    own = None
    if data[:4] == b"glTF":
        data, own = _chunks(data, file)
    else:
        data = text_of(data, file, "a glTF file").encode()
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise MeshError(f"{file}: its document is no JSON ({error}); export it again") from error
    if not isinstance(document, dict) or not isinstance(document.get("asset"), dict):
        raise MeshError(f"{file}: is no glTF document; export it again")
    version = str(document["asset"].get("version"))
    if version.partition(".")[0] != "2":
        raise MeshError(f"{file}: is glTF version {version[:20]!r}; version 2.0 is read, save it as that")
    required = document.get("extensionsRequired", [])
    foreign = [str(name) for name in required if not str(name).startswith(READABLE)]
    if foreign:
        raise MeshError(f"{file}: needs the extension {foreign[0][:60]!r}; save it without (no compression)")
    return document, Buffers(document, own, file)


def _chunks(data: bytes, file: Path) -> tuple[bytes, bytes | None]:
    """The JSON and the binary part of a GLB file."""
    words = np.frombuffer(data[:12].ljust(12, b"\0"), "<u4").tolist()
    if words[1] != 2 or words[2] != len(data):
        raise MeshError(
            f"{file}: GLB version {words[1]} of {words[2]} bytes, it has {len(data)}; "
            "the file is cut short or damaged, export it again"
        )
    at, parts = 12, []
    while at + 8 <= len(data):
        length, kind = np.frombuffer(data, "<u4", 2, at).tolist()
        if at + 8 + length > len(data):
            raise MeshError(f"{file}: a part of {length} bytes ends beyond the file; export it again")
        parts.append((kind, data[at + 8 : at + 8 + length]))
        at += 8 + length
    if at != len(data) or not parts or parts[0][0] != JSON_CHUNK:
        raise MeshError(f"{file}: its parts do not fill the file; export it again")
    return parts[0][1], parts[1][1] if len(parts) > 1 and parts[1][0] == BINARY_CHUNK else None
