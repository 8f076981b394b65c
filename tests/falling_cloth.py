"""Five worlds of a cloth that falls on a ball, with everything a simulation can have."""

from __future__ import annotations

import numpy as np

import pliant as pl

WORLDS = 5
DT = 1 / 60


def scene(**changes: object) -> pl.Scene:
    """A cloth that falls on a ball, held at two corners and tied at a third."""
    options: dict = {"gravity": (0, 0, -9.81), "friction": 0.4, "radius": 0.1, "material": pl.fabrics.cotton}
    options |= {"pins": [0, 5], "height": 0.13, "grid": (6, 7), "drag": 0.1, "stiffness": 50.0} | changes
    s = pl.Scene(gravity=options["gravity"], air_drag=options["drag"])
    mesh = pl.shapes.grid(*options["grid"], size=(0.3, 0.35))
    cloth = s.add_cloth(mesh, options["material"], position=(0, 0, options["height"]), pins=options["pins"])
    s.add_collider(pl.Sphere(radius=options["radius"]), friction=options["friction"])
    s.add_attachment(cloth, [30], stiffness=options["stiffness"])
    return s


def simulation(s: pl.Scene | None = None, **changes: object) -> pl.Simulation:
    options: dict = {"solver": pl.XPBD(substeps=4), "dt": DT, "worlds": WORLDS, "dtype": "float32"}
    return pl.Simulation(s or scene(), **(options | changes))


def prepare(sim: pl.Simulation) -> None:
    """Give every world something of its own."""
    w = np.arange(WORLDS)
    sim.set(material_scale=1 + 0.2 * w, bending_scale=[1, 2, 3, 4, 5])
    sim.state.set_v(0.1 * sim.rng.normal(size=(WORLDS, sim.model.n_particles, 3)))
    wind = np.zeros((WORLDS, 1, 3))
    wind[:, 0, 1] = 1e-4 * w
    sim.control.set_force(wind)


def drive(sim: pl.Simulation, first: int, last: int) -> list[int]:
    """Steps ``first`` to ``last``: moving pins and ball, random pushes, a world that breaks at 6."""
    cloth, contacts = sim.scene.cloths[0], []
    held = cloth.mesh.vertices[[0, 5]]
    for k in range(first, last):
        lift = 0.01 * np.sin(0.3 * k) * np.arange(WORLDS)
        cloth.set_targets([0, 5], held + lift[:, None, None] * np.array([0, 0, 1.0]))
        sim.move_collider(0, (0, 0, 0.001 * k), rotation=(0, 0, 0.05 * k))
        sim.state.set_v(sim.state.v + 0.01 * sim.rng.normal(size=(WORLDS, 1, 3)))
        if k == 6:
            sim.state.set_v(1e37, worlds=3)  # squares of distances overflow
        info = sim.step()
        contacts.append(int(info.contacts.sum()))
    return contacts


def bits(sim: pl.Simulation) -> dict[str, bytes]:
    """All that a run has produced."""
    arrays = {f"state {k}": a for k, a in sim.state.arrays().items()}
    arrays |= {f"control {k}": a for k, a in sim.control.arrays().items()}
    return {k: a.tobytes() for k, a in arrays.items()} | {"rng": repr(sim.rng.bit_generator.state).encode()}
