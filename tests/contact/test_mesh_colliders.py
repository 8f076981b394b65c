"""Cloth on triangle meshes: the closed forms and the analytic shapes say what is right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.protocol import Status
from tests.contact.meshes import bowl, box, bumpy, closed, flipped, joined
from tests.geometry.test_surfaces import plain_obj

pytestmark = pytest.mark.slow  # minutes: `python3 dev.py test -m slow`; short ones run always

Array = np.ndarray

CLOTH = pl.fabrics.cotton.with_(thickness=4e-4)
UP = 0.5 * CLOTH.thickness
WRONG = int(Status.NONFINITE | Status.FROZEN | Status.CONTACT_MISSED | Status.START_PENETRATES)


def dropped(
    shape: object,
    height: float = 0.004,
    n: int = 7,
    steps: int = 40,
    position: object = (0, 0, 0),
    **options: object,
) -> tuple[pl.Simulation, pl.StepInfo]:
    """A sheet of 12 cm let fall on a collider."""
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(n, n, (0.12, 0.12)), CLOTH, position=(0, 0, height))
    scene.add_collider(shape, position, friction=0.4, **options)
    sim = pl.Simulation(scene, pl.XPBD(substeps=10))
    return sim, sim.run(steps=steps, progress=False)


LEVEL = {
    "closed": (box((0.3, 0.2, 0.1)), "auto", -0.05),
    "inside out": (flipped(box((0.3, 0.2, 0.1)), 1.0), "auto", -0.05),
    "partly flipped": (flipped(box((0.3, 0.2, 0.1)), 0.4), "auto", -0.05),
    "two-sided box": (box((0.3, 0.2, 0.1)), "both", -0.05),
    "sheet": (pl.shapes.grid(8, 7, (0.3, 0.3)), "auto", 0.0),
    "flipped sheet": (flipped(pl.shapes.grid(8, 7, (0.3, 0.3)), 0.4), "auto", 0.0),
    "terrain": (pl.shapes.grid(8, 7, (0.3, 0.3)), "outside", 0.0),
    "one triangle": (pl.TriMesh([[-1, -1, 0], [2, -1, 0], [-1, 2, 0]], np.array([[0, 1, 2]])), "auto", 0.0),
}


@pytest.mark.parametrize("name", LEVEL)
def test_cloth_rests_half_its_thickness_above_a_level_mesh(name: str) -> None:
    mesh, side, z = LEVEL[name]
    sim, info = dropped(pl.MeshCollider(mesh, side=side), position=(0, 0, z))
    assert info.contacts[0] == 49
    assert not info.status[0] & WRONG
    assert info.max_penetration[0] < 1e-9
    np.testing.assert_allclose(sim.x[0][:, 2], UP, atol=1e-9)
    assert np.abs(sim.state.v[0]).max() < 1e-9


PAIRS = {
    "ball": (pl.Sphere(0.08), pl.shapes.sphere(0.08, 5)),
    "box": (pl.Box((0.06, 0.07, 0.05)), box((0.06, 0.07, 0.05))),
    "cylinder": (pl.Cylinder(0.05, 0.06, 0.02), closed(pl.Cylinder(0.05, 0.06, 0.02))),
    "capsule": (pl.Capsule(0.03, 0.08), closed(pl.Capsule(0.03, 0.08))),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_mesh_and_the_shape_that_it_copies_give_the_same_rest_state(name: str) -> None:
    """The drape over both differs in height by less than two thicknesses."""
    exact, mesh = PAIRS[name]
    rotation = (0.0, np.pi / 2, 0.0) if name == "capsule" else None
    heights = []
    for shape in (exact, pl.MeshCollider(mesh)):
        sim, info = dropped(shape, 0.09, 9, 150, rotation=rotation)
        assert not info.status[0] & WRONG
        assert info.contacts[0] > 5
        assert info.max_penetration[0] < 0.1 * CLOTH.thickness
        heights.append(sim.x[0])
    assert heights[0][:, 2].min() < 0.05  # it hangs over
    assert np.abs(heights[0] - heights[1])[:, 2].max() < 2 * CLOTH.thickness


def incline(slope: float, mu: float, how: str, steps: int) -> tuple[float, float]:
    """How far a sheet slides down a mesh [m] and what a point mass would by the same steps."""
    angle = np.arctan(slope)
    turn = np.array([0.0, angle, 0.0])
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    downhill = np.array([np.cos(angle), 0.0, -np.sin(angle)])
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(5, 5, (0.1, 0.1)), CLOTH, position=UP * normal, rotation=turn)
    mesh = pl.shapes.grid(24, 23, (1.0, 1.0), pattern="cross") if how == "sheet" else box((1.0, 1.0, 0.1))
    place = (0, 0, 0) if how == "sheet" else -0.05 * normal
    scene.add_collider(pl.MeshCollider(mesh), place, turn, friction=mu)
    sim = pl.Simulation(scene, pl.XPBD(substeps=10))
    start = sim.x[0]
    info = sim.run(steps=steps, progress=False)
    assert info.contacts[0] == 25
    n, h = 10 * steps, sim.dt / 10
    g = 9.81 * (np.sin(angle) - mu * np.cos(angle))
    return float(((sim.x[0] - start) @ downhill).mean()), g * h**2 * n * (n + 1) / 2


@pytest.mark.parametrize("how", ["sheet", "box"])
def test_friction_on_a_mesh_incline_is_coulombs(how: str) -> None:
    """Sticks at 0.98 mu, slides at 1.02 mu, and at 1.1 mu as g (sin - mu cos) says, across all its edges."""
    assert abs(incline(0.49, 0.5, how, 30)[0]) < 1e-6
    way, exact = incline(0.51, 0.5, how, 30)
    assert way > 0.5 * exact > 1e-3
    way, exact = incline(0.55, 0.5, how, 40)
    assert exact > 0.05
    assert way == pytest.approx(exact, rel=0.02)


def on_top(
    mesh: pl.TriMesh, motion: object, cloth: pl.TriMesh | None = None, **options: object
) -> pl.Simulation:
    scene = pl.Scene()
    scene.add_cloth(cloth or pl.shapes.grid(5, 5, (0.1, 0.1)), CLOTH, position=(0, 0, UP))
    scene.add_collider(pl.MeshCollider(mesh), motion=motion, friction=options.pop("friction", 0.5))
    return pl.Simulation(scene, pl.XPBD(substeps=10), **options)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_conveyor(dtype: str) -> None:
    """v = min(mu g t, belt): slides up to speed over the belt's edges, then sticks."""
    belt = pl.Steady((0, 0, -0.05), velocity=(1.0, 0, 0))
    sim = on_top(joined(box((6, 1, 0.1))), belt, friction=0.3, dtype=dtype)
    for _ in range(30):
        info = sim.step()
        v = sim.state.v[0]
        assert v[:, 0].mean() == pytest.approx(min(0.3 * 9.81 * sim.time, 1.0), rel=0.01)
    assert info.ok()
    assert info.contacts[0] == 25


