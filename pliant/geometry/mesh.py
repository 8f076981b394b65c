"""The triangle mesh that every other layer receives: checked once, read-only afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pliant.errors import MeshError
from pliant.geometry import attributes, topology
from pliant.geometry.attributes import float_rows, frozen, id_rows

FLATTEST = 1e-6
"""A triangle has no area when its height over its longest edge is at most this fraction of that edge."""


@dataclass(frozen=True, eq=False, repr=False)
class TriMesh:
    """A triangulated surface in metres.

    Attributes
    ----------
    vertices : (N, 3) float64, m, read-only
    triangles : (F, 3) int32, read-only; the normal is (x1 - x0) × (x2 - x0)
    file_ids : (n_file,) int32; ``file_ids[a]`` is the vertex that the file's vertex ``a`` (from 0) became, -1
        for one that was left out; the identity when not given (shapes made in memory)
    uv : (N, 2) float64 or None; one parameter pair per vertex. With ``uv_triangles``, (n_uv, 2): pairs that
        the triangles index apart from the vertices, as a texture with seams does
    name : used in messages and reports
    source : path of the file, named in error messages
    uv_triangles : (F, 3) int32 or None; ``uv[uv_triangles[f, c]]`` belongs to corner c of triangle f
    colors : (N, 3) or (N, 4) float64 in [0, 1] or None; red, green, blue and perhaps opacity of each vertex
    polygons : tuple of F' tuples of vertex ids or None; the faces as the file has them, triangles among them,
        where some have more than three corners. None means that the triangles are the faces
    triangle_polygon : (F,) int32 or None; the polygon that each triangle is a part of
    file_triangles : (F, 3) int32 or None; the file's vertex at each corner, where the file has several for
        one vertex, as at a seam that was closed. See :attr:`file_corners`

    Raises
    ------
    MeshError
        Wrong shapes, no triangles, a coordinate that is not finite, a vertex id out of range, a triangle
        that names a vertex twice or has no area (relative to its longest edge), a triangle that is no part of
        its polygon, a colour outside [0, 1]. The message names the source, the element and the cure.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    file_ids: np.ndarray = None  # type: ignore[assignment]
    uv: np.ndarray | None = None
    name: str = "mesh"
    source: str | None = None
    uv_triangles: np.ndarray | None = None
    colors: np.ndarray | None = None
    polygons: tuple[tuple[int, ...], ...] | None = None
    triangle_polygon: np.ndarray | None = None
    file_triangles: np.ndarray | None = None

    def __post_init__(self) -> None:
        where = self.source or self.name
        vertices = float_rows(self.vertices, 3, where, "vertices")
        triangles = id_rows(self.triangles, 3, where, "triangles")
        check_triangles(vertices, triangles, where)
        n = len(vertices)
        ids = np.arange(n) if self.file_ids is None else np.asarray(self.file_ids)
        if ids.ndim != 1 or (ids.size and (ids.min() < -1 or ids.max() >= n)):
            raise MeshError(f"{where}: file_ids must be a list of vertex ids from 0 to {n - 1}, -1 for none")
        uv, uv_triangles = attributes.checked_uv(self.uv, self.uv_triangles, n, len(triangles), where)
        colors = attributes.checked_colors(self.colors, n, where)
        polygons, part_of = attributes.checked_polygons(
            self.polygons, self.triangle_polygon, triangles, n, where
        )
        of_file = attributes.checked_file_triangles(self.file_triangles, ids, triangles, where)
        put = object.__setattr__
        put(self, "vertices", frozen(vertices))
        put(self, "triangles", frozen(triangles))
        put(self, "file_ids", frozen(ids.astype(np.int32)))
        put(self, "uv", uv)
        put(self, "uv_triangles", uv_triangles)
        put(self, "colors", colors)
        put(self, "polygons", polygons)
        put(self, "triangle_polygon", part_of)
        put(self, "file_triangles", of_file)

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self.vertices)

    @property
    def n_triangles(self) -> int:
        """Number of triangles."""
        return len(self.triangles)

    @cached_property
    def edges(self) -> np.ndarray:
        """Every edge once, (E, 2) int32, the smaller id first, rows in lexicographic order."""
        return frozen(topology.edges(self.triangles))

    @cached_property
    def file_corners(self) -> np.ndarray:
        """The file's vertex at each corner of the triangles, (F, 3) int32; -1 where it has none.

        Where it has several and ``file_triangles`` does not say which, the texture does if it has one pair
        for each vertex of the file; else it is the first.
        """
        if self.file_triangles is not None:
            return self.file_triangles
        paired = self.uv_triangles is not None and self.uv is not None and len(self.uv) == len(self.file_ids)
        if paired and np.array_equal(self.file_ids[self.uv_triangles], self.triangles):
            return self.uv_triangles  # type: ignore[return-value]
        first = np.full(self.n_vertices, -1, dtype=np.int32)
        known = np.flatnonzero(self.file_ids >= 0)[::-1]
        first[self.file_ids[known]] = known
        return frozen(first[self.triangles])

    @cached_property
    def area(self) -> float:
        """Total area, m²."""
        x = self.vertices[self.triangles]
        return float(0.5 * np.linalg.norm(np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), axis=1).sum())

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
    ) -> TriMesh:
        """The same mesh scaled about the origin, then rotated about it, then moved; all else stays.

        ``position`` (3,) m; ``rotation`` as in :func:`rotation_matrix`; ``scale`` > 0,
        one number or three, along x, y and z.
        """
        factors = attributes.scale_factors(scale, self.name)
        shift = np.asarray(position, dtype=np.float64)
        if shift.shape != (3,) or not np.isfinite(shift).all():
            raise MeshError(f"{self.name}: position must be three finite numbers in metres, got {position!r}")
        x = self.vertices * factors
        if rotation is not None:
            x = x @ rotation_matrix(rotation).T
        return replace(self, vertices=x + shift)

    def __repr__(self) -> str:
        n_pieces = int(topology.components(self.triangles, self.n_vertices).max()) + 1
        low, high = self.bounds
        size = " × ".join(f"{s:.4g}" for s in high - low)
        used, counts = topology.edge_use(self.triangles)
        lengths = np.linalg.norm(self.vertices[used[:, 0]] - self.vertices[used[:, 1]], axis=1)
        parts = [
            f"{self.name!r}: {self.n_vertices} vertices, {self.n_triangles} triangles",
            f"{n_pieces} piece{'s' if n_pieces > 1 else ''}",
            "closed" if (counts > 1).all() else f"{int((counts == 1).sum())} boundary edges",
            f"box {size} m, area {self.area:.4g} m²",
            f"edges {lengths.min():.3g} to {lengths.max():.3g} m",
        ]
        if (counts > 2).any():
            parts.append(f"{int((counts > 2).sum())} non-manifold edges")
        return f"TriMesh({'; '.join(parts)})"


