"""A skirt: front and back are pieces of a ring, sewn to a band that is closed at the side."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.garments.garment import Garment, meshed
from pliant.garments.pattern import Edge, Panel, Pattern, Placement, Seam
from pliant.garments.trousers import BACKWARD, FORWARD


def skirt(size: float = 0.022, **measures: Any) -> Garment:
    """A skirt in triangles with edges of about ``size`` [m]; ``measures`` as in :func:`skirt_pattern`."""
    return meshed(skirt_pattern(**measures), size)


def skirt_pattern(
    waist: float = 0.78,
    length: float = 0.48,
    flare: float = 2.0,
    band: float = 0.04,
    gather: float = 1.0,
    waist_height: float = 1.02,
) -> Pattern:
    """waist: girth, length: of the skirt under its band, band: its height, waist_height: of the waist over
    the ground, all in m; flare: girth of the hem over that of the top (more than 1); gather: length of the
    skirt's upper edge over that of the band, to which it is sewn.
    """
    top = length / (flare - 1)  # radius of the ring inside
    angle = 0.5 * gather * waist / top
    spread = 0.5 * angle

    def ring(radius: float, phi: float) -> tuple[float, float]:
        return radius * np.sin(phi), top - radius * np.cos(phi)

    hem, bulge = top + length, float(np.tan(angle / 4))
    panels = []
    wrap = 1.03 * hem * angle / np.pi
    for name, turn, sides in (
        ("front", FORWARD, ("left", "right")),
        ("back", BACKWARD, ("right", "left")),
    ):
        edges = [
            Edge("hem", ring(hem, -spread), bulge=bulge),
            Edge(f"{sides[0]} side", ring(hem, spread)),
            Edge("top", ring(top, spread), bulge=-bulge),
            Edge(f"{sides[1]} side", ring(top, -spread)),
        ]
        where = np.array([0, -wrap if name == "front" else wrap, waist_height - band - 0.02])
        panels.append(Panel(name, edges, placement=Placement(where, turn, wrap)))
    # The band starts around the waist, its ends at the left side.
    round_right = np.column_stack([[0.0, -1, 0], [0, 0, 1], [-1, 0, 0]])
    radius = 1.02 * waist / (2 * np.pi)
    strip = [Edge("bottom", (-0.5 * waist, 0)), Edge("end", (0.5 * waist, 0)),
             Edge("top", (0.5 * waist, band)), Edge("start", (-0.5 * waist, band))]  # fmt: skip
    where = np.array([-radius, 0, waist_height - band])
    panels.append(Panel("band", strip, placement=Placement(where, round_right, radius)))
    ease = max(gather, 1 / gather) - 1 + 0.03
    return Pattern("skirt", panels, [
        Seam("left side", ["front.left side"], ["-back.left side"]),
        Seam("right side", ["front.right side"], ["-back.right side"]),
        Seam("band", ["front.top", "back.top"], ["-band.bottom"], ease),
        Seam("closing", ["band.end"], ["-band.start"]),
    ], {"hem": ["front.hem", "back.hem"], "waist": ["band.top"]})  # fmt: skip
