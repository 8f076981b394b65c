"""What is given as a cloth, made fit to be simulated: seams joined, doubles and strays left out, all said."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from .errors import MeshError, MeshWarning, SceneError
from .garments.garment import OPEN, WARP, Garment
from .geometry import defects, topology
from .geometry.mesh import TriMesh
from .geometry.repair import Repair, repair_mesh
from .materials import Fabric

Array = np.ndarray

SAME = 1e-6
"""Vertices that are joined must lie within this share of its size in another shape, too."""


class Intake(NamedTuple):
    """mesh: what is simulated, unplaced; rest: the same triangles without stress; start: (n, 3) or None.

    rest has the same vertices, too, if each has one place there; where flat panels are sewn, it has its own.
    """

    mesh: TriMesh
    rest: TriMesh
    start: Array | None


def sewn_mesh(garment: Garment, rest: Any, warp: Any) -> tuple[TriMesh, Any, Any, bool]:
    """Mesh, rest shape and warp of a garment, and that nothing more is to be joined.

    rest, warp: others that the caller wants. Raises SceneError for open seams.
    """
    if garment.gap > OPEN:
        worst = max(garment.gaps, key=lambda seam: garment.gaps[seam])
        raise SceneError(
            f'garment "{garment.name}": its seam "{worst}" is open by {1e3 * garment.gaps[worst]:.3g} mm; '
            "sew it first: pl.sew(garment, body)"
        )
    flat = rest is None
    return garment.mesh, garment.rest if flat else rest, WARP if flat and warp is None else warp, False


def taken_in(mesh: TriMesh, rest: Any, start: Any, weld: bool, name: str) -> Intake:
    """A cloth as it is simulated.

    rest: None, another TriMesh with the same triangles, or an array (n, 2) or (n, 3) [m], one row for each
    vertex of ``mesh``; start: None or (n, 3) [m]. Warns of what was changed. Raises SceneError for what does
    not fit, and for a mesh that cannot be simulated, with the element and the cure.
    """
    what = f'cloth "{name}"'
    places, corners = _rest_places(mesh, rest, what)
    begin = None if start is None else _start(mesh, start, what)
    repair = repair_mesh(mesh, weld=weld, flat=False, split=False, orient=False)
    _require_manifold(repair, what)
    _warn_of_cracks(repair, what)
    new = repair.mesh
    if repair.changes:
        said = "; ".join(map(str, repair.changes))
        warnings.warn(f"{what}: {said}. Vertices keep the numbers of the file", MeshWarning, stacklevel=3)
        begin = _moved(begin, repair, f"{what}: start")
    if rest is None:
        return Intake(new, new, begin)
    corners = corners[_firsts(repair.triangle_map, new.n_triangles)]
    return Intake(new, _resting(new.triangles, places, corners, f"{name}, rest_mesh"), begin)


def _resting(triangles: Array, places: Array, corners: Array, name: str) -> TriMesh:
    """The shape at rest: with the vertices of the cloth, if each has one place, else with its own."""
    n = int(triangles.max()) + 1
    first = np.zeros(n, np.int64)
    first[triangles.ravel()[::-1]] = corners.ravel()[::-1]
    used = places[corners]
    away = np.linalg.norm(used - places[first[triangles]], axis=2).max()
    if away <= SAME * float(np.linalg.norm(np.ptp(used.reshape(-1, 3), axis=0))):
        return TriMesh(places[first], triangles, name=name)
    ids, packed = np.unique(corners, return_inverse=True)
    return TriMesh(places[ids], packed.reshape(-1, 3), name=name)


def _rest_places(mesh: TriMesh, rest: Any, what: str) -> tuple[Array, Array]:
    """Places (R, 3) without stress, and which of them each corner of ``mesh`` has (F, 3)."""
    if rest is None or isinstance(rest, TriMesh):
        given = mesh if rest is None else rest
        if given.polygons is not None and given.polygons == mesh.polygons:
            return given.vertices, mesh.triangles  # another shape may have been cut along other diagonals
        if given.n_triangles != mesh.n_triangles or not _refers(given.triangles, mesh.triangles):
            raise SceneError(
                f"{what}: rest_mesh must have the same vertices and faces as mesh, in the same order (panels "
                "may have a vertex several times); it has "
                f"{given.n_vertices} vertices and {given.n_triangles} triangles, mesh has "
                f"{mesh.n_vertices} and {mesh.n_triangles}"
            )
        return given.vertices, given.triangles
    try:
        places = np.array(rest, float)
    except (TypeError, ValueError) as error:
        raise SceneError(
            f"{what}: rest_mesh must be a TriMesh or an array (n, 2) or (n, 3): {error}"
        ) from error
    if places.ndim != 2 or places.shape[1] not in (2, 3) or len(places) != mesh.n_vertices:
        raise SceneError(
            f"{what}: rest_mesh has shape {places.shape}; it must be ({mesh.n_vertices}, 2) or "
            f"({mesh.n_vertices}, 3), one row for each vertex of mesh [m]"
        )
    return np.pad(places, ((0, 0), (0, 3 - places.shape[1]))), mesh.triangles


def _refers(ids: Array, others: Array) -> bool:
    """Whether each vertex of ``ids`` (F, 3) stands at the corners of one vertex of ``others`` only."""
    one = np.full(int(ids.max()) + 1, -1)
    one[ids.ravel()] = others.ravel()
    return bool((one[ids] == others).all())


def _start(mesh: TriMesh, start: Any, what: str) -> Array:
    x = np.asarray(start, float)
    if x.shape != mesh.vertices.shape or not np.isfinite(x).all():
        raise SceneError(f"{what}: start must be finite with shape {mesh.vertices.shape}, it has {x.shape}")
    return x


def _moved(x: Array | None, repair: Repair, what: str) -> Array | None:
    """Rows of the old vertices as rows of the new ones; joined ones must agree."""
    if x is None:
        return None
    old = np.flatnonzero(repair.vertex_map >= 0)
    new = repair.vertex_map[old]
    out = np.empty((repair.mesh.n_vertices, x.shape[1]))
    out[new[::-1]] = x[old[::-1]]  # the first of those that were joined
    away = np.linalg.norm(x[old] - out[new], axis=1)
    size = float(np.linalg.norm(np.ptp(x, axis=0)))
    bad = np.flatnonzero(away > SAME * size)
    if bad.size:
        k = int(bad[0])
        other = int(old[np.flatnonzero(new == new[k])[0]])
        raise SceneError(
            f"{what} has vertices {other} and {int(old[k])} at places {away[k]:.3g} m apart, while "
            f"mesh has them at one place and they are joined ({bad.size} such); say weld=False and sew "
            "them with add_attachment(..., onto=...), or give one place"
        )
    return out


def _require_manifold(repair: Repair, what: str) -> None:
    """Refuse edges of more than two triangles, by the numbers of the mesh that was given."""
    groups = defects.edge_groups(repair.mesh.triangles)
    crowded = np.flatnonzero(groups.count > 2)
    if not crowded.size:
        return
    vertex = _firsts(repair.vertex_map, repair.mesh.n_vertices)
    face = _firsts(repair.triangle_map, repair.mesh.n_triangles)
    a, b = vertex[groups.edges[crowded[0]]].tolist()
    faces = sorted(face[groups.sides(int(crowded[0])) // 3].tolist())
    where = repair.mesh.source or repair.mesh.name
    raise MeshError(
        f"{what}: {where}: edge ({a}, {b}) has {len(faces)} triangles, {faces[:8]} ({crowded.size} such "
        "edges); cloth needs at most two: pl.repair_mesh(mesh).mesh is parted there, `pliant check` "
        "shows where"
    )


def _warn_of_cracks(repair: Repair, what: str) -> None:
    """Say where a vertex lies on the edge of a triangle that does not know it, by the given numbers."""
    x, triangles = repair.mesh.vertices, repair.mesh.triangles
    border = np.unique(topology.boundary_edges(triangles))
    found, _ = defects.t_vertices(x, triangles, border)
    if found.size:
        ids = _firsts(repair.vertex_map, len(x))[found[:5]].tolist()
        warnings.warn(
            f"{what}: {found.size} vertices lie on the edge of a triangle that does not know them, so that a "
            f"crack opens there (first: {', '.join(map(str, ids))}); split that edge, or tie them to the "
            "cloth with add_attachment",
            MeshWarning,
            stacklevel=4,
        )


def _firsts(to_new: Array, n: int) -> Array:
    """The first old one that became each new one: (n,)."""
    old = np.flatnonzero(to_new >= 0)[::-1]
    out = np.zeros(n, np.int64)
    out[to_new[old]] = old
    return out


def require_warp(name: str, material: Fabric, membrane: str, warp_direction: Any) -> None:
    """Refuse to leave out what a woven fabric says of itself, and to guess where its warp runs."""
    what = f'cloth "{name}": the fabric "{material.name}" is woven (weft_modulus, shear_modulus)'
    if membrane in ("triangles", "edges"):
        raise SceneError(
            f'{what}, membrane="{membrane}" is isotropic; leave membrane out, or take the fabric '
            ".with_(weft_modulus=None, shear_modulus=None)"
        )
    if membrane == "orthotropic" and warp_direction is None:
        raise SceneError(
            f"{what}: give warp_direction, where the warp runs in the rest shape, for example (1, 0, 0)"
        )
