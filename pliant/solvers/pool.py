"""The constraints of all laws as one set of flat arrays, in the order in which kernels visit them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..backend.jit import kernel
from ..laws import LAWS
from ..model import Block, Model

Array = np.ndarray

CORNERS, ROWS, FIELDS, COUNT, AT_IDS, AT_DATA, AT_LAMBDA, AT_ITEMS, LAYOUT_SIZE = 0, 1, 2, 3, 4, 5, 6, 7, 8
"""Columns of ``Pool.layout``."""


LOAD, STORE, DAMPED = 1, 2, 4
"""Flags of work on constraints: multipliers continue from earlier sweeps; multipliers are kept; some damping
time is not zero."""

SMALLEST_SHARE = 1024
"""Fewer items per thread are not worth a fork and a join: some 10 us, and a projection is 20 to 70 ns."""


class Rows(NamedTuple):
    """Constraints of one law on one tile, with ``c`` corners, ``r`` rows and ``p`` parameters.

    ids (c, E) particles read; slots (c, E) rows of ``out`` written: the same, but for Jacobi; data (r+p, E):
    compliance of the rows, parameters of the law; tau (E,) damping time; crowd (E,) factor on the weight (for
    Jacobi the largest number of constraints around one of the particles, else 1); lambda_ (r, E, L);
    softness (L,): factor on the compliance of each world.

    E counts places. For a single world, whose constraints are worked on ``Items`` at a time, each colour is
    filled up to whole groups by repeating its last constraint, which then does the same work again in the
    same instant and writes the same numbers.
    """

    ids: Array
    slots: Array
    data: Array
    tau: Array
    crowd: Array
    lambda_: Array
    softness: Array


class Pool(NamedTuple):
    """The constraints of all laws, one after the other; :func:`rows_of` finds those of one. layout (laws, 8):
    corners, rows, fields, E, first place in ids and slots, in data, in lambda_, in tau and crowd. held
    (T, 2, A, 3, L): where attachments hold at the end and at the start of the substep, place by place."""

    layout: Array
    ids: Array
    slots: Array
    data: Array
    tau: Array
    crowd: Array
    lambda_: Array
    softness: Array
    held: Array


class Gather(NamedTuple):
    """Jacobi only: corrections (T, S, 3, L) and each particle's slots in CSR: start (N + 1,), slots (S,)."""

    out: Array
    start: Array
    slots: Array


ITEMS = 8
"""Constraints of a single world that are worked on at a time: 8 doubles are one AVX-512 register."""


class Packed(NamedTuple):
    """A block as it lies in the pool.

    source (E',) which constraint of the block is at each place; place (E,) where each constraint is;
    bounds (colours + 1,) a colour is a slice of places, of a length that the group divides.
    """

    block: Block
    source: Array
    place: Array
    bounds: Array


