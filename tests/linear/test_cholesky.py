"""The factor against dense algebra and SuperLU, its refusals, and the promise of equal bits."""

from __future__ import annotations

import os
import subprocess
import sys

import numba
import numpy as np
import pytest
import scipy.sparse as sp
import spd_matrices as matrices
from conftest import ROOT
from scipy.sparse.linalg import splu

from pliant.backend.threads import set_threads
from pliant.errors import SolverError
from pliant.linear import cholesky, fronts, substitution
from pliant.linear.cholesky import Cholesky
from pliant.linear.ordering import WAYS

MATRICES = {
    "one": lambda: sp.csc_matrix([[4.0]]),
    "diagonal": lambda: sp.diags(np.arange(1.0, 9.0)).tocsc(),
    "line": lambda: matrices.grid_laplacian(40),
    "square": lambda: matrices.grid_laplacian(17, 23),
    "box": lambda: matrices.grid_laplacian(7, 8, 9),
    "cloth": lambda: matrices.cloth(24),
    "random": lambda: matrices.random_spd(150, 0.03, 1),
    "dense": lambda: matrices.random_spd(70, 1.0, 2),
    "apart": lambda: sp.block_diag([matrices.cloth(5), matrices.grid_laplacian(3, 3)]).tocsc(),
}


