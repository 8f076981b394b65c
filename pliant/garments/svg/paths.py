"""Path data of SVG as lines and Bézier curves.

Source: SVG 2, chapter 9, "Paths", and its appendix on elliptical arcs (B.2.4, from ends to centre). Arcs are
given as cubic curves of 45 degrees at most, off by 4e-6 of their radius.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace

import numpy as np

from pliant.errors import PatternError

Array = np.ndarray

COUNT = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
BLANK = re.compile(r"[\s,]*")
ARC_STEP = 0.25 * np.pi


@dataclass(frozen=True, eq=False)
class Piece:
    """From start (2,) to end (2,) by controls (k, 2): a line, or a Bézier curve with one or two."""

    start: Array
    controls: Array
    end: Array

    def mapped(self, matrix: Array) -> Piece:
        """Carried by an affine map (2, 3)."""
        turn, shift = matrix[:, :2], matrix[:, 2]
        return Piece(self.start @ turn.T + shift, self.controls @ turn.T + shift, self.end @ turn.T + shift)

    def reversed(self) -> Piece:
        """The same way from its end."""
        return Piece(self.end, self.controls[::-1], self.start)

    @property
    def straight(self) -> bool:
        """Whether it is a line."""
        return not len(self.controls)

    def tangents(self) -> tuple[Array, Array]:
        """Unit directions at both ends; zero for a piece without length."""
        points = np.concatenate([self.start[None], self.controls, self.end[None]])
        steps = [_unit(p - self.start) for p in points[1:]], [_unit(self.end - p) for p in points[-2::-1]]
        first, last = (next((s for s in way if s.any()), np.zeros(2)) for way in steps)
        return first, last

    def at(self, t: Array) -> Array:
        """Points (n, 2) at parameters t (n,)."""
        points = [self.start, *self.controls, self.end]
        t = t[:, None]
        while len(points) > 1:
            points = [(1 - t) * a + t * b for a, b in itertools.pairwise(points)]
        return np.asarray(points[0])


@dataclass(frozen=True)
class Track:
    """Pieces in a row, and whether they close."""

    pieces: list[Piece]
    closed: bool

    def mapped(self, matrix: Array) -> Track:
        """Carried by an affine map (2, 3)."""
        return replace(self, pieces=[piece.mapped(matrix) for piece in self.pieces])


def line(a: Array, b: Array) -> Piece:
    """A straight piece."""
    return Piece(np.asarray(a, float), np.zeros((0, 2)), np.asarray(b, float))


def tracks(data: str, what: str) -> list[Track]:
    """The subpaths of path data. Raises PatternError naming ``what`` and the place in the data."""
    pen = _Pen()
    for command, numbers in _commands(data, what):
        pen.draw(command, numbers)
    return pen.finished()


def _commands(data: str, what: str) -> list[tuple[str, list[float]]]:
    """Each command with its numbers; repeated numbers repeat the command, those after M draw lines."""
    out: list[tuple[str, list[float]]] = []
    command, place = "", _skip(data, 0)
    while place < len(data):
        letter = data[place]
        if letter.upper() in COUNT:
            command, place = letter, _skip(data, place + 1)
        elif not command or command in "Zz":
            raise PatternError(f'{what}: its path data cannot be read from "{data[place : place + 12]}" on')
        if not out and command not in "Mm":
            raise PatternError(f'{what}: its path data begins with "{command}", not with M')
        numbers = []
        for k in range(COUNT[command.upper()]):
            flag = command in "Aa" and k in (3, 4)  # two digits that may stand without a blank
            found = re.compile("[01]").match(data, place) if flag else NUMBER.match(data, place)
            if found is None:
                raise PatternError(
                    f'{what}: its path data lacks a number of "{command}" at "{data[place : place + 12]}"'
                )
            numbers.append(float(found.group()))
            place = _skip(data, found.end())
        out.append((command, numbers))
        command = {"M": "L", "m": "l"}.get(command, command)
    return out


def _skip(data: str, place: int) -> int:
    found = BLANK.match(data, place)
    return found.end() if found else place


class _Pen:
    """Where the pen is, what it has drawn, and the last control point, which S and T mirror."""

    def __init__(self) -> None:
        self.at = self.first = self.last = np.zeros(2)
        self.kind = ""
        self.pieces: list[Piece] = []
        self.done: list[Track] = []

    def draw(self, command: str, numbers: list[float]) -> None:
        """One command."""
        kind = command.upper()
        here = self.at if command.islower() else np.zeros(2)
        if kind == "M":
            self._lift(closed=False)
            self.at = self.first = here + numbers
        elif kind == "Z":
            if np.abs(self.at - self.first).max() > 0:
                self._add(line(self.at, self.first))
            self._lift(closed=True)
            self.at = self.first
        elif kind in "HV":
            axis = "HV".index(kind)
            end = self.at.copy()
            end[axis] = here[axis] + numbers[0]
            self._add(line(self.at, end))
        elif kind == "A":
            for piece in arc(self.at, numbers[:5], here + numbers[5:]):
                self._add(piece)
        else:
            points = here + np.array(numbers).reshape(-1, 2)
            if kind in "ST":
                mirrored = 2 * self.at - self.last if self.kind in {"S": "CS", "T": "QT"}[kind] else self.at
                points = np.concatenate([mirrored[None], points])
            self._add(Piece(self.at, points[:-1], points[-1]))
            self.last = points[-2] if len(points) > 1 else self.at
        self.kind = kind

    def _add(self, piece: Piece) -> None:
        self.pieces.append(piece)
        self.at = piece.end

    def _lift(self, closed: bool) -> None:
        if self.pieces:
            self.done.append(Track(self.pieces, closed))
        self.pieces = []

    def finished(self) -> list[Track]:
        """All subpaths."""
        self._lift(closed=False)
        return self.done


def arc(start: Array, shape: list[float], end: Array) -> list[Piece]:
    """An elliptical arc in cubic curves; shape: radii, turn [degrees], the large one?, with growing angle?"""
    rx, ry, turn, large, sweep = shape
    rx, ry = abs(rx), abs(ry)
    if not rx or not ry or np.array_equal(start, end):
        return [line(start, end)]
    c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    frame = np.array([[c, -s], [s, c]])
    half = frame.T @ (0.5 * (start - end)) / (rx, ry)
    size = float(half @ half)
    grown = max(1.0, np.sqrt(size))  # radii that are too small grow until the arc reaches
    half, rx, ry = half / grown, rx * grown, ry * grown
    away = np.sqrt(max(0.0, 1 / float(half @ half) - 1)) * (-1 if large == sweep else 1)
    centre = away * np.array([half[1], -half[0]])
    one, two = half - centre, -half - centre
    first = np.arctan2(one[1], one[0])
    angle = (np.arctan2(two[1], two[0]) - first) % (2 * np.pi)
    angle = angle if sweep else angle - 2 * np.pi
    middle = frame @ (centre * (rx, ry)) + 0.5 * (start + end)
    count = max(1, int(np.ceil(abs(angle) / ARC_STEP - 1e-9)))
    step = angle / count
    reach = 4 / 3 * np.tan(step / 4)
    out: list[Piece] = []
    for k in range(count):
        a, b = first + k * step, first + (k + 1) * step
        p, q = np.array([np.cos(a), np.sin(a)]), np.array([np.cos(b), np.sin(b)])
        unit = np.array([p, p + reach * np.array([-p[1], p[0]]), q - reach * np.array([-q[1], q[0]]), q])
        points = (unit * (rx, ry)) @ frame.T + middle
        points[0] = start if k == 0 else out[-1].end
        points[-1] = end if k == count - 1 else points[-1]
        out.append(Piece(points[0], points[1:3], points[3]))
    return out


def _unit(way: Array) -> Array:
    length = float(np.linalg.norm(way))
    return way / length if length > 0 else np.zeros(2)
