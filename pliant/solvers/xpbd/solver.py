"""XPBD (Macklin, Müller, Chentanez 2016) with substeps (Macklin et al. 2019, Small Steps), and plain PBD."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ...backend.threads import get_threads, launching
from ...contact.arrays import Colliders
from ...contact.detection import detect, survey
from ...diagnostics.report import complete_report
from ...errors import SolverError
from ...forces import stages as forces
from ...laws import LAWS
from ...model import Model
from ...protocol import Claims, Protocol, Status, StepInfo
from ...state import Control, State, gathered
from ..base import check_counts, check_step
from ..motion import hold_of, pins_of
from ..pool import LOAD, STORE
from ..steps import Clock, restore_frozen, whole_step
from . import stages
from . import surface_collisions as meshes
from .workspace import Workspace

Array = np.ndarray

ORDERS = ("colored", "sequential", "jacobi")

OPERATION = {law: stages.FIRST_LAW + k for k, law in enumerate(LAWS)}


@dataclass(frozen=True)
class XPBD:
    """Extended position-based dynamics.

    substeps    a step dt is divided into substeps of h = dt/substeps; everything but contact detection
                happens per substep
    iterations  sweeps over all constraints per substep; 1 is Small Steps
    order       "colored" Gauss-Seidel in the stored order (default; threads inside a colour),
                "sequential" Gauss-Seidel in the order constraints were added (the correctness baseline),
                "jacobi" all constraints from the same positions; the weight sum w |grad C|^2 of each is
                multiplied by the largest number of constraints around one of its particles, so that the
                sum of all corrections never overshoots and the answer for h -> 0 is the same
    relaxation  factor on every multiplier's change, hence on positions too (over- or under-relaxation)

    Static answers approach those of the energy as h -> 0 or iterations grow; one constraint alone is exact
    for any budget. The limit of many iterations at fixed h is not exactly the minimiser of the incremental
    potential (the method drops the primal residual); StepInfo reports both residuals.
    """

    substeps: int = 20
    iterations: int = 1
    order: str = "colored"
    relaxation: float = 1.0
    claims: Claims = field(
        default=Claims(
            single_constraint_static=True,
            momentum=True,
            deterministic=True,
            renumbering="bitwise",
            stable_any_step=False,
        ),
        repr=False,
    )

    def __post_init__(self) -> None:
        check_counts(self, "XPBD", "substeps", "iterations")
        if self.order not in ORDERS:
            raise SolverError(f'XPBD: order "{self.order}" is unknown; choose one of {", ".join(ORDERS)}')
        if not 0 < self.relaxation < 2:
            raise SolverError(f"XPBD: relaxation is {self.relaxation!r}, it must lie between 0 and 2")
        if self.relaxation != 1:  # one sweep then leaves a share of each constraint unsolved
            object.__setattr__(self, "claims", replace(self.claims, single_constraint_static=False))

    def protocol(self, model: Model, dt: float) -> Protocol:
        """The numeric protocol of a run with these parameters."""
        return Protocol(
            solver=type(self).__name__,
            dt=float(dt),
            substeps=int(self.substeps),
            iterations=int(self.iterations),
            order=self.order,
            multiplier_reset="substep",
            dtype=str(model.dtype),
            contact={"detection": "once per step", "colliders": len(model.colliders), **surfaces(model)},
            options={"relaxation": self.relaxation},
        )

    def init(self, model: Model) -> Workspace:
        """All arrays for a model."""
        return Workspace(model, self.order, self.relaxation, rigid=False)

    def step(
        self, model: Model, state: State, control: Control, ws: Workspace, dt: float, report: str = "status"
    ) -> StepInfo:
        """Advance ``state`` by dt [s]. ``report="full"`` adds energies and residuals to the StepInfo."""
        check_step(dt, report)
        clock = Clock()
        with launching(), whole_step(state, control, ws):
            ws.pin_start[...] = state.x_lanes[:, ws.pin_ids]
            if ws.touching is not None:
                ws.touching.begin(state)
            colliders = ws.colliders(control, self.substeps)
            grew = find_contacts(model, state, control, colliders, ws, dt)
            clock.lap("contact detection")
            run(self, model, state, control, colliders, ws, dt)
            clock.lap("constraint solve")
            info = measure(model, state, control, colliders, ws, dt, grew, self.substeps * self.iterations)
            control.arrived()
            clock.lap("survey")
            if report == "full":
                complete_report(info, model, state, control, ws.last_substep(dt / self.substeps))
                clock.lap("report")
        info.timers = clock.laps
        return info

    def multipliers(self, model: Model, ws: Workspace, law: str) -> Array:
        """lambda (W, E, rows) of a law at the end of the last step, in the order constraints were added.

        ``lambda / h^2`` is the generalised force of each row; it is negative where C is positive (tension).
        """
        if law not in ws.blocks:
            present = ", ".join(ws.blocks) or "none"
            raise SolverError(f'this scene has no constraints of law "{law}"; it has {present}')
        out = gathered(ws.multipliers(law), model)
        back = np.argsort(ws.blocks[law].file_order, kind="stable")
        return out[:, back]


@dataclass(frozen=True)
class PBD(XPBD):
    """Plain position-based dynamics (Müller et al. 2006): a documented baseline.

    stiffness in [0, 1] replaces the material's compliance and is compensated for the number of iterations,
    ``k' = 1 - (1 - k)^(1/iterations)``; the result still depends on the time step and, for coupled
    constraints, on the iterations. Damping times are not used.
    """

    stiffness: float = 1.0
    claims: Claims = field(
        default=Claims(momentum=True, deterministic=True, renumbering="bitwise"), repr=False
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.stiffness <= 1:
            raise SolverError(f"PBD: stiffness is {self.stiffness!r}, it must lie between 0 and 1")

    def protocol(self, model: Model, dt: float) -> Protocol:
        """The numeric protocol of a run with these parameters."""
        base = super().protocol(model, dt)
        base.options["stiffness"] = self.stiffness
        return base

    def init(self, model: Model) -> Workspace:
        """All arrays for a model; constraints are rigid and corrected by the share k'."""
        share = 1 - (1 - self.stiffness) ** (1 / self.iterations)
        return Workspace(model, self.order, self.relaxation * share, rigid=True)


