"""A surface as its file lists it: the file's vertices and polygons, texture, colours.

A simulation moves particles: seams are closed, polygons cut, loose nodes gone. What goes back to other
programs must have the numbers of the file that came from there; :class:`Filed` is the way back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np

from pliant.geometry.mesh import TriMesh
from pliant.geometry.tetmesh import TetMesh

__all__ = ["Filed", "joined"]

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Filed:
    """How a file lists the surface of a part.

    Attributes:
        sources: (n,) int32; vertex i of the file is vertex ``sources[i]`` of the part, -1 if it was left out.
        counts: (P,) int32; corners of each polygon.
        corners: (C,) int32; vertices of the file, polygon after polygon.
        triangles: (F, 3) int32; vertices of the file, the polygons cut into triangles.
        uv: (m, 2) float64 or None; texture coordinates.
        uv_corners: (C,) int32 or None; the row of ``uv`` of each corner; None with uv: one row per vertex.
        uv_triangles: (F, 3) int32 or None; the same for the triangles.
        colors: (n, 3) or (n, 4) float64 in [0, 1] or None.
        tets: (T, 4) int32 or None; vertices of the file.
    """

    sources: Array
    counts: Array
    corners: Array
    triangles: Array
    uv: Array | None = None
    uv_corners: Array | None = None
    uv_triangles: Array | None = None
    colors: Array | None = None
    tets: Array | None = None

    @classmethod
    def plain(cls, n: int, triangles: Array) -> Filed:
        """Vertices as they are, triangles only."""
        t = np.asarray(triangles, dtype=np.int32)
        return cls(np.arange(n, dtype=np.int32), np.full(len(t), 3, np.int32), t.ravel(), t)

    @classmethod
    def of(cls, mesh: TriMesh | TetMesh) -> Filed:
        """What a mesh remembers of its file.

        The facets of an STL file have no common vertices, so that its order is no order of vertices: there
        the mesh's own order stands, which is that of first appearance. Vertices that no file has come last.
        """
        if isinstance(mesh, TetMesh):
            return _of_body(mesh)
        stl = mesh.source is not None and Path(mesh.source).suffix.lower() == ".stl"
        ids = np.arange(mesh.n_vertices) if stl else _complete(mesh.file_ids, mesh.n_vertices)
        first = _first_copy(ids, mesh.n_vertices)
        triangles = first[mesh.triangles]
        if not stl:
            triangles = np.where(mesh.file_corners < 0, triangles, mesh.file_corners)
        counts, corner, vertices = _polygons(mesh)
        corners = triangles.ravel()[corner]
        lost = ids[corners] != vertices  # a corner whose triangle had no area and is gone
        corners[lost] = first[vertices[lost]]
        return cls(
            sources=ids.astype(np.int32),
            counts=counts,
            corners=corners,
            triangles=triangles,
            uv=mesh.uv if mesh.uv is None or mesh.uv_triangles is not None else mesh.uv[ids],
            uv_corners=None if mesh.uv_triangles is None else mesh.uv_triangles.ravel()[corner],
            uv_triangles=mesh.uv_triangles,
            colors=None if mesh.colors is None else mesh.colors[ids],
        )

    @property
    def n_vertices(self) -> int:
        """Vertices of the file."""
        return len(self.sources)

    def is_plain(self) -> bool:
        """Whether it says nothing that the part's triangles do not say."""
        told = (self.uv, self.colors, self.tets)
        whole = np.array_equal(self.sources, np.arange(len(self.sources)))
        return whole and bool((self.counts == 3).all()) and all(value is None for value in told)

    @cached_property
    def corner_uv(self) -> Array | None:
        """Texture coordinates (C, 2) of the corners, or None."""
        if self.uv is None:
            return None
        return self.uv[self.corners if self.uv_corners is None else self.uv_corners]

    @cached_property
    def vertex_uv(self) -> Array | None:
        """Texture coordinates (n, 2) of the vertices; None where there are none, or two at one vertex."""
        if self.corner_uv is None or self.uv_corners is None:
            return self.uv
        out = np.zeros((self.n_vertices, 2))
        out[self.corners] = self.corner_uv
        return out if np.array_equal(out[self.corners], self.corner_uv) else None

    @cached_property
    def shell(self) -> Filed:
        """Without the vertices inside a body, which no face uses; a cloth stays as it is."""
        if self.tets is None:
            return self
        used = np.zeros(self.n_vertices, dtype=bool)
        used[self.corners] = True
        new = (np.cumsum(used) - 1).astype(np.int32)
        return Filed(self.sources[used], self.counts, new[self.corners], new[self.triangles])

    def arrays(self) -> dict[str, Array]:
        """What is there, by name; ``Filed(**arrays)`` is the way back."""
        named = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in named.items() if value is not None}


