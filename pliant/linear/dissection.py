"""An order of elimination by nested dissection: cut the graph in two, put the cut last, go on with both.

A cut starts from distances to two far ends of a piece: sorted by their difference, one half of the unknowns
lies on either side. Those on the border are the first cut; rounds of exchanges then make it smaller, as in
Fiduccia, Mattheyses, "A linear-time heuristic for improving network partitions" (DAC 1982), with whole
vertices as in Ashcraft, Liu, "A partition improvement algorithm for generalized nested dissection" (1994).
Small pieces are ordered by minimum degree. No random number is drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend.jit import kernel
from .minimum_degree import first_of

LEAF = 120
"""Pieces of this size are not cut."""
ROUNDS = 8
"""Most rounds of exchanges per cut."""
HALF = 0.58
"""Share of a piece's unknowns that one side of a cut may have."""
PATIENCE = 60
"""Moves in a row without a better cut, after which a round ends."""


@kernel
def nested_dissection(start: Any, index: Any) -> Any:
    """Order (n,): the unknown that goes first, second, ...

    in   start (n + 1,), index (m,): neighbours of each unknown, both ways
    """
    n = len(start) - 1
    order = np.arange(n)  # pieces are slices of it, with their cuts at the end
    piece = np.zeros(n, np.int64)  # number of the piece that an unknown is in
    level = np.full((2, n), -1, np.int64)
    local = np.full(n, -1, np.int64)
    stack = np.empty((n + 2, 2), np.int64)
    stack[0, 0], stack[0, 1], depth, pieces = 0, n, 1, 1
    while depth > 0:
        depth -= 1
        begin, end = stack[depth, 0], stack[depth, 1]
        mine = order[begin:end].copy()
        for i in mine:
            piece[i] = pieces
        if end - begin <= LEAF:
            leaf(start, index, mine, piece, local, order[begin:end])
            pieces += 1
            continue
        sides = cut(start, index, mine, piece, level)
        pieces += 1
        fill = begin
        for side in range(3):
            first = fill
            for k in range(len(mine)):
                if sides[k] == side:
                    order[fill] = mine[k]
                    fill += 1
            if side < 2 and fill > first:
                stack[depth, 0], stack[depth, 1] = first, fill
                depth += 1
            if side == 2:
                for k in range(first, fill):
                    piece[order[k]] = 0
    return order


@kernel
def leaf(start: Any, index: Any, mine: Any, piece: Any, local: Any, out: Any) -> None:
    """Order a piece by minimum degree; the cuts around it, which come later, count as neighbours."""
    count, m = 0, len(mine)
    for k in range(m):
        count += start[mine[k] + 1] - start[mine[k]]
    around = np.empty(count, np.int64)
    total = m
    for k in range(m):
        local[mine[k]] = k
    for k in range(m):
        for p in range(start[mine[k]], start[mine[k] + 1]):
            if local[index[p]] < 0:
                local[index[p]] = total
                around[total - m] = index[p]
                total += 1
    degree = np.zeros(total + 1, np.int64)
    for k in range(m):
        for p in range(start[mine[k]], start[mine[k] + 1]):
            degree[k + 1] += 1
            if local[index[p]] >= m:
                degree[local[index[p]] + 1] += 1
    for k in range(total):
        degree[k + 1] += degree[k]
    neighbours, fill = np.empty(degree[total], np.int64), degree.copy()
    for k in range(m):
        for p in range(start[mine[k]], start[mine[k] + 1]):
            j = local[index[p]]
            neighbours[fill[k]] = j
            fill[k] += 1
            if j >= m:
                neighbours[fill[j]] = k
                fill[j] += 1
    order = first_of(degree, neighbours, m)
    for k in range(m):
        out[k] = mine[order[k]]
        local[mine[k]] = -1
    for k in range(total - m):
        local[around[k]] = -1


@kernel
def distances(start: Any, index: Any, root: Any, piece: Any, level: Any, queue: Any) -> Any:
    """Steps from a root within its piece; ``queue``: the unknowns reached, nearest first. Their number."""
    mine = piece[root]
    level[root] = 0
    queue[0] = root
    read, reached = 0, 1
    while read < reached:
        i = queue[read]
        read += 1
        for p in range(start[i], start[i + 1]):
            j = index[p]
            if piece[j] == mine and level[j] < 0:
                level[j] = level[i] + 1
                queue[reached] = j
                reached += 1
    return reached