@pytest.mark.parametrize("kind", ["solid", "sheet"])
def test_turntable(kind: str) -> None:
    """Started at the table's speed, cloth stays put on it (mu g > omega^2 r)."""
    omega = 3.0
    mesh = closed(pl.Cylinder(0.3, 0.1)) if kind == "solid" else pl.shapes.disc(0.3, 0.04)
    turn = pl.Steady((0, 0, -0.05 if kind == "solid" else 0.0), angular_velocity=(0, 0, omega))
    sim = on_top(mesh, turn, pl.shapes.disc(0.1, 0.03))
    start = sim.model.x_rest
    sim.state.set_v(np.cross([0, 0, omega], start))
    sim.run(steps=40, progress=False)
    c, s = np.cos(omega * sim.time), np.sin(omega * sim.time)
    expected = start[:, :2] @ np.array([[c, s], [-s, c]])
    assert np.abs(sim.x[0][:, :2] - expected).max() < 5e-4


@pytest.mark.parametrize(
    "mesh", [box((0.5, 0.5, 0.1)), pl.shapes.grid(6, 6, (0.5, 0.5))], ids=["solid", "sheet"]
)
def test_lift(mesh: pl.TriMesh) -> None:
    """Up at 0.6 m/s, a thickness and more per substep: nothing falls through, nothing hovers."""
    z = -0.05 if mesh.n_triangles == 12 else 0.0
    lift = pl.Keyframes([0, 0.5], [(0, 0, z), (0, 0, 0.3 + z)])
    sim = on_top(mesh, lift)
    info = sim.run(seconds=1.0, progress=False)
    assert not info.status[0] & WRONG
    np.testing.assert_allclose(sim.x[0][:, 2], 0.3 + UP, atol=1e-6)


