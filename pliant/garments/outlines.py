"""Where the vertices on the outlines of panels lie: as many on both sides of each seam."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.garments.pattern import Pattern

Array = np.ndarray

SAME = 1e-7
"""Shares of a seam nearer than this are one place."""
JOINT = 0.02
"""Ends of edges on the two sides of a seam that are nearer than this share of an edge's size are matched."""


def shares(pattern: Pattern, size: float) -> dict[str, Array]:
    """For each "panel.edge" the shares of its arc length at which vertices lie, from 0 to 1."""
    out: dict[str, Array] = {}
    wanted = {f"{p.name}.{e.name}": min(size, e.size or size) for p in pattern.panels for e in p.edges}
    for seam in pattern.seams:
        out |= _of_seam(pattern, seam.one, seam.other, wanted)
    for edge, fine in wanted.items():
        if edge not in out:
            n = max(1, round(pattern.curve(edge).length() / fine))
            out[edge] = np.linspace(0, 1, n + 1)
    return out


def _of_seam(
    pattern: Pattern, one: Sequence[str], other: Sequence[str], wanted: dict[str, float]
) -> dict[str, Array]:
    """Shares along the edges of a seam: the ends of the edges of both chains, and evenly between them."""
    sides, lengths = [], []
    for chain in (one, other):
        length = np.array([pattern.curve(edge).length() for edge in chain])
        lengths.append(length.sum())
        sides.append(np.concatenate([[0.0], np.cumsum(length)]) / length.sum())
        sides[-1][-1] = 1.0
    fine = min(wanted[edge.removeprefix("-")] for edge in (*one, *other))
    mean = 0.5 * sum(lengths)
    near = max(SAME, JOINT * fine / mean)
    joints = [list(sides[0]), list(sides[1])]  # the same places, as shares of either chain
    matched = {int(np.argmin(np.abs(sides[1] - s))): k for k, s in enumerate(sides[0])
               if np.abs(sides[1] - s).min() < near}  # fmt: skip
    joints = [[], []]
    for k, s in enumerate(sides[0]):
        twin = [m for m, j in matched.items() if j == k]
        joints[0].append(s)
        joints[1].append(sides[1][twin[0]] if twin else s)
    for m, s in enumerate(sides[1]):
        if m not in matched:
            joints[0].append(s)
            joints[1].append(s)
    order = np.argsort(joints[0], kind="stable")
    at = [np.array(j)[order] for j in joints]
    steps = [max(1, round(mean * d / fine)) for d in 0.5 * (np.diff(at[0]) + np.diff(at[1]))]
    out = {}
    for chain, side, places in ((one, sides[0], at[0]), (other, sides[1], at[1])):
        parts = [a + (b - a) * np.arange(n) / n for a, b, n in zip(places, places[1:], steps, strict=False)]
        all_of = np.concatenate([*parts, [1.0]])
        for k, edge in enumerate(chain):
            low, high = side[k], side[k + 1]
            mine = all_of[(all_of > low - SAME) & (all_of < high + SAME)]
            s = (mine - low) / (high - low)
            s[0], s[-1] = 0.0, 1.0
            out[edge.removeprefix("-")] = 1 - s[::-1] if edge.startswith("-") else s
    return out
