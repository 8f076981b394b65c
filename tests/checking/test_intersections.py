"""``pl.check_intersections`` names what crosses, in the numbers of whoever asks."""

from __future__ import annotations

import time

import numpy as np
import pytest

import pliant as pl
from pliant.errors import PliantError

PIERCED = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, -1], [0.3, 0.2, 1], [-5, -5, 3]])
TWO = np.array([[0, 1, 2], [3, 4, 5]])


def crossing_sheets(worlds: int = 1) -> pl.Simulation:
    """Two sheets, the second through the first."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_cloth(pl.shapes.grid(4, 4), pl.fabrics.cotton, name="flat")
    scene.add_cloth(
        pl.shapes.grid(4, 4),
        pl.fabrics.cotton,
        position=(0.05, 0.03, 0.02),
        rotation=(1.5, 0, 0),
        name="post",
    )
    return pl.Simulation(scene, worlds=worlds)


def test_what_crosses_is_listed() -> None:
    found = pl.check_intersections((PIERCED, TWO))
    assert found
    assert found.edges.tolist() == [[0, 1], [3, 4]]
    assert found.triangles.tolist() == [[3, 4, 5], [0, 1, 2]]
    assert "edge (3, 4) through triangle (0, 1, 2)" in str(found)
    moved = PIERCED.copy()
    moved[3:] += [9, 0, 0]
    assert not pl.check_intersections((moved, TWO))
    assert str(pl.check_intersections((moved, TWO))) == "no intersections"


def test_meshes() -> None:
    assert not pl.check_intersections(pl.shapes.grid(20, 20))
    assert not pl.check_intersections(pl.shapes.bar((3, 2, 2), (3, 2, 2)))
    pierced = pl.TriMesh(PIERCED, TWO)
    assert len(pl.check_intersections(pierced)) == 2
    many = np.concatenate([PIERCED + np.array([0, 0, 7 * k]) for k in range(9)])
    triangles = np.concatenate([TWO + 6 * k for k in range(9)])
    assert len(pl.check_intersections((many, triangles))) == 18
    assert len(pl.check_intersections((many, triangles), limit=4)) == 4
    assert "and 13 more" in str(pl.check_intersections((many, triangles)))


def test_a_simulation_and_its_bodies() -> None:
    sim = crossing_sheets()
    flat, post = sim.scene.bodies
    assert not pl.check_intersections(flat)
    assert not pl.check_intersections(post)
    found = sim.check_intersections()
    assert found
    assert set(found.world.tolist()) == {0}
    text = str(found)
    assert 'of "post" through triangle' in text or 'of "flat" through triangle' in text
    both = {
        tuple(sorted((int(e[0] >= 16), int(t[0] >= 16))))
        for e, t in zip(found.edges, found.triangles, strict=True)
    }
    assert both == {(0, 1)}  # one of each sheet


def test_worlds_are_told_apart() -> None:
    sim = crossing_sheets(worlds=3)
    x = np.array(sim.x[0])
    x[16:] += [0, 0, 5]
    sim.state.set_x(x, worlds=1)
    found = sim.check_intersections()
    assert set(found.world.tolist()) == {0, 2}
    assert not sim.check_intersections(worlds=1)
    assert len(sim.check_intersections(worlds=[2])) == (found.world == 2).sum()
    assert "world 2: edge" in str(sim.check_intersections(worlds=2))


def test_wrong_questions() -> None:
    with pytest.raises(PliantError, match="give a mesh"):
        pl.check_intersections(3)  # type: ignore[arg-type]
    with pytest.raises(PliantError, match="beyond the 5"):
        pl.check_intersections((PIERCED[:5], TWO))
    with pytest.raises(PliantError, match="not finite"):
        pl.check_intersections((PIERCED * np.nan, TWO))


def test_an_independent_library_agrees() -> None:
    """Sheets that are squeezed more and more: both say when they cross."""
    ipctk = pytest.importorskip("ipctk", reason="needs ipctk: pip install ipctk")
    mesh = pl.shapes.grid(12, 12, (0.2, 0.2))
    checked = ipctk.CollisionMesh(mesh.vertices, mesh.edges, mesh.triangles)
    said = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        waves = np.cos(mesh.vertices[:, :2] @ rng.normal(size=(2, 3)) * 20) * 0.0015 * seed
        x = mesh.vertices + waves + rng.normal(size=mesh.vertices.shape) * 1e-4 * seed
        said.append(bool(pl.check_intersections((x, mesh.triangles))))
        assert said[-1] == ipctk.has_intersections(checked, x)
    assert 10 < sum(said) < 50  # both answers are tried


def test_a_hundred_thousand_triangles() -> None:
    mesh = pl.shapes.grid(224, 224)
    pl.check_intersections(mesh)
    start = time.process_time()
    assert not pl.check_intersections(mesh)
    assert time.process_time() - start < 5.0  # about 0.3 s alone on one core of a server
