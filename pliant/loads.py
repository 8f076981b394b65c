"""What acts on the faces of a scene: air and pressure, and how they become rows of a Model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import SceneError
from .geometry import measures, topology
from .model import Faces, Overpressure

if TYPE_CHECKING:
    from .bodies import Body
    from .scene import Scene

Array = np.ndarray

ATMOSPHERE = 101325.0
"""Standard atmosphere [Pa]."""
SEA_LEVEL = 1.2
"""Density of air at 20 degrees and a standard atmosphere, rounded [kg/m^3]."""


@dataclass(frozen=True)
class Air:
    """How air flows past the faces of a body: coefficients of the force across and along them."""

    drag_coefficient: float = 1.2
    skin_friction: float = 0.01

    def __post_init__(self) -> None:
        for name in ("drag_coefficient", "skin_friction"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0):
                raise SceneError(f"{name} is {value!r}, it must be a finite number, at least 0")


@dataclass(frozen=True, eq=False)
class Pressure:
    """Handle of a pressure on the faces of a body; made by :meth:`pliant.Scene.add_pressure`.

    pressure [Pa] over the ambient one at the start; a gas has it at ``volume`` [m^3]. triangles (F, 3): the
    body's faces (its own vertices), wound so that the pressure pushes along their normals.
    """

    body: Body
    row: int
    triangles: Array
    pressure: float
    gas: bool
    open: bool
    volume: float
    ambient: float

    def set(self, pressure: Any, worlds: Any = None) -> None:
        """Another pressure [Pa], a number or (W',); of a gas: at its first volume, so that this pumps it.

        It acts from the next step on and stays until set again, over resets too.
        """
        self.body.simulation.control.set_pressure(self.row, pressure, worlds)

    @property
    def enclosed(self) -> Array:
        """Volume that the body encloses now (W,) [m^3]. Raises SceneError for an open one."""
        if self.open:
            raise SceneError(f'{self.body.kind} "{self.body.name}" is open: it encloses no volume')
        return measures.enclosed_volume(self.body.x.astype(float), self.triangles)

    @property
    def now(self) -> Array:
        """Pressure inside over the ambient one now (W,) [Pa]."""
        control = self.body.simulation.control
        given = control.pressures[:, self.row].astype(float)
        if not self.gas:
            return given
        return (given + self.ambient) * self.volume / self.enclosed - self.ambient


def checked_pressure(
    body: Body, row: int, pressure: float, gas: bool, one_side: bool, volume: float | None, ambient: float
) -> Pressure:
    """The handle, or a SceneError that says what does not hold."""
    what = f'add_pressure: {body.kind} "{body.name}"'
    mesh = body.mesh
    for name, value in (("pressure", pressure), ("ambient", ambient), ("volume", volume or 1.0)):
        if not np.isfinite(value):
            raise SceneError(f"{what}: {name} is {value!r}, it must be a finite number")
    if ambient < 0 or (gas and pressure + ambient <= 0):
        raise SceneError(f"{what}: a gas of {pressure:g} Pa over an ambient of {ambient:g} Pa is none")
    triangles = topology.oriented(mesh.triangles)
    border = topology.boundary_edges(triangles)
    if one_side and gas:
        raise SceneError(f"{what}: a gas needs a closed shell; leave open=True or gas=True out")
    if not one_side:
        if len(border):
            a, b = (int(np.flatnonzero(mesh.file_ids == v)[0]) for v in border[0])
            raise SceneError(
                f"{what} is not closed: the edge from vertex {a} to {b} has one face ({len(border)} such "
                "edges). Close the mesh, or say open=True for a pressure on one side of an open cloth"
            )
        triangles = outward(mesh.vertices, triangles)
    inside = 0.0 if one_side else float(measures.enclosed_volume(mesh.vertices, triangles))
    flat = 1e-6 * measures.triangle_areas(mesh.vertices, triangles).sum() ** 1.5
    if gas and volume is None and inside < flat:
        raise SceneError(f"{what} encloses no volume where it starts; say which volume= the gas has [m^3]")
    if volume is not None and not volume > 0:
        raise SceneError(f"{what}: volume is {volume!r}, it must be greater than 0 [m^3]")
    first = inside if volume is None else float(volume)
    return Pressure(body, row, triangles, float(pressure), gas, one_side, first, float(ambient))


def outward(x: Array, triangles: Array) -> Array:
    """The faces of closed pieces, those of a piece turned over where its normals point inwards."""
    piece = topology.components(triangles, len(x))[triangles[:, 0]]
    out = triangles.copy()
    for k in np.unique(piece):
        mine = piece == k
        if measures.enclosed_volume(x, triangles[mine]) < 0:
            out[mine] = triangles[mine][:, ::-1]
    return out


def build_faces(scene: Scene, mass: Array) -> Faces | None:
    """Faces of all bodies on which air or pressure acts; None without any. mass (N,) [kg]."""
    ids, air, row, area = [], [], [], []
    held = {id(p.body): p for p in scene.pressures}
    for body in scene.bodies:
        p = held.get(id(body))
        if p is None and not scene.air_density > 0:
            continue
        triangles = body.mesh.triangles if p is None else p.triangles
        factors = (body.air.drag_coefficient, body.air.skin_friction)
        ids.append(triangles + body.vertices.start)
        air.append(np.tile(0.5 * scene.air_density * np.array(factors), (len(triangles), 1)))
        row.append(np.full(len(triangles), -1 if p is None else p.row))
        area.append(measures.triangle_areas(body.rest.vertices, body.rest.triangles))  # whichever way wound
    if not ids:
        return None
    faces = np.concatenate(ids).astype(np.int32)
    pressures = tuple(
        Overpressure(p.body.name, p.pressure, p.gas, p.volume, p.ambient) for p in scene.pressures
    )
    share = face_masses(np.concatenate(area), faces, mass)
    return Faces(faces, np.concatenate(air), share, np.concatenate(row), pressures)


def face_masses(area: Array, triangles: Array, mass: Array) -> Array:
    """Mass (F,) [kg] of each face: three times the smallest share that it has of a corner's, by area [m^2].

    So the shares of the faces around a particle never add up to more than its mass.
    """
    around = np.bincount(triangles.ravel(), np.repeat(area, 3), len(mass))
    return 3 * area * (mass[triangles] / around[triangles]).min(axis=1)
