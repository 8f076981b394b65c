"""The mesh of a solid body: tetrahedra, checked once and read-only afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pliant.errors import MeshError
from pliant.geometry import tetrahedra, topology
from pliant.geometry.attributes import float_rows, frozen, id_rows, scale_factors
from pliant.geometry.mesh import FLATTEST, TriMesh, rotation_matrix


@dataclass(frozen=True, eq=False, repr=False)
class TetMesh:
    """A body cut into tetrahedra, in metres.

    Attributes
    ----------
    vertices : (N, 3) float64, m, read-only
    tets : (E, 4) int32, read-only; ``det [x1 - x0, x2 - x0, x3 - x0]`` is positive
    file_ids : (n_file,) int32; ``file_ids[a]`` is the vertex that the file's vertex ``a`` (from 0) became, -1
        for one that no tetrahedron uses and that was left out; the identity when not given
    name : used in messages and reports
    source : path of the file, named in error messages
    turned : how many tetrahedra came inside out and were turned round (two vertices exchanged)

    Raises
    ------
    MeshError
        Wrong shapes, no tetrahedra, a coordinate that is not finite, a vertex id out of range, a vertex that
        no tetrahedron uses, a tetrahedron that names a vertex twice or has no volume (relative to its longest
        edge), a face of more than two tetrahedra. The message names the source, the element and the cure.
    """

    vertices: np.ndarray
    tets: np.ndarray
    file_ids: np.ndarray = None  # type: ignore[assignment]
    name: str = "body"
    source: str | None = None
    turned: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        where = self.source or self.name
        vertices = float_rows(self.vertices, 3, where, "vertices")
        tets = id_rows(self.tets, 4, where, "tets")
        check_tets(vertices, tets, where)
        inverted = tetrahedra.tet_volumes(vertices, tets) < 0.0
        tets[inverted] = tets[inverted][:, [0, 2, 1, 3]]
        n = len(vertices)
        ids = np.arange(n) if self.file_ids is None else np.asarray(self.file_ids)
        if ids.ndim != 1 or (ids.size and (ids.min() < -1 or ids.max() >= n)):
            raise MeshError(f"{where}: file_ids must be a list of vertex ids from 0 to {n - 1}, -1 for none")
        put = object.__setattr__
        put(self, "vertices", frozen(vertices))
        put(self, "tets", frozen(tets))
        put(self, "file_ids", frozen(ids.astype(np.int32)))
        put(self, "turned", int(inverted.sum()))

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self.vertices)

    @property
    def n_tets(self) -> int:
        """Number of tetrahedra."""
        return len(self.tets)

    @cached_property
    def triangles(self) -> np.ndarray:
        """Triangles of the surface, normals outwards: (F, 3) int32, ids of this mesh's vertices."""
        return frozen(tetrahedra.boundary_triangles(self.tets))

    @cached_property
    def surface_ids(self) -> np.ndarray:
        """Vertices on the surface, ascending: (S,) int32."""
        return frozen(np.unique(self.triangles))

    @cached_property
    def surface(self) -> TriMesh:
        """The surface as a mesh of its own; its vertex k is vertex ``surface_ids[k]`` of this one."""
        local = np.searchsorted(self.surface_ids, self.triangles)
        return TriMesh(self.vertices[self.surface_ids], local, name=self.name, source=self.source)

    @cached_property
    def edges(self) -> np.ndarray:
        """Every edge once, (M, 2) int32, the smaller id first, rows in lexicographic order."""
        return frozen(tetrahedra.edges(self.tets))

    @cached_property
    def volume(self) -> float:
        """Total volume, m³."""
        return float(tetrahedra.tet_volumes(self.vertices, self.tets).sum())

    @cached_property
    def bounds(self) -> np.ndarray:
        """Corners of the bounding box, (2, 3), m: lowest, highest."""
        return frozen(np.stack([self.vertices.min(axis=0), self.vertices.max(axis=0)]))

    @cached_property
    def length(self) -> float:
        """Diagonal of the bounding box, m: the length that tolerances are relative to."""
        return float(np.linalg.norm(self.bounds[1] - self.bounds[0]))

    def transformed(
        self,
        position: Sequence[float] | np.ndarray = (0.0, 0.0, 0.0),
        rotation: Sequence[float] | np.ndarray | None = None,
        scale: float | Sequence[float] = 1.0,
    ) -> TetMesh:
        """The same mesh scaled about the origin, then rotated about it, then moved.

        ``position`` (3,) m; ``rotation`` as in :func:`pliant.geometry.mesh.rotation_matrix`; ``scale`` > 0,
        one number or three, along x, y and z.
        """
        factors = scale_factors(scale, self.name)
        shift = np.asarray(position, dtype=np.float64)
        if shift.shape != (3,) or not np.isfinite(shift).all():
            raise MeshError(f"{self.name}: position must be three finite numbers in metres, got {position!r}")
        x = self.vertices * factors
        if rotation is not None:
            x = x @ rotation_matrix(rotation).T
        return self.with_vertices(x + shift)

    def with_vertices(self, vertices: np.ndarray) -> TetMesh:
        """The same tetrahedra in another place or shape: vertices (N, 3), m.

        Volumes are not checked: a body may start flat, or inside out.
        """
        x = float_rows(vertices, 3, self.name, "vertices")
        if x.shape != self.vertices.shape or not np.isfinite(x).all():
            raise MeshError(
                f"{self.name}: vertices must be finite with shape {self.vertices.shape}, got {x.shape}"
            )
        moved = object.__new__(TetMesh)
        for key in ("tets", "file_ids", "name", "source", "turned"):
            object.__setattr__(moved, key, getattr(self, key))
        object.__setattr__(moved, "vertices", frozen(x))
        return moved

    def __repr__(self) -> str:
        size = " × ".join(f"{s:.4g}" for s in self.bounds[1] - self.bounds[0])
        faces = self.tets[:, tetrahedra.FACES].reshape(-1, 3)
        pieces = int(topology.components(faces, self.n_vertices).max()) + 1
        quality = tetrahedra.quality(self.vertices, self.tets)
        worst = int(np.argmin(quality))
        angle = np.degrees(tetrahedra.smallest_dihedral(self.vertices, self.tets[worst : worst + 1])[0])
        parts = [
            f"{self.name!r}: {self.n_vertices} vertices, {self.n_tets} tetrahedra",
            f"{len(self.triangles)} triangles around them",
            f"{pieces} piece{'s' if pieces > 1 else ''}",
            f"box {size} m, volume {self.volume:.4g} m³",
            f"quality {quality[worst]:.2g} at worst (tetrahedron {worst}, {angle:.1f}°), "
            f"{np.median(quality):.2g} in the middle",
        ]
        if self.turned:
            parts.append(f"{self.turned} came inside out and were turned round")
        return f"TetMesh({'; '.join(parts)})"


