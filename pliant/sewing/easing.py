"""The strain taken out of a sewn garment: its triangles become what was cut, its seams stay closed.

What is minimised is a shape's energy, not a fabric's: the squared distance of each triangle's deformation
gradient from the nearest rotation (as rigid as possible), a hair of bending that keeps it smooth, and the
depth of vertices in the body. L-BFGS, its first Hessian that of the rotations held fast, with the bending and
the vertices that touch: one matrix for all three axes, factored again as others touch.

Sources: Sorkine & Alexa 2007, As-rigid-as-possible surface modeling; Liu, Bouaziz & Kavan 2017, Quasi-Newton
methods for real-time simulation of hyperelastic materials, ACM TOG 36(3), for the preconditioned L-BFGS.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from pliant.garments.garment import Garment
from pliant.garments.mannequin import Limb
from pliant.geometry import measures, topology
from pliant.geometry.unfolding import rest_hinges

Array = np.ndarray

EASED, SHALLOW = 5e-4, 0.01
"""Largest principal strain, and depth in the body in edges, that end it."""
SMOOTH, SOFTER, ROUNDS = 600.0, 0.25, 5
"""Edges over the length at which bending and stretching weigh alike: next to no bending. Where strain is
left, the bending is taken down by so much, so many times."""
SLOW = 0.01
"""Share of the energy by which a few iterations lower it, or a round is over."""
MOST, MEMORY, OFTEN = 400, 8, 10
"""Iterations of a round; how many are remembered; after how many contacts and the fall are looked at."""
FAR = 0.5
"""Edges that a vertex may go in one step."""
ANCHOR = 1e-3
"""Weight, times a vertex's area, that makes the first Hessian definite where nothing touches."""
ARMIJO, SHORTEST = 1e-4, 2.0**-20


def panel_strains(garment: Garment) -> Array:
    """Principal strains (F, 2) of the triangles of a sewn garment against the flat panels, larger first."""
    frames = measures.rest_frames(garment.rest.vertices, garment.rest.triangles)
    return measures.triangle_stretches(garment.mesh.vertices, garment.triangles, frames) - 1


def eased(garment: Garment, body: Sequence[Limb] = ()) -> Garment:
    """The garment with its panels strained by less than 0.05 % if that can be had, off the body.

    It starts from where the garment is and stops as soon as the strain is gone. Same bits every time.
    """
    shape, x = _shape_of(garment), garment.mesh.vertices
    for _ in range(ROUNDS):
        x, value = _minimized(shape, list(body), x)
        if shape.eased(value):
            break
        shape = shape.softer()
    return garment.at(x)


@dataclass(frozen=True)
class _Shape:
    """gradient (2 F, N): vertices to both columns of F; area (2 F, 1) [m^2]; stretching, bending (N, N)."""

    gradient: Any
    area: Array
    stretching: Any
    bending: Any
    size: float

    def softer(self) -> _Shape:
        """The same with less bending."""
        return replace(self, bending=SOFTER * self.bending)

    def eased(self, value: _Value) -> bool:
        """Whether neither strain nor depth is left that counts."""
        return value.strain < EASED and float(value.depth.max()) < SHALLOW * self.size

    def factor(self, touching: Array) -> scipy.sparse.linalg.SuperLU:
        """Of the first Hessian, with the vertices (N,) that touch the body."""
        touched = scipy.sparse.diags(touching.astype(float))
        return scipy.sparse.linalg.splu((self.stretching + self.bending + touched).tocsc())


@dataclass(frozen=True)
class _Value:
    """Energy [m^2], its gradient (N, 3) [m], largest principal strain, depths (N,) [m] in the body."""

    energy: float
    gradient: Array
    strain: float
    depth: Array

    @property
    def touching(self) -> Array:
        """Vertices (N,) in the body."""
        return self.depth > 0


def _shape_of(garment: Garment) -> _Shape:
    triangles, n = garment.triangles, garment.n_vertices
    inverse = measures.rest_frames(garment.rest.vertices, garment.rest.triangles)
    area = measures.triangle_areas(garment.rest.vertices, garment.rest.triangles)
    weights = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)  # (F, corner, column)
    rows = np.repeat(np.arange(len(triangles)), 3)
    gradient = scipy.sparse.vstack(
        [
            scipy.sparse.csr_matrix(
                (weights[:, :, k].ravel(), (rows, triangles.ravel())), (len(triangles), n)
            )
            for k in (0, 1)
        ]
    ).tocsr()
    x, resting = rest_hinges(triangles, garment.rest.vertices, garment.rest.triangles)
    hinges = topology.hinges(triangles)
    stencil, own = measures.cotangent_stencil(x, resting)
    across = scipy.sparse.csr_matrix(
        (stencil.ravel(), (np.repeat(np.arange(len(hinges)), 4), hinges.ravel())), (len(hinges), n)
    )
    softness = (garment.size / SMOOTH) ** 2
    bending = (across.T @ scipy.sparse.diags(softness / own) @ across).tocsr()
    twice = np.tile(area, 2)
    around = np.bincount(triangles.ravel(), np.repeat(area / 3, 3), n)
    stretching = gradient.T @ scipy.sparse.diags(twice) @ gradient + scipy.sparse.diags(ANCHOR * around)
    return _Shape(gradient, twice[:, None], stretching, bending, garment.size)


