"""``pl.check_intersections``: whether surfaces cross themselves or each other, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bodies import Body
from ..contact.skin import faces_of
from ..diagnostics.intersections import self_intersections
from ..errors import PliantError
from ..geometry import topology
from ..geometry.mesh import TriMesh
from ..geometry.tetmesh import TetMesh
from ..state import world_ids

if TYPE_CHECKING:
    from ..simulation import Simulation

Array = np.ndarray
SHOWN = 5
"""Crossings that a message lists."""


@dataclass(frozen=True)
class Intersections:
    """Edges that pass through triangles; true where there are any.

    world (K,); edges (K, 2), triangles (K, 3): vertices, in the numbers of what was checked: rows of a mesh's
    or a body's positions, particles of a simulation. Sorted by world, edge, triangle. ``str`` lists them.
    """

    world: Array
    edges: Array
    triangles: Array
    owners: tuple[tuple[str, int, Array], ...] = ()
    """Name, first vertex and numbers in the file of each body, by which messages call vertices."""

    def __len__(self) -> int:
        return len(self.edges)

    def __bool__(self) -> bool:
        return len(self) > 0

    def __str__(self) -> str:
        if not self:
            return "no intersections"
        lines = [f"{len(self)} crossings of an edge and a triangle"]
        for w, e, t in zip(self.world[:SHOWN], self.edges, self.triangles, strict=False):
            where = f"world {w}: " if self.world.any() else ""
            lines.append(f"  {where}edge {self._called(e)} through triangle {self._called(t)}")
        if len(self) > SHOWN:
            lines.append(f"  and {len(self) - SHOWN} more")
        return "\n".join(lines)

    def _called(self, ids: Array) -> str:
        for name, first, numbers in reversed(self.owners):
            if ids[0] >= first:
                return f'{tuple(numbers[ids - first].tolist())} of "{name}"'
        return str(tuple(ids.tolist()))


def check_intersections(
    what: TriMesh | TetMesh | Body | Simulation | tuple[Any, Any],
    *,
    worlds: Any = None,
    limit: int | None = None,
) -> Intersections:
    """Every edge that passes through a triangle with which it shares no vertex.

    Parameters
    ----------
    what : a mesh; positions (N, 3) and triangles (F, 3); a cloth or solid of a running simulation, by itself;
        or a simulation, all its bodies together (its colliders are not looked at)
    worlds : of a simulation, which (mask, index, indices; default all)
    limit : stop once so many crossings of a world are found; None finds all

    What touches, or lies in one plane, does not cross; see :func:`pliant.self_intersections`.

    Raises
    ------
    PliantError
        Something else, wrong shapes, or a position that is not finite.
    """
    if isinstance(what, tuple) and len(what) == 2:
        return _crossings(np.asarray(what[0], float)[None], np.asarray(what[1]), np.zeros(1, int), limit, ())
    if isinstance(what, TriMesh | TetMesh):
        return _crossings(what.vertices[None], what.triangles, np.zeros(1, int), limit, ())
    if isinstance(what, Body):
        owner = (what.name, 0, what.file_vertices)
        ids = world_ids(worlds, what.simulation.model)
        return _crossings(what.x[ids], what.triangles, ids, limit, (owner,))
    if not (hasattr(what, "scene") and hasattr(what, "model")):
        kind = type(what).__name__
        raise PliantError(
            f"check_intersections: give a mesh, (positions, triangles), a body or a Simulation, not {kind}"
        )
    ids = world_ids(worlds, what.model)
    owners = tuple((b.name, b.vertices.start, b.file_vertices) for b in what.scene.bodies)
    return _crossings(what.x[ids], faces_of(what.model), ids, limit, owners)


def _crossings(x: Array, triangles: Array, ids: Array, limit: int | None, owners: Any) -> Intersections:
    t = np.asarray(triangles)
    found = [self_intersections(one, t, limit) for one in x]
    pairs = np.concatenate([np.zeros((0, 2), np.int32), *found])
    edges = topology.edges(t) if t.size else np.zeros((0, 2), np.int32)
    world = np.repeat(ids, [len(f) for f in found])
    return Intersections(world, edges[pairs[:, 0]], t.reshape(-1, 3)[pairs[:, 1]], owners)
