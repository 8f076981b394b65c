"""Linear solves of a solid's step: multigrid and Cholesky of ours beside PyAMG, SuperLU, cholespy and qdldl.

    python benchmarks/multigrid.py                     # 2,500, 10,240 and 34,560 tetrahedra; some minutes
    python benchmarks/multigrid.py --cells 5           # less
    python benchmarks/multigrid.py --json out.json     # keep it

One matrix for all: the Hessian of a bar, twisted by half a turn, as MGPBD meets it in its first iteration, in
steps of 10 ms. Contestants take turns in one process, so that ratios hold on a busy machine; least and median
times [ms]. *set-up* is what a new pattern costs, *solve* what new numbers in the same places cost: to a
residual of 1e-6 for the iterative ones, which take the gradient for a right-hand side.
Contestants that are not installed are left out: ``pip install pyamg cholespy qdldl``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pliant.geometry import shapes
from pliant.lab.stiff import twisted
from pliant.linear.aggregation import rigid_modes
from pliant.linear.cholesky import Cholesky
from pliant.linear.multigrid import Hierarchy, blocked
from pliant.linear.pcg import pcg
from pliant.materials import SolidMaterial
from pliant.scene import Scene
from pliant.solvers.mgpbd.potential import Potential

Array = np.ndarray
Jobs = dict[str, Callable[[], Any]]
RESIDUAL = 1e-6


def system(cells: int, modulus: float) -> tuple[Any, Array, Array, int]:
    """Matrix (CSC), right-hand side, particles' places, and how many tetrahedra."""
    scene = Scene(gravity=(0, 0, 0))
    mesh = shapes.bar((0.4, 0.1, 0.1), (4 * cells, cells, cells))
    scene.add_solid(mesh, SolidMaterial("m", 1000.0, modulus, 0.3))
    model = scene.build(1, "float64")
    potential, x = Potential(model), twisted(model.x_rest)
    held = (np.zeros((0, 3)), np.zeros((0, 3)))
    potential.begin(model.x_rest, 0.01, dict.fromkeys(model.blocks, 1.0), held, np.zeros(0), 0)
    potential.place(x, np.zeros_like(x))
    value = potential.expand(np.zeros(potential.n))
    return potential.pattern.matrix(potential.matrix(value)), -value.gradient, x, len(mesh.tets)


def ours(matrix: Any, b: Array, x: Array) -> Jobs:
    """Cholesky with kept places; multigrid, refreshed and solved, for each smoother."""
    factor = Cholesky(matrix)
    jobs: Jobs = {
        "pliant Cholesky set-up": lambda: Cholesky(matrix),
        "pliant Cholesky solve": lambda: (factor.refactor(matrix), factor.solve(b)),
    }
    for smoother in ("chebyshev", "jacobi", "gauss_seidel"):
        levels = Hierarchy(matrix, rigid_modes(x), smoother=smoother)

        def solve(levels: Hierarchy = levels) -> int:
            a = blocked(matrix, 3)
            levels.refresh(a)
            return pcg(a, b, levels.cycle, RESIDUAL).iterations

        jobs[f"pliant multigrid {smoother} solve"] = solve
    jobs["pliant multigrid set-up"] = lambda: Hierarchy(matrix, rigid_modes(x))
    return jobs


def superlu(matrix: Any, b: Array, x: Array) -> Jobs:
    """SciPy's, in its symmetric mode."""
    from scipy.sparse.linalg import splu

    options = {"SymmetricMode": True, "Equil": False}

    def solve() -> Array:
        return splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options).solve(b)

    return {"SuperLU solve": solve}


def cholespy(matrix: Any, b: Array, x: Array) -> Jobs:
    """CHOLMOD; it has no refactorisation."""
    from cholespy import CholeskySolverD, MatrixType

    coo, out = matrix.tocoo(), np.empty_like(b)
    rows, columns = coo.row.astype(np.int64), coo.col.astype(np.int64)

    def solve() -> None:
        CholeskySolverD(len(b), rows, columns, coo.data, MatrixType.COO).solve(b, out)

    return {"cholespy solve": solve}


def qdldl(matrix: Any, b: Array, x: Array) -> Jobs:
    """LDL^T with kept analysis."""
    import qdldl as package

    solver = package.Solver(matrix)
    return {"qdldl solve": lambda: (solver.update(matrix), solver.solve(b))}


def pyamg(matrix: Any, b: Array, x: Array) -> Jobs:
    """Smoothed aggregation with rigid modes and conjugate gradients; set up anew for new numbers."""
    import pyamg as package
    import scipy.sparse

    modes = rigid_modes(x).reshape(-1, 6)
    bsr = scipy.sparse.bsr_matrix(matrix, blocksize=(3, 3))

    def solve() -> int:
        levels = package.smoothed_aggregation_solver(bsr, B=modes, max_coarse=400)
        residuals: list[float] = []
        levels.solve(b, tol=RESIDUAL, accel="cg", residuals=residuals)
        return len(residuals) - 1

    return {"PyAMG solve": solve}


CONTESTANTS = (ours, superlu, cholespy, qdldl, pyamg)


def compare(cells: int, modulus: float, rounds: int) -> dict[str, Any]:
    """All contestants in turn, some rounds."""
    matrix, b, x, tets = system(cells, modulus)
    jobs: Jobs = {}
    for contestant in CONTESTANTS:
        if contestant is ours or importlib.util.find_spec(
            contestant.__name__ if contestant is not superlu else "scipy"
        ):
            jobs |= contestant(matrix, b, x)
    times: dict[str, list[float]] = {name: [] for name in jobs}
    iterations: dict[str, int] = {}
    for _ in range(rounds):
        for name, job in jobs.items():
            clock = time.perf_counter()
            result = job()
            times[name].append(1e3 * (time.perf_counter() - clock))
            if isinstance(result, int):
                iterations[name] = result
    rows = {name: {"least": min(t), "median": float(np.median(t))} for name, t in times.items()}
    for name, count in iterations.items():
        rows[name]["iterations"] = count
    return {"tets": tets, "unknowns": len(b), "modulus": modulus, "rounds": rounds, "times": rows}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cells", type=int, nargs="+", default=[5, 8, 12], help="across the bar")
    parser.add_argument("--modulus", type=float, default=1e7, help="Young's modulus [Pa]")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    found = []
    for cells in args.cells:
        found.append(compare(cells, args.modulus, args.rounds))
        sys.stdout.write(f"\n{found[-1]['tets']:,} tetrahedra, {found[-1]['unknowns']:,} unknowns\n")
        for name, row in found[-1]["times"].items():
            count = f"{row['iterations']} iterations" if "iterations" in row else ""
            sys.stdout.write(f"  {name:36}{row['least']:10.1f}{row['median']:10.1f}  {count}\n")
        sys.stdout.flush()
    if args.json:
        args.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
