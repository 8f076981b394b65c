"""A garment: the panels of a pattern in triangles, and the one mesh that they are when sewn."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pliant.errors import PatternError
from pliant.garments import drawing
from pliant.garments.filling import filled
from pliant.garments.outlines import shares
from pliant.garments.pattern import Pattern
from pliant.garments.troubles import require_sound
from pliant.geometry import topology
from pliant.geometry.mesh import TriMesh

Array = np.ndarray

WARP = (0.0, 1.0, 0.0)
"""Where the warp of every panel runs in ``Garment.rest``."""
OPEN = 1e-4
"""A seam is closed where its sides are nearer to each other than this [m]."""


@dataclass(frozen=True, eq=False, repr=False)
class Garment:
    """What :func:`meshed` makes of a pattern; ``Scene.add_cloth`` takes it once it is sewn.

    pattern   what it is made of
    size      [m] edges that were aimed at
    flat      (n, 2) [m]: vertices of all panels, one panel after the other, as they are cut
    pieces    (F, 3): triangles of the panels, numbering rows of ``flat``
    panel_of  (F,): the panel of each triangle, by its place in ``pattern.panels``
    sewn      (n,): the vertex of the sewn garment that each row of ``flat`` becomes
    pairs     seam -> (k, 2): rows of ``flat`` that it joins
    edge_ids  "panel.edge" -> rows of ``flat`` along it
    places    (n, 3) [m]: where the rows of ``flat`` are in space, both sides of a seam apart or together
    """

    pattern: Pattern
    size: float
    flat: Array
    pieces: Array
    panel_of: Array
    sewn: Array
    pairs: dict[str, Array]
    edge_ids: dict[str, Array]
    places: Array

    def __repr__(self) -> str:
        seams = f"{len(self.pairs)} seams, open by {1e3 * self.gap:.3g} mm at most"
        return (
            f'Garment("{self.pattern.name}", {len(self.pattern.panels)} panels, {self.n_vertices} vertices, '
            f"{len(self.pieces)} triangles, {seams})"
        )

    @property
    def name(self) -> str:
        """Name of the pattern."""
        return self.pattern.name

    @property
    def n_vertices(self) -> int:
        """Vertices of the sewn garment."""
        return int(self.sewn.max()) + 1

    @cached_property
    def triangles(self) -> Array:
        """Triangles (F, 3) of the sewn garment."""
        return self.sewn[self.pieces]

    @cached_property
    def mesh(self) -> TriMesh:
        """The sewn garment: one mesh, a vertex on a seam in the middle of its places."""
        return TriMesh(self.joined(self.places), self.triangles, name=self.name)

    @cached_property
    def panels_mesh(self) -> TriMesh:
        """The panels where they are in space, not joined."""
        return TriMesh(self.places, self.pieces, name=f"{self.name}, panels")

    @cached_property
    def rest(self) -> TriMesh:
        """The flat panels side by side in z = 0, each turned so that its warp runs along y.

        It has the triangles of :attr:`mesh`, and a vertex on a seam once for each panel: ``rest_mesh=`` of
        ``Scene.add_cloth``, with ``warp_direction=(0, 1, 0)``.
        """
        x = np.zeros((len(self.flat), 3))
        right = 0.0
        for k, panel in enumerate(self.pattern.panels):
            rows = np.unique(self.pieces[self.panel_of == k])
            up = np.array(panel.grain, float) / np.linalg.norm(panel.grain)
            turned = self.flat[rows] @ np.array([[up[1], up[0]], [-up[0], up[1]]])
            turned[:, 0] += right - turned[:, 0].min()
            right = float(turned[:, 0].max()) + self.size
            x[rows, :2] = turned
        return TriMesh(x, self.pieces, name=f"{self.name}, cut")

    @cached_property
    def loops(self) -> dict[str, Array]:
        """The openings by name: vertices of the sewn garment around each, in order.

        Called as ``pattern.openings`` says, else "panel.edge" of an edge that lies on it.
        """
        called = {e: name for name, edges in self.pattern.openings.items() for e in edges}
        owner: dict[tuple[int, int], str] = {}
        for edge, rows in self.edge_ids.items():
            ids = self.sewn[rows].tolist()
            owner |= {(min(a, b), max(a, b)): edge for a, b in itertools.pairwise(ids)}
        out: dict[str, Array] = {}
        for loop in topology.boundary_loops(self.triangles):
            ids = loop.tolist()
            sides = [(min(a, b), max(a, b)) for a, b in zip(ids, [*ids[1:], ids[0]], strict=True)]
            edges = [owner[side] for side in sides if side in owner]
            names = [called[e] for e in edges if e in called] or edges or ["loop"]
            name, k = names[0], 2
            while name in out:
                name, k = f"{names[0]} {k}", k + 1
            out[name] = loop
        return out

    @property
    def gap(self) -> float:
        """The widest distance [m] between two sides of a seam."""
        return max(self.gaps.values(), default=0.0)

    @cached_property
    def gaps(self) -> dict[str, float]:
        """The widest distance [m] between the two sides of each seam."""
        apart = {
            seam: np.linalg.norm(self.places[p[:, 0]] - self.places[p[:, 1]], axis=1)
            for seam, p in self.pairs.items()
        }
        return {seam: float(d.max(initial=0.0)) for seam, d in apart.items()}

    @cached_property
    def area(self) -> float:
        """Area of the flat panels [m^2]."""
        a, b, c = (self.flat[self.pieces[:, k]] for k in range(3))
        u, v = b - a, c - a
        return 0.5 * float(np.sum(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]))

    def joined(self, places: Array) -> Array:
        """Rows of the sewn garment (N, k): the mean of those of ``places`` (n, k) that become each."""
        count = np.bincount(self.sewn)
        return np.stack([np.bincount(self.sewn, column) / count for column in places.T], axis=1)

    def at(self, x: Array) -> Garment:
        """The same with the vertices of the sewn garment at x (N, 3) [m]: its seams are closed."""
        return replace(self, places=np.asarray(x, float)[self.sewn])

    def edge(self, *names: str) -> Array:
        """Vertices of the sewn garment along edges "panel.edge", each once, ascending."""
        for name in names:
            self.pattern.curve(name)
        return np.unique(np.concatenate([self.sewn[self.edge_ids[name]] for name in names]))

    def draw(self, path: str | os.PathLike[str]) -> None:
        """A picture of the panels, their triangles, seams and warp: .svg, or .png with Pillow."""
        drawing.draw(self.pattern, path, self)


def meshed(pattern: Pattern, size: float = 0.025) -> Garment:
    """The panels of a pattern in triangles with edges of about ``size`` [m], placed but not sewn.

    Raises PatternError for a pattern with mistakes, which it names.
    """
    if not (np.isfinite(size) and size > 0):
        raise PatternError(f"size is {size!r}; it must be a positive length [m]")
    require_sound(pattern)
    at = shares(pattern, size)
    flat, pieces, panel_of, places, edge_ids = [], [], [], [], {}
    start = 0
    for k, panel in enumerate(pattern.panels):
        names = [f"{panel.name}.{edge.name}" for edge in panel.edges]
        rows = [panel.curves[e.name].along(at[n])[:-1] for e, n in zip(panel.edges, names, strict=True)]
        outline = np.concatenate(rows)
        if len(outline) < 3:
            raise PatternError(f'panel "{panel.name}" has {len(outline)} vertices at size={size:g} m')
        points, triangles = filled(outline, size, panel.grain, f'panel "{panel.name}"')
        first = 0
        for name, row in zip(names, rows, strict=True):
            edge_ids[name] = start + np.arange(first, first + len(row) + 1) % len(outline)
            first += len(row)
        flat.append(points)
        pieces.append(triangles + start)
        panel_of.append(np.full(len(triangles), k))
        places.append(panel.placement(points))
        start += len(points)
    pairs = {seam.name: _pairs(seam.one, seam.other, edge_ids) for seam in pattern.seams}
    all_pieces = np.concatenate(pieces)
    sewn = _numbered(start, list(pairs.values()))
    _require_cloth(pattern, sewn, all_pieces, pairs)
    return Garment(
        pattern, float(size), np.concatenate(flat), all_pieces, np.concatenate(panel_of), sewn, pairs,
        edge_ids, np.concatenate(places),
    )  # fmt: skip


def _pairs(one: Sequence[str], other: Sequence[str], edge_ids: dict[str, Array]) -> Array:
    """Vertices that a seam joins (k, 2), those that an edge's end shares with the next edge listed twice."""
    # The two chains have their vertices at the same shares, but may change edge at different ones.
    ways = []
    for chain in (one, other):
        rows = [edge_ids[e.removeprefix("-")][:: -1 if e.startswith("-") else 1] for e in chain]
        ways.append([rows[0][:1], *(r for row in rows for r in (row[1:],))])
        ends = [np.array([a[-1], b[0]]) for a, b in itertools.pairwise(rows)]
        ways[-1].append(np.array(ends, int).reshape(-1, 2))
    walks = [np.concatenate(way[:-1]) for way in ways]
    return np.concatenate([np.stack(walks, axis=1), ways[0][-1], ways[1][-1]]).astype(np.int64)


