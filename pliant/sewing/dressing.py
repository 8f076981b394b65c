"""A garment is sewn around a body: coarse first, its shape then handed on to finer triangles."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from pliant.diagnostics.intersections import self_intersections
from pliant.errors import MeshWarning, PliantError
from pliant.garments.garment import OPEN, Garment, meshed
from pliant.garments.mannequin import Limb
from pliant.garments.transfer import shaped_like
from pliant.materials import Fabric, fabrics
from pliant.sewing.closing import MARGIN, Table, closed, settled
from pliant.sewing.easing import eased, panel_strains
from pliant.solvers.base import Solver
from pliant.solvers.xpbd.solver import XPBD

Array = np.ndarray
Watch = Callable[[float, Array], None]

LARGE = 1200
"""Garments of more vertices take over the shape of one with larger triangles."""
COARSER = (2.0, 1.7, 2.4)
"""How many times as large: the first whose shape comes out sound, else the best of them."""
STRAINED = 1e-3
"""Principal strain that is told of."""


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
              larger triangles, it sees the end only

    Returns the garment with closed seams and its panels as they were cut: strains below 0.1 %, which
    :func:`pliant.sewing.panel_strains` reads. Raises SceneError naming the seam that stays open; warns
    (MeshWarning) where strain or crossings are left. There is no contact of cloth with itself.
    """
    clock = [0.0]

    def seen(x: Array) -> None:
        clock[0] += dt
        if watch is not None:
            watch(clock[0], x if len(x) == len(garment.flat) else x[garment.sewn])

    table = Table(list(body), fabric or fabrics.cotton, solver or XPBD(substeps=20), dt, seen)
    if garment.gap < OPEN:
        sewn = settled(garment, table, settle)
        found = _finished(sewn, table) if settle else sewn
    else:
        found = _sewn(garment, table, seconds, settle)
    if settle:
        seen(found.mesh.vertices)
        _tell(found)
    return found


def _sewn(garment: Garment, table: Table, seconds: float, settle: float) -> Garment:
    """The garment with its seams closed; one that is large by way of drafts that are coarser."""
    if garment.n_vertices <= LARGE:
        sewn = closed(garment, table, seconds)
        return _finished(settled(sewn, table, settle), table) if settle else sewn
    quiet = replace(table, seen=lambda x: None)
    found: list[Garment] = []
    for coarser in COARSER:
        try:
            draft = _sewn(meshed(garment.pattern, coarser * garment.size), quiet, seconds, settle)
        except PliantError:  # too coarse for a narrow panel, or a seam stays open: another may do
            if coarser == COARSER[-1] and not found:
                raise
            continue
        found.append(shaped_like(garment, draft))
        if not settle:
            break
        found[-1] = _finished(found[-1], table)
        if _faults(found[-1]) == (0, 0.0):
            break
    return min(found, key=_faults)


def _finished(garment: Garment, table: Table) -> Garment:
    """Without strain, and off the body by the margin of sewing."""
    return eased(garment, [limb.grown(MARGIN) for limb in table.body])


def _faults(garment: Garment) -> tuple[int, float]:
    """How many edges pass through triangles, and the largest strain if it is too large."""
    strain = float(np.abs(panel_strains(garment)).max())
    crossings = self_intersections(garment.mesh.vertices, garment.triangles)
    return len(crossings), strain if strain >= STRAINED else 0.0


def _tell(garment: Garment) -> None:
    """Warn of a start that is not what was meant."""
    crossings, strain = _faults(garment)
    wrong = [f"cloth passes through itself at {crossings} edges"] if crossings else []
    wrong += [f"its panels stay strained by up to {100 * strain:.2g} %"] if strain else []
    if wrong:
        message = (
            f'garment "{garment.name}": {" and ".join(wrong)}; place its panels otherwise, give its '
            "pattern more room around the body, or take another size of triangles"
        )
        warnings.warn(message, MeshWarning, stacklevel=3)
