"""Shapes of colliders: plain descriptions with a mesh for display.

Each shape is given in its own frame; the scene places it. The signed distances that solvers use are in
:mod:`pliant.contact.distances`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..backend.notice import notice
from ..errors import SceneError
from .mesh import TriMesh
from .surfaces import Surfaces, surfaces

Array = np.ndarray


@dataclass(frozen=True)
class Plane:
    """Half space on the far side of its normal, through its position."""

    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        n = np.asarray(self.normal, float)
        if n.shape != (3,) or not np.isfinite(n).all() or not np.linalg.norm(n) > 0:
            raise SceneError(f"Plane: normal {self.normal!r} must be three finite numbers, not all zero")

    def frame(self) -> Array:
        """Right-handed axes (3, 3), as columns, whose third is the normal."""
        n = np.asarray(self.normal, float) / np.linalg.norm(self.normal)
        u = np.cross(np.eye(3)[np.argmin(np.abs(n))], n)
        u /= np.linalg.norm(u)
        return np.stack([u, np.cross(n, u), n], axis=1)

    def display(self, extent: float) -> tuple[Array, Array]:
        """Vertices (n, 3) and triangles (m, 3) of a square of side ``extent``."""
        h = 0.5 * extent
        v = np.array([[-h, -h, 0], [h, -h, 0], [h, h, 0], [-h, h, 0.0]]) @ self.frame().T
        return v, np.array([[0, 1, 2], [0, 2, 3]], np.int32)


@dataclass(frozen=True)
class Sphere:
    """Ball of a radius [m] about the origin of its frame."""

    radius: float

    def __post_init__(self) -> None:
        _positive("Sphere", radius=self.radius)

    def display(self, extent: float) -> tuple[Array, Array]:
        """Vertices and triangles of its surface."""
        profile = [(np.sin(t), np.cos(t)) for t in np.linspace(0, np.pi, 33)]
        return revolved(self.radius * np.array(profile), 64)


@dataclass(frozen=True)
class Cylinder:
    """Solid cylinder about the z axis of its frame: radius and height [m], centred at the origin.

    ``rounding`` [m] rounds both rims; a cloth hangs better over a rim that is not a knife.
    """

    radius: float
    height: float
    rounding: float = 0.0

    def __post_init__(self) -> None:
        _positive("Cylinder", radius=self.radius, height=self.height)
        if not 0 <= self.rounding <= min(self.radius, 0.5 * self.height):
            raise SceneError(
                f"Cylinder: rounding {self.rounding!r} must lie between 0 and the smaller of radius and "
                f"half height, {min(self.radius, 0.5 * self.height)!r}"
            )

    def display(self, extent: float) -> tuple[Array, Array]:
        """Vertices and triangles of its surface."""
        r, h, q = self.radius, 0.5 * self.height, self.rounding
        arc = np.linspace(0, np.pi / 2, 7)
        rim = np.stack([r - q + q * np.sin(arc), h - q + q * np.cos(arc)], axis=1)
        rim = rim if q > 0 else np.array([[r, h]])
        low = rim[::-1] * [1, -1]
        return revolved(np.concatenate([[[0, h]], rim, low, [[0, -h]]]), 96)


@dataclass(frozen=True)
class Capsule:
    """Cylinder about the z axis of its frame with half balls as ends.

    radius [m]; height [m] between the centres of the two balls; centred at the origin.
    """

    radius: float
    height: float

    def __post_init__(self) -> None:
        _positive("Capsule", radius=self.radius, height=self.height)

    def display(self, extent: float) -> tuple[Array, Array]:
        """Vertices and triangles of its surface."""
        arc = np.linspace(0, np.pi / 2, 13)
        cap = np.stack([self.radius * np.sin(arc), 0.5 * self.height + self.radius * np.cos(arc)], axis=1)
        return revolved(np.concatenate([cap, cap[::-1] * [1, -1]]), 64)


@dataclass(frozen=True)
class Box:
    """Solid box, sides (x, y, z) [m] along the axes of its frame, centred at the origin.

    ``rounding`` [m] rounds all edges and corners.
    """

    size: tuple[float, float, float]
    rounding: float = 0.0

    def __post_init__(self) -> None:
        if np.shape(self.size) != (3,):
            raise SceneError(f"Box: size must be three lengths [m], not {self.size!r}")
        _positive("Box", **{f"size[{k}]": v for k, v in enumerate(self.size)})
        if not 0 <= self.rounding <= 0.5 * min(self.size):
            raise SceneError(
                f"Box: rounding {self.rounding!r} must lie between 0 and half the smallest side, "
                f"{0.5 * min(self.size)!r}"
            )

    def display(self, extent: float) -> tuple[Array, Array]:
        """Vertices and triangles of its surface: a ball's, its octants pulled apart."""
        if self.rounding == 0:
            v = 0.5 * np.array(self.size) * [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
            quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
            return v, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))], np.int32)
        t = np.concatenate([np.linspace(0, np.pi / 2, 9), np.linspace(np.pi / 2, np.pi, 9)])
        v, faces = revolved(self.rounding * np.stack([np.sin(t), np.cos(t)], axis=1), 32)
        angle = (np.arange(len(v)) % 32 + 0.5) * (
            2 * np.pi / 32
        )  # half a step off the axes: no vertex on them
        radius = np.linalg.norm(v[:, :2], axis=1)
        v[:, 0], v[:, 1] = radius * np.cos(angle), radius * np.sin(angle)
        upper = np.repeat(np.arange(18) < 9, 32)
        sign = np.stack([np.sign(np.cos(angle)), np.sign(np.sin(angle)), np.where(upper, 1.0, -1.0)], axis=1)
        caps = _fans(faces, v, 32)
        return v + sign * (0.5 * np.array(self.size) - self.rounding), caps