def _numbered(n: int, pairs: list[Array]) -> Array:
    """The number of each of n vertices when pairs of them are one, numbered by the first of each."""
    leader = np.arange(n)
    both = np.concatenate([*pairs, np.zeros((0, 2), int)]).astype(np.int64)
    while True:
        lowest = leader.copy()
        np.minimum.at(lowest, both[:, 0], leader[both[:, 1]])
        np.minimum.at(lowest, both[:, 1], leader[both[:, 0]])
        lowest = lowest[lowest]
        if np.array_equal(lowest, leader):
            return np.unique(leader, return_inverse=True)[1]
        leader = lowest


def _require_cloth(pattern: Pattern, sewn: Array, pieces: Array, pairs: dict[str, Array]) -> None:
    """Refuse seams that join two corners of a triangle, three layers at one edge, or that twist."""
    t = sewn[pieces]
    flat = (t[:, 0] == t[:, 1]) | (t[:, 1] == t[:, 2]) | (t[:, 2] == t[:, 0])
    edges, count = topology.edge_use(t[~flat])
    crowded = np.unique(edges[count > 2])
    if flat.any() or crowded.size:
        ids = np.unique(t[flat]) if flat.any() else crowded
        guilty = [name for name, p in pairs.items() if np.isin(sewn[p], ids).any()]
        why = "closes a triangle on itself" if flat.any() else "joins more than two layers at one edge"
        raise PatternError(
            f'pattern "{pattern.name}": the seam "{guilty[0] if guilty else "?"}" {why}; check which edges '
            "it joins, or take a smaller size"
        )
    twisted = np.unique(topology.inconsistent_edges(t))
    if twisted.size:
        worst = max(pairs, key=lambda name: np.isin(sewn[pairs[name]], twisted).mean())
        raise PatternError(
            f'pattern "{pattern.name}": the seam "{worst}" joins the right side of the cloth to the wrong '
            'side; write the edges of one chain backwards ("-panel.edge", in the other order)'
        )
