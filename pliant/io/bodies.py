"""Cloths and solids of a scene file: their meshes or shapes, materials and places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import numpy as np

from pliant.geometry import shapes
from pliant.geometry.mesh import TriMesh
from pliant.geometry.tetmesh import TetMesh
from pliant.io.fields import REQUIRED, Table
from pliant.io.meshes import UNITS, read_mesh
from pliant.io.motions import rotation_of
from pliant.io.selections import ids_of
from pliant.materials import Fabric, SolidMaterial, fabrics, solids
from pliant.scene import BENDINGS, MEMBRANES, SOLID_LAWS, Scene

PLACED = (
    "name",
    "mesh",
    "unit",
    "shape",
    "scale",
    "material",
    "position",
    "rotation_axis",
    "rotation_degrees",
)
MOVED = ("pins", "velocity", "drag_coefficient", "skin_friction")
CLOTH = (*PLACED, *MOVED, "membrane", "bending", "warp_direction", "rest_mesh", "weld")
SOLID = (*PLACED, *MOVED, "law", "contact_radius")

SHAPES: dict[str, tuple[str, ...]] = {
    "grid": ("nx", "ny", "size", "pattern"),
    "equilateral": ("size", "edge"),
    "unstructured": ("size", "edge", "seed"),
    "disc": ("radius", "edge"),
    "annulus": ("inner", "outer", "edge"),
    "pillow": ("nx", "ny", "size"),
    "sphere": ("radius", "subdivisions"),
    "tube": ("radius", "height", "n", "m"),
}
SOLID_SHAPES: dict[str, tuple[str, ...]] = {"bar": ("size", "cells"), "ball": ("radius", "n")}

NEEDED: dict[type, tuple[str, ...]] = {
    Fabric: ("areal_density", "thickness", "youngs_modulus", "poisson_ratio", "bending_rigidity"),
    SolidMaterial: ("density", "youngs_modulus", "poisson_ratio"),
}
"""What a material without a base must say."""


def add_cloth(scene: Scene, table: Table) -> None:
    """What [[cloth]] says."""
    table.only(*CLOTH)
    mesh = scaled(table, surface(table))
    place = placement(table, mesh)
    warp = table.vector("warp_direction", None)
    if warp is not None and not np.linalg.norm(warp) > 0:
        table.fail("warp_direction", "must not be zero")
    with table.at():
        scene.add_cloth(
            mesh,
            material(table, Fabric, fabrics),
            **place,
            warp_direction=warp,
            membrane=table.text("membrane", None, MEMBRANES),
            bending=table.text("bending", "isometric", BENDINGS),
            rest_mesh=_rest(table),
            weld=table.flag("weld", True),
            drag_coefficient=table.number("drag_coefficient", 1.2, least=0),
            skin_friction=table.number("skin_friction", 0.01, least=0),
        )


def add_solid(scene: Scene, table: Table) -> None:
    """What [[solid]] says."""
    table.only(*SOLID)
    mesh = scaled(table, _body(table))
    place = placement(table, mesh)
    with table.at():
        scene.add_solid(
            mesh,
            material(table, SolidMaterial, solids),
            **place,
            law=table.text("law", "arap", SOLID_LAWS),
            contact_radius=table.number("contact_radius", 0.0, "m", least=0),
            drag_coefficient=table.number("drag_coefficient", 0.5, least=0),
            skin_friction=table.number("skin_friction", 0.01, least=0),
        )


def placement(table: Table, mesh: Any) -> dict[str, Any]:
    """Where a body goes, what of it is held, and how it starts."""
    position, rotation = table.vector("position", (0.0, 0.0, 0.0), "m"), rotation_of(table)
    placed = mesh.transformed(position, rotation)
    return {
        "position": position,
        "rotation": rotation,
        "pins": ids_of(table, "pins", placed) if "pins" in table else (),
        "velocity": table.vector("velocity", (0.0, 0.0, 0.0), "m/s"),
        "name": table.text("name", None),
    }


def scaled(table: Table, mesh: Any) -> Any:
    """The mesh of a table, scaled if it says so."""
    if "scale" not in table:
        return mesh
    with table.at("scale"):
        return mesh.transformed(scale=table.get("scale"))


def surface(table: Table) -> TriMesh:
    """The surface that a table names or describes."""

    def shape(kind: str, values: Table) -> TriMesh:
        return getattr(shapes, kind)(**_shape_values(values, kind))

    mesh = _mesh(table, SHAPES, shape, 'shape = {kind = "grid", ...}')
    if not isinstance(mesh, TriMesh):
        what = table.text("mesh")
        table.fail("mesh", f'"{what}" holds a body of tetrahedra; a {table.path[0]} needs a surface')
    return mesh


def _rest(table: Table) -> TriMesh | None:
    """The surface without stress, from a file in the unit of the table's mesh."""
    if "rest_mesh" not in table:
        return None
    name, unit = table.text("rest_mesh"), table.text("unit", None, tuple(UNITS))
    with table.at("rest_mesh"):
        mesh = read_mesh(table.file.parent / name, unit)
    if not isinstance(mesh, TriMesh):
        table.fail("rest_mesh", f'"{name}" holds a body of tetrahedra; a cloth needs a surface')
    return scaled(table, mesh)