def joined(parts: Sequence[tuple[int, Filed]]) -> Filed:
    """Several surfaces as one, one after the other; ``sources`` count from the first particle of all.

    Args:
        parts: the first particle of each surface, and the surface. Where only some have texture or colours,
            the others get zeros and white.
    """
    if len(parts) == 1 and parts[0][0] == 0:
        return parts[0][1]
    firsts = np.cumsum([0, *(filed.n_vertices for _, filed in parts)])[:-1]

    def numbered(name: str) -> Array:
        return np.concatenate(
            [getattr(f, name) + np.int32(k) for k, (_, f) in zip(firsts, parts, strict=True)]
        )

    listed = [filed for _, filed in parts]
    textured, coloured = (
        any(v is not None for v in vs) for vs in zip(*((f.uv, f.colors) for f in listed), strict=True)
    )
    uv = uv_corners = uv_triangles = None
    if textured:
        rows = [_texture(f) for f in listed]
        starts = np.cumsum([0, *(len(r[0]) for r in rows)])[:-1].astype(np.int32)
        uv = np.concatenate([r[0] for r in rows])
        uv_corners = np.concatenate([r[1] + k for r, k in zip(rows, starts, strict=True)])
        uv_triangles = np.concatenate([r[2] + k for r, k in zip(rows, starts, strict=True)])
    return Filed(
        sources=np.concatenate([np.where(f.sources < 0, -1, f.sources + start) for start, f in parts]),
        counts=np.concatenate([f.counts for f in listed]),
        corners=numbered("corners"),
        triangles=numbered("triangles"),
        uv=uv,
        uv_corners=uv_corners,
        uv_triangles=uv_triangles,
        colors=np.concatenate([_opaque(f) for f in listed]) if coloured else None,
    )


def _texture(filed: Filed) -> tuple[Array, Array, Array]:
    if filed.uv is None:
        return np.zeros((1, 2)), np.zeros_like(filed.corners), np.zeros_like(filed.triangles)
    if filed.uv_corners is None or filed.uv_triangles is None:
        return filed.uv, filed.corners, filed.triangles
    return filed.uv, filed.uv_corners, filed.uv_triangles


def _opaque(filed: Filed) -> Array:
    out = np.ones((filed.n_vertices, 4))
    if filed.colors is not None:
        out[:, : filed.colors.shape[1]] = filed.colors
    return out


def _of_body(mesh: TetMesh) -> Filed:
    ids = _complete(mesh.file_ids, mesh.n_vertices)
    first = _first_copy(ids, mesh.n_vertices)
    plain = Filed.plain(len(ids), first[mesh.triangles])
    return Filed(ids.astype(np.int32), plain.counts, plain.corners, plain.triangles, tets=first[mesh.tets])


def _complete(file_ids: Array, n: int) -> Array:
    """The vertices of a file, then those of the mesh that it does not have: (n_file + k,)."""
    ids = np.asarray(file_ids, dtype=np.int64)
    return np.concatenate([ids, np.setdiff1d(np.arange(n), ids)])


def _first_copy(ids: Array, n: int) -> Array:
    """The first vertex of the file that became each vertex: (n,) int32."""
    first = np.zeros(n, dtype=np.int32)
    kept = np.flatnonzero(ids >= 0)[::-1]
    first[ids[kept]] = kept
    return first


def _polygons(mesh: TriMesh) -> tuple[Array, Array, Array]:
    """Corners of each polygon (P,); for each of them a corner of the triangles, and its vertex (C,)."""
    if mesh.polygons is None or mesh.triangle_polygon is None:
        corners = mesh.triangles.ravel()
        return np.full(mesh.n_triangles, 3, np.int32), np.arange(len(corners)), corners
    counts = np.array([len(polygon) for polygon in mesh.polygons], dtype=np.int32)
    vertices = np.fromiter(chain.from_iterable(mesh.polygons), dtype=np.int64)
    n = mesh.n_vertices
    wanted = np.repeat(np.arange(len(counts)), counts) * n + vertices
    there = np.repeat(mesh.triangle_polygon.astype(np.int64), 3) * n + mesh.triangles.ravel()
    order = np.argsort(there, kind="stable")
    place = np.searchsorted(there[order], wanted)
    return counts, order[np.minimum(place, len(order) - 1)], vertices
