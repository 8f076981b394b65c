"""A mesh under repair, and the mended mesh with its maps that comes of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pliant.errors import MeshError
from pliant.geometry.mesh import TriMesh
from pliant.geometry.tetmesh import TetMesh

Array = np.ndarray
FIRST = 10
"""So many ids are named."""


@dataclass(frozen=True)
class Change:
    """One kind of change: its name, how many, the first ids of the old mesh that it met, a sentence."""

    name: str
    count: int
    first: tuple[int, ...]
    words: str

    def __str__(self) -> str:
        return f"{self.words} (first: {', '.join(map(str, self.first))})"


@dataclass(frozen=True, eq=False)
class Repair:
    """A mended mesh and what was done to it.

    mesh           TriMesh or TetMesh; its ``file_ids`` lead from the same file as those of the old one
    changes        one entry for each kind of change, empty where there was nothing to do
    vertex_map     (N,) old vertex -> new one, -1 for one that was left out
    triangle_map   (F,) old triangle (or tetrahedron) -> new one, -1 for one that was left out
    parted         (K, 2) vertices that were one before, in the file's numbers: the surface was parted there,
                   and ``mesh.file_ids`` has a number more for each copy. To hold it together all the same:
                   ``scene.add_attachment(cloth, parted[:, 1], cloth, onto=parted[:, 0], stiffness=np.inf)``
    """

    mesh: Any
    changes: tuple[Change, ...]
    vertex_map: Array
    triangle_map: Array
    parted: Array = field(default_factory=lambda: np.zeros((0, 2), np.int32))

    def __str__(self) -> str:
        name = self.mesh.source or self.mesh.name
        if not self.changes:
            return f"{name}: nothing to repair"
        return "\n".join([f"{name}: repaired", *(f"  {change}" for change in self.changes)])


class Work:
    """A mesh under repair: what is left of it, and where it came from."""

    def __init__(self, x: Array, ids: Array, where: str) -> None:
        self.x, self.ids, self.where = x, ids, where
        self.changes: list[Change] = []
        self.vertex_map = np.arange(len(x))
        self.source = np.arange(len(x))  # of each vertex, the old one whose place it has
        self.element = np.arange(len(ids))  # of each element left, the old one
        self.corner = np.arange(ids.size).reshape(ids.shape)  # of each corner left, the old one
        self.n_elements = len(ids)
        self.parted = np.zeros((0, 2), np.int64)

    def note(self, name: str, met: Array, words: str) -> None:
        """Write down a change that met some old ids."""
        if len(met):
            many = len(met) > 1
            said = words.format(
                n=len(met), s="s" * many, v="vertices" if many else "vertex",
                t="tetrahedra" if many else "tetrahedron",
            )  # fmt: skip
            self.changes.append(Change(name, len(met), tuple(met[:FIRST].tolist()), said))

    def keep(self, kept: Array) -> Array:
        """Keep some elements (mask); returns the old ids of the others."""
        gone = self.element[~kept]
        self.ids, self.element, self.corner = self.ids[kept], self.element[kept], self.corner[kept]
        if not len(self.ids):
            raise MeshError(
                f"{self.where}: nothing is left of it after repair; check the unit and the export"
            )
        return gone

    def join(self, leader: Array) -> Array:
        """Put the vertex ``leader[v]`` in the place of each vertex v; returns old ids of those replaced."""
        known = self.vertex_map >= 0
        moved = known & (leader[self.vertex_map] != self.vertex_map)
        self.vertex_map[known] = leader[self.vertex_map[known]]
        self.ids = leader[self.ids]
        self.parted = leader[self.parted]
        self.parted = self.parted[self.parted[:, 0] != self.parted[:, 1]]
        return np.flatnonzero(moved)

    def maps(self) -> tuple[Array, Array]:
        """vertex_map and triangle_map, as :class:`Repair` gives them."""
        elements = np.full(self.n_elements, -1, np.int32)
        elements[self.element] = np.arange(len(self.element))
        return self.vertex_map.astype(np.int32), elements

    def surface(self, mesh: Any, name: str | None) -> Repair:
        """The mended surface."""
        vertex_map, triangle_map = self.maps()
        given = mesh.file_ids if isinstance(mesh, TriMesh) else np.arange(len(vertex_map))
        ids = np.where(given < 0, -1, vertex_map[given])
        ids, parted = _with_copies(ids, self.parted, len(self.x))
        of_file = self._file_corners(mesh, ids)
        if not isinstance(mesh, TriMesh):
            made = TriMesh(self.x, self.ids, ids, name=name or "mesh", file_triangles=of_file)
        elif not self.changes:
            made = mesh
        else:
            made = replace(
                mesh,
                vertices=self.x,
                triangles=self.ids,
                file_ids=ids,
                file_triangles=of_file,
                colors=None if mesh.colors is None else mesh.colors[self.source],
                **self._polygons(mesh),
                **self._texture(mesh),
            )
        return Repair(made, tuple(self.changes), vertex_map, triangle_map, parted)

    def _file_corners(self, mesh: Any, ids: Array) -> Array | None:
        """The file's vertices (F, 3) at the corners, where ``ids`` has several for one vertex; else None."""
        named = np.bincount(ids[ids >= 0], minlength=len(self.x))
        if (named < 2).all() or (named[self.ids] == 0).any():
            return None
        first = np.zeros(len(self.x), np.int64)
        known = np.flatnonzero(ids >= 0)[::-1]
        first[ids[known]] = known
        corners = mesh.file_corners if isinstance(mesh, TriMesh) else np.asarray(mesh[1])
        mine = corners.ravel()[self.corner]
        return np.where(ids[mine] == self.ids, mine, first[self.ids])  # a copy that was parted has its own

    def _texture(self, mesh: TriMesh) -> dict[str, Any]:
        """Texture coordinates: per vertex where they were and no seam was joined, else corner by corner."""
        if mesh.uv is None:
            return {}
        if mesh.uv_triangles is not None:
            return {"uv_triangles": mesh.uv_triangles.ravel()[self.corner]}
        at = mesh.triangles.ravel()[self.corner]
        own = mesh.uv[self.source]
        if np.array_equal(own[self.ids], mesh.uv[at]):
            return {"uv": own}
        return {"uv_triangles": at}

    def _polygons(self, mesh: TriMesh) -> dict[str, Any]:
        """The file's polygons, as long as each is whole, with its corners in other places at most."""
        none: dict[str, Any] = {"polygons": None, "triangle_polygon": None}
        if mesh.polygons is None or mesh.triangle_polygon is None:
            return none
        part_of = mesh.triangle_polygon[self.element]
        count = np.bincount(mesh.triangle_polygon, minlength=len(mesh.polygons))
        here = np.bincount(part_of, minlength=len(mesh.polygons))
        own = mesh.triangles.ravel()[self.corner]
        if (here[part_of] != count[part_of]).any() or (self.vertex_map[own] != self.ids).any():
            return none
        turned = np.zeros(len(count), bool)
        turned[part_of] = (self.corner[:, 1] - self.corner[:, 0]) % 3 != 1
        faces = []
        for k in np.flatnonzero(here).tolist():
            face = self.vertex_map[list(mesh.polygons[k])][:: -1 if turned[k] else 1].tolist()
            if min(face) < 0 or len(set(face)) < len(set(mesh.polygons[k])):
                return none
            faces.append(tuple(face))
        return {"polygons": tuple(faces), "triangle_polygon": (np.cumsum(here > 0) - 1)[part_of]}

    def body(self, mesh: Any, name: str | None) -> Repair:
        """The mended body."""
        vertex_map, tet_map = self.maps()
        if isinstance(mesh, TetMesh):
            given = mesh.file_ids
            ids = np.where(given < 0, -1, vertex_map[given])
            made = TetMesh(self.x, self.ids, ids, mesh.name, mesh.source) if self.changes else mesh
        else:
            made = TetMesh(self.x, self.ids, vertex_map, name or "body")
        return Repair(made, tuple(self.changes), vertex_map, tet_map)


def _with_copies(file_ids: Array, parted: Array, n: int) -> tuple[Array, Array]:
    """The file's numbers (n_file + K,) with one more for each copy, and pairs (K, 2) of such numbers."""
    number = np.full(n, -1, np.int64)
    known = np.flatnonzero(file_ids >= 0)[::-1]
    number[file_ids[known]] = known  # the first of several
    unnamed = np.unique(parted[number[parted] < 0])
    number[unnamed] = len(file_ids) + np.arange(len(unnamed))
    return np.concatenate([file_ids, unnamed]), number[parted].astype(np.int32).reshape(-1, 2)
