"""dev.py sets things up once, from anywhere, repairs what broke and passes everything on."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import stand_in
from conftest import ROOT

POSIX = os.name == "posix"


@pytest.fixture(scope="module")
def dev() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pliant_dev", ROOT / "dev.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """dev.py of a stand-in that has been set up once, in a folder with a space and brackets."""
    dev = stand_in.make(tmp_path_factory.mktemp("house") / "a copy [1]")
    done = stand_in.call(dev, "info", cwd=dev.parent)
    assert done.returncode == 0, done.stderr
    assert "making a virtual environment" in done.stderr
    assert "installing" in done.stderr
    return dev


def stamp(project: Path) -> dict:
    return json.loads((project.parent / ".venv" / "pliant-setup.json").read_text())


# --- the Python that runs it -----------------------------------------------------------------------


def test_an_old_python_can_read_the_file() -> None:
    text = (ROOT / "dev.py").read_text(encoding="utf-8")
    ast.parse(text, feature_version=(3, 7))
    lines = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = {a.name for n in lines if isinstance(n, ast.Import) for a in n.names}
    modules |= {n.module for n in lines if isinstance(n, ast.ImportFrom) and n.module}
    assert {name.split(".")[0] for name in modules} <= set(sys.stdlib_module_names), "standard library only"
    assert "__future__" not in modules, "from __future__ import annotations would stop Python 3.6"


def test_an_old_python_is_told_so(dev: ModuleType) -> None:
    with pytest.raises(dev.SetupError, match=r"needs Python >= 3\.11, found 3\.8\.10"):
        dev.check_python((3, 8, 10), "demo")
    dev.check_python((3, 11, 0), "demo")
    dev.check_python((4, 0, 0), "demo")


def test_an_old_python_stops_before_anything_is_made(tmp_path: Path) -> None:
    copy = stand_in.make(tmp_path)
    code = (
        "import runpy, sys; sys.version_info = (3, 8, 10, 'final', 0); "
        f"sys.argv = ['dev.py', 'demo']; runpy.run_path({str(copy)!r}, run_name='__main__')"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert out.returncode == 1
    assert "needs Python >= 3.11, found 3.8.10" in out.stderr
    assert "Traceback" not in out.stderr
    assert not (tmp_path / ".venv").exists()


def test_minimum_and_extras_agree_with_the_project_file(dev: ModuleType) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">={dev.MINIMUM[0]}.{dev.MINIMUM[1]}"
    offered = set(project["optional-dependencies"])
    assert all(set(extras) <= offered for extras in dev.EXTRAS.values())
    assert set(dev.DEVELOP) == offered - {"all", "bench"}, "the tests need everything but the peers"


def test_commands_in_the_help_exist(dev: ModuleType) -> None:
    for command in (*dev.EXTRAS, "clean"):
        assert command in dev.__doc__


@pytest.mark.parametrize(("arguments", "code"), [(["--help"], 0), ([], 2), (["dmeo"], 2)])
def test_help_and_misspellings(dev: ModuleType, arguments: list[str], code: int) -> None:
    assert dev.main(arguments) == code


def test_without_venv_the_system_package_is_named(
    dev: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dev, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(dev.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(dev.SetupError, match="apt install python3-venv"):
        dev.make_venv()


# --- setting up ------------------------------------------------------------------------------------


def test_arguments_folder_and_exit_code_are_passed_on(project: Path, tmp_path: Path) -> None:
    done = stand_in.call(project, "demo", "--title", "two words", "fail", cwd=tmp_path)
    assert done.returncode == 7
    told = json.loads(done.stdout)
    assert told["argv"] == ["demo", "--title", "two words", "fail"]
    assert told["cwd"] == str(tmp_path)
    assert told["prefix"] == str(project.parent / ".venv")
    assert done.stderr == "", "a second call has nothing to set up"


def test_a_folder_named_pliant_does_not_get_in_the_way(project: Path, tmp_path: Path) -> None:
    (tmp_path / "pliant").mkdir()
    (tmp_path / "pliant" / "__main__.py").write_text("raise SystemExit(3)")
    assert stand_in.call(project, "info", cwd=tmp_path).returncode == 0


def test_a_changed_project_file_is_installed_again(project: Path, tmp_path: Path) -> None:
    before = stamp(project)
    (project.parent / "pyproject.toml").write_text(stand_in.PYPROJECT + "# changed\n")
    done = stand_in.call(project, "info", cwd=tmp_path)
    assert done.returncode == 0
    assert "installing" in done.stderr
    assert "making" not in done.stderr, "the environment itself is still good"
    assert stamp(project)["key"] != before["key"]


def test_more_extras_are_added_and_kept(dev: ModuleType, project: Path, tmp_path: Path) -> None:
    assert stamp(project)["extras"] == sorted(dev.USE)
    done = stand_in.call(project, "lint", cwd=tmp_path)
    assert "installing" in done.stderr
    assert stamp(project)["extras"] == sorted(dev.DEVELOP)
    assert stand_in.call(project, "info", cwd=tmp_path).stderr == ""
    # the stand-in has neither ruff nor mypy, so every check fails and says so
    assert done.returncode == 1
    assert "failed: 0 of 3 steps ok" in done.stdout


def test_an_interrupted_environment_is_made_again(project: Path, tmp_path: Path) -> None:
    venv = project.parent / ".venv"
    (venv / "old").touch()
    (venv / "pliant-setup-unfinished").touch()  # what Ctrl-C leaves behind
    done = stand_in.call(project, "info", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "making it again" in done.stderr
    assert not (venv / "old").exists()
    assert not (venv / "pliant-setup-unfinished").exists()


def test_a_broken_environment_is_not_taken_for_a_good_one(
    dev: ModuleType, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dev, "VENV", project.parent / ".venv")
    assert dev.healthy()
    monkeypatch.setattr(dev, "VENV", tmp_path / "none")
    assert not dev.healthy()
    monkeypatch.setattr(dev, "VENV", tmp_path / "without pip")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(dev.VENV)], check=True)
    assert not dev.healthy()
    monkeypatch.setattr(dev, "VENV", project.parent / ".venv")
    monkeypatch.setattr(dev.sys, "version_info", (3, 99, 0))
    assert not dev.healthy(), "made by another Python"


def test_a_package_that_cannot_be_had_is_one_clear_line(project: Path, tmp_path: Path) -> None:
    needs, settings = project.parent / "needs.txt", project.parent / "pyproject.toml"
    needs.write_text("Requires-Dist: no-such-thing-at-all\n")
    before = settings.read_text()
    settings.write_text(before + "# again\n")
    done = stand_in.call(project, "info", cwd=tmp_path)
    needs.write_text("")
    settings.write_text(before + "# and again\n")
    assert done.returncode == 1
    assert "no ready-made no-such-thing-at-all" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    after = stand_in.call(project, "info", cwd=tmp_path)
    assert after.returncode == 0
    assert "making" not in after.stderr, "a refused installation leaves the environment whole"


@pytest.mark.parametrize(
    ("log", "cure"),
    [
        (
            "WARNING: Retrying ... NewConnectionError\nERROR: No matching distribution found for numpy",
            "network",
        ),
        ("ERROR: No matching distribution found for numba>=0.61\n", "no ready-made numba for Python"),
        ("noise\nERROR: [Errno 28] No space left on device\n", "No space left"),
        ("", "no output"),
    ],
)
def test_causes_are_read_from_the_log(
    dev: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: str, cure: str
) -> None:
    for name in ("LOG", "UNFINISHED"):
        monkeypatch.setattr(dev, name, tmp_path / name)
        (tmp_path / name).write_text(log)
    with pytest.raises(dev.SetupError, match=cure):
        dev.raise_from_log("pip could not install Pliant")


@pytest.mark.skipif(not POSIX, reason="file locks of POSIX")
def test_two_at_once_wait_for_each_other(project: Path, tmp_path: Path) -> None:
    (project.parent / ".venv" / "pliant-setup.json").unlink()
    argv = [sys.executable, str(project), "info"]
    env = stand_in.environment()
    pair = [
        subprocess.Popen(argv, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    said = [child.communicate(timeout=120)[1] for child in pair]
    assert [child.returncode for child in pair] == [0, 0]
    assert sum("installing" in text for text in said) == 1


# --- running ---------------------------------------------------------------------------------------


@pytest.mark.skipif(not POSIX, reason="process groups of POSIX")
def test_ctrl_c_lets_the_command_clean_up(project: Path, tmp_path: Path) -> None:
    argv = [sys.executable, str(project), "run", "wait"]
    child = subprocess.Popen(
        argv, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert child.stdout is not None
    child.stdout.readline()  # it runs
    time.sleep(0.1)
    os.killpg(child.pid, signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert child.returncode == 130
    assert out == "partial recording saved\n"
    assert "Traceback" not in err


def test_every_step_runs_and_one_failure_fails_all(
    dev: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    def step(name: str, code: int) -> tuple[str, str, list[str]]:
        return name, "at once", [sys.executable, "-c", f"raise SystemExit({code})"]

    assert dev.run_steps([step("one", 0), step("two", 0)]) == 0
    assert "all ok: 2 of 2 steps ok" in capfd.readouterr().out
    assert dev.run_steps([step("one", 0), step("two", 3), step("three", 0)]) == 3
    out = capfd.readouterr().out
    assert "FAILED (exit code 3)" in out
    assert "failed: 2 of 3 steps ok" in out


def test_paths_of_tests_work_from_another_folder(
    dev: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test_x.py").touch()
    assert dev.from_root("test_x.py::test_a") == str(tmp_path / "test_x.py::test_a")
    assert dev.from_root("tests/laws") == "tests/laws"
    assert dev.from_root("-k") == "-k"


def test_clean_removes_what_was_made_and_nothing_else(tmp_path: Path) -> None:
    copy = stand_in.make(tmp_path / "project")
    root = copy.parent
    kept = {path for path in root.rglob("*") if path.is_file()}
    for name in (".venv/bin/x", "build/x", "pliant.egg-info/x", ".mypy_cache/x", "pliant/__pycache__/x.pyc"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    done = stand_in.call(copy, "clean", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path for path in root.rglob("*") if path.is_file()} == kept
    assert "nothing to remove" in stand_in.call(copy, "clean", cwd=tmp_path).stderr
