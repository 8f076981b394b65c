"""The full report of a step: energies, residuals, multipliers, momentum, per world."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..backend.lanes import Lanes
from ..laws import LAWS
from ..model import Model
from ..protocol import StepInfo
from ..state import Control, State, gathered
from .kernels import EVALUATE
from .sheet_kernels import EVALUATE_SHEETS
from .tie_kernels import EVALUATE_TIES

Array = np.ndarray


@dataclass
class Substep:
    """What a solver knows of its last substep, all in the model's precision and in lanes.

    h [s]; x_prev, v_prev (T, N, 3, L) at its start, what air and given pressures gave included; lambda_ per
    law (T, E, r, L), in the order of the model's blocks; other_force (W, N, 3) [N] on the particles, of
    colliders and gases.
    """

    h: float
    x_prev: Array
    v_prev: Array
    lambda_: dict[str, Array]
    other_force: Array


def summed(values: Array) -> Array:
    """Sum over all but the first axis, in an order that does not depend on the number of worlds."""
    return np.array([np.sum(np.ascontiguousarray(v).ravel()) for v in values])


def law_values(model: Model, state: State, control: Control, force: dict[str, Array]) -> tuple[dict, Array]:
    """Constraint values per law (W, E, r) and the gradient of the elastic energy (W, N, 3) [N].

    force: per law lambda/h^2 (W, E, r), used where a row is rigid.
    """
    x = np.ascontiguousarray(gathered(state.x_lanes, model)[..., None], dtype=float)
    held = np.ascontiguousarray(gathered(control.attachment_targets, model)[..., None], dtype=float)
    if "attachment" in model.blocks:
        held = np.ascontiguousarray(held[:, model.blocks["attachment"].file_order])
    g = np.zeros_like(x)
    values = {}
    for law in LAWS:
        block = model.blocks.get(law)
        if block is None:
            continue
        alpha = world_compliance(model, control, law)
        out = np.zeros((*alpha.shape, 1))
        ids = np.ascontiguousarray(block.ids)
        params = np.ascontiguousarray(block.params)
        evaluate = (EVALUATE | EVALUATE_SHEETS | EVALUATE_TIES)[law]
        evaluate(x, ids, params, alpha, np.ascontiguousarray(force[law]), held, out, g, Lanes(1))
        values[law] = out[..., 0]
    return values, g[..., 0]


def world_compliance(model: Model, control: Control, law: str) -> Array:
    """Compliance (W, E, r) of a law in each world."""
    softness = 1 / gathered(control.scale[law], model).astype(float)
    return model.blocks[law].compliance * softness[:, None, None]


def elastic_energy(model: Model, control: Control, values: dict[str, Array]) -> Array:
    """sum C^2/(2 alpha) (W,) [J]; rigid rows store nothing."""
    total = np.zeros(model.n_worlds)
    for law, c in values.items():
        alpha = world_compliance(model, control, law)
        soft = alpha > 0
        total += summed(np.where(soft, c**2 / np.where(soft, 2 * alpha, 1), 0.0))
    return total


def complete_report(info: StepInfo, model: Model, state: State, control: Control, last: Substep) -> None:
    """Fill the energies and residuals of a StepInfo (see there for their meaning)."""
    m, h = model.mass, last.h
    inertia = m * (1 + h * model.air_drag)  # implicit drag: what answers to a force within one substep
    x, v = gathered(state.x_lanes, model).astype(float), gathered(state.v_lanes, model).astype(float)
    lam = {law: gathered(a, model).astype(float) for law, a in last.lambda_.items()}
    force = {law: a / h**2 for law, a in lam.items()}
    values, gradient = law_values(model, state, control, force)
    info.elastic = elastic_energy(model, control, values)
    info.kinetic = 0.5 * summed(m[:, None] * v**2)
    info.potential = -summed(m[:, None] * x * gravities(model, control))
    free = model.inv_mass > 0
    lag = np.where(free[:, None], x - predicted(model, control, last), 0.0)
    info.incremental_potential = 0.5 / h**2 * summed(inertia[:, None] * lag**2) + info.elastic
    out_of_balance = inertia[:, None] * lag / h**2 + gradient - last.other_force
    info.primal_residual = np.sqrt(summed(np.where(free[:, None], out_of_balance, 0.0) ** 2))
    info.momentum = np.array([np.sum(m[:, None] * w, axis=0) for w in v])
    info.angular_momentum = np.array(
        [np.sum(np.cross(a, m[:, None] * w), axis=0) for a, w in zip(x, v, strict=True)]
    )
    for law, c in values.items():
        alpha = world_compliance(model, control, law)
        present = np.isfinite(model.blocks[law].compliance)
        residual = np.abs(c + np.where(present, alpha, 0.0) / h**2 * lam[law])
        if LAWS[law].one_sided:  # a slack row owes nothing
            residual = np.where(lam[law] < 0, residual, np.maximum(c, 0.0))
        residual = residual[:, present]
        info.constraint_residual[law] = {
            "mean": summed(residual) / residual.shape[1],
            "p95": np.percentile(residual, 95, axis=1),
            "max": residual.max(axis=1),
        }
        f = force[law][:, present]
        info.multipliers[law] = (f.min(axis=1), f.max(axis=1))


def gravities(model: Model, control: Control) -> Array:
    """Gravity of each world (W, 1, 3) [m/s^2]."""
    return gathered(control.gravity, model).astype(float)[:, None]


def predicted(model: Model, control: Control, last: Substep) -> Array:
    """x~ (W, N, 3) of the last substep: where particles would be without constraints and contacts."""
    h = last.h
    x, v = gathered(last.x_prev, model).astype(float), gathered(last.v_prev, model).astype(float)
    acceleration = gravities(model, control)
    if control.f_ext.shape[1]:
        acceleration = acceleration + model.inv_mass[:, None] * gathered(control.f_ext, model).astype(float)
    return x + h * (v + h * acceleration) / (1 + h * model.air_drag)
