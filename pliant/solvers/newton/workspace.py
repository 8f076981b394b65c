"""What Newton holds for a model, and the substep of one world around the minimisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...diagnostics.report import Substep
from ...errors import SolverError
from ...laws import LAWS
from ...model import MESH, Model
from ...state import Control, State, gathered, spread
from .elements import ELEMENTS
from .elements.base import Array
from .minimize import Outcome, constrained
from .objective import Incremental
from .outside import face_forces

RIGID = 1e-10
"""Share of its size by which a rigid row, or a contact, may be off."""


def refuse(model: Model, solver: str) -> None:
    """Raise SolverError naming everything in a model that has no place in the incremental potential."""
    wrong = []
    if model.dtype != np.float64:
        wrong.append(f"precision {model.dtype}: it computes in float64; build with that dtype")
    if model.contact is not None:
        wrong.append("contact of surfaces with each other (Scene(contact=None))")
    rough = np.any((model.colliders.mu_static > 0) | (model.colliders.mu_kinetic > 0), axis=0)
    for name, kind, grips in zip(model.colliders.names, model.colliders.kind, rough, strict=True):
        if kind == MESH:
            wrong.append(f'the mesh collider "{name}"')
        elif grips:
            wrong.append(f'friction with "{name}", which has no energy (give it friction=0)')
    for law, block in model.blocks.items():
        rigid = int(np.sum(np.any(block.compliance == 0, axis=1)))
        if rigid and not ELEMENTS[law].may_be_rigid:
            wrong.append(f'{rigid} rigid constraints of law "{law}" (compliance 0)')
    if wrong:
        raise SolverError(
            f"{solver} cannot solve this scene: {'; '.join(wrong)}. Use XPBD, or leave these out"
        )


@dataclass
class Moves:
    """Where pins (W, P, 3) and attachments (W, A, 3) go in a step [m], and arcs (substeps or 0, n, 3)."""

    pin_start: Array
    pin_target: Array
    pin_arc: Array
    held_start: Array
    held_target: Array
    held_arc: Array

    def pins(self, world: int, s: int, substeps: int, dt: float) -> tuple[Array, Array]:
        """Positions and velocities (P, 3) at the end of substep ``s``: their share of the straight way."""
        start, target = self.pin_start[world], self.pin_target[world]
        here, speed = way(start, target, s, substeps), (target - start) * (1 / dt)
        if len(self.pin_arc):
            arc = self.pin_arc[s]
            here = here + arc
            since = arc - self.pin_arc[s - 1] if s else arc
            speed = speed + since * (substeps / dt)
        return here, speed

    def held(self, world: int, s: int, substeps: int) -> tuple[Array, Array]:
        """Targets of attachments (A, 3) at the end and at the start of substep ``s``."""
        return self._held(world, s, substeps), self._held(world, s - 1, substeps)

    def _held(self, world: int, s: int, substeps: int) -> Array:
        here = way(self.held_start[world], self.held_target[world], s, substeps)
        return here + self.held_arc[s] if len(self.held_arc) and s >= 0 else here


def way(start: Array, target: Array, s: int, substeps: int) -> Array:
    """Where substep ``s`` ends on the straight way; the target itself at its end."""
    share = (s + 1) / substeps
    return start + share * (target - start) if share < 1 else target


class Workspace:
    """Elements and matrix pattern of one model; made by ``solver.init``. It remembers nothing between steps.

    lambda_: per law (W, E, r) of the last substep, in the order of the model's blocks. x_prev, v_last
    (W, N, 3): where that began; other_force
    (W, N, 3) [N]: of gases and colliders at its end.
    """

    solver = "Newton"

    def __init__(self, model: Model) -> None:
        refuse(model, self.solver)
        self.model = model
        self.objective = self.potential(model)
        w = model.n_worlds
        self.lambda_ = {law: np.zeros((w, *b.compliance.shape)) for law, b in model.blocks.items()}
        self.x_prev = np.zeros((w, model.n_particles, 3))
        self.v_last = np.zeros_like(self.x_prev)
        self.other_force = np.zeros_like(self.x_prev)
        self.given = np.array([not p.gas for p in model.pressures])  # pressures that act from outside

    def potential(self, model: Model) -> Incremental:
        """What is minimised."""
        return Incremental(model)

    def minimize(self, world: int, start: float, tolerance: float, most: int) -> Outcome:
        """The minimum of the substep that the objective has begun; start [N]: see :func:`constrained`."""
        return constrained(self.objective, np.zeros(self.objective.n), start, tolerance, most, RIGID)

    def moves(self, state: State, control: Control, substeps: int) -> Moves:
        """How pins and attachments move in the coming step."""
        model = self.model
        order: Any = slice(None)
        if "attachment" in model.blocks:
            order = model.blocks["attachment"].file_order
        return Moves(
            gathered(state.x_lanes, model)[:, model.pin_ids],
            gathered(control.pin_targets, model),
            control.arcs("pins", substeps),
            gathered(control.attachment_start, model)[:, order],
            gathered(control.attachment_targets, model)[:, order],
            control.arcs("attachments", substeps)[:, order],
        )

    def softness(self, control: Control) -> list[dict[str, float]]:
        """Factor on the compliance of each law in each world."""
        factors = {law: 1 / gathered(control.scale[law], self.model) for law in LAWS}
        return [{law: float(f[w]) for law, f in factors.items()} for w in range(self.model.n_worlds)]

    def predict(self, control: Control, world: int, x: Array, v: Array, h: float) -> tuple[Array, Array]:
        """x~ and the velocity that leads there (N, 3): outer forces, gravity, implicit drag."""
        model = self.model
        if model.faces is not None:
            wind, pressure = (gathered(a, model)[world] for a in (control.wind, control.pressure))
            push = face_forces(model.faces, x, v, wind, np.where(self.given, pressure, 0.0), h)
            v = v + (h * model.inv_mass)[:, None] * push
        self.v_last[world] = v
        v = v + h * gathered(control.gravity, model)[world]
        if control.f_ext.shape[1]:
            v = v + (h * model.inv_mass)[:, None] * gathered(control.f_ext, model)[world]
        v = v * (1 / (1 + h * model.air_drag))
        return x + h * v, v

    def last_substep(self, h: float) -> Substep:
        """What the report needs to know."""
        model = self.model
        lanes = {law: spread(a, model) for law, a in self.lambda_.items()}
        x_prev, v_last = spread(self.x_prev, model), spread(self.v_last, model)
        return Substep(h, x_prev, v_last, lanes, self.other_force.copy())
