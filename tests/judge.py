"""Whether surfaces cross, by two programs that share no line: Pliant's own and, where installed, ipctk."""

from __future__ import annotations

import numpy as np

from pliant.diagnostics.intersections import self_intersections
from pliant.geometry import topology

try:
    import ipctk
except ImportError:
    ipctk = None


class Judge:
    """Of one surface: triangles (F, 3) over n vertices."""

    def __init__(self, triangles: np.ndarray, n: int) -> None:
        self.triangles = np.asarray(triangles)
        self.checked = None
        if ipctk is not None:
            edges = topology.edges(self.triangles)
            self.checked = ipctk.CollisionMesh(np.zeros((n, 3)), edges, self.triangles)

    def crossed(self, x: np.ndarray) -> bool:
        """True if either finds a crossing."""
        x = np.asarray(x, float)
        foreign = self.checked is not None and bool(ipctk.has_intersections(self.checked, x))
        return foreign or len(self_intersections(x, self.triangles, 1)) > 0
