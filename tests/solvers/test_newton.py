"""Newton: closed forms to 1e-8, static shapes that others tend to, refusals, the conformance suite."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import solid_fem

import pliant as pl
from pliant.errors import SolverError
from pliant.geometry.measures import triangle_stretches
from pliant.lab.conformance import ROWS, check_solver
from pliant.lab.conformance.case import Case, Run
from pliant.lab.conformance.specimens import G, chain, hanging_sheet, two_sheets
from pliant.materials import Fabric, SolidMaterial

Array = np.ndarray

CASE = Case(pl.Newton(), "float64", 1)
SOFT = Fabric("soft", areal_density=0.2, thickness=5e-4, youngs_modulus=4e5, poisson_ratio=0.3)
FOREVER = 1e5
"""A step so long [s] that inertia holds nothing: it ends at rest, to some 1e-10 of the way."""


def at_rest(model: Any, solver: pl.Newton | None = None) -> Run:
    """The static state near the start: a step that lasts for ever, and one more from there."""
    run = Run(solver or pl.Newton(), model, FOREVER)
    for _ in range(2):
        info = run.step()
        assert info.ok(), info
        run.state.set_v(0.0)
    return run


# --- closed forms ----------------------------------------------------------------------------------


def test_a_chain_hangs_by_the_sum_of_the_weights() -> None:
    model, weight = chain(CASE)
    run = at_rest(model)
    alpha = float(model.blocks["distance"].compliance[0, 0])
    sag = (model.x_rest - run.x[0])[:-2, 2].reshape(-1, 2)
    exact = alpha * np.cumsum(weight[: len(sag)][::-1])[::-1]
    np.testing.assert_allclose(sag, np.stack([exact, exact], axis=1), rtol=1e-8)
    np.testing.assert_allclose(-run.force("distance")[0, :, 0], weight, rtol=1e-8)


def test_a_hanging_strip_stretches_by_the_weight_below() -> None:
    """ARAP with Poisson's ratio 0 is quadratic in the stretch: each row by weight/(E t width)."""
    model = hanging_sheet(CASE, poisson=0.0)
    run = at_rest(model)
    n = round(np.sqrt(model.n_particles))
    width = float(np.ptp(model.x_rest[:, 0]))
    below = np.cumsum(G * model.mass.reshape(n, n).sum(axis=1))[:-1]
    stiffness = 1 / (model.blocks["membrane"].compliance[0, 0] * model.parts[0].rest_area[0])
    exact = width / (n - 1) * np.cumsum((below / (stiffness * width))[::-1])[::-1]
    sag = (model.x_rest - run.x[0])[:-n, 2].reshape(n - 1, n)
    np.testing.assert_allclose(sag, np.repeat(exact[:, None], n, axis=1), rtol=1e-8)


def hinge(fold: float, rest: float) -> pl.Model:
    """Two right triangles of 10 cm with nothing but an angle between them; vertex 3 is free, at ``fold``."""
    a = 0.1
    flat = np.array([[0, 0, 0], [a, 0, 0], [a / 2, a, 0], [a / 2, -a, 0.0]])
    mesh = pl.TriMesh(flat, np.array([[0, 1, 2], [1, 0, 3]]))
    scene = pl.Scene(gravity=(0, 0, 0))
    stiff = SOFT.with_(bending_rigidity=1e-3)
    scene.add_cloth(mesh, stiff, pins=[0, 1, 2], membrane="none", bending="dihedral")
    model = scene.build(1, "float64")
    block = model.blocks["dihedral"]
    x = model.x_rest.copy()
    x[3] = (a / 2, -a * np.cos(fold), a * np.sin(fold))
    return replace(
        model, x_rest=x, blocks={"dihedral": replace(block, params=np.full_like(block.params, rest))}
    )


@pytest.mark.parametrize("fold", [0.3, -0.4, 2.0])
def test_a_hinge_opens_as_the_closed_form_says(fold: float) -> None:
    """One step from rest: in polar coordinates about the edge the minimiser lies at r = a cos(d) and an angle
    d further with ``m/h^2 a^2 sin(d) cos(d) = k (theta_0 - theta - d)``."""
    model = hinge(fold, 0.0)
    h, a = 0.02, 0.1
    run = Run(pl.Newton(), model, h)
    sign = np.sign(run.x[0, 3, 2])
    run.step()
    k, m = 1 / model.blocks["dihedral"].compliance[0, 0], model.mass[3]

    def balance(d: float) -> float:
        return m / h**2 * a**2 * np.sin(d) * np.cos(d) - k * (abs(fold) - d)

    d = scipy.optimize.brentq(balance, 0, min(abs(fold), 0.7), xtol=1e-16)
    assert d > 0.01
    r, angle = a * np.cos(d), abs(fold) - d
    exact = np.array([a / 2, -r * np.cos(angle), sign * r * np.sin(angle)])
    np.testing.assert_allclose(run.x[0, 3], exact, atol=1e-8 * a)


