"""The elimination tree: which column of a factor passes its work on to which, and how long columns get.

Source: Liu, "The role of elimination trees in sparse factorization" (SIAM J. Matrix Anal. Appl. 11, 1990).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend.jit import kernel


@kernel
def elimination_tree(start: Any, index: Any, order: Any) -> Any:
    """Parent (n,) of each step of an order, -1 for roots, and entries (n,) of its column with the diagonal.

    in   start (n + 1,), index: neighbours both ways; order (n,): who is eliminated at each step
    """
    n = len(order)
    step = np.empty(n, np.int64)
    for k in range(n):
        step[order[k]] = k
    parent = np.full(n, -1, np.int64)
    ancestor = np.full(n, -1, np.int64)
    seen = np.full(n, -1, np.int64)
    counts = np.ones(n, np.int64)
    for k in range(n):
        seen[k] = k
        for p in range(start[order[k]], start[order[k] + 1]):
            i = step[index[p]]
            while 0 <= i < k and ancestor[i] != k:  # shortened paths
                following = ancestor[i]
                ancestor[i] = k
                if following < 0:
                    parent[i] = k
                i = following
        for p in range(start[order[k]], start[order[k] + 1]):
            i = step[index[p]]
            while i < k and seen[i] != k:  # row k of the factor, along the tree
                counts[i] += 1
                seen[i] = k
                i = parent[i]
    return parent, counts


@kernel
def postorder(parent: Any, counts: Any) -> Any:
    """Steps (n,) so that subtrees are contiguous; of siblings the one with the longest column is last."""
    n = len(parent)
    head = np.full(n + 1, -1, np.int64)
    following = np.full(n, -1, np.int64)
    longest = np.full(n + 1, -1, np.int64)
    for k in range(n):
        mother = parent[k] if parent[k] >= 0 else n
        if longest[mother] < 0 or counts[k] >= counts[longest[mother]]:
            longest[mother] = k
    for last in (True, False):  # the last one is put at the head first
        for k in range(n - 1, -1, -1):
            mother = parent[k] if parent[k] >= 0 else n
            if (longest[mother] == k) == last:
                following[k] = head[mother]
                head[mother] = k
    out = np.empty(n, np.int64)
    stack = np.empty(n + 1, np.int64)
    stack[0], depth, done = n, 1, 0
    while depth > 0:
        node = stack[depth - 1]
        child = head[node]
        if child >= 0:
            head[node] = following[child]
            stack[depth] = child
            depth += 1
        else:
            depth -= 1
            if node < n:
                out[done] = node
                done += 1
    return out
