"""Meshes to collide with, and what a slow look at all of their triangles says."""

from __future__ import annotations

import numpy as np

import pliant as pl

Array = np.ndarray


def box(size: tuple[float, float, float]) -> pl.TriMesh:
    """A box of twelve triangles."""
    v, t = pl.Box(size).display(1.0)
    return pl.TriMesh(v, t, name="box")


def closed(shape: object) -> pl.TriMesh:
    """The display mesh of a round shape, its vertices merged and its empty triangles dropped."""
    v, t = shape.display(1.0)  # type: ignore[attr-defined]
    _, first, group = np.unique(np.round(v, 12) + 0.0, axis=0, return_index=True, return_inverse=True)
    t = group.ravel()[t]
    full = (t[:, 0] != t[:, 1]) & (t[:, 1] != t[:, 2]) & (t[:, 2] != t[:, 0])
    return pl.TriMesh(v[first], t[full], name=type(shape).__name__.lower())


def bowl(radius: float, subdivisions: int, rim: float = 0.15) -> pl.TriMesh:
    """The part of a sphere below ``rim`` times its radius, open at the top."""
    s = pl.shapes.sphere(radius, subdivisions)
    low = s.vertices[s.triangles].mean(axis=1)[:, 2] < rim * radius
    used, t = np.unique(s.triangles[low], return_inverse=True)
    return pl.TriMesh(s.vertices[used], t.reshape(-1, 3), name="bowl")


def flipped(mesh: pl.TriMesh, share: float, seed: int = 0) -> pl.TriMesh:
    """Some faces turned over."""
    turn = np.random.default_rng(seed).random(mesh.n_triangles) < share
    t = np.where(turn[:, None], mesh.triangles[:, ::-1], mesh.triangles)
    return pl.TriMesh(mesh.vertices, t, name=mesh.name)


def joined(*meshes: pl.TriMesh) -> pl.TriMesh:
    """Several meshes as one."""
    start = np.cumsum([0] + [m.n_vertices for m in meshes])
    return pl.TriMesh(
        np.concatenate([m.vertices for m in meshes]),
        np.concatenate([m.triangles + n for m, n in zip(meshes, start[:-1], strict=True)]),
        name="several",
    )


def bumpy(n: int, size: float, height: float) -> pl.TriMesh:
    """A wavy sheet of n x n vertices."""
    m = pl.shapes.grid(n, n, (size, size))
    v = m.vertices.copy()
    v[:, 2] = height * np.sin(9 * v[:, 0] / size) * np.cos(7 * v[:, 1] / size)
    return pl.TriMesh(v, m.triangles, name="bumpy")


def winding_number(corner: Array, p: Array) -> Array:
    """How often triangles (F, 3, 3) go round points (n, 3): 1 inside, 0 outside (van Oosterom 1983)."""
    a, b, c = (corner[None, :, k] - p[:, None] for k in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=2) for v in (a, b, c))
    det = (a * np.cross(b, c)).sum(axis=2)
    denominator = (
        la * lb * lc + (a * b).sum(axis=2) * lc + (b * c).sum(axis=2) * la + (c * a).sum(axis=2) * lb
    )
    return np.arctan2(det, denominator).sum(axis=1) / (2 * np.pi)


def slow_nearest(corner: Array, p: Array) -> Array:
    """Distance of points (n, 3) to each of some triangles (F, 3, 3): (n, F), from first principles.

    The foot on the plane where it is inside, by barycentric coordinates from areas, else the nearest side.
    """
    a, b, c = corner[:, 0], corner[:, 1], corner[:, 2]
    normal = np.cross(b - a, c - a)
    area2 = np.linalg.norm(normal, axis=1)
    unit = normal / area2[:, None]
    h = np.einsum("nfk,fk->nf", p[:, None] - a, unit)
    foot = p[:, None] - h[..., None] * unit
    inside = np.ones(h.shape, bool)
    for u, v in ((a, b), (b, c), (c, a)):
        inside &= np.einsum("nfk,fk->nf", np.cross(v - u, foot - u), unit) >= 0
    sides = []
    for u, v in ((a, b), (b, c), (c, a)):
        e = v - u
        s = np.clip(np.einsum("nfk,fk->nf", p[:, None] - u, e) / (e**2).sum(axis=1), 0, 1)
        sides.append(np.linalg.norm(p[:, None] - u - s[..., None] * e, axis=2))
    return np.where(inside, np.abs(h), np.minimum.reduce(sides))


def slow_crossings(corner: Array, start: Array, end: Array) -> Array:
    """How often ways from start to end (n, 3) pass through triangles (F, 3, 3), by signs of volumes."""

    def volume(p: Array, q: Array, r: Array, s: Array) -> Array:
        return (np.cross(q - p, r - p) * (s - p)).sum(axis=-1)

    a, b, c = (corner[None, :, k] for k in range(3))
    p, q = start[:, None], end[:, None]
    apart = (volume(a, b, c, p) > 0) != (volume(a, b, c, q) > 0)
    round_the_way = [volume(p, q, u, v) > 0 for u, v in ((a, b), (b, c), (c, a))]
    same = (round_the_way[0] == round_the_way[1]) & (round_the_way[1] == round_the_way[2])
    return (apart & same).sum(axis=1)
