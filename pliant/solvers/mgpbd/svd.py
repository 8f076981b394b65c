"""Singular values of many 3 x 3 matrices, with rotations on both sides.

One-sided Jacobi (Hestenes 1958): columns of F V are turned against each other until they are orthogonal. It
finds small singular values to their own relative accuracy, and is quick where F is close to a rotation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backend.jit import kernel

SWEEPS = 12
"""At most; four or five are used."""


@kernel
def signed_svd(f: Any, u: Any, s: Any, vt: Any) -> None:
    """``F = U diag(s) V^T`` with det U = det V = 1: the last singular value has the sign of det F.

    in   f (n, 3, 3)
    out  u (n, 3, 3), s (n, 3) falling in absolute value, vt (n, 3, 3)
    """
    eps = 2.220446049250313e-16
    for e in range(len(f)):
        a, v = u[e], vt[e]  # v holds V^T: its rows are turned as the columns of a are
        for i in range(3):
            for j in range(3):
                a[i, j] = f[e, i, j]
                v[i, j] = 1.0 if i == j else 0.0
        for _ in range(SWEEPS):
            done = True
            for p in range(2):
                for q in range(p + 1, 3):
                    pp = a[0, p] * a[0, p] + a[1, p] * a[1, p] + a[2, p] * a[2, p]
                    qq = a[0, q] * a[0, q] + a[1, q] * a[1, q] + a[2, q] * a[2, q]
                    pq = a[0, p] * a[0, q] + a[1, p] * a[1, q] + a[2, p] * a[2, q]
                    if abs(pq) <= eps * np.sqrt(pp) * np.sqrt(qq):
                        continue
                    done = False
                    half = (qq - pp) / (2.0 * pq)
                    t = (1.0 if half >= 0 else -1.0) / (abs(half) + np.sqrt(1.0 + half * half))
                    c = 1.0 / np.sqrt(1.0 + t * t)
                    for i in range(3):
                        ap, aq = a[i, p], a[i, q]
                        a[i, p], a[i, q] = c * ap - c * t * aq, c * t * ap + c * aq
                        vp, vq = v[p, i], v[q, i]
                        v[p, i], v[q, i] = c * vp - c * t * vq, c * t * vp + c * vq
            if done:
                break
        for k in range(3):
            s[e, k] = np.sqrt(a[0, k] * a[0, k] + a[1, k] * a[1, k] + a[2, k] * a[2, k])
        for p, q in ((0, 1), (1, 2), (0, 1)):
            if s[e, p] < s[e, q]:  # a quarter turn keeps det V
                s[e, p], s[e, q] = s[e, q], s[e, p]
                for i in range(3):
                    a[i, p], a[i, q] = a[i, q], -a[i, p]
                    v[p, i], v[q, i] = v[q, i], -v[p, i]
        _frame(a, s[e])


@kernel(inline=True)
def _frame(a: Any, s: Any) -> None:
    """Make the columns of a, of lengths s, a right-handed frame, and sign the last of s."""
    if s[0] > 0:
        for i in range(3):
            a[i, 0] /= s[0]
    else:
        a[0, 0], a[1, 0], a[2, 0] = 1.0, 0.0, 0.0
    if s[1] > 1e-14 * s[0]:
        for i in range(3):
            a[i, 1] /= s[1]
    else:  # any direction across the first
        k = 0
        for i in range(1, 3):
            if abs(a[i, 0]) < abs(a[k, 0]):
                k = i
        along, length = a[k, 0], 0.0
        for i in range(3):
            a[i, 1] = (1.0 if i == k else 0.0) - along * a[i, 0]
            length += a[i, 1] * a[i, 1]
        for i in range(3):
            a[i, 1] /= np.sqrt(length)
    x = a[1, 0] * a[2, 1] - a[2, 0] * a[1, 1]
    y = a[2, 0] * a[0, 1] - a[0, 0] * a[2, 1]
    z = a[0, 0] * a[1, 1] - a[1, 0] * a[0, 1]
    if x * a[0, 2] + y * a[1, 2] + z * a[2, 2] < 0:
        s[2] = -s[2]
    a[0, 2], a[1, 2], a[2, 2] = x, y, z
