"""What is wrong with a pattern: each mistake by name, with the place where it shows."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass

import numpy as np

from pliant.errors import PatternError
from pliant.garments.pattern import Panel, Pattern, Seam

Array = np.ndarray

SHORTEST = 1e-6
"""An edge shorter than this share of its panel's size has no length."""


@dataclass(frozen=True)
class Trouble:
    """message: what is wrong, where, and the cure; places: panel -> points (n, 2) [m] in it."""

    message: str
    places: dict[str, Array]


def troubles(pattern: Pattern) -> list[Trouble]:
    """Every mistake of a pattern, in the order of its panels, then of its seams."""
    found = []
    for name, count in Counter(panel.name for panel in pattern.panels).items():
        if count > 1:
            found.append(Trouble(f'{count} panels are called "{name}"; give each a name of its own', {}))
    if not pattern.panels:
        found.append(Trouble("there is no panel", {}))
    for panel in pattern.panels:
        found += _of_panel(panel)
    used: Counter[str] = Counter()
    for seam in pattern.seams:
        found += _of_seam(pattern, seam, used)
    for name, edges in pattern.openings.items():
        found += _missing(pattern, f'opening "{name}"', edges)
    return found


def require_sound(pattern: Pattern) -> None:
    """Raise a PatternError that lists every mistake, if there is one."""
    found = troubles(pattern)
    if found:
        said = "; ".join(t.message for t in found[:5])
        more = f" ({len(found) - 5} more)" if len(found) > 5 else ""
        raise PatternError(
            f'pattern "{pattern.name}": {said}{more}. pl.garments.draw(pattern, "pattern.svg") shows where'
        )


def _of_panel(panel: Panel) -> list[Trouble]:
    what = f'panel "{panel.name}"'
    names = Counter(edge.name for edge in panel.edges)
    double = [name for name, count in names.items() if count > 1]
    if double:
        return [Trouble(f'{what} has several edges called "{double[0]}"; give each a name of its own', {})]
    if len(panel.edges) < 2:
        return [Trouble(f"{what} has {len(panel.edges)} edges; an outline needs at least two", {})]
    numbers = [np.ravel(np.asarray(v, float)) for e in panel.edges for v in (e.start, *e.controls, [e.bulge])]
    if not all(np.isfinite(n).all() for n in numbers):
        return [Trouble(f"{what} has a coordinate that is not finite", {})]
    if not np.any(panel.grain):
        return [Trouble(f"{what} has the grain (0, 0); give the direction of the warp", {})]
    points = panel.outline()
    size = float(np.ptp(points, axis=0).max())
    found = []
    for name, curve in panel.curves.items():
        if curve.length() <= SHORTEST * size:
            message = f'edge "{panel.name}.{name}" has no length; remove it or move its ends apart'
            found.append(Trouble(message, {panel.name: curve.start[None]}))
    if found:
        return found
    crossings = _crossings(points)
    if len(crossings):
        x, y = crossings[0]
        message = (
            f"{what}: its outline crosses or touches itself at ({x:.4g}, {y:.4g}) m "
            f"({len(crossings)} such); list its edges in order, once around"
        )
        return [Trouble(message, {panel.name: crossings})]
    if _signed_area(points) < 0:
        return [Trouble(f"{what} runs clockwise; list its edges counter-clockwise", {panel.name: points[:1]})]
    return []


def _of_seam(pattern: Pattern, seam: Seam, used: Counter[str]) -> list[Trouble]:
    what = f'seam "{seam.name}"'
    for chain in (seam.one, seam.other):
        if not chain:
            return [Trouble(f"{what} joins nothing on one side; name at least one edge on each", {})]
        missing = _missing(pattern, what, chain)
        if missing:
            return missing
    edges = [edge.removeprefix("-") for edge in (*seam.one, *seam.other)]
    used.update(edges)
    twice = [edge for edge in edges if used[edge] > 1]
    if twice:
        return [
            Trouble(
                f'{what}: the edge "{twice[0]}" is sewn twice; each edge has one seam (split it where two '
                "seams share it)",
                _middles(pattern, twice[:1]),
            )
        ]
    found = []
    for chain in (seam.one, seam.other):
        for a, b in itertools.pairwise(chain):
            if a.startswith("-") != b.startswith("-") and a.removeprefix("-") == b.removeprefix("-"):
                found.append(Trouble(f'{what} runs along "{a}" and back', _middles(pattern, [a])))
    one, other = pattern.chain_length(seam.one), pattern.chain_length(seam.other)
    mismatch = max(one, other) / max(min(one, other), 1e-300) - 1
    if mismatch > seam.ease + 1e-9:
        found.append(
            Trouble(
                f"{what}: its sides are {one:.4g} m and {other:.4g} m long, {100 * mismatch:.3g} % apart, "
                f"and its ease is {100 * seam.ease:.3g} %; correct an edge, or say ease={mismatch:.2f} if "
                "it is meant to be gathered",
                _middles(pattern, edges),
            )
        )
    return found


def _missing(pattern: Pattern, what: str, edges: object) -> list[Trouble]:
    for edge in edges:  # type: ignore[attr-defined]
        try:
            pattern.curve(edge)
        except PatternError as error:
            said = str(error).partition(": ")[2] or str(error).removeprefix(f'pattern "{pattern.name}" ')
            return [Trouble(f"{what}: {said}", {})]
    return []


def _middles(pattern: Pattern, edges: list[str]) -> dict[str, Array]:
    places: dict[str, list[Array]] = {}
    for edge in edges:
        name = edge.removeprefix("-")
        places.setdefault(name.partition(".")[0], []).append(pattern.curve(name).along(np.array([0.5]))[0])
    return {panel: np.array(points) for panel, points in places.items()}


def _signed_area(points: Array) -> float:
    x, y = points.T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def _crossings(points: Array) -> Array:
    """Where sides of a closed polygon that are not neighbours meet: (k, 2)."""
    a, b = points, np.roll(points, -1, axis=0)
    d = b - a
    n = len(points)
    out = []
    for i in range(n - 1):
        j = np.arange(i + 1, n)
        r = a[j] - a[i]
        det = d[i, 0] * d[j, 1] - d[i, 1] * d[j, 0]
        near = np.abs(det) > 1e-12 * np.linalg.norm(d[i]) * np.linalg.norm(d[j], axis=1)
        safe = np.where(near, det, 1.0)
        s = (r[:, 0] * d[j, 1] - r[:, 1] * d[j, 0]) / safe
        t = (r[:, 0] * d[i, 1] - r[:, 1] * d[i, 0]) / safe
        hit = near & (s >= -1e-9) & (s <= 1 + 1e-9) & (t >= -1e-9) & (t <= 1 + 1e-9)
        hit &= ~((j == i + 1) | ((i == 0) & (j == n - 1)))
        if i == 0 and n > 3:
            hit[-1] = False
        out += [a[i] + s[k] * d[i] for k in np.flatnonzero(hit)]
        out += _folded(a, b, d, i, (i + 1) % n)
    return np.array(out).reshape(-1, 2)


def _folded(a: Array, b: Array, d: Array, i: int, j: int) -> list[Array]:
    """The corner between two sides in a row, where the second runs back along the first."""
    cross = d[i, 0] * d[j, 1] - d[i, 1] * d[j, 0]
    scale = np.linalg.norm(d[i]) * np.linalg.norm(d[j])
    return [b[i]] if abs(cross) < 1e-9 * scale and d[i] @ d[j] < 0 else []
