"""How far a solver is from the minimiser of its own step, by sweeps and by milliseconds.

Every solver starts a step from the same saved state; ``pl.Newton`` gives the answer x* of that step, at the
same h and with the same contacts. Measured of each setting: the distance to x*, weighted by mass, over the
mean edge, and the gap of the incremental potential, ``(E - E*)/(E0 - E*)``: 0 is the minimiser, 1 no better
than where the search begins: the prediction x~, or, where x~ lies inside a collider, the positions before
the step. That is the error of the solver; the error of the time step, against h -> 0, is that of
:mod:`pliant.lab.refinement`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..errors import SolverError
from ..solvers.base import Solver
from ..solvers.mgpbd.solver import MGPBD
from ..solvers.newton.solver import Newton
from ..solvers.pd.solver import PD
from ..solvers.xpbd.solver import XPBD
from .experiment import Experiment, Line, Plot, Table, Verdict
from .refinement import limits, refine
from .scenes import COMMAND, SCENES, Saved, Start, load

Array = np.ndarray

SWEEPS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
"""Sweeps of one substep."""


LONG = 0.5
"""A step that takes longer [s] is timed once, others three times."""

QUICK = (0, 3, 5, 6)
"""Scenes of a quick run."""


@dataclass(frozen=True)
class Ladder:
    """A solver by the number of its sweeps, in one substep: the same h for all. ``most``: sweeps worth
    trying."""

    name: str
    make: Callable[[int], Solver]
    most: int = 512


SOLVERS: tuple[Ladder, ...] = (
    Ladder("XPBD, coloured", lambda n: XPBD(1, n)),
    Ladder("XPBD, file order", lambda n: XPBD(1, n, "sequential")),
    Ladder("XPBD, Jacobi", lambda n: XPBD(1, n, "jacobi")),
    Ladder("PD", lambda n: PD(1, n)),
    Ladder("PD, no history", lambda n: PD(1, n, history=0)),
    Ladder("MGPBD", lambda n: MGPBD(max_iterations=n, polish=0), 16),
    Ladder("Newton, cut short", lambda n: Newton(max_iterations=n), 32),
)
"""Who is compared: a line for each."""


@dataclass(frozen=True)
class Mark:
    """One setting of a solver on one scene.

    sweeps over all constraints (of Newton: iterations); milliseconds of the step, the least of three;
    distance to x*, mass-weighted, in mean edges; gap of the incremental potential.
    """

    scene: str
    solver: str
    sweeps: int
    milliseconds: float
    distance: float
    gap: float


@dataclass(frozen=True)
class Reference:
    """A scene's step as Newton makes it today: its mark, and a ruler for others.

    shift: how far today's answer is from the saved one, in edges.
    """

    mark: Mark
    shift: float
    distance: Callable[[Array], float]
    gap: Callable[[Array], float]


def reference(start: Start, saved: Saved) -> Reference:
    """Newton's answer, and the ruler. Raises ArithmeticError where it did not converge or has nothing to
    do."""
    sim = start.begin(Newton(), saved.x, saved.v)
    clock = time.perf_counter()
    info = sim.step()
    spent = 1e3 * (time.perf_counter() - clock)
    objective, best = sim.workspace.objective, sim.x[0].copy()
    mass, edge = sim.model.mass, sim.model.length

    def at(x: Array) -> object:
        return objective.value((x - objective.base)[objective.free].ravel(), False, False)

    def distance(x: Array) -> float:
        return float(np.sqrt(np.sum(mass * np.sum((x - best) ** 2, axis=1)) / mass.sum())) / edge

    lowest = at(best)
    first = at(saved.x) if sim.scene.colliders else objective.value(-objective.lag, False, False)
    whole = objective.difference(first, lowest)
    if not info.ok() or not whole > 0:
        raise ArithmeticError(f"{start.name}: the reference did not converge, or has nothing to do")
    mark = Mark(start.name, "Newton", info.iterations, spent, 0.0, 0.0)
    return Reference(
        mark, distance(saved.best), distance, lambda x: objective.difference(at(x), lowest) / whole
    )


def measure(
    start: Start, sweeps: Sequence[int] = SWEEPS, solvers: Sequence[Ladder] = SOLVERS
) -> tuple[list[Mark], Reference, list[str]]:
    """All settings on one scene, the reference's own first; the ruler; solvers that refuse the scene,
    and why."""
    saved = load(start)
    ruler = reference(start, saved)
    marks, refused = [ruler.mark], []
    for ladder in solvers:
        for n in (s for s in sweeps if s <= ladder.most):
            seconds = []
            try:
                for _ in range(3):
                    sim = start.begin(ladder.make(n), saved.x, saved.v)
                    clock = time.perf_counter()
                    sim.step()
                    seconds.append(time.perf_counter() - clock)
                    if seconds[-1] > LONG:
                        break
            except SolverError as error:
                refused.append(f"{ladder.name}: {error}")
                break
            x = sim.x[0]
            marks.append(
                Mark(start.name, ladder.name, n, 1e3 * min(seconds), ruler.distance(x), ruler.gap(x))
            )
    return marks, ruler, refused


def front(marks: Sequence[Mark], value: str) -> list[Mark]:
    """The marks that no other beats in both milliseconds and ``value`` (Pareto), by milliseconds."""
    out: list[Mark] = []
    for mark in sorted(marks, key=lambda m: (m.milliseconds, getattr(m, value))):
        if not out or getattr(mark, value) < getattr(out[-1], value):
            out.append(mark)
    return out


def run(quick: bool = False) -> Experiment:
    """The yardstick on all scenes; quick: on four, with up to 64 sweeps and fewer substeps."""
    scenes, sweeps = (SCENES, SWEEPS) if not quick else ([SCENES[k] for k in QUICK], SWEEPS[:7:2])
    out = Experiment(
        "yardstick",
        "The yardstick",
        "One step from the same saved state, by Newton to rounding and by others at the same h. Changed: "
        "the solver and its sweeps. Recorded: the distance to Newton's answer, weighted by mass, in mean "
        "edges, and the gap (E - E*)/(E0 - E*) of the incremental potential. Then the substeps: the error of "
        "the time step, the solver's own, and both together, against the limit h -> 0.",
        {
            "dt": "1/60 s",
            "substeps": "1; in the second part as the tables say",
            "sweeps": list(sweeps),
            "dtype": "float64",
            "reference": repr(Newton()),
            "saved states": COMMAND,
        },
    )
    for start in scenes:
        marks, ruler, refused = measure(start, sweeps)
        _show(out, start.name, marks, refused)
        out.verdicts += verdicts(start.name, marks, ruler, load(start).about["xpbd_edges"])
        refine(out, start, load(start), quick)
    limits(out, SCENES[0], load(SCENES[0]), 1024, 0.00501, 1)
    limits(out, SCENES[5], load(SCENES[5]), 8192, 0.00196, 1 if quick else 16)
    return out


def _show(out: Experiment, scene: str, marks: Sequence[Mark], refused: Sequence[str]) -> None:
    """Table and plots of one scene."""
    heads = ("solver", "sweeps", "step [ms]", "distance [edges]", "gap")
    rows: list[tuple[object, ...]] = [(m.solver, m.sweeps, m.milliseconds, m.distance, m.gap) for m in marks]
    rows += [(why, "", "", "", "") for why in refused]
    out.tables.append(Table(scene, heads, rows))
    names = [ladder.name for ladder in SOLVERS if any(m.solver == ladder.name for m in marks)]
    best = {value: front(marks, value) for value in ("distance", "gap")}
    for value, axis, label in (
        ("distance", "sweeps", "sweeps"),
        ("distance", "milliseconds", "time of the step [ms]"),
        ("gap", "milliseconds", "time of the step [ms]"),
    ):
        lines = [_line(name, [m for m in marks if m.solver == name], axis, value) for name in names]
        if axis == "milliseconds":
            lines.append(_line("nobody better (Pareto)", best[value], axis, value, True))
        title = f"{scene}: {value} by {axis}"
        unit = "distance to the minimiser [edges]" if value == "distance" else "gap of the potential"
        out.plots.append(Plot(title, label, unit, lines, "xy"))


FLOOR = 1e-12
"""Smaller distances and gaps are drawn here: rounding."""


def _line(name: str, marks: Sequence[Mark], axis: str, value: str, dashed: bool = False) -> Line:
    x = [float(getattr(m, axis)) for m in marks]
    return Line(name, x, [max(getattr(m, value), FLOOR) for m in marks], dashed)


def verdicts(scene: str, marks: Sequence[Mark], ruler: Reference, record: dict[str, float]) -> list[Verdict]:
    """The reference is what it was, nothing lies below it, sweeps help, and as much as they did."""
    below = max(0.0, -min(m.gap for m in marks))
    out = [
        Verdict(f"{scene}: Newton's answer off the saved one [edges]", ruler.shift, 1e-7, 0,
                f"saved by {COMMAND}", at_most=True),
        Verdict(f"{scene}: any answer below the reference, gap", below, 1e-9, 0,
                "E* is the minimum of the step's potential", at_most=True),
    ]  # fmt: skip
    for ladder in SOLVERS:
        mine = [m for m in marks if m.solver == ladder.name]
        if len(mine) < 2 or ladder.name.startswith("Newton"):
            continue
        off = [max(m.distance, NEGLIGIBLE) for m in mine]
        rises = max(b / a for a, b in pairwise(off))
        out.append(
            Verdict(f"{scene}, {ladder.name}: distance after more sweeps, over that before, largest",
                    rises, RISE, 0, "more sweeps of the same problem", at_most=True)
        )  # fmt: skip
    for m in marks:
        if m.solver == SOLVERS[0].name and str(m.sweeps) in record:
            out.append(
                Verdict(f"{scene}, {m.solver}: distance after {m.sweeps} sweeps [edges]", m.distance,
                        record[str(m.sweeps)], 0.02, f"saved by {COMMAND}")
            )  # fmt: skip
    return out


NEGLIGIBLE = 1e-6
"""Distances below this [edges] count as this one: who has arrived may stir."""

RISE = 1.1
"""More sweeps may leave this much more: XPBD passes the minimiser on its way to a limit beside it."""
