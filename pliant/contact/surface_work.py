"""What a solver holds of mesh colliders between steps: lists that grow, and the side of each particle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import PliantError
from ..model import MESH, Model
from ..state import Control, State, gathered, world_ids
from .arrays import Colliders, collider_arrays
from .surface_detection import detect_surfaces
from .surface_survey import survey_surfaces
from .surfaces import (
    DRAG,
    ID,
    NORMAL,
    PUSH,
    SurfaceContacts,
    SurfaceSet,
    SurfaceStage,
    Traces,
    lists_per_world,
    surface_contacts,
    surface_set,
)

Array = np.ndarray


@dataclass
class SurfaceWork:
    """Everything about mesh colliders that a solver holds between steps."""

    model: Model
    shapes: SurfaceSet
    contacts: SurfaceContacts
    traces: Traces
    colliders: tuple[int, ...]
    poses: Array
    """Where the last step left the colliders (K, 12)."""
    survey: Array
    """Per list (T, J, 3): deepest start and deepest end of a step [m], 1 where a particle passed unseen."""

    @classmethod
    def of(cls, model: Model) -> SurfaceWork | None:
        """For a model; None where it has no mesh colliders."""
        colliders = tuple(int(k) for k in np.flatnonzero(model.colliders.kind == MESH))
        if not colliders:
            return None
        shapes = surface_set(model.colliders.meshes)
        t, n, w = model.n_tiles, model.n_particles, model.width
        entries = n // (8 * lists_per_world(model)) + 16
        return cls(
            model,
            shapes,
            surface_contacts(model, entries, 8 * entries, np.zeros((t, len(shapes.table), n, w), np.int8)),
            Traces(
                np.zeros((t, n, 3, w), model.dtype),
                np.zeros((t, n, w), model.dtype),
                model.contact_radius.astype(float),
                model.body,
            ),
            colliders,
            np.zeros((len(colliders), 12)),
            np.zeros((t, w * lists_per_world(model), 3)),
        )

    @property
    def nbytes(self) -> int:
        """Memory that grows with the number of worlds [bytes]."""
        c, t = self.contacts, self.traces
        return sum(a.nbytes for a in (c.entry, c.notes, c.faces, c.gap, c.memory, t.x_end, t.touched))

    def placed(self, control: Control, substeps: int) -> Colliders:
        """The mesh colliders on their way, in float64."""
        return collider_arrays(self.model, control, substeps, np.array(self.colliders), np.dtype(float))

    def find(self, state: State, control: Control, meshes: Colliders, reach: Array, fall: Array) -> bool:
        """Fill the lists at the start of a step; True when they had to grow.

        ``reach`` and ``fall`` as in contact/detection.py.
        """
        self.forget_moved(control)
        grew = False
        while True:
            c = self.contacts
            x, v, w = state.x_lanes, state.v_lanes, self.model.inv_mass
            detect_surfaces(x, v, w, c, self.traces, self.shapes, meshes, reach, fall, self.survey)
            entries, faces = c.found.max(axis=(0, 1))
            if entries <= c.entry.shape[2] and faces <= c.faces.shape[2]:
                return grew
            self.grow(int(entries), int(faces))
            grew = True

    def look_back(
        self, state: State, control: Control, start: tuple[Array, Array], meshes: Colliders, reach: Array,
        fall: Array, slack: Array,
    ) -> Array:  # fmt: skip
        """After a step that began with positions and velocities ``start``: per world (W, 3) the deepest start
        and the deepest end [m], and 1 where a particle passed a mesh that it was not known to be near.

        ``slack`` as in contact/detection.py. ``traces.touched`` then says who touches.
        """
        survey_surfaces(
            state.x_lanes, *start, self.contacts, self.traces, self.shapes, meshes, reach, fall, slack,
            self.survey,
        )  # fmt: skip
        self.poses[...] = self._poses(control.collider_target)
        t, _, kinds = self.survey.shape
        by_lane = self.survey.reshape(t, self.model.width, -1, kinds).max(axis=2)
        return gathered(np.moveaxis(by_lane, 1, 2), self.model)

    def stage(self, meshes: Colliders) -> SurfaceStage:
        """What the substeps need."""
        s = self.shapes
        return SurfaceStage(*self.contacts, s.table, s.rows, s.around, s.boxes, meshes.data, meshes.mu)

    def forget_moved(self, control: Control) -> None:
        """Forget sides where a collider stands elsewhere than the last step left it."""
        moved = np.flatnonzero((self.poses != self._poses(control.collider_start)).any(axis=1))
        for k in moved:
            a, b = self.shapes.first[k : k + 2]
            self.contacts.memory[:, a:b] = 0

    def _poses(self, poses: Any) -> Array:
        rows = [np.concatenate([poses[k][0], poses[k][1].ravel()]) for k in self.colliders]
        return np.array(rows).reshape(-1, 12)

    def grow(self, entries: int, faces: int) -> None:
        """Room for half as much again as is needed now."""
        m, c = self.contacts.entry.shape[2], self.contacts.faces.shape[2]
        m = entries + entries // 2 if entries > m else m
        c = faces + faces // 2 if faces > c else c
        self.contacts = surface_contacts(self.model, m, c, self.contacts.memory)

    def add_corrections(self, lanes: Array) -> None:
        """Add the corrections of the last substep [m] to (T, N, 3, L)."""
        c = self.contacts
        parts = lists_per_world(self.model)
        for t, used in enumerate(c.used):
            for j in range(used):
                n = c.found[t, j, 0]
                d = c.notes[t, j, :n]
                moved = d[:, PUSH : PUSH + 1] * d[:, NORMAL : NORMAL + 3] + d[:, DRAG : DRAG + 3]
                np.add.at(lanes[t, :, :, j // parts], c.entry[t, j, :n, ID], moved)

    def reset(self, worlds: Any = None) -> None:
        """Forget the sides of some worlds (default: all)."""
        w = world_ids(worlds, self.model)
        if self.model.n_worlds - 1 in w:  # spare lanes follow the last world
            w = np.concatenate([w, np.arange(self.model.n_worlds, self.model.n_tiles * self.model.width)])
        self.contacts.memory[w // self.model.width, :, :, w % self.model.width] = 0

    def saved(self) -> tuple[Array, Array, Array]:
        """What must come back if the step at hand fails."""
        return self.contacts.memory.copy(), self.traces.x_end.copy(), self.poses.copy()

    def put_back(self, saved: tuple[Array, Array, Array]) -> None:
        """Undo a step that failed."""
        self.contacts.memory[...], self.traces.x_end[...], self.poses[...] = saved

    def arrays(self) -> dict[str, Array]:
        """What a snapshot must hold: sides, and where particles and colliders were when they were known."""
        x_end = np.nan_to_num(self.traces.x_end, posinf=0.0, neginf=0.0)
        return {"side_memory": self.contacts.memory.copy(), "side_x": x_end, "side_poses": self.poses.copy()}

    def restore(self, arrays: dict[str, Array]) -> None:
        """Back from :meth:`arrays`; without them every side is found anew. Raises PliantError and changes
        nothing where they do not fit."""
        memory, x_end = self.contacts.memory, self.traces.x_end
        if not any(key.startswith("side_") for key in arrays):
            memory[...] = 0
            return
        into = {"side_memory": memory, "side_x": x_end, "side_poses": self.poses}
        for key, here in into.items():
            saved = arrays.get(key)
            if saved is None or saved.shape != here.shape or saved.dtype != here.dtype:
                raise PliantError(
                    f"snapshot: the sides of particles at mesh colliders ({key}) are missing or do not fit; "
                    "it belongs to another scene, batch size or precision"
                )
        for key, here in into.items():
            here[...] = arrays[key]
