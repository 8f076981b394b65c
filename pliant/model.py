"""Model: the constant arrays of a scene, constraint blocks stored colour by colour.

Everything here is float64 and immutable; solvers cast what they need into their workspace. Blocks hold
the constraints of one law over the whole scene, in an order in which no two rows of one colour share a
particle, so that threads may run inside a colour and every batch size runs the same order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from .errors import SceneError
from .geometry.colliders import MeshCollider
from .geometry.coloring import color
from .laws import LAWS
from .state import Control, State

Array = np.ndarray


@dataclass(frozen=True)
class Block:
    """The constraints of one law.

    ids           (E, corners) particles
    params        (E, params) what the law needs to know of the rest shape
    compliance    (E, rows) alpha; inf: the row is absent
    damping_time  (E,) tau [s]
    color_start   (n_colors + 1,) a colour is a slice of rows
    file_order    (E,) where each constraint stood when it was added
    """

    law: str
    ids: Array
    params: Array
    compliance: Array
    damping_time: Array
    color_start: Array
    file_order: Array

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Block({self.law}: {len(self)} constraints, {len(self.color_start) - 1} colours)"

    @classmethod
    def colored(
        cls, law: str, ids: Array, params: Array, compliance: Array, damping: Array, n_particles: int,
        ranks: Array | None = None,
    ) -> Block:  # fmt: skip
        """Sort constraints by colour. ``ranks`` (N,): other numbers of the particles, to go by instead."""
        shape = LAWS[law]
        n = len(ids)
        ids = np.asarray(ids, np.int32).reshape(n, shape.corners)
        order, start = np.arange(0), np.zeros(1, int)
        if n:
            known = ids if ranks is None else ranks[ids]
            sorted_rows = np.arange(n) if ranks is None else np.lexsort(np.sort(known, axis=1).T[::-1])
            order, start = color(known[sorted_rows], n_particles)
            order = sorted_rows[order]
        return cls(
            law,
            ids[order],
            np.asarray(params, float).reshape(n, shape.params)[order],
            np.asarray(compliance, float).reshape(n, shape.rows)[order],
            np.asarray(damping, float).reshape(n)[order],
            np.asarray(start, np.int64),
            np.asarray(order, np.int64),
        )

    def in_file_order(self) -> Block:
        """The same constraints as they were added, without colours."""
        back = np.argsort(self.file_order, kind="stable")
        return Block(
            self.law,
            self.ids[back],
            self.params[back],
            self.compliance[back],
            self.damping_time[back],
            np.array([0, len(self)]),
            self.file_order[back],
        )


MESH = 5
"""Kind of a collider that is a mesh; the analytic ones have smaller numbers (contact/distances.py)."""


@dataclass(frozen=True)
class ColliderSet:
    """Colliders as arrays, one row each.

    kind (K,) and size (K, 4) [m]: see contact/distances.py; frame (K, 3, 3): the shape's axes in the
    collider's own frame; rotation (K, 3, 3), position (K, 3) [m]: where the collider starts;
    mu_static, mu_kinetic (n_bodies, K): friction of each body against each collider; meshes: those of kind
    MESH, in order.
    """

    kind: Array
    size: Array
    frame: Array
    rotation: Array
    position: Array
    mu_static: Array
    mu_kinetic: Array
    names: tuple[str, ...] = ()
    meshes: tuple[MeshCollider, ...] = ()

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def n_analytic(self) -> int:
        """How many are not meshes."""
        return len(self.kind) - len(self.meshes)


CROSSING = ("refuse", "report")


@dataclass(frozen=True)
class Contact:
    """Contact of cloths and solids with themselves and with each other. Without it they pass through.

    thickness  distance [m] that surfaces keep between them (default: half of each body's own: a fabric's
               thickness, twice a solid's contact_radius, or for a solid without one 1/50 of a mean edge)
    crossing   what is done with a start in which surfaces cross: "refuse" it with an error that counts
               them and names the first, or "report" it as ``Status.START_CROSSES``; what crosses then may
               stay so
    """

    thickness: float | None = None
    crossing: str = "refuse"

    def __post_init__(self) -> None:
        t = self.thickness
        if t is not None and not (np.isfinite(t) and t > 0):
            raise SceneError(f"Contact: thickness is {t!r}, it must be greater than 0 [m]")
        if self.crossing not in CROSSING:
            raise SceneError(f'Contact: crossing="{self.crossing}" is unknown; choose "refuse" or "report"')


@dataclass(frozen=True)
class Overpressure:
    """A pressure on one side of some faces [Pa], over the ambient one, if not set otherwise in a world.

    gas: isothermal, with this pressure at a volume [m^3]. ambient [Pa] is what surrounds a gas.
    """

    name: str
    pressure: float
    gas: bool = False
    volume: float = 0.0
    ambient: float = 0.0


@dataclass(frozen=True)
class Faces:
    """Faces on which air or pressure acts.

    ids           (F, 3) particles; a pressure pushes along the normal of this winding
    air           (F, 2) rho C/2 [kg/m^3] of air that flows across and along a face
    mass          (F,) [kg] its share of its particles' masses
    pressure_of   (F,) row of ``pressures``, -1 where there is none
    """

    ids: Array
    air: Array
    mass: Array
    pressure_of: Array
    pressures: tuple[Overpressure, ...] = ()


@dataclass(frozen=True)
class Part:
    """A named stretch of particles with its faces, for output and measurement."""

    name: str
    start: int
    stop: int
    triangles: Array
    inv_rest_matrix: Array
    rest_area: Array


@dataclass(frozen=True, repr=False)
class Model:
    """The constant side of a simulation. Build it with :meth:`pliant.Scene.build`.

    x_rest (N, 3) start positions [m]; v_start (N, 3) start velocities [m/s]; mass (N,) lumped [kg];
    inv_mass (N,) 1/kg, 0 pins; pin_ids (P,); contact_radius (N,) rest distance to colliders [m];
    body (N,) index of the cloth a particle belongs to; gravity (3,) [m/s^2]; air_drag [1/s]:
    deceleration per speed; wind (3,) [m/s]; faces: those on which air or pressure acts, None without;
    contact: of surfaces with each other, None without; rest (N, 3) places at rest [m].
    """

    n_worlds: int
    dtype: np.dtype
    width: int
    x_rest: Array
    v_start: Array
    mass: Array
    inv_mass: Array
    pin_ids: Array
    contact_radius: Array
    body: Array
    gravity: Array
    air_drag: float
    blocks: dict[str, Block]
    colliders: ColliderSet
    parts: tuple[Part, ...]
    attachment_targets: Array = field(default_factory=lambda: np.zeros((0, 3)))
    wind: Array = field(default_factory=lambda: np.zeros(3))
    faces: Faces | None = None
    contact: Contact | None = None
    rest: Array = field(default_factory=lambda: np.zeros((0, 3)))

    @property
    def n_particles(self) -> int:
        """N."""
        return len(self.mass)

    @property
    def pressures(self) -> tuple[Overpressure, ...]:
        """Pressures on faces, S of them."""
        return () if self.faces is None else self.faces.pressures

    @property
    def n_tiles(self) -> int:
        """Number of groups of ``width`` worlds."""
        return -(-self.n_worlds // self.width)

    @cached_property
    def length(self) -> float:
        """The length of the scene that tolerances refer to: mean edge of the faces [m]."""
        if self.parts and sum(len(p.triangles) for p in self.parts):
            total, count = 0.0, 0
            for part in self.parts:
                x = self.x_rest[part.start : part.stop]
                t = part.triangles
                total += float(np.linalg.norm(x[t] - x[np.roll(t, 1, axis=1)], axis=-1).sum())
                count += t.size
            return total / count
        span = np.ptp(self.x_rest, axis=0)
        return float(np.linalg.norm(span)) or 1.0

    def __repr__(self) -> str:
        blocks = ", ".join(f"{b.law} {len(b)}/{len(b.color_start) - 1}" for b in self.blocks.values())
        lanes = f"{self.n_worlds} worlds in {self.n_tiles} x {self.width} lanes"
        return (
            f"Model({self.n_particles} particles, {len(self.pin_ids)} pinned; {lanes}, {self.dtype}; "
            f"constraints/colours: {blocks or 'none'}; {len(self.colliders)} colliders)"
        )

    def state(self) -> State:
        """A fresh state: the start positions in every world."""
        return State(self)

    def control(self) -> Control:
        """A fresh control: pins where they start, no external force, unit scales."""
        return Control(self)

    def require_finite(self) -> None:
        """Raise SceneError when a constant is not a usable number."""
        for name in ("x_rest", "v_start", "mass", "gravity"):
            if not np.isfinite(getattr(self, name)).all():
                raise SceneError(f"model: {name} holds a value that is not finite")


def lane_width(n_worlds: int) -> int:
    """1 for a single world, else 16: one full vector in float32 (docs/adr/0001)."""
    return 1 if n_worlds == 1 else 16