def test_a_wall_that_rams_a_sheet_pushes_it_ahead() -> None:
    """No gravity: a thin wall at 2 m/s leaves the sheet moving at 2 m/s, in front of it."""
    scene = pl.Scene(gravity=(0, 0, 0))
    upright = (0, np.pi / 2, 0)
    scene.add_cloth(pl.shapes.grid(5, 5, (0.1, 0.1)), CLOTH, position=(0.1, 0, 0), rotation=upright)
    wall = pl.MeshCollider(pl.shapes.grid(4, 4).transformed(rotation=upright))
    scene.add_collider(wall, motion=pl.Steady((0, 0, 0), velocity=(2.0, 0, 0)), friction=0.2)
    sim = pl.Simulation(scene)
    info = sim.run(steps=10, progress=False)
    assert not info.status[0] & WRONG
    assert sim.state.v[0][:, 0].mean() == pytest.approx(2.0, rel=1e-6)
    assert sim.x[0][:, 0].min() >= 2.0 * sim.time


def test_sixteen_hundred_contacts_at_once_hold_all_of_a_sheet() -> None:
    """40 x 40 vertices flat on one box, its weight carried in full; lists grow, and say so."""
    sim, _ = dropped(pl.MeshCollider(box((0.3, 0.3, 0.1))), UP + 1e-5, 40, 1, (0, 0, -0.05))
    info = sim.step("full")
    assert sim.model.n_particles == info.contacts[0] == 1600
    z = sim.x[0][:, 2]
    assert np.ptp(z) < 1e-4
    sim.run(steps=15, progress=False)
    force = sim.workspace.contact_forces(sim.dt / 10)[0]
    assert force[:, 2].sum() == pytest.approx(9.81 * sim.model.mass.sum(), rel=0.01)
    assert np.abs(force[:, :2].sum(axis=0)).max() < 1e-6 * force[:, 2].sum()


def test_growing_lists_are_reported() -> None:
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(20, 20, (0.2, 0.2)), CLOTH, position=(0, 0, UP))
    scene.add_collider(pl.MeshCollider(pl.shapes.grid(30, 30, (0.3, 0.3))))
    sim = pl.Simulation(scene, pl.XPBD(substeps=5))
    assert sim.step().status[0] & Status.CONTACT_GREW
    assert not sim.step().status[0] & Status.CONTACT_GREW
    assert sim.workspace.surfaces.contacts.found[0, 0, 0] == 400


@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_nothing_sticks_to_an_edge(mu: float) -> None:
    """A sheet that falls half over the edge of a box slips off, and no vertex stays behind.

    Without friction it leaves the box, whole, and no contact ever pulls.
    """
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(9, 9, (0.1, 0.1)), CLOTH, position=(0.0805, 0, 0.001))
    scene.add_collider(pl.MeshCollider(box((0.1, 0.3, 0.1))), (0, 0, -0.05), friction=mu)
    sim = pl.Simulation(scene, pl.XPBD(substeps=10))
    for _ in range(60):
        sim.step()
        notes = sim.workspace.surfaces.contacts.notes[0, 0, :, 0]
        assert (notes >= 0).all(), "contacts push"
    x = sim.x[0]
    assert x[:, 2].max() < -0.11, "it is gone"
    assert np.ptp(x[:, 2]) < 0.15, "as a whole"


def test_a_plate_that_drops_away_leaves_the_sheet_behind() -> None:
    """No suction. Down at 2 g the gap opens as g t^2/2; the sheet falls free."""
    g = 9.81
    sim = on_top(box((0.5, 0.5, 0.1)), lambda t: ((0, 0, -0.05 - g * t * t), (0, 0, 0)))
    sim.run(steps=10, progress=False)
    t, h = sim.time, sim.dt / 10
    np.testing.assert_allclose(sim.x[0][:, 2], UP - g * (t * t + h * t) / 2, atol=2e-5)


