"""Seams of a drawing: spelled out, or one word on both of the edges that are sewn together."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from pliant.errors import PatternError
from pliant.garments.pattern import Seam
from pliant.garments.svg.document import Word

SEAM = re.compile(
    r"seam\s+(?P<name>[^:=]+?)\s*:\s*(?P<one>[^=]+)=(?P<other>[^=]+?)(?:\s+ease\s+(?P<ease>\S+)\s*%)?"
)
OPEN = "open "
EASE = 0.05


def spelled_out(words: list[Word], where: str) -> tuple[list[Word], list[Seam]]:
    """The words that are labels, and the seams that others spell out."""
    labels: list[Word] = []
    seams: list[Seam] = []
    for word in words:
        if not re.match(r"seam\s", word.text):
            labels.append(word)
            continue
        found = SEAM.fullmatch(word.text)
        ease = found["ease"] if found else None
        if found is None or (ease is not None and not re.fullmatch(r"\d+\.?\d*", ease)):
            raise PatternError(
                f'{where}: "{word.text}" cannot be read; a seam is said as in '
                '"seam waist: front.top, back.top = band.bottom ease 10 %"'
            )
        one, other = ([e.strip() for e in found[side].split(",")] for side in ("one", "other"))
        if not any(e.startswith("-") for e in (*one, *other)):
            other = [f"-{e}" for e in other]
        seams.append(Seam(found["name"].strip(), one, other, EASE if ease is None else 0.01 * float(ease)))
    return labels, seams


class Chains:
    """The edges of each panel and the pieces that they are made of: a smooth edge may have several."""

    def __init__(self, of: dict[str, dict[str, list[str]]], where: str) -> None:
        self.of = of
        self.where = where

    def seams(self, spelled: list[Seam], labels: dict[str, dict[int, str]]) -> list[Seam]:
        """Seams that are spelled out, and one for each label that stands on two edges."""
        out = [self._of_pieces(seam) for seam in spelled]
        used = {edge.removeprefix("-") for s in spelled for edge in (*s.one, *s.other)}
        on: dict[str, list[str]] = defaultdict(list)
        for panel, of_panel in labels.items():
            for label in of_panel.values():
                if not label.startswith(OPEN) and f"{panel}.{label}" not in used:
                    on[re.sub(" 2$", "", label)].append(f"{panel}.{label}")  # "end", "end 2": of one panel
        for label, edges in on.items():
            if len(edges) > 2:
                raise PatternError(
                    f'{self.where}: the word "{label}" stands on {len(edges)} edges ({", ".join(edges)}); '
                    f'two are sewn together; else write "seam {label}: {edges[0]}, {edges[1]} = {edges[2]}", '
                    f'or "{OPEN}{label}" on each if they are not sewn'
                )
            if len(edges) == 2:
                seam = Seam(label, [edges[0]], [f"-{edges[1]}"], EASE)
                out.append(
                    replace(seam, one=self._spread(seam.one, seam), other=self._spread(seam.other, seam))
                )
        return out

    def openings(self, labels: dict[str, dict[int, str]]) -> dict[str, list[str]]:
        """The edges with a label that begins with "open", by what follows."""
        out: dict[str, list[str]] = defaultdict(list)
        for panel, of_panel in labels.items():
            for label in of_panel.values():
                if label.startswith(OPEN):
                    name = label.removeprefix(OPEN).strip()
                    out[name] += [f"{panel}.{piece}" for piece in self.of[panel][name]]
        return dict(out)

    def _of_pieces(self, seam: Seam) -> Seam:
        return replace(seam, one=self._spread(seam.one, seam), other=self._spread(seam.other, seam))

    def _spread(self, chain: Iterable[str], seam: Seam) -> list[str]:
        """Edges by label as the pieces that they are made of."""
        out: list[str] = []
        for said in chain:
            panel, _, edge = said.removeprefix("-").partition(".")
            if panel not in self.of:
                have = f'no panel "{panel}" (of the edge "{said}"); there are {", ".join(self.of)}'
                raise PatternError(f'{self.where}: seam "{seam.name}": there is {have}')
            if edge not in self.of[panel]:
                have = f'has no edge "{edge}"; it has {", ".join(self.of[panel])}'
                raise PatternError(f'{self.where}: seam "{seam.name}": panel "{panel}" {have}')
            rows = [f"{panel}.{piece}" for piece in self.of[panel][edge]]
            out += [f"-{row}" for row in reversed(rows)] if said.startswith("-") else rows
        return out
