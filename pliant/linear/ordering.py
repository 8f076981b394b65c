"""Which unknown is eliminated when: the order that fills a factor least, of those tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import SolverError
from . import elimination
from .dissection import nested_dissection
from .minimum_degree import minimum_degree

Array = np.ndarray


@dataclass(frozen=True)
class Ordering:
    """An order of elimination (n,), what made it, and the factor's entries by every way that was tried."""

    order: Array
    name: str
    tried: dict[str, int]


def natural(start: Array, index: Array) -> Array:
    """As they come: the slow baseline."""
    return np.arange(len(start) - 1)


BEST: dict[str, Callable[[Array, Array], Array]] = {
    "minimum degree": minimum_degree,
    "nested dissection": nested_dissection,
}
"""Ways that ``"best"`` tries."""
WAYS = BEST | {"natural": natural}


def best_ordering(start: Array, index: Array, name: str = "best") -> Ordering:
    """The order by one way, or of the best of all, for a symmetric pattern (both triangles).

    Raises SolverError for an unknown name.
    """
    if name != "best" and name not in WAYS:
        raise SolverError(f'order="{name}" is not known; choose "best" or one of {", ".join(WAYS)}')
    ways = BEST if name == "best" else {name: WAYS[name]}
    orders = {key: np.asarray(way(start, index), np.int64) for key, way in ways.items()}
    tried = {key: entries(start, index, order) for key, order in orders.items()}
    least = min(tried, key=lambda key: tried[key])
    return Ordering(orders[least], least, tried)


def named_ordering(start: Array, index: Array, order: Array) -> Ordering:
    """An order (n,) of the caller's. Raises SolverError where it is no permutation."""
    n = len(start) - 1
    if order.shape != (n,) or not np.array_equal(np.sort(order), np.arange(n)):
        raise SolverError(f"order: an array must hold each of the {n} unknowns once")
    order = order.astype(np.int64)
    return Ordering(order, "given", {"given": entries(start, index, order)})


def entries(start: Array, index: Array, order: Array) -> int:
    """Entries of the factor, diagonal included."""
    return int(elimination.elimination_tree(start, index, order)[1].sum())
