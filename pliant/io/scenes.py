"""Scene files: a scene, a solver and how long to run them, in TOML. docs/scene-files.md lists every key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.geometry import shapes
from pliant.geometry.colliders import Box, Capsule, Cylinder, Plane, Shape, Sphere
from pliant.geometry.mesh import TriMesh
from pliant.io.acting import ATTACHMENT, PRESSURE, add_attachment, add_pressure
from pliant.io.fields import REQUIRED, Table, is_vector, read_toml, shown
from pliant.io.meshes import UNITS, read_mesh
from pliant.io.motions import read_motion
from pliant.io.selections import cloth_of, ids_of
from pliant.materials import Fabric, fabrics
from pliant.scene import BENDINGS, MEMBRANES, Cloth, Scene
from pliant.solvers.base import Solver
from pliant.solvers.newton.solver import Newton
from pliant.solvers.xpbd.solver import ORDERS, PBD, XPBD

if TYPE_CHECKING:
    from pliant.simulation import Simulation

Array = np.ndarray

SOLVERS: dict[str, type[XPBD] | type[Newton]] = {"xpbd": XPBD, "pbd": PBD, "newton": Newton}

KEYS: dict[str, tuple[str, ...]] = {
    "": ("scene", "simulation", "cloth", "collider", "pressure", "attachment", "motion"),
    "scene": ("title", "gravity", "air_drag", "air_density", "wind"),
    "simulation": (
        "solver", "dt", "seconds", "substeps", "iterations", "order", "relaxation", "stiffness", "tolerance",
        "max_iterations", "dtype", "worlds", "output",
    ),
    "cloth": (
        "name", "mesh", "unit", "shape", "scale", "material", "position", "rotation_axis",
        "rotation_degrees", "pins", "membrane", "bending", "warp_direction", "velocity",
        "drag_coefficient", "skin_friction",
    ),
    "collider": (
        "name", "kind", "position", "rotation_axis", "rotation_degrees", "friction", "friction_static",
        "motion",
    ),
    "pressure": PRESSURE,
    "attachment": ATTACHMENT,
    "motion": ("cloth", "ids", "times", "offsets"),
}  # fmt: skip
SHAPES: dict[str, tuple[str, ...]] = {
    "grid": ("nx", "ny", "size", "pattern"),
    "equilateral": ("size", "edge"),
    "unstructured": ("size", "edge", "seed"),
    "disc": ("radius", "edge"),
    "annulus": ("inner", "outer", "edge"),
    "pillow": ("nx", "ny", "size"),
    "sphere": ("radius", "subdivisions"),
    "tube": ("radius", "height", "n", "m"),
}
COLLIDERS: dict[str, tuple[str, ...]] = {
    "plane": ("normal",),
    "sphere": ("radius",),
    "cylinder": ("radius", "height", "rounding"),
    "capsule": ("radius", "height"),
    "box": ("size", "rounding"),
}
NEEDED = ("areal_density", "thickness", "youngs_modulus", "poisson_ratio", "bending_rigidity")
"""What a material without a base must say."""


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
    """Pins of a cloth on a path: offsets (n, 3) [m] from where they start, at times (n,) [s].

    Straight and even in between, resting after the last. Before the first, on the way there from offset 0.
    """

    cloth: Cloth
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
        start = self.cloth.mesh.vertices[self.cloth.particles(self.ids) - self.cloth.vertices.start]
        self.cloth.set_targets(self.ids, start + self.offset(sim.time + sim.dt))


def load_scene(path: str | Path, solver: str | None = None) -> SceneFile:
    """Read a scene file.

    Meshes are found relative to the file. ``solver`` ("xpbd", "pbd", "newton") replaces the file's choice;
    settings that the replacement does not have are then left out.

    Raises SceneFileError naming the file, the line and the field of the first mistake.
    """
    file = Path(path)
    root = read_toml(file)
    root.only(*KEYS[""])
    head = root.table("scene")
    head.only(*KEYS["scene"])
    if not root.tables("cloth"):
        root.fail("", "there is no cloth; begin one with [[cloth]]")
    with head.at():
        scene = Scene(
            head.vector("gravity", (0.0, 0.0, -9.81), "m/s^2"),
            head.number("air_drag", 0.0, "1/s", least=0),
            air_density=head.number("air_density", None, "kg/m^3", least=0),
            wind=head.vector("wind", (0.0, 0.0, 0.0), "m/s"),
        )
    for table in root.tables("cloth"):
        _add_cloth(scene, table)
    for table in root.tables("collider"):
        _add_collider(scene, table)
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


# ---- cloths


def _add_cloth(scene: Scene, table: Table) -> None:
    table.only(*KEYS["cloth"])
    mesh = _mesh(table)
    if "scale" in table:
        with table.at("scale"):
            mesh = mesh.transformed(scale=table.get("scale"))
    position = table.vector("position", (0.0, 0.0, 0.0), "m")
    rotation = _rotation(table)
    placed = mesh.transformed(position, rotation)
    warp = table.vector("warp_direction", None)
    if warp is not None and not np.linalg.norm(warp) > 0:
        table.fail("warp_direction", "must not be zero")
    with table.at():
        scene.add_cloth(
            mesh,
            _material(table),
            position,
            rotation,
            ids_of(table, "pins", placed) if "pins" in table else (),
            warp_direction=warp,
            velocity=table.vector("velocity", (0.0, 0.0, 0.0), "m/s"),
            membrane=table.text("membrane", None, MEMBRANES),
            bending=table.text("bending", "isometric", BENDINGS),
            drag_coefficient=table.number("drag_coefficient", 1.2, least=0),
            skin_friction=table.number("skin_friction", 0.01, least=0),
            name=table.text("name", None),
        )


def _mesh(table: Table) -> TriMesh:
    if ("mesh" in table) == ("shape" in table):
        table.fail("mesh", 'give either mesh = "file.obj" or shape = {kind = "grid", ...}')
    if "mesh" in table:
        name, unit = table.text("mesh"), table.text("unit", None, tuple(UNITS))
        with table.at("mesh"):
            mesh = read_mesh(table.file.parent / name, unit)
        if not isinstance(mesh, TriMesh):
            table.fail("mesh", f'"{name}" holds a body of tetrahedra; a cloth needs a surface')
        return mesh
    if "unit" in table:
        table.fail("unit", "belongs to a mesh; shapes are in metres")
    shape = table.table("shape")
    kind = shape.text("kind", choices=tuple(SHAPES))
    shape.only("kind", *SHAPES[kind])
    with table.at("shape"):
        return getattr(shapes, kind)(**_shape_values(shape, kind))


def _shape_values(shape: Table, kind: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key in SHAPES[kind]:
        if key == "size":
            values[key] = shape.vector(
                key, (1.0, 1.0) if kind in ("grid", "pillow") else REQUIRED, "m", length=2
            )
        elif key in ("nx", "ny", "n", "m"):
            values[key] = shape.whole(key, least=2)
        elif key in ("seed", "subdivisions"):
            values[key] = shape.whole(key, None, least=0)
        elif key == "pattern":
            values[key] = shape.text(key, None, shapes.PATTERNS)
        else:
            values[key] = shape.number(key, unit="m", above=0)
    return {k: v for k, v in values.items() if v is not None}


def _material(table: Table) -> Fabric:
    known = vars(fabrics)
    if not isinstance(table.data.get("material"), dict):
        return known[table.text("material", choices=tuple(known))]
    inline = table.table("material")
    numbers = [f.name for f in fields(Fabric) if f.name not in ("name", "source")]
    inline.only("base", "name", "source", *numbers)
    base = known[inline.text("base", choices=tuple(known))] if "base" in inline else None
    if base is None:
        for key in NEEDED:
            if key not in inline:
                inline.fail(key, f'is missing; give it, or a base = "{next(iter(known))}" to start from')
    changes = {key: inline.number(key) for key in numbers if key in inline}
    changes |= {key: inline.text(key) for key in ("name", "source") if key in inline}
    if base is not None and "name" not in changes:
        changes["name"] = f"{base.name}, changed" if changes else base.name
    with table.at("material"):
        return (base or Fabric()).with_(**changes)


def _rotation(table: Table) -> Array | None:
    """Rotation vector (3,) [rad] of an axis and an angle in degrees."""
    angle = table.number("rotation_degrees", None, "degrees")
    axis = table.vector("rotation_axis", None)
    if angle is None and axis is None:
        return None
    if angle is None:
        table.fail("rotation_axis", "needs rotation_degrees beside it")
    along = np.array((0.0, 0.0, 1.0) if axis is None else axis)
    if not np.linalg.norm(along) > 0:
        table.fail("rotation_axis", "must not be zero")
    return np.radians(angle) * along / np.linalg.norm(along)


# ---- what acts on them


def _add_collider(scene: Scene, table: Table) -> None:
    kind = table.text("kind", choices=tuple(COLLIDERS))
    table.only(*KEYS["collider"], *COLLIDERS[kind])
    with table.at():
        shape: Shape
        if kind == "plane":
            shape = Plane(table.vector("normal", (0.0, 0.0, 1.0)))
        elif kind == "sphere":
            shape = Sphere(table.number("radius", unit="m", above=0))
        elif kind == "capsule":
            shape = Capsule(
                table.number("radius", unit="m", above=0), table.number("height", unit="m", above=0)
            )
        elif kind == "box":
            shape = Box(table.vector("size", unit="m"), table.number("rounding", 0.0, "m", least=0))
        else:
            shape = Cylinder(
                table.number("radius", unit="m", above=0),
                table.number("height", unit="m", above=0),
                table.number("rounding", 0.0, "m", least=0),
            )
        position, rotation = table.vector("position", (0.0, 0.0, 0.0), "m"), _rotation(table)
        scene.add_collider(
            shape,
            position,
            rotation,
            table.number("friction", None, least=0),
            table.number("friction_static", None, least=0),
            table.text("name", None),
            read_motion(table, position, rotation),
        )


def _motion(scene: Scene, table: Table) -> Motion:
    table.only(*KEYS["motion"])
    cloth = cloth_of(scene, table)
    pinned = np.flatnonzero(np.isin(cloth.file_ids, cloth.pins))
    ids = ids_of(table, "ids", cloth.mesh) if "ids" in table else pinned
    if not len(pinned):
        table.fail("cloth", f'"{cloth.name}" has no pins to move; give it pins = [...]')
    loose = np.setdiff1d(ids, pinned)
    if len(loose):
        table.fail("ids", f"vertex {int(loose[0])} is not pinned; name it in the cloth's pins")
    times = table.get("times")
    if not (isinstance(times, list) and times and is_vector(times, len(times))):
        table.fail("times", f"must be a list of numbers in s, not {shown(times)}")
    if times[0] < 0 or np.any(np.diff(times) <= 0):
        table.fail("times", "must begin at 0 or later and grow")
    offsets = table.vectors("offsets", unit="m")
    if len(offsets) != len(times):
        table.fail("offsets", f"has {len(offsets)} rows for {len(times)} times; give one for each")
    return Motion(cloth, ids, np.array(times, float), offsets)
