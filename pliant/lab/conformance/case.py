"""What a row of the suite is given: a solver, a precision, a batch size, and a way to run models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from ...model import Model
from ...protocol import StepInfo
from ...scene import Scene
from ...simulation import Simulation
from ...solvers.base import Solver
from .report import Finding

Array = np.ndarray

DT = 1 / 60
"""The step of most rows [s]."""


class Run:
    """A model under a solver, in the explicit form: state, control and workspace in hand."""

    def __init__(self, solver: Solver, model: Model, dt: float) -> None:
        self.solver, self.model, self.dt = solver, model, dt
        self.state, self.control = model.state(), model.control()
        self.workspace = solver.init(model)
        self.h = solver.protocol(model, dt).h

    def step(self, n: int = 1, report: str = "status") -> StepInfo:
        """``n`` steps; the report of the last."""
        for _ in range(n):
            info = self.solver.step(self.model, self.state, self.control, self.workspace, self.dt, report)
        return info

    def settle(self, n: int, keep: float = 0.5) -> StepInfo:
        """``n`` steps after each of which velocities are multiplied by ``keep``.

        Whatever damps the solver itself has no say in it: a state at rest is one of the solver's own.
        """
        for _ in range(n):
            info = self.step()
            self.state.set_v(keep * self.state.v)
        return info

    @property
    def x(self) -> Array:
        """Positions (W, N, 3) in float64 [m]."""
        return self.state.x.astype(float)

    @property
    def v(self) -> Array:
        """Velocities (W, N, 3) in float64 [m/s]."""
        return self.state.v.astype(float)

    def force(self, law: str) -> Array:
        """lambda/h^2 (W, E, rows) in float64."""
        return self.solver.multipliers(self.model, self.workspace, law).astype(float) / self.h**2


@dataclass(frozen=True)
class Case:
    """One solver in one precision and batch size."""

    solver: Solver
    dtype: str
    worlds: int

    @property
    def contact(self) -> bool:
        """Whether the solver claims contact: scenes that are not about it have colliders only then."""
        return self.claims("contact")

    @property
    def eps(self) -> float:
        """Spacing of numbers at 1 in this precision."""
        return float(np.finfo(self.dtype).eps)

    def build(self, scene: Scene, worlds: int | None = None) -> Model:
        """The model of a scene in this case's precision and (by default) batch size."""
        return self.taken(scene.build(self.worlds if worlds is None else worlds, self.dtype))

    def claims(self, name: str) -> bool:
        """Whether the solver claims something that solvers do as a rule; a class without the field does."""
        return bool(getattr(self.solver.claims, name, True))

    def taken(self, model: Model) -> Model:
        """The model without what the solver does not claim: rigid rows, gases (pressures instead)."""
        if not self.claims("rigid"):
            soft = {law: b for law, b in model.blocks.items() if np.all(b.compliance > 0)}
            model = replace(model, blocks=soft)
        if not self.claims("gas") and model.faces is not None:
            given = tuple(replace(p, gas=False) for p in model.pressures)
            model = replace(model, faces=replace(model.faces, pressures=given))
        return model

    def run(
        self, scene: Scene | Model, dt: float = DT, solver: Solver | None = None, worlds: int | None = None
    ) -> Run:
        """A run from the start of a scene or model."""
        model = scene if isinstance(scene, Model) else self.build(scene, worlds)
        return Run(solver or self.solver, model, dt)

    def simulation(self, scene: Scene, dt: float = DT) -> Simulation:
        """A :class:`pliant.Simulation` of a scene."""
        return Simulation.of_model(scene, self.build(scene), self.solver, dt=dt)

    def random(self, *shape: int, world: int = 0) -> Array:
        """Numbers in [-1, 1): the same for a world in every batch."""
        return np.random.default_rng((7, world)).uniform(-1, 1, shape)

    def random_worlds(self, *shape: int) -> Array:
        """:meth:`random` for each world: (W, ...)."""
        return np.stack([self.random(*shape, world=k) for k in range(self.worlds)])


Measure = Callable[[Case], Finding]


@dataclass(frozen=True)
class Row:
    """A row of the suite.

    claim   the field of :class:`pliant.Claims` that promises it; None: demanded of every solver
    least, most   numbers of worlds that it means something for
    """

    name: str
    measure: Measure
    claim: str | None = None
    least: int = 1
    most: int | None = None

    def applies(self, worlds: int) -> bool:
        """True for a batch size that the row is made for."""
        return self.least <= worlds and (self.most is None or worlds <= self.most)

    @property
    def title(self) -> str:
        """First line of the docstring."""
        return (self.measure.__doc__ or "").strip().splitlines()[0]


def row(claim: str | None = None, least: int = 1, most: int | None = None) -> Callable[[Measure], Row]:
    """Make a function of a Case a row; its name is the function's."""
    return lambda measure: Row(measure.__name__, measure, claim, least, most)


def budgeted(solver: Solver, substeps: int | None = None, iterations: int | None = None) -> Solver | None:
    """The same solver with other ``substeps`` and ``iterations``.

    None where it cannot be told: the parameters are read and set as fields of a dataclass.
    """
    wanted = {k: v for k, v in (("substeps", substeps), ("iterations", iterations)) if v is not None}
    if not is_dataclass(solver) or isinstance(solver, type):
        return None
    if not set(wanted) <= {f.name for f in fields(solver) if f.init}:
        return None
    other: Any = replace(solver, **wanted)
    return other


def distinct(a: Any, b: Any) -> int:
    """How many numbers of two arrays differ in their bits (all of them when shapes or types do)."""
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return max(a.size, b.size, 1)
    size = a.dtype.itemsize
    return int(np.any(a.view(np.uint8).reshape(-1, size) != b.view(np.uint8).reshape(-1, size), axis=1).sum())
