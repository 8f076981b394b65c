"""Orders of elimination: how much they fill in, beside SuperLU's minimum degree, and that they repeat."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import spd_matrices as matrices
from scipy.sparse.linalg import splu

from pliant.linear.cholesky import Cholesky
from pliant.linear.dissection import nested_dissection
from pliant.linear.minimum_degree import minimum_degree
from pliant.linear.ordering import best_ordering, entries


def sorted_pattern(matrix: sp.csc_matrix) -> tuple[np.ndarray, np.ndarray]:
    matrix.sort_indices()
    return matrix.indptr, matrix.indices


@pytest.mark.parametrize("shape", [(60, 60), (100, 30), (12, 12, 12)])
def test_no_way_fills_in_much_more_than_superlu(shape: tuple[int, ...]) -> None:
    matrix = matrices.grid_laplacian(*shape)
    lu = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0, options={"SymmetricMode": True})
    tried = best_ordering(*sorted_pattern(matrix)).tried
    assert set(tried) == {"minimum degree", "nested dissection"}
    assert max(tried.values()) < 1.2 * lu.L.nnz
    assert min(tried.values()) < 1.08 * lu.L.nnz  # exact degrees are up to 5 % better on a square


def test_the_better_way_is_taken() -> None:
    flat, box = matrices.cloth(50), matrices.grid_laplacian(15, 15, 15)
    assert Cholesky(flat).analysis.ordering.name == "minimum degree"
    factor = Cholesky(box)
    assert factor.analysis.ordering.name == "nested dissection"
    assert factor.analysis.entries < Cholesky(box, "minimum degree").analysis.entries


@pytest.mark.parametrize("way", [minimum_degree, nested_dissection])
def test_orders_repeat_and_take_graphs_of_many_pieces(way: object) -> None:
    pieces = sp.block_diag([matrices.cloth(k % 4 + 1) for k in range(400)] + [matrices.cloth(45)]).tocsc()
    scattered = np.random.default_rng(1).permutation(pieces.shape[0])
    start, index = sorted_pattern(pieces[scattered][:, scattered].tocsc())
    order = way(start, index)  # type: ignore[operator]
    assert np.array_equal(np.sort(order), np.arange(pieces.shape[0]))
    assert np.array_equal(order, way(start, index))  # type: ignore[operator]
    alone = entries(*sorted_pattern(matrices.cloth(45)), way(*sorted_pattern(matrices.cloth(45))))  # type: ignore[operator]
    small = sum(n * n * (n * n + 1) // 2 for n in (1, 2, 3, 4)) * 100  # were they dense
    assert alone < entries(start, index, order) < small + 1.2 * alone


def test_a_star_is_eliminated_from_its_ends() -> None:
    arms = 300
    rows = np.r_[np.zeros(arms, int), np.arange(1, arms + 1)]
    columns = np.r_[np.arange(1, arms + 1), np.zeros(arms, int)]
    star = sp.coo_matrix((-np.ones(2 * arms), (rows, columns))) + sp.diags(np.full(arms + 1, arms + 1.0))
    ordering = best_ordering(*sorted_pattern(star.tocsc()))
    assert ordering.tried[ordering.name] == 2 * arms + 1
