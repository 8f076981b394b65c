"""What the cases are made of: meshes with a closed form, chains, flags, and how their motion is measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import pliant as pl
from pliant.model import Block

Array = np.ndarray

G = 9.81

STAND = (np.pi / 2, 0, 0)
"""Rotation that stands a grid up: its rows of vertices become heights, the last one the top."""


def fabric(stiffness: float = 1000.0, **changes: float) -> pl.Fabric:
    """A sheet of 1 mm and E t [N/m]; no bending, no damping unless asked for."""
    values = {"areal_density": 0.2, "poisson_ratio": 0.3, "bending_rigidity": 0.0} | changes
    return pl.Fabric("case", thickness=1e-3, youngs_modulus=stiffness / 1e-3, **values)


def half_cylinder(n: int = 9, m: int = 5, radius: float = 0.1, width: float = 0.2) -> pl.TriMesh:
    """Half a tube, open downwards: n vertices around, m along; every hinge across it has a rest angle."""
    flat = pl.shapes.grid(n, m, (1.0, width))
    angle = np.pi * (flat.vertices[:, 0] + 0.5)
    x = [-radius * np.cos(angle), flat.vertices[:, 1], radius * np.sin(angle)]
    return pl.TriMesh(np.stack(x, axis=1), flat.triangles, name="arch")


def box_shell(n: int = 5, size: float = 0.2) -> pl.TriMesh:
    """The surface of a cube, n vertices along an edge, wound outwards: closed, folded by right angles."""
    ids: dict[tuple[int, ...], int] = {}
    triangles: list[list[int]] = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, n - 1):
            for i in range(n - 1):
                for j in range(n - 1):
                    quad = []
                    for a, b in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        place = [0, 0, 0]
                        place[axis], place[u], place[v] = side, i + a, j + b
                        quad.append(ids.setdefault(tuple(place), len(ids)))
                    quad = quad if side else quad[::-1]
                    triangles += [quad[:3], [quad[0], quad[2], quad[3]]]
    x = (np.array(list(ids)) / (n - 1) - 0.5) * size
    return pl.TriMesh(x, np.array(triangles), name="box")


def volume(x: Array, triangles: Array) -> float:
    """Volume inside a closed surface [m^3]."""
    a, b, c = (x[triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


HINGE_EDGE = 0.1


def hinge(angle: float) -> pl.TriMesh:
    """Two equilateral triangles that share the edge 0-1, along y; the wing 3 is turned by ``angle``."""
    r = HINGE_EDGE * np.sqrt(0.75)
    x = [
        [0, -HINGE_EDGE / 2, 0],
        [0, HINGE_EDGE / 2, 0],
        [-r, 0, 0],
        [r * np.cos(angle), 0, -r * np.sin(angle)],
    ]
    return pl.TriMesh(np.array(x), np.array([[0, 1, 2], [1, 0, 3]]), name="hinge")


def point_masses(mass: float) -> tuple[pl.Scene, pl.Cloth]:
    """Three loose particles of a mass [kg] each: no membrane, no bending."""
    corners = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]])
    mesh = pl.TriMesh(corners, np.array([[0, 1, 2]]))
    scene = pl.Scene()
    material = fabric(areal_density=3 * mass / 0.005)
    return scene, scene.add_cloth(mesh, material, membrane="none", bending="none")


def chain(links: int, stiffness: float, mass: float, solver: pl.XPBD, dt: float) -> pl.Simulation:
    """Two equal chains of springs [N/m] and masses [kg], hung by their tops; particle 0 is a tip."""
    link = 0.05
    scene = pl.Scene()
    mesh = pl.shapes.grid(2, links + 1, (link, link * links))
    scene.add_cloth(
        mesh, fabric(), rotation=STAND, pins=[2 * links, 2 * links + 1], membrane="none", bending="none"
    )
    model = scene.build()
    ids = np.array([(2 * k + side, 2 * k + 2 + side) for side in (0, 1) for k in range(links)])
    n = len(ids)
    block = Block.colored(
        "distance", ids, np.full((n, 1), link), np.full((n, 1), 1 / stiffness), np.zeros(n), model.n_particles
    )
    masses = np.full(model.n_particles, mass)
    inverse = 1 / masses
    inverse[model.pin_ids] = 0.0
    changed = replace(model, blocks={"distance": block}, mass=masses, inv_mass=inverse)
    return pl.Simulation.of_model(scene, changed, solver, dt=dt)


def settle(sim: pl.Simulation, period: float, times: float) -> None:
    """Run ``times`` slowest periods [s], velocities damped as the critical damping of that mode would."""
    keep = float(np.exp(-4 * np.pi / period * sim.dt))
    for _ in range(round(times * period / sim.dt)):
        sim.step()
        sim.state.set_v(keep * sim.state.v)


def flag(
    solver: pl.XPBD, dt: float = 1 / 60, stiffness: float = 200.0, n: tuple[int, int] = (9, 6), **scene: float
) -> pl.Simulation:
    """A level flag of 0.3 m x 0.2 m, held along one edge (x = -0.15 m)."""
    s = pl.Scene(**scene)
    material = fabric(stiffness, bending_rigidity=1e-4, damping_time=2e-3)
    s.add_cloth(pl.shapes.grid(*n, (0.3, 0.2)), material, pins=np.arange(0, n[0] * n[1], n[0]))
    return pl.Simulation(s, solver, dt=dt)


def kinetic(sim: pl.Simulation, world: int = 0) -> float:
    """Kinetic energy [J]."""
    v = sim.state.v[world].astype(float)
    return float(0.5 * np.sum(sim.model.mass[:, None] * v**2))


def weight(sim: pl.Simulation) -> float:
    """[N]."""
    return float(sim.model.mass.sum() * G)


def swing(sim: pl.Simulation, pivot: int = 0) -> float:
    """Angle of the centre of mass about a particle, in the x-z plane from straight down [rad]."""
    x = sim.x[0] - sim.x[0][pivot]
    c = sim.model.mass @ x / sim.model.mass.sum()
    return float(np.arctan2(c[0], -c[2]))


def crossings(times: Array, values: Array) -> Array:
    """Times at which a sampled signal changes sign, by linear interpolation."""
    k = np.flatnonzero(values[:-1] * values[1:] < 0)
    return times[k] - values[k] * (times[k + 1] - times[k]) / (values[k + 1] - values[k])


def period(times: Array, values: Array, swings: int) -> float:
    """Mean period over the first ``swings`` half swings [s]."""
    zero = crossings(times, values)
    assert len(zero) > swings, f"only {len(zero)} changes of sign"
    return float(2 * np.diff(zero[: swings + 1]).mean())
