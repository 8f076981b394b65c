"""What a scene holds: cloths and solids, colliders, attachments. Handles, with no arrays of a run."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import SceneError
from .geometry.colliders import Shape
from .geometry.mesh import TriMesh
from .geometry.motion import Motion
from .geometry.tetmesh import TetMesh
from .loads import Air
from .materials import Fabric, SolidMaterial

if TYPE_CHECKING:
    from .simulation import Simulation

Array = np.ndarray
Mesh = TriMesh | TetMesh


@dataclass(frozen=True)
class Collider:
    """A placed collider."""

    name: str
    shape: Shape
    position: Array
    rotation: Array
    friction: float | None
    friction_static: float | None
    motion: Motion | None = None


class Body:
    """Handle of a cloth or a solid in a scene.

    vertices   slice of its particles in the scene's arrays
    file_ids   index in the mesh's file -> particle of the scene, -1 for a vertex that was left out
    x          its positions (W, n, 3) [m], once a Simulation runs the scene
    triangles, edges, uv, file_vertices, fixed: what is needed to draw it or to make a graph of it; they
               number rows of ``x[w]`` and stay as they are for the whole life of the scene
    """

    kind = "body"
    """How messages call it."""
    element = "element"
    """How messages call what it consists of."""

    def __init__(
        self, name: str, mesh: Mesh, rest: Mesh, material: Fabric | SolidMaterial, start: int
    ) -> None:
        self.name = name
        self.mesh = mesh
        self.rest = rest
        self.material = material
        self.vertices = slice(start, start + mesh.n_vertices)
        self.file_ids = np.where(mesh.file_ids < 0, -1, mesh.file_ids + start)
        self.pins = np.zeros(0, np.int64)
        self.velocity = np.zeros(3)
        self.air = Air()
        self.followed: list[tuple[Array, Motion | Collider]] = []
        self._simulation: weakref.ref[Simulation] | None = None

    def __repr__(self) -> str:
        return f'{type(self).__name__}("{self.name}", {self.mesh.n_vertices} vertices, {self.material.name})'

    @property
    def simulation(self) -> Simulation:
        """The simulation that runs this body. Raises SceneError when there is none, or none any more."""
        running = None if self._simulation is None else self._simulation()
        if running is None:
            raise SceneError(
                f'{self.kind} "{self.name}" is not being simulated: make a pliant.Simulation first, '
                "and keep it"
            )
        return running

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_simulation": None}  # a copy is a scene of its own

    @property
    def x(self) -> Array:
        """Positions (W, n, 3) [m], a copy."""
        sim = self.simulation
        return sim.state.gather(np.arange(self.vertices.start, self.vertices.stop))

    @property
    def triangles(self) -> Array:
        """Its surface (F, 3) int32; of a solid with normals outwards. Rows of ``x[w]``."""
        return self.mesh.triangles

    @property
    def edges(self) -> Array:
        """Every edge once (E, 2) int32, of a solid those inside, too. Rows of ``x[w]``."""
        return self.mesh.edges

    @property
    def uv(self) -> Array | None:
        """Texture coordinates (F, 3, 2) of the corners of :attr:`triangles`, or None."""
        if not isinstance(self.mesh, TriMesh) or self.mesh.uv is None:
            return None
        at = self.mesh.triangles if self.mesh.uv_triangles is None else self.mesh.uv_triangles
        return self.mesh.uv[at]

    @property
    def file_vertices(self) -> Array:
        """The file's vertex (n,) of each row of ``x[w]``, of a closed seam the first; -1 for none."""
        out = np.full(self.mesh.n_vertices, -1)
        kept = np.flatnonzero(self.mesh.file_ids >= 0)[::-1]
        out[self.mesh.file_ids[kept]] = kept
        return out

    @property
    def fixed(self) -> Array:
        """Which rows of ``x[w]`` are pinned (P,), ascending; the others move freely."""
        return self.pins - self.vertices.start

    def in_file_order(self, values: Any) -> Array:
        """Values (..., n, k) of the body's particles as the file lists its vertices: (..., n_file, k).

        Vertices that were joined have the value of their particle, those that were left out NaN.
        """
        given = np.asarray(values, float)
        if given.ndim < 2 or given.shape[-2] != self.mesh.n_vertices:
            raise SceneError(
                f'{self.kind} "{self.name}": values have shape {given.shape}; they must be (..., '
                f"{self.mesh.n_vertices}, k), one row for each particle of the body"
            )
        out = given[..., np.maximum(self.mesh.file_ids, 0), :]
        out[..., self.mesh.file_ids < 0, :] = np.nan
        return out

    def set_targets(self, ids: Any, x: Any, worlds: Any = None) -> None:
        """Where pinned vertices (by the file's indices) shall be after the next step, (W', n, 3) [m].

        The pins move there at constant speed over the substeps of that step. Raises SceneError for a vertex
        that is not pinned, or that follows a frame.
        """
        led = np.concatenate([np.zeros(0, int), *(p for p, _ in self.followed)])
        for i in self.particles(ids):
            if i in led:
                raise SceneError(
                    f'{self.kind} "{self.name}": particle {i} follows a frame; that alone moves it'
                )
        particles, kept = self.named(ids)
        self.simulation.control.set_pins(particles, one_each(x, self.particles(ids), kept), worlds)

    def follow(self, ids: Any, frame: Motion | Collider) -> None:
        """Pin vertices (file indices) to a frame that carries them rigidly from where they start.

        frame: a motion (:class:`pliant.Keyframes`, :class:`pliant.Steady`, a function of your own), whose
        pose at time 0 belongs to the start, or a collider, moving or moved by hand. To be said before a
        Simulation is made; each vertex follows one frame.
        """
        if self._simulation is not None and self._simulation() is not None:
            raise SceneError(f'{self.kind} "{self.name}": follow() comes before the Simulation is made')
        if not (callable(frame) or isinstance(frame, Collider)):
            raise SceneError(
                f'{self.kind} "{self.name}": frame must be a motion or a collider, not {frame!r}'
            )
        particles = np.unique(self.particles(ids))
        for led, _ in self.followed:
            if np.intersect1d(led, particles).size:
                raise SceneError(
                    f'{self.kind} "{self.name}": a vertex of {ids!r} follows another frame already'
                )
        self.pins = np.union1d(self.pins, particles)
        self.followed.append((particles, frame))

    def named(self, ids: Any) -> tuple[Array, Array]:
        """Particles (k,), each once, and where each was first named in ``ids``: at a seam that was joined the
        file has several numbers for one particle."""
        _, first = np.unique(self.particles(ids), return_index=True)
        kept = np.sort(first)
        return self.particles(ids)[kept], kept

    def particles(self, ids: Any) -> Array:
        """Particles of the scene for vertices given by the file's indices."""
        ids = np.atleast_1d(np.asarray(ids))
        bad = ids[(ids < 0) | (ids >= len(self.file_ids))] if ids.size else ids
        if not np.issubdtype(ids.dtype, np.integer) and ids.size:
            raise SceneError(f'{self.kind} "{self.name}": vertex indices must be integers, got {ids.dtype}')
        if bad.size:
            raise SceneError(
                f'{self.kind} "{self.name}": vertex {int(bad[0])} does not exist; '
                f"the mesh has vertices 0 to {len(self.file_ids) - 1}"
            )
        found = self.file_ids[ids.astype(int)].astype(np.int64)
        if (found < 0).any():
            raise SceneError(
                f'{self.kind} "{self.name}": vertex {int(ids[found < 0][0])} of the file belongs to no '
                f"{self.element} and was left out"
            )
        return found

    @property
    def contact_radius(self) -> float:
        """How far its particles stay from colliders [m]."""
        raise NotImplementedError


