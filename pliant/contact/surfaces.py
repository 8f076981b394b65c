"""Arrays of meshes as colliders, of the contacts found with them, and of the side each particle is on.

Contacts differ from world to world, so each world has lists of its own and kernels visit them one number at
a time, in float64 whatever the model's precision. A large single world has several lists, each for a part of
its particles, so that threads can share them. T tiles, L lanes, J lists, N particles, K mesh colliders,
S surfaces (pieces of meshes), F faces, M contact entries, C candidate faces.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..geometry.colliders import MeshCollider
from ..geometry.surfaces import Piece, border, normals
from ..geometry.tree import box_tree
from ..model import Model

Array = np.ndarray

OWNER, RULE, NODES, DEPTH, FACES, COUNT = 0, 1, 2, 3, 4, 5
"""Places in ``SurfaceSet.table``: mesh collider; 1 where particles belong on the side of the normals, 0 where
each stays on its own; first node of its tree; depth of the tree; first face; number of faces."""

ORIGIN, EDGE0, EDGE1, FACE_NORMAL, DOT00, DOT01, DOT11, DET, INV00, INV11, INV22, SIZE, FACE_SIZE = (
    0, 3, 6, 9, 12, 13, 14, 15, 16, 17, 18, 19, 20,
)  # fmt: skip
"""Places in ``SurfaceSet.rows``: corner 0, edges from it to corners 1 and 2, unit normal, their products, the
determinant of these, one over the squared lengths of the edges 0-1, 0-2, 1-2, diagonal of the surface [m]."""

RIM = 21
"""Place in ``SurfaceSet.around`` of the first rim mark, after seven normals."""


class SurfaceSet(NamedTuple):
    """What never changes. table (S, 6); first (K + 1,): surfaces of each collider; rows (F, 20);
    around (F, 28): normals of the seven features of a face (geometry/surfaces.py), then 1 for those on a rim;
    boxes: nodes of all trees (geometry/tree.py)."""

    table: Array
    first: Array
    rows: Array
    around: Array
    boxes: Array


ID, SURFACE, SIDE, LAST, FIRST, STOP, BODY, ENTRY_SIZE = 0, 1, 2, 3, 4, 5, 6, 7
"""Places in ``SurfaceContacts.entry``: particle, surface, side that the particle belongs to (1 that of the
normals, -1 the other, 0 beyond the rim), face nearest at last, its candidates in ``faces``, its cloth."""

PUSH, DRAG, NORMAL, START, CLEAR, REACH, RADIUS, PLANE, SAFE, NOTE_SIZE = 0, 1, 4, 7, 10, 11, 12, 13, 17, 18
"""Places in ``SurfaceContacts.notes``: accumulated normal correction [m]; friction [m] (3); normal (3); where
the particle started the step, in the collider's frame (3); how far it may go from there without touching,
less a little; radius around there in which all faces are listed; rest distance; plane of the nearest face
(normal and offset, 4), and how far the particle may go while nothing but that face is nearest."""


class SurfaceContacts(NamedTuple):
    """What detection found, per world: entries sorted by particle, then by surface.

    entry (T, J, M, 7), notes (T, J, M, 18); faces, gap (T, J, C): candidates of an entry, nearest first, and
    their distances [m] from where it started; found (T, J, 2): entries and candidates; used (T,): lists of
    lanes that hold a world of their own. Lists of one world follow each other.

    memory (T, S, N, L), from step to step: where a surface has two sides: the side (1 or -1) that a particle
    belongs to, 0 none; else: 1 where the particle is known to be clear of the surface.
    """

    entry: Array
    notes: Array
    faces: Array
    gap: Array
    found: Array
    used: Array
    memory: Array


class Traces(NamedTuple):
    """x_end (T, N, 3, L): positions that the last step left; touched (T, N, L): 1 where a particle touches a
    surface; radius, body (N,) as in ``Contacts``, in float64."""

    x_end: Array
    touched: Array
    radius: Array
    body: Array


class SurfaceStage(NamedTuple):
    """What the substeps need, flat: of SurfaceContacts, SurfaceSet, and ``data`` and ``mu`` of Colliders."""

    entry: Array
    notes: Array
    faces: Array
    gap: Array
    found: Array
    used: Array
    memory: Array
    table: Array
    rows: Array
    around: Array
    boxes: Array
    data: Array
    mu: Array


def surface_set(meshes: tuple[MeshCollider, ...]) -> SurfaceSet:
    """Constant arrays of some mesh colliders."""
    table, faces, around, boxes = [], [], [], []
    n_faces = n_nodes = 0
    for k, mesh in enumerate(meshes):
        x = mesh.surfaces.vertices
        for piece, side in zip(mesh.surfaces.pieces, mesh.sides, strict=True):
            tri = _facing(piece, side)
            tree = box_tree(x[tri])
            tri = tri[tree.order]
            table.append((k, int(side != "both"), n_nodes, tree.depth, n_faces, len(tri)))
            faces.append(_face_rows(x[tri], float(np.linalg.norm(tree.box[1, 3:] - tree.box[1, :3]))))
            around.append(np.concatenate([normals(x, tri).reshape(-1, RIM), border(tri)], axis=1))
            boxes.append(tree.box)
            n_faces += len(tri)
            n_nodes += len(tree.box)
    first = np.searchsorted(np.array([row[0] for row in table]), np.arange(len(meshes) + 1))
    return SurfaceSet(
        np.array(table, np.int64),
        first.astype(np.int64),
        np.concatenate(faces),
        np.concatenate(around),
        np.concatenate(boxes),
    )


def _facing(piece: Piece, side: str) -> Array:
    """Its faces, wound so that particles belong on the side of the normals (as they are, for two sides)."""
    return piece.triangles[:, ::-1] if side == "inside" else piece.triangles


def _face_rows(corner: Array, diagonal: float) -> Array:
    e0, e1 = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    e2 = corner[:, 2] - corner[:, 1]
    n = np.cross(e0, e1)
    size = np.linalg.norm(n, axis=1)
    d00, d01, d11, d22 = (np.sum(a * b, axis=1) for a, b in ((e0, e0), (e0, e1), (e1, e1), (e2, e2)))
    rows = np.concatenate([corner[:, 0], e0, e1, n / size[:, None]], axis=1)
    scalars = np.stack([d00, d01, d11, size**2, 1 / d00, 1 / d11, 1 / d22, 0 * d00 + diagonal], axis=1)
    return np.ascontiguousarray(np.concatenate([rows, scalars], axis=1))


PARTS, LARGE = 8, 2048
"""A single world of so many particles has so many lists."""


def lists_per_world(model: Model) -> int:
    """How many lists share the particles of a world."""
    return PARTS if model.n_worlds == 1 and model.n_particles >= LARGE else 1


def surface_contacts(model: Model, entries: int, faces: int, memory: Array) -> SurfaceContacts:
    """Empty lists of a capacity each."""
    t, parts = model.n_tiles, lists_per_world(model)
    j = parts * model.width
    used = np.full(t, j, np.int64)
    used[-1] = parts * (model.n_worlds - (t - 1) * model.width)
    return SurfaceContacts(
        np.zeros((t, j, entries, ENTRY_SIZE), np.int32),
        np.zeros((t, j, entries, NOTE_SIZE)),
        np.zeros((t, j, faces), np.int32),
        np.zeros((t, j, faces)),
        np.zeros((t, j, 2), np.int64),
        used,
        memory,
    )
