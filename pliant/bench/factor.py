"""Sparse Cholesky beside SuperLU, CHOLMOD (cholespy) and QDLDL: factor, 3 and 192 right-hand sides.

The matrix is that of projective dynamics on a square sheet, ``M + h^2 sum w G'G``: 1 m, 0.2 kg/m^2, springs
of 1 kN/m along the edges of its triangles, h = 1/60 s; with ``--bending`` the square of its Laplacian is
added, which is what isometric bending does to the pattern. Three right-hand sides are one world, 192 are 64
worlds. All contestants take turns in one process, so that a second program slows all of them; given are
medians, least times and the processor time of all threads. Who is not installed is listed as that:
``pip install "pliant[bench]"``.

    pliant bench factor [--sizes 33 101] [--bending] [--json] [--record FOLDER]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..backend.threads import set_threads
from ..linear.cholesky import Cholesky
from .machine import MIB, machine, peak_memory

Array = np.ndarray
Calls = dict[str, Callable[[], object]]

JOBS = ("construct", "refactor", "3", "192")
WORLDS, LANES = 64, 32
BAR = {"size": 101, "milliseconds": 10.0, "times cholespy": 5.0}
"""What 192 right-hand sides are held to, on two cores that nobody else uses."""


def sheet(n: int, bending: bool = False, h: float = 1 / 60) -> sp.csc_matrix:
    """The matrix (n n, n n) of a sheet with n vertices a side."""
    ids = np.arange(n * n).reshape(n, n)
    pairs = ((ids[:-1], ids[1:]), (ids[:, :-1], ids[:, 1:]), (ids[:-1, :-1], ids[1:, 1:]))
    i, j = (np.concatenate([pair[k].ravel() for pair in pairs]) for k in (0, 1))
    edge, ones = np.arange(len(i)), np.ones(len(i))
    g = sp.coo_matrix((np.r_[ones, -ones], (np.r_[edge, edge], np.r_[i, j])), shape=(len(i), n * n))
    laplacian = (g.T @ g).tocsc()
    matrix = 0.2 / n**2 * sp.eye(n * n) + h * h * 1e3 * laplacian
    if bending:
        matrix = matrix + h * h * 1e-5 * n**2 * (laplacian.T @ laplacian)
    matrix = sp.csc_matrix(matrix)
    matrix.sort_indices()
    return matrix


def in_lanes(b: Array) -> Array:
    """Right-hand sides (n, 192) as 64 worlds in lanes (tiles, n, 3, 32)."""
    return np.ascontiguousarray(b.reshape(len(b), WORLDS // LANES, LANES, 3).transpose(1, 0, 3, 2))


def ours(matrix: sp.csc_matrix, b: Array) -> tuple[Calls, Cholesky]:
    """Calls of Pliant's, and the factor that they use."""
    factor = Cholesky(matrix)
    double, three = in_lanes(b), np.ascontiguousarray(b[:, :3])
    single = double.astype(np.float32)
    out, out_single = np.empty_like(double), np.empty_like(single)
    calls: Calls = {
        "Pliant construct": lambda: Cholesky(matrix),
        "Pliant refactor": lambda: factor.refactor(matrix),
        "Pliant 3": lambda: factor.solve(three),
        "Pliant float32 3": lambda: factor.solve(three, np.float32),
        "Pliant 192": lambda: factor.solve_lanes(double, out),
        "Pliant float32 192": lambda: factor.solve_lanes(single, out_single),
    }
    return calls, factor


def superlu(matrix: sp.csc_matrix, b: Array) -> Calls:
    """SciPy's, with the options for symmetric matrices."""
    from scipy.sparse.linalg import splu

    def construct() -> Any:
        options = {"SymmetricMode": True, "Equil": False}
        return splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)

    lu, three = construct(), np.ascontiguousarray(b[:, :3])
    return {
        "SuperLU construct": construct,
        "SuperLU 3": lambda: lu.solve(three),
        "SuperLU 192": lambda: lu.solve(b),
    }