def _value(shape: _Shape, body: list[Limb], x: Array) -> _Value:
    """Energy: half of area |F - R|^2, of bending, and of the depth in the body squared."""
    f = shape.gradient @ x
    one, two = f.reshape(2, -1, 3)
    rotation, strain = _rotations(one, two)
    off = f - rotation
    bent = shape.bending @ x
    energy = 0.5 * float((shape.area * off**2).sum() + (x * bent).sum())
    gradient = shape.gradient.T @ (shape.area * off) + bent
    deepest = np.zeros(len(x))
    for limb in body:
        depth, outward = limb.depth(x)
        deepest = np.maximum(deepest, depth)
        energy += 0.5 * float((depth**2).sum())
        gradient -= depth[:, None] * outward
    return _Value(energy, gradient, strain, deepest)


def _rotations(one: Array, two: Array) -> tuple[Array, float]:
    """The nearest orthonormal pairs to columns ``one`` and ``two`` (F, 3): (2 F, 3); the largest strain.

    R = F C^-1/2 for C = F^T F, the root of a 2 x 2 matrix in closed form: C^1/2 = (C + s I)/t with s^2 =
    det C and t^2 = tr C + 2 s, the square of its eigenvalues' sum.
    """
    a, b, c = (one**2).sum(axis=1), (two**2).sum(axis=1), (one * two).sum(axis=1)
    tiny = np.finfo(float).tiny
    s = np.sqrt(np.maximum(a * b - c**2, tiny))
    t = np.sqrt(a + b + 2 * s)
    difference = np.sqrt(np.maximum(a + b - 2 * s, 0.0))
    strain = np.maximum(np.abs(0.5 * (t + difference) - 1), np.abs(0.5 * (t - difference) - 1))
    p, q, r = (b + s) / (t * s), (a + s) / (t * s), -c / (t * s)  # C^-1/2: adjugate over s
    first, second = p[:, None] * one + r[:, None] * two, r[:, None] * one + q[:, None] * two
    return np.concatenate([first, second]), float(strain.max())


def _minimized(shape: _Shape, body: list[Limb], x: Array) -> tuple[Array, _Value]:
    """Where L-BFGS from x (N, 3) [m] leads, ended as soon as the strain is gone; the value there."""
    steps: list[tuple[Array, Array, float]] = []
    value = _value(shape, body, x)
    touching, first, before = value.touching, shape.factor(value.touching), np.inf
    for k in range(MOST):
        if shape.eased(value):
            break
        if k % OFTEN == 0:
            if value.energy > (1 - SLOW) * before:
                break
            before = value.energy
            if not np.array_equal(touching, value.touching):
                touching, first = value.touching, shape.factor(value.touching)
        way = -_towards(first, steps, value.gradient)
        way *= min(1.0, FAR * shape.size / float(np.abs(way).max()))
        found = _lower(shape, body, x, value, way)
        if found is None:
            break
        length, tried = found
        step, turn = length * way, tried.gradient - value.gradient
        curved = float((step * turn).sum())
        if curved > 0:
            steps = [*steps[-MEMORY + 1 :], (step, turn, 1 / curved)]
        x, value = x + step, tried
    return x, value


def _lower(
    shape: _Shape, body: list[Limb], x: Array, value: _Value, way: Array
) -> tuple[float, _Value] | None:
    """The first of 1, 1/2, 1/4 ... of a step that lowers the energy enough, and where it leads."""
    slope = float((way * value.gradient).sum())
    length = 1.0
    while length > SHORTEST:
        tried = _value(shape, body, x + length * way)
        if tried.energy < value.energy + ARMIJO * length * slope:
            return length, tried
        length *= 0.5
    return None


def _towards(
    first: scipy.sparse.linalg.SuperLU, steps: list[tuple[Array, Array, float]], gradient: Array
) -> Array:
    """The approximate inverse Hessian times the gradient (Nocedal & Wright, algorithm 7.4)."""
    q = gradient.copy()
    shares = []
    for step, turn, scale in reversed(steps):
        shares.append(scale * float((step * q).sum()))
        q -= shares[-1] * turn
    q = first.solve(q)
    for (step, turn, scale), share in zip(steps, reversed(shares), strict=True):
        q += (share - scale * float((turn * q).sum())) * step
    return q
