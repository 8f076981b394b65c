"""From what a textile laboratory measured to a fabric, with what the fabric gets wrong listed.

Each test has an argument in the unit that its instrument prints. Bending by KES-FB2 (pure bending), by FAST-2
and by ASTM D1388 (cantilever, Peirce 1930: B = W g c^3); tension by KES-FB1 and FAST-1, as secants at their
loads; shear by KES-FB1 and by FAST's extension on the bias.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from .errors import SceneError
from .materials import KES_B, Fabric

G = 9.81
"""[m/s^2]"""

GF_PER_CM = 0.980665
"""1 gf/cm in N/m."""

KES_G = GF_PER_CM * 180 / np.pi
"""1 gf/(cm degree) in N/m per radian."""

LOADS = {"fast_e5": 5.0, "fast_e20": 20.0, "fast_e100": 100.0, "kes_emt": 500.0}
"""Load [gf/cm] at which an extension is read."""

Value = float | Sequence[float] | None


@dataclass(frozen=True)
class Residual:
    """One reading beside what the fabric would show: argument, direction ("warp", "weft", ""), both, unit."""

    test: str
    direction: str
    measured: float
    fitted: float
    unit: str

    @property
    def relative(self) -> float:
        """fitted/measured - 1."""
        return self.fitted / self.measured - 1


@dataclass(frozen=True)
class MaterialFit:
    """A fabric, the residual of every reading, and which of its values no reading has fixed."""

    fabric: Fabric
    residuals: tuple[Residual, ...]
    assumed: tuple[str, ...]

    def __str__(self) -> str:
        rows = [("reading", "measured", "fabric shows", "off")]
        rows += [
            (f"{r.test} {r.direction}".strip(), f"{r.measured:.4g} {r.unit}", f"{r.fitted:.4g}",
             f"{100 * r.relative:+.1f} %")
            for r in self.residuals
        ]  # fmt: skip
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        lines = ["  ".join(c.ljust(n) for c, n in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([self.fabric.name, *lines, f"assumed: {', '.join(self.assumed)}"])


@dataclass(frozen=True)
class _Reading:
    """A reading, the stiffness that it means alone, and what a stiffness would have read."""

    test: str
    direction: str
    value: float
    unit: str
    stiffness: float
    shows: Callable[[float], float]


def fit_material(
    name: str = "fabric",
    *,
    areal_density: float,
    thickness: float,
    kes_b: Value = None,
    fast_c: Value = None,
    fast_b: Value = None,
    d1388_length: Value = None,
    d1388_overhang: Value = None,
    kes_emt: Value = None,
    fast_e5: Value = None,
    fast_e20: Value = None,
    fast_e100: Value = None,
    tensile_stiffness: Value = None,
    kes_g: float | None = None,
    fast_eb5: float | None = None,
    poisson_ratio: float | None = None,
    **others: Any,
) -> MaterialFit:
    """The fabric that comes nearest to what was measured.

    Bending and tension take one number, or (warp, weft).

    areal_density        [kg/m^2]
    thickness            [m]
    kes_b                bending rigidity B, KES-FB2 [gf cm^2/cm]
    fast_c, fast_b       bending length, FAST-2 [mm]; bending rigidity that it prints [uN m]
    d1388_length         bending length c, ASTM D1388 option A [mm]; d1388_overhang: the overhang, 2 c [mm]
    kes_emt              extension at 500 gf/cm, KES-FB1 [%]
    fast_e5, _e20, _e100 extension at 5, 20, 100 gf/cm, FAST-1 [%]
    tensile_stiffness    E t of any strip test [N/m]
    kes_g                shear stiffness, KES-FB1 [gf/(cm degree)]
    fast_eb5             extension on the bias at 5 gf/cm, FAST-3 [%]
    poisson_ratio        contraction of the weft for a pull along the warp; 0.3 where it is not given
    others               values of :class:`pliant.Fabric`: damping_time, friction, strain_limit, source

    At least one bending and one tensile reading are needed. Several readings of one stiffness give their
    geometric mean, which spreads the error evenly; a pair of bending readings also does, since a fabric bends
    alike along warp and weft. SceneError where readings contradict each other: bending or shear by different
    tests differ by more than a factor of 2, one test's own numbers by more than 5 %, an extension falls as
    the load grows, the bias is stiffer than its yarns allow, or weight and thickness fit no textile.
    """
    given = {k: v for k, v in locals().items() if k not in ("name", "others")}
    _check_cloth(name, areal_density, thickness)
    nu = 0.3 if poisson_ratio is None else poisson_ratio
    bending = _bending(name, given, areal_density * G)
    tension = _tension(name, given)
    rigidity = _mean(bending)
    along = [_mean([r for r in tension if r.direction in (way, "")]) for way in ("warp", "weft")]
    two = any(r.direction for r in tension)
    shear = _shear(name, given, along, nu)
    values: dict[str, Any] = {
        "name": name,
        "areal_density": areal_density,
        "thickness": thickness,
        "youngs_modulus": along[0] / thickness,
        "poisson_ratio": nu,
        "bending_rigidity": rigidity,
        "weft_modulus": along[1] / thickness if two else None,
        "shear_modulus": _mean(shear) / thickness if shear else None,
    }
    taken = sorted(set(values) & set(others))
    if taken:
        raise SceneError(f'material "{name}": {", ".join(taken)} follows from the readings, leave it out')
    fabric = Fabric().with_(**values, **others)
    found = [_residual(r, rigidity) for r in bending]
    found += [_residual(r, along[1] if r.direction == "weft" else along[0]) for r in tension]
    found += [_residual(r, fabric.shear * thickness) for r in shear]
    assumed = ["poisson_ratio"] * (poisson_ratio is None) + ["shear_modulus"] * (not shear)
    assumed += [key for key in ("damping_time", "friction") if key not in others]
    return MaterialFit(fabric, tuple(found), tuple(assumed))


def _check_cloth(name: str, areal_density: float, thickness: float) -> None:
    for key, value, unit, other in (
        ("areal_density", areal_density, "kg/m^2", "g/m^2"),
        ("thickness", thickness, "m", "mm"),
    ):
        _positive(name, key, value)
        most = 5.0 if key == "areal_density" else 0.03
        if value > most:
            raise SceneError(
                f'material "{name}": {key} is {value:g} {unit}, no cloth has that; was it {other}?'
            )
    density = areal_density / thickness
    if not 10 < density < 3000:
        raise SceneError(
            f'material "{name}": areal_density {areal_density:g} kg/m^2 and thickness {thickness:g} m '
            f"contradict each other: {density:.4g} kg/m^3, where textiles have 10 to 3000; check their units"
        )


def _positive(name: str, key: str, value: Any) -> None:
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not (number and np.isfinite(value) and value > 0):
        raise SceneError(f'material "{name}": {key} is {value!r}, it must be a number greater than 0')


def _directions(name: str, key: str, value: Value) -> list[tuple[str, float]]:
    """("", number), or the numbers of warp and weft."""
    if value is None:
        return []
    if isinstance(value, (tuple, list, np.ndarray)):
        if len(value) != 2:
            raise SceneError(f'material "{name}": {key} has {len(value)} values, give one or (warp, weft)')
        pairs = list(zip(("warp", "weft"), value, strict=True))
    else:
        pairs = [("", value)]
    for way, number in pairs:
        _positive(name, f"{key} {way}".strip(), number)
    return [(way, float(number)) for way, number in pairs]


def _bending(name: str, given: dict[str, Any], weight: float) -> list[_Reading]:
    """weight: W g [N/m^2]."""

    def length(factor: float) -> tuple[Callable[[float], float], Callable[[float], float]]:
        return lambda v: weight * (v * factor) ** 3, lambda b: (b / weight) ** (1 / 3) / factor

    tests: dict[str, tuple[str, Callable[[float], float], Callable[[float], float]]] = {
        "kes_b": ("gf cm^2/cm", lambda v: v * KES_B, lambda b: b / KES_B),
        "fast_b": ("uN m", lambda v: v * 1e-6, lambda b: b * 1e6),
        "fast_c": ("mm", *length(1e-3)),
        "d1388_length": ("mm", *length(1e-3)),
        "d1388_overhang": ("mm", *length(0.5e-3)),
    }
    found = [
        _Reading(key, way, value, unit, into(value), back)
        for key, (unit, into, back) in tests.items()
        for way, value in _directions(name, key, given[key])
    ]
    if not found:
        raise SceneError(f'material "{name}": no reading of bending; give one of {", ".join(tests)}')
    _agree(name, found, "N m")
    return found


def _tension(name: str, given: dict[str, Any]) -> list[_Reading]:
    found = []
    for key, load in LOADS.items():
        pull = 100 * load * GF_PER_CM  # N/m for an extension of 1 %
        for way, value in _directions(name, key, given[key]):
            found.append(
                _Reading(key, way, value, f"% at {load:g} gf/cm", pull / value, lambda k, p=pull: p / k)  # type: ignore[misc]
            )
    for way in ("warp", "weft"):
        row = [r for r in found if r.direction in (way, "")]
        for a, b in pairwise(row):
            if b.value < a.value:
                raise SceneError(
                    f'material "{name}": {a.test} and {b.test} contradict each other along the {way}: '
                    f"{a.value:g} {a.unit} but {b.value:g} {b.unit}; more load lengthens cloth"
                )
    found += [
        _Reading("tensile_stiffness", way, value, "N/m", value, lambda k: k)
        for way, value in _directions(name, "tensile_stiffness", given["tensile_stiffness"])
    ]
    ways = {r.direction for r in found}
    if not found or ways in ({"warp"}, {"weft"}):
        tests = ", ".join([*LOADS, "tensile_stiffness"])
        raise SceneError(f'material "{name}": no reading of tension along warp and weft; give one of {tests}')
    return found


def _shear(name: str, given: dict[str, Any], along: list[float], nu: float) -> list[_Reading]:
    found = []
    if given["kes_g"] is not None:
        _positive(name, "kes_g", given["kes_g"])
        g = float(given["kes_g"])
        found.append(_Reading("kes_g", "", g, "gf/(cm deg)", g * KES_G, lambda s: s / KES_G))
    if given["fast_eb5"] is not None:
        _positive(name, "fast_eb5", given["fast_eb5"])
        bias, pull = float(given["fast_eb5"]), 100 * 5 * GF_PER_CM
        # 1/E45 = (1/E1 + 1/E2 - 2 nu/E1 + 1/G)/4 (Jones); FAST's own G = 123/EB5 leaves the yarns' part out
        yarns = 1 / along[0] + 1 / along[1] - 2 * nu / along[0]
        left = 4 * bias / pull - yarns
        if left <= 0:
            raise SceneError(
                f'material "{name}": fast_eb5 {bias:g} % contradicts the tensile readings, whose yarns '
                f"alone give {pull * yarns / 4:.3g} % on the bias; take them at 5 gf/cm, too (fast_e5)"
            )
        found.append(
            _Reading("fast_eb5", "", bias, "% at 5 gf/cm", 1 / left, lambda s: (1 / s + yarns) * pull / 4)
        )
    _agree(name, found, "N/m")
    return found


SAME_TEST = ({"fast_b", "fast_c"}, {"d1388_length", "d1388_overhang"})


def _agree(name: str, found: list[_Reading], unit: str) -> None:
    """Refuse readings of one stiffness that cannot both be right."""
    for k, a in enumerate(found):
        for b in found[:k]:
            if a.direction and b.direction and a.direction != b.direction:
                continue
            limit = 1.05 if {a.test, b.test} in SAME_TEST else 2.0
            ratio = max(a.stiffness / b.stiffness, b.stiffness / a.stiffness)
            if ratio > limit:
                raise SceneError(
                    f'material "{name}": {b.test} {b.value:g} {b.unit} means {b.stiffness:.4g} {unit} and '
                    f"{a.test} {a.value:g} {a.unit} means {a.stiffness:.4g} {unit}; they contradict each "
                    f"other: a factor of {ratio:.3g}, {limit:g} is the most; check units and directions"
                )


def _mean(readings: list[_Reading]) -> float:
    return float(np.exp(np.mean([np.log(r.stiffness) for r in readings])))


def _residual(r: _Reading, stiffness: float) -> Residual:
    return Residual(r.test, r.direction, r.value, float(r.shows(stiffness)), r.unit)