def lower(factor: Cholesky) -> np.ndarray:
    """L (n, n), dense, out of the blocks."""
    a = factor.analysis
    out = np.zeros((a.n, a.n))
    for s in range(a.blocks):
        rows = np.concatenate(
            [np.arange(a.first[s], a.first[s + 1]), a.rows[a.rows_at[s] : a.rows_at[s + 1]]]
        )
        for j, w, lo, hi, v in a.panels[a.panel_at[s] : a.panel_at[s + 1]]:
            mine = rows[len(rows) - (hi - lo) - w :]
            block = np.zeros((len(mine), w))
            block[np.tril_indices(w)] = factor.values[v : v + w * (w + 1) // 2]
            v += w * (w + 1) // 2
            block[w:] = factor.values[v : v + (hi - lo) * w].reshape(-1, w)
            k = np.arange(w)
            block[k, k] = 1 / block[k, k]
            out[np.ix_(mine, np.arange(j, j + w))] = block
    return out


@pytest.mark.parametrize("order", ["best", *WAYS])
@pytest.mark.parametrize("name", MATRICES)
def test_the_factor_is_that_of_dense_algebra(name: str, order: str) -> None:
    matrix = MATRICES[name]()
    factor = Cholesky(matrix, order)
    p = factor.analysis.order
    assert np.array_equal(np.sort(p), np.arange(factor.n))
    expected = np.linalg.cholesky(matrix.toarray()[np.ix_(p, p)])
    assert np.abs(lower(factor) - expected).max() < 1e-12 * np.abs(expected).max()
    assert factor.analysis.entries == _filled(matrix, p)


def _filled(matrix: sp.csc_matrix, p: np.ndarray) -> int:
    """Entries of the factor by elimination on the graph, an unknown at a time."""
    pattern = matrix.toarray()[np.ix_(p, p)] != 0
    for k in range(len(p)):
        rows = np.flatnonzero(pattern[k + 1 :, k]) + k + 1
        pattern[np.ix_(rows, rows)] = True
    return int(np.tril(pattern).sum())


@pytest.mark.parametrize(("dtype", "bound"), [(np.float64, 1e-11), (np.float32, 1e-3)])
@pytest.mark.parametrize("name", MATRICES)
def test_solutions_agree_with_superlu(name: str, dtype: type, bound: float) -> None:
    matrix = MATRICES[name]()
    b = np.random.default_rng(3).standard_normal((matrix.shape[0], 3))
    expected = splu(matrix).solve(b)
    x = Cholesky(matrix).solve(b, dtype)
    assert x.dtype == dtype
    assert np.abs(expected).max() > 0
    assert np.abs(x - expected).max() < bound * np.abs(expected).max()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_column_has_the_same_bits_in_any_company(dtype: type) -> None:
    factor = Cholesky(matrices.cloth(60))
    assert len(factor.analysis.parts) > 3
    worlds = np.random.default_rng(4).standard_normal((70, factor.n, 3)).astype(dtype)
    alone = [factor.solve(worlds[w], dtype) for w in (0, 7, 69)]
    for width in (1, 16, 32):
        tiles = -(-len(worlds) // width)
        padded = np.concatenate([worlds, np.repeat(worlds[:1], tiles * width - len(worlds), axis=0)])
        b = np.ascontiguousarray(padded.reshape(tiles, width, factor.n, 3).transpose(0, 2, 3, 1))
        for threads in (1, 2):
            if threads == 1 or _may_use_two():
                set_threads(threads)
            x = factor.solve_lanes(b, out=np.full_like(b, np.nan))
            for w, expected in zip((0, 7, 69), alone, strict=True):
                assert np.array_equal(x[w // width, :, :, w % width], expected)
    assert np.array_equal(factor.solve(worlds[7, :, 1], dtype), alone[1][:, 1])


def _may_use_two() -> bool:
    return numba.config.NUMBA_NUM_THREADS >= 2


THREADS = """
import hashlib
import numpy as np
import spd_matrices as matrices
from pliant.backend.threads import set_threads
from pliant.linear.cholesky import Cholesky
set_threads({threads})
for matrix in (matrices.cloth(60), matrices.random_spd(600, 1.0, 3)):
    factor = Cholesky(matrix, "minimum degree")
    b = np.random.default_rng(5).standard_normal((factor.n, 3))
    x = factor.solve(b)
    assert np.abs(matrix @ x - b).max() < 1e-10
    print(hashlib.sha256(factor.values.tobytes() + x.tobytes()).hexdigest())
"""


def test_factor_and_solution_have_the_same_bits_for_any_number_of_threads() -> None:
    """The first matrix has parts, the second one front and panels that all threads work on."""
    said = [
        subprocess.run(
            [sys.executable, "-c", THREADS.format(threads=threads)],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env=os.environ
            | {
                "NUMBA_NUM_THREADS": "3",
                "PLIANT_QUIET": "1",
                "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")]),
            },
        ).stdout
        for threads in (1, 2, 3)
    ]
    assert said[0] == said[1] == said[2]


def test_the_second_matrix_is_large_enough_to_be_shared() -> None:
    a = Cholesky(matrices.random_spd(600, 1.0, 3), "natural").analysis
    assert a.blocks == 1
    assert a.n**3 > fronts.LARGE
    assert (a.panels[:, 1] * (a.panels[:, 3] - a.panels[:, 2])).max() >= substitution.LARGE
    assert a.stored * 4 >= cholesky.ALONE


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
@pytest.mark.parametrize(("tiles", "columns"), [(1, 1), (1, 3), (2, 3), (1, 48), (2, 96), (3, 50), (1, 2000)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_groups_hold_all_columns(dtype: type, tiles: int, columns: int, threads: int) -> None:
    width, group, groups = cholesky.grouping(tiles, columns, 10_000, dtype, threads)
    assert group % width == 0
    assert groups == tiles * -(-columns // group)
    assert group < columns + width
    busiest = -(-groups // threads) * group  # columns that one thread solves
    assert busiest >= tiles * columns / threads
    assert busiest * threads <= 2 * (tiles * columns + threads * width)


def test_in_place_and_out_of_place_agree() -> None:
    factor = Cholesky(matrices.cloth(12))
    b = np.random.default_rng(6).standard_normal((2, factor.n, 3, 16))
    x = factor.solve_lanes(b)
    assert not np.array_equal(x, b)
    assert factor.solve_lanes(b, out=b) is b
    assert np.array_equal(x, b)


def test_refactor_takes_new_numbers_and_nothing_else() -> None:
    first, second = matrices.cloth(15), matrices.cloth(15, h=1 / 300)
    factor = Cholesky(first)
    b = np.random.default_rng(7).standard_normal(factor.n)
    before, before_single = factor.solve(b), factor.solve(b, np.float32)
    factor.refactor(second)
    assert np.array_equal(factor.solve(b), Cholesky(second).solve(b))
    assert not np.array_equal(factor.solve(b, np.float32), before_single)
    factor.refactor(first)
    assert np.array_equal(factor.solve(b), before)
    with pytest.raises(SolverError, match="other places"):
        factor.refactor(matrices.grid_laplacian(15, 15))


def test_renumbering_the_unknowns_changes_the_answer_by_rounding_only() -> None:
    matrix = matrices.cloth(20)
    p = np.random.default_rng(8).permutation(matrix.shape[0])
    b = np.random.default_rng(9).standard_normal(matrix.shape[0])
    x, y = Cholesky(matrix).solve(b), Cholesky(matrix[p][:, p]).solve(b[p])
    assert np.abs(x[p] - y).max() < 1e-12 * np.abs(x).max()


def test_an_indefinite_matrix_is_refused_by_column() -> None:
    matrix = matrices.cloth(16).tolil()
    matrix[77, 77] = -1.0
    with pytest.raises(SolverError, match="not positive definite, found at column 77 "):
        Cholesky(matrix, np.r_[77, np.delete(np.arange(256), 77)])
    with pytest.raises(SolverError, match="not positive definite, found at column"):
        Cholesky(matrix)


def test_a_singular_matrix_is_refused_and_leaves_no_factor_behind() -> None:
    held = Cholesky(matrices.cloth(16))
    zeros = matrices.cloth(16)
    zeros.data[(zeros.indices == 40) | (np.repeat(np.arange(256), np.diff(zeros.indptr)) == 40)] = 0.0
    with pytest.raises(SolverError, match="column 40 "):
        held.refactor(zeros)
    with pytest.raises(SolverError, match="refactor first"):
        held.solve(np.ones(256))
    held.refactor(matrices.cloth(16))
    held.solve(np.ones(256))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m.__setitem__((3, 4), np.nan), r"\(3, 4\) is nan"),
        (lambda m: m.__setitem__((4, 3), np.inf), r"\(4, 3\) is inf"),
        (lambda m: m.__setitem__((3, 4), 7.0), "differ by"),
        (lambda m: m.__setitem__((0, 24), 1.0), "no mirror image"),
    ],
)
def test_bad_numbers_are_named(change: object, words: str) -> None:
    matrix = matrices.cloth(5).tolil()
    change(matrix)  # type: ignore[operator]
    with pytest.raises(SolverError, match=words):
        Cholesky(matrix)


def test_bad_shapes_are_refused() -> None:
    with pytest.raises(SolverError, match="square"):
        Cholesky(sp.csc_matrix((3, 4)))
    factor = Cholesky(matrices.cloth(5))
    with pytest.raises(SolverError, match=r"\(25,\) or \(25, k\)"):
        factor.solve(np.ones(24))
    with pytest.raises(SolverError, match="tiles, 25, axis, lanes"):
        factor.solve_lanes(np.ones((1, 24, 3, 16)))
    with pytest.raises(SolverError, match="float32 or float64"):
        factor.solve_lanes(np.ones((1, 25, 3, 16), np.int64))
    with pytest.raises(SolverError, match="contiguous"):
        factor.solve_lanes(np.ones((1, 25, 16, 3)).swapaxes(2, 3))
    with pytest.raises(SolverError, match="each of the 25 unknowns once"):
        Cholesky(matrices.cloth(5), np.zeros(25, int))
    with pytest.raises(SolverError, match="minimum degree"):
        Cholesky(matrices.cloth(5), "fastest")


def test_no_columns_no_work() -> None:
    factor = Cholesky(matrices.cloth(5))
    assert factor.solve(np.ones((25, 0))).shape == (25, 0)
    assert factor.solve_lanes(np.ones((0, 25, 3, 16))).shape == (0, 25, 3, 16)


def test_repr_reports_what_a_factor_costs() -> None:
    factor = Cholesky(matrices.cloth(20))
    text = repr(factor)
    for word in ("n=400", f"entries={factor.analysis.entries:,}", "supernodes", "Mflop", "MiB", "order: "):
        assert word in text
    before = factor.nbytes
    factor.solve(np.ones(400), np.float32)
    assert factor.nbytes == before + factor.values.nbytes // 2


PLAIN = """
import hashlib
import numpy as np
import spd_matrices as matrices
from pliant.linear.cholesky import Cholesky
factor = Cholesky(matrices.cloth(7), "minimum degree")
b = np.random.default_rng(5).standard_normal((1, factor.n, 3, 16))
x = np.concatenate([factor.solve_lanes(b).ravel(), factor.solve(b[0, :, :, 3]).ravel()])
print(hashlib.sha256(factor.values.tobytes() + x.tobytes()).hexdigest())
"""


def test_plain_python_gives_the_same_bits() -> None:
    said = [
        subprocess.run(
            [sys.executable, "-c", PLAIN],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env=os.environ
            | {"PLIANT_QUIET": "1", "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
            | plain,
        ).stdout
        for plain in ({}, {"NUMBA_DISABLE_JIT": "1"})
    ]
    assert said[0] == said[1]
