"""Membrane of woven cloth: stretch of warp and weft, and the angle between them.

The columns of the deformation gradient ``F`` (3 x 2) are what has become of one metre of warp, ``f1``, and
of weft, ``f2``::

    e1 = |f1| - 1,  e2 = |f2| - 1,  gamma = f1 . f2 / (|f1| |f2|)

    C_warp  = e1 + (C12/C11) e2      alpha = 1 / (C11 A)
    C_weft  = e2                     alpha = 1 / ((C22 - C12^2/C11) A)
    C_shear = gamma                  alpha = 1 / (G t A)

so that ``sum C^2/(2 alpha)`` is ``A/2 (C11 e1^2 + 2 C12 e1 e2 + C22 e2^2 + G t gamma^2)``: for small strain
an orthotropic sheet in plane stress. No rotation has to be found: lengths and the angle know none.
"""

from __future__ import annotations

from typing import Any

from ..backend.jit import law
from ..backend.lanes import maximum, sqrt, where
from .scalars import reciprocal
from .vectors import Vec, dot, minus, times

CRUSHED = 1e-3
"""Stretch of a yarn below which it has no direction left: gamma then fades in proportion to its length."""


@law
def yarn(f: Vec) -> tuple[Any, Vec]:
    """Stretch of a yarn and its gradient, the yarn's direction; zero where it has none."""
    length = sqrt(dot(f, f))
    return length, times(reciprocal(length), f)


@law
def shear(f1: Vec, f2: Vec, length1: Any, length2: Any) -> tuple[Any, Vec, Vec]:
    """``gamma``, the cosine of the angle between the yarns, and its gradients; see ``CRUSHED``."""
    inverse1 = 1.0 / maximum(length1, CRUSHED)
    inverse2 = 1.0 / maximum(length2, CRUSHED)
    a = times(inverse1, f1)
    b = times(inverse2, f2)
    gamma = dot(a, b)
    turn1 = where(length1 > CRUSHED, gamma, 0.0)
    turn2 = where(length2 > CRUSHED, gamma, 0.0)
    return gamma, times(inverse1, minus(b, times(turn1, a))), times(inverse2, minus(a, times(turn2, b)))


@law
def orthotropic(f1: Vec, f2: Vec, ratio: Any) -> tuple[Any, Vec, Vec, Any, Vec, Any, Vec, Vec]:
    """The three rows and their gradients with respect to the columns of ``F``; ``ratio = C12/C11``.

    Returns ``C_warp, dC_warp/df1, dC_warp/df2, C_weft, dC_weft/df2, C_shear, dC_shear/df1, dC_shear/df2``
    (dimensionless; the weft row does not depend on f1). A yarn without length has no direction: its stretch
    has no gradient there.
    """
    length1, n1 = yarn(f1)
    length2, n2 = yarn(f2)
    gamma, s1, s2 = shear(f1, f2, length1, length2)
    weft = length2 - 1.0
    return (length1 - 1.0) + ratio * weft, n1, times(ratio, n2), weft, n2, gamma, s1, s2
