"""OBJ files: vertices with colours, texture coordinates, polygons; an object for each cloth and collider.

Format: B. Martin, "Object Files (.obj)", Wavefront Advanced Visualizer manual, appendix B1. Colours after the
coordinates are not part of it, but what MeshLab, Blender and others write and read.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.io.exports.clip import Clip
from pliant.io.exports.files import file_name
from pliant.io.filed import Filed

__all__ = ["write_obj"]

Array = np.ndarray


def write_obj(clip: Clip, i: int, path: Path) -> None:
    """Write the i-th frame.

    Numbers are as short as they can be without losing a bit: float64 for a mesh, float32 for a recording. In
    a unit other than the metre a mesh has 15 digits, so that a number that came from a file comes back as it
    was written there.
    """
    blocks = [] if clip.still else [f"# {_one_line(clip.title)}\n"]
    taken: list[str] = []
    first = first_uv = 1
    several = len(clip.pieces) + len(clip.solids) > 1
    points = clip.points(i)
    digits = "%.9g" if not clip.still else "%.17g" if clip.unit == "m" else "%.15g"
    for piece in clip.pieces:
        filed = piece.filed.shell
        if several:
            taken.append(file_name(piece.name, taken))
            blocks.append(f"o {taken[-1]}\n")
        x = points[piece.start + np.maximum(filed.sources, 0)]
        blocks += [_vertices(x, filed.colors, digits), _texture(filed), _faces(filed, first, first_uv)]
        first += len(x)
        first_uv += 0 if filed.uv is None else len(filed.uv)
    for solid, pose in zip(clip.solids, clip.placed(i), strict=True):
        taken.append(file_name(solid.name, taken))
        x = (solid.vertices @ pose[:, :3].T + pose[:, 3]).astype(np.float32)
        filed = Filed.plain(len(x), solid.triangles)
        blocks += [f"o {taken[-1]}\n", _vertices(x, None, "%.9g"), _faces(filed, first, 1)]
        first += len(x)
    path.write_text("".join(blocks), encoding="utf-8", newline="\n")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _rows(head: str, x: Array, digits: str) -> str:
    """One line for each row; numbers as short as they read back the same."""
    if digits == "%.17g":
        return "".join(f"{head} {' '.join(map(repr, row))}\n" for row in x.tolist())
    line = f"{head} {' '.join([digits] * x.shape[1])}\n"
    return line * len(x) % tuple(x.ravel().tolist())


def _vertices(x: Array, colors: Array | None, digits: str) -> str:
    if colors is None:
        return _rows("v", x, digits)
    places = _rows("v", x, digits).splitlines()
    tints = _rows("", colors[:, :3], "%.17g").splitlines()
    return "".join(f"{place}{tint}\n" for place, tint in zip(places, tints, strict=True))


def _texture(filed: Filed) -> str:
    return "" if filed.uv is None else _rows("vt", filed.uv, "%.17g")


def _faces(filed: Filed, first: int, first_uv: int) -> str:
    ids = (filed.corners + first).tolist()
    if filed.uv is None:
        words = list(map(str, ids))
    else:
        rows = filed.corners if filed.uv_corners is None else filed.uv_corners
        words = [f"{a}/{b}" for a, b in zip(ids, (rows + first_uv).tolist(), strict=True)]
    ends = np.cumsum(filed.counts).tolist()
    starts = [0, *ends[:-1]]
    return "".join(f"f {' '.join(words[a:b])}\n" for a, b in zip(starts, ends, strict=True))
