"""The border of a panel in edges: runs of pieces between corners, named by the words that stand on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.errors import PatternError
from pliant.garments.svg.document import Outline, Word
from pliant.garments.svg.paths import Piece

Array = np.ndarray

CORNER = np.cos(np.radians(15.0))
"""Cosine of the turn that makes a node the end of an edge."""
REACH = 0.15
"""A word names an edge that is nearer than this share of its panel's size."""
CLEARLY = 1.25
"""How many times further the next edge must be."""
FINE = np.linspace(0, 1, 65)


@dataclass(frozen=True)
class Border:
    """Pieces once around, counter-clockwise, and the pieces with which edges begin."""

    what: str
    pieces: list[Piece]
    starts: list[int]

    @cached_property
    def points(self) -> list[Array]:
        """Points along each piece."""
        return [piece.at(FINE) for piece in self.pieces]

    @property
    def low(self) -> Array:
        """The lower left corner (2,) [m] of the box around it."""
        return np.asarray(np.concatenate(self.points).min(axis=0))

    @property
    def high(self) -> Array:
        """The upper right one."""
        return np.asarray(np.concatenate(self.points).max(axis=0))

    def runs(self) -> list[list[int]]:
        """The pieces of each edge."""
        n = len(self.pieces)
        ends = [*self.starts[1:], self.starts[0] + n]
        return [[k % n for k in range(a, b)] for a, b in zip(self.starts, ends, strict=True)]

    def distances(self, at: Array) -> Array:
        """How far (E,) [m] each edge is from a point."""
        near = [_distance(points, at) for points in self.points]
        return np.array([min(near[k] for k in run) for run in self.runs()])

    def contains(self, at: Array) -> bool:
        """Whether a point lies inside."""
        a = np.concatenate([points[:-1] for points in self.points])
        b = np.roll(a, -1, axis=0)
        spans = (a[:, 1] > at[1]) != (b[:, 1] > at[1])
        a, b = a[spans], b[spans]
        right = at[0] < a[:, 0] + (b[:, 0] - a[:, 0]) * (at[1] - a[:, 1]) / (b[:, 1] - a[:, 1])
        return bool(right.sum() % 2)

    def names(self, labels: dict[int, str]) -> list[str]:
        """What each edge is called: its label, else its number."""
        return [labels.get(k, str(k)).removeprefix("open ").strip() for k in range(len(self.starts))]

    def chains(self, labels: dict[int, str]) -> dict[str, list[str]]:
        """The names of the pieces of each edge."""
        return {
            name: [name if j == 0 else f"{name}/{j + 1}" for j in range(len(run))]
            for name, run in zip(self.names(labels), self.runs(), strict=True)
        }

    def named(self, labels: dict[int, str]) -> list[tuple[str, Piece]]:
        """All pieces with their names, once around."""
        rows = []
        for names, run in zip(self.chains(labels).values(), self.runs(), strict=True):
            rows += [(name, self.pieces[k]) for name, k in zip(names, run, strict=True)]
        return rows


def border_of(outline: Outline) -> Border:
    """The border of a closed outline, turned counter-clockwise: panels are drawn with their right side up."""
    pieces = outline.track.pieces
    points = np.concatenate([piece.at(FINE)[:-1] for piece in pieces])
    x, y = points.T
    if float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) < 0:
        pieces = [piece.reversed() for piece in reversed(pieces)]
    return Border(outline.what, pieces, [k for k in range(len(pieces)) if _ends_here(pieces, k)] or [0])


def _ends_here(pieces: list[Piece], k: int) -> bool:
    """Whether piece k begins an edge: at a corner, or at a node that was put into a straight line."""
    before, after = pieces[k - 1].tangents()[1], pieces[k].tangents()[0]
    return float(before @ after) < CORNER or (pieces[k - 1].straight and pieces[k].straight)


def place_labels(words: list[Word], borders: dict[str, Border], where: str) -> dict[str, dict[int, str]]:
    """For each panel the edges that are named, and how. Raises PatternError for a word that names none."""
    out: dict[str, dict[int, str]] = {name: {} for name in borders}
    for word in words:
        if any(c in word.text for c in ".,=/") or word.text.startswith("-"):
            raise PatternError(
                f'{where}: the word "{word.text}" names an edge and must not have . , = / or begin with -; '
                'put remarks on a layer called "notes"'
            )
        found = [
            (float(d), name, k)
            for name, border in borders.items()
            for k, d in enumerate(border.distances(word.at))
        ]
        found.sort()
        distance, panel, edge = found[0]
        border = borders[panel]
        said = f'{where}: the word "{word.text}"'
        if distance > REACH * float((border.high - border.low).max()):
            raise PatternError(
                f"{said} is {1e3 * distance:.3g} mm from the nearest edge (of "
                f'"{panel}"); let it begin on the edge that it names, or put it on a layer called "notes"'
            )
        if len(found) > 1 and found[1][0] < CLEARLY * distance:
            other = f'"{panel}" and of "{found[1][1]}"' if found[1][1] != panel else f'"{panel}"'
            raise PatternError(
                f"{said} is as near to two edges of {other}; let it begin on the one that it names"
            )
        if edge in out[panel]:
            raise PatternError(
                f'{said} and "{out[panel][edge]}" name one edge of "{panel}"; make the node between them '
                "a corner"
            )
        twice = word.text in out[panel].values()
        out[panel][edge] = f"{word.text} 2" if twice else word.text
    return out


def _distance(points: Array, at: Array) -> float:
    a, way = points[:-1], np.diff(points, axis=0)
    square = np.maximum((way**2).sum(axis=1), np.finfo(float).tiny)
    share = np.clip(((at - a) * way).sum(axis=1) / square, 0, 1)
    return float(np.linalg.norm(a + share[:, None] * way - at, axis=1).min())
