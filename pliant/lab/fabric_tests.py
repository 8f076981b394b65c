"""Experiment: what a textile laboratory measures, on simulated specimens, against closed forms."""

from __future__ import annotations

import numpy as np

from ..materials import Fabric, fabrics
from .beams import TIP_LOAD, bending_frequency, tip_load
from .experiment import Experiment, Line, Plot, Table, Verdict
from .loops import HEIGHT, bending_length, loop
from .sheets import EXAMPLE, direction_modulus, woven_strip
from .specimens import critical, level_strip, pendulum, solid_cantilever
from .textile import ELASTICA, G, tensile_strip

Array = np.ndarray

CHORD = {30.0: 0.5879, 41.5: 0.4999, 45.0: 0.4763, 60.0: 0.3801}
"""Fall of the chord [deg]: bending length over overhang, c/L, of the inextensible heavy elastica."""


def chord(load: float, elements: int = 40) -> float:
    """How far the line from the edge to the tip of a level strip falls [deg], for w L^3/B."""
    x, drop = level_strip(load, elements)
    return float(np.degrees(np.arctan2(drop, x)))


def overhang(degrees: float = 41.5) -> float:
    """Overhang over bending length at which the chord falls by ``degrees``, by bisection."""
    low, high = 0.5, 5.0
    while high - low > 1e-4:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if chord(middle**3) < degrees else (low, middle)
    return 0.5 * (low + high)


def run(quick: bool = False) -> Experiment:
    """Pull, bias, cantilever, loops, column, swing, solid cantilever."""
    out = Experiment(
        "fabric_tests",
        "Fabric tests",
        "Strips are pulled along the yarns and on the bias, laid over an edge, looped, pressed, loaded at "
        "the tip and let swing; a bar of tetrahedra is bent. Each reading stands against the closed form of "
        "its material; what is off would be a law, a coefficient or a budget.",
        {"pull, bias": f"XPBD, {60 if quick else 120} and {40 if quick else 80} substeps of 1/1000 s",
         "tip load": f"XPBD, {100 if quick else 200} substeps of 1/240 s, 20 elements",
         "frequency": f"XPBD, {80 if quick else 160} substeps of 1/200 of the period, 20 elements",
         "cantilever, column, loops": "Newton, one step that lasts for ever, 40 to 60 elements",
         "order": "colored",
         "swing": "Newton, 200 steps a period, 30 elements", "dtype": "float64"},
    )  # fmt: skip
    _pull(out, quick)
    _cantilever(out)
    _loops(out)
    _column(out)
    _tip(out, quick)
    _swing(out, quick)
    _solid(out, (2, 4) if quick else (4, 8))
    return out


def _pull(out: Experiment, quick: bool) -> None:
    nu = [0.0, 0.3]
    found = tensile_strip(nu, 60 if quick else 120, cells=(16, 4)).readings
    for n, (extension, _), room in zip(nu, found, (0.01, 0.02), strict=True):
        source = "F L/(E t W), Hooke (T01)"
        out.verdicts.append(Verdict(f"tensile strip, nu = {n}: extension [m]", extension, 2e-3, room, source))
    source = "-eps_y/eps_x = nu, plane stress (T02)"
    out.verdicts.append(Verdict("tensile strip: contraction of its middle", found[1, 1], 0.3, 0.05, source))
    angles = [0.0, 90.0, 45.0]
    names = ("warp", "weft", "bias")
    read = woven_strip(EXAMPLE, angles, 40 if quick else 80).readings[:, 0]
    rows = []
    for name, angle, value in zip(names, angles, read, strict=True):
        exact = direction_modulus(EXAMPLE, angle)[0]
        rows.append((name, angle, value, exact))
        source = "1/E45 = (1/E1 + 1/E2 - 2 nu12/E1 + 1/G)/4, Jones (T05)" if angle == 45 else "Hooke (T05)"
        out.verdicts.append(Verdict(f"strip along the {name}: E t [N/m]", value, exact, 0.03, source))
    heads = ("strip", "angle to the warp [deg]", "E t [N/m]", "closed form [N/m]")
    out.tables.append(Table("Woven strips", heads, rows))


def _cantilever(out: Experiment) -> None:
    source = "boundary value problem of the heavy elastica ({})"
    for degrees, ratio in CHORD.items():
        row = "B02" if degrees == 41.5 else "B03"
        angle = chord(ratio**-3)
        out.verdicts.append(
            Verdict(f"cantilever, overhang c/{ratio}: fall of the chord [deg]", angle, degrees, 1.0,
                    source.format(row), absolute=True)
        )  # fmt: skip
    length = overhang()
    out.verdicts.append(
        Verdict("cantilever, 41.5 deg: overhang over bending length", length, 2.0, 0.02,
                "c = L/2, rule of ASTM D1388 (B02)")
    )  # fmt: skip
    drop = level_strip(0.05)[1]
    out.verdicts.append(
        Verdict("cantilever, small: drop/L at w L^3/B = 0.05", drop, 0.05 / 8, 0.01, "w L^3/(8 B) (B05, C02)")
    )
    rows = [_by_cantilever(fabric, length) for fabric in vars(fabrics).values()]
    heads = ("fabric", "c = (B/w)^(1/3) [mm]", "overhang at 41.5 deg [mm]", "B of the fabric [N m]",
             "B = w (L/2)^3 as measured [N m]")  # fmt: skip
    out.tables.append(Table("Fabrics on the cantilever tester", heads, rows))
    loads = list(ELASTICA)
    places = [load ** (1 / 3) for load in loads]
    exact = [float(np.degrees(np.arctan2(drop, x))) for x, drop in ELASTICA.values()]
    seen = [chord(load) for load in loads]
    lines = [Line("simulated", places, seen), Line("heavy elastica", places, exact, True)]
    out.plots.append(Plot("Strip over an edge", "overhang over c", "fall of the chord [deg]", lines))


