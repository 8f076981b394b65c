"""Woven and curved sheets in static equilibrium, against plane stress and the curved beam.

The experiments follow :mod:`pliant.lab.textile`: brought to rest by :func:`relax`, resolution and substeps
are arguments, readings are what a laboratory would read off.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..diagnostics.report import law_values
from ..geometry import shapes
from ..geometry.mesh import TriMesh
from ..materials import Fabric
from ..model import Model
from ..scene import Scene
from ..simulation import Simulation
from ..solvers.xpbd.solver import XPBD
from .experiment import Experiment, Line, Plot, Table, Verdict
from .statics import relax
from .textile import Measured, _ends, converged_pair, edge_load

Array = np.ndarray


def direction_modulus(fabric: Fabric, degrees: float) -> tuple[float, float]:
    """Modulus times thickness [N/m] and contraction for a pull at an angle to the warp.

    Jones, Mechanics of Composite Materials, section 2: 1/E(a) = cos^4/E1 + sin^4/E2 + (1/G - 2 nu12/E1)
    sin^2 cos^2, and nu(a) = E(a) (nu12/E1 (cos^4 + sin^4) - (1/E1 + 1/E2 - 1/G) sin^2 cos^2).
    """
    e1, e2, g = (fabric.thickness * e for e in (fabric.youngs_modulus, fabric.weft, fabric.shear))
    c2, s2 = np.cos(np.radians(degrees)) ** 2, np.sin(np.radians(degrees)) ** 2
    pull = 1 / (c2**2 / e1 + s2**2 / e2 + (1 / g - 2 * fabric.poisson_ratio / e1) * s2 * c2)
    across = fabric.poisson_ratio / e1 * (c2**2 + s2**2) - (1 / e1 + 1 / e2 - 1 / g) * s2 * c2
    return float(pull), float(pull * across)


def woven_strip(
    fabric: Fabric,
    degrees: list[float],
    substeps: int,
    cells: tuple[int, int] = (24, 4),
    size: tuple[float, float] = (0.24, 0.04),
    strain: float = 1e-3,
    dt: float = 1e-3,
) -> Measured:
    """T05: strips cut at angles to the warp and pulled; readings: modulus times thickness [N/m], contraction.

    One end is pinned, the other loaded along its edge with the force for the given strain; strains are read
    in the middle third, away from the ends.
    """
    out = []
    for angle in degrees:
        a = np.radians(angle)
        mesh = shapes.grid(cells[0] + 1, cells[1] + 1, size=size, pattern="alternating")
        x = mesh.vertices
        left, right = _ends(x)
        scene = Scene(gravity=(0, 0, 0))
        warp = (np.cos(a), -np.sin(a), 0.0)
        scene.add_cloth(
            mesh,
            fabric.with_(bending_rigidity=0.0),
            pins=left,
            warp_direction=warp,
            membrane="orthotropic",
        )
        sim = Simulation(scene, XPBD(substeps=substeps), dt=dt)
        pull = strain * direction_modulus(fabric, angle)[0]
        load = np.zeros_like(x)
        load[right] = edge_load(x, right, np.array([pull * size[1], 0.0, 0.0]))
        sim.control.set_force(load)
        rest = relax(sim, tolerance=1e-7)
        y, middle = sim.x[0], np.abs(x[:, 0]) < size[0] / 6
        eps = [np.polyfit(x[middle, k], y[middle, k], 1)[0] - 1 for k in (0, 1)]
        out.append([pull / eps[0], -eps[1] / eps[0]])
    return Measured(np.array(out), rest)


def simple_shear(
    fabric: Fabric,
    angle: float,
    membrane: str | None = None,
    cells: int = 4,
    size: float = 0.1,
    substeps: int = 20,
    dt: float = 1e-3,
) -> Measured:
    """T06: a square sheared by an angle [rad] along its x axis; reading: force per length on its top [N/m].

    All four edges are moved, since free sides would bear no shear. The force is that of the elastic energy on
    the vertices of the top edge; the other edges' tractions do not enter its x component.
    """
    mesh = shapes.grid(cells + 1, cells + 1, size=(size, size), pattern="alternating")
    x = mesh.vertices
    rim = np.flatnonzero(np.abs(x[:, :2]).max(axis=1) > 0.5 * size * (1 - 1e-9))
    scene = Scene(gravity=(0, 0, 0))
    scene.add_cloth(
        mesh,
        fabric.with_(bending_rigidity=0.0),
        pins=rim,
        warp_direction=(1, 0, 0),
        membrane=membrane,
    )
    sim = Simulation(scene, XPBD(substeps=substeps), dt=dt, worlds=2)
    moved = x + angle * x[:, 1:2] * [1.0, 0.0, 0.0]
    sim.control.set_pins(rim, np.stack([moved[rim]] * 2))
    inside = 1e-2 * size / cells * np.random.default_rng(1).uniform(-1, 1, x.shape) * [1, 1, 0]
    sim.state.set_x(np.where(np.isin(np.arange(len(x)), rim)[:, None], moved, moved + inside))
    rest = relax(sim, tolerance=1e-9)
    force = {law: sim.constraint_forces(law).astype(float) for law in sim.model.blocks}
    gradient = law_values(sim.model, sim.state, sim.control, force)[1]
    top = x[:, 1] > 0.5 * size * (1 - 1e-9)
    return Measured(gradient[:, top, 0].sum(axis=1)[:, None] / size, rest)


RING = (np.pi / 4, 0.5, 0.75 * np.pi - 2)
"""Tip of a quarter ring clamped at one end, in P R^3/EI: along the load for a load along the tip's radius,
across it (either way), and along the load for a load along its tangent."""


def quarter_ring(
    bending: str,
    substeps: int,
    elements: int = 20,
    radius: float = 0.1,
    rigidity: float = 1e-4,
    load: float = 0.01,
    dt: float = 1e-3,
) -> Measured:
    """A narrow strip that is a quarter of a cylinder at rest, clamped at one end, a small force at the other.

    Readings, for a force along the tip's radius (first world) and along its tangent (second): displacement of
    the tip along its radius and along its tangent over P R^3/(B width). Curved beam without stretch, moment
    P R cos t or P R (1 - sin t) at the angle t from the clamp (Castigliano): :data:`RING`.

    The strip is ribbed, and the first element is pinned, as in :func:`pliant.lab.textile.heavy_elastica`: the
    clamp lies half an element inside it.
    """
    turn = 0.5 * np.pi / (elements + 0.5)
    width = 2 * radius * np.sin(0.5 * turn)
    flat = shapes.grid(elements + 2, 2, size=(1.0, 1.0))
    place = np.unique(flat.vertices[:, 0].round(9), return_inverse=True)[1]
    t = (place - 0.5) * turn
    side = np.where(flat.vertices[:, 1] > 0, 0.5, -0.5) * width
    x = np.stack([radius * np.sin(t), side, radius * np.cos(t)], axis=1)
    fabric = Fabric(
        youngs_modulus=3000 * rigidity / radius**2 / 5e-4, poisson_ratio=0.0, bending_rigidity=rigidity
    )
    scene = Scene(gravity=(0, 0, 0))
    scene.add_cloth(
        TriMesh(x, flat.triangles, name="ring"), fabric, pins=np.flatnonzero(place < 2), bending=bending
    )
    sim = Simulation.of_model(scene, _ribbed(scene.build(2), bending, place), XPBD(substeps=substeps), dt=dt)
    force = load * rigidity * width / radius**2
    tip = np.flatnonzero(place == elements + 1)
    pull = np.zeros((2, len(x), 3))
    pull[0, tip, 0] = pull[1, tip, 2] = 0.5 * force
    sim.control.set_force(pull)
    rest = relax(sim, tolerance=1e-6)
    moved = (sim.x[:, tip] - x[tip]).mean(axis=1)[:, [0, 2]]
    return Measured(moved * rigidity * width / (force * radius**3), rest)


def _ribbed(model: Model, law: str, place: Array) -> Model:
    """The model with every hinge rigid whose edge does not run across the strip."""
    block = model.blocks[law]
    across = place[block.ids[:, 0]] == place[block.ids[:, 1]]
    compliance = np.where(across[:, None], block.compliance, 0.0)
    return replace(model, blocks={**model.blocks, law: replace(block, compliance=compliance)})


EXAMPLE = Fabric(
    "woven", thickness=1e-3, youngs_modulus=1e6, weft_modulus=4e5, poisson_ratio=0.25, shear_modulus=5e4
)
"""E1 t = 1000, E2 t = 400, G t = 50 N/m."""


def run(quick: bool = False) -> Experiment:
    """Woven strips, shear, curved strips."""
    angles = [0.0, 90.0, 45.0] if quick else [0.0, 15.0, 30.0, 45.0, 60.0, 75.0, 90.0]
    out = Experiment(
        "sheets",
        "Woven and curved sheets",
        "Strips of a woven sheet are pulled at angles to the warp, a square is sheared, a strip that is a "
        "quarter of a cylinder at rest is opened. Each stands against plane stress or the curved beam.",
        {"fabric": "E1 t = 1000, E2 t = 400, G t = 50 N/m, nu = 0.25", "dt": "1 ms", "dtype": "float64",
         "substeps": "40 and 80 (strips), 20 (shear, ring)"},
    )  # fmt: skip
    if quick:
        runs = [woven_strip(EXAMPLE, angles, 40).readings] * 2
    else:
        runs = [m.readings for m in converged_pair(lambda s: woven_strip(EXAMPLE, angles, s), 40)]
    rows, exact = [], np.array([direction_modulus(EXAMPLE, a) for a in angles])
    for angle, (pull, across), before, should in zip(angles, runs[1], runs[0], exact, strict=True):
        rows.append((angle, pull, before[0], should[0], across, should[1]))
        source = "1/E(a), Jones, Mechanics of Composite Materials (T05)"
        out.verdicts.append(
            Verdict(f"strip at {angle:g} deg: E t [N/m]", float(pull), should[0], 0.03, source)
        )
        source = "nu(a), Jones (T05)"
        out.verdicts.append(
            Verdict(
                f"strip at {angle:g} deg: contraction", float(across), should[1], 0.02, source, absolute=True
            )
        )
    heads = (
        "angle [deg]",
        "E t [N/m]",
        "with half the substeps",
        "closed form",
        "contraction",
        "closed form",
    )
    out.tables.append(Table("Strips at angles to the warp", heads, rows))
    fine = np.linspace(0, 90, 91)
    curve = [direction_modulus(EXAMPLE, a)[0] for a in fine]
    measured = sorted(zip(angles, runs[1][:, 0].tolist(), strict=True))
    lines = [
        Line("measured", [a for a, _ in measured], [e for _, e in measured]),
        Line("plane stress", fine, curve, True),
    ]
    out.plots.append(Plot("Strips at angles to the warp", "angle to the warp [deg]", "E t [N/m]", lines))
    for degrees in (0.5, 2.0):
        angle = float(np.radians(degrees))
        force = float(simple_shear(EXAMPLE, angle).readings[0, 0])
        source = "G t gamma (T06)"
        out.verdicts.append(
            Verdict(f"shear by {degrees:g} deg: force per length [N/m]", force, 50 * angle, 0.02, source)
        )
    ring: list[tuple[object, ...]] = []
    for bending in ("curved", "dihedral"):
        (a, b), (_, c) = quarter_ring(bending, 20).readings
        ring.append((bending, a, RING[0], b, RING[1], c, RING[2]))
        for what, value, should in (("along a radial load", a, RING[0]), ("across it", b, RING[1]),
                                    ("along a tangential load", c, RING[2])):  # fmt: skip
            out.verdicts.append(
                Verdict(f"quarter ring, {bending}: tip {what}, in P R³/(B w)", float(value), should, 0.03,
                        "curved beam without stretch, Castigliano")
            )  # fmt: skip
    names = ("law", "along", "exact", "across", "exact", "tangential", "exact")
    out.tables.append(Table("Quarter ring, motion of the tip in P R³/(B w)", names, ring))
    return out
