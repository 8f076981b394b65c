"""XPBD on small scenes: orders, damping, scales, forces, attachments, contacts, PBD."""

from __future__ import annotations

import numpy as np
import pytest
from numba import config

import pliant as pl
from pliant.lab.statics import relax

SOFT = pl.Fabric(
    areal_density=0.2, thickness=5e-4, youngs_modulus=2e5, poisson_ratio=0.3, bending_rigidity=1e-5
)


def sheet(n: int = 7, **options) -> tuple[pl.Scene, pl.Cloth]:
    scene = pl.Scene(gravity=options.pop("gravity", (0, 0, -9.81)), air_drag=options.pop("air_drag", 0.0))
    mesh = options.pop("mesh", None) or pl.shapes.grid(n, n, size=(0.3, 0.3))
    cloth = scene.add_cloth(mesh, options.pop("material", SOFT), **options)
    return scene, cloth


def crumpled(model, seed: int = 3, size: float = 0.01) -> np.ndarray:
    return model.x_rest + size * np.random.default_rng(seed).normal(size=model.x_rest.shape)


@pytest.mark.parametrize("membrane", ["triangles", "edges"])
@pytest.mark.parametrize("bending", ["isometric", "dihedral"])
def test_orders_meet_at_the_same_static_shape(membrane: str, bending: str) -> None:
    """A pulled sheet (unique equilibrium): the three orders agree once converged."""
    shapes = []
    for order in ("colored", "sequential", "jacobi"):
        scene, _ = sheet(5, membrane=membrane, bending=bending, gravity=(0, 0, 0), pins=np.arange(0, 25, 5))
        sim = pl.Simulation(scene, pl.XPBD(substeps=60, iterations=4, order=order), dt=1 / 120)
        pull = np.zeros_like(sim.model.x_rest)
        pull[4::5] = [0.4, 0.0, -0.1]
        sim.control.set_force(pull)
        assert relax(sim, tolerance=1e-6, max_steps=3000).converged.all()
        shapes.append(sim.x[0])
    moved = np.abs(shapes[0] - sim.model.x_rest).max()
    assert moved > 0.005
    assert np.abs(shapes[0] - shapes[1]).max() < 0.002 * moved
    assert np.abs(shapes[0] - shapes[2]).max() < 0.02 * moved


def test_threads_inside_a_colour_give_the_bits_of_one_thread() -> None:
    """A mesh with more than two shares per colour; one world, threads 1 and 2 (Gauss-Seidel and Jacobi)."""
    for order in ("colored", "jacobi"):
        results = []
        for threads in (1, 2):
            if threads > config.NUMBA_NUM_THREADS:
                pytest.skip("one core")
            scene, _ = sheet(mesh=pl.shapes.grid(101, 101), pins=[0, 100])
            sim = pl.Simulation(scene, pl.XPBD(substeps=2, order=order))
            assert sim.workspace.worth_sharing(order)
            sim.state.set_x(crumpled(sim.model, size=0.002))
            before = pl.get_threads()
            pl.set_threads(threads)
            try:
                sim.step()
            finally:
                pl.set_threads(before)
            results.append(sim.x[0])
        assert np.abs(results[0] - crumpled(sim.model, size=0.002)).max() > 1e-5
        np.testing.assert_array_equal(*results)


def test_damping_leaves_rigid_motion_alone() -> None:
    """Free fall and spin do not feel the damping time."""
    spins = []
    for tau in (0.0, 0.1):
        scene, _ = sheet(material=SOFT.with_(damping_time=tau), velocity=(0.1, 0.2, 0.3))
        sim = pl.Simulation(scene, pl.XPBD(substeps=8))
        sim.run(steps=30, progress=False)
        assert np.ptp(sim.state.v[0], axis=0).max() < 1e-12
        turning, _ = sheet(material=SOFT.with_(damping_time=tau), gravity=(0, 0, 0))
        sim = pl.Simulation(turning, pl.XPBD(substeps=100))
        x = sim.model.x_rest
        sim.state.set_v(np.cross([0, 0, 2.0], x))
        info = sim.run(steps=30, progress=False)
        spins.append(info.angular_momentum[0, 2] / np.sum(sim.model.mass * (x**2).sum(axis=1)))
    assert spins[0] == pytest.approx(2.0, rel=0.01)
    assert spins[1] == pytest.approx(spins[0], rel=0.002)


