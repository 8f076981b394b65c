"""One world through a step: predict, minimise, and take the velocity from what the minimisation moved."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...state import Control, State, gathered
from .elements.base import Array
from .minimize import Outcome
from .workspace import Moves, Workspace

NEAR = 1e-3
"""Share of the scene's length: what is deeper, or touches, as XPBD reports it."""


@dataclass
class Inputs:
    """What all worlds share in a step."""

    control: Control
    moves: Moves
    softness: list[dict[str, float]]
    pressure: Array
    dt: float
    substeps: int
    tolerance: float
    max_iterations: int

    @classmethod
    def of(cls, ws: Workspace, state: State, control: Control, dt: float, *budget: float) -> Inputs:
        """budget: substeps, tolerance, max_iterations."""
        substeps, tolerance, most = int(budget[0]), float(budget[1]), int(budget[2])
        if ws.objective.obstacles is not None:
            ws.objective.obstacles.move(control, substeps)
        pressure = gathered(control.pressure, ws.model)
        moves, softness = ws.moves(state, control, substeps), ws.softness(control)
        return cls(control, moves, softness, pressure, dt, substeps, tolerance, most)


@dataclass
class Ended:
    """A world after a step: x, v (N, 3), and how each minimisation ended.

    buried: how deep a particle was inside a collider at the start [m]; contacts: particles that touch one at
    the end; depth [m]: how far the deepest is inside.
    """

    x: Array
    v: Array
    outcomes: list[Outcome] = field(default_factory=list)
    buried: float = 0.0
    contacts: int = 0
    depth: float = 0.0


def advance(ws: Workspace, inputs: Inputs, world: int, x: Array, v: Array) -> Ended | None:
    """All substeps of one world; None if it is not finite."""
    model, obstacles = ws.model, ws.objective.obstacles
    out = Ended(x, v)
    if not (np.isfinite(x).all() and np.isfinite(v).all()):
        return None
    if obstacles is not None:
        out.x = x.copy()
        out.x[obstacles.free], out.buried = obstacles.moved_out(x[obstacles.free])
    with np.errstate(all="ignore"):
        for s in range(inputs.substeps):
            if not _substep(ws, inputs, world, s, out):
                return None
    if obstacles is not None:
        inside = obstacles.depth(out.x[obstacles.free], obstacles.pose)
        out.contacts = int(np.sum(inside > -NEAR * model.length))
        out.depth = max(float(inside.max(initial=0.0)), 0.0)
    return out


def _substep(ws: Workspace, inputs: Inputs, world: int, s: int, out: Ended) -> bool:
    """One substep; False if something is not finite."""
    model, objective, h = ws.model, ws.objective, inputs.dt / inputs.substeps
    x_tilde, speed = ws.predict(inputs.control, world, out.x, out.v, h)
    pins = inputs.moves.pins(world, s, inputs.substeps, inputs.dt)
    x_tilde[model.pin_ids], speed[model.pin_ids] = pins
    if not np.isfinite(x_tilde).all():
        return False
    ws.x_prev[world] = out.x
    held = inputs.moves.held(world, s, inputs.substeps)
    objective.begin(out.x, h, inputs.softness[world], held, inputs.pressure[world], s)
    base, lead, start = _begin(ws, out.x, x_tilde, speed, h)
    lead[model.pin_ids] = pins[1]
    outcome = ws.minimize(world, start, inputs.tolerance, inputs.max_iterations)
    d = objective.way(outcome.value.d)
    out.x, out.v = base + d, lead + d * (1 / h)
    out.outcomes.append(outcome)
    if not (np.isfinite(out.x).all() and np.isfinite(out.v).all()):
        return False
    ws.other_force[world] = objective.other_forces(outcome.value.d)
    for law in ws.lambda_:
        ws.lambda_[law][world] = -(h**2) * objective.forces(law, outcome.value.d)
    return True


def _begin(ws: Workspace, x: Array, x_tilde: Array, speed: Array, h: float) -> tuple[Array, Array, float]:
    """Where the search begins, the velocity that this stands for (N, 3), and the gradient it is measured by.

    At x~ or where the particles are, whichever has the lower energy; at x~ only if it lies outside all
    colliders: from inside, the way out may be the wrong one.
    """
    objective = ws.objective
    coast = objective.place(x_tilde, np.zeros_like(x))
    moving = objective.energy(coast)
    here = x.copy()
    here[ws.model.pin_ids] = x_tilde[ws.model.pin_ids]
    stay = objective.place(here, -h * speed)
    start = min(coast.residual, stay.residual)
    inside = False
    if objective.obstacles is not None:
        depth = objective.obstacles.depth(x_tilde[objective.free], objective.obstacles.pose)
        inside = float(depth.max(initial=0.0)) > 0
    if inside or objective.energy(stay) < moving:
        return here, np.zeros_like(speed), start
    objective.place(x_tilde, np.zeros_like(x))
    return x_tilde, speed.copy(), start
