"""The arrays that the kernels of projective dynamics read and write.

T tiles, N particles, M: N filled up to a multiple of 8, so that groups of coordinates end nowhere within;
L lanes, m pairs of the history. The rows beyond N have no mass and never move.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray


class Particles(NamedTuple):
    """x, v (T, N, 3, L) of the state; x_prev, v_last (T, N, 3, L): where the substep begins, for damping and
    the report; f_ext (T, N or 0, 3, L); gravity (T, 3, L); inv_mass (N,); inertia (M,), what holds a particle
    at its prediction: m (1 + h air_drag)/h^2; pin_ids (P,)."""

    x: Array
    v: Array
    x_prev: Array
    v_last: Array
    f_ext: Array
    gravity: Array
    inv_mass: Array
    inertia: Array
    pin_ids: Array


class Search(NamedTuple):
    """Where the search is. Of those with a leading 2, one half is the iterate, the other the one tried.

    x_tilde, speed (T, M, 3, L): the prediction and the velocity that leads there; x (T, M, 3, L) = x~ + d;
    d, g (2, T, M, 3, L): way from the prediction, gradient of E there; e (2, T, M, L): energy, particle by
    particle, so that differences are summed and not sums subtracted; p (T, M, 3, L): right-hand side, then
    direction; s, y (m, T, M, 3, L), rho, a (m, T, L): history of L-BFGS; numbers (.., T, L) of each world, by
    place below; partial (T, chunks, L), strands (threads or T, 8, L): sums on the way; searching (T,): 1 in
    tiles where some world looks for a step length.
    """

    x_tilde: Array
    speed: Array
    x: Array
    d: Array
    g: Array
    e: Array
    p: Array
    s: Array
    y: Array
    rho: Array
    a: Array
    numbers: Array
    partial: Array
    strands: Array
    searching: Array


ALPHA, SLOPE, DONE, FAILS, ENERGY, SMALL, GAIN, DOT, NUMBERS = 0, 1, 2, 3, 4, 5, 6, 7, 8
"""Places in ``Search.numbers``: step length; g . p, the fall of E along p; 1 where the gradient has become
small, STUCK where no step was found; failed searches in a row; E; the square of the gradient's norm that is
small enough; E tried less E; a sum that has just been made. In the unit of force."""

STUCK = 2.0
