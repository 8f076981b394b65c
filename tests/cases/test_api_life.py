"""Life cycle: make, run and drop simulations again and again; the same bits, files and memory each time."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from numba import config

import pliant as pl
from tests.backend.copies import Run, ended

SOLVER = pl.XPBD(substeps=5)


def draped(worlds: int = 1, n: int = 9) -> pl.Simulation:
    """A cloth on a ball and a floor, with friction."""
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(n, n, (0.3, 0.3)), pl.fabrics.cotton, position=(0, 0, 0.205))
    scene.add_collider(pl.Sphere(0.1), position=(0, 0, 0.1), friction=0.4)
    scene.add_collider(pl.Plane(), friction=0.4)
    return pl.Simulation(scene, SOLVER, worlds=worlds)


def resident() -> float:
    """Memory that this process has in use [MiB]; 0 where the system does not tell."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 2**20
    except (ImportError, OSError):
        return 0.0


def open_files() -> int:
    """Number of open file descriptors; 0 where the system does not tell."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.is_dir() else 0


def test_a07_close_then_create_again() -> None:
    """A07: twenty times make, reset, step, drop; then two at once of which the first is dropped.

    Nothing crashes and every one gives the same bits. (There is no close: the last reference is. Processes:
    tests/test_life_cycle.py.)
    """
    results = []
    for _ in range(20):
        sim = draped()
        sim.reset()
        sim.run(steps=5, progress=False)
        results.append(sim.x)
        del sim
    one, two = draped(), draped()
    one.step()
    del one
    two.run(steps=5, progress=False)
    results.append(two.x)
    for x in results[1:]:
        np.testing.assert_array_equal(x, results[0])


def test_a08_resets_and_new_scenes_leak_nothing() -> None:
    """A08: 800 short episodes with contact, and 40 scenes made and dropped: under 5 MB and no file more."""

    def episodes(sim: pl.Simulation, n: int) -> None:
        for _ in range(n):
            sim.reset()
            sim.step()

    def scenes(n: int) -> None:
        for k in range(n):
            draped(n=5 + k % 7).step("full")

    sim = draped(n=13)
    episodes(sim, 100)
    scenes(14)
    gc.collect()
    memory, files = resident(), open_files()
    episodes(sim, 800)
    scenes(40)
    assert resident() - memory < 5
    assert open_files() == files


SCRIPT = """
import json
import pliant as pl
def fall(n):
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(n, n, (0.3, 0.3)), pl.fabrics.cotton, position=(0, 0, 0.205))
    scene.add_collider(pl.Sphere(0.1), position=(0, 0, 0.1), friction=0.4)
    scene.add_collider(pl.Plane(), friction=0.4)
    sim = pl.Simulation(scene, pl.XPBD(substeps=5))
    for _ in range(10):
        sim.step()
    return sim.x.tobytes().hex()
print(json.dumps([fall(9), fall(12)]))
"""


def script(folder: Path, seed: int, **env: str) -> Run:
    """The script in a fresh interpreter, in a folder of its own, with another seed of Python's hashes."""
    folder.mkdir()
    ours = {k: v for k, v in os.environ.items() if k != "PLIANT_QUIET"}
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        cwd=folder,
        env=ours | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": str(seed)} | env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    return ended(process, 300)


def script_kernels(folder: Path) -> set[str]:
    """Files of the kernel cache; other tests may add to them meanwhile."""
    return {p.name for p in folder.rglob("*.kernel")}


def test_a10_the_same_script_compiles_once(tmp_path: Path) -> None:
    """A10: other hash seeds, working folders and mesh sizes find the kernels of the first run, and add none.

    A home that cannot be written changes nothing either. (Damage, parallel compilation and growth of the
    cache: tests/backend/test_cache.py.)
    """
    from pliant.backend.cache import cache_folder

    place = str(cache_folder().parent.parent)  # whatever the home folder is
    first = script(tmp_path / "first", 0, NUMBA_CACHE_DIR=place)
    kept = script_kernels(cache_folder())
    assert kept
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    for k, (seed, env) in enumerate(((1, {}), (12345, {"HOME": str(home)}))):
        run = script(tmp_path / str(k), seed, NUMBA_CACHE_DIR=place, **env)
        assert run.lines("compil") == []
        assert run.result == first.result
    assert kept <= script_kernels(cache_folder())
    assert list(home.iterdir()) == []