def test_damping_is_that_of_the_kelvin_voigt_solid() -> None:
    """One mass on a damped spring: k = 1/alpha, c = tau k; decay rate c/(2 m) and frequency, within 1 %."""
    k, tau, m = 40.0, 2e-3, None
    scene, cloth = sheet(3, gravity=(0, 0, 0), membrane="none", bending="none")
    scene.add_attachment(cloth, [4], stiffness=k, damping_time=tau)
    sim = pl.Simulation(scene, pl.XPBD(substeps=400), dt=1 / 60)
    m = sim.model.mass[4]
    start = sim.model.x_rest.copy()
    start[4, 2] += 0.01
    sim.state.set_x(start)
    times, heights = [0.0], [0.01]
    for _ in range(6):
        sim.step()
        times.append(sim.time)
        heights.append(sim.x[0][4, 2])
    decay, omega = tau * k / (2 * m), np.sqrt(k / m)
    wd = np.sqrt(omega**2 - decay**2)
    t = np.array(times)
    exact = 0.01 * np.exp(-decay * t) * (np.cos(wd * t) + decay / wd * np.sin(wd * t))
    assert np.abs(exact[1:]).max() > 1e-4
    np.testing.assert_allclose(heights, exact, atol=3e-4)


def test_scale_of_a_world_is_a_scaled_material() -> None:
    """World k with stiffness factor s equals a single world made of the s times stiffer material."""
    factors = [1.0, 4.0, 0.25]
    scene, _ = sheet(pins=[0, 6])
    batch = pl.Simulation(scene, pl.XPBD(substeps=5), worlds=3)
    batch.set(material_scale=factors)
    batch.run(steps=10, progress=False)
    shapes = batch.x
    assert np.abs(shapes[1] - shapes[2]).max() > 1e-3
    for k, s in enumerate(factors):
        stiff = SOFT.with_(youngs_modulus=s * SOFT.youngs_modulus, bending_rigidity=s * SOFT.bending_rigidity)
        alone, _ = sheet(pins=[0, 6], material=stiff)
        sim = pl.Simulation(alone, pl.XPBD(substeps=5))
        sim.run(steps=10, progress=False)
        np.testing.assert_allclose(sim.x[0], shapes[k], rtol=0, atol=1e-12)


def test_attachment_sags_by_hooke() -> None:
    """Four free corners on springs, no other constraint: m g/k each, in any number of iterations."""
    for iterations in (1, 7):
        scene, cloth = sheet(2, membrane="none", bending="none")
        scene.add_attachment(cloth, [0, 1, 2, 3], stiffness=50.0, damping_time=0.02)
        sim = pl.Simulation(scene, pl.XPBD(substeps=10, iterations=iterations))
        sim.run(seconds=3, progress=False)
        sag = -sim.x[0][:, 2]
        np.testing.assert_allclose(sag, sim.model.mass * 9.81 / 50.0, rtol=1e-6)
        force = sim.constraint_forces("attachment")[0]
        np.testing.assert_allclose(force[:, 2], sim.model.mass * 9.81, rtol=1e-6)


def test_air_drag_reaches_terminal_speed() -> None:
    """D02: v = (g/k)(1 - exp(-k t)), within 1 % of the limit g/k."""
    scene, _ = sheet(3, air_drag=4.0)
    sim = pl.Simulation(scene, pl.XPBD(substeps=20))
    sim.run(seconds=1, progress=False)
    assert -sim.state.v[0][:, 2].mean() == pytest.approx(9.81 / 4 * (1 - np.exp(-4.0)), abs=0.01 * 9.81 / 4)


