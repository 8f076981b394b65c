"""Everything that projective dynamics holds between steps."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ...backend.lanes import Features, Items, Lanes
from ...backend.threads import get_threads
from ...diagnostics.report import Substep
from ...errors import SolverError
from ...forces.arrays import Loads, load_arrays
from ...laws import LAWS
from ...linear.cholesky import Cholesky
from ...model import Model
from ...state import Control, State
from ..pool import AT_DATA, DAMPED, ITEMS, STORE, Pool, lambda_of, packed, pool_of
from .arrays import NUMBERS, Particles, Search
from .evaluation import FIRST_LAW, HELD, INERTIA
from .matrix import constant_matrix, inverse
from .sums import CHUNK, STRANDS

Array = np.ndarray

CACHED = 1 << 20
"""Bytes of one vector of all worlds that are worked on at a time: they stay in a processor's cache."""
TEAMWORK = 8192
"""Particles from which one world is worth several threads."""


def refuse(model: Model) -> None:
    """Raise SolverError naming everything in a model that projective dynamics cannot take."""
    wrong = [f'the collider "{name}"' for name in model.colliders.names]
    if model.contact is not None:
        wrong.append("contact of surfaces with each other (Scene(contact=None))")
    for law, block in model.blocks.items():
        rigid = int(np.sum(np.any(block.compliance == 0, axis=1)))
        if rigid:
            wrong.append(f'{rigid} rigid constraints of law "{law}" (compliance 0)')
    wrong += [f'the gas of "{p.name}"' for p in model.pressures if p.gas]
    if wrong:
        raise SolverError(f"PD cannot solve this scene: {'; '.join(wrong)}. Use XPBD, or leave these out")


