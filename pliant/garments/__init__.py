"""Garments: flat panels in triangles, seams, a start in space; sewn by :func:`pliant.sew`."""

from __future__ import annotations

from pliant.garments.drawing import draw
from pliant.garments.garment import Garment, meshed
from pliant.garments.mannequin import Limb, mannequin
from pliant.garments.pattern import Edge, Panel, Pattern, Placement, Seam
from pliant.garments.troubles import Trouble, troubles
from pliant.garments.tshirt import tshirt

__all__ = [
    "Edge",
    "Garment",
    "Limb",
    "Panel",
    "Pattern",
    "Placement",
    "Seam",
    "Trouble",
    "draw",
    "mannequin",
    "meshed",
    "troubles",
    "tshirt",
]
