"""What is wrong with a body of tetrahedra whose ids and coordinates can be used."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.checking.report import ERROR, NOTE, WARNING, Finding, write_down
from pliant.checking.surfaces import REPAIR
from pliant.geometry import defects, tetrahedra, topology
from pliant.geometry.tetmesh import degenerate_tets

Array = np.ndarray

SLIVER = 5.0
"""Smallest dihedral angle [degrees] under which a tetrahedron is a sliver."""
WORST = 5
"""So many of the worst are listed."""
VOLUMES = 1e4
"""The largest volume over the smallest one above which a body is uneven."""


def body_findings(x: Array, tets: Array, counts: dict[str, Any], turned: int) -> list[Finding]:
    """Findings of a body; fills in ``counts``. turned: tetrahedra that were turned round when it was read."""
    found: list[Finding] = []
    ordered = np.sort(tets, axis=1)
    repeated = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    flat = repeated.copy()
    flat[degenerate_tets(x, tets)] = True
    write_down(
        found, "degenerate", ERROR, "tetrahedron", np.flatnonzero(flat),
        "{n} {t} without volume", f"{REPAIR} takes {{them}} out",
    )  # fmt: skip
    used = np.zeros(len(x), bool)
    used[tets] = True
    write_down(
        found, "unused", WARNING, "vertex", np.flatnonzero(~used),
        "{n} {v} that no tetrahedron uses", f"{REPAIR} leaves {{them}} out",
    )  # fmt: skip
    if flat.all():
        return found
    volume = tetrahedra.tet_volumes(x, tets)
    _winding(found, volume, flat, turned)
    _sharing(found, x, tets, ordered, flat, used)
    _quality(found, x, tets, volume, flat, counts)
    counts["volume"] = float(np.abs(volume).sum())
    faces, use = tetrahedra.face_use(tets[~flat])
    counts["triangles"] = int((use == 1).sum())
    counts["pieces"] = len(np.unique(topology.components(faces, len(x))[tets[~flat][:, 0]]))
    return found


def _winding(found: list[Finding], volume: Array, flat: Array, turned: int) -> None:
    write_down(
        found, "winding", WARNING, "tetrahedron", np.flatnonzero((volume < 0) & ~flat),
        "{n} {t} inside out", f"TetMesh turns {{them}} round, and {REPAIR}, too",
    )  # fmt: skip
    if turned:
        words = f"{turned} tetrahedra came inside out and were turned round"
        found.append(Finding("turned", NOTE, "mesh", np.zeros(0, int), words, "nothing to do"))


def _sharing(found: list[Finding], x: Array, tets: Array, ordered: Array, flat: Array, used: Array) -> None:
    """Nodes at one place, tetrahedra twice, faces of three."""
    place = defects.places(x)
    ids = np.flatnonzero(used & (place != np.arange(len(x))) & used[place])
    write_down(
        found, "coincident", WARNING, "vertex", ids,
        "{n} node{s} at the place of others: the body falls apart there", f"{REPAIR} joins {{them}}",
    )  # fmt: skip
    first = np.unique(ordered, axis=0, return_index=True)[1]
    again = np.ones(len(tets), bool)
    again[first] = False
    write_down(
        found, "duplicate", ERROR, "tetrahedron", np.flatnonzero(again & ~flat),
        "{n} {t} on the corners of others", f"{REPAIR} takes {{them}} out",
    )  # fmt: skip
    kept = np.flatnonzero(~again & ~flat)
    _, use = tetrahedra.face_use(tets[kept])
    bad = kept[(use.reshape(-1, 4) > 2).any(axis=1)]
    write_down(
        found, "overlap", ERROR, "tetrahedron", bad,
        "{n} {t} share a face with more than one other: some overlap", "remove those that overlap",
    )  # fmt: skip


def _quality(
    found: list[Finding], x: Array, tets: Array, volume: Array, flat: Array, counts: dict[str, Any]
) -> None:
    live = np.flatnonzero(~flat)
    angle = np.degrees(tetrahedra.smallest_dihedral(x, _wound(tets[live], volume[live])))
    size = np.abs(volume[live])
    order = np.argsort(angle, kind="stable")
    counts["smallest_dihedral"] = float(angle[order[0]])
    counts["volumes"] = [float(size.min()), float(np.median(size)), float(size.max())]
    counts["worst"] = [
        {"tetrahedron": int(live[k]), "smallest_dihedral": float(angle[k]), "volume": float(size[k])}
        for k in order[:WORST]
    ]
    slivers = order[angle[order] < SLIVER]
    if len(slivers):
        worst = ", ".join(f"{live[k]}: {angle[k]:.2g}°" for k in slivers[:WORST])
        write_down(
            found, "sliver", WARNING, "tetrahedron", live[slivers],
            f"{{n}} {{t}} with a smallest dihedral angle under {SLIVER:g}° (worst {worst})",
            "stiff and slow to solve: mesh again with a bound on quality",
        )  # fmt: skip
    if size.max() > VOLUMES * size.min():
        words = f"volumes from {size.min():.3g} to {size.max():.3g} m³, {size.max() / size.min():.3g} to 1"
        ids = live[[size.argmin(), size.argmax()]]
        cure = "the smallest ones decide how many substeps are needed: mesh again evenly"
        found.append(Finding("volume_spread", WARNING, "tetrahedron", ids, words, cure))


def _wound(tets: Array, volume: Array) -> Array:
    return np.where((volume < 0)[:, None], tets[:, [0, 2, 1, 3]], tets)
