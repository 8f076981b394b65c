"""One iteration of L-BFGS on one tile, with the constant matrix as initial Hessian.

Nocedal, Wright, Numerical Optimization, algorithm 7.4; with no history it is projective dynamics itself,
whose full step never raises E of the laws it is made for (Bouaziz et al. 2014; Liu, Bouaziz, Kavan 2017).
Every world is on its own: a step length, an end, a history for each lane; a lane that waits for its
neighbours tries the same point again and finds the same numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backend.jit import kernel, prange
from ...backend.lanes import any_lane, both, either, load, maximum, minimum, splat, store, where
from ..motion import coordinates
from .arrays import ALPHA, DONE, DOT, ENERGY, FAILS, GAIN, SLOPE, SMALL, STUCK
from .sums import combine, sum_of

ARMIJO = 1e-4
"""Share of the predicted fall of E that a step must bring."""
NOISE, LEVEL = 1e4, 0.8
"""Changes of E that rounding hides, in units of eps E: strains are rounded far more coarsely than positions,
by the size of the scene over their own; share of the slope that may be left the other way."""
TRIALS = 8
"""Step lengths tried, the last of them 0."""
CURVED = 1e-3
"""A pair enters the history where E bends along it at least this much of what was expected."""


@kernel
def number(s: Any, which: Any, t: Any, lanes: Any) -> Any:
    """A number of each world."""
    return load(s.numbers[which, t], (), lanes)


@kernel
def put(s: Any, which: Any, t: Any, value: Any, lanes: Any) -> None:
    """Keep a number of each world."""
    store(s.numbers[which, t], (), value, lanes)


@kernel
def towards(
    team: Any, s: Any, t: Any, half: Any, newest: Any, known: Any, w: Any, lanes: Any, items: Any
) -> None:
    """p = g less what the history knows of it: the right-hand side of the solve."""
    p, many = coordinates(s.p[t]), s.rho.shape[0]
    put(s, DOT, t, splat(s.numbers, 0.0, lanes), lanes)
    combine(team, p, coordinates(s.g[half, t]), s.numbers[DOT, t], coordinates(s.g[half, t]), w, items)
    for k in range(known):
        j = (newest - k) % many
        sum_of(team, coordinates(s.s[j, t]), p, False, s.numbers[DOT, t], s.partial[t], w, lanes, items)
        a = load(s.rho[j, t], (), lanes) * number(s, DOT, t, lanes)
        store(s.a[j, t], (), a, lanes)
        put(s, DOT, t, -a, lanes)
        combine(team, p, p, s.numbers[DOT, t], coordinates(s.y[j, t]), w, items)


@kernel
def back(
    team: Any, s: Any, t: Any, half: Any, newest: Any, known: Any, w: Any, lanes: Any, items: Any
) -> None:
    """From the solution to the direction -p, its slope, and the step length to try first."""
    p, many = coordinates(s.p[t]), s.rho.shape[0]
    for k in range(known):
        j = (newest - (known - 1 - k)) % many
        sum_of(team, coordinates(s.y[j, t]), p, False, s.numbers[DOT, t], s.partial[t], w, lanes, items)
        b = load(s.rho[j, t], (), lanes) * number(s, DOT, t, lanes)
        put(s, DOT, t, load(s.a[j, t], (), lanes) - b, lanes)
        combine(team, p, p, s.numbers[DOT, t], coordinates(s.s[j, t]), w, items)
    sum_of(team, coordinates(s.g[half, t]), p, False, s.numbers[SLOPE, t], s.partial[t], w, lanes, items)
    going = both(number(s, SLOPE, t, lanes) > 0.0, number(s, DONE, t, lanes) < 0.5)
    zero = splat(s.numbers, 0.0, lanes)
    put(s, ALPHA, t, where(going, zero + 1.0, zero), lanes)


@kernel
def move(team: Any, s: Any, t: Any, half: Any, w: Any, lanes: Any, items: Any) -> None:
    """d = d - alpha p in the half that is tried, x = x~ + d."""
    put(s, DOT, t, -number(s, ALPHA, t, lanes), lanes)
    tried = coordinates(s.d[1 - half, t])
    combine(team, tried, coordinates(s.d[half, t]), s.numbers[DOT, t], coordinates(s.p[t]), w, items)
    put(s, DOT, t, splat(s.numbers, 1.0, lanes), lanes)
    combine(team, coordinates(s.x[t]), coordinates(s.x_tilde[t]), s.numbers[DOT, t], tried, w, items)


@kernel
def rejected(
    team: Any, s: Any, t: Any, half: Any, trial: Any, eps: Any, w: Any, lanes: Any, items: Any
) -> bool:
    """Whether some world must try a shorter step.

    E may not rise, up to its rounding. Where that hides what a step brings, its slope there decides: it must
    still fall, or rise less than it fell (Hager, Zhang 2005, A new conjugate gradient method with guaranteed
    descent, eq. 4.1). The next length is where a parabola has its lowest point.
    """
    sum_of(team, s.e[1 - half, t], s.e[half, t], True, s.numbers[GAIN, t], s.partial[t], w, lanes, items)
    alpha, slope = number(s, ALPHA, t, lanes), number(s, SLOPE, t, lanes)
    gain = number(s, GAIN, t, lanes)
    fine = either(gain <= -ARMIJO * alpha * slope, alpha <= 0.0)
    if any_lane(where(fine, 0.0 * alpha, 0.0 * alpha + 1.0) > 0.5):
        g = coordinates(s.g[1 - half, t])
        sum_of(team, g, coordinates(s.p[t]), False, s.numbers[DOT, t], s.partial[t], w, lanes, items)
        hidden = gain <= NOISE * eps * number(s, ENERGY, t, lanes)
        fine = either(fine, both(hidden, number(s, DOT, t, lanes) >= -LEVEL * slope))
    lowest = 0.5 * alpha * alpha * slope / (gain + alpha * slope)
    shorter = maximum(minimum(lowest, 0.5 * alpha), 0.1 * alpha)
    if trial >= TRIALS - 2:
        shorter = 0.0 * slope
    shorter = where(shorter < alpha, shorter, 0.0 * slope)  # not a number: stop
    put(s, ALPHA, t, where(fine, alpha, shorter), lanes)
    return any_lane(where(fine, alpha * 0.0, alpha * 0.0 + 1.0) > 0.5)


@kernel
def remember(
    team: Any, s: Any, t: Any, half: Any, slot: Any, eps: Any, w: Any, lanes: Any, items: Any
) -> None:
    """Take the tried point; keep the pair; see who has ended."""
    alpha, slope = number(s, ALPHA, t, lanes), number(s, SLOPE, t, lanes)
    zero, many = 0.0 * alpha, s.rho.shape[0]
    failed = alpha <= 0.0
    for j in range(many):  # a search that failed drops what it went by
        store(s.rho[j, t], (), where(failed, zero, load(s.rho[j, t], (), lanes)), lanes)
    if many > 0:
        now, then = coordinates(s.g[1 - half, t]), coordinates(s.g[half, t])
        put(s, DOT, t, zero - 1.0, lanes)
        combine(team, coordinates(s.y[slot, t]), now, s.numbers[DOT, t], then, w, items)
        combine(
            team,
            coordinates(s.s[slot, t]),
            coordinates(s.d[1 - half, t]),
            s.numbers[DOT, t],
            coordinates(s.d[half, t]),
            w,
            items,
        )
        y, way = coordinates(s.y[slot, t]), coordinates(s.s[slot, t])
        sum_of(team, way, y, False, s.numbers[DOT, t], s.partial[t], w, lanes, items)
        bend = number(s, DOT, t, lanes)
        known = both(bend > CURVED * alpha * alpha * slope, bend > 0.0)
        store(s.rho[slot, t], (), where(known, 1.0 / where(known, bend, zero + 1.0), zero), lanes)
    fails = where(failed, number(s, FAILS, t, lanes) + 1.0, zero)
    put(s, FAILS, t, fails, lanes)
    put(s, ENERGY, t, number(s, ENERGY, t, lanes) + number(s, GAIN, t, lanes), lanes)
    g = coordinates(s.g[1 - half, t])
    sum_of(team, g, g, False, s.numbers[DOT, t], s.partial[t], w, lanes, items)
    done = number(s, DONE, t, lanes)
    hidden = slope <= NOISE * eps * number(s, ENERGY, t, lanes)  # as far as rounding lets it see
    done = where(both(fails > 1.5, done < 0.5), where(hidden, zero + 1.0, zero + STUCK), done)
    done = where(number(s, DOT, t, lanes) <= number(s, SMALL, t, lanes), zero + 1.0, done)
    put(s, DONE, t, done, lanes)


@kernel
def set_out(team: Any, s: Any, t: Any, half: Any, tolerance: Any, w: Any, lanes: Any, items: Any) -> None:
    """At the prediction: E, and which gradient will be small enough."""
    zero = splat(s.numbers, 0.0, lanes)
    for j in range(s.rho.shape[0]):
        store(s.rho[j, t], (), zero, lanes)
    g, e = coordinates(s.g[1 - half, t]), s.e[1 - half, t]
    sum_of(team, e, s.e[half, t], True, s.numbers[GAIN, t], s.partial[t], w, lanes, items)
    put(s, ENERGY, t, number(s, GAIN, t, lanes), lanes)
    sum_of(team, g, g, False, s.numbers[DOT, t], s.partial[t], w, lanes, items)
    put(s, SMALL, t, number(s, DOT, t, lanes) * (tolerance * tolerance), lanes)
    put(s, DONE, t, where(number(s, DOT, t, lanes) <= 0.0, zero + 1.0, zero), lanes)


@kernel
def aim(team: Any, k: Any, t: Any, s: Any, w: Any, lanes: Any, items: Any) -> None:
    """Iteration ``k`` of a tile begins; p holds what the solve made of its right-hand side."""
    half, many = (k + 1) % 2, s.rho.shape[0]
    if k > 0:
        back(team, s, t, half, k - 2, min(k - 1, many), w, lanes, items)
    s.searching[t] = 1
    move(team, s, t, half, w, lanes, items)


@kernel
def judge(team: Any, k: Any, trial: Any, t: Any, s: Any, limits: Any, w: Any, lanes: Any, items: Any) -> None:
    """Look at the tried point: try a shorter step, or take it and make the next right-hand side.

    limits (2,): tolerance, rounding of the precision.
    """
    half, many = (k + 1) % 2, s.rho.shape[0]
    if not s.searching[t]:
        return
    if k > 0 and trial < TRIALS - 1 and rejected(team, s, t, half, trial, limits[1], w, lanes, items):
        move(team, s, t, half, w, lanes, items)
        return
    s.searching[t] = 0
    if k > 0:
        remember(team, s, t, half, (k - 1) % max(many, 1), limits[1], w, lanes, items)
    else:
        set_out(team, s, t, half, limits[0], w, lanes, items)
    towards(team, s, t, 1 - half, k - 1, min(k, many), w, lanes, items)


@kernel(parallel=True)
def aim_tiles(team: Any, k: Any, first: Any, last: Any, s: Any, lanes: Any, items: Any) -> None:
    """:func:`aim` on tiles ``first`` to ``last``, each by one thread."""
    for n in prange(last - first):
        t = first + np.int64(n)
        aim(team, k, t, s, s.strands[t : t + 1], lanes, items)


@kernel(parallel=True)
def judge_tiles(
    team: Any, k: Any, trial: Any, first: Any, last: Any, s: Any, limits: Any, lanes: Any, items: Any
) -> None:
    """:func:`judge` on tiles ``first`` to ``last``, each by one thread."""
    for n in prange(last - first):
        t = first + np.int64(n)
        judge(team, k, trial, t, s, limits, s.strands[t : t + 1], lanes, items)
