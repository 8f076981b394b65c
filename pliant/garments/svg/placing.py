"""Where a panel that was drawn stands: its description, lines such as "facing: front"."""

from __future__ import annotations

import re

import numpy as np

from pliant.errors import PatternError
from pliant.garments.pattern import Placement
from pliant.garments.svg.document import Outline
from pliant.garments.svg.paths import NUMBER

Array = np.ndarray

FACING = {
    "up": np.eye(3),
    "front": np.column_stack([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]),
    "back": np.column_stack([[-1.0, 0, 0], [0, 0, 1], [0, 1, 0]]),
    "left": np.column_stack([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]),
    "right": np.column_stack([[0.0, -1, 0], [0, 0, 1], [-1, 0, 0]]),
}
"""What the right side of the cloth looks to: the sky, or as the wearer, who looks to -y, would say."""
NUMBERS = {"position": 3, "rotation": 3, "wrap": 1, "grain": 2}


def placed(outline: Outline, corner: Array) -> tuple[Placement, tuple[float, float] | None]:
    """Placement and, if it is said, grain of a panel, whose own origin is ``corner`` on the page [m].

    Without a position it lies where it was drawn. Raises PatternError naming the line.
    """
    facing, values = None, {}
    for text in filter(None, (t.strip() for t in re.split(r"[\n;]", outline.description))):
        key, _, value = (part.strip().lower() for part in text.partition(":"))
        if key == "facing" and value in FACING:
            facing = FACING[value]
            continue
        numbers = [float(n) for n in NUMBER.findall(value)]
        leftover = NUMBER.sub("", value).strip(" ,\t")
        if NUMBERS.get(key) != len(numbers) or leftover:
            raise PatternError(
                f'{outline.what}: its description says "{text}"; lines may be "position: x y z" [m], '
                f'"facing: {" | ".join(FACING)}", "rotation: x y z" (an axis times degrees), '
                '"wrap: radius" [m] and "grain: x y"'
            )
        values[key] = numbers
    if facing is not None and "rotation" in values:
        raise PatternError(f"{outline.what}: its description says both facing and rotation; keep one")
    wrap = values.get("wrap", [None])[0]
    if wrap is not None and not wrap > 0:
        raise PatternError(f"{outline.what}: wrap is {wrap:g}; it must be a radius greater than 0 [m]")
    turn = facing if facing is not None else np.radians(values.get("rotation", [0.0, 0.0, 0.0]))
    position = values.get("position", [*corner.tolist(), 0.0])
    grain = (values["grain"][0], values["grain"][1]) if "grain" in values else None
    return Placement(position, turn, wrap), grain
