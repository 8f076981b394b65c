"""Scene: what is simulated, in SI units, z up. ``build`` turns it into a Model."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .build import build_model
from .errors import SceneError
from .geometry import topology
from .geometry.colliders import MeshCollider, Shape
from .geometry.mesh import TriMesh, rotation_matrix
from .geometry.motion import Motion, checked_pose
from .loads import ATMOSPHERE, SEA_LEVEL, Air, Pressure, checked_pressure
from .materials import Fabric
from .model import Model

if TYPE_CHECKING:
    from .simulation import Simulation

Array = np.ndarray
Vector = Sequence[float] | np.ndarray
"""Three numbers."""
Wind = Callable[[float], Any]
"""Velocity of the air [m/s] at a time [s]: (3,), or (W, 3) where worlds differ."""

MEMBRANES = ("triangles", "orthotropic", "edges", "none")
BENDINGS = ("isometric", "curved", "dihedral", "dihedral_acos", "none")


class Cloth:
    """Handle of a cloth in a scene.

    vertices   slice of its particles in the scene's arrays
    file_ids   index in the mesh's file -> particle of the scene
    x          its positions (W, n, 3) [m], once a Simulation runs the scene
    """

    def __init__(self, name: str, mesh: TriMesh, rest: TriMesh, material: Fabric, start: int) -> None:
        self.name = name
        self.mesh = mesh
        self.rest = rest
        self.material = material
        self.vertices = slice(start, start + mesh.n_vertices)
        self.file_ids = np.asarray(mesh.file_ids) + start
        self.pins = np.zeros(0, np.int64)
        self.membrane = "triangles"
        self.bending = "isometric"
        self.warp_direction: Array | None = None
        self.velocity = np.zeros(3)
        self.air = Air()
        self.followed: list[tuple[Array, Motion | Collider]] = []
        self._simulation: weakref.ref[Simulation] | None = None

    def __repr__(self) -> str:
        return f'Cloth("{self.name}", {self.mesh.n_vertices} vertices, {self.material.name})'

    @property
    def simulation(self) -> Simulation:
        """The simulation that runs this cloth. Raises SceneError when there is none, or none any more."""
        running = None if self._simulation is None else self._simulation()
        if running is None:
            raise SceneError(
                f'cloth "{self.name}" is not being simulated: make a pliant.Simulation first, and keep it'
            )
        return running

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_simulation": None}  # a copy is a scene of its own

    @property
    def x(self) -> Array:
        """Positions (W, n, 3) [m], a copy."""
        sim = self.simulation
        return sim.state.gather(np.arange(self.vertices.start, self.vertices.stop))

    def set_targets(self, ids: Any, x: Any, worlds: Any = None) -> None:
        """Where pinned vertices (by the file's indices) shall be after the next step, (W', n, 3) [m].

        The pins move there at constant speed over the substeps of that step. Raises SceneError for a vertex
        that is not pinned, or that follows a frame.
        """
        led = np.concatenate([np.zeros(0, int), *(p for p, _ in self.followed)])
        for i in self.particles(ids):
            if i in led:
                raise SceneError(f'cloth "{self.name}": particle {i} follows a frame; that alone moves it')
        self.simulation.control.set_pins(self.particles(ids), x, worlds)

    def follow(self, ids: Any, frame: Motion | Collider) -> None:
        """Pin vertices (file indices) to a frame that carries them rigidly from where they start.

        frame: a motion (:class:`pliant.Keyframes`, :class:`pliant.Steady`, a function of your own), whose
        pose at time 0 belongs to the start, or a collider, moving or moved by hand. To be said before a
        Simulation is made; each vertex follows one frame.
        """
        if self._simulation is not None and self._simulation() is not None:
            raise SceneError(f'cloth "{self.name}": follow() comes before the Simulation is made')
        if not (callable(frame) or isinstance(frame, Collider)):
            raise SceneError(f'cloth "{self.name}": frame must be a motion or a collider, not {frame!r}')
        particles = np.unique(self.particles(ids))
        for led, _ in self.followed:
            if np.intersect1d(led, particles).size:
                raise SceneError(f'cloth "{self.name}": a vertex of {ids!r} follows another frame already')
        self.pins = np.union1d(self.pins, particles)
        self.followed.append((particles, frame))

    def particles(self, ids: Any) -> Array:
        """Particles of the scene for vertices given by the file's indices."""
        ids = np.atleast_1d(np.asarray(ids))
        bad = ids[(ids < 0) | (ids >= len(self.file_ids))] if ids.size else ids
        if not np.issubdtype(ids.dtype, np.integer) and ids.size:
            raise SceneError(f'cloth "{self.name}": vertex indices must be integers, got {ids.dtype}')
        if bad.size:
            raise SceneError(
                f'cloth "{self.name}": vertex {int(bad[0])} does not exist; '
                f"the mesh has vertices 0 to {len(self.file_ids) - 1}"
            )
        return self.file_ids[ids.astype(int)].astype(np.int64)


