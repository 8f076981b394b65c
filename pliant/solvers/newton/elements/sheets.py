"""Triangles: ARAP with a trace row, woven, and the limit of strain. Vectors: the columns of F (3 x 2)."""

from __future__ import annotations

import numpy as np

from ....laws.orthotropic import CRUSHED
from ....model import Block
from .base import Array, Element, Terms, inverse, outer, positive

EYE3 = np.eye(3)
EYE6 = np.eye(6)


def frame_matrix(inv_rest: Array) -> Array:
    """S (E, c, m) of simplices with these inverse rest matrices (E, m, m)."""
    return np.concatenate([-inv_rest.sum(axis=1, keepdims=True), inv_rest], axis=1)


def normal_of(f1: Array, f2: Array) -> Array:
    """Unit normal (E, 3); where the triangle has none, some direction at right angles to what there is."""
    n = np.cross(f1, f2)
    size = np.linalg.norm(n, axis=1)
    flat = size <= np.finfo(float).eps * np.linalg.norm(f1, axis=1) * np.linalg.norm(f2, axis=1)
    if flat.any():
        longer = np.where((np.linalg.norm(f1, axis=1) >= np.linalg.norm(f2, axis=1))[:, None], f1, f2)[flat]
        least = np.eye(3)[np.argmin(np.abs(longer), axis=1)]
        n[flat] = np.cross(longer, least)
        size[flat] = np.linalg.norm(n[flat], axis=1)
        lost = flat & (size == 0)
        n[lost], size[lost] = (0, 0, 1), 1
    return n / size[:, None]


def polar_plane(z: Array) -> tuple[Array, Array, Array]:
    """Closest rotation R (E, 6), the sum of stretches tr(R^T F) (E,), and the normal (E, 3).

    ``F`` plus its cofactor ``(f2 x n, n x f1)`` is R times that sum.
    """
    f1, f2 = z[:, 0], z[:, 1]
    n = normal_of(f1, f2)
    r = np.concatenate([f1 + np.cross(f2, n), f2 + np.cross(n, f1)], axis=1)
    total = np.linalg.norm(r, axis=1) / np.sqrt(2)
    return inverse(total)[:, None] * r, total, n


def trace_curvature(z: Array, r: Array, total: Array, n: Array) -> Array:
    """Second derivative (E, 6, 6) of tr(R^T F): turning in the plane, and out of it.

    In the plane ``(R J)(R J)^T/T`` with the quarter turn J and T the sum of stretches; out of it
    ``S^-1 (x) n n^T`` with the stretch ``S = R^T F``.
    """
    turned = np.concatenate([r[:, 3:], -r[:, :3]], axis=1)
    h = inverse(total)[:, None, None] * outer(turned, turned)
    columns = r.reshape(-1, 2, 3)
    s = np.matmul(columns, z.transpose(0, 2, 1))  # S_ab = r_a . f_b
    a, d = s[:, 0, 0], s[:, 1, 1]
    b = 0.5 * (s[:, 0, 1] + s[:, 1, 0])
    over = inverse(a * d - b * b)
    nn = outer(n, n)
    h[:, :3, :3] += (over * d)[:, None, None] * nn
    h[:, 3:, 3:] += (over * a)[:, None, None] * nn
    h[:, :3, 3:] -= (over * b)[:, None, None] * nn
    h[:, 3:, :3] -= (over * b)[:, None, None] * nn
    return h


class Triangle(Element):
    """A law of the deformation gradient."""

    def shape_matrix(self) -> Array:
        return frame_matrix(self.params[:, :4].reshape(-1, 2, 2))


