"""Any mixture of the flaws that add_cloth puts right: mass, shape and numbers are those of the clean mesh."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.geometry import topology
from tests.geometry import flaws

CLEAN = (flaws.sheet(6), pl.shapes.sphere(0.3, 1), pl.shapes.tube(0.2, 0.5, 7, 4))


def spoiled(mesh: pl.TriMesh, seed: int, which: list[int]) -> pl.TriMesh:
    """A mesh with flaws, one after the other, and everything in another order."""
    rng = np.random.default_rng(seed)
    for k in which:
        mesh = (
            lambda m: flaws.seamed(m, seed)[0],
            lambda m: flaws.rewound(m, 0.3, seed),
            lambda m: flaws.doubled(m, bool(rng.integers(2))),
            flaws.with_strays,
            flaws.soup,
        )[k](mesh)
    new = rng.permutation(mesh.n_vertices)
    x = np.empty_like(mesh.vertices)
    x[new] = mesh.vertices
    return pl.TriMesh(x, new[mesh.triangles][rng.permutation(mesh.n_triangles)])


@pytest.mark.filterwarnings("ignore::pliant.errors.MeshWarning")
@settings(max_examples=60, deadline=None)
@given(
    k=st.integers(0, 2),
    seed=st.integers(0, 10**6),
    which=st.lists(st.integers(0, 4), min_size=1, max_size=4, unique=True),
)
def test_a_spoiled_mesh_is_taken_in_as_the_clean_one(k: int, seed: int, which: list[int]) -> None:
    clean = CLEAN[k]
    mesh = spoiled(clean, seed, which)
    pin = int(mesh.triangles[0, 0])
    scene = pl.Scene()
    cloth = scene.add_cloth(mesh, pl.fabrics.cotton, bending="dihedral", pins=[pin])
    assert cloth.mesh.n_triangles == clean.n_triangles
    assert cloth.mesh.n_vertices == clean.n_vertices
    loops = sorted(len(loop) for loop in topology.boundary_loops(cloth.mesh.triangles))
    assert loops == sorted(len(loop) for loop in topology.boundary_loops(clean.triangles))
    model = scene.build()
    assert model.mass.sum() == pytest.approx(pl.fabrics.cotton.areal_density * clean.area, rel=1e-9)
    assert len(model.pin_ids) == 1
    listed = cloth.in_file_order(cloth.mesh.vertices)
    known = ~np.isnan(listed[:, 0])
    assert known[np.unique(mesh.triangles)].all()
    np.testing.assert_array_equal(listed[known], mesh.vertices[known])
