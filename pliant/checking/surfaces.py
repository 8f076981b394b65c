"""What is wrong with a surface of triangles whose ids and coordinates can be used."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.checking.report import ERROR, NOTE, WARNING, Finding, write_down
from pliant.errors import MeshError
from pliant.geometry import defects, topology
from pliant.geometry.mesh import degenerate_triangles

Array = np.ndarray

NEAR = 1e-4
"""Vertices nearer than this fraction of the median edge nearly coincide."""
SLENDER = 50.0
"""Triangles with a longest edge above so many heights are near-degenerate."""
SPREAD = 100.0
"""The longest edge over the shortest one above which a mesh is uneven."""
MOST_LOOPS = 50_000
"""Boundaries of more edges are not sorted into loops."""
MOST_CROSSINGS = 100_000
REPAIR = "pl.repair_mesh"


def surface_findings(x: Array, triangles: Array, counts: dict[str, Any], crossings: bool) -> list[Finding]:
    """Findings of a surface; fills in ``counts``."""
    found: list[Finding] = []
    flat = np.zeros(len(triangles), bool)
    flat[degenerate_triangles(x, triangles)] = True
    write_down(
        found, "degenerate", ERROR, "triangle", np.flatnonzero(flat),
        "{n} triangle{s} without area", f"{REPAIR} takes {{them}} out without a crack",
    )  # fmt: skip
    place = defects.places(x)
    a, b, c = place[triangles].T  # of these only caps have three edges to look at
    rows = np.flatnonzero(~((a == b) | (b == c) | (c == a)))
    t = triangles[rows]
    used = np.zeros(len(x), bool)
    used[triangles] = True
    write_down(
        found, "unused", WARNING, "vertex", np.flatnonzero(~used),
        "{n} {v} that no triangle uses", f"add_cloth leaves {{them}} out, and so does {REPAIR}",
    )  # fmt: skip
    if not len(t):
        return found
    single = _doubles(found, t, rows, place)
    welded = _seams(found, t[single], x, place)
    _edges(found, welded, x, counts, rows[single])
    _lengths(found, x, t, rows, flat[rows], counts)
    loose = np.flatnonzero(~used)
    _cracks(found, x, welded, loose)
    if crossings:
        solid = ~flat[rows[single]]
        _crossings(found, x, welded[solid], rows[single][solid])
    return found


def _doubles(found: list[Finding], t: Array, rows: Array, place: Array) -> Array:
    """Triangles on each other; returns a mask of those that are no copies."""
    leader, alike = defects.doubles(t, place)
    second = leader != np.arange(len(t))
    write_down(
        found, "duplicate", WARNING, "triangle", rows[second & alike],
        "{n} triangle{s} on others, wound alike",
        f"add_cloth counts {{them}} once; {REPAIR} takes {{them}} out",
    )  # fmt: skip
    write_down(
        found, "double_sided", WARNING, "triangle", rows[second & ~alike],
        "{n} triangle{s} on others, turned over: the back of a double-sided sheet",
        f"add_cloth counts {{them}} once; {REPAIR} takes {{them}} out",
    )  # fmt: skip
    return ~second


def _seams(found: list[Finding], t: Array, x: Array, place: Array) -> Array:
    """Vertices at one place; returns the triangles as they are once seams are joined.

    The back of a double-sided sheet may have vertices of its own: with its triangles it is gone by now.
    """
    now = np.zeros(len(x), bool)
    now[t] = True
    leader = defects.joined(defects.seam_pairs(t, place), len(x))
    write_down(
        found, "split_seam", WARNING, "vertex", np.flatnonzero(leader != np.arange(len(x))),
        "{n} {v} at the place of others along open edges: seams split for texture, or a soup of triangles",
        f"add_cloth joins {{them}} (weld=False does not), {REPAIR}, too",
    )  # fmt: skip
    rest = now & (leader == np.arange(len(x)))
    ids = np.flatnonzero(rest)
    own = defects.places(x[ids])
    write_down(
        found, "coincident", NOTE, "vertex", ids[own != np.arange(len(ids))],
        "{n} {v} at the place of others, but not along a seam", "where they should hold together, tie them",
    )  # fmt: skip
    return leader[t]


def _edges(found: list[Finding], t: Array, x: Array, counts: dict[str, Any], rows: Array) -> None:
    """Edges that three or more triangles share, bow ties, winding, pieces and borders."""
    groups = defects.edge_groups(t)
    crowded = groups.count > 2
    write_down(
        found, "non_manifold", ERROR, "edge", groups.edges[crowded],
        "{n} edge{s} with more than two triangles", f"{REPAIR} parts the surface there",
    )  # fmt: skip
    write_down(
        found, "bow_tie", NOTE, "vertex", defects.bow_ties(t, groups, len(x)),
        "{n} {v} alone holding triangles together (bow ties)",
        f"fine if meant; {REPAIR}(bow_ties=True) parts {{them}}",
    )  # fmt: skip
    corner = x[t]
    area = 0.5 * np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1)
    wound = defects.winding(t, groups, area)
    write_down(
        found, "winding", WARNING, "triangle", rows[wound.turned],
        f"{{n}} triangle{{s}} wound against the rest of the piece ({len(wound.clashes)} edges clash)",
        f"matters for pressure and air from one side only; {REPAIR} turns {{them}}",
    )  # fmt: skip
    if len(wound.one_sided):
        first = np.flatnonzero(np.isin(wound.piece, wound.one_sided))
        write_down(
            found, "one_sided", NOTE, "triangle", rows[first],
            "{n} triangle{s} in pieces of one side, like a Möbius strip", "fine for cloth without pressure",
        )  # fmt: skip
    counts["edges"] = len(groups.count)
    counts["area"] = float(area.sum())
    piece = topology.components(t, len(x))
    counts["pieces"] = len(np.unique(piece[t[:, 0]]))
    counts["boundary_edges"] = int((groups.count == 1).sum())
    if counts["boundary_edges"] <= MOST_LOOPS:
        try:
            loops = topology.boundary_loops(t)
        except MeshError:
            return  # next to edges of three triangles a border need not close
        counts["boundary_loops"] = len(loops)
        counts["loop_lengths"] = [len(loop) for loop in loops[:20]]


def _lengths(
    found: list[Finding], x: Array, t: Array, rows: Array, flat: Array, counts: dict[str, Any]
) -> None:
    """Slender triangles, edges of very different length, vertices that nearly coincide."""
    from scipy.spatial import cKDTree

    edges = topology.edges(t).astype(np.int64)
    length = np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1)
    counts["edge_shortest"], counts["edge_longest"] = float(length.min()), float(length.max())
    counts["edge_median"] = median = float(np.median(length))
    aspect = defects.aspects(x, t)
    slender = np.flatnonzero((aspect > SLENDER) & ~flat)
    if len(slender):
        slender = slender[np.argsort(-aspect[slender], kind="stable")]
        write_down(
            found, "near_degenerate", WARNING, "triangle", rows[slender],
            f"{{n}} triangle{{s}} over {SLENDER:g} times as long as high (up to {aspect[slender].max():.3g})",
            "they make the cloth stiff and slow to solve: remesh there",
        )  # fmt: skip
    if length.min() > 0 and length.max() > SPREAD * length.min():
        words = (
            f"edges from {length.min():.3g} to {length.max():.3g} m, {length.max() / length.min():.3g} to 1"
        )
        cure = "the shortest ones decide how many substeps are needed: remesh evenly"
        found.append(
            Finding("edge_spread", WARNING, "edge", edges[[length.argmin(), length.argmax()]], words, cure)
        )
    ids = np.unique(t)
    own = x[ids] - x[ids].mean(axis=0)
    pairs = ids[cKDTree(own).query_pairs(NEAR * median, output_type="ndarray").reshape(-1, 2)]
    pairs = np.sort(pairs[(x[pairs[:, 0]] != x[pairs[:, 1]]).any(axis=1)], axis=1)
    base = len(x)
    pairs = pairs[~np.isin(pairs[:, 0] * base + pairs[:, 1], edges[:, 0] * base + edges[:, 1])]
    write_down(
        found, "nearly_coincident", WARNING, "edge", pairs[np.lexsort(pairs.T[::-1])],
        f"{{n}} pair{{s}} of vertices nearer than {NEAR:g} median edges, not joined",
        f"{REPAIR}(tolerance={NEAR * median:.2g}) joins those on seams",
    )  # fmt: skip


def _cracks(found: list[Finding], x: Array, t: Array, loose: Array) -> None:
    """Vertices on the open edge of another triangle."""
    border = np.unique(topology.boundary_edges(t))
    ids, _ = defects.t_vertices(x, t, np.union1d(border, loose))
    write_down(
        found, "t_vertex", WARNING, "vertex", ids,
        "{n} {v} on the edge of a triangle that does not know {them}: a crack opens there",
        "cut that triangle at the vertex (split the edge), or tie the vertex to it",
    )  # fmt: skip


def _crossings(found: list[Finding], x: Array, t: Array, rows: Array) -> None:
    """Edges through triangles; rows (F,): what the triangles are called."""
    from pliant.diagnostics.intersections import self_intersections

    pairs = self_intersections(x, t, MOST_CROSSINGS) if len(t) else np.zeros((0, 2), np.int32)
    if not len(pairs):
        return
    edges = topology.edges(t)[pairs[:, 0]]
    ids = np.column_stack([edges, rows[pairs[:, 1]]])
    write_down(
        found, "self_intersection", WARNING, "pair", ids,
        "{n} pair{s} of an edge and a triangle that cross", "pull the layers apart where they start",
    )  # fmt: skip
