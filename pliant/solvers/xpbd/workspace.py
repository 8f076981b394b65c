"""Everything that XPBD holds between steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backend.lanes import Features, Items, Lanes
from ...contact.arrays import DRAG, NORMAL, PUSH, Colliders, collider_arrays, contact_arrays
from ...contact.surface_work import SurfaceWork
from ...diagnostics.report import Substep
from ...forces.arrays import Gases, Loads, load_arrays
from ...laws import LAWS
from ...model import Model
from ...state import Control, gathered
from ..pool import DAMPED, ITEMS, SMALLEST_SHARE, Pool, lambda_of, packed, pool_of
from .arrays import Particles
from .touching import Touching

Array = np.ndarray


class Workspace:
    """Arrays of one model under one solver; made by ``solver.init``."""

    def __init__(self, model: Model, order: str, relaxation: float, rigid: bool) -> None:
        self.model = model
        self.lanes = Lanes(model.width)
        in_file_order = order == "sequential"
        one_by_one = in_file_order or model.width > 1
        self.items = self.lanes if one_by_one else Items(ITEMS)
        self.blocks = {law: b.in_file_order() if in_file_order else b for law, b in model.blocks.items()}
        self.relaxation = relaxation
        self.damped = not rigid
        group = 1 if one_by_one else ITEMS
        self.packed = {law: packed(b, group) for law, b in self.blocks.items()}
        groups = {LAWS[law].group for law in model.blocks} - {"cloth"}
        faces, meshes = model.faces is not None, bool(model.colliders.meshes)
        self.extras = Features(*groups, *["faces"] * faces, *["meshes"] * meshes)
        self.order = Features("jacobi") if order == "jacobi" else Features()
        self.pool, self.gather = pool_of(model, self.packed, order == "jacobi", rigid)
        shape = (model.n_tiles, model.n_particles, 3, model.width)
        self.x_prev = np.zeros(shape, model.dtype)
        self.v_last = np.zeros(shape, model.dtype)
        self.x_start = np.zeros(shape, model.dtype)
        self.v_start = np.zeros(shape, model.dtype)
        self.inv_mass = model.inv_mass.astype(model.dtype)
        self.inv_mass_of = np.repeat(self.inv_mass, 3)
        self.mobility = self.inv_mass.copy()
        self.pin_ids = model.pin_ids.astype(np.int32)
        self.pin_start = np.zeros((model.n_tiles, len(model.pin_ids), 3, model.width), model.dtype)
        self.held_order = np.zeros(0, np.int64)
        if "attachment" in self.packed:
            p = self.packed["attachment"]
            self.held_order = p.block.file_order[p.source].astype(np.int64)
        self.loads, self.gases = load_arrays(model, group)
        self.still: tuple[int, int, Colliders, Colliders | None] | None = None
        self.surfaces = SurfaceWork.of(model)
        self.touching = None if model.contact is None else Touching(model)
        self.contacts = contact_arrays(model, capacity=model.n_particles // 8 + 16)
        self.deepest = np.zeros((model.n_tiles, model.width), model.dtype)
        self.nobody = np.zeros((model.n_tiles, 0, model.width), model.dtype)  # touches a mesh
        self.survey = np.zeros((model.n_tiles, 4, model.width), model.dtype)
        self.tables: dict[Any, Array] = {}
        self.h = 0.0

    @property
    def nbytes(self) -> int:
        """Memory that grows with the number of worlds [bytes]."""
        arrays = [self.x_prev, self.v_last, self.x_start, self.v_start, self.pin_start, self.gather.out]
        arrays += [self.pool.lambda_, self.contacts.ids, self.contacts.pairs]
        more = (self.surfaces, self.touching)
        return sum(a.nbytes for a in arrays) + sum(part.nbytes for part in more if part)

    def constraints(self, control: Any) -> Pool:
        """All constraints, with the softness of each world filled in."""
        for k, law in enumerate(LAWS):
            if law in self.blocks:
                np.divide(1.0, control.scale[law], out=self.pool.softness[:, k])
        return self.pool

    def stored_place(self, law: str) -> Array:
        """Where the model's block has each constraint of this workspace's block."""
        stored, mine = self.model.blocks[law].file_order, self.blocks[law].file_order
        place = np.empty(len(stored), np.int64)
        place[stored] = np.arange(len(stored))
        return place[mine]

    def law_flags(self, law: str) -> int:
        """What kernels must know of a law's constraints."""
        damped = self.damped and np.any(self.blocks[law].damping_time > 0)
        return DAMPED if damped else 0

    def particles(self, state: Any, control: Any, h: float) -> Particles:
        """The particles' arrays; their mobility is what a force moves within a substep under air drag."""
        np.divide(self.inv_mass, self.model.dtype.type(1 + h * self.model.air_drag), out=self.mobility)
        return Particles(
            state.x_lanes,
            state.v_lanes,
            self.x_prev,
            self.v_last,
            self.inv_mass,
            self.inv_mass_of,
            self.mobility,
            control.f_ext,
            np.concatenate([control.gravity] * 4, axis=1),
        )

    def outside(self, control: Any) -> tuple[Loads, Gases]:
        """Faces, with the air and the pressures that act on them in this step."""
        self.loads.pressure[:, :-1] = control.pressure
        self.loads.pressure[:, self.gases.of] = 0  # these push as constraints
        return self.loads._replace(wind=control.wind), self.gases._replace(set=control.pressure)

    def colliders(self, control: Control, substeps: int) -> tuple[Colliders, Colliders | None]:
        """Analytic colliders and meshes (None where there are none) on their way; kept while none moves."""
        if self.still is not None and self.still[:2] == (control.collider_version, substeps):
            return self.still[2:]
        both = (
            collider_arrays(self.model, control, substeps),
            self.surfaces.placed(control, substeps) if self.surfaces else None,
        )
        self.still = None if control.colliders_move() else (control.collider_version, substeps, *both)
        return both

    def times(self, dt: float, substeps: int) -> Array:
        """Step lengths and relaxation in the model's precision."""
        h = dt / substeps
        slow = 1 / (1 + h * self.model.air_drag)
        values = (h, 1 / h, 1 / h**2, slow, 1 / dt, self.relaxation)
        return np.array(values, self.model.dtype)

    def worth_sharing(self, order: str) -> bool:
        """True when one world has rows long enough to split among threads."""
        if order == "sequential":
            return False
        longest = max((int(np.diff(b.color_start).max()) for b in self.blocks.values()), default=0)
        longest = max(longest, self.model.n_particles) if order == "jacobi" else longest
        return longest >= 2 * SMALLEST_SHARE

    def multipliers(self, law: str) -> Array:
        """lambda (T, E, rows, L) of a law, in the order of this workspace's block."""
        return lambda_of(self.pool, self.packed[law])

    def last_substep(self, h: float) -> Substep:
        """What the report needs to know."""
        lambda_ = {}
        for law in self.blocks:
            back = np.argsort(self.stored_place(law))
            lambda_[law] = self.multipliers(law)[:, back]
        return Substep(h, self.x_prev, self.v_last, lambda_, self.contact_forces(h) + self.gas_forces(h))

    def gas_forces(self, h: float) -> Array:
        """Force of gases on each particle (W, N, 3) [N] in the last substep."""
        model, g = self.model, self.gases
        lanes = np.zeros((model.n_tiles, model.n_particles, 3, model.width))
        shell = np.repeat(np.arange(len(g.of)), np.diff(g.particle_start))
        lanes[:, g.particles] = g.slope * g.push[:, shell, :1].astype(float) / h**2
        return gathered(lanes, model)

    def contact_forces(self, h: float) -> Array:
        """Force of the colliders on each particle (W, N, 3) [N] in the last substep: m correction/h^2."""
        model, c = self.model, self.contacts
        lanes = np.zeros((model.n_tiles, model.n_particles, 3, model.width))
        for t in range(model.n_tiles):
            n = c.n_found[t]
            ids, pairs = c.ids[t, :n], c.pairs[t, :n].astype(float)
            normal = pairs[:, :, PUSH : PUSH + 1] * pairs[:, :, NORMAL : NORMAL + 3]
            moved = (normal + pairs[:, :, DRAG : DRAG + 3]).sum(axis=1)
            lanes[t, ids] = moved
        if self.surfaces is not None:
            self.surfaces.add_corrections(lanes)
        force = (1 + h * model.air_drag) / h**2 * model.mass[:, None]
        return force * gathered(lanes, model)

    def grow_contacts(self, needed: int) -> None:
        """Room for half as many entries again as are needed now."""
        self.contacts = contact_arrays(self.model, min(needed + needed // 2, self.model.n_particles))

    def saved(self) -> Any:
        """What besides state and control must come back if a step fails."""
        return self.surfaces.saved() if self.surfaces else None

    def put_back(self, saved: Any) -> None:
        """Undo a step that failed."""
        if self.surfaces:
            self.surfaces.put_back(saved)

    def reset(self, worlds: Any = None) -> None:
        """Forget what some worlds (default: all) remember: sides of meshes; multipliers restart anyway."""
        if self.surfaces:
            self.surfaces.reset(worlds)

    def arrays(self) -> dict[str, Array]:
        """What a snapshot must hold besides state and control: sides; multipliers restart each substep."""
        return self.surfaces.arrays() if self.surfaces else {}

    def restore(self, arrays: dict[str, Array]) -> None:
        """Back from :meth:`arrays`. Raises PliantError and changes nothing where something does not fit."""
        if self.surfaces:
            self.surfaces.restore(arrays)
