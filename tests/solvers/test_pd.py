"""Projective dynamics: the minimiser of Newton, plain local and global steps, never uphill, refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse.linalg

import pliant as pl
from pliant.backend.threads import get_threads, set_threads
from pliant.errors import SolverError
from pliant.lab.conformance import ROWS, check_solver
from pliant.lab.conformance.case import Case, Run
from pliant.lab.conformance.specimens import SOFT, dress, two_sheets, two_solids, woven_sheets
from pliant.protocol import Status
from pliant.solvers.pd import workspace
from pliant.solvers.pd.matrix import constant_matrix, frame, inverse

Array = np.ndarray

EXACT = pl.PD(iterations=3000, history=10, tolerance=1e-10)
DT = 1 / 60


def case(solver: Any = EXACT, worlds: int = 1, dtype: str = "float64") -> Case:
    return Case(solver, dtype, worlds)


def thrown(solver: Any, model: pl.Model) -> Run:
    """A run whose world has speeds, stiffnesses and forces of its own."""
    run = Run(solver, model, DT)
    dress(run, case(solver))
    return run


@pytest.mark.parametrize("scene", [two_sheets, woven_sheets, two_solids])
def test_converged_steps_are_newtons(scene: Any) -> None:
    """Three steps at the same h, every law and damping, each from where Newton is: to 1e-8 of the extent."""
    model = case().taken(scene(contact=False).build(1, "float64"))
    exact, run = thrown(pl.Newton(), model), thrown(EXACT, model)
    extent = float(np.ptp(model.x_rest, axis=0).max())
    for _ in range(3):
        assert exact.step().ok()
        info = run.step()
        assert info.ok(), info
        assert np.abs(run.x - exact.x).max() < 1e-8 * extent
        for law in model.blocks.keys() - {"arap_tet"}:  # Newton counts its drag as a multiplier
            f = exact.force(law)
            assert np.abs(run.force(law) - f).max() < 1e-5 * np.abs(f).max(), law
        run.state.set_x(exact.x)
        run.state.set_v(exact.v)


def hung(n: int = 9, solver: Any = None, worlds: int = 1, **options: Any) -> pl.Simulation:
    """A sheet without Poisson's ratio, held at two corners."""
    fabric = SOFT.with_(poisson_ratio=0.0, bending_rigidity=1e-3)
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(n, n), fabric, pins=[0, n - 1])
    return pl.Simulation(scene, solver or pl.PD(), dt=DT, worlds=worlds, **options)


def local_global(model: pl.Model, x: Array, v: Array, h: float, iterations: int) -> Array:
    """Bouaziz et al. 2014, algorithm 1, in absolute positions: project all triangles, then solve for all."""
    free = model.inv_mass > 0
    b, k = model.blocks["membrane"], model.blocks["isometric"]
    g, w = frame(b.params.reshape(-1, 2, 2)), inverse(b.compliance[:, 0])
    a = scipy.sparse.diags_array(model.mass / h**2).tolil()
    for ids, spread, stiff in ((b.ids, g, w), (k.ids, k.params[:, :, None], inverse(k.compliance[:, 0]))):
        for row, s, c in zip(ids, spread, stiff, strict=True):
            a[np.ix_(row, row)] += c * s @ s.T
    a = a.tocsr()
    solve = scipy.sparse.linalg.splu(a[free][:, free].tocsc()).solve
    x_tilde = np.where(free[:, None], x + h * v + h**2 * model.gravity, x)
    x = x_tilde.copy()
    for _ in range(iterations):
        right = model.mass[:, None] / h**2 * x_tilde
        f = np.einsum("eam,eai->eim", g, x[b.ids])
        u, _, vt = np.linalg.svd(f, full_matrices=False)
        np.add.at(right, b.ids, np.einsum("e,eam,eim->eai", w, g, u @ vt))
        x[free] = solve(right[free] - a[free][:, ~free] @ x[~free])
    return x


