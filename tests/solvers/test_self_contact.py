"""XPBD with contact between surfaces: no step ends crossed, whatever moves; nobody is pushed for nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from judge import Judge

import pliant as pl
from pliant.contact.skin import faces_of
from pliant.errors import SceneError, SolverError

SIZE, N = 0.15, 13
FABRIC = pl.fabrics.cotton


def sheet() -> pl.TriMesh:
    return pl.shapes.grid(N, N, (SIZE, SIZE))


def scene(thickness: float | None = 0.003, **more: object) -> pl.Scene:
    return pl.Scene(contact=pl.Contact(thickness, **more))


def accordion(pitch: float = 0.006, high: float = 0.02) -> pl.Scene:
    """Four layers, hinges of one row, tilted and dropped."""
    mesh, s = sheet(), scene()
    u = np.arange(N) * SIZE / (N - 1)
    fold = np.abs((u / (SIZE / 4)) % 2 - 1) * SIZE / 4
    x = np.array(mesh.vertices)
    x[:, 0], x[:, 2] = np.tile(fold, N), np.tile(u / (SIZE / 4) * pitch, N)
    c, d = np.cos(0.2), np.sin(0.2)
    x = x @ np.array([[1, 0, 0], [0, c, d], [0, -d, c]])
    x[:, 2] += high - x[:, 2].min()
    s.add_cloth(mesh, FABRIC, start=x)
    s.add_collider(pl.Plane())
    return s


def crumpled(seed: int) -> pl.Scene:
    """A wavy, squeezed sheet thrown at a table."""
    rng = np.random.default_rng(seed)
    mesh, s = sheet(), scene()
    x = np.array(mesh.vertices)
    waves = np.cos(x[:, :2] @ rng.normal(size=(2, 4)) * 45 + rng.uniform(0, 6, 4)).sum(axis=1)
    x[:, :2] *= 0.3
    x[:, 2] = 0.006 * waves + 0.05
    s.add_cloth(mesh, FABRIC, start=x, velocity=(0, 0, -2))
    s.add_collider(pl.Plane())
    return s


Before = Callable[[pl.Simulation], None]


def folding() -> tuple[pl.Scene, Before]:
    """One side is led over to the other."""
    mesh, s = sheet(), scene()
    side = np.flatnonzero(mesh.vertices[:, 0] < -SIZE / 2 + 1e-9)
    cloth = s.add_cloth(mesh, FABRIC, (0, 0, 0.001), pins=side)
    s.add_collider(pl.Plane())
    start = cloth.mesh.vertices[side].copy()

    def lead(sim: pl.Simulation) -> None:
        a = np.pi * min((sim.time + sim.dt) / 0.25, 1.0)
        x = start.copy()
        x[:, 0], x[:, 2] = -0.9 * SIZE / 2 * np.cos(a), 0.004 + SIZE / 2 * np.sin(a)
        cloth.set_targets(side, x)

    return s, lead


def flicked(speed: float = 5.0) -> tuple[pl.Scene, Before]:
    """A hanging sheet whose upper side is swung to and fro, 15 cm either way."""
    mesh, s = sheet(), scene(0.002)
    side = np.flatnonzero(mesh.vertices[:, 0] < -SIZE / 2 + 1e-9)
    cloth = s.add_cloth(mesh, FABRIC, (0, 0, 0.3), (0, np.pi / 2, 0), pins=side)
    start = cloth.mesh.vertices[side].copy()

    def swing(sim: pl.Simulation) -> None:
        cloth.set_targets(side, start + np.array([0.15 * np.sin(speed / 0.15 * (sim.time + sim.dt)), 0, 0]))

    return s, swing


def pressed() -> tuple[pl.Scene, Before]:
    """A sheet between a table and a press of pins, which is driven right through both."""
    s, plate = scene(), pl.shapes.grid(6, 6, (0.05, 0.05))
    every = np.arange(36)
    s.add_cloth(plate, FABRIC, pins=every)
    s.add_cloth(plate, FABRIC, (0.003, 0.002, 0.006), (0, 0, 0.3))
    press = s.add_cloth(plate, FABRIC, (0, 0, 0.02), pins=every)

    def drive(sim: pl.Simulation) -> None:
        press.set_targets(every, press.mesh.vertices - [0, 0, 0.5 * (sim.time + sim.dt)])

    return s, drive


def run(
    what: pl.Scene | tuple[pl.Scene, Before], steps: int, dt: float = 1 / 60, **more: object
) -> tuple[pl.Simulation, list[pl.StepInfo]]:
    """Step by step, each judged."""
    what, before = what if isinstance(what, tuple) else (what, None)
    sim = pl.Simulation(what, pl.XPBD(substeps=15), dt=dt, **more)
    judge = Judge(faces_of(sim.model), sim.model.n_particles)
    infos = []
    for k in range(steps):
        if before is not None:
            before(sim)
        infos.append(sim.step())
        assert not judge.crossed(sim.x[0]), k
    return sim, infos


def test_without_contact_the_accordion_crosses_itself() -> None:
    """The judge can say no."""
    free = accordion()
    free.contact = None
    with pytest.raises(AssertionError):
        run(free, 20)


def test_an_accordion() -> None:
    sim, infos = run(accordion(), 25)
    assert max(i.surface_contacts[0] for i in infos) > 100
    assert max(i.held_back[0] for i in infos) == 0
    assert np.linalg.norm(sim.state.v[0], axis=1).max() < 2.0
    assert np.ptp(sim.x[0][:, 2]) > 0.006  # layers lie on each other, not in each other


@pytest.mark.parametrize("seed", range(3))
def test_crumpled_sheets(seed: int) -> None:
    _, infos = run(crumpled(seed), 20)
    assert max(i.surface_contacts[0] for i in infos) > 3
    assert max(i.held_back[0] for i in infos) == 0


def test_folded_by_moving_pins() -> None:
    _, infos = run(folding(), 22)
    assert infos[-1].surface_contacts[0] > 10
    assert not any(i.status[0] & pl.Status.PIN_LAGS for i in infos)


def test_a_flick_at_five_metres_a_second() -> None:
    _, infos = run(flicked(), 20)
    assert max(i.surface_contacts[0] for i in infos) > 20
    assert max(i.held_back[0] for i in infos) == 0


def test_pins_that_would_cross_lag_and_say_so() -> None:
    sim, infos = run(pressed(), 8)
    said = [bool(i.status[0] & pl.Status.PIN_LAGS) for i in infos]
    assert not said[0]
    assert said[-1]
    assert infos[-1].held_back[0] > 0.5
    assert sim.x[0, 72:, 2].min() > 0.0  # the press has not passed the table


@pytest.mark.slow
@pytest.mark.parametrize("make", [folding, flicked, pressed])
@pytest.mark.parametrize("dt", [1 / 60, 1 / 200])
def test_longer_and_in_single_precision(make: Callable, dt: float) -> None:
    _, infos = run(make(), round(0.5 / dt), dt, dtype="float32")
    assert max(i.surface_contacts[0] for i in infos) > 0


def test_momentum() -> None:
    """Two sheets thrown at each other in empty space: pushes are mutual."""
    s = scene()
    s.gravity = np.zeros(3)
    s.add_cloth(sheet(), FABRIC, velocity=(0, 0, 1))
    s.add_cloth(sheet(), FABRIC, (0.02, 0.01, 0.02), (0.1, 0.05, 0.3), velocity=(0, 0, -1))
    sim, infos = run(s, 8)
    assert max(i.surface_contacts[0] for i in infos) > 10
    assert max(i.held_back[0] for i in infos) == 0
    p = sim.model.mass @ sim.state.v[0]
    scale = float(sim.model.mass.sum())
    np.testing.assert_allclose(p, 0, atol=1e-12 * scale)


def test_worlds_are_alike_alone_and_together() -> None:
    def moved(worlds: int) -> np.ndarray:
        sim = pl.Simulation(accordion(), pl.XPBD(substeps=10), worlds=worlds)
        for w in range(worlds):
            sim.state.set_v([0.1 * w, 0, -0.5], worlds=w)
        for _ in range(8):
            sim.step()
        return sim.x

    one = pl.Simulation(accordion(), pl.XPBD(substeps=10))
    one.state.set_v([0.2, 0, -0.5])
    for _ in range(8):
        one.step()
    assert one.info is not None
    assert one.info.surface_contacts[0] > 0
    np.testing.assert_array_equal(moved(3)[2], one.x[0])


def test_a_snapshot_goes_on_bit_for_bit(tmp_path: Path) -> None:
    sims = [pl.Simulation(accordion(), pl.XPBD(substeps=10)) for _ in range(2)]
    for _ in range(8):
        sims[0].step()
    sims[0].save(tmp_path / "half.npz")
    sims[1].load(tmp_path / "half.npz")
    for _ in range(4):
        for sim in sims:
            sim.step()
    np.testing.assert_array_equal(sims[0].x, sims[1].x)
    assert sims[0].info.surface_contacts[0] > 0


def crossing(policy: str) -> pl.Scene:
    s = scene(crossing=policy)
    s.add_cloth(sheet(), FABRIC, name="flat")
    s.add_cloth(sheet(), FABRIC, (0.05, 0.03, 0.02), (1.5, 0, 0), name="post")
    return s


def test_a_start_that_crosses_is_refused_or_reported() -> None:
    sim = pl.Simulation(crossing("refuse"))
    before = sim.x
    with pytest.raises(SolverError, match=r"world 0: surfaces cross where they start, \d+ times; .*edge \("):
        sim.step()
    np.testing.assert_array_equal(sim.x, before)
    sim = pl.Simulation(crossing("report"))
    for _ in range(3):
        assert sim.step().status[0] & pl.Status.START_CROSSES
    assert np.linalg.norm(sim.state.v[0], axis=1).max() < 1.0


def test_touching_from_the_start_gives_no_speed() -> None:
    """Sheets a tenth of their distance apart part slowly, within tenths of a second."""
    s = scene()
    s.gravity = np.zeros(3)
    s.add_cloth(sheet(), FABRIC)
    s.add_cloth(sheet(), FABRIC, (0.001, 0.002, 0.0003))
    sim, _ = run(s, 12)
    assert np.linalg.norm(sim.state.v[0], axis=1).max() < 0.02
    assert np.diff(sim.x[0].reshape(2, -1, 3)[..., 2], axis=0).min() > 0.0028


def test_a_fine_mesh_does_not_repel_itself() -> None:
    s = scene(0.03)  # more than two edges
    s.gravity = np.zeros(3)
    s.add_cloth(sheet(), FABRIC)
    sim, infos = run(s, 3)
    assert infos[-1].surface_contacts[0] == 0
    np.testing.assert_allclose(sim.x[0], sim.model.x_rest, rtol=0, atol=1e-12)


def test_settings_are_checked_and_kept() -> None:
    with pytest.raises(SceneError, match="thickness"):
        pl.Contact(0.0)
    with pytest.raises(SceneError, match="crossing"):
        pl.Contact(crossing="ignore")
    sim = pl.Simulation(accordion())
    assert sim.protocol.contact["thickness"] == 0.003
    free = accordion()
    free.contact = None
    assert "thickness" not in pl.Simulation(free).protocol.contact
    assert pl.Simulation(free).step().surface_contacts is None
    with pytest.raises(SolverError, match="contact"):
        pl.Simulation(crossing("report"), pl.Newton())