@dataclass(frozen=True)
class Collider:
    """A placed collider."""

    name: str
    shape: Shape
    position: Array
    rotation: Array
    friction: float | None
    friction_static: float | None
    motion: Motion | None = None


@dataclass(frozen=True)
class Attachment:
    """Springs from particles to points in space, of a scene's attachments those from ``first`` on.

    frame: what carries the points, a motion or a collider.
    """

    cloth: Cloth
    first: int
    particles: Array
    targets: Array
    stiffness: float
    damping_time: float
    frame: Motion | Collider | None = None

    def set_targets(self, x: Any, worlds: Any = None) -> None:
        """Where the points shall be after the next step, (W', n, 3) [m]; they move there at constant speed.

        Raises SceneError where a frame carries them.
        """
        if self.frame is not None:
            raise SceneError("the targets of this attachment follow a frame; that alone moves them")
        rows = slice(self.first, self.first + len(self.particles))
        self.cloth.simulation.control.set_attachments(x, worlds, rows)


class Scene:
    """Cloths, colliders, pins, attachments and what surrounds them.

    gravity      [m/s^2]
    air_drag     [1/s] slows every particle by ``a = -air_drag v``: simple damping, the same for any shape
    air_density  [kg/m^3] of air that pushes on faces; without it there is none, or 1.2 where wind is given
    wind         velocity of the air [m/s], or a function of the time [s] that returns it

    Gravity and wind may be set per world: :meth:`pliant.Simulation.set`.
    """

    def __init__(
        self,
        gravity: Vector = (0.0, 0.0, -9.81),
        air_drag: float = 0.0,
        *,
        air_density: float | None = None,
        wind: Vector | Wind = (0.0, 0.0, 0.0),
    ) -> None:
        self.gravity = _vector(gravity, "gravity")
        self.wind: Array | Wind = wind if callable(wind) else _vector(wind, "wind")
        blows = callable(self.wind) or bool(self.wind.any())
        density = (SEA_LEVEL if blows else 0.0) if air_density is None else air_density
        if not (np.isfinite(density) and density >= 0):
            raise SceneError(f"air_density is {density!r}, it must be a finite number, at least 0 [kg/m^3]")
        if blows and density == 0:
            raise SceneError("wind without air: leave air_density out, or give it more than 0 [kg/m^3]")
        self.air_density = float(density)
        if not (np.isfinite(air_drag) and air_drag >= 0):
            raise SceneError(f"air_drag is {air_drag!r}, it must be a finite number, at least 0 [1/s]")
        self.air_drag = float(air_drag)
        self.cloths: list[Cloth] = []
        self.colliders: list[Collider] = []
        self.attachments: list[Attachment] = []
        self.pressures: list[Pressure] = []

    def __repr__(self) -> str:
        return f"Scene({self.cloths}, {len(self.colliders)} colliders, {len(self.attachments)} attachments)"

    def add_cloth(
        self,
        mesh: TriMesh,
        material: Fabric,
        position: Vector = (0.0, 0.0, 0.0),
        rotation: Any = None,
        pins: Any = (),
        *,
        rest_mesh: TriMesh | None = None,
        warp_direction: Vector | None = None,
        start: Any = None,
        velocity: Vector = (0.0, 0.0, 0.0),
        membrane: str | None = None,
        bending: str = "isometric",
        drag_coefficient: float = 1.2,
        skin_friction: float = 0.01,
        name: str | None = None,
    ) -> Cloth:
        """Add a cloth.

        position [m] and rotation (axis times angle [rad], a quaternion w x y z, or a 3 x 3 matrix) place the
        mesh; pins are indices of the file's vertices held in place; rest_mesh gives another unstressed shape
        (same faces), start other initial positions (n, 3); membrane "triangles" (ARAP with trace row),
        "orthotropic" (woven: the default for a fabric with a weft or shear modulus), "edges" (calibrated
        springs) or "none"; warp_direction (3,) where the warp of a woven fabric runs in the rest shape;
        bending "isometric" (flat at rest), "curved", "dihedral" (any rest shape), "dihedral_acos" (baseline)
        or "none". drag_coefficient and skin_friction: force of air across and along a face over
        rho A v^2/2, both sides together; they matter where the scene has an air_density.
        """
        if not isinstance(mesh, TriMesh):
            raise SceneError(
                f"add_cloth: mesh must be a TriMesh (pl.read_mesh, pl.shapes), not {type(mesh).__name__}"
            )
        if not isinstance(material, Fabric):
            raise SceneError(f"add_cloth: material must be a Fabric, not {type(material).__name__}")
        if membrane is None:
            membrane = "orthotropic" if material.orthotropic else "triangles"
        _choice("membrane", membrane, MEMBRANES)
        _choice("bending", bending, BENDINGS)
        name = self._free_name(name or mesh.name)
        if material.orthotropic:
            _woven(name, material, membrane, warp_direction)
        turn = np.eye(3) if rotation is None else rotation_matrix(rotation)
        placed = mesh.transformed(position=_vector(position, f'cloth "{name}": position'), rotation=turn)
        if start is not None:
            placed = self._started(placed, start, name)
        rest = mesh if rest_mesh is None else rest_mesh
        if rest.n_vertices != mesh.n_vertices or not np.array_equal(rest.triangles, mesh.triangles):
            raise SceneError(f'cloth "{name}": rest_mesh must have the same vertices and faces as mesh')
        topology.hinges(mesh.triangles)  # refuses edges shared by more than two faces
        cloth = Cloth(name, placed, rest, material, self.n_particles)
        cloth.pins = np.unique(cloth.particles(np.asarray(pins, dtype=int)))
        cloth.membrane, cloth.bending = membrane, bending
        cloth.velocity = _vector(velocity, f'cloth "{name}": velocity')
        cloth.air = Air(drag_coefficient, skin_friction)
        if warp_direction is not None:
            cloth.warp_direction = _vector(warp_direction, f'cloth "{name}": warp_direction')
        self.cloths.append(cloth)
        return cloth

    def add_collider(
        self,
        shape: Shape,
        position: Vector = (0.0, 0.0, 0.0),
        rotation: Any = None,
        friction: float | None = None,
        friction_static: float | None = None,
        name: str | None = None,
        motion: Motion | None = None,
    ) -> Collider:
        """Add a collider, fixed or moving.

        motion gives (position, rotation) for a time [s] and then replaces position= and rotation=: Keyframes,
        Steady, or a function of your own (:mod:`pliant.geometry.motion`). The same in every world.

        friction is the kinetic Coulomb coefficient (default: the cloth's own), friction_static the one
        that holds a particle at rest (default: equal to the kinetic one, never smaller).
        """
        if not isinstance(shape, Shape):
            raise SceneError(
                f"add_collider: shape must be Plane, Sphere, Cylinder, Capsule, Box or MeshCollider, "
                f"not {type(shape).__name__}"
            )
        name = name or f"{_kind(shape)} {len(self.colliders)}"
        for key, value in (("friction", friction), ("friction_static", friction_static)):
            if value is not None and not (np.isfinite(value) and value >= 0):
                raise SceneError(f'collider "{name}": {key} is {value!r}, it must be at least 0')
        if friction_static is not None and friction_static < (friction or 0.0):
            raise SceneError(f'collider "{name}": friction_static must not be smaller than friction')
        turn = np.eye(3) if rotation is None else rotation_matrix(rotation)
        where = _vector(position, f'collider "{name}": position')
        if motion is not None:
            where, turn = checked_pose(motion, 0.0, f'collider "{name}"')
        self.colliders.append(Collider(name, shape, where, turn, friction, friction_static, motion))
        return self.colliders[-1]

    def add_attachment(
        self,
        cloth: Cloth,
        ids: Any,
        targets: Any = None,
        stiffness: float = 1e3,
        damping_time: float = 0.0,
        *,
        frame: Motion | Collider | None = None,
    ) -> Attachment:
        """Tie vertices (file indices) to points (n, 3) [m] by springs of a stiffness [N/m] each.

        targets default to where the vertices start. frame carries them rigidly from there: a motion
        (:class:`pliant.Keyframes`, :class:`pliant.Steady`, a function of your own), whose pose at time 0
        belongs to the start, or a collider, moving or moved by hand. Without one, ``set_targets`` of what
        this returns moves them.
        """
        if not (frame is None or callable(frame) or isinstance(frame, Collider)):
            raise SceneError(f"add_attachment: frame must be a motion or a collider, not {frame!r}")
        particles = cloth.particles(ids)
        if not (np.isfinite(stiffness) and stiffness > 0):
            raise SceneError(f"add_attachment: stiffness is {stiffness!r}, it must be greater than 0 [N/m]")
        if not (np.isfinite(damping_time) and damping_time >= 0):
            raise SceneError(f"add_attachment: damping_time is {damping_time!r}, it must be at least 0 [s]")
        here = cloth.mesh.vertices[particles - cloth.vertices.start]
        points = here if targets is None else np.broadcast_to(np.asarray(targets, float), here.shape)
        if not np.isfinite(points).all():
            raise SceneError("add_attachment: targets hold a value that is not finite")
        first = sum(len(a.particles) for a in self.attachments)
        self.attachments.append(
            Attachment(cloth, first, particles, points.copy(), float(stiffness), float(damping_time), frame)
        )
        return self.attachments[-1]

    def add_pressure(
        self,
        cloth: Cloth,
        pressure: float,
        *,
        gas: bool = False,
        open: bool = False,
        volume: float | None = None,
        ambient: float = ATMOSPHERE,
    ) -> Pressure:
        """Press on the faces of a cloth from inside, by ``pressure`` [Pa] over what surrounds it.

        The cloth must be closed; its faces are oriented outwards piece by piece. ``open=True`` takes an open
        one: pressed on one side, along the normals of its faces (of the first face of each piece, if they
        are not wound alike).

        gas      the pressure follows the volume, ``(pressure + ambient) V0 = (p + ambient) V``: isothermal
        volume   V0 [m^3], the volume that ``pressure`` belongs to (default: what the cloth encloses where it
                 starts); ambient [Pa]: pressure outside, which a gas also works against

        Set it per world with ``set`` of the handle. Raises SceneError for a cloth with a boundary, which it
        names.
        """
        if not any(c is cloth for c in self.cloths):
            raise SceneError("add_pressure: the cloth does not belong to this scene")
        if any(p.cloth is cloth for p in self.pressures):
            raise SceneError(f'add_pressure: cloth "{cloth.name}" has a pressure already; set that one')
        row = len(self.pressures)
        self.pressures.append(checked_pressure(cloth, row, pressure, gas, open, volume, ambient))
        return self.pressures[-1]

    @property
    def n_particles(self) -> int:
        """Particles of all cloths so far."""
        return sum(c.mesh.n_vertices for c in self.cloths)

    def build(self, worlds: int = 1, dtype: Any = "float64") -> Model:
        """The Model of ``worlds`` copies of this scene in float32 or float64."""
        return build_model(self, worlds, dtype)

    def _free_name(self, name: str) -> str:
        taken = {c.name for c in self.cloths}
        if name not in taken:
            return name
        k = 2
        while f"{name} {k}" in taken:
            k += 1
        return f"{name} {k}"

    @staticmethod
    def _started(placed: TriMesh, start: Any, name: str) -> TriMesh:
        x = np.asarray(start, float)
        if x.shape != placed.vertices.shape or not np.isfinite(x).all():
            raise SceneError(
                f'cloth "{name}": start must be finite with shape {placed.vertices.shape}, it has {x.shape}'
            )
        return TriMesh(
            x, placed.triangles, file_ids=placed.file_ids, uv=placed.uv, name=name, source=placed.source
        )


def _kind(shape: Shape) -> str:
    return shape.mesh.name if isinstance(shape, MeshCollider) else type(shape).__name__.lower()


def _vector(value: Any, what: str) -> Array:
    v = np.asarray(value, dtype=float)
    if v.shape != (3,) or not np.isfinite(v).all():
        raise SceneError(f"{what} must be three finite numbers, not {value!r}")
    return v


def _woven(name: str, material: Fabric, membrane: str, warp_direction: Any) -> None:
    """Refuse to leave out what a woven fabric says of itself, and to guess where its warp runs."""
    what = f'cloth "{name}": the fabric "{material.name}" is woven (weft_modulus, shear_modulus)'
    if membrane in ("triangles", "edges"):
        raise SceneError(
            f'{what}, membrane="{membrane}" is isotropic; leave membrane out, or take the fabric '
            ".with_(weft_modulus=None, shear_modulus=None)"
        )
    if membrane == "orthotropic" and warp_direction is None:
        raise SceneError(
            f"{what}: give warp_direction, where the warp runs in the rest shape, for example (1, 0, 0)"
        )


def _choice(what: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise SceneError(f'{what}="{value}" is unknown; choose one of {", ".join(choices)}')
