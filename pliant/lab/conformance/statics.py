"""Rows about rest under load: what hangs still hangs where, and with what force, the material says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...model import Block, Model
from ...solvers.base import Solver
from .case import Case, Run, budgeted, row
from .report import Finding
from .specimens import LINKS, G, chain, hanging_sheet, one_weight

Array = np.ndarray
ErrorOf = Callable[[Case, Solver, float], tuple[float, float]]

DT = 1 / 30
"""Step of these rows [s]: long enough that float32 resolves h^2 g at 20 substeps."""

OMEGA = 30.0
"""Angular frequency of the one weight [rad/s]."""

BUDGETS = ((1, 1), (1, 4), (4, 1), (4, 3), (20, 1))
"""(substeps, iterations) under which one weight must hang alike."""


def _sag(case: Case, solver: Solver, law: str, air_drag: float) -> tuple[float, float]:
    """Relative error of the sag of one weight after 1.5 s of critical damping, and its bound."""
    tau = (2 - air_drag / OMEGA) / OMEGA  # critical, together with the air
    model = one_weight(case, 1 / (2.0 * OMEGA**2), tau, law, air_drag=air_drag)
    run = case.run(model, DT, solver)
    start = run.x[:, 1, 2]
    run.step(45)
    sag = start - run.x[:, 1, 2]
    n = round(45 * DT / run.h)
    error = float(np.abs(sag / (G / OMEGA**2) - 1).max())
    resolved = 8 * case.eps * float(np.abs(run.x[:, 1]).max()) / G * (OMEGA**2 + 1 / run.h**2)
    left = n * (1 + run.h * OMEGA) ** -n
    return error, resolved + left


def _hung(case: Case, air_drag: float) -> Finding:
    solvers = [s for s in (budgeted(case.solver, *b) for b in BUDGETS) if s is not None]
    found = [
        (*_sag(case, s, law, air_drag), s)
        for s in solvers or [case.solver]
        for law in ("distance", "attachment")
    ]
    error, bound, _ = max(found, key=lambda f: f[0] / f[1] if np.isfinite(f[0]) else np.inf)
    return Finding(error, bound, f"of m g alpha, {len(solvers) or 'its only'} budgets")


@row("single_constraint_static")
def hung_weight(case: Case) -> Finding:
    """One weight on one spring hangs by m g alpha, for any number of substeps and iterations.

    At rest dx = -h^2 g is what a projection returns: alpha~ lambda = -C. Bound: positions are rounded to
    eps |x|, a force to m eps |x|/h^2, the sag to 8 eps |x| (w^2 + 1/h^2)/g of itself; and critical damping
    leaves n (1 + h w)^-n after n substeps.
    """
    return _hung(case, 0.0)


@row("single_constraint_static")
def hung_weight_in_air(case: Case) -> Finding:
    """Air drag acts on what moves: the weight of :func:`hung_weight` hangs by m g alpha in air, too."""
    return _hung(case, 0.5)


def _ladder(solver: Solver, budgets: tuple[tuple[int, int], ...]) -> list[tuple[Solver, float]]:
    """Solvers with growing budgets and their dt; where a solver has no budget, only the step shrinks."""
    out = []
    for substeps, iterations in budgets:
        other = budgeted(solver, substeps, iterations)
        out.append((solver, DT * budgets[0][0] / substeps / iterations) if other is None else (other, DT))
    return out


FINER = ((5, 1), (10, 1), (20, 1), (40, 1))
LONGER = ((5, 1), (5, 2), (5, 4), (5, 8))


MOVING = 1e-4
"""Relative errors below this are what is left of the motion, all that an exact solver has."""


def _climb(case: Case, error_of: ErrorOf, budgets: tuple[tuple[int, int], ...]) -> tuple[list[float], bool]:
    """Errors along a ladder; does each fall below the one before (or what precision and motion leave)?"""
    errors: list[float] = []
    falling = True
    for solver, dt in _ladder(case.solver, budgets):
        error, floor = error_of(case, solver, dt)
        falling = falling and (not errors or error < max(errors[-1], floor, MOVING))
        errors.append(error)
    return errors, falling


def _numbers(name: str, errors: list[float], falling: bool) -> str:
    return f"{name}: " + " ".join(f"{e:.1e}" for e in errors) + ("" if falling else " NOT FALLING")


def _resolution(case: Case, run: Run) -> float:
    """How well this precision resolves a weight: eps |x|/(g h^2)."""
    return case.eps * float(np.abs(run.x).max()) / (G * run.h**2)


SETTLING = 40


def _chain_sag(case: Case, solver: Solver, dt: float) -> tuple[float, float]:
    model, weight = chain(case)
    run = case.run(model, dt, solver)
    start = run.x
    run.settle(round(SETTLING * DT / dt))
    alpha = float(model.blocks["distance"].compliance[0, 0])
    sag = (start - run.x)[:, :-2, 2].reshape(case.worlds, LINKS, 2)
    exact = alpha * np.cumsum(weight[:LINKS][::-1])[::-1]
    return float(np.abs(sag / exact[None, :, None] - 1).max()), LINKS * _resolution(case, run)


@row("single_constraint_static")
def chain_forces(case: Case) -> Finding:
    """In chains of 8 weights at rest, -lambda/h^2 of each link reads the weight below it.

    Sign: lambda is negative where C > 0, so tension reads negative. Holds for any budget, because at rest
    each weight's corrections add up to -h^2 g. Bound: the resolution of a force, 4 eps |x|/(g h^2), and 1e-6
    for what is left of the motion.
    """
    model, weight = chain(case)
    run = case.run(model, DT)
    run.settle(SETTLING)
    error = float(np.abs(-run.force("distance")[..., 0] / weight - 1).max())
    return Finding(error, 1e-6 + 4 * _resolution(case, run), "of the weight")


@row("single_constraint_static")
def chain_sag(case: Case) -> Finding:
    """The sag of the chains tends to alpha times the sum of forces as h -> 0, and as sweeps grow.

    Largest error of a weight along 5, 10, 20, 40 substeps and along 1, 2, 4, 8 sweeps of 5 substeps; each
    smaller than the one before (or than the precision resolves), the last ones at most 2 %. Solvers without
    such parameters: the step is divided instead.
    """
    finer, down = _climb(case, _chain_sag, FINER)
    longer, also = _climb(case, _chain_sag, LONGER)
    note = f"{_numbers('h/2', finer, down)}; {_numbers('2x sweeps', longer, also)}"
    return Finding(max(finer[-1], longer[-1]) if down and also else np.nan, 0.02, note)


def _sheet_rows(model: Model) -> int:
    return round(np.sqrt(model.n_particles))


def _weights_below(model: Model) -> Array:
    """Weight that each row of triangles carries, from the bottom [N]."""
    n = _sheet_rows(model)
    return np.cumsum(G * model.mass.reshape(n, n).sum(axis=1))[:-1]


def _sheet_sag(case: Case, solver: Solver, dt: float) -> tuple[float, float]:
    model = hanging_sheet(case, poisson=0.0)
    run = case.run(model, dt, solver)
    start = run.x
    run.settle(round(SETTLING * DT / dt))
    n = _sheet_rows(model)
    width = float(np.ptp(model.x_rest[:, 0]))
    alpha = model.blocks["membrane"].compliance[0, 0]
    stiffness = 1 / (alpha * model.parts[0].rest_area[0])  # w = E t for Poisson's ratio 0
    strain = _weights_below(model) / (stiffness * width)
    exact = width / (n - 1) * np.cumsum(strain[::-1])[::-1]
    sag = (start - run.x)[:, :-n, 2].reshape(case.worlds, n - 1, n)
    return float(np.abs(sag / exact[None, :, None] - 1).max()), n * _resolution(case, run)


@row("single_constraint_static")
def sheet_sag(case: Case) -> Finding:
    """A hanging sheet of ARAP triangles stretches by (weight below)/(E t width) in each row of triangles.

    Poisson's ratio 0: the energy is then quadratic in the stretch and that answer exact. The error must fall
    along 5, 10, 20, 40 substeps, to 1 %. Sweeps are reported only: gradients that turn between sweeps leave
    XPBD a remainder of its own at fixed h (Macklin et al. 2016, section 4: the primal residual is dropped).
    """
    finer, down = _climb(case, _sheet_sag, FINER)
    longer, _ = _climb(case, _sheet_sag, LONGER)
    note = f"{_numbers('h/2', finer, down)}; {_numbers('2x sweeps', longer, True)}"
    return Finding(finer[-1] if down else np.nan, 0.01, note)


def membrane_forces(x: Array, block: Block, force: Array) -> Array:
    """Forces (N, 3) [N] of ARAP triangles at ``x`` (N, 3) for lambda/h^2 (E, 2), in the order of ``block``.

    An independent twin of the law: the rotation comes from a singular value decomposition.
    """
    out = np.zeros_like(x)
    inverse = block.params.reshape(-1, 2, 2)
    i, j, k = block.ids.T
    deformation = np.stack([x[j] - x[i], x[k] - x[i]], axis=2) @ inverse
    u, _, vt = np.linalg.svd(deformation, full_matrices=False)
    turn = u @ vt
    away = deformation - turn
    size = np.linalg.norm(away, axis=(1, 2), keepdims=True)
    shape = np.where(size > 0, away / np.where(size > 0, size, 1), 0)
    stress = (force[:, :1, None] * shape + force[:, 1:, None] * turn) @ inverse.transpose(0, 2, 1)
    np.add.at(out, j, stress[..., 0])
    np.add.at(out, k, stress[..., 1])
    np.add.at(out, i, -stress.sum(axis=2))
    return out


@row("single_constraint_static")
def sheet_forces(case: Case) -> Finding:
    """Across each horizontal cut of a hanging sheet, lambda/h^2 reads the weight below (Poisson's ratio 0.3).

    The forces lambda/h^2 grad C on all particles above a cut add up to that weight. Gradients are taken at
    the end of the step, multipliers belong to the sweep before: 1 % is allowed for that, and the resolution
    of a force, eps |x|/(g h^2), for each particle of a row.
    """
    model = hanging_sheet(case, poisson=0.3)
    run = case.run(model, DT / 2)
    run.settle(2 * SETTLING)
    n = _sheet_rows(model)
    block = model.blocks["membrane"].in_file_order()
    weight = _weights_below(model)
    worst = 0.0
    for x, force in zip(run.x, run.force("membrane"), strict=True):
        pull = membrane_forces(x, block, force)[:, 2].reshape(n, n).sum(axis=1)
        above = np.cumsum(pull[::-1])[::-1][1:]
        worst = max(worst, float(np.abs(-above / weight - 1).max())) if np.isfinite(above).all() else np.nan
    return Finding(worst, 0.01 + n * _resolution(case, run), "of the weight")


ROWS = (hung_weight, hung_weight_in_air, chain_forces, chain_sag, sheet_sag, sheet_forces)
