"""What an SVG document shows: outlines and words, in metres, y up, with all transforms carried out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from pliant.errors import PatternError
from pliant.garments.svg.paths import NUMBER, Track, line, tracks

Array = np.ndarray

UNITS = {"mm": 1e-3, "cm": 1e-2, "in": 0.0254, "pt": 0.0254 / 72, "pc": 0.0254 / 6, "px": 0.0254 / 96}
"""Metres; a number alone is in px."""
LABEL = "{http://www.inkscape.org/namespaces/inkscape}label"
HIDDEN = (
    "defs",
    "symbol",
    "clipPath",
    "mask",
    "marker",
    "pattern",
    "metadata",
    "namedview",
    "style",
    "image",
)
CURVED = ("circle", "ellipse", "use")
NOTES = "notes"
"""A layer or group of this name is not read."""
UNEVEN = 1e-3
"""How far the scales of both axes may differ."""


@dataclass(frozen=True)
class Outline:
    """A path [m] with its name, how it is told of in errors, and its description."""

    name: str
    what: str
    track: Track
    description: str


@dataclass(frozen=True)
class Word:
    """A text and the point (2,) [m] where it starts."""

    text: str
    at: Array


@dataclass(frozen=True)
class Drawing:
    """All that is shown."""

    outlines: list[Outline]
    words: list[Word]


def read_drawing(path: Path, where: str) -> Drawing:
    """Read an SVG document. Raises PatternError naming the object and the cure."""
    try:
        root = ElementTree.parse(path).getroot()
    except OSError as error:
        raise PatternError(f"{where}: cannot be read: {error.strerror or error}") from error
    except (ElementTree.ParseError, ValueError) as error:
        raise PatternError(f"{where}: is no SVG: {error}") from error
    if _tag(root) != "svg":
        raise PatternError(f'{where}: is no SVG: its root is "{_tag(root)}"')
    outlines: list[Outline] = []
    words: list[Word] = []
    for element, matrix in _shown(root, _page(root, where), where):
        if _tag(element) == "text":
            words += _words(element, matrix)
        else:
            outlines.append(_outline(element, matrix, where))
    return Drawing(outlines, words)


def _page(root: ElementTree.Element, where: str) -> Array:
    """The map (2, 3) from user units, y down, to metres, y up."""
    box = [float(n) for n in NUMBER.findall(root.get("viewBox", ""))]
    if root.get("viewBox") is not None and (len(box) != 4 or not min(box[2:]) > 0):
        raise PatternError(f"{where}: its viewBox is {root.get('viewBox')!r}; it must be four numbers")
    if not box:
        return np.array([[UNITS["px"], 0, 0], [0, -UNITS["px"], 0]])
    size = [_length(root, name, where) for name in ("width", "height")]
    x, y = size[0] / box[2], size[1] / box[3]
    if not abs(x / y - 1) < UNEVEN:
        raise PatternError(
            f"{where}: its page has another scale across ({x:.4g} m) than down ({y:.4g} m for a unit); in "
            "Inkscape: Document Properties, give the display units and the page the same scale"
        )
    return np.array([[x, 0, -x * box[0]], [0, -y, y * box[1]]])


def _length(root: ElementTree.Element, name: str, where: str) -> float:
    text = root.get(name, "").strip()
    found = NUMBER.match(text)
    unit = text[found.end() :].strip() if found else ""
    if found is None or (unit and unit not in UNITS) or not float(found.group()) > 0:
        raise PatternError(
            f"{where}: its {name} is {text!r}; give the size of the page in {', '.join(UNITS)}, as in 210mm"
        )
    return float(found.group()) * UNITS[unit or "px"]


def _shown(
    element: ElementTree.Element, matrix: Array, where: str
) -> Iterator[tuple[ElementTree.Element, Array]]:
    """Paths, shapes and texts, each with its map to the page."""
    for child in element:
        tag = _tag(child)
        if tag in HIDDEN or "display:none" in child.get("style", "").replace(" ", ""):
            continue
        if child.get("display") == "none" or child.get(LABEL, "").strip().lower() == NOTES:
            continue
        own = _composed(matrix, _transform(child, where))
        if tag in ("g", "svg", "a", "switch"):
            yield from _shown(child, own, where)
        elif tag in ("path", "rect", "polygon", "polyline", "line", "text"):
            yield child, own
        elif tag in CURVED:
            cure = "unlink the clone" if tag == "use" else "turn it into a path (Path, Object to Path)"
            raise PatternError(f"{where}: {_what(child)} is a {tag}; {cure}")


def _outline(element: ElementTree.Element, matrix: Array, where: str) -> Outline:
    what = f"{where}: {_what(element)}"
    tag = _tag(element)
    if tag == "path":
        found = tracks(element.get("d", ""), what)
    elif tag == "rect":
        if any(_number(element, name, what) for name in ("rx", "ry")):
            raise PatternError(f"{what} has round corners; turn it into a path (Path, Object to Path)")
        x, y, w, h = (_number(element, name, what) for name in ("x", "y", "width", "height"))
        found = [_polygon(np.array([(x, y), (x + w, y), (x + w, y + h), (x, y + h)]), closed=True)]
    elif tag == "line":
        ends = [_number(element, name, what) for name in ("x1", "y1", "x2", "y2")]
        found = [_polygon(np.reshape(ends, (2, 2)), closed=False)]
    else:
        numbers = [float(n) for n in NUMBER.findall(element.get("points", ""))]
        if len(numbers) < 4 or len(numbers) % 2:
            raise PatternError(
                f"{what} has {len(numbers)} numbers as its points; it takes pairs, two or more"
            )
        found = [_polygon(np.reshape(numbers, (-1, 2)), closed=tag == "polygon")]
    if len(found) != 1:
        raise PatternError(
            f"{what} has {len(found)} outlines; a panel is one (Path, Break Apart), and holes are not cut"
        )
    note = next((child.text or "" for child in element if _tag(child) == "desc"), "")
    return Outline(_name(element), what, found[0].mapped(matrix), note)


def _polygon(points: Array, closed: bool) -> Track:
    ends = np.roll(points, -1, axis=0) if closed else points[1:]
    return Track([line(a, b) for a, b in zip(points, ends, strict=False)], closed)


def _words(element: ElementTree.Element, matrix: Array) -> list[Word]:
    """A text, or each of its lines."""
    rows = [row for row in element if _tag(row) == "tspan" and row.get("x") is not None]
    out = []
    for row in rows or [element]:
        text = " ".join("".join(row.itertext()).split())
        ends = [NUMBER.search(row.get(name) or element.get(name) or "0") for name in ("x", "y")]
        at = np.array([float(n.group()) if n else 0.0 for n in ends])
        if text:
            out.append(Word(text, matrix[:, :2] @ at + matrix[:, 2]))
    return out


def _transform(element: ElementTree.Element, where: str) -> Array:
    """The map (2, 3) of an element's transform attribute."""
    text = element.get("transform", "")
    out = np.eye(2, 3)
    rest = re.sub(r"(\w+)\s*\(([^)]*)\)", "", text).strip(" ,\t\n")
    for name, inside in re.findall(r"(\w+)\s*\(([^)]*)\)", text):
        numbers = [float(n) for n in NUMBER.findall(inside)]
        step = _step(name, numbers)
        if step is None:
            rest = rest or f"{name}({inside})"
            break
        out = _composed(out, step)
    if rest:
        raise PatternError(f'{where}: {_what(element)}: its transform "{rest}" cannot be read')
    return out