def test_without_history_it_is_projective_dynamics() -> None:
    sim = hung(solver=pl.PD(iterations=5, history=0))
    for _ in range(4):
        x = local_global(sim.model, sim.x[0], sim.state.v[0], DT, 5)
        sim.step()
        np.testing.assert_allclose(sim.x[0], x, atol=1e-12)


def test_no_iteration_raises_the_potential() -> None:
    """From a crumpled start, with a stiff material and with history: E falls with every iteration."""
    rng = np.random.default_rng(5)
    crumpled = rng.normal(scale=0.05, size=(81, 3))
    found = []
    for iterations in (1, 2, 3, 5, 8, 13, 21):
        sim = hung(solver=pl.PD(iterations=iterations))
        sim.state.set_x(sim.x + crumpled)
        info = sim.step(report="full")
        assert info.incremental_potential is not None
        found.append(float(info.incremental_potential[0]))
    assert np.all(np.diff(found) <= 0), found
    assert found[-1] < 0.5 * found[0]


def test_a_world_that_is_stiffer_converges_to_its_own_minimum() -> None:
    sim, alone = hung(solver=EXACT, worlds=2), hung(solver=pl.Newton())
    sim.set(material_scale=[1.0, 7.0])
    alone.set(material_scale=7.0)
    for _ in range(3):
        assert sim.step().ok()
        assert alone.step().ok()
    np.testing.assert_allclose(sim.x[1], alone.x[0], atol=1e-7)
    assert np.abs(sim.x[0] - sim.x[1]).max() > 1e-3


def test_a_grip_lets_go_in_one_world_with_the_same_matrix() -> None:
    """World 0 is held by two more corners, world 1 is not: each ends where Newton ends for its own scene."""

    def held(solver: Any, grip: bool, worlds: int = 1) -> pl.Simulation:
        scene = pl.Scene()
        cloth = scene.add_cloth(pl.shapes.grid(9, 9), SOFT, pins=[0, 8])
        if grip:
            scene.add_attachment(cloth, [72, 80], stiffness=500.0)
        return pl.Simulation(scene, solver, dt=DT, worlds=worlds)

    sim = held(EXACT, True, 2)
    sim.set(attachment_scale=[1.0, 1e-12])
    factor = sim.workspace.factor(DT)
    one, other = held(pl.Newton(), True), held(pl.Newton(), False)
    for _ in range(3):
        for run in (sim, one, other):
            assert run.step().ok()
    assert sim.workspace.factor(DT) is factor
    np.testing.assert_allclose(sim.x[0], one.x[0], atol=1e-7)
    np.testing.assert_allclose(sim.x[1], other.x[0], atol=1e-7)
    assert np.abs(sim.x[0] - sim.x[1]).max() > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("stiffness", [50.0, 5000.0])
def test_a_grip_that_was_let_go_costs_no_iterations(stiffness: float) -> None:
    """After so many iterations a released world is as far from the exact steps as one without the grip."""

    def fallen(iterations: int, grip: bool) -> Array:
        fabric = SOFT.with_(youngs_modulus=2e6)
        scene = pl.Scene()
        cloth = scene.add_cloth(pl.shapes.grid(17, 17), fabric, pins=[0, 16])
        if grip:
            scene.add_attachment(cloth, [272, 288], stiffness=stiffness)
        sim = pl.Simulation(scene, pl.PD(iterations=iterations), dt=DT)
        if grip:
            sim.set(attachment_scale=1e-12)
        for _ in range(5):
            sim.step()
        return sim.x

    exact = fallen(2000, False)
    for iterations in (8, 16, 32):
        free, released = (np.abs(fallen(iterations, grip) - exact).max() for grip in (False, True))
        assert free > 1e-4
        assert released < 1.3 * free, iterations


