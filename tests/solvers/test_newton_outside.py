"""Newton beside what is not a constraint between particles: colliders without friction, gases, saddles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.contact.distances import BOX, CAPSULE, CYLINDER, PLANE, SPHERE, collider_distance
from pliant.materials import Fabric
from pliant.solvers.newton.obstacles import gap_to

Array = np.ndarray

G = 9.81
SOFT = Fabric("soft", areal_density=0.2, thickness=5e-4, youngs_modulus=4e5, poisson_ratio=0.3)
SIZES = {
    "plane": (PLANE, (0.0, 0.0, 0.0, 0.0)),
    "sphere": (SPHERE, (0.5, 0.0, 0.0, 0.0)),
    "cylinder": (CYLINDER, (0.5, 0.4, 0.0, 0.1)),
    "capsule": (CAPSULE, (0.3, 0.4, 0.0, 0.0)),
    "box": (BOX, (0.3, 0.4, 0.5, 0.1)),
    "sharp box": (BOX, (0.3, 0.4, 0.5, 0.0)),
}


@pytest.mark.parametrize("shape", SIZES)
def test_distances_are_those_of_contact(shape: str) -> None:
    """The same distances and normals, inside and out, and curvature by central differences of normals."""
    kind, size = SIZES[shape]
    rng = np.random.default_rng(1)
    x, way = 0.6 * rng.normal(size=(300, 3)), rng.normal(size=(300, 3))
    gap, n, h = gap_to(kind, np.array(size), x)
    upright = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    law = [collider_distance(kind, size, upright, (0.0, 0.0, 0.0), tuple(map(float, p))) for p in x]
    np.testing.assert_allclose(gap, [d for d, _ in law], atol=1e-14)
    np.testing.assert_allclose(n, [m for _, m in law], atol=1e-13)
    eps = 1e-5
    ahead, behind = (gap_to(kind, np.array(size), x + s * eps * way)[1] for s in (1, -1))
    off = np.abs((ahead - behind) / (2 * eps) - np.einsum("nij,nj->ni", h, way)).max(axis=1)
    assert np.quantile(off, 0.95) < 1e-6, "all but a few, whose nearest feature changes on the way"
    assert np.abs(h).max() > 0.5 or kind == PLANE


def test_a_sheet_slides_down_a_smooth_slope_by_the_closed_form() -> None:
    """It starts at rest in contact: g sin(a) h^2 n(n+1)/2 along the slope, m g cos(a) across it."""
    angle = 0.4
    normal = np.array([np.sin(angle), 0, np.cos(angle)])
    downhill = np.array([np.cos(angle), 0, -np.sin(angle)])
    scene = pl.Scene()
    lift = 0.5 * SOFT.thickness * normal
    scene.add_cloth(pl.shapes.grid(5, 5, (0.2, 0.2)), SOFT, position=lift, rotation=(0, angle, 0))
    scene.add_collider(pl.Plane(tuple(normal)), friction=0.0)
    sim = pl.Simulation(scene, pl.Newton(substeps=2), dt=1 / 60)
    start = sim.x[0]
    for _ in range(10):
        info = sim.step()
        assert info.ok()
        assert info.contacts[0] == 25
        assert info.max_penetration[0] < 1e-10
    h, n = 1 / 120, 20
    moved = sim.x[0] - start
    np.testing.assert_allclose(moved @ downhill, G * np.sin(angle) * h**2 * n * (n + 1) / 2, rtol=1e-8)
    np.testing.assert_allclose(moved @ normal, 0, atol=1e-11)
    carried = sim.workspace.other_force[0] @ normal
    np.testing.assert_allclose(carried, sim.model.mass * G * np.cos(angle), rtol=1e-6)


def test_a_sheet_drapes_over_a_ball_that_rises() -> None:
    """No particle is inside by 1e-9 of an edge, forces point outwards, the ball holds the sheet up."""
    scene = pl.Scene(air_drag=4.0)
    cloth = scene.add_cloth(pl.shapes.grid(7, 7, (0.3, 0.3)), SOFT, position=(0, 0, 0.101))
    scene.add_collider(pl.Sphere(0.1), friction=0.0, motion=pl.Steady((0, 0, 0), velocity=(0, 0, 0.3)))
    sim = pl.Simulation(scene, pl.Newton(), dt=1 / 60)
    touched = 0
    for _ in range(12):
        info = sim.step(report="full")
        assert info.ok()
        assert info.max_penetration[0] < 1e-9 * sim.model.length
        centre = np.array(sim.control.collider_start[0][0])
        force = sim.workspace.other_force[0]
        out = sim.x[0] - centre
        assert np.einsum("ni,ni->n", force, out).min() >= 0
        touched += int(np.any(force != 0))
    assert touched > 4
    assert info.primal_residual is not None
    assert info.primal_residual[0] < 1e-6 * 0.018 * G
    assert cloth.x[0, 24, 2] > 0.1 + 0.3 * 12 / 60 - 1e-3


def ball_of_gas(overpressure: float) -> pl.Scene:
    scene = pl.Scene(gravity=(0, 0, 0))
    ball = scene.add_cloth(pl.shapes.sphere(0.125, 2), SOFT, bending="none")
    scene.add_pressure(ball, overpressure, gas=True)
    return scene


def test_gas_and_skin_are_in_balance() -> None:
    """At rest the skin's tension is p r/2 (Laplace), to the 2 % of the mesh; no net force."""
    sim = pl.Simulation(ball_of_gas(3000.0), pl.Newton(), dt=10.0)
    for _ in range(3):
        info = sim.step(report="full")
        sim.state.set_v(0.0)
        assert info.ok()
    assert info.primal_residual is not None
    x, (gas,) = sim.x[0], sim.workspace.objective.gases
    force = sim.workspace.other_force[0]
    radius = np.linalg.norm(x, axis=1)
    assert info.primal_residual[0] < 1e-8 * np.abs(force).sum()
    np.testing.assert_allclose(force.sum(axis=0), 0, atol=1e-12 * np.abs(force).sum())
    volume = float(
        np.sum(np.einsum("fi,fi->f", x[gas.ids[:, 0]], np.cross(x[gas.ids[:, 1]], x[gas.ids[:, 2]]))) / 6
    )
    over = gas.pressure(volume) - gas.inside.ambient
    assert 10 < over < 300
    strain = float(np.mean(radius)) / float(np.mean(np.linalg.norm(sim.model.x_rest, axis=1))) - 1
    tension = SOFT.youngs_modulus * SOFT.thickness / (1 - 0.3) * strain
    assert tension == pytest.approx(over * np.mean(radius) / 2, rel=0.02)