class Workspace:
    """Arrays of one model under one solver; made by ``solver.init``."""

    def __init__(self, model: Model, history: int) -> None:
        refuse(model)
        self.model = model
        self.lanes = Lanes(model.width)
        self.items = self.lanes if model.width > 1 else Items(ITEMS)
        group = 1 if model.width > 1 else ITEMS
        self.packed = {law: packed(b, group) for law, b in model.blocks.items()}
        groups = {LAWS[law].group for law in model.blocks} - {"cloth"}
        self.extras = Features(*groups)
        self.faces = Features(*["faces"] * (model.faces is not None))
        self.pool, _ = pool_of(model, self.packed, False, False)
        self.size = -(-model.n_particles // STRANDS) * STRANDS
        self.search = self._search(history)
        self.inv_mass = model.inv_mass.astype(model.dtype)
        self.inertia = np.zeros(self.size, model.dtype)
        t, n, lanes, f = model.n_tiles, model.n_particles, model.width, model.dtype
        self.x_start, self.v_start, self.x_prev, self.v_last = (
            np.zeros((t, n, 3, lanes), f) for _ in range(4)
        )
        self.pin_ids = model.pin_ids.astype(np.int32)
        self.pin_start = np.zeros((t, len(model.pin_ids), 3, lanes), f)
        self.loads, _ = load_arrays(model, group)
        self.finite = np.zeros((t, lanes), f)
        self.held_order = np.zeros(0, np.int64)
        if "attachment" in self.packed:
            p = self.packed["attachment"]
            self.held_order = p.block.file_order[p.source].astype(np.int64)
        self.factors: dict[float, Cholesky] = {}
        self.tables: dict[bool, Array] = {}
        self.unit = 1.0
        self.last_run: Any = None

    def _search(self, history: int) -> Search:
        model = self.model
        f, t, m, lanes = model.dtype, model.n_tiles, self.size, model.width
        vector = (t, m, 3, lanes)
        threads = get_threads() if self.teamwork else t
        chunks = -(-3 * m // CHUNK)
        return Search(
            x_tilde=np.zeros(vector, f),
            speed=np.zeros(vector, f),
            x=np.zeros(vector, f),
            d=np.zeros((2, *vector), f),
            g=np.zeros((2, *vector), f),
            e=np.zeros((2, t, m, lanes), f),
            p=np.zeros(vector, f),
            s=np.zeros((history, *vector), f),
            y=np.zeros((history, *vector), f),
            rho=np.zeros((history, t, lanes), f),
            a=np.zeros((history, t, lanes), f),
            numbers=np.zeros((NUMBERS, t, lanes), f),
            partial=np.zeros((t, chunks, lanes), f),
            strands=np.zeros((threads, STRANDS, lanes), f),
            searching=np.zeros(t, np.int64),
        )

    @property
    def teamwork(self) -> bool:
        """Whether threads share the work inside the one world."""
        return self.model.n_worlds == 1 and self.model.n_particles >= TEAMWORK and get_threads() > 1

    @property
    def team(self) -> Features:
        """The tag of who works on the one tile."""
        return Features("team") if self.teamwork else Features()

    def _fill_stiffness(self, unit: float) -> None:
        """The pool's data begin with 1/alpha instead of alpha, in units of force."""
        for law, p in self.packed.items():
            stiff = inverse(p.block.compliance[p.source].T) / unit
            at = self.pool.layout[list(LAWS).index(law), AT_DATA]
            self.pool.data[at : at + stiff.size] = stiff.ravel()

    @property
    def nbytes(self) -> int:
        """Memory that grows with the number of worlds [bytes]."""
        arrays = [self.x_start, self.v_start, self.x_prev, self.v_last, self.pin_start, *self.search]
        return sum(a.nbytes for a in arrays) + self.pool.lambda_.nbytes

    def groups(self) -> list[tuple[int, int]]:
        """Tiles that are worked on together, so that their vectors stay in the cache."""
        t = self.model.n_tiles
        one = self.search.p[:1].nbytes
        many = max(get_threads(), CACHED // one // get_threads() * get_threads())
        return [(a, min(a + many, t)) for a in range(0, t, many)]

    def factor(self, h: float) -> Cholesky:
        """The factor of A for substeps of h [s]; the last one is kept."""
        if h not in self.factors:
            mass = np.zeros(self.size)
            mass[: self.model.n_particles] = self.model.mass * ((1 + h * self.model.air_drag) / h**2)
            matrix, self.unit = constant_matrix(self.model, self.size, mass, h)
            self.factors = {h: Cholesky(matrix)}
            self.inertia[:] = mass / self.unit
            self._fill_stiffness(self.unit)
        return self.factors[h]

    def table(self, store: bool = False) -> Array:
        """Rows of one evaluation: inertia, all constraints, pinned particles."""
        if store not in self.tables:
            self.tables[store] = self._table(store)
        return self.tables[store]

    def _table(self, store: bool) -> Array:
        rows = [(INERTIA, 0, self.size, 0)]
        for law, p in self.packed.items():
            damped = DAMPED if np.any(p.block.damping_time > 0) else 0
            flags = damped | (STORE if store else 0)
            bounds = p.bounds.tolist() if self.items is not self.lanes else [p.bounds[0], p.bounds[-1]]
            op = FIRST_LAW + list(LAWS).index(law)
            rows += [(op, a, b, flags) for a, b in pairwise(bounds)]
        rows.append((HELD, 0, len(self.pin_ids), 0))
        return np.array([r for r in rows if r[2] > r[1]], np.int64).reshape(-1, 4)

    def particles(self, state: State, control: Control) -> Particles:
        """The particles' arrays."""
        return Particles(
            state.x_lanes,
            state.v_lanes,
            self.x_prev,
            self.v_last,
            control.f_ext,
            control.gravity,
            self.inv_mass,
            self.inertia,
            self.pin_ids,
        )

    def constraints(self, control: Control) -> Pool:
        """All constraints, with the stiffness of each world filled in."""
        for law in self.packed:
            self.pool.softness[:, list(LAWS).index(law)] = control.scale[law]
        return self.pool

    def outside(self, control: Control) -> Loads:
        """Faces, with the air and the pressures that act on them in this step."""
        self.loads.pressure[:, :-1] = control.pressure
        return self.loads._replace(wind=control.wind)

    def times(self, dt: float, substeps: int) -> Array:
        """Step lengths in the model's precision, see :mod:`pliant.solvers.motion`, and the unit of force."""
        h = dt / substeps
        slow = 1 / (1 + h * self.model.air_drag)
        return np.array((h, 1 / h, 1 / h**2, slow, 1 / dt, self.unit), self.model.dtype)

    def multipliers(self, law: str) -> Array:
        """lambda (T, E, rows, L) of a law, in the order of the model's block."""
        return lambda_of(self.pool, self.packed[law])

    def last_substep(self, h: float) -> Substep:
        """What the report needs to know."""
        model = self.model
        nobody = np.zeros((model.n_worlds, model.n_particles, 3))
        lambda_ = {law: self.multipliers(law) for law in self.packed}
        return Substep(h, self.x_prev, self.v_last, lambda_, nobody)

    def saved(self) -> Any:
        """Nothing is remembered from step to step."""

    def put_back(self, saved: Any) -> None:
        """Nothing to undo."""
