"""The compiled loops of the z-buffer: one span for each row of each triangle, the nearest stays.

Each loop goes through the triangles in their order and writes only to the rows or pictures that it is given,
from ``first`` to before ``stop``: the same scene gives the same bits however the work is shared out
(:mod:`pliant.viewer.parts`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.backend.jit import kernel

# A pixel centre this near to an edge counts as inside for both neighbours: no cracks, at most a tie.
SLACK = 1e-6
FLAT = 1e-12  # a triangle seen under a smaller angle than this covers nothing


@kernel
def dot(a: Any, b: Any) -> Any:
    """Scalar product of two triples."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a: Any, b: Any) -> Any:
    """Vector product of two triples."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel
def edges_of(a: Any, b: Any, c: Any) -> Any:
    """The three edge functions of a triangle with homogeneous corners; NaN where it is seen edge on."""
    p, q, r = cross(b, c), cross(c, a), cross(a, b)
    det = dot(a, p)
    if not abs(det) > FLAT * math.sqrt(dot(a, a) * dot(b, b) * dot(c, c)):
        det = np.nan
    s = 1.0 / det
    return (
        (s * p[0], s * p[1], s * p[2]),
        (s * q[0], s * q[1], s * q[2]),
        (s * r[0], s * r[1], s * r[2]),
    )


@kernel
def first_pixel(low: Any, n: Any) -> Any:
    """The first of n pixels whose centre is not before a coordinate."""
    return max(math.ceil(min(max(low, 0.0), float(n)) - 0.5 - SLACK), 0)


@kernel
def last_pixel(high: Any, n: Any) -> Any:
    """The last of n pixels whose centre is not after a coordinate."""
    return min(math.floor(min(max(high, 0.0), float(n)) - 0.5 + SLACK), n - 1)


@kernel
def rows_of(a: Any, b: Any, c: Any, height: Any) -> Any:
    """First and last row that a triangle may touch; the whole picture where it crosses the eye's plane."""
    if not (a[2] > 0 or b[2] > 0 or c[2] > 0):
        return 0, -1
    if not (a[2] > 0 and b[2] > 0 and c[2] > 0):
        return 0, height - 1
    y0, y1, y2 = a[1] / a[2], b[1] / b[2], c[1] / c[2]
    top, bottom = min(y0, y1, y2), max(y0, y1, y2)
    if not (bottom >= 0 and top <= height):
        return 0, -1
    return first_pixel(top, height), last_pixel(bottom, height)


@kernel
def draw(e: Any, z: Any, face: Any, first: Any, last: Any, triangle: Any, near: Any) -> None:
    """One triangle into rows ``first`` to ``last``: the nearest stays, the earlier triangle at a tie.

    Where all three edge functions are >= 0 is one span of each row.

    in      e three edge functions, z depths at the corners, face its number
    in-out  triangle (h, w) int32, or empty where nobody asks for it; near (h, w) float32
    """
    width, asked = near.shape[1], triangle.shape[0] > 0
    a = e[0][0] * z[0] + e[1][0] * z[1] + e[2][0] * z[2]
    c = e[0][0] + e[1][0] + e[2][0]
    for y in range(first, last + 1):
        left, right = 0.0, float(width)
        b, d = 0.0, 0.0
        for k in range(3):
            rest = e[k][1] * (y + 0.5) + e[k][2]
            b += rest * z[k]
            d += rest
            if e[k][0] > 0:
                left = max(left, -rest / e[k][0])
            elif e[k][0] < 0:
                right = min(right, -rest / e[k][0])
            elif rest < 0:
                right = -1.0
        if right < 0.0:
            continue
        for x in range(first_pixel(left, width), last_pixel(right, width) + 1):
            here = np.float32((a * (x + 0.5) + b) / (c * (x + 0.5) + d))
            if here > 0 and here < near[y, x]:
                near[y, x] = here
                if asked:
                    triangle[y, x] = face


@kernel
def corner(corners: Any, k: Any, f: Any) -> Any:
    """Corner k of triangle f."""
    return corners[k, 0, f], corners[k, 1, f], corners[k, 2, f]


@kernel
def edge_functions(corners: Any, out: Any) -> None:
    """``out`` (3, 3, F): the edge functions of ``corners`` (3, 3, F)."""
    for f in range(corners.shape[2]):
        e = edges_of(corner(corners, 0, f), corner(corners, 1, f), corner(corners, 2, f))
        for k in range(3):
            for m in range(3):
                out[k, m, f] = e[k][m]


@kernel
def cover(first: Any, stop: Any, corners: Any, edges: Any, depth: Any, triangle: Any, near: Any) -> None:
    """The nearest triangle at every pixel of some rows.

    in      corners, edges (3, 3, F), depth (3, F)
    in-out  triangle (h, w) int32, near (h, w) float32
    """
    for f in range(corners.shape[2]):
        if not math.isfinite(edges[0, 0, f]):
            continue
        a, b, c = corner(corners, 0, f), corner(corners, 1, f), corner(corners, 2, f)
        top, bottom = rows_of(a, b, c, near.shape[0])
        if top < stop and bottom >= first:
            e = (corner(edges, 0, f), corner(edges, 1, f), corner(edges, 2, f))
            z = (depth[0, f], depth[1, f], depth[2, f])
            draw(e, z, f, max(top, first), min(bottom, stop - 1), triangle, near)


@kernel
def depth_pictures(
    first: Any, stop: Any, corners: Any, axes: Any, scale: Any, far: Any, nothing: Any, near: Any
) -> None:
    """What each parallel light sees: how far from a plane behind it the nearest surface is.

    in      corners (F, 3, 3), axes (L, 3, 3) rows across, along and towards
            each light, scale pixels a unit, far distance of the plane; nothing (0, 0) int32
    in-out  near (L, n, n) float32; its outermost pixels stay as they are
    """
    n = near.shape[1] - 2
    for l in range(first, stop):
        u = (axes[l, 0, 0], axes[l, 0, 1], axes[l, 0, 2])
        v = (axes[l, 1, 0], axes[l, 1, 1], axes[l, 1, 2])
        w = (axes[l, 2, 0], axes[l, 2, 1], axes[l, 2, 2])
        for f in range(corners.shape[0]):
            p, q, r = corners[f, 0], corners[f, 1], corners[f, 2]
            a = (dot(u, p) * scale + 0.5 * n, dot(v, p) * scale + 0.5 * n, 1.0)
            b = (dot(u, q) * scale + 0.5 * n, dot(v, q) * scale + 0.5 * n, 1.0)
            c = (dot(u, r) * scale + 0.5 * n, dot(v, r) * scale + 0.5 * n, 1.0)
            e = edges_of(a, b, c)
            if math.isfinite(e[0][0]):
                top, bottom = rows_of(a, b, c, n)
                z = (far - dot(w, p), far - dot(w, q), far - dot(w, r))
                draw(e, z, f, top, bottom, nothing, near[l, 1:-1, 1:-1])
