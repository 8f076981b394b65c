"""Patterns drawn in Inkscape or another editor of SVG: outlines are panels, words on them name edges."""

from __future__ import annotations

from pliant.garments.svg.pattern import pattern_of_drawing

__all__ = ["pattern_of_drawing"]
