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
from pliant.lab import (
    bars,
    beams,
    chain,
    conformance,
    friction,
    gradients,
    hanging,
    hinge,
    sheets,
    small_cloth,
    textile,
    waves,
)
from pliant.lab.experiment import Experiment, Line, Plot, Table, Verdict
from pliant.lab.page import page, write
from pliant.lab.statics import Rest
from pliant.lab.textile import Measured
from pliant.model import Model
from pliant.solvers.xpbd.solver import PBD, XPBD

Array = np.ndarray


@pytest.mark.parametrize(
    "experiment", [hanging, chain, hinge, small_cloth, friction, waves, gradients], ids=lambda m: m.__name__
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
    assert not replace(kept, at_least=True).ok
    assert replace(kept, at_least=True, reference=0.9).ok
    assert not replace(kept, at_least=True, measured=math.nan).ok


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


# --- the experiments that stand on specimens with tests of their own ---------------------------------


def exact_strips(factor: float) -> dict[tuple[object, str], object]:
    """What specimens of textile, beams, bars and sheets would read by their closed forms, times a factor."""
    calm = Rest(1, np.zeros(2), np.zeros(2), np.ones(2, bool))

    def read(values: object) -> Measured:
        return Measured(np.array(values, float) * factor, calm)

    strain = 0.2 * 9.81 / 2 / 1000
    return {
        (textile, "tensile_strip"): lambda *a, **k: read([[2e-3, 0], [2e-3, 0.3]]),
        (textile, "hanging_strip"): lambda *a, **k: read([[strain], [strain + 0.01 * 9.81 / 50]]),
        (textile, "heavy_elastica"): lambda loads, s, **k: read([textile.ELASTICA[v] for v in loads]),
        (textile, "catenary"): lambda *a, **k: read([[v] for v in textile.CATENARY.values()]),
        (beams, "tip_load"): lambda loads, s: read([beams.TIP_LOAD[v] for v in loads]),
        (beams, "bending_frequency"): lambda s: factor * (1 - 8 / s**2),
        (bars, "torsion"): lambda b, n: bars.Reading(factor * (1 + 0.1 / n**2), calm),
        (bars, "short_cantilever"): lambda n: bars.Reading(factor * (1 + 0.1 / n**2), calm),
        (sheets, "woven_strip"): lambda f, angles, s: read([sheets.direction_modulus(f, v) for v in angles]),
        (sheets, "simple_shear"): lambda f, angle: read([[50 * angle]]),
        (sheets, "quarter_ring"): lambda b, s: read([sheets.RING[:2], (sheets.RING[1], sheets.RING[2])]),
    }


@pytest.mark.parametrize("quick", [True, False], ids=["quick", "full"])
@pytest.mark.parametrize("experiment", [textile, beams, bars, sheets], ids=lambda m: m.__name__)
def test_specimens_make_verdicts_that_can_fail(
    experiment: object, quick: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for factor in (1.0, 1.2):
        for (module, name), reading in exact_strips(factor).items():
            monkeypatch.setattr(module, name, reading)
        found = experiment.run(quick)  # type: ignore[attr-defined]
        off = [v.what for v in found.verdicts if not v.ok]
        assert found.plots
        assert found.tables
        if factor == 1:
            assert off == []
            assert len(found.verdicts) > (2 if quick else 4)
        else:
            small = ("brought to rest", "contraction", "drop/L", "x/L", "shortening", "falls by")
            assert [v.what for v in found.verdicts if v.ok and not any(s in v.what for s in small)] == []
            assert len(off) > len(found.verdicts) / 3


def test_a_sheet_that_is_a_tenth_too_heavy_rings_too_low(monkeypatch: pytest.MonkeyPatch) -> None:
    heavy = waves.SHEET.with_(areal_density=1.1 * waves.DENSITY)
    assert waves.plucked("drum", XPBD(10), 8) == pytest.approx(1, abs=0.02)
    monkeypatch.setattr(waves, "SHEET", heavy)
    for kind in ("string", "drum", "bar"):
        assert waves.plucked(kind, XPBD(20), 8) < 0.97, kind
    t, heights, seen, exact = waves.climb(XPBD(10), 30)
    assert np.abs(seen - exact)[:, heights > 0.4].max() < 0.1, (
        "what weight pulls taut, weight slows: no mass in it"
    )
    front = [t[np.argmax(np.abs(exact[:, np.argmin(np.abs(heights - s))]) > 0.01)] for s in (0.5, 0.9)]
    assert np.diff(front)[0] == pytest.approx(2 * (0.9**0.5 - 0.5**0.5), rel=0.05), "the front of the series"


def test_the_suite_is_an_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("hung_weight", "incline_moves")
    true = conformance.check_solver
    monkeypatch.setattr(conformance, "check_solver", lambda s, d, w: true(s, d, w, names))
    found = conformance.run(quick=True)
    assert [v.ok for v in found.verdicts] == [True, True]
    assert [v.rule.split(" 0")[0] for v in found.verdicts][1] == "at least"
    monkeypatch.setattr(conformance, "XPBD", lambda: replace(PBD(), claims=XPBD().claims))
    assert [v.ok for v in conformance.run(quick=True).verdicts] == [False, True]


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
    assert text.count("<circle") == 4, "points tell their numbers"
    assert "<title>seen\nn: 2\nv [m/s]: 0.5</title>" in text
    assert "http-equiv" not in text
    unfinished = page([small], {"cores": 2}, ["chain", "hinge"])
    assert "http-equiv='refresh'" in unfinished
    assert "Still to come: chain, hinge." in unfinished
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
