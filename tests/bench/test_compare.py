"""Pliant beside whichever peers are installed: a tiny workload from the command to the files."""

from __future__ import annotations

import csv
import importlib.util
import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from pliant.bench import compare, contestants, report
from pliant.bench.contestants import Contestant, entries, selected
from pliant.bench.ours import LIKE_PYPBD, sheet, springs, xpbd
from pliant.bench.runner import Result
from pliant.bench.workloads import Cloth
from pliant.cli import main as pliant
from pliant.errors import MissingExtraError, PliantError

PEERS = {"pypbd": "pypbd XPBD", "mujoco": "mujoco discrete CG", "newton": "newton VBD"}
HERE = [word for package, word in PEERS.items() if importlib.util.find_spec(package)]
TINY = ["--sizes", "9", "--seconds", "0.05"]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:
    """Three frames of 9 x 9 vertices."""
    folder = tmp_path_factory.mktemp("bench")
    only = ["--only", "Pliant XPBD 20x1 springs", *HERE]
    code = compare.main("cloth", [*TINY, *only, "--out", str(folder), "--record", str(folder)])
    assert code == 0, "no bar for this size"
    (path,) = folder.glob("cloth-*.json")
    return folder, json.loads(path.read_text())


def test_everyone_ran(ran: tuple[Path, dict]) -> None:
    _, record = ran
    (run,) = record["runs"]
    assert run["title"] == "9 x 9 vertices"
    assert len(run["contestants"]) >= 2 + len(HERE)
    for entry in run["contestants"]:
        assert entry["failure"] is None, entry
        assert entry["frames"] == 3
        assert entry["version"]
        assert entry["seconds per frame"]["median"] > 0
        assert entry["start"] > 0
        assert 0 <= entry["quality"]["mean strain"] <= entry["quality"]["max strain"] < 0.01
    assert {"processor", "threads", "numba", "commit", "date"} <= set(record["machine"])
    assert len(json.dumps(record)) < 20_000, "records stay small"


def test_the_page_and_the_table_are_whole(ran: tuple[Path, dict]) -> None:
    folder, record = ran
    page = (folder / "cloth.html").read_text()
    assert not re.search(r"https?:|<script|<link|src=", page), "needs nothing from outside"
    rows = list(csv.DictReader((folder / "cloth.csv").open()))
    names = [e["name"] for e in record["runs"][0]["contestants"]]
    assert [row["contestant"] for row in rows] == names
    assert all(f"<td>{name}</td>" in page for name in names)
    assert all(float(row["seconds per frame median"]) > 0 for row in rows)
    assert all(row["failure"] == "" for row in rows)


@pytest.mark.skipif(importlib.util.find_spec("pypbd") is None, reason="pypbd is not installed")
def test_pypbd_has_the_same_constraints_and_moves_alike(ran: tuple[Path, dict]) -> None:
    from pliant.bench.peers import pypbd

    work = Cloth(9)
    scene = pypbd.cloth(work)
    kinds = [type(c).__name__ for c in scene.model.getConstraints()]
    ours = springs(work, xpbd(substeps=20)(), "float64").model.blocks
    constraints = scene.model.getConstraints()
    scene.step()
    theirs = [sorted(constraints[k].bodies) for group in scene.model.getConstraintGroups() for k in group]
    assert np.sort(ours["distance"].ids, axis=1).tolist() == [ids for ids in theirs if len(ids) == 2]
    scene = pypbd.cloth(work)
    assert kinds.count("DistanceConstraint_XPBD") == len(ours["distance"]) == len(work.edges)
    assert kinds.count("IsometricBendingConstraint_XPBD") == len(ours["isometric"]) == len(work.hinges)
    assert scene.positions() == pytest.approx(work.mesh.vertices, abs=1e-15)
    (duel,) = [d for d in ran[1]["runs"][0]["duels"] if "float32" not in d["ours"]]
    assert duel["mean strain ratio"] == pytest.approx(1, abs=0.02)
    assert duel["max strain ratio"] == pytest.approx(1, abs=0.02)


