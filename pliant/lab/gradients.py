"""The gradient laboratory: is each law's force the derivative of its energy, and where does rounding set in?

For a random deformation and a random direction d, ``(U(x + eps d) - U(x - eps d))/(2 eps)`` is compared with
``dU/dx . d``. The error falls as eps^2 until rounding takes over; a flipped sign or winding leaves an error
of the size of the derivative itself at every eps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..diagnostics.report import elastic_energy, law_values
from ..geometry import shapes
from ..materials import Fabric, SolidMaterial
from ..model import Model
from ..scene import Scene
from .experiment import Experiment, Line, Plot, Table, Verdict

Array = np.ndarray

STEPS = 10.0 ** -np.arange(1, 11.5, 0.5)
"""eps, as a share of an edge."""
EDGE = 0.1
DIRECTIONS = 4

Gradient = Callable[[Model, str, Array], tuple[float, Array]]
"""Energy [J] and gradient (N, 3) [N] of one law at positions (N, 3)."""


def specimens() -> dict[str, Model]:
    """A small model for each law, with nothing but that law."""
    flat = shapes.grid(4, 4, (3 * EDGE, 3 * EDGE))
    arch = shapes.tube(0.15, 3 * EDGE, 8, 3)
    block = shapes.bar((2 * EDGE, 2 * EDGE, EDGE), (2, 2, 1))
    cloth = Fabric(bending_rigidity=1e-3, poisson_ratio=0.3)
    woven = cloth.with_(weft_modulus=5e5, shear_modulus=2e5)
    out = {}
    for law, mesh, fabric, options in (
        ("distance", flat, cloth, {"membrane": "edges"}),
        ("membrane", flat, cloth, {}),
        ("isometric", flat, cloth, {}),
        ("dihedral", arch, cloth, {"bending": "dihedral"}),
        ("dihedral_acos", arch, cloth, {"bending": "dihedral_acos"}),
        ("curved", arch, cloth, {"bending": "curved"}),
        ("orthotropic", flat, woven, {"warp_direction": (1, 0.2, 0)}),
    ):
        scene = Scene(gravity=(0, 0, 0))
        scene.add_cloth(mesh, fabric, **options)  # type: ignore[arg-type]
        out[law] = _alone(scene.build(1), law)
    for law, name in (("arap_tet", "arap"), ("neo_hookean", "neo_hookean"), ("volume", "volume")):
        scene = Scene(gravity=(0, 0, 0))
        scene.add_solid(block, SolidMaterial(youngs_modulus=1e5, poisson_ratio=0.3), law=name)
        out[law] = _alone(scene.build(1), law)
    scene = Scene(gravity=(0, 0, 0))
    sheet = scene.add_cloth(flat, cloth, membrane="none", bending="none")
    scene.add_attachment(sheet, [0, 5, 9], stiffness=50.0)
    out["attachment"] = _alone(scene.build(1), "attachment")
    return out


def _alone(model: Model, law: str) -> Model:
    return replace(model, blocks={law: model.blocks[law]})


def energy_and_gradient(model: Model, law: str, x: Array) -> tuple[float, Array]:
    """What the report of a step computes."""
    state, control = model.state(), model.control()
    state.set_x(x)
    none = {law: np.zeros((1, *model.blocks[law].compliance.shape))}
    values, g = law_values(model, state, control, none)
    return float(elastic_energy(model, control, values)[0]), g[0]


def errors(model: Model, law: str, of: Gradient = energy_and_gradient, seed: int = 0) -> Array:
    """Relative error of the derivative for each of STEPS, the largest over some directions."""
    rng = np.random.default_rng(seed)
    x = model.x_rest + 0.15 * EDGE * rng.standard_normal(model.x_rest.shape)
    _, g = of(model, law, x)
    worst = np.zeros(len(STEPS))
    for _ in range(DIRECTIONS):
        d = rng.standard_normal(x.shape)
        exact = float((g * d).sum())
        size = float(np.linalg.norm(g) * np.linalg.norm(d))
        for k, eps in enumerate(STEPS * EDGE):
            difference = (of(model, law, x + eps * d)[0] - of(model, law, x - eps * d)[0]) / (2 * eps)
            worst[k] = max(worst[k], abs(difference - exact) / size)
    return worst


def slope(found: Array) -> float:
    """Order of the error: its fall per decade between a hundredth of an edge and rounding; NaN for none."""
    last = int(found.argmin()) - 2
    fall = np.log10(found[:-2] / found[2:])  # STEPS are half decades
    clear = [k for k in range(len(fall)) if STEPS[k] < 0.05 and k + 2 <= last]
    return float(np.median(fall[clear])) if clear else float("nan")


def run(quick: bool = False) -> Experiment:
    """Every law."""
    out = Experiment(
        "gradients",
        "Gradient laboratory",
        "For every law the derivative of its energy by central differences against its forces, at a random "
        "deformation, over the step of the difference. The error must fall as its square and then meet "
        "rounding. Laws that are linear or quadratic in the positions have rounding only.",
        {"dtype": "float64", "deformation": "15 % of an edge", "directions": DIRECTIONS},
    )
    rows, lines = [], []
    for law, model in specimens().items():
        found = errors(model, law)
        order = slope(found)
        rows.append((law, float(found[0]), float(found.min()), float(STEPS[found.argmin()]), order))
        lines.append(Line(law, STEPS, found))
        out.verdicts.append(
            Verdict(f"{law}: least error of the derivative", float(found.min()), 1e-7, 0,
                    "central differences until rounding", at_most=True)
        )  # fmt: skip
        if law not in ("isometric", "attachment"):
            out.verdicts.append(
                Verdict(
                    f"{law}: order of the error", order, 2.0, 0.1, "central differences: eps²", absolute=True
                )
            )
    heads = ("law", "error at eps = 0.1 edge", "least error", "at eps [edges]", "order")
    out.tables.append(Table("Errors", heads, rows))
    half = (len(lines) + 1) // 2
    for part, drawn in (("cloth", lines[:half]), ("others", lines[half:])):
        out.plots.append(
            Plot(f"Error of the derivative: {part}", "eps [edges]", "relative error", drawn, "xy")
        )
    return out
