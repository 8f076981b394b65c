"""A sewing pattern: flat panels with named edges, the seams between them, where they start in space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pliant.errors import PatternError
from pliant.garments.curves import Curve
from pliant.geometry.mesh import rotation_matrix

Array = np.ndarray
Point = Sequence[float] | np.ndarray


@dataclass(frozen=True)
class Edge:
    """One side of a panel, from ``start`` to where the next one starts [m].

    controls: none (a line), one or two points [m] (a quadratic or cubic Bézier curve); bulge: an arc, see
    :class:`pliant.garments.curves.Curve`; size: triangles' edges along it [m], where they shall be finer than
    elsewhere.
    """

    name: str
    start: Point
    controls: Sequence[Point] | np.ndarray = ()
    bulge: float = 0.0
    size: float | None = None


@dataclass(frozen=True)
class Placement:
    """Where a panel starts in space.

    position (3,) [m] and rotation (axis times angle [rad], quaternion or matrix) carry the panel from the
    plane z = 0, where its right side faces +z. wrap: the radius [m] of a cylinder around which the panel is
    bent first, away from +z: it touches the plane z = 0 along the line x = ``around`` and its axis runs along
    y. Bending keeps lengths.
    """

    position: Point = (0.0, 0.0, 0.0)
    rotation: Any = (0.0, 0.0, 0.0)
    wrap: float | None = None
    around: float = 0.0

    def __call__(self, flat: Array) -> Array:
        """Points (n, 2) of the panel in space (n, 3) [m]."""
        if self.wrap is None:
            x = np.column_stack([flat, np.zeros(len(flat))])
        else:
            angle = (flat[:, 0] - self.around) / self.wrap
            across = self.around + self.wrap * np.sin(angle)
            x = np.column_stack([across, flat[:, 1], self.wrap * (np.cos(angle) - 1)])
        return x @ rotation_matrix(self.rotation).T + np.asarray(self.position, float)


@dataclass(frozen=True)
class Panel:
    """A flat piece of cloth: edges that close an outline, counter-clockwise on the right side of the cloth.

    grain (2,): where the warp runs in the plane; placement: where it starts in space.
    """

    name: str
    edges: Sequence[Edge]
    grain: tuple[float, float] = (0.0, 1.0)
    placement: Placement = field(default_factory=Placement)

    @cached_property
    def curves(self) -> dict[str, Curve]:
        """The edges by name."""
        out = {}
        for k, edge in enumerate(self.edges):
            end = self.edges[(k + 1) % len(self.edges)].start
            controls = np.array(edge.controls, float).reshape(-1, 2)
            out[edge.name] = Curve(np.array(edge.start, float), np.array(end, float), controls, edge.bulge)
        return out

    def outline(self, n: int = 33) -> Array:
        """Points (m, 2) along the outline, n on each curved edge, closed without a repeated point."""
        parts = [
            c.along(np.linspace(0, 1, n if len(c.controls) or c.bulge else 2))[:-1]
            for c in self.curves.values()
        ]
        return np.concatenate(parts)


@dataclass(frozen=True)
class Seam:
    """Two chains of edges that are sewn together, each named "panel.edge", from the same end to the other.

    An edge runs as its panel's outline does; "-panel.edge" runs backwards. Chains are matched by arc length:
    the longer is eased in or gathered evenly. Where an edge of one chain ends, the other gets a vertex, too
    (a T-junction). ease: the mismatch of length that is meant, as a share of the shorter; more is an error.
    """

    name: str
    one: Sequence[str]
    other: Sequence[str]
    ease: float = 0.05


@dataclass(frozen=True)
class Pattern:
    """Panels, seams and, by name, the edges "panel.edge" that stay open (``openings``)."""

    name: str
    panels: Sequence[Panel]
    seams: Sequence[Seam] = ()
    openings: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @cached_property
    def by_name(self) -> dict[str, Panel]:
        """The panels by name."""
        return {panel.name: panel for panel in self.panels}

    def curve(self, edge: str) -> Curve:
        """The curve of "panel.edge", or of "-panel.edge", which has the same direction; or a PatternError."""
        panel, _, name = edge.removeprefix("-").partition(".")
        if panel not in self.by_name:
            raise PatternError(f'pattern "{self.name}" has no panel "{panel}" (of the edge "{edge}")')
        curves = self.by_name[panel].curves
        if name not in curves:
            have = ", ".join(curves)
            raise PatternError(f'pattern "{self.name}": panel "{panel}" has no edge "{name}"; it has {have}')
        return curves[name]

    def chain_length(self, chain: Sequence[str]) -> float:
        """Length [m] of edges in a row."""
        return sum(self.curve(edge).length() for edge in chain)