def test_a_tolerance_that_is_not_reached_is_reported() -> None:
    info = hung(solver=pl.PD(iterations=2, tolerance=1e-9)).step()
    assert info.status[0] == Status.NOT_CONVERGED
    assert hung(solver=pl.PD(iterations=2)).step().ok()


def test_the_matrix_is_the_hessian_at_rest_of_what_is_quadratic() -> None:
    """Inertia and isometric bending: A is their Hessian, the same for all axes."""
    model = hung(5).model
    model = replace(model, blocks={"isometric": model.blocks["isometric"]})
    inertia = np.append(model.mass, np.zeros(32 - model.n_particles)) / DT**2
    a, unit = constant_matrix(model, 32, inertia, DT)
    run = Run(pl.Newton(), model, DT)
    run.step()
    objective = run.workspace.objective
    value = objective.value(np.zeros(objective.n), hessian=True, projected=False)
    exact = objective.pattern.matrix(objective.matrix(value)).toarray()[::3, ::3]
    free = np.flatnonzero(model.inv_mass > 0)
    np.testing.assert_allclose(unit * a.toarray()[np.ix_(free, free)], exact, rtol=1e-12, atol=1e-12)


def test_a_team_has_the_bits_of_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "TEAMWORK", 1000)
    before, found = get_threads(), []
    try:
        for threads in (1, 2):
            set_threads(threads)
            sim = hung(41)
            assert sim.workspace.teamwork == (threads > 1)
            for _ in range(2):
                sim.step()
            assert np.abs(sim.x - sim.model.x_rest).max() > 1e-3
            found.append((sim.x, sim.state.v))
    finally:
        set_threads(before)
    np.testing.assert_array_equal(found[0], found[1])


def test_what_it_cannot_solve_is_refused_by_name() -> None:
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(3, 3), pl.fabrics.cotton)
    scene.add_collider(pl.Plane(), name="floor")
    with pytest.raises(SolverError, match='PD cannot solve this scene: the collider "floor"'):
        pl.Simulation(scene, pl.PD())
    model = woven_sheets(contact=False).build(1, "float64")
    with pytest.raises(SolverError, match='rigid constraints of law "strain_limit"'):
        pl.PD().init(model)
    for wrong in ({"iterations": 0}, {"substeps": 0.5}, {"history": -1}, {"tolerance": 1.0}):
        with pytest.raises(SolverError, match=f"PD: {next(iter(wrong))} is"):
            pl.PD(**wrong)  # type: ignore[arg-type]


QUICK = (
    "free_fall",
    "rest_flat",
    "linear_momentum",
    "angular_momentum",
    "units_powers_of_two",
    "masked_reset",
)
"""Rows for every day; the others take minutes and are marked slow."""


@pytest.mark.parametrize(("dtype", "worlds"), [("float64", 1), ("float32", 5)])
def test_conformance_every_day(dtype: str, worlds: int) -> None:
    check_solver(pl.PD(iterations=60), [dtype], [worlds], names=QUICK).raise_on_failure()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "worlds"), [("float64", 1), ("float64", 5), ("float32", 1), ("float32", 64)]
)
def test_conformance(dtype: str, worlds: int) -> None:
    """All rows but two. A step of 60 iterations leaves more small objects of Python's than a row allows; and
    a search in float32 that is cut short makes 1e-4 of the extent of the rounding of other units."""
    left_out = {"nothing_large_is_made"} | ({"units_any_factor"} if dtype == "float32" else set())
    names = [row.name for row in ROWS if row.name not in left_out]
    check_solver(pl.PD(iterations=60), [dtype], [worlds], names=names).raise_on_failure()
    check_solver(pl.PD(), [dtype], [worlds], names=["nothing_large_is_made"]).raise_on_failure()


@pytest.mark.slow
def test_a_thousand_worlds() -> None:
    names = ("free_fall", "rest_flat", "linear_momentum", "masked_reset", "bits_run_to_run", "bits_batch")
    check_solver(pl.PD(), ["float32"], [1000], names=names).raise_on_failure()
