"""Stiffness is the material's: hinges, springs, chains, curtains, stretched sheets, by closed forms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pliant as pl
from pliant.lab.statics import relax
from tests.cases.scenes import (
    HINGE_EDGE,
    STAND,
    G,
    chain,
    fabric,
    hinge,
    period,
    point_masses,
    settle,
    weight,
)


@pytest.mark.parametrize("rigidity", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize(("rest", "start"), [(0.0, 0.3), (-2.0, -1.7), (3.0, 3.4), (3.0, -2.9)])
def test_n04_a_bent_hinge_swings_like_its_oscillator(rigidity: float, rest: float, start: float) -> None:
    """N04: a wing on a bent hinge swings about the rest angle with T = 2 pi sqrt(I/k), k = B l^2/(A0 + A1).

    Through 0 and through pi alike: the last two starts lie beyond a full fold, seen from the rest angle of
    3 rad, and the angle goes on continuously there.
    """
    height = HINGE_EDGE * np.sqrt(0.75)
    mass = 0.2 * 0.5 * HINGE_EDGE * height / 3
    stiffness = rigidity * HINGE_EDGE**2 / (HINGE_EDGE * height)
    exact = 2 * np.pi * np.sqrt(mass * height**2 / stiffness)
    scene = pl.Scene(gravity=(0, 0, 0))
    sheet = fabric(1e4, bending_rigidity=rigidity)
    scene.add_cloth(hinge(rest), sheet, pins=[0, 1, 2], bending="dihedral", start=hinge(start).vertices)
    sim = pl.Simulation(scene, pl.XPBD(substeps=30), dt=exact / 30)
    times, angles = [0.0], [start]
    for _ in range(90):
        sim.step()
        times.append(sim.time)
        x = sim.x[0][3]
        angles.append(float(np.arctan2(-x[2], x[0])))
    away = np.unwrap(angles) - rest
    away -= 2 * np.pi * np.round(away[0] / (2 * np.pi))
    amplitude = abs(away[0])
    assert period(np.array(times), away, 4) == pytest.approx(exact, rel=0.05)
    assert 0.8 * amplitude < -away.min() * np.sign(away[0]) or 0.8 * amplitude < away.max()
    assert np.abs(away).max() < 1.01 * amplitude
    assert np.abs(np.diff(away)).max() < 0.3 * amplitude, "no jump"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("gap", [0.0, 1e-9])
def test_n04_a_sheet_folded_flat_on_itself_unfolds(gap: float, dtype: str) -> None:
    """N04: hung by two corners from a full fold (an angle of exactly pi): finite for B from 1e-4 to 100 N m.

    One world per rigidity. Energies are bounded: no vertex gets faster than the fold's energy could make it.
    """
    mesh = pl.shapes.grid(17, 9, (1.0, 0.5))
    folded = mesh.vertices.copy()
    right = folded[:, 0] > 1e-9
    folded[right, 0] *= -1
    folded[right, 2] = gap
    scene = pl.Scene()
    sheet = fabric(2e3, bending_rigidity=1e-4)
    scene.add_cloth(mesh, sheet, bending="dihedral", start=folded, pins=[0, 8 * 17])
    rigidity = 1e-4 * np.array([1.0, 1e2, 1e4, 1e6])
    sim = pl.Simulation(scene, pl.XPBD(substeps=20), worlds=4, dtype=dtype)
    sim.set(bending_scale=rigidity / 1e-4)
    first = sim.step("full")
    assert first.ok()
    fold = 0.5 * rigidity * 0.5 / (1 / 16) * np.pi**2
    available = fold + weight(sim) * 1.0  # a fall by 1 m
    for _ in range(60):
        info = sim.step("full")
        assert info.ok()
        assert (info.kinetic < available).all()
    assert np.isfinite(sim.x).all()
    assert (np.ptp(sim.x[:, :, 2], axis=1) > 0.1).all(), "it hangs"


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240, 1 / 960])
@pytest.mark.parametrize("iterations", [1, 5, 500])
def test_n05_one_spring_sags_alike_for_every_budget(iterations: int, dt: float) -> None:
    """N05: 1 kg on 1000 N/m sags by 9.81 mm, within 1 %, for every number of iterations and step."""
    scene, cloth = point_masses(1.0)
    scene.add_attachment(cloth, [0, 1, 2], stiffness=1000.0, damping_time=2 / np.sqrt(1000.0))
    sim = pl.Simulation(scene, pl.XPBD(substeps=1, iterations=iterations), dt=dt)
    sim.run(seconds=1, progress=False)
    np.testing.assert_allclose(sim.model.mass, 1.0)
    np.testing.assert_allclose(-sim.x[0][:, 2], G / 1000, rtol=0.01)


@pytest.mark.parametrize(("dt", "budgets"), [(1 / 60, (1, 5, 20, 100)), (1 / 240, (1, 5, 100))])
def test_n05_a_chain_stiffens_to_the_springs_it_is_made_of(dt: float, budgets: tuple[int, ...]) -> None:
    """N05: 20 masses of 50 g on springs of 1000 N/m sag by the sum of m g/k, not less, with many iterations.

    From the soft side, monotone, within 2 % once there are 100 iterations; never harder than the material.
    The residual says which of the runs are not converged.
    """
    sags, residuals = [], []
    exact = 0.05 * G / 1000 * 20 * 21 / 2
    for iterations in budgets:
        sim = chain(20, 1000.0, 0.05, pl.XPBD(substeps=1, iterations=iterations), dt)
        top = sim.model.x_rest[0, 2]
        settle(sim, period=80 / np.sqrt(1000.0 / 0.05), times=6)
        residuals.append(sim.step("full").constraint_residual["distance"]["max"][0])
        sags.append((top - sim.x[0][0, 2]) / exact)
    assert all(a > b or abs(a - b) < 1e-9 for a, b in itertools.pairwise(sags))
    assert sags[0] > 1.3, "one iteration is visibly too soft"
    assert all(s > 1 - 1e-6 for s in sags)
    assert sags[-1] == pytest.approx(1, rel=0.02)
    assert all(a > 5 * b for a, b in itertools.pairwise(residuals))


def curtain(rows: int, solver: pl.XPBD, dt: float, times: float) -> tuple[float, float]:
    """A curtain 1 m long, two cells wide, under its own weight: sag over rho g L^2/(2 E t), and residual."""
    a = 1 / rows
    scene = pl.Scene()
    top = np.arange(3 * rows, 3 * rows + 3)
    mesh = pl.shapes.grid(3, rows + 1, (2 * a, 1.0))
    scene.add_cloth(mesh, fabric(1000.0, poisson_ratio=0.0), rotation=STAND, pins=top)
    sim = pl.Simulation(scene, solver, dt=dt)
    settle(sim, period=4 / np.sqrt(1000.0 / 0.2), times=times)
    info = sim.step("full")
    sag = float((sim.model.x_rest - sim.x[0])[:3, 2].mean())
    return sag / (0.2 * G / 2 / 1000), float(info.constraint_residual["membrane"]["max"][0])


def test_n08_a_curtain_stretches_alike_at_every_resolution() -> None:
    """N08: 0.2 kg/m^2 and E t = 1000 N/m sink by 0.98 mm, within 5 %, with 10 to 100 rows once converged.

    XPBD converges as (h/edge)^2: substeps in proportion to the rows hold the error, here 1.5 %.
    """
    found = {n: curtain(n, pl.XPBD(substeps=10), 0.02 / n, times=3) for n in (10, 25, 100)}
    for n, (sag, _) in found.items():
        assert sag == pytest.approx(1, abs=0.05), f"{n} rows"
    sags = [sag for sag, _ in found.values()]
    assert np.ptp(sags) < 0.005


def test_n08_ten_iterations_are_visibly_too_few_for_a_fine_curtain() -> None:
    """N08: at 1/60 s and 10 iterations the sag grows with the resolution, and the residual says so.

    The residual of the unconverged runs (strain that does not fit the force) is over 100 times that of the
    converged ones, and grows with the rows.
    """
    good = curtain(10, pl.XPBD(substeps=10), 0.002, times=3)[1]
    poor = [curtain(n, pl.XPBD(substeps=1, iterations=10), 1 / 60, times=60) for n in (10, 25)]
    assert poor[1][0] > poor[0][0] > 5
    assert poor[1][1] > poor[0][1] > 100 * good


@pytest.mark.parametrize(("substeps", "iterations"), [(20, 10), (100, 1)])
def test_n11_a_very_stiff_sheet_swings_without_blowing_up(substeps: int, iterations: int) -> None:
    """N11: mu = lambda = 1e8 N/m in gravity, held along one edge: bounded speed, hardly any stretch, for 5 s.

    A swing of 1 m reaches sqrt(3 g L) at the free edge; the swinging sheet stretches under 0.5 %, and at rest
    under 0.1 % (at 20 x 10: XPBD's own softness, not the material's 4e-8).
    """
    modulus = 1e8 * 8 / 3  # E t of plane strain Lame constants mu = lambda: nu = 1/3
    scene = pl.Scene(air_drag=1.0)
    sheet = fabric(modulus, poisson_ratio=1 / 3, bending_rigidity=1e-5)
    scene.add_cloth(pl.shapes.grid(9, 9), sheet, pins=np.arange(9))
    sim = pl.Simulation(scene, pl.XPBD(substeps=substeps, iterations=iterations))
    stretch = []
    for _ in range(300):
        assert sim.step().ok()
        assert np.abs(sim.state.v).max() < 2 * np.sqrt(3 * G)
        stretch.append(sim.vertex_strain().max())
    assert max(stretch) < 0.005
    assert stretch[-1] < 0.001


@pytest.mark.parametrize("nu", [0.1, 0.3, 0.49])
def test_n11_a_sheet_stretched_to_twice_its_length_contracts_by_its_law(nu: float) -> None:
    """N11: ARAP with a trace row has s2 = 1 - nu (s1 - 1): the middle of a strip at s1 = 2, within 2 %.

    Its energy w/2 ((s1-1)^2 + (s2-1)^2) + lambda/2 (s1+s2-2)^2 is quadratic in the stretches, and
    lambda/(w + lambda) = nu. (A neo-Hookean sheet has another closed form.)
    """
    size = (0.3, 0.05)
    mesh = pl.shapes.grid(25, 9, size, "alternating")
    x = mesh.vertices
    ends = np.flatnonzero(np.abs(x[:, 0]) > 0.499 * size[0])
    scene = pl.Scene(gravity=(0, 0, 0))
    # heavy: its waves are slow, few substeps resolve them
    heavy = fabric(1000.0, areal_density=20.0, poisson_ratio=nu, damping_time=2e-3)
    scene.add_cloth(mesh, heavy, pins=ends)
    sim = pl.Simulation(scene, pl.XPBD(substeps=30), dt=2e-3)
    pulled = x * [2, 1 - 0.9 * nu, 1]
    pulled[ends, 1] = x[ends, 1]
    sim.state.set_x(pulled)
    sim.control.set_pins(ends, pulled[ends])
    rest = relax(sim, tolerance=1e-5, max_steps=2000)
    assert rest.converged.all()
    middle = np.abs(x[:, 0]) < 0.15 * size[0]
    s1, s2 = (np.polyfit(x[middle, k], sim.x[0][middle, k], 1)[0] for k in (0, 1))
    assert s1 == pytest.approx(2, rel=0.03)
    assert s2 == pytest.approx(1 - nu * (s1 - 1), rel=0.02)