def test_derivatives_of_a_gas_are_exact() -> None:
    sim = pl.Simulation(ball_of_gas(300.0), pl.Newton())
    sim.step()
    objective = sim.workspace.objective
    rng = np.random.default_rng(1)
    d, way = 1e-3 * rng.normal(size=(2, objective.n))
    value = objective.value(d, True, False)
    matrix = objective.pattern.matrix(objective.matrix(value))
    product = matrix @ way + value.columns @ (value.columns.T @ way)
    errors = []
    for eps in (1.0, 0.1):
        up, down = (objective.value(d + s * eps * way, False, False) for s in (1, -1))
        first = objective.difference(up, down) / (2 * eps) - value.gradient @ way
        second = (up.gradient - down.gradient) / (2 * eps) - product
        errors.append((abs(first), np.linalg.norm(second)))
    assert np.log10(np.array(errors[0]) / np.array(errors[1])) == pytest.approx([2, 2], abs=0.1)


def test_it_leaves_a_saddle() -> None:
    """A strip pushed together in its plane buckles, though nothing pushes it out: flat is a saddle."""
    scene = pl.Scene(gravity=(0, 0, 0))
    stiff = SOFT.with_(bending_rigidity=1e-4)
    strip = scene.add_cloth(pl.shapes.grid(13, 2, (0.24, 0.02)), stiff, pins=[0, 12, 13, 25])
    sim = pl.Simulation(scene, pl.Newton(), dt=0.1)
    ends = sim.x[0][[0, 12, 13, 25]]
    ends[[1, 3], 0] -= 0.01
    strip.set_targets([0, 12, 13, 25], ends)
    assert sim.step().ok()
    assert np.abs(sim.x[0, :, 2]).max() > 0.01


def test_friction_and_meshes_are_refused_by_name() -> None:
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(3, 3), SOFT)
    scene.add_collider(pl.Plane(), friction=0.3, name="floor")
    scene.add_collider(pl.Sphere(0.1), friction=0.0, position=(0, 0, 5), name="ball")
    wrong: Any = pl.MeshCollider(pl.shapes.sphere(0.2, 1))
    scene.add_collider(wrong, friction=0.0, position=(0, 0, 9), name="rock")
    with pytest.raises(
        pl.SolverError, match=r'friction with "floor".*friction=0.*mesh collider "rock"'
    ) as error:
        pl.Newton().init(scene.build(1, "float64"))
    assert "ball" not in str(error.value)
