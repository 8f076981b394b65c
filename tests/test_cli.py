"""The command line: what it writes, what it says, and its exit codes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

from pliant import __version__
from pliant.cli import info, machine, main
from pliant.cli.report import json_text, status_words
from pliant.io.recording import Recording
from pliant.protocol import Status
from pliant.simulation import Simulation

SCENE = """
[scene]
title = "Handkerchief"
air_drag = 0.5
[simulation]
dt = 0.02
seconds = 0.1
substeps = 4
[[cloth]]
shape = { kind = "grid", nx = 6, ny = 6 }
material = "cotton"
position = [0, 0, 0.3]
pins = [0]
[[collider]]
kind = "sphere"
radius = 0.2
"""


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLIANT_QUIET", "")
    (tmp_path / "cloth.toml").write_text(SCENE, encoding="utf-8")
    return "cloth.toml"


def pliant(*arguments: str, **options: object) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "pliant", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, **options)  # type: ignore


# ---- the frame


def test_version_help_and_usage(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as done:
        main(["--version"])
    assert done.value.code == 0
    assert capsys.readouterr().out == f"pliant {__version__}\n"
    assert main([]) == 2
    assert "usage: pliant" in capsys.readouterr().err
    for command in ("demo", "run", "info"):
        with pytest.raises(SystemExit) as done:
            main([command, "--help"])
        assert done.value.code == 0
        assert "usage: pliant " + command in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["fly"],
        ["run"],
        ["run", "a.toml", "--worlds", "0"],
        ["run", "a.toml", "--seconds", "-1"],
        ["run", "a.toml", "--dtype", "float16"],
        ["demo", "--secnds", "1"],
    ],
)
def test_wrong_usage_is_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as done:
        main(arguments)
    assert done.value.code == 2
    assert "usage: pliant" in capsys.readouterr().err


def test_the_command_starts_without_loading_a_compiler() -> None:
    code = "import sys, pliant.cli; pliant.cli.make_parser(); print('numba' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert out.stdout == "False\n"


def test_info(capsys: pytest.CaptureFixture) -> None:
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    assert re.search(rf"^pliant +{re.escape(__version__)}$", text, re.MULTILINE)
    assert main(["info", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert set(facts) == {"versions", "machine", "threads", "kernel cache", "extras", "python"}
    assert facts["versions"]["numpy"] == np.__version__
    assert Path(facts["kernel cache"]["folder"]).is_dir()
    assert facts["threads"]["layer"] in ("tbb", "omp", "workqueue")


def test_extras_are_read_from_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    needs = ["numpy>=2.0", 'numba>=0.61; extra == "speed"', "nothing-like-it<2; extra == 'x'"]
    needs.append('pliant[x]; extra == "all"')
    monkeypatch.setattr(machine.metadata, "requires", lambda name: needs)
    found = machine.extras()
    assert set(found) == {"speed", "x"}
    assert found["speed"]["numba"]
    assert found["x"] == {"nothing-like-it": None}
    text = info.text({**info.collect(), "extras": found})
    assert 'nothing-like-it MISSING   (pip install "pliant[x]")' in text


# ---- demo


def test_demo_leaves_its_files_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    pytest.importorskip("PIL", reason="the contact sheet needs Pillow")
    folder = tmp_path / "new" / "folder"
    assert main(["demo", "--quick", "--seconds", "0.3", "--out", str(folder)]) == 0
    out = capsys.readouterr().out
    page = (folder / "drape.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert (folder / "drape.png").read_bytes().startswith(b"\x89PNG")
    for name in ("drape.html", "drape.png", "report.json"):
        assert str(folder / name) in out
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert report["protocol"]["solver"] == "XPBD"
    assert "Penava" in report["materials"]["tablecloth"]["source"]
    assert report["steps"] == 18
    assert [round(s["time"], 4) for s in report["samples"]] == [0.25, 0.3]
    assert report["samples"][-1]["kinetic"] > 0
    assert report["last_step"]["status"] == ["ok"]
    assert report["last_step"]["primal_residual"][0] > 0
    assert report["last_step"]["constraint_residual"]["membrane"]["max"][0] > 0
    assert report["last_step"]["contacts"][0] > 50
    assert report["self_intersections"]["at_the_end"] == report["samples"][-1]["self_intersections"]
    assert report["stage_seconds"]["constraint solve"] > 0
    assert 0 <= report["drape_coefficient"]["value"] < 1
    assert report["versions"]["pliant"] == __version__
    assert report["machine"]["cores"] >= 1


def test_demo_without_pillow_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr("pliant.cli.outputs.pictures", lambda: False)
    monkeypatch.setenv("PLIANT_QUIET", "")
    assert main(["demo", "--quick", "--seconds", "0.04", "--out", str(tmp_path), "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["outputs"] == [str(tmp_path / n) for n in ("drape.html", "report.json")]
    assert 'pip install "pliant[render]"' in captured.err


def test_quiet_json_is_json_and_nothing_else(scene: str) -> None:
    done = pliant("run", scene, "--out", "q.npz", "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert json.loads(done.stdout)["title"] == "Handkerchief"


def test_quiet_ends_with_the_command(scene: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLIANT_QUIET")
    assert main(["run", scene, "--quiet", "--seconds", "0.02", "--out", "r.npz"]) == 0
    assert "PLIANT_QUIET" not in os.environ


# ---- run


def test_run_writes_what_is_asked(scene: str, capsys: pytest.CaptureFixture) -> None:
    assert main(["run", scene, "--out", "a.npz", "--out", "a.html", "--out", "a.json"]) == 0
    captured = capsys.readouterr()
    recording = Recording.load_npz("a.npz")
    assert recording.title == "Handkerchief"
    assert recording.times == pytest.approx([0, 0.04, 0.08, 0.1])  # about 30 frames a second, and the last
    assert Path("a.html").stat().st_size > 10_000
    assert json.loads(Path("a.json").read_text())["steps"] == 5
    assert "Handkerchief: 36 particles, now at t = 0.1 s" in captured.out
    assert "a.json" in captured.out
    assert not Path("cloth.html").exists()


def test_run_names_its_files_after_the_scene(
    scene: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("PIL", reason="the contact sheet needs Pillow")
    monkeypatch.setattr("pliant.viewer.png.write_png", lambda recording, path: path.write_bytes(b"drawn"))
    assert main(["run", scene, "--quiet"]) == 0
    assert {p.name for p in tmp_path.iterdir()} == {"cloth.toml", "cloth.html", "cloth.png"}


def test_the_reference_solves_a_scene_file(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    file = tmp_path / "hung.toml"
    cloth = '[[cloth]]\nshape = { kind = "grid", nx = 4, ny = 4 }\nmaterial = "cotton"\npins = [0]\n'
    file.write_text(cloth, "utf-8")
    options = ["--seconds", "0.04", "--solver", "newton", "--out", str(tmp_path / "b.npz"), "--json"]
    assert main(["run", str(file), *options]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["protocol"]["solver"] == "Newton"
    assert report["last_step"]["status"] == ["ok"]


def test_options_win_over_the_file(scene: str, capsys: pytest.CaptureFixture) -> None:
    options = ["--seconds", "0.04", "--worlds", "3", "--world", "2", "--dtype", "float32", "--solver", "pbd"]
    assert main(["run", scene, *options, "--threads", "1", "--out", "b.npz", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["worlds"], report["steps"]) == (3, 2)
    assert (report["protocol"]["dtype"], report["protocol"]["solver"]) == ("float32", "PBD")
    assert report["protocol"]["substeps"] == 4
    assert report["last_step"]["status"] == ["ok"] * 3


def test_the_file_names_its_outputs(scene: str, tmp_path: Path) -> None:
    text = SCENE.replace("substeps = 4", 'substeps = 4\noutput = ["c.npz"]')
    (tmp_path / "cloth.toml").write_text(text)
    assert main(["run", scene, "--quiet"]) == 0
    assert Path("c.npz").exists()


def test_resume_equals_the_straight_run(scene: str) -> None:
    run = ["run", scene, "--quiet", "--out", "r.npz"]
    assert main([*run, "--seconds", "0.2", "--save", "straight.npz"]) == 0
    assert main([*run, "--seconds", "0.1", "--save", "half.npz"]) == 0
    assert main([*run, "--seconds", "0.1", "--resume", "half.npz", "--save", "resumed.npz"]) == 0
    with np.load("straight.npz") as one, np.load("resumed.npz") as two, np.load("half.npz") as half:
        assert set(one.files) == set(two.files)
        for name in one.files:
            np.testing.assert_array_equal(one[name], two[name], err_msg=name)
        assert not np.array_equal(one["state/x"], half["state/x"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.toml"], "none.toml: no such file"),
        (["cloth.toml", "--out", "a.avi"], "a.avi: pictures and recordings end in"),
        (["cloth.toml", "--out", "none/a.npz"], "there is no folder"),
        (["cloth.toml", "--world", "1"], "--world 1: there are worlds 0 to 0"),
        (["cloth.toml", "--resume", "cloth.toml"], "is not a snapshot"),
        (["cloth.toml", "--save", "none/s.npz"], "there is no folder"),
        (["cloth.toml", "--seconds", "0.001"], "not even one step"),
        (["cloth.toml", "--threads", "1000"], "set_threads(1000)"),
        (["bad.toml"], "bad.toml line 2: [[cloth]] material: is missing"),
    ],
)
def test_errors_are_one_line_and_exit_code_1(
    scene: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture
) -> None:
    Path("bad.toml").write_text('\n[[cloth]]\nshape = { kind = "grid", nx = 2, ny = 2 }\n')
    assert main(["run", *arguments, "--quiet"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert re.fullmatch(r"pliant: .+\n", captured.err)
    assert message in captured.err


def test_a_snapshot_of_another_protocol_is_refused(scene: str, capsys: pytest.CaptureFixture) -> None:
    assert main(["run", scene, "--quiet", "--out", "r.npz", "--save", "s.npz"]) == 0
    other = SCENE.replace("substeps = 4", "substeps = 5")
    Path("cloth.toml").write_text(other)
    capsys.readouterr()
    assert main(["run", scene, "--quiet", "--out", "r.npz", "--resume", "s.npz"]) == 1
    assert "substeps: 4 there, 5 here" in capsys.readouterr().err


def test_a_world_that_becomes_non_finite_is_exit_code_3(
    scene: str, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = Simulation.step

    def spoiled(sim: Simulation, report: str | None = None) -> object:
        if sim.time > 0.03:
            sim.state.v_lanes[0, 7, 0, 1] = np.nan
        return step(sim, report)

    monkeypatch.setattr(Simulation, "step", spoiled)
    assert main(["run", scene, "--worlds", "2", "--out", "n.npz", "--json"]) == 3
    captured = capsys.readouterr()
    assert "1 of 2 worlds became non-finite and were frozen (1)" in captured.err
    report = json.loads(captured.out)
    assert [s == "ok" for s in report["last_step"]["status"]] == [True, False]
    assert len(Recording.load_npz("n.npz")) == 4


def interrupted_at(step_number: int) -> Callable[..., object]:
    step, made = Simulation.step, []

    def stopped(sim: Simulation, report: str | None = None) -> object:
        made.append(1)
        if len(made) == step_number:
            raise KeyboardInterrupt
        return step(sim, report)

    return stopped


def test_ctrl_c_leaves_what_was_made(
    scene: str, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Simulation, "step", interrupted_at(4))
    assert main(["run", scene, "--out", "p.npz", "--out", "p.html"]) == 130
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "interrupted at t = 0.06 s; what was made so far is in p.npz, p.html" in captured.err
    assert Recording.load_npz("p.npz").times == pytest.approx([0, 0.04])
    assert Path("p.html").stat().st_size > 10_000


@pytest.mark.skipif(os.name == "nt", reason="signals to a child work differently on Windows")
def test_ctrl_c_for_real(scene: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pliant", "run", scene, "--seconds", "1000", "--out", "p.npz"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    child = subprocess.Popen(command, stderr=subprocess.PIPE, env=environment, start_new_session=True)
    assert child.stderr is not None
    heard = b""
    end = time.monotonic() + 120
    while not re.search(rb"[1-9]\d*/50000", heard) and b"step 1" not in heard and time.monotonic() < end:
        heard += os.read(child.stderr.fileno(), 4096)
    child.send_signal(signal.SIGINT)
    heard += child.communicate(timeout=60)[1]
    assert child.returncode == 130, heard
    assert b"Traceback" not in heard
    assert len(Recording.load_npz("p.npz")) >= 1


# ---- reports


def test_json_is_strict() -> None:
    data = {"a": np.array([1.0, np.inf]), "b": (np.float32(2), np.nan), 3: "ü", "c": np.int32(4)}
    assert json.loads(json_text(data)) == {"a": [1.0, None], "b": [2.0, None], "3": "ü", "c": 4}
    with pytest.raises(TypeError):
        json_text({"a": object()})


def test_status_in_words() -> None:
    assert status_words(0) == "ok"
    assert status_words(int(Status.NONFINITE | Status.CONTACT_GREW)) == "nonfinite, contact_grew"


def test_the_command_line_knows_every_solver_of_scene_files() -> None:
    from pliant import cli
    from pliant.io import scenes

    assert tuple(scenes.SOLVERS) == cli.SOLVERS
