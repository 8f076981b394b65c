"""Signed distances to analytic shapes, each in its own frame: laws of one point.

Every function returns the distance [m] (negative inside) and the outward unit normal there. Where the
normal is not unique (a centre, an axis) a fixed direction is chosen.
"""

from __future__ import annotations

from typing import Any

from ..backend.jit import law
from ..backend.lanes import both, maximum, minimum, sqrt, where
from ..laws.scalars import reciprocal
from ..laws.vectors import Vec, dot

PLANE, SPHERE, CYLINDER, CAPSULE, BOX = 0, 1, 2, 3, 4


@law
def plane_distance(p: Vec) -> tuple[Any, Vec]:
    """Half space below z = 0."""
    zero = p[0] * 0.0
    return p[2], (zero, zero, zero + 1.0)


@law
def sphere_distance(p: Vec, radius: Any) -> tuple[Any, Vec]:
    """Ball about the origin."""
    length = sqrt(dot(p, p))
    inverse = reciprocal(length)
    top = where(length > 0.0, p[2] * inverse, 1.0)
    return length - radius, (p[0] * inverse, p[1] * inverse, top)


@law
def cylinder_distance(p: Vec, radius: Any, half_height: Any, rounding: Any) -> tuple[Any, Vec]:
    """Solid cylinder about z with both rims rounded."""
    r = sqrt(p[0] * p[0] + p[1] * p[1])
    inverse = reciprocal(r)
    ex = where(r > 0.0, p[0] * inverse, 1.0)
    ey = p[1] * inverse
    up = where(p[2] < 0.0, -1.0, 1.0)
    qr = r - (radius - rounding)
    qz = p[2] * up - (half_height - rounding)
    outer_r = maximum(qr, 0.0)
    outer_z = maximum(qz, 0.0)
    outer = sqrt(outer_r * outer_r + outer_z * outer_z)
    corner = reciprocal(outer)
    side = qr > qz
    flat_r = where(side, 1.0, 0.0)
    flat_z = where(side, 0.0, 1.0)
    outside = outer > 0.0
    nr = where(outside, outer_r * corner, flat_r)
    nz = where(outside, outer_z * corner, flat_z)
    distance = outer + minimum(maximum(qr, qz), 0.0) - rounding
    return distance, (nr * ex, nr * ey, nz * up)


@law
def capsule_distance(p: Vec, radius: Any, half_height: Any) -> tuple[Any, Vec]:
    """Points within a radius of a piece of the z axis."""
    nearest = maximum(minimum(p[2], half_height), -half_height)
    return sphere_distance((p[0], p[1], p[2] - nearest), radius)


@law
def box_distance(p: Vec, half: Vec, rounding: Any) -> tuple[Any, Vec]:
    """Solid box with rounded edges and corners; inside, the way out is through the nearest side."""
    sx = where(p[0] < 0.0, -1.0, 1.0)
    sy = where(p[1] < 0.0, -1.0, 1.0)
    sz = where(p[2] < 0.0, -1.0, 1.0)
    qx = p[0] * sx - (half[0] - rounding)
    qy = p[1] * sy - (half[1] - rounding)
    qz = p[2] * sz - (half[2] - rounding)
    ox = maximum(qx, 0.0)
    oy = maximum(qy, 0.0)
    oz = maximum(qz, 0.0)
    outer = sqrt(ox * ox + oy * oy + oz * oz)
    inverse = reciprocal(outer)
    outside = outer > 0.0
    deepest = maximum(maximum(qx, qy), qz)
    through_x = qx >= deepest
    through_y = both(qx < deepest, qy >= deepest)
    fx = where(through_x, 1.0, 0.0)
    fy = where(through_y, 1.0, 0.0)
    fz = 1.0 - fx - fy
    nx = sx * where(outside, ox * inverse, fx)
    ny = sy * where(outside, oy * inverse, fy)
    nz = sz * where(outside, oz * inverse, fz)
    return outer + minimum(deepest, 0.0) - rounding, (nx, ny, nz)


@law
def collider_distance(kind: Any, size: Any, rotation: Any, position: Any, p: Vec) -> tuple[Any, Vec]:
    """Distance to, and normal of, a placed collider; both in the world's frame.

    size (4), rotation (3 x 3, columns are the collider's axes), position (3): constants of the collider.
    """
    d = (p[0] - position[0], p[1] - position[1], p[2] - position[2])
    q = (
        rotation[0][0] * d[0] + rotation[1][0] * d[1] + rotation[2][0] * d[2],
        rotation[0][1] * d[0] + rotation[1][1] * d[1] + rotation[2][1] * d[2],
        rotation[0][2] * d[0] + rotation[1][2] * d[1] + rotation[2][2] * d[2],
    )
    if kind == PLANE:
        gap, n = plane_distance(q)
    elif kind == SPHERE:
        gap, n = sphere_distance(q, size[0])
    elif kind == CYLINDER:
        gap, n = cylinder_distance(q, size[0], size[1], size[3])
    elif kind == CAPSULE:
        gap, n = capsule_distance(q, size[0], size[1])
    else:
        gap, n = box_distance(q, (size[0], size[1], size[2]), size[3])
    return gap, (
        rotation[0][0] * n[0] + rotation[0][1] * n[1] + rotation[0][2] * n[2],
        rotation[1][0] * n[0] + rotation[1][1] * n[1] + rotation[1][2] * n[2],
        rotation[2][0] * n[0] + rotation[2][1] * n[1] + rotation[2][2] * n[2],
    )
