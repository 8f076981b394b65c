"""State (positions, velocities) and Control (targets, forces, scales) of all worlds.

Both keep their arrays in lanes, ``(tiles, items, axis, lanes)``, and hand out copies as ``(W, N, 3)``.
Spare lanes of the last tile repeat the last world and never come out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import PliantError, SceneError
from .geometry.mesh import rotation_matrix
from .geometry.motion import Pose, between, placed, rotation_vector
from .laws import LAWS

if TYPE_CHECKING:
    from .model import Model

Array = np.ndarray


def spread(a: Array, model: Model) -> Array:
    """``(W, ...)`` to ``(tiles, ..., lanes)``: a contiguous copy in the model's precision."""
    spare = model.n_tiles * model.width - model.n_worlds
    full = np.concatenate([a, np.repeat(a[-1:], spare, axis=0)]) if spare else a
    tiled = full.reshape(model.n_tiles, model.width, *a.shape[1:])
    return np.array(np.moveaxis(tiled, 1, -1), dtype=model.dtype, order="C")  # always a copy


def gathered(lanes: Array, model: Model) -> Array:
    """``(tiles, ..., lanes)`` to ``(W, ...)``: a copy."""
    tiled = lanes.transpose(0, lanes.ndim - 1, *range(1, lanes.ndim - 1))
    flat = tiled.reshape(model.n_tiles * model.width, *lanes.shape[1:-1])
    return flat[: model.n_worlds].copy()


def world_ids(worlds: Any, model: Model) -> Array:
    """Indices of the worlds that a mask, an index, a list of indices or None (all) names."""
    if worlds is None:
        return np.arange(model.n_worlds)
    w = np.atleast_1d(np.asarray(worlds))
    if w.dtype == bool:
        if w.shape != (model.n_worlds,):
            raise PliantError(f"worlds: a mask must have shape ({model.n_worlds},), this one has {w.shape}")
        return np.flatnonzero(w)
    if w.size == 0:
        return np.zeros(0, int)
    if not np.issubdtype(w.dtype, np.integer) or w.min() < 0 or w.max() >= model.n_worlds:
        raise PliantError(f"worlds: {worlds!r} does not name worlds 0 to {model.n_worlds - 1}")
    return w.astype(int)


def particle_ids(ids: Any, model: Model, what: str) -> Array:
    """Indices of particles, checked."""
    p = np.atleast_1d(np.asarray(ids))
    if p.size == 0:
        return np.zeros(0, int)
    if not np.issubdtype(p.dtype, np.integer) or p.min() < 0 or p.max() >= model.n_particles:
        raise PliantError(f"{what}: {ids!r} does not name particles 0 to {model.n_particles - 1}")
    return p.astype(int)


def _numbers(values: Any, what: str) -> Array:
    """As an array of float64; a tensor on another device or with gradients raises what it likes."""
    try:
        return np.asarray(values, dtype=float)
    except Exception as error:
        kind = f"{type(values).__module__}.{type(values).__name__}".removeprefix("builtins.")
        raise PliantError(f"{what}: cannot read a {kind} as an array of numbers: {error}") from error