def straight(worlds: int = 1) -> np.ndarray:
    sim = draped(worlds)
    info = sim.run(steps=60, progress=False)
    assert info.contacts.min() > 10
    return sim.x


def test_a11_the_same_run_twice_and_after_another() -> None:
    """A11: a drape with friction: the same bits again, and after another scene has run in between."""
    first = straight()
    other = pl.Scene()
    other.add_cloth(pl.shapes.disc(0.2, 0.04), pl.fabrics.denim, pins=[0], membrane="edges")
    pl.Simulation(other, pl.XPBD(substeps=3, order="jacobi")).run(steps=5, progress=False)
    np.testing.assert_array_equal(straight(), first)


@pytest.mark.skipif(config.NUMBA_NUM_THREADS < 2, reason="one core")
def test_a11_any_number_of_threads_gives_the_same_bits() -> None:
    """A11: one thread and two, for one world and for a batch of several tiles."""
    for worlds in (1, 40):
        seen = []
        for threads in (1, 2):
            pl.set_threads(threads)
            seen.append(straight(worlds))
        np.testing.assert_array_equal(*seen)


@pytest.mark.parametrize("worlds", [2, 16, 17])
def test_a11_a_world_does_not_depend_on_the_batch(worlds: int) -> None:
    """A11: world 0, and the last, of any batch is the single world bit for bit."""
    batch = straight(worlds)
    np.testing.assert_array_equal(batch[0], straight()[0])
    np.testing.assert_array_equal(batch[-1], batch[0])


def test_a11_another_process_gives_the_same_bits(tmp_path: Path) -> None:
    """A11: a fresh interpreter gives the bits of this one."""
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(9, 9, (0.3, 0.3)), pl.fabrics.cotton, position=(0, 0, 0.205))
    scene.add_collider(pl.Sphere(0.1), position=(0, 0, 0.1), friction=0.4)
    scene.add_collider(pl.Plane(), friction=0.4)
    sim = pl.Simulation(scene, SOLVER)
    for _ in range(10):
        sim.step()
    assert script(tmp_path / "c", 7).result[0] == sim.x.tobytes().hex()


@pytest.mark.parametrize("report", ["status", "full"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a13_the_first_step_is_like_any_other(dtype: str, report: str) -> None:
    """A13: a force that cancels gravity, staged before the first step: nothing falls, first or later.

    Making a simulation, compiling and reporting touch neither state nor forces, random numbers or time.
    """
    for _ in range(2):
        scene = pl.Scene()
        scene.add_cloth(pl.shapes.grid(5, 5), pl.fabrics.cotton)
        sim = pl.Simulation(scene, SOLVER, dtype=dtype, seed=3)
        lift = sim.model.mass[:, None] * -sim.model.gravity
        sim.control.set_force(lift)
        x = np.random.default_rng(0).normal(size=3) + sim.model.x_rest
        sim.state.set_x(x)
        assert sim.time == 0.0
        np.testing.assert_array_equal(sim.x[0], x.astype(dtype))
        for k in range(3):
            sim.step(report)
            assert np.abs(sim.state.v).max() < 1e-6 * (k + 1)
            assert sim.time == pytest.approx((k + 1) / 60)
        assert sim.rng.random() == np.random.default_rng(3).random()


def test_a13_a_report_leaves_no_trace() -> None:
    """A13: full reports, strains, forces and recordings on the way change no bit of the run."""
    plain, watched = draped(), draped()
    for k in range(10):
        plain.step()
        watched.step("full")
        watched.vertex_strain()
        watched.constraint_forces("membrane")
        json.dumps(watched.new_recording().meta)
        if k == 4:
            pl.self_intersections(watched.x[0], watched.scene.cloths[0].mesh.triangles)
    for name, array in plain.state.arrays().items():
        np.testing.assert_array_equal(array, watched.state.arrays()[name], err_msg=name)
