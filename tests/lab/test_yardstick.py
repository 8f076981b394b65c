"""The yardstick: what it measures can be told from outside, and a wrong answer looks wrong on it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pliant.errors import PliantError, SolverError
from pliant.lab import refinement, scenes, yardstick
from pliant.lab.experiment import Experiment
from pliant.lab.scenes import SCENES, Saved, load, made
from pliant.lab.yardstick import SOLVERS, Ladder, Mark, front, measure, run, verdicts
from pliant.solvers.newton.solver import Newton
from pliant.solvers.xpbd.solver import XPBD

CLOTH, CHAIN, BALL = SCENES[0], SCENES[5], SCENES[6]


def test_more_sweeps_come_closer() -> None:
    marks, ruler, refused = measure(CLOTH, (1, 16, 64))
    assert refused == []
    assert marks[0].solver == "Newton"
    coloured = [m for m in marks if m.solver == "XPBD, coloured"]
    assert [m.sweeps for m in coloured] == [1, 16, 64]
    distance, gap = [m.distance for m in coloured], [m.gap for m in coloured]
    assert distance[0] > distance[1] > distance[2] > 0
    assert gap[0] > gap[1] > gap[2] > 0
    assert min(m.gap for m in marks) > -1e-12, "nothing lies below the reference"
    record = load(CLOTH).about["xpbd_edges"]

    def off(marks: list[Mark], ruler: Any = ruler) -> list[str]:
        return [
            v.what.split(": ")[-1].split(",")[0] for v in verdicts("cloth", marks, ruler, record) if not v.ok
        ]

    assert off(marks) == []
    assert off([replace(m, gap=-0.1) if m.sweeps == 16 else m for m in marks]) == [
        "any answer below the reference"
    ]
    worse = [replace(m, distance=1.05 * m.distance) for m in marks]
    assert off(worse) == ["distance after 1 sweeps [edges]", "distance after 64 sweeps [edges]"]
    assert "distance after more sweeps" in off([replace(m, distance=0.01 * m.sweeps) for m in marks])
    assert off(marks, replace(ruler, shift=1e-5)) == ["Newton's answer off the saved one [edges]"]


def test_known_answers() -> None:
    """A solver that is Newton is at 0; one that only predicts has a gap of 1 and its distance."""

    def make(solver: Any) -> Any:
        sim = CLOTH.make(solver)
        if isinstance(solver, XPBD):
            blocks = {k: replace(b, compliance=1e12 * b.compliance) for k, b in sim.model.blocks.items()}
            return type(sim).of_model(sim.scene, replace(sim.model, blocks=blocks), solver, dt=sim.dt)
        return sim

    solvers = [Ladder("itself", lambda n: Newton()), Ladder("blind", lambda n: XPBD(1, n))]
    (_, itself, blind), _, _ = measure(replace(CLOTH, make=make), (1,), solvers)
    assert itself.distance < 1e-9
    assert abs(itself.gap) < 1e-9
    assert blind.gap == pytest.approx(1, abs=1e-3)
    assert blind.distance > 1e-3


def test_on_the_ball_the_gap_counts_from_before_the_step() -> None:
    """The prediction lies inside the ball; the positions before do not, and standing still has a gap of 1."""
    saved = load(BALL)
    ruler = yardstick.reference(BALL, saved)
    assert ruler.gap(saved.x) == pytest.approx(1, abs=1e-9)
    assert ruler.shift < 1e-7
    radius = 0.15 + 0.5 * scenes.CLOTH.thickness
    for x in (saved.x, saved.best):
        depth = radius - np.linalg.norm(x, axis=1)
        assert depth.max() < 1e-9
        assert np.sum(depth > -1e-6) > 20, "it lies on the ball"


def test_who_refuses_a_scene_is_said() -> None:
    solvers = [Ladder("XPBD", lambda n: XPBD(1, n)), Ladder("picky", lambda n: Picky(1, n))]
    marks, _, refused = measure(CHAIN, (1, 2), solvers)
    assert [m.solver for m in marks] == ["Newton", "XPBD", "XPBD"]
    assert refused == ["picky: no chains here"]


class Picky(XPBD):
    """Refuses everything."""

    def init(self, model: Any) -> Any:
        raise SolverError("no chains here")


def test_the_front_is_who_nobody_beats() -> None:
    marks = [Mark("s", "a", 1, ms, d, 0.0) for ms, d in ((3, 1.0), (1, 5.0), (2, 6.0), (4, 1.0), (5, 0.5))]
    assert [(m.milliseconds, m.distance) for m in front(marks, "distance")] == [(1, 5.0), (3, 1.0), (5, 0.5)]


def test_saved_states_are_what_newton_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    again, kept = made(CHAIN), load(CHAIN)
    for name in ("x", "v", "best"):
        np.testing.assert_allclose(getattr(again, name), getattr(kept, name), atol=1e-9)
    assert kept.about["command"] == scenes.COMMAND
    assert kept.about["protocol"]["solver"] == "Newton"
    assert sum(f.stat().st_size for f in scenes.FOLDER.glob("*.npz")) < 200_000
    assert {f.stem for f in scenes.FOLDER.glob("*.npz")} == {s.file for s in SCENES}
    with pytest.raises(PliantError, match="another scene"):
        load(replace(CHAIN, name="another"))
    monkeypatch.setattr(scenes, "FOLDER", tmp_path)
    monkeypatch.setattr(scenes, "made", lambda start: again)
    assert load(CHAIN) is again, "without a file it is made"


def test_orders_tell_a_method_of_another_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ends that approach a limit as h are of first order; as h^(1/2), the verdicts say no."""

    class Way(refinement.Way):
        power = 1.0

        def end(self, solver: Any) -> np.ndarray:
            own = 2.0 if isinstance(solver, Newton) else 3.0
            return self.saved.best + own * solver.substeps**-self.power

    monkeypatch.setattr(refinement, "Way", Way)
    for power, ok in ((1.0, True), (0.5, False)):
        Way.power = power
        out = Experiment("a", "a", "a", {})
        refinement.refine(out, CHAIN, load(CHAIN), quick=True)
        assert [v.ok for v in out.verdicts] == [ok, ok]


def test_the_experiment_is_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yardstick, "SOLVERS", SOLVERS[:1])
    monkeypatch.setattr(yardstick, "QUICK", (5,))
    found = run(quick=True)
    assert found.ok, found.text()
    assert [t.title for t in found.tables] == [
        CHAIN.name, f"{CHAIN.name}: substeps", f"{CLOTH.name}: many sweeps at one h",
        f"{CHAIN.name}: many sweeps at one h",
    ]  # fmt: skip
    assert len(found.plots) == 4
    assert len({s.name for s in SCENES}) == len({s.file for s in SCENES}) == len(SCENES) == 7


def test_a_saved_state_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    saved = load(CLOTH)
    assert isinstance(saved, Saved)
    assert saved.x.shape == saved.v.shape == saved.best.shape == (289, 3)
    assert np.abs(saved.v).max() > 0.1, "it is on its way down"