SIDES = ("auto", "outside", "inside", "both")


@dataclass(frozen=True, eq=False, repr=False)
class MeshCollider:
    """A triangle mesh, in its own frame [m].

    side says where cloth belongs:
        "auto"     outside closed pieces; on open ones every vertex stays on the side where it is
        "outside"  outside closed pieces, in front of open ones (where the normals point)
        "inside"   inside closed pieces, behind open ones
        "both"     every vertex stays on the side where it is, of all pieces
    Two-sided pieces are as thin as paper, whatever they enclose.

    The winding is made coherent piece by piece, over edges that two faces share; the greater part (by area)
    says which side of an open piece is its front, the volume which side of a closed one is out. Where edges
    are open, vertices at one place count as one; of faces on the same three vertices one is kept.

    surfaces   the pieces, largest first
    sides      "outside", "inside" or "both" for each piece
    turned     faces that ran against the others; doubled: faces left out

    Raises MeshError for edges with an odd number of faces above one and for pieces with a single side,
    SceneError for an unknown side and for closed pieces that enclose nothing.
    """

    mesh: TriMesh
    side: str = "auto"
    surfaces: Surfaces = field(init=False)
    sides: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.mesh, TriMesh):
            raise SceneError(
                "MeshCollider: mesh must be a TriMesh (pl.read_mesh, pl.shapes), "
                f"not {type(self.mesh).__name__}"
            )
        if self.side not in SIDES:
            raise SceneError(f'MeshCollider: side="{self.side}" is unknown; choose one of {", ".join(SIDES)}')
        where = self.mesh.source or self.mesh.name
        found = surfaces(self.mesh.vertices, self.mesh.triangles, f"collider {where}")
        for p in found.pieces:
            if p.closed and p.volume == 0 and self.side != "both":
                raise SceneError(
                    f"collider {where}: {len(p.triangles)} faces form a closed surface that encloses "
                    'nothing, so it has no inside; unite solids that touch, or choose side="both"'
                )
        sides = tuple(
            "both" if self.side == "auto" and not p.closed else self.side.replace("auto", "outside")
            for p in found.pieces
        )
        object.__setattr__(self, "surfaces", found)
        object.__setattr__(self, "sides", sides)
        said = [f"{self.turned} of {self.mesh.n_triangles} faces turned over"] if self.turned else []
        said += [f"{self.doubled} faces left out that stood on others"] if self.doubled else []
        if said:
            notice(f"collider {where}: {', '.join(said)}")

    @property
    def turned(self) -> int:
        """Faces that ran against the winding of the others."""
        return self.surfaces.turned

    @property
    def doubled(self) -> int:
        """Faces left out because another stands on the same three places."""
        return self.surfaces.doubled

    def __repr__(self) -> str:
        count = {s: self.sides.count(s) for s in SIDES if s in self.sides}
        sides = ", ".join(f"{n} x {side}" for side, n in count.items())
        return (
            f"MeshCollider({self.mesh.name!r}: {self.mesh.n_triangles} triangles; pieces: {sides}; "
            f"{self.turned} faces turned)"
        )

    def display(self, extent: float) -> tuple[Array, Array]:
        """Vertices and triangles, wound as contact sees them."""
        return self.surfaces.vertices, np.concatenate([p.triangles for p in self.surfaces.pieces])


def _fans(faces: Array, v: Array, n: int) -> Array:
    """The faces of a surface of revolution, closed at its poles by fans over the first and the last ring."""
    last = len(v) - n
    k = np.arange(1, n - 1)
    top = np.stack([np.zeros_like(k), k, k + 1], axis=1)
    bottom = np.stack([np.full_like(k, last), last + k + 1, last + k], axis=1)
    return np.concatenate([faces, top, bottom]).astype(np.int32)


Shape = Plane | Sphere | Cylinder | Capsule | Box | MeshCollider


def _positive(what: str, **values: float) -> None:
    for name, value in values.items():
        if not (np.isfinite(value) and value > 0):
            raise SceneError(f"{what}: {name} is {value!r}, it must be a finite number greater than 0 [m]")


def revolved(profile: Array, n: int) -> tuple[Array, Array]:
    """Surface of revolution about z of a profile (m, 2) of (radius, z), from top to bottom."""
    a = np.linspace(0, 2 * np.pi, n, endpoint=False)
    ring = np.stack([np.cos(a), np.sin(a)], axis=1)
    v = np.concatenate([np.c_[p[0] * ring, np.full(n, p[1])] for p in profile])
    k = np.arange(n)
    faces = []
    for i in range(len(profile) - 1):
        a0, a1 = i * n + k, i * n + (k + 1) % n
        b0, b1 = a0 + n, a1 + n
        faces += [np.stack([a0, b0, b1], 1), np.stack([a0, b1, a1], 1)]
    return v, np.concatenate(faces).astype(np.int32)