class Cloth(Body):
    """Handle of a cloth in a scene; see :class:`Body`."""

    kind = "cloth"
    element = "triangle"
    mesh: TriMesh
    rest: TriMesh
    material: Fabric

    def __init__(self, name: str, mesh: TriMesh, rest: TriMesh, material: Fabric, start: int) -> None:
        super().__init__(name, mesh, rest, material, start)
        self.membrane = "triangles"
        self.bending = "isometric"
        self.warp_direction: Array | None = None

    @property
    def contact_radius(self) -> float:
        """Half the fabric's thickness [m]."""
        return 0.5 * self.material.thickness


class Solid(Body):
    """Handle of a solid in a scene; see :class:`Body`. Its particles are those inside, too."""

    kind = "solid"
    element = "tetrahedron"
    mesh: TetMesh
    rest: TetMesh
    material: SolidMaterial

    def __init__(self, name: str, mesh: TetMesh, rest: TetMesh, material: SolidMaterial, start: int) -> None:
        super().__init__(name, mesh, rest, material, start)
        self.law = "arap"
        self.skin = 0.0

    @property
    def contact_radius(self) -> float:
        """How far the surface stays from colliders [m]."""
        return self.skin


@dataclass(frozen=True)
class Attachment:
    """Springs from particles to points in space, of a scene's attachments those from ``first`` on.

    frame: what carries the points, a motion or a collider. named: the particles as they were named, where
    some were named several times, by the file's numbers at a seam that was joined; each is held once.
    """

    body: Body
    first: int
    particles: Array
    targets: Array
    stiffness: float
    damping_time: float
    frame: Motion | Collider | None = None
    named: Array | None = None

    def set_targets(self, x: Any, worlds: Any = None) -> None:
        """Where the points shall be after the next step, (W', n, 3) [m]; they move there at constant speed.

        A row for each vertex that was named. Raises SceneError where a frame carries them.
        """
        if self.named is not None:
            _, first = np.unique(self.named, return_index=True)
            x = one_each(x, self.named, np.sort(first))
        if self.frame is not None:
            raise SceneError("the targets of this attachment follow a frame; that alone moves them")
        rows = slice(self.first, self.first + len(self.particles))
        self.body.simulation.control.set_attachments(x, worlds, rows)


def one_each(x: Any, particles: Array, kept: Array) -> Any:
    """Rows of ``x`` (..., n, 3) for particles that are named n times in all, each once: (..., k, 3).

    kept: where each was first named. Raises SceneError where a particle is sent to two places.
    """
    if len(kept) == len(particles):
        return x
    rows = np.asarray(x)
    if rows.ndim < 2 or rows.shape[-2] != len(particles):
        return x  # one row for all, or a shape that others refuse
    order = np.argsort(particles[kept])
    first = kept[order[np.searchsorted(particles[kept][order], particles)]]
    apart = (rows != rows[..., first, :]).any(axis=-1)
    if apart.any():
        k = int(np.flatnonzero(apart.reshape(-1, len(particles)).any(axis=0))[0])
        raise SceneError(
            f"particle {int(particles[k])} has several numbers in the file (a seam was joined there) and is "
            f"sent to two places by rows {int(first[k])} and {k}; give both the same place, or name one"
        )
    return rows[..., kept, :]
