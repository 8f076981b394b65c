"""XPBD with woven membranes, strain limits and curved rest shapes."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.geometry import measures, topology
from pliant.lab.statics import relax
from pliant.solvers.xpbd.sheets import solve_three

pytestmark = pytest.mark.slow  # minutes: `python3 dev.py test -m slow`; short ones run always

Array = np.ndarray

SOFT = pl.Fabric(
    areal_density=0.2, thickness=5e-4, youngs_modulus=4e5, poisson_ratio=0.3, bending_rigidity=1e-4
)
WOVEN = SOFT.with_(weft_modulus=2e5, shear_modulus=4e4)


def half_tube(nx: int = 9, ny: int = 5, radius: float = 0.1) -> tuple[pl.TriMesh, pl.TriMesh]:
    """Half a cylinder whose axis is y, and the flat sheet that it is rolled from."""
    flat = pl.shapes.grid(nx, ny, size=(np.pi * radius, 0.15), pattern="alternating")
    t = flat.vertices[:, 0] / radius
    x = np.stack([radius * np.sin(t), flat.vertices[:, 1], radius * np.cos(t)], axis=1)
    return pl.TriMesh(x, flat.triangles, name="half tube"), flat


def box(n: int = 3, size: float = 0.2) -> pl.TriMesh:
    """A closed box, n x n cells on each side."""
    s = np.linspace(-0.5, 0.5, n + 1) * size
    u, v = (a.ravel() for a in np.meshgrid(s, s, indexing="ij"))
    w = np.full_like(u, 0.5 * size)
    x = [np.roll(side, k, axis=1) for side in (np.c_[u, v, w], np.c_[v, u, -w]) for k in range(3)]
    cell = np.add.outer((n + 1) * np.arange(n), np.arange(n)).ravel()[:, None]
    faces = np.concatenate([cell + np.array([0, n + 1, n + 2]), cell + np.array([0, n + 2, 1])])
    every = np.concatenate([faces + k * (n + 1) ** 2 for k in range(6)])
    _, first, back = np.unique(np.concatenate(x).round(9), axis=0, return_index=True, return_inverse=True)
    return pl.TriMesh(np.concatenate(x)[first], back.ravel()[every], name="box")


# --- three rows at once ----------------------------------------------------------------------------


def test_three_rows_are_solved_as_a_matrix_would_be() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        g = rng.normal(size=(3, 6)) * 10.0 ** rng.uniform(-3, 3, (3, 1))
        a = g @ g.T + np.diag(10.0 ** rng.uniform(-9, 0, 3) * np.diag(g @ g.T))
        b = rng.normal(size=3)
        y = solve_three(a[0, 0], a[0, 1], a[0, 2], a[1, 1], a[1, 2], a[2, 2], *b)
        np.testing.assert_allclose(a @ y, b, atol=1e-9 * np.abs(a @ np.diag(y)).max())


def test_a_row_that_depends_on_the_others_is_left_out() -> None:
    """Two corners held: three rigid rows, two ways to go."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        g = rng.normal(size=(3, 2))
        a, b = g @ g.T, rng.normal(size=3)
        y = solve_three(a[0, 0], a[0, 1], a[0, 2], a[1, 1], a[1, 2], a[2, 2], *b)
        assert y[2] == 0.0
        np.testing.assert_allclose(a[:2, :2] @ y[:2], b[:2], atol=1e-8 * np.abs(y).max())
    assert solve_three(*[0.0] * 6, 1.0, 1.0, 1.0) == (0.0, 0.0, 0.0)


# --- strain limit ----------------------------------------------------------------------------------