@pytest.mark.parametrize("law", ["arap", "neo_hookean"])
@pytest.mark.parametrize("poisson", [0.0, 0.45])
def test_a_solid_bends_as_linear_elasticity_does(law: str, poisson: float) -> None:
    """Under next to no load the strain is small: the textbook's answer, for every Poisson's ratio."""
    mesh = pl.shapes.bar((0.4, 0.1, 0.1), (4, 2, 2))
    material = SolidMaterial("m", density=1000, youngs_modulus=1e6, poisson_ratio=poisson)
    held = np.flatnonzero(mesh.vertices[:, 0] == mesh.vertices[:, 0].min())
    gravity = np.array([0, 0, -1e-5])
    scene = pl.Scene(gravity=gravity)
    scene.add_solid(mesh, material, pins=held, law=law)
    run = at_rest(scene.build(1, "float64"))
    exact = solid_fem.displacement(mesh, material, solid_fem.weight(mesh, material, gravity), held)
    moved = run.x[0] - run.model.x_rest
    assert np.abs(moved - exact).max() < 1e-5 * np.abs(exact).max()


def test_a_rigid_limit_of_strain_holds_exactly() -> None:
    """A soft strip hung by its edge stretches up to the limit; what is more is carried rigidly."""
    scene = pl.Scene()
    fabric = SOFT.with_(youngs_modulus=2e3, poisson_ratio=0.0, strain_limit=0.02)
    scene.add_cloth(
        pl.shapes.grid(3, 9, (0.1, 0.4)),
        fabric,
        rotation=(np.pi / 2, 0, 0),
        pins=[24, 25, 26],
        bending="none",
    )
    sim = pl.Simulation(scene, pl.Newton(), dt=0.1)
    for _ in range(25):
        assert sim.step().ok()
        sim.state.set_v(0.2 * sim.state.v)
    model = sim.model
    part = model.parts[0]
    stretch = triangle_stretches(sim.x[0], part.triangles, part.inv_rest_matrix).max(axis=1)
    assert stretch.max() == pytest.approx(1.02, abs=1e-9)
    pull = -sim.constraint_forces("strain_limit")[0, :, 0]
    assert pull.min() >= 0 > -pull.max()
    assert np.all(np.abs(stretch[model.blocks["strain_limit"].file_order][pull[:] > 1e-6] - 1.02) < 2e-2)


# --- beside XPBD -----------------------------------------------------------------------------------


def hanging(bending: str, **more: Any) -> pl.Scene:
    scene = pl.Scene(air_drag=6.0)
    scene.add_cloth(
        pl.shapes.grid(5, 5, (0.2, 0.2)),
        SOFT.with_(bending_rigidity=2e-4),
        pins=[0, 4],
        bending=bending,
        **more,
    )
    return scene


@pytest.mark.parametrize("bending", ["isometric", "dihedral"])
def test_xpbd_comes_to_rest_where_newton_does(bending: str) -> None:
    """A sheet hung by two corners, and one that is bent: both to 2e-3 of its size with 40 substeps."""
    shapes = []
    for solver in (pl.Newton(), pl.XPBD(substeps=40)):
        sim = pl.Simulation(hanging(bending), solver, dt=1 / 30)
        for _ in range(75):
            sim.step()
        shapes.append(sim.x[0])
        speed = float(np.abs(sim.state.v).max())
        assert speed < 2e-2
    assert np.abs(shapes[0] - shapes[1]).max() < 2e-3 * 0.2


def test_xpbd_with_many_sweeps_stops_short_of_the_minimiser() -> None:
    """Many sweeps of one substep settle near the minimiser but not on it: XPBD drops the primal residual."""
    scene = hanging("isometric")
    reference = pl.Simulation(scene, pl.Newton(), dt=1 / 60)
    for _ in range(12):
        reference.step()
    state = reference.state.arrays()
    reference.step()
    away = []
    for sweeps in (20, 400, 800):
        other = pl.Simulation(hanging("isometric"), pl.XPBD(1, sweeps), dt=1 / 60)
        other.state.restore(state)
        other.step()
        away.append(float(np.abs(other.x - reference.x).max()) / 0.05)
    assert away[0] > away[1]
    assert away[2] == pytest.approx(away[1], rel=0.05)
    assert 1e-6 < away[2] < 0.05


