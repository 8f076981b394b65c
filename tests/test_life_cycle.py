"""From the first step to the last reference: memory, threads, processes and Ctrl-C with whole simulations."""

from __future__ import annotations

import copy
import gc
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

import pliant as pl
from pliant.backend.interrupts import held_back
from tests.backend.copies import Run, ended

POSIX = pytest.mark.skipif(os.name == "nt", reason="signals and forks of POSIX")


def small(n: int = 4, m: int = 5) -> tuple[pl.Scene, pl.Cloth]:
    """A cloth of n x m vertices above a ground that moves on, held at one corner."""
    scene = pl.Scene()
    cloth = scene.add_cloth(pl.shapes.grid(n, m), pl.fabrics.cotton, position=(0, 0, 0.2), pins=[0])
    scene.add_collider(pl.Plane(), motion=pl.Steady((0, 0, 0), velocity=(0.2, 0, 0)))
    return scene, cloth


def simulation(n: int = 4, m: int = 5) -> pl.Simulation:
    return pl.Simulation(small(n, m)[0], pl.XPBD(substeps=3))


def run(code: str, timeout: float = 300) -> Run:
    """A fresh interpreter that uses the same kernel cache as this one."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCENE + code],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    return ended(process, timeout)


SCENE = """
import json, multiprocessing, os, sys, threading
import pliant as pl

def simulation():
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(4, 5), pl.fabrics.cotton, position=(0, 0, 0.2), pins=[0])
    scene.add_collider(pl.Plane(), motion=pl.Steady((0, 0, 0), velocity=(0.2, 0, 0)))
    return pl.Simulation(scene, pl.XPBD(substeps=3))

def fall(steps=3):
    sim = simulation()
    for _ in range(steps):
        sim.step()
    return sim.x.sum()
"""


@pytest.fixture(scope="module")
def right() -> float:
    """What ``fall`` of the fresh interpreters must answer."""
    sim = simulation()
    for _ in range(3):
        sim.step()
    return float(sim.x.sum())


# --- memory ----------------------------------------------------------------------------------------


def resident() -> float:
    """Memory that this process has in use [MiB]."""
    import resource

    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 2**20
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # bytes, on macOS


def test_build_step_delete_in_flat_memory() -> None:
    sizes = [3 + (7 * k) % 23 for k in range(200)]
    alive: list[weakref.ref] = []

    def cycle(n: int) -> None:
        sim = simulation(n, n + 1)
        sim.step()
        sim.step("full")
        alive.extend(map(weakref.ref, (sim, sim.workspace, sim.model, sim.state, sim.control)))

    for n in sorted(set(sizes)):
        cycle(n)
    gc.collect()
    gc.disable()  # memory must come back without waiting for a collection
    try:
        before = resident()
        for n in sizes:
            cycle(n)
        after = resident()
        left = sum(ref() is not None for ref in alive)
    finally:
        gc.enable()
    assert len(alive) == 5 * (200 + len(set(sizes)))
    assert left == 0
    assert after - before < 4, f"{after - before:.1f} MiB more after 200 simulations"


def test_a_large_batch_is_given_back_at_once() -> None:
    scene, cloth = small(20, 20)
    sim = pl.Simulation(scene, worlds=64)
    size = sim.workspace.nbytes + 2 * sim.state.x_lanes.nbytes
    assert size > 5 * 2**20
    arrays = weakref.ref(sim.workspace)
    del sim
    assert arrays() is None
    with pytest.raises(pl.SceneError, match=r"make a pliant\.Simulation first, and keep it"):
        _ = cloth.x
    again = pl.Simulation(scene)
    assert cloth.x.shape == (1, 400, 3), "the handle follows the next simulation"
    assert again.scene is scene


def test_a_run_and_its_recording_are_given_back(tmp_path: Path) -> None:
    sim = simulation()
    sim.run(steps=2, record=tmp_path / "a.npz", progress=False)
    gone = weakref.ref(sim)
    del sim
    assert gone() is None


def test_copies_of_a_scene_live_their_own_lives() -> None:
    scene, cloth = small()
    sim = pl.Simulation(scene, pl.XPBD(substeps=3))
    for other in (copy.deepcopy(scene), pickle.loads(pickle.dumps(scene))):
        with pytest.raises(pl.SceneError, match="is not being simulated"):
            _ = other.cloths[0].x
        twin = pl.Simulation(other, pl.XPBD(substeps=3))
        twin.step()
        assert not np.array_equal(cloth.x, other.cloths[0].x)
        twin.reset()
        assert np.array_equal(cloth.x, other.cloths[0].x)
    assert cloth.simulation is sim


# --- threads ---------------------------------------------------------------------------------------


def test_two_python_threads_step_two_simulations(right: float) -> None:
    answers: dict[int, float] = {}
    start = threading.Barrier(2)

    def work(k: int) -> None:
        for _ in range(20):
            sim = simulation()
            start.wait(60)
            for _ in range(3):
                sim.step()
            answers[k] = answers.get(k, 0.0) + float(sim.x.sum())

    pair = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for thread in pair:
        thread.start()
    for thread in pair:
        thread.join(120)
    assert answers == {0: sum([right] * 20, 0.0), 1: sum([right] * 20, 0.0)}


def test_the_first_steps_of_a_process_may_come_from_two_threads(right: float) -> None:
    code = """
