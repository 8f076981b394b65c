"""Experiment: waves and swings of strips and sheets under XPBD, against the wave equation and the
pendulum."""

from __future__ import annotations

import numpy as np
from scipy.special import ellipk, j0, j1, jn_zeros

from ..geometry import shapes
from ..materials import Fabric
from ..scene import Scene
from ..simulation import Simulation
from ..solvers.base import Solver
from ..solvers.xpbd.solver import XPBD
from .experiment import Experiment, Line, Plot, Table, Verdict
from .textile import G

Array = np.ndarray

STIFFNESS, DENSITY = 1000.0, 0.2
"""E t [N/m] and rho_A [kg/m^2] of every sheet; along it, sound has sqrt(E t/rho_A) = 70.7 m/s."""

SHEET = Fabric(
    "sheet", areal_density=DENSITY, thickness=5e-4, youngs_modulus=STIFFNESS / 5e-4, poisson_ratio=0.0,
    bending_rigidity=0.0,
)  # fmt: skip


def crossings(height: Array) -> Array:
    """Times, in steps, at which a record passes zero."""
    k = np.flatnonzero(height[:-1] * height[1:] < 0)
    return k + height[k] / (height[k] - height[k + 1])


def period(height: Array) -> float:
    """Of a record, in steps, from all its zero crossings."""
    t = crossings(height)
    return float(2 * (t[-1] - t[0]) / (len(t) - 1))


