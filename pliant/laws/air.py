"""The force of moving air on a flat face: quadratic, along its normal and along its plane."""

from __future__ import annotations

from typing import Any

from ..backend.jit import law
from ..backend.lanes import minimum, sqrt
from .scalars import reciprocal
from .vectors import Vec, dot, mix, times


@law
def face_drag(u: Vec, a: Vec, normal: Any, tangential: Any, limit: Any) -> Vec:
    """Force [N] of air that moves at ``u`` [m/s] past a face with the area vector ``a`` [m^2].

    ``f = A |u| (k_n u_n + k_t u_t)``, ``u_n = (u . n) n``, ``u_t = u - u_n``; normal and tangential are
    ``k = rho C/2`` [kg/m^3]. The normal force of a plate with a free wake grows with the sine of the
    incidence (Rayleigh 1876: ``2 pi sin a/(4 + pi sin a)``), taken here as ``C sin a``; each face by itself,
    with its own velocity against the wind, as in Keckeisen et al. 2004 (Modelling Effects of Wind Fields in
    Cloth Animations, WSCG). Both factors A |u| k are held below ``limit`` [kg/s].
    """
    area = sqrt(dot(a, a))
    n = times(reciprocal(area), a)
    flow = area * sqrt(dot(u, u))
    along = minimum(tangential * flow, limit)
    across = minimum(normal * flow, limit)
    return mix(along, u, (across - along) * dot(u, n), n)
