from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.errors import MeshError
from pliant.geometry import measures, shapes, topology
from pliant.geometry.mesh import rotation_matrix
from tests.geometry.random_meshes import surfaces

SHEET = shapes.unstructured((1.0, 0.7), 0.15, seed=5)
numbers = st.floats(-2.0, 2.0)


def matrices(rows: int, columns: int) -> st.SearchStrategy[np.ndarray]:
    return st.lists(numbers, min_size=rows * columns, max_size=rows * columns).map(
        lambda v: np.reshape(v, (rows, columns))
    )


def fold(theta: float, length: float = 1.0) -> np.ndarray:
    """Two unit right triangles about the x axis, both wings turned down by θ/2: ridge of angle θ."""
    c, s = np.cos(theta / 2), np.sin(theta / 2)
    return length * np.array([[0.0, 0, 0], [1, 0, 0], [0.5, c, -s], [0.5, -c, -s]])


HINGE = np.array([[0, 1, 2, 3]])


# ---- areas and lengths


def test_areas_of_a_known_triangle_in_worlds() -> None:
    x = np.array([[[0.0, 0, 0], [3, 0, 0], [0, 4, 0]], [[0, 0, 0], [0, 0, 1], [0, 1, 0]]])
    triangles = np.array([[0, 1, 2]])
    assert measures.triangle_areas(x, triangles).tolist() == [[6.0], [0.5]]
    assert measures.triangle_normals(x, triangles)[0, 0].tolist() == [0, 0, 12.0]
    edges = np.array([[0, 1], [1, 2]])
    np.testing.assert_allclose(measures.edge_lengths(x, edges), [[3, 5], [1, np.sqrt(2)]])
    np.testing.assert_allclose(
        measures.edge_strains(x[0], edges, np.array([2.0, 5.0])), [0.5, 0.0], atol=1e-15
    )


def test_vertex_areas_share_by_thirds() -> None:
    mesh = shapes.grid(3, 3, (2.0, 2.0))
    area = measures.vertex_areas(mesh.vertices, mesh.triangles)
    np.testing.assert_allclose(area[[0, 1, 2, 4]], [1 / 3, 0.5, 1 / 6, 1.0])
    assert area.sum() == pytest.approx(4.0)


# ---- deformation


@given(matrices(3, 2), st.integers(0, 50))
def test_an_affine_map_is_read_back_from_every_triangle(linear: np.ndarray, seed: int) -> None:
    shift = np.random.default_rng(seed).normal(size=3)
    x = SHEET.vertices[:, :2] @ linear.T + shift
    inverse = measures.rest_frames(SHEET.vertices, SHEET.triangles, warp=np.array([1.0, 0, 0]))
    gradients = measures.deformation_gradients(x, SHEET.triangles, inverse)
    np.testing.assert_allclose(gradients, np.broadcast_to(linear, gradients.shape), atol=1e-12)
    expected = np.linalg.svd(linear, compute_uv=False)
    stretches = measures.triangle_stretches(x, SHEET.triangles, inverse)
    np.testing.assert_allclose(stretches, np.broadcast_to(expected, stretches.shape), atol=1e-12)


@given(st.lists(numbers, min_size=3, max_size=3))
def test_stretches_do_not_depend_on_the_warp_or_on_rigid_motion(vector: list[float]) -> None:
    mesh = shapes.sphere(0.7, 1)
    squashed = mesh.vertices * [1.0, 1.2, 0.6]
    plain = measures.rest_frames(mesh.vertices, mesh.triangles)
    along = measures.rest_frames(mesh.vertices, mesh.triangles, warp=np.array([0.3, 0.21, 0.87]))
    moved = squashed @ rotation_matrix(vector).T + 3.0
    one = measures.triangle_stretches(squashed, mesh.triangles, plain)
    assert one.max() > 1.1
    assert one.min() < 0.8
    np.testing.assert_allclose(measures.triangle_stretches(moved, mesh.triangles, along), one, rtol=1e-12)
    assert (one[:, 0] >= one[:, 1]).all()


def test_the_first_axis_is_the_warp_projected_into_the_triangle() -> None:
    warp = np.array([1.0, 0.0, 5.0])
    inverse = measures.rest_frames(SHEET.vertices, SHEET.triangles, warp=warp)
    stretched = SHEET.vertices * [1.3, 0.9, 1.0]
    columns = np.linalg.norm(measures.deformation_gradients(stretched, SHEET.triangles, inverse), axis=1)
    np.testing.assert_allclose(columns, np.broadcast_to([1.3, 0.9], columns.shape), rtol=1e-12)
    per_triangle = np.broadcast_to(warp, (SHEET.n_triangles, 3))
    np.testing.assert_array_equal(
        measures.rest_frames(SHEET.vertices, SHEET.triangles, per_triangle), inverse
    )
    area = 0.5 / np.linalg.det(inverse)
    np.testing.assert_allclose(area, measures.triangle_areas(SHEET.vertices, SHEET.triangles), rtol=1e-12)


@pytest.mark.parametrize("warp", [(0, 0, 1), (0, 0, 0), (np.nan, 0, 0)])
def test_a_warp_that_points_nowhere_is_refused(warp: tuple[float, float, float]) -> None:
    with pytest.raises(MeshError, match="warp direction"):
        measures.rest_frames(SHEET.vertices, SHEET.triangles, np.array(warp))


