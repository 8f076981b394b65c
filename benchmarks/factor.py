"""Sparse Cholesky beside SuperLU, cholespy (CHOLMOD inside) and qdldl: order and factor, 3 and 192 columns.

    python benchmarks/factor.py                   # 33, 101, 301 and 577 vertices a side; about two minutes
    python benchmarks/factor.py --sides 101       # less
    python benchmarks/factor.py --json out.json   # keep it

All contestants take turns in one process on one matrix, ``M + h² Σ w GᵀG`` of a square sheet with springs of
1 kN/m along the edges of its triangles, so that ratios hold on a busy machine.
Medians and least times [ms], and processor time of all threads.
Contestants that are not installed are left out: ``pip install cholespy qdldl``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from spd_matrices import cloth

from pliant.backend.threads import get_threads
from pliant.linear.cholesky import Cholesky

Array = np.ndarray
WORLDS, LANES = 64, 32


def ours(matrix: sp.csc_matrix, b: Array) -> dict[str, Callable[[], object]]:
    factor = Cholesky(matrix)
    lanes = np.ascontiguousarray(b.reshape(len(b), WORLDS // LANES, LANES, 3).transpose(1, 0, 3, 2))
    single, out = lanes.astype(np.float32), np.empty_like(lanes)
    out_single, three = np.empty_like(single), np.ascontiguousarray(b[:, :3])
    sys.stdout.write(f"{factor!r}\n")
    return {
        "pliant construct": lambda: Cholesky(matrix),
        "pliant refactor": lambda: factor.refactor(matrix),
        "pliant 3": lambda: factor.solve(three),
        "pliant 192": lambda: factor.solve_lanes(lanes, out),
        "pliant 192 float32": lambda: factor.solve_lanes(single, out_single),
    }


def superlu(matrix: sp.csc_matrix, b: Array) -> dict[str, Callable[[], object]]:
    from scipy.sparse.linalg import splu

    def construct() -> object:
        options = {"SymmetricMode": True, "Equil": False}
        return splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)

    lu, three = construct(), np.ascontiguousarray(b[:, :3])
    return {
        "SuperLU construct": construct,
        "SuperLU 3": lambda: lu.solve(three),  # type: ignore[attr-defined]
        "SuperLU 192": lambda: lu.solve(b),  # type: ignore[attr-defined]
    }


def cholespy(matrix: sp.csc_matrix, b: Array) -> dict[str, Callable[[], object]]:
    from cholespy import CholeskySolverD, MatrixType

    coo, n = matrix.tocoo(), matrix.shape[0]
    rows, columns = coo.row.astype(np.int64), coo.col.astype(np.int64)

    def construct() -> object:
        return CholeskySolverD(n, rows, columns, coo.data, MatrixType.COO)

    solver = construct()
    pieces = [np.ascontiguousarray(b[:, k : k + 96]) for k in range(0, b.shape[1], 96)]
    outs = [np.empty_like(piece) for piece in pieces]
    three = np.ascontiguousarray(b[:, :3])
    x = np.empty_like(three)

    def many() -> None:
        for piece, out in zip(pieces, outs, strict=True):
            solver.solve(piece, out)  # type: ignore[attr-defined]

    return {
        "cholespy construct": construct,
        "cholespy 3": lambda: solver.solve(three, x),  # type: ignore[attr-defined]
        "cholespy 192": many,
    }


def qdldl(matrix: sp.csc_matrix, b: Array) -> dict[str, Callable[[], object]]:
    import qdldl as package

    upper = sp.triu(matrix, format="csc")
    solver = package.Solver(upper, upper=True)
    three, all_ = list(np.ascontiguousarray(b[:, :3].T)), list(np.ascontiguousarray(b.T))
    return {
        "qdldl construct": lambda: package.Solver(upper, upper=True),
        "qdldl refactor": lambda: solver.update(upper, upper=True),
        "qdldl 3": lambda: [solver.solve(column) for column in three],
        "qdldl 192": lambda: [solver.solve(column) for column in all_],
    }


def measure(side: int, rounds: int) -> dict[str, tuple[float, float, float]]:
    """Median and least time, and median processor time of all threads [ms] of each call, which take turns."""
    matrix = cloth(side)
    matrix.sort_indices()
    b = np.random.default_rng(0).standard_normal((side * side, 3 * WORLDS))
    calls = ours(matrix, b) | superlu(matrix, b)
    for name, contestant in (("cholespy", cholespy), ("qdldl", qdldl)):
        if importlib.util.find_spec(name) is not None:
            calls |= contestant(matrix, b)
    times: dict[str, list[float]] = {name: [] for name in calls}
    worked: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            begin, processor = time.perf_counter(), time.process_time()
            call()
            times[name].append(1e3 * (time.perf_counter() - begin))
            worked[name].append(1e3 * (time.process_time() - processor))
    return {name: (float(np.median(t)), min(t), float(np.median(worked[name]))) for name, t in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sides", type=int, nargs="+", default=[33, 101, 301, 577])
    parser.add_argument("--rounds", type=int, default=0, help="turns; by default 15, fewer for large sheets")
    parser.add_argument("--json", type=Path, help="keep the figures")
    options = parser.parse_args()
    kept: dict[str, object] = {"threads": get_threads()}
    for side in options.sides:
        sys.stdout.write(f"\n{side} x {side}, {get_threads()} threads\n")
        figures = measure(side, options.rounds or (15 if side <= 101 else 5 if side <= 301 else 3))
        for name, (median, least, worked) in figures.items():
            sys.stdout.write(
                f"  {name:<20} {median:10.2f} ms, least {least:10.2f}, processor {worked:10.2f}\n"
            )
        for job in ("construct", "3", "192"):
            mine = figures[f"pliant {job}"][0]
            rest = [(k.split()[0], v[0] / mine) for k, v in figures.items() if k.split()[1:] == [job]]
            words = ", ".join(f"{name} {ratio:.1f} x" for name, ratio in rest if name != "pliant")
            sys.stdout.write(f"  {job}, times Pliant's: {words}\n")
        kept[str(side)] = figures
    if options.json:
        options.json.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