def pulled_strip(
    limit: float | None, substeps: int, elements: int = 10, iterations: int = 1
) -> pl.Simulation:
    """A strip hung by one end, with a weight at the other that stretches it by 30 %."""
    length, stiffness = 0.25, 50.0
    width = 2 * length / elements
    mesh = pl.shapes.grid(elements + 1, 3, size=(length, width))
    left, right = (np.flatnonzero(np.isclose(mesh.vertices[:, 0], s * length)) for s in (-0.5, 0.5))
    fabric = pl.Fabric(
        youngs_modulus=stiffness / 5e-4, poisson_ratio=0.0, bending_rigidity=0.0, strain_limit=limit
    )
    scene = pl.Scene()
    scene.add_cloth(mesh, fabric, rotation=(0, np.pi / 2, 0), pins=left)
    sim = pl.Simulation(scene, pl.XPBD(substeps=substeps, iterations=iterations), dt=2e-3)
    load = np.zeros_like(mesh.vertices)
    load[right, 2] = [-0.25, -0.5, -0.25]  # trapezoid rule over the edge
    sim.control.set_force(0.3 * stiffness * width * load)
    return sim


def stretches(sim: pl.Simulation) -> Array:
    part = sim.model.parts[0]
    return measures.triangle_stretches(sim.x[0], part.triangles, part.inv_rest_matrix)[:, 0]


def test_a_strip_stops_at_its_limit() -> None:
    """It would stretch by 30 %; no triangle exceeds 5 % by more than 0.1 %, and a quarter of it at h/2."""
    free = pulled_strip(None, 20)
    assert relax(free, tolerance=1e-5).converged.all()
    assert stretches(free).min() > 1.29
    over = []
    for substeps in (40, 80):
        sim = pulled_strip(0.05, substeps)
        assert relax(sim, tolerance=1e-7).converged.all()
        assert stretches(sim).min() > 1.0499
        over.append(stretches(sim).max() - 1.05)
    assert 0.0 < over[0] < 1e-3
    assert over[1] < 0.3 * over[0]
    info = sim.step("full")
    assert info.constraint_residual["strain_limit"]["max"][0] == pytest.approx(over[1], rel=1e-2)
    low, high = info.multipliers["strain_limit"]
    assert low[0] < 0.0
    assert high[0] <= 0.0
    assert info.elastic[0] == pytest.approx(
        0.5 * 50.0 * 0.05**2 * 0.25 * 0.05, rel=0.02
    )  # none of it the limit's
    weight = 0.3 * 50.0 * 0.05
    assert info.primal_residual[0] < 0.02 * weight


def test_below_its_limit_and_when_squeezed_it_changes_no_bit() -> None:
    """A crumpled sheet falls on a ball; its limit is never reached. Positions, signs of zeros included."""
    found = []
    for limit in (None, 1.0):
        scene = pl.Scene()
        mesh = pl.shapes.grid(9, 9, size=(0.3, 0.3))
        scene.add_cloth(mesh, SOFT.with_(strain_limit=limit), position=(0, 0, 0.12), pins=[0])
        scene.add_collider(pl.Sphere(0.1))
        sim = pl.Simulation(scene, pl.XPBD(substeps=8), worlds=2)
        squeezed = sim.model.x_rest * [0.8, 0.9, 1.0]
        sim.state.set_x(np.stack([sim.model.x_rest, squeezed - squeezed[0] + sim.model.x_rest[0]]))
        sim.run(steps=20, progress=False)
        assert sim.info is not None
        assert (sim.info.contacts > 0).all()
        found.append(sim)
    assert 0.02 < stretches(found[1]).max() - 1 < 0.3, "it does stretch"
    assert found[0].x.tobytes() == found[1].x.tobytes()
    assert (found[1].constraint_forces("strain_limit") == 0.0).all()
    assert found[1].info.constraint_residual["strain_limit"]["max"].tolist() == [0.0, 0.0]


def test_the_limit_holds_both_ways_over_many_iterations() -> None:
    """What one iteration pulled too much the next gives back."""
    sim = pulled_strip(0.05, 4, iterations=30)
    assert relax(sim, tolerance=1e-6).converged.all()
    assert np.abs(stretches(sim) - 1.05).max() < 2e-3
    assert (sim.constraint_forces("strain_limit") < 0.0).all()


