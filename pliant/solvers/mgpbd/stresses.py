"""Multipliers of isotropic laws: a stress of its own for every triangle and tetrahedron.

``F = U diag(s) V^T = R S``, ``U(F) = W(s)``; the multiplier is the symmetric stress ``L = dU/dS`` in the rest
frame, whose principal values at the answer are ``W_i``. In the frame of U and V the Hessian falls apart
(Smith, de Goes, Kim, Analytic eigensystems for isotropic distortion energies, 2019):

- stretching, ``u_i v_i^T``: the matrix A of second derivatives of W;
- shearing, ``u_i v_j^T + u_j v_i^T``: ``(W_i - W_j)/(s_i - s_j)``;
- turning, ``u_i v_j^T - u_j v_i^T``: ``(L_ii + L_jj)/(s_i + s_j)``, with L, not W;
- and the normal n of a triangle, ``n v_i^T``: ``L_ii/s_i``.

Where turning and normals would be negative they are 0, and at most the largest stiffness of A.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..newton.elements.base import Array, Terms, inverse, positive
from ..newton.elements.sheets import normal_of
from ..newton.elements.solids import Tetrahedron, shape_squared, volume_change
from .multipliers import Multipliers
from .svd import signed_svd

Principal = tuple[Array, Array, Array, Array]
"""W (E,), W_i (E, m), A (E, m, m) and the stiffness (E, m, m) of shearing, by pairs."""


def others(s: Array) -> tuple[Array, Array]:
    """Products of the other two stretches (E, 3), and the third stretch by pairs (E, 3, 3)."""
    third = np.zeros((len(s), 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        third[:, i, j] = third[:, j, i] = s[:, k]
    pairs = np.stack([s[:, 1] * s[:, 2], s[:, 2] * s[:, 0], s[:, 0] * s[:, 1]], axis=1)
    return pairs, third


def arap(e: Any, z: Array, s: Array) -> Principal:
    """``k |S - I|^2/2`` and the trace row."""
    k = e.k[:, 0]
    energy, pull, stiff = e.second(s.sum(axis=1) - 3)
    energy = energy + 0.5 * k * np.sum((s - 1) ** 2, axis=1)
    a = k[:, None, None] * np.eye(3) + stiff[:, None, None]
    return energy, k[:, None] * (s - 1) + pull[:, None], a, np.broadcast_to(k[:, None, None], a.shape)


def neo_hookean(e: Any, z: Array, s: Array) -> Principal:
    """``k (|S|^2 - 4 J + J^2)/2`` and the row of volume."""
    k, q = e.k[:, 0], volume_change(z)
    energy, pull, stiff = e.second(q)
    energy = energy + 0.5 * k * shape_squared(s)
    push = pull + k * (q - 1)
    pairs, third = others(s)
    a = k[:, None, None] * np.eye(3) + (stiff + k)[:, None, None] * pairs[:, :, None] * pairs[:, None, :]
    bent = push[:, None, None] * third
    return energy, k[:, None] * s + push[:, None] * pairs, a + bent, k[:, None, None] - bent


def volume(e: Any, z: Array, s: Array) -> Principal:
    """``k (J - 1)^2/2``."""
    energy, pull, stiff = (a[:, 0] for a in e.response(volume_change(z)[:, None]))
    pairs, third = others(s)
    bent = pull[:, None, None] * third
    a = stiff[:, None, None] * pairs[:, :, None] * pairs[:, None, :] + bent
    return energy, pull[:, None] * pairs, a, -bent


def membrane(e: Any, z: Array, s: Array) -> Principal:
    """ARAP and the trace row of a triangle; the shape row is damped along itself."""
    away = s - 1
    shape = np.linalg.norm(away, axis=1)
    energy, pull, stiff = e.response(np.stack([shape, s.sum(axis=1) - 2], axis=1))
    ratio = np.where(shape > 0, pull[:, 0] * inverse(shape), stiff[:, 0])
    unit = inverse(shape)[:, None] * away
    a = ratio[:, None, None] * np.eye(2) + stiff[:, 1, None, None]
    a = a + (stiff[:, 0] - ratio)[:, None, None] * unit[:, :, None] * unit[:, None, :]
    force = ratio[:, None] * away + pull[:, 1:]
    return energy.sum(axis=1), force, a, np.broadcast_to(ratio[:, None, None], a.shape)


PRINCIPAL = {"arap_tet": arap, "neo_hookean": neo_hookean, "volume": volume, "membrane": membrane}
"""Isotropic laws."""


def stretches(z: Array) -> tuple[Array, Array, Array]:
    """u (E, 3, 3), s (E, m), v^T (E, m, m) of vectors (E, m, 3); a triangle's third u is its normal."""
    f = z.transpose(0, 2, 1)
    if z.shape[1] == 3:
        u, s, vt = np.empty(f.shape), np.empty(f.shape[:2]), np.empty(f.shape)
        signed_svd(f, u, s, vt)
        return u, s, vt
    u, s, vt = np.linalg.svd(f, full_matrices=False)
    n = normal_of(u[:, :, 0], u[:, :, 1])
    return np.concatenate([u, n[:, :, None]], axis=2), s, vt


