"""The outer loop: a global solve, then one length for positions and multipliers, until E falls no more."""

from __future__ import annotations

import numpy as np

from ..newton.minimize import ARMIJO, SHORTEST, Array, Outcome, Value
from .potential import Potential

DROWNED = 100.0
"""A fall that is less than so many rounding errors of the energy tells nothing."""

SHORT = 0.1
"""A step shorter than this tells that the multipliers mislead: they start anew from the positions."""


def minimize(
    potential: Potential, d: Array, start: float, tolerance: float, most: int, polish: int
) -> Outcome:
    """Minimise from d, until what is left to gain is at most the share ``tolerance`` of the energy's fall.

    What is left is half the decrement ``-grad E . dx``: the fall of the energy's second-order model.
    start [N]: norm of the gradient at the prediction, for the record; polish: steps that may follow with the
    last matrix.
    """
    value = potential.expand(d)
    falls: list[float] = [0.0]

    def ended(value: Value, converged: bool, why: str = "") -> Outcome:
        done = len(falls) - 1
        return Outcome(value, converged, done, value.residual, start, floor, 0, why, tuple(falls[1:]))

    for k in range(most + 1):
        floor = value.floor
        if not np.isfinite(value.residual):
            return ended(value, False, "the energy is not finite")
        if value.residual <= floor:
            return ended(value, True)
        if k == most:
            break
        step = potential.downhill(value)
        if step is None:
            return ended(value, False, "the Hessian is singular")
        left = -0.5 * float(value.gradient @ step)
        drowned = 2 * left < DROWNED * value.slack
        potential.linearise(step)
        share, trial = along(potential, value, step, 2 * left)
        if trial is None:
            return ended(value, drowned, "" if drowned else "no step lowers the energy")
        potential.follow(share)
        if share < SHORT:
            potential.restart()
        falls.append(falls[-1] - potential.difference(trial, value))
        if left <= tolerance * falls[-1] or drowned:
            return ended(polished(potential, trial, floor, polish), True)
        value = potential.expand(trial.d)
    return ended(value, False, f"{most} iterations were not enough")


def polished(potential: Potential, value: Value, floor: float, polish: int) -> Value:
    """A few more steps with the matrix at hand, as long as each leaves a tenth of the gradient or less."""
    for _ in range(polish):
        if value.residual <= floor:
            break
        trial = potential.value(value.d - potential.factored.solve(value.gradient), False, False)
        if not trial.residual < 0.1 * value.residual:
            break
        value = trial
    return value


def along(potential: Potential, value: Value, step: Array, decrement: float) -> tuple[float, Value | None]:
    """The first of 1, 1/2, 1/4 ... of a step at which E has fallen enough, and the value there."""
    share = 1.0
    while share >= SHORTEST:
        trial = potential.value(value.d + share * step, hessian=False, projected=False)
        fall = potential.difference(trial, value)
        slack = value.slack + trial.slack
        if fall <= -ARMIJO * share * decrement and np.isfinite(fall):
            return share, trial
        if share * decrement < DROWNED * slack and trial.residual < value.residual:
            return share, trial
        share *= 0.5
    return 0.0, None
