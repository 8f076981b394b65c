"""Projective dynamics: convergence, single precision, many worlds, large sheets, and what solves its matrix.

The sheet is that of the benchmark: 1 m x 1 m, held at two corners, E t = 1 kN/m, 0.2 kg/m^2, 1/60 s.
Convergence is that of local and global steps in turn, with and without history, in one step of a sheet that
begins to fall; E* is what the same search reaches when it is not cut short. Times are of this machine; beside
them stands what others report of theirs, for cloths of about that size and without contact.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from ..geometry import shapes
from ..linear.cholesky import Cholesky
from ..linear.pcg_columns import Jacobi, pcg_columns
from ..materials import Fabric
from ..scene import Scene
from ..simulation import Simulation
from ..solvers.pd.matrix import constant_matrix
from ..solvers.pd.solver import PD
from .experiment import Experiment, Line, Plot, Table, Verdict

Array = np.ndarray

THICKNESS = 5e-4
MATERIAL = Fabric(
    "sheet",
    areal_density=0.2,
    thickness=THICKNESS,
    youngs_modulus=1e3 / THICKNESS,
    poisson_ratio=0.3,
    bending_rigidity=1e-5,
)
DT = 1 / 60

HISTORIES = (0, 1, 2, 5)
ITERATIONS = (1, 2, 4, 8, 16, 32, 64)
BEFORE = 6
"""Frames after which the step is made that convergence is measured in: all is still in motion."""
EXACT = PD(iterations=4000, history=10, tolerance=1e-11)

REPORTED = {
    "FLASH, RTX 5090": {1: 175, 64: 1270, 256: 1383},
    "its reproduction (plateau)": {256: 2384},
    "Isaac FEM (plateau)": {256: 5354},
    "mujoco_warp (plateau)": {256: 3626},
}
"""World-steps per second by worlds, as their authors report them; FLASH: 5.7, 50.4, 185 ms for 1, 64, 256."""


def sheet(n: int, solver: PD, dtype: str = "float64", worlds: int = 1) -> Simulation:
    """The sheet with n x n vertices."""
    scene = Scene()
    scene.add_cloth(shapes.grid(n, n), MATERIAL, pins=[0, n - 1], name="sheet")
    return Simulation(scene, solver, DT, worlds, dtype)


def begun(n: int) -> tuple[Array, Array]:
    """Positions and velocities (1, N, 3) after some frames, nearly exact."""
    sim = sheet(n, PD(iterations=100))
    for _ in range(BEFORE):
        sim.step()
    return sim.state.x, sim.state.v


def potential(n: int, solver: PD, x: Array, v: Array) -> float:
    """E at the end of one step from there [J]."""
    sim = sheet(n, solver)
    sim.state.set_x(x)
    sim.state.set_v(v)
    info = sim.step(report="full")
    assert info.incremental_potential is not None
    return float(info.incremental_potential[0])


def convergence(out: Experiment, n: int) -> None:
    """Gap by iterations, for each length of history."""
    x, v = begun(n)
    lowest = potential(n, EXACT, x, v)
    lines, gaps = [], {}
    for history in HISTORIES:
        found = [potential(n, PD(iterations=k, history=history), x, v) for k in ITERATIONS]
        gaps[history] = np.array(found) - lowest
        name = f"history {history}" if history else "plain"
        lines.append(Line(name, ITERATIONS, np.maximum(gaps[history], 1e-18)))
    title = "one step: E - E* by iterations"
    out.plots.append(Plot(title, "iterations", "E - E* [J]", lines, "xy"))
    head = ("history", *(f"{k} iterations [J]" for k in ITERATIONS))
    out.tables.append(Table(title, head, [(h, *g) for h, g in gaps.items()]))
    rises = max(float(np.diff(g).max()) for g in gaps.values())
    below = max(0.0, -min(float(g.min()) for g in gaps.values()))
    whole = float(gaps[0][0])
    out.verdicts += [
        Verdict("rise of E from fewer to more iterations, over the first gap", max(rises, 0.0) / whole, 1e-9,
                0, "E never rises (the line search)", at_most=True),
        Verdict("any answer below E*, over the first gap", below / whole, 1e-6, 0,
                f"E* by {EXACT.iterations} iterations", at_most=True),
        Verdict("gap of history 5 over that of plain, after 32 iterations", float(gaps[5][5] / gaps[0][5]),
                0.5, 0, "what history is for", at_most=True),
    ]  # fmt: skip


def precision(out: Experiment, n: int, frames: int) -> None:
    """Distance of a run in float32 from the same in float64."""
    runs = [sheet(n, PD(), dtype, 2) for dtype in ("float64", "float32")]  # kernels of many worlds, as below
    apart = []
    for _ in range(frames):
        for sim in runs:
            sim.step()
        apart.append(float(np.sqrt(np.mean((runs[1].x - runs[0].x) ** 2))))
    t = (np.arange(frames) + 1) * DT
    out.plots.append(
        Plot("float32 against float64", "time [s]", "RMS distance [m]", [Line("distance", t, apart)], "y")
    )
    early = round(0.2 / DT) - 1
    out.verdicts.append(
        Verdict("float32 off float64 after 0.2 s, RMS [m]", apart[early], 1e-5, 0,
                "float64; a hundred roundings of a metre", at_most=True)
    )  # fmt: skip


def rate(sim: Simulation, steps: int) -> float:
    """Median seconds of a step, after two."""
    sim.step()
    sim.step()
    seconds = []
    for _ in range(steps):
        clock = time.perf_counter()
        sim.step()
        seconds.append(time.perf_counter() - clock)
    return float(np.median(seconds))


def worlds(out: Experiment, counts: tuple[int, ...]) -> None:
    """World-steps per second of the 33 x 33 sheet, in single precision."""
    rows: list[tuple] = []
    lines: dict[int, list[float]] = {3: [], 8: []}
    for count in counts:
        found = []
        for iterations in lines:
            found.append(count / rate(sheet(33, PD(iterations=iterations), "float32", count), 10))
            lines[iterations].append(found[-1])
        rows.append((count, *found, *(r.get(count, "-") for r in REPORTED.values())))
    head = ("worlds", *(f"PD {k} [world-steps/s]" for k in lines), *REPORTED)
    out.tables.append(Table("many worlds, 33 x 33 vertices, float32", head, rows))
    curves = [Line(f"PD {k}", counts, v) for k, v in lines.items()]
    out.plots.append(Plot("many worlds", "worlds", "world-steps/s", curves, "xy"))


def sizes(out: Experiment, edges: tuple[int, ...]) -> None:
    """Time and memory of one world, by the size of its sheet."""
    rows, seconds, memory = [], [], []
    for n in edges:
        clock = time.perf_counter()
        sim = sheet(n, PD())
        sim.step()
        ready = time.perf_counter() - clock
        step = rate(sim, 3 if n > 300 else 10)
        factor = sim.workspace.factor(sim.dt)
        seconds.append(step)
        memory.append((factor.nbytes + sim.workspace.nbytes) / 2**20)
        rows.append((f"{n} x {n}", 3 * n * n, ready, 1e3 * step, factor.nbytes / 2**20, memory[-1]))
    head = ("vertices", "unknowns", "first step [s]", "step [ms]", "factor [MiB]", "with vectors [MiB]")
    out.tables.append(Table("one world, 8 iterations, float64", head, rows))
    unknowns = [3 * n * n for n in edges]
    out.plots.append(Plot("size", "unknowns", "step [s]", [Line("8 iterations", unknowns, seconds)], "xy"))
    out.plots.append(Plot("memory", "unknowns", "MiB", [Line("factor and vectors", unknowns, memory)], "xy"))


STIFFER = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 1e1)
"""Factors on the stiffness of the sheet."""
ENOUGH, MOST = 1e-8, 20_000
"""Share of the right-hand side that conjugate gradients leave; most iterations."""


def direct_or_iterative(out: Experiment, n: int) -> None:
    """A solve with A by substitution, and by conjugate gradients from nothing, as the sheet gets stiffer."""
    model = sheet(n, PD()).model
    size = model.n_particles
    b = np.random.default_rng(3).normal(size=(size, 3))
    rows, counts = [], []
    for factor in STIFFER:
        soft = {law: replace(k, compliance=k.compliance / factor) for law, k in model.blocks.items()}
        a, _ = constant_matrix(replace(model, blocks=soft), size, model.mass / DT**2, DT)
        clock = time.perf_counter()
        cholesky = Cholesky(a)
        made = time.perf_counter() - clock
        clock = time.perf_counter()
        x = cholesky.solve(b)
        solved = time.perf_counter() - clock
        clock = time.perf_counter()
        found = pcg_columns(a, b, Jacobi(a), tolerance=ENOUGH, most=MOST)
        spent = time.perf_counter() - clock
        counts.append(int(found.iterations.max()))
        left = float(np.linalg.norm(b - a @ x) / np.linalg.norm(b))
        rows.append((factor, 1e3 * made, 1e3 * solved, left, counts[-1], 1e3 * spent))
    head = ("stiffness, times", "factor [ms]", "solve [ms]", "residual", "PCG iterations", "PCG [ms]")
    out.tables.append(Table(f"direct against PCG (Jacobi, to {ENOUGH:g}), {n} x {n}", head, rows))
    out.plots.append(
        Plot("conjugate gradients", "stiffness, times", "iterations", [Line("PCG", STIFFER, counts)], "xy")
    )
    out.verdicts += [
        Verdict("PCG's iterations from softest to stiffest, ratio", counts[-1] / counts[0], 10, 0,
                "root of the condition number, which inertia bounds while it counts", at_least=True),
        Verdict("PCG's iterations over the last tenfold, ratio", counts[-1] / counts[-2], 1.1, 0,
                "inertia no longer counts: the condition number is the mesh's", at_most=True),
        Verdict("residual of substitution, largest", max(r[3] for r in rows), 1e-10, 0,
                "backward stable: eps times the condition number at most", at_most=True),
    ]  # fmt: skip


def run(quick: bool = False) -> Experiment:
    """All five; quick: small ones."""
    out = Experiment(
        "projective",
        "Projective dynamics",
        "A sheet held at two corners. What is changed: iterations and history of one step, the precision, "
        "the number of worlds, the size. Recorded: what is left of the incremental potential, how far "
        "single precision drifts, time and memory.",
        {"dt": "1/60 s", "solver": repr(PD()), "sheet": repr(MATERIAL)},
    )
    convergence(out, 9 if quick else 33)
    precision(out, 9 if quick else 33, 30 if quick else 120)
    worlds(out, (16,) if quick else (1, 16, 64, 256, 1024))
    direct_or_iterative(out, 17 if quick else 101)
    sizes(out, (17, 33) if quick else (33, 101, 257, 577, 1001))
    return out