def surfaces(model: Model) -> dict[str, Any]:
    """What a protocol says of contact between surfaces: nothing where there is none."""
    if model.contact is None:
        return {}
    return {"surfaces": "guarded", "thickness": model.contact.thickness, "crossing": model.contact.crossing}


Placed = tuple[Colliders, Colliders | None]
"""Analytic colliders, and meshes if there are any, on their way through a step."""


def reach_of(model: Model, control: Control, dt: float) -> tuple[Array, Array]:
    """(2,): dt [s] and what constraints may add to a way [m]; (T, L): what accelerates a world adds [m]."""
    reach = np.array([dt, 0.5 * model.length], model.dtype)
    fall = np.linalg.norm(control.gravity, axis=1) * reach[0] ** 2
    if model.faces is not None:
        fall += np.linalg.norm(control.wind, axis=1) * reach[0]
    return reach, fall


def find_contacts(
    model: Model, state: State, control: Control, colliders: Placed, ws: Workspace, dt: float
) -> bool:
    """Fill the contact lists; True when they had to grow."""
    if not len(model.colliders):
        return False
    ws.deepest[...] = 0
    analytic, meshes = colliders
    reach, fall = reach_of(model, control, dt)
    grew = len(analytic.kind) > 0 and find_analytic(state, analytic, ws, reach, fall)
    if ws.surfaces is not None and meshes is not None:
        grew |= ws.surfaces.find(state, control, meshes, reach, fall)
    return grew


def find_analytic(state: State, colliders: Colliders, ws: Workspace, reach: Array, fall: Array) -> bool:
    """Fill the lists of contacts with analytic colliders."""
    grew = False
    while True:
        detect(state.x_lanes, state.v_lanes, ws.contacts, colliders, reach, fall, ws.deepest, ws.lanes)
        needed = int(ws.contacts.n_found.max())
        if needed <= ws.contacts.ids.shape[1]:
            return grew
        ws.grow_contacts(needed)
        grew = True