def check_tets(vertices: np.ndarray, tets: np.ndarray, where: str, loose_too: bool = True) -> None:
    """Raise MeshError for the first vertex or tetrahedron that no solver could use.

    ``vertices`` (N, 3), ``tets`` (E, 4) integers, ``where`` names the mesh or file in the message. Vertices
    that no tetrahedron uses are refused unless ``loose_too`` is false.
    """
    if not len(tets):
        raise MeshError(f"{where}: no tetrahedra; give a mesh with at least one")
    n = len(vertices)
    bad = np.flatnonzero(~np.isfinite(vertices).all(axis=1))
    if bad.size:
        v = int(bad[0])
        raise MeshError(
            f"{where}: vertex {v} is at {tuple(vertices[v].tolist())} ({bad.size} such); "
            "coordinates must be finite"
        )
    _refuse(
        ((tets < 0) | (tets >= n)).any(axis=1), tets, where,
        f"refers to a vertex that does not exist; the mesh has {n} (ids 0 to {n - 1})",
    )  # fmt: skip
    ordered = np.sort(tets, axis=1)
    _refuse((ordered[:, 1:] == ordered[:, :-1]).any(axis=1), tets, where, "names a vertex twice; remove it")
    used = np.zeros(n, dtype=bool)
    used[tets] = True
    loose = np.flatnonzero(~used)
    if loose_too and loose.size:
        raise MeshError(
            f"{where}: no tetrahedron uses vertex {loose[0]} ({loose.size} such); leave such vertices out"
        )
    flat = np.zeros(len(tets), dtype=bool)
    flat[degenerate_tets(vertices, tets)] = True
    _refuse(flat, tets, where, "has no volume; remove it or move its corners apart")
    faces, use = tetrahedra.face_use(tets)
    bad = np.flatnonzero(use > 2)
    if bad.size:
        face = np.sort(faces[bad[0]])
        around = np.flatnonzero(np.isin(tets, face).sum(axis=1) == 3)[:4]
        raise MeshError(
            f"{where}: the face of vertices {face.tolist()} belongs to {use[bad[0]]} tetrahedra "
            f"({', '.join(map(str, around.tolist()))}); at most two can share a face, so some overlap: "
            "remove those"
        )


def _refuse(bad: Any, tets: np.ndarray, where: str, what: str) -> None:
    if bad.any():
        e = int(np.flatnonzero(bad)[0])
        raise MeshError(
            f"{where}: tetrahedron {e} with vertices {tets[e].tolist()} {what} ({int(bad.sum())} such)"
        )


def degenerate_tets(vertices: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """Ids of tetrahedra flatter than FLATTEST: smallest height over the longest edge; scale-free."""
    x = vertices[tets]
    span = np.abs(x[:, 1:] - x[:, :1]).max(axis=(1, 2))
    x = (x - x[:, :1]) / np.where(span > 0.0, span, 1.0)[:, None, None]
    six = np.abs((x[:, 1] * np.cross(x[:, 2], x[:, 3])).sum(axis=1))
    corners = x[:, tetrahedra.FACES]
    doubled = np.cross(corners[:, :, 1] - corners[:, :, 0], corners[:, :, 2] - corners[:, :, 0])
    widest = np.linalg.norm(doubled, axis=2).max(axis=1)
    longest = np.linalg.norm(x[:, tetrahedra.EDGES[:, 0]] - x[:, tetrahedra.EDGES[:, 1]], axis=2).max(axis=1)
    return np.flatnonzero(~(six > FLATTEST * widest * longest))