def cholespy(matrix: sp.csc_matrix, b: Array) -> Calls:
    """CHOLMOD as cholespy brings it; it takes at most 128 columns at once."""
    from cholespy import CholeskySolverD, MatrixType

    coo, n = matrix.tocoo(), matrix.shape[0]
    rows, columns = coo.row.astype(np.int64), coo.col.astype(np.int64)

    def construct() -> Any:
        return CholeskySolverD(n, rows, columns, coo.data, MatrixType.COO)

    solver = construct()
    pieces = [np.ascontiguousarray(b[:, k : k + 96]) for k in range(0, b.shape[1], 96)]
    outs = [np.empty_like(piece) for piece in pieces]
    three = np.ascontiguousarray(b[:, :3])
    x = np.empty_like(three)
    return {
        "cholespy construct": construct,
        "cholespy 3": lambda: solver.solve(three, x),
        "cholespy 192": lambda: [solver.solve(p, out) for p, out in zip(pieces, outs, strict=True)],
    }


def qdldl(matrix: sp.csc_matrix, b: Array) -> Calls:
    """QDLDL; it takes one column at a time."""
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


PEERS: dict[str, Callable[[sp.csc_matrix, Array], Calls]] = {
    "SuperLU": superlu,
    "cholespy": cholespy,
    "qdldl": qdldl,
}


def absent(only: Sequence[str] = tuple(PEERS)) -> list[str]:
    """Peers that are not installed."""
    return [name for name in only if name != "SuperLU" and importlib.util.find_spec(name) is None]


def measure(
    n: int, bending: bool = False, rounds: int = 0, only: Sequence[str] = tuple(PEERS)
) -> dict[str, Any]:
    """Turns of all contestants on one size; plain data, times in ms."""
    matrix = sheet(n, bending)
    b = np.random.default_rng(0).standard_normal((n * n, 3 * WORLDS))
    calls, factor = ours(matrix, b)
    for name in only:
        if name not in absent(only):
            calls |= PEERS[name](matrix, b)
    times: dict[str, list[float]] = {name: [] for name in calls}
    busy: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds or (15 if n <= 101 else 5 if n <= 301 else 3)):
        for name, call in calls.items():
            begin, processor = time.perf_counter(), time.process_time()
            call()
            times[name].append(1e3 * (time.perf_counter() - begin))
            busy[name].append(1e3 * (time.process_time() - processor))
    x = factor.solve(b[:, :3])
    a = factor.analysis
    run: dict[str, Any] = {
        "n": n,
        "unknowns": a.n,
        "bending": bending,
        "entries": a.entries,
        "stored": a.stored,
        "factor Mflop": a.flops / 1e6,
        "factor MiB": factor.nbytes / MIB,
        "peak MiB of all": peak_memory(),
        "residual": float(np.abs(matrix @ x - b[:, :3]).max() / np.abs(b[:, :3]).max()),
        "order": a.ordering.name,
        "absent": absent(only),
        "calls": {
            name: {
                "median": float(np.median(t)),
                "least": min(t),
                "processor": float(np.median(busy[name])),
                "gflops": flops(a, name) / min(t) / 1e6,
            }
            for name, t in times.items()
        },
    }
    run["ratios"] = ratios(times)
    return run


def flops(analysis: Any, name: str) -> float:
    """Operations that a call has to do, zeros of a blocked factor not counted."""
    job = name.split()[-1]
    return analysis.flops if job in ("construct", "refactor") else 4.0 * analysis.entries * int(job)


