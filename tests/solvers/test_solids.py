"""Solids under XPBD: small strain, statics against linear elasticity, dynamics, elements inside out.

XPBD's static answers are those of the laws as the substep h goes to zero; how far off they are at a finite h
goes with (c h/dx)^2, c = sqrt(E/rho), and is stated in docs/solids.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial import Delaunay

import pliant as pl
from pliant.geometry import measures, shapes, tetrahedra
from pliant.geometry.motion import Keyframes
from pliant.geometry.tetmesh import TetMesh
from pliant.lab.statics import relax
from pliant.materials import SolidMaterial
from pliant.scene import Scene
from pliant.simulation import Simulation
from pliant.solvers.xpbd.solver import PBD, XPBD
from tests.solid_fem import displacement, weight

pytestmark = pytest.mark.slow  # minutes: `python3 dev.py test -m slow`; short ones run always

Array = np.ndarray

LAWS = ("arap", "neo_hookean")
SOFT = SolidMaterial("soft", density=1000.0, youngs_modulus=1e5, poisson_ratio=0.3)


def simulation(
    mesh: TetMesh, material: SolidMaterial, law: str, gravity: float = 0.0, substeps: int = 20,
    dt: float = 1 / 60, iterations: int = 1, **options: Any,
) -> Simulation:  # fmt: skip
    scene = Scene(gravity=(0, 0, -gravity))
    scene.add_solid(mesh, material, law=law, **options)
    return Simulation(scene, XPBD(substeps, iterations), dt)


def pull_on_ends(mesh: TetMesh, stress: float) -> Array:
    """Forces (N, 3) [N] of a uniform stress along x on both end faces: thirds of each triangle's."""
    x, out = mesh.vertices, np.zeros_like(mesh.vertices)
    for side in (-1.0, 1.0):
        face = np.abs(x[:, 0] - side * np.abs(x[:, 0]).max()) < 1e-9
        triangles = mesh.triangles[face[mesh.triangles].all(axis=1)]
        share = np.repeat(side * stress * measures.triangle_areas(x, triangles) / 3, 3)
        np.add.at(out[:, 0], triangles.ravel(), share)
    return out


# --- statics -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("nu", [0.0, 0.3, 0.49])
def test_a_pulled_bar_with_free_sides_reads_young_poisson_and_volume(nu: float, law: str) -> None:
    """E and nu within 1 %; the change of volume is (1 - 2 nu) of the strain, also at nu = 0.49 (C10).

    Uniform stress, so the mesh has no say; c h/dx is 0.04.
    """
    mesh = shapes.bar((0.2, 0.1, 0.1), (2, 1, 1))
    strain = 1e-3
    sim = simulation(mesh, SOFT.with_(poisson_ratio=nu), law, dt=1 / 120)
    sim.control.set_force(pull_on_ends(mesh, SOFT.youngs_modulus * strain))
    assert relax(sim, 1e-6, 600, length=0.2 * strain).converged.all()
    f = tetrahedra.tet_gradients(sim.x[0], mesh.tets, tetrahedra.inv_rest_matrices(mesh.vertices, mesh.tets))
    stretch = np.sqrt(np.linalg.eigvalsh(np.swapaxes(f, 1, 2) @ f)) - 1
    along, across = stretch[:, 2], stretch[:, :2]
    np.testing.assert_allclose(along, strain, rtol=0.01)
    np.testing.assert_allclose(-across / along[:, None], nu, atol=0.01)
    volume = np.linalg.det(f) - 1
    np.testing.assert_allclose(volume, (1 - 2 * nu) * along, atol=0.1 * (1 - 2 * nu) * strain + 2e-6)


