"""Dihedral angles, signed and by acos, with exact second derivatives.

The vectors of a hinge (0, 1, 2, 3) are ``e = x1 - x0``, ``a = x2 - x0``, ``b = x3 - x0``; angle and
gradients are those of :mod:`pliant.laws.bending`. The Hessian is the derivative of those gradients, term by
term: ``g_a = -l n1/|n1|^2`` with ``n1 = e x a`` and ``l = |e|``, ``g_b`` likewise with ``n2 = b x e``, and
``g_e = -(a.e/l^2) g_a - (b.e/l^2) g_b``.
"""

from __future__ import annotations

import numpy as np

from .base import Array, Element, Terms, inverse, outer, positive, skew

EYE = np.eye(3)


def dot(a: Array, b: Array) -> Array:
    """Row by row."""
    return np.einsum("ei,ei->e", a, b)


def angle(z: Array) -> Array:
    """Signed angle (E,) [rad]."""
    e, a, b = z[:, 0], z[:, 1], z[:, 2]
    n1, n2 = np.cross(e, a), np.cross(b, e)
    sine = dot(np.cross(n1, n2), e) * inverse(np.linalg.norm(e, axis=1))
    return np.arctan2(sine, dot(n1, n2))


def angle_gradient(z: Array) -> Array:
    """Gradient (E, 9); zero for a hinge with a triangle of no area."""
    e, a, b = z[:, 0], z[:, 1], z[:, 2]
    n1, n2, length = np.cross(e, a), np.cross(b, e), np.linalg.norm(e, axis=1)
    q1, q2 = inverse(dot(n1, n1)), inverse(dot(n2, n2))
    whole = (q1 > 0) & (q2 > 0)
    ga = np.where(whole, -length * q1, 0.0)[:, None] * n1
    gb = np.where(whole, -length * q2, 0.0)[:, None] * n2
    over = inverse(dot(e, e))
    ge = -(dot(a, e) * over)[:, None] * ga - (dot(b, e) * over)[:, None] * gb
    return np.concatenate([ge, ga, gb], axis=1)


def _wing(n: Array, length: Array, unit: Array, by_e: Array, by_own: Array) -> tuple[Array, Array]:
    """Derivatives (E, 3, 3) of ``-l n/|n|^2`` by the edge and by the wing's own vector."""
    q = inverse(dot(n, n))
    turn = q[:, None, None] * (EYE - 2 * q[:, None, None] * outer(n, n))
    stretch = -q[:, None, None] * outer(n, unit)
    scale = -length[:, None, None]
    return stretch + scale * np.matmul(turn, by_e), scale * np.matmul(turn, by_own)


def angle_hessian(z: Array) -> Array:
    """Second derivatives (E, 9, 9)."""
    e, a, b = z[:, 0], z[:, 1], z[:, 2]
    n1, n2, length = np.cross(e, a), np.cross(b, e), np.linalg.norm(e, axis=1)
    unit, over = inverse(length)[:, None] * e, inverse(dot(e, e))
    g = angle_gradient(z)
    ga, gb = g[:, 3:6], g[:, 6:9]
    aa_e, aa = _wing(n1, length, unit, -skew(a), skew(e))
    bb_e, bb = _wing(n2, length, unit, skew(b), -skew(e))
    ca, cb = dot(a, e) * over, dot(b, e) * over
    ca_e = over[:, None] * (a - 2 * ca[:, None] * e)
    cb_e = over[:, None] * (b - 2 * cb[:, None] * e)
    along = over[:, None] * e
    h = np.zeros((len(z), 9, 9))
    h[:, 3:6, 0:3], h[:, 3:6, 3:6] = aa_e, aa
    h[:, 6:9, 0:3], h[:, 6:9, 6:9] = bb_e, bb
    h[:, 0:3, 3:6] = -ca[:, None, None] * aa - outer(ga, along)
    h[:, 0:3, 6:9] = -cb[:, None, None] * bb - outer(gb, along)
    h[:, 0:3, 0:3] = -ca[:, None, None] * aa_e - outer(ga, ca_e) - cb[:, None, None] * bb_e - outer(gb, cb_e)
    h[~np.any(g != 0, axis=1)] = 0.0
    return 0.5 * (h + h.transpose(0, 2, 1))


