"""The conformance suite: the solvers of Pliant hold it, and no row of it can be passed by accident."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

from pliant.backend.threads import get_threads
from pliant.errors import PliantError, SolverError
from pliant.lab.conformance import ROWS, Finding, Report, Result, bits, check_solver
from pliant.protocol import Claims, Protocol, Status
from pliant.solvers.xpbd.solver import PBD, XPBD

BATCHES = (1, 5, 64)
ONE = {"dtypes": ("float64",), "worlds": (5,)}  # enough where the suite itself is on trial


def failed(report: Report) -> str:
    return "\n".join(f"{r.name} {r.dtype} {r.worlds}: {r.finding}" for r in report.failures)


@pytest.mark.parametrize(
    ("dtype", "worlds"),
    [
        ("float64", 1),
        ("float64", 5),
        ("float32", 1),
        ("float32", 64),
        pytest.param("float64", 64, marks=pytest.mark.slow),  # the same kernels as at 5, and a minute
        pytest.param("float32", 5, marks=pytest.mark.slow),
    ],
)
def test_xpbd_holds(dtype: str, worlds: int) -> None:
    report = check_solver(XPBD(), (dtype,), (worlds,))
    assert {r.name for r in report.rows} == {row.name for row in ROWS if row.applies(worlds)}
    assert report.ok, failed(report)
    assert report.count("not claimed") == 1  # stable_any_step


def test_every_row_applies_to_some_batch() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS) > 30
    assert all(any(row.applies(w) for w in BATCHES) for row in ROWS)


@pytest.mark.parametrize("solver", [XPBD(order="sequential"), XPBD(substeps=4, iterations=5)], ids=repr)
def test_other_settings_hold(solver: XPBD) -> None:
    report = check_solver(solver, **ONE)
    assert report.ok, failed(report)


def test_pbd_holds_what_it_claims_and_no_more() -> None:
    report = check_solver(PBD(), **ONE)
    assert report.ok, failed(report)
    statics = [r for r in report.rows if r.name in ("one_spring", "hung_weight", "chain_sag", "sheet_sag")]
    assert [r.outcome for r in statics] == ["not claimed"] * 4
    assert not any(r.finding.holds for r in statics)
    boastful = replace(PBD(), claims=XPBD().claims)
    assert {r.name for r in check_solver(boastful, **ONE).failures} >= {r.name for r in statics}


# --- planted faults: XPBD, and one thing that it must not do --------------------------------------

FAULTS: dict[str, tuple[XPBD, tuple[str, ...]]] = {}
"""Name of a fault: a solver that has it, the rows that must fail for it."""


def plant(name: str, rows: str, claims: Claims | None = None, **methods: Any) -> None:
    made = type(name.title().replace(" ", ""), (XPBD,), methods)
    FAULTS[name] = (made() if claims is None else made(claims=claims), tuple(rows.split()))


def after(change: Callable[..., Any]) -> Callable[..., Any]:
    """A step that ends with ``change(model, state, control, ws, info)``."""

    def step(
        self: Any, model: Any, state: Any, control: Any, ws: Any, dt: float, report: str = "status"
    ) -> Any:
        info = XPBD.step(self, model, state, control, ws, dt, report)
        change(model, state, control, ws, info)
        return info

    return step


def instead(change: Callable[..., Any]) -> Callable[..., Any]:
    """The step of what ``change(solver, model, state, control, dt)`` returns: solver, model and dt."""

    def step(
        self: Any, model: Any, state: Any, control: Any, ws: Any, dt: float, report: str = "status"
    ) -> Any:
        solver, model, dt = change(self, model, state, control, dt)
        return XPBD.step(solver, model, state, control, ws, dt, report)

    return step


def made_of(change: Callable[..., Any]) -> Callable[..., Any]:
    """An ``init`` that sees another model."""
    return lambda self, model: XPBD.init(self, change(model))


def free(m: Any) -> Any:
    return np.flatnonzero(m.inv_mass > 0)


def add_v(m: Any, s: Any, c: Any, ws: Any, info: Any) -> None:
    s.v_lanes[:, free(m), 2] += 1e-7


def turn(m: Any, s: Any, c: Any, ws: Any, info: Any) -> None:
    x, y = s.x_lanes[:, :, 0].copy(), s.x_lanes[:, :, 1].copy()
    s.x_lanes[:, :, 0] -= 1e-6 * y
    s.x_lanes[:, :, 1] += 1e-6 * x


def slow(m: Any, s: Any, c: Any, ws: Any, info: Any) -> None:
    s.v_lanes *= 0.999


def swell(m: Any, s: Any, c: Any, ws: Any, info: Any) -> None:
    s.x_lanes *= 3


plant(
    "tiny push",
    "rest_flat rest_curved free_fall linear_momentum solid_rest solid_free_fall solid_momentum",
    step=after(add_v),
)
plant("turned", "angular_momentum solid_angular_momentum", step=after(turn))
plant("long step", "free_fall one_spring", step=instead(lambda s, m, x, c, dt: (s, m, dt * (1 + 1e-6))))
plant("slowed", "spin_loss solid_spin free_fall linear_momentum", step=after(slow))
plant("swells", "stable_any_step", Claims(stable_any_step=True), step=after(swell))


def softer(m: Any) -> Any:
    return replace(m, blocks={k: replace(b, compliance=1.1 * b.compliance) for k, b in m.blocks.items()})


def lighter(s: Any, m: Any, x: Any, c: Any, dt: float) -> Any:
    c.set_gravity((1 - 1e-3 * m.air_drag) * m.gravity)
    return s, m, dt


def alike(s: Any, m: Any, x: Any, c: Any, dt: float) -> Any:
    c.gravity[:] = c.gravity[:1, :, :1]
    return s, m, dt


def held_at_once(s: Any, m: Any, x: Any, c: Any, dt: float) -> Any:
    c.attachment_start[:] = c.attachment_targets
    return s, m, dt


plant("softer", "hung_weight one_spring chain_sag sheet_sag", init=made_of(softer))
plant("deaf to its budget", "chain_sag sheet_sag", step=instead(lambda s, m, x, c, dt: (XPBD(5), m, dt)))
plant(
    "drag on rest",
    "hung_weight_in_air",
    step=instead(lighter),
)
plant("sign of lambda", "chain_forces sheet_forces", multipliers=lambda *a: -XPBD.multipliers(*a))
RELAXED = XPBD(relaxation=0.5)
object.__setattr__(RELAXED, "claims", XPBD().claims)  # it knows better than to claim this itself
FAULTS["relaxed"] = (RELAXED, ("hung_weight", "one_spring"))


def leak(m: Any, s: Any, c: Any, ws: Any, info: Any) -> None:
    ids = m.pin_ids
    s.x_lanes[:, ids] = np.nextafter(s.x_lanes[:, ids], np.inf)


def jump(s: Any, m: Any, x: Any, c: Any, dt: float) -> Any:
    x.x_lanes[:, m.pin_ids] = c.pin_targets
    return s, m, dt


plant("leaky pins", "pins_never_move targets_are_hit solid_pins", step=after(leak))
plant("pins jump", "moving_end", step=instead(jump))
plant("attachments jump", "moving_end", step=instead(held_at_once))
plant("one gravity", "gravity_per_world", step=instead(alike))
plant("mute", "protocol_is_stated", protocol=lambda self, m, dt: Protocol("mute", 1 / 60, dtype="float64"))


def thicker_air(m: Any) -> Any:
    return m if m.faces is None else replace(m, faces=replace(m.faces, air=1.1 * m.faces.air))


def leaky_gas(m: Any, s: Any, c: Any, ws: Any, info: Any) -> None:
    s.v_lanes[:, 0] += 1e-6 * len(m.pressures)


def one_pressure(s: Any, m: Any, x: Any, c: Any, dt: float) -> Any:
    c.pressure[:] = c.pressure[:1, :, :1]
    return s, m, dt


plant("thick air", "broadside_fall", init=made_of(thicker_air))
plant("leaky gas", "pressure_is_internal", step=after(leaky_gas))
plant("one pressure", "faces_bits", step=instead(one_pressure))


def friction(static: float, kinetic: float | None) -> Callable[..., Any]:
    def change(m: Any) -> Any:
        c = m.colliders
        low = c.mu_kinetic * (static if kinetic is None else kinetic)
        return replace(
            m,
            colliders=replace(c, mu_static=low if kinetic is None else static * c.mu_static, mu_kinetic=low),
        )

    return made_of(change)


plant("slippery", "incline_sticks incline_slides incline_kinetic_friction", init=friction(0.97, 0.97))
plant("sticky", "incline_moves", init=friction(1.03, 1.03))
plant("one friction", "incline_static_friction", init=friction(1.0, None))
plant(
    "sinks", "rests_on_the_floor", init=made_of(lambda m: replace(m, contact_radius=0.5 * m.contact_radius))
)


def no_floor(m: Any) -> Any:
    return replace(m, contact_radius=m.contact_radius - 1e-4 * (m.contact_radius == 0))


plant("soft floor", "solid_on_the_floor", init=made_of(no_floor))


def creep(m: Any, s: Any, c: Any, ws: Any, info: Any) -> None:
    s.x_lanes[:, free(m)] += 1e-9


def number(m: Any, s: Any, c: Any, ws: Any, info: Any) -> None:
    s.x_lanes[:] += 1e-12 * np.arange(m.n_particles)[:, None, None]


plant("absolute length", "units_powers_of_two units_any_factor solid_units", step=after(creep))
plant("numbers matter", "renumbering solid_renumbering", step=after(number))


def remember(m: Any, s: Any, c: Any, ws: Any, info: Any) -> None:
    ws.age = getattr(ws, "age", 0) + 1
    s.x_lanes[:] += 1e-12 * ws.age


def mix(m: Any, s: Any, c: Any, ws: Any, info: Any) -> None:
    s.x_lanes[..., -1] += 1e-12 * s.x_lanes[..., 0]
    s.x_lanes[..., 0] += 1e-12 * s.x_lanes[..., m.n_worlds // 2]


def shared(m: Any, s: Any, c: Any, ws: Any, info: Any) -> None:
    s.x_lanes[:] += 1e-12 * get_threads()


def silent(*bits: Status) -> Callable[..., Any]:
    def change(m: Any, s: Any, c: Any, ws: Any, info: Any) -> None:
        for bit in bits:
            info.status &= ~int(bit)

    return change


def hoard(m: Any, s: Any, c: Any, ws: Any, info: Any) -> None:
    ws.log = [*getattr(ws, "log", []), np.zeros(100)]


def waste(m: Any, s: Any, c: Any, ws: Any, info: Any) -> None:
    s.x_lanes[:] = s.x_lanes * 2 * 0.5


plant(
    "remembers",
    "masked_reset saved_and_resumed faces_state bits_run_to_run solid_reset solid_saved_and_resumed",
    step=after(remember),
)
plant("mixes worlds", "bits_batch non_finite_is_isolated solid_bits", step=after(mix))
plant("counts threads", "bits_threads bits_threads_in_a_colour solid_bits_in_a_colour", step=after(shared))
plant(
    "any dt",
    "non_finite_is_refused",
    step=instead(lambda s, m, x, c, dt: (s, m, dt if 0 < dt < 1e9 else 0.01)),
)
plant("no bad news", "non_finite_is_isolated", step=after(silent(Status.NONFINITE)))
plant("thaws", "non_finite_is_isolated", step=after(silent(Status.FROZEN)))
plant("grows silently", "growth_is_reported", step=after(silent(Status.CONTACT_GREW)))
plant("hoards", "nothing_is_kept", step=after(hoard))
plant("wasteful", "nothing_large_is_made", step=after(waste))


def test_a_relaxed_solver_does_not_claim_the_static_answer() -> None:
    assert XPBD().claims.single_constraint_static
    assert not XPBD(relaxation=0.5).claims.single_constraint_static


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(name: str) -> None:
    solver, rows = FAULTS[name]
    report = check_solver(solver, **ONE, names=rows)
    if name == "counts threads" and report.count("skipped"):
        pytest.skip(report.rows[0].finding.skipped)
    assert {r.name for r in report.failures} == set(rows), f"{report}"
    with pytest.raises(SolverError, match=rows[0]):
        report.raise_on_failure()


def test_every_row_is_tripped_by_some_fault() -> None:
    assert {row for _, rows in FAULTS.values() for row in rows} == {row.name for row in ROWS}


# --- strangers, the report, the page --------------------------------------------------------------


class Stranger:
    """Not one of ours, no dataclass: all that the contract asks for, nothing else."""

    claims = Claims(momentum=True, single_constraint_static=True)

    def __init__(self, **parameters: int) -> None:
        self._inner = XPBD(**parameters)

    def protocol(self, model: Any, dt: float) -> Protocol:
        return replace(self._inner.protocol(model, dt), solver="Stranger")

    def init(self, model: Any) -> Any:
        return {"ours": self._inner.init(model)}

    def step(self, model: Any, state: Any, control: Any, ws: Any, dt: float, report: str = "status") -> Any:
        return self._inner.step(model, state, control, ws["ours"], dt, report)

    def multipliers(self, model: Any, ws: Any, law: str) -> Any:
        return self._inner.multipliers(model, ws["ours"], law)


def test_a_strangers_solver_runs_through() -> None:
    names = [row.name for row in ROWS if row.name not in ("chain_sag", "bits_threads_in_a_colour")]
    report = check_solver(Stranger(substeps=4), **ONE, names=names)
    assert report.ok, failed(report)
    assert "its only budgets" in next(r.finding.note for r in report.rows if r.name == "hung_weight")
    assert report.count("not claimed") > 2  # it does not claim to be deterministic
    assert "angular_momentum" in [r.name for r in report.rows if r.outcome == "skipped"]  # 4 substeps, fixed


def test_an_error_inside_a_row_makes_it_fail() -> None:
    def broken(*_: Any) -> Any:
        raise SolverError("no such law here")

    solver = type("Broken", (XPBD,), {"step": broken})()
    report = check_solver(solver, **ONE, names=["rest_flat", "stable_any_step"])
    assert [r.outcome for r in report.rows] == ["failed", "not claimed"]
    assert "SolverError: no such law here" in str(report)


def test_what_the_machine_cannot_measure_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_core(n: int) -> None:
        if n > 1:
            raise PliantError("one core")

    monkeypatch.setattr(bits, "set_threads", one_core)
    monkeypatch.setattr(bits, "get_threads", lambda: 1)
    report = check_solver(XPBD(), **ONE, names=["bits_threads"])
    assert report.ok
    assert report.rows[0].outcome == "skipped"
    assert "one core" in str(report)


def test_threads_are_put_back() -> None:
    threads = get_threads()
    check_solver(XPBD(), **ONE, names=["bits_threads"])
    assert get_threads() == threads


def test_report_is_plain_data_and_a_table() -> None:
    report = check_solver(XPBD(), **ONE, names=["rest_flat", "incline_moves"])
    data = json.loads(json.dumps(report.to_dict()))
    assert data["ok"] is True
    assert [(r["name"], r["outcome"], r["at_least"]) for r in data["rows"]] == [
        ("rest_flat", "passed", False),
        ("incline_moves", "passed", True),
    ]
    lines = str(report).splitlines()
    assert len(lines) == 5
    assert "2 passed" in lines[-1]
    assert ">=" in lines[3]
    report.raise_on_failure()


def test_a_number_that_is_none_never_holds() -> None:
    assert Finding(0.0, 0.0).holds
    assert not Finding(1.0, 0.5).holds
    assert Finding(1.0, 0.5, at_least=True).holds
    for bad in (Finding(math.nan, 1.0), Finding(1.0, math.nan), Finding(math.nan, 0.0, at_least=True)):
        assert not bad.holds
        assert Result("r", "float64", 1, True, bad, 0.0).outcome == "failed"
        assert Result("r", "float64", 1, False, bad, 0.0).outcome == "not claimed"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: check_solver(object()), "object does not follow"),  # type: ignore[arg-type]
        (lambda: check_solver(XPBD(), names=["rest_flat", "rust"]), 'no row "rust"; there are rest_flat'),
        (lambda: check_solver(XPBD(), names=["bits_batch"], worlds=(1,)), "no row applies"),
    ],
)
def test_wrong_calls_are_refused(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(SolverError, match=words):
        call()


def test_the_page_lists_every_row() -> None:
    page = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")
    table = page.partition("## Rows")[2]
    rows = [line.split("`")[1] for line in table.splitlines() if line.startswith("| `")]
    assert rows == [row.name for row in ROWS]
    assert all(row.title.endswith((".", ":")) for row in ROWS)
