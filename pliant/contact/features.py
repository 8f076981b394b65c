"""How near a vertex is to a triangle, and an edge to an edge: laws of points.

Each returns the squared distance, where the nearest points lie, and which feature they lie on. Every
candidate is a point of the simplex, so rounding can make a distance too large by an error of its last bits,
never too small, whatever the shape: slivers, parallel edges and edges of no length included. No length is
compared with a constant.
"""

from __future__ import annotations

from typing import Any

from ..backend.jit import law
from ..laws.vectors import Vec, cross, dot, minus

FACE, EDGE_AB, EDGE_AC, EDGE_BC, CORNER_A, CORNER_B, CORNER_C = 0, 1, 2, 3, 4, 5, 6
"""What of a triangle is nearest to a vertex."""

CLEAR = 1e-8
"""Squared sine of an angle above which the nearest points of lines and planes are good to half their digits:
where they lie inside the features nothing else has to be tried."""

CROSSED, ENDED = 0, 1
"""What of two edges is nearest: points inside both, or an end of one."""


@law
def on_segment(d: Vec, e: Vec) -> tuple[Any, Any]:
    """Squared distance, and place in [0, 1], of the point of the segment from 0 to e that is nearest to d."""
    ee = dot(e, e)
    s = dot(d, e) / ee if ee > 0.0 else 0.0
    s = min(max(s, 0.0), 1.0)
    r = (d[0] - s * e[0], d[1] - s * e[1], d[2] - s * e[2])
    return dot(r, r), s


@law
def beyond(r: Vec, e: Vec, f: Vec, reach: Any) -> Any:
    """True where the lines or the plane that e and f span lie farther than ``reach`` apart along e x f."""
    n = cross(e, f)
    h = dot(r, n)
    return h * h > reach * reach * dot(n, n)


@law
def vertex_triangle(p: Vec, a: Vec, b: Vec, c: Vec) -> tuple[Any, Any, Any, Any]:
    """From a point to a triangle: squared distance, weights of b and c in the nearest point, feature."""
    ab, ac, ap = minus(b, a), minus(c, a), minus(p, a)
    g00, g01, g11 = dot(ab, ab), dot(ab, ac), dot(ac, ac)
    h0, h1 = dot(ap, ab), dot(ap, ac)
    det = g00 * g11 - g01 * g01
    x, y = g11 * h0 - g01 * h1, g00 * h1 - g01 * h0
    over = det > 0.0 and x >= 0.0 and y >= 0.0 and x + y <= det
    x, y = (x / det, y / det) if over else (0.0, 0.0)
    r = (ap[0] - x * ab[0] - y * ac[0], ap[1] - x * ab[1] - y * ac[1], ap[2] - x * ab[2] - y * ac[2])
    face = dot(r, r)
    if over and det > CLEAR * g00 * g11:
        return face, x, y, FACE
    best, u = on_segment(ap, ab)
    v = 0.0
    feature = CORNER_A if u <= 0.0 else (CORNER_B if u >= 1.0 else EDGE_AB)
    d2, s = on_segment(ap, ac)
    if d2 < best:
        best, u, v = d2, 0.0, s
        feature = CORNER_A if s <= 0.0 else (CORNER_C if s >= 1.0 else EDGE_AC)
    d2, s = on_segment(minus(p, b), minus(c, b))
    if d2 < best:
        best, u, v = d2, 1.0 - s, s
        feature = CORNER_B if s <= 0.0 else (CORNER_C if s >= 1.0 else EDGE_BC)
    if over and face <= best:
        best, u, v, feature = face, x, y, FACE
    return best, u, v, feature


@law
def edge_edge(p: Vec, q: Vec, a: Vec, b: Vec) -> tuple[Any, Any, Any, Any]:
    """From the edge pq to the edge ab: squared distance, places on both in [0, 1], feature."""
    e, f, r = minus(q, p), minus(b, a), minus(p, a)
    ee, ef, ff = dot(e, e), dot(e, f), dot(f, f)
    er, fr = dot(e, r), dot(f, r)
    det = ee * ff - ef * ef
    u, v = ef * fr - ff * er, ee * fr - ef * er
    inside = det > 0.0 and u > 0.0 and v > 0.0 and u < det and v < det
    u, v = (u / det, v / det) if inside else (0.0, 0.0)
    w = (r[0] + u * e[0] - v * f[0], r[1] + u * e[1] - v * f[1], r[2] + u * e[2] - v * f[2])
    across = dot(w, w)
    if inside and det > CLEAR * ee * ff:
        return across, u, v, CROSSED
    best, t = on_segment(r, f)
    s, feature = 0.0, ENDED
    d2, place = on_segment(minus(q, a), f)
    if d2 < best:
        best, s, t = d2, 1.0, place
    d2, place = on_segment(minus(a, p), e)
    if d2 < best:
        best, s, t = d2, place, 0.0
    d2, place = on_segment(minus(b, p), e)
    if d2 < best:
        best, s, t = d2, place, 1.0
    if inside and across <= best:
        best, s, t, feature = across, u, v, CROSSED
    return best, s, t, feature