def test_pressure_from_inside_reads_the_bulk_modulus() -> None:
    """det F - 1 = p/K: exactly of the volume law, for small p of the others (2 % at p/K = 0.1 %)."""
    material = SOFT.with_(poisson_ratio=0.4)
    scene = Scene(gravity=(0, 0, 0))
    for k, law in enumerate((*LAWS, "volume")):
        body = scene.add_solid(shapes.ball(0.1, 1), material, position=(0, 0.5 * k, 0), law=law)
        scene.add_pressure(body, 1e-3 * material.bulk_modulus)
    sim = Simulation(scene, XPBD(20), 1 / 240)
    relax(sim, 1e-6, 600, length=1e-4)
    for body in scene.solids:
        volume = tetrahedra.tet_volumes(body.x[0], body.mesh.tets).sum()
        assert volume / body.rest.volume - 1 == pytest.approx(1e-3, rel=0.02)


@pytest.mark.parametrize("law", LAWS)
def test_an_irregular_mesh_passes_the_patch_test(law: str) -> None:
    """C09: the boundary is moved by an affine map, and the inside follows to 1e-6 of the displacement.

    At c h/dx = 1e-3; the remainder goes with its square, and does not go away with more sweeps at a fixed h.
    """
    rng = np.random.default_rng(2)
    skin = shapes.bar((0.3, 0.3, 0.3), (2, 2, 2)).vertices
    skin = skin[(np.abs(skin) > 0.149).any(axis=1)]
    x = np.concatenate([skin, rng.uniform(-0.09, 0.09, (6, 3))])
    tets = Delaunay(x).simplices
    mesh = TetMesh(x, tets[tetrahedra.quality(x, tets) ** 2 > 1e-6])
    assert mesh.volume == pytest.approx(0.027, rel=1e-9)
    a = np.eye(3) + 0.01 * rng.standard_normal((3, 3))
    slow = SOFT.with_(youngs_modulus=1e3)
    start = x.copy()
    start[: len(skin)] = skin @ a.T
    sim = simulation(mesh, slow, law, substeps=75, dt=1 / 120, pins=np.arange(len(skin)), start=start)
    assert relax(sim, 1e-9, 400).converged.all()
    moved = np.abs(x @ a.T - x).max()
    assert np.abs(sim.x[0, len(skin) :] - x[len(skin) :] @ a.T).max() < 1e-6 * moved
    f = tetrahedra.tet_gradients(sim.x[0], mesh.tets, tetrahedra.inv_rest_matrices(x, mesh.tets))
    assert np.abs(f - a).max() < 1e-6, "stress is uniform"


@pytest.mark.parametrize("law", LAWS)
def test_a_cantilever_tends_to_linear_elasticity_on_the_same_mesh(law: str) -> None:
    """Own weight, small load: 20, 80 and 320 substeps of 1/60 s sag ever closer, the last within 0.5 %.

    c h/dx = 0.74, 0.18, 0.046: too soft by 40 %, 2 % and 0.2 %.
    """
    mesh = shapes.bar((0.8, 0.16, 0.16), (10, 2, 2))
    material = SOFT.with_(youngs_modulus=5e6)
    held = np.flatnonzero(mesh.vertices[:, 0] < -0.399)
    tip = mesh.vertices[:, 0] > 0.399
    g = 0.2
    exact = displacement(mesh, material, weight(mesh, material, np.array([0, 0, -g])), held)[tip, 2].mean()
    errors = []
    for substeps in (20, 80, 320):
        sim = simulation(mesh, material, law, g, substeps, pins=held)
        assert relax(sim, 1e-6, 400, length=abs(exact)).converged.all()
        errors.append((sim.x[0] - mesh.vertices)[tip, 2].mean() / exact - 1)
        assert np.array_equal(sim.x[0, held], mesh.vertices[held])
    assert 0.2 < errors[0] < 0.8
    assert 0.0 < errors[1] < 0.05
    assert 0.0 < errors[2] < 0.005