def _body(table: Table) -> TetMesh:
    """The body of tetrahedra that a table names or describes."""

    def shape(kind: str, values: Table) -> TetMesh:
        if kind == "ball":
            return shapes.ball(values.number("radius", unit="m", above=0), values.whole("n", 4))
        cells = values.vector("cells")
        if any(c != int(c) or c < 1 for c in cells):
            values.fail("cells", "must be three whole numbers of at least 1")
        nx, ny, nz = (int(c) for c in cells)
        return shapes.bar(values.vector("size", unit="m"), (nx, ny, nz))

    mesh = _mesh(table, SOLID_SHAPES, shape, 'shape = {kind = "bar", ...}')
    if not isinstance(mesh, TetMesh):
        table.fail("mesh", f'"{table.text("mesh")}" holds a surface; a solid needs tetrahedra')
    return mesh


def _mesh(
    table: Table, known: dict[str, tuple[str, ...]], make: Callable[[str, Table], Any], example: str
) -> TriMesh | TetMesh:
    """The mesh file of a table, or what its shape makes."""
    if ("mesh" in table) == ("shape" in table):
        table.fail("mesh", f'give either mesh = "file.obj" or {example}')
    if "mesh" in table:
        name, unit = table.text("mesh"), table.text("unit", None, tuple(UNITS))
        with table.at("mesh"):
            return read_mesh(table.file.parent / name, unit)
    if "unit" in table:
        table.fail("unit", "belongs to a mesh; shapes are in metres")
    shape = table.table("shape")
    kind = shape.text("kind", choices=tuple(known))
    shape.only("kind", *known[kind])
    with table.at("shape"):
        return make(kind, shape)


def _shape_values(shape: Table, kind: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key in SHAPES[kind]:
        if key == "size":
            values[key] = shape.vector(
                key, (1.0, 1.0) if kind in ("grid", "pillow") else REQUIRED, "m", length=2
            )
        elif key in ("nx", "ny", "n", "m"):
            values[key] = shape.whole(key, least=2)
        elif key in ("seed", "subdivisions"):
            values[key] = shape.whole(key, None, least=0)
        elif key == "pattern":
            values[key] = shape.text(key, None, shapes.PATTERNS)
        else:
            values[key] = shape.number(key, unit="m", above=0)
    return {k: v for k, v in values.items() if v is not None}


def material(table: Table, kind: Any, presets: SimpleNamespace) -> Any:
    """A known material, or one from a table of numbers."""
    known = vars(presets)
    if not isinstance(table.data.get("material"), dict):
        return known[table.text("material", choices=tuple(known))]
    inline = table.table("material")
    numbers = [f.name for f in fields(kind) if f.name not in ("name", "source")]
    inline.only("base", "name", "source", *numbers)
    base = known[inline.text("base", choices=tuple(known))] if "base" in inline else None
    if base is None:
        for key in NEEDED[kind]:
            if key not in inline:
                inline.fail(key, f'is missing; give it, or a base = "{next(iter(known))}" to start from')
    changes: dict[str, Any] = {key: inline.number(key) for key in numbers if key in inline}
    changes |= {key: inline.text(key) for key in ("name", "source") if key in inline}
    if base is not None and "name" not in changes:
        changes["name"] = f"{base.name}, changed" if changes else base.name
    with table.at("material"):
        return (base or kind()).with_(**changes)
