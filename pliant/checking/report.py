"""The report on a mesh: what it is, and what is wrong with it, element by element."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray

FIRST = 10
"""So many ids are named."""
ERROR, WARNING, NOTE = "error", "warning", "note"
SEVERITIES = (ERROR, WARNING, NOTE)


@dataclass(frozen=True, eq=False)
class Finding:
    """One kind of trouble.

    name       a fixed word, such as "duplicate"
    severity   "error": it cannot be simulated so; "warning": it can, but hardly as meant; "note": good to
               know
    element    what the ids count: "vertex", "edge", "triangle", "tetrahedron", "pair" (edge and triangle) or
               "mesh", which has none
    ids        (K,) or (K, 2): all of them, from 0; an edge is its two vertices; a pair (K, 3) is the two
               vertices of the edge and the triangle
    words      what is the matter; cure: what to do about it
    """

    name: str
    severity: str
    element: str
    ids: Array
    words: str
    cure: str

    @property
    def count(self) -> int:
        """How many there are; 1 for the mesh as a whole."""
        return 1 if self.element == "mesh" else len(self.ids)

    @property
    def first(self) -> list[Any]:
        """The first ids."""
        return self.ids[:FIRST].tolist()

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "name": self.name, "severity": self.severity, "element": self.element, "count": self.count,
            "first": self.first, "words": self.words, "cure": self.cure,
        }  # fmt: skip

    def __str__(self) -> str:
        ids = ", ".join(_id_text(i) for i in self.first[:4])
        where = f" [{ids}{', …' if self.count > 4 else ''}]" if ids else ""
        return f"{self.severity:<8}{self.words}{where}; {self.cure}"


def write_down(
    found: list[Finding], name: str, severity: str, element: str, ids: Array, words: str, cure: str
) -> None:
    """Add a finding, if there is anything to it: {n} in its words is the count, {s} {v} {t} {them} agree."""
    if len(ids):
        many = len(ids) > 1
        said = {
            "n": len(ids), "s": "s" * many, "them": "them" if many else "it",
            "v": "vertices" if many else "vertex", "t": "tetrahedra" if many else "tetrahedron",
        }  # fmt: skip
        found.append(Finding(name, severity, element, ids, words.format(**said), cure.format(**said)))


def _id_text(i: Any) -> str:
    return "-".join(map(str, i)) if isinstance(i, list) else str(i)


@dataclass(frozen=True, eq=False, repr=False)
class MeshReport:
    """What :func:`pliant.check_mesh` found.

    name       of the mesh or its file
    kind       "surface" or "body"
    counts     what it consists of: numbers, lengths [m], areas [m^2], volumes [m^3]
    findings   errors first; empty for a clean mesh

    ``report["duplicate"]`` is the finding of that name; ``"duplicate" in report`` says whether there is one.
    Printing gives one screen.
    """

    name: str
    kind: str
    counts: dict[str, Any]
    findings: tuple[Finding, ...] = ()
    skipped: tuple[str, ...] = field(default=())

    @property
    def ok(self) -> bool:
        """Whether there is neither an error nor a warning."""
        return all(f.severity == NOTE for f in self.findings)

    def __getitem__(self, name: str) -> Finding:
        for finding in self.findings:
            if finding.name == name:
                return finding
        raise KeyError(f"{name}: not found in {self.name}; there are {[f.name for f in self.findings]}")

    def __contains__(self, name: object) -> bool:
        return any(f.name == name for f in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "name": self.name, "kind": self.kind, "ok": self.ok, "counts": dict(self.counts),
            "findings": [f.to_dict() for f in self.findings], "not_looked_at": list(self.skipped),
        }  # fmt: skip

    def __repr__(self) -> str:
        found = ", ".join(f"{f.count} {f.name}" for f in self.findings) or "clean"
        return f"MeshReport({self.name!r}: {found})"

    def __str__(self) -> str:
        lines = [f"{self.name}: {summary(self.counts)}"]
        lines += [f"  {finding}" for finding in self.findings]
        lines += [f"  not looked at: {what}" for what in self.skipped]
        lines.append("clean" if not self.findings else _verdict(self))
        return "\n".join(lines)


def _verdict(report: MeshReport) -> str:
    many = {s: sum(f.severity == s for f in report.findings) for s in SEVERITIES}
    return ", ".join(f"{n} {s}{'s' if n > 1 else ''}" for s, n in many.items() if n)


def summary(counts: dict[str, Any]) -> str:
    """The counts of a report in one line."""

    def many(key: str, one: str, more: str) -> str:
        return f"{counts[key]} {one if counts[key] == 1 else more}"

    parts = [many("vertices", "vertex", "vertices")]
    if "tets" in counts:
        parts.append(many("tets", "tetrahedron", "tetrahedra"))
    if "triangles" in counts:
        parts.append(many("triangles", "triangle", "triangles"))
    if "pieces" in counts:
        parts.append(many("pieces", "piece", "pieces"))
    if "boundary_loops" in counts:
        loops = counts["boundary_loops"]
        parts.append(many("boundary_loops", "boundary loop", "boundary loops") if loops else "closed")
    if "size" in counts:
        parts.append("box " + " × ".join(f"{s:.4g}" for s in counts["size"]) + " m")
    if "area" in counts and "tets" not in counts:
        parts.append(f"area {counts['area']:.4g} m²")
    if "volume" in counts:
        parts.append(f"volume {counts['volume']:.4g} m³")
    if "edge_median" in counts:
        parts.append(
            "edges {edge_shortest:.3g} to {edge_longest:.3g} m, median {edge_median:.3g}".format(**counts)
        )
    return ", ".join(parts)
