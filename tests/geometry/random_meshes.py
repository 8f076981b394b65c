"""Untidy triangle meshes for property tests: holes, several pieces, shuffled ids, any winding."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from pliant.geometry import shapes

SHAPES = (
    shapes.grid(5, 4),
    shapes.grid(4, 5, pattern="alternating"),
    shapes.grid(4, 3, pattern="cross"),
    shapes.equilateral((1.0, 0.8), 0.3),
    shapes.unstructured((1.0, 1.0), 0.25, seed=3),
    shapes.annulus(0.3, 1.0, 0.4),
    shapes.sphere(1.0, 1),
    shapes.tube(0.5, 1.0, 6, 4),
)


@st.composite
def surfaces(draw: st.DrawFn, flips: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (N, 3), manifold triangles (F, 3): part of a shape, renumbered, some windings turned."""
    mesh = draw(st.sampled_from(SHAPES))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    keep = rng.random(mesh.n_triangles) < draw(st.sampled_from([0.3, 0.7, 0.95, 1.0]))
    keep[rng.integers(mesh.n_triangles)] = True
    new_id = rng.permutation(mesh.n_vertices)
    triangles = new_id[mesh.triangles[keep]]
    triangles = np.roll(triangles[rng.permutation(len(triangles))], int(rng.integers(3)), axis=1)
    if flips:
        turned = rng.random(len(triangles)) < 0.3
        triangles[turned] = triangles[turned][:, [0, 2, 1]]
    vertices = np.empty_like(mesh.vertices)
    vertices[new_id] = mesh.vertices
    return vertices, triangles.astype(np.int32)
