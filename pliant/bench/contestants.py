"""Who takes part: Pliant's own entries, adapters of peers, and yours.

A module takes part with a list ``CONTESTANTS``; ``pliant bench cloth --also my_module`` adds one. Each entry
builds its library's scene from the same workload and then makes one frame at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module, metadata
from typing import Any, Protocol

import numpy as np

from ..errors import PliantError

MODULES = (
    "pliant.bench.ours",
    "pliant.bench.peers.pypbd",
    "pliant.bench.peers.mujoco",
    "pliant.bench.peers.newton",
)


class Run(Protocol):
    """A scene that is ready to go."""

    def step(self) -> None:
        """Make one frame, and be done with it when this returns."""

    def positions(self) -> np.ndarray:
        """Positions (N, 3) in the order of the workload's vertices, or (W, N, 3) [m]."""


@dataclass(frozen=True)
class Contestant:
    """One entry.

    name         unique within a workload
    workload     "cloth", "worlds" or "bar"
    package      the distribution that does the work; its version goes into the record
    text         configuration in a line: what a reader needs to repeat it
    build        makes a :class:`Run` from a workload; imports its library in there, so that the list can be
                 read without it and the import counts as start-up
    same         entries with the same word solve the same discrete model with the same number of sweeps, so
                 that their times and strains compare one to one
    environment  variables that must be set before the library is loaded
    """

    name: str
    workload: str
    package: str
    text: str
    build: Callable[[Any], Run] = field(repr=False)
    same: str = ""
    environment: dict[str, str] = field(default_factory=dict)


def version(package: str) -> str | None:
    """Version of an installed distribution, None where it is missing."""
    if package == "pliant":
        from pliant import __version__

        return __version__
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def entries_of(module: str) -> list[Contestant]:
    """The entries of one module; PliantError where it cannot be read or has none."""
    try:
        found = import_module(module).CONTESTANTS
    except (ImportError, AttributeError) as error:
        raise PliantError(f'no contestants in the module "{module}": {error}') from error
    return list(found)


def entries(workload: str, also: Sequence[str] = ()) -> list[tuple[str, Contestant]]:
    """Module and entry of all who take part in a workload, in the order they run."""
    found = [(module, e) for module in (*MODULES, *also) for e in entries_of(module)]
    mine = [(module, e) for module, e in found if e.workload == workload]
    names = [e.name for _, e in mine]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise PliantError(f"two contestants are called {' and '.join(sorted(twice))}; rename one")
    return mine


def selected(found: Sequence[tuple[str, Contestant]], only: Sequence[str]) -> list[tuple[str, Contestant]]:
    """Those whose name or package holds one of the words (all if there are none)."""
    if not only:
        return list(found)
    kept = []
    for module, e in found:
        if any(word.lower() in f"{e.name} {e.package}".lower() for word in only):
            kept.append((module, e))
    for word in only:
        if not any(word.lower() in f"{e.name} {e.package}".lower() for _, e in found):
            known = ", ".join(sorted({e.package for _, e in found}))
            raise PliantError(f'no contestant\'s name holds "{word}"; there are entries of {known}')
    return kept
