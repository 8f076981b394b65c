"""The lab's experiments, their report, and that planted lies are found."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pliant.cli import main
from pliant.lab import chain, gradients, hanging, hinge, small_cloth
from pliant.lab.experiment import Experiment, Line, Plot, Table, Verdict
from pliant.lab.page import page, write
from pliant.model import Model
from pliant.solvers.xpbd.solver import XPBD

Array = np.ndarray


@pytest.mark.parametrize(
    "experiment", [hanging, chain, hinge, small_cloth, gradients], ids=lambda m: m.__name__
)
def test_every_verdict_holds(experiment: object) -> None:
    found = experiment.run(quick=True)  # type: ignore[attr-defined]
    assert len(found.verdicts) > 4
    assert found.tables
    assert found.plots
    assert [v.what for v in found.verdicts if not v.ok] == []


def test_a_verdict_can_fail() -> None:
    kept = Verdict("a", 1.0, 1.009, 0.01, "b")
    assert kept.ok
    assert not replace(kept, reference=1.02).ok
    assert not replace(kept, measured=math.nan).ok
    assert not replace(kept, absolute=True, tolerance=0.001).ok
    assert replace(kept, at_most=True).ok
    assert not replace(kept, at_most=True, reference=0.9).ok
    assert not replace(kept, at_most=True, measured=math.nan).ok


@pytest.mark.parametrize(
    ("law", "lie"),
    [
        ("membrane", lambda u, g: (u, -g)),
        ("dihedral", lambda u, g: (u, g[::-1])),  # another winding
        ("arap_tet", lambda u, g: (u, 1.001 * g)),
        ("distance", lambda u, g: (u, g + 1e-3 * np.abs(g).max())),
    ],
)
def test_the_gradient_laboratory_finds_a_wrong_gradient(law: str, lie: object) -> None:
    model = gradients.specimens()[law]

    def wrong(m: Model, name: str, x: Array) -> tuple[float, Array]:
        return lie(*gradients.energy_and_gradient(m, name, x))  # type: ignore[operator]

    assert gradients.errors(model, law).min() < 1e-9
    assert gradients.errors(model, law, wrong).min() > 1e-5


def test_multipliers_that_forget_their_iterations_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """lambda set to zero before each iteration: the chain hardens, and the stretch of hung cloth is wrong."""
    from pliant.solvers.xpbd import solver as xpbd

    true = xpbd._sweep

    def forgetful(s: XPBD, ws: object, flags: int, *rest: object) -> list:
        return true(s, ws, flags & ~xpbd.LOAD, *rest)

    exact = hanging.AREAL_DENSITY * hanging.G * hanging.SIDE**2 / (2 * hanging.STIFFNESS)
    monkeypatch.setattr(hanging, "XPBD", lambda substeps: XPBD(substeps=substeps, iterations=4))
    assert hanging.hang(substeps=20)[0] == pytest.approx(exact, rel=0.01)
    monkeypatch.setattr(xpbd, "_sweep", forgetful)
    assert hanging.hang(substeps=20)[0] < 0.6 * exact


# --- the report ------------------------------------------------------------------------------------


@pytest.fixture
def small() -> Experiment:
    return Experiment(
        "small",
        "A <small> one",
        "Nothing & more.",
        {"dt": "1/60 s"},
        [
            Verdict("length [m]", 1.0, 1.0, 0.01, "closed form"),
            Verdict("late", 2.0, 1.0, 0.01, "closed form"),
        ],
        [Table("Numbers", ("n", "v [m/s]"), [(1, 0.25), (2, 0.5)])],
        [
            Plot(
                "A line",
                "n",
                "v [m/s]",
                [Line("seen", [1, 2], [0.25, 0.5]), Line("exact", [1, 2], [0.25, 0.5], True)],
            )
        ],
    )


def test_the_report_is_whole_and_offline(small: Experiment, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    files = write([small], {"cores": 2}, tmp_path / "out")
    assert {f.name for f in files} == {"report.html", "report.json", "small-a-line.csv", "small-numbers.csv"}
    text = files[0].read_text(encoding="utf-8")
    assert "A &lt;small&gt; one" in text
    assert "1 of 2 verdicts hold" in text
    assert "<svg" in text
    assert "src=" not in text.replace("xlink:href", "")
    assert "https://" not in text.replace("https://matplotlib.org", "")
    assert page([small], {"cores": 2}) == text, "the same bytes again"
    rows = list(csv.reader((tmp_path / "out" / "small-a-line.csv").read_text().splitlines()))
    assert rows[0] == ["line", "n", "v [m/s]"]
    assert rows[1:3] == [["seen", "1", "0.25"], ["seen", "2", "0.5"]]
    data = json.loads(files[1].read_text())
    assert [v["ok"] for v in data["experiments"][0]["verdicts"]] == [True, False]


def test_without_matplotlib_the_extra_is_named(small: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from pliant.errors import PliantError

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(PliantError, match=r"pliant\[lab\]"):
        page([small], {})


def test_the_command_reports_and_tells_by_its_exit_code(
    small: Experiment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(chain, "run", lambda quick: small)
    assert main(["lab", "chain", "--quick"]) == 1
    said = capsys.readouterr().out
    assert "OFF  late" in said
    assert "1 of 2 verdicts hold; off: late" in said
    small.verdicts.pop()
    assert main(["lab", "chain", "--quick", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["experiments"][0]["ok"] is True