def test_multipliers_come_in_the_order_of_the_mesh() -> None:
    """A strip pulled at its end: the springs through each cut carry the force."""
    from pliant.geometry import topology

    mesh = pl.shapes.grid(6, 2, size=(0.5, 0.1), pattern="alternating")
    for order in ("colored", "sequential"):
        scene = pl.Scene(gravity=(0, 0, 0))
        scene.add_cloth(mesh, SOFT, pins=[0, 6], membrane="edges", bending="none")
        sim = pl.Simulation(scene, pl.XPBD(substeps=200, order=order))
        pull = np.zeros((12, 3))
        pull[[5, 11], 0] = 0.5
        sim.control.set_force(pull)
        relax(sim, tolerance=1e-7)
        edges = topology.edges(mesh.triangles)
        force = sim.constraint_forces("distance")[0, :, 0]
        x = mesh.vertices
        for column in range(5):
            cut = 0.5 * (x[column, 0] + x[column + 1, 0])
            crossing = (x[edges[:, 0], 0] < cut) != (x[edges[:, 1], 0] < cut)
            y = sim.x[0]
            direction = y[edges[:, 0]] - y[edges[:, 1]]
            direction /= np.linalg.norm(direction, axis=1)[:, None]
            total = -(force * np.abs(direction[:, 0]))[crossing].sum()
            assert total == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("shape", [pl.Sphere(0.1), pl.Cylinder(0.1, 0.1, rounding=0.01), pl.Plane()])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cloth_rests_on_a_collider(shape, dtype: str) -> None:
    """It comes to rest on the surface: no penetration beyond the thickness, weight carried by contacts."""
    scene, _ = sheet(9, air_drag=6.0, position=(0, 0, 0.13), material=SOFT.with_(damping_time=2e-3))
    scene.add_collider(shape, friction=0.5)
    scene.add_collider(pl.Plane(), position=(0, 0, -0.05), friction=0.5)
    sim = pl.Simulation(scene, pl.XPBD(substeps=20), dtype=dtype)
    info = sim.run(seconds=3, progress=False)
    assert info.ok()
    assert info.contacts[0] > 4
    assert info.max_penetration[0] < SOFT.thickness
    assert np.abs(sim.state.v).max() < 0.03
    weight = sim.model.mass.sum() * 9.81
    assert sim.workspace.contact_forces(sim.protocol.h)[0, :, 2].sum() == pytest.approx(weight, rel=0.1)


def test_a_start_inside_a_collider_gains_no_speed() -> None:
    scene, _ = sheet(3, gravity=(0, 0, 0), position=(0, 0, -0.02), membrane="none", bending="none")
    scene.add_collider(pl.Plane())
    sim = pl.Simulation(scene)
    info = sim.step()
    assert info.status[0] & pl.Status.START_PENETRATES
    np.testing.assert_allclose(sim.x[0][:, 2], SOFT.thickness / 2, atol=1e-12)
    assert np.abs(sim.state.v).max() == 0.0


def test_what_passes_into_a_collider_unseen_is_reported() -> None:
    """A sheet at rest, far from a ball when contacts are found, pushed into it within one long step."""
    scene, _ = sheet(3, gravity=(0, 0, 0), position=(0, 0, 1), membrane="none", bending="none")
    scene.add_collider(pl.Sphere(0.3))
    sim = pl.Simulation(scene, pl.XPBD(substeps=1), dt=1.0)
    sim.control.set_force(sim.model.mass[:, None] * [0.0, 0.0, -0.9])
    assert sim.step().status[0] & pl.Status.CONTACT_MISSED
    assert sim.step().status[0] & pl.Status.START_PENETRATES


def test_pbd_compensates_for_iterations_but_not_for_the_time_step() -> None:
    """One rigid spring row pulled apart: n iterations of k' remove the share k; alpha plays no part."""
    for n in (1, 3, 10):
        scene = pl.Scene(gravity=(0, 0, 0))
        scene.add_cloth(pl.shapes.grid(2, 2), SOFT, membrane="none", bending="none", name="points")
        scene.add_attachment(scene.cloths[0], [0], stiffness=1.0)
        sim = pl.Simulation(scene, pl.PBD(substeps=1, iterations=n, stiffness=0.4))
        start = sim.model.x_rest.copy()
        start[0, 2] = 1.0
        sim.state.set_x(start)
        sim.step()
        assert sim.x[0][0, 2] == pytest.approx(0.6, rel=1e-12)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: pl.XPBD(substeps=0), "substeps"),
        (lambda: pl.XPBD(iterations=1.5), "iterations"),
        (lambda: pl.XPBD(order="random"), "colored"),
        (lambda: pl.XPBD(relaxation=2.0), "relaxation"),
        (lambda: pl.PBD(stiffness=1.2), "stiffness"),
    ],
)
def test_bad_parameters_are_named(make, text: str) -> None:
    with pytest.raises(pl.SolverError, match=text):
        make()
