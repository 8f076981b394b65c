"""The yardstick: what it measures can be told from outside, and a wrong answer looks wrong on it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pliant.lab import yardstick
from pliant.lab.yardstick import LADDERS, SCENES, Start, measure, run, verdicts
from pliant.solvers.newton.solver import Newton
from pliant.solvers.xpbd.solver import XPBD

CLOTH = SCENES[0]


def test_more_sweeps_come_closer() -> None:
    marks = measure(CLOTH, (1, 16, 64))
    assert marks[0].solver == "Newton"
    coloured = [m for m in marks if m.solver == "XPBD, coloured"]
    assert [m.sweeps for m in coloured] == [1, 16, 64]
    distance, gap = [m.distance for m in coloured], [m.gap for m in coloured]
    assert distance[0] > distance[1] > distance[2] > 0
    assert gap[0] > gap[1] > gap[2] > 0
    assert min(m.gap for m in marks) == 0, "nothing lies below the reference"
    assert all(v.ok for v in verdicts("cloth", marks))
    lower = [replace(m, gap=-0.1) if m.sweeps == 16 else m for m in marks]
    assert [v.ok for v in verdicts("cloth", lower)] == [False, True]
    stuck = [replace(m, distance=0.1) for m in marks]
    assert [v.ok for v in verdicts("cloth", stuck)] == [True, False]


def test_known_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that is Newton is at 0; one that only predicts has a gap of 1 and its distance."""
    monkeypatch.setattr(yardstick, "LADDERS", {"itself": lambda n: Newton(), "blind": lambda n: XPBD(1, n)})

    def make(solver: object) -> object:
        sim = CLOTH.make(solver)  # type: ignore[arg-type]
        if isinstance(solver, XPBD):
            blocks = {k: replace(b, compliance=1e12 * b.compliance) for k, b in sim.model.blocks.items()}
            return type(sim).of_model(sim.scene, replace(sim.model, blocks=blocks), solver, dt=sim.dt)
        return sim

    _, itself, blind = measure(Start("planted", make, CLOTH.move, CLOTH.warm_up), (1,))  # type: ignore[arg-type]
    assert itself.distance < 1e-9
    assert abs(itself.gap) < 1e-9
    assert blind.gap == pytest.approx(1, abs=1e-3)
    assert blind.distance > 1e-3


def test_the_experiment_is_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yardstick, "LADDERS", dict(list(LADDERS.items())[:1]))
    found = run(quick=True)
    assert found.ok, found.text()
    assert [t.title for t in found.tables] == [SCENES[k].name for k in (0, 3, 5)]
    assert len(found.plots) == 6
    assert all(len(plot.lines) == 1 for plot in found.plots)
    assert len({s.name for s in SCENES}) == len(SCENES) == 6