answers = []
pair = [threading.Thread(target=lambda: answers.append(fall())) for _ in range(2)]
for t in pair: t.start()
for t in pair: t.join()
print(json.dumps(answers))
"""
    assert run(code).result == [right, right]


# --- processes -------------------------------------------------------------------------------------

POOL = """
def in_child(method):
    '''What a child answers, or the error that it gets.'''
    context = multiprocessing.get_context(method)
    queue = context.SimpleQueue()
    child = context.Process(target=answer, args=(queue,))
    child.start()
    said = queue.get()
    child.join(60)
    return [said, child.exitcode]

def answer(queue):
    try:
        queue.put(fall())
    except pl.PliantError as error:
        queue.put(str(error))
"""


@POSIX
def test_a_fork_before_any_step_works(right: float) -> None:
    assert run(POOL + "print(json.dumps([in_child('fork'), fall()]))").result == [[right, 0], right]


@POSIX
def test_a_fork_after_a_step_gets_an_error_that_names_the_cure(right: float) -> None:
    (said, code), own = run(POOL + "fall(); print(json.dumps([in_child('fork'), fall()]))", 120).result
    assert "forked" in said
    assert 'multiprocessing.get_context("spawn")' in said
    assert code == 0
    assert own == right, "the parent goes on"


def test_spawned_workers_work_after_a_step(tmp_path: Path, right: float) -> None:
    script = tmp_path / "main.py"
    script.write_text(
        SCENE + POOL + "if __name__ == '__main__':\n    fall()\n    print(json.dumps(in_child('spawn')))\n"
    )
    process = subprocess.Popen(
        [sys.executable, str(script)], cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert ended(process, 300).result == [right, 0]


# --- Ctrl-C ----------------------------------------------------------------------------------------


@POSIX
def test_ctrl_c_leaves_whole_recordings_and_a_usable_state(tmp_path: Path) -> None:
    code = f"""
os.chdir({str(tmp_path)!r})
sim = simulation()
def before(s):
    if s.time > 20 * s.dt:
        print("running", flush=True)
try:
    sim.run(steps=10**6, record=["a.npz", "a.html"], before=before, progress=False)
except KeyboardInterrupt:
    sim.save("state.npz")
    raise
