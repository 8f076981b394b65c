"""Which cloth and which of its vertices a table of a scene file names."""

from __future__ import annotations

import numpy as np

from pliant.geometry.mesh import TriMesh
from pliant.io.fields import Table, shown
from pliant.scene import Cloth, Scene

Array = np.ndarray

BOX = tuple(f"{axis}_{end}" for axis in "xyz" for end in ("min", "max"))
BOX_SLACK = 1e-9
"""Fraction of a mesh's size by which a vertex may miss the side of a box that selects it."""


def cloth_of(scene: Scene, table: Table) -> Cloth:
    """The cloth that a table names; the only one where it names none."""
    names = [c.name for c in scene.cloths]
    if "cloth" not in table and len(names) > 1:
        table.fail("cloth", f"is missing; name one of {', '.join(names)}")
    return scene.cloths[names.index(table.text("cloth", names[0], names))]


def ids_of(table: Table, key: str, placed: TriMesh) -> Array:
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


def in_box(box: Table, placed: TriMesh) -> Array:
    box.only(*BOX)
    x = placed.vertices
    slack = BOX_SLACK * placed.length
    inside = np.ones(len(x), bool)
    for m, axis in enumerate("xyz"):
        inside &= x[:, m] >= box.number(f"{axis}_min", -np.inf, "m") - slack
        inside &= x[:, m] <= box.number(f"{axis}_max", np.inf, "m") + slack
    if not inside.any():
        spans = (f"{a} {lo:.4g} to {hi:.4g} m" for a, lo, hi in zip("xyz", *placed.bounds, strict=True))
        box.fail("", f"selects no vertex; the cloth spans {', '.join(spans)}")
    used = np.zeros(len(x), bool)
    used[placed.triangles] = True  # a vertex that no face uses cannot be held
    return np.flatnonzero((inside & used)[placed.file_ids] & (placed.file_ids >= 0))
