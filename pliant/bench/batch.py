"""Many worlds of one hanging cloth: world-steps per second, quality and memory.

A square of 1 m with 33 x 33 vertices starts flat and is held at two corners; 0.2 kg/m^2, E t = 1 kN/m,
nu = 0.3, B = 10 uN m, frames of 1/60 s, XPBD with 20 substeps in single precision, nothing to collide
with. Every batch runs for 2 s in a process of its own. Rates are medians of blocks of steps after a
warm-up; a world-step is one frame of one world. The share of the cores that a run got tells whether other
programs slowed it down.

    pliant bench batch [--worlds 64 256 1024] [--json] [--record FOLDER]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..backend.threads import get_threads, set_threads
from ..geometry import measures, shapes, topology
from ..materials import Fabric
from ..scene import Scene
from ..simulation import Simulation
from ..solvers.xpbd.solver import XPBD
from .machine import MIB, array_bytes, machine, resident

Array = np.ndarray

MATERIAL = Fabric(
    "benchmark sheet",
    areal_density=0.2,
    thickness=5e-4,
    youngs_modulus=1e3 / 5e-4,
    poisson_ratio=0.3,
    bending_rigidity=1e-5,
)
MEMBRANES = {"triangles": "ARAP triangles, isometric bending", "edges": "calibrated edges, isometric bending"}
BARS = {"triangles": 2500, "edges": 4000}
"""World-steps per second that each membrane is held to on two cores."""

DT = 1 / 60
BLOCK = 10
"""Steps per timed block; the first block is the warm-up."""


def hanging_cloth(membrane: str, worlds: int, n: int = 33, substeps: int = 20) -> Simulation:
    """The workload: a batch of flat sheets held at two corners of one side."""
    scene = Scene()
    scene.add_cloth(shapes.grid(n, n), MATERIAL, pins=[0, n - 1], membrane=membrane, name="sheet")
    return Simulation(scene, XPBD(substeps=substeps), dt=DT, worlds=worlds, dtype="float32")


def edge_strains(sim: Simulation) -> tuple[Array, Array]:
    """Mean and largest |edge length / rest length - 1| of each world, (W,)."""
    part = sim.model.parts[0]
    edges = topology.edges(part.triangles)
    rest = measures.edge_lengths(sim.model.x_rest, edges)
    strain = np.abs(np.stack([measures.edge_lengths(x, edges) for x in sim.x.astype(float)]) / rest - 1)
    return strain.mean(axis=1), strain.max(axis=1)


def measure(
    membrane: str, worlds: int, n: int = 33, substeps: int = 20, seconds: float = 2.0
) -> dict[str, Any]:
    """Run one batch in this process; rates, strain at the end and memory as plain data."""
    small = hanging_cloth(membrane, min(worlds, 2 * 16), n, substeps)
    small.step()  # kernels and threads are there before anything is measured
    before = resident()
    sim = hanging_cloth(membrane, worlds, n, substeps)
    steps = max(2 * BLOCK, round(seconds / DT))
    took, used = [], []
    for _ in range(steps):
        start, busy = time.perf_counter(), time.process_time()
        info = sim.step()
        took.append(time.perf_counter() - start)
        used.append(time.process_time() - busy)
    blocks = np.array(took[BLOCK : len(took) // BLOCK * BLOCK]).reshape(-1, BLOCK).sum(axis=1)
    rates = worlds * BLOCK / blocks
    mean, largest = edge_strains(sim)
    x = sim.x
    return {
        "membrane": membrane,
        "worlds": worlds,
        "rate": float(np.median(rates)),
        "rate range": [float(rates.min()), float(rates.max())],
        "blocks": len(rates),
        "share of cores": sum(used[BLOCK:]) / (sum(took[BLOCK:]) * get_threads()),
        "strain mean": float(mean.max()),
        "strain max": float(largest.max()),
        "seconds simulated": sim.time,
        "worlds equal": bool((x == x[:1]).all()),
        "ok": info.ok(),
        "arrays MiB": array_bytes(sim.state, sim.control, sim.workspace) / MIB,
        "process MiB": resident() - before,
    }


def in_own_process(membrane: str, worlds: int, threads: int | None) -> dict[str, Any]:
    """:func:`measure` in a fresh interpreter."""
    call = [sys.executable, "-m", "pliant.bench.batch", "--one", membrane, "--worlds", str(worlds)]
    call += [] if threads is None else ["--threads", str(threads)]
    done = subprocess.run(call, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def line_fit(worlds: Sequence[int], values: Sequence[float]) -> dict[str, float] | None:
    """``a + b W`` by least squares and the largest distance from it; None for fewer than two batch sizes."""
    if len(set(worlds)) < 2:
        return None
    slope, start = np.polyfit(worlds, values, 1)
    off = np.abs(np.asarray(values) - (start + slope * np.asarray(worlds))).max()
    return {"a MiB": float(start), "b KiB": float(slope * 1024), "off MiB": float(off)}


def verdict(membrane: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The membrane's bars: rate of the smallest batch, and whether larger ones keep nine tenths of it."""
    rates = [run["rate"] for run in sorted(runs, key=lambda run: run["worlds"])]
    return {
        "bar": BARS[membrane],
        "fast enough": rates[0] >= BARS[membrane],
        "does not fall": min(rates) >= 0.9 * rates[0],
    }


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Verdicts and memory laws by membrane."""
    out: dict[str, Any] = {}
    for membrane in MEMBRANES:
        mine = [run for run in runs if run["membrane"] == membrane]
        if mine:
            sizes = [run["worlds"] for run in mine]
            out[membrane] = verdict(membrane, mine) | {
                "memory of arrays": line_fit(sizes, [run["arrays MiB"] for run in mine]),
                "memory of process": line_fit(sizes, [run["process MiB"] for run in mine]),
            }
    return out


def table(record: dict[str, Any]) -> str:
    """The record for people."""
    m = record["machine"]
    lines = [
        f"{m['processor']}, {m['threads']} threads, {m['vectors']}; load {m['load']}; Numba {m['numba']}, "
        f"Pliant {m['commit'] or m['pliant']}",
        "33 x 33 vertices, float32, XPBD 20 x 1, 1/60 s; medians of blocks of 10 steps (smallest to largest)",
    ]
    for membrane, verdict_ in record["summary"].items():
        lines.append(f"\n{MEMBRANES[membrane]}")
        for run in (run for run in record["runs"] if run["membrane"] == membrane):
            low, high = run["rate range"]
            lines.append(
                f"  {run['worlds']:5d} worlds  {run['rate']:7.0f} world-steps/s ({low:.0f} to {high:.0f}) "
                f"on {run['share of cores']:.0%} of the cores   "
                f"|edge strain| mean {run['strain mean']:.2%}, max {run['strain max']:.2%}   "
                f"arrays {run['arrays MiB']:.1f} MiB, process {run['process MiB']:.1f} MiB"
            )
        for what in ("arrays", "process"):
            fit = verdict_[f"memory of {what}"]
            if fit is not None:
                lines.append(
                    f"  {what}: {fit['a MiB']:.1f} MiB + {fit['b KiB']:.0f} KiB per world "
                    f"(off by at most {fit['off MiB']:.1f} MiB)"
                )
        fast = "reached" if verdict_["fast enough"] else "MISSED"
        level = "does not fall" if verdict_["does not fall"] else "FALLS"
        lines.append(f"  bar of {verdict_['bar']} world-steps/s: {fast}; the rate {level} with the batch")
    return "\n".join(lines)


def parser() -> argparse.ArgumentParser:
    """Arguments of the command."""
    p = argparse.ArgumentParser(prog="pliant bench batch", description=__doc__.split("\n\n")[0])
    p.add_argument("--worlds", type=int, nargs="+", default=[64, 256, 1024], help="batch sizes")
    p.add_argument("--membrane", choices=list(MEMBRANES), nargs="+", default=list(MEMBRANES))
    p.add_argument("--threads", type=int, help="threads to use (default: all)")
    p.add_argument("--json", action="store_true", help="print the record as JSON")
    p.add_argument("--record", type=Path, metavar="FOLDER", help="also keep the record in this folder")
    p.add_argument("--one", choices=list(MEMBRANES), help=argparse.SUPPRESS)
    return p


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; 0 if every bar was reached, 1 if one was missed."""
    arguments = parser().parse_args(argv)
    if arguments.threads is not None:
        set_threads(arguments.threads)
    if arguments.one:
        print(json.dumps(measure(arguments.one, arguments.worlds[0])))
        return 0
    record: dict[str, Any] = {"workload": "batch", "machine": machine(), "runs": []}
    for membrane in arguments.membrane:
        for worlds in arguments.worlds:
            print(f"{membrane}, {worlds} worlds ...", file=sys.stderr, flush=True)
            record["runs"].append(in_own_process(membrane, worlds, arguments.threads))
    record["summary"] = summary(record["runs"])
    print(json.dumps(record, indent=1) if arguments.json else table(record))
    if arguments.record:
        stamp = record["machine"]["date"].replace(" UTC", "").replace(" ", "-").replace(":", "")
        arguments.record.mkdir(parents=True, exist_ok=True)
        path = arguments.record / f"batch-{stamp}.json"
        path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        print(f"kept in {path}", file=sys.stderr)
    return 0 if all(v["fast enough"] and v["does not fall"] for v in record["summary"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