def pendulum(degrees: float, solver: Solver, steps: int = 400) -> tuple[float, float]:
    """D06: period of a mass on a rod over 2 pi sqrt(L/g), and how much amplitude is lost in a period (share).

    The rod is a stiff square that swings about its upper edge; both lower corners move on one circle.
    """
    length = 1.0
    mesh = shapes.grid(2, 2, size=(length, length))
    x = mesh.vertices
    top = np.flatnonzero(x[:, 1] > 0)
    scene = Scene(gravity=(0, 0, -G))
    a = np.radians(degrees)
    down = 0.5 * length - x[:, 1]
    scene.add_cloth(mesh, SHEET.with_(youngs_modulus=1e6 / 5e-4), pins=top, bending="none")
    exact = float(ellipk(np.sin(a / 2) ** 2)) * 2 / np.pi
    dt = 2 * np.pi * np.sqrt(length / G) * exact / steps
    sim = Simulation(scene, solver, dt=dt)
    start = np.stack([x[:, 0], down * np.sin(a), -down * np.cos(a)], axis=1)
    sim.state.set_x(start)
    sim.control.set_pins(top, start[None, top])
    low = np.setdiff1d(np.arange(4), top)
    angle = [a]
    for _ in range(int(1.3 * steps)):
        sim.step()
        p = sim.x[0, low].mean(axis=0)
        angle.append(float(np.arctan2(p[1], -p[2])))
    record = np.array(angle)
    return period(record) * exact / steps, 1 - float(record[steps // 2 :].max()) / a


def plucked(kind: str, solver: Solver, elements: int, strain: float = 0.01, periods: float = 1.6) -> float:
    """Frequency over the closed form: ``"string"`` (D07), ``"drum"`` (D10), ``"bar"`` (D09).

    String and drum are stretched by ``strain`` and plucked in their first mode; the bar, a strip with one end
    held, is pulled along itself in its first mode. 200 steps a period.
    """
    length = 0.4
    cell = length / elements
    n = elements + 1 if kind == "drum" else 2
    mesh = shapes.grid(elements + 1, n, size=(length, length if kind == "drum" else cell))
    x = mesh.vertices
    u = (x[:, 0] - x[:, 0].min()) / length
    stretch = 0.0 if kind == "bar" else strain
    ends = u < 1e-9 if kind == "bar" else (u < 1e-9) | (u > 1 - 1e-9)
    if kind == "drum":
        w = (x[:, 1] - x[:, 1].min()) / length
        ends |= (w < 1e-9) | (w > 1 - 1e-9)
    scene = Scene(gravity=(0, 0, 0))
    scene.add_cloth(mesh, SHEET, pins=np.flatnonzero(ends), bending="none")
    tension = STIFFNESS * stretch
    size = length * (1 + stretch)
    if kind == "string":  # across, it is as wide as it was
        frequency = np.sqrt(tension / (DENSITY / (1 + stretch))) / (2 * size)
        shape, along = np.sin(np.pi * u), 2
    elif kind == "drum":
        # of a piece of the stretched sheet: E t strain on an edge that has grown
        frequency = np.sqrt(tension / (1 + stretch) / (DENSITY / (1 + stretch) ** 2)) / (np.sqrt(2) * size)
        shape, along = np.sin(np.pi * u) * np.sin(np.pi * w), 2
    else:
        frequency = np.sqrt(STIFFNESS / DENSITY) / (4 * length)
        shape, along = np.sin(0.5 * np.pi * u), 0
    start = x.copy()
    start[:, 0] *= 1 + stretch
    if kind == "drum":
        start[:, 1] *= 1 + stretch
    start[:, along] += 1e-3 * length * shape
    dt = 1 / (200 * frequency)
    sim = Simulation(scene, solver, dt=dt)
    sim.state.set_x(start)
    pins = sim.model.pin_ids
    sim.control.set_pins(pins, start[None, pins])
    rest = start[:, along] - 1e-3 * length * shape
    weight = sim.model.mass * shape
    record = [1.0]
    for _ in range(round(200 * periods)):
        sim.step()
        record.append(float(weight @ (sim.x[0, :, along] - rest)))
    return 200 / period(np.array(record[1:]))


BUMP = 0.2
"""Of the strip's length, from its free end: where the bump of :func:`climb` lies at first."""


def bernoulli(s: Array, t: Array, terms: int = 80) -> Array:
    """A bump ``(1 - s/BUMP)^2`` let go at the free end of a limp strip that hangs: (T, S), s and t over L and
    sqrt(L/g). Bernoulli's series of J0(j sqrt(s)) cos(j t/2), j the zeros of J0; its front is at (t/2)^2."""
    zeros = jn_zeros(0, terms)
    r = np.linspace(0, np.sqrt(BUMP), 4001)
    first = (1 - r**2 / BUMP) ** 2 * r
    share = 2 * np.trapezoid(first * j0(np.outer(zeros, r)), r, axis=1) / j1(zeros) ** 2
    return (share * np.cos(0.5 * np.outer(t, zeros))) @ j0(np.outer(zeros, np.sqrt(s)))


def climb(solver: Solver, elements: int = 60, length: float = 1.0) -> tuple[Array, Array, Array, Array]:
    """D08: a bump runs up a strip hung by its upper end. Times (T,) and heights (S,), over sqrt(L/g) and L;
    motion across (T, S), simulated and by :func:`bernoulli`, over the bump's height."""
    cell = length / elements
    mesh = shapes.grid(elements + 1, 2, size=(length, cell))
    s = mesh.vertices[:, 0] - mesh.vertices[:, 0].min()
    scene = Scene(gravity=(0, 0, -G))
    top = np.flatnonzero(s > length - 0.5 * cell)
    scene.add_cloth(mesh, SHEET, rotation=(0, -np.pi / 2, 0), pins=top, bending="none")
    steps, high = 400, 1e-3 * length
    sim = Simulation(scene, solver, dt=2 * np.sqrt(length / G) / steps)
    start = sim.x[0].copy()
    start[:, 2] -= DENSITY * G / STIFFNESS * 0.5 * (length**2 - s**2)  # as it hangs
    rest = start[:, 0].copy()
    start[:, 0] += high * np.where(s < BUMP * length, (1 - s / (BUMP * length)) ** 2, 0.0)
    sim.state.set_x(start)
    side = mesh.vertices[:, 1] > 0
    seen = [(start[:, 0] - rest)[side]]
    for _ in range(steps):
        sim.step()
        seen.append((sim.x[0, :, 0] - rest)[side])
    t, heights = 2 * np.arange(steps + 1) / steps, s[side] / length
    return t, heights, np.array(seen) / high, bernoulli(heights, t)


def run(quick: bool = False) -> Experiment:
    """Pendulum, string, drum, bar, and the bump that climbs."""
    swing, ring = (20, 40) if quick else (40, 160), (10, 20) if quick else (10, 20, 40)
    climb = 20 if quick else 60
    out = Experiment(
        "waves",
        "Waves and swings",
        "A mass on a rod swings far; a string, a square drum and a bar ring in their first modes; a bump "
        "climbs a strip that hangs. Changed: the substeps. Frequencies come from mass and tension alone.",
        {"sheet": f"E t = {STIFFNESS:g} N/m, {DENSITY} kg/m², no bending", "solver": "XPBD, coloured",
         "substeps": f"{swing} of 1/400 period (pendulum), {ring} of 1/200 (ringing), "
         f"{climb} of sqrt(L/g)/200 (bump)",
         "stretch of string and drum": "1 %", "dtype": "float64"},
    )  # fmt: skip
    _pendulum(out, (30.0, 90.0) if quick else (10.0, 30.0, 60.0, 90.0), swing)
    _ringing(out, ring)
    _climbing(out, 60 if quick else 120, climb)
    return out


def _pendulum(out: Experiment, angles: tuple[float, ...], substeps: tuple[int, int]) -> None:
    rows = []
    for degrees in angles:
        exact = float(ellipk(np.sin(np.radians(degrees) / 2) ** 2)) * 2 / np.pi
        (_, before), (found, lost) = (pendulum(degrees, XPBD(n)) for n in substeps)
        rows.append((degrees, found, exact, lost, before))
        source = "complete elliptic integral (D06)"
        what = f"pendulum from {degrees:g} deg"
        out.verdicts += [
            Verdict(f"{what}: period over that of small swings", found, exact, 0.005, source),
            Verdict(f"{what}: amplitude lost in a period, {substeps[0]} over {substeps[1]} substeps",
                    before / lost, substeps[1] / substeps[0], 0.1, "backward Euler damps as h"),
        ]  # fmt: skip
    heads = ("from [deg]", "period over 2 pi sqrt(L/g)", "exact", "amplitude lost in a period (share)",
             f"with {substeps[0]} substeps")  # fmt: skip
    out.tables.append(Table("Pendulum", heads, rows))


def _ringing(out: Experiment, substeps: tuple[int, ...]) -> None:
    rows, lines = [], []
    for kind, elements, formula in (
        ("string", 40, "sqrt(N/rho_A)/(2 L) (D07)"),
        ("drum", 16, "sqrt(N/rho_A)/(sqrt(2) a) (D10)"),
        ("bar", 40, "sqrt(E t/rho_A)/(4 L), nu = 0 (D09)"),
    ):
        found = [plucked(kind, XPBD(n), elements) for n in substeps]
        rows += [(kind, n, value) for n, value in zip(substeps, found, strict=True)]
        lines.append(Line(kind, substeps, [abs(1 - value) for value in found]))
        what = f"{kind}: frequency over the closed form, {substeps[-1]} substeps"
        out.verdicts.append(Verdict(what, found[-1], 1.0, 0.03, formula))
    out.tables.append(
        Table("First modes", ("what", "substeps of 1/200 period", "frequency over theory's"), rows)
    )
    label = "substeps of 1/200 of the period"
    out.plots.append(Plot("First modes", label, "frequency off theory's (share)", lines, "xy"))


def _climbing(out: Experiment, elements: int, substeps: int) -> None:
    t, heights, seen, exact = climb(XPBD(substeps), elements)
    lines = []
    for height in (0.3, 0.6, 0.9):
        k = int(np.argmin(np.abs(heights - height)))
        lines += [
            Line(f"at {height:g} L", t, seen[:, k]),
            Line(f"{height:g} L, series", t, exact[:, k], True),
        ]
    label, motion = "time [sqrt(L/g)]", "motion across [heights of the bump]"
    out.plots.append(Plot("A bump climbs a hanging strip", label, motion, lines))
    arrival = [float(t[int(np.argmax(np.abs(record[:, k]) > 0.05))]) for record in (seen, exact)]
    out.verdicts.append(
        Verdict("bump on a hanging strip: when it is at 0.9 L [sqrt(L/g)]", arrival[0], arrival[1], 0.03,
                "Bernoulli's series; its front climbs in 2 sqrt(s/g) (D08)")
    )  # fmt: skip
    above = heights > BUMP
    off = float(np.sqrt(np.mean((seen - exact)[:, above] ** 2)) / np.sqrt(np.mean(exact[:, above] ** 2)))
    out.verdicts.append(
        Verdict("bump on a hanging strip: motion off the series above the bump, RMS, share", off, 0.06, 0,
                "Bernoulli's series (D08)", at_most=True)
    )  # fmt: skip
