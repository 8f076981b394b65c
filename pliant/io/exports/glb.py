"""glTF binary (.glb): an animation by morph targets, which Blender and three.js play.

Format: Khronos Group, "glTF 2.0 Specification" (ISO/IEC 12113:2022). Frame 0 is the mesh, every further frame
a morph target; the weights go from one to the next, so that between two frames positions are interpolated
linearly. Colliders are nodes that are moved and turned. y is up and the unit is the metre, as the format
demands.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

from pliant import __version__
from pliant.io.colors import linear
from pliant.io.exports.appearance import SOLID, part_colour, unit_quaternions, vertex_normals
from pliant.io.exports.clip import Clip, Piece
from pliant.io.filed import Filed

__all__ = ["write_glb"]

Array = np.ndarray

FLOAT, UINT32 = 5126, 5125
VERTICES, INDICES = 34962, 34963  # what a view of the buffer is for
JSON_CHUNK, BINARY_CHUNK = 0x4E4F534A, 0x004E4942


def write_glb(clip: Clip, path: Path) -> None:
    """Write all frames of a clip with y up, in metres."""
    book = _Book()
    times = np.array([clip.seconds(i) for i in range(len(clip))], dtype=np.float32)
    channels: list[tuple[int, str, Array]] = []
    for k, piece in enumerate(clip.pieces):
        node = book.node(piece.name, _piece(book, clip, k, piece))
        if len(clip) > 1:
            channels.append((node, "weights", np.eye(len(clip), dtype=np.float32)[:, 1:].reshape(-1, 1)))
    poses = np.stack([clip.placed(i) for i in range(len(clip))])
    for k, solid in enumerate(clip.solids):
        filed = Filed.plain(len(solid.vertices), solid.triangles)
        node = book.node(solid.name, _mesh(book, solid.name, filed, [solid.vertices], SOLID))
        place, turn = poses[:, k, :, 3].astype(np.float32), unit_quaternions(poses[:, k, :, :3])
        book.json["nodes"][node] |= {"translation": place[0].tolist(), "rotation": turn[0].tolist()}
        if (place != place[0]).any():
            channels.append((node, "translation", place))
        if (turn != turn[0]).any():
            channels.append((node, "rotation", turn))
    if channels:
        _animate(book, times, channels)
    book.json["scenes"] = [{"nodes": list(range(len(book.json["nodes"])))}]
    book.json["scene"] = 0
    path.write_bytes(book.file())


def _animate(book: _Book, times: Array, channels: list[tuple[int, str, Array]]) -> None:
    clock = book.accessor(times[:, None], None, bounds=True)
    animation: dict[str, Any] = {"name": "simulation", "samplers": [], "channels": []}
    for node, path, values in channels:
        target = {"sampler": len(animation["samplers"]), "target": {"node": node, "path": path}}
        animation["channels"].append(target)
        animation["samplers"].append({"input": clock, "output": book.accessor(values, None)})
    book.json["animations"] = [animation]


def _piece(book: _Book, clip: Clip, k: int, piece: Piece) -> int:
    """The mesh of a cloth or body over all frames.

    The file's vertices come first and in its order; where one has several texture coordinates, copies of it
    follow after all of them.
    """
    filed, uv = _split(piece.filed.shell)
    colour = part_colour(k) if filed.colors is None else (1.0, 1.0, 1.0)
    frames = [clip.listed(i, filed, piece.start).astype(np.float64) for i in range(len(clip))]
    n = int(max(filed.sources.max(), piece.triangles.max())) + 1
    normals = []
    for i in range(len(clip)):
        particles = clip.points(i)[piece.start : piece.start + n].astype(np.float32)
        normals.append(vertex_normals(particles, piece.triangles)[np.maximum(filed.sources, 0)])
    tints = None if filed.colors is None else linear(filed.colors)
    if tints is not None and (tints[:, 3:] == 1).all():
        tints = tints[:, :3]  # readers add an opacity of 1
    return _mesh(book, piece.name, filed, frames, colour, normals, uv, tints)


def _split(filed: Filed) -> tuple[Filed, Array | None]:
    """Copies of vertices with several texture coordinates, at the end; coordinates of all (n, 2) or None."""
    n = filed.n_vertices
    if filed.uv is None or filed.vertex_uv is not None:
        return filed, filed.vertex_uv
    assert filed.uv_triangles is not None
    vertex, row = filed.triangles.ravel().astype(np.int64), filed.uv_triangles.ravel().astype(np.int64)
    pairs, pair = np.unique(vertex * len(filed.uv) + row, return_inverse=True)
    of, rows = pairs // len(filed.uv), pairs % len(filed.uv)
    first = np.concatenate([[True], of[1:] != of[:-1]])
    ids = np.where(first, of, n - 1 + np.cumsum(~first))
    copy_of = np.concatenate([np.arange(n), of[~first]])
    uv = np.zeros((len(copy_of), 2))
    uv[ids] = filed.uv[rows]
    triangles = ids[pair].reshape(-1, 3).astype(np.int32)
    colors = None if filed.colors is None else filed.colors[copy_of]
    return Filed(filed.sources[copy_of], filed.counts, filed.corners, triangles, colors=colors), uv


def _mesh(
    book: _Book,
    name: str,
    filed: Filed,
    frames: list[Array],
    colour: tuple[float, float, float],
    normals: list[Array] | None = None,
    uv: Array | None = None,
    tints: Array | None = None,
) -> int:
    first = frames[0].astype(np.float32)
    attributes = {"POSITION": book.accessor(first, VERTICES, bounds=True)}
    if normals is not None:
        attributes["NORMAL"] = book.accessor(normals[0].astype(np.float32), VERTICES)
    if uv is not None:  # the picture's upper edge is v = 0 here, v = 1 elsewhere
        flipped = np.stack([uv[:, 0], 1 - uv[:, 1]], axis=1)
        attributes["TEXCOORD_0"] = book.accessor(flipped.astype(np.float32), VERTICES)
    if tints is not None:
        attributes["COLOR_0"] = book.accessor(tints.astype(np.float32), VERTICES)
    targets = []
    for k in range(1, len(frames)):
        moved = (frames[k] - first).astype(np.float32)
        target = {"POSITION": book.accessor(moved, VERTICES, bounds=True)}
        if normals is not None:
            turned = (normals[k] - normals[0]).astype(np.float32)
            target["NORMAL"] = book.accessor(turned, VERTICES)
        targets.append(target)
    triangles = book.accessor(filed.triangles.reshape(-1, 1).astype(np.uint32), INDICES)
    shape = {"attributes": attributes, "indices": triangles, "material": book.material(colour)}
    mesh: dict[str, Any] = {"name": name, "primitives": [shape]}
    if targets:
        shape["targets"] = targets
        mesh["weights"] = [0.0] * len(targets)
    book.json["meshes"].append(mesh)
    return len(book.json["meshes"]) - 1


class _Book:
    """The two halves of a .glb file: its JSON and its buffer."""

    def __init__(self) -> None:
        self.json: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": f"Pliant {__version__}"},
            "nodes": [],
            "meshes": [],
            "materials": [],
            "accessors": [],
            "bufferViews": [],
        }
        self.chunks: list[bytes] = []
        self.length = 0

    def accessor(self, values: Array, use: int | None, bounds: bool = False) -> int:
        """Append an array (n, width) of float32 or uint32; returns its number."""
        raw = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).tobytes()
        view: dict[str, Any] = {"buffer": 0, "byteOffset": self.length, "byteLength": len(raw)}
        if use is not None:
            view["target"] = use
        self.json["bufferViews"].append(view)
        self.chunks.append(raw)
        self.length += len(raw)
        entry: dict[str, Any] = {
            "bufferView": len(self.json["bufferViews"]) - 1,
            "componentType": FLOAT if values.dtype == np.float32 else UINT32,
            "count": len(values),
            "type": ("SCALAR", "VEC2", "VEC3", "VEC4")[values.shape[1] - 1],
        }
        if bounds:
            entry |= {"min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()}
        self.json["accessors"].append(entry)
        return len(self.json["accessors"]) - 1

    def material(self, colour: tuple[float, float, float]) -> int:
        """Append a dull material that is seen from both sides."""
        surface = {"baseColorFactor": [*colour, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.9}
        self.json["materials"].append({"pbrMetallicRoughness": surface, "doubleSided": True})
        return len(self.json["materials"]) - 1

    def node(self, name: str, mesh: int) -> int:
        """Append a node that shows a mesh."""
        self.json["nodes"].append({"name": name, "mesh": mesh})
        return len(self.json["nodes"]) - 1

    def file(self) -> bytes:
        """The whole file."""
        self.json["buffers"] = [{"byteLength": self.length}]
        text = json.dumps(self.json, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
        text += b" " * (-len(text) % 4)
        length = 12 + 8 + len(text) + 8 + self.length
        head = struct.pack("<4sII", b"glTF", 2, length) + struct.pack("<II", len(text), JSON_CHUNK)
        return b"".join([head, text, struct.pack("<II", self.length, BINARY_CHUNK), *self.chunks])
