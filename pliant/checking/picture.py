"""The mesh with its trouble marked: what the report names, where it is."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np

from pliant.checking.report import Finding, MeshReport
from pliant.errors import MeshError
from pliant.geometry import tetrahedra, topology
from pliant.io.recording import Part, Recording, written_whole
from pliant.viewer.framing import framing
from pliant.viewer.lettering import INK, PAPER, SOFT, font, printable, typesetter, wrapped
from pliant.viewer.raster import rasterise
from pliant.viewer.tile import Studio

__all__ = ["picture", "write_picture"]

Array = np.ndarray

WHAT = "A picture of a mesh (.png)"
EDGE = 18
MOST_MARKS = 400
"""So many marks of one kind are drawn; more would hide the mesh."""
SMALL = 30.0
"""A triangle that covers fewer pixels gets a ring."""
MARKS = (
    (222, 30, 38),
    (255, 184, 0),
    (196, 0, 180),
    (0, 148, 76),
    (255, 255, 255),
    (24, 24, 28),
    (0, 214, 226),
)
"""Colours of the findings, in their order; strong, and none like the mesh."""
LINE = (40, 46, 56)
GLYPHS = str.maketrans({"×": "x", "²": "2", "³": "3", "°": " deg", "ö": "o", "…": "..."})
"""What the font of the pictures lacks, in other signs."""


def write_picture(path: str | os.PathLike[str], x: Array, ids: Array, report: MeshReport) -> None:
    """Write :func:`picture` as a PNG file, which appears whole or not at all."""
    buffer = io.BytesIO()
    image = typesetter(WHAT, "render").Image.fromarray(picture(x, ids, report))
    image.save(buffer, "PNG")
    with written_whole(Path(path)) as file:
        file.write(buffer.getvalue())


def picture(x: Array, ids: Array, report: MeshReport, size: tuple[int, int] = (900, 620)) -> Array:
    """The mesh of a report, (H, W, 3) uint8: each finding in its colour, and what the colours mean.

    Marks that the surface hides are drawn as thin rings and lines.

    Args:
        x: (N, 3) m.
        ids: (F, 3) triangles or (E, 4) tetrahedra, as they were checked.
        report: what :func:`pliant.check_mesh` found.
        size: width and height of the mesh's picture, pixels.

    Raises:
        MeshError: nothing can be drawn.
        MissingExtraError: Pillow is not installed.
    """
    pil = typesetter(WHAT, "render")
    triangles = _drawable(x, _surface(ids), report)
    view = _View(x, triangles, size)
    image = pil.Image.fromarray(view.shaded)
    overlay = pil.Image.new("RGBA", size, (0, 0, 0, 0))
    draw = pil.ImageDraw.Draw(overlay)
    border = topology.boundary_edges(triangles)
    _lines(draw, view, border.astype(np.int64), (*LINE, 160), 1)
    for k, finding in reversed(list(enumerate(report.findings))):
        _mark(draw, view, finding, ids, MARKS[k % len(MARKS)])
    image = pil.Image.alpha_composite(image.convert("RGBA"), overlay).convert("RGB")
    return _captioned(pil, image, report)


def _surface(ids: Array) -> Array:
    if ids.shape[1] == 3:
        return np.asarray(ids, np.int64)
    return tetrahedra.boundary_triangles(np.asarray(ids)).astype(np.int64)


def _drawable(x: Array, triangles: Array, report: MeshReport) -> Array:
    """Triangles whose corners are places."""
    good = np.asarray(((triangles >= 0) & (triangles < len(x))).all(axis=1))
    good[good] = np.isfinite(x[triangles[good]]).all(axis=(1, 2))
    if not good.any():
        raise MeshError(f"{report.name}: no triangle has three corners with finite coordinates to draw")
    return triangles[good]


def _near(x: Array, own: Array) -> Array:
    """Points not further from the box around the mesh than half its size: strays that can be shown, too."""
    finite = x[np.isfinite(x).all(axis=1)]
    low, high = own.min(axis=0), own.max(axis=0)
    reach = 0.5 * float(np.linalg.norm(high - low))
    return finite[((finite >= low - reach) & (finite <= high + reach)).all(axis=1)]


class _View:
    """A camera before the mesh, the shaded mesh, and what it hides."""

    def __init__(self, x: Array, triangles: Array, size: tuple[int, int]) -> None:
        self.x = np.where(np.isfinite(x), x, 0.0)
        own, packed = np.unique(triangles, return_inverse=True)
        recording = Recording("", 1.0, [Part("mesh", 0, len(own), packed.reshape(-1, 3))])
        recording.add(0.0, self.x[own])
        self.frame = framing(recording, _near(x, self.x[own]))
        studio = Studio(recording, self.frame, size, margin=1.15)
        self.shaded = studio.draw(0)
        self.camera, self.samples = studio.camera, studio.camera.samples
        flat = self.camera.project(self._local(self.x[triangles]).transpose(1, 0, 2)).transpose(1, 0, 2)
        flat = np.stack([flat[:, 0] / self.samples, flat[:, 1] / self.samples, flat[:, 2]], axis=1)
        self.depth = rasterise(flat, flat[:, 2], *size)[1]
        self.size = size

    def _local(self, points: Array) -> Array:
        return (points - self.frame.centre) / self.frame.radius

    def place(self, points: Array) -> tuple[Array, Array]:
        """Pixels (n, 2) of points (n, 3), and whether each is seen (n,)."""
        xw, yw, w = self.camera.project(self._local(points))
        pixel = np.stack([xw / w, yw / w], axis=1) / self.samples
        at = np.clip(pixel.astype(int), 0, np.array(self.size) - 1)
        return pixel, w <= self.depth[at[:, 1], at[:, 0]] + 0.01


def _mark(draw: Any, view: _View, finding: Finding, ids: Array, colour: tuple[int, int, int]) -> None:
    """Draw what a finding names."""
    rows = np.asarray(finding.ids)[:MOST_MARKS]
    if not len(rows) or finding.name in ("out_of_range", "not_finite"):
        return
    if finding.element == "vertex":
        _rings(draw, view, view.x[rows], colour, 5.0)
    elif finding.element in ("edge", "pair"):
        _lines(draw, view, rows[:, :2], (*colour, 255), 3)
        if len(rows) <= 40:
            _rings(draw, view, view.x[rows[:, :2]].mean(axis=1), colour, 7.0)
    else:
        for row in rows:
            _face(draw, view, view.x[ids[row]], colour)


def _face(draw: Any, view: _View, corners: Array, colour: tuple[int, int, int]) -> None:
    """A triangle's outline and tint, or the edges of a tetrahedron; a ring where it is small."""
    pixel, seen = view.place(corners)
    visible = bool(seen.any())
    if len(corners) == 3 and visible:
        draw.polygon([tuple(p) for p in pixel], fill=(*colour, 90))
    for i in range(len(corners)):
        for j in range(i):
            draw.line(
                [tuple(pixel[i]), tuple(pixel[j])], fill=(*colour, 255 if visible else 140), width=1 + visible
            )
    (ax, ay), (bx, by) = pixel[1] - pixel[0], pixel[2] - pixel[0]
    if abs(ax * by - ay * bx) < 2 * SMALL:
        radius = float(np.clip(0.5 * np.ptp(pixel, axis=0).max() + 4, 6, 14))
        _rings(draw, view, corners.mean(axis=0)[None], colour, radius)


