"""Coulomb friction of one contact as a law on displacements.

A correction [m] stands for an impulse: both forces of a contact, times h^2 and the inverse mass, are lengths,
and the cone compares lengths (docs/laws/contact.md; Macklin, Müller, Chentanez, Kim 2014, section 6.1).
"""

from __future__ import annotations

from typing import Any

from ..backend.jit import law
from ..backend.lanes import sqrt, where
from .scalars import reciprocal
from .vectors import Vec, dot, minus, times


@law
def coulomb(f: Vec, normal: Any, mu_static: Any, mu_kinetic: Any) -> Vec:
    """The tangential correction ``f`` [m] brought onto the circular friction cone.

    ``normal`` [m] is the accumulated normal correction. The correction is kept whole while
    ``|f| <= mu_static normal`` (the contact sticks), else its length becomes ``mu_kinetic normal``.
    """
    size = sqrt(dot(f, f))
    slip = mu_kinetic * normal * reciprocal(size)
    s = where(size <= mu_static * normal, 1.0, slip)
    return times(s, f)


@law
def tangential(u: Vec, n: Vec) -> Vec:
    """Part of ``u`` at right angles to the unit vector ``n``."""
    return minus(u, times(dot(u, n), n))