def test_a_moving_frame_changes_nothing() -> None:
    """Cloth, mesh and all moving at 10 m/s end where they would at rest, plus 10 t."""
    ends = []
    for v in (0.0, 10.0):
        scene = pl.Scene()
        sheet = pl.shapes.grid(7, 7, (0.12, 0.12))
        place = (0.0031, 0.0047, 0.07)  # no vertex exactly above an edge, where rounding would choose
        scene.add_cloth(sheet, CLOTH, place, (0, 0, 0.3), velocity=(v, 0, 0))
        ball = pl.MeshCollider(pl.shapes.sphere(0.06, 3))
        scene.add_collider(ball, motion=pl.Steady((0, 0, 0), velocity=(v, 0, 0)), friction=0.3)
        sim = pl.Simulation(scene, pl.XPBD(substeps=10))
        info = sim.run(steps=30, progress=False)
        assert info.contacts[0] > 3
        ends.append(sim.x[0] - [v * sim.time, 0, 0])
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-9)


def test_several_colliders_of_all_kinds_hold_together() -> None:
    """Mesh and analytic colliders, ground and pins, in every combination; the same fall before any
    contact, no penetration after it, and the sheet lies on what is there."""
    first: dict[bool, Array] = {}
    for k in range(16):
        ground, mesh, ball, pins = (bool(k >> b & 1) for b in range(4))
        scene = pl.Scene()
        sheet = pl.shapes.grid(9, 9, (0.16, 0.16))
        scene.add_cloth(sheet, CLOTH, position=(0, 0, 0.09), pins=[0, 8] if pins else ())
        if ground:
            scene.add_collider(pl.Plane(), friction=0.5)
        if mesh:
            scene.add_collider(pl.MeshCollider(box((0.06, 0.06, 0.06))), (0.04, 0, 0.03), friction=0.5)
        if ball:
            scene.add_collider(pl.Sphere(0.03), (-0.01, 0, 0.03), friction=0.5)
        sim = pl.Simulation(scene, pl.XPBD(substeps=10))
        sim.run(steps=3, progress=False)
        np.testing.assert_array_equal(sim.x, first.setdefault(pins, sim.x))
        info = sim.run(steps=50, progress=False)
        assert not info.status[0] & WRONG
        assert info.max_penetration[0] < CLOTH.thickness
        assert (info.contacts[0] > 0) == (ground or mesh or ball)
        if ground and not pins:
            assert info.contacts[0] > 12
            assert sim.x[0][:, 2].min() == pytest.approx(UP, abs=1e-5)


def test_touching_two_things_is_touching() -> None:
    """A vertex on a mesh and on a plane at once counts once."""
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(4, 4, (0.1, 0.1)), CLOTH, position=(0, 0, UP))
    scene.add_collider(pl.Plane())
    scene.add_collider(
        pl.MeshCollider(
            joined(pl.shapes.grid(3, 3, (0.3, 0.3)), box((0.3, 0.3, 0.1)).transformed((0, 0, -0.05)))
        )
    )
    info = pl.Simulation(scene).run(steps=3, progress=False)
    assert info.contacts[0] == 16


def test_what_starts_inside_a_solid_is_moved_out_and_said() -> None:
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_cloth(pl.shapes.grid(5, 5, (0.05, 0.05)), CLOTH, position=(0, 0, 0.045))
    scene.add_collider(pl.MeshCollider(box((0.2, 0.2, 0.1))))
    sim = pl.Simulation(scene)
    info = sim.step()
    assert info.status[0] & Status.START_PENETRATES
    np.testing.assert_allclose(sim.x[0][:, 2], 0.05 + UP, atol=1e-12)
    assert np.abs(sim.state.v[0]).max() < 1e-9, "without gaining speed"
    assert not sim.step().status[0] & Status.START_PENETRATES


