"""Laws: pure element functions, numbers and tuples in, numbers and tuples out.

A law knows no time step, no mass, no multiplier and no array. It returns a constraint value ``C`` and
its gradient; together with a compliance ``alpha`` it stands for the energy ``C^2 / (2 alpha)``. All laws
work on plain floats and on lane values (:mod:`pliant.backend.lanes`) alike.
"""

from __future__ import annotations

from typing import NamedTuple


class LawShape(NamedTuple):
    """How many particles a constraint of a law joins, rows it has and parameters it carries.

    group: laws of a group are compiled together; "cloth" always, others for scenes that have one of them.
    one_sided: an inequality C <= 0, whose multiplier is never positive.
    """

    corners: int
    rows: int
    params: int
    group: str = "cloth"
    one_sided: bool = False


LAWS: dict[str, LawShape] = {
    "distance": LawShape(2, 1, 1),  # rest_length
    "membrane": LawShape(3, 2, 4),  # inv_rest_matrix, row by row
    "isometric": LawShape(4, 3, 4),  # cotangent stencil K
    "dihedral": LawShape(4, 1, 1, "angle"),  # rest_angle, signed
    "dihedral_acos": LawShape(4, 1, 1, "angle"),  # rest_angle, unsigned
    "attachment": LawShape(1, 3, 0),
    "orthotropic": LawShape(3, 3, 5, "sheets"),  # inv_rest_matrix, C12/C11
    "curved": LawShape(4, 1, 5, "sheets"),  # cotangent stencil K, signed length at rest
    "strain_limit": LawShape(3, 1, 5, "sheets", one_sided=True),  # inv_rest_matrix, 1 + limit
    "arap_tet": LawShape(4, 2, 9, "arap"),  # inv_rest_matrix, row by row
    "neo_hookean": LawShape(4, 2, 9, "determinant"),  # inv_rest_matrix
    "volume": LawShape(4, 1, 9, "determinant"),  # inv_rest_matrix
    "tie": LawShape(4, 3, 4, "ties"),  # place on the triangle, gap over it
}
"""The laws a model can hold, in the order in which a sweep visits them."""

GROUPS = tuple(dict.fromkeys(shape.group for shape in LAWS.values()))
