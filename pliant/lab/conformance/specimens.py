"""The scenes and models that the rows run: small, near the origin, every number stated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...geometry import shapes
from ...geometry.colliders import Plane, Sphere
from ...geometry.mesh import TriMesh
from ...materials import Fabric, SolidMaterial
from ...model import Block, Model
from ...scene import Scene
from ...simulation import Simulation
from .case import Case, Run

Array = np.ndarray

G = 9.81

SOFT = Fabric(
    "soft",
    areal_density=0.2,
    thickness=5e-4,
    youngs_modulus=4e5,
    poisson_ratio=0.3,
    bending_rigidity=1e-4,
    damping_time=0.0,
    friction=0.4,
)
"""Undamped, E t = 200 N/m: soft enough that a few sweeps resolve it."""

WOVEN = SOFT.with_(name="woven", weft_modulus=2e5, shear_modulus=5e4, strain_limit=0.005)
"""Twice as stiff along the warp as along the weft, soft in shear, and no more than half a per cent longer."""

ALONG_X = (0.5 * np.pi, 0.0, 0.0)
"""Rotation that stands a sheet of the x-y plane up in the x-z plane, y becoming z."""


LUMP = SolidMaterial("lump", density=500.0, youngs_modulus=2e4, poisson_ratio=0.4, friction=0.4)
"""Undamped, slow: waves cross a cell of :func:`two_solids` in some 5 ms."""


@dataclass(frozen=True)
class Units:
    """Factors on length, time and mass."""

    length: float = 1.0
    time: float = 1.0
    mass: float = 1.0

    def of(self, length: int = 0, time: int = 0, mass: int = 0) -> float:
        """Factor on a quantity of these dimensions."""
        return self.length**length * self.time**time * self.mass**mass

    def fabric(self, m: Fabric) -> Fabric:
        """The material in these units."""
        return m.with_(
            areal_density=m.areal_density * self.of(-2, 0, 1),
            thickness=m.thickness * self.of(1),
            youngs_modulus=m.youngs_modulus * self.of(-1, -2, 1),
            bending_rigidity=m.bending_rigidity * self.of(2, -2, 1),
            damping_time=m.damping_time * self.of(0, 1),
            weft_modulus=None if m.weft_modulus is None else m.weft_modulus * self.of(-1, -2, 1),
            shear_modulus=None if m.shear_modulus is None else m.shear_modulus * self.of(-1, -2, 1),
        )

    def solid(self, m: SolidMaterial) -> SolidMaterial:
        """The material in these units."""
        return m.with_(
            density=m.density * self.of(-3, 0, 1),
            youngs_modulus=m.youngs_modulus * self.of(-1, -2, 1),
            damping_time=m.damping_time * self.of(0, 1),
        )


SI = Units()


def patch(
    gravity: float = 0.0, n: int = 5, size: float = 1.0, velocity: Any = (0, 0, 0), pins: Any = ()
) -> Scene:
    """A flat square sheet, membrane and isometric bending."""
    scene = Scene(gravity=(0, 0, -gravity))
    scene.add_cloth(shapes.grid(n, n, (size, size)), SOFT, velocity=velocity, pins=pins)
    return scene


def arch_mesh(size: float = 1.0) -> TriMesh:
    """A third of a tube whose axis is y, ``size`` along its arc."""
    flat = shapes.grid(6, 4, (1.0, 0.6))
    x, y = flat.vertices[:, 0], flat.vertices[:, 1]
    arc = np.stack([0.5 * np.sin(2 * x), y, 0.5 * np.cos(2 * x)], axis=1)
    return TriMesh(size * arc, flat.triangles, name="arch")


def arch() -> Scene:
    """A third of a tube, curved at rest, membrane and signed dihedral bending; no gravity."""
    scene = Scene(gravity=(0, 0, 0))
    scene.add_cloth(arch_mesh(), SOFT, bending="dihedral")
    return scene


def two_sheets(units: Units = SI, *, gravity: float = G, contact: bool = True, pinned: bool = True) -> Scene:
    """Two sheets with every kind of constraint, over a ball and a floor.

    The first: triangles, isometric bending, a pinned corner, two attached vertices. The second: springs,
    dihedral bending, damping, a rest shape of its own.
    """
    one = units.of(1)
    scene = Scene(gravity=(0, 0, -gravity * units.of(1, -2)), air_drag=0.25 * units.of(0, -1))
    a = scene.add_cloth(
        shapes.grid(9, 9, (0.5 * one, 0.5 * one)),
        units.fabric(SOFT),
        position=(0, 0, 0.125 * one),
        pins=[0] if pinned else (),
        name="first",
    )
    flat = shapes.grid(5, 5, (0.25 * one, 0.25 * one), "alternating")
    wavy = flat.vertices.copy()
    wavy[:, 2] += 0.5 * wavy[:, 0] * wavy[:, 1] / one
    scene.add_cloth(
        flat,
        units.fabric(SOFT.with_(damping_time=2e-3)),
        position=(0.5 * one, 0, 0.015625 * one),
        rest_mesh=TriMesh(wavy, flat.triangles),
        membrane="edges",
        bending="dihedral",
        name="second",
    )
    if pinned:
        scene.add_attachment(a, [8, 72], stiffness=5.0 * units.of(0, -2, 1))
    if contact:
        scene.add_collider(Sphere(0.125 * one), position=(0, 0, -0.03125 * one), friction=0.25)
        scene.add_collider(Plane(), friction=0.3, friction_static=0.5)
    return scene


def woven_sheets(
    units: Units = SI, *, gravity: float = G, contact: bool = True, pinned: bool = True, apart: bool = True
) -> Scene:
    """Two woven arches over a floor, with a limit of strain and a curved rest shape, tied to each other.

    The second and its ties are damped. The ties pull the sheets ``apart`` by 1/32 m, or are at rest.
    """
    one = units.of(1)
    scene = Scene(gravity=(0, 0, -gravity * units.of(1, -2)), air_drag=0.25 * units.of(0, -1))
    for k, tau in enumerate((0.0, 2e-3)):
        scene.add_cloth(
            arch_mesh(0.5 * one),
            units.fabric(WOVEN.with_(damping_time=tau)),
            position=(0.5 * k * one, 0, -0.125 * one),
            pins=[0] if pinned and k == 0 else (),
            bending="curved",
            warp_direction=(0.25, 1, 0),
        )
    first, second = scene.cloths
    stiffness, far = 2.0 * units.of(0, -2, 1), 0.03125 * one if apart else "keep"
    scene.add_attachment(first, [5, 11], second, stiffness, 2e-3 * units.of(0, 1), gap=far)
    if contact:
        scene.add_collider(Plane(), friction=0.3, friction_static=0.5)
    return scene


SHEETS = (two_sheets, woven_sheets)
"""Scenes that have every law of cloth between them; all take the same arguments."""


def blown(contact: bool = True) -> Scene:
    """Everything that acts on faces, over a floor: a flag and a pressed sheet in wind, a ball of gas.

    The gas has the pressure of the atmosphere behind it, so that it hardly yields.
    """
    scene = Scene(gravity=(0, 0, -G), air_density=1.25, wind=(2.0, 1.0, 0.5))
    scene.add_cloth(
        shapes.grid(5, 5, (0.5, 0.5)),
        SOFT,
        position=(0, 0, 0.25),
        rotation=ALONG_X,
        pins=[0, 20],
        name="flag",
    )
    ball = scene.add_cloth(shapes.sphere(0.125, 1), SOFT, position=(1, 0, 0.15), bending="none", name="ball")
    sheet = scene.add_cloth(shapes.grid(4, 4, (0.25, 0.25)), SOFT, position=(2, 0, 0.05), name="sheet")
    scene.add_pressure(ball, 50.0, gas=True)
    scene.add_pressure(sheet, 2.0, open=True)
    if contact:
        scene.add_collider(Plane(), friction=0.3)
    return scene


def two_solids(units: Units = SI, *, gravity: float = G, contact: bool = True, pinned: bool = True) -> Scene:
    """A damped ARAP bar and a neo-Hookean ball, over a ball and a floor.

    The bar is pinned at a corner, the ball's rest shape is not the one that it starts in.
    """
    one = units.of(1)
    scene = Scene(gravity=(0, 0, -gravity * units.of(1, -2)), air_drag=0.25 * units.of(0, -1))
    scene.add_solid(
        shapes.bar((0.25 * one, 0.125 * one, 0.125 * one), (4, 2, 2)),
        units.solid(LUMP.with_(damping_time=2e-3)),
        position=(0, 0, 0.1875 * one),
        pins=[0] if pinned else (),
        name="bar",
    )
    ball = shapes.ball(0.125 * one, 2)
    scene.add_solid(
        ball,
        units.solid(LUMP),
        position=(0.5 * one, 0, 0.140625 * one),
        rest_mesh=ball.with_vertices(ball.vertices * np.array([1.0, 1.0, 1.0625])),
        law="neo_hookean",
        contact_radius=0.0078125 * one,
        name="ball",
    )
    if contact:
        scene.add_collider(Sphere(0.125 * one), position=(0, 0, -0.0078125 * one), friction=0.25)
        scene.add_collider(Plane(), friction=0.3, friction_static=0.5)
    return scene


def dress(run: Run | Simulation, case: Case, ids: Any = None, units: Units = SI) -> None:
    """Make every world different: offset, speed, stiffness, force and pin target, by its number.

    ids   numbers that the run's worlds have in the whole batch (default: 0, 1, 2 ...)
    """
    model = run.model
    ids = range(model.n_worlds) if ids is None else ids
    n, pins = model.n_particles, len(model.pin_ids)
    for local, k in enumerate(ids):
        noise = case.random(4, n, 3, world=k)
        wiggle = 1e-3 * units.of(1) * noise[0]
        wiggle[model.pin_ids] = 0
        drop = np.array([0, 0, 0.03125 * (k % 3)]) * units.of(1)
        run.state.set_x(model.x_rest + wiggle + drop, local)
        run.state.set_v((0.25 * noise[1] + np.array([0.25 * (k % 2), 0, -0.5])) * units.of(1, -1), local)
        run.control.set_force(1e-3 * units.of(1, -2, 1) * noise[2], local)
        run.control.set_pins(
            model.pin_ids, model.x_rest[model.pin_ids] + 1e-2 * units.of(1) * noise[3, :pins], local
        )
        for law in model.blocks:
            run.control.set_scale(law, 1 + 0.25 * (k % 4), local)
        if model.faces is not None:
            run.control.set_wind(model.wind + noise[0, 0], local)
        for row, inside in enumerate(model.pressures):
            run.control.set_pressure(row, inside.pressure * (1 + 0.5 * (k % 3)), local)


def springs(
    case: Case,
    scene: Scene,
    law: str,
    ids: Array,
    params: Array,
    alpha: Any,
    tau: float = 0.0,
    mass: Any = None,
) -> Model:
    """The model of a scene with nothing but these constraints of one law, and other masses [kg]."""
    model = case.build(scene)
    n = len(ids)
    rows = {"distance": 1, "attachment": 3}[law]
    alphas = np.broadcast_to(np.asarray(alpha, float).reshape(-1, 1), (n, rows))
    block = Block.colored(law, ids, params, alphas, np.full(n, tau), model.n_particles)
    masses = model.mass if mass is None else np.broadcast_to(np.asarray(mass, float), model.mass.shape).copy()
    inverse = 1 / masses
    inverse[model.pin_ids] = 0.0
    return replace(model, blocks={law: block}, mass=masses, inv_mass=inverse)


def one_weight(
    case: Case,
    alpha: float,
    tau: float,
    law: str = "distance",
    *,
    air_drag: float = 0.0,
    length: float = 0.0625,
) -> Model:
    """A weight of 2 kg hung on one spring of a rest length [m] (on an attachment: length 0).

    Particle 1 is the weight, 0 holds the spring, 2 is idle; gravity along -z.
    """
    scene = Scene(gravity=(0, 0, -G), air_drag=air_drag)
    corners = np.array([[0, 0, 0], [0, 0, -length], [length, 0, 0]])
    cloth = scene.add_cloth(
        TriMesh(corners, np.array([[0, 2, 1]])), SOFT, pins=[0, 2], membrane="none", bending="none"
    )
    if law == "attachment":
        scene.add_attachment(cloth, [1])
        return springs(case, scene, law, np.array([[1]]), np.zeros((1, 0)), alpha, tau, 2.0)
    return springs(case, scene, law, np.array([[1, 0]]), np.array([[length]]), alpha, tau, 2.0)


LINKS = 8


def chain(case: Case, stretch: float = 0.2) -> tuple[Model, Array]:
    """Two chains of 8 equal springs and 8 weights of 10 g, hung by their tops.

    Links count from the bottom, the first chain's first. Returns the model and the weight below each link
    (16,) [N]; ``stretch`` is the strain of the uppermost link.
    """
    link, mass = 1 / 64, 0.01
    scene = Scene(gravity=(0, 0, -G))
    mesh = shapes.grid(2, LINKS + 1, (link, link * LINKS))
    scene.add_cloth(
        mesh, SOFT, rotation=ALONG_X, pins=[2 * LINKS, 2 * LINKS + 1], membrane="none", bending="none"
    )
    ids = np.array([(2 * k + side, 2 * k + 2 + side) for side in (0, 1) for k in range(LINKS)])
    weight = np.tile(mass * G * np.arange(1, LINKS + 1), 2)
    alpha = stretch * link / weight.max()
    model = springs(case, scene, "distance", ids, np.full((2 * LINKS, 1), link), alpha, 0.0, mass)
    return model, weight


def hanging_sheet(case: Case, poisson: float, n: int = 5) -> Model:
    """A square sheet of 12.5 cm hung by its upper edge, gravity in its plane, 10 % mean strain.

    Masses by the trapezoid rule (a half at a border, a quarter at a corner), so that with Poisson's ratio 0
    the uniform strain of each row of triangles is the exact discrete equilibrium.
    """
    size = 0.125
    scene = Scene(gravity=(0, 0, -G))
    fabric = Fabric(
        "sheet",
        areal_density=0.2,
        thickness=1e-3,
        youngs_modulus=0.2 * G * size / 1e-3 / 0.2,
        poisson_ratio=poisson,
    )
    pins = np.arange(n * (n - 1), n * n)
    scene.add_cloth(shapes.grid(n, n, (size, size)), fabric, rotation=ALONG_X, pins=pins, bending="none")
    model = case.build(scene)
    share = np.ones(n)
    share[[0, -1]] = 0.5
    mass = fabric.areal_density * (size / (n - 1)) ** 2 * np.outer(share, share).ravel()
    inverse = 1 / mass
    inverse[model.pin_ids] = 0.0
    return replace(model, mass=mass, inv_mass=inverse)
