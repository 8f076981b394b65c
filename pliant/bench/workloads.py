"""Workloads of the comparison: one mesh, one material, one way to judge, for Pliant and for every peer.

Contestants hand out positions; :meth:`measure` and :meth:`summary` are the only code that turns positions
into quality, so that all are judged alike. SI units; z points up.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ..errors import PliantError
from ..geometry import measures, shapes, tetrahedra, topology

Array = np.ndarray
Sample = dict[str, float]

GRAVITY = 9.81


class Workload(Protocol):
    """What the runner needs to know."""

    @property
    def frames(self) -> int:
        """Frames of the whole run."""

    @property
    def first_measured(self) -> int:
        """Number of the first frame, from 1, whose positions are measured."""

    def measure(self, positions: Array) -> Sample:
        """Quality of one frame."""

    def summary(self, samples: list[Sample]) -> Sample:
        """Quality of the run from its measured frames, in order."""


def make(name: str, options: dict[str, Any]) -> Workload:
    """The workload of a name, from plain data."""
    kinds = {"cloth": Cloth, "worlds": Cloth, "bar": Bar}
    if name not in kinds:
        raise PliantError(f'there is no workload "{name}"; there are {", ".join(kinds)}')
    return kinds[name](**options)


def options(workload: Any) -> dict[str, Any]:
    """What :func:`make` needs to build an equal one."""
    return asdict(workload)


@dataclass(frozen=True)
class Cloth:
    """A square sheet held at two corners starts flat and swings down.

    1 m x 1 m, n x n vertices, cells cut "right"; 0.2 kg/m^2, a third of each triangle's mass at each corner;
    no damping, no air, nothing to touch. Elasticity comes in two kinds: *springs* of 1 kN/m, one on each
    edge, and a *sheet* with E t = 1 kN/m and nu = 0.3; both bend with B = 1e-5 N m.

    worlds   copies, which do not touch each other
    seconds  time to simulate [s]
    """

    n: int = 33
    seconds: float = 2.0
    worlds: int = 1
    dt: float = 1 / 60
    areal_density: float = 0.2
    stiffness: float = 1e3
    poisson_ratio: float = 0.3
    bending_rigidity: float = 1e-5

    @property
    def frames(self) -> int:
        """Frames of the whole run."""
        return max(1, round(self.seconds / self.dt))

    @property
    def first_measured(self) -> int:
        """The last quarter is measured: 1.5 to 2 s of 2 s."""
        return self.frames - self.frames // 4 + (self.frames >= 4)

    @cached_property
    def mesh(self) -> Any:
        """The triangle mesh."""
        return shapes.grid(self.n, self.n)

    @property
    def pins(self) -> list[int]:
        """The two held corners."""
        return [0, self.n - 1]

    @cached_property
    def edges(self) -> Array:
        """Every edge once (E, 2)."""
        return topology.edges(self.mesh.triangles)

    @cached_property
    def hinges(self) -> Array:
        """Every inner edge once with the corners across it (H, 4)."""
        return topology.hinges(self.mesh.triangles)

    @cached_property
    def rest_lengths(self) -> Array:
        """Lengths of the edges at rest (E,) [m]."""
        return measures.edge_lengths(self.mesh.vertices, self.edges)

    @cached_property
    def mass(self) -> Array:
        """Mass of each vertex (N,) [kg], that of the pinned ones included."""
        return self.areal_density * measures.vertex_areas(self.mesh.vertices, self.mesh.triangles)

    def measure(self, positions: Array) -> Sample:
        """Mean and largest |edge length / rest length - 1| of positions (N, 3) or (W, N, 3): worst world."""
        x = np.asarray(positions, float).reshape(-1, len(self.mass), 3)
        strain = np.abs(np.stack([measures.edge_lengths(v, self.edges) for v in x]) / self.rest_lengths - 1)
        return {
            "mean strain": float(strain.mean(axis=1).max()),
            "max strain": float(strain.max()),
            "apart": float(np.ptp(x, axis=0).max()),
        }

    def summary(self, samples: list[Sample]) -> Sample:
        """Medians over the measured frames, since the sheet swings, and the last frame."""
        return {
            "mean strain": float(np.median([s["mean strain"] for s in samples])),
            "max strain": float(np.median([s["max strain"] for s in samples])),
            "mean strain at the end": samples[-1]["mean strain"],
            "max strain at the end": samples[-1]["max strain"],
            "worlds apart": max(s["apart"] for s in samples),
        }


@dataclass(frozen=True)
class Bar:
    """A soft bar held at one end bends under its own weight.

    1 m x 0.175 m x 0.175 m along x, cells of 25 mm cut into five tetrahedra, mirrored from cell to cell; E =
    5 MPa, nu = 0.3, 1000 kg/m^3, a quarter of each tetrahedron's mass at each corner. It is let go at rest
    and swings at 2 Hz about its static shape.

    cells    along the bar; a seventh of it, rounded up, the other two ways
    """

    cells: int = 40
    seconds: float = 3.0
    dt: float = 1 / 60
    youngs_modulus: float = 5e6
    poisson_ratio: float = 0.3
    density: float = 1e3

    @property
    def frames(self) -> int:
        """Frames of the whole run."""
        return max(1, round(self.seconds / self.dt))

    @property
    def first_measured(self) -> int:
        """The second half is measured: three periods of 3 s."""
        return self.frames // 2 + 1

    @cached_property
    def mesh(self) -> Any:
        """The body of tetrahedra."""
        across = -(-7 * self.cells // 40)
        return shapes.bar((1.0, 0.175, 0.175), (self.cells, across, across))

    @property
    def vertices(self) -> Array:
        """(N, 3) [m], the middle at the origin."""
        return self.mesh.vertices

    @property
    def tets(self) -> Array:
        """(T, 4)."""
        return self.mesh.tets

    @cached_property
    def held(self) -> Array:
        """Vertices of the end that is held, x = -0.5 m."""
        return np.flatnonzero(self.vertices[:, 0] < -0.5 + 1e-9)

    @cached_property
    def tip(self) -> Array:
        """Vertices of the free end."""
        return np.flatnonzero(self.vertices[:, 0] > 0.5 - 1e-9)

    @cached_property
    def mass(self) -> Array:
        """Mass of each vertex (N,) [kg]."""
        return self.density * tetrahedra.vertex_volumes(self.vertices, self.tets)

    @property
    def lame(self) -> tuple[float, float]:
        """mu and lambda [Pa]."""
        e, nu = self.youngs_modulus, self.poisson_ratio
        return e / (2 * (1 + nu)), e * nu / ((1 + nu) * (1 - 2 * nu))

    def measure(self, positions: Array) -> Sample:
        """Height of the middle of the free end against the start [m]; positions (N, 3) or (W, N, 3)."""
        x = np.asarray(positions, float).reshape(-1, len(self.vertices), 3)
        return {"tip": float((x[:, self.tip, 2] - self.vertices[self.tip, 2]).mean())}

    def summary(self, samples: list[Sample]) -> Sample:
        """The tip where it would come to rest, and how far it still swings.

        A mean with the weights ``sin^2`` (Hann) takes out a swing of about three periods to within a per
        cent of its amplitude, whatever its period exactly is and however much of it a solver has damped.
        """
        tip = np.array([s["tip"] for s in samples])
        weights = np.sin(np.pi * (np.arange(len(tip)) + 0.5) / len(tip)) ** 2
        return {"tip": float(weights @ tip / weights.sum()), "swing": float(np.ptp(tip))}
