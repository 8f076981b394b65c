"""What a search must find: every vertex tried against every triangle, every edge against every edge."""

from __future__ import annotations

import numpy as np

from .pairs import Pairs, corner_gap2, edge_gap2
from .skin import Skin

Array = np.ndarray


def all_pairs(x: Array, skin: Skin, margin: Array | float = 0.0) -> tuple[Pairs, int]:
    """:func:`pliant.contact.pairs.find_pairs`, one pair after the other: slow."""
    x = np.array(x, float)
    m = np.broadcast_to(np.asarray(margin, float), (len(x),))
    found = []
    for k, (owners, partners) in enumerate(((skin.vertices[:, None], skin.triangles), (skin.edges,) * 2)):
        for a, one in enumerate(owners.tolist()):
            for b, other in enumerate(partners.tolist()):
                if set(one) & set(other) or (k == 1 and b <= a):
                    continue
                ids = [*one, *other]
                d = _gap(x, ids, k)
                keep = skin.radius[one[0]] + skin.radius[other[0]]
                if d < keep + m[one].max() + m[other].max():
                    if skin.piece[one[0]] == skin.piece[other[0]]:
                        keep = min(keep, _gap(skin.rest, ids, k))
                    found.append((k, one[0] if k == 0 else a, b, *ids, d, keep))
    rows = np.array(found, float).reshape(-1, 9)
    whole = rows[:, :7].astype(np.int32)
    return Pairs(whole[:, 1], whole[:, 2], whole[:, 3:], rows[:, 7], rows[:, 8]), int(
        (whole[:, 0] == 0).sum()
    )


def _gap(x: Array, ids: list[int], kind: int) -> float:
    return float(np.sqrt((corner_gap2 if kind == 0 else edge_gap2)(x, *ids)))