class Membrane(Triangle):
    """``C = |F - R|`` and ``tr(R^T F) - 2``; see :mod:`pliant.laws.membrane`.

    The shape row is written as a stress, ``ratio (F - R)`` with ``ratio = (dU/dC)/C``, which exists where
    the row's gradient does not.
    """

    may_be_rigid = False

    def remember(self, before: Array) -> None:
        z = self.vectors(before)
        r, total, _ = polar_plane(z)
        shape = np.linalg.norm(z.reshape(len(z), 6) - r, axis=1)
        c = np.stack([shape, total - 2], axis=1)
        self.c_before = c if self.damped else np.zeros_like(c)

    def forces(self, z: Array) -> Array:
        r, total, _ = polar_plane(z)
        shape = np.linalg.norm(z.reshape(len(z), 6) - r, axis=1)
        return self.response(np.stack([shape, total - 2], axis=1))[1]

    def terms(self, z: Array, order: int, projected: bool) -> Terms:
        r, total, n = polar_plane(z)
        away = z.reshape(len(z), 6) - r
        shape = np.linalg.norm(away, axis=1)
        energy, pull, stiff = self.response(np.stack([shape, total - 2], axis=1))
        ratio = np.where(shape > 0, pull[:, 0] * inverse(shape), stiff[:, 0])
        gradient = ratio[:, None] * away + pull[:, 1:] * r
        h = None
        if order == 2:
            unit = inverse(shape)[:, None] * away
            turn = trace_curvature(z, r, total, n)
            h = (pull[:, 1] - ratio)[:, None, None] * turn + ratio[:, None, None] * EYE6
            h += stiff[:, 1, None, None] * outer(r, r)
            h += (stiff[:, 0] - ratio)[:, None, None] * outer(unit, unit)
            h = positive(h) if projected else h
        return Terms(energy.sum(axis=1), gradient, stiff[:, 0] + 2 * stiff[:, 1], h)


class Orthotropic(Triangle):
    """Warp, weft and shear; see :mod:`pliant.laws.orthotropic`."""

    may_be_rigid = False

    def parts(self, z: Array) -> tuple[Array, ...]:
        """Lengths, directions, and the yarns' vectors over a length that never vanishes."""
        f1, f2 = z[:, 0], z[:, 1]
        l1, l2 = np.linalg.norm(f1, axis=1), np.linalg.norm(f2, axis=1)
        m1, m2 = 1 / np.maximum(l1, CRUSHED), 1 / np.maximum(l2, CRUSHED)
        return l1, l2, inverse(l1)[:, None] * f1, inverse(l2)[:, None] * f2, m1, m2

    def rows(self, z: Array) -> tuple[Array, Array]:
        l1, l2, n1, n2, m1, m2 = self.parts(z)
        ratio = self.params[:, 4]
        a, b = m1[:, None] * z[:, 0], m2[:, None] * z[:, 1]
        gamma = np.einsum("ei,ei->e", a, b)
        turn1, turn2 = np.where(l1 > CRUSHED, gamma, 0), np.where(l2 > CRUSHED, gamma, 0)
        j = np.zeros((len(z), 3, 6))
        j[:, 0, :3], j[:, 0, 3:] = n1, ratio[:, None] * n2
        j[:, 1, 3:] = n2
        j[:, 2, :3] = m1[:, None] * (b - turn1[:, None] * a)
        j[:, 2, 3:] = m2[:, None] * (a - turn2[:, None] * b)
        weft = l2 - 1
        return np.stack([(l1 - 1) + ratio * weft, weft, gamma], axis=1), j

    def curvature(self, z: Array, pull: Array) -> Array:
        l1, l2, n1, n2, m1, m2 = self.parts(z)
        a, b = m1[:, None] * z[:, 0], m2[:, None] * z[:, 1]
        gamma = np.einsum("ei,ei->e", a, b)[:, None, None]
        on1, on2 = (l1 > CRUSHED)[:, None, None], (l2 > CRUSHED)[:, None, None]
        warp, weft, shear = pull.T
        weft = weft + self.params[:, 4] * warp
        h = np.zeros((len(z), 6, 6))
        ab, aa, bb = outer(a, b), outer(a, a), outer(b, b)
        both = ab + ab.transpose(0, 2, 1)
        h[:, :3, :3] = (warp * inverse(l1))[:, None, None] * (EYE3 - outer(n1, n1))
        h[:, 3:, 3:] = (weft * inverse(l2))[:, None, None] * (EYE3 - outer(n2, n2))
        h[:, :3, :3] -= on1 * (shear * m1 * m1)[:, None, None] * (both + gamma * (EYE3 - 3 * aa))
        h[:, 3:, 3:] -= on2 * (shear * m2 * m2)[:, None, None] * (both + gamma * (EYE3 - 3 * bb))
        mixed = EYE3 - on1 * aa - on2 * bb + (on1 & on2) * gamma * ab
        mixed = (shear * m1 * m2)[:, None, None] * mixed
        h[:, :3, 3:] = mixed
        h[:, 3:, :3] = mixed.transpose(0, 2, 1)
        return h


