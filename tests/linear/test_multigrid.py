"""Multigrid by aggregation: each kernel against a plain reference, and what a hierarchy promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from numpy.polynomial import chebyshev as series

from pliant.errors import SolverError
from pliant.geometry import shapes, tetrahedra
from pliant.linear.aggregation import Galerkin, aggregate, constants, inject, rigid_modes, strengths
from pliant.linear.multigrid import Hierarchy, Patience, blocked
from pliant.linear.pcg import pcg
from pliant.linear.smoothers import LOW, SMALLEST, Chebyshev, GaussSeidel, Jacobi, colour, smoother_of

Array = np.ndarray


def elastic(cells: int, mass: float = 1e-3) -> tuple[Any, Array]:
    """Stiffness of a free linear-elastic bar with a little mass, in blocks of 3, and its nodes."""
    mesh = shapes.bar((4.0, 1.0, 1.0), (4 * cells, cells, cells))
    x, tets = mesh.vertices, mesh.tets
    volume = tetrahedra.tet_volumes(x, tets)
    inverse = tetrahedra.inv_rest_matrices(x, tets)
    g = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)
    dots = np.einsum("tai,tbi->tab", g, g)
    k = np.einsum("tab,ij->taibj", dots, np.eye(3)) + np.einsum("taj,tbi->taibj", g, g)
    k = (k + np.einsum("tai,tbj->taibj", g, g)) * volume[:, None, None, None, None]
    rows = (3 * tets[:, :, None] + np.arange(3)).reshape(len(tets), 12)
    places = (np.repeat(rows, 12, axis=1).ravel(), np.tile(rows, (1, 12)).ravel())
    a = scipy.sparse.csc_array((k.ravel(), places), (x.size, x.size))
    return blocked(a + mass * scipy.sparse.eye_array(x.size), 3), x


def dense(prolong: Array, group: Array) -> Array:
    """The prolongator written out."""
    n, b, k = prolong.shape
    out = np.zeros((n * b, (int(group.max()) + 1) * k))
    for i in range(n):
        out[i * b : (i + 1) * b, group[i] * k : (group[i] + 1) * k] = prolong[i]
    return out


# --- filter, aggregate, inject ---------------------------------------------------------------------


def test_strengths_are_norms_over_the_diagonals() -> None:
    a, _ = elastic(1)
    found = strengths(a.indptr, a.indices, a.data)
    blocks = a.toarray().reshape(a.shape[0] // 3, 3, -1, 3).transpose(0, 2, 1, 3)
    size = np.linalg.norm(blocks, axis=(2, 3))
    rows = np.repeat(np.arange(len(size)), np.diff(a.indptr))
    exact = size / np.sqrt(np.outer(np.diag(size), np.diag(size)))
    np.fill_diagonal(exact, 0.0)
    np.testing.assert_allclose(found, exact[rows, a.indices], rtol=1e-12)
    assert found.max() > 0.05


def test_every_node_is_in_one_group_of_neighbours() -> None:
    a, _ = elastic(3)
    strength = strengths(a.indptr, a.indices, a.data)
    group = aggregate(a.indptr, a.indices, strength, 0.1)
    count = np.bincount(group)
    assert count.min() > 1
    assert 5 < count.mean() < 30
    graph = scipy.sparse.csr_array((np.ones(len(a.indices)), a.indices, a.indptr))
    for g in range(len(count)):
        mine = np.flatnonzero(group == g)
        assert scipy.sparse.csgraph.connected_components(graph[mine][:, mine])[0] == 1


def test_weak_connections_do_not_make_groups() -> None:
    """A grid that is a thousand times stiffer along x: groups are pieces of lines."""
    n = 12
    line = scipy.sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    eye = scipy.sparse.eye_array(n)
    a = blocked(scipy.sparse.kron(eye, 1e3 * line) + scipy.sparse.kron(line, eye), 1)
    group = aggregate(a.indptr, a.indices, strengths(a.indptr, a.indices, a.data), 0.1)
    for g in range(group.max() + 1):
        assert len(set(np.flatnonzero(group == g) // n)) == 1
    assert len(set(aggregate(a.indptr, a.indices, np.ones(len(a.indices)), 0.1))) < group.max()


def test_a_node_that_nothing_reaches_is_a_group_of_its_own() -> None:
    a = blocked(scipy.sparse.eye_array(3), 1)
    assert sorted(aggregate(a.indptr, a.indices, np.zeros(3), 0.1)) == [0, 1, 2]


def test_the_prolongator_is_orthonormal_and_holds_the_near_kernel() -> None:
    a, x = elastic(2)
    group = aggregate(a.indptr, a.indices, strengths(a.indptr, a.indices, a.data), 0.1)
    group[0] = group.max() + 1  # alone: it has room for three vectors of six
    group = np.unique(group, return_inverse=True)[1]
    modes = rigid_modes(x)
    prolong, coarse, used = inject(group, modes)
    p = dense(prolong, group)
    np.testing.assert_allclose(p.T @ p, np.diag(used.ravel().astype(float)), atol=1e-12)
    np.testing.assert_allclose(p @ coarse.reshape(-1, 6), modes.reshape(-1, 6), atol=1e-12)
    assert used[group[0]].sum() == 3
    assert used.sum() > 6 * (len(used) - 3)


def test_coarse_matrices_are_galerkins() -> None:
    a, x = elastic(2)
    group = aggregate(a.indptr, a.indices, strengths(a.indptr, a.indices, a.data), 0.1)
    prolong, _, _ = inject(group, rigid_modes(x))
    places = Galerkin(a.indptr, a.indices, group)
    blocks = places.product(a.data, prolong)
    n = 6 * places.groups
    found = scipy.sparse.bsr_array((blocks, places.index, places.start), shape=(n, n)).toarray()
    p = dense(prolong, group)
    np.testing.assert_allclose(found, p.T @ a.toarray() @ p, atol=1e-12 * np.abs(found).max())


def test_rigid_modes_cost_no_energy() -> None:
    a, x = elastic(2, mass=0.0)
    modes = rigid_modes(x).reshape(-1, 6)
    assert np.linalg.matrix_rank(modes) == 6
    assert np.abs(a @ modes).max() < 1e-12 * np.abs(a.data).max()
    assert np.abs(a @ modes**2).max() > 1e-3 * np.abs(a.data).max()


# --- smoothers -------------------------------------------------------------------------------------


def ready(smoother: Any, a: Any) -> tuple[Any, Array]:
    """A smoother of a matrix, and ``D^-1 A`` written out."""
    n = a.shape[0]
    own = np.array([a.toarray()[i : i + 3, i : i + 3] for i in range(0, n, 3)])
    smoother.refresh(a, np.linalg.inv(own))
    return smoother, np.linalg.solve(scipy.linalg.block_diag(*own), a.toarray())


@pytest.mark.parametrize("kind", [Jacobi, Chebyshev, GaussSeidel])
def test_a_smoother_rests_at_the_solution_and_shrinks_errors(kind: Any) -> None:
    a, _ = elastic(1)
    smoother, _ = ready(kind(2), a)
    rng = np.random.default_rng(0)
    x, e = rng.normal(size=(2, a.shape[0]))
    b = a @ x
    np.testing.assert_allclose(smoother.after(b, x.copy()), x, atol=1e-11)
    worse = smoother.after(b, x + e) - x
    assert worse @ (a @ worse) < 0.6 * (e @ (a @ e))
    np.testing.assert_allclose(smoother.before(b), smoother.smooth(b, np.zeros_like(b), True), atol=1e-12)


@pytest.mark.parametrize("kind", [Jacobi, Chebyshev, GaussSeidel])
def test_before_and_after_are_mirror_images(kind: Any) -> None:
    """In the energy's inner product, ``(x, S e) = (S' x, e)`` with S before and S' after."""
    a, _ = elastic(1)
    smoother, _ = ready(kind(2), a)
    zero = np.zeros(a.shape[0])
    e, x = np.random.default_rng(1).normal(size=(2, a.shape[0]))
    left, right = x @ (a @ smoother.smooth(zero, e, True)), smoother.after(zero, x) @ (a @ e)
    assert left == pytest.approx(right, rel=1e-10)


