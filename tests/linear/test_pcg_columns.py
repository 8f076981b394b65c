"""Conjugate gradients against the textbook in plain NumPy, dense algebra, and the promise of equal bits."""

from __future__ import annotations

import numba
import numpy as np
import pytest
import scipy.sparse as sp
import spd_matrices as matrices

from pliant.backend.threads import set_threads
from pliant.errors import SolverError
from pliant.linear.cholesky import Cholesky
from pliant.linear.pcg_columns import CHUNK, Jacobi, dots, pcg_columns


def textbook(a: np.ndarray, b: np.ndarray, inverse: np.ndarray, iterations: int) -> np.ndarray:
    """The slow twin: one column, dense, a given number of iterations."""
    x, r = np.zeros_like(b), b.copy()
    z = inverse @ r
    p = z.copy()
    for _ in range(iterations):
        q = a @ p
        alpha = (r @ z) / (p @ q)
        x, following = x + alpha * p, r - alpha * q
        z_after = inverse @ following
        p = z_after + (following @ z_after) / (r @ z) * p
        r, z = following, z_after
    return x


@pytest.mark.parametrize("iterations", [1, 2, 7])
def test_every_iterate_is_the_textbooks(iterations: int) -> None:
    matrix = matrices.cloth(12)
    b = np.random.default_rng(1).standard_normal((144, 2))
    found = pcg_columns(matrix, b, Jacobi(matrix), tolerance=0.0, most=iterations)
    assert found.iterations.tolist() == [iterations] * 2
    for c in (0, 1):
        expected = textbook(matrix.toarray(), b[:, c], np.diag(1 / matrix.diagonal()), iterations)
        assert np.abs(found.x[:, c] - expected).max() < 1e-12 * np.abs(expected).max()


def test_it_converges_to_the_solution_and_says_how_far_it_is() -> None:
    matrix = matrices.cloth(20)
    b = np.random.default_rng(2).standard_normal(400)
    found = pcg_columns(matrix, b, Jacobi(matrix), tolerance=1e-10)
    assert found.converged.all()
    assert found.residuals[0] == pytest.approx(1.0)
    assert np.linalg.norm(b - matrix @ found.x) / np.linalg.norm(b) == pytest.approx(
        found.residual[0], rel=0.01
    )
    assert np.abs(found.x - Cholesky(matrix).solve(b)).max() < 1e-7 * np.abs(found.x).max()
    stopped = pcg_columns(matrix, b, Jacobi(matrix), tolerance=1e-10, most=3)
    assert not stopped.converged.any()
    assert stopped.residual[0] > 1e-10


def test_a_factor_of_a_matrix_nearby_leaves_little_to_do() -> None:
    stiff, soft = matrices.cloth(20), matrices.cloth(20, stiffness=700.0)
    b = np.random.default_rng(3).standard_normal((400, 3))
    own = pcg_columns(stiff, b, Cholesky(stiff), tolerance=1e-10)
    assert own.iterations.max() <= 2
    near, far = (
        pcg_columns(stiff, b, Cholesky(soft), tolerance=1e-10),
        pcg_columns(stiff, b, Jacobi(stiff), tolerance=1e-10),
    )
    assert near.converged.all()
    assert near.iterations.max() < 15 < far.iterations.min()  # condition number at most 1000 / 700
    again = pcg_columns(stiff, b, Cholesky(soft), x=near.x, tolerance=1e-9)
    assert again.iterations.tolist() == [0, 0, 0]


def test_a_column_has_the_same_bits_in_any_company() -> None:
    matrix = matrices.cloth(70)
    n = matrix.shape[0]
    assert n > 2 * CHUNK
    b = np.random.default_rng(4).standard_normal((n, 3))
    b[:, 1] = matrix @ np.ones(n)  # done sooner
    b[:, 2] = 0.0
    for threads in range(1, min(numba.config.NUMBA_NUM_THREADS, 3) + 1):
        set_threads(threads)
        together = pcg_columns(matrix, b, Jacobi(matrix), most=40)
        for c in range(3):
            alone = pcg_columns(matrix, b[:, c], Jacobi(matrix), most=40)
            assert np.array_equal(alone.x, together.x[:, c])
            assert alone.iterations[0] == together.iterations[c]
        if threads == 1:
            first = together.x
        assert np.array_equal(first, together.x)
    assert together.iterations[2] == 0
    assert together.converged[2]


def test_sums_run_in_chunks() -> None:
    a = np.random.default_rng(5).standard_normal((2 * CHUNK + 3, 2))
    expected = 0.0
    for begin in range(0, len(a), CHUNK):
        part = 0.0
        for value in a[begin : begin + CHUNK, 1]:
            part += value * value
        expected += part
    assert dots(a, a)[1] == expected


def test_what_cannot_be_solved_is_refused() -> None:
    matrix = matrices.cloth(5)
    b = np.ones(25)
    with pytest.raises(SolverError, match="do not fit"):
        pcg_columns(matrix, np.ones(24), Jacobi(matrix))
    with pytest.raises(SolverError, match="the start has shape"):
        pcg_columns(matrix, b, Jacobi(matrix), x=np.ones(24))
    with pytest.raises(SolverError, match="finite"):
        pcg_columns(matrix, np.full(25, np.nan), Jacobi(matrix))
    with pytest.raises(SolverError, match="the matrix is not positive definite"):
        pcg_columns(-matrix, b, Jacobi(matrix))
    with pytest.raises(SolverError, match="diagonal entry 3 is 0"):
        Jacobi(sp.diags(np.r_[1.0, 1, 1, 0, 1]))

    class Wrong:
        def solve(self, r: np.ndarray) -> np.ndarray:
            return -r

    with pytest.raises(SolverError, match="the preconditioner is not positive definite"):
        pcg_columns(matrix, b, Wrong())