def packed(block: Block, group: int) -> Packed:
    """Each colour filled up to whole groups by repeating its last constraint."""
    pieces, bounds = [], [0]
    for lo, hi in pairwise(block.color_start.tolist()):
        n = -(-(hi - lo) // group) * group
        pieces.append(np.minimum(np.arange(lo, lo + n), hi - 1))
        bounds.append(bounds[-1] + n)
    source = np.concatenate(pieces) if pieces else np.zeros(0, int)
    _, place = np.unique(source, return_index=True)
    return Packed(block, source, place, np.array(bounds, np.int64))


def pool_of(model: Model, blocks: dict[str, Packed], jacobi: bool, rigid: bool) -> tuple[Pool, Gather]:
    """All constraints, and Jacobi's slots.

    rigid: compliances and damping times are taken as zero, absent rows stay absent (plain PBD).
    """
    layout = np.zeros((len(LAWS), LAYOUT_SIZE), np.int64)
    parts: dict[str, list[Array]] = {name: [] for name in ("ids", "slots", "data", "tau", "crowd")}
    size = dict.fromkeys(("ids", "data", "lambda", "items"), 0)
    touches = _touches(blocks, model.n_particles)
    first = 0
    for k, (law, shape) in enumerate(LAWS.items()):
        p = blocks.get(law)
        fields, n = shape.rows + shape.params, 0 if p is None else len(p.source)
        layout[k, [CORNERS, ROWS, FIELDS, COUNT]] = shape.corners, shape.rows, fields, n
        layout[k, [AT_IDS, AT_DATA, AT_LAMBDA, AT_ITEMS]] = list(size.values())
        size["ids"] += shape.corners * n
        size["data"] += fields * n
        size["lambda"] += shape.rows * n
        size["items"] += n
        if p is None:
            continue
        alpha, tau = p.block.compliance[p.source], p.block.damping_time[p.source]
        if rigid:
            alpha, tau = np.where(np.isfinite(alpha), 0.0, np.inf), np.zeros_like(tau)
        ids = p.block.ids[p.source]
        slots = ids
        if jacobi:
            slots = first + (p.source * shape.corners)[:, None] + np.arange(shape.corners)
            first += p.block.ids.size
        parts["ids"].append(ids.T.ravel())
        parts["slots"].append(slots.T.ravel())
        parts["data"].append(np.concatenate([alpha, p.block.params[p.source]], axis=1).T.ravel())
        parts["tau"].append(tau)
        parts["crowd"].append(touches[ids].max(axis=1) if jacobi else np.ones(n))
    f = model.dtype
    ids = _joined(parts["ids"], np.int32)
    pool = Pool(
        layout,
        ids,
        _joined(parts["slots"], np.int32) if jacobi else ids,
        _joined(parts["data"], f),
        _joined(parts["tau"], f),
        _joined(parts["crowd"], f),
        np.zeros((model.n_tiles, size["lambda"], model.width), f),
        np.ones((model.n_tiles, len(LAWS), model.width), f),
        _held(model, blocks),
    )
    return pool, _gather(blocks, model, jacobi)


def lambda_of(pool: Pool, packed_block: Packed) -> Array:
    """Multipliers (T, E, r, L) of a law, in the order of its block."""
    at = pool.layout[list(LAWS).index(packed_block.block.law)]
    lo, r, n = at[AT_LAMBDA], at[ROWS], at[COUNT]
    lanes = pool.lambda_[:, lo : lo + r * n].reshape(len(pool.lambda_), r, n, -1)
    return lanes[:, :, packed_block.place].swapaxes(1, 2)


def _joined(parts: list[Array], dtype: np.dtype | type) -> Array:
    return np.concatenate([*parts, np.zeros(0)]).astype(dtype)


def _held(model: Model, blocks: dict[str, Packed]) -> Array:
    n = len(blocks["attachment"].source) if "attachment" in blocks else 0
    return np.zeros((model.n_tiles, 2, n, 3, model.width), model.dtype)


def _touches(blocks: dict[str, Packed], n: int) -> Array:
    """Constraints around each particle."""
    ids = [p.block.ids.ravel() for p in blocks.values()]
    return np.bincount(np.concatenate(ids), minlength=n) if ids else np.zeros(n, int)


def _gather(blocks: dict[str, Packed], model: Model, jacobi: bool) -> Gather:
    """Jacobi's slots; empty arrays for Gauss-Seidel."""
    none = np.zeros(0, np.int32)
    if not jacobi:
        return Gather(np.zeros((model.n_tiles, 0, 3, model.width), model.dtype), none, none)
    ids = np.concatenate([blocks[law].block.ids.ravel() for law in LAWS if law in blocks] or [none])
    slots = np.argsort(ids, kind="stable").astype(np.int32)
    count = np.bincount(ids, minlength=model.n_particles)
    start = np.concatenate([[0], np.cumsum(count)]).astype(np.int32)
    return Gather(np.zeros((model.n_tiles, len(ids), 3, model.width), model.dtype), start, slots)


@kernel
def rows_of(pool: Any, law: Any, t: Any) -> Any:
    """The constraints of one law on one tile."""
    at = pool.layout[law]
    n, c, f, r = at[COUNT], at[CORNERS], at[FIELDS], at[ROWS]
    i, d, m, k = at[AT_IDS], at[AT_DATA], at[AT_LAMBDA], at[AT_ITEMS]
    return Rows(
        pool.ids[i : i + c * n].reshape((c, n)),
        pool.slots[i : i + c * n].reshape((c, n)),
        pool.data[d : d + f * n].reshape((f, n)),
        pool.tau[k : k + n],
        pool.crowd[k : k + n],
        pool.lambda_[t, m : m + r * n].reshape((r, n, pool.lambda_.shape[2])),
        pool.softness[t, law],
    )