@pytest.mark.skipif(importlib.util.find_spec("mujoco") is None, reason="mujoco is not installed")
def test_mujoco_has_the_same_masses_and_runs_many_worlds() -> None:
    from pliant.bench.peers import mujoco

    one, many = mujoco.cloth(Cloth(5), "CG"), mujoco.cloth(Cloth(5, worlds=3), "CG")
    work = Cloth(5)
    free = np.setdiff1d(np.arange(25), work.pins)
    assert one.model.body_mass[1:] == pytest.approx(work.mass[free])
    for _ in range(3):
        one.step()
        many.step()
    assert one.positions().shape == (1, 25, 3)
    assert many.positions() == pytest.approx(np.tile(one.positions(), (3, 1, 1)), abs=1e-12)
    assert one.positions()[0, work.pins] == pytest.approx(work.mesh.vertices[work.pins])


@pytest.mark.skipif(importlib.util.find_spec("newton") is None, reason="newton is not installed")
def test_newton_has_each_edge_once() -> None:
    work = Cloth(5)
    (entry,) = [e for _, e in entries("cloth") if e.name.startswith("newton XPBD")]
    scene = entry.build(work)
    assert scene.model.spring_count == len(work.edges)
    free = np.setdiff1d(np.arange(25), work.pins)
    assert 1 / scene.model.particle_inv_mass.numpy()[free] == pytest.approx(work.mass[free], rel=1e-5)


def test_our_springs_are_equal_and_our_sheet_is_the_material() -> None:
    work = Cloth(5, worlds=2)
    blocks = springs(work, xpbd(substeps=2)(), "float32").model.blocks
    assert set(blocks) == {"distance", "isometric"}
    assert (blocks["distance"].compliance == 1e-3).all()
    assert sorted(map(tuple, blocks["distance"].ids.tolist())) == [tuple(e) for e in work.edges.tolist()]
    assert sorted(blocks["distance"].file_order) == list(range(len(work.edges)))
    for start, stop in pairwise(blocks["distance"].color_start):
        ids = blocks["distance"].ids[start:stop]
        assert len(np.unique(ids)) == ids.size > 0, "a colour shares no vertex"
    model = sheet(work, xpbd(substeps=2)(), "float64").model
    assert set(model.blocks) == {"membrane", "isometric"}
    assert model.mass == pytest.approx(work.mass)
    assert model.n_worlds == 2


def test_adapters_are_short() -> None:
    folder = Path(compare.__file__).parent / "peers"
    lines = {path.name: len(path.read_text().splitlines()) for path in folder.glob("*.py")}
    assert set(lines) >= {"pypbd.py", "mujoco.py", "newton.py"}
    assert max(lines.values()) <= 100


# --- who takes part ------------------------------------------------------------------------------------


def test_entries_are_found_by_words_of_their_names() -> None:
    found = entries("cloth")
    names = [e.name for _, e in found]
    assert len(set(names)) == len(names)
    assert {e.package for _, e in selected(found, ["pypbd", "MUJOCO"])} == {"pypbd", "mujoco"}
    assert selected(found, []) == found
    with pytest.raises(PliantError, match='holds "bullet"'):
        selected(found, ["pypbd", "bullet"])
    with pytest.raises(PliantError, match="no_such_module"):
        entries("cloth", ["no_such_module"])
    assert all(e.workload == "bar" for _, e in entries("bar"))


def test_a_name_is_taken_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contestants, "MODULES", (*contestants.MODULES, contestants.MODULES[0]))
    with pytest.raises(PliantError, match="two contestants are called"):
        entries("cloth")


