"""Rows about symmetry: other numbers for the vertices, other units for the quantities."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ...model import Block, Model, Part
from ...scene import Scene
from .case import DT, Case, Run, distinct, row
from .report import Finding
from .specimens import SHEETS, SI, Units, dress, two_sheets

Array = np.ndarray


def renumbered(model: Model, new: Array) -> Model:
    """The model with particle ``i`` called ``new[i]``; constraints, colours and pins keep their order.

    Particles must stay within their part.
    """
    old = np.argsort(new)

    def block(b: Block) -> Block:
        return replace(b, ids=new[b.ids].astype(b.ids.dtype))

    def part(p: Part) -> Part:
        return replace(p, triangles=(new[p.triangles + p.start] - p.start).astype(p.triangles.dtype))

    return replace(
        model,
        **{
            k: getattr(model, k)[old]
            for k in ("x_rest", "v_start", "mass", "inv_mass", "contact_radius", "body")
        },
        pin_ids=new[model.pin_ids],
        blocks={law: block(b) for law, b in model.blocks.items()},
        parts=tuple(map(part, model.parts)),
    )


@row()
def renumbering(case: Case) -> Finding:
    """Numbering the vertices otherwise permutes the answer.

    Claimed "bitwise": the constraints keep their order and 4 steps with contact give the same bits
    (measured: numbers that differ). Claimed "tolerance": within sqrt(eps) of the extent.
    """
    return renumbers(case, two_sheets(contact=case.contact))


def renumbers(case: Case, scene: Scene) -> Finding:
    """:func:`renumbering` of a scene."""
    base = case.run(scene)
    dress(base, case)
    parts = base.model.parts
    new = np.concatenate([p.start + np.argsort(case.random(p.stop - p.start)) for p in parts])
    old = np.argsort(new)
    other = Run(case.solver, renumbered(base.model, new), DT)
    other.state.set_x(base.state.x[:, old])
    other.state.set_v(base.state.v[:, old])
    control = base.control.arrays()
    control["f_ext"] = control["f_ext"][:, old]
    other.control.restore(control)
    base.step(4)
    other.step(4)
    if case.solver.claims.renumbering == "bitwise":
        count = distinct(other.state.x[:, new], base.state.x) + distinct(other.state.v[:, new], base.state.v)
        return Finding(count, 0, "numbers that differ")
    extent = float(np.abs(base.model.x_rest).max())
    error = float(np.abs(other.x[:, new] - base.x).max()) / extent
    return Finding(error, float(np.sqrt(case.eps)), "of the extent")


def _in_units(case: Case, units: Units, contact: bool, steps: int, sheets: Any = two_sheets) -> Run:
    run = case.run(sheets(units, contact=contact), DT * units.time)
    dress(run, case, units=units)
    run.step(steps)
    return run


@row()
def units_powers_of_two(case: Case) -> Finding:
    """Length times 4, time times 2, mass times 8: every position and speed scales exactly, contact included.

    Powers of two change no mantissa, so any difference is an absolute length, time or mass hidden in the
    scene, the solver or the contacts. Measured: numbers that differ after 4 steps of two pairs of sheets.
    """
    return scales_exactly(case, SHEETS)


def scales_exactly(case: Case, specimens: Iterable[Callable[..., Scene]]) -> Finding:
    """:func:`units_powers_of_two` of specimens, each a function of units."""
    units, count = Units(4.0, 2.0, 8.0), 0
    kind = np.dtype(case.dtype).type
    for sheets in specimens:
        one, other = (_in_units(case, u, case.contact, 4, sheets) for u in (SI, units))
        x = one.state.x * kind(units.length)
        v = one.state.v * kind(units.length / units.time)
        count += distinct(other.state.x + kind(0), x + kind(0))
        count += distinct(other.state.v + kind(0), v + kind(0))
    return Finding(count, 0, "numbers that differ")


@row()
def units_any_factor(case: Case) -> Finding:
    """Other factors scale to rounding: within 1e-9 of the extent after 3 steps without contact.

    In float32, n substeps that each round positions and speeds drift by at most n^2 eps.
    """
    units = Units(3.7, 0.31, 1.9)
    one, other = (_in_units(case, u, False, 3) for u in (SI, units))
    extent = float(np.abs(one.model.x_rest).max())
    error = float(np.abs(other.x / units.length - one.x).max()) / extent
    n = round(3 * one.dt / one.h)
    return Finding(error, max(1e-9, n**2 * case.eps), "of the extent")


ROWS = (renumbering, units_powers_of_two, units_any_factor)
