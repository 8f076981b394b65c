"""Mend a mesh: every change is counted and said, and every old vertex and element can be found again."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.errors import MeshError
from pliant.geometry import defects
from pliant.geometry.attributes import float_rows, id_rows
from pliant.geometry.flat import without_flat
from pliant.geometry.mending import Change, Repair, Work
from pliant.geometry.mesh import TriMesh
from pliant.geometry.splitting import split_apart
from pliant.geometry.tetmesh import TetMesh

__all__ = ["Change", "Repair", "arrays_of", "repair_mesh"]

Array = np.ndarray
Pair = tuple[Any, Any]
ROUNDS = 20


def repair_mesh(
    mesh: TriMesh | TetMesh | Pair,
    *,
    weld: bool = True,
    tolerance: float = 0.0,
    doubles: bool = True,
    flat: bool = True,
    split: bool = True,
    bow_ties: bool = False,
    orient: bool = True,
    strays: bool = True,
    name: str | None = None,
) -> Repair:
    """Mend a mesh. Twice does nothing that once did not.

    Parameters
    ----------
    mesh : TriMesh, TetMesh, or a pair of vertices (N, 3) [m] and ids (F, 3) or (E, 4) of any state
    weld : join vertices where open edges lie on each other (seams split for texture, soups); of a body, all
        nodes at one place. Layers and solids that touch stay apart
    tolerance : [m] how far apart vertices may be to count as one place; 0: not at all
    doubles : keep one of the triangles that have the same three vertices, or the same three places in
        different pieces (not without ``weld``), whichever way they are wound
    flat : take out triangles without area, so that no crack opens: needles are collapsed, a cap's longest
        edge is flipped to the triangle beyond it
    split : part the surface where an edge has more than two triangles; those that lie flattest to each other
        stay together, see :attr:`Repair.parted`. Without it such a mesh raises MeshError
    bow_ties : part it, too, where only a vertex holds triangles together
    orient : wind each piece alike, as the greater part of its area is
    strays : leave out vertices that nothing uses
    name : for messages, where the mesh is a pair

    Raises
    ------
    MeshError
        What cannot be mended: coordinates that are not finite, ids out of range, nothing left.
    """
    if not (np.isfinite(tolerance) and tolerance >= 0.0):
        raise MeshError(f"repair_mesh: tolerance is {tolerance!r}, it must be at least 0 [m]")
    x, ids, where = arrays_of(mesh, name)
    _usable(x, ids, where)
    work = Work(x, ids, where)
    if ids.shape[1] == 4:
        _mend_body(work, weld, tolerance, doubles, flat, strays)
        return work.body(mesh, name)
    for _ in range(ROUNDS):  # what is joined or parted may be a flaw of another kind
        before = len(work.changes)
        place = defects.places(work.x, tolerance if weld else 0.0)
        _drop_repeated(work, place, flat)
        if doubles:
            _drop_doubles(work, place if weld else np.arange(len(work.x)))
        if weld:
            _weld(work, place)
        if flat:
            _drop_flat(work)
        if split or bow_ties:
            _split(work, split, bow_ties)
        if len(work.changes) == before:
            break
    else:
        raise MeshError(f"{where}: {ROUNDS} rounds of repair did not mend it; mend it by hand, or weld=False")
    if orient:
        _orient(work)
    if strays:
        _drop_strays(work)
    return work.surface(mesh, name)


def arrays_of(mesh: TriMesh | TetMesh | Pair, name: str | None = None) -> tuple[Array, Array, str]:
    """Vertices, ids (F, 3) or (E, 4) and a name of a mesh or a pair. Raises MeshError for anything else."""
    if isinstance(mesh, TriMesh):
        return mesh.vertices, mesh.triangles.astype(np.int64), mesh.source or mesh.name
    if isinstance(mesh, TetMesh):
        return mesh.vertices, mesh.tets.astype(np.int64), mesh.source or mesh.name
    where = name or "mesh"
    try:
        vertices, ids = mesh
        width = np.asarray(ids).shape[1]
    except (TypeError, ValueError, IndexError) as error:
        raise MeshError(
            f"{where}: give a TriMesh, a TetMesh or a pair of vertices (N, 3) and ids (F, 3) or (E, 4), not "
            f"{type(mesh).__name__}"
        ) from error
    if width not in (3, 4):
        raise MeshError(f"{where}: rows of {width} ids; triangles have 3, tetrahedra 4")
    what = "triangles" if width == 3 else "tets"
    return float_rows(vertices, 3, where, "vertices"), id_rows(ids, width, where, what).astype(int), where


def _usable(x: Array, ids: Array, where: str) -> None:
    bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
    if bad.size:
        raise MeshError(
            f"{where}: vertex {bad[0]} is at {tuple(x[bad[0]].tolist())} ({bad.size} such); coordinates must "
            "be finite, and there is no telling where it should be: correct it by hand"
        )
    bad = np.flatnonzero(((ids < 0) | (ids >= len(x))).any(axis=1))
    if bad.size:
        raise MeshError(
            f"{where}: element {bad[0]} refers to vertices {ids[bad[0]].tolist()}, the mesh has {len(x)} "
            f"(ids 0 to {len(x) - 1}; {bad.size} such): leave it out"
        )


def _drop_repeated(work: Work, place: Array, flat: bool) -> None:
    """Leave out triangles of fewer than three vertices, or places: what they parted comes together."""
    a, b, c = work.ids.T
    bad = (a == b) | (b == c) | (c == a)
    if flat:
        a, b, c = place[work.ids].T
        bad |= (a == b) | (b == c) | (c == a)
    elif bad.any():
        f = int(np.flatnonzero(bad)[0])
        raise MeshError(f"{work.where}: triangle {f} names a vertex twice, {work.ids[f].tolist()}; flat=True")
    if bad.any():
        work.note("degenerate", work.keep(~bad), "{n} triangle{s} with corners at one place left out")


def _drop_doubles(work: Work, place: Array) -> None:
    """Keep one of triangles on each other; the corners of the others become that one's."""
    leader, alike = defects.doubles(work.ids, place)
    second = leader != np.arange(len(leader))
    if not second.any():
        return
    mine, theirs = work.ids[second], work.ids[leader[second]]
    match = place[mine][:, :, None] == place[theirs][:, None, :]
    partner = np.take_along_axis(theirs, match.argmax(axis=2), axis=1)
    same = work.element[second & alike]
    turned = work.element[second & ~alike]
    work.note("duplicate", same, "{n} triangle{s} left out that stood on others")
    work.note("double_sided", turned, "{n} triangle{s} left out that stood on others as their back")
    work.keep(~second)
    used = np.zeros(len(work.x), bool)
    used[work.ids] = True
    pairs = np.stack([mine.ravel(), partner.ravel()], axis=1)
    pairs = pairs[~used[pairs[:, 0]]]  # a vertex that other triangles use is for the seams to join
    _, at = np.unique(pairs[:, 0], return_index=True)
    joined = np.arange(len(work.x))
    joined[pairs[at, 0]] = pairs[at, 1]
    work.join(joined)


