"""PLY and STL files: one surface each, binary and little endian.

Formats: G. Turk, "The PLY Polygon File Format" (1994), with the names of properties that MeshLab and Blender
share; 3D Systems, "StereoLithography Interface Specification" (1989).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.io.exports.clip import Clip
from pliant.io.filed import Filed

__all__ = ["write_ply", "write_stl"]

Array = np.ndarray


def write_ply(clip: Clip, i: int, path: Path) -> None:
    """Write the i-th frame: positions, texture coordinates, colours, strain and velocity; polygons.

    Texture coordinates stand at the vertices (``s``, ``t``) where each has one pair, else at the corners of
    the faces (a list ``texcoord``). Colours are whole numbers from 0 to 255. A file whose faces have
    different numbers of corners is text, and has no coordinates at corners: many readers take no such faces
    from a binary file, and no second list beside them.
    """
    filed = clip.whole
    table = _vertex_table(clip, i, filed)
    names = {"<f8": "double", "<f4": "float", "|u1": "uchar"}
    text = len(np.unique(filed.counts)) > 1
    seams = filed.uv is not None and filed.vertex_uv is None and not text
    form = "ascii" if text else "binary_little_endian"
    head = ["ply", f"format {form} 1.0", f"element vertex {len(table)}"]
    head += [f"property {names[table.dtype[name].str]} {name}" for name in table.dtype.names or ()]
    head += [f"element face {len(filed.counts)}", "property list uchar int vertex_indices"]
    head += ["property list uchar float texcoord"] if seams else []
    with path.open("wb") as file:
        file.write("\n".join([*head, "end_header\n"]).encode("ascii"))
        if text:
            file.write((_text(table) + _face_text(filed)).encode("ascii"))
        else:
            file.write(table.tobytes() + _face_bytes(filed, seams))


def _vertex_table(clip: Clip, i: int, filed: Filed) -> Array:
    x = clip.listed(i, filed)
    columns: list[tuple[str, Array]] = [(name, x[:, k]) for k, name in enumerate("xyz")]
    uv = filed.vertex_uv
    if uv is not None:
        columns += [("s", uv[:, 0]), ("t", uv[:, 1])]
    if filed.colors is not None:
        tints = np.rint(255 * filed.colors).astype(np.uint8)
        columns += list(zip(("red", "green", "blue", "alpha"), tints.T, strict=False))
    for name, values in clip.fields(i, filed.sources).items():
        wide = values.reshape(len(values), -1)
        named = [name] if wide.shape[1] == 1 else [f"{name}_{axis}" for axis in "xyz"]
        columns += list(zip(named, wide.T, strict=True))
    table = np.empty(len(x), dtype=[(name, values.dtype.newbyteorder("<")) for name, values in columns])
    for name, values in columns:
        table[name] = values
    return table


def _face_bytes(filed: Filed, seams: bool) -> bytes:
    """Faces that all have the same number of corners."""
    n, size = int(filed.counts[0]), len(filed.counts)
    kind: list[tuple] = [("n", "u1"), ("ids", "<i4", (n,))]
    kind += [("m", "u1"), ("uv", "<f4", (2 * n,))] if seams else []
    block = np.zeros(size, dtype=kind)
    block["n"], block["ids"] = n, filed.corners.reshape(-1, n)
    if seams:
        assert filed.corner_uv is not None
        block["m"], block["uv"] = 2 * n, filed.corner_uv.reshape(-1, 2 * n)
    return block.tobytes()


def _text(table: Array) -> str:
    """Rows of a table, numbers as short as they read back the same."""
    columns = [table[name] for name in table.dtype.names or ()]
    words = [list(map(str, column)) for column in columns]
    return "".join(f"{' '.join(row)}\n" for row in zip(*words, strict=True))


def _face_text(filed: Filed) -> str:
    ends = np.cumsum(filed.counts).tolist()
    ids = list(map(str, filed.corners.tolist()))
    starts = [0, *ends[:-1]]
    return "".join(f"{b - a} {' '.join(ids[a:b])}\n" for a, b in zip(starts, ends, strict=True))


def write_stl(clip: Clip, i: int, path: Path) -> None:
    """Write the i-th frame: triangles with their normals, in single precision, no vertices in common."""
    filed = clip.whole
    x = clip.listed(i, filed)[filed.triangles].astype(np.float32).astype(np.float64)
    normal = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    facets = np.zeros(len(x), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("two", "<u2")])
    facets["normal"] = np.divide(normal, length, out=np.zeros_like(normal), where=length > 0)
    facets["corners"] = x
    with path.open("wb") as file:
        file.write(b"Pliant".ljust(80))  # must not begin with "solid", which says ASCII
        file.write(np.uint32(len(x)).tobytes())
        file.write(facets.tobytes())