def test_missing_peers_are_listed_or_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compare, "version", lambda package: "1" if package == "pliant" else None)
    monkeypatch.setattr(
        compare, "compare", lambda found, *rest: [result(e.name, e.package) for _, e in found]
    )
    with pytest.raises(MissingExtraError, match=r'needs the package "pypbd": pip install "pliant\[bench\]"'):
        compare.main("cloth", [*TINY, "--only", "pypbd"])
    assert compare.main("cloth", TINY) == 0
    captured = capsys.readouterr()
    assert "not installed, so listed but not run: mujoco, newton, pypbd" in captured.err
    assert "newton VBD 10x4" in captured.out
    assert 'FAILED: not installed: pip install "newton"' in captured.out


def test_the_command_lists_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert pliant(["bench"]) == 0
    told = capsys.readouterr().out
    assert all(f"pliant bench {name}" in told for name in ("cloth", "batch", "worlds", "bar"))
    assert pliant(["bench", "cloth", "--list"]) == 0
    assert "XPBD, 20 substeps of 1 sweep" in capsys.readouterr().out


# --- what is told --------------------------------------------------------------------------------------


def result(
    name: str, package: str, ms: float = 2.0, strain: float = 0.01, failure: str | None = None
) -> Result:
    quality = {"mean strain": strain, "max strain": 10 * strain}
    turns = [[9.0], [1e-3 * ms] * 5, [1e-3 * ms] * 5]
    return Result(
        name, package, "1", "words", LIKE_PYPBD, 1.0, 50.0, turns, turns,
        quality={} if failure else quality, failure=failure,
    )  # fmt: skip


def test_duels() -> None:
    peers = [
        result("slow peer", "pypbd", 9.0),
        result("peer", "pypbd", 6.0),
        result("x", "pypbd", failure="no"),
    ]
    (duel,) = report.duels([result("ours", "pliant"), *peers], 3.0)
    assert (duel["peer"], duel["faster"], duel["reached"]) == ("peer", pytest.approx(3), True)
    (duel,) = report.duels([result("ours", "pliant", 2.1), *peers], 3.0)
    assert duel["reached"] is False
    assert "MISSED" in report.told(duel)
    (duel,) = report.duels([result("ours", "pliant", 1.0, strain=0.0121), *peers], 3.0)
    assert duel["reached"] is False, "fast, but looser by more than a fifth"
    (duel,) = report.duels([result("ours", "pliant"), *peers], None)
    assert duel["reached"] is None
    assert report.duels([result("ours", "pliant")], 3.0) == []


def made_up() -> dict:
    failed = result("<b>peer</b>", "pypbd", failure="crashed & burnt")
    failed.remark = "WARNING: it is hot"
    unmade = Result("absent", "newton", failure="not installed")
    rows = [r.record() for r in (result("ours", "pliant"), failed, unmade)]
    run = {"title": "9 x 9", "worlds": 64, "contestants": rows, "duels": []}
    about = {"about": "a < b", "notes": ["one"], "versions": {"pypbd": "2"}}
    facts = dict.fromkeys(("processor", "threads", "vectors", "load", "commit", "date"), "1")
    return {"workload": "worlds", "machine": facts, "runs": [run], **about}


def test_failures_are_shown_as_failures() -> None:
    told = report.text(made_up())
    assert "FAILED: crashed & burnt; it warns: it is hot" in told
    assert "FAILED: not installed" in told
    assert "3.2e+04" in told, "64 worlds in 2 ms"
    assert "nan" not in told
    page = report.page(made_up())
    assert "<b>peer</b>" not in page.partition("Configurations")[0]
    assert "FAILED: crashed &amp; burnt" in page
    assert "nan" not in page
    rows = list(csv.DictReader(report.comma_separated(made_up()).splitlines()))
    assert [row["failure"] for row in rows] == ["", "crashed & burnt", "not installed"]
    assert rows[2]["seconds per frame median"] == ""


def test_contestants_say_what_they_are() -> None:
    for workload in ("cloth", "worlds", "bar"):
        for _, e in entries(workload):
            assert isinstance(e, Contestant)
            assert "float" in e.text or e.package == "newton"