class Stresses(Multipliers):
    """The elements of an isotropic law; pulls are L (E, m, m)."""

    seen: tuple[Array, tuple[Array, Array, Array]] | None = None

    def shape(self) -> tuple[int, ...]:
        m = self.element.shape.shape[2]
        return (m, m)

    def terms(self, z: Array, order: int) -> Terms:
        e: Any = self.element
        u, s, vt = self.split(z)
        energy, w, a, shear = PRINCIPAL[e.block.law](e, z, s)
        gradient = np.matmul(vt.transpose(0, 2, 1), w[:, :, None] * u[:, :, : s.shape[1]].transpose(0, 2, 1))
        terms = Terms(energy, gradient.reshape(len(z), -1), np.abs(a).sum(axis=2).max(axis=1))
        drags = e.damped and isinstance(e, Tetrahedron)
        if drags:
            terms = e.damp(terms, z, 1)
        if order == 2:
            self.frame = u, s, vt, w, a, shear
            terms.hessian = self.hessian()
            if drags:
                weight = e.drag * e.gamma[:, 0] * e.k[:, 0]
                terms.hessian = terms.hessian + weight[:, None, None] * positive(e.dragged(z, 2)[2])
        return terms

    def split(self, z: Array) -> tuple[Array, Array, Array]:
        """:func:`stretches`, which an accepted trial has found already."""
        if self.seen is None or not np.array_equal(self.seen[0], z):
            self.seen = z, stretches(z)
        return self.seen[1]

    def hessian(self) -> Array:
        """(E, n, n), from its blocks in the frame of U and V."""
        u, s, vt, _, a, shear = self.frame
        m = s.shape[1]
        most = np.einsum("eii->ei", a).max(axis=1)
        held = np.einsum("eia,eab,eib->ei", vt, self.pull, vt)
        inner = np.zeros((len(s), 3, m, 3, m))  # (u_i, v_j) by (u_k, v_l)
        stretch = a if self.element.block.law == "arap_tet" else positive(a)
        for i in range(m):
            inner[:, i, i, range(m), range(m)] = stretch[:, i]
            for j in range(i + 1, m):
                turn = np.clip((held[:, i] + held[:, j]) * inverse(s[:, i] + s[:, j]), 0.0, most)
                bend = np.maximum(shear[:, i, j], 0.0)
                inner[:, i, j, i, j] = inner[:, j, i, j, i] = 0.5 * (bend + turn)
                inner[:, i, j, j, i] = inner[:, j, i, i, j] = 0.5 * (bend - turn)
            if m == 2:
                inner[:, 2, i, 2, i] = np.clip(held[:, i] * inverse(s[:, i]), 0.0, most)
        ways = np.einsum("eri,eja->eijar", u, vt).reshape(len(s), 3 * m, 3 * m)
        inner = inner.reshape(ways.shape)
        return np.matmul(ways.transpose(0, 2, 1), np.matmul(inner, ways))

    def linearise(self, dz: Array) -> None:
        u, s, vt, w, a, shear = self.frame
        m = s.shape[1]
        moved = np.matmul(np.matmul(u.transpose(0, 2, 1), dz.transpose(0, 2, 1)), vt.transpose(0, 2, 1))
        new = np.zeros((len(s), m, m))
        along = w + np.einsum("eij,ej->ei", a, np.einsum("eii->ei", moved[:, :m]))
        for i in range(m):
            new[:, i, i] = along[:, i]
            for j in range(i + 1, m):
                strain = moved[:, i, j] * s[:, i] + moved[:, j, i] * s[:, j]
                strain = strain * inverse(s[:, i] + s[:, j])
                new[:, i, j] = new[:, j, i] = shear[:, i, j] * strain
        self.aim = np.matmul(vt.transpose(0, 2, 1), np.matmul(new, vt))