def _by_cantilever(fabric: Fabric, ratio: float) -> tuple[str, float, float, float, float]:
    weight = fabric.areal_density * G
    c = (fabric.bending_rigidity / weight) ** (1 / 3)
    return fabric.name, 1e3 * c, 1e3 * ratio * c, fabric.bending_rigidity, weight * (0.5 * ratio * c) ** 3


def _loops(out: Experiment) -> None:
    for kind, row in (("heart", "B06"), ("pear", "B07")):
        source = f"closed elastica, Peirce 1930 ({row})"
        height = loop(kind)
        out.verdicts.append(
            Verdict(f"{kind} loop without weight: height over length", height, HEIGHT[kind], 0.01, source)
        )
    for c in (0.2, 0.12):
        read = bending_length(loop("heart", c=c)) / c
        source = "c = l0 (cos a/tan a)^(1/3), Peirce's formula in ASTM D1388 option B (B08)"
        out.verdicts.append(Verdict(f"heart loop, c/L = {c:g}: c as read over c", read, 1.0, 0.05, source))


def _column(out: Experiment) -> None:
    own = critical(True, (6.5, 7.3)) ** (1 / 3)
    out.verdicts.append(
        Verdict("upright strip: length over c at which it buckles", own, 7.837 ** (1 / 3), 0.03,
                "w L^3/B = 7.837, Greenhill 1881 (B11)")
    )  # fmt: skip
    out.verdicts.append(
        Verdict("pressed strip, clamped-free: P L^2/B at which it buckles", critical(False, (2.0, 2.3)),
                np.pi**2 / 4, 0.03, "P = pi^2 B/(4 L^2), Euler (B12)")
    )  # fmt: skip


def _tip(out: Experiment, quick: bool) -> None:
    loads = [0.1, 1.0, 5.0] if quick else list(TIP_LOAD)
    found = tip_load(loads, 100 if quick else 200).readings
    rows = []
    for load, (drop, short) in zip(loads, found, strict=True):
        rows.append((load, drop, TIP_LOAD[load][0], short, TIP_LOAD[load][1]))
        for what, value, exact in zip(("drop", "shortening"), (drop, short), TIP_LOAD[load], strict=True):
            source = "Bisshopp & Drucker 1945; Mattiasson 1981 (C04)"
            text = f"strip, F L²/B = {load:g} at the tip: {what}/L"
            out.verdicts.append(Verdict(text, value, exact, 0.01, source, absolute=True))
    exact, source = loads[0] / 3, "F L^3/(3 B), Euler-Bernoulli (C01)"
    out.verdicts.append(Verdict("strip, small load at the tip: drop/L", found[0, 0], exact, 0.03, source))
    heads = ("F L²/B", "drop/L", "exact", "shortening/L", "exact")
    out.tables.append(Table("Load at the tip of a strip", heads, rows))


def _swing(out: Experiment, quick: bool) -> None:
    substeps = 80 if quick else 160
    frequency = bending_frequency(substeps, periods=1)
    source = "1.8751²/(2 pi) sqrt(B/(rho_A L^4)) (C07)"
    out.verdicts.append(Verdict("strip, first bending frequency over theory's", frequency, 1.0, 0.03, source))
    source = "4 pi sqrt(L/g)/2.40483, Bernoulli's hanging chain (D04)"
    out.verdicts.append(Verdict("limp strip, period over theory's", pendulum(True), 1.0, 0.02, source))
    source = "2 pi sqrt(2 L/(3 g)), rod about its end (D05)"
    out.verdicts.append(Verdict("stiff strip, period over theory's", pendulum(False), 1.0, 0.01, source))


def _solid(out: Experiment, cells: tuple[int, int]) -> None:
    rows = []
    for load, room in ((0.1, 0.03), (1.0, 0.03), (5.0, 0.03)):
        exact = TIP_LOAD[load][0]
        coarse, fine = (exact / solid_cantilever(load, n)[0] for n in cells)
        limit = (cells[1] ** 2 * fine - cells[0] ** 2 * coarse) / (cells[1] ** 2 - cells[0] ** 2)
        rows.append((load, coarse, fine, limit))
        source = "F L^3/(3 E I) (C01)" if load == 0.1 else "Mattiasson 1981 (C04)"
        text = f"bar of tetrahedra, F L²/(E I) = {load:g}: load over drop, extrapolated, over theory's"
        out.verdicts.append(Verdict(text, float(limit), 1.0, room, source))
    heads = ("F L²/(E I)", *(f"{n} cells over the height" for n in cells), "extrapolated, error ~ 1/n²")
    out.tables.append(Table("Load over drop of a bar, over theory's", heads, rows))
