"""Arrays of colliders and of the contacts found with them.

T tiles, N particles, K colliders, M contact entries, L lanes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..model import Model

Array = np.ndarray


class Colliders(NamedTuple):
    """kind (K,); data (K, 15): size 3, rotation by rows 9, position 3; mu (2, bodies, K): static, kinetic."""

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


def collider_arrays(model: Model) -> Colliders:
    """The model's colliders in its precision."""
    s, f, k = model.colliders, model.dtype, len(model.colliders)
    data = np.concatenate([s.size, s.rotation.reshape(k, 9), s.position], axis=1)
    return Colliders(s.kind, data.astype(f), np.stack([s.mu_static, s.mu_kinetic]).astype(f))


def contact_arrays(model: Model, capacity: int) -> Contacts:
    """An empty contact set of a capacity (entries per tile)."""
    t, k, w, f = model.n_tiles, len(model.colliders), model.width, model.dtype
    m = capacity if k else 0
    return Contacts(
        np.zeros((t, m), np.int32),
        np.zeros(t, np.int64),
        np.zeros((t, m, k, PAIR_SIZE, w), f),
        model.contact_radius.astype(f),
        model.body,
    )