def ratios(times: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    """By job: how many times Pliant's time the others take, medians over the turns of the ratio in a turn."""
    found: dict[str, dict[str, float]] = {}
    for job in JOBS:
        for kind in ("Pliant", "Pliant float32"):
            if f"{kind} {job}" in times:
                mine = np.array(times[f"{kind} {job}"])
                rest = {p: np.array(times[f"{p} {job}"]) for p in PEERS if f"{p} {job}" in times}
                found[f"{kind} {job}"] = {p: float(np.median(t / mine)) for p, t in rest.items()}
    return found


def reached(run: dict[str, Any]) -> dict[str, bool] | None:
    """Whether 192 right-hand sides are as fast as they shall be, by precision; None where nothing is held."""
    if run["n"] != BAR["size"] or run["bending"] or "cholespy" not in run["ratios"].get("Pliant 192", {}):
        return None
    return {
        kind: run["calls"][f"{kind} 192"]["median"] <= BAR["milliseconds"]
        and run["ratios"][f"{kind} 192"]["cholespy"] >= BAR["times cholespy"]
        for kind in ("Pliant", "Pliant float32")
    }


def table(record: dict[str, Any]) -> str:
    """The record for a person."""
    m = record["machine"]
    lines = [f"{m['processor']}, {m['threads']} threads, load {m['load']}, {m['date']}"]
    for run in record["runs"]:
        what = "springs and bending" if run["bending"] else "springs"
        lines.append(
            f"\n{run['n']} x {run['n']}, {what}: {run['entries']:,} entries ({run['stored']:,} stored, "
            f"{run['order']}), {run['factor Mflop']:,.0f} Mflop, {run['factor MiB']:,.1f} MiB; "
            f"residual {run['residual']:.1e}"
        )
        for name, c in run["calls"].items():
            lines.append(
                f"  {name:<20} {c['median']:10.2f} ms, least {c['least']:10.2f}, "
                f"processor {c['processor']:10.2f}   {c['gflops']:6.1f} GFLOP/s at best"
            )
        for name, rest in run["ratios"].items():
            if rest:
                lines.append(f"  times {name}: " + ", ".join(f"{p} {r:.1f}" for p, r in rest.items()))
        lines += [f"  {name}: not installed" for name in run["absent"]]
        for kind, yes in (reached(run) or {}).items():
            words = "reached" if yes else "MISSED"
            bar = f"{BAR['milliseconds']:.0f} ms, {BAR['times cholespy']:.0f} x cholespy"
            lines.append(f"  bar of {bar}, {kind}: {words}")
    return "\n".join(lines)


def parser() -> argparse.ArgumentParser:
    """Arguments of the command."""
    p = argparse.ArgumentParser(prog="pliant bench factor", description=__doc__.split("\n\n")[0])
    p.add_argument("--sizes", type=int, nargs="+", default=[33, 101, 301], help="vertices along a side")
    p.add_argument("--bending", action="store_true", help="a matrix with bending: three times the entries")
    p.add_argument("--rounds", type=int, default=0, help="turns; by default 15, fewer for large sheets")
    p.add_argument("--only", nargs="+", choices=list(PEERS), default=list(PEERS), help="peers")
    p.add_argument("--threads", type=int, help="threads to use (default: all)")
    p.add_argument("--json", action="store_true", help="print the record as JSON")
    p.add_argument("--record", type=Path, metavar="FOLDER", help="also keep the record in this folder")
    return p


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 if the bar was missed in single precision, that of many worlds, else 0."""
    arguments = parser().parse_args(argv)
    if arguments.threads is not None:
        set_threads(arguments.threads)
    record: dict[str, Any] = {"workload": "factor", "machine": machine(), "runs": []}
    for n in arguments.sizes:
        print(f"{n} x {n} ...", file=sys.stderr, flush=True)
        record["runs"].append(measure(n, arguments.bending, arguments.rounds, arguments.only))
    print(json.dumps(record, indent=1) if arguments.json else table(record))
    if arguments.record:
        stamp = record["machine"]["date"].replace(" UTC", "").replace(" ", "-").replace(":", "")
        arguments.record.mkdir(parents=True, exist_ok=True)
        path = arguments.record / f"factor-{stamp}.json"
        path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        print(f"kept in {path}", file=sys.stderr)
    return 1 if any((reached(run) or {}).get("Pliant float32") is False for run in record["runs"]) else 0