@pytest.mark.parametrize("law", ["arap", "neo_hookean"])
def test_damping_is_that_of_xpbd(law: str) -> None:
    """A cube thrown out of shape: as h -> 0 both solvers follow one motion, undamped and damped."""
    ways = {}
    for tau in (0.0, 0.02):
        for name, solver in (("newton", pl.Newton(100)), ("xpbd", pl.XPBD(100))):
            scene = pl.Scene(gravity=(0, 0, 0))
            material = SolidMaterial("m", 1000, 1e4, 0.3, damping_time=tau)
            scene.add_solid(pl.shapes.bar((0.1, 0.1, 0.1), (1, 1, 1)), material, law=law)
            sim = pl.Simulation(scene, solver, dt=4e-3)
            sim.state.set_v(sim.model.x_rest * np.array([3.0, -1.0, 0.5]))
            sim.step()
            ways[tau, name] = sim.x[0] - sim.model.x_rest
    size = np.abs(ways[0.0, "newton"] - ways[0.02, "newton"]).max()
    assert size > 0.02 * np.abs(ways[0.0, "newton"]).max()
    for tau in (0.0, 0.02):
        assert np.abs(ways[tau, "newton"] - ways[tau, "xpbd"]).max() < 0.03 * size


def test_damping_of_a_small_bend_is_that_of_xpbd() -> None:
    """A sheet held at an edge and flicked: what damping does to it is the same within 3 %."""
    ways = {}
    for tau in (0.0, 0.02):
        for name, solver in (("newton", pl.Newton(40)), ("xpbd", pl.XPBD(40))):
            scene = pl.Scene(gravity=(0, 0, 0))
            sheet = SOFT.with_(bending_rigidity=2e-3, damping_time=tau)
            scene.add_cloth(pl.shapes.grid(4, 4, (0.15, 0.15)), sheet, pins=[0, 1, 2, 3])
            sim = pl.Simulation(scene, solver, dt=6e-3)
            x = sim.model.x_rest
            sim.state.set_v(np.stack([0 * x[:, 0], 0 * x[:, 0], 20 * (x[:, 1] - x[0, 1]) ** 2], axis=1))
            sim.step()
            ways[tau, name] = sim.x[0] - x
    size = np.abs(ways[0.0, "newton"] - ways[0.02, "newton"]).max()
    assert size > 0.02 * np.abs(ways[0.0, "newton"]).max()
    for tau in (0.0, 0.02):
        assert np.abs(ways[tau, "newton"] - ways[tau, "xpbd"]).max() < 0.03 * size


# --- the minimisation itself -----------------------------------------------------------------------


@pytest.mark.parametrize("modulus", [1e5, 1e7, 1e9])
def test_it_converges_quadratically_to_the_floor(modulus: float) -> None:
    """A bar bent under its weight: few iterations whatever the stiffness, the gradient at its rounding error,
    and no energy below that of the answer anywhere near it."""
    mesh = pl.shapes.bar((0.5, 0.1, 0.1), (8, 2, 2))
    scene = pl.Scene()
    held = np.flatnonzero(mesh.vertices[:, 0] == mesh.vertices[:, 0].min())
    scene.add_solid(mesh, SolidMaterial("m", 1000, modulus, 0.4), pins=held)
    sim = pl.Simulation(scene, pl.Newton(), dt=1 / 60)
    for _ in range(3):
        info = sim.step()
        assert info.ok()
        assert info.iterations <= 8
        assert info.primal_residual is not None
        assert info.primal_residual[0] < 1e-9 * 9.81 * 5.0
    objective = sim.workspace.objective
    best = objective.value((sim.x[0] - objective.base)[objective.free].ravel(), False, False)
    rng = np.random.default_rng(1)
    for size in (1e-4, 1e-6):
        other = objective.value(best.d + size * rng.normal(size=best.d.shape), False, False)
        assert objective.difference(other, best) > 0


@pytest.mark.parametrize("law", ["arap", "neo_hookean"])
def test_it_starts_from_crushed_elements(law: str) -> None:
    """An end of a bar is turned by a right angle at once: elements begin inside out, where rotations jump.

    What is called rounding there must not be all there is: the answer is in balance.
    """
    mesh = pl.shapes.bar((0.4, 0.1, 0.1), (8, 2, 2))
    ends = np.flatnonzero(np.abs(mesh.vertices[:, 0]) > 0.2 - 1e-9)
    scene = pl.Scene(gravity=(0, 0, 0))
    bar = scene.add_solid(mesh, SolidMaterial("m", 1000, 1e6, 0.4), pins=ends, law=law)
    sim = pl.Simulation(scene, pl.Newton(), dt=1 / 60)
    far = ends[mesh.vertices[ends, 0] > 0]
    x = mesh.vertices[far] - mesh.vertices[far].mean(axis=0)
    turned = np.stack([x[:, 2], x[:, 1], -x[:, 0]], axis=1)
    bar.set_targets(far, mesh.vertices[far].mean(axis=0) + turned)
    info = sim.step()
    assert info.ok()
    assert info.iterations > 3
    assert info.primal_residual is not None
    assert info.primal_residual[0] < 1e-9 * 1e6 * 0.1**2
    assert sim.step(report="full").primal_residual[0] < 1e-8 * 1e6 * 0.1**2  # type: ignore[index]


