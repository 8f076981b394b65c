"""Which body and which of its vertices a table of a scene file names."""

from __future__ import annotations

import numpy as np

from pliant.bodies import Body, Solid
from pliant.geometry.mesh import TriMesh
from pliant.geometry.tetmesh import TetMesh
from pliant.io.fields import Table, shown
from pliant.scene import Scene

Array = np.ndarray

BOX = tuple(f"{axis}_{end}" for axis in "xyz" for end in ("min", "max"))
BOX_SLACK = 1e-9
"""Fraction of a mesh's size by which a vertex may miss the side of a box that selects it."""


def kind_of(table: Table) -> str:
    """Whether a table names a "cloth" (also where it names nothing) or a "solid"."""
    if "cloth" in table and "solid" in table:
        table.fail("solid", "does not go with cloth; name one body")
    return "solid" if "solid" in table else "cloth"


def body_of(scene: Scene, table: Table) -> Body:
    """The body that a table names as its cloth or its solid; the only one where it names none."""
    kind = kind_of(table)
    if kind not in table:
        if len(scene.bodies) > 1:
            named = (f'{_word(b)} = "{b.name}"' for b in scene.bodies)
            table.fail("cloth", f"is missing; name one of {', '.join(named)}")
        return scene.bodies[0]
    bodies = [b for b in scene.bodies if _word(b) == kind]
    names = [b.name for b in bodies]
    if not names:
        table.fail(kind, f"names none: the scene has no {kind}")
    return bodies[names.index(table.text(kind, choices=names))]


def _word(body: Body) -> str:
    return "solid" if isinstance(body, Solid) else "cloth"


def ids_of(table: Table, key: str, placed: TriMesh | TetMesh) -> Array:
    """Vertices (file indices) that a list of numbers, a box, or a list of both names."""
    value = table.get(key)
    found: list[Array] = []
    for k, item in enumerate(value if isinstance(value, list) else [value]):
        if isinstance(item, dict):
            place = (*table.path, key, *((k,) if isinstance(value, list) else ()))
            found.append(in_box(Table(table.file, item, place, table.lines), placed))
        elif isinstance(item, int) and not isinstance(item, bool):
            if not 0 <= item < len(placed.file_ids):
                last = len(placed.file_ids) - 1
                table.fail(key, f"vertex {item} does not exist; the mesh has vertices 0 to {last}")
            found.append(np.array([item]))
        else:
            table.fail(key, f"must hold vertex numbers or boxes like {{z_min = 0.9}}, not {shown(item)}")
    if not found:
        table.fail(key, "is empty; leave it out or name vertices")
    return np.unique(np.concatenate(found))


def in_box(box: Table, placed: TriMesh | TetMesh) -> Array:
    box.only(*BOX)
    x = placed.vertices
    slack = BOX_SLACK * placed.length
    inside = np.ones(len(x), bool)
    for m, axis in enumerate("xyz"):
        inside &= x[:, m] >= box.number(f"{axis}_min", -np.inf, "m") - slack
        inside &= x[:, m] <= box.number(f"{axis}_max", np.inf, "m") + slack
    if not inside.any():
        what = "solid" if isinstance(placed, TetMesh) else "cloth"
        spans = (f"{a} {lo:.4g} to {hi:.4g} m" for a, lo, hi in zip("xyz", *placed.bounds, strict=True))
        box.fail("", f"selects no vertex; the {what} spans {', '.join(spans)}")
    used = np.zeros(len(x), bool)
    used[placed.tets if isinstance(placed, TetMesh) else placed.triangles] = True  # no other can be held
    return np.flatnonzero((inside & used)[placed.file_ids] & (placed.file_ids >= 0))
