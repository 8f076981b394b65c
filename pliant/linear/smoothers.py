"""Smoothers of a symmetric block matrix: what multigrid does to errors that vary from node to node.

Each makes the same polynomial or sweep before and after the coarse correction, the second the transpose of
the first, so that a cycle is symmetric and conjugate gradients may use it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse

from ..errors import SolverError

Array = np.ndarray

SAFETY = 1.1
"""The power method's largest eigenvalue may be short of the true one."""
SMALLEST = 0.1
"""Smallest eigenvalue that weighted Jacobi is tuned for, over the largest (MGPBD's choice)."""
LOW = 0.25
"""Lower end of Chebyshev's interval over its upper end: the coarse level takes care of the rest."""


class Smoother:
    """Works on ``A`` (n, n) in blocks of b; refresh it when A's numbers change."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.vector: Array | None = None

    def refresh(self, matrix: Any, inverse: Array) -> None:
        """Numbers of the matrix (BSR) and the inverses (n/b, b, b) of its diagonal blocks."""
        self.matrix, self.inverse = matrix, inverse
        self.prepare()

    def prepare(self) -> None:
        """What depends on the numbers."""
        self.top = SAFETY * self.largest()

    def before(self, b: Array) -> Array:
        """x near the solution of ``A x = b``, from zero."""
        return self.smooth(b, None, forward=True)

    def after(self, b: Array, x: Array) -> Array:
        """A better x."""
        return self.smooth(b, x, forward=False)

    def smooth(self, b: Array, x: Array | None, forward: bool) -> Array:
        """Some steps from x; None: zero."""
        raise NotImplementedError

    def scaled(self, r: Array) -> Array:
        """``D^-1 r``."""
        blocks = self.inverse
        out: Array = np.matmul(blocks, r.reshape(len(blocks), -1, 1))
        return out.reshape(r.shape)

    def largest(self) -> float:
        """Largest eigenvalue of ``D^-1 A`` by the power method, which goes on from where it was."""
        again = self.vector is not None
        v = self.vector if self.vector is not None else np.cos(1.0 + np.arange(self.matrix.shape[0]) ** 1.5)
        value = 0.0
        for _ in range(5 if again else 20):
            w = self.scaled(self.matrix @ v)
            value = float(np.linalg.norm(w) / np.linalg.norm(v))
            v = w / np.linalg.norm(w)
        self.vector = v
        return value


class Jacobi(Smoother):
    """``x += omega D^-1 (b - A x)``, ``omega = 2/(largest + smallest)`` of D^-1 A."""

    def smooth(self, b: Array, x: Array | None, forward: bool) -> Array:
        weight = 2.0 / (self.top * (1.0 + SMALLEST))
        for _ in range(self.steps):
            x = weight * self.scaled(b) if x is None else x + weight * self.scaled(b - self.matrix @ x)
        assert x is not None
        return x


class Chebyshev(Smoother):
    """The polynomial in D^-1 A of a degree that is smallest over the upper part of the spectrum.

    Source: Saad, Iterative methods for sparse linear systems, algorithm 12.1.
    """

    def smooth(self, b: Array, x: Array | None, forward: bool) -> Array:
        middle, half = 0.5 * (1 + LOW) * self.top, 0.5 * (1 - LOW) * self.top
        sigma = middle / half
        rho = 1 / sigma
        r = self.scaled(b if x is None else b - self.matrix @ x)
        d = r / middle
        x = d.copy() if x is None else x + d
        for _ in range(self.steps - 1):
            r = r - self.scaled(self.matrix @ d)
            new = 1 / (2 * sigma - rho)
            d = new * rho * d + (2 * new / half) * r
            x = x + d
            rho = new
        return x


class GaussSeidel(Smoother):
    """Nodes one colour after the other, no two of a colour connected: forwards before, backwards after."""

    def prepare(self) -> None:
        if not hasattr(self, "colours"):
            self.colours = colour(self.matrix.indptr, self.matrix.indices)
            self.rows = [_rows(self.matrix.indptr, nodes) for nodes in self.colours]
        m, b = self.matrix, self.inverse.shape[1]
        self.parts = []
        for nodes, (start, entries) in zip(self.colours, self.rows, strict=True):
            shape = (b * len(nodes), m.shape[1])
            part = scipy.sparse.bsr_array((m.data[entries], m.indices[entries], start), shape=shape)
            self.parts.append(part)

    def smooth(self, b: Array, x: Array | None, forward: bool) -> Array:
        n, size = len(self.inverse), self.inverse.shape[1]
        x = np.zeros_like(b) if x is None else x.copy()
        view, right = x.reshape(n, size), b.reshape(n, size)
        way = range(len(self.colours)) if forward else range(len(self.colours) - 1, -1, -1)
        for _ in range(self.steps):
            for k in way:
                nodes = self.colours[k]
                r = right[nodes] - (self.parts[k] @ x).reshape(-1, size)
                view[nodes] += np.matmul(self.inverse[nodes], r[:, :, None])[:, :, 0]
        return x


def colour(start: Array, index: Array) -> list[Array]:
    """Nodes of each colour, by first fit."""
    n = len(start) - 1
    of = [-1] * n
    neighbours = [index[a:b].tolist() for a, b in pairwise(start)]
    for i in range(n):
        taken = {of[j] for j in neighbours[i]}
        k = 0
        while k in taken:
            k += 1
        of[i] = k
    colours = np.array(of)
    return [np.flatnonzero(colours == k) for k in range(int(colours.max(initial=-1)) + 1)]


def _rows(start: Array, nodes: Array) -> tuple[Array, Array]:
    """Starts and entries of some block rows."""
    count = np.diff(start)[nodes]
    begin = np.concatenate([[0], np.cumsum(count)])
    entries = np.repeat(start[nodes] - begin[:-1], count) + np.arange(begin[-1])
    return begin.astype(start.dtype), entries


SMOOTHERS: dict[str, type[Smoother]] = {"jacobi": Jacobi, "gauss_seidel": GaussSeidel, "chebyshev": Chebyshev}


def smoother_of(name: str, steps: int) -> Smoother:
    """A smoother by name. Raises SolverError for an unknown one."""
    if name not in SMOOTHERS:
        raise SolverError(f'smoother "{name}" is not known; choose one of {", ".join(SMOOTHERS)}')
    return SMOOTHERS[name](steps)
