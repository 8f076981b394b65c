"""Ties between bodies: statics in closed form, motion that both sides feel, seams and glue."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.errors import SceneError
from pliant.materials import Fabric

Array = np.ndarray

SOFT = Fabric("soft", areal_density=0.2, thickness=5e-4, youngs_modulus=4e5, poisson_ratio=0.3)
SOLVERS = [pl.XPBD(), pl.XPBD(order="sequential"), pl.XPBD(substeps=5, iterations=4)]


def plate_and_sheet(
    gap: float | str, height: float = 0.0, **tie: object
) -> tuple[pl.Scene, pl.Cloth, pl.Cloth]:
    """A sheet without inner forces over a pinned plate, its middle vertex tied to it."""
    scene = pl.Scene(air_drag=5.0)
    plate = scene.add_cloth(pl.shapes.grid(3, 3), SOFT, pins=range(9), name="plate")
    sheet = scene.add_cloth(
        pl.shapes.grid(2, 2, (0.1, 0.1)), SOFT, (0.1, 0.05, height), membrane="none", bending="none"
    )
    scene.add_attachment(sheet, [0, 3], plate, gap=gap, **tie)
    return scene, plate, sheet


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_a_tie_to_something_pinned_is_an_attachment(solver: pl.XPBD) -> None:
    """The same spring, the same sag m g/k at rest, the same way there: to rounding in every step."""
    tied, plate, sheet = plate_and_sheet(0.0, stiffness=30.0, damping_time=0.01)
    apart = pl.Scene(air_drag=5.0)
    same = apart.add_cloth(sheet.mesh, SOFT, membrane="none", bending="none")
    apart.add_attachment(same, [0, 3], stiffness=30.0, damping_time=0.01)
    one, two = pl.Simulation(tied, solver), pl.Simulation(apart, solver)
    for _ in range(40):
        one.step()
        two.step()
        np.testing.assert_allclose(sheet.x, same.x, atol=1e-13)
    assert np.abs(sheet.x[0, 0] - sheet.mesh.vertices[0]).max() > 1e-4
    np.testing.assert_array_equal(plate.x[0], plate.mesh.vertices)


def test_a_gap_keeps_its_distance_over_a_turning_plate() -> None:
    """Rigid ties hold vertices where they were glued in the frame of a plate that turns and rises."""
    scene = pl.Scene()
    plate = scene.add_cloth(pl.shapes.grid(3, 3), SOFT)
    ride = pl.Steady(position=(0.1, 0, 0), velocity=(0, 0, 0.4), angular_velocity=(0.7, 0.4, 1.0))
    plate.follow(range(9), ride)
    rider = scene.add_cloth(
        pl.shapes.grid(3, 3, (0.2, 0.2)), SOFT, (0.1, 0.1, 0.05), (0.3, 0, 0), membrane="none", bending="none"
    )
    scene.add_attachment(rider, range(9), plate, stiffness=np.inf)
    sim = pl.Simulation(scene)
    start, turn = ride(0.0)[0], np.eye(3)
    for _ in range(10):
        sim.step()
        where, turn = ride(sim.time)
        np.testing.assert_allclose(rider.x[0], (rider.mesh.vertices - start) @ turn.T + where, atol=1e-9)
    assert np.abs(turn - np.eye(3)).max() > 0.1


def test_a_strip_sewn_from_two_pieces_hangs_as_one() -> None:
    """Upper piece pinned, lower one sewn on rigidly: the seam carries the weight below it, all ends agree."""
    n, length = 5, 0.4
    step = length / (n - 1)
    pieces = pl.Scene(air_drag=4.0)
    upright = (np.pi / 2, 0, 0)
    top = pieces.add_cloth(
        pl.shapes.grid(3, n, (0.2, length)), SOFT, (0, 0, 1), upright, range(3 * (n - 1), 3 * n)
    )
    low = pieces.add_cloth(pl.shapes.grid(3, n, (0.2, length)), SOFT, (0, 0, 1 - length), upright)
    pieces.add_attachment(low, range(3 * (n - 1), 3 * n), top, stiffness=np.inf, gap=0.0)
    whole = pl.Scene(air_drag=4.0)
    rows = 2 * n - 1
    strip = whole.add_cloth(
        pl.shapes.grid(3, rows, (0.2, 2 * length)),
        SOFT,
        (0, 0, 1 - 0.5 * length),
        upright,
        range(3 * (rows - 1), 3 * rows),
    )
    one, two = pl.Simulation(pieces, pl.XPBD(substeps=60)), pl.Simulation(whole, pl.XPBD(substeps=60))
    for _ in range(120):
        one.step()
        two.step()
    sag = strip.mesh.vertices[:3, 2] - strip.x[0, :3, 2]
    assert sag.min() > 0.2 * SOFT.areal_density * 9.81 * (2 * length) ** 2 / 2 / 200
    np.testing.assert_allclose(low.mesh.vertices[:3, 2] - low.x[0, :3, 2], sag, rtol=0.03)
    seam = one.constraint_forces("tie")[0].sum(axis=0)
    weight = SOFT.areal_density * 0.2 * length * 9.81
    np.testing.assert_allclose(seam, [0, 0, weight], rtol=0.01, atol=0.01 * weight)
    np.testing.assert_allclose(low.x[0, -3:], top.x[0, :3], atol=1e-4 * step)


@pytest.mark.parametrize("gap", [0.0, "keep", 0.1])
def test_two_free_sheets_pull_at_each_other_and_at_nothing_else(gap: float | str) -> None:
    """Linear momentum to rounding; angular momentum of a tie's correction to rounding, for any gap."""
    scene = pl.Scene(gravity=(0, 0, 0))
    one = scene.add_cloth(pl.shapes.grid(2, 2), SOFT, membrane="none", bending="none")
    other = scene.add_cloth(
        pl.shapes.grid(2, 2), SOFT, (0.2, 0.1, 0.3), (0.2, 0.3, 0), membrane="none", bending="none"
    )
    scene.add_attachment(other, [0], one, stiffness=100.0, gap=gap)
    sim = pl.Simulation(scene, pl.XPBD(substeps=1))
    rng = np.random.default_rng(4)
    start = sim.model.x_rest + 0.1 * rng.standard_normal(sim.model.x_rest.shape)
    sim.state.set_x(start)
    sim.step()
    change = sim.model.mass[:, None] * (sim.x[0] - start)
    assert np.abs(change).max() > 1e-4
    np.testing.assert_allclose(change.sum(axis=0), 0, atol=1e-16)
    turning = np.linalg.norm(np.cross(start, change).sum(axis=0))
    if gap == 0.0:
        assert turning < 1e-15
    else:  # rows along fixed axes turn with the square of how far a tie is open
        shares = []
        for scale in (1e-2, 1e-4):
            near = sim.model.x_rest + scale * (start - sim.model.x_rest)
            sim.reset()
            sim.state.set_x(near)
            sim.step()
            moved = sim.model.mass[:, None] * (sim.x[0] - near)
            shares.append(np.linalg.norm(np.cross(near, moved).sum(axis=0)))
        assert shares[1] < 2e-4 * shares[0] if gap == "keep" else shares[0] > 0


