"""Filter, aggregate, inject: a coarse space of a matrix of small blocks, without smoothing.

A node is a block row of the matrix. *Filter* drops weak connections, *aggregate* puts nodes that are strongly
connected into groups, *inject* gives each group the near-kernel's vectors, made orthonormal there; what makes
them so is the near-kernel of the next level.

Sources: Vanek, Mandel, Brezina, Algebraic multigrid by smoothed aggregation (1996), section 5.1, passes;
Li and others, MGPBD (2025) for the filter's measure and for leaving out the smoothing.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

Array = np.ndarray

RANK = 1e-8
"""Vectors of a group shorter than this share of the longest, once made orthogonal, are not independent."""


def strengths(start: Array, index: Array, blocks: Array) -> Array:
    """``|A_ij|/sqrt(|A_ii| |A_jj|)`` (nnz,) of blocks (nnz, b, b), by Frobenius norms; 0 on the diagonal."""
    size = np.sqrt(np.einsum("nij,nij->n", blocks, blocks))
    row = np.repeat(np.arange(len(start) - 1), np.diff(start))
    own = np.zeros(len(start) - 1)
    own[row[row == index]] = size[row == index]
    scale = np.sqrt(own[row] * own[index])
    out = np.divide(size, scale, out=np.zeros_like(size), where=scale > 0)
    out[row == index] = 0.0
    return out


def aggregate(start: Array, index: Array, strength: Array, theta: float) -> Array:
    """The group (n,) of each node, by strong connections (strength >= theta), in the nodes' order.

    Passes: a node none of whose strong neighbours is taken founds a group with all of them; who is left joins
    the group it is connected to most strongly; who is still left founds a group or joins by a weak one.
    """
    n = len(start) - 1
    strong = [index[a:b][strength[a:b] >= theta].tolist() for a, b in pairwise(start)]
    of = [-1] * n
    groups = 0
    for i in range(n):
        if of[i] < 0 and strong[i] and all(of[j] < 0 for j in strong[i]):
            for j in (i, *strong[i]):
                of[j] = groups
            groups += 1
    first = list(of)
    for i in range(n):
        if of[i] < 0:
            of[i] = _strongest(i, start, index, strength, first, theta)
    for i in range(n):
        if of[i] < 0 and strong[i]:
            for j in (i, *strong[i]):
                if of[j] < 0:
                    of[j] = groups
            groups += 1
    for i in range(n):
        if of[i] < 0:
            of[i] = _strongest(i, start, index, strength, of, 0.0)
        if of[i] < 0:
            of[i] = groups
            groups += 1
    return np.array(of, np.int64)


def _strongest(i: int, start: Array, index: Array, strength: Array, of: list[int], least: float) -> int:
    """The group of the node to which i is connected most strongly; -1 if none is connected enough."""
    best, group = least, -1
    for e in range(start[i], start[i + 1]):
        j = index[e]
        if j != i and of[j] >= 0 and strength[e] >= best and (strength[e] > best or group < 0):
            best, group = strength[e], of[j]
    return group


def inject(group: Array, vectors: Array) -> tuple[Array, Array, Array]:
    """Prolongator, near-kernel of the next level, and which of its unknowns are used.

    group (n,); vectors (n, b, k) of the near-kernel at each node. Returns the prolongator's block at each
    node (n, b, k), which leads to the k unknowns of its group; vectors (groups, k, k) there; and (groups, k):
    False for an unknown to which nothing leads, where a group is too small for all vectors.
    """
    _, b, k = vectors.shape
    order = np.argsort(group, kind="stable")
    count = np.bincount(group)
    begin = np.concatenate([[0], np.cumsum(count)])
    prolong = np.zeros_like(vectors)
    coarse, used = np.zeros((len(count), k, k)), np.zeros((len(count), k), bool)
    for size in np.unique(count):
        mine = np.flatnonzero(count == size)
        nodes = order[begin[mine][:, None] + np.arange(size)]
        q, r = np.linalg.qr(vectors[nodes].reshape(len(mine), size * b, k))
        rank = q.shape[2]
        long = np.abs(np.einsum("gii->gi", r[:, :, :rank]))
        fine = long > RANK * long.max(axis=1, keepdims=True)
        q, r = q * fine[:, None, :], r * fine[:, :, None]
        prolong[nodes, :, :rank] = q.reshape(len(mine), size, b, rank)
        coarse[mine, :rank], used[mine, :rank] = r, fine
    return prolong, coarse, used


class Galerkin:
    """``P^T A P`` by places found once: each fine block is turned into a coarse one, and they are summed."""

    def __init__(self, start: Array, index: Array, group: Array) -> None:
        self.groups = int(group.max()) + 1
        self.row = np.repeat(np.arange(len(start) - 1), np.diff(start))
        self.column = index
        keys = group[self.row] * self.groups + group[index]
        self.order = np.argsort(keys, kind="stable")
        places, self.first = np.unique(keys[self.order], return_index=True)
        self.start = np.searchsorted(places, np.arange(self.groups + 1) * self.groups)
        self.index = places % self.groups

    def product(self, blocks: Array, prolong: Array) -> Array:
        """Blocks (coarse nnz, k, k), of the fine ones (nnz, b, b) and the prolongator (n, b, k)."""
        half = np.matmul(blocks, prolong[self.column])
        whole = np.matmul(prolong[self.row].transpose(0, 2, 1), half)
        return np.add.reduceat(whole[self.order], self.first, axis=0)


def rigid_modes(x: Array) -> Array:
    """(n, 3, 6): displacements of points x (n, 3) by translation and by rotation about their middle."""
    p = (x - x.mean(axis=0)) / max(float(np.abs(x - x.mean(axis=0)).max()), np.finfo(float).tiny)
    out = np.zeros((len(x), 3, 6))
    out[:, range(3), range(3)] = 1.0
    out[:, 1, 3], out[:, 2, 3] = -p[:, 2], p[:, 1]
    out[:, 2, 4], out[:, 0, 4] = -p[:, 0], p[:, 2]
    out[:, 0, 5], out[:, 1, 5] = -p[:, 1], p[:, 0]
    return out


def constants(n: int, b: int) -> Array:
    """(n, b, b): each unknown of a node the same everywhere."""
    return np.broadcast_to(np.eye(b), (n, b, b)).copy()
