"""GarmentCode's specification of a pattern, as a Pattern.

Korosteleva & Sorkine-Hornung 2023, GarmentCode: Programming Parametric Sewing Patterns, ACM TOG 42(6). Panels
have vertices, edges between them in a loop, straight or curved by control points relative to the chord, and
a place in space with y up; stitches are pairs of edges.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.errors import PatternError
from pliant.garments.pattern import Edge, Panel, Pattern, Placement, Seam
from pliant.geometry.mesh import rotation_matrix

Array = np.ndarray

Z_UP = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
"""From a space with y up, the wearer looking to +z, to one with z up, the wearer looking to -y."""
EASE = 0.05


def pattern_of_specification(data: dict[str, Any], where: str) -> Pattern:
    """The pattern of a specification that was read from ``where``.

    Edges are called by their number, "0" and on, in the file's order. A loop that runs clockwise is a panel
    seen from its wrong side; it is turned over. Raises PatternError
    naming the panel or stitch.
    """
    try:
        unit = 1.0 / float(data["properties"]["units_in_meter"])
        relative = data["properties"].get("curvature_coords", "relative") == "relative"
        shapes = data["pattern"]["panels"]
        stitches = data["pattern"].get("stitches", [])
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise PatternError(f"{where}: no specification of GarmentCode: {error!r}") from error
    if not isinstance(shapes, dict) or not shapes:
        raise PatternError(f"{where}: no panels")
    loops = {name: _loop(name, shape, relative, unit, where) for name, shape in shapes.items()}
    joins = [_stitch(k, stitch, loops, where) for k, stitch in enumerate(stitches)]
    panels = [_panel(name, shapes[name], loops[name], unit, where) for name in loops]
    seams = []
    for k, (one, other) in enumerate(joins):
        forward = f"{one[0]}.{one[1]}"
        seams.append(Seam(f"stitch {k}", [forward], [f"-{other[0]}.{other[1]}"], EASE))
    return Pattern(where.rpartition("/")[2].removesuffix(".json"), panels, seams)


def _loop(name: str, shape: Any, relative: bool, unit: float, where: str) -> list[tuple[str, Array, Array]]:
    """The edges of a panel in its loop: name, start (2,) [m], controls (k, 2) [m]."""
    what = f'{where}: panel "{name}"'
    try:
        vertices = np.array(shape["vertices"], float) * unit
        ends = [tuple(edge["endpoints"]) for edge in shape["edges"]]
        for k, (a, b) in enumerate(ends):
            if b != ends[(k + 1) % len(ends)][0] or not 0 <= a < len(vertices):
                raise PatternError(f"{what}: edge {k} does not end where the next one starts")
        out = []
        for k, (edge, (a, b)) in enumerate(zip(shape["edges"], ends, strict=True)):
            curve = edge.get("curvature")
            controls = np.zeros((0, 2))
            if curve is not None:
                if isinstance(curve, list):
                    curve = {"type": "quadratic", "params": [curve]}
                if curve["type"] not in ("quadratic", "cubic"):
                    raise PatternError(f'{what}: edge {k} is of type "{curve["type"]}"; lines, quadratic and '
                                       "cubic curves are read")  # fmt: skip
                controls = np.array(curve["params"], float).reshape(-1, 2)
                chord = vertices[b] - vertices[a]
                side = np.array([-chord[1], chord[0]])
                controls = (
                    vertices[a] + controls[:, :1] * chord + controls[:, 1:] * side
                    if relative
                    else controls * unit
                )
            out.append((str(k), vertices[a], controls))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise PatternError(f"{what} cannot be read: {error!r}") from error
    return out


def _stitch(k: int, stitch: Any, loops: dict[str, Any], where: str) -> list[tuple[str, int]]:
    try:
        ends = [(side["panel"], int(side["edge"])) for side in stitch[:2]]
    except (KeyError, TypeError, ValueError) as error:
        raise PatternError(f"{where}: stitch {k} cannot be read: {error!r}") from error
    for panel, edge in ends:
        if panel not in loops or not 0 <= edge < len(loops[panel]):
            raise PatternError(f'{where}: stitch {k} names edge {edge} of "{panel}", which is missing')
    return ends


def _clockwise(loop: list[tuple[str, Array, Array]]) -> bool:
    points = np.concatenate([np.concatenate([start[None], controls]) for _, start, controls in loop])
    x, y = points.T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) < 0


def _panel(name: str, shape: Any, loop: list[tuple[str, Array, Array]], unit: float, where: str) -> Panel:
    try:
        shift = np.array(shape.get("translation", [0, 0, 0]), float) * unit
        x, y, z = (_about(axis, a) for axis, a in enumerate(np.radians(shape.get("rotation", [0, 0, 0]))))
        turn = x @ y @ z
        if shift.shape != (3,) or not np.isfinite(shift).all() or not np.isfinite(turn).all():
            raise ValueError("three finite numbers each")
    except (TypeError, ValueError) as error:
        raise PatternError(f'{where}: panel "{name}": translation or rotation: {error}') from error
    flip = np.array([1.0, 1.0])
    if _clockwise(loop):  # seen from the wrong side of the cloth
        flip, turn = np.array([-1.0, 1.0]), turn @ np.diag([-1.0, 1, -1])
    edges = [Edge(edge, tuple(start * flip), controls * flip) for edge, start, controls in loop]
    return Panel(name, edges, placement=Placement(Z_UP @ shift, Z_UP @ turn))


def _about(axis: int, angle: float) -> Array:
    """The rotation by an angle [rad] about x, y or z."""
    return rotation_matrix(angle * np.eye(3)[axis])