def run(
    solver: XPBD, model: Model, state: State, control: Control, colliders: Placed, ws: Workspace, dt: float
) -> None:
    """All substeps of one step."""
    threads = get_threads()
    by_tile = model.n_tiles >= threads or not ws.worth_sharing(solver.order)
    table = step_table(solver, ws, by_color=not by_tile or ws.items is not ws.lanes)
    arrays = (
        ws.particles(state, control, dt / solver.substeps),
        pins_of(control, ws.pin_ids, ws.pin_start, solver.substeps),
        hold_of(control, ws.held_order, solver.substeps),
        ws.constraints(control),
        ws.gather,
        ws.contacts,
        colliders[0],
        ws.surfaces.stage(colliders[1]) if ws.surfaces and colliders[1] else None,
        *ws.outside(control),
        ws.times(dt, solver.substeps),
    )
    start = 0
    for end in [*np.flatnonzero(table[:, 0] == stages.TOUCH), len(table)]:
        part = table[start:end]
        if by_tile and model.n_tiles == 1:
            stages.run_table(part, 0, *arrays, ws.order, ws.extras, ws.lanes, ws.items)
        elif by_tile:
            stages.run_tiles(part, *arrays, ws.order, ws.extras, ws.lanes, ws.items)
        else:
            stages.run_rows(part, *arrays, threads, ws.order, ws.extras, ws.lanes, ws.items)
        if end < len(table) and ws.touching is not None:
            ahead = solver.substeps - int(table[end, 4])
            ws.touching.round(state, ws.x_prev, dt / solver.substeps, ahead)
        start = end + 1


def step_table(solver: XPBD, ws: Workspace, by_color: bool) -> Array:
    """The step as rows (operation, lo, hi, flags, substep): the paper's algorithm, written out."""
    on_surfaces = ws.surfaces.contacts.entry.shape[2] if ws.surfaces else 0
    key = (by_color, solver.substeps, solver.iterations, ws.contacts.ids.shape[1], on_surfaces)
    if key in ws.tables:
        return ws.tables[key]
    model = ws.model
    n, pins, entries = model.n_particles, len(model.pin_ids), ws.contacts.ids.shape[1]
    rows: list[tuple[int, ...]] = [(stages.SEPARATE, 0, entries, 0, 0)]
    rows.append((meshes.SEPARATE_SURFACES, 0, on_surfaces, 0, 0))
    for s in range(solver.substeps):
        rows += _outside(ws, s)
        rows.append((stages.PREDICT, 0, n, STORE if s == solver.substeps - 1 else 0, s))
        rows.append((stages.PIN, 0, pins, 0, s))
        rows.append((stages.HOLD, 0, len(ws.held_order), 0, s))
        for k in range(solver.iterations):
            keep = STORE if solver.iterations > 1 or s == solver.substeps - 1 else 0
            flags = keep | (LOAD if k else 0)
            rows += _sweep(solver, ws, flags, s, by_color)
            rows += _gases(ws, flags, s)
            rows.append((stages.CONTACT, 0, entries, flags, s))
            rows.append((meshes.SURFACES, 0, on_surfaces, flags, s))
            rows += [(stages.TOUCH, 0, 1, 0, s)] * (ws.touching is not None)
        rows.append((stages.FINISH, 0, n, 0, s))
    table = np.array([r for r in rows if r[2] > r[1]], np.int64).reshape(-1, 5)
    ws.tables[key] = table
    return table


def _sweep(solver: XPBD, ws: Workspace, flags: int, s: int, by_color: bool) -> list[tuple[int, ...]]:
    """One visit to every constraint."""
    jacobi = solver.order == "jacobi"
    rows: list[tuple[int, ...]] = []
    for law, p in ws.packed.items():
        bounds = p.bounds if by_color and not jacobi else p.bounds[[0, -1]]
        own = flags | ws.law_flags(law)
        rows += [(OPERATION[law], a, b, own, s) for a, b in pairwise(bounds)]
    if jacobi:
        rows.append((stages.COLLECT, 0, ws.model.n_particles, 0, s))
    return rows


