"""A T-shirt: front, back and two sleeves of one piece each."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.garments.garment import Garment, meshed
from pliant.garments.pattern import Edge, Panel, Pattern, Placement, Seam

Array = np.ndarray


def tshirt(size: float = 0.021, **measures: Any) -> Garment:
    """A T-shirt in triangles with edges of about ``size`` [m]: 2,000 vertices unless told otherwise.

    ``measures`` as in :func:`tshirt_pattern`. Sew it with :func:`pliant.sew` around a
    :func:`pliant.garments.mannequin` of the same angle of the arms.
    """
    return meshed(tshirt_pattern(**measures), size)


def tshirt_pattern(
    chest: float = 1.04,
    length: float = 0.70,
    shoulder: float = 0.42,
    neck: float = 0.19,
    neck_drop: tuple[float, float] = (0.10, 0.03),
    armhole: float = 0.24,
    sleeve: float = 0.22,
    cuff: float = 0.37,
    slope: float = 0.05,
    arms: float = 25.0,
    shoulder_height: float = 1.46,
) -> Pattern:
    """A T-shirt that lies flat without a strain: the cap of a sleeve is the armhole's own curve.

    chest: girth; length from the shoulder at the neck to the hem; shoulder: from tip to tip; neck: width of
    the neckline, neck_drop: its depth in front and at the back; armhole: from the tip down to the underarm;
    sleeve: length along the top; cuff: girth; slope: fall of the shoulder from neck to tip;
    shoulder_height: of the shoulder at the neck over the ground, all in m; arms: how far the sleeves point
    below the horizontal [degrees]. The wearer faces -y; "left" is the wearer's.
    """
    w, s, n = 0.25 * chest, 0.5 * shoulder, 0.5 * neck
    tip = np.array([s, length - slope])
    under = np.array([w, tip[1] - armhole])
    controls = np.array(
        [[s + 0.15 * (w - s), under[1] + 0.02 * armhole], [s - 0.05, tip[1] - 0.45 * armhole]]
    )
    body = [
        _torso(name, sides, w, n, tip, under, controls, length, drop, shoulder_height)
        for name, sides, drop in zip(("front", "back"), (("left", "right"), ("right", "left")), neck_drop,
                                     strict=True)
    ]  # fmt: skip
    down = np.radians(arms)
    along, across = np.array([np.cos(down), -np.sin(down)]), np.array([np.sin(down), np.cos(down)])
    in_sleeve = np.array([-across, -along])  # flat lay -> the sleeve's own x (under the arm), y (up the arm)
    cap, bends = in_sleeve @ (under - tip), (controls - tip) @ in_sleeve.T
    sleeves = [
        _sleeve(side, cap, bends, sleeve, 0.5 * cuff, tip, down, shoulder_height - length) for side in (1, -1)
    ]
    return Pattern("T-shirt", [*body, *sleeves], _seams(), {
        "hem": ["front.hem", "back.hem"], "neck": ["front.neck", "back.neck"],
        "left cuff": ["left sleeve.cuff"], "right cuff": ["right sleeve.cuff"],
    })  # fmt: skip


def _torso(
    name: str,
    sides: tuple[str, str],
    w: float,
    n: float,
    tip: Array,
    under: Array,
    controls: Array,
    length: float,
    drop: float,
    height: float,
) -> Panel:
    """Front or back; ``sides``: whose side lies at +x and at -x of the panel."""
    flip = np.array([-1.0, 1.0])
    plus, minus = sides
    dip = length - 4 / 3 * drop
    edges = [
        Edge("hem", (-w, 0)),
        Edge(f"{plus} side", (w, 0)),
        Edge(f"{plus} armhole", under, controls),
        Edge(f"{plus} shoulder", tip),
        Edge("neck", (n, length), [(0.85 * n, dip), (-0.85 * n, dip)]),
        Edge(f"{minus} shoulder", (-n, length)),
        Edge(f"{minus} armhole", tip * flip, controls[::-1] * flip),
        Edge(f"{minus} side", under * flip),
    ]
    radius = 2.02 * w / np.pi  # a little wider than the trunk of cloth: the sides start apart
    turn = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
    if name == "back":
        turn = np.diag([-1.0, -1, 1]) @ turn
    where = np.array([0, -radius if name == "front" else radius, height - length])
    return Panel(name, edges, placement=Placement(where, turn, radius))


def _sleeve(
    side: int,
    cap: Array,
    bends: Array,
    length: float,
    half_cuff: float,
    tip: Array,
    down: float,
    z: float,
) -> Panel:
    """The sleeve of the left (1) or the right arm (-1): x across, y up the arm, the tip of its cap at 0."""
    plus, minus = ("back", "front") if side > 0 else ("front", "back")
    flip = np.array([-1.0, 1.0])
    edges = [
        Edge("cuff", (-half_cuff, -length)),
        Edge(f"underarm {plus}", (half_cuff, -length)),
        Edge(f"cap {plus}", cap, bends),
        Edge(f"cap {minus}", (0, 0), bends[::-1] * flip),
        Edge(f"underarm {minus}", cap * flip),
    ]
    up_the_arm = np.array([-side * np.cos(down), 0, np.sin(down)])
    out = np.array([side * np.sin(down), 0, np.cos(down)])
    turn = np.column_stack([np.cross(up_the_arm, out), up_the_arm, out])
    radius = cap[0] / np.pi
    gap = 0.03  # beside the trunk, so that the sleeve starts apart from it
    start = np.array([side * tip[0], 0, tip[1] + z]) - gap * up_the_arm
    name = "left sleeve" if side > 0 else "right sleeve"
    return Panel(name, edges, placement=Placement(start, turn, radius * 1.02))


def _seams() -> list[Seam]:
    seams = []
    for side in ("left", "right"):
        for what in ("side", "shoulder"):
            seams.append(Seam(f"{side} {what}", [f"front.{side} {what}"], [f"-back.{side} {what}"]))
        first, second = ("front", "back") if side == "left" else ("back", "front")
        seams.append(
            Seam(
                f"{side} armhole",
                [f"{first}.{side} armhole", f"{second}.{side} armhole"],
                [f"-{side} sleeve.cap {first}", f"-{side} sleeve.cap {second}"],
            )
        )
        seams.append(
            Seam(f"{side} underarm", [f"{side} sleeve.underarm front"], [f"-{side} sleeve.underarm back"])
        )
    return seams
