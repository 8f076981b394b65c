"""Arrays of the forces on faces, and how they follow from a model.

T tiles, N particles, F faces, S pressures, L lanes; of those pressures that are gases: G gases, D faces,
M particles around them. Faces of a single world are worked on several at a time; they are filled up to whole
groups by repeating the last one, whose copies have places of their own in what is written.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..geometry import topology
from ..model import Faces, Model

Array = np.ndarray


class Loads(NamedTuple):
    """Faces on which air or pressure acts.

    ids (3, F) particles; air (3, F): k_n, k_t [kg/m^3], mass of the face [kg]; pressure_of (F,): place of its
    pressure; pressure (T, S + 1, L) over the ambient one [Pa]: 0 where it is a gas, and at the last place, of
    faces without; start (N + 1,), rows: the faces around each particle; force (T, F, 3, L) on each face;
    wind (T, 3, L) [m/s].
    """

    ids: Array
    air: Array
    pressure_of: Array
    pressure: Array
    start: Array
    rows: Array
    force: Array
    wind: Array


class Gases(NamedTuple):
    """Gases in closed shells.

    of (G,): which pressure; ambient (G,) [Pa]; volume (G,): the one that the set pressure belongs to [m^3];
    set (T, S, L): overpressure there; ids (4, D): corners of their faces and one particle of the shell, from
    which cones are measured, those of gas g from face_start[g] to face_stop[g]; particles (M,), those of gas
    g from particle_start[g] on; start (M + 1,), rows: faces around each particle; area (T, D, 3, L) vector
    and cone (T, D, L) volume of each face; slope (T, M, 3, L): gradient of the volume, weight (T, M, L):
    w |gradient|^2; push (T, G, 2, L): multiplier, and what this sweep adds to it.
    """

    of: Array
    ambient: Array
    volume: Array
    set: Array
    ids: Array
    face_start: Array
    face_stop: Array
    particles: Array
    particle_start: Array
    start: Array
    rows: Array
    area: Array
    cone: Array
    slope: Array
    weight: Array
    push: Array


NO_FACES = Faces(np.zeros((0, 3), np.int32), np.zeros((0, 2)), np.zeros(0), np.zeros(0, int))


def load_arrays(model: Model, group: int) -> tuple[Loads, Gases]:
    """Arrays of a model's faces, in groups of so many; empty where nothing acts on any."""
    faces = model.faces or NO_FACES
    t, w, f, n = model.n_tiles, model.width, model.dtype, len(faces.ids)
    start, rows = topology.vertex_incidence(faces.ids, model.n_particles)
    source = _filled(np.arange(n), group)
    pressures = len(faces.pressures)
    loads = Loads(
        ids=np.ascontiguousarray(faces.ids[source].T, np.int32),
        air=np.ascontiguousarray(np.column_stack([faces.air, faces.mass])[source].T, f),
        pressure_of=np.where(faces.pressure_of < 0, pressures, faces.pressure_of)[source],
        pressure=np.zeros((t, pressures + 1, w), f),
        start=start,
        rows=rows,
        force=np.zeros((t, len(source), 3, w), f),
        wind=np.zeros((t, 3, w), f),
    )
    return loads, _gases(model, faces, group)


def _gases(model: Model, faces: Faces, group: int) -> Gases:
    t, w, f = model.n_tiles, model.width, model.dtype
    gases = [k for k, p in enumerate(faces.pressures) if p.gas]
    mine = [faces.ids[faces.pressure_of == k] for k in gases]
    around = [np.unique(ids) for ids in mine]
    places = [_filled(np.arange(len(ids)), group) for ids in mine]
    first = _starts(places)
    corners = [
        np.column_stack([ids[s], np.full(len(s), ids[0, 0])]) for ids, s in zip(mine, places, strict=True)
    ]
    ids = np.concatenate([*corners, np.zeros((0, 4), int)])
    particles = np.concatenate([*around, np.zeros(0, int)]).astype(np.int32)
    own = [a + np.arange(len(i)) for a, i in zip(first[:-1], mine, strict=True)]
    real = np.concatenate([*own, np.zeros(0, int)]).astype(int)
    place = np.zeros(model.n_particles, int)
    place[particles] = np.arange(len(particles))
    start, rows = topology.vertex_incidence(place[ids[real, :3]], len(particles))
    return Gases(
        of=np.array(gases, np.int64),
        ambient=np.array([faces.pressures[k].ambient for k in gases], f),
        volume=np.array([faces.pressures[k].volume for k in gases], f),
        set=np.zeros((t, len(faces.pressures), w), f),
        ids=np.ascontiguousarray(ids.T, np.int32),
        face_start=first,
        face_stop=first[:-1] + np.array([len(i) for i in mine], np.int64),
        particles=particles,
        particle_start=_starts(around),
        start=start,
        rows=real[rows],
        area=np.zeros((t, len(ids), 3, w), f),
        cone=np.zeros((t, len(ids), w), f),
        slope=np.zeros((t, len(particles), 3, w), f),
        weight=np.zeros((t, len(particles), w), f),
        push=np.zeros((t, len(gases), 2, w), f),
    )


def _filled(rows: Array, group: int) -> Array:
    """Rows and copies of the last one, up to whole groups."""
    return np.concatenate([rows, np.repeat(rows[-1:], -len(rows) % group)])


def _starts(groups: list[Array]) -> Array:
    return np.concatenate([[0], np.cumsum([len(g) for g in groups])]).astype(np.int64)