def _rings(draw: Any, view: _View, points: Array, colour: tuple[int, int, int], radius: float) -> None:
    pixel, seen = view.place(points)
    for (px, py), visible in zip(pixel.tolist(), seen.tolist(), strict=True):
        box = (px - radius, py - radius, px + radius, py + radius)
        if visible:
            draw.ellipse(box, outline=(*colour, 255), width=2)
            draw.ellipse((px - 1.5, py - 1.5, px + 1.5, py + 1.5), fill=(*colour, 255))
        else:
            draw.ellipse(box, outline=(*colour, 190), width=1)


def _lines(draw: Any, view: _View, edges: Array, colour: tuple[int, ...], width: int) -> None:
    one, seen = view.place(view.x[edges[:, 0]])
    other, also = view.place(view.x[edges[:, 1]])
    middle = view.place(view.x[edges].mean(axis=1))[1]
    for a, b, visible in zip(one.tolist(), other.tolist(), (seen | also | middle).tolist(), strict=True):
        shade = colour if visible else (*colour[:3], colour[3] // 2)
        draw.line([tuple(a), tuple(b)], fill=shade, width=width if visible else max(1, width - 1))


def _plain(text: str) -> str:
    return printable(text.translate(GLYPHS))


def _captioned(pil: Any, image: Any, report: MeshReport) -> Any:
    """The picture with the report's name above and its findings below."""
    width = image.width
    lines = [(None, line) for line in wrapped(pil, _plain(str(report).splitlines()[0]), width - 2 * EDGE, 14)]
    told = []
    for k, finding in enumerate(report.findings):
        text = f"{finding.severity}: {finding.words}"
        if finding.count > MOST_MARKS:
            text += f" (the first {MOST_MARKS} are marked)"
        for i, line in enumerate(wrapped(pil, _plain(text), width - 2 * EDGE - 22, 14)):
            told.append((MARKS[k % len(MARKS)] if i == 0 else None, line))
    told = told or [(None, "clean")]
    top, bottom = 14 + 19 * len(lines) + 8, 12 + 20 * len(told) + 12
    canvas = pil.Image.new("RGB", (width, top + image.height + bottom), PAPER)
    draw = pil.ImageDraw.Draw(canvas)
    for i, (_, line) in enumerate(lines):
        draw.text((EDGE, 14 + 19 * i), line, fill=INK, font=font(pil, 14))
    canvas.paste(image, (0, top))
    for i, (colour, line) in enumerate(told):
        y = top + image.height + 12 + 20 * i
        if colour is not None:
            draw.rectangle((EDGE, y + 3, EDGE + 11, y + 14), fill=colour)
        draw.text((EDGE + 22, y), line, fill=INK if colour else SOFT, font=font(pil, 14))
    return np.asarray(canvas)
