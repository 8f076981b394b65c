"""Sewing: the seams of a garment are pulled together over time, then its panels are one mesh."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from .diagnostics.intersections import self_intersections
from .errors import SceneError
from .garments.garment import OPEN, WARP, Garment, meshed
from .garments.mannequin import Limb
from .garments.transfer import shaped_like
from .geometry import measures
from .materials import Fabric, fabrics
from .scene import Scene
from .simulation import Simulation
from .solvers.base import Solver
from .solvers.newton.solver import Newton
from .solvers.xpbd.solver import XPBD

Array = np.ndarray
Watch = Callable[[float, Array], None]

SOFT, FIRM = 2.0, 200.0
"""Forces at first and at last of a seam's threads, over the weight of the cloth that each vertex has and its
distance, in units of g per metre [1/m]."""
STAGES, ROUNDS = 5, 6
LIMP, EASED, LONG, LONG_STEPS = 0.05, 8e-4, 0.2, 5
"""At last: the share of the bending rigidity that is kept, the strain that ends it, steps [s], how many."""
LARGE, COARSER = 1200, 2.0
"""Garments of more vertices take over the shape of one with triangles so many times as large."""
MOST_EASED, FINE = 4000, 120
"""Vertices for which Newton takes minutes; larger garments come to rest by XPBD of so many substeps."""
MARGIN = 0.003
"""How far cloth stays off the body [m] while sewing: triangles are chords of its roundness."""
DRAG = 6.0
"""Damping [1/s] while sewing: panels glide, they do not swing."""


def sew(
    garment: Garment,
    body: Iterable[Limb] = (),
    fabric: Fabric | None = None,
    *,
    seconds: float = 4.0,
    settle: float = 1.0,
    solver: Solver | None = None,
    dt: float = 1 / 60,
    watch: Watch | None = None,
) -> Garment:
    """Close the seams of a garment around a body, without gravity, and weld them.

    garment   panels where they are placed; body: what it is dressed around (``pl.garments.mannequin()``)
    fabric    default: cotton
    seconds   [s] for the seams to close: ties pull the two sides of each together, stronger and stronger, at
              last rigidly; settle [s]: for the welded garment to come to rest, 0 leaves it strained
    watch     called after each step with the time [s] and the places (n, 3) [m] of ``garment.flat``'s rows;
              of a garment of more than 1,200 vertices, which takes over the shape of one that was sewn with
              triangles twice as large, it sees the end only

    Returns the garment with closed seams where they came to rest, to be given to ``Scene.add_cloth``. Raises
    SceneError naming the seam that stays open. There is no contact of cloth with itself.
    """
    cloth = fabric or fabrics.cotton
    limbs = list(body)
    clock = [0.0]

    def seen(x: Array) -> None:
        clock[0] += dt
        if watch is not None:
            watch(clock[0], x if len(x) == len(garment.flat) else x[garment.sewn])

    method = solver or XPBD(substeps=20)
    x = garment.places
    if garment.gap > OPEN and garment.n_vertices > LARGE:
        draft = meshed(garment.pattern, COARSER * garment.size)
        draft = sew(draft, limbs, cloth, seconds=seconds, settle=settle, solver=solver, dt=dt)
        sewn = shaped_like(garment, draft)
        if sewn.n_vertices <= MOST_EASED:
            return _unstrained(sewn, cloth, seen) if settle else sewn
        x, method = sewn.mesh.vertices, solver or XPBD(substeps=FINE)
    elif garment.gap > OPEN:
        steps = max(1, round(seconds / dt / (STAGES + 1)))
        per_vertex = cloth.areal_density * garment.area / len(garment.flat) * 9.81
        for k in range(STAGES):
            firm = per_vertex * SOFT * (FIRM / SOFT) ** (k / (STAGES - 1))
            x = _pulled(garment, x, limbs, cloth, firm, method, dt, steps, seen)
        for _ in range(ROUNDS):
            x = _pulled(garment, x, limbs, cloth, np.inf, method, dt, steps, seen)
            if isinstance(method, XPBD):  # finer steps: what a rigid tie leaves open shrinks with them
                method, steps = replace(method, substeps=2 * method.substeps), max(1, steps // 2)
            if max(_gaps(garment, x).values()) < OPEN:
                break
        _require_closed(garment, x)
        x = garment.joined(x)
    else:
        x = garment.mesh.vertices
    scene = _around(limbs)
    scene.add_cloth(garment.at(x), cloth)
    steps = round(settle / dt)
    if not steps:
        return garment.at(x)
    sewn = garment.at(_run(scene, method, dt, steps, seen))
    return _unstrained(sewn, cloth, seen) if garment.n_vertices <= MOST_EASED else sewn


def _around(body: list[Limb]) -> Scene:
    scene = Scene(gravity=(0, 0, 0), air_drag=DRAG)
    for limb in body:
        scene.add_collider(**limb.grown(MARGIN).collider, friction=0.0)
    return scene


def _pulled(
    garment: Garment,
    x: Array,
    body: list[Limb],
    fabric: Fabric,
    stiffness: float,
    solver: Solver,
    dt: float,
    steps: int,
    seen: Callable[[Array], None],
) -> Array:
    """Positions of the panels' vertices after ties of a stiffness [N/m] have pulled for a while."""
    scene = _around(body)
    handle = scene.add_cloth(
        garment.panels_mesh, fabric, rest_mesh=garment.rest, warp_direction=WARP, start=x, weld=False
    )
    first = np.full(garment.n_vertices, len(garment.flat))
    np.minimum.at(first, garment.sewn, np.arange(len(garment.flat)))
    leader = first[garment.sewn]
    led = np.flatnonzero(leader != np.arange(len(leader)))
    scene.add_attachment(handle, led, handle, stiffness, onto=leader[led])
    return _run(scene, solver, dt, steps, seen)