def test_the_largest_eigenvalue_is_found() -> None:
    a, _ = elastic(1)
    smoother, scaled = ready(Jacobi(1), a)
    exact = float(np.linalg.eigvals(scaled).real.max())
    assert 0.97 * exact < smoother.largest() <= exact * (1 + 1e-12)
    assert smoother.top > exact


def test_jacobi_and_chebyshev_are_their_polynomials() -> None:
    a, _ = elastic(1)
    e = np.random.default_rng(2).normal(size=a.shape[0])
    zero = np.zeros_like(e)
    jacobi, scaled = ready(Jacobi(2), a)
    factor = np.eye(len(e)) - 2 / (jacobi.top * (1 + SMALLEST)) * scaled
    np.testing.assert_allclose(jacobi.after(zero, e), factor @ factor @ e, atol=1e-11)
    for degree in (1, 2, 3):
        smoother, _ = ready(Chebyshev(degree), a)
        value, vectors = np.linalg.eig(scaled)
        low, high = LOW * smoother.top, smoother.top
        term = np.eye(degree + 1)[degree]
        ratio = series.chebval((high + low - 2 * value) / (high - low), term)
        ratio = ratio / series.chebval((high + low) / (high - low), term)
        exact = (vectors * ratio) @ np.linalg.solve(vectors, e)
        np.testing.assert_allclose(smoother.after(zero, e), exact.real, atol=1e-9)


