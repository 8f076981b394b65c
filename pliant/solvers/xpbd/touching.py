"""What XPBD holds of contact between surfaces from step to step, and its part of a step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...backend.threads import get_threads
from ...contact.guard import (
    CLOSE,
    NEAREST,
    REMOVED,
    WANTED,
    Guard,
    grown,
    guard_of,
    memory,
    rooms_of,
)
from ...contact.skin import faces_of, skin_of
from ...diagnostics.intersections import self_intersections
from ...errors import SolverError
from ...model import Model
from ...protocol import Status
from ...state import Control, State, gathered
from .self_contact import DONE, rounds

Array = np.ndarray

EASE = 50.0
"""Rate [1/s] at which pairs that are nearer than they keep open again."""


class Touching:
    """Contact of the surfaces of a model's bodies with themselves and each other."""

    def __init__(self, model: Model) -> None:
        assert model.contact is not None
        self.model = model
        given = model.contact.thickness
        radius = np.where(model.contact_radius > 0, model.contact_radius, 0.01 * model.length)
        self.skin = skin_of(faces_of(model), radius if given is None else 0.5 * given, model.rest, model.body)
        pinned = bool((model.inv_mass[self.skin.vertices] == 0).any())
        self.guard: Guard = guard_of(self.skin, model.n_worlds, model.dtype, pinned, model.length)
        self.rooms = rooms_of(self.skin, min(get_threads(), model.n_worlds))
        self.inv_mass = model.inv_mass.astype(float)
        self.lift = np.zeros((model.n_worlds, model.n_particles, 3))
        self.stage = np.zeros(model.n_worlds, np.int64)
        self.left = np.full((model.n_worlds, model.n_particles, 3), np.nan)
        self.crossed = np.zeros(model.n_worlds, bool)
        self.grew = False

    @property
    def nbytes(self) -> int:
        """Memory [bytes]."""
        return memory(self.guard) + self.lift.nbytes + self.left.nbytes

    def begin(self, state: State) -> None:
        """Before a step: what was set from outside is checked for crossings. SolverError: see ``Contact``."""
        x = gathered(state.x_lanes, self.model).astype(float)
        new = ~(x == self.left).all(axis=(1, 2)) & ~state.frozen & np.isfinite(x).all(axis=(1, 2))
        first: tuple[int, bool] | None = None
        for w in np.flatnonzero(new):
            if first is None or not np.array_equal(x[w], x[first[0]]):
                first = int(w), self.crosses(x[w], int(w))
            self.crossed[w] = first[1]
        self.guard.safe[...] = x
        self.guard.fresh[:] = 0
        self.guard.figures[...] = 0
        self.guard.figures[:, NEAREST] = math.inf
        self.grew = False

    def crosses(self, x: Array, world: int) -> bool:
        """Whether a world crosses itself where it starts."""
        assert self.model.contact is not None
        pairs = self_intersections(x, self.skin.triangles)
        if len(pairs) and self.model.contact.crossing == "refuse":
            edge, triangle = self.skin.edges[pairs[0, 0]], self.skin.triangles[pairs[0, 1]]
            raise SolverError(
                f"world {world}: surfaces cross where they start, {len(pairs)} times; the first: edge "
                f"{tuple(edge.tolist())} through triangle {tuple(triangle.tolist())} (particles). See "
                "sim.check_intersections(); part them, or take "
                'Contact(crossing="report"), which leaves crossed what crosses'
            )
        return len(pairs) > 0

    def round(self, state: State, x_prev: Array, h: float, ahead: int) -> None:
        """Between the sweeps and the end of a substep of h [s]; ``ahead`` are left, this one included."""
        ease = 1 - math.exp(-EASE * h)
        self.stage[:] = np.where(state.frozen, DONE, 0)
        while True:
            arrays = (state.x_lanes, x_prev, self.guard, self.skin, self.rooms, self.stage, self.lift)
            rounds(*arrays, self.inv_mass, float(ahead), ease)
            if (self.stage == DONE).all():
                return
            self.guard = grown(self.guard)
            self.grew = True

    def end(self, state: State, control: Control, bad: Array, status: Array) -> dict[str, Any]:
        """After a step: status bits, and figures for the StepInfo."""
        self.left[...] = gathered(state.x_lanes, self.model)
        self.left[bad] = np.nan
        status[self.crossed & ~bad] |= int(Status.START_CROSSES)
        if self.grew:
            status |= int(Status.CONTACT_GREW)
        pins = self.model.pin_ids
        lags = (state.x_lanes[:, pins] != control.pin_targets).any(axis=(1, 2))
        status[gathered(lags, self.model) & ~bad] |= int(Status.PIN_LAGS)
        f = self.guard.figures
        share = f[:, REMOVED] / np.where(f[:, WANTED] > 0, f[:, WANTED], 1)
        return {"surface_contacts": f[:, CLOSE].astype(int), "held_back": share}
