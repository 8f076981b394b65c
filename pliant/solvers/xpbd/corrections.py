"""Where the corrections of a constraint go: into the positions (Gauss-Seidel) or into its own slots (Jacobi).

Each function takes the order's tag as its first argument; only one of the two is compiled.
"""

from __future__ import annotations

from typing import Any

from ...backend.jit import feature, kernel
from ...backend.lanes import const, index, store3


@kernel(inline=True)
def _place3(x: Any, out: Any, slots: Any, at: Any, i: Any, here: Any, s: Any, v: Any, lanes: Any) -> None:
    store3(x, i, (here[0] + s * v[0], here[1] + s * v[1], here[2] + s * v[2]), lanes)


@kernel(inline=True)
def _slot3(x: Any, out: Any, slots: Any, at: Any, i: Any, here: Any, s: Any, v: Any, lanes: Any) -> None:
    store3(out, index(slots, at, lanes), (s * v[0], s * v[1], s * v[2]), lanes)


land3 = feature("jacobi", _slot3, _place3)
"""``land3(order, x, out, slots, (corner, c), i, here, s, v, lanes)``: particle ``i``, at ``here``, shall
move by ``s v``."""


@kernel(inline=True)
def _in_crowd(weight: Any, crowd: Any, c: Any, lanes: Any) -> Any:
    return weight * const(crowd, (c,), lanes)


@kernel(inline=True)
def _alone(weight: Any, crowd: Any, c: Any, lanes: Any) -> Any:
    return weight


crowded = feature("jacobi", _in_crowd, _alone)
"""``crowded(order, weight, r.crowd, c, lanes)``: Jacobi multiplies a constraint's weight by its crowd."""