def test_gauss_seidel_is_a_sweep_node_by_node() -> None:
    a, _ = elastic(1)
    smoother, _ = ready(GaussSeidel(1), a)
    full, b = a.toarray(), np.random.default_rng(3).normal(size=a.shape[0])
    x = np.zeros_like(b)
    for i in np.concatenate(smoother.colours):
        mine = slice(3 * i, 3 * i + 3)
        x[mine] += np.linalg.solve(full[mine, mine], b[mine] - full[mine] @ x)
    np.testing.assert_allclose(smoother.before(b), x, atol=1e-12)


def test_no_two_nodes_of_a_colour_are_connected() -> None:
    a, _ = elastic(2)
    colours = colour(a.indptr, a.indices)
    assert sorted(np.concatenate(colours)) == list(range(a.shape[0] // 3))
    for nodes in colours:
        for i in nodes:
            around = set(a.indices[a.indptr[i] : a.indptr[i + 1]].tolist()) - {int(i)}
            assert not around & set(nodes.tolist())


# --- the whole -------------------------------------------------------------------------------------


def test_pcg_solves_and_tells_when_it_did_not() -> None:
    a, _ = elastic(1)
    b = np.random.default_rng(4).normal(size=a.shape[0])
    solved = pcg(a, b, lambda r: r, 1e-10)
    assert solved.converged
    np.testing.assert_allclose(solved.x, np.linalg.solve(a.toarray(), b), rtol=1e-6)
    assert np.linalg.norm(b - a @ solved.x) < 2e-10 * np.linalg.norm(b)
    short = pcg(a, b, lambda r: r, 1e-10, most=3)
    assert (short.converged, short.iterations) == (False, 3)
    assert short.residual > 1e-10
    nothing = pcg(a, 0 * b, lambda r: r)
    assert (nothing.iterations, nothing.converged) == (0, True)
    assert not pcg(-a, b, lambda r: r).converged


@pytest.mark.parametrize("smoother", ["jacobi", "chebyshev", "gauss_seidel"])
@pytest.mark.parametrize("cycle", ["V", "W"])
def test_a_cycle_is_symmetric_and_positive(smoother: str, cycle: str) -> None:
    a, x = elastic(3)
    levels = Hierarchy(a, rigid_modes(x), smoother=smoother, cycle=cycle, coarsest=60)
    assert len(levels.levels) == 2
    whole = np.stack([levels.cycle(e) for e in np.eye(a.shape[0])], axis=1)
    np.testing.assert_allclose(whole, whole.T, atol=1e-10 * np.abs(whole).max())
    assert np.linalg.eigvalsh(whole)[0] > 0
    values = np.linalg.eigvals(whole @ a.toarray()).real
    assert values.max() / values.min() < 40


def needed(a: Any, precondition: Any) -> int:
    """Iterations to 1e-8."""
    b = np.random.default_rng(5).normal(size=a.shape[0])
    solved = pcg(a, b, precondition, 1e-8)
    assert solved.converged
    return solved.iterations


def test_iterations_hardly_grow_with_the_mesh_and_want_the_rigid_modes() -> None:
    counts = {}
    for cells in (2, 4, 6):
        a, x = elastic(cells)
        blocks = np.linalg.inv(a.data[np.repeat(np.arange(len(x)), np.diff(a.indptr)) == a.indices])
        jacobi = needed(a, lambda r, d=blocks: np.matmul(d, r.reshape(-1, 3, 1)).ravel())
        best = needed(a, Hierarchy(a, rigid_modes(x), coarsest=200).cycle)
        plain = needed(a, Hierarchy(a, constants(len(x), 3), coarsest=200).cycle)
        counts[cells] = (best, plain, jacobi)
    assert counts[6][0] < 1.6 * counts[2][0], counts
    assert counts[6][0] < 0.7 * counts[6][1], counts
    assert counts[6][0] < 0.3 * counts[6][2], counts


def test_refreshed_numbers_are_those_of_a_new_hierarchy() -> None:
    a, x = elastic(2)
    levels = Hierarchy(a, rigid_modes(x), coarsest=40, smoother="gauss_seidel")
    r = np.random.default_rng(6).normal(size=a.shape[0])
    before = levels.cycle(r)
    levels.refresh(blocked(4.0 * a, 3))
    np.testing.assert_allclose(levels.cycle(r), before / 4, rtol=1e-9)
    other = blocked(a + 0.3 * scipy.sparse.eye_array(a.shape[0]), 3)
    levels.refresh(other)
    p = dense(levels.levels[0].prolong, levels.levels[0].group)
    np.testing.assert_allclose(levels.levels[1].matrix.toarray(), p.T @ other.toarray() @ p, atol=1e-10)
    assert needed(other, levels.cycle) <= needed(a, Hierarchy(a, rigid_modes(x), coarsest=40).cycle)


def test_turned_bodies_want_turned_modes() -> None:
    a, x = elastic(4)
    quarter = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    big = scipy.sparse.kron(scipy.sparse.eye_array(len(x)), quarter)
    turned = blocked(big @ a @ big.T, 3)
    levels = Hierarchy(a, rigid_modes(x), coarsest=200)
    fresh = needed(a, levels.cycle)
    levels.refresh(turned)
    stale = needed(turned, levels.cycle)
    levels.inject(rigid_modes(x @ quarter.T))
    levels.refresh(turned)
    assert needed(turned, levels.cycle) <= fresh + 2
    assert stale > 1.3 * fresh


def test_a_hierarchy_describes_itself() -> None:
    a, x = elastic(3)
    levels = Hierarchy(a, rigid_modes(x), coarsest=60)
    text = repr(levels)
    assert f"0: {a.shape[0]:,} unknowns in blocks of 3" in text
    assert "solved exactly" in text
    assert f"complexity {levels.operator_complexity:.2f}" in text
    assert 1 < levels.operator_complexity < 2
    small = Hierarchy(a, rigid_modes(x), coarsest=10**6)
    r = np.ones(a.shape[0])
    np.testing.assert_allclose(a @ small.cycle(r), r, rtol=1e-8)


def test_what_does_not_fit_is_refused() -> None:
    a, x = elastic(1)
    with pytest.raises(SolverError, match="near_kernel has"):
        Hierarchy(a, rigid_modes(x[:-1]))
    with pytest.raises(SolverError, match="blocks of 7"):
        Hierarchy(a, block=7)
    with pytest.raises(SolverError, match="cycle"):
        Hierarchy(a, cycle="F")
    with pytest.raises(SolverError, match="smoother"):
        smoother_of("sor", 1)
    other, _ = elastic(2)
    with pytest.raises(SolverError, match="other places"):
        Hierarchy(a, rigid_modes(x), coarsest=10).refresh(other)


def test_patience_ends_when_iterations_grow_or_after_many_solves() -> None:
    patience = Patience(growth=1.5, most=4)
    assert [patience.worn(k) for k in (10, 15, 16)] == [False, False, True]
    patience.renewed()
    assert [patience.worn(20) for _ in range(4)] == [False, False, False, True]
