"""The benchmark of factors measures what it says."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import spd_matrices as matrices

from pliant.bench import factor
from pliant.linear.cholesky import Cholesky


def test_the_matrix_is_the_one_that_is_described() -> None:
    assert abs(factor.sheet(7) - matrices.cloth(7)).max() < 1e-15
    bent = factor.sheet(9, bending=True)
    assert np.diff(bent.indptr).max() == 19, "a vertex, its six neighbours and theirs"
    assert np.linalg.eigvalsh(bent.toarray()).min() == pytest.approx(0.2 / 81)  # a translation has mass alone


def test_all_answer_alike() -> None:
    matrix = factor.sheet(6)
    b = np.random.default_rng(1).standard_normal((36, 192))
    expected = np.linalg.solve(matrix.toarray(), b)
    x = Cholesky(matrix).solve_lanes(factor.in_lanes(b))
    assert np.abs(x - factor.in_lanes(expected)).max() < 1e-11 * np.abs(expected).max()
    assert (
        np.abs(factor.superlu(matrix, b)["SuperLU 192"]() - expected).max() < 1e-11 * np.abs(expected).max()
    )


def test_one_run_and_its_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = factor.main(["--sizes", "6", "--rounds", "2", "--only", "SuperLU", "--record", str(tmp_path)])
    assert code == 0
    said = capsys.readouterr().out
    (kept,) = tmp_path.glob("factor-*.json")
    (run,) = json.loads(kept.read_text())["runs"]
    entries = Cholesky(factor.sheet(6)).analysis.entries
    assert f"{entries:,} entries" in said
    assert run["entries"] == entries
    assert run["residual"] < 1e-12
    call = run["calls"]["Pliant 192"]
    assert 0 < call["least"] <= call["median"]
    assert call["gflops"] == pytest.approx(4 * entries * 192 / call["least"] / 1e6)
    assert set(run["ratios"]["Pliant 3"]) == {"SuperLU"}


def test_the_bar_is_one_of_time_and_ratio() -> None:
    def run(milliseconds: float, times: float, n: int = 101) -> dict:
        kinds = ("Pliant 192", "Pliant float32 192")
        return {
            "n": n,
            "bending": False,
            "calls": {kind: {"median": milliseconds} for kind in kinds},
            "ratios": {kind: {"cholespy": times} for kind in kinds},
        }

    assert factor.reached(run(9.0, 5.5)) == {"Pliant": True, "Pliant float32": True}
    assert factor.reached(run(11.0, 5.5)) == {"Pliant": False, "Pliant float32": False}
    assert factor.reached(run(9.0, 4.5)) == {"Pliant": False, "Pliant float32": False}
    assert factor.reached(run(9.0, 5.5, n=33)) is None


def test_ratios_are_taken_turn_by_turn() -> None:
    times = {"Pliant 3": [1.0, 10.0, 1.0], "SuperLU 3": [2.0, 20.0, 4.0]}
    assert factor.ratios(times)["Pliant 3"] == {"SuperLU": 2.0}


def test_who_is_not_installed_is_named() -> None:
    assert factor.absent(["SuperLU"]) == []
    assert factor.absent(["no_such_package"]) == ["no_such_package"]