# --- curved rest shapes ----------------------------------------------------------------------------


@pytest.mark.parametrize("bending", ["curved", "dihedral"])
def test_a_half_tube_held_by_a_corner_stays_for_ten_seconds_n03(bending: str) -> None:
    """Without gravity no vertex moves by more than 1e-6 m."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_cloth(half_tube()[0], SOFT, position=(1.0, 2.0, 0.5), pins=[0], bending=bending)
    sim = pl.Simulation(scene, pl.XPBD(substeps=5))
    start = sim.x
    sim.run(seconds=10, progress=False)
    assert np.abs(sim.x - start).max() < 1e-6


def test_a_half_tube_hung_by_a_corner_comes_to_rest_n03() -> None:
    """With gravity and some damping: after 20 s 1e-6 of the greatest kinetic energy, 0.01 rad in 5 s.

    Corrections one after the other do turn a hanging cloth a little, in proportion to h^2: by 0.011 rad in
    5 s at 40 substeps, half of it here, with this law as with the others.
    """
    scene = pl.Scene(air_drag=1.0)
    scene.add_cloth(half_tube(7, 4)[0], SOFT.with_(damping_time=5e-3), pins=[0], bending="curved")
    sim = pl.Simulation(scene, pl.XPBD(substeps=60))
    kinetic, heading = [], []
    for _ in range(1200):
        sim.step()
        kinetic.append(0.5 * float((sim.model.mass[:, None] * sim.state.v[0] ** 2).sum()))
        across = sim.x[0][6] - sim.x[0][21]  # the corners beside the pinned one
        heading.append(np.arctan2(across[1], across[0]))
    assert kinetic[-1] < 1e-6 * max(kinetic)
    assert np.ptp(np.unwrap(heading)[-300:]) < 0.01


@pytest.mark.parametrize("bending", ["curved", "dihedral"])
def test_a_closed_box_without_load_keeps_its_shape_n15(bending: str) -> None:
    """Two seconds: no vertex moves by 1e-6 of its size."""
    mesh = box()
    hinges = topology.hinges(mesh.triangles)
    assert np.degrees(np.abs(measures.hinge_angles(mesh.vertices, hinges)).max()) == pytest.approx(90)
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_cloth(mesh, SOFT, bending=bending)
    sim = pl.Simulation(scene)
    start = sim.x
    sim.run(seconds=2, progress=False)
    assert np.abs(sim.x - start).max() < 1e-6 * 0.2


def test_cloth_laid_out_flat_curls_up_to_its_rest_shape() -> None:
    """Flat to the last bit, and strained unevenly by the first sweep: it leaves its plane all the same."""
    tube, flat = half_tube()
    scene = pl.Scene(gravity=(0, 0, 0), air_drag=4.0)
    scene.add_cloth(flat, SOFT.with_(damping_time=5e-3), rest_mesh=tube, bending="curved")
    sim = pl.Simulation(scene)
    sim.run(seconds=4, progress=False)
    assert np.ptp(sim.x[0][:, 2]) == pytest.approx(0.1, rel=0.01)
    assert np.ptp(sim.x[0][:, 0]) == pytest.approx(0.2, rel=0.01)


# --- all of them -----------------------------------------------------------------------------------


def curved_woven_scene(**options: object) -> pl.Scene:
    """A woven half tube with a limit, held along one straight edge."""
    scene = pl.Scene(gravity=(0, 0, 0))
    pins = np.flatnonzero(np.arange(45) % 9 == 0)
    fabric = WOVEN.with_(strain_limit=0.02)
    scene.add_cloth(half_tube()[0], fabric, pins=pins, bending="curved", warp_direction=(0, 1, 0))
    return scene


def test_orders_meet_at_the_same_static_shape() -> None:
    """Pulled to its limit, a unique equilibrium: coloured, sequential and, with finer steps, Jacobi agree."""

    def pulled(order: str, substeps: int) -> Array:
        solver = pl.XPBD(substeps=substeps, iterations=4, order=order)
        sim = pl.Simulation(curved_woven_scene(), solver, dt=1 / 240)
        pull = np.zeros_like(sim.model.x_rest)
        pull[8::9] = [0.5, 0.0, 0.2]
        sim.control.set_force(pull)
        assert relax(sim, tolerance=1e-6, max_steps=3000).converged.all()
        assert (sim.constraint_forces("strain_limit") < 0).sum() > 20
        return sim.x[0]

    x = pulled("colored", 60)
    moved = np.abs(x - curved_woven_scene().build().x_rest).max()
    assert moved > 0.05
    assert np.abs(pulled("sequential", 60) - x).max() < 0.002 * moved
    coarse, fine = (np.abs(pulled("jacobi", n) - x).max() / moved for n in (60, 120))
    assert fine < 0.01
    assert fine < 0.3 * coarse


def test_scale_of_a_world_is_a_scaled_material() -> None:
    """World k with stiffness factors equals a world made of the stiffer material; the limit has no scale."""
    membrane, bending = [1.0, 4.0], [1.0, 0.25]
    scene = curved_woven_scene()
    scene.gravity = np.array([0, 0, -9.81])
    batch = pl.Simulation(scene, pl.XPBD(substeps=5), worlds=2)
    batch.set(membrane_scale=membrane, bending_scale=bending)
    batch.run(steps=10, progress=False)
    assert np.abs(batch.x[0] - batch.x[1]).max() > 1e-3
    for k in range(2):
        fabric = scene.cloths[0].material
        scene.cloths[0].material = fabric.with_(
            bending_rigidity=bending[k] * WOVEN.bending_rigidity,
            **{
                key: membrane[k] * getattr(WOVEN, key)
                for key in ("youngs_modulus", "weft_modulus", "shear_modulus")
            },
        )
        alone = pl.Simulation(scene, pl.XPBD(substeps=5), worlds=2)
        alone.run(steps=10, progress=False)
        np.testing.assert_allclose(alone.x[0], batch.x[k], atol=1e-9)


def test_the_gradient_of_the_report_is_that_of_its_energy() -> None:
    """Central differences of the elastic energy along random directions."""
    sim = pl.Simulation(curved_woven_scene(), pl.XPBD(substeps=1), worlds=2)
    x, rng = sim.model.x_rest * [1.0, 1.01, 1.0], np.random.default_rng(4)
    x = x + 1e-3 * rng.normal(size=x.shape)
    from pliant.diagnostics.report import elastic_energy, law_values

    none = {law: np.zeros((2, len(b), b.compliance.shape[1])) for law, b in sim.model.blocks.items()}
    way, eps = rng.normal(size=x.shape), 1e-7

    def energy(y: Array) -> float:
        sim.state.set_x(y)
        return float(
            elastic_energy(sim.model, sim.control, law_values(sim.model, sim.state, sim.control, none)[0])[0]
        )

    slope = (energy(x + eps * way) - energy(x - eps * way)) / (2 * eps)
    sim.state.set_x(x)
    g = law_values(sim.model, sim.state, sim.control, none)[1][0]
    assert abs(slope) > 1e-3
    assert float((g * way).sum()) == pytest.approx(slope, rel=1e-5)


def test_pbd_holds_a_triangle_with_two_corners_pinned() -> None:
    """Rigid rows, three for two ways: nothing blows up, and the yarns keep their lengths."""
    scene = pl.Scene()
    scene.add_cloth(
        pl.shapes.grid(2, 2, size=(0.1, 0.1)), WOVEN, pins=[0, 1], warp_direction=(1, 0, 0), bending="none"
    )
    sim = pl.Simulation(scene, pl.PBD(substeps=10))
    info = sim.run(seconds=2, progress=False)
    assert info.ok()
    edges = measures.edge_lengths(sim.x[0], np.array([[0, 2], [1, 3], [2, 3]]))
    np.testing.assert_allclose(edges, 0.1, rtol=1e-2)
