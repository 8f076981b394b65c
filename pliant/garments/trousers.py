"""Trousers: two panels for each leg."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.garments.garment import Garment, meshed
from pliant.garments.pattern import Edge, Panel, Pattern, Placement, Seam

FORWARD = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
"""Turns a panel upright, its right side to -y, where the wearer looks."""
BACKWARD = np.diag([-1.0, -1, 1]) @ FORWARD


def trousers(size: float = 0.028, **measures: Any) -> Garment:
    """Trousers in triangles with edges of about ``size`` [m]; ``measures`` as in :func:`trousers_pattern`."""
    return meshed(trousers_pattern(**measures), size)


def trousers_pattern(
    waist: float = 0.90,
    hips: float = 1.08,
    hem: float = 0.44,
    length: float = 1.0,
    rise: float = 0.28,
    fork: float = 0.035,
    waist_height: float = 1.03,
) -> Pattern:
    """waist, hips: girths; hem: girth of a leg's opening; length: along the side; rise: from the crotch up to
    the waist; fork: how far the crotch reaches beyond the middle; waist_height: of the waist over the ground,
    m.

    Its mannequin stands with the legs closer: ``mannequin(legs=3)``.
    """
    w, top, half = hips / 4, waist / 4, hem / 4
    crotch, middle = length - rise, hips / 8
    inner, outer = (middle - half + 0.02, 0.0), (middle + half + 0.02, 0.0)
    edges = [
        Edge("hem", inner),
        Edge("outseam", outer, [(w + 0.005, 0.6 * length), (w + 0.02, crotch + 0.3 * rise)]),
        Edge("waist", (w - 0.5 * (w - top), length)),
        Edge("centre", (0.5 * (w - top), length), [(0.0, crotch + 0.35 * rise), (0.0, crotch + 0.02)]),
        Edge("inseam", (-fork, crotch), [(0.012, crotch - 0.25), (inner[0], 0.4 * crotch)]),
    ]
    bend, forth, apart = 0.17, 0.14, 0.155
    panels = []
    for name, turn, plain in (
        ("left front", FORWARD, True),
        ("right front", FORWARD, False),
        ("left back", BACKWARD, False),
        ("right back", BACKWARD, True),
    ):
        x = apart if name.startswith("left") else -apart
        y = -forth if name.endswith("front") else forth
        local = middle if plain else -middle
        place = Placement(np.array([x, y, waist_height - length]) - turn @ (local, 0, 0), turn, bend, local)
        panels.append(Panel(name, edges if plain else mirrored(edges), placement=place))
    seams = [Seam("front middle", ["left front.centre"], ["-right front.centre"]),
             Seam("back middle", ["right back.centre"], ["-left back.centre"])]  # fmt: skip
    for side in ("left", "right"):
        for what in ("outseam", "inseam"):
            seams.append(Seam(f"{side} {what}", [f"{side} front.{what}"], [f"-{side} back.{what}"]))
    return Pattern("trousers", panels, seams, {
        "waist": [f"{panel.name}.waist" for panel in panels],
        "left hem": ["left front.hem", "left back.hem"], "right hem": ["right front.hem", "right back.hem"],
    })  # fmt: skip


def mirrored(edges: list[Edge]) -> list[Edge]:
    """The same edges for a panel that is turned over: x changes sign, and the outline runs the other way."""
    out = []
    n = len(edges)
    for k in reversed(range(n)):
        edge, end = edges[k], edges[(k + 1) % n].start
        controls = [(-x, y) for x, y in reversed(list(edge.controls))]
        out.append(replace(edge, start=(-end[0], end[1]), controls=controls))
    return out
