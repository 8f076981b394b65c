"""Scene: what is simulated, in SI units, z up. ``build`` turns it into a Model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np

from .bodies import Attachment, Body, Cloth, Collider, Solid, one_each
from .build import build_model
from .errors import MeshError, SceneError
from .garments.garment import Garment
from .geometry.colliders import MeshCollider, Shape
from .geometry.mesh import TriMesh, rotation_matrix
from .geometry.motion import Motion, checked_pose
from .geometry.tetmesh import TetMesh
from .intake import require_warp, sewn_mesh, taken_in
from .loads import ATMOSPHERE, SEA_LEVEL, Air, Pressure, checked_pressure
from .materials import Fabric, SolidMaterial
from .model import Contact, Model
from .ties import Tie, tied

__all__ = ["BENDINGS", "MEMBRANES", "SOLID_LAWS", "Attachment", "Body", "Cloth", "Collider", "Scene", "Solid"]

Array = np.ndarray
Vector = Sequence[float] | np.ndarray
"""Three numbers."""
Wind = Callable[[float], Any]
"""Velocity of the air [m/s] at a time [s]: (3,), or (W, 3) where worlds differ."""

MEMBRANES = ("triangles", "orthotropic", "edges", "none")
BENDINGS = ("isometric", "curved", "dihedral", "dihedral_acos", "none")
SOLID_LAWS = ("arap", "neo_hookean", "volume")


class Scene:
    """Cloths, solids, colliders, pins, attachments and what surrounds them.

    gravity      [m/s^2]
    air_drag     [1/s] slows every particle by ``a = -air_drag v``: simple damping, the same for any shape
    air_density  [kg/m^3] of air that pushes on faces; without it there is none, or 1.2 where wind is given
    wind         velocity of the air [m/s], or a function of the time [s] that returns it
    contact      :class:`pliant.Contact` of bodies with themselves and each other; None: they pass through

    Gravity and wind may be set per world: :meth:`pliant.Simulation.set`.
    """

    def __init__(
        self,
        gravity: Vector = (0.0, 0.0, -9.81),
        air_drag: float = 0.0,
        *,
        air_density: float | None = None,
        wind: Vector | Wind = (0.0, 0.0, 0.0),
        contact: Contact | None = None,
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
        self.contact = contact
        self.bodies: list[Body] = []
        self.colliders: list[Collider] = []
        self.attachments: list[Attachment] = []
        self.pressures: list[Pressure] = []
        self.ties: list[Tie] = []

    def __repr__(self) -> str:
        return f"Scene({self.bodies}, {len(self.colliders)} colliders, {len(self.attachments)} attachments)"

    @property
    def cloths(self) -> list[Cloth]:
        """The cloths among the bodies, in the order they were added."""
        return [b for b in self.bodies if isinstance(b, Cloth)]

    @property
    def solids(self) -> list[Solid]:
        """The solids among the bodies, in the order they were added."""
        return [b for b in self.bodies if isinstance(b, Solid)]

    def add_cloth(
        self,
        mesh: TriMesh | Garment,
        material: Fabric,
        position: Vector = (0.0, 0.0, 0.0),
        rotation: Any = None,
        pins: Any = (),
        *,
        rest_mesh: TriMesh | Any = None,
        warp_direction: Vector | None = None,
        start: Any = None,
        weld: bool = True,
        velocity: Vector = (0.0, 0.0, 0.0),
        membrane: str | None = None,
        bending: str = "isometric",
        drag_coefficient: float = 1.2,
        skin_friction: float = 0.01,
        name: str | None = None,
    ) -> Cloth:
        """Add a cloth: a mesh, or a sewn garment, whose flat panels are its rest shape and give its warp.

        position [m] and rotation (axis times angle [rad], a quaternion w x y z, or a 3 x 3 matrix) place the
        mesh; pins are indices of the file's vertices held in place; rest_mesh gives another unstressed shape,
        a mesh with the same faces or places (n, 2) or (n, 3) [m] of the vertices, start other initial
        positions (n, 3); membrane "triangles" (ARAP with trace row), "orthotropic" (woven: the default for a
        fabric with a weft or shear modulus), "edges" (calibrated springs) or "none"; warp_direction (3,)
        where the warp of a woven fabric runs in the rest shape; bending "isometric" (flat at rest), "curved",
        "dihedral" (any rest shape), "dihedral_acos" (baseline) or "none". drag_coefficient and skin_friction:
        force of air across and along a face over rho A v^2/2, both sides together; they matter where the
        scene has an air_density.

        A mesh of several pieces is one cloth. Vertices on seams that were split for texture are joined
        (weld=False leaves them, and layers on each other), backs of double-sided sheets and vertices that no
        face uses are left out, with a MeshWarning; file indices still hold. Edges of three faces raise
        MeshError.
        """
        if isinstance(mesh, Garment):
            mesh, rest_mesh, warp_direction, weld = sewn_mesh(mesh, rest_mesh, warp_direction)
        if not isinstance(mesh, TriMesh):
            what = f"a TriMesh (pl.read_mesh, pl.shapes) or a Garment, not {type(mesh).__name__}"
            raise SceneError(f"add_cloth: mesh must be {what}")
        if not isinstance(material, Fabric):
            raise SceneError(f"add_cloth: material must be a Fabric, not {type(material).__name__}")
        if membrane is None:
            membrane = "orthotropic" if material.orthotropic else "triangles"
        _choice("membrane", membrane, MEMBRANES)
        _choice("bending", bending, BENDINGS)
        name = self._free_name(name or mesh.name)
        if material.orthotropic:
            require_warp(name, material, membrane, warp_direction)
        turn = np.eye(3) if rotation is None else rotation_matrix(rotation)
        where = _vector(position, f'cloth "{name}": position')
        given = taken_in(mesh, rest_mesh, start, weld, name)
        placed = given.mesh.transformed(position=where, rotation=turn)
        if given.start is not None:
            placed = replace(placed, vertices=given.start, name=name)
        cloth = Cloth(name, placed, given.rest, material, self.n_particles)
        cloth.pins = np.unique(cloth.particles(np.asarray(pins, dtype=int)))
        cloth.membrane, cloth.bending = membrane, bending
        cloth.velocity = _vector(velocity, f'cloth "{name}": velocity')
        cloth.air = Air(drag_coefficient, skin_friction)
        if warp_direction is not None:
            cloth.warp_direction = _vector(warp_direction, f'cloth "{name}": warp_direction')
        self.bodies.append(cloth)
        return cloth

    def add_solid(
        self,
        mesh: TetMesh,
        material: SolidMaterial,
        position: Vector = (0.0, 0.0, 0.0),
        rotation: Any = None,
        pins: Any = (),
        *,
        rest_mesh: TetMesh | None = None,
        start: Any = None,
        velocity: Vector = (0.0, 0.0, 0.0),
        law: str = "arap",
        contact_radius: float = 0.0,
        drag_coefficient: float = 0.5,
        skin_friction: float = 0.01,
        name: str | None = None,
    ) -> Solid:
        """Add a solid, a body of tetrahedra.

        position, rotation, pins, velocity, drag_coefficient and skin_friction as for :meth:`add_cloth`;
        rest_mesh gives another unstressed shape (same tetrahedra), start other initial positions (n, 3), flat
        or inside out if need be; law "arap", "neo_hookean" or "volume" (no resistance to shear); the surface
        keeps contact_radius [m] from colliders.
        """
        if not isinstance(mesh, TetMesh):
            why = (
                f"add_solid: mesh must be a TetMesh (pl.read_mesh, pl.shapes.bar), not {type(mesh).__name__}"
            )
            if isinstance(mesh, TriMesh):
                why += f"; {mesh.source or mesh.name} has no tetrahedra, mesh its volume too"
            raise SceneError(why)
        if not isinstance(material, SolidMaterial):
            raise SceneError(f"add_solid: material must be a SolidMaterial, not {type(material).__name__}")
        _choice("law", law, SOLID_LAWS)
        name = self._free_name(name or mesh.name)
        turn = np.eye(3) if rotation is None else rotation_matrix(rotation)
        placed = mesh.transformed(position=_vector(position, f'solid "{name}": position'), rotation=turn)
        if start is not None:
            try:
                placed = placed.with_vertices(start)
            except MeshError as error:
                raise SceneError(f'solid "{name}": start: {error}') from error
        rest = mesh if rest_mesh is None else rest_mesh
        if rest.n_vertices != mesh.n_vertices or not np.array_equal(rest.tets, mesh.tets):
            raise SceneError(
                f'solid "{name}": rest_mesh must have the same vertices and tetrahedra as mesh; to begin in '
                "another shape, give that as start="
            )
        if not (np.isfinite(contact_radius) and contact_radius >= 0):
            raise SceneError(
                f'solid "{name}": contact_radius is {contact_radius!r}, it must be at least 0 [m]'
            )
        solid = Solid(name, placed, rest, material, self.n_particles)
        solid.pins = np.unique(solid.particles(np.asarray(pins, dtype=int)))
        solid.law, solid.skin = law, float(contact_radius)
        solid.velocity = _vector(velocity, f'solid "{name}": velocity')
        solid.air = Air(drag_coefficient, skin_friction)
        self.bodies.append(solid)
        return solid

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

        friction is the kinetic Coulomb coefficient (default: the body's own), friction_static the one
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

    @overload
    def add_attachment(
        self,
        body: Body,
        ids: Any,
        targets: Body,
        stiffness: float = 1e3,
        damping_time: float = 0.0,
        *,
        onto: Any = None,
        gap: float | str | None = None,
    ) -> Tie: ...
    @overload
    def add_attachment(
        self,
        body: Body,
        ids: Any,
        targets: Any = None,
        stiffness: float = 1e3,
        damping_time: float = 0.0,
        *,
        frame: Motion | Collider | None = None,
    ) -> Attachment: ...
    def add_attachment(
        self,
        body: Body,
        ids: Any,
        targets: Any = None,
        stiffness: float = 1e3,
        damping_time: float = 0.0,
        *,
        frame: Motion | Collider | None = None,
        onto: Any = None,
        gap: float | str | None = None,
    ) -> Attachment | Tie:
        """Tie vertices (file indices) to points (n, 3) [m] or to a body by springs of a stiffness [N/m] each.

        targets may be a body: each vertex is tied to the nearest place on its surface, and both feel it. They
        are glued as they start (gap "keep"), or pulled to a distance ``gap`` [m] over the surface. ``onto``
        sews them onto vertices of the body instead (its file's indices), one for each; the body may then be
        the same cloth. A stiffness of inf makes ties rigid.

        targets default to where the vertices start. frame carries them rigidly from there: a motion
        (:class:`pliant.Keyframes`, :class:`pliant.Steady`, a function of your own), whose pose at time 0
        belongs to the start, or a collider, moving or moved by hand. Without one, ``set_targets`` of what
        this returns moves them.
        """
        if not (frame is None or callable(frame) or isinstance(frame, Collider)):
            raise SceneError(f"add_attachment: frame must be a motion or a collider, not {frame!r}")
        particles = body.particles(ids)
        to_body = isinstance(targets, Body)
        if not (stiffness > 0 and (to_body or np.isfinite(stiffness))):
            raise SceneError(f"add_attachment: stiffness is {stiffness!r}, it must be greater than 0 [N/m]")
        if not (np.isfinite(damping_time) and damping_time >= 0):
            raise SceneError(f"add_attachment: damping_time is {damping_time!r}, it must be at least 0 [s]")
        if to_body:
            if frame is not None or not any(c is targets for c in self.bodies):
                raise SceneError("add_attachment: a body must be of this scene, and needs no frame")
            self.ties.append(tied(body, ids, targets, onto, gap, float(stiffness), float(damping_time)))
            return self.ties[-1]
        here = body.mesh.vertices[particles - body.vertices.start]
        points = here if targets is None else np.broadcast_to(np.asarray(targets, float), here.shape)
        if not np.isfinite(points).all():
            raise SceneError("add_attachment: targets hold a value that is not finite")
        held, kept = body.named(ids)
        named = particles if len(held) < len(particles) else None
        points = np.array(one_each(points, particles, kept))
        first = sum(len(a.particles) for a in self.attachments)
        self.attachments.append(
            Attachment(body, first, held, points, float(stiffness), float(damping_time), frame, named)
        )
        return self.attachments[-1]

    def add_pressure(
        self,
        body: Body,
        pressure: float,
        *,
        gas: bool = False,
        open: bool = False,
        volume: float | None = None,
        ambient: float = ATMOSPHERE,
    ) -> Pressure:
        """Press on a cloth, or on a solid's surface, from inside, by ``pressure`` [Pa] over the outside.

        The surface must be closed; its faces are oriented outwards piece by piece. ``open=True`` takes an
        open one: pressed on one side, along the normals of its faces (of the first face of each piece, if
        they are not wound alike).

        gas      the pressure follows the volume, ``(pressure + ambient) V0 = (p + ambient) V``: isothermal
        volume   V0 [m^3], the volume that ``pressure`` belongs to (default: what the body encloses where it
                 starts); ambient [Pa]: pressure outside, which a gas also works against

        Set it per world with ``set`` of the handle. Raises SceneError for one with a boundary, which it
        names.
        """
        if not any(b is body for b in self.bodies):
            raise SceneError("add_pressure: the body does not belong to this scene")
        if any(p.body is body for p in self.pressures):
            raise SceneError(f'add_pressure: {body.kind} "{body.name}" has a pressure already; set that one')
        row = len(self.pressures)
        self.pressures.append(checked_pressure(body, row, pressure, gas, open, volume, ambient))
        return self.pressures[-1]

    @property
    def n_particles(self) -> int:
        """Particles of all bodies so far."""
        return sum(b.mesh.n_vertices for b in self.bodies)

    def build(self, worlds: int = 1, dtype: Any = "float64") -> Model:
        """The Model of ``worlds`` copies of this scene in float32 or float64."""
        return build_model(self, worlds, dtype)

    def _free_name(self, name: str) -> str:
        taken = {b.name for b in self.bodies}
        if name not in taken:
            return name
        k = 2
        while f"{name} {k}" in taken:
            k += 1
        return f"{name} {k}"


def _kind(shape: Shape) -> str:
    return shape.mesh.name if isinstance(shape, MeshCollider) else type(shape).__name__.lower()


def _vector(value: Any, what: str) -> Array:
    v = np.asarray(value, dtype=float)
    if v.shape != (3,) or not np.isfinite(v).all():
        raise SceneError(f"{what} must be three finite numbers, not {value!r}")
    return v


def _choice(what: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise SceneError(f'{what}="{value}" is unknown; choose one of {", ".join(choices)}')