def _outside(ws: Workspace, s: int) -> list[tuple[int, ...]]:
    """Forces of air and given pressures on faces, at the start of a substep."""
    n, faces = ws.model.n_particles, ws.loads.ids.shape[1]
    blows = forces.AIR if ws.loads.air[:2].any() else 0
    if not (blows or any(not p.gas for p in ws.model.pressures)):
        return []
    return [(forces.PRESS, 0, faces, blows, s), (forces.GIVE, 0, n, 0, s)]


def _gases(ws: Workspace, flags: int, s: int) -> list[tuple[int, ...]]:
    """Gases answer to the volumes that a sweep left."""
    gases, n = ws.gases, len(ws.gases.particles)
    cones, slopes = (forces.CONES, 0, gases.ids.shape[1], 0, s), (forces.SLOPES, 0, n, 0, s)
    again = forces.AGAIN if flags & LOAD else 0
    return [cones, slopes, (forces.ADJUST, 0, len(gases.of), again, s), (forces.SWELL, 0, n, 0, s)]


def measure(
    model: Model, state: State, control: Control, colliders: Placed, ws: Workspace, dt: float, grew: bool,
    sweeps: int,
) -> StepInfo:  # fmt: skip
    """Survey the result, freeze worlds that failed, and report."""
    slack = 1e-3 * model.length
    if model.n_worlds == 1 and not len(model.colliders):  # a kernel's call costs more than to look oneself
        finite = np.isfinite(state.x_lanes).all() and np.isfinite(state.v_lanes).all()
        bad, nothing = np.array([not finite]), np.zeros(1)
        touching, start, deepest, missed = nothing, nothing, nothing, nothing
    else:
        bad, touching, start, deepest, missed = look_back(model, state, control, colliders, ws, dt, slack)
    status = np.zeros(model.n_worlds, np.int32)
    status[bad] |= int(Status.NONFINITE)
    status[state.frozen] = int(Status.FROZEN)
    status[(missed > 0) & ~bad] |= int(Status.CONTACT_MISSED)
    if len(model.colliders):
        status[start > float(model.dtype.type(slack))] |= int(Status.START_PENETRATES)
    if grew:
        status |= int(Status.CONTACT_GREW)
    restore_frozen(model, state, ws, bad | state.frozen)
    state.time += dt
    between = ws.touching.end(state, control, bad | state.frozen, status) if ws.touching else {}
    return StepInfo(
        time=state.time,
        status=status,
        iterations=sweeps,
        contacts=np.where(bad, 0, touching).astype(int),
        max_penetration=np.where(bad, 0.0, deepest),
        **between,
    )


def look_back(
    model: Model, state: State, control: Control, colliders: Placed, ws: Workspace, dt: float, slack: float
) -> tuple[Array, ...]:
    """Of each world (W,): not finite; particles that touch; deepest at the start and now [m]; some missed."""
    analytic, meshes = colliders
    slacks = np.array([slack, slack], model.dtype)
    touched, start = ws.nobody, gathered(ws.deepest, model)
    on_meshes = np.zeros((model.n_worlds, 3))
    if ws.surfaces is not None and meshes is not None:
        before, reach = (ws.x_start, ws.v_start), reach_of(model, control, dt)
        on_meshes = ws.surfaces.look_back(state, control, before, meshes, *reach, slacks)
        touched = ws.surfaces.traces.touched
    survey(state.x_lanes, state.v_lanes, ws.contacts, analytic, touched, slacks, ws.survey, ws.lanes)
    finite, touching, deepest, missed = gathered(ws.survey, model).T
    worst = (np.maximum(a, b) for a, b in zip((start, deepest, missed), on_meshes.T, strict=True))
    return ~np.isfinite(finite), touching, *worst