# ---- hinge angles


@given(st.floats(-3.1, 3.1), st.sampled_from([1e-9, 1.0, 1e6]))
def test_the_angle_of_a_known_fold_with_its_sign(theta: float, length: float) -> None:
    x = fold(theta, length)
    assert measures.hinge_angles(x, HINGE)[0] == pytest.approx(theta, abs=1e-14)
    assert measures.hinge_angles(x, HINGE[:, [1, 0, 3, 2]])[0] == pytest.approx(theta, abs=1e-14)
    assert measures.hinge_angles(x, HINGE[:, [1, 0, 2, 3]])[0] == pytest.approx(-theta, abs=1e-14)


def test_a_sphere_with_outward_normals_has_positive_angles_everywhere() -> None:
    mesh = shapes.sphere(1.0, 2)
    hinges = topology.hinges(mesh.triangles)
    assert (measures.hinge_angles(mesh.vertices, hinges) > 0.05).all()
    inside_out = topology.hinges(mesh.triangles[:, ::-1])
    assert (measures.hinge_angles(mesh.vertices, inside_out) < -0.05).all()


@given(surfaces(), st.lists(numbers, min_size=3, max_size=3), st.integers(0, 99))
def test_angles_keep_under_rigid_motion_and_turn_under_a_mirror(
    surface: tuple[np.ndarray, np.ndarray], vector: list[float], seed: int
) -> None:
    vertices, triangles = surface
    rng = np.random.default_rng(seed)
    x = vertices + 0.1 * rng.normal(size=vertices.shape)
    hinges = topology.hinges(triangles)
    angles = measures.hinge_angles(x, hinges)
    smooth = np.abs(angles) < 3.0
    moved = 4.0 * x @ rotation_matrix(vector).T + rng.normal(size=3)
    np.testing.assert_allclose(measures.hinge_angles(moved, hinges)[smooth], angles[smooth], atol=1e-9)
    mirrored = measures.hinge_angles(x * [1, 1, -1], hinges)
    np.testing.assert_allclose(mirrored[smooth], -angles[smooth], atol=1e-9)


# ---- cotangent stencil


@given(surfaces(), matrices(3, 2))
def test_the_stencil_vanishes_on_affine_images_of_a_flat_rest_shape(
    surface: tuple[np.ndarray, np.ndarray], linear: np.ndarray
) -> None:
    _, triangles = surface
    n = int(triangles.max()) + 1
    flat = np.random.default_rng(n).normal(size=(n, 3)) * [1, 1, 0]
    areas = measures.triangle_areas(flat, triangles)
    triangles = triangles[areas > 0.05]
    hinges = topology.hinges(triangles)
    sides = np.sign(measures.triangle_normals(flat, triangles)[:, 2])
    stencil, area = measures.cotangent_stencil(flat, hinges)
    np.testing.assert_allclose(stencil.sum(axis=1), 0.0, atol=1e-9)
    x = flat[:, :2] @ linear.T + [1.0, -2.0, 0.5]
    drift = (stencil[:, :, None] * x[hinges]).sum(axis=1)
    # random points fold some hinges over; the stencil is linear only where both wings lie on their own side
    open_flat = np.abs(measures.hinge_angles(flat, hinges)) < 1.0
    scale = np.abs(stencil).sum(axis=1)[open_flat] * np.abs(x).max()
    assert (np.abs(drift[open_flat]).max(axis=1, initial=0.0) <= 1e-12 * scale).all()
    assert len(area) == len(hinges)
    assert len(sides) == len(triangles)


@given(st.floats(-1e-3, 1e-3), st.floats(0.1, 3.0), st.floats(0.1, 3.0), st.floats(-1.0, 2.0))
def test_the_stencil_measures_edge_length_times_angle(
    theta: float, height0: float, height1: float, along: float
) -> None:
    length = 0.8
    c, s = np.cos(theta), np.sin(theta)
    rest = np.array([[0.0, 0, 0], [length, 0, 0], [along, height0, 0], [0.3, -height1, 0]])
    bent = rest.copy()
    bent[2] = [along, height0 * c, -height0 * s]
    stencil, area = measures.cotangent_stencil(rest, HINGE)
    assert area[0] == pytest.approx(0.5 * length * (height0 + height1), rel=1e-12)
    size = np.linalg.norm((stencil[0, :, None] * bent).sum(axis=0))
    assert size == pytest.approx(length * 2.0 * abs(np.sin(theta / 2)), abs=1e-13)
    assert measures.hinge_angles(bent, HINGE)[0] == pytest.approx(theta, abs=1e-13)


def test_the_enclosed_volume_of_a_box_wherever_it_is() -> None:
    corners = np.array([[x, y, z] for x in (0, 2.0) for y in (0, 3.0) for z in (0, 5.0)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    assert measures.enclosed_volume(corners + 1e3, faces) == pytest.approx(30.0, rel=1e-12)
    worlds = np.stack([corners, 2 * corners])
    np.testing.assert_allclose(measures.enclosed_volume(worlds, faces[:, ::-1]), [-30.0, -240.0], rtol=1e-12)
