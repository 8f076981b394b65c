"""Arrays of colliders and of the contacts found with them.

T tiles, N particles, K colliders, M contact entries, L lanes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..geometry.motion import between, rotation_vector
from ..model import MESH, Model
from ..state import Control

Array = np.ndarray


SIZE, TURN, PLACE, SHIFT, SPIN, COLLIDER_SIZE = 0, 4, 13, 16, 19, 22
"""Places in ``Colliders.data``: size (4), rotation by rows (9), position (3), and the displacement of the
surface over the substep that ends here: ``shift + spin x (point - position)`` (3 and 3). Row 0, where the
step starts, has the length of the way and the angle turned over the whole step in SHIFT and SPIN instead."""


class Colliders(NamedTuple):
    """kind (K,); data (substeps + 1, K, 22): poses at the start of the step and at the end of each substep;
    mu (2, bodies, K): static, kinetic."""

    kind: Array
    data: Array
    mu: Array


NEAR, PUSH, DRAG, NORMAL, PAIR_SIZE = 0, 1, 2, 5, 8
"""Places in ``Contacts.pairs``: flag, accumulated normal correction [m], friction [m] (3), normal (3)."""


class Contacts(NamedTuple):
    """What detection found: per tile a sorted list of particles near a collider in some lane.

    ids (T, M) particles, n_found (T,); pairs (T, M, K, 8, L): NEAR is 1 where that lane's particle is near
    that collider; radius (N,) rest distance [m]; body (N,) cloth that a particle belongs to.
    """

    ids: Array
    n_found: Array
    pairs: Array
    radius: Array
    body: Array


def collider_arrays(
    model: Model, control: Control, substeps: int, which: Array | None = None, dtype: Any = None
) -> Colliders:
    """Colliders on their way from where they are to their targets.

    ``which`` (default: the analytic ones), in a precision (default: the model's).
    """
    s = model.colliders
    which = np.flatnonzero(s.kind != MESH) if which is None else which
    dtype = model.dtype if dtype is None else dtype
    data = np.zeros((substeps + 1, len(which), COLLIDER_SIZE))
    data[:, :, SIZE : SIZE + 4] = s.size[which]
    for j, k in enumerate(which):
        start, end = control.collider_start[k], control.collider_target[k]
        turn = rotation_vector(end[1] @ start[1].T)
        way = end[0] - start[0]
        for sub in range(substeps + 1):
            position, rotation = between(start, end, sub / substeps)
            data[sub, j, TURN : TURN + 9] = (rotation @ s.frame[k]).ravel()
            data[sub, j, PLACE : PLACE + 3] = position
        data[1:, j, SHIFT : SHIFT + 3] = way / substeps
        data[1:, j, SPIN : SPIN + 3] = turn / substeps
        data[0, j, SHIFT] = np.linalg.norm(way)
        data[0, j, SPIN] = np.linalg.norm(turn)
    mu = np.stack([s.mu_static, s.mu_kinetic])[:, :, which]
    return Colliders(s.kind[which], data.astype(dtype), mu.astype(dtype))


def contact_arrays(model: Model, capacity: int) -> Contacts:
    """An empty contact set of a capacity (entries per tile)."""
    t, w, f = model.n_tiles, model.width, model.dtype
    k = model.colliders.n_analytic
    m = capacity if k else 0
    return Contacts(
        np.zeros((t, m), np.int32),
        np.zeros(t, np.int64),
        np.zeros((t, m, k, PAIR_SIZE, w), f),
        model.contact_radius.astype(f),
        model.body,
    )
