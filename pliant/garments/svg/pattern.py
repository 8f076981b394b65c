"""A drawing read as a pattern: closed outlines are panels, words on their edges name them and sew them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from pliant.errors import PatternError
from pliant.garments.pattern import Edge, Panel, Pattern
from pliant.garments.svg.document import Outline, Word, read_drawing
from pliant.garments.svg.edges import Border, border_of, place_labels
from pliant.garments.svg.placing import placed
from pliant.garments.svg.seams import Chains, spelled_out

SCALE = re.compile(r"scale\s+1\s*:\s*(\d+\.?\d*)")
GRAIN = "grain"
SAME = 1e-6
"""Ends nearer than this share of an outline's size are one point."""


def pattern_of_drawing(path: Path, where: str) -> Pattern:
    """The pattern drawn in an SVG file, named in errors as ``where``; how to draw it: docs/garments.md."""
    drawing = read_drawing(path, where)
    scale, words = _scale(drawing.words, where)
    size = np.array([[scale, 0, 0], [0, scale, 0]])
    outlines = [replace(o, track=o.track.mapped(size)) for o in drawing.outlines]
    words = [replace(word, at=scale * word.at) for word in words]
    grains = [o for o in outlines if o.name.lower().startswith(GRAIN) and not o.track.closed]
    borders: dict[str, Border] = {}
    sources: dict[str, Outline] = {}
    for outline in outlines:
        if any(outline is g for g in grains):
            continue
        name = _panel_name(outline, borders)
        borders[name], sources[name] = border_of(_closed(outline)), outline
    if not borders:
        raise PatternError(f"{where}: it shows no closed path; each panel is one")
    written, seams = spelled_out(words, where)
    labels = place_labels(written, borders, where)
    ways = _grains(grains, borders)
    panels = []
    for name, border in borders.items():
        corner = 0.5 * (border.low + border.high) * (1, 0) + border.low * (0, 1)
        placement, grain = placed(sources[name], corner)
        edges = [Edge(e, p.start - corner, p.controls - corner) for e, p in border.named(labels[name])]
        panels.append(Panel(name, edges, grain or ways.get(name, (0.0, 1.0)), placement))
    chains = Chains({name: border.chains(labels[name]) for name, border in borders.items()}, where)
    return Pattern(Path(where).stem, panels, chains.seams(seams, labels), chains.openings(labels))


def _scale(words: list[Word], where: str) -> tuple[float, list[Word]]:
    """Lengths on the cloth over those on the page; the words that do not say it."""
    found = [(word, SCALE.fullmatch(word.text)) for word in words]
    scales = [float(match.group(1)) for _, match in found if match]
    if len(scales) > 1 or 0 in scales:
        raise PatternError(f"{where}: the scale must be said once and not be zero, as in scale 1:10")
    return (scales[0] if scales else 1.0), [word for word, match in found if not match]


def _panel_name(outline: Outline, taken: dict[str, Border]) -> str:
    name = outline.name
    if not name or any(c in name for c in ".,=") or name.startswith("-"):
        raise PatternError(
            f"{outline.what}: its label must name the panel, without . , = and not begin with - (in "
            "Inkscape: Object, Object Properties, Label)"
        )
    if name in taken:
        raise PatternError(
            f'{outline.what}: another panel is called "{name}", too; give it a label of its own'
        )
    return name


def _closed(outline: Outline) -> Outline:
    """The outline as a closed loop, also where it only comes back to its start."""
    pieces, closed = list(outline.track.pieces), outline.track.closed
    points = np.array([p.start for p in pieces] + [pieces[-1].end])
    size = float(np.ptp(points, axis=0).max())
    if np.linalg.norm(points[-1] - points[0]) <= SAME * size:
        pieces[-1] = replace(pieces[-1], end=pieces[0].start)
        # closed by hand and by Z: the last side has no length
        short = len(pieces) > 2 and np.linalg.norm(pieces[-1].start - pieces[0].start) <= SAME * size
        if closed and short and pieces[-1].straight:
            pieces.pop()
            pieces[-1] = replace(pieces[-1], end=pieces[0].start)
    elif not closed:
        raise PatternError(
            f"{outline.what} is open; close it (join its end nodes), or call it {GRAIN} if it is an arrow "
            "along the warp"
        )
    return replace(outline, track=replace(outline.track, pieces=pieces, closed=True))


def _grains(arrows: list[Outline], borders: dict[str, Border]) -> dict[str, tuple[float, float]]:
    """The warp of each panel that has an arrow in it."""
    out: dict[str, tuple[float, float]] = {}
    for arrow in arrows:
        start, end = arrow.track.pieces[0].start, arrow.track.pieces[-1].end
        inside = [name for name, border in borders.items() if border.contains(0.5 * (start + end))]
        if len(inside) != 1 or not np.any(end - start):
            raise PatternError(
                f"{arrow.what} must lie in one panel, it lies in {len(inside)}, and have a length"
            )
        if inside[0] in out:
            raise PatternError(f'{arrow.what}: the panel "{inside[0]}" has two arrows along its warp')
        way = (end - start) / np.linalg.norm(end - start)
        out[inside[0]] = (float(way[0]), float(way[1]))
    return out
