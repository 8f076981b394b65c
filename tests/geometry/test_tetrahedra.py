"""Index work and measures of tetrahedra, on the shapes and on irregular meshes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay

from pliant.geometry import measures, shapes, tetrahedra, topology
from pliant.geometry.tetmesh import TetMesh


def irregular(seed: int, n: int = 40) -> TetMesh:
    """Delaunay tetrahedra of random points, without slivers (and without what only they used)."""
    x = np.random.default_rng(seed).random((n, 3))
    tets = Delaunay(x).simplices.astype(np.int32)
    inverted = tetrahedra.tet_volumes(x, tets) < 0.0
    tets[inverted] = tets[inverted][:, [0, 2, 1, 3]]
    tets = tets[tetrahedra.quality(x, tets) > 0.01]
    used, ids = np.unique(tets, return_inverse=True)
    return TetMesh(x[used], ids.reshape(-1, 4))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_boundary_is_closed_oriented_outwards_and_holds_the_volume(seed: int) -> None:
    """Divergence theorem: the flux of x/3 through the triangles is the volume inside."""
    mesh = irregular(seed)
    a, b, c = (mesh.vertices[mesh.triangles[:, i]] for i in range(3))
    flux = (np.cross(b - a, c - a) * (a + b + c)).sum() / 18.0
    assert flux == pytest.approx(mesh.volume, rel=1e-12)
    sides = np.concatenate([mesh.triangles[:, [0, 1]], mesh.triangles[:, [1, 2]], mesh.triangles[:, [2, 0]]])
    assert sorted(map(tuple, sides.tolist())) == sorted(map(tuple, sides[:, ::-1].tolist()))


def test_the_boundary_comes_in_the_order_of_tetrahedra() -> None:
    tets = np.array([[0, 1, 2, 3], [4, 1, 3, 2]])
    faces, use = tetrahedra.face_use(tets)
    assert use.tolist() == [1, 1, 1, 2, 1, 1, 1, 2]
    np.testing.assert_array_equal(tetrahedra.boundary_triangles(tets), faces[use == 1])
    np.testing.assert_array_equal(faces[:3], [[0, 2, 1], [0, 1, 3], [0, 3, 2]])


def test_edges_are_those_of_all_faces() -> None:
    mesh = irregular(1)
    faces = mesh.tets[:, tetrahedra.FACES].reshape(-1, 3)
    np.testing.assert_array_equal(mesh.edges, topology.edges(faces))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_rest_matrices_undo_the_edges_and_carry_an_affine_map(seed: int) -> None:
    mesh = irregular(seed)
    inverse = tetrahedra.inv_rest_matrices(mesh.vertices, mesh.tets)
    d = tetrahedra.edge_matrices(mesh.vertices, mesh.tets)
    np.testing.assert_allclose(inverse, np.linalg.inv(d), rtol=1e-7)
    a = np.random.default_rng(seed).standard_normal((3, 3))
    worlds = np.stack([mesh.vertices, mesh.vertices @ a.T + 5.0])
    f = tetrahedra.tet_gradients(worlds, mesh.tets, inverse)
    np.testing.assert_allclose(f[0], np.broadcast_to(np.eye(3), f[0].shape), atol=1e-11)
    np.testing.assert_allclose(f[1], np.broadcast_to(a, f[1].shape), atol=1e-9)


def test_vertex_volumes_share_the_whole_out() -> None:
    mesh = irregular(3)
    share = tetrahedra.vertex_volumes(mesh.vertices, mesh.tets)
    assert share.sum() == pytest.approx(mesh.volume, rel=1e-12)
    one = TetMesh(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), [[0, 1, 2, 3]])  # type: ignore[arg-type]
    np.testing.assert_allclose(tetrahedra.vertex_volumes(one.vertices, one.tets), 1 / 24)


def test_quality_and_angles_of_known_tetrahedra() -> None:
    regular = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    corner = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    ids = np.array([[0, 1, 2, 3]])
    if tetrahedra.tet_volumes(regular, ids)[0] < 0:
        ids = np.array([[0, 2, 1, 3]])
    assert tetrahedra.quality(regular, ids)[0] == pytest.approx(1.0)
    assert tetrahedra.smallest_dihedral(regular, ids)[0] == pytest.approx(np.arccos(1 / 3))
    ids = np.array([[0, 1, 2, 3]])
    assert tetrahedra.quality(corner, ids)[0] == pytest.approx(np.sqrt(2.0) / 1.5**1.5)
    assert np.tan(tetrahedra.smallest_dihedral(corner, ids)[0]) == pytest.approx(np.sqrt(2.0))


def test_the_surface_of_a_ball_is_that_of_its_triangles() -> None:
    ball = shapes.ball(2.0, 4)
    area = measures.triangle_areas(ball.vertices, ball.triangles).sum()
    assert area == pytest.approx(16.0 * np.pi, rel=0.03)