def test_a_seam_closes_a_sheet_into_a_tube() -> None:
    """Both long sides of one cloth, pulled together by springs: neighbours in the seam end up together."""
    scene = pl.Scene(gravity=(0, 0, 0), air_drag=10.0)
    n, m = 13, 4
    flat = pl.shapes.grid(n, m, (0.6, 0.3))
    angle = 1.6 * np.pi * (flat.vertices[:, 0] / 0.6)
    bent = np.column_stack([0.12 * np.sin(angle), flat.vertices[:, 1], 0.12 * np.cos(angle)])
    cloth = scene.add_cloth(flat, SOFT, start=bent)
    side = np.arange(m) * n
    seam = scene.add_attachment(cloth, side, cloth, stiffness=200.0, onto=side + n - 1)
    assert not (seam.corners == seam.particles[:, None]).any()
    sim = pl.Simulation(scene)
    for _ in range(90):
        sim.step()
    apart = np.linalg.norm(cloth.x[0, side] - cloth.x[0, side + n - 1], axis=1)
    assert apart.max() < 0.01
    assert np.linalg.norm(bent[side] - bent[side + n - 1], axis=1).min() > 0.1


def test_ties_are_let_go_in_some_worlds() -> None:
    """A scale of next to nothing: the sheet falls freely there and stays where it is held."""
    scene, _, sheet = plate_and_sheet("keep", 0.05, stiffness=1e4)
    sim = pl.Simulation(scene, worlds=2)
    sim.set(attachment_scale=1e-12, worlds=1)
    for _ in range(20):
        sim.step()
    fallen = sheet.mesh.vertices[0, 2] - sheet.x[:, 0, 2]
    assert fallen[0] < 1e-3
    assert fallen[1] > 0.2


