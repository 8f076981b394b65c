"""Scene files: a scene, a solver and how long to run them, in TOML. docs/scene-files.md lists every key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.io.acting import ATTACHMENT, PRESSURE, add_attachment, add_pressure
from pliant.io.bodies import CLOTH, SOLID, add_cloth, add_solid
from pliant.io.fields import Table, is_vector, read_toml, shown
from pliant.io.obstacles import COLLIDER, add_collider
from pliant.io.selections import body_of, ids_of, kind_of
from pliant.scene import Body, Scene
from pliant.solvers.base import Solver
from pliant.solvers.mgpbd.solver import MGPBD
from pliant.solvers.newton.solver import Newton
from pliant.solvers.pd.solver import PD
from pliant.solvers.xpbd.solver import ORDERS, PBD, XPBD

if TYPE_CHECKING:
    from pliant.simulation import Simulation

Array = np.ndarray

SOLVERS: dict[str, type[XPBD] | type[PD] | type[Newton] | type[MGPBD]] = {
    "xpbd": XPBD,
    "pbd": PBD,
    "pd": PD,
    "newton": Newton,
    "mgpbd": MGPBD,
}

KEYS: dict[str, tuple[str, ...]] = {
    "": ("scene", "simulation", "cloth", "solid", "collider", "pressure", "attachment", "motion"),
    "scene": ("title", "gravity", "air_drag", "air_density", "wind"),
    "simulation": (
        "solver", "dt", "seconds", "substeps", "iterations", "order", "relaxation", "stiffness", "tolerance",
        "max_iterations", "history", "dtype", "worlds", "output",
    ),
    "cloth": CLOTH,
    "solid": SOLID,
    "collider": COLLIDER,
    "pressure": PRESSURE,
    "attachment": ATTACHMENT,
    "motion": ("cloth", "solid", "ids", "times", "offsets"),
}  # fmt: skip


@dataclass
class SceneFile:
    """What a scene file says, ready for a Simulation.

    path, title   of the file
    scene, solver, dt [s], worlds, dtype   what :class:`pliant.Simulation` takes
    seconds       how long to run [s]
    outputs       files to record, relative to the current folder
    before        for ``Simulation.run(before=...)``: moves the pins; None where nothing moves
    """

    path: Path
    title: str
    scene: Scene
    solver: Solver
    dt: float
    seconds: float
    worlds: int
    dtype: str
    outputs: list[Path]
    before: Callable[[Simulation], None] | None


@dataclass(frozen=True)
class Motion:
    """Pins of a body on a path: offsets (n, 3) [m] from where they start, at times (n,) [s].

    Straight and even in between, resting after the last. Before the first, on the way there from offset 0.
    """

    body: Body
    ids: Array
    times: Array
    offsets: Array

    def offset(self, time: float) -> Array:
        """(3,) [m] at a time [s]."""
        times, offsets = self.times, self.offsets
        if times[0] > 0:
            times = np.concatenate([[0.0], times])
            offsets = np.concatenate([np.zeros((1, 3)), offsets])
        return np.array([np.interp(time, times, offsets[:, m]) for m in range(3)])

    def __call__(self, sim: Simulation) -> None:
        """Set where the pins shall be after the next step, in all worlds."""
        start = self.body.mesh.vertices[self.body.particles(self.ids) - self.body.vertices.start]
        self.body.set_targets(self.ids, start + self.offset(sim.time + sim.dt))


def load_scene(path: str | Path, solver: str | None = None) -> SceneFile:
    """Read a scene file.

    Meshes are found relative to the file. ``solver``, a name in :data:`SOLVERS`, replaces the file's choice;
    settings that the replacement does not have are then left out.

    Raises SceneFileError naming the file, the line and the field of the first mistake.
    """
    file = Path(path)
    root = read_toml(file)
    root.only(*KEYS[""])
    head = root.table("scene")
    head.only(*KEYS["scene"])
    if not (root.tables("cloth") or root.tables("solid")):
        root.fail("", "there is no cloth and no solid; begin one with [[cloth]] or [[solid]]")
    with head.at():
        scene = Scene(
            head.vector("gravity", (0.0, 0.0, -9.81), "m/s^2"),
            head.number("air_drag", 0.0, "1/s", least=0),
            air_density=head.number("air_density", None, "kg/m^3", least=0),
            wind=head.vector("wind", (0.0, 0.0, 0.0), "m/s"),
        )
    for table in root.tables("cloth"):
        add_cloth(scene, table)
    for table in root.tables("solid"):
        add_solid(scene, table)
    for table in root.tables("collider"):
        add_collider(scene, table)
    for table in root.tables("pressure"):
        add_pressure(scene, table)
    for table in root.tables("attachment"):
        add_attachment(scene, table)
    motions = [_motion(scene, table) for table in root.tables("motion")]
    run = root.table("simulation")
    run.only(*KEYS["simulation"])
    return SceneFile(
        path=file,
        title=head.text("title", file.stem),
        scene=scene,
        solver=_solver(run, solver),
        dt=run.number("dt", 1 / 60, "s", above=0),
        seconds=run.number("seconds", 3.0, "s", above=0),
        worlds=run.whole("worlds", 1),
        dtype=run.text("dtype", "float64", ("float64", "float32")),
        outputs=_outputs(run),
        before=_all(motions) if motions else None,
    )


def _all(motions: list[Motion]) -> Callable[[Simulation], None]:
    def before(sim: Simulation) -> None:
        for motion in motions:
            motion(sim)

    return before


# ---- the simulation


def _solver(run: Table, replacement: str | None) -> Solver:
    if replacement is not None and replacement not in SOLVERS:
        run.fail("solver", f'"{replacement}" is unknown; choose one of {", ".join(SOLVERS)}')
    asked = run.text("solver", "xpbd", tuple(SOLVERS))
    kind = SOLVERS[replacement or asked]
    has = {f.name for f in fields(kind)}
    values: dict[str, Any] = {
        "substeps": run.whole("substeps", None),
        "iterations": run.whole("iterations", None),
        "order": run.text("order", None, ORDERS),
        "relaxation": run.number("relaxation", None, above=0),
        "stiffness": run.number("stiffness", None, least=0),
        "tolerance": run.number("tolerance", None, above=0),
        "max_iterations": run.whole("max_iterations", None),
        "history": run.whole("history", None, least=0),
    }
    given = {k: v for k, v in values.items() if v is not None}
    for key in given.keys() - {f.name for f in fields(SOLVERS[asked])}:
        owners = " and ".join(
            f'"{name}"' for name, s in SOLVERS.items() if key in {f.name for f in fields(s)}
        )
        run.fail(key, f'the solver "{asked}" has no {key}; it belongs to {owners}')
    with run.at():
        return kind(**{k: v for k, v in given.items() if k in has})


def _outputs(run: Table) -> list[Path]:
    value = run.data.get("output", [])
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(v, str) and v for v in listed):
        run.fail("output", f"must be a file name or a list of them, not {shown(value)}")
    return [Path(v) for v in listed]


def _motion(scene: Scene, table: Table) -> Motion:
    table.only(*KEYS["motion"])
    body = body_of(scene, table)
    pinned = np.flatnonzero(np.isin(body.file_ids, body.pins))
    ids = ids_of(table, "ids", body.mesh) if "ids" in table else pinned
    if not len(pinned):
        table.fail(kind_of(table), f'"{body.name}" has no pins to move; give it pins = [...]')
    loose = np.setdiff1d(ids, pinned)
    if len(loose):
        table.fail("ids", f"vertex {int(loose[0])} is not pinned; name it in its pins")
    times = table.get("times")
    if not (isinstance(times, list) and times and is_vector(times, len(times))):
        table.fail("times", f"must be a list of numbers in s, not {shown(times)}")
    if times[0] < 0 or np.any(np.diff(times) <= 0):
        table.fail("times", "must begin at 0 or later and grow")
    offsets = table.vectors("offsets", unit="m")
    if len(offsets) != len(times):
        table.fail("offsets", f"has {len(offsets)} rows for {len(times)} times; give one for each")
    return Motion(body, ids, np.array(times, float), offsets)
