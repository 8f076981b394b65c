"""Projective dynamics (Bouaziz et al. 2014), accelerated by L-BFGS (Liu, Bouaziz, Kavan 2017), in lanes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...backend.lanes import Features
from ...backend.threads import launching
from ...diagnostics.report import complete_report
from ...errors import SolverError
from ...model import Model
from ...protocol import Claims, Protocol, Status, StepInfo
from ...state import Control, State, gathered
from ..base import check_counts, check_step
from ..motion import hold_of, pins_of
from ..steps import Clock, restore_frozen, whole_step
from . import descent, evaluation, stages
from .arrays import DONE
from .descent import TRIALS
from .workspace import Workspace

Array = np.ndarray

ALONE = Features()
Tiles = tuple[int, int]
"""The first of the tiles that are worked on together, and the one after the last."""


@dataclass(frozen=True)
class PD:
    """Projective dynamics: descent on the incremental potential, with one constant matrix.

    substeps    a step dt is divided into substeps of h = dt/substeps
    iterations  descents per substep: a local step (all constraints) and a global one (a solve with A) each
    history     pairs of L-BFGS; 0 is plain projective dynamics
    tolerance   a world ends early when the gradient has fallen to this share of that at the prediction; with
                0 (default) every substep takes all its iterations, and none reports NOT_CONVERGED

    Stable at any stiffness and step: E never rises, from the prediction on. The matrix is factored once for
    all worlds, for the materials as they were built; a world whose stiffness is scaled converges more slowly,
    to its own minimum. Colliders, rigid materials and gases are refused by ``init``. docs/solvers/pd.md has
    the equations.
    """

    substeps: int = 1
    iterations: int = 8
    history: int = 5
    tolerance: float = 0.0
    claims: Claims = field(
        default=Claims(
            single_constraint_static=False,
            momentum=True,
            deterministic=True,
            renumbering="tolerance",
            stable_any_step=True,
            contact=False,
            rigid=False,
            gas=False,
            minimises=True,
        ),
        repr=False,
    )

    def __post_init__(self) -> None:
        check_counts(self, "PD", "substeps", "iterations")
        if not (isinstance(self.history, (int, np.integer)) and self.history >= 0):
            raise SolverError(f"PD: history is {self.history!r}, it must be a whole number, at least 0")
        if not 0 <= self.tolerance < 1:
            raise SolverError(f"PD: tolerance is {self.tolerance!r}, it must be 0 or more and less than 1")

    def protocol(self, model: Model, dt: float) -> Protocol:
        """The numeric protocol of a run with these parameters."""
        return Protocol(
            solver=type(self).__name__,
            dt=float(dt),
            substeps=int(self.substeps),
            iterations=int(self.iterations),
            order="all at once",
            multiplier_reset="substep",
            dtype=str(model.dtype),
            contact={"colliders": len(model.colliders)},
            options={"history": int(self.history), "tolerance": float(self.tolerance)},
        )

    def init(self, model: Model) -> Workspace:
        """All arrays for a model. Raises SolverError naming what cannot be solved."""
        return Workspace(model, self.history)

    def step(
        self, model: Model, state: State, control: Control, ws: Workspace, dt: float, report: str = "status"
    ) -> StepInfo:
        """Advance ``state`` by dt [s]. ``report="full"`` adds energies and residuals to the StepInfo."""
        check_step(dt, report)
        clock = Clock()
        with launching(), whole_step(state, control, ws):
            ws.pin_start[...] = state.x_lanes[:, ws.pin_ids]
            ws.factor(dt / self.substeps)
            clock.lap("factor")
            run = Run(self, ws, state, control, dt)
            for tiles in ws.groups():
                for sub in range(self.substeps):
                    run.predict(tiles, sub)
                    run.minimise(tiles)
                    run.finish(tiles)
            clock.lap("minimisation")
            info = self._info(model, state, ws, dt)
            control.arrived()
            if report == "full":
                run.keep_multipliers()
                complete_report(info, model, state, control, ws.last_substep(dt / self.substeps))
                clock.lap("report")
            ws.last_run = run
        info.timers = clock.laps
        return info

    def _info(self, model: Model, state: State, ws: Workspace, dt: float) -> StepInfo:
        """Freeze worlds that failed, and report."""
        status = np.zeros(model.n_worlds, np.int32)
        bad = ~np.isfinite(gathered(ws.finite, model))
        if self.tolerance > 0:
            status[gathered(ws.search.numbers[DONE], model) != 1] = int(Status.NOT_CONVERGED)
        status[bad] = int(Status.NONFINITE)
        status[state.frozen] = int(Status.FROZEN)
        restore_frozen(model, state, ws, bad | state.frozen)
        state.time += dt
        nothing = np.zeros(model.n_worlds)
        return StepInfo(state.time, status, self.substeps * self.iterations, nothing.astype(int), nothing)

    def multipliers(self, model: Model, ws: Workspace, law: str) -> Array:
        """lambda (W, E, rows) of a law at the end of the last step, in the order constraints were added.

        ``lambda / h^2`` is the generalised force of each row; it is negative where C is positive (tension).
        """
        if law not in ws.packed:
            present = ", ".join(ws.packed) or "none"
            raise SolverError(f'this scene has no constraints of law "{law}"; it has {present}')
        if ws.last_run is not None:
            ws.last_run.keep_multipliers()
        back = np.argsort(model.blocks[law].file_order, kind="stable")
        return gathered(ws.multipliers(law), model)[:, back]


class Run:
    """One step on its way: the arguments that its kernels share."""

    def __init__(self, solver: PD, ws: Workspace, state: State, control: Control, dt: float) -> None:
        self.solver, self.ws, self.search = solver, ws, ws.search
        self.factor = ws.factor(dt / solver.substeps)
        self.table = ws.table()
        self.times = ws.times(dt, solver.substeps)
        self.particles = ws.particles(state, control)
        self.pool = ws.constraints(control)
        self.loads = ws.outside(control)
        pins = pins_of(control, ws.pin_ids, ws.pin_start, solver.substeps)
        self.moves = (pins, hold_of(control, ws.held_order, solver.substeps), self.pool.held)
        f = ws.model.dtype
        self.limits = np.array([solver.tolerance, np.finfo(f).eps], f)
        self.air = int(ws.loads.air[:2].any())
        self.half = 0

    def predict(self, tiles: Tiles, sub: int) -> None:
        """x~, and d = 0."""
        ws = self.ws
        args = (self.particles, self.search, *self.moves, self.loads, self.air, self.times, sub)
        if ws.model.n_tiles > 1:
            stages.predict_tiles(*tiles, *args, ws.faces, ws.lanes, ws.items)
        else:
            stages.predict(0, *args, ws.faces, ws.lanes, ws.items)

    def minimise(self, tiles: Tiles) -> None:
        """Local and global steps in turn."""
        p = self.search.p[slice(*tiles)]
        self.descend(tiles, 0)  # E and its gradient at the prediction
        for k in range(1, self.solver.iterations + 1):
            self.factor.solve_lanes(p, out=p)  # global step: p = A^-1 (gradient less the history)
            self.descend(tiles, k)  # local steps along -p, until E has not risen
            if self.solver.tolerance > 0 and (self.search.numbers[DONE][slice(*tiles)] > 0.5).all():
                break
        self.half = k % 2

    def descend(self, tiles: Tiles, k: int) -> None:
        """Along the direction of iteration ``k``, as far as E does not rise."""
        self.aim(tiles, k)
        for trial in range(TRIALS):
            self.evaluate(tiles, k % 2)
            self.judge(tiles, k, trial)
            if not self.search.searching[slice(*tiles)].any():
                break

    def aim(self, tiles: Tiles, k: int) -> None:
        """Direction and first length."""
        ws, s = self.ws, self.search
        if ws.model.n_tiles > 1:
            descent.aim_tiles(ALONE, k, *tiles, s, ws.lanes, ws.items)
        else:
            descent.aim(ws.team, k, 0, s, s.strands, ws.lanes, ws.items)

    def evaluate(self, tiles: Tiles, half: int) -> None:
        """E and its gradient at the tried points."""
        ws = self.ws
        args = (half, self.particles, self.search, self.pool, self.times, ws.extras, ws.lanes, ws.items)
        if ws.model.n_tiles > 1:
            evaluation.evaluate_tiles(self.table, *tiles, *args)
        else:
            evaluation.evaluate(ws.team, self.table, 0, *args)

    def judge(self, tiles: Tiles, k: int, trial: int) -> None:
        """Take the tried points, or shorten the steps."""
        ws, s = self.ws, self.search
        if ws.model.n_tiles > 1:
            descent.judge_tiles(ALONE, k, trial, *tiles, s, self.limits, ws.lanes, ws.items)
        else:
            descent.judge(ws.team, k, trial, 0, s, self.limits, s.strands, ws.lanes, ws.items)

    def finish(self, tiles: Tiles) -> None:
        """Positions and velocities."""
        ws = self.ws
        args = (self.half, self.particles, self.search, self.times, ws.finite, ws.lanes)
        if ws.model.n_tiles > 1:
            stages.finish_tiles(*tiles, *args)
        else:
            stages.finish(0, *args)

    def keep_multipliers(self) -> None:
        """Evaluate once more, at the end of the step, and keep what each row pulls."""
        ws, table = self.ws, self.ws.table(store=True)
        args = (self.half, self.particles, self.search, self.pool, self.times, ws.extras, ws.lanes, ws.items)
        with launching():
            if ws.model.n_tiles > 1:
                self.search.searching[:] = 1
                evaluation.evaluate_tiles(table, 0, ws.model.n_tiles, *args)
            else:
                evaluation.evaluate(ws.team, table, 0, *args)
