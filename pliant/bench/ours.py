"""Pliant's entries. A solver joins with a line in ``CLOTH`` (and ``WORLDS``, ``BAR``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..geometry.coloring import first_fit
from .contestants import Contestant
from .workloads import Bar, Cloth

if TYPE_CHECKING:
    from ..model import Block
    from ..scene import Scene
    from ..simulation import Simulation
    from ..solvers.base import Solver

Array = np.ndarray

THICKNESS = 5e-4
"""Of the sheet [m]; only E t and the bending rigidity matter, as nothing touches."""


class Ours:
    """A simulation as a contestant."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim

    def step(self) -> None:
        """One frame."""
        self.sim.step()

    def positions(self) -> Array:
        """(W, N, 3) [m]."""
        return self.sim.x


def xpbd(**parameters: Any) -> Callable[[], Solver]:
    """An XPBD solver, made when it is needed."""

    def make() -> Solver:
        from ..solvers.xpbd.solver import XPBD

        return XPBD(**parameters)

    return make


def pd(**parameters: Any) -> Callable[[], Solver]:
    """Projective dynamics, made when it is needed."""

    def make() -> Solver:
        from ..solvers.pd.solver import PD

        return PD(**parameters)

    return make


def mgpbd() -> Callable[[], Solver]:
    """MGPBD that leaves a step where its tolerance does."""

    def make() -> Solver:
        from ..solvers.mgpbd.solver import MGPBD

        return MGPBD(polish=0)

    return make


def cloth_scene(work: Cloth, membrane: str) -> Scene:
    """The hanging cloth as a scene of Pliant's."""
    from ..materials import Fabric
    from ..scene import Scene

    material = Fabric(
        "benchmark sheet",
        areal_density=work.areal_density,
        thickness=THICKNESS,
        youngs_modulus=work.stiffness / THICKNESS,
        poisson_ratio=work.poisson_ratio,
        bending_rigidity=work.bending_rigidity,
    )
    scene = Scene()
    scene.add_cloth(work.mesh, material, pins=work.pins, membrane=membrane, name="sheet")
    return scene


def springs(work: Cloth, solver: Solver, dtype: str, as_listed: bool = True) -> Simulation:
    """The discrete model that the peers with springs solve: 1 kN/m on every edge, whatever the triangles.

    ``membrane="edges"`` would give each edge the stiffness that imitates a sheet, a third of it along the
    border; the block's compliance is replaced. ``as_listed`` sweeps the springs in pypbd's order, first-fit
    colours of the edges as the triangles list them, else in Pliant's own: one sweep leaves much undone, and
    which edge has it worst depends on the order.
    """
    from ..simulation import Simulation

    scene = cloth_scene(work, "edges")
    model = scene.build(work.worlds, dtype)
    block = model.blocks["distance"]
    block = replace(block, compliance=np.full_like(block.compliance, 1 / work.stiffness))
    if as_listed:
        block = first_fit_as_listed(block, work.mesh.triangles)
    model = replace(model, blocks={**model.blocks, "distance": block})
    return Simulation.of_model(scene, model, solver, dt=work.dt)


def own_springs(work: Cloth, solver: Solver, dtype: str) -> Simulation:
    """:func:`springs` in Pliant's own order."""
    return springs(work, solver, dtype, as_listed=False)


def first_fit_as_listed(block: Block, triangles: Array) -> Block:
    """A block on the edges with its colours made by first fit, side by side of each triangle in turn."""
    block = block.in_file_order()
    n = int(triangles.max()) + 1
    sides = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2), axis=2).reshape(-1, 2)
    keys, first = np.unique(sides[:, 0].astype(np.int64) * n + sides[:, 1], return_index=True)
    mine = np.sort(block.ids, axis=1).astype(np.int64)
    listed = np.argsort(first[np.searchsorted(keys, mine[:, 0] * n + mine[:, 1])])
    colors = first_fit(block.ids, listed, n)
    order = listed[np.argsort(colors[listed], kind="stable")]
    rows = {
        k: getattr(block, k)[order] for k in ("ids", "params", "compliance", "damping_time", "file_order")
    }
    start = np.concatenate([[0], np.cumsum(np.bincount(colors))])
    return replace(block, color_start=start.astype(np.int64), **rows)


