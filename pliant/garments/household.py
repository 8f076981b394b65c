"""A towel and a pillow."""

from __future__ import annotations

import numpy as np

from pliant.garments.garment import Garment, meshed
from pliant.garments.pattern import Edge, Panel, Pattern, Placement, Seam


def towel(size: float = 0.02, width: float = 0.5, length: float = 0.9) -> Garment:
    """One rectangle, width by length [m], lying in z = 0, its warp along its length, which is y."""
    return meshed(Pattern("towel", [_rectangle("towel", width, length)]), size)


def pillow(size: float = 0.02, width: float = 0.5, length: float = 0.4) -> Garment:
    """Two rectangles, width by length [m], sewn all around, nearly flat: ``scene.add_pressure`` fills it.

    It is closed as it comes; the panels are a hair apart, so that each knows its side.
    """
    over = Placement((-0.5 * width, -0.5 * length, 0))
    under = Placement((0.5 * width, -0.5 * length, 0), (0, np.pi, 0))
    panels = [_rectangle("top", width, length, over), _rectangle("bottom", width, length, under)]
    names = (("front", "front"), ("right", "left"), ("back", "back"), ("left", "right"))
    seams = [Seam(f"{one} rim", [f"top.{one}"], [f"-bottom.{other}"]) for one, other in names]
    made = meshed(Pattern("pillow", panels, seams), size)
    x = made.mesh.vertices.copy()
    u, v = 2 * x[:, 0] / width, 2 * x[:, 1] / length
    low = np.isin(np.arange(len(x)), made.sewn[made.pieces[made.panel_of == 1]])
    rim = np.unique(np.concatenate([made.edge(f"top.{edge}") for edge, _ in names]))
    lift = 2e-3 * min(width, length) * (1 - u**2) * (1 - v**2)
    lift[rim] = 0.0
    x[:, 2] = np.where(low, -lift, lift)
    return made.at(x)


def _rectangle(name: str, width: float, length: float, placement: Placement | None = None) -> Panel:
    edges = [Edge("front", (0, 0)), Edge("right", (width, 0)), Edge("back", (width, length)),
             Edge("left", (0, length))]  # fmt: skip
    return Panel(name, edges, placement=placement or Placement((-0.5 * width, -0.5 * length, 0)))