"""
    env = {k: v for k, v in os.environ.items() if k != "PLIANT_QUIET"}
    process = subprocess.Popen(
        [sys.executable, "-c", SCENE + code], cwd=ROOT, env=env | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    process.send_signal(signal.SIGINT)
    done = ended(process)
    assert done.code == -signal.SIGINT, done.err
    assert "KeyboardInterrupt" in done.err
    assert len(done.lines("stopping after this step")) == 1

    recording = pl.Recording.load_npz(tmp_path / "a.npz")
    assert len(recording) > 20
    assert recording.meta["report"]["time"] == pytest.approx(recording.times[-1])
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert page.rstrip().endswith("</html>")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.npz", "state.npz"]

    sim, straight = simulation(), simulation()
    sim.load(tmp_path / "state.npz")
    assert np.array_equal(recording.frames[-1], sim.x[0].astype(np.float32))
    for _ in range(len(recording) - 1):
        straight.step()
    assert sim.time == straight.time == recording.times[-1]
    assert np.array_equal(sim.x, straight.x)
    sim.step()
    straight.step()
    assert np.array_equal(sim.x, straight.x)


@POSIX
def test_ctrl_c_at_any_moment_leaves_whole_steps() -> None:
    straight = simulation()
    expected = {0: (straight.x, straight.state.v)}
    for k in range(1, 2001):
        straight.step()
        expected[k] = (straight.x, straight.state.v)
    rng = np.random.default_rng(0)
    stopped = []
    for twice in (False, True) * 15:
        sim = simulation()
        sim.step()
        delay = float(rng.uniform(1e-4, 8e-3))
        previous = signal.signal(signal.SIGALRM, lambda *_, twice=twice: interrupt(1 + twice))
        signal.setitimer(signal.ITIMER_REAL, delay)
        try:
            with pytest.raises(KeyboardInterrupt):
                sim.run(steps=10**6, progress=False)
        finally:
            signal.signal(signal.SIGALRM, previous)
        k = round(sim.time / sim.dt)
        x, v = expected[k]
        assert np.array_equal(sim.x, x), f"after {k} steps"
        assert np.array_equal(sim.state.v, v)
        sim.step()
        assert np.array_equal(sim.x, expected[k + 1][0])
        stopped.append(k)
    assert len(set(stopped)) > 3, "at different moments"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def interrupt(times: int) -> None:
    for _ in range(times):
        signal.raise_signal(signal.SIGINT)


@POSIX
def test_a_step_that_fails_has_not_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    from pliant.solvers.xpbd import solver

    sim = simulation()
    sim.step()
    x, v, t = sim.x, sim.state.v, sim.time

    def fails(*_: object) -> None:
        assert not np.array_equal(sim.state.x, x), "the step was under way"
        raise MemoryError

    monkeypatch.setattr(solver, "complete_report", fails)
    with pytest.raises(MemoryError):
        sim.step("full")
    assert np.array_equal(sim.x, x)
    assert np.array_equal(sim.state.v, v)
    assert sim.time == t
    sim.step("status")
    assert sim.time > t


def test_other_handlers_of_ctrl_c_are_left_alone() -> None:
    seen = []
    previous = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        with held_back() as held:
            signal.raise_signal(signal.SIGINT)
            held.raise_if_asked()
    finally:
        signal.signal(signal.SIGINT, previous)
    assert seen == [1]

    def elsewhere() -> None:
        with held_back() as held:
            held.raise_if_asked()
            seen.append(2)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join(10)
    assert seen == [1, 2]


def test_ctrl_c_while_the_recording_is_written_comes_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pliant import viewer

    write = viewer.write

    def interrupted(recording: pl.Recording, path: Path, progress: bool) -> Path:
        interrupt(1)
        return write(recording, path, progress)

    monkeypatch.setattr(viewer, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        simulation().run(steps=2, record=tmp_path / "a.npz", progress=False)
    assert len(pl.Recording.load_npz(tmp_path / "a.npz")) == 3


def test_a_run_reports_as_json() -> None:
    info = simulation().run(steps=2, progress=False)
    assert json.loads(json.dumps(info.to_dict()))["iterations"] == 3