def _step(name: str, n: list[float]) -> Array | None:
    if name == "matrix" and len(n) == 6:
        return np.reshape(n, (3, 2)).T
    if name == "translate" and len(n) in (1, 2):
        return np.array([[1, 0, n[0]], [0, 1, n[1] if len(n) > 1 else 0.0]])
    if name == "scale" and len(n) in (1, 2):
        return np.array([[n[0], 0, 0], [0, n[-1], 0]])
    if name == "rotate" and len(n) in (1, 3):
        c, s = np.cos(np.radians(n[0])), np.sin(np.radians(n[0]))
        turn = np.array([[c, -s], [s, c]])
        centre = np.array(n[1:] or [0.0, 0.0])
        return np.column_stack([turn, centre - turn @ centre])
    if name in ("skewX", "skewY") and len(n) == 1:
        slope = np.tan(np.radians(n[0]))
        return np.array([[1, slope, 0], [0, 1, 0]] if name == "skewX" else [[1, 0, 0], [slope, 1, 0]])
    return None


def _composed(outer: Array, inner: Array) -> Array:
    turn = outer[:, :2]
    return np.column_stack([turn @ inner[:, :2], turn @ inner[:, 2] + outer[:, 2]])


def _number(element: ElementTree.Element, name: str, what: str) -> float:
    text = element.get(name, "0").strip()
    if not NUMBER.fullmatch(text):
        raise PatternError(f'{what}: its {name} is "{text}"; it must be a number without a unit')
    return float(text)


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _name(element: ElementTree.Element) -> str:
    return (element.get(LABEL) or element.get("id") or "").strip()


def _what(element: ElementTree.Element) -> str:
    return f'{_tag(element)} "{_name(element)}"'
