from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pliant.errors import MeshError
from pliant.geometry import measures, shapes, topology
from pliant.geometry.mesh import TriMesh

FLAT = {
    "right": (shapes.grid(5, 4, (2.0, 1.0)), 2.0),
    "left": (shapes.grid(5, 4, (2.0, 1.0), "left"), 2.0),
    "alternating": (shapes.grid(5, 4, (2.0, 1.0), "alternating"), 2.0),
    "cross": (shapes.grid(5, 4, (2.0, 1.0), "cross"), 2.0),
    "equilateral": (shapes.equilateral((2.0, 1.0), 0.13), 2.0),
    "unstructured": (shapes.unstructured((2.0, 1.0), 0.11), 2.0),
    "one cell": (shapes.unstructured((2.0, 1.0), 9.0), 2.0),
    "strip": (shapes.unstructured((2.0, 0.01), 0.1), 0.02),
    "disc": (shapes.disc(0.5, 0.05), 0.25 * np.pi),
    "annulus": (shapes.annulus(0.2, 0.5, 0.04), 0.21 * np.pi),
}
SOLID = {
    "sphere": shapes.sphere(0.5, 3),
    "icosahedron": shapes.sphere(0.5, 0),
    "tube": shapes.tube(0.5, 1.0, 24, 9),
}


def euler(mesh: TriMesh) -> int:
    return mesh.n_vertices - len(mesh.edges) + mesh.n_triangles


def shortest_height(mesh: TriMesh) -> float:
    """Height over the longest edge against that edge, the worst triangle: √3/2 when equilateral."""
    x = mesh.vertices[mesh.triangles]
    longest = np.max([np.linalg.norm(x[:, i] - x[:, i - 1], axis=1) for i in range(3)], axis=0)
    return float((2.0 * measures.triangle_areas(mesh.vertices, mesh.triangles) / longest**2).min())


@pytest.mark.parametrize("name", FLAT)
def test_flat_shapes_cover_their_area_once_facing_up(name: str) -> None:
    mesh, area = FLAT[name]
    assert mesh.area == pytest.approx(area, rel=3e-3 if name in ("disc", "annulus") else 1e-12)
    assert (measures.triangle_normals(mesh.vertices, mesh.triangles)[:, 2] > 0.0).all()
    assert (mesh.vertices[:, 2] == 0.0).all()
    assert len(topology.inconsistent_edges(mesh.triangles)) == 0
    assert euler(mesh) == (0 if name == "annulus" else 1)
    assert len(topology.boundary_loops(mesh.triangles)) == (2 if name == "annulus" else 1)
    assert len(np.unique(mesh.triangles)) == mesh.n_vertices
    if name not in ("disc", "annulus"):
        np.testing.assert_allclose(mesh.bounds.sum(axis=0), 0.0, atol=1e-15)


@pytest.mark.parametrize("name", SOLID)
def test_closed_and_open_solids_face_outwards(name: str) -> None:
    mesh = SOLID[name]
    normals = measures.triangle_normals(mesh.vertices, mesh.triangles)
    assert ((normals * mesh.vertices[mesh.triangles].mean(axis=1)).sum(axis=1) > 0.0).all()
    assert euler(mesh) == (0 if name == "tube" else 2)
    assert len(topology.boundary_loops(mesh.triangles)) == (2 if name == "tube" else 0)
    radius = mesh.vertices[:, :2] if name == "tube" else mesh.vertices
    np.testing.assert_allclose(np.linalg.norm(radius, axis=1), 0.5, rtol=1e-14)
    assert (measures.hinge_angles(mesh.vertices, topology.hinges(mesh.triangles)) > -1e-9).all()


@pytest.mark.parametrize(
    ("mesh", "least"),
    [
        (shapes.grid(9, 9), 0.5),
        (shapes.disc(0.5, 0.03), 0.5),
        (shapes.annulus(0.2, 0.5, 0.03), 0.45),
        (shapes.equilateral((1.0, 1.0), 0.03), 0.43),
        (shapes.unstructured((1.0, 0.7), 0.03), 0.3),
        (shapes.sphere(1.0, 3), 0.65),
        (shapes.tube(0.5, 1.0, 24, 9), 0.49),
    ],
    ids=lambda m: m.name if isinstance(m, TriMesh) else "",
)
def test_no_shape_has_slivers(mesh: TriMesh, least: float) -> None:
    assert shortest_height(mesh) > least - 1e-12


def test_grid_ids_run_along_x_first() -> None:
    mesh = shapes.grid(4, 3, size=(3.0, 4.0))
    np.testing.assert_allclose(mesh.vertices[6], [0.5, 0.0, 0.0])
    np.testing.assert_allclose(mesh.vertices[0], [-1.5, -2.0, 0.0])
    np.testing.assert_allclose(mesh.vertices[11], [1.5, 2.0, 0.0])
    assert mesh.n_triangles == 12
    np.testing.assert_allclose(mesh.uv[6], [2 / 3, 0.5])


