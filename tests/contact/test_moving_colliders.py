"""Colliders that move: what rests on them is dragged by friction, at the exact rates of Coulomb's law."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl

CLOTH = pl.fabrics.cotton.with_(thickness=4e-4)


def on_top(shape, motion, mesh=None, dtype: str = "float64", **options) -> pl.Simulation:
    """A small sheet on the upper side, at z = 0, of a collider."""
    scene = pl.Scene()
    scene.add_cloth(
        mesh or pl.shapes.grid(5, 5, size=(0.1, 0.1)), CLOTH, position=(0, 0, CLOTH.thickness / 2)
    )
    scene.add_collider(shape, motion=motion, **options)
    return pl.Simulation(scene, pl.XPBD(substeps=10), dtype=dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_conveyor(dtype: str) -> None:
    """v = min(mu g t, belt): slides up to speed, then sticks."""
    belt = pl.Steady((0, 0, -0.05), velocity=(1.0, 0, 0))
    sim = on_top(pl.Box((6, 1, 0.1)), belt, friction=0.3, dtype=dtype)
    for _ in range(30):
        sim.step()
        expected = min(0.3 * 9.81 * sim.time, 1.0)
        v = sim.state.v[0]
        assert v[:, 0].mean() == pytest.approx(expected, rel=0.01)
        assert np.abs(v[:, 0] - v[:, 0].mean()).max() < 0.02
    assert sim.info is not None
    assert sim.info.ok()
    assert sim.info.contacts[0] == 25


def test_turntable_carries_what_rests_on_it() -> None:
    """Started at the table's speed it stays put on the table (mu g > omega^2 r), to rounding of the turn."""
    omega = 3.0
    turn = pl.Steady((0, 0, -0.05), angular_velocity=(0, 0, omega))
    sim = on_top(pl.Cylinder(0.3, 0.1), turn, mesh=pl.shapes.disc(0.1, 0.03), friction=0.5)
    start = sim.model.x_rest
    sim.state.set_v(np.cross([0, 0, omega], start))
    sim.run(steps=60, progress=False)
    angle = omega * sim.time
    c, s = np.cos(angle), np.sin(angle)
    expected = start[:, :2] @ np.array([[c, s], [-s, c]])
    assert np.abs(expected - start[:, :2]).max() > 0.05
    assert np.abs(sim.x[0][:, :2] - expected).max() < 5e-4


def test_lift_carries_upwards() -> None:
    lift = pl.Keyframes([0, 1], [(0, 0, -0.05), (0, 0, 0.25)])
    sim = on_top(pl.Box((1, 1, 0.1)), lift, friction=0.5)
    info = sim.run(seconds=1.5, progress=False)
    assert info.ok()
    np.testing.assert_allclose(sim.x[0][:, 2], 0.3 + CLOTH.thickness / 2, atol=1e-6)
    assert info.max_penetration[0] < 1e-9


def test_a_collider_that_rams_a_sheet_pushes_it_ahead() -> None:
    """No gravity: a wall at 2 m/s leaves the sheet moving at 2 m/s, in front of the wall."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_cloth(
        pl.shapes.grid(5, 5, size=(0.1, 0.1)), CLOTH, position=(0.1, 0, 0), rotation=(0, np.pi / 2, 0)
    )
    scene.add_collider(pl.Box((0.1, 1, 1)), motion=pl.Steady((0, 0, 0), velocity=(2.0, 0, 0)), friction=0.2)
    sim = pl.Simulation(scene)
    info = sim.run(steps=10, progress=False)
    assert info.ok()
    assert sim.state.v[0][:, 0].mean() == pytest.approx(2.0, rel=1e-6)
    assert sim.x[0][:, 0].min() >= 0.05 + 2.0 * sim.time - 1e-9


def test_keyframes_and_steady() -> None:
    k = pl.Keyframes([0, 2], [(0, 0, 0), (2, 0, 0)], [(0, 0, 0), (0, 0, np.pi / 2)])
    p, r = k(1.0)
    np.testing.assert_allclose(p, [1, 0, 0])
    np.testing.assert_allclose(r[:2, 0], [np.sqrt(0.5), np.sqrt(0.5)], atol=1e-15)
    np.testing.assert_array_equal(k(-1.0)[0], [0, 0, 0])
    np.testing.assert_array_equal(k(9.0)[0], [2, 0, 0])
    with pytest.raises(pl.SceneError, match="ascending"):
        pl.Keyframes([1, 0], [(0, 0, 0), (1, 0, 0)])


def test_too_fast_a_turn_is_refused() -> None:
    sim = on_top(pl.Cylinder(0.3, 0.1), pl.Steady((0, 0, -0.05), angular_velocity=(0, 0, 200.0)))
    with pytest.raises(pl.SceneError, match="half a turn"):
        sim.step()


def test_moving_by_hand_and_resuming_bit_for_bit(tmp_path) -> None:
    def pushed(sim: pl.Simulation, steps: range) -> None:
        for k in steps:
            sim.move_collider(0, (0.01 * (k + 1), 0, -0.05))
            sim.step()

    straight = on_top(pl.Box((1, 1, 0.1)), None, friction=0.5)
    straight.control.place_collider(0, (np.array([0, 0, -0.05]), np.eye(3)))
    straight.save(tmp_path / "start.npz")
    pushed(straight, range(4))
    straight.save(tmp_path / "half.npz")
    pushed(straight, range(4, 8))
    resumed = on_top(pl.Box((1, 1, 0.1)), None, friction=0.5)
    resumed.load(tmp_path / "half.npz")
    pushed(resumed, range(4, 8))
    assert straight.x[0][:, 0].mean() > 0.01
    np.testing.assert_array_equal(straight.x, resumed.x)
    np.testing.assert_array_equal(straight.state.v, resumed.state.v)


def test_reset_brings_a_moving_collider_back() -> None:
    belt = pl.Steady((0, 0, -0.05), velocity=(1.0, 0, 0))
    sim = on_top(pl.Box((6, 1, 0.1)), belt, friction=0.3)
    sim.run(steps=5, progress=False)
    first = sim.x
    sim.reset()
    sim.run(steps=5, progress=False)
    np.testing.assert_array_equal(sim.x, first)
