"""Lengths, areas, frames, angles and stencils of a triangle mesh, in SI units.

Positions ``x`` may carry leading axes (worlds, frames): (..., N, 3). Index arrays are int, (F, 3) or (H, 4).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.errors import MeshError


def triangle_normals(x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Normals (x1 - x0) × (x2 - x0), length twice the area: (..., F, 3), m²."""
    a, b, c = (x[..., triangles[:, i], :] for i in range(3))
    return np.cross(b - a, c - a)


def triangle_areas(x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Areas (..., F), m²."""
    return 0.5 * np.linalg.norm(triangle_normals(x, triangles), axis=-1)


def vertex_areas(x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """A third of the area of the triangles around each vertex: (N,), m². ``x`` is (N, 3)."""
    third = np.repeat(triangle_areas(x, triangles) / 3.0, 3)
    return np.bincount(np.asarray(triangles).ravel(), weights=third, minlength=len(x))


def enclosed_volume(x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Volume that a closed surface encloses, positive where its normals point outwards: (...,), m³."""
    a, b, c = (x[..., triangles[:, i], :] - x[..., triangles[:1, 0], :] for i in range(3))
    return np.sum(a * np.cross(b, c), axis=(-2, -1)) / 6.0


def edge_lengths(x: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Lengths (..., E), m."""
    return np.linalg.norm(x[..., edges[:, 1], :] - x[..., edges[:, 0], :], axis=-1)


def edge_strains(x: np.ndarray, edges: np.ndarray, rest_length: np.ndarray) -> np.ndarray:
    """Length over rest length, less one: (..., E). ``rest_length`` (E,), m."""
    return edge_lengths(x, edges) / rest_length - 1.0


def rest_frames(vertices: np.ndarray, triangles: np.ndarray, warp: np.ndarray | None = None) -> np.ndarray:
    """``inv_rest_matrix`` Dm⁻¹ of every triangle: (F, 2, 2), 1/m.

    The columns of Dm are the edges x1 - x0 and x2 - x0 in a right-handed frame of the triangle's plane,
    whose first axis is ``warp``, a direction in space (3,) or one per triangle (F, 3), projected into that
    plane; the first edge when left out. So ``F = [x1 - x0, x2 - x0] Dm⁻¹`` has the stretch along the warp in
    its first column.

    Raises MeshError where ``warp`` is square to a triangle (within 1e-6 rad).
    """
    a, b, c = (np.asarray(vertices, dtype=np.float64)[triangles[:, i]] for i in range(3))
    first, second = b - a, c - a
    normal = np.cross(first, second)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    if warp is None:
        axis = first.copy()
    else:
        along = np.broadcast_to(np.asarray(warp, dtype=np.float64), first.shape)
        size = np.linalg.norm(along, axis=1, keepdims=True)
        if not (np.isfinite(size).all() and (size > 0.0).all()):
            raise MeshError(f"warp direction must be a finite direction other than zero, got {warp!r}")
        along = along / size
        axis = along - (along * normal).sum(axis=1, keepdims=True) * normal
        bad = np.flatnonzero(np.linalg.norm(axis, axis=1) < 1e-6)
        if bad.size:
            raise MeshError(
                f"warp direction is square to triangle {bad[0]} ({bad.size} such); choose one along the cloth"
            )
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    across = np.cross(normal, axis)
    d00, d01 = (first * axis).sum(axis=1), (second * axis).sum(axis=1)
    d10, d11 = (first * across).sum(axis=1), (second * across).sum(axis=1)
    det = d00 * d11 - d01 * d10
    return np.stack([d11, -d01, -d10, d00], axis=1).reshape(-1, 2, 2) / det[:, None, None]


def deformation_gradients(x: np.ndarray, triangles: np.ndarray, inv_rest_matrix: np.ndarray) -> np.ndarray:
    """F = [x1 - x0, x2 - x0] Dm⁻¹: (..., F, 3, 2), no unit."""
    a, b, c = (x[..., triangles[:, i], :] for i in range(3))
    return np.stack([b - a, c - a], axis=-1) @ inv_rest_matrix


def triangle_stretches(x: np.ndarray, triangles: np.ndarray, inv_rest_matrix: np.ndarray) -> np.ndarray:
    """Principal stretches (singular values of F), the larger first: (..., F, 2), 1 at rest."""
    return np.linalg.svd(deformation_gradients(x, triangles, inv_rest_matrix), compute_uv=False)


def hinge_angles(x: np.ndarray, hinges: np.ndarray) -> np.ndarray:
    """Signed dihedral angles (..., H), rad in (-π, π], 0 when flat.

    ``θ = atan2((n1 × n2)·ê, n1·n2)`` with n1 the normal of (i, j, k), n2 that of (j, i, l) and ê along
    x_j - x_i. Positive when the two normals spread apart: a ridge seen from the side they point to, as
    everywhere on a sphere with outward normals. Swapping the two triangles keeps the sign; turning the
    winding of both round changes it.
    """
    i, j, k, l = (x[..., hinges[:, c], :] for c in range(4))
    e = j - i
    n1 = np.cross(e, k - i)
    n2 = np.cross(l - i, e)
    length = np.linalg.norm(e, axis=-1)
    return np.arctan2((np.cross(n1, n2) * e).sum(axis=-1), (n1 * n2).sum(axis=-1) * length)


def cotangent_stencil(x_rest: np.ndarray, hinges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of isometric bending: K (H, 4), no unit, and the area A0 + A1 (H,), m².

    ``Σ K_c x_c`` vanishes for every affine image of a flat rest shape and has the length ``l θ`` (edge length
    times angle) for a small fold, so ``U = ½ B / (A0 + A1) |Σ K_c x_c|²`` with the bending rigidity B (N m)
    and coefficient 1: exact for cylinders on equilateral meshes and along the axes of a grid.

    Bergou, Wardetzky, Harmon, Zorin & Grinspun, "A quadratic bending model for inextensible surfaces"
    (SGP 2006), section 4, whose factor 3 belongs to another convention.
    """
    i, j, k, l = (np.asarray(x_rest, dtype=np.float64)[hinges[:, c]] for c in range(4))
    area0 = np.linalg.norm(np.cross(j - i, k - i), axis=1)
    area1 = np.linalg.norm(np.cross(j - i, l - i), axis=1)
    cot_ik = ((j - i) * (k - i)).sum(axis=1) / area0
    cot_jk = ((i - j) * (k - j)).sum(axis=1) / area0
    cot_il = ((j - i) * (l - i)).sum(axis=1) / area1
    cot_jl = ((i - j) * (l - j)).sum(axis=1) / area1
    stencil = np.stack([cot_jk + cot_jl, cot_ik + cot_il, -cot_ik - cot_jk, -cot_il - cot_jl], axis=1)
    return stencil, 0.5 * (area0 + area1)


def stencil_lengths(x: np.ndarray, hinges: np.ndarray, stencil: np.ndarray) -> np.ndarray:
    """Signed length of ``Σ K_c x_c`` (..., H), m: positive along the hinge's mean normal, a ridge.

    As long as the triangles have the shape that the stencil belongs to, it is ``2 l sin(θ/2)`` with the edge
    length l and the signed angle θ of :func:`hinge_angles`, however far the rest shape is folded: the stencil
    is made of the triangles' own angles, as if they were unfolded into a plane.
    """
    i, j, k, l = (x[..., hinges[:, c], :] for c in range(4))
    total = stencil[:, 1, None] * (j - i) + stencil[:, 2, None] * (k - i) + stencil[:, 3, None] * (l - i)
    ridge = (total * np.cross(j - i, k - l)).sum(axis=-1) >= 0.0
    return np.where(ridge, 1.0, -1.0) * np.linalg.norm(total, axis=-1)


def vertex_strain(x: np.ndarray, parts: Any) -> np.ndarray:
    """Largest principal strain around each particle (N,), area-weighted over its triangles [-].

    x (N, 3) [m]; parts: stretches of particles as in :class:`pliant.model.Part`.
    """
    total, weight = np.zeros(len(x)), np.zeros(len(x))
    for p in parts:
        s = triangle_stretches(x[p.start : p.stop], p.triangles, p.inv_rest_matrix).max(axis=-1) - 1
        ids = (p.triangles + p.start).ravel()
        total += np.bincount(ids, np.repeat(s * p.rest_area, 3), len(x))
        weight += np.bincount(ids, np.repeat(p.rest_area, 3), len(x))
    return total / np.where(weight > 0, weight, 1)
