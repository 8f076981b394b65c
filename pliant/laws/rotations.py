"""The proper rotation closest to a 3 x 3 matrix, in a fixed number of operations.

The rotation of the unit quaternion q that maximises ``tr(R^T F) = q^T K q`` belongs to the largest
eigenvalue of a symmetric 4 x 4 matrix K that is linear in F (Davenport 1968; Horn 1987, Closed-form solution
of absolute orientation using unit quaternions). That it is a rotation, never a reflection, is built in, for
flat, inverted and collapsed F too. The eigenvalue is the largest root of a quartic (Theobald 2005, Rapid
calculation of RMSDs using a quaternion-based characteristic polynomial), found here by Laguerre's iteration
from above; its eigenvector is a column of the adjugate.
"""

from __future__ import annotations

from typing import Any

from ..backend.jit import law
from ..backend.lanes import absolute, maximum, sqrt, where
from .scalars import reciprocal, spacing
from .vectors import Vec, cross, dot, times

Quaternion = tuple[Any, Any, Any, Any]
Symmetric = tuple[Any, Any, Any, Any, Any, Any, Any, Any, Any, Any]
"""Rows of the upper triangle: 00 01 02 03 11 12 13 22 23 33."""


@law
def largest(a: Vec) -> Any:
    """Largest absolute value of three numbers."""
    return maximum(maximum(absolute(a[0]), absolute(a[1])), absolute(a[2]))


@law
def laguerre(x: Any, n: Any, d: Any, q: Any) -> Any:
    """One step from above towards the largest root of ``x^4 - 2 n x^2 - 8 d x + q``; none from below it."""
    square = x * x
    p0 = maximum(((square - 2.0 * n) * x - 8.0 * d) * x + q, 0.0)
    p1 = 4.0 * ((square - n) * x - 2.0 * d)
    p2 = 12.0 * square - 4.0 * n
    return x - 4.0 * p0 * reciprocal(p1 + sqrt(maximum(9.0 * p1 * p1 - 12.0 * p0 * p2, 0.0)))


@law
def largest_eigenvalue(f1: Vec, f2: Vec, f3: Vec) -> Any:
    """Largest eigenvalue of K, a little above: no entry of F beyond 1 in absolute value, one of them 1.

    The polynomial is lowered by more than what rounding makes of it, so that its root stays simple however
    many eigenvalues meet, and above all of them; how little is lost is in docs/laws/solid.md. The start
    bounds ``(s1 + s2 + s3)^2 = sum s^2 + 2 sum s_i s_j`` by ``sum (s_i s_j)^2``, tight at rest.
    """
    c1, c2, c3 = cross(f2, f3), cross(f3, f1), cross(f1, f2)
    n = dot(f1, f1) + dot(f2, f2) + dot(f3, f3)
    m = dot(c1, c1) + dot(c2, c2) + dot(c3, c3)
    d = dot(f1, c1)
    lowered = 8.0 * spacing(n)
    x = sqrt(n + where(d < 0.0, 2.0, 3.4641016151377544) * sqrt(m))
    x = x + x * sqrt(4.0 * lowered)
    q = n * n - lowered * n * n - 4.0 * m
    for _ in range(8):
        x = laguerre(x, n, d, q)
    return x


@law
def adjugate(m: Symmetric) -> Symmetric:
    """Adjugate of a symmetric 4 x 4 matrix, by its 2 x 2 minors."""
    s0 = m[0] * m[4] - m[1] * m[1]
    s1 = m[0] * m[5] - m[1] * m[2]
    s2 = m[0] * m[6] - m[1] * m[3]
    s3 = m[1] * m[5] - m[4] * m[2]
    s4 = m[1] * m[6] - m[4] * m[3]
    s5 = m[2] * m[6] - m[5] * m[3]
    c1 = m[2] * m[8] - m[3] * m[7]
    c2 = m[2] * m[9] - m[3] * m[8]
    c3 = m[5] * m[8] - m[6] * m[7]
    c4 = m[5] * m[9] - m[6] * m[8]
    c5 = m[7] * m[9] - m[8] * m[8]
    return (
        m[4] * c5 - m[5] * c4 + m[6] * c3,
        m[2] * c4 - m[1] * c5 - m[3] * c3,
        m[6] * s5 - m[8] * s4 + m[9] * s3,
        m[7] * s4 - m[5] * s5 - m[8] * s3,
        m[0] * c5 - m[2] * c2 + m[3] * c1,
        m[8] * s2 - m[3] * s5 - m[9] * s1,
        m[2] * s5 - m[7] * s2 + m[8] * s1,
        m[3] * s4 - m[6] * s2 + m[9] * s0,
        m[5] * s2 - m[2] * s4 - m[8] * s0,
        m[2] * s3 - m[5] * s1 + m[7] * s0,
    )


