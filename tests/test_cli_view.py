"""``pliant view`` and ``run(view=True)``: served, watched, and ended with Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fakes
import numpy as np
import pytest
from conftest import ROOT
from test_live import read_frame
from test_server import ask

from pliant.cli import main
from pliant.viewer import live, write
from tests.falling_cloth import DT, simulation

SCENE = """
[scene]
title = "Handkerchief"
[simulation]
dt = 0.02
seconds = 0.1
substeps = 4
[[cloth]]
shape = { kind = "grid", nx = 6, ny = 6 }
material = "cotton"
position = [0, 0, 0.3]
pins = [0]
[[motion]]
times = [0.1]
offsets = [[0, 0, 0.2]]
"""

unix = pytest.mark.skipif(os.name == "nt", reason="signals to a child work differently on Windows")


@contextmanager
def viewing(*arguments: str) -> Iterator[str]:
    """The address that ``pliant view`` prints; ends it with Ctrl-C and sees that it ends well."""
    command = [sys.executable, "-m", "pliant", "view", *arguments, "--no-open"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    child = subprocess.Popen(command, env=environment, start_new_session=True, **pipes)
    assert child.stdout is not None
    try:
        address = child.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), child.stderr.read() if child.stderr else ""
        yield address
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 0, said
    assert "Traceback" not in said
    assert said.rstrip().endswith("closed")


@unix
@pytest.mark.parametrize("suffix", [".npz", ".html"])
def test_a_recording_is_served_until_ctrl_c(tmp_path: Path, suffix: str) -> None:
    path = write(fakes.flat_sheet(5, 3), tmp_path / f"a{suffix}")
    with viewing(str(path)) as address:
        status, page = ask(address)
        assert status == 200
        assert b"A sheet on the floor" in page
        assert b'id="recording"' in page
        assert ask(address + "frames")[0] == 404
        if suffix == ".html":
            assert page == path.read_bytes()


@unix
def test_a_scene_runs_when_a_browser_looks_pauses_at_its_end_and_starts_anew(tmp_path: Path) -> None:
    (tmp_path / "cloth.toml").write_text(SCENE, encoding="utf-8")
    with viewing(str(tmp_path / "cloth.toml"), "--speed", "0") as address:
        assert b"Handkerchief" in ask(address)[1]
        with urllib.request.urlopen(address + "frames", timeout=100) as stream:

            def wait(state: str, step: int) -> tuple[dict[str, Any], np.ndarray]:
                while True:
                    frame = read_frame(stream)
                    assert frame is not None
                    if (frame[0]["state"], frame[0]["step"]) == (state, step):
                        return frame[0], frame[1]

            header, end = wait("paused", 5)
            assert header["note"] == "done, 0.1 s"
            assert header["time"] == pytest.approx(0.1)
            assert ask(address + "command", b'{"do": "step"}')[0] == 204
            assert wait("paused", 6)[0]["time"] == pytest.approx(0.12)
            assert ask(address + "command", b'{"do": "reset"}')[0] == 204
            start = wait("paused", 0)[1]
            assert ask(address + "command", b'{"do": "run"}')[0] == 204
            again = wait("paused", 5)[1]
    assert np.array_equal(again, end)
    assert end[0, 2] > start[0, 2], "the pin was moved up"


@pytest.mark.parametrize(
    ("name", "words"),
    [("a.mp4", "scene files"), ("b.html", "not a page that Pliant wrote"), ("c.html", "cannot read"),
     ("d.npz", "no such file"), ("e.toml", "e.toml")],
)  # fmt: skip
def test_what_cannot_be_shown_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture, name: str, words: str
) -> None:
    (tmp_path / "b.html").write_text("<p>something else")
    assert main(["view", str(tmp_path / name), "--no-open"]) == 1
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


def test_a_bad_speed_is_wrong_usage(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit) as done:
        main(["view", "a.toml", "--speed", "-1"])
    assert done.value.code == 2
    assert "neither 0 nor between" in capsys.readouterr().err


# --- from Python -----------------------------------------------------------------------------------


class Browser:
    """Stands in for the user's: it reads all frames, in a thread."""

    def __init__(self, command: bytes | None = None) -> None:
        self.frames: list[Any] = []
        self.command = command
        self.thread: threading.Thread | None = None

    def open(self, address: str) -> bool:
        self.thread = threading.Thread(target=self.read, args=(address,))
        self.thread.start()
        return True

    def read(self, address: str) -> None:
        with urllib.request.urlopen(address + "frames", timeout=100) as stream:
            while (frame := read_frame(stream)) is not None:
                self.frames.append(frame)
                if self.command and len(self.frames) == 1:
                    ask(address + "command", self.command)


def test_a_run_is_watched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    user = Browser()
    monkeypatch.setattr(live, "open_browser", user.open)
    monkeypatch.setattr(live, "APART", 0.0)
    monkeypatch.setattr(live, "FAREWELL", 60.0)
    sim, alone = simulation(), simulation()
    sim.run(steps=6, world=2, view=True, record=tmp_path / "a.npz", progress=False)
    alone.run(steps=6, progress=False)
    assert user.thread is not None
    user.thread.join(60)
    header, local, _, _ = user.frames[-1]
    assert (header["state"], header["step"]) == ("over", 6)
    assert header["time"] == pytest.approx(6 * DT)
    spread = np.ptp(local, axis=0) / np.ptp(sim.x[2], axis=0)
    np.testing.assert_allclose(spread, spread[0], rtol=1e-4)  # the page's units are ours, scaled
    assert np.array_equal(sim.x, alone.x), "a run that is watched is the same run"


def test_ctrl_c_ends_a_run_that_was_paused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    user = Browser(b'{"do": "pause"}')
    monkeypatch.setattr(live, "open_browser", user.open)
    sim = simulation()
    turn, waits = live.LiveView.turn, []

    def turned(self: live.LiveView, now: float, make: Any, look: Any) -> str:
        def looked() -> None:
            waits.append(now)
            if len(waits) == 3:
                signal.raise_signal(signal.SIGINT)
            look()

        return turn(self, now, make, looked)

    monkeypatch.setattr(live.LiveView, "turn", turned)
    monkeypatch.setattr(live, "PACES", (1e-9, 1))
    with pytest.raises(KeyboardInterrupt):
        sim.run(seconds=1e6, view=True, record=tmp_path / "a.npz", progress=False)
    assert (tmp_path / "a.npz").exists()
    assert user.thread is not None
    user.thread.join(60)
    assert json.dumps(user.frames[-1][0]["state"]) == '"over"'


def test_without_a_browser_the_run_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(live, "open_browser", lambda address: False)
    monkeypatch.setenv("PLIANT_QUIET", "")
    info = simulation().run(steps=3, view=True, progress=False)
    assert info.time == pytest.approx(3 * DT)
    assert "watch at http://127.0.0.1:" in capsys.readouterr().err
