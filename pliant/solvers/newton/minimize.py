"""Newton's method with a line search, on an objective that knows the rounding error of its own numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from typing import Protocol as Interface

import numpy as np

from .pattern import Factor

Array = np.ndarray

ARMIJO = 1e-4
"""Share of the predicted fall of energy that a step must bring."""
SHORTEST = 2.0**-40
"""Length of the shortest step tried."""
POLISH = 3
"""Steps with the last factor once the gradient is small enough: they cost a back-substitution each."""


ROUNDS = 40
"""Rounds of multipliers."""
STIFFEST = 1e3
"""How much penalties may grow."""

ESCAPES = 20
"""Saddles that one minimisation leaves."""

CLAMPED = (0.0, 0.05, 0.2, 0.5, 1.0)
"""Shares of clamped elements in the matrix that are tried, until it is positive definite: the smallest share
that will do keeps most of the curvature, and converges in half as many iterations as clamping everything."""


@dataclass
class Value:
    """The objective at a point d (n,).

    energies (E,) of all elements [J]; gradient (n,) [N]; floor: rounding error of the gradient's norm;
    slack: of a difference of energies; blocks: Hessians of the elements, columns (n, k): what else adds
    ``U U^T`` to the Hessian; own (n/3, 3, 3): what adds to each particle's own block.
    """

    d: Array
    energies: Array
    gradient: Array
    floor: float
    slack: float
    blocks: list[Array]
    columns: Array
    own: Array

    @property
    def residual(self) -> float:
        """Norm of the gradient [N]."""
        return float(np.linalg.norm(self.gradient))


class Objective(Interface):
    """What is minimised: a function of the free particles' way d (n,) [m] from their prediction."""

    def value(self, d: Array, hessian: bool, projected: bool) -> Value:
        """Energies and gradient, with the elements' Hessians if asked for."""
        ...

    def difference(self, new: Value, old: Value) -> float:
        """Energy of one less that of another, element by element."""
        ...

    def matrix(self, value: Value) -> Array:
        """The Hessian's numbers, without its columns."""
        ...

    def factor(self, matrix: Array, columns: Array) -> Factor | None:
        """A factor; None where the matrix is not positive definite."""
        ...

    @property
    def reach(self) -> float:
        """How far a particle may go at once, away from a saddle [m]."""
        ...

    def downward(self, value: Value) -> tuple[Array, float]:
        """A unit vector along which the Hessian is negative, and how much; 0 if there is none."""
        ...


class Constrained(Objective, Interface):
    """An objective with rigid rows."""

    @property
    def is_constrained(self) -> bool:
        """Whether there are any."""
        ...

    def stiffen(self, value: Value) -> None:
        """Choose their penalties."""
        ...

    def violation(self, d: Array) -> float:
        """The largest share of its size by which one is off."""
        ...

    def harden(self, d: Array, factor: float) -> None:
        """Multipliers take over from penalties, which grow by a factor."""
        ...


@dataclass
class Outcome:
    """Where a minimisation ended.

    iterations: Newton steps; residual, start and floor [N]: norms of the gradient at the end, at the
    prediction, and of its rounding error; clamped: iterations whose Hessian was not positive definite;
    why: in words, where it did not converge; falls: of the energy since the start, after each iteration [J],
    of a solver that keeps them.
    """

    value: Value
    converged: bool
    iterations: int
    residual: float
    start: float
    floor: float
    clamped: int
    why: str = ""
    falls: tuple[float, ...] = ()


