"""Pins and attachments on moving frames, and targets on their way through a step."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.errors import SceneError
from pliant.geometry.motion import placed, rotation_vector
from pliant.state import Way

Array = np.ndarray

SHEET = pl.fabrics.cotton
SPINNING = pl.Steady(position=(0.1, 0, 0), velocity=(0, 0, 0.5), angular_velocity=(0, 0, 6.0))


def turned(points: Array, time: float) -> Array:
    """Where SPINNING carries points that belong to it at the start."""
    where, rotation = SPINNING(time)
    return (points - [0.1, 0, 0]) @ rotation.T + where


def hung(frame: object, ids: object = (0, 4), **options: object) -> tuple[pl.Simulation, pl.Cloth]:
    scene = pl.Scene(gravity=(0, 0, 0))
    cloth = scene.add_cloth(pl.shapes.grid(5, 5, (0.4, 0.4)), SHEET)
    cloth.follow(ids, frame)
    return pl.Simulation(scene, pl.XPBD(substeps=4), **options), cloth


@pytest.mark.parametrize("options", [{}, {"worlds": 3, "dtype": "float32"}])
def test_pins_follow_a_motion_rigidly(options: dict) -> None:
    sim, cloth = hung(SPINNING, **options)
    for _ in range(5):
        sim.step()
        exact = turned(cloth.mesh.vertices[[0, 4]], sim.time)
        np.testing.assert_allclose(sim.x[:, [0, 4]], np.broadcast_to(exact, (len(sim.x), 2, 3)), atol=1e-6)
    speed = np.linalg.norm(sim.state.v[0, 0] - [0, 0, 0.5])
    arm = np.linalg.norm(cloth.mesh.vertices[0] - [0.1, 0, 0])
    assert speed == pytest.approx(6.0 * arm, rel=1e-3)


def test_the_way_within_a_step_is_an_arc() -> None:
    """A frame that turns by 5.7 degrees in a step: in its middle pins are on the circle, not on the chord.

    The chord's sagitta is r (1 - cos(0.05)) = 0.25 mm; seen from the substep before the last, the pin's speed
    is along the circle there.
    """
    points = np.array([[0.3, 0, 0], [0.2, 0.1, 0]])
    start, end = SPINNING(0.0), SPINNING(1 / 60)
    local = points - [0.1, 0, 0]
    way = Way("pins", np.array([0, 1]), local, start, end)
    arcs = way.arcs(4)
    for s in range(4):
        exact = turned(points, (s + 1) / 240)
        straight = points + (s + 1) / 4 * (placed(local, end) - points)
        np.testing.assert_allclose(straight + arcs[s], exact, atol=1e-12)
    assert np.abs(arcs[1]).max() > 1e-4
    assert np.abs(arcs[3]).max() < 1e-15


def test_what_a_collider_carries_moves_as_it_does() -> None:
    """A gripper lifted by hand: pins and attachments keep their places in its frame."""
    scene = pl.Scene(gravity=(0, 0, 0))
    cloth = scene.add_cloth(pl.shapes.grid(5, 5, (0.4, 0.4)), SHEET)
    grip = scene.add_collider(pl.Sphere(0.01), position=(0.2, 0.2, 0.1))
    cloth.follow([24], grip)
    held = scene.add_attachment(cloth, [20], stiffness=1e3, frame=grip)
    sim = pl.Simulation(scene)
    corner, other = cloth.mesh.vertices[24], cloth.mesh.vertices[20]
    for k in range(1, 6):
        where, turn = np.array([0.2, 0.2 + 0.01 * k, 0.1 + 0.02 * k]), (0.05 * k, 0, 0)
        sim.move_collider(grip, where, turn)
        sim.step()
        pose = sim.control.collider_start[0]
        np.testing.assert_allclose(sim.x[0, 24], placed(corner - [0.2, 0.2, 0.1], pose), atol=1e-12)
        target = sim.control.attachment_targets[0, 0, :, 0]
        np.testing.assert_allclose(target, placed(other - [0.2, 0.2, 0.1], pose), atol=1e-12)
    assert np.linalg.norm(rotation_vector(pose[1])) == pytest.approx(0.25)
    with pytest.raises(SceneError, match="follow a frame"):
        held.set_targets([[0, 0, 0]])
    with pytest.raises(SceneError, match="follows a frame"):
        cloth.set_targets([24], [0, 0, 0])


def test_attachments_move_to_their_targets_over_the_substeps() -> None:
    """Rigidly held particles are on the straight way after each of 4 substeps, seen as steps of their own.

    One step of 4 substeps equals 4 steps of one substep to targets a quarter of the way apart.
    """

    def made(substeps: int) -> tuple[pl.Simulation, object]:
        scene = pl.Scene(gravity=(0, 0, 0))
        cloth = scene.add_cloth(pl.shapes.grid(3, 3), SHEET, membrane="none", bending="none")
        first = scene.add_attachment(cloth, [0, 1], stiffness=50.0, damping_time=0.01)
        second = scene.add_attachment(cloth, [1, 4], stiffness=20.0)
        assert first.first == 0
        return pl.Simulation(scene, pl.XPBD(substeps=substeps), dt=substeps / 240), second

    one, target = made(4)
    four, targets = made(1)
    goal = np.array([[0.1, 0.2, 0.3], [0.4, 0.1, 0.2]])
    start = targets.targets
    target.set_targets(goal)
    one.step()
    for k in range(1, 5):
        targets.set_targets(start + k / 4 * (goal - start))
        four.step()
    np.testing.assert_allclose(one.x, four.x, atol=1e-14)
    assert np.abs(one.x[0, 4] - start[1]).max() > 1e-4, "it moved"
    np.testing.assert_array_equal(one.x[0, 8], four.x[0, 8])


@pytest.mark.parametrize("order", ["sequential", "colored", "jacobi"])
def test_each_attachment_has_its_own_target_in_any_order(order: str) -> None:
    """Two springs on one particle and one on each of two others rest where their springs balance."""
    scene = pl.Scene(gravity=(0, 0, 0), air_drag=30.0)
    cloth = scene.add_cloth(pl.shapes.grid(2, 2), SHEET, membrane="none", bending="none")
    x = cloth.mesh.vertices
    for ids, shift in (([0, 1], 0.1), ([0], 0.3), ([0, 2], -0.2)):
        scene.add_attachment(cloth, ids, x[ids] + [0, 0, shift], stiffness=10.0)
    sim = pl.Simulation(scene, pl.XPBD(order=order))
    for _ in range(60):
        sim.step()
    moved = (sim.x[0] - x)[:, 2]
    np.testing.assert_allclose(moved, [0.2 / 3, 0.1, -0.2, 0.0], atol=1e-3)


def test_a_run_that_was_saved_or_reset_finds_its_frames_again(tmp_path) -> None:
    sim, _ = hung(SPINNING)
    for _ in range(3):
        sim.step()
    sim.save(tmp_path / "s.npz")
    straight = [sim.step() and sim.state.x for _ in range(3)][-1]
    other, _ = hung(SPINNING)
    other.load(tmp_path / "s.npz")
    for _ in range(3):
        other.step()
    np.testing.assert_array_equal(other.state.x, straight)
    other.reset()
    fresh, _ = hung(SPINNING)
    for _ in range(2):
        other.step()
        fresh.step()
    np.testing.assert_array_equal(other.state.x, fresh.state.x)


def test_mistakes_are_named() -> None:
    scene = pl.Scene()
    cloth = scene.add_cloth(pl.shapes.grid(3, 3), SHEET, name="flag")
    with pytest.raises(SceneError, match="frame must be a motion or a collider"):
        cloth.follow([0], (0, 0, 1))
    with pytest.raises(SceneError, match="frame must be a motion or a collider"):
        scene.add_attachment(cloth, [0], frame="gripper")
    cloth.follow([0], SPINNING)
    with pytest.raises(SceneError, match="follows another frame"):
        cloth.follow([0, 1], SPINNING)
    stranger = pl.Scene().add_collider(pl.Sphere(0.1), name="hand")
    scene.add_attachment(cloth, [4], frame=stranger)
    with pytest.raises(SceneError, match='"hand" does not belong'):
        pl.Simulation(scene)
    mad, _ = hung(pl.Steady((0, 0, 0), angular_velocity=(0, 0, 400.0)))
    with pytest.raises(SceneError, match="use a smaller dt"):
        mad.step()
    sim, flag = hung(SPINNING)
    with pytest.raises(SceneError, match="comes before the Simulation"):
        flag.follow([1], SPINNING)
    assert sim.time == 0
