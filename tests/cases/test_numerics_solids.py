"""Bodies of tetrahedra that elsewhere collapse, jitter, diverge, drift or stop for no reason."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import solid_fem

import pliant as pl
from pliant.geometry import tetrahedra
from pliant.lab.statics import relax

Array = np.ndarray

LAWS = ["arap", "neo_hookean"]
SOFT = pl.SolidMaterial(density=1000, youngs_modulus=1e5, poisson_ratio=0.3)


def test_n06_a_stiffer_block_sags_less_and_never_collapses() -> None:
    """N06: under its own weight, E from 5 kPa to 5 MPa: all volumes positive, the sag falls with E.

    (A block hit off its centre and tetrahedra turned inside out: tests/solvers/test_solids.py.)
    """
    mesh = pl.shapes.bar((0.2, 0.2, 0.2), (4, 4, 4))
    floor = np.flatnonzero(mesh.vertices[:, 2] < -0.0999)
    stiffness = 5e3 * 10.0 ** np.arange(4)
    scene = pl.Scene()
    scene.add_solid(mesh, SOFT.with_(youngs_modulus=5e3, damping_time=5e-3), pins=floor)
    sim = pl.Simulation(scene, pl.XPBD(substeps=40), worlds=4)
    sim.set(solid_scale=stiffness / 5e3)
    assert relax(sim, tolerance=1e-4).converged.all()
    top = mesh.vertices[:, 2] > 0.0999
    sag = 0.1 - sim.x[:, top, 2].mean(axis=1)
    assert (np.diff(sag) < 0).all()
    assert sag[0] > 100 * sag[3] > 0
    for x in sim.x:
        assert (tetrahedra.tet_volumes(x, mesh.tets) > 0).all()


@pytest.mark.parametrize("iterations", [1, 5, 20])
@pytest.mark.parametrize("law", LAWS)
def test_n12_a_cube_on_the_floor_comes_to_rest(law: str, iterations: int) -> None:
    """N12: let fall from 1 cm, undamped but for the step itself: still within 3 s, for any budget."""
    mesh = pl.shapes.bar((0.1, 0.1, 0.1), (5, 5, 5))
    scene = pl.Scene()
    scene.add_solid(mesh, SOFT, position=(0, 0, 0.06), law=law, contact_radius=1e-3)
    scene.add_collider(pl.Plane(), friction=0.5)
    sim = pl.Simulation(scene, pl.XPBD(substeps=20, iterations=iterations))
    sim.run(seconds=3, progress=False)
    before, contacts = sim.x[0], set()
    fastest = 0.0
    for _ in range(60):
        contacts.add(int(sim.step().contacts[0]))
        fastest = max(fastest, float(np.sqrt((sim.state.v[0] ** 2).sum(axis=1).mean())))
    assert fastest < 1e-3
    assert len(contacts) == 1
    assert np.abs(sim.x[0] - before).max() < 1e-4
    assert (tetrahedra.tet_volumes(sim.x[0], mesh.tets) > 0).all()


@pytest.mark.parametrize("dt", [0.002, 1 / 60])
def test_n13_no_combination_of_size_mass_and_stiffness_diverges(dt: float) -> None:
    """N13: 24 x 4 x 4 vertices held at one end, flat or not, light or heavy, soft or stiff, for 2 s.

    Bounded by what falls free: no vertex drops further than the bar is long, none rises above its start.
    """
    for height, youngs, mass in itertools.product((0.3, 0.03), (5e4, 5e6), (0.1, 10.0)):
        size = (2.3, 0.3, height)
        mesh = pl.shapes.bar(size, (23, 3, 3))
        held = np.flatnonzero(mesh.vertices[:, 0] < -1.1499)
        material = pl.SolidMaterial(density=mass / mesh.volume, youngs_modulus=youngs, poisson_ratio=0.2)
        scene = pl.Scene()
        scene.add_solid(mesh, material, pins=held)
        sim = pl.Simulation(scene, pl.XPBD(substeps=5 if dt < 0.01 else 20), dt=dt)
        info = sim.run(seconds=2, progress=False)
        where = (height, youngs, mass)
        assert info.ok(), where
        assert np.abs(sim.x[0] - mesh.vertices).max() < 2 * 2.3, where
        assert sim.x[0][:, 2].max() < 0.5 * height + 0.35, where
        assert np.array_equal(sim.x[0][held], mesh.vertices[held])


@pytest.mark.parametrize("cells", [(10, 2, 2), (15, 3, 3), pytest.param((20, 4, 4), marks=pytest.mark.slow)])
def test_n23_a_beam_under_pressure_settles_and_both_laws_agree(cells: tuple[int, int, int]) -> None:
    """N23: tip of a clamped beam, nu = 0.45, pressed from above, against linear elasticity on its mesh.

    It settles to 1e-6 lengths a second; the laws agree within 1 %, and with linear elasticity within 3 %
    at 0.5 % of the length. (Beam theory: `pliant lab bars`, where the mesh's own stiffness is extrapolated.)
    """
    mesh = pl.shapes.bar((1.0, 0.1, 0.1), cells)
    x = mesh.vertices
    held = np.flatnonzero(x[:, 0] < -0.4999)
    top = np.flatnonzero(x[:, 2] > 0.0499)
    edge = (np.abs(x[top, 0]) > 0.4999).astype(int) + (np.abs(x[top, 1]) > 0.0499)
    share = 0.5**edge
    material = pl.SolidMaterial(density=1000, youngs_modulus=1e6, poisson_ratio=0.45)
    force = np.zeros_like(x)
    force[top, 2] = -share / share.sum() * 0.3
    tip = x[:, 0] > 0.4999
    exact = solid_fem.displacement(mesh, material, force, held)[tip, 2].mean()
    assert 0.001 < -exact < 0.01
    found = []
    for law in LAWS:
        scene = pl.Scene(gravity=(0, 0, 0), air_drag=4.0)
        scene.add_solid(mesh, material, pins=held, law=law)
        sim = pl.Simulation(scene, pl.XPBD(substeps=4 * cells[0]), dt=0.01)
        sim.control.set_force(force)
        sim.run(steps=500, progress=False)
        before = sim.x[0]
        sim.run(steps=50, progress=False)
        assert np.abs(sim.x[0] - before).max() / 0.5 < 1e-6
        assert np.array_equal(sim.x[0][held], x[held])
        found.append((sim.x[0] - x)[tip, 2].mean())
    assert found[0] == pytest.approx(found[1], rel=0.01)
    assert found[0] == pytest.approx(exact, rel=0.03)


def test_n24_stiff_on_soft_pulled_apart_ends_alike_every_time() -> None:
    """N24: two cubes tied face to face, Young's moduli 1 : 1000: four runs are one, bit for bit.

    All of the pull is in the soft one, as springs in a row have it. (What ends a step is a budget of sweeps,
    not a tolerance: there is no criterion to miss.)
    """
    ends = []
    for run in range(4):
        pl.set_threads(1 + run % 2)
        sim, soft, stiff, face = stacked()
        info = sim.run(steps=90, progress=False)
        assert info.ok()
        ends.append(sim.x[0])
    assert all(np.array_equal(ends[0], x) for x in ends)
    assert soft.x[0][face, 2].mean() - 0.1 == pytest.approx(PULLED, rel=5e-3), "1000/1001, and the necking"
    assert np.ptp(stiff.x[0][:, 2]) == pytest.approx(0.1, rel=2e-3)
    assert np.abs(sim.state.v[0]).max() < 1e-4


PULLED = 0.02
"""Way of the upper end [m]."""


def stacked() -> tuple[pl.Simulation, pl.Solid, pl.Solid, Array]:
    """A soft cube held below, a stiff one on it whose upper end is drawn up; ids of the face between."""
    mesh = pl.shapes.bar((0.1, 0.1, 0.1), (3, 3, 3))
    low = np.flatnonzero(mesh.vertices[:, 2] < -0.0499)
    high = np.flatnonzero(mesh.vertices[:, 2] > 0.0499)
    scene = pl.Scene(gravity=(0, 0, 0), air_drag=5)
    soft = scene.add_solid(mesh, SOFT, position=(0, 0, 0.05), pins=low)
    stiff = scene.add_solid(mesh, SOFT.with_(youngs_modulus=1e8), position=(0, 0, 0.15), pins=high)
    scene.add_attachment(stiff, low, soft, np.inf, onto=high)
    sim = pl.Simulation(scene, pl.XPBD(substeps=200))
    stiff.set_targets(high, stiff.x[0][high] + np.array([0, 0, PULLED]))
    return sim, soft, stiff, high
