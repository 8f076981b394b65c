"""An order of elimination in which each unknown is the one that fills in least at its turn, roughly.

The graph of what is left is kept as a quotient graph: an eliminated unknown becomes an *element*, a list of
the unknowns that it has tied together. Degrees are the bounds of Amestoy, Davis, Duff, "An approximate
minimum degree ordering algorithm" (SIAM J. Matrix Anal. Appl. 17, 1996), with their absorption of elements,
elimination in bulk and merging of unknowns that cannot be told apart. Ties are broken by the order of the
lists: same graph, same order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend.jit import kernel

# Rows of the table ``g`` (fields, n). An unknown's list holds its elements first, then its neighbours.
AT, SIZE, ELEMENTS = 0, 1, 2  # where a list begins, its length, how many of it are elements
WEIGHT = 3  # unknowns that one stands for; 0: gone; negative: in the element being made
DEGREE = 4  # of an unknown: bound; of an element: unknowns that it ties
HEAD, NEXT, BEFORE = 5, 6, 7  # lists of unknowns by degree
ALIVE, TOUCHED, OUTSIDE = 8, 9, 10  # of elements; OUTSIDE: unknowns that are not in the element being made
FOLLOWS, LAST = 11, 12  # chains of unknowns that are eliminated together
BUCKET, ALONG, SEEN = 13, 14, 15  # unknowns by hash; marks when two are compared
HELD = 16  # 1: never eliminated
FIELDS = 17


@kernel
def minimum_degree(start: Any, index: Any) -> Any:
    """Order (n,): the unknown that goes first, second, ...

    in   start (n + 1,), index (m,): neighbours of each unknown, both ways; entries (i, i) are ignored
    """
    return first_of(start, index, len(start) - 1)


@kernel
def first_of(start: Any, index: Any, free_ones: Any) -> Any:
    """Order (free_ones,) of the first unknowns; those from ``free_ones`` on stay and fill in with them."""
    n = len(start) - 1
    g = np.full((FIELDS, n), -1, np.int64)
    lists, free = begin(start, index, g, free_ones)
    buffer = np.empty(n, np.int64)
    order = np.empty(free_ones, np.int64)
    done, low, left = 0, 0, n
    while done < free_ones:
        while g[HEAD, low] < 0:
            low += 1
        me = g[HEAD, low]
        unlink(g, me)
        need = g[SIZE, me]
        for p in range(g[AT, me], g[AT, me] + g[ELEMENTS, me]):
            need += g[SIZE, lists[p]]
        if free + need > len(lists):
            lists, free = compacted(g, lists, need)
        left -= g[WEIGHT, me]
        first, free = free, make_element(g, lists, free, me)
        left -= update(g, lists, first, free, me, buffer)
        merge(g, lists, first, free)
        free, low = close(g, lists, first, free, me, left, low)
        i = me
        while i >= 0:
            order[done] = i
            done += 1
            i = g[FOLLOWS, i]
    return order


@kernel
def begin(start: Any, index: Any, g: Any, free_ones: Any) -> Any:
    """Lists of neighbours, and unknowns by degree."""
    n = len(start) - 1
    lists = np.empty(len(index) + len(index) // 2 + 4 * n + 16, np.int64)
    free = 0
    for i in range(n):
        g[AT, i] = free
        for p in range(start[i], start[i + 1]):
            if index[p] != i:
                lists[free] = index[p]
                free += 1
        g[SIZE, i] = free - g[AT, i]
        g[DEGREE, i] = g[SIZE, i]
        g[ELEMENTS, i] = 0
        g[WEIGHT, i] = 1
        g[ALIVE, i] = 0
        g[LAST, i] = i
        g[HELD, i] = 1 if i >= free_ones else 0
    for i in range(n):
        link(g, n - 1 - i)
    return lists, free


@kernel
def link(g: Any, i: Any) -> None:
    """Put an unknown at the front of the list of its degree."""
    if g[HELD, i] == 1:
        return
    d = g[DEGREE, i]
    following = g[HEAD, d]
    g[NEXT, i] = following
    g[BEFORE, i] = -1
    if following >= 0:
        g[BEFORE, following] = i
    g[HEAD, d] = i


@kernel
def unlink(g: Any, i: Any) -> None:
    """Take an unknown out of the list of its degree."""
    if g[HELD, i] == 1:
        return
    following, before = g[NEXT, i], g[BEFORE, i]
    if following >= 0:
        g[BEFORE, following] = before
    if before >= 0:
        g[NEXT, before] = following
    else:
        g[HEAD, g[DEGREE, i]] = following


@kernel
def compacted(g: Any, lists: Any, need: Any) -> Any:
    """The lists that are in use, close together, with room behind them."""
    n = g.shape[1]
    used = 0
    for i in range(n):
        if g[WEIGHT, i] != 0 or g[ALIVE, i] == 1:
            used += g[SIZE, i]
    out = np.empty(2 * used + need + n, np.int64)
    free = 0
    for i in range(n):
        if g[WEIGHT, i] != 0 or g[ALIVE, i] == 1:
            begin = g[AT, i]
            g[AT, i] = free
            for p in range(begin, begin + g[SIZE, i]):
                out[free] = lists[p]
                free += 1
    return out, free


@kernel
def make_element(g: Any, lists: Any, free: Any, me: Any) -> Any:
    """Unknown ``me`` becomes an element; its members lie in ``lists`` from ``free`` to the place returned."""
    begin, elements, size = g[AT, me], g[ELEMENTS, me], g[SIZE, me]
    g[WEIGHT, me] = 0
    for k in range(elements + 1):
        if k < elements:  # an element of me's: absorbed
            e = lists[begin + k]
            if g[ALIVE, e] == 0:
                continue
            g[ALIVE, e] = 0
            p, q = g[AT, e], g[AT, e] + g[SIZE, e]
        else:
            p, q = begin + elements, begin + size
        while p < q:
            i = lists[p]
            p += 1
            if g[WEIGHT, i] > 0:
                g[WEIGHT, i] = -g[WEIGHT, i]
                unlink(g, i)
                lists[free] = i
                free += 1
    g[ALIVE, me] = 1
    return free


@kernel
def update(g: Any, lists: Any, first: Any, end: Any, me: Any, buffer: Any) -> Any:
    """New lists, bounds and hashes of the members; returns how many were eliminated with ``me``."""
    n = g.shape[1]
    for k in range(first, end):
        i = lists[k]
        for p in range(g[AT, i], g[AT, i] + g[ELEMENTS, i]):
            e = lists[p]
            if g[TOUCHED, e] != me:
                g[TOUCHED, e] = me
                g[OUTSIDE, e] = g[DEGREE, e]
            g[OUTSIDE, e] += g[WEIGHT, i]
    gone = 0
    for k in range(first, end):
        i = lists[k]
        outside, key, kept, neighbours = 0, me, g[AT, i], 0
        middle = kept + g[ELEMENTS, i]
        for p in range(kept + g[ELEMENTS, i], kept + g[SIZE, i]):
            j = lists[p]
            if g[WEIGHT, j] > 0:
                outside += g[WEIGHT, j]
                key += j
                buffer[neighbours] = j
                neighbours += 1
        for p in range(kept, middle):
            e = lists[p]
            if g[ALIVE, e] == 1 and g[OUTSIDE, e] > 0:
                outside += g[OUTSIDE, e]
                key += e
                lists[kept] = e
                kept += 1
            else:
                g[ALIVE, e] = 0  # all that it ties, this element ties
        if outside == 0 and g[HELD, i] == 0:
            gone -= g[WEIGHT, i]
            g[WEIGHT, i] = 0
            follow(g, me, i)
            continue
        lists[kept] = me
        g[ELEMENTS, i] = kept + 1 - g[AT, i]
        g[SIZE, i] = g[ELEMENTS, i] + neighbours
        for m in range(neighbours):
            lists[kept + 1 + m] = buffer[m]
        g[DEGREE, i] = min(g[DEGREE, i], outside)
        key %= n
        g[ALONG, i] = g[BUCKET, key]
        g[BUCKET, key] = i
        g[OUTSIDE, i] = key  # of an unknown: where it is found
    return gone


@kernel
def follow(g: Any, i: Any, j: Any) -> None:
    """Unknown j, and what stands for it, is eliminated right after i."""
    g[FOLLOWS, g[LAST, i]] = j
    g[LAST, i] = g[LAST, j]


@kernel
def merge(g: Any, lists: Any, first: Any, end: Any) -> None:
    """Members of the new element with equal lists become one."""
    for k in range(first, end):
        if g[WEIGHT, lists[k]] == 0:
            continue
        key = g[OUTSIDE, lists[k]]
        i = g[BUCKET, key]
        g[BUCKET, key] = -1
        while i >= 0:
            if g[ALONG, i] >= 0:
                for p in range(g[AT, i], g[AT, i] + g[SIZE, i]):
                    g[SEEN, lists[p]] = i
            before, j = i, g[ALONG, i]
            while j >= 0:
                same = (
                    g[SIZE, j] == g[SIZE, i] and g[ELEMENTS, j] == g[ELEMENTS, i] and g[HELD, j] == g[HELD, i]
                )
                p = g[AT, j]
                while same and p < g[AT, j] + g[SIZE, j]:
                    same = g[SEEN, lists[p]] == i
                    p += 1
                if same:
                    g[WEIGHT, i] += g[WEIGHT, j]
                    g[WEIGHT, j] = 0
                    follow(g, i, j)
                    g[ALONG, before] = g[ALONG, j]
                else:
                    before = j
                j = g[ALONG, j]
            i = g[ALONG, i]


@kernel
def close(g: Any, lists: Any, first: Any, end: Any, me: Any, left: Any, low: Any) -> Any:
    """The members go back to the lists by degree; returns the end of the element and the least degree."""
    total = 0
    for k in range(first, end):
        total -= g[WEIGHT, lists[k]]
    kept = first
    for k in range(first, end):
        i = lists[k]
        if g[WEIGHT, i] == 0:
            continue
        g[WEIGHT, i] = -g[WEIGHT, i]
        degree = min(g[DEGREE, i] + total, left) - g[WEIGHT, i]
        g[DEGREE, i] = degree
        link(g, i)
        low = min(low, degree) if g[HELD, i] == 0 else low
        lists[kept] = i
        kept += 1
    g[AT, me] = first
    g[SIZE, me] = kept - first
    g[DEGREE, me] = total
    if kept == first:
        g[ALIVE, me] = 0
    return kept, low