def test_the_laws_agree_where_strain_is_small_and_part_where_it_is_large() -> None:
    sags = {}
    for load in (0.05, 5.0):
        for law in LAWS:
            mesh = shapes.bar((0.8, 0.16, 0.16), (5, 1, 1))
            held = np.flatnonzero(mesh.vertices[:, 0] < -0.399)
            sim = simulation(mesh, SOFT.with_(youngs_modulus=2e5), law, load, 40, pins=held)
            relax(sim, 1e-5, 300)
            sags[law, load] = -sim.x[0, :, 2].min()
    assert sags["arap", 0.05] == pytest.approx(sags["neo_hookean", 0.05], rel=1e-3)
    assert sags["arap", 5.0] == pytest.approx(sags["neo_hookean", 5.0], rel=0.1)
    assert abs(sags["arap", 5.0] / sags["neo_hookean", 5.0] - 1) > 1e-3


# --- dynamics ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
def test_a_fixed_free_bar_swings_along_itself_at_the_frequency_of_the_wave_equation(law: str) -> None:
    """C08: f = sqrt(E/rho)/(4 L) within 2 %, nu = 0, amplitude 1e-3."""
    length = 1.0
    mesh = shapes.bar((length, 0.1, 0.1), (10, 1, 1))
    material = SOFT.with_(youngs_modulus=1e4, poisson_ratio=0.0)
    x, tip = mesh.vertices, mesh.vertices[:, 0] > 0.499
    start = x.copy()
    start[:, 0] += 1e-3 * np.sin(0.5 * np.pi * (x[:, 0] + 0.5 * length) / length)
    sim = simulation(mesh, material, law, pins=np.flatnonzero(x[:, 0] < -0.499), start=start)
    seen = []
    for _ in range(90):
        sim.step()
        seen.append((sim.x[0] - x)[tip, 0].mean())
    u, t = np.array(seen), (np.arange(90) + 1) / 60
    k = np.flatnonzero(np.diff(np.sign(u)))
    crossings = t[k] - u[k] * (t[k + 1] - t[k]) / (u[k + 1] - u[k])
    frequency = 0.5 / np.diff(crossings).mean()
    assert frequency == pytest.approx(np.sqrt(1e4 / 1000.0) / (4 * length), rel=0.02)


@pytest.mark.parametrize("law", LAWS)
def test_damping_slows_strain_and_nothing_rigid(law: str) -> None:
    """N10: free fall and spin as without damping; a wobble that dies ten times faster."""
    ball = shapes.ball(0.1, 2)
    left = {}
    for tau in (0.0, 5e-3):
        material = SOFT.with_(damping_time=tau)
        fall = simulation(ball, material, law, 9.81, velocity=(0, 0, 1))
        fall.run(seconds=0.25, progress=False)
        assert np.ptp(fall.x[0] - ball.vertices, axis=0).max() < 1e-12
        spin = simulation(ball, material, law)
        spin.state.set_v(np.cross([0, 0, 4.0], ball.vertices))
        spin.run(seconds=0.25, progress=False)
        v, x, m = spin.state.v[0], spin.x[0], spin.model.mass[:, None]
        left["spin", tau] = np.cross(x, m * v)[:, 2].sum()
        stretched = ball.vertices * np.array([1.1, 0.95, 0.95])
        wobble = simulation(ball, material, law, start=stretched)
        info = wobble.run(seconds=0.15, progress=False)
        left["wobble", tau] = float(info.elastic[0] + info.kinetic[0])
    assert left["spin", 5e-3] == pytest.approx(left["spin", 0.0], rel=2e-3)
    assert left["wobble", 5e-3] < 0.1 * left["wobble", 0.0]


@pytest.mark.parametrize("law", LAWS)
def test_damping_works_beside_a_strain_that_stays(law: str) -> None:
    """Stretched by 10 %: a small wobble of the cross section, square to it, dies as fast as unloaded.

    What ``C - C_n`` of the row would miss: such a wobble hardly changes the size of the strain.
    """
    mesh = shapes.bar((0.2, 0.1, 0.1), (2, 1, 1))
    ends = np.flatnonzero(np.abs(mesh.vertices[:, 0]) > 0.099)

    def left(strain: float, tau: float) -> float:
        """Largest difference that the wobble makes in the second half of 0.2 s over that at the start."""
        material = SOFT.with_(poisson_ratio=0.0, damping_time=tau)
        start = mesh.vertices * np.array([1 + strain, 1.0, 1.0])  # in balance: there is no contraction
        still, moving = (simulation(mesh, material, law, pins=ends, start=start) for _ in range(2))
        moved = np.zeros_like(start)
        middle = np.abs(mesh.vertices[:, 0]) < 0.01
        moved[middle, 1:] = 1e-2 * mesh.vertices[middle][:, [2, 1]]
        moving.state.set_x(start + moved)
        seen = []
        for _ in range(12):
            still.step()
            moving.step()
            seen.append(np.abs(moving.x - still.x).max())
        return max(seen[6:]) / np.abs(moved).max()

    for strain in (0.0, 0.1):
        assert left(strain, 5e-3) < 0.05 * left(strain, 0.0)