def test_mistakes_are_named() -> None:
    scene = pl.Scene()
    a = scene.add_cloth(pl.shapes.grid(3, 3), SOFT, name="a")
    b = scene.add_cloth(pl.shapes.grid(3, 3), SOFT, name="b")
    with pytest.raises(SceneError, match='"a" to "b": gap is -1'):
        scene.add_attachment(a, [0], b, gap=-1)
    with pytest.raises(SceneError, match="named twice"):
        scene.add_attachment(a, [0, 0], b)
    with pytest.raises(SceneError, match="of this scene"):
        scene.add_attachment(a, [0], pl.Scene().add_cloth(pl.shapes.grid(2, 2), SOFT))
    with pytest.raises(SceneError, match="needs no frame"):
        scene.add_attachment(a, [0], b, frame=pl.Steady((0, 0, 0)))
    with pytest.raises(SceneError, match="stiffness is inf"):
        scene.add_attachment(a, [0], stiffness=np.inf)
    with pytest.raises(SceneError, match="vertex 9 does not exist"):
        scene.add_attachment(a, [9], b)
    with pytest.raises(SceneError, match="2 vertices cannot be sewn onto 1"):
        scene.add_attachment(a, [0, 1], b, onto=[0])
    with pytest.raises(SceneError, match="have no gap"):
        scene.add_attachment(a, [0], b, onto=[0], gap=0.1)


def test_cloth_is_glued_to_a_solid_and_both_feel_it() -> None:
    """A sheet on a soft block, both free: gaps stay, linear momentum goes with gravity alone."""
    scene = pl.Scene()
    block = scene.add_solid(
        pl.shapes.bar((0.2, 0.2, 0.1), (2, 2, 1)),
        pl.SolidMaterial(density=100, youngs_modulus=1e4, poisson_ratio=0.3),
    )
    top = block.mesh.vertices[:, 2].max()
    middle = block.mesh.vertices.mean(axis=0)
    sheet = scene.add_cloth(
        pl.shapes.grid(4, 4, (0.15, 0.15)), SOFT, (middle[0], middle[1], top + 0.01), velocity=(0, 0, 1)
    )
    glue = scene.add_attachment(sheet, [0, 3, 12, 15], block, stiffness=np.inf)
    np.testing.assert_allclose(glue.gaps, 0.01, rtol=1e-12)
    sim = pl.Simulation(scene)
    for _ in range(10):
        info = sim.step("full")
    mass = sim.model.mass
    upwards = mass[sheet.vertices].sum() - mass.sum() * 9.81 * sim.time
    np.testing.assert_allclose(info.momentum[0], [0, 0, upwards], atol=1e-10)
    corners = sim.x[0][glue.corners]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    over = np.sum((sim.x[0][glue.particles] - corners[:, 0]) * normal, axis=1) / np.linalg.norm(
        normal, axis=1
    )
    np.testing.assert_allclose(over, 0.01, atol=2e-3)
    assert np.abs(sheet.x[0] - sheet.mesh.vertices).max() > 0.01
