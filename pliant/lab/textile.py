"""Textile tests: strips and sheets in static equilibrium, against closed forms of mechanics.

Every experiment is a batch of worlds that differ in one number, is brought to rest by :func:`relax`, and
returns what a laboratory would read off. Resolution and substeps are arguments: XPBD's static answer holds
as h -> 0, so each experiment is run twice, with doubled substeps, and the change is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..geometry import shapes
from ..materials import Fabric
from ..model import Model
from ..scene import Scene
from ..simulation import Simulation
from ..solvers.xpbd.solver import XPBD
from .experiment import Experiment, Line, Plot, Table, Verdict
from .statics import Rest, relax

Array = np.ndarray

G = 9.81

ELASTICA = {
    0.1: (0.99991, 0.0125),
    0.5: (0.99778, 0.06231),
    1.0: (0.99125, 0.12347),
    2.0: (0.96689, 0.23851),
    5.0: (0.84666, 0.49591),
    8.0: (0.72442, 0.64063),
    10.0: (0.65635, 0.7002),
    20.0: (0.44523, 0.82988),
    50.0: (0.24501, 0.90792),
    100.0: (0.15922, 0.93752),
}
"""w L^3/B: tip x/L, drop/L of the inextensible heavy elastica (its boundary value problem, solved)."""

CATENARY = {1.01: 0.06145, 1.05: 0.1393, 1.1: 0.2003, 1.25: 0.3318, 1.5: 0.50263, 2.0: 0.79639}
"""S/D: sag/D of the catenary, from S = 2 a sinh(D/2a), sag = a (cosh(D/2a) - 1)."""


@dataclass(frozen=True)
class Measured:
    """Readings (W, quantities) of a batch at rest, and how the relaxation ended."""

    readings: Array
    rest: Rest


def converged_pair(experiment: Callable[[int], Measured], substeps: int) -> tuple[Measured, Measured]:
    """The experiment with ``substeps`` and with twice as many."""
    return experiment(substeps), experiment(2 * substeps)


def _ends(x: Array) -> tuple[Array, Array]:
    """Vertices at the smallest and at the largest x."""
    low, high = x[:, 0].min(), x[:, 0].max()
    slack = 1e-9 * (high - low)
    return np.flatnonzero(x[:, 0] < low + slack), np.flatnonzero(x[:, 0] > high - slack)


def edge_load(x: Array, ids: Array, force: Array) -> Array:
    """A force [N] spread over vertices along y by the length that each stands for: (n, 3)."""
    y = x[ids, 1]
    order = np.argsort(y)
    half = np.diff(y[order]) / 2
    share = np.zeros(len(ids))
    share[order] = np.concatenate([half, [0]]) + np.concatenate([[0], half])
    return np.outer(share / share.sum(), force)


def tensile_strip(
    poisson_ratios: list[float],
    substeps: int,
    cells: tuple[int, int] = (32, 8),
    size: tuple[float, float] = (0.2, 0.05),
    stiffness: float = 1000.0,
    force: float = 0.5,
    pattern: str = "alternating",
    dt: float = 1e-3,
) -> Measured:
    """T01 and T02: a strip pulled by a force; readings: extension [m] and -eps_y/eps_x of the middle third.

    Both ends are clamped: one is pinned, the other moves as a rigid line (its vertices are loaded by their
    share; for the narrow ends this differs from a clamp by Saint-Venant's end effect only). The sheet is
    flat and without gravity, so it cannot wrinkle.
    """
    out = []
    for nu in poisson_ratios:
        scene = Scene(gravity=(0, 0, 0))
        mesh = shapes.grid(cells[0] + 1, cells[1] + 1, size=size, pattern=pattern)
        x = mesh.vertices
        left, right = _ends(x)
        fabric = Fabric(youngs_modulus=stiffness / 5e-4, poisson_ratio=nu, bending_rigidity=0.0)
        scene.add_cloth(mesh, fabric, pins=left)
        sim = Simulation(scene, XPBD(substeps=substeps), dt=dt)
        load = np.zeros_like(x)
        load[right] = edge_load(x, right, np.array([force, 0.0, 0.0]))
        sim.control.set_force(load)
        rest = relax(sim, tolerance=1e-7)
        y = sim.x[0]
        middle = np.abs(x[:, 0]) < size[0] / 6
        eps = [np.polyfit(x[middle, k], y[middle, k], 1)[0] - 1 for k in (0, 1)]
        out.append([(y[right, 0] - x[right, 0]).mean(), -eps[1] / eps[0]])
    return Measured(np.array(out), rest)


def hanging_strip(
    end_masses: list[float],
    substeps: int,
    elements: int = 40,
    length: float = 1.0,
    areal_density: float = 0.2,
    stiffness: float = 1000.0,
    dt: float = 2e-3,
) -> Measured:
    """T03 and T04: a strip hanging under its own weight and an end mass [kg]; reading: extension [m]."""
    width = 2 * length / elements
    scene = Scene(gravity=(0, 0, -G))
    mesh = shapes.grid(elements + 1, 3, size=(length, width))
    left, right = _ends(mesh.vertices)
    fabric = Fabric(
        areal_density=areal_density, youngs_modulus=stiffness / 5e-4, poisson_ratio=0.0, bending_rigidity=0.0
    )
    scene.add_cloth(mesh, fabric, rotation=(0, np.pi / 2, 0), pins=left)
    sim = Simulation(scene, XPBD(substeps=substeps), dt=dt, worlds=max(2, len(end_masses)))
    load = np.zeros((sim.model.n_worlds, *mesh.vertices.shape))
    for w, m in enumerate(end_masses):
        load[w, right] = edge_load(mesh.vertices, right, np.array([0, 0, -m * G]))
    sim.control.set_force(load)
    rest = relax(sim, tolerance=1e-7)
    start = sim.model.x_rest
    drop = (start[right, 2] - sim.x[:, right, 2]).mean(axis=1)
    return Measured(drop[: len(end_masses), None], rest)


def heavy_elastica(
    loads: list[float],
    substeps: int,
    elements: int = 40,
    length: float = 0.1,
    areal_density: float = 0.2,
    bending: str = "isometric",
    dt: float = 1 / 240,
) -> Measured:
    """B04: a strip clamped level, its own weight; one world per w L^3/B. Readings: tip x/L, drop/L.

    The strip is ribbed: the hinges inside its cells are rigid, so that it bends as a cylinder. (Energies of
    hinges resist the sum of the principal curvatures more or less; a narrow free strip would turn up its
    edges and read a lower rigidity, as a plate with a Poisson's ratio does: docs/laws/bending.md.)

    The first element is pinned level. The hinge at its end stands for half an element on either side, so
    the clamp lies half an element inside the pinned one: L = (elements + 1/2) spacings.
    """
    spacing = length / (elements + 0.5)
    mesh = shapes.grid(elements + 2, 2, size=((elements + 1) * spacing, spacing))
    x = mesh.vertices
    root = x[:, 0].min() + spacing
    pins = np.flatnonzero(x[:, 0] < root + 0.5 * spacing)
    rigidity = areal_density * G * length**3
    fabric = Fabric(
        areal_density=areal_density,
        youngs_modulus=1000 * rigidity / length**2 / 5e-4,
        poisson_ratio=0.0,
        bending_rigidity=rigidity,
    )
    scene = Scene(gravity=(0, 0, -G))
    scene.add_cloth(mesh, fabric, pins=pins, bending=bending)
    model = ribbed(scene.build(max(2, len(loads))), bending)
    sim = Simulation.of_model(scene, model, XPBD(substeps=substeps), dt=dt)
    sim.set(bending_scale=np.resize(1 / np.asarray(loads, float), model.n_worlds))
    rest = relax(sim, tolerance=2e-5)
    _, right = _ends(x)
    tip = sim.x[: len(loads), right].mean(axis=1)
    clamp = root - 0.5 * spacing
    return Measured(np.stack([(tip[:, 0] - clamp) / length, -tip[:, 2] / length], axis=1), rest)


def catenary(
    ratios: list[float],
    substeps: int,
    elements: int = 40,
    areal_density: float = 0.2,
    stiffness: float = 4e4,
    dt: float = 1 / 240,
) -> Measured:
    """K01: a limp strip of length 1 m between level ends a distance D apart, one world per S/D.

    Reading: sag/D.
    """
    spacing = 1.0 / elements
    mesh = shapes.grid(elements + 1, 2, size=(1.0, spacing), pattern="alternating")
    x = mesh.vertices
    left, right = _ends(x)
    fabric = Fabric(
        areal_density=areal_density, youngs_modulus=stiffness / 5e-4, poisson_ratio=0.0, bending_rigidity=0.0
    )
    scene = Scene(gravity=(0, 0, -G))
    scene.add_cloth(mesh, fabric, pins=np.concatenate([left, right]))
    worlds = max(2, len(ratios))
    sim = Simulation(scene, XPBD(substeps=substeps), dt=dt, worlds=worlds)
    start = np.stack([_arch(x, r) for r in np.resize(ratios, worlds)])
    sim.state.set_x(start)
    pins = np.concatenate([left, right])
    sim.control.set_pins(pins, start[:, pins])
    rest = relax(sim, tolerance=1e-6)
    y = sim.x[: len(ratios)]
    d = 1 / np.asarray(ratios)
    sag = -y[:, :, 2].min(axis=1) / d
    return Measured(sag[:, None], rest)


def _arch(x: Array, ratio: float) -> Array:
    """The strip laid along a circular arc of its own length that hangs between ends at 1/ratio."""
    lo, hi = 1e-9, np.pi  # half opening angle: sin(a)/a = 1/ratio
    for _ in range(200):
        a = 0.5 * (lo + hi)
        lo, hi = (a, hi) if np.sin(a) / a > 1 / ratio else (lo, a)
    r = 0.5 / a
    t = x[:, 0] / r
    return np.stack([r * np.sin(t), x[:, 1], r * np.cos(a) - r * np.cos(t)], axis=1)


def sagging_sheet(
    n: int,
    substeps: int,
    start: Array | None = None,
    areal_density: float = 0.2,
    stiffness: float = 1000.0,
    poisson_ratio: float = 0.3,
    dt: float = 1 / 240,
    tolerance: float = 1e-6,
) -> tuple[Measured, Array]:
    """A square sheet of 1 m, n x n vertices, all edges pinned, sagging under its own weight.

    Its equilibrium is unique: tension everywhere. Reading: sag of the centre [m]. Also returns the heights
    (n, n), from which a finer sheet may start.
    """
    mesh = shapes.grid(n, n, pattern="alternating")
    x = mesh.vertices
    rim = np.flatnonzero(np.abs(x[:, :2]).max(axis=1) > 0.5 - 1e-9)
    fabric = Fabric(
        areal_density=areal_density,
        youngs_modulus=stiffness / 5e-4,
        poisson_ratio=poisson_ratio,
        bending_rigidity=1e-6,
    )
    scene = Scene(gravity=(0, 0, -G))
    scene.add_cloth(mesh, fabric, pins=rim)
    sim = Simulation(scene, XPBD(substeps=substeps), dt=dt)
    if start is not None:
        sim.state.set_x(np.c_[x[:, :2], _refined(start, n).ravel()])
    rest = relax(sim, tolerance=tolerance)
    z = sim.x[0][:, 2].reshape(n, n)
    return Measured(np.array([[-z[n // 2, n // 2]]]), rest), z


def _refined(z: Array, n: int) -> Array:
    """Heights on an n x n grid from those on a coarser one, bilinear."""
    old, new = np.linspace(0, 1, len(z)), np.linspace(0, 1, n)
    rows = np.array([np.interp(new, old, row) for row in z])
    return np.array([np.interp(new, old, column) for column in rows.T]).T


def ribbed(model: Model, law: str) -> Model:
    """The model with every hinge rigid whose edge does not run across the strip."""
    block = model.blocks[law]
    across = np.ptp(model.x_rest[block.ids[:, :2], 0], axis=1) < 1e-9 * np.ptp(model.x_rest[:, 0])
    compliance = np.where(across[:, None], block.compliance, 0.0)
    return replace(model, blocks={**model.blocks, law: replace(block, compliance=compliance)})


def run(quick: bool = False) -> Experiment:
    """Every test beside its closed form; the elastica and the catenary with doubled substeps, too."""
    n = 1 if quick else 2
    loads = [0.5, 2.0, 8.0, 50.0] if quick else list(ELASTICA)
    out = Experiment(
        "textile",
        "Textile tests",
        "Strips are pulled, hung by one end or both, and clamped level, and come to rest under XPBD. Each "
        "test is run again with doubled substeps: what changes is XPBD's own error, which falls as h².",
        {"dt": "1 ms (pull), 2 ms (hanging), 1/240 s (others)", "dtype": "float64", "order": "colored",
         "substeps": f"{60 * n} (pull), {100 * n} (hanging, catenary), {200 * n} (elastica), and half"},
    )  # fmt: skip
    strain = 0.2 * G / 2 / 1000
    hooke, weight = "F L/(E t W), Hooke (T01)", "w L²/(2 E t) + M g L/(E t W) (T03, T04)"
    pairs = (
        ("Tensile strip", ("extension [m]", "contraction"), ("nu = 0", "nu = 0.3"),
         converged_pair(lambda s: tensile_strip([0.0, 0.3], s, cells=(16, 4)), 30 * n),
         [(2e-3, 0.0), (2e-3, 0.3)], (0.02, 0.015), (hooke, "-eps_y/eps_x = nu, plane stress (T02)")),
        ("Hanging strip", ("extension [m]",), ("alone", "with 10 g"),
         converged_pair(lambda s: hanging_strip([0.0, 0.01], s), 50 * n),
         [(strain,), (strain + 0.01 * G / 50,)], (0.01 * strain,), (weight,)),
        ("Heavy elastica", ("tip x/L", "drop/L"), [f"w L³/B = {load:g}" for load in loads],
         converged_pair(lambda s: heavy_elastica(loads, s, elements=20), 100 * n),
         [ELASTICA[load] for load in loads], (0.02, 0.02), ("its boundary value problem (B04)",) * 2),
        ("Catenary", ("sag/D",), [f"S/D = {ratio:g}" for ratio in CATENARY],
         converged_pair(lambda s: catenary(list(CATENARY), s), 50 * n),
         [(sag,) for sag in CATENARY.values()], (0.01,), ("y = a cosh(x/a) (K01)",)),
    )  # fmt: skip
    for title, readings, names, (coarse, fine), exact, rooms, sources in pairs:
        rows = []
        for i, name in enumerate(names):
            for j, (reading, room, source) in enumerate(zip(readings, rooms, sources, strict=True)):
                value, should = float(fine.readings[i, j]), exact[i][j]
                rows.append((name, reading, value, float(coarse.readings[i, j]), should))
                relative = title == "Catenary" or (title, reading) == ("Tensile strip", "extension [m]")
                what = f"{title.lower()}, {name}: {reading}"
                out.verdicts.append(Verdict(what, value, should, room, source, absolute=not relative))
        heads = ("specimen", "reading", "measured", "with half the substeps", "closed form")
        out.tables.append(Table(title, heads, rows))
        still = float((coarse.rest.converged & fine.rest.converged).all())
        source = "two cycles of kinetic damping that move nothing"
        out.verdicts.append(Verdict(f"{title.lower()}: brought to rest", still, 1.0, 0.0, source))
    tip = out.tables[2].rows
    for reading in ("tip x/L", "drop/L"):
        mine = [row for row in tip if row[1] == reading]
        lines = [Line("measured", loads, [row[2] for row in mine]),
                 Line("elastica", loads, [row[4] for row in mine], True)]  # fmt: skip
        out.plots.append(Plot(f"Heavy elastica: {reading}", "w L³/B", reading, lines, "x"))
    return out
