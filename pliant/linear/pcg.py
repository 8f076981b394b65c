"""Conjugate gradients with a preconditioner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Solved:
    """x (n,); iterations; residual: ``|b - A x|/|b|`` by recurrence; converged: at most the tolerance."""

    x: Array
    iterations: int
    residual: float
    converged: bool


def pcg(
    matrix: Any, b: Array, precondition: Callable[[Array], Array], tolerance: float = 1e-8, most: int = 1000
) -> Solved:
    """Solve ``A x = b`` from zero, A symmetric positive definite, M^-1 symmetric positive definite.

    matrix: anything with ``@``; precondition: r to M^-1 r. Where rounding makes a direction uphill it ends.
    Source: Saad, Iterative methods for sparse linear systems, algorithm 9.1.
    """
    x, r = np.zeros_like(b), b.copy()
    goal = tolerance * float(np.linalg.norm(b))
    size = float(np.linalg.norm(r))
    if size <= goal:
        return Solved(x, 0, 0.0, True)
    z = precondition(r)
    p, rz = z.copy(), float(r @ z)
    k = 0
    while k < most and rz > 0:
        q = matrix @ p
        curvature = float(p @ q)
        if not curvature > 0:
            break
        k += 1
        step = rz / curvature
        x += step * p
        r -= step * q
        size = float(np.linalg.norm(r))
        if size <= goal:
            break
        z = precondition(r)
        rz, before = float(r @ z), rz
        p = z + (rz / before) * p
    return Solved(x, k, size / float(np.linalg.norm(b)), size <= goal)