class Dihedral(Element):
    """``C = theta - theta_0``, wrapped to (-pi, pi]."""

    def shape_matrix(self) -> Array:
        s = np.vstack([-np.ones(3), np.eye(3)])
        return np.broadcast_to(s, (len(self.ids), 4, 3))

    def rows(self, z: Array) -> tuple[Array, Array]:
        c = angle(z) - self.params[:, 0]
        c = np.where(c > np.pi, c - 2 * np.pi, c)
        c = np.where(c <= -np.pi, c + 2 * np.pi, c)
        return c[:, None], angle_gradient(z)[:, None]

    def curvature(self, z: Array, pull: Array) -> Array:
        return pull[:, :, None] * angle_hessian(z)


class DihedralAcos(Dihedral):
    """``C = |theta| - phi_0``: the unsigned baseline, without a gradient at flat."""

    def rows(self, z: Array) -> tuple[Array, Array]:
        theta = angle(z)
        gradient = np.sign(theta)[:, None] * angle_gradient(z)
        return (np.abs(theta) - self.params[:, 0])[:, None], gradient[:, None]

    def curvature(self, z: Array, pull: Array) -> Array:
        return (pull[:, 0] * np.sign(angle(z)))[:, None, None] * angle_hessian(z)


class DampedIsometric(Dihedral):
    """Isometric bending whose change is slowed: the energy of ``C = sum K_i x_i``, and of ``c - c_n``.

    ``c = C . u`` with the hinge's mean normal u, so that no rigid motion is damped. XPBD compares all of C
    with that of before, turned as the normal has turned, along the stencil alone, which is the gradient of
    nothing: the two agree for small bends, and where triangles keep their shape C has no other component.
    """

    may_be_rigid = False

    def remember(self, before: Array) -> None:
        self.c_before = self.height(self.vectors(before))[0][:, None]

    def height(self, z: Array) -> tuple[Array, Array, Array, Array, Array, Array]:
        """c, its gradient (E, 9), sum K x (E, 3), u, 1/|m|, and how the normal m turns (E, 3, 9)."""
        v = np.einsum("ea,eai->ei", self.params[:, 1:4], z)
        w = z[:, 1] - z[:, 2]
        m = np.cross(z[:, 0], w)
        over = inverse(np.linalg.norm(m, axis=1))
        u = over[:, None] * m
        by = np.concatenate([-skew(w), skew(z[:, 0]), -skew(z[:, 0])], axis=2)
        c = dot(v, u)
        along = np.einsum("ea,ei->eai", self.params[:, 1:4], u).reshape(-1, 9)
        turn = over[:, None] * (v - c[:, None] * u)
        return c, along + np.einsum("ei,ein->en", turn, by), v, u, over, by

    def terms(self, z: Array, order: int, projected: bool) -> Terms:
        c, g, v, u, over, by = self.height(z)
        k, drag = self.k[:, 0], self.k[:, 0] * self.gamma[:, 0]
        late = c - self.c_before[:, 0]
        stencil = np.einsum("ea,ij->eiaj", self.params[:, 1:4], EYE).reshape(-1, 3, 9)
        energy = 0.5 * (k * dot(v, v) + drag * late * late)
        gradient = np.einsum("e,ei,ein->en", k, v, stencil) + (drag * late)[:, None] * g
        h = None
        if order == 2:
            flat = over[:, None, None] * (EYE - outer(u, u))
            cross = np.matmul(stencil.transpose(0, 2, 1), np.matmul(flat, by))
            b = 3 * c[:, None, None] * outer(u, u) - outer(v, u) - outer(u, v) - c[:, None, None] * EYE
            b = (over * over)[:, None, None] * b
            bend = cross + cross.transpose(0, 2, 1) + np.matmul(by.transpose(0, 2, 1), np.matmul(b, by))
            s = skew(over[:, None] * (v - c[:, None] * u))
            bend[:, 0:3, 3:6] -= s
            bend[:, 0:3, 6:9] += s
            bend[:, 3:6, 0:3] += s
            bend[:, 6:9, 0:3] -= s
            h = k[:, None, None] * np.matmul(stencil.transpose(0, 2, 1), stencil)
            h += drag[:, None, None] * outer(g, g) + (drag * late)[:, None, None] * bend
            h = positive(h) if projected else h
        stiffness = k * np.sum(self.params[:, 1:4] ** 2, axis=1) + drag * dot(g, g)
        return Terms(energy, gradient, stiffness, h)

    def forces(self, z: Array) -> Array:
        c, _, v, u, _, _ = self.height(z)
        drag = self.gamma[:, 0] * (c - self.c_before[:, 0])
        return self.k[:, :1] * (v + drag[:, None] * u)
