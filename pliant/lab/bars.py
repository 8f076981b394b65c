"""Bars of tetrahedra: torsion of rectangular sections, and a cantilever so short that shear counts.

Linear tetrahedra are too stiff in bending and torsion by a part that falls as 1/n², n cells over the height,
and large for few cells (41 % in torsion at n = 4). Each experiment therefore runs on two meshes and reports,
beside both readings, the value they lead to (Richardson extrapolation).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..geometry.solid_shapes import bar
from ..materials import SolidMaterial
from ..scene import Scene
from ..simulation import Simulation
from ..solvers.xpbd.solver import XPBD
from .experiment import Experiment, Line, Plot, Table, Verdict
from .statics import Rest, relax

Array = np.ndarray

TORSION = {1: 0.14058, 2: 0.22868, 4: 0.28081}
"""J/(b a^3) of a rectangle b x a, by b/a: Saint-Venant's series (Timoshenko & Goodier, bars in torsion)."""

HEIGHT, YOUNG, DENSITY = 0.1, 1e6, 1000.0
"""Of every bar: height a [m], Young's modulus [Pa], density [kg/m^3]."""


@dataclass(frozen=True)
class Reading:
    """What one bar showed, relative to the closed form, and how its relaxation ended."""

    ratio: float
    rest: Rest


def extrapolated(coarse: float, fine: float, n_coarse: int, n_fine: int) -> float:
    """The limit of two readings whose error falls as 1/n^2."""
    return (n_fine**2 * fine - n_coarse**2 * coarse) / (n_fine**2 - n_coarse**2)


def loaded_bar(
    size: tuple[float, float, float], cells: tuple[int, int, int], poisson_ratio: float, law: str, h: float
) -> tuple[Simulation, Array, Array]:
    """A bar along x, its end at -x clamped; vertices of its free end and their share of its face (sum 1).

    h [s] is the substep; a step has ten.
    """
    mesh = bar(size, cells)
    x = mesh.vertices
    scene = Scene(gravity=(0, 0, 0))
    material = SolidMaterial(density=DENSITY, youngs_modulus=YOUNG, poisson_ratio=poisson_ratio)
    tiny = 1e-6 * size[0]
    scene.add_solid(mesh, material, pins=np.flatnonzero(x[:, 0] < tiny - size[0] / 2), law=law)
    end = np.flatnonzero(x[:, 0] > size[0] / 2 - tiny)
    rim = np.abs(np.abs(x[end, 1:]) - np.array(size[1:]) / 2) < tiny
    share = 0.5 ** rim.sum(axis=1)
    return Simulation(scene, XPBD(substeps=10), dt=10 * h), end, share / share.sum()


def transit_time(n: int, poisson_ratio: float) -> float:
    """Time [s] in which a pressure wave crosses a cell of a bar with n cells over its height."""
    nu = poisson_ratio
    modulus = YOUNG * (1 - nu) / ((1 + nu) * (1 - 2 * nu))
    return HEIGHT / n / float(np.sqrt(modulus / DENSITY))


def torsion(
    breadth: int, n: int, part: float = 0.125, law: str = "arap", poisson_ratio: float = 0.3
) -> Reading:
    """C05 and C06: torsional stiffness of a bar breadth·a x a, as a ratio to G k b a^3 (Saint-Venant).

    The bar is eight heights long; the torque acts on its end's face as forces that grow with the distance
    from the axis, and the twist is read between its thirds, where the ends' way of warping is forgotten.
    part: the substep over the time in which a pressure wave crosses a cell.
    """
    a, length = HEIGHT, 8 * HEIGHT
    cells = (6 * n, breadth * n, n)
    h = part * transit_time(n, poisson_ratio)
    sim, end, share = loaded_bar((length, breadth * a, a), cells, poisson_ratio, law, h)
    x = sim.model.x_rest
    shear_modulus = YOUNG / (2 * (1 + poisson_ratio))
    stiffness = shear_modulus * TORSION[breadth] * breadth * a**4
    force = np.zeros_like(x)
    force[end, 1], force[end, 2] = -share * x[end, 2], share * x[end, 1]
    unit = float((x[:, 1] * force[:, 2] - x[:, 2] * force[:, 1]).sum())
    angle = 0.02
    sim.control.set_force(force * (angle * stiffness / length / unit))
    rest = relax(sim, tolerance=1e-5, length=0.5 * a * angle)
    moved = sim.x[0] - x

    def twist(place: float) -> float:
        at = np.abs(x[:, 0] - place) < 1e-6 * length
        y, z = x[at, 1], x[at, 2]
        return float((y * moved[at, 2] - z * moved[at, 1]).sum() / (y * y + z * z).sum())

    sections = np.unique(np.round(x[:, 0], 9))
    first, last = sections[2 * n], sections[4 * n]
    rate = (twist(last) - twist(first)) / (last - first)
    return Reading(angle / length / rate, rest)


