"""Sewing: the seams of a garment close over time, then its panels are one mesh without strain."""

from __future__ import annotations

from pliant.sewing.dressing import sew
from pliant.sewing.easing import panel_strains

__all__ = ["panel_strains", "sew"]
