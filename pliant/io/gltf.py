"""glTF 2.0 (``.glb``, ``.gltf``): triangles of the scene's nodes, moved as the nodes say.

The format is that of the Khronos glTF 2.0 specification. It is read here, and not by a library: trimesh 5.2
checks its bounds by assertions alone, and fills what it cannot decode with zeros. A mesh of a node is split
wherever texture or normals have a seam; its vertices at exactly one position become one again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pliant.geometry.mesh import rotation_matrix
from pliant.io.colors import screen
from pliant.io.gltf_data import Buffers, opened
from pliant.io.obj import unit_colors
from pliant.io.raw import RawSurface
from pliant.io.vtk_cells import strip_triangles

MODES = {0: "points", 1: "lines", 2: "lines", 3: "lines", 4: "triangles", 5: "strip", 6: "fan"}


@dataclass
class _Found:
    """Vertices and triangles of the nodes so far; ``at`` of each vertex of the file is its vertex here."""

    x: list[np.ndarray] = field(default_factory=list)
    at: list[np.ndarray] = field(default_factory=list)
    uv: list[np.ndarray] = field(default_factory=list)
    colors: list[np.ndarray] = field(default_factory=list)
    triangles: list[np.ndarray] = field(default_factory=list)
    bare: list[tuple[bool, bool]] = field(default_factory=list)  # parts without texture, without colours
    n_file: int = 0
    n_vertices: int = 0
    skipped: int = 0


def read_gltf(file: Path) -> RawSurface:
    """The triangles of a scene, node by node; vertices in the order of nodes, primitives and accessors."""
    document, buffers = opened(file)
    found = _Found()
    try:
        for node, matrix in _placed_nodes(document, buffers):
            if "mesh" in node:
                mesh = _item(document, "meshes", node["mesh"], buffers)
                _add_mesh(found, document, buffers, mesh, np.eye(4) if "skin" in node else matrix)
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, IndexError) as error:
        raise buffers.fail(f"contradicts itself ({type(error).__name__}: {error})"[:160]) from error
    return _surface(found)


def _item(document: dict, kind: str, index: Any, buffers: Buffers) -> dict:
    items = document.get(kind, [])
    if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < len(items):
        raise buffers.fail(f"refers to number {index!r} of its {len(items)} {kind}")
    return items[index]


def _placed_nodes(document: dict, buffers: Buffers) -> list[tuple[dict, np.ndarray]]:
    """Nodes of the scene, each before its children, and where they are: (4, 4)."""
    nodes = document.get("nodes", [])
    if "scenes" in document:
        roots = list(_item(document, "scenes", document.get("scene", 0), buffers).get("nodes", []))
    else:
        children = {child for node in nodes for child in node.get("children", [])}
        roots = [k for k in range(len(nodes)) if k not in children]
    out, seen = [], set()
    stack = [(root, np.eye(4)) for root in reversed(roots)]
    while stack:
        index, parent = stack.pop()
        node = _item(document, "nodes", index, buffers)
        if index in seen:
            raise buffers.fail(f"node {index} has two parents or is its own")
        seen.add(index)
        matrix = parent @ _matrix(node, buffers)
        out.append((node, matrix))
        stack += [(child, matrix) for child in reversed(node.get("children", []))]
    return out


def _matrix(node: dict, buffers: Buffers) -> np.ndarray:
    if "matrix" in node:
        matrix = np.array(node["matrix"], dtype=np.float64).reshape(4, 4).T
    else:
        matrix = np.eye(4)
        x, y, z, w = np.array(node.get("rotation", (0, 0, 0, 1)), dtype=np.float64)
        turn = rotation_matrix((w, x, y, z))
        matrix[:3, :3] = turn * np.array(node.get("scale", (1, 1, 1)), dtype=np.float64).reshape(1, 3)
        matrix[:3, 3] = np.array(node.get("translation", (0, 0, 0)), dtype=np.float64).reshape(3)
    if not np.isfinite(matrix).all() or not np.array_equal(matrix[3], (0, 0, 0, 1)):
        raise buffers.fail("a node has a transform that is none")
    return matrix


def _add_mesh(found: _Found, document: dict, buffers: Buffers, mesh: dict, matrix: np.ndarray) -> None:
    """One node's mesh: primitives that name the same vertices share them, then positions are made one."""
    starts: dict[tuple, int] = {}
    parts, triangles = [], []
    n = 0
    for primitive in mesh["primitives"]:
        mode = MODES.get(primitive.get("mode", 4))
        if mode in ("points", "lines"):
            found.skipped += 1
            continue
        if mode is None:
            raise buffers.fail(f"a primitive has mode {primitive['mode']!r}, which is none")
        names = primitive["attributes"]
        key = tuple(names.get(name) for name in ("POSITION", "TEXCOORD_0", "COLOR_0"))
        part = _vertices(buffers, names)
        if key not in starts:
            starts[key] = n
            parts.append(part)
            n += len(part[0])
        triangles.append(_triangles(buffers, primitive, mode, len(part[0])) + starts[key])
    if not parts:
        return
    x = np.concatenate([part[0] for part in parts]) @ matrix[:3, :3].T + matrix[:3, 3]
    _, first, group = np.unique(x + 0.0, axis=0, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    t = np.concatenate(triangles)
    found.triangles.append((t if np.linalg.det(matrix[:3, :3]) >= 0 else t[:, ::-1]) + found.n_file)
    found.at.append(rank[group.ravel()] + found.n_vertices)
    found.x.append(x[np.sort(first)])
    for position, uv, colors in parts:
        found.uv.append(np.zeros((len(position), 2)) if uv is None else uv)
        found.colors.append(np.ones((len(position), 4)) if colors is None else colors)
        found.bare.append((uv is None, colors is None))
    found.n_file += n
    found.n_vertices += len(first)


def _vertices(buffers: Buffers, names: dict) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Positions, texture coordinates with v upwards, colours with opacity."""
    x = buffers.rows(names["POSITION"], "VEC3")
    uv = colors = None
    if "TEXCOORD_0" in names:
        uv = buffers.rows(names["TEXCOORD_0"], "VEC2")
        uv = np.stack([uv[:, 0], 1.0 - uv[:, 1]], axis=1)
    if "COLOR_0" in names:
        colors = buffers.rows(names["COLOR_0"], "VEC3", "VEC4")
        colors = np.c_[colors, np.ones(len(colors))] if colors.shape[1] == 3 else colors
    for rows in (uv, colors):
        if rows is not None and len(rows) != len(x):
            raise buffers.fail(f"a primitive has {len(x)} positions and {len(rows)} values beside them")
    return x, uv, colors


def _triangles(buffers: Buffers, primitive: dict, mode: str, n: int) -> np.ndarray:
    ids = buffers.ids(primitive["indices"]) if "indices" in primitive else np.arange(n)
    if ids.size and ids.max() >= n:
        raise buffers.fail(f"a primitive refers to vertex {ids.max()}, it has {n}")
    if mode == "strip":
        rows = strip_triangles(ids)
        a, b, c = rows.T
        return rows[(a != b) & (b != c) & (c != a)]  # repeated vertices join strips
    if mode == "fan":
        return np.stack(
            [np.full(max(len(ids) - 2, 0), ids[0] if ids.size else 0), ids[1:-1], ids[2:]], axis=1
        )
    if len(ids) % 3:
        raise buffers.fail(f"a primitive of triangles has {len(ids)} corners, which 3 does not divide")
    return ids.reshape(-1, 3)


def _surface(found: _Found) -> RawSurface:
    none = np.zeros((0, 3))
    x = np.concatenate([none, *found.x])
    at = np.concatenate([np.zeros(0, dtype=np.int64), *found.at])
    rows = np.concatenate([np.zeros((0, 3), dtype=np.int64), *found.triangles])
    ids = at[rows].ravel()
    used = np.zeros(len(x), dtype=bool)
    used[ids] = True
    place = np.where(used, np.cumsum(used) - 1, -1)
    kept = np.flatnonzero(used)
    remarks = [f"{found.skipped} primitives of points and lines are left out"] if found.skipped else []
    colors = None
    if not all(without for _, without in found.bare):
        first = np.zeros(len(x), dtype=np.int64)
        first[at[::-1]] = np.arange(len(at))[::-1]
        colors, remark = unit_colors(np.concatenate(found.colors)[first[kept]])
        colors = None if colors is None else screen(colors)
        remarks += [remark] if remark else []
    textured = not all(without for without, _ in found.bare)
    return RawSurface(
        x[kept],
        place[ids],
        np.full(len(rows), 3),
        place[at],
        lambda v: f"vertex at {tuple(x[kept[v]].tolist())}",
        lambda f: f"triangle {f}",
        uv=np.concatenate(found.uv) if textured else None,
        uv_corners=rows.ravel() if textured else None,
        colors=colors,
        remarks=remarks,
    )
