"""Contact stages of a substep: particles are kept out of colliders, with friction."""

from __future__ import annotations

from typing import Any

from ...backend.jit import kernel
from ...backend.lanes import add3, any_lane, both, load, load3, maximum, store, where
from ...contact.arrays import DRAG, NEAR, NORMAL, PUSH
from ...contact.detection import placed, way_of_surface
from ...contact.distances import collider_distance
from ...laws.friction import coulomb, tangential
from ...laws.membrane import chosen
from ...laws.vectors import Vec, dot, minus
from ..pool import LOAD


@kernel
def way_back(gap: Any, n: Vec, before: Vec, moved: Vec, col: Any, sub: Any, k: Any) -> tuple[Any, Vec]:
    """Gap and normal for what got inside during the substep: back where it came from.

    The nearest way out of a box may be another side, through the floor that it stands on. ``moved``: over the
    surface, since ``before``. The plane that kept the start out has all of a convex shape behind it.
    """
    size, turn, where_ = placed(col, sub, k)
    gap_then, n_then = collider_distance(col.kind[k], size, turn, where_, before)
    came = both(gap < 0.0, gap_then > 0.0)
    return where(came, gap_then + dot(n_then, moved), gap), chosen(came, n_then, n)


@kernel
def collide(
    x: Any, x_prev: Any, p: Any, c: Any, t: Any, col: Any, sub: Any, flags: Any, lo: Any, hi: Any, lanes: Any
) -> None:
    """Keep particles outside colliders; friction acts on how far each slid since the substep began."""
    for e in range(lo, min(hi, c.n_found[t])):
        i = c.ids[t, e]
        pairs = c.pairs[t, e]
        if p.inv_mass[i] > 0:
            body = c.body[i]
            for k in range(col.kind.size):
                size, turn, where_ = placed(col, sub + 1, k)
                here = load3(x, i, lanes)
                gap, n = collider_distance(col.kind[k], size, turn, where_, here)
                before = load3(x_prev, i, lanes)
                moved = minus(minus(here, before), way_of_surface(col, sub + 1, k, here))
                near = load(pairs, (k, NEAR), lanes)
                zero = near * 0.0
                if any_lane(both(gap < 0.0, near > 0.0)):
                    gap, n = way_back(gap, n, before, moved, col, sub, k)
                old = zero
                held = (zero, zero, zero)
                if flags & LOAD:
                    old = load(pairs, (k, PUSH), lanes)
                    held = (
                        load(pairs, (k, DRAG), lanes),
                        load(pairs, (k, DRAG + 1), lanes),
                        load(pairs, (k, DRAG + 2), lanes),
                    )
                push = where(near > 0.0, maximum(old - (gap - c.radius[i]), 0.0), zero)
                slip = tangential(moved, n)
                wish = minus(held, slip)
                drag = coulomb(wish, push, col.mu[0, body, k], col.mu[1, body, k])
                store(pairs, (k, PUSH), push, lanes)
                store(pairs, (k, DRAG), drag[0], lanes)
                store(pairs, (k, DRAG + 1), drag[1], lanes)
                store(pairs, (k, DRAG + 2), drag[2], lanes)
                store(pairs, (k, NORMAL), n[0], lanes)
                store(pairs, (k, NORMAL + 1), n[1], lanes)
                store(pairs, (k, NORMAL + 2), n[2], lanes)
                add3(x, i, push - old, n, lanes)
                add3(x, i, 1.0 + zero, minus(drag, held), lanes)


@kernel
def separate(x: Any, p: Any, c: Any, t: Any, col: Any, lo: Any, hi: Any, lanes: Any) -> None:
    """Once a step: move out what starts inside a collider, without giving it speed."""
    for e in range(lo, min(hi, c.n_found[t])):
        i = c.ids[t, e]
        pairs = c.pairs[t, e]
        if p.inv_mass[i] > 0:
            for k in range(col.kind.size):
                size, turn, where_ = placed(col, 0, k)
                gap, n = collider_distance(col.kind[k], size, turn, where_, load3(x, i, lanes))
                near = load(pairs, (k, NEAR), lanes)
                push = where(near > 0.0, maximum(c.radius[i] - gap, 0.0), near * 0.0)
                add3(x, i, push, n, lanes)
