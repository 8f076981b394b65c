"""Resolution, masses, steps, changes on the way and bodies far away: what must not, and what may, matter."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numba import config

import pliant as pl
from tests.cases.scenes import G, fabric, flag, kinetic, period, swing, weight


def hung(n: int, mass: float, substeps: int, seconds: float = 6.0) -> tuple[pl.Simulation, float]:
    """A square metre of n x n vertices and a mass [kg] hung by two corners; energy per kg at the end."""
    scene = pl.Scene(air_drag=3.0)
    sheet = fabric(300.0, areal_density=mass, bending_rigidity=1e-4, damping_time=5e-3)
    scene.add_cloth(pl.shapes.grid(n, n), sheet, pins=[0, n - 1])
    sim = pl.Simulation(scene, pl.XPBD(substeps=substeps))
    assert sim.run(seconds=seconds, progress=False).ok()
    return sim, kinetic(sim) / mass


@pytest.mark.parametrize("mass", [1.0, 0.01])
def test_n07_light_particles_come_to_rest(mass: float) -> None:
    """N07: finer meshes have lighter particles; at a fixed budget, 1 kg or 10 g, all calm down alike.

    Kinetic energy below 1e-6 J/kg within 6 s for 9, 17 and 33 vertices a side. The budget decides how soft
    the sheet is, not whether it is stable: finer hangs lower (:func:`test_n07_depth`).
    """
    depths = []
    for n in (9, 17, 33):
        sim, energy = hung(n, mass, substeps=20)
        assert energy < 1e-6
        depths.append(-sim.x[0][:, 2].min())
    assert depths == sorted(depths), "softer as it gets finer, and never the other way"


def test_n07_depth() -> None:
    """N07: with substeps as n^2 the lowest point differs by under 3 % from 17 to 33 vertices a side."""
    coarse, fine = (hung(n, 1.0, substeps, 4.0)[0].x[0][:, 2].min() for n, substeps in ((17, 20), (33, 80)))
    assert fine == pytest.approx(coarse, rel=0.03)


def held_along_an_edge(n: int, substeps: int) -> float:
    """Lowest point of half a metre of cloth held along one edge, at rest [m]."""
    scene = pl.Scene(air_drag=3.0)
    sheet = fabric(200.0, bending_rigidity=1e-4, damping_time=5e-3)
    scene.add_cloth(pl.shapes.grid(n + 1, n + 1, (0.5, 0.5)), sheet, pins=np.arange(n + 1))
    sim = pl.Simulation(scene, pl.XPBD(substeps=substeps))
    for _ in range(400):
        assert sim.step().ok()
    assert np.abs(sim.state.v).max() < 1e-3
    return float(sim.x[0][:, 2].min())


def test_n16_a_finer_mesh_needs_no_smaller_step_to_be_stable() -> None:
    """N16: refined from 8 to 24 cells at the same step and budget, a cloth never diverges: it gets softer.

    With substeps in proportion to the cells it hangs within 2 % of the coarse one's depth, and never higher.
    """
    fixed = [held_along_an_edge(n, 10) for n in (8, 16, 24)]
    assert fixed[0] > fixed[1] > fixed[2] > -0.6
    scaled = [fixed[0], held_along_an_edge(16, 20), held_along_an_edge(24, 30)]
    np.testing.assert_allclose(scaled[1:], fixed[0], rtol=0.02)


def swung(sim: pl.Simulation, seconds: float, steps: list[float]) -> tuple[float, float, float]:
    """A flag let go from level: lowest point, period, most of kinetic + potential over weight x arm."""
    times, angles, lowest, energy = [], [], [], []
    for dt in itertools.cycle(steps):
        sim.dt = dt
        info = sim.step("full")
        times.append(sim.time)
        angles.append(swing(sim))
        lowest.append(sim.x[0][:, 2].min())
        energy.append(info.kinetic[0] + info.potential[0])
        if sim.time > seconds:
            break
    most = float(max(energy) / (weight(sim) * 0.15))
    return float(min(lowest)), period(np.array(times), np.array(angles), 6), most


def test_n18_a_flag_swings_alike_at_every_frame_rate() -> None:
    """N18: lowest point and period within 3 % at 1/30, 1/60, 1/144 s and at uneven steps of 4 to 40 ms.

    At uneven steps no energy comes from nowhere: kinetic + potential stays below what it was at the start,
    by 1 % of weight times arm.
    """
    uneven = np.random.default_rng(18).uniform(0.004, 0.04, 400).tolist()
    runs = [
        swung(flag(pl.XPBD(substeps=20)), 4.0, steps) for steps in ([1 / 144], [1 / 30], [1 / 60], uneven)
    ]
    for lowest, time, most in runs:
        assert lowest == pytest.approx(runs[0][0], rel=0.03)
        assert time == pytest.approx(runs[0][1], rel=0.03)
        assert most < 0.01
    assert runs[0][0] < -0.29, "it fell"


def test_n18_forces_are_right_after_a_change_of_the_step() -> None:
    """N18: a step that changes between two steps changes neither the forces read nor the protocol kept."""
    sim = flag(pl.XPBD(substeps=30), air_drag=5.0)
    sim.run(seconds=3, progress=False)
    before = sim.constraint_forces("membrane")
    sim.dt = 0.004
    np.testing.assert_array_equal(sim.constraint_forces("membrane"), before)
    assert sim.protocol.dt == sim.dt == 0.004
    for bad in (0.0, -1.0, np.nan, np.inf, "fast", True):
        with pytest.raises(pl.PliantError, match="dt is"):
            sim.dt = bad  # type: ignore[assignment]
    with pytest.raises(AttributeError):
        sim.solver = pl.XPBD()  # type: ignore[misc]


@pytest.mark.parametrize("ramp", [1, 15], ids=["jump", "ramp"])
@pytest.mark.parametrize("factor", [0.1, 10.0])
@pytest.mark.parametrize("what", ["bending_scale", "membrane_scale"])
def test_n19_a_change_of_stiffness_gives_no_jerk(what: str, factor: float, ramp: int) -> None:
    """N19: a flag in gusty wind whose stiffness changes tenfold, at once or over 15 steps.

    The largest acceleration in the 3 steps after is below 5 times the mean before. (Multipliers start at zero
    in every substep: there is nothing to rescale.)
    """
    sim = flag(pl.XPBD(substeps=20), air_drag=1.0)
    change = 180
    acceleration = []
    for k in range(change + ramp + 3):
        if k >= change:
            sim.set(**{what: factor ** min(1.0, (k - change + 1) / ramp)})
        gust = [0.0, 3.0 + 0.5 * np.sin(5 * sim.time), 0.0]
        sim.control.set_force(sim.model.mass[:, None] * gust)
        v = sim.state.v[0]
        assert sim.step().ok()
        acceleration.append(np.abs(sim.state.v[0] - v).max() / sim.dt)
    before = float(np.mean(acceleration[change - 60 : change]))
    assert before > 0.5, "it flaps"
    assert max(acceleration[change:]) < 5 * before


FAR = {
    "none": None,
    "regular": pl.shapes.grid(21, 17, (2.0, 2.0), "left"),
    "irregular": pl.shapes.disc(1.0, 0.1),
}


def beside(far: str, first: bool) -> np.ndarray:
    """Positions of a hanging cloth that touches a ball, alone or with another cloth 20 m away."""
    scene = pl.Scene()
    other = FAR[far]
    if other is not None and first:
        scene.add_cloth(other, pl.fabrics.denim, position=(20, 0, 3))
    mesh = pl.shapes.grid(15, 15, (0.5, 0.5), "alternating")
    cloth = scene.add_cloth(mesh, pl.fabrics.cotton, position=(0, 0, 0.25), pins=[0, 14])
    if other is not None and not first:
        scene.add_cloth(other, pl.fabrics.denim, position=(20, 0, 3))
    scene.add_collider(pl.Sphere(0.1), position=(0, 0, 0.1))
    sim = pl.Simulation(scene, pl.XPBD(substeps=10))
    touching = sum(int(sim.step().contacts[0]) for _ in range(30))
    assert touching > 50
    return cloth.x[0]


@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("far", ["regular", "irregular"])
def test_n20_a_cloth_far_away_changes_no_bit(far: str, first: bool) -> None:
    """N20: a cloth moves alike alone and beside another body 20 m away, whichever was added first."""
    np.testing.assert_array_equal(beside(far, first), beside("none", first))


def test_n20_a_wild_world_changes_no_bit_of_its_neighbours() -> None:
    """N20: world 0 of a batch beside a world that thrashes, and beside one that rests."""
    seen = []
    for speed in (0.0, 1e4):
        scene = pl.Scene()
        scene.add_cloth(pl.shapes.grid(9, 9), pl.fabrics.cotton, pins=[0, 8])
        sim = pl.Simulation(scene, pl.XPBD(substeps=5), worlds=2)
        push = np.random.default_rng(0).normal(size=(1, 81, 3))
        sim.state.set_v(speed * push, worlds=1)
        sim.run(steps=20, progress=False)
        seen.append(sim.x)
    assert np.abs(seen[0][1] - seen[1][1]).max() > 1
    np.testing.assert_array_equal(seen[0][0], seen[1][0])


@pytest.mark.parametrize("seed", range(6))
def test_n14_rows_of_one_colour_never_share_a_particle(seed: int) -> None:
    """N14: models of random meshes and materials, zeros included: no colour holds a particle twice.

    A zero in one parameter (rigidity, Poisson's ratio) must drop its own rows alone.
    """
    rng = np.random.default_rng(seed)
    scene = pl.Scene()
    for k in range(2):
        mesh = pl.shapes.unstructured((1.0, 1.0), 0.1 + 0.1 * rng.random(), seed=seed + k)
        sheet = fabric(
            1000.0,
            poisson_ratio=float(rng.choice([0.0, 0.3])),
            bending_rigidity=float(rng.choice([0.0, 1e-4])),
            damping_time=float(rng.choice([0.0, 1e-3])),
        )
        bending = str(rng.choice(["isometric", "dihedral", "none"]))
        scene.add_cloth(mesh, sheet, bending=bending, position=(2 * k, 0, 0), pins=[0])
    model = scene.build()
    triangles = sum(len(c.mesh.triangles) for c in scene.cloths)
    assert len(model.blocks["membrane"]) == triangles
    for block in model.blocks.values():
        for a, b in itertools.pairwise(block.color_start):
            ids = block.ids[a:b].ravel()
            assert len(np.unique(ids)) == len(ids), block


@pytest.mark.skipif(config.NUMBA_NUM_THREADS < 2, reason="one core")
def test_n14_colours_in_parallel_give_the_bits_of_the_serial_sweep() -> None:
    """N14: shares of a colour on two threads give the bits of one after the other, without bending too."""
    for rigidity in (0.0, 1e-4):
        seen = []
        for threads in (1, 2):
            pl.set_threads(threads)
            scene = pl.Scene()
            scene.add_cloth(pl.shapes.grid(101, 101), fabric(1000.0, bending_rigidity=rigidity), pins=[0])
            sim = pl.Simulation(scene, pl.XPBD(substeps=2))
            assert sim.workspace.worth_sharing("colored")
            noise = np.random.default_rng(3).normal(size=sim.model.x_rest.shape)
            sim.state.set_x(sim.model.x_rest + 0.002 * noise)
            sim.step()
            seen.append(sim.x)
        assert np.abs(seen[0] - sim.model.x_rest).max() > G * 1e-5
        np.testing.assert_array_equal(*seen)
