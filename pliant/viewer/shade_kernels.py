"""The compiled loops from coverage to colour: light, samples to surfaces, surfaces to pixels.

Each loop goes through lights and samples in their order and writes only to the rows or points that it is
given, from ``first`` to before ``stop``: the same scene gives the same bits however the work is shared out
(:mod:`pliant.viewer.parts`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.backend.jit import kernel

CHUNK = 2048  # points that are lit together; what they need fits the cache


@kernel
def along(x: Any, y: Any, z: Any, way: Any, out: Any) -> None:
    """Scalar products of points, in columns, with one vector."""
    a, b, c = way[0], way[1], way[2]
    for i in range(out.shape[0]):
        out[i] = a * x[i] + b * y[i] + c * z[i]


@kernel
def aim(x: Any, y: Any, z: Any, way: Any, scale: Any, half: Any, top: Any, out: Any) -> None:
    """The row or column of a depth picture that each point falls on; its border where it misses it."""
    a, b, c = scale * way[0], scale * way[1], scale * way[2]
    low = np.float32(0)
    for i in range(out.shape[0]):
        place = a * x[i] + b * y[i] + c * z[i] + half
        place = place if place > low else low
        out[i] = np.int32(place if place < top else top)


@kernel
def shadow(cosine: Any, depth: Any, row: Any, column: Any, side: Any, far: Any, near: Any) -> None:
    """Take the light from the points that turn away from it or do not see it."""
    none = np.float32(0)
    for i in range(cosine.shape[0]):
        facing = cosine[i] if cosine[i] > none else none
        cosine[i] = facing if far - depth[i] <= near[np.uint32(row[i] * side + column[i])] else none


@kernel
def add(share: Any, power: Any, total: Any) -> None:
    """``total`` += ``share`` times a number."""
    for i in range(share.shape[0]):
        total[i] += share[i] * power


@kernel
def light_up(
    first: Any,
    stop: Any,
    points: Any,
    normals: Any,
    axes: Any,
    power: Any,
    near: Any,
    side: Any,
    scale: Any,
    far: Any,
    total: Any,
) -> None:
    """Add to each point what reaches it of some lights, from the nearest pixel of their depth pictures.

    One idea a loop: most of them run in SIMD registers then.

    in      points (3, P) stepped off their surfaces, normals (3, P), axes (L, 3, 3), power (L, 3), near
            (L, side^2) pictures with an infinite border: what misses them is lit; all float32
    in-out  total (3, P) float32
    """
    half, top = np.float32(0.5 * side), np.float32(side - 1)
    for low in range(first, stop, CHUNK):
        high = min(low + CHUNK, stop)
        x, y, z = points[0, low:high], points[1, low:high], points[2, low:high]
        nx, ny, nz = normals[0, low:high], normals[1, low:high], normals[2, low:high]
        row, column = np.empty(high - low, np.int32), np.empty(high - low, np.int32)
        depth, light = np.empty(high - low, np.float32), np.empty(high - low, np.float32)
        for l in range(axes.shape[0]):
            aim(x, y, z, axes[l, 0], scale, half, top, column)
            aim(x, y, z, axes[l, 1], scale, half, top, row)
            along(x, y, z, axes[l, 2], depth)
            along(nx, ny, nz, axes[l, 2], light)
            shadow(light, depth, row, column, side, far, near[l])
            for k in range(3):
                add(light, power[l, k], total[k, low:high])


@kernel
def plane_depth(planes: Any, p: Any, ray: Any) -> Any:
    """Multiple of a ray at which it meets rectangle p of (P, 16), infinite where it does not.

    The sixteen numbers: start - origin, normal, u, v, low along u and v, high along u and v
    """
    slope = planes[p, 3] * ray[0] + planes[p, 4] * ray[1] + planes[p, 5] * ray[2]
    away = planes[p, 3] * planes[p, 0] + planes[p, 4] * planes[p, 1] + planes[p, 5] * planes[p, 2]
    far = -away / slope
    x, y, z = planes[p, 0] + far * ray[0], planes[p, 1] + far * ray[1], planes[p, 2] + far * ray[2]
    a = planes[p, 6] * x + planes[p, 7] * y + planes[p, 8] * z
    b = planes[p, 9] * x + planes[p, 10] * y + planes[p, 11] * z
    hit = far > 0 and a >= planes[p, 12] and b >= planes[p, 13] and a <= planes[p, 14] and b <= planes[p, 15]
    return far if hit else np.inf


@kernel
def behind(depth: Any, i: Any, j: Any, shape: Any, planes: Any, camera: Any, focal: Any) -> Any:
    """Whether something at a depth in sample (i, j) is behind one of the planes."""
    x, y = (j + 0.5 - 0.5 * shape[1]) / focal, (0.5 * shape[0] - i - 0.5) / focal
    hidden = False
    for p in range(planes.shape[0]):
        ray = (
            x * camera[0, 0] + y * camera[1, 0] - camera[2, 0],
            x * camera[0, 1] + y * camera[1, 1] - camera[2, 1],
            x * camera[0, 2] + y * camera[1, 2] - camera[2, 2],
        )
        hidden = hidden or depth > plane_depth(planes, p, ray)
    return hidden


@kernel
def surfaces(
    first: Any, stop: Any, triangle: Any, near: Any, body: Any, front: Any, planes: Any, camera: Any,
    focal: Any, bin: Any, order: Any, count: Any, chosen: Any, share: Any,
) -> None:  # fmt: skip
    """The surfaces that each pixel sees: samples of one body, one side and one depth make one.

    in   triangle, near (h s, w s); body, front (F,); planes (P, 16) that hide what is behind them; camera
         (3, 3) rows right, up, backward; order (s s, 2) row and column of the samples, the middle one first
    out  count (h, w) surfaces; for each of them chosen (h, w, s s), the row of ``order`` of the sample that
         speaks for it, and share (h, w, s s), how many samples it has
    """
    samples = near.shape[0] // count.shape[0]
    for row in range(first, stop):
        for column in range(count.shape[1]):
            n = 0
            for k in range(order.shape[0]):
                i, j = row * samples + order[k, 0], column * samples + order[k, 1]
                f = triangle[i, j]
                if f < 0 or behind(near[i, j], i, j, near.shape, planes, camera, focal):
                    continue
                layer, m = math.floor(near[i, j] / bin), 0
                while m < n:
                    other = chosen[row, column, m]
                    p, q = row * samples + order[other, 0], column * samples + order[other, 1]
                    g = triangle[p, q]
                    same = body[f] == body[g] and front[f] == front[g]
                    if same and layer == math.floor(near[p, q] / bin):
                        break
                    m += 1
                if m == n:
                    chosen[row, column, n] = k
                    share[row, column, n] = 0
                    n += 1
                share[row, column, m] += 1
            count[row, column] = n


@kernel
def blend(corners: Any, f: Any, k: Any, weights: Any) -> Any:
    """Number k at the three corners of triangle f, mixed."""
    return weights[0] * corners[f, 0, k] + weights[1] * corners[f, 1, k] + weights[2] * corners[f, 2, k]


@kernel
def describe(
    first: Any, stop: Any, start: Any, chosen: Any, share: Any, order: Any, triangle: Any, edges: Any,
    corners: Any, normals: Any, front: Any, colours: Any, strain: Any, table: Any, portion: Any, point: Any,
    normal: Any, colour: Any,
) -> None:  # fmt: skip
    """Place, normal and colour of the surfaces of every pixel, those of pixel k from ``start[k]`` on.

    in   start (h w + 1,), chosen, share and order as above, triangle (h s, w s), edges (3, 3, F), corners and
         normals (F, 3, 3), front (F,), colours (F, 2, 3) of the back and the front, strain (F, 3) places on
         the scale or NaN, table (n, 3) colours of the scale
    out  portion (S,) of the pixel; point, normal of the side that is seen, colour (3, S)
    """
    samples, last = triangle.shape[0] // chosen.shape[0], table.shape[0] - 1
    for row in range(first, stop):
        for column in range(chosen.shape[1]):
            pixel = row * chosen.shape[1] + column
            for s in range(start[pixel], start[pixel + 1]):
                k = chosen[row, column, s - start[pixel]]
                i, j = row * samples + order[k, 0], column * samples + order[k, 1]
                portion[s] = share[row, column, s - start[pixel]] / chosen.shape[2]
                f = triangle[i, j]
                w0 = edges[0, 0, f] * (j + 0.5) + edges[0, 1, f] * (i + 0.5) + edges[0, 2, f]
                w1 = edges[1, 0, f] * (j + 0.5) + edges[1, 1, f] * (i + 0.5) + edges[1, 2, f]
                w2 = edges[2, 0, f] * (j + 0.5) + edges[2, 1, f] * (i + 0.5) + edges[2, 2, f]
                total = w0 + w1 + w2
                weights = (w0 / total, w1 / total, w2 / total)
                way = (
                    blend(normals, f, 0, weights),
                    blend(normals, f, 1, weights),
                    blend(normals, f, 2, weights),
                )
                length = math.sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2])
                scale = (1.0 if front[f] else -1.0) / (length if length > 0 else 1.0)
                place = weights[0] * strain[f, 0] + weights[1] * strain[f, 1] + weights[2] * strain[f, 2]
                for k in range(3):
                    point[k, s] = blend(corners, f, k, weights)
                    normal[k, s] = scale * way[k]
                    if math.isnan(place):
                        colour[k, s] = colours[f, 1 if front[f] else 0, k]
                    else:
                        colour[k, s] = table[min(max(math.floor(last * place + 0.5), 0), last), k]


@kernel
def compose(
    first: Any, stop: Any, start: Any, portion: Any, colour: Any, light: Any, ground: Any, share: Any,
    ground_light: Any, step: Any, background: Any, codes: Any, picture: Any,
) -> None:  # fmt: skip
    """What each pixel sees, averaged in linear light, as bytes.

    in   start (h w + 1,); portion (S,) of the pixel, colour and light (3, S) of each surface; ground (h w, 3)
         and share (h w,) of lit ground, ground_light (3, rows, columns) at every ``step``-th row and column;
         background (3,); codes: the byte for each of its equal steps of light from 0 to 1
    out  picture (h, w, 3) uint8
    """
    rows, columns = ground_light.shape[1], ground_light.shape[2]
    for row in range(first, stop):
        r0, down = row // step, (row % step) / step
        r1 = min(r0 + 1, rows - 1)
        for column in range(picture.shape[1]):
            pixel = row * picture.shape[1] + column
            c0, right = column // step, (column % step) / step
            c1 = min(c0 + 1, columns - 1)
            covered = 0.0
            for s in range(start[pixel], start[pixel + 1]):
                covered += portion[s]
            for k in range(3):
                value = ground[pixel, k]
                if share[pixel] > 0:
                    upper = (1 - right) * ground_light[k, r0, c0] + right * ground_light[k, r0, c1]
                    lower = (1 - right) * ground_light[k, r1, c0] + right * ground_light[k, r1, c1]
                    lit = value * ((1 - down) * upper + down * lower)
                    value = (1 - share[pixel]) * background[k] + share[pixel] * lit
                value *= 1 - covered
                for s in range(start[pixel], start[pixel + 1]):
                    value += portion[s] * colour[k, s] * light[k, s]
                last = codes.shape[0] - 1
                picture[row, column, k] = codes[math.floor(min(max(value, 0.0), 1.0) * last + 0.5)]