def test_deep_inside_is_found_too() -> None:
    """Farther from the surface than anything moves in a step, by volume and by winding."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_cloth(pl.shapes.grid(3, 3, (0.02, 0.02)), CLOTH, position=(0.02, 0, 0))
    scene.add_collider(pl.MeshCollider(pl.shapes.sphere(0.5, 3)))
    sim = pl.Simulation(scene)
    info = sim.step()
    assert info.status[0] & Status.START_PENETRATES
    assert (np.linalg.norm(sim.x[0], axis=1) > 0.49).all()


def test_inside_a_container() -> None:
    """side="inside": cloth lies on the floor of a closed box; put outside, it is brought in."""
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(5, 5, (0.1, 0.1)), CLOTH, position=(0, 0, -0.04))
    scene.add_cloth(pl.shapes.grid(3, 3, (0.02, 0.02)), CLOTH, position=(0.2, 0, 0))
    scene.add_collider(pl.MeshCollider(flipped(box((0.2, 0.2, 0.1)), 0.3), side="inside"), friction=0.5)
    sim = pl.Simulation(scene, pl.XPBD(substeps=10))
    assert sim.step().status[0] & Status.START_PENETRATES
    info = sim.run(steps=40, progress=False)
    x = sim.x[0]
    assert (np.abs(x) < [0.1, 0.1, 0.05]).all()
    np.testing.assert_allclose(x[:25, 2], -0.05 + UP, atol=1e-6)
    assert not info.status[0] & WRONG


def test_too_fast_is_said() -> None:
    """Free particles whose speed changes within the step pass a wall unnoticed; the report says so."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_cloth(pl.shapes.grid(3, 3, (0.02, 0.02)), CLOTH, position=(0, 0, 0.2))
    scene.add_collider(pl.MeshCollider(pl.shapes.grid(5, 5)))
    sim = pl.Simulation(scene)
    sim.control.set_force([0, 0, -50 * sim.model.mass.sum() / sim.dt / 9])
    info = sim.step()
    assert (sim.x[0][:, 2] < 0).all()
    assert info.status[0] & Status.CONTACT_MISSED


def test_an_open_mesh_may_be_one_sided() -> None:
    """side="outside" on a sheet: what is behind is brought to the front; "auto" leaves it where it is."""
    for side, z in (("outside", UP), ("inside", -0.002), ("auto", -0.002)):
        scene = pl.Scene(gravity=(0, 0, 0))
        scene.add_cloth(pl.shapes.grid(3, 3, (0.02, 0.02)), CLOTH, position=(0, 0, -0.002))
        scene.add_collider(pl.MeshCollider(pl.shapes.grid(4, 4), side=side))
        sim = pl.Simulation(scene)
        sim.step()
        np.testing.assert_allclose(sim.x[0][:, 2], z, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("mujoco/spot", 0.25),
        ("mujoco/cap", 0.2),
        ("trimesh/rabbit", 0.3),
        ("trimesh/cubevt", 0.1),
        ("trimesh/tube", 0.3),
        ("diffpd/spot", 0.3),
    ],
)
def test_cloth_falls_on_real_meshes(data: Path, name: str, size: float) -> None:
    """Closed, open, in nine pieces, with split corners, needles, voxels: it lies on them, nothing deep."""
    x, tri = plain_obj(data / f"{name}.obj")
    x = (x - 0.5 * (x.max(axis=0) + x.min(axis=0))) * (size / np.ptp(x, axis=0).max())
    used, tri = np.unique(tri, return_inverse=True)
    mesh = pl.TriMesh(x[used], tri.reshape(-1, 3), name=name)
    scene = pl.Scene()
    top = mesh.bounds[1, 2]
    scene.add_cloth(pl.shapes.grid(15, 15, (0.3, 0.3)), CLOTH, position=(0, 0, top + 0.005))
    scene.add_collider(pl.MeshCollider(mesh), friction=0.5)
    scene.add_collider(pl.Plane(), (0, 0, mesh.bounds[0, 2] - 0.02), friction=0.5)
    sim = pl.Simulation(scene)
    touched = 0
    for _ in range(60):
        info = sim.step()
        touched = max(touched, info.contacts[0])
        assert info.max_penetration[0] < CLOTH.thickness
        assert not info.status[0] & WRONG
    assert touched > 5
    assert np.abs(sim.state.v[0]).max() < 3


def test_a_scene_says_what_collides() -> None:
    """Summary, display and name of a mesh collider; a snapshot of another mesh is refused."""
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(3, 3), CLOTH)
    c = scene.add_collider(pl.MeshCollider(bumpy(4, 1.0, 0.1)))
    assert c.name == "bumpy 0"
    v, t = c.shape.display(1.0)
    assert v.shape == (16, 3)
    assert t.shape == (18, 3)
    assert "1 colliders" in repr(scene.build())
    with pytest.raises(pl.SceneError, match="Box or MeshCollider, not TriMesh"):
        scene.add_collider(bowl(1.0, 1))  # type: ignore[arg-type]
