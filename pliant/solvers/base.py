"""The contract of a solver.

A solver object holds its parameters and nothing else. ``init`` makes a workspace that holds every array
it will ever need; ``step`` advances a state by dt and reports. A workspace that remembers something from step
to step, besides state and control, has ``reset(worlds)``, which forgets it for some worlds (default: all),
and ``arrays()`` and ``restore(arrays)`` for snapshots. A stranger's class with these members runs in
:class:`pliant.Simulation` and in ``pliant.lab.conformance.check_solver``.
"""

from __future__ import annotations

from typing import Any, runtime_checkable
from typing import Protocol as Interface

import numpy as np

from ..errors import SolverError
from ..model import Model
from ..protocol import Claims, Protocol, StepInfo
from ..state import Control, State


@runtime_checkable
class Solver(Interface):
    """What :class:`pliant.Simulation` needs of a solver."""

    @property
    def claims(self) -> Claims:
        """What the solver promises; the conformance suite holds it to each."""
        ...

    def protocol(self, model: Model, dt: float) -> Protocol:
        """The numeric protocol of a run with these parameters."""
        ...

    def init(self, model: Model) -> Any:
        """A workspace for a model."""
        ...

    def step(
        self, model: Model, state: State, control: Control, ws: Any, dt: float, report: str = "status"
    ) -> StepInfo:
        """Advance ``state`` by dt [s]; report "status" (cheap) or "full" (energies and residuals)."""
        ...

    def multipliers(self, model: Model, ws: Any, law: str) -> np.ndarray:
        """lambda (W, E, rows) of a law after the last step, in the order its constraints were added."""
        ...


def check_step(dt: float, report: str) -> None:
    """Refuse what no ``step`` can do, with SolverError."""
    if not (np.isfinite(dt) and dt > 0):
        raise SolverError(f"dt is {dt!r}, it must be a finite number greater than 0 [s]")
    if report not in ("status", "full"):
        raise SolverError(f'report is {report!r}, it must be "status" or "full"')


def check_counts(solver: Any, label: str, *names: str) -> None:
    """SolverError for a parameter that is no whole number of at least 1."""
    for name in names:
        value = getattr(solver, name)
        if not (isinstance(value, (int, np.integer)) and value >= 1):
            raise SolverError(f"{label}: {name} is {value!r}, it must be a whole number, at least 1")
