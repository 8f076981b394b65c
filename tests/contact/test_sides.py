"""Inside stays inside: cloth in open bowls, by the winding number of the bowl with a lid on it."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.geometry import topology
from pliant.protocol import Status
from tests.contact.meshes import bowl, box, flipped, slow_nearest, winding_number

pytestmark = pytest.mark.slow  # minutes in all; test_short_runs has one of them

Array = np.ndarray

CLOTH = pl.fabrics.cotton.with_(thickness=4e-4)
RADIUS = 0.1
WRONG = int(Status.NONFINITE | Status.FROZEN | Status.CONTACT_MISSED | Status.START_PENETRATES)


def lidded(mesh: pl.TriMesh) -> Array:
    """Triangles (F, 3, 3) of a bowl, all wound one way, and of a lid from its rim to a point far above."""
    t = topology.oriented(mesh.triangles)
    (loop,) = topology.boundary_loops(t)
    top = mesh.vertices[loop].mean(axis=0) + np.array([0, 0, 10 * np.ptp(mesh.vertices)])
    rim = mesh.vertices[np.stack([loop, np.roll(loop, -1)], axis=1)]
    lid = np.concatenate([rim, np.broadcast_to(top, (len(loop), 1, 3))], axis=1)
    sides = [np.concatenate([mesh.vertices[t], turn]) for turn in (lid, lid[:, ::-1])]
    inside = mesh.vertices.mean(axis=0)[None]
    whole = [side for side in sides if abs(abs(winding_number(side, inside)[0]) - 1) < 1e-6]
    assert len(whole) == 1, "one way round, bowl and lid enclose a point in the bowl exactly once"
    return whole[0]


def lowest_of_rim(mesh: pl.TriMesh) -> float:
    """Height of the lowest corner of the rim, below which inside and outside cannot be mistaken."""
    (loop,) = topology.boundary_loops(mesh.triangles)
    return float(mesh.vertices[loop, 2].min())


def in_bowl(size: float, subdivisions: int, share: float, mu: float, motion: object = None) -> pl.Simulation:
    """A sheet started in an open bowl; lengths times ``size``, times by its root, masses by its cube."""
    mesh = flipped(bowl(RADIUS, subdivisions), share)
    mesh = pl.TriMesh(mesh.vertices * size, mesh.triangles, name="bowl")
    fabric = CLOTH.with_(
        thickness=CLOTH.thickness * size,
        areal_density=CLOTH.areal_density * size,
        youngs_modulus=CLOTH.youngs_modulus * size,
        bending_rigidity=CLOTH.bending_rigidity * size**4,
        damping_time=CLOTH.damping_time * np.sqrt(size),
    )
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(11, 11, (0.12 * size, 0.12 * size)), fabric, position=(0, 0, -0.02 * size))
    scene.add_collider(pl.MeshCollider(mesh), friction=mu, motion=motion)
    return pl.Simulation(scene, pl.XPBD(substeps=10), dt=np.sqrt(size) / 60)


def check(sim: pl.Simulation, steps: int, every: int = 1) -> float:
    """All below the rim stays inside, in all frames; returns the gap at the end [thicknesses]."""
    (collider,) = sim.scene.colliders
    hull = lidded(collider.shape.mesh)
    rim = lowest_of_rim(collider.shape.mesh)
    for k in range(steps):
        info = sim.step()
        assert not info.status[0] & WRONG, k
        if k % every == 0 or k == steps - 1:
            p = placed(sim, sim.x[0])
            p = p[p[:, 2] < rim]
            assert np.abs(winding_number(hull, p)).round(6).min() == 1, f"out of the bowl in step {k}"
    n = collider.shape.mesh.n_triangles
    return float(slow_nearest(hull[:n], placed(sim, sim.x[0])).min()) / (CLOTH.thickness * sim.dt**2 * 3600)


def placed(sim: pl.Simulation, x: Array) -> Array:
    """Points in the frame of the collider."""
    position, turn = sim.control.collider_target[0]
    return (x - position) @ turn


@pytest.mark.parametrize("mu", [0.0, 0.5])
@pytest.mark.parametrize(("subdivisions", "share"), [(1, 0.0), (2, 0.4), (3, 0.4), (4, 1.0)])
def test_what_starts_in_an_open_bowl_stays_in(subdivisions: int, share: float, mu: float) -> None:
    """Few corners or many, partly turned over: in all of 2 s; at rest half a thickness from the surface."""
    sim = in_bowl(1.0, subdivisions, share, mu)
    gap = check(sim, 120)
    assert gap == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("size", [2.0**-10, 2.0**10])
def test_lengths_have_no_scale(size: float) -> None:
    """A bowl of 0.1 mm and one of 100 m: the same run as that of 0.1 m, to the last bit (powers of two)."""
    runs = [in_bowl(s, 2, 0.4, 0.3) for s in (1.0, size)]
    for sim in runs:
        check(sim, 40, every=10)
    a, b = runs[0].x[0], runs[1].x[0] / size
    assert np.array_equal(a, b), np.abs(a - b).max()


@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_a_shaken_bowl_keeps_its_sheet(mu: float) -> None:
    """To and fro by a fifth of its radius four times a second, tipping by 0.1 rad."""

    def shaken(t: float) -> tuple[Array, Array]:
        s = 2 * np.pi * 4 * t
        return np.array([0.1 * RADIUS * (1 - np.cos(s)), 0, 0]), np.array([0, 0.1 * np.sin(s), 0])

    check(in_bowl(1.0, 2, 0.4, mu, shaken), 120)


def test_what_starts_on_a_dome_stays_out() -> None:
    """The bowl upside down, over it a sheet that ends above its rim: none of it gets below."""
    mesh = flipped(bowl(RADIUS, 3), 0.4)
    hull = lidded(mesh)
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(15, 15, (0.2, 0.2)), CLOTH, position=(0, 0, 0.11))
    scene.add_collider(pl.MeshCollider(mesh), rotation=(np.pi, 0, 0), friction=0.3)
    sim = pl.Simulation(scene, pl.XPBD(substeps=10))
    for _ in range(90):
        info = sim.step()
        assert not info.status[0] & WRONG
        p = sim.x[0] * np.array([1, -1, -1])
        near = p[:, 2] < lowest_of_rim(mesh)
        assert np.abs(winding_number(hull, p[near])).round(6).max() == 0
    assert info.contacts[0] > 50


def on_a_standing_box(shape: pl.Box | pl.MeshCollider, draw: np.random.Generator) -> None:
    """A sheet let fall on a box that stands on a floor: none of it ends up in the box, or under it."""
    (dx, dy), turn = draw.uniform(-0.03, 0.03, 2), draw.uniform(0, 6.28)
    scene = pl.Scene()
    sheet = pl.shapes.grid(13, 13, (0.2, 0.2))
    scene.add_cloth(sheet, CLOTH, position=(dx, dy, 0.07), rotation=(0, 0, turn))
    scene.add_collider(pl.Plane(), friction=0.5)
    scene.add_collider(shape, (0, 0, 0.03), friction=0.5)
    sim = pl.Simulation(scene, pl.XPBD(substeps=10))
    for _ in range(60):
        assert not sim.step().status[0] & WRONG
        x = sim.x[0]
        assert not ((np.abs(x[:, :2]) < 0.0295).all(axis=1) & (x[:, 2] < 0.0595)).any()


@pytest.mark.parametrize("kind", ["mesh", "box"])
def test_nothing_is_pushed_under_a_box_that_stands_on_a_floor(kind: str) -> None:
    """In the crease the nearest way out of the box is its bottom: what slips in goes back where it came from.

    The fourth of these falls found it.
    """
    draw = np.random.default_rng(0)
    for _ in range(20):
        size = (0.06, 0.06, 0.06)
        on_a_standing_box(pl.MeshCollider(box(size)) if kind == "mesh" else pl.Box(size), draw)
