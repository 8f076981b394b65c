"""Pictures of patterns as they are cut: seams, warp and what is wrong. SVG, or PNG with Pillow."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import numpy as np

from pliant.errors import MissingExtraError, PatternError
from pliant.garments.pattern import Panel, Pattern
from pliant.garments.troubles import troubles

if TYPE_CHECKING:
    from pliant.garments.garment import Garment

Array = np.ndarray

PAPER, INK, CLOTH, MESH, WRONG = "#fbfbf8", "#26282b", "#e6ecf4", "#8fa3be", "#d0021b"
SEAMS = ("#1b6ca8", "#c2571a", "#2f7d4f", "#7b4ea3", "#a33b52", "#5b7f0e", "#0b7a75", "#8a6d1d")
WIDTH, MARGIN, LETTERS = 1100.0, 24.0, 12.0
MOST_ROWS, LINE = 3, 120


@dataclass
class _Sheet:
    """What is drawn, in pixels: polygons, lines, circles and words, in their order."""

    width: float
    height: float
    items: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def line(self, points: Array, color: str, width: float = 1.0, fill: str | None = None) -> None:
        self.items.append(("line", {"points": points, "color": color, "width": width, "fill": fill}))

    def ring(self, at: Array, radius: float, color: str) -> None:
        self.items.append(("ring", {"at": at, "radius": radius, "color": color}))

    def words(self, at: Sequence[float], text: str, color: str, middle: bool = False) -> None:
        self.items.append(("words", {"at": at, "text": text, "color": color, "middle": middle}))


@dataclass(frozen=True)
class _Chart:
    """From a panel's plane [m] to the sheet [pixel]."""

    low: Array
    spot: Array
    scale: float

    def __call__(self, points: Array) -> Array:
        return self.spot + (np.atleast_2d(points) - self.low) * (self.scale, -self.scale)


def draw(pattern: Pattern, path: str | os.PathLike[str], garment: Garment | None = None) -> None:
    """Draw a pattern, sound or not: .svg, or .png with Pillow.

    Each seam has a colour on both of its sides; an arrow shows the warp; mistakes are ringed in red and said
    below. With a garment made of it, its triangles are shown as well.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".svg", ".png"):
        raise PatternError(f"{os.fspath(path)}: a pattern is drawn as .svg or .png")
    sheet = _drawn(pattern, garment)
    if suffix == ".svg":
        Path(path).write_text(_svg(sheet), encoding="utf-8")
    else:
        _png(sheet, path)


def _drawn(pattern: Pattern, garment: Garment | None) -> _Sheet:
    outlines = [_points(panel) for panel in pattern.panels]
    spots, extent, scale = _laid_out(outlines)
    wrong = troubles(pattern)
    said = [line for trouble in wrong for line in wrap(trouble.message, LINE, subsequent_indent="    ")]
    across = max(s[0] + scale * np.ptp(o[:, 0]) for s, o in zip(spots, outlines, strict=True)) + 1.5 * MARGIN
    sheet = _Sheet(max(across, 0.75 * WIDTH), extent + 2 * MARGIN + LETTERS * 1.7 * (len(said) + 2))
    color: dict[str, str] = {}
    for k, seam in enumerate(pattern.seams):
        color |= {edge.removeprefix("-"): SEAMS[k % len(SEAMS)] for edge in (*seam.one, *seam.other)}
    for k, (panel, outline, spot) in enumerate(zip(pattern.panels, outlines, spots, strict=True)):
        to = _Chart(outline.min(axis=0), spot, scale)
        sheet.line(to(np.concatenate([outline, outline[:1]])), INK, 0.8, CLOTH)
        if garment is not None:
            for row in garment.pieces[garment.panel_of == k]:
                sheet.line(to(garment.flat[[*row, row[0]]]), MESH, 0.5)
        for name, curve in panel.curves.items():
            points = to(curve.along(np.linspace(0, 1, 33)))
            key = f"{panel.name}.{name}"
            sheet.line(points, color.get(key, INK), 2.6 if key in color else 1.2)
        _label(sheet, panel, to(outline))
        for trouble in wrong:
            for place in trouble.places.get(panel.name, ()):
                sheet.ring(to(place)[0], 9.0, WRONG)
    y = extent + 1.2 * MARGIN + LETTERS
    sheet.words((MARGIN, y), f"{pattern.name}: {_summary(pattern, garment)}", INK)
    for line in said:
        y += 1.6 * LETTERS
        sheet.words((MARGIN, y), line, WRONG)
    return sheet


def _points(panel: Panel) -> Array:
    points = panel.outline()
    return points if len(points) and np.isfinite(points).all() else np.zeros((1, 2))


def _laid_out(outlines: list[Array]) -> tuple[list[Array], float, float]:
    """Lower left corner (2,) of each panel in rows [pixel], the height of all, pixels per metre."""
    sizes = [np.ptp(o, axis=0) for o in outlines]
    best: tuple[float, list[list[int]]] = (0.0, [[]])
    for rows in range(1, MOST_ROWS + 1):
        total = sum(s[0] for s in sizes)
        split: list[list[int]] = [[] for _ in range(rows)]
        used, row = 0.0, 0
        for k, s in enumerate(sizes):
            if split[row] and used + 0.5 * s[0] > total / rows * (row + 1) and row < rows - 1:
                row += 1
            split[row].append(k)
            used += s[0]
        across = max(sum(sizes[k][0] for k in r) for r in split) or 1.0
        room = WIDTH - MARGIN * (2 + max(len(r) for r in split))
        down = sum(max((sizes[k][1] for k in r), default=0.0) for r in split) or 1.0
        scale = min(room / across, 620.0 / down)
        if scale > best[0]:
            best = (scale, split)
    scale, split = best
    spots: dict[int, Array] = {}
    y = MARGIN
    for r in split:
        if not r:
            continue
        y += scale * max(sizes[k][1] for k in r)
        x = 1.5 * MARGIN
        for k in r:
            spots[k] = np.array([x, y])
            x += scale * sizes[k][0] + MARGIN
        y += MARGIN
    return [spots[k] for k in range(len(outlines))], y, scale


def _label(sheet: _Sheet, panel: Panel, outline: Array) -> None:
    """The panel's name and an arrow along the warp."""
    middle = 0.5 * (outline.min(axis=0) + outline.max(axis=0))
    sheet.words((middle[0], middle[1] - LETTERS), panel.name, INK, middle=True)
    grain = np.array([panel.grain[0], -panel.grain[1]], float)
    if not grain.any():
        return
    way = 22 * grain / np.linalg.norm(grain)
    side = np.array([-way[1], way[0]])
    below = middle + np.array([0.0, 28.0])
    foot, tip = below - way, below + way
    sheet.line(np.array([foot, tip]), INK, 1.4)
    sheet.line(np.array([tip - 0.4 * way + 0.2 * side, tip, tip - 0.4 * way - 0.2 * side]), INK, 1.4)