def check_triangles(vertices: np.ndarray, triangles: np.ndarray, where: str) -> None:
    """Raise MeshError for the first vertex or triangle that no solver could use.

    ``vertices`` (N, 3), ``triangles`` (F, 3) integers, ``where`` names the mesh or file in the message.
    """
    if not len(triangles):
        raise MeshError(f"{where}: no triangles; give a mesh with at least one face")
    bad = np.flatnonzero(~np.isfinite(vertices).all(axis=1))
    if bad.size:
        v = int(bad[0])
        raise MeshError(
            f"{where}: vertex {v} is at {tuple(vertices[v].tolist())} ({bad.size} such); "
            "coordinates must be finite"
        )
    n = len(vertices)
    bad = np.flatnonzero(((triangles < 0) | (triangles >= n)).any(axis=1))
    if bad.size:
        f = int(bad[0])
        raise MeshError(
            f"{where}: triangle {f} refers to vertices {triangles[f].tolist()}, "
            f"the mesh has {n} (ids 0 to {n - 1})"
        )
    a, b, c = triangles.T
    bad = np.flatnonzero((a == b) | (b == c) | (c == a))
    if bad.size:
        f = int(bad[0])
        raise MeshError(
            f"{where}: triangle {f} names a vertex twice, {triangles[f].tolist()} "
            f"({bad.size} such); remove it"
        )
    flat = degenerate_triangles(vertices, triangles)
    if flat.size:
        f = int(flat[0])
        raise MeshError(
            f"{where}: triangle {f} with vertices {triangles[f].tolist()} has no area ({flat.size} such); "
            "remove it or move its corners apart"
        )


def degenerate_triangles(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Ids of triangles flatter than FLATTEST: height over the longest edge against that edge; scale-free."""
    x = vertices[triangles]
    sides = np.stack([x[:, 1] - x[:, 0], x[:, 2] - x[:, 1], x[:, 0] - x[:, 2]], axis=1)
    longest = np.abs(sides).max(axis=(1, 2))
    unit = sides / np.where(longest > 0.0, longest, 1.0)[:, None, None]
    doubled = np.linalg.norm(np.cross(unit[:, 0], unit[:, 1]), axis=1)
    squared = (unit**2).sum(axis=2).max(axis=1)
    return np.flatnonzero(~(doubled > FLATTEST * squared))


def rotation_matrix(rotation: Sequence[float] | np.ndarray) -> np.ndarray:
    """The (3, 3) rotation of a rotation vector (3,) rad, a quaternion (4,) w x y z, or a matrix (3, 3).

    A rotation vector is the axis times the angle. A quaternion is normalised. A matrix must be orthogonal
    with determinant +1, to 1e-6.
    """
    r = np.asarray(rotation, dtype=np.float64)
    if r.shape not in ((3,), (4,), (3, 3)) or not np.isfinite(r).all():
        raise MeshError(
            "rotation must be a rotation vector (3,), a quaternion (4,) w x y z or a matrix (3, 3)"
        )
    if r.shape == (3, 3):
        if not np.allclose(r @ r.T, np.eye(3), atol=1e-6) or np.linalg.det(r) < 0.0:
            raise MeshError("rotation matrix must be orthogonal with determinant +1; use scale= for scaling")
        return r
    if r.shape == (4,):
        norm = np.linalg.norm(r)
        if norm == 0.0:
            raise MeshError("rotation quaternion is zero; give w x y z, (1, 0, 0, 0) for no rotation")
        w, axis = r[0] / norm, r[1:] / norm
        cross = _cross_matrix(axis)
        return np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross
    angle = float(np.linalg.norm(r))
    if angle == 0.0:
        return np.eye(3)
    cross = _cross_matrix(r / angle)
    return np.eye(3) + np.sin(angle) * cross + 2.0 * np.sin(0.5 * angle) ** 2 * cross @ cross


def _cross_matrix(a: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