def _run(scene: Scene, solver: Solver, dt: float, steps: int, seen: Callable[[Array], None]) -> Array:
    """Positions (N, 3) [m] of the scene's one cloth after some steps."""
    sim = Simulation(scene, solver, dt=dt)
    for _ in range(steps):
        sim.step()
        seen(sim.x[0])
    return np.array(sim.x[0], float)


def _unstrained(garment: Garment, fabric: Fabric, seen: Callable[[Array], None]) -> Garment:
    """The garment with its panels hardly strained: equilibrium with next to no bending, solved by Newton.

    What strain is left is that of the bending: a twentieth of the fabric's own. The body is left out; cloth
    had a margin from it, and vertices move by millimetres.
    """
    limp = fabric.with_(bending_rigidity=LIMP * fabric.bending_rigidity, damping_time=0.0)
    for _ in range(LONG_STEPS):
        if np.abs(panel_strains(garment)).max() < EASED:
            break
        scene = _around([])
        scene.add_cloth(garment, limp)
        eased = garment.at(_run(scene, Newton(), LONG, 1, seen))
        if _crossings(eased) > _crossings(garment):
            break
        garment = eased
    return garment


def _crossings(garment: Garment) -> int:
    """How many edges pass through a triangle."""
    return len(self_intersections(garment.mesh.vertices, garment.triangles))


def _gaps(garment: Garment, x: Array) -> dict[str, float]:
    """How far [m] each seam is open."""
    return {
        seam: float(np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1).max())
        for seam, pairs in garment.pairs.items()
    }


def _require_closed(garment: Garment, x: Array) -> None:
    gaps = _gaps(garment, x)
    worst = max(gaps, key=lambda seam: gaps[seam])
    if not gaps[worst] < OPEN:
        raise SceneError(
            f'garment "{garment.name}": the seam "{worst}" stays open by {1e3 * gaps[worst]:.3g} mm; give it '
            "more seconds=, place its panels nearer to each other, or look whether the body is in between"
        )


def panel_strains(garment: Garment) -> Array:
    """Principal strains (F, 2) of the triangles of a sewn garment against the flat panels, larger first."""
    frames = measures.rest_frames(garment.rest.vertices, garment.rest.triangles)
    return measures.triangle_stretches(garment.mesh.vertices, garment.triangles, frames) - 1
