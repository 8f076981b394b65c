"""A z-buffer: which triangle does each pixel see?

Triangles stay in homogeneous coordinates (Olano and Greer, "Triangle Scan Conversion using 2D Homogeneous
Coordinates", 1997): the inverse of the matrix of a triangle's corners gives three edge functions that are at
once the test for "inside" and the perspective-correct barycentric weights, and a triangle that crosses the
plane of the eye needs no clipping. Every scanline of every triangle is one exact span, so that only covered
pixels are touched.
"""

from __future__ import annotations

import numpy as np

from pliant.viewer import raster_kernels
from pliant.viewer.parts import in_parts

__all__ = ["edge_functions", "rasterise"]


def edge_functions(corners: np.ndarray) -> np.ndarray:
    """Edge functions e: ``e[i, :, f] @ (px, py, 1)`` is corner i's weight over depth, >= 0 inside triangle f.

    Args:
        corners: (3, 3, F); for corner i the rows x w, y w, w: pixel coordinates times depth, and the depth;
            w = 1 for a parallel projection.

    Returns:
        (3, 3, F); NaN for triangles seen edge on, which cover nothing.
    """
    corners = np.ascontiguousarray(corners, dtype=np.float64)
    edges = np.empty_like(corners)
    raster_kernels.edge_functions(corners, edges)
    return edges


def rasterise(
    corners: np.ndarray, depth: np.ndarray, width: int, height: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The nearest triangle at every pixel centre (i + 0.5, j + 0.5), y downwards.

    Args:
        corners: (3, 3, F), as :func:`edge_functions` takes them.
        depth: (3, F) at the corners, positive, interpolated perspective-correctly; the smaller one is seen.
        width, height: size of the picture.

    Returns:
        The triangle of every pixel (height, width) int32, -1 for none, the lower one at a tie; its depth,
        float32, infinite for none; and the edge functions.
    """
    corners, edges = np.ascontiguousarray(corners, dtype=np.float64), edge_functions(corners)
    triangle = np.full((height, width), -1, dtype=np.int32)
    near = np.full((height, width), np.inf, dtype=np.float32)
    depth = np.ascontiguousarray(depth, dtype=np.float64)
    in_parts(height, 64, raster_kernels.cover, corners, edges, depth, triangle, near)
    return triangle, near, edges