class StrainLimit(Triangle):
    """The largest stretch is at most ``1 + limit``; see :mod:`pliant.laws.strain_limit`.

    Written as ``G = (F^T F - L^2)/(2 L) <= 0`` in the sense of matrices, which is smooth where the two
    stretches meet, with a matrix Y >= 0 for a multiplier: the energy is ``(|T|^2 - |Y|^2)/(2 kappa)``,
    ``T = [Y + kappa G]_+``, the force ``F T/L``. One stretch at its limit gives ``T = y v v^T`` with the
    multiplier y of the row; of two, y is the sum.
    """

    one_sided = True

    def __init__(self, block: Block) -> None:
        super().__init__(block)
        self.held = np.zeros((len(self.ids), 2, 2))

    def remember(self, before: Array) -> None:
        self.held[:] = 0

    def rows(self, z: Array) -> tuple[Array, Array]:
        u, s, vt = np.linalg.svd(z.transpose(0, 2, 1), full_matrices=False)
        gradient = vt[:, 0, :, None] * u[:, None, :, 0]
        return (s[:, 0] - self.params[:, 4])[:, None], gradient.reshape(len(z), 1, 6)

    def pushed(self, z: Array) -> tuple[Array, Array, Array]:
        """Eigenvalues (E, 2), eigenvectors (E, 2, 2) of Y + kappa G, and its positive part T."""
        most = self.params[:, 4, None, None]
        g = (np.matmul(z, z.transpose(0, 2, 1)) - most**2 * np.eye(2)) / (2 * most)
        values, vectors = np.linalg.eigh(self.held + self.kappa[:, :, None] * g)
        part = (vectors * np.maximum(values, 0)[:, None, :]) @ vectors.transpose(0, 2, 1)
        return values, vectors, part

    def terms(self, z: Array, order: int, projected: bool) -> Terms:
        values, vectors, t = self.pushed(z)
        kappa, most = self.kappa[:, 0], self.params[:, 4]
        energy = (np.sum(t * t, axis=(1, 2)) - np.sum(self.held**2, axis=(1, 2))) / (2 * kappa)
        gradient = (np.matmul(t, z) / most[:, None, None]).reshape(len(z), 6)
        h = None
        if order == 2:
            h = np.einsum("eab,ij->eaibj", t / most[:, None, None], EYE3).reshape(len(z), 6, 6)
            low, high = values.T
            some = (high > 0)[:, None]
            both = (low > 0)[:, None]
            share = np.where(low > 0, 1.0, np.maximum(high, 0) * inverse(np.maximum(high - low, 0)))[:, None]
            y = np.matmul(vectors.transpose(0, 2, 1), z)  # F along each eigenvector (E, 2, 3)
            one = np.einsum("ea,ei->eai", vectors[:, :, 1], y[:, 1]).reshape(-1, 6)
            two = np.einsum("ea,ei->eai", vectors[:, :, 0], y[:, 0]).reshape(-1, 6)
            mixed = np.einsum("ea,ei->eai", vectors[:, :, 1], y[:, 0])
            mixed = (mixed + np.einsum("ea,ei->eai", vectors[:, :, 0], y[:, 1])).reshape(-1, 6)
            stiff = (kappa / most**2)[:, None, None]
            h += stiff * (outer(some * one, one) + outer(both * two, two) + 0.5 * outer(share * mixed, mixed))
        return Terms(energy, gradient, 2 * kappa / most**2 * np.einsum("eai,eai->e", z, z), h)

    def forces(self, z: Array) -> Array:
        return np.trace(self.pushed(z)[2], axis1=1, axis2=2)[:, None]

    def violation(self, z: Array) -> Array:
        off = self.pushed(z)[2] - self.held
        return np.sqrt(np.sum(off * off, axis=(1, 2)))[:, None] / self.kappa

    def harden(self, z: Array, factor: float) -> None:
        self.held = self.pushed(z)[2]
        self.kappa = self.kappa * factor
