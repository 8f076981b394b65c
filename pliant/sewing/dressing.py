"""A garment is sewn around a body: coarse first, its shape then handed on to finer triangles."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from pliant.garments.garment import OPEN, Garment, meshed
from pliant.garments.mannequin import Limb
from pliant.garments.transfer import shaped_like
from pliant.materials import Fabric, fabrics
from pliant.sewing.closing import MARGIN, Table, closed, settled
from pliant.sewing.easing import eased
from pliant.solvers.base import Solver
from pliant.solvers.xpbd.solver import XPBD

Array = np.ndarray
Watch = Callable[[float, Array], None]

LARGE, COARSER = 1200, 2.0
"""Garments of more vertices take over the shape of one with triangles so many times as large."""


def sew(
    garment: Garment,
    body: Iterable[Limb] = (),
    fabric: Fabric | None = None,
    *,
    seconds: float = 4.0,
    settle: float = 1.0,
    solver: Solver | None = None,
    dt: float = 1 / 60,
    watch: Watch | None = None,
) -> Garment:
    """Close the seams of a garment around a body, without gravity, weld them, and take the strain out.

    garment   panels where they are placed; body: what it is dressed around (``pl.garments.mannequin()``)
    fabric    default: cotton
    seconds   [s] for the seams to close: ties pull the two sides of each together, stronger and stronger, at
              last rigidly
    settle    [s] for the welded garment to glide into place; 0 leaves it there, strained
    solver    of these motions, by default ``pl.XPBD(substeps=20)``, and their dt [s]
    watch     called after each step with the time [s] and the places (n, 3) [m] of ``garment.flat``'s rows;
              of a garment of more than 1,200 vertices, which takes over the shape of one that was sewn with
              triangles twice as large, it sees the end only

    Returns the garment with closed seams and its panels as they were cut: strains below 0.1 %, which
    :func:`pliant.sewing.panel_strains` reads. Raises SceneError naming the seam that stays open. There is no
    contact of cloth with itself.
    """
    clock = [0.0]

    def seen(x: Array) -> None:
        clock[0] += dt
        if watch is not None:
            watch(clock[0], x if len(x) == len(garment.flat) else x[garment.sewn])

    table = Table(list(body), fabric or fabrics.cotton, solver or XPBD(substeps=20), dt, seen)
    roomy = [limb.grown(MARGIN) for limb in table.body]
    if garment.gap < OPEN:
        sewn = settled(garment, table, settle)
    elif garment.n_vertices > LARGE:
        draft = meshed(garment.pattern, COARSER * garment.size)
        sewn = shaped_like(
            garment,
            sew(draft, table.body, fabric, seconds=seconds, settle=settle, solver=solver, dt=dt),
        )
    else:
        sewn = settled(closed(garment, table, seconds), table, settle)
    if settle:
        sewn = eased(sewn, roomy)
        seen(sewn.mesh.vertices)
    return sewn
