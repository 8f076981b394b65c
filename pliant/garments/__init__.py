"""Garments: flat panels in triangles, seams, a start in space; sewn by :func:`pliant.sew`."""

from __future__ import annotations

from pliant.garments.drawing import draw
from pliant.garments.files import read_pattern, write_pattern
from pliant.garments.garment import Garment, meshed
from pliant.garments.household import pillow, towel
from pliant.garments.mannequin import Limb, mannequin
from pliant.garments.pattern import Edge, Panel, Pattern, Placement, Seam
from pliant.garments.skirt import skirt, skirt_pattern
from pliant.garments.troubles import Trouble, troubles
from pliant.garments.trousers import trousers, trousers_pattern
from pliant.garments.tshirt import tshirt, tshirt_pattern

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
    "pillow",
    "read_pattern",
    "skirt",
    "skirt_pattern",
    "towel",
    "troubles",
    "trousers",
    "trousers_pattern",
    "tshirt",
    "tshirt_pattern",
    "write_pattern",
]
