"""Everything that XPBD holds between steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backend.lanes import Lanes
from ...contact.arrays import DRAG, NORMAL, PUSH, Colliders, collider_arrays, contact_arrays
from ...diagnostics.report import Substep
from ...laws import LAWS
from ...model import Block, Model
from ...state import gathered
from .arrays import Gather, Laws, Particles, Pins, Rows
from .stages import SMALLEST_SHARE

Array = np.ndarray


class Workspace:
    """Arrays of one model under one solver; made by ``solver.init``."""

    def __init__(self, model: Model, order: str, relaxation: float, rigid: bool) -> None:
        self.model = model
        self.lanes = Lanes(model.width)
        self.blocks = {law: _ordered(b, order) for law, b in model.blocks.items()}
        self.gather = _gather(self.blocks, model, order)
        self.rows = _all_rows(self.blocks, model, order, relaxation, rigid)
        shape = (model.n_tiles, model.n_particles, 3, model.width)
        self.x_prev = np.zeros(shape, model.dtype)
        self.v_last = np.zeros(shape, model.dtype)
        self.x_start = np.zeros(shape, model.dtype)
        self.v_start = np.zeros(shape, model.dtype)
        self.inv_mass = model.inv_mass.astype(model.dtype)
        self.mobility = self.inv_mass.copy()
        self.gravity = model.gravity.astype(model.dtype)
        self.pin_ids = model.pin_ids.astype(np.int32)
        self.pin_start = np.zeros((model.n_tiles, len(model.pin_ids), 3, model.width), model.dtype)
        self.still: tuple[int, Colliders] | None = None
        self.contacts = contact_arrays(model, capacity=model.n_particles // 8 + 16)
        self.deepest = np.zeros((model.n_tiles, model.width), model.dtype)
        self.survey = np.zeros((model.n_tiles, 4, model.width), model.dtype)
        self.tables: dict[Any, Array] = {}
        self.shares: dict[int, Array] = {}
        self.h = 0.0

    @property
    def nbytes(self) -> int:
        """Memory that grows with the number of worlds [bytes]."""
        arrays = [self.x_prev, self.v_last, self.x_start, self.v_start, self.pin_start, self.gather.out]
        arrays += [r.lambda_ for r in self.rows.values()] + [self.contacts.ids, self.contacts.pairs]
        return sum(a.nbytes for a in arrays)

    def laws(self, control: Any) -> Laws:
        """Rows of all laws with the softness of each world filled in."""
        for law, rows in self.rows.items():
            np.divide(1.0, control.scale[law], out=rows.softness)
        return Laws(**self.rows, attachment_targets=control.attachment_targets)

    def particles(self, state: Any, control: Any, h: float) -> Particles:
        """The particles' arrays; their mobility is what a force moves within a substep under air drag."""
        np.divide(self.inv_mass, self.model.dtype.type(1 + h * self.model.air_drag), out=self.mobility)
        return Particles(
            state.x_lanes,
            state.v_lanes,
            self.x_prev,
            self.v_last,
            self.inv_mass,
            self.mobility,
            control.f_ext,
            self.gravity,
        )

    def pins(self, control: Any, substeps: int) -> Pins:
        """Pins on their way from where they are to their targets."""
        if substeps not in self.shares:
            self.shares[substeps] = ((np.arange(substeps) + 1) / substeps).astype(self.model.dtype)
        return Pins(self.pin_ids, self.pin_start, control.pin_targets, self.shares[substeps])

    def colliders(self, control: Any, substeps: int) -> Colliders:
        """Colliders on their way; kept while none moves."""
        if self.still is not None and self.still[0] == control.collider_version:
            return self.still[1]
        arrays = collider_arrays(self.model, control, substeps)
        self.still = None if control.colliders_move() else (control.collider_version, arrays)
        return arrays

    def times(self, dt: float, substeps: int) -> Array:
        """Step lengths in the model's precision."""
        h = dt / substeps
        slow = 1 / (1 + h * self.model.air_drag)
        values = (h, 1 / h, 1 / h**2, slow, 1 / dt)
        return np.array(values, self.model.dtype)

    def worth_sharing(self, order: str) -> bool:
        """True when one world has rows long enough to split among threads."""
        if order == "sequential":
            return False
        longest = max((int(np.diff(b.color_start).max()) for b in self.blocks.values()), default=0)
        longest = max(longest, self.model.n_particles) if order == "jacobi" else longest
        return longest >= 2 * SMALLEST_SHARE

    def last_substep(self, h: float) -> Substep:
        """What the report needs to know."""
        lambda_ = {}
        for law, block in self.blocks.items():
            stored = self.model.blocks[law].file_order
            place = np.empty(len(stored), np.int64)
            place[block.file_order] = np.arange(len(stored))
            lambda_[law] = self.rows[law].lambda_[:, place[stored]]
        return Substep(h, self.x_prev, self.v_last, lambda_, self.contact_forces(h))

    def contact_forces(self, h: float) -> Array:
        """Force of the colliders on each particle (W, N, 3) [N] in the last substep: m correction/h^2."""
        model, c = self.model, self.contacts
        lanes = np.zeros((model.n_tiles, model.n_particles, 3, model.width))
        for t in range(model.n_tiles):
            n = c.n_found[t]
            ids, pairs = c.ids[t, :n], c.pairs[t, :n].astype(float)
            normal = pairs[:, :, PUSH : PUSH + 1] * pairs[:, :, NORMAL : NORMAL + 3]
            moved = (normal + pairs[:, :, DRAG : DRAG + 3]).sum(axis=1)
            lanes[t, ids] = (1 + h * model.air_drag) * model.mass[ids, None, None] * moved / h**2
        return gathered(lanes, model)

    def grow_contacts(self, needed: int) -> None:
        """Room for half as many entries again as are needed now."""
        self.contacts = contact_arrays(self.model, min(needed + needed // 2, self.model.n_particles))

    def arrays(self) -> dict[str, Array]:
        """What a snapshot must hold besides state and control: nothing, multipliers restart each substep."""
        return {}


def _ordered(block: Block, order: str) -> Block:
    return block.in_file_order() if order == "sequential" else block


def _touches(blocks: dict[str, Block], n: int) -> Array:
    """Constraints around each particle."""
    ids = [b.ids.ravel() for b in blocks.values()]
    return np.bincount(np.concatenate(ids), minlength=n) if ids else np.zeros(n, int)


def _all_rows(
    blocks: dict[str, Block], model: Model, order: str, relaxation: float, rigid: bool
) -> dict[str, Rows]:
    touches = _touches(blocks, model.n_particles)
    out, first = {}, 0
    for law in LAWS:
        b = blocks.get(law)
        out[law] = _rows(law, b, model, rigid)
        if b is not None:
            slots = b.ids
            if order == "jacobi":
                out[law].data[:, 1] = touches[b.ids].max(axis=1)
                slots = first + np.arange(b.ids.size).reshape(b.ids.shape)
                first += b.ids.size
            out[law].data[:, 0] = relaxation
            out[law].ids[:, b.ids.shape[1] :] = slots
    return out


def _rows(law: str, block: Block | None, model: Model, rigid: bool) -> Rows:
    shape, f, n = LAWS[law], model.dtype, 0 if block is None else len(block)
    ids = np.zeros((0, shape.corners), np.int32) if block is None else block.ids.copy()
    params = np.zeros((0, shape.params)) if block is None else block.params
    alpha = np.zeros((0, shape.rows)) if block is None else block.compliance
    tau = np.zeros(0) if block is None else block.damping_time
    if rigid:
        alpha, tau = np.where(np.isfinite(alpha), 0.0, np.inf), np.zeros_like(tau)
    data = np.concatenate([np.ones((n, 2)), tau[:, None], alpha, params], axis=1)
    return Rows(
        np.concatenate([ids, ids], axis=1),
        np.ascontiguousarray(data, f),
        np.zeros((model.n_tiles, n, shape.rows, model.width), f),
        np.ones((model.n_tiles, model.width), f),
    )


def _gather(blocks: dict[str, Block], model: Model, order: str) -> Gather:
    """Jacobi's slots; empty arrays for Gauss-Seidel."""
    none = np.zeros(0, np.int32)
    if order != "jacobi":
        return Gather(np.zeros((model.n_tiles, 0, 3, model.width), model.dtype), none, none)
    ids = np.concatenate([b.ids.ravel() for law in LAWS if (b := blocks.get(law)) is not None] or [none])
    slots = np.argsort(ids, kind="stable").astype(np.int32)
    count = np.bincount(ids, minlength=model.n_particles)
    start = np.concatenate([[0], np.cumsum(count)]).astype(np.int32)
    return Gather(np.zeros((model.n_tiles, len(ids), 3, model.width), model.dtype), start, slots)
