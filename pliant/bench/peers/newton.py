"""Newton (Newton developers, on NVIDIA Warp): three solvers, single precision; on a CPU, one thread.

XPBD: Pliant's springs in Jacobi sweeps whose corrections add up, stable from 3 n substeps a frame on. VBD:
triangles, hinge angles and tetrahedra; Style3D: Baraff-Witkin triangles; iterations as in its examples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..contestants import Contestant
from ..workloads import GRAVITY, Bar, Cloth


class Scene:
    """A finished model and its solver. Particles do not touch each other."""

    def __init__(self, builder: Any, work: Any, held: Any, solver: Any, substeps: int) -> None:
        import newton

        pins = {int(k) for k in held}
        builder.particle_mass = [0.0 if k in pins else float(m) for k, m in enumerate(work.mass)]
        builder.particle_flags = [0 if k in pins else f for k, f in enumerate(builder.particle_flags)]
        builder.color(include_bending=True)
        self.model = builder.finalize(device="cpu")
        self.model.particle_grid, self.model.particle_max_radius = None, 0.0
        self.solver, self.substeps, self.h = solver(self.model), substeps, work.dt / substeps
        self.now, self.next = self.model.state(), self.model.state()
        self.control, self.contacts = self.model.control(), newton.CollisionPipeline(self.model).contacts()

    def step(self) -> None:
        """One frame."""
        for _ in range(self.substeps):
            self.now.clear_forces()
            self.solver.step(self.now, self.next, self.control, self.contacts, self.h)
            self.now, self.next = self.next, self.now

    def positions(self) -> np.ndarray:
        return self.now.particle_q.numpy()


def start() -> tuple[Any, Any, dict[str, Any]]:
    """The library, a scene to fill, and where things are put."""
    import newton
    import warp

    zero = warp.vec3(0.0, 0.0, 0.0)
    place = {"pos": zero, "rot": warp.quat_identity(), "vel": zero, "scale": 1.0}
    return newton, newton.ModelBuilder(gravity=(0.0, 0.0, -GRAVITY)), place


def cloth(kind: str, iterations: int, substeps: Callable[[int], int]) -> Callable[[Cloth], Scene]:
    """The hanging cloth under one of the solvers."""

    def build(work: Cloth) -> Scene:
        newton, builder, place = start()
        place |= {"vertices": work.mesh.vertices.tolist(), "indices": work.mesh.triangles.ravel().tolist()}
        place |= {"density": work.areal_density, "tri_kd": 0.0, "edge_kd": 0.0}
        k, nu, b = work.stiffness, work.poisson_ratio, work.bending_rigidity
        hinge = b * (work.n - 1)  # B l / (A0 + A1) of an edge along the grid
        if kind == "Style3D":
            newton.solvers.SolverStyle3D.register_custom_attributes(builder)
            place["tri_aniso_ke"] = type(place["pos"])(k, k, k / (2 * (1 + nu)))
            place["edge_aniso_ke"] = type(place["pos"])(b / 3, b / 3, b / 3)
            newton.solvers.style3d.add_cloth_mesh(builder, **place)
            options = {"config": newton.solvers.SolverStyle3D.Config(iterations=iterations)}
        else:
            moduli = (k / (2 * (1 + nu)), k * nu / (1 - nu**2)) if kind == "VBD" else (0.0, 0.0)
            builder.add_cloth_mesh(**place, tri_ke=moduli[0], tri_ka=moduli[1], edge_ke=hinge)
            for i, j in work.edges.tolist() if kind == "XPBD" else ():
                builder.add_spring(i, j, k, 0.0, 0.0)
            options = {"iterations": iterations}
        solver = getattr(newton.solvers, f"Solver{kind}")
        return Scene(builder, work, work.pins, lambda model: solver(model, **options), substeps(work.n))

    return build


def bar(work: Bar) -> Scene:
    """The bar under VBD."""
    newton, builder, place = start()
    place |= {"vertices": work.vertices.tolist(), "indices": work.tets.ravel().tolist()}
    place |= {"k_mu": work.lame[0], "k_lambda": work.lame[1], "k_damp": 0.0, "add_surface_mesh_edges": False}
    builder.add_soft_mesh(**place, density=work.density)
    return Scene(builder, work, work.held, lambda m: newton.solvers.SolverVBD(m, iterations=10), 10)


XPBD = "XPBD, 3 n substeps of 1 Jacobi sweep; 1 kN/m on each edge, hinge angles"
VBD, SOLID = "VBD, 10 substeps of {} iterations; {}", "stable Neo-Hookean tetrahedra"
SHEET = VBD.format(4, "St. Venant-Kirchhoff, hinge angles")
STYLE = "Style3D, 2 substeps of 10 iterations; triangles 1 kN/m, shear 385 N/m, isometric bending"
CONTESTANTS = [
    Contestant("newton Style3D 2x10", "cloth", "newton", STYLE, cloth("Style3D", 10, lambda n: 2)),
    Contestant("newton VBD 10x4", "cloth", "newton", SHEET, cloth("VBD", 4, lambda n: 10)),
    Contestant("newton XPBD 3n x1", "cloth", "newton", XPBD, cloth("XPBD", 1, lambda n: 3 * n)),
    Contestant("newton VBD 10x10", "bar", "newton", VBD.format(10, SOLID), bar),
]
