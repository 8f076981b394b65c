"""The error of the time step apart from the solver's own, against the limit h -> 0.

A step of 1/60 s is divided into n substeps. Newton's answer is off the limit by the error of backward Euler
alone, of first order in h. XPBD with one sweep in each substep is off Newton's answer, at the same n, by an
error of its own, of second order once the substep resolves the mesh; so its distance to the limit falls as
h² first, where its own error leads, and as h in the end. The limit is XPBD's with the most substeps,
extrapolated (both solvers tend to it).
"""

from __future__ import annotations

import numpy as np

from ..solvers.base import Solver
from ..solvers.newton.solver import Newton
from ..solvers.xpbd.solver import XPBD
from .experiment import Experiment, Line, Plot, Table, Verdict
from .scenes import Saved, Start

Array = np.ndarray


def order(coarse: float, fine: float) -> float:
    """Of an error that is ``coarse`` at h and ``fine`` at h/2."""
    return float(np.log2(coarse / fine))


class Way:
    """Ends (N, 3) of one scene's step under solvers, and how far they are apart."""

    def __init__(self, start: Start, saved: Saved) -> None:
        self.start, self.saved = start, saved
        model = start.make(Newton()).model
        self.mass, self.edge = model.mass, model.length

    def end(self, solver: Solver) -> Array:
        """Positions after the step."""
        sim = self.start.begin(solver, self.saved.x, self.saved.v)
        sim.step()
        return sim.x[0].copy()

    def apart(self, a: Array, b: Array) -> float:
        """Distance weighted by mass, in mean edges."""
        return float(np.sqrt(np.sum(self.mass * np.sum((a - b) ** 2, axis=1)) / self.mass.sum())) / self.edge


def refine(out: Experiment, start: Start, saved: Saved, quick: bool) -> None:
    """Substeps doubled, under Newton and XPBD; a table, a plot and what orders are asked."""
    way = Way(start, saved)
    most = 512 if quick else 4096
    exact = 16 if quick else 64
    ends = {n: way.end(XPBD(n)) for n in (2**k for k in range(int(np.log2(4 * most)) + 1))}
    limit = 2 * ends[4 * most] - ends[2 * most]
    newton = {n: way.end(Newton(n)) for n in (2**k for k in range(int(np.log2(exact)) + 1))}
    both = {n: way.apart(x, limit) for n, x in ends.items() if n <= most}
    step = {n: way.apart(x, limit) for n, x in newton.items()}
    own = {n: way.apart(ends[n], x) for n, x in newton.items()}
    heads = ("substeps", "XPBD off the limit [edges]", "order", "Newton off it: time step [edges]", "order",
             "XPBD off Newton: its own [edges]", "order")  # fmt: skip
    rows = []
    for n in both:
        cells: list[object] = [n]
        for errors in (both, step, own):
            cells.append(errors.get(n, ""))
            cells.append(order(errors[n // 2], errors[n]) if n in errors and n // 2 in errors else "")
        rows.append(tuple(cells))
    out.tables.append(Table(f"{start.name}: substeps", heads, rows))
    lines = [Line("XPBD off the limit", list(both), list(both.values())),
             Line("Newton off the limit (time step)", list(step), list(step.values())),
             Line("XPBD off Newton (its own)", list(own), list(own.values()))]  # fmt: skip
    first = [next(iter(step.values())) / n for n in both]
    lines.append(Line("first order", list(both), first, True))
    label = "substeps of 1/60 s"
    out.plots.append(Plot(f"{start.name}: time step and solver", label, "distance [edges]", lines, "xy"))
    found = order(step[exact // 2], step[exact])
    room = (0.5 if quick else 0.3) if start.jolt else 0.15  # a jump is resolved by many substeps only
    out.verdicts.append(
        Verdict(f"{start.name}, Newton: order of the time step's error at {exact} substeps", found, 1.0,
                room, "backward Euler: h", absolute=True)
    )  # fmt: skip
    found = order(both[most // 2], both[most])
    resolved = 0 < start.resolved <= most
    should, room = (1.0, 0.1) if resolved else (1.5, 0.9)
    source = "backward Euler: h" if resolved else "between h, of the time step, and h², its own error"
    what = f"{start.name}, XPBD: order of the distance to h -> 0 at {most} substeps"
    out.verdicts.append(Verdict(what, found, should, room, source, absolute=True))


def limits(out: Experiment, start: Start, saved: Saved, sweeps: int, record: float, most: int) -> None:
    """Where XPBD ends with ever more iterations at the same h: at a limit of its own, not at the minimiser.

    sweeps are enough to get there; record: how far it is from the minimiser at h = 1/60 s, in edges, on
    record; most: largest number of substeps.
    """
    way = Way(start, saved)
    rows, off, change = [], {}, {}
    for n in (2**k for k in range(int(np.log2(most)) + 1)):
        best, half, end = way.end(Newton(n)), way.end(XPBD(n, sweeps // 2)), way.end(XPBD(n, sweeps))
        off[n], change[n] = way.apart(end, best), way.apart(end, half)
        rows.append((n, sweeps, off[n], order(off[n // 2], off[n]) if n > 1 else "", change[n]))
    what = f"{start.name}, many sweeps of XPBD"
    out.verdicts += [
        Verdict(f"{what}: moved by the last half of {sweeps}, over the distance to the minimiser",
                change[1] / off[1], 0.01, 0, "it has a limit", at_most=True),
        Verdict(f"{what}: distance of the limit from the minimiser [edges]", off[1], record, 0.05,
                "an earlier run; XPBD drops the primal residual (Macklin et al. 2016)"),
    ]  # fmt: skip
    if most > 1:
        found = order(off[most // 2], off[most])
        out.verdicts.append(
            Verdict(f"{what}: order at which the limit comes to the minimiser as h -> 0", found, 2.0, 0.3,
                    "what is dropped is of order h²", absolute=True)
        )  # fmt: skip
    heads = (
        "substeps",
        "sweeps of each",
        "off the minimiser [edges]",
        "order",
        "moved by the last half [edges]",
    )
    out.tables.append(Table(f"{start.name}: many sweeps at one h", heads, rows))
