"""The yardstick: what it measures can be told from outside, and a wrong answer looks wrong on it."""

from __future__ import annotations

import csv
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pliant.lab import yardstick
from pliant.lab.curves import Curve, chart
from pliant.lab.yardstick import SCENES, Start, measure, write
from pliant.solvers.newton.solver import Newton
from pliant.solvers.xpbd.solver import XPBD

CLOTH = SCENES[0]


def test_more_sweeps_come_closer(tmp_path: Path) -> None:
    marks = measure(CLOTH, (1, 16, 64))
    assert marks[0].solver == "Newton"
    coloured = [m for m in marks if m.solver == "XPBD, coloured"]
    assert [m.sweeps for m in coloured] == [1, 16, 64]
    distance, gap = [m.distance for m in coloured], [m.gap for m in coloured]
    assert distance[0] > distance[1] > distance[2] > 0
    assert gap[0] > gap[1] > gap[2] > 0
    assert min(m.gap for m in marks) == 0, "nothing lies below the reference"
    made = write(marks, tmp_path)
    assert len(made) == 3
    rows = list(csv.DictReader(made[0].open(encoding="utf-8")))
    assert len(rows) == len(marks) == 10
    assert float(rows[-1]["distance"]) == pytest.approx(marks[-1].distance)


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


def test_a_chart_is_svg_with_every_curve_in_its_frame() -> None:
    curves = [Curve("a < b", [(1, 1e-3), (100, 1e-7), (1000, 0.0)]), Curve("c", [(2, 5.0)])]
    root = ElementTree.fromstring(chart("title & more", "sweeps", "distance, edges", curves))
    texts = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"title & more", "a < b", "c", "sweeps", "distance, edges"} <= set(texts)
    lines = list(root.iter("{http://www.w3.org/2000/svg}polyline"))
    assert [len(line.get("points", "").split()) for line in lines] == [2, 1]
    for line in lines:
        places = np.array([p.split(",") for p in line.get("points", "").split()], float)
        assert np.all((places >= [80, 44]) & (places <= [620, 364]))


def test_the_scenes_are_those_of_the_page() -> None:
    assert len({s.name for s in SCENES}) == len(SCENES) == 6