# --- elements that are squeezed ----------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("height", [0.2, 0.0, -0.2])
def test_a_squeezed_tetrahedron_recovers_within_a_second_from_inside_out_too(height: float, law: str) -> None:
    """N06: one tetrahedron at 20 %, 0 and -20 % of its height; its edges are those at rest again to 1 %."""
    corner = np.vstack([np.zeros(3), 0.1 * np.eye(3)])
    mesh = TetMesh(corner, np.array([[0, 1, 2, 3]]))
    start = corner * np.array([1.0, 1.0, height])
    sim = simulation(mesh, SOFT.with_(damping_time=2e-3), law, start=start)
    sim.run(seconds=1.0, progress=False)
    lengths = measures.edge_lengths(sim.x[0], mesh.edges)
    np.testing.assert_allclose(lengths, measures.edge_lengths(corner, mesh.edges), rtol=0.01)
    assert tetrahedra.tet_volumes(sim.x[0], mesh.tets)[0] == pytest.approx(mesh.volume, rel=0.01)


@pytest.mark.parametrize("law", LAWS)
def test_a_soft_block_hit_off_centre_is_whole_again(law: str) -> None:
    """N06: no tetrahedron inside out at the end, no corner further than 2 % of the size from where it was."""
    mesh = shapes.bar((0.4, 0.4, 0.2), (8, 8, 4))
    scene = Scene(gravity=(0, 0, 0))
    floor = np.flatnonzero(mesh.vertices[:, 2] < -0.099)
    body = scene.add_solid(mesh, SOFT.with_(youngs_modulus=3e4, damping_time=2e-3), pins=floor, law=law)
    path = [(0.1, 0.05, 0.25), (0.1, 0.05, 0.11), (0.1, 0.05, 0.11), (0.1, 0.05, 0.4)]
    scene.add_collider(pl.Sphere(0.08), motion=Keyframes([0.0, 0.15, 0.25, 0.4], positions=path))
    sim = Simulation(scene)
    deepest = 0.1
    for _ in range(60):
        sim.step()
        deepest = min(deepest, float(sim.x[0][body.mesh.surface_ids][:, 2].max()))
        least = sim.x[0][mesh.vertices[:, 2] > 0.099, 2].min()
        deepest = min(deepest, float(least))
    assert deepest < 0.06, "the ball went in"
    assert (tetrahedra.tet_volumes(sim.x[0], mesh.tets) > 0.0).all()
    assert np.abs(sim.x[0] - mesh.vertices).max() < 0.02 * 0.4


def test_a_real_mesh_keeps_its_rest_shape(data: Any) -> None:
    """M12: a chain link of 1,499 irregular tetrahedra, in zero gravity, moves less than 1e-9 of its size."""
    mesh = pl.read_mesh(data / "libuipc" / "link.msh")
    assert isinstance(mesh, TetMesh)
    for law in LAWS:
        sim = simulation(mesh, SOFT, law)
        sim.run(seconds=0.5, progress=False)
        assert np.abs(sim.x[0] - mesh.vertices).max() < 1e-9 * mesh.length


