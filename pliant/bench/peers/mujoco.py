"""MuJoCo (Google DeepMind): flexes under the ``discrete`` integrator, implicit in position; double precision.

The sheet is its St. Venant-Kirchhoff membrane with plate bending, of the thickness that gives the
workload's E t and B at once; the bar its St. Venant-Kirchhoff solid. Backward Euler at a whole frame damps
the swing. One world runs on one thread, many in its batch's thread pool, each with its own warm start.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..contestants import Contestant
from ..workloads import GRAVITY, Bar, Cloth

Array = np.ndarray

XML = """<mujoco><option timestep="{dt}" integrator="discrete" solver="{solver}" gravity="0 0 -{gravity}">
<flag contact="disable"/></option><size memory="{memory}"/><worldbody>
<flexcomp name="f" type="direct" dim="{dim}" radius="1e-4" point="{points}" element="{elements}">
<elasticity young="{young}" poisson="{poisson}" {shell}/><pin id="{pins}"/>
<contact selfcollide="none" contype="0" conaffinity="0"/></flexcomp></worldbody></mujoco>"""


class Scene:
    """One flex; one world, or as many as wanted."""

    def __init__(
        self, x: Array, cells: Array, mass: Array, held: Any, worlds: int = 1, **options: Any
    ) -> None:
        import mujoco
        from mujoco import batch

        options |= {"points": words(x.ravel()), "elements": words(cells.ravel()), "pins": words(held)}
        options |= {"dim": cells.shape[1] - 1, "gravity": GRAVITY, "memory": "4G" if worlds == 1 else "-1"}
        spec = mujoco.MjSpec.from_string(XML.format(**options))
        for body in spec.bodies:
            if body.name.startswith("f_"):
                body.mass = mass[int(body.name[2:])]
        self.engine, self.model = mujoco, spec.compile()
        self.data = mujoco.MjData(self.model)
        threads = int(os.environ.get("OMP_NUM_THREADS", 0))  # 0: all cores
        self.batch = batch.Batch(self.model, worlds, nthread=threads) if worlds > 1 else None
        self.coordinates = self.batch.bind("qpos") if self.batch else None

    def step(self) -> None:
        """One frame."""
        if self.batch:
            self.batch.step()
        else:
            self.engine.mj_step(self.model, self.data)

    def positions(self) -> Array:
        """(W, N, 3) [m]; a step leaves the vertices where they were before it, so bring them up to date."""
        found = []
        for coordinates in [self.data.qpos.copy()] if self.coordinates is None else self.coordinates:
            self.data.qpos[:] = coordinates
            self.engine.mj_kinematics(self.model, self.data)
            self.engine.mj_flex(self.model, self.data)
            found.append(np.array(self.data.flexvert_xpos))
        return np.stack(found)


def words(values: Iterable[Any]) -> str:
    """Numbers as an attribute."""
    return " ".join(repr(v) for v in np.asarray(values).tolist())


def cloth(work: Cloth, solver: str) -> Scene:
    """The hanging cloth."""
    k, nu = work.stiffness, work.poisson_ratio
    t = math.sqrt(12 * (1 - nu**2) * work.bending_rigidity / k)
    elastic: dict[str, Any] = {"young": k / t, "poisson": nu, "shell": f'thickness="{t}" elastic2d="both"'}
    elastic |= {"dt": work.dt, "solver": solver}
    return Scene(work.mesh.vertices, work.mesh.triangles, work.mass, work.pins, work.worlds, **elastic)


def bar(work: Bar, solver: str) -> Scene:
    """The bar, its held end pinned."""
    elastic: dict[str, Any] = {"young": work.youngs_modulus, "poisson": work.poisson_ratio, "shell": ""}
    return Scene(work.vertices, work.tets, work.mass, work.held, dt=work.dt, solver=solver, **elastic)


def entry(workload: str, solver: str, name: str = "mujoco") -> Contestant:
    """An entry with one of the two solvers."""
    sheet = "St. Venant-Kirchhoff E t = 1 kN/m, nu = 0.3, plate bending B = 1e-5 N m"
    text = f"discrete integrator, {solver}, a step a frame, float64; "
    text += "St. Venant-Kirchhoff tetrahedra" if workload == "bar" else sheet
    build = bar if workload == "bar" else cloth
    return Contestant(f"{name} discrete {solver}", workload, "mujoco", text, lambda work: build(work, solver))


SINGLE = [entry(workload, solver) for workload in ("cloth", "bar") for solver in ("CG", "Newton")]
CONTESTANTS = [*SINGLE, entry("worlds", "CG", "mujoco batch,")]