def test_a_budget_that_is_too_small_is_reported() -> None:
    scene = hanging("isometric")
    sim = pl.Simulation(scene, pl.Newton(max_iterations=1), dt=1 / 10)
    info = sim.step()
    assert info.status[0] == pl.Status.NOT_CONVERGED
    assert not info.ok()
    assert np.isfinite(sim.x).all()
    assert pl.Simulation(scene, pl.Newton(), dt=1 / 10).step().ok()


def test_worlds_are_alone() -> None:
    """Gravity, stiffness, force and targets of a world are its own, bit for bit what it does alone."""
    runs = []
    for ids in ([0, 1, 2], [1]):
        sim = pl.Simulation(two_sheets(contact=False), pl.Newton(substeps=2), worlds=len(ids))
        for local, k in enumerate(ids):
            sim.control.set_gravity((0, 0, -3.0 * k), local)
            sim.control.set_scale("membrane", 1.0 + k, local)
            sim.control.set_force((0, 1e-3 * k, 0), local)
        for _ in range(3):
            assert sim.step().ok()
        runs.append(sim.state.x)
    np.testing.assert_array_equal(runs[0][1], runs[1][0])
    assert np.abs(runs[0][1] - runs[0][2]).max() > 1e-4


def test_air_and_pressure_are_xpbds() -> None:
    """Of one loose sheet, on which nothing else acts, both solvers make the same step, to rounding."""
    ends = []
    for solver in (pl.Newton(substeps=3), pl.XPBD(substeps=3)):
        scene = pl.Scene(air_density=1.2, wind=(3.0, 1.0, 0.0), air_drag=0.3)
        sheet = scene.add_cloth(pl.shapes.grid(3, 3), SOFT, membrane="none", bending="none")
        scene.add_pressure(sheet, 2.0, open=True)
        sim = pl.Simulation(scene, solver)
        for _ in range(3):
            sim.step()
        ends.append((sim.x[0], np.array(sim.state.v[0])))
    np.testing.assert_allclose(ends[0][0], ends[1][0], atol=1e-13)
    np.testing.assert_allclose(ends[0][1], ends[1][1], atol=1e-11)


# --- what it refuses -------------------------------------------------------------------------------


def test_what_has_no_energy_is_refused_by_name() -> None:
    scene = hanging("isometric")
    with pytest.raises(SolverError, match="float64; build with that dtype"):
        pl.Simulation(scene, pl.Newton(), dtype="float32")
    scene.add_collider(pl.Plane(), friction=0.3, name="floor")
    with pytest.raises(SolverError, match=r"floor.*friction=0"):
        pl.Simulation(scene, pl.Newton())


@pytest.mark.parametrize(
    ("parameters", "words"),
    [({"substeps": 0}, "substeps"), ({"tolerance": 0.0}, "tolerance"), ({"max_iterations": 2.5}, "max_iter")],
)
def test_wrong_parameters_are_refused(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(SolverError, match=words):
        pl.Newton(**parameters)


# --- conformance -----------------------------------------------------------------------------------

ROWS_IN_SHORT = [
    "rest_flat",
    "rest_curved",
    "free_fall",
    "one_spring",
    "moving_end",
    "linear_momentum",
    "angular_momentum",
    "hung_weight",
    "hung_weight_in_air",
    "chain_forces",
    "sheet_forces",
    "gravity_per_world",
    "pins_never_move",
    "targets_are_hit",
    "protocol_is_stated",
    "non_finite_is_refused",
    "solid_rest",
    "solid_momentum",
    "solid_angular_momentum",
    "solid_pins",
    "solid_renumbering",
    "solid_units",
    "solid_reset",
]
"""What runs in a few seconds; docs/solvers/newton.md has the outcome of the whole suite."""


def test_the_conformance_suite_holds_in_short() -> None:
    report = check_solver(pl.Newton(), ("float64",), (2,), names=ROWS_IN_SHORT)
    assert report.ok, report
    assert report.count("not claimed") == 0
    assert report.count("passed") == len(ROWS_IN_SHORT)


def test_what_is_about_contact_is_not_claimed() -> None:
    names = [row.name for row in ROWS if row.claim == "contact"]
    report = check_solver(pl.Newton(), ("float64",), (1,), names=names)
    assert len(names) == 8
    assert {r.outcome for r in report.rows} == {"not claimed"}
    assert not any(r.finding.holds for r in report.rows)
