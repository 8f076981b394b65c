"""Arguments: counts that the API gives, combinations of options, arrays of other libraries, gradients."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

import pliant as pl


class Elsewhere:
    """An array that lives on another device, or carries gradients: it refuses to become NumPy's."""

    def __init__(self, why: str) -> None:
        self.why = why

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise RuntimeError(self.why)


def hanging(worlds: int = 2, dtype: str = "float64") -> pl.Simulation:
    scene = pl.Scene()
    cloth = scene.add_cloth(pl.shapes.grid(5, 5), pl.fabrics.cotton, pins=[0, 4])
    scene.add_attachment(cloth, [24], stiffness=10.0)
    return pl.Simulation(scene, pl.XPBD(substeps=3), worlds=worlds, dtype=dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a12_actions_of_any_layout_do_the_same(dtype: str) -> None:
    """A12: forces as float64, float32, a list, in Fortran order, with strides, read-only: the same bits.

    What comes out has the precision of the simulation.
    """
    push = np.round(np.random.default_rng(0).random((2, 25, 3)), 3).astype(np.float32).astype(float)
    strided = np.zeros((2, 50, 6))
    strided[:, ::2, ::2] = push
    frozen = push.copy()
    frozen.flags.writeable = False
    ways = [push, push.astype(np.float32), push.tolist(), np.asfortranarray(push), strided[:, ::2, ::2]]
    ways.append(frozen)
    results = []
    for way in ways:
        sim = hanging(dtype=dtype)
        sim.control.set_force(way)
        sim.run(steps=3, progress=False)
        results.append(sim.x)
        for out in (sim.x, sim.state.v, sim.scene.cloths[0].x, sim.state.gather([3])):
            assert out.dtype == dtype
    for x in results[1:]:
        np.testing.assert_array_equal(x, results[0])


@pytest.mark.parametrize(
    "why",
    ["can't convert cuda:0 device type tensor to numpy", "Can't call numpy() on a tensor with gradients"],
)
def test_a12_an_array_from_another_device_is_named(why: str) -> None:
    """A12, A16: a tensor on a GPU, or one that asks for gradients, is refused with what it said; nothing is
    written. Gradients that are not there are never silently zero."""
    sim = hanging()
    before = sim.state.arrays() | sim.control.arrays()
    calls = [sim.state.set_x, sim.state.set_v, sim.control.set_force, sim.control.set_attachments]
    calls += [lambda a: sim.scene.cloths[0].set_targets([0], a), lambda a: sim.set(material_scale=a)]
    for call in calls:
        with pytest.raises(pl.PliantError, match=r"Elsewhere.*" + why.split("(")[0]):
            call(Elsewhere(why))
    after = sim.state.arrays() | sim.control.arrays()
    for name in before:
        np.testing.assert_array_equal(after[name], before[name], err_msg=name)


def test_a12_importing_and_stepping_touch_no_gpu() -> None:
    """A12: a run with no GPU to be seen is like any other, and loads no module of Numba's for GPUs."""
    code = (
        "import os, sys; os.environ['CUDA_VISIBLE_DEVICES'] = ''; import pliant as pl\n"
        "scene = pl.Scene(); scene.add_cloth(pl.shapes.grid(5, 5), pl.fabrics.cotton)\n"
        "sim = pl.Simulation(scene, pl.XPBD(substeps=3)); sim.step()\n"
        "gpu = ('numba.cuda.cudadrv.nvvm', 'torch', 'cupy')\n"
        "print(sim.time, [m for m in sys.modules if m.startswith(gpu)])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stdout.split(maxsplit=1)[1].strip() == "[]", done.stderr


@pytest.mark.parametrize(("nx", "ny"), [(6, 6), (2, 5), (7, 3)])
def test_a14_a_grid_says_how_many_vertices_it_has(nx: int, ny: int) -> None:
    """A14: grid(nx, ny) counts vertices, id = iy nx + ix, corners where that says; nobody adds one."""
    mesh = pl.shapes.grid(nx, ny, size=(2.0, 1.0))
    assert mesh.n_vertices == len(mesh.vertices) == nx * ny
    assert len(mesh.triangles) == 2 * (nx - 1) * (ny - 1)
    table = np.arange(nx * ny).reshape(ny, nx)
    x = mesh.vertices[table]
    assert (np.diff(x[..., 0], axis=1) > 0).all()
    assert (np.diff(x[..., 1], axis=0) > 0).all()
    corners = mesh.vertices[[0, nx - 1, nx * (ny - 1), nx * ny - 1], :2]
    np.testing.assert_array_equal(corners, [[-1, -0.5], [1, -0.5], [-1, 0.5], [1, 0.5]])
    assert "vertices" in (pl.shapes.grid.__doc__ or "")


def test_a14_slices_cover_every_particle_once() -> None:
    """A14: counts and slices come from the handles; sums over the cloths are those over all particles."""
    scene = pl.Scene()
    cloths = [
        scene.add_cloth(pl.shapes.grid(*n), pl.fabrics.cotton, position=(2 * k, 0, 0), pins=[0, n[0] - 1])
        for k, n in enumerate(((6, 6), (3, 4), (5, 2)))
    ]
    sim = pl.Simulation(scene, worlds=2)
    assert scene.n_particles == sim.model.n_particles == 36 + 12 + 10
    seen = np.zeros(scene.n_particles, int)
    for cloth in cloths:
        seen[cloth.vertices] += 1
        assert len(cloth.file_ids) == cloth.mesh.n_vertices == cloth.x.shape[1]
        np.testing.assert_array_equal(cloth.file_ids, np.arange(len(seen))[cloth.vertices])
        np.testing.assert_array_equal(cloth.x, sim.x[:, cloth.vertices])
    assert (seen == 1).all()
    total = sum(sim.model.mass[c.vertices] @ c.x[1] for c in cloths)
    np.testing.assert_allclose(total, sim.model.mass @ sim.x[1], rtol=1e-12, atol=1e-15)
    assert [int(p) for p in sim.model.pin_ids] == [0, 5, 36, 38, 48, 52]


OPTIONS: dict[str, tuple[Any, ...]] = {
    "membrane": ("triangles", "edges", "none"),
    "bending": ("isometric", "dihedral", "dihedral_acos", "none"),
    "order": ("colored", "sequential", "jacobi"),
    "iterations": (1, 3),
    "relaxation": (1.0, 0.7),
    "damping": (0.0, 1e-2),
    "air_drag": (0.0, 0.5),
    "pins": ((), (0, 4)),
    "attachment": (False, True),
    "collider": (None, pl.Plane(), pl.Sphere(0.1), pl.Box((0.2, 0.2, 0.2)), pl.Capsule(0.05, 0.2)),
    "friction": (None, 0.0, 0.5),
    "moving": (False, True),
    "force": (False, True),
    "scale": (False, True),
    "own rest shape": (False, True),
    "solver": ("XPBD", "PBD"),
    "worlds": (1, 3),
    "dtype": ("float64", "float32"),
    "report": ("status", "full"),
}


def pairwise(options: dict[str, tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Runs in which every pair of values of two options occurs together, by greedy choice; deterministic."""
    names = list(options)
    wanted = {
        (a, x, b, y)
        for a, b in itertools.combinations(names, 2)
        for x in range(len(options[a]))
        for y in range(len(options[b]))
    }
    rng = np.random.default_rng(0)
    runs = []
    while wanted:
        candidates = [{n: int(rng.integers(len(options[n]))) for n in names} for _ in range(60)]
        a, x, b, y = min(wanted)
        for candidate in candidates:
            candidate[a], candidate[b] = x, y

        def covered(run: dict[str, int]) -> set[tuple[str, int, str, int]]:
            pairs = {(p, run[p], q, run[q]) for p, q in itertools.combinations(names, 2)}
            return pairs & wanted  # noqa: B023

        best = max(candidates, key=lambda run: len(covered(run)))
        wanted -= covered(best)
        runs.append({n: options[n][k] for n, k in best.items()})
    return runs


RUNS = pairwise(OPTIONS)


@pytest.mark.parametrize("run", RUNS, ids=range(len(RUNS)))
def test_a15_every_pair_of_options_works(run: dict[str, Any]) -> None:
    """A15: a 5 x 5 cloth, 3 steps, every value of an option with every value of each other: finite, reported.

    No option needs another: there is no combination to refuse.
    """
    scene = pl.Scene(air_drag=run["air_drag"])
    mesh = pl.shapes.grid(5, 5, (0.3, 0.3))
    rest = mesh.transformed(scale=1.05) if run["own rest shape"] else None
    cloth = scene.add_cloth(
        mesh,
        pl.fabrics.cotton.with_(damping_time=run["damping"]),
        position=(0, 0, 0.12),
        pins=run["pins"],
        membrane=run["membrane"],
        bending=run["bending"],
        rest_mesh=rest,
    )
    if run["attachment"]:
        scene.add_attachment(cloth, [12], stiffness=5.0)
    if run["collider"] is not None:
        motion = pl.Steady((0, 0, 0), velocity=(0.1, 0, 0)) if run["moving"] else None
        scene.add_collider(run["collider"], friction=run["friction"], motion=motion)
    kinds = {"XPBD": pl.XPBD, "PBD": pl.PBD}
    solver = kinds[run["solver"]](
        substeps=4, iterations=run["iterations"], order=run["order"], relaxation=run["relaxation"]
    )
    sim = pl.Simulation(scene, solver, worlds=run["worlds"], dtype=run["dtype"], report=run["report"])
    if run["force"]:
        sim.control.set_force([0.0, 1e-4, 0.0])
    if run["scale"]:
        sim.set(material_scale=2.0, membrane_scale=0.5, bending_scale=np.arange(run["worlds"]) + 1)
    for _ in range(3):
        info = sim.step()
        assert info.ok()
        assert (info.energy is not None) == (run["report"] == "full")
    assert np.isfinite(sim.x).all()
    assert np.abs(sim.x - sim.model.x_rest).max() > 1e-4, "something moved"
    sim.reset()
    np.testing.assert_array_equal(sim.x[0], sim.model.x_rest.astype(run["dtype"]))


def test_a15_the_pairs_are_all_there() -> None:
    """A15: the runs above do contain every pair, and are few."""
    for (a, xs), (b, ys) in itertools.combinations(OPTIONS.items(), 2):
        assert {(repr(r[a]), repr(r[b])) for r in RUNS} == {(repr(x), repr(y)) for x in xs for y in ys}
    assert len(RUNS) < 60


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pl.Simulation(pl.Scene()), "empty: add a cloth"),
        (lambda: hanging(worlds=0), "worlds is 0"),
        (lambda: hanging(worlds=2.0), "worlds is 2.0"),  # type: ignore[arg-type]
        (lambda: hanging(dtype="float16"), "dtype is 'float16'"),
        (lambda: hanging().step("everything"), 'report is .*"status" or "full"'),
        (lambda: hanging().run(), "either seconds or steps"),
        (lambda: hanging().run(seconds=1, steps=3), "either seconds or steps"),
        (lambda: hanging().set(material_scale=0.0), "greater than 0"),
        (lambda: hanging().set(material_scale=[1.0, 2.0, 3.0]), r"\(3,\).*\(2,\)"),
        (lambda: pl.Simulation(hanging().scene, dt=0.0), "dt is 0"),
        (lambda: pl.XPBD(order="random"), "colored, sequential, jacobi"),
        (lambda: pl.Scene().add_cloth(pl.shapes.grid(3, 3), None), "must be a Fabric"),  # type: ignore[arg-type]
        (lambda: pl.Scene().add_cloth("shirt.obj", pl.fabrics.cotton), "pl.read_mesh"),  # type: ignore[arg-type]
    ],
)
def test_a15_what_makes_no_sense_is_said_in_words(call: Any, words: str) -> None:
    """A15: wrong arguments raise one of Pliant's errors, with the value and the cure."""
    with pytest.raises(pl.PliantError, match=words):
        call()


def test_a16_nothing_claims_to_be_differentiable() -> None:
    """A16: there are no gradients yet, and nothing that looks like them: no name, argument or promise."""
    suspects = ("grad", "backward", "adjoint", "jvp", "vjp", "tape", "differentiable")
    names = [n for n in dir(pl) if not n.startswith("_")]
    for owner in (pl.Simulation, pl.State, pl.Control, pl.XPBD, pl.PBD, pl.StepInfo, pl.Claims):
        names += [n for n in dir(owner) if not n.startswith("_")]
        names += list(inspect.signature(owner).parameters)
        names += [f.name for f in dataclasses.fields(owner)] if dataclasses.is_dataclass(owner) else []
    assert len(names) > 80
    assert [n for n in names if any(s in n.lower() for s in suspects)] == []