def _summary(pattern: Pattern, garment: Garment | None) -> str:
    size = f"{len(pattern.panels)} panels, {len(pattern.seams)} seams"
    if garment is not None:
        size += f", {len(garment.pieces)} triangles, {garment.area:.4g} m^2 of cloth"
    return size + "; arrows: warp; colours: what is sewn to what"


def _svg(sheet: _Sheet) -> str:
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{sheet.width:.0f}" height="{sheet.height:.0f}" '
        f'viewBox="0 0 {sheet.width:.0f} {sheet.height:.0f}" font-family="sans-serif" '
        f'font-size="{LETTERS:.0f}">',
        f'<rect width="100%" height="100%" fill="{PAPER}"/>',
    ]
    for kind, item in sheet.items:
        if kind == "line":
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in item["points"])
            out.append(
                f'<polyline points="{points}" fill="{item["fill"] or "none"}" stroke="{item["color"]}" '
                f'stroke-width="{item["width"]}" stroke-linejoin="round"/>'
            )
        elif kind == "ring":
            x, y = item["at"]
            out.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{item["radius"]}" fill="none" '
                f'stroke="{item["color"]}" stroke-width="2.5"/>'
            )
        else:
            x, y = item["at"]
            anchor = ' text-anchor="middle"' if item["middle"] else ""
            text = escape(item["text"])
            out.append(f'<text x="{x:.1f}" y="{y:.1f}" fill="{item["color"]}"{anchor}>{text}</text>')
    return "\n".join([*out, "</svg>", ""])


def _png(sheet: _Sheet, path: str | os.PathLike[str]) -> None:
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError as error:
        raise MissingExtraError("A picture of a pattern as .png", "pillow", "render") from error
    fine = 2  # drawn larger and shrunk: smooth lines
    image = Image.new("RGB", (round(fine * sheet.width), round(fine * sheet.height)), PAPER)
    pen = ImageDraw.Draw(image)
    font = ImageFont.load_default(fine * LETTERS)
    for kind, item in sheet.items:
        if kind == "line":
            points = [(fine * x, fine * y) for x, y in item["points"]]
            if item["fill"]:
                pen.polygon(points, fill=item["fill"])
            pen.line(points, fill=item["color"], width=max(1, round(fine * item["width"])), joint="curve")
        elif kind == "ring":
            x, y = fine * np.asarray(item["at"])
            r = fine * item["radius"]
            pen.ellipse((x - r, y - r, x + r, y + r), outline=item["color"], width=round(2.5 * fine))
        else:
            x, y = fine * np.asarray(item["at"])
            anchor = "ms" if item["middle"] else "ls"
            pen.text((x, y), item["text"], fill=item["color"], font=font, anchor=anchor)
    image.resize((round(sheet.width), round(sheet.height)), Image.Resampling.LANCZOS).save(path)
