"""STL, ASCII and binary: facets whose corners at exactly one position become one vertex.

It is read here, and not by a library: trimesh 5.2 looks for the word ``vertex`` alone, so that facets with a
corner too few and a corner too many make two wrong ones.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.errors import MeshError
from pliant.io.raw import RawSurface, refuse
from pliant.io.text import comma_hint, numbers, text_of

HEADER, FACET = 84, 50
"""Bytes before the facets of a binary file, and of one facet."""
ROW = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("spare", "<u2")])


def read_stl(file: Path) -> RawSurface:
    """The facets of all solids in an STL file; ``file_ids[3 f + c]`` is the vertex of corner c of facet f."""
    data = file.read_bytes()
    count = int.from_bytes(data[80:HEADER], "little") if len(data) >= HEADER else -1
    if count >= 0 and len(data) == HEADER + FACET * count:
        corners = np.frombuffer(data, ROW, count, HEADER)["corners"].astype(np.float64).reshape(-1, 3)
    elif b"\0" in data and data[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        raise MeshError(
            f"{file}: {len(data)} bytes do not fit the {max(count, 0)} facets that a binary STL file of its "
            "header has; the file is cut short or damaged, export it again"
        )
    else:
        corners = _ascii(text_of(data, file, "an STL file"), file)
    bad = np.flatnonzero(~np.isfinite(corners).all(axis=1))
    refuse(bad, file, lambda c: f"facet {c // 3} corner {c % 3}", "coordinates are not finite; write numbers")
    return _welded(corners, file)


def _welded(corners: np.ndarray, file: Path) -> RawSurface:
    """Vertices in order of first appearance."""
    _, first, group = np.unique(corners + 0.0, axis=0, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    ids = rank[group.ravel()]
    x = corners[np.sort(first)]
    return RawSurface(
        x,
        ids,
        np.full(len(ids) // 3, 3),
        ids,
        lambda v: f"vertex at {tuple(x[v].tolist())}",
        lambda f: f"facet {f}",
    )


_GRAMMAR = {
    "outside": {"solid": "solid"},
    "solid": {"facet": "facet", "endsolid": "outside"},
    "facet": {"outer": "loop"},
    "loop": {"vertex": "loop", "endloop": "closed"},
    "closed": {"endfacet": "solid"},
}
"""What may follow in which place, and where it leads."""


def _ascii(text: str, file: Path) -> np.ndarray:
    """Corners (3 F, 3) of the facets, one after the other."""
    corners: list[list[float]] = []
    place, n = "outside", 0
    for line, row in enumerate(text.split("\n"), start=1):
        words = row.split()
        if not words:
            continue
        keyword = words[0].lower()
        after = _GRAMMAR[place].get(keyword)
        fits = {
            "facet": len(words) == 5,
            "outer": [w.lower() for w in words[1:]] == ["loop"],
            "vertex": len(words) == 4,
        }
        if after is None or not fits.get(keyword, keyword in ("solid", "endsolid") or len(words) == 1):
            due = " or ".join(repr(word) for word in _GRAMMAR[place])
            raise MeshError(
                f"{file} line {line}: {row.strip()[:60]!r} where {due} is due; "
                "the file is no STL file or is damaged, export it again"
            )
        if keyword == "vertex":
            try:
                corners.append(numbers(words[1:]))
            except ValueError as error:
                raise MeshError(
                    f"{file} line {line}: coordinates are not numbers: "
                    f"{' '.join(words[1:])[:60]!r}{comma_hint(words)}"
                ) from error
            n += 1
        elif keyword == "endloop":
            if n != 3:
                raise MeshError(f"{file} line {line}: a facet with {n} corners; an STL facet has three")
            n = 0
        place = after
    if place != "outside":
        raise MeshError(f"{file}: ends inside a {'solid' if place == 'solid' else 'facet'}; it is cut short")
    return np.array(corners, dtype=np.float64).reshape(-1, 3)