def test_grid_patterns_cut_the_way_they_say() -> None:
    def diagonals(pattern: str) -> set[tuple[int, int]]:
        return {(a, b) for a, b in shapes.grid(3, 3, pattern=pattern).edges.tolist() if b - a in (2, 4)}

    assert diagonals("right") == {(0, 4), (1, 5), (3, 7), (4, 8)}
    assert diagonals("left") == {(1, 3), (2, 4), (4, 6), (5, 7)}
    assert diagonals("alternating") == {(0, 4), (2, 4), (4, 6), (4, 8)}
    cross = shapes.grid(3, 3, pattern="cross")
    assert (cross.n_vertices, cross.n_triangles) == (13, 16)


def test_equilateral_rows_are_near_equilateral() -> None:
    mesh = shapes.equilateral((1.0, 1.0), 0.1)
    lengths = measures.edge_lengths(mesh.vertices, mesh.edges)
    inside = (np.abs(mesh.vertices[:, 0]) < 0.45)[mesh.edges].all(axis=1)
    assert inside.sum() > 200
    np.testing.assert_allclose(lengths[inside], 0.1, rtol=0.05)


def test_unstructured_repeats_by_seed_and_is_irregular_inside_only() -> None:
    one, same, other = (shapes.unstructured((1.0, 1.0), 0.1, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(one.vertices, same.vertices)
    np.testing.assert_array_equal(one.triangles, same.triangles)
    assert not np.array_equal(one.vertices, other.vertices[: one.n_vertices])
    border = topology.boundary_loops(one.triangles)[0]
    assert len(border) == 40
    steps = np.linalg.norm(one.vertices[border] - one.vertices[np.roll(border, 1)], axis=1)
    np.testing.assert_allclose(steps, 0.1, rtol=1e-9)
    degree = np.bincount(one.edges.ravel())
    assert len(np.unique(degree[4:])) > 3


def test_sphere_and_disc_counts() -> None:
    assert shapes.sphere(1.0, 3).n_vertices == 10 * 4**3 + 2
    assert shapes.disc(1.0, 0.25).n_vertices == 1 + 6 * (1 + 2 + 3 + 4)
    assert shapes.disc(1.0, 9.0).n_triangles == 6
    assert shapes.tube(1.0, 1.0, 3, 2).n_triangles == 6
    assert (shapes.disc(1.0, 0.25).vertices[0] == 0.0).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: shapes.grid(1, 3), "nx is 1"),
        (lambda: shapes.grid(3, 2.5), "ny is 2.5"),
        (lambda: shapes.grid(3, 3, (1.0, -1.0)), r"size\[1\] is -1"),
        (lambda: shapes.grid(3, 3, (1.0,)), "width and height"),
        (lambda: shapes.grid(3, 3, pattern="zigzag"), "'zigzag' is unknown; choose one of right"),
        (lambda: shapes.disc(float("nan"), 0.1), "radius is nan"),
        (lambda: shapes.annulus(0.5, 0.5, 0.1), "inner must be the smaller"),
        (lambda: shapes.equilateral((1, 1), 0.0), "edge is 0"),
        (lambda: shapes.unstructured((1, float("inf")), 0.1), r"size\[1\] is inf"),
        (lambda: shapes.sphere(1.0, 40), "subdivisions is 40"),
        (lambda: shapes.tube(1.0, 1.0, 2, 2), "n is 2"),
    ],
)
def test_impossible_shapes_are_refused(make: object, message: str) -> None:
    with pytest.raises(MeshError, match=message):
        make()  # type: ignore[operator]


def test_a_pillow_is_two_sheets_sewn_along_the_rim() -> None:
    pillow, sheet = shapes.pillow(5, 4, (2.0, 1.0)), shapes.grid(5, 4, (2.0, 1.0), "cross")
    assert len(topology.boundary_edges(pillow.triangles)) == 0
    assert len(topology.inconsistent_edges(pillow.triangles)) == 0
    assert euler(pillow) == 2
    assert pillow.area == pytest.approx(2 * sheet.area)
    np.testing.assert_array_equal(pillow.vertices[: sheet.n_vertices], sheet.vertices)
    assert pillow.n_vertices == 2 * sheet.n_vertices - 14
    assert measures.enclosed_volume(pillow.vertices, pillow.triangles) == 0.0
    puffed = pillow.vertices + np.array([0, 0, 0.1]) * (np.arange(pillow.n_vertices) == 6)[:, None]
    assert measures.enclosed_volume(puffed, pillow.triangles) > 0.0


@pytest.mark.parametrize(
    "make",
    [
        lambda: shapes.grid(999_999_999, 2),
        lambda: shapes.pillow(2, 999_999_999),
        lambda: shapes.equilateral((1.0, 1.0), 1e-5),
        lambda: shapes.equilateral((1e12, 1e-9), 1.0),
        lambda: shapes.unstructured((1.0, 1.0), 1e-300),
        lambda: shapes.disc(1e300, 1e-300),
        lambda: shapes.annulus(1.0, 1e200, 1e-200),
        lambda: shapes.annulus(1.0, 1.0 + 1e-9, 1e-9),
        lambda: shapes.tube(1.0, 1.0, 10**18, 10**18),
    ],
)
def test_what_would_fill_the_memory_is_refused(make: Callable[[], TriMesh]) -> None:
    with pytest.raises(MeshError, match=r"would have about .* vertices, the most is 3000000; give it fewer"):
        make()
