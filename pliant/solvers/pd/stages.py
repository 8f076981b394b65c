"""What surrounds the search of a substep: prediction before, velocities after; each on one tile."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backend.jit import feature, kernel, prange
from ...backend.lanes import load, load3, splat, store, store3
from ...forces.stages import give, press
from ...laws.vectors import mix, plus, times
from ..motion import INV_H, SLOW, H, hold, pin
from .arrays import NUMBERS


@kernel
def blow(t: Any, p: Any, loads: Any, flags: Any, h: Any, inv_h: Any, lanes: Any, items: Any) -> None:
    """Air and given pressures, from where the faces are at the start."""
    press(p.x[t], p.v[t], loads, t, inv_h, flags, 0, loads.ids.shape[1], items)
    give(p.v[t], p.inv_mass, loads, t, h, 0, p.x.shape[1], lanes)


_blow = feature("faces", blow)


@kernel
def predict(
    t: Any, p: Any, s: Any, pins: Any, way: Any, held: Any, loads: Any, flags: Any, times_: Any, sub: Any,
    extras: Any, lanes: Any, items: Any,
) -> None:  # fmt: skip
    """v <- (v + h (g + w f))/(1 + h k), x~ = x + h v; pinned particles where they must be; d = 0."""
    _blow(extras, t, p, loads, flags, times_[H], times_[INV_H], lanes, items)
    h, zero = times_[H], splat(p.x, 0.0, lanes)
    g = (load(p.gravity[t], (0,), lanes), load(p.gravity[t], (1,), lanes), load(p.gravity[t], (2,), lanes))
    for i in range(p.x.shape[1]):
        here, speed = load3(p.x[t], i, lanes), load3(p.v[t], i, lanes)
        store3(p.x_prev[t], i, here, lanes)
        store3(p.v_last[t], i, speed, lanes)
        if p.inv_mass[i] > 0:
            speed = mix(1.0, speed, h, g)
            if p.f_ext.shape[1] > 0:
                speed = mix(1.0, speed, h * p.inv_mass[i], load3(p.f_ext[t], i, lanes))
            speed = times(times_[SLOW], speed)
            here = mix(1.0, here, h, speed)
        store3(s.speed[t], i, speed, lanes)
        store3(s.x_tilde[t], i, here, lanes)
    pin(s.x_tilde[t], s.speed[t], pins, t, sub, times_, 0, len(pins.ids), lanes)
    hold(held, way, pins.share, t, sub, 0, held.shape[2], lanes)
    for i in range(s.x.shape[1]):
        for m in range(3):
            store(s.d[1, t], (i, m), zero, lanes)
            store(s.p[t], (i, m), zero, lanes)
        store(s.e[1, t], (i,), zero, lanes)
    for k in range(NUMBERS):
        store(s.numbers[k, t], (), zero, lanes)


@kernel
def finish(t: Any, half: Any, p: Any, s: Any, times_: Any, out: Any, lanes: Any) -> None:
    """x = x~ + d, v = v~ + d/h: exactly the predicted velocity where nothing pushed.

    out (T, L): 0, or NaN in worlds with a number that is not finite.
    """
    inv_h = times_[INV_H]
    finite = splat(out, 0.0, lanes)
    for i in range(p.x.shape[1]):
        d = load3(s.d[half, t], i, lanes)
        here, speed = load3(s.x_tilde[t], i, lanes), load3(s.speed[t], i, lanes)
        here, speed = plus(here, d), mix(1.0, speed, inv_h, d)
        store3(p.x[t], i, here, lanes)
        store3(p.v[t], i, speed, lanes)
        size = (here[0] * 0.0 + here[1] * 0.0) + (here[2] * 0.0 + speed[0] * 0.0)
        finite = finite + (size + (speed[1] * 0.0 + speed[2] * 0.0))
    store(out, (t,), finite, lanes)


@kernel(parallel=True)
def predict_tiles(
    first: Any, last: Any, p: Any, s: Any, pins: Any, way: Any, held: Any, loads: Any, flags: Any,
    times_: Any, sub: Any, extras: Any, lanes: Any, items: Any,
) -> None:  # fmt: skip
    """:func:`predict` on tiles ``first`` to ``last``."""
    for n in prange(last - first):
        t = first + np.int64(n)
        predict(t, p, s, pins, way, held, loads, flags, times_, sub, extras, lanes, items)


@kernel(parallel=True)
def finish_tiles(first: Any, last: Any, half: Any, p: Any, s: Any, times_: Any, out: Any, lanes: Any) -> None:
    """:func:`finish` on tiles ``first`` to ``last``."""
    for n in prange(last - first):
        finish(first + np.int64(n), half, p, s, times_, out, lanes)
