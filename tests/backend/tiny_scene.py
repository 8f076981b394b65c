"""A tiny scene that passes through every stage and law of XPBD; run as a script it prints its bits.

One line of JSON per case; the same with the compiler and without (``NUMBA_DISABLE_JIT=1``).
"""

from __future__ import annotations

import hashlib
import json

import numpy as np

import pliant as pl
from pliant.backend.jit import config

CASES = [
    ("isometric", "triangles", "colored", 1, "float64"),
    ("isometric", "triangles", "colored", 3, "float32"),
    ("isometric", "triangles", "jacobi", 3, "float64"),
    ("isometric", "triangles", "jacobi", 1, "float32"),
    ("dihedral", "triangles", "sequential", 1, "float32"),
    ("dihedral", "triangles", "sequential", 3, "float64"),
    ("dihedral_acos", "edges", "jacobi", 3, "float32"),
]
"""Every order, law, precision and width, but not each with each: each takes the compiler 15 s."""
STEPS = 1


def simulate(bending: str, membrane: str, order: str, worlds: int, dtype: str) -> dict[str, np.ndarray]:
    """Positions, velocities, multipliers and report after a few steps of a pinned cloth over colliders.

    The mesh is irregular and the damping time no round number, so that no two constraints are alike and
    sums are rounded: equal bits are no luck.
    """
    scene = pl.Scene(air_drag=0.1)
    fabric = pl.fabrics.cotton.with_(damping_time=1.3e-3, bending_rigidity=0.05)
    mesh = pl.shapes.unstructured((0.3, 0.3), 0.1, seed=2)  # 16 vertices, 18 triangles
    cloth = scene.add_cloth(
        mesh, fabric, position=(0.02, 0.01, 0.095), rotation=(0.0, 0.3, 0.1), pins=[0],
        membrane=membrane, bending=bending,
    )  # fmt: skip
    scene.add_attachment(cloth, [7], stiffness=20.0, damping_time=1.3e-3)
    scene.add_collider(pl.Sphere(0.1), position=(0.01, 0.0, 0.0), friction=0.3, friction_static=0.4)
    scene.add_collider(pl.Cylinder(0.05, 0.1, 0.01), position=(0.15, 0.1, 0.0), rotation=(0.2, 0.0, 0.0))
    scene.add_collider(pl.Plane())
    sim = pl.Simulation(scene, pl.XPBD(substeps=2, iterations=2, order=order), 1 / 60, worlds, dtype)
    sim.set(material_scale=np.linspace(0.5, 1.5, worlds))
    rng = np.random.default_rng(5)
    sim.state.set_v(0.3 * rng.standard_normal(sim.x.shape))
    sim.control.set_force(1e-3 * rng.standard_normal(sim.x.shape))
    for k in range(STEPS):
        cloth.set_targets([0], cloth.mesh.vertices[0] + [0.0, 0.0, 0.002 * (k + 1)])
        info = sim.step("full")
    out = {"x": sim.state.x, "v": sim.state.v, "contacts": info.contacts, "deepest": info.max_penetration}
    out |= {
        f"lambda {law}": sim.solver.multipliers(sim.model, sim.workspace, law) for law in sim.model.blocks
    }
    names = ("elastic", "kinetic", "incremental_potential", "primal_residual")
    return out | {name: getattr(info, name) for name in names}


def digest(a: np.ndarray) -> str:
    """Sixteen hex digits for the bits of an array, with both zeros taken as one."""
    return hashlib.sha256(np.ascontiguousarray(a + np.zeros(1, a.dtype)).tobytes()).hexdigest()[:16]


def main() -> None:
    """One line that says whether the compiler was at work, then one per case."""
    print(json.dumps({"compiled": not config.DISABLE_JIT}))
    for case in CASES:
        result = simulate(*case)
        touching, sound = int(result["contacts"].sum()), all(np.isfinite(a).all() for a in result.values())
        bits = {name: digest(a) for name, a in result.items()}
        print(json.dumps({"case": case, "touching": touching, "sound": sound, "bits": bits}))


if __name__ == "__main__":
    main()