@kernel
def cut(start: Any, index: Any, mine: Any, piece: Any, level: Any) -> Any:
    """Side of each unknown of a piece: 0, 1, or 2 for the cut between them."""
    m = len(mine)
    queue = np.empty(m, np.int64)
    root = mine[0]
    for _ in range(3):  # towards an end of the piece
        for i in mine:
            level[0, i] = -1
        reached = distances(start, index, root, piece, level[0], queue)
        if reached < m:  # pieces that do not touch: no cut between them
            k, last = 0, 0
            while 2 * reached < m:
                while level[0, mine[k]] >= 0:
                    k += 1
                last = distances(start, index, mine[k], piece, level[0], queue)
                reached += last
            if reached == m:  # the last one is larger than all others together
                for k in range(last):
                    level[0, queue[k]] = -1
            sides = np.zeros(m, np.int64)
            for k in range(m):
                sides[k] = 1 if level[0, mine[k]] >= 0 else 0
            return sides
        far = root
        root = queue[m - 1]
    for i in mine:
        level[0, i] = -1
        level[1, i] = -1
    distances(start, index, far, piece, level[0], queue)
    distances(start, index, root, piece, level[1], queue)
    key = np.empty(m, np.int64)
    for k in range(m):
        key[k] = level[0, mine[k]] - level[1, mine[k]]
    return halved(start, index, mine, piece, level, key)


@kernel
def halved(start: Any, index: Any, mine: Any, piece: Any, level: Any, key: Any) -> Any:
    """Halves by a key; of the larger one what touches the other is the cut, then made smaller."""
    m = len(mine)
    low, high = key.min(), key.max()
    count = np.zeros(high - low + 2, np.int64)
    for k in range(m):
        count[key[k] - low + 1] += 1
    for v in range(len(count) - 1):
        count[v + 1] += count[v]
    place = np.empty(m, np.int64)
    for k in range(m):
        place[k] = count[key[k] - low]
        count[key[k] - low] += 1
    side = level[0]  # by unknown; its distances are no longer needed
    half = (m + 1) // 2
    for k in range(m):
        side[mine[k]] = 0 if place[k] < half else 1
    for k in range(m):
        i = mine[k]
        if side[i] == 0:
            for p in range(start[i], start[i + 1]):
                j = index[p]
                if piece[j] == piece[i] and side[j] == 1:
                    side[i] = 2
                    break
    improve(start, index, mine, piece, side, level[1])
    out = np.empty(m, np.int64)
    for k in range(m):
        out[k] = side[mine[k]]
    return out


@kernel
def improve(start: Any, index: Any, mine: Any, piece: Any, side: Any, stamp: Any) -> None:
    """Move unknowns of the cut to a side, and their neighbours opposite into the cut, while it gets smaller.

    A round takes the best move again and again, each unknown once, even where the cut grows for a while, and
    goes back to the best cut that it saw.
    """
    m = len(mine)
    sizes = np.zeros(3, np.int64)
    members = np.empty(2 * m, np.int64)
    log = np.empty((4 * m + 16, 2), np.int64)  # unknown, side before
    for i in mine:
        sizes[side[i]] += 1
        stamp[i] = -1
    most = int(HALF * m)
    for round_ in range(ROUNDS):
        held = 0
        for i in mine:
            if side[i] == 2:
                members[held] = i
                held += 1
        best, best_off, best_at, logged = sizes[2], abs(sizes[0] - sizes[1]), 0, 0
        idle = 0
        while idle < PATIENCE and logged < 3 * m:
            chosen, to, worth = -1, 0, -(1 << 40)
            kept = 0
            for k in range(held):  # those that left the cut are dropped
                i = members[k]
                if side[i] != 2:
                    continue
                members[kept] = i
                kept += 1
                if stamp[i] == round_:
                    continue
                pull = np.zeros(2, np.int64)
                for p in range(start[i], start[i + 1]):
                    j = index[p]
                    if piece[j] == piece[i] and side[j] < 2:
                        pull[side[j]] += 1
                for s in range(2):
                    if sizes[s] + 1 > most:
                        continue
                    gain = (1 - pull[1 - s]) * 4 * m + sizes[1 - s] - sizes[s]
                    if gain > worth:
                        chosen, to, worth = i, s, gain
            held = kept
            if chosen < 0:
                break
            logged, held = move(start, index, piece, side, chosen, to, sizes, log, logged, members, held)
            stamp[chosen] = round_
            off = abs(sizes[0] - sizes[1])
            if sizes[2] < best or (sizes[2] == best and off < best_off):
                best, best_off, best_at, idle = sizes[2], off, logged, 0
            else:
                idle += 1
        for k in range(logged - 1, best_at - 1, -1):
            i = log[k, 0]
            sizes[side[i]] -= 1
            side[i] = log[k, 1]
            sizes[side[i]] += 1
        if best_at == 0:
            break


@kernel
def move(
    start: Any, index: Any, piece: Any, side: Any, i: Any, to: Any, sizes: Any, log: Any, logged: Any,
    members: Any, held: Any,
) -> Any:  # fmt: skip
    """Take unknown i out of the cut; what it touched beyond comes in. Lengths of log and members."""
    log[logged, 0], log[logged, 1] = i, 2
    logged += 1
    side[i] = to
    sizes[2] -= 1
    sizes[to] += 1
    for p in range(start[i], start[i + 1]):
        j = index[p]
        if piece[j] == piece[i] and side[j] == 1 - to:
            log[logged, 0], log[logged, 1] = j, 1 - to
            logged += 1
            side[j] = 2
            sizes[1 - to] -= 1
            sizes[2] += 1
            members[held] = j
            held += 1
    return logged, held