class Descent:
    """Factors of Hessians that are positive definite, or have been made so."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self.last = 0
        self.clamped = 0
        self.escapes = 0

    def factor(self, value: Value) -> Factor | None:
        """A factor at a value, with the smallest share of clamping near the one that served last."""
        exact = self.objective.matrix(value)
        all_clamped: Array | None = None
        for k in range(max(self.last - 1, 0), len(CLAMPED)):
            matrix = exact
            if k > 0:
                if all_clamped is None:
                    all_clamped = self.objective.matrix(self.objective.value(value.d, True, True))
                matrix = (1 - CLAMPED[k]) * exact + CLAMPED[k] * all_clamped
            factor = self.objective.factor(matrix, value.columns)
            if factor is not None:
                self.last = k
                self.clamped += k > 0
                return factor
        return None


def minimize(objective: Objective, d: Array, start: float, tolerance: float, most: int) -> Outcome:
    """Minimise from d; done when the gradient is at most max(tolerance start, its rounding error).

    start [N]: norm of the gradient that tolerances refer to. The true Hessian is used where it is positive
    definite. Once it is done, a few more steps bring the gradient as far down as they can.
    """
    descent = Descent(objective)
    value = objective.value(d, hessian=True, projected=False)
    factor: Factor | None = None
    why = f"{most} iterations were not enough"
    for k in range(most + 1):
        residual = value.residual
        if not np.isfinite(residual):
            why = "the energy is not finite"
            break
        done = residual <= max(tolerance * start, value.floor)
        if done and descent.last > 0 and k < most:
            lower = escape(objective, value, descent)
            if lower is not None:
                value = lower
                continue
        if done:
            floor, value = value.floor, polished(objective, value, factor)
            return Outcome(value, True, k, value.residual, start, floor, descent.clamped)
        if k == most:
            break
        factor = descent.factor(value)
        if factor is None:
            why = "the clamped Hessian is singular"
            break
        step = -factor.solve(value.gradient)
        following = None
        if descent.last > 0 and -value.gradient @ step < 100 * value.slack:
            following = escape(objective, value, descent)
        following = following or line_search(objective, value, step)
        if following is None:
            why = "no step lowers the energy"
            break
        value = following
    return Outcome(value, False, k, value.residual, start, value.floor, descent.clamped, why)


def constrained(
    objective: Any, d: Array, start: float, tolerance: float, most: int, exact: float,
    inner: Callable[[Any, Array, float, float, int], Outcome] = minimize,
) -> Outcome:  # fmt: skip
    """Minimise under rigid rows, by augmented Lagrangians, until they hold to the share ``exact``.

    objective: a :class:`Constrained`; inner: what minimises it. Each round minimises with penalties and then
    hands what they carry to the multipliers; penalties grow where a round has not brought the rows ten times
    closer. Source: Nocedal, Wright, Numerical Optimization, section 17.3.
    """
    if not objective.is_constrained:
        return inner(objective, d, start, tolerance, most)
    objective.stiffen(objective.value(d, hessian=True, projected=False))
    before, stiffer, iterations, clamped = np.inf, 1.0, 0, 0
    for _ in range(ROUNDS):
        out = inner(objective, d, start, tolerance, most)
        iterations, clamped, d = iterations + out.iterations, clamped + out.clamped, out.value.d
        off = objective.violation(d)
        out = replace(out, iterations=iterations, clamped=clamped)
        if off <= exact or not np.isfinite(off):
            return out
        growth = 10.0 if off > 0.1 * before and stiffer < STIFFEST else 1.0
        objective.harden(d, growth)
        before, stiffer = off, stiffer * growth
    return replace(out, converged=False, why=f"rigid rows are off by {off:.1e} of their size")


def line_search(objective: Objective, value: Value, step: Array) -> Value | None:
    """Where the first of 1, 1/2, 1/4 ... of a step leads that lowers the energy enough.

    Where the predicted fall drowns in rounding, a smaller gradient will do as well.
    """
    slope = float(value.gradient @ step)
    if not slope < 0:
        return None
    length = 1.0
    while length >= SHORTEST:
        whole = length == 1.0  # mostly the one: its Hessian is needed next
        trial = objective.value(value.d + length * step, hessian=whole, projected=False)
        fall = objective.difference(trial, value)
        if np.isfinite(fall):
            drowned = -length * slope < 100 * (value.slack + trial.slack)
            falls = fall <= ARMIJO * length * slope
            if drowned:
                falls = trial.residual < value.residual or fall < -2 * (value.slack + trial.slack)
            if falls:
                return trial if whole else objective.value(trial.d, hessian=True, projected=False)
        length *= 0.5
    return None


def escape(objective: Objective, value: Value, descent: Descent) -> Value | None:
    """A lower point beside a saddle, along a direction in which the energy curves down.


    None where there is no such direction: the point is a minimum.
    """
    if descent.escapes >= ESCAPES:
        return None
    descent.escapes += 1
    v, curvature = objective.downward(value)
    if not curvature < 0:
        descent.last = 0
        return None
    reach = objective.reach
    slope = float(value.gradient @ v)
    if slope > 0:
        v, slope = -v, -slope
    length = reach / float(np.abs(v).max())
    while length * float(np.abs(v).max()) > 1e-8 * reach:
        trial = objective.value(value.d + length * v, hessian=False, projected=False)
        fall = objective.difference(trial, value)
        if fall < ARMIJO * (length * slope + length**2 * curvature) - 2 * (value.slack + trial.slack):
            return objective.value(trial.d, hessian=True, projected=False)
        length *= 0.5
    return None


def polished(objective: Objective, value: Value, factor: Factor | None) -> Value:
    """A few more steps with the factor at hand, as long as each leaves a tenth of the gradient or less."""
    floor = value.floor
    for _ in range(POLISH):
        if value.residual <= floor:
            break
        factor = factor or objective.factor(objective.matrix(value), value.columns)
        if factor is None:
            break
        trial = objective.value(value.d - factor.solve(value.gradient), hessian=False, projected=False)
        if not trial.residual < 0.1 * value.residual:
            break
        value = trial
    return value
