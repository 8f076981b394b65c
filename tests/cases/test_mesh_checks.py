"""A mesh is checked before it runs, its place beside colliders, too; what runs gives its arrays."""

from __future__ import annotations

import json
import time
import warnings
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.errors import MeshWarning
from pliant.geometry import measures
from tests.cases.scenes import fabric
from tests.geometry import flaws

Array = np.ndarray

# ---- I04

PLANTED: dict[str, tuple[Any, str, int, list[Any]]] = {
    "duplicate": (lambda: twice(flaws.sheet(), 5), "duplicate", 1, [72]),
    "non-manifold": (flaws.fins, "non_manifold", 4, []),
    "flipped": (lambda: turned(flaws.sheet(), [3, 9]), "winding", 2, [3, 9]),
    "T-vertex": (lambda: flaws.t_vertex()[0], "t_vertex", 1, [25]),
    "self-crossing": (flaws.crossed, "self_intersection", 0, []),
    "3,000 m shirt": (lambda: flaws.sheet().transformed(scale=5000.0), "units", 1, []),
    "sliver": (lambda: sliver(), "near_degenerate", 1, [0]),
}


def twice(mesh: pl.TriMesh, f: int) -> pl.TriMesh:
    return pl.TriMesh(mesh.vertices, np.concatenate([mesh.triangles, mesh.triangles[f : f + 1]]))


def turned(mesh: pl.TriMesh, faces: list[int]) -> pl.TriMesh:
    triangles = mesh.triangles.copy()
    triangles[faces] = triangles[faces][:, ::-1]
    return pl.TriMesh(mesh.vertices, triangles)


def sliver() -> pl.TriMesh:
    """A triangle of aspect 10^4, and a decent one."""
    x = np.array([[0, 0, 0], [1, 0, 0], [0.5, 1e-4, 0], [3, 0, 0], [4, 0, 0], [3, 1, 0]])
    return pl.TriMesh(x, np.array([[0, 1, 2], [3, 4, 5]]))


@pytest.mark.parametrize("name", PLANTED)
def test_i04_each_defect_is_named_with_its_count_and_first_indices(name: str) -> None:
    """I04: named, counted, located, as plain data; what repair takes on is gone afterwards, with a map."""
    make, word, count, first = PLANTED[name]
    mesh = make()
    report = pl.check_mesh(mesh)
    finding = {f["name"]: f for f in json.loads(json.dumps(report.to_dict()))["findings"]}[word]
    assert finding["count"] == count or (not count and finding["count"] > 0)
    assert finding["first"] == first or (not first)
    assert len(finding["cure"]) > 10
    repair = pl.repair_mesh(mesh)
    assert len(repair.vertex_map) == mesh.n_vertices
    assert len(repair.triangle_map) == mesh.n_triangles
    if word in ("duplicate", "non_manifold", "winding"):
        assert pl.check_mesh(repair.mesh).ok


def test_i04_a_clean_grid_is_silent_and_a_large_one_quick() -> None:
    """I04: no finding on a grid; 100,352 triangles in less than a second, crossings apart."""
    assert pl.check_mesh(pl.shapes.grid(20, 20)).findings == ()
    large = pl.shapes.grid(225, 225)
    start = time.process_time()
    report = pl.check_mesh(large, self_intersections=False)
    assert time.process_time() - start < 1.0
    assert report.ok
    assert report.counts["triangles"] == 100_352


# ---- I05


def dressed(scale: float = 1.0, shift: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> pl.Scene:
    """A garment around a body that is a mesh."""
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.tube(0.2, 0.5, 16, 9), fabric(), position=(0, 0, 1.1), bending="dihedral")
    body = pl.MeshCollider(pl.shapes.sphere(0.18, 2).transformed(scale=scale))
    scene.add_collider(body, position=np.add((0, 0, 1.0), shift))
    return scene


def test_i05_a_garment_beside_its_body_or_in_other_units_is_told_of() -> None:
    """I05: sizes that differ by more than 20, or places from which nothing falls onto the body: a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dressed().build()
        dressed(shift=(0.1, 0, 0)).build()  # off by 10 cm: they still meet
        dressed(shift=(0, 0, -20.0)).build()  # far below: the garment falls onto it
    with pytest.warns(MeshWarning, match=r"one is 82.6 times the size of the other; are both in metres"):
        dressed(scale=100.0).build()
    with pytest.warns(MeshWarning, match="one is .* times the size of the other"):
        dressed(scale=0.01).build()
    with pytest.warns(MeshWarning, match="lie apart, so that none falls onto the other.*y up"):
        dressed(shift=(3.0, 0, 0)).build()
    with pytest.warns(MeshWarning, match="lie apart"):
        dressed(shift=(0, 0, 5.0)).build()


# ---- I06


def test_i06_topology_and_maps_are_arrays_of_a_running_environment() -> None:
    """I06: faces, edges, texture, file's vertex to particle, what is held: the same after a reset."""
    uv = np.random.default_rng(0).random((49, 2))
    sheet = flaws.sheet()
    cut, source = flaws.seamed(pl.TriMesh(sheet.vertices, sheet.triangles, uv=uv))
    cut = pl.TriMesh(cut.vertices, cut.triangles, uv=uv[source])
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(3, 3), fabric())
    with pytest.warns(MeshWarning):
        cloth = scene.add_cloth(cut, fabric(), pins=[0, cut.n_vertices - 1], bending="dihedral")
    sim = pl.Simulation(scene, worlds=3)

    def known() -> list[Array]:
        return [
            cloth.mesh.triangles,
            cloth.mesh.edges,
            cloth.mesh.uv,
            cloth.file_ids,
            cloth.pins,
            sim.model.pin_ids,
        ]

    before = [a.copy() for a in known()]
    triangles, edges, texture, ids, pins, held = before
    sim.run(steps=3, progress=False)
    sim.reset(worlds=[1])
    for a, b in zip(before, known(), strict=True):
        np.testing.assert_array_equal(a, b)
    assert cloth.x.shape == (3, 49, 3)
    assert triangles.max() == 48 == edges.max()
    np.testing.assert_array_equal(texture, uv)
    assert ids.shape == (cut.n_vertices,)
    np.testing.assert_array_equal(ids, source + 9)
    np.testing.assert_array_equal(pins, np.unique(ids[[0, -1]]))
    np.testing.assert_array_equal(held, pins)
    np.testing.assert_array_equal(cloth.in_file_order(cloth.x), cloth.x[:, source])
    area = measures.triangle_areas(sim.x[0], triangles + cloth.vertices.start)
    assert area.sum() == pytest.approx(sheet.area, rel=0.05)