def short_cantilever(n: int, part: float = 0.0625, law: str = "arap", poisson_ratio: float = 0.0) -> Reading:
    """C03: drop of a square cantilever five heights long, as a ratio to Timoshenko's.

    F L^3/(3 E I) + F L/(k G A) with k = 10 (1 + nu)/(12 + 11 nu) (Cowper 1966); the second term is 2.4 %
    of the first at nu = 0. With nu > 0 a clamp that keeps the face from contracting is stiffer than theory's.
    """
    a, length, nu = HEIGHT, 5 * HEIGHT, poisson_ratio
    h = part * transit_time(n, nu)
    sim, end, share = loaded_bar((length, a, a), (5 * n, n, n), nu, law, h)
    x = sim.model.x_rest
    bending, shear = timoshenko(nu)
    drop = 0.01 * length
    force = np.zeros_like(x)
    force[end, 2] = -share * drop / (bending + shear)
    sim.control.set_force(force)
    rest = relax(sim, tolerance=1e-5, length=drop)
    return Reading(float(-(share * sim.x[0, end, 2]).sum() / drop), rest)


def timoshenko(poisson_ratio: float) -> tuple[float, float]:
    """Drop per force [m/N] of the short cantilever, by bending and by shear."""
    a, length, nu = HEIGHT, 5 * HEIGHT, poisson_ratio
    k = 10 * (1 + nu) / (12 + 11 * nu)
    return 4 * length**3 / (YOUNG * a**4), length / (k * YOUNG / (2 * (1 + nu)) * a * a)


def run(quick: bool = False) -> Experiment:
    """Every row on two meshes."""
    out = Experiment(
        "bars",
        "Bars of tetrahedra",
        "Bars are twisted, and bent where shear counts. One mesh of linear tetrahedra is too stiff; two of "
        "them lead to the bar (the error falls as 1/n², n cells over the height).",
        {"solver": "XPBD, 10 substeps of 1/8 (torsion) or 1/16 of the time in which a wave crosses a cell",
         "law": "arap", "dtype": "float64"},
    )  # fmt: skip
    rows: list[tuple[object, ...]] = []
    for breadth in (1, 2) if quick else TORSION:
        row = "C05" if breadth == 1 else "C06"
        source = f"T L/(G k b a³), Saint-Venant ({row})"
        _two_meshes(out, rows, f"torsion, b/a = {breadth}: stiffness", [torsion(breadth, n) for n in (3, 6)],
                    (3, 6), 0.03, source)  # fmt: skip
    cells = (3, 6) if quick else (4, 8)
    bending, shear = timoshenko(0.0)
    source = "F L³/(3 E I) + F L/(k G A), Timoshenko (C03)"
    limit = _two_meshes(out, rows, "cantilever of five heights: drop", [short_cantilever(n) for n in cells],
                        cells, 0.02 if quick else 0.01, source)  # fmt: skip
    if not quick:
        extra = limit * (bending + shear) / bending - 1
        out.verdicts.append(
            Verdict("cantilever of five heights: drop beyond Euler's, share", extra, shear / bending, 0.4,
                    "F L/(k G A): the shear is there (C03)")
        )  # fmt: skip
    heads = ("bar, over theory's", "cells", "coarse", "cells", "fine", "extrapolated")
    out.tables.append(Table("Two meshes", heads, rows))
    lines = [
        Line(str(r[0]), [1 / r[1] ** 2, 1 / r[3] ** 2, 0.0], [r[2], r[4], r[5]])  # type: ignore[operator,list-item]
        for r in rows
    ]
    lines.append(Line("theory", [0.0, 1 / 9], [1.0, 1.0], True))
    out.plots.append(Plot("Two meshes and where they lead", "1/n²", "over theory's", lines))
    return out


def _two_meshes(
    out: Experiment, rows: list[tuple[object, ...]], what: str, found: list[Reading], cells: tuple[int, int],
    room: float, source: str,
) -> float:  # fmt: skip
    """Book two readings and where they lead; the latter is returned."""
    coarse, fine = (r.ratio for r in found)
    limit = extrapolated(coarse, fine, *cells)
    rows.append((what, cells[0], coarse, cells[1], fine, limit))
    at_rest = all(bool(r.rest.converged.all()) for r in found)
    value = limit if at_rest else float("nan")
    out.verdicts.append(Verdict(f"{what}, extrapolated, over theory's", value, 1.0, room, source))
    return limit