# --- contact -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("share", [0.9, 1.1])
def test_a_block_on_a_slope_holds_or_slides_as_coulomb_says(share: float, law: str) -> None:
    """At 0.9 mu it creeps less than 1e-4 of its size a second; at 1.1 mu it slides by g (sin - mu cos)."""
    mu, size = 0.5, 0.1
    angle = float(np.arctan(share * mu))
    normal, downhill = (
        np.array([np.sin(angle), 0, np.cos(angle)]),
        np.array([np.cos(angle), 0, -np.sin(angle)]),
    )
    scene = Scene()
    scene.add_solid(
        shapes.bar((size,) * 3, (2, 2, 2)), SOFT.with_(damping_time=5e-3), 0.5 * size * normal, (0, angle, 0),
        law=law,
    )  # fmt: skip
    scene.add_collider(pl.Plane(tuple(normal)), friction=mu)
    sim = Simulation(scene)
    sim.run(seconds=1.5 if share < 1 else 0.5, progress=False)
    start = sim.x[0].copy()
    speed = float((sim.state.v[0] @ downhill).mean())
    sim.run(seconds=0.5, progress=False)
    way = float(((sim.x[0] - start) @ downhill).mean())
    if share < 1:
        assert abs(way) < 0.5e-4 * size
    else:
        exact = speed * 0.5 + 0.5 * 9.81 * (np.sin(angle) - mu * np.cos(angle)) * 0.25
        assert way == pytest.approx(exact, rel=0.05)


# --- the solver's other ways -------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["sequential", "jacobi"])
def test_other_orders_tend_to_the_same_shape(order: str) -> None:
    """Small weight: within 2 % of linear elasticity in any order. E is small: Jacobi needs smaller steps."""
    mesh = shapes.bar((0.4, 0.2, 0.2), (4, 2, 2))
    material, g = SOFT.with_(youngs_modulus=1e4), 0.005
    held = np.flatnonzero(mesh.vertices[:, 0] < -0.199)
    exact = displacement(mesh, material, weight(mesh, material, np.array([0, 0, -g])), held)[:, 2].min()
    scene = Scene(gravity=(0, 0, -g))
    for k, law in enumerate(LAWS):
        scene.add_solid(mesh, material, position=(0, 0.5 * k, 0), pins=held, law=law)
    sim = Simulation(scene, XPBD(substeps=80, order=order))
    assert relax(sim, 1e-5, 200, length=abs(exact)).converged.all()
    for body in scene.solids:
        assert (body.x[0] - mesh.vertices)[:, 2].min() == pytest.approx(exact, rel=0.02)


def test_plain_pbd_holds_solids_together() -> None:
    """The baseline has no stiffness to get right; a hanging block keeps its volume within a few per cent."""
    mesh = shapes.bar((0.4, 0.2, 0.2), (4, 2, 2))
    held = np.flatnonzero(mesh.vertices[:, 0] < -0.199)
    scene = Scene()
    for k, law in enumerate(LAWS):
        scene.add_solid(mesh, SOFT, position=(0, 0.5 * k, 0), pins=held, law=law)
    sim = Simulation(scene, PBD(substeps=10))
    sim.run(seconds=1.0, progress=False)
    for body in scene.solids:
        assert tetrahedra.tet_volumes(body.x[0], mesh.tets).sum() == pytest.approx(mesh.volume, rel=0.03)


def test_more_sweeps_at_a_fixed_step_come_closer_too() -> None:
    """20 × 4 against 20 × 1: multipliers are kept over the sweeps of a substep, so nothing gets stiffer."""
    mesh = shapes.bar((0.8, 0.16, 0.16), (10, 2, 2))
    material, g = SOFT.with_(youngs_modulus=5e6), 0.2
    held, tip = np.flatnonzero(mesh.vertices[:, 0] < -0.399), mesh.vertices[:, 0] > 0.399
    exact = displacement(mesh, material, weight(mesh, material, np.array([0, 0, -g])), held)[tip, 2].mean()
    for law in LAWS:
        sim = simulation(mesh, material, law, g, 20, iterations=4, pins=held)
        relax(sim, 1e-5, 300, length=abs(exact))
        assert (sim.x[0] - mesh.vertices)[tip, 2].mean() == pytest.approx(exact, rel=0.04)
