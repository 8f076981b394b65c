"""Ties: vertices of a body sewn or glued to the surface of another, or of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .bodies import Body, one_each
from .errors import MeshError, SceneError
from .geometry.nearest import flat_weights, nearest_on_triangles

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Tie:
    """Vertices tied to places on a surface, which feels them; made by :meth:`pliant.Scene.add_attachment`.

    particles (n,); corners (n, 3): particles of the triangle that each is tied to; weights (n, 3): the place
    on it, of sum 1; gaps (n,) over it, along its normal [m]; stiffness [N/m], inf: rigid; damping_time [s].
    """

    body: Body
    other: Body
    particles: Array
    corners: Array
    weights: Array
    gaps: Array
    stiffness: float
    damping_time: float

    def rows(self) -> tuple[Array, Array, Array, Array]:
        """ids (n, 4), params (n, 4), compliance (n, 3), damping time (n,) of the constraints."""
        n = len(self.particles)
        return (
            np.column_stack([self.particles, self.corners]),
            np.column_stack([self.weights, self.gaps]),
            np.full((n, 3), 1 / self.stiffness),
            np.full(n, self.damping_time),
        )


def tied(
    body: Body, ids: Any, other: Body, onto: Any, gap: Any, stiffness: float, damping_time: float
) -> Tie:
    """The tie of vertices (file indices) to another body, or a SceneError.

    Without ``onto`` to the nearest places: gap None or "keep" glues them over the foot on the plane of the
    nearest triangle, as they start; a number [m] wants that distance over the nearest place, on the side
    where they start. onto: a vertex of the other body for each (file indices), gap 0.
    """
    what = f'add_attachment: "{body.name}" to "{other.name}"'
    number = isinstance(gap, (int, float)) and np.isfinite(gap) and gap >= 0
    if not (number or gap in (None, "keep")):
        raise SceneError(f'{what}: gap is {gap!r}, it must be "keep" or a distance, at least 0 [m]')
    if len(np.unique(ids)) < np.size(ids):
        raise SceneError(f"{what}: a vertex is named twice")
    ends = None if onto is None else other.particles(onto)
    particles, kept = body.named(ids)
    if ends is not None and len(ends) == np.size(ids):
        ends = one_each(ends[:, None], body.particles(ids), kept)[:, 0]
    own = particles - other.vertices.start if other is body else None
    if onto is not None:
        if gap not in (None, 0):
            raise SceneError(f"{what}: vertices sewn onto vertices have no gap, not {gap!r}")
        assert ends is not None
        faces, weights = _at_vertices(what, ends - other.vertices.start, other, own, len(particles))
        gaps = np.zeros(len(particles))
    else:
        points = body.mesh.vertices[particles - body.vertices.start]
        try:
            faces, weights = nearest_on_triangles(points, other.mesh.vertices, other.mesh.triangles, own)
        except MeshError as error:
            raise SceneError(f"{what}: {error}") from error
        weights, gaps = _over(points, other.mesh.vertices[other.mesh.triangles[faces]], weights, gap)
    ends = other.mesh.triangles[faces] + other.vertices.start
    return Tie(body, other, particles, ends, weights, gaps, stiffness, damping_time)


def _over(points: Array, corners: Array, weights: Array, gap: Any) -> tuple[Array, Array]:
    """Weights and gaps of points over their triangles (n, 3, 3)."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), np.finfo(float).tiny)
    height = np.sum((points - corners[:, 0]) * normal, axis=1)
    if gap in (None, "keep"):
        return flat_weights(points, corners), height
    return weights, np.where(height < 0, -float(gap), float(gap))


def _at_vertices(what: str, onto: Array, other: Body, own: Array | None, n: int) -> tuple[Array, Array]:
    """For each of n vertices a triangle that has it as a corner, and weights that single it out.

    own: vertices that the triangle must not have.
    """
    if len(onto) != n:
        raise SceneError(f"{what}: {n} vertices cannot be sewn onto {len(onto)}; name one for each")
    triangles = other.mesh.triangles
    faces, weights = np.zeros(n, int), np.zeros((n, 3))
    for k, v in enumerate(onto):
        fit = (triangles == v).any(axis=1)
        if own is not None:
            fit &= (triangles != own[k]).all(axis=1)
        if not fit.any():
            raise SceneError(f"{what}: particle {int(v + other.vertices.start)} has no triangle of its own")
        faces[k] = np.argmax(fit)
        weights[k] = triangles[faces[k]] == v
    return faces, weights
