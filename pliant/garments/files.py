"""Pattern files: Pliant's own, JSON in metres; drawings and GarmentCode's specification are read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import PatternError
from pliant.garments.garmentcode import pattern_of_specification
from pliant.garments.pattern import Edge, Panel, Pattern, Placement, Seam
from pliant.garments.svg import pattern_of_drawing
from pliant.geometry.mesh import rotation_matrix

FORMAT = "pliant pattern 1"


def read_pattern(path: str | os.PathLike[str]) -> Pattern:
    """Read a pattern: a drawing (.svg), Pliant's JSON or GarmentCode's specification.

    Which JSON it is stands in the file. Only its form is checked here: :func:`pliant.garments.troubles` finds
    mistakes in what it says. Raises PatternError naming the file and the field or object.
    """
    where = os.fspath(path)
    if Path(path).suffix.lower() == ".svg":
        return pattern_of_drawing(Path(path), where)
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise PatternError(f"{where}: cannot be read: {error.strerror or error}") from error
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise PatternError(f"{where}: is no JSON: {error}") from error
    if isinstance(data, dict) and data.get("format") == FORMAT:
        return _pattern(data, where)
    if isinstance(data, dict) and isinstance(data.get("pattern"), dict):
        return pattern_of_specification(data, where)
    raise PatternError(
        f'{where}: is neither a pattern of Pliant ("format": "{FORMAT}") nor a specification of GarmentCode '
        '("pattern": {"panels": ...})'
    )


def write_pattern(pattern: Pattern, path: str | os.PathLike[str]) -> None:
    """Write a pattern as Pliant's JSON; :func:`read_pattern` gives the same back."""
    panels = {}
    for panel in pattern.panels:
        place = panel.placement
        placement: dict[str, Any] = {
            "position": _numbers(place.position),
            "rotation": [_numbers(row) for row in rotation_matrix(place.rotation)],
        }
        if place.wrap is not None:
            placement |= {"wrap": float(place.wrap), "around": float(place.around)}
        panels[panel.name] = {
            "grain": _numbers(panel.grain),
            "placement": placement,
            "edges": [_edge_data(edge) for edge in panel.edges],
        }
    data = {
        "format": FORMAT,
        "name": pattern.name,
        "panels": panels,
        "seams": {
            seam.name: {"one": list(seam.one), "other": list(seam.other), "ease": seam.ease}
            for seam in pattern.seams
        },
        "openings": {name: list(edges) for name, edges in pattern.openings.items()},
    }
    Path(path).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def _edge_data(edge: Edge) -> dict[str, Any]:
    out: dict[str, Any] = {"name": edge.name, "start": _numbers(edge.start)}
    if len(edge.controls):
        out["controls"] = [_numbers(point) for point in edge.controls]
    if edge.bulge:
        out["bulge"] = float(edge.bulge)
    if edge.size is not None:
        out["size"] = float(edge.size)
    return out


def _numbers(values: Any) -> list[float]:
    return [float(value) for value in values]


def _pattern(data: dict[str, Any], where: str) -> Pattern:
    _only(data, ("format", "name", "panels", "seams", "openings"), where)
    panels = [_panel(name, value, where) for name, value in _dict(data.get("panels"), f"{where}: panels")]
    seams = []
    for name, value in _dict(data.get("seams", {}), f"{where}: seams"):
        what = f'{where}: seam "{name}"'
        _only(value, ("one", "other", "ease"), what)
        ease = value.get("ease", 0.05)
        if not _is_number(ease):
            raise PatternError(f"{what}: ease is {ease!r}; it must be a number")
        seams.append(Seam(name, _names(value.get("one"), what), _names(value.get("other"), what), ease))
    openings = {
        name: _names(edges, f'{where}: opening "{name}"')
        for name, edges in _dict(data.get("openings", {}), f"{where}: openings")
    }
    return Pattern(str(data.get("name", Path(where).stem)), panels, seams, openings)


def _panel(name: str, data: Any, where: str) -> Panel:
    what = f'{where}: panel "{name}"'
    _only(data, ("edges", "grain", "placement"), what)
    listed = data.get("edges")
    if not isinstance(listed, list):
        raise PatternError(f"{what}: edges must be a list")
    edges = []
    for k, value in enumerate(listed):
        inside = f"{what}, edge {k}"
        _only(value, ("name", "start", "controls", "bulge", "size"), inside)
        controls = value.get("controls", [])
        if not isinstance(controls, list) or len(controls) > 2:
            raise PatternError(f"{inside}: controls must be a list of one or two points")
        size, bulge = value.get("size"), value.get("bulge", 0.0)
        if not _is_number(bulge) or not (size is None or (_is_number(size) and size > 0)):
            raise PatternError(f"{inside}: bulge and size must be numbers, size greater than 0")
        if not isinstance(value.get("name"), str):
            raise PatternError(f"{inside}: it has no name")
        points = [tuple(_floats(point, (2,), inside)) for point in (value.get("start"), *controls)]
        edges.append(Edge(value["name"], points[0], points[1:], float(bulge), size))
    place = data.get("placement", {})
    _only(place, ("position", "rotation", "wrap", "around"), f"{what}: placement")
    rotation = _floats(place.get("rotation", [0, 0, 0]), None, f"{what}: rotation")
    wrap, around = place.get("wrap"), place.get("around", 0.0)
    if not _is_number(around) or not (wrap is None or (_is_number(wrap) and wrap > 0)):
        raise PatternError(f"{what}: wrap and around must be numbers [m], wrap greater than 0")
    position = _floats(place.get("position", [0, 0, 0]), (3,), f"{what}: position")
    grain = _floats(data.get("grain", [0, 1]), (2,), f"{what}: grain")
    placement = Placement(position, rotation, wrap, float(around))
    return Panel(name, edges, (float(grain[0]), float(grain[1])), placement)


def _floats(value: Any, shape: tuple[int, ...] | None, what: str) -> np.ndarray:
    try:
        out = np.array(value, float)
    except (TypeError, ValueError) as error:
        raise PatternError(f"{what}: {value!r} must be numbers") from error
    wanted = ((3,), (4,), (3, 3)) if shape is None else (shape,)
    if out.shape not in wanted or not np.isfinite(out).all():
        shapes = " or ".join(map(str, wanted))
        raise PatternError(f"{what}: {value!r} must be finite numbers of shape {shapes}")
    return out


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and bool(np.isfinite(value))


def _names(value: Any, what: str) -> list[str]:
    if not (isinstance(value, list) and all(isinstance(name, str) for name in value)):
        raise PatternError(f'{what}: {value!r} must be a list of edges, "panel.edge"')
    return value


def _dict(value: Any, what: str) -> list[tuple[str, Any]]:
    if not isinstance(value, dict):
        raise PatternError(f"{what} must be an object with a name for each")
    return list(value.items())


def _only(value: Any, known: tuple[str, ...], what: str) -> None:
    if not isinstance(value, dict):
        raise PatternError(f"{what} must be an object")
    strange = [key for key in value if key not in known]
    if strange:
        raise PatternError(f'{what}: "{strange[0]}" is unknown; it may have {", ".join(known)}')
