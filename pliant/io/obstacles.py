"""Colliders of a scene file."""

from __future__ import annotations

from pliant.geometry.colliders import SIDES, Box, Capsule, Cylinder, MeshCollider, Plane, Shape, Sphere
from pliant.io.bodies import scaled, surface
from pliant.io.fields import Table
from pliant.io.motions import read_motion, rotation_of
from pliant.scene import Scene

COLLIDER = (
    "name", "kind", "position", "rotation_axis", "rotation_degrees", "friction", "friction_static", "motion",
)  # fmt: skip
COLLIDERS: dict[str, tuple[str, ...]] = {
    "plane": ("normal",),
    "sphere": ("radius",),
    "cylinder": ("radius", "height", "rounding"),
    "capsule": ("radius", "height"),
    "box": ("size", "rounding"),
    "mesh": ("mesh", "unit", "shape", "scale", "side"),
}


def add_collider(scene: Scene, table: Table) -> None:
    """What [[collider]] says."""
    kind = table.text("kind", choices=tuple(COLLIDERS))
    table.only(*COLLIDER, *COLLIDERS[kind])
    with table.at():
        position, rotation = table.vector("position", (0.0, 0.0, 0.0), "m"), rotation_of(table)
        scene.add_collider(
            shape_of(table, kind),
            position,
            rotation,
            table.number("friction", None, least=0),
            table.number("friction_static", None, least=0),
            table.text("name", None),
            read_motion(table, position, rotation),
        )


def shape_of(table: Table, kind: str) -> Shape:
    """The shape of a collider, in its own frame."""
    if kind == "plane":
        return Plane(table.vector("normal", (0.0, 0.0, 1.0)))
    if kind == "box":
        return Box(table.vector("size", unit="m"), table.number("rounding", 0.0, "m", least=0))
    if kind == "mesh":
        return MeshCollider(scaled(table, surface(table)), table.text("side", "auto", SIDES))
    radius = table.number("radius", unit="m", above=0)
    if kind == "sphere":
        return Sphere(radius)
    height = table.number("height", unit="m", above=0)
    if kind == "capsule":
        return Capsule(radius, height)
    return Cylinder(radius, height, table.number("rounding", 0.0, "m", least=0))
