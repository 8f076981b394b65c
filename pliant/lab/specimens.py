"""Strips and bars under Newton: static shapes from one step that lasts for ever, and swings free of sweeps.

XPBD's answer for stiff strips needs hundreds of substeps; Newton's depends on the mesh (and, in motion, the
step) alone, so that these experiments judge the materials and laws.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import j0

from ..errors import SolverError
from ..geometry import shapes
from ..geometry.solid_shapes import bar
from ..materials import Fabric, SolidMaterial
from ..model import Model
from ..scene import Scene
from ..simulation import Simulation
from ..solvers.newton.solver import Newton
from .textile import G, edge_load, ribbed

Array = np.ndarray

FOREVER = 1e3
"""A step [s] that inertia has no part in."""

FIRST_ZERO = 2.404825558
"""Of the Bessel function J0."""

RIB = 1e4
"""How much more the hinges inside a cell resist than those across the strip: Newton takes nothing rigid."""


def stiff_ribs(model: Model, law: str = "isometric") -> Model:
    """The model of :func:`pliant.lab.textile.ribbed` with ribs that are stiff instead of rigid."""
    block = model.blocks[law]
    rigid = ribbed(model, law).blocks[law].compliance == 0
    return replace(
        model,
        blocks={**model.blocks, law: replace(block, compliance=block.compliance / np.where(rigid, RIB, 1.0))},
    )


def static(scene: Scene, model: Model, load: Array | None = None) -> Array:
    """Positions (W, N, 3) at rest under forces (N, 3) [N]. SolverError where Newton does not get there."""
    sim = Simulation.of_model(scene, model, Newton(), dt=FOREVER)
    if load is not None:
        sim.control.set_force(load)
    settled(sim)
    return sim.x.copy()


def settled(sim: Simulation) -> None:
    """Bring a simulation with Newton and steps of FOREVER to rest."""
    for _ in range(2):
        info = sim.step()
        sim.state.set_v(0.0)
    if not info.ok():
        raise SolverError(f"a specimen did not come to rest: status {info.status}; start nearer to its shape")


def level_strip(load: float, elements: int = 40, length: float = 0.1, density: float = 0.2) -> Array:
    """Tip (x/L, drop/L) of a strip clamped level under its own weight, w L^3/B = load.

    The strip and its clamp are those of :func:`pliant.lab.textile.heavy_elastica`.
    """
    scene, model, tip, clamp = _strip(load, elements, length, density, (0.0, 0.0, -G))
    end = static(scene, model)[0, tip].mean(axis=0)
    return np.array([(end[0] - clamp) / length, -end[2] / length])


def column_flexibility(load: float, own_weight: bool, elements: int = 40, length: float = 0.1) -> float:
    """Sideways motion of the free end of a column per force, in L^3/B; it grows without bound at buckling.

    The strip is pressed along itself by its own weight (load = w L^3/B) or by a force P per width at its end
    (load = P L^2/B). The force across is a thousandth of B/L^2.
    """
    density = 0.2
    scene, model, tip, _ = _strip(1.0 if not own_weight else load, elements, length, density,
                                  (-G if own_weight else 0.0, 0.0, 0.0))  # fmt: skip
    rigidity = density * G * length**3 / (load if own_weight else 1.0)
    x = model.x_rest
    unit = rigidity * float(np.ptp(x[:, 1])) / length**2
    force = np.zeros_like(x)
    along = 0.0 if own_weight else -load * unit
    force[tip] = edge_load(x, tip, np.array([along, 0.0, 1e-3 * unit]))
    moved = static(scene, model, force)[0, tip, 2].mean()
    return float(moved / (1e-3 * length))


def critical(own_weight: bool, below: tuple[float, float], elements: int = 40) -> float:
    """Load at which a column buckles: where the inverse of its flexibility, on a line through two loads
    ``below`` it, is nought (Southwell)."""
    stiffness = [1 / column_flexibility(load, own_weight, elements) for load in below]
    slope = (stiffness[1] - stiffness[0]) / (below[1] - below[0])
    return below[1] - stiffness[1] / slope


def _strip(
    load: float, elements: int, length: float, density: float, gravity: tuple[float, float, float]
) -> tuple[Scene, Model, Array, float]:
    """A strip along x, its first element pinned: scene, model with stiff ribs, free end, place of clamp."""
    spacing = length / (elements + 0.5)
    mesh = shapes.grid(elements + 2, 2, size=((elements + 1) * spacing, spacing))
    x = mesh.vertices
    root = x[:, 0].min() + spacing
    weight = density * G * length**3
    fabric = Fabric(
        areal_density=density,
        youngs_modulus=1e4 * max(weight, weight / load) / length**2 / 5e-4,
        poisson_ratio=0.0,
        bending_rigidity=weight / load,
    )
    scene = Scene(gravity=gravity)
    scene.add_cloth(mesh, fabric, pins=np.flatnonzero(x[:, 0] < root + 0.5 * spacing))
    tip = np.flatnonzero(x[:, 0] > x[:, 0].max() - 0.5 * spacing)
    return scene, stiff_ribs(scene.build(1)), tip, float(root - 0.5 * spacing)


def solid_cantilever(load: float, n: int, ratio: int = 10) -> Array:
    """(drop/L, shortening/L) of a square bar of tetrahedra, F L^2/(E I) = load, n cells over its height."""
    a, modulus = 0.1, 1e6
    length = ratio * a
    mesh = bar((length, a, a), (ratio * n, n, n))
    x = mesh.vertices
    scene = Scene(gravity=(0, 0, 0))
    material = SolidMaterial(density=1000.0, youngs_modulus=modulus, poisson_ratio=0.0)
    scene.add_solid(mesh, material, pins=np.flatnonzero(x[:, 0] < 1e-6 - length / 2))
    end = np.flatnonzero(x[:, 0] > length / 2 - 1e-6)
    share = 0.5 ** (np.abs(np.abs(x[end, 1:]) - a / 2) < 1e-6).sum(axis=1)
    share /= share.sum()
    force = np.zeros_like(x)
    force[end, 2] = -share * load * modulus * a**4 / 12 / length**2
    tip = share @ static(scene, scene.build(1), force)[0, end]
    return np.array([-tip[2] / length, 0.5 - tip[0] / length])


def pendulum(limp: bool, elements: int = 30, length: float = 0.5, periods: int = 1) -> float:
    """Period of a hanging strip's small swing over its closed form: limp (Bernoulli's hanging chain) or stiff
    (a rod about its end). 200 steps a period; the upper edge is pinned and turns freely."""
    density = 0.2
    weight = density * G * length**3
    rigidity = 1e-7 * weight if limp else 100 * weight
    spacing = length / elements
    mesh = shapes.grid(elements + 1, 2, size=(length, spacing))
    x = mesh.vertices
    fabric = Fabric(
        areal_density=density,
        youngs_modulus=1e4 * max(rigidity, weight) / length**2 / 5e-4,
        poisson_ratio=0.0,
        bending_rigidity=rigidity,
    )
    scene = Scene(gravity=(G, 0, 0))
    scene.add_cloth(mesh, fabric, pins=np.flatnonzero(x[:, 0] < x[:, 0].min() + 1e-9))
    exact = (4 * np.pi / FIRST_ZERO if limp else 2 * np.pi * (2 / 3) ** 0.5) * (length / G) ** 0.5
    dt = exact / 200
    sim = Simulation.of_model(scene, stiff_ribs(scene.build(1)), Newton(), dt=dt)
    down = (x[:, 0] - x[:, 0].min()) / length
    bent = x.copy()
    bent[:, 2] = 0.01 * length * (j0(FIRST_ZERO * np.sqrt(1 - down)) if limp else down)
    sim.state.set_x(bent)
    low = x[:, 0] > x[:, 0].max() - 1e-9
    z = [float(bent[low, 2].mean())]
    for _ in range(round(200 * (periods + 0.3))):
        sim.step()
        z.append(float(sim.x[0, low, 2].mean()))
    height = np.array(z)
    k = np.flatnonzero(height[:-1] * height[1:] < 0)
    crossings = k + height[k] / (height[k] - height[k + 1])
    return float(2 * np.diff(crossings)[: 2 * periods - 1].mean() * dt / exact)
