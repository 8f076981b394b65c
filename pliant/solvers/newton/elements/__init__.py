"""Elements: what Newton (and whatever else needs exact Hessians) knows of each law."""

from __future__ import annotations

from ....model import Block
from .base import Element
from .hinges import DampedIsometric, Dihedral, DihedralAcos
from .lines import Attachment, Curved, Distance, Isometric
from .sheets import Membrane, Orthotropic, StrainLimit
from .solids import ArapTet, NeoHookean, Volume
from .ties import Tie

ELEMENTS: dict[str, type[Element]] = {
    "distance": Distance,
    "membrane": Membrane,
    "isometric": Isometric,
    "dihedral": Dihedral,
    "dihedral_acos": DihedralAcos,
    "attachment": Attachment,
    "orthotropic": Orthotropic,
    "curved": Curved,
    "strain_limit": StrainLimit,
    "arap_tet": ArapTet,
    "neo_hookean": NeoHookean,
    "volume": Volume,
    "tie": Tie,
}
"""The element of each law that a model can hold."""


def element_of(block: Block) -> Element:
    """The constraints of a law, ready to be evaluated."""
    if block.law == "isometric" and block.damping_time.any():
        return DampedIsometric(block)
    return ELEMENTS[block.law](block)