def _weld(work: Work, place: Array) -> None:
    pairs = defects.seam_pairs(work.ids, place)
    met = work.join(defects.joined(pairs, len(work.x)))
    work.note("welded", met, "{n} {v} joined with others at their place, along seams")
    a, b, c = work.ids.T
    bad = (a == b) | (b == c) | (c == a)
    if bad.any():
        work.note("collapsed", work.keep(~bad), "{n} triangle{s} left out whose corners were joined")


def _drop_flat(work: Work) -> None:
    ids, kept, leader, gone, flipped = without_flat(work.x, work.ids)
    corner = np.zeros(len(work.x), int)
    corner[work.ids.ravel()[::-1]] = work.corner.ravel()[::-1]
    work.corner[flipped] = corner[ids[flipped]]
    work.ids = ids
    work.note("collapsed_needle", work.join(leader), "{n} {v} of needles joined with neighbours")
    work.note(
        "flipped",
        work.element[flipped],
        "{n} triangle{s} cut anew along the other diagonal, for one had no area",
    )
    work.note("flat", work.element[gone], "{n} triangle{s} without area left out")
    if not kept.all():
        work.keep(kept)


def _split(work: Work, edges: bool, bow_ties: bool) -> None:
    made = split_apart(work.x, work.ids, edges, bow_ties, work.where)
    if made is None:
        return
    work.ids, source = made.triangles, made.source
    n = len(work.x)
    work.x, work.source = work.x[source], work.source[source]
    met = np.unique(work.source[n:])
    copies = np.stack([source[n:], np.arange(n, len(source))], axis=1)
    work.parted = np.concatenate([work.parted, copies])
    if made.n_edges:
        words = (
            f"{made.n_edges} edge{'s' * (made.n_edges > 1)} of more than two triangles: {{n}} {{v}} parted"
        )
    else:
        words = "{n} {v} parted that alone held triangles together"
    work.note("split", met, words)


def _orient(work: Work) -> None:
    groups = defects.edge_groups(work.ids)
    corner = work.x[work.ids]
    area = np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1)
    turned = defects.winding(work.ids, groups, area).turned
    work.ids[turned] = work.ids[turned][:, [0, 2, 1]]
    work.corner[turned] = work.corner[turned][:, [0, 2, 1]]
    work.note("oriented", work.element[turned], "{n} triangle{s} turned over, as the rest of their piece")


def _drop_strays(work: Work) -> None:
    used = np.zeros(len(work.x), bool)
    used[work.ids] = True
    if used.all():
        return
    new = np.where(used, np.cumsum(used) - 1, -1)
    known = work.vertex_map >= 0
    stray = np.flatnonzero(known & (new[work.vertex_map] < 0))
    work.vertex_map[known] = new[work.vertex_map[known]]
    work.ids, work.x, work.source = new[work.ids], work.x[used], work.source[used]
    work.parted = new[work.parted]
    work.note("strays", stray, "{n} {v} left out that nothing uses")


def _mend_body(work: Work, weld: bool, tolerance: float, doubles: bool, flat: bool, strays: bool) -> None:
    """Nodes at one place, tetrahedra twice or without volume, strays; TetMesh itself turns them round."""
    from pliant.geometry.tetmesh import degenerate_tets
    from pliant.geometry.tetrahedra import tet_volumes

    if weld:
        leader = defects.places(work.x, tolerance)
        used = np.zeros(len(work.x), bool)
        used[work.ids] = True
        met = work.join(np.where(used, leader, np.arange(len(work.x))))
        work.note("welded", met, "{n} node{s} joined with others at their place")
    if doubles:
        first = np.unique(np.sort(work.ids, axis=1), axis=0, return_index=True)[1]
        kept = np.zeros(len(work.ids), bool)
        kept[first] = True
        work.note("duplicate", work.keep(kept), "{n} {t} left out that stood on others")
    ordered = np.sort(work.ids, axis=1)
    bad = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if flat:
        bad[degenerate_tets(work.x, work.ids)] = True
        work.note("flat", work.keep(~bad), "{n} {t} without volume left out")
    inverted = tet_volumes(work.x, work.ids) < 0
    work.ids[inverted] = work.ids[inverted][:, [0, 2, 1, 3]]
    work.note("oriented", work.element[inverted], "{n} {t} turned round that were inside out")
    if strays:
        _drop_strays(work)