def sheet(work: Cloth, solver: Solver, dtype: str) -> Simulation:
    """The continuum: ARAP triangles with the material's E t and Poisson's ratio."""
    from ..simulation import Simulation

    return Simulation(cloth_scene(work, "triangles"), solver, dt=work.dt, worlds=work.worlds, dtype=dtype)


def solid(law: str, solver: Callable[[], Solver], dtype: str = "float64") -> Callable[[Bar], Ours]:
    """The bar under one of the laws of solids."""

    def build(work: Bar) -> Ours:
        from ..materials import SolidMaterial
        from ..scene import Scene
        from ..simulation import Simulation

        material = SolidMaterial(
            density=work.density, youngs_modulus=work.youngs_modulus, poisson_ratio=work.poisson_ratio
        )
        scene = Scene()
        scene.add_solid(work.mesh, material, pins=work.held, law=law, name="bar")
        return Ours(Simulation(scene, solver(), dt=work.dt, dtype=dtype))

    return build


MODELS: dict[str, tuple[Callable[[Cloth, Solver, str], Simulation], str]] = {
    "springs": (springs, "1 kN/m on each edge in pypbd's order, isometric bending B = 1e-5 N m"),
    "springs, own order": (own_springs, "1 kN/m on each edge, isometric bending B = 1e-5 N m"),
    "sheet": (sheet, "ARAP triangles E t = 1 kN/m, nu = 0.3, isometric bending B = 1e-5 N m"),
}


def entry(
    workload: str, solver: str, make: Callable[[], Solver], model: str, dtype: str = "float64", same: str = ""
) -> Contestant:
    """An entry: a solver on one of the two elastic models."""
    build, text = MODELS[model]
    single = ", float32" if dtype == "float32" else ""
    return Contestant(
        name=f"Pliant {solver} {model}{single}",
        workload=workload,
        package="pliant",
        text=f"{solver}, {text}, {dtype}",
        build=lambda work: Ours(build(work, make(), dtype)),
        same=same,
    )


LIKE_PYPBD = "springs, XPBD 20 x 1"

CLOTH = [
    entry("cloth", "XPBD 20x1", xpbd(substeps=20), "springs", same=LIKE_PYPBD),
    entry("cloth", "XPBD 20x1", xpbd(substeps=20), "springs", "float32", same=LIKE_PYPBD),
    entry("cloth", "XPBD 20x1", xpbd(substeps=20), "springs, own order"),
    entry("cloth", "XPBD 20x1", xpbd(substeps=20), "sheet"),
    entry("cloth", "XPBD 20x1", xpbd(substeps=20), "sheet", "float32"),
    entry("cloth", "XPBD 100x1", xpbd(substeps=100), "springs"),
    entry("cloth", "XPBD 100x1", xpbd(substeps=100), "sheet"),
    entry("cloth", "PD 4", pd(iterations=4), "sheet"),
    entry("cloth", "PD 8", pd(iterations=8), "sheet"),
    entry("cloth", "PD 8", pd(iterations=8), "sheet", "float32"),
]
WORLDS = [
    entry("worlds", "XPBD 20x1", xpbd(substeps=20), "springs", "float32", same=LIKE_PYPBD),
    entry("worlds", "XPBD 20x1", xpbd(substeps=20), "sheet", "float32"),
    entry("worlds", "PD 3", pd(iterations=3), "sheet", "float32"),
    entry("worlds", "PD 8", pd(iterations=8), "sheet", "float32"),
]
BAR = [
    Contestant(
        f"Pliant {solver} {law}", "bar", "pliant", f"{solver}, {law} tetrahedra, float64", solid(law, make)
    )
    for law in ("arap", "neo_hookean")
    for solver, make in (
        ("XPBD 20x1", xpbd(substeps=20)),
        ("XPBD 100x1", xpbd(substeps=100)),
        ("MGPBD", mgpbd()),
    )
]
CONTESTANTS = [*CLOTH, *WORLDS, *BAR]
