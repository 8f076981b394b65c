from __future__ import annotations

import numpy as np
import pytest

from pliant.errors import MeshError
from pliant.geometry import shapes, tetrahedra, topology
from pliant.geometry.tetmesh import TetMesh
from pliant.materials import SolidMaterial
from tests.solid_fem import displacement, weight

BODIES = {
    "bar": shapes.bar((1.0, 0.2, 0.3), (5, 2, 3)),
    "cube": shapes.bar((0.1, 0.1, 0.1), (1, 1, 1)),
    "ball": shapes.ball(0.5, 4),
    "icosahedron": shapes.ball(0.5, 1),
    "odd ball": shapes.ball(0.5, 3),
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies_are_whole_and_wound_without_help(name: str) -> None:
    mesh = BODIES[name]
    assert mesh.turned == 0
    assert (tetrahedra.tet_volumes(mesh.vertices, mesh.tets) > 0.0).all()
    use = tetrahedra.face_use(mesh.tets)[1]
    assert set(use) <= {1, 2}
    edges, count = topology.edge_use(mesh.triangles)
    assert (count == 2).all(), "the surface is closed"
    assert len(mesh.surface_ids) - len(edges) + len(mesh.triangles) == 2, "and that of a ball"
    np.testing.assert_allclose(mesh.bounds.sum(axis=0), 0.0, atol=1e-15)
    if name in ("bar", "cube"):
        size = mesh.bounds[1] - mesh.bounds[0]
        assert mesh.volume == pytest.approx(size.prod(), rel=1e-12)


def test_no_hanging_vertices_and_no_gaps() -> None:
    """Volumes add up to the whole and faces match in pairs: nothing overlaps and nothing is missing."""
    mesh = shapes.bar((3.0, 2.0, 1.0), (3, 4, 2))
    assert mesh.n_tets == 5 * 24
    inner = tetrahedra.face_use(mesh.tets)[1]
    assert (inner == 1).sum() == 2 * 2 * (3 * 4 + 4 * 2 + 3 * 2)
    assert mesh.volume == pytest.approx(6.0, rel=1e-13)


def test_bar_ids_run_along_x_first() -> None:
    mesh = shapes.bar((3.0, 2.0, 1.0), (3, 2, 1))
    np.testing.assert_allclose(mesh.vertices[0], [-1.5, -1.0, -0.5])
    np.testing.assert_allclose(mesh.vertices[5], [-0.5, 0.0, -0.5])
    np.testing.assert_allclose(mesh.vertices[-1], [1.5, 1.0, 0.5])


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_with_even_counts_the_bar_is_its_own_mirror_image(axis: int) -> None:
    mesh = shapes.bar((1.0, 1.0, 1.0), (2, 4, 2))
    flip = np.ones(3)
    flip[axis] = -1.0
    at = {tuple(np.round(p, 9)): k for k, p in enumerate((mesh.vertices + 0.0).tolist())}
    image = np.array([at[tuple(np.round(p, 9) + 0.0)] for p in (mesh.vertices * flip).tolist()])
    assert {tuple(sorted(t)) for t in image[mesh.tets].tolist()} == {
        tuple(sorted(t)) for t in mesh.tets.tolist()
    }


def test_a_bar_under_its_own_weight_goes_straight_down() -> None:
    """What the cut into five is for: no way to the side; and it bends more than the cut into six."""
    mesh = shapes.bar((1.0, 0.175, 0.175), (12, 2, 2))
    material = SolidMaterial(density=1000.0, youngs_modulus=5e6, poisson_ratio=0.3)
    held = np.flatnonzero(mesh.vertices[:, 0] < -0.499)
    u = displacement(mesh, material, weight(mesh, material, np.array([0, 0, -9.81])), held)
    tip = u[mesh.vertices[:, 0] > 0.499]
    assert tip[:, 2].mean() == pytest.approx(-0.0668, rel=2e-3)
    assert abs(tip[:, 1].mean()) < 1e-12
    six = displacement(
        kuhn(mesh, (12, 2, 2)), material, weight(mesh, material, np.array([0, 0, -9.81])), held
    )
    assert six[mesh.vertices[:, 0] > 0.499, 2].mean() == pytest.approx(-0.0509, rel=2e-2)


def kuhn(mesh: TetMesh, cells: tuple[int, int, int]) -> TetMesh:
    """The same vertices, every cell cut into six along one diagonal."""
    nx, ny, nz = cells
    step = np.array([1, nx + 1, (nx + 1) * (ny + 1)])
    k, j, i = (a.ravel() for a in np.meshgrid(np.arange(nz), np.arange(ny), np.arange(nx), indexing="ij"))
    first = i * step[0] + j * step[1] + k * step[2]
    ways = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    rows = [np.concatenate([[0], np.cumsum(step[list(way)])]) for way in ways]
    return TetMesh(mesh.vertices, (first[:, None, None] + np.array(rows)).reshape(-1, 4))


@pytest.mark.parametrize(("n", "short"), [(1, 0.395), (2, 0.126), (3, 0.059), (4, 0.034), (8, 0.0086)])
def test_a_ball_fills_its_sphere_the_better_the_finer(n: int, short: float) -> None:
    mesh = shapes.ball(0.3, n)
    assert mesh.n_tets == 20 * n**3
    assert len(mesh.surface_ids) == 10 * n**2 + 2
    assert (mesh.vertices[0] == 0.0).all()
    np.testing.assert_allclose(np.linalg.norm(mesh.vertices[mesh.surface_ids], axis=1), 0.3, rtol=1e-12)
    whole = 4.0 / 3.0 * np.pi * 0.3**3
    assert 1.0 - mesh.volume / whole == pytest.approx(short, rel=0.02)


@pytest.mark.parametrize(
    ("mesh", "worst", "angle"),
    [
        (shapes.bar((1.0, 1.0, 1.0), (2, 2, 2)), 0.769, 54.7),
        (shapes.ball(1.0, 2), 0.7, 44),
        (shapes.ball(1.0, 4), 0.7, 44),
        (shapes.ball(1.0, 8), 0.66, 39),
    ],
)
def test_tetrahedra_are_well_shaped(mesh: TetMesh, worst: float, angle: float) -> None:
    assert tetrahedra.quality(mesh.vertices, mesh.tets).min() > worst
    assert np.degrees(tetrahedra.smallest_dihedral(mesh.vertices, mesh.tets).min()) > angle
    volumes = tetrahedra.tet_volumes(mesh.vertices, mesh.tets)
    assert volumes.max() < 2.1 * volumes.min()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: shapes.bar((1, 1, 0), (1, 1, 1)), r"size\[2\] is 0"),
        (lambda: shapes.bar((1, 1, 1), (1, 0, 1)), r"cells\[1\] is 0"),
        (lambda: shapes.bar((1, 1, 1), (1, 1.5, 1)), r"cells\[1\] is 1.5"),
        (lambda: shapes.bar((1, 1), (1, 1, 1)), "three numbers each"),
        (lambda: shapes.ball(-1.0, 2), "radius is -1"),
        (lambda: shapes.ball(1.0, 0), "n is 0"),
        (lambda: shapes.ball(1.0, 200), "n is 200"),
    ],
)
def test_impossible_bodies_are_refused(make: object, message: str) -> None:
    with pytest.raises(MeshError, match=message):
        make()  # type: ignore[operator]