def _write(lanes: Array, values: Any, ids: Array, model: Model, what: str) -> None:
    """Write per-world values (broadcast to (len(ids), ...)) into a lane array, spare lanes included."""
    shape, given = (len(ids), *lanes.shape[1:-1]), _numbers(values, what)
    try:
        v = np.broadcast_to(given, shape)
    except ValueError as error:
        raise PliantError(f"{what}: cannot spread shape {given.shape} over {shape}") from error
    if not np.isfinite(v).all():
        raise PliantError(f"{what}: holds a value that is not finite; nothing was written")
    if model.n_worlds - 1 in ids:  # spare lanes follow the last world
        slots = np.arange(model.n_worlds, model.n_tiles * model.width)
        last = int(np.flatnonzero(ids == model.n_worlds - 1)[-1])
        v = np.concatenate([v, np.repeat(v[last : last + 1], len(slots), axis=0)])
        ids = np.concatenate([ids, slots])
    lanes[ids // model.width, ..., ids % model.width] = v


class State:
    """Positions and velocities of every world, and the time.

    ``x``, ``v`` are copies (W, N, 3) [m, m/s]; write with :meth:`set_x`, :meth:`set_v`. ``x_lanes`` and
    ``v_lanes`` are the arrays themselves.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        one = np.broadcast_to(model.x_rest, (model.n_worlds, *model.x_rest.shape))
        self.x_lanes = spread(one, model)
        self.v_lanes = spread(np.broadcast_to(model.v_start, one.shape), model)
        self.frozen = np.zeros(model.n_worlds, bool)
        self.time = 0.0

    @property
    def x(self) -> Array:
        """Positions (W, N, 3) [m], a read-only copy."""
        return _readonly(gathered(self.x_lanes, self.model))

    @property
    def v(self) -> Array:
        """Velocities (W, N, 3) [m/s], a read-only copy."""
        return _readonly(gathered(self.v_lanes, self.model))

    def gather(self, ids: Any, worlds: Any = None) -> Array:
        """Positions of some particles (W', n, 3) [m] of some worlds (default: all)."""
        w = world_ids(worlds, self.model)
        rows = self.x_lanes[:, particle_ids(ids, self.model, "gather")]
        return _readonly(rows[w // self.model.width, ..., w % self.model.width])

    def set_x(self, x: Any, worlds: Any = None, ids: Any = None) -> None:
        """Write positions, broadcast to (W', N, 3) [m], or (W', n, 3) of the particles ``ids`` alone.

        Velocities stay as they are (:meth:`set_v`), pinned particles go back to their targets in the next
        step, and a frozen world stays frozen until it is reset. Raises PliantError on non-finite input.
        """
        self._set(self.x_lanes, x, worlds, ids, "set_x")

    def set_v(self, v: Any, worlds: Any = None, ids: Any = None) -> None:
        """Write velocities, broadcast to (W', N, 3) [m/s], or (W', n, 3) of the particles ``ids`` alone.

        Raises PliantError on non-finite input.
        """
        self._set(self.v_lanes, v, worlds, ids, "set_v")

    def _set(self, lanes: Array, values: Any, worlds: Any, ids: Any, what: str) -> None:
        w = world_ids(worlds, self.model)
        if ids is None:
            _write(lanes, values, w, self.model, what)
            return
        p = particle_ids(ids, self.model, what)
        some = lanes[:, p]
        _write(some, values, w, self.model, what)
        lanes[:, p] = some

    def reset(self, worlds: Any = None) -> None:
        """Bring some worlds (default: all) back to the start; the others keep every bit."""
        ids = world_ids(worlds, self.model)
        self.set_x(self.model.x_rest, ids)
        self.set_v(self.model.v_start, ids)
        self.frozen[ids] = False

    def arrays(self) -> dict[str, Array]:
        """Everything that a snapshot must hold."""
        return {
            "x": self.x_lanes.copy(),
            "v": self.v_lanes.copy(),
            "frozen": self.frozen.copy(),
            "time": np.array(self.time, float),
        }

    def restore(self, arrays: dict[str, Array]) -> None:
        """Back from :meth:`arrays`, bit for bit. Raises PliantError where something lacks or does not fit."""
        time = np.zeros(())
        _restore(self.x_lanes, arrays, "x", "positions")
        _restore(self.v_lanes, arrays, "v", "velocities")
        _restore(self.frozen, arrays, "frozen", "frozen worlds")
        _restore(time, arrays, "time", "times")
        self.time = float(time)

    def copy(self) -> State:
        """An independent state with the same bits."""
        other = State(self.model)
        other.restore(self.arrays())
        return other


KEPT = {
    "pin_targets": "pin targets",
    "attachment_targets": "attachment targets",
    "attachment_start": "positions of attachments",
    "gravity": "gravities",
    "wind": "winds",
    "pressure": "pressures",
}
"""Arrays of a Control that a snapshot holds, and what they are called."""


@dataclass(frozen=True)
class Way:
    """Targets on the way of a frame during one step: rows (n,) of the "pins" or "attachments" targets, where
    they are in the frame (n, 3) [m], and its poses at the start and the end."""

    kind: str
    rows: Array
    local: Array
    start: Pose
    end: Pose

    def arcs(self, substeps: int) -> Array:
        """How far the way leaves the straight one at the end of each substep (substeps, n, 3) [m]."""
        first, last = placed(self.local, self.start), placed(self.local, self.end)
        shares = (np.arange(substeps) + 1) / substeps
        on_arc = [placed(self.local, between(self.start, self.end, s)) for s in shares]
        return np.array(on_arc) - (first + shares[:, None, None] * (last - first))


class Control:
    """What acts on the worlds from outside.

    pin_targets (T, P, 3, L), attachment_targets (T, A, 3, L) [m], in the order in which they were added;
    attachment_start: where attachments are now; ways: arcs that targets take in the next step;
    f_ext (T, N, 3, L) [N], empty until :meth:`set_force`; gravity (T, 3, L) [m/s^2]; wind (T, 3, L) [m/s];
    pressure (T, S, L) [Pa]; scale: per law (T, L), factor on the stiffness of the world.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        w = model.n_worlds
        pins = model.x_rest[model.pin_ids]
        self.pin_targets = spread(np.broadcast_to(pins, (w, *pins.shape)), model)
        held = model.attachment_targets
        self.attachment_targets = spread(np.broadcast_to(held, (w, *held.shape)), model)
        self.attachment_start = self.attachment_targets.copy()
        self.ways: list[Way] = []
        self.f_ext = np.zeros((model.n_tiles, 0, 3, model.width), model.dtype)
        self.gravity = spread(np.broadcast_to(model.gravity, (w, 3)), model)
        self.wind = spread(np.broadcast_to(model.wind, (w, 3)), model)
        inside = np.array([p.pressure for p in model.pressures])
        self.pressure = spread(np.broadcast_to(inside, (w, len(inside))), model)
        poses = list(zip(model.colliders.position, model.colliders.rotation, strict=True))
        self.collider_start: list[Pose] = [(p.copy(), r.copy()) for p, r in poses]
        self.collider_target: list[Pose] = [(p.copy(), r.copy()) for p, r in poses]
        self.collider_version = 0
        self.scale = {law: np.ones((model.n_tiles, model.width), model.dtype) for law in LAWS}

    def set_pins(self, ids: Any, x: Any, worlds: Any = None) -> None:
        """Where pinned particles ``ids`` shall be at the end of the next step, (W', n, 3) [m].

        Raises SceneError naming a particle that is not pinned.
        """
        ids = np.atleast_1d(np.asarray(ids, int))
        slot = np.full(self.model.n_particles, -1)
        slot[self.model.pin_ids] = np.arange(len(self.model.pin_ids))
        free = ids[slot[ids] < 0]
        if len(free):
            raise SceneError(f"set_targets: particle {int(free[0])} is not pinned; name it in pins= first")
        view = self.pin_targets[:, slot[ids]]
        w = world_ids(worlds, self.model)
        _write(view, x, w, self.model, "set_targets")
        self.pin_targets[:, slot[ids]] = view

    def set_attachments(self, x: Any, worlds: Any = None, rows: Any = slice(None)) -> None:
        """Where attachments (default: all, in the order they were added) are after the next step.

        x (W', A, 3) [m]. They move there at constant speed.
        """
        view = self.attachment_targets[:, rows]
        _write(view, x, world_ids(worlds, self.model), self.model, "attachment targets")
        self.attachment_targets[:, rows] = view

    def carry(self, way: Way) -> None:
        """Send targets along a frame's way in the next step, in all worlds."""
        targets = self.pin_targets if way.kind == "pins" else self.attachment_targets
        targets[:, way.rows] = placed(way.local, way.end)[None, :, :, None]
        if not np.array_equal(way.start[1], way.end[1]):
            self.ways.append(way)

    def arcs(self, kind: str, substeps: int) -> Array:
        """:meth:`Way.arcs` of "pins" or "attachments" (substeps, n, 3); empty if all ways are straight."""
        mine = [way for way in self.ways if way.kind == kind]
        n = (self.pin_targets if kind == "pins" else self.attachment_targets).shape[1]
        out = np.zeros((substeps if mine else 0, n, 3), self.model.dtype)
        for way in mine:
            out[:, way.rows] = way.arcs(substeps)
        return out

    def set_force(self, f: Any, worlds: Any = None) -> None:
        """External force on every particle, broadcast to (W', N, 3) [N]; kept until changed."""
        into = self.f_ext
        if into.shape[1] == 0:
            shape = (self.model.n_tiles, self.model.n_particles, 3, self.model.width)
            into = np.zeros(shape, self.model.dtype)
        _write(into, f, world_ids(worlds, self.model), self.model, "set_force")
        self.f_ext = into

    def set_gravity(self, gravity: Any, worlds: Any = None) -> None:
        """Gravity, broadcast to (W', 3) [m/s^2]; kept until changed, over resets too."""
        _write(self.gravity, gravity, world_ids(worlds, self.model), self.model, "set_gravity")

    def set_wind(self, wind: Any, worlds: Any = None) -> None:
        """Velocity of the air, broadcast to (W', 3) [m/s]; kept until changed, over resets too."""
        if self.model.faces is None or not self.model.faces.air[:, 0].any():
            raise SceneError("set_wind: this scene has no air; make it with Scene(air_density=1.2)")
        _write(self.wind, wind, world_ids(worlds, self.model), self.model, "set_wind")

    def set_pressure(self, row: int, pressure: Any, worlds: Any = None) -> None:
        """A pressure of the scene, a number or (W',) [Pa]; see :class:`pliant.loads.Pressure`."""
        inside = self.model.pressures[row]
        if inside.gas and not np.all(np.asarray(pressure, float) > -inside.ambient):
            raise SceneError(f'pressure of "{inside.name}": a gas must be over {-inside.ambient:g} Pa')
        _write(self.pressure[:, row], pressure, world_ids(worlds, self.model), self.model, "pressure")

    @property
    def pressures(self) -> Array:
        """Pressures as set (W, S) [Pa], a copy."""
        return gathered(self.pressure, self.model)

    def move_collider(self, index: int, position: Any, rotation: Any = None) -> None:
        """Where a collider shall be at the end of the next step, in every world.

        It moves straight and turns about one axis at a constant rate; its surface drags cloth by friction.
        rotation: what ``rotation_matrix`` takes (default: as it is). Raises SceneError for a turn of half a
        circle or more, whose direction nobody can know.
        """
        p = np.asarray(position, float)
        if p.shape != (3,) or not np.isfinite(p).all():
            raise SceneError(f"move_collider: position must be three finite numbers, not {position!r}")
        here = self.collider_start[index][1]
        r = here if rotation is None else rotation_matrix(rotation)
        if np.linalg.norm(rotation_vector(r @ here.T)) > 0.99 * np.pi:
            raise SceneError("move_collider: half a turn or more within one step; use a smaller dt")
        self.collider_target[index] = (p.copy(), r.copy())
        self.collider_version += 1

    def place_collider(self, index: int, pose: Pose) -> None:
        """Put a collider somewhere at once, without motion: at the start, or after a reset."""
        self.collider_start[index] = self.collider_target[index] = pose
        self.collider_version += 1

    def colliders_move(self) -> bool:
        """True when a collider is under way to another pose."""
        pairs = zip(self.collider_start, self.collider_target, strict=True)
        return any(not all(np.array_equal(a, b) for a, b in zip(s, t, strict=True)) for s, t in pairs)

    def arrived(self) -> None:
        """The step is done: colliders and attachments are at their targets."""
        self.attachment_start[...] = self.attachment_targets
        self.ways.clear()
        if self.colliders_move():
            self.collider_start = list(self.collider_target)
            self.collider_version += 1

    def set_scale(self, law: str, factor: Any, worlds: Any = None) -> None:
        """Multiply the stiffness of a law by a factor per world (W',), > 0."""
        if law not in self.scale:
            raise SceneError(f'set_scale: no law "{law}"; there are {", ".join(self.scale)}')
        factor = _numbers(factor, f"set_scale({law})")
        if not np.all(factor > 0):
            raise SceneError(f"set_scale({law}): a stiffness factor must be greater than 0")
        _write(self.scale[law], factor, world_ids(worlds, self.model), self.model, "set_scale")

    def reset(self, worlds: Any = None) -> None:
        """Targets of some worlds back to the start, forces to zero; scales, gravity, wind, pressures stay."""
        ids = world_ids(worlds, self.model)
        _write(self.pin_targets, self.model.x_rest[self.model.pin_ids], ids, self.model, "reset")
        for held in (self.attachment_targets, self.attachment_start):
            _write(held, self.model.attachment_targets, ids, self.model, "reset")
        if self.f_ext.shape[1]:
            _write(self.f_ext, 0.0, ids, self.model, "reset")

    def arrays(self) -> dict[str, Array]:
        """Everything that a snapshot must hold."""
        out = {f"scale_{law}": s.copy() for law, s in self.scale.items()}
        for name in (*KEPT, "f_ext"):
            out[name] = getattr(self, name).copy()
        for name in ("collider_start", "collider_target"):
            poses = getattr(self, name)
            out[name] = np.array([np.concatenate([p, r.ravel()]) for p, r in poses]).reshape(len(poses), 12)
        return out

    def restore(self, arrays: dict[str, Array]) -> None:
        """Back from :meth:`arrays`, bit for bit. Raises PliantError where something lacks or does not fit."""
        for name, what in KEPT.items():
            _restore(getattr(self, name), arrays, name, what)
        some = arrays.get("f_ext", self.f_ext).shape[1:2] != (0,)
        m = self.model
        force = np.zeros((m.n_tiles, m.n_particles if some else 0, 3, m.width), m.dtype)
        _restore(force, arrays, "f_ext", "external forces")
        poses = {}
        for name in ("collider_start", "collider_target"):
            rows = np.zeros((len(self.collider_start), 12))
            _restore(rows, arrays, name, "poses of colliders")
            poses[name] = [(row[:3].copy(), row[3:].reshape(3, 3).copy()) for row in rows]
        for law, s in self.scale.items():
            _restore(s, arrays, f"scale_{law}", f"stiffness factors of {law}")
        self.f_ext = force
        self.collider_start, self.collider_target = poses["collider_start"], poses["collider_target"]
        self.collider_version += 1


def _restore(into: Array, arrays: dict[str, Array], key: str, what: str) -> None:
    if key not in arrays:
        raise PliantError(f"snapshot: {what} are missing; it is damaged or was made by another program")
    saved = arrays[key]
    if into.shape != saved.shape or into.dtype != saved.dtype:
        raise PliantError(
            f"snapshot: {what} have shape {saved.shape} {saved.dtype}, this simulation has "
            f"{into.shape} {into.dtype}: it belongs to another scene, batch size or precision"
        )
    into[...] = saved


def _readonly(a: Array) -> Array:
    a.flags.writeable = False
    return a