@law
def applied(a: Symmetric, q: Quaternion, s: Any) -> Quaternion:
    """s A q"""
    return (
        s * (a[0] * q[0] + a[1] * q[1] + a[2] * q[2] + a[3] * q[3]),
        s * (a[1] * q[0] + a[4] * q[1] + a[5] * q[2] + a[6] * q[3]),
        s * (a[2] * q[0] + a[5] * q[1] + a[7] * q[2] + a[8] * q[3]),
        s * (a[3] * q[0] + a[6] * q[1] + a[8] * q[2] + a[9] * q[3]),
    )


@law
def eigenvector(a: Symmetric) -> Quaternion:
    """Unit vector in which a matrix of (almost) rank 1, not negative, points; (1, 0, 0, 0) for the matrix 0.

    The column of the largest diagonal entry, times the matrix three times: what it holds of other
    eigenvectors is gone with the fourth power of their share.
    """
    use = a[4] > a[0]
    best = where(use, a[4], a[0])
    q = (where(use, a[1], a[0]), where(use, a[4], a[1]), where(use, a[5], a[2]), where(use, a[6], a[3]))
    use = a[7] > best
    best = where(use, a[7], best)
    q = (where(use, a[2], q[0]), where(use, a[5], q[1]), where(use, a[7], q[2]), where(use, a[8], q[3]))
    use = a[9] > best
    best = where(use, a[9], best)
    q = (where(use, a[3], q[0]), where(use, a[6], q[1]), where(use, a[8], q[2]), where(use, a[9], q[3]))
    s = reciprocal(best)
    q = (s * q[0], s * q[1], s * q[2], s * q[3])
    q = applied(a, applied(a, applied(a, q, s), s), s)
    size = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    unit = reciprocal(sqrt(size))
    return where(unit > 0.0, unit * q[0], 1.0), unit * q[1], unit * q[2], unit * q[3]


@law
def rotated_axes(q: Quaternion) -> tuple[Vec, Vec, Vec]:
    """Columns of the rotation of a unit quaternion w x y z."""
    w, x, y, z = q
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz = x * x2, y * y2, z * z2
    xy, xz, yz = x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    return (
        (1.0 - (yy + zz), xy + wz, xz - wy),
        (xy - wz, 1.0 - (xx + zz), yz + wx),
        (xz + wy, yz - wx, 1.0 - (xx + yy)),
    )


@law
def closest_rotation(f1: Vec, f2: Vec, f3: Vec) -> tuple[Vec, Vec, Vec]:
    """Columns of the rotation R, det R = +1, that minimises ``|F - R|``.

    Where several do (F has collapsed to a line or a point, or is a reflection) it is one of them, the same
    for the same bits; the identity for F = 0.
    """
    s = reciprocal(maximum(maximum(largest(f1), largest(f2)), largest(f3)))
    a, b, c = times(s, f1), times(s, f2), times(s, f3)
    x = largest_eigenvalue(a, b, c)
    shifted = (
        x - (a[0] + b[1] + c[2]),
        c[1] - b[2],
        a[2] - c[0],
        b[0] - a[1],
        x - (a[0] - b[1] - c[2]),
        -(b[0] + a[1]),
        -(c[0] + a[2]),
        x - (b[1] - a[0] - c[2]),
        -(c[1] + b[2]),
        x - (c[2] - a[0] - b[1]),
    )
    return rotated_axes(eigenvector(adjugate(shifted)))
