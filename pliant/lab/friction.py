"""Experiment: friction and contact. A capstan, an incline, the edge of a table, a fall on the floor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..geometry import shapes
from ..geometry.colliders import Box, Cylinder, Plane
from ..materials import Fabric
from ..scene import Scene
from ..simulation import Simulation
from ..solvers.base import Solver
from ..solvers.xpbd.solver import XPBD
from .experiment import Experiment, Line, Plot, Table, Verdict
from .textile import G

Array = np.ndarray

STRIP = Fabric(
    "strip", areal_density=0.2, thickness=2e-4, youngs_modulus=1e7, poisson_ratio=0.0, bending_rigidity=0.0
)
"""Limp; E t = 2 kN/m."""

NEAR = np.linspace(0.9, 1.1, 9)
"""Loads of a capstan, over those at which it should slip; one world for each."""

CREEP = 5e-4
"""Slower than this [m/s], a strip on a capstan rests."""


def capstan(
    mu: float, solver: Solver, factors: Array = NEAR, per_turn: int = 48, radius: float = 0.05,
    pull: float = 0.5, seconds: float = 0.6, dt: float = 1 / 240,
) -> Array:  # fmt: skip
    """F04: speed (W,) [m/s] at which a strip creeps over a cylinder that it goes half around.

    One end is pulled down by ``pull`` [N/m]; the other's load grows in half the time to ``factors`` times
    ``exp(mu pi)`` of it. The speed is that of the last eighth. No gravity: tension alone presses.
    """
    half, tail = per_turn // 2, 6
    r = radius + 0.5 * STRIP.thickness
    edge = 2 * r * np.sin(0.5 * np.pi / half)
    n = half + 2 * tail
    mesh = shapes.grid(n + 1, 2, size=(n * edge, edge))
    place = np.rint((mesh.vertices[:, 0] - mesh.vertices[:, 0].min()) / edge).astype(int)
    angle = np.clip(place - tail, 0, half) * np.pi / half
    below = np.maximum(np.maximum(tail - place, place - tail - half), 0) * edge
    start = np.stack([-r * np.cos(angle), mesh.vertices[:, 1], r * np.sin(angle) - below], axis=1)
    scene = Scene(gravity=(0, 0, 0))
    scene.add_cloth(mesh, STRIP, bending="none")
    scene.add_collider(Cylinder(radius, 0.5), rotation=(np.pi / 2, 0, 0), friction=mu)
    sim = Simulation(scene, solver, dt=dt, worlds=len(factors))
    sim.state.set_x(start)
    force = np.zeros((len(factors), len(start), 3))
    force[:, place == 0, 2] = -0.5 * pull * edge
    steps = round(seconds / dt)
    last = steps // 8
    wish = np.exp(mu * np.pi) * np.asarray(factors)[:, None]
    for k in range(steps):
        force[:, place == n, 2] = -0.5 * pull * edge * (1 + (wish - 1) * min(1.0, 2 * (k + 1) / steps))
        sim.control.set_force(force)
        sim.step()
        if k == steps - 1 - last:
            before = sim.x[:, place == n, 2].mean(axis=1)
    return (before - sim.x[:, place == n, 2].mean(axis=1)) / (last * dt)


def incline(mu: float, degrees: Sequence[float], solver: Solver, seconds: float = 0.5) -> Array:
    """F01 and F02: way (W,) [m] that a sheet at rest on a plane slides; gravity is tilted by ``degrees``."""
    scene = Scene(gravity=(0, 0, -G))
    scene.add_cloth(shapes.grid(5, 5, (0.2, 0.2)), Fabric(), position=(0, 0, 0.5 * Fabric().thickness))
    scene.add_collider(Plane(), friction=mu)
    sim = Simulation(scene, solver, dt=1 / 60, worlds=len(degrees))
    angle = np.radians(degrees)
    sim.set(gravity=G * np.stack([np.sin(angle), 0 * angle, -np.cos(angle)], axis=1))
    start = sim.x[..., 0].mean(axis=1)
    for _ in range(round(60 * seconds)):
        sim.step()
    return sim.x[..., 0].mean(axis=1) - start


def over_the_edge(
    mu: float,
    shares: Sequence[float],
    solver: Solver,
    seconds: float,
    elements: int = 60,
    radius: float = 0.03,
) -> tuple[Array, float]:
    """F05 and F06: a limp strip of 0.6 m, a share of it hanging over a table's edge that has no friction.

    The edge is a quarter of a cylinder. What pulls is the depth x that the end hangs below the table, what is
    held is the part l that lies; ``shares`` are x/(x + l). Returned: x (steps + 1, W) [m] over time, and the
    length that moves [m], l + x and what the round edge adds. Steps are 1/240 s.
    """
    length = 0.6
    edge = length / elements
    mesh = shapes.grid(elements + 1, 2, size=(length, edge))
    s = mesh.vertices[:, 0] - mesh.vertices[:, 0].min()
    r = radius + 0.5 * STRIP.thickness
    total = length - r * (0.5 * np.pi - 1)  # l + x, whatever the share
    scene = Scene(gravity=(0, 0, -G))
    scene.add_cloth(mesh, STRIP, bending="none")
    scene.add_collider(Box((1.0, 0.5, 2 * radius)), position=(-0.5, 0, -radius), friction=mu)
    scene.add_collider(
        Cylinder(radius, 0.5), position=(0, 0, -radius), rotation=(np.pi / 2, 0, 0), friction=0
    )
    sim = Simulation(scene, solver, dt=1 / 240, worlds=len(shares))
    start = np.empty((len(shares), len(s), 3))
    for w, share in enumerate(shares):
        past = s - (1 - share) * total  # of the edge's beginning, along the strip
        turn = np.clip(past / r, 0, 0.5 * np.pi)
        x = np.where(past < 0, past, r * np.sin(turn))
        z = r * np.cos(turn) - radius - np.maximum(past - 0.5 * np.pi * r, 0)
        start[w] = np.stack([x, mesh.vertices[:, 1], z], axis=1)
    sim.state.set_x(start)
    low = s > length - 0.5 * edge
    depth = [0.5 * STRIP.thickness - sim.x[:, low, 2].mean(axis=1)]
    for _ in range(round(240 * seconds)):
        sim.step()
        depth.append(0.5 * STRIP.thickness - sim.x[:, low, 2].mean(axis=1))
    return np.array(depth), length


def fall(solver: Solver, seconds: float = 1.0, dt: float = 1 / 240) -> Array:
    """D11: energy [J] of a sheet after each step as it falls, tilted, on a floor and comes to rest."""
    scene = Scene(gravity=(0, 0, -G))
    fabric = Fabric(thickness=1e-3, youngs_modulus=2e5, bending_rigidity=1e-5, friction=0.3)
    scene.add_cloth(shapes.grid(9, 9, (0.2, 0.2)), fabric, position=(0, 0, 0.25), rotation=(0.5, 0.2, 0))
    scene.add_collider(Plane())
    sim = Simulation(scene, solver, dt=dt)
    floor = float(sim.model.mass.sum()) * G * 0.5 * fabric.thickness  # of potential energy, at rest
    energy = []
    for _ in range(round(seconds / dt)):
        total = sim.step("full").energy
        assert total is not None
        energy.append(float(total[0]) - floor)
    return np.array(energy)


def run(quick: bool = False) -> Experiment:
    """Everything, at two budgets."""
    budgets = (
        [XPBD(20), XPBD(10, 8)] if quick else [XPBD(20), XPBD(80), XPBD(10, 8), XPBD(20, 1, "sequential")]
    )
    out = Experiment(
        "friction",
        "Friction and contact",
        "A strip goes half around a capstan, a sheet lies on an incline, a strip hangs over the edge of a "
        "table, a sheet falls on the floor. Slipping begins where Coulomb's law says, and below it nothing "
        "creeps: contacts that forget what they pushed, as those found anew in every iteration do, would.",
        {"dt": "1/240 s, incline 1/60 s", "solvers": ", ".join(map(repr, budgets)), "dtype": "float64",
         "capstan": "24 elements on half a turn, radius 50 mm", "table": "60 elements on 0.6 m, edge 30 mm"},
    )  # fmt: skip
    for mu in (0.3,) if quick else (0.3, 0.5):
        _capstan(out, mu, budgets)
    _incline(out, budgets)
    _edge(out, quick)
    _fall(out, budgets)
    return out


def name(solver: XPBD) -> str:
    """Budget and order, as tables show it."""
    order = "" if solver.order == "colored" else f", {solver.order}"
    return f"{solver.substeps} x {solver.iterations}{order}"


def first(slips: Array, values: Array) -> float:
    """The first of ``values`` that slips; NaN where none does, or one does again not."""
    k = int(np.argmax(slips))
    return float(values[k]) if slips.any() and slips[k:].all() else float("nan")


def _capstan(out: Experiment, mu: float, budgets: Sequence[XPBD]) -> None:
    lines, rows = [], []
    for solver in budgets:
        speed = capstan(mu, solver)
        begins = first(speed > 0.01, NEAR)
        creeps = float(np.abs(speed[NEAR < 0.96]).max())
        rows.append((name(solver), mu, begins * np.exp(mu * np.pi), np.exp(mu * np.pi), 1e3 * creeps))
        lines.append(Line(name(solver), NEAR, np.maximum(speed, 1e-6)))
        what = f"capstan, mu = {mu:g}, {name(solver)}"
        source = "T2/T1 = exp(mu pi), Euler-Eytelwein (F04)"
        out.verdicts += [
            Verdict(f"{what}: load at which it slips, over the exact one", begins, 1.0, 0.05, source),
            Verdict(f"{what}: creep at 0.95 of it and below [m/s]", creeps, CREEP, 0,
                    "Coulomb: what does not slip rests (F04)", at_most=True),
        ]  # fmt: skip
    heads = ("budget", "mu", "T2/T1 that slips", "exp(mu pi)", "creep below 0.96 of it [mm/s]")
    out.tables.append(Table(f"Capstan, mu = {mu:g}", heads, rows))
    label = "load over the one that should slip"
    out.plots.append(Plot(f"Capstan, mu = {mu:g}", label, "speed, at least 1e-6 [m/s]", lines, "y"))


def _incline(out: Experiment, budgets: Sequence[XPBD]) -> None:
    mu, seconds = 0.5, 0.5
    critical = float(np.degrees(np.arctan(mu)))
    degrees = critical + np.array([-5, -2, -1, -0.5, -0.25, 0.25, 0.5, 1, 2, 5, 10])
    rows = []
    for solver in budgets:
        way = incline(mu, degrees.tolist(), solver, seconds)
        begins = first(way > 1e-5, degrees)
        creep = float(np.abs(way[degrees < critical]).max()) / seconds
        steep = np.radians(degrees[-2:])
        n, h = round(60 * seconds) * solver.substeps, 1 / 60 / solver.substeps
        exact = G * (np.sin(steep) - mu * np.cos(steep)) * h * h * n * (n + 1) / 2
        slide = float(np.abs(way[-2:] / exact - 1).max())
        rows.append((name(solver), begins, critical, creep, slide))
        what = f"incline, mu = {mu:g}, {name(solver)}"
        out.verdicts += [
            Verdict(f"{what}: angle at which it slips [deg]", begins, critical, 0.5,
                    "tan(angle) = mu, Coulomb (F01)", absolute=True),
            Verdict(f"{what}: creep below [m/s]", creep, 1e-4, 0, "less than 1 mm in 10 s (F01)",
                    at_most=True),
            Verdict(f"{what}: way above, off", slide, 0.02, 0, "g (sin - mu cos) h² n (n + 1)/2 (F02)",
                    at_most=True),
        ]  # fmt: skip
    heads = ("budget", "slips at [deg]", "atan(mu) [deg]", "creep below [m/s]", "way above, off (share)")
    out.tables.append(Table("Incline", heads, rows))


def _edge(out: Experiment, quick: bool) -> None:
    mu = 0.3
    critical = mu / (1 + mu)
    shares = critical * np.array([0.9, 0.94, 0.97, 1.03, 1.06, 1.1])
    depth, _ = over_the_edge(mu, shares.tolist(), XPBD(40), 0.4)
    begins = first(depth[-1] - depth[0] > 2e-3, shares)
    out.verdicts.append(
        Verdict(f"edge of a table, mu = {mu:g}: share that hangs when it slips", begins, critical, 0.0301,
                "x/L = mu/(1 + mu), balance of forces (F05)")
    )  # fmt: skip
    seen, length = over_the_edge(0.0, [0.2, 0.3], XPBD(20 if quick else 40), 0.3)
    t = np.arange(len(seen)) / 240
    exact = seen[0] * np.cosh(t[:, None] * np.sqrt(G / length))
    inside = exact < 0.5 * length  # beyond, it lifts from the edge
    off = float(np.abs(seen / exact - 1)[inside].max())
    out.verdicts.append(
        Verdict("edge of a table without friction: depth of the end, off", off, 0.03, 0,
                "x0 cosh(t sqrt(g/L)) (F06)", at_most=True)
    )  # fmt: skip
    lines = [Line(f"from {1e3 * seen[0, w]:.0f} mm", t, 1e3 * seen[:, w]) for w in range(2)]
    lines += [Line(f"exact, from {1e3 * seen[0, w]:.0f} mm", t, 1e3 * exact[:, w], True) for w in range(2)]
    out.plots.append(Plot("Slipping from a table", "time [s]", "depth of the end [mm]", lines))


def _fall(out: Experiment, budgets: Sequence[XPBD]) -> None:
    lines = []
    for solver in budgets:
        energy = fall(solver)
        rise, left = float(np.diff(energy).max()) / energy[0], float(energy[-1]) / energy[0]
        lines.append(Line(name(solver), np.arange(1, len(energy) + 1) / 240, 1e3 * energy))
        what = f"fall on the floor, {name(solver)}"
        out.verdicts += [
            Verdict(f"{what}: largest rise of energy in a step, of m g h", rise, 1e-3, 0,
                    "no contact gives energy (D11)", at_most=True),
            Verdict(f"{what}: energy left, of m g h", left, 0.0, 0.01, "m g h is lost (D11)", absolute=True),
        ]  # fmt: skip
    out.plots.append(Plot("Energy of a sheet that falls", "time [s]", "energy above rest [mJ]", lines))
