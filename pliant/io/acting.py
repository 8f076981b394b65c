"""Pressures, attachments and ties in a scene file."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.io.fields import Table
from pliant.io.selections import body_of, ids_of
from pliant.loads import ATMOSPHERE
from pliant.scene import Body, Scene

PRESSURE = ("cloth", "solid", "pressure", "gas", "open", "volume", "ambient")
ATTACHMENT = ("cloth", "solid", "ids", "targets", "frame", "to", "onto", "gap", "stiffness", "damping_time")


def add_pressure(scene: Scene, table: Table) -> None:
    """What [[pressure]] says."""
    table.only(*PRESSURE)
    with table.at():
        scene.add_pressure(
            body_of(scene, table),
            table.number("pressure", unit="Pa"),
            gas=table.flag("gas"),
            open=table.flag("open"),
            volume=table.number("volume", None, "m^3", above=0),
            ambient=table.number("ambient", ATMOSPHERE, "Pa", least=0),
        )


def add_attachment(scene: Scene, table: Table) -> None:
    """What [[attachment]] says: springs to points, or ties to a body."""
    table.only(*ATTACHMENT)
    body = body_of(scene, table)
    ids: Any = ids_of(table, "ids", body.mesh)
    where, options = _where(scene, table)
    if "targets" in table or "onto" in table:
        key = "targets" if "targets" in table else "onto"
        ids, n = np.array(_numbers(table, "ids", key)), len(where if key == "targets" else options["onto"])
        if n != len(ids):
            table.fail(key, f"has {n} entries for {len(ids)} ids; give one for each")
    with table.at():
        scene.add_attachment(
            body,
            ids,
            where,
            table.number("stiffness", 1e3, "N/m", above=0),
            table.number("damping_time", 0.0, "s", least=0),
            **options,
        )


def _where(scene: Scene, table: Table) -> tuple[Any, dict[str, Any]]:
    """Points or a body to attach to, and how."""
    if "to" not in table:
        for key in ("gap", "onto"):
            if key in table:
                table.fail(key, 'needs a body: to = "name"')
        names = [c.name for c in scene.colliders]
        frame = scene.colliders[names.index(table.text("frame", choices=names))] if "frame" in table else None
        return table.vectors("targets", None, "m"), {"frame": frame}
    for key in ("targets", "frame"):
        if key in table:
            table.fail(key, "belongs to points in space; leave it out beside a body")
    other = _body(scene, table)
    onto = _numbers(table, "onto", "onto") if "onto" in table else None
    return other, {"onto": onto, "gap": table.number("gap", None, "m", least=0)}


def _body(scene: Scene, table: Table) -> Body:
    names = [b.name for b in scene.bodies]
    return scene.bodies[names.index(table.text("to", choices=names))]


def _numbers(table: Table, key: str, asks: str) -> list[int]:
    """Vertex numbers written out, whose order counts."""
    value = table.get(key)
    if not (isinstance(value, list) and all(isinstance(v, int) and not isinstance(v, bool) for v in value)):
        table.fail(asks, f"need {key} that are a list of vertex numbers, one for each")
    return value
