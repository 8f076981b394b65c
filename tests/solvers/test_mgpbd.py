"""MGPBD: Hessians and multipliers against Newton's, answers against Newton's minimiser, and its promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.errors import PliantError, SolverError
from pliant.lab.conformance import check_solver
from pliant.lab.conformance.specimens import SHEETS
from pliant.materials import Fabric, SolidMaterial
from pliant.solvers.mgpbd.descent import minimize
from pliant.solvers.mgpbd.potential import Potential
from pliant.solvers.newton.elements.base import positive
from pliant.solvers.newton.minimize import minimize as to_rounding
from pliant.solvers.newton.objective import Incremental

Array = np.ndarray
SHEET = Fabric("sheet", areal_density=0.2, thickness=5e-4, youngs_modulus=4e5, poisson_ratio=0.3)


def one_of_each(damping_time: float = 0.0) -> pl.Model:
    """A scene that has all laws of the list below between its bodies."""
    scene = pl.Scene()
    cloth = SHEET.with_(damping_time=damping_time)
    for k, membrane in enumerate(("triangles", "edges")):
        bending = ("isometric", "dihedral")[k]
        mesh = pl.shapes.grid(4, 4)
        scene.add_cloth(mesh, cloth, position=(2 * k, 0, 0), membrane=membrane, bending=bending)
    solid = SolidMaterial("m", 1000.0, 1e5, 0.4, damping_time=damping_time)
    for k, law in enumerate(("arap", "neo_hookean", "volume")):
        scene.add_solid(pl.shapes.bar((0.4, 0.1, 0.1), (3, 1, 1)), solid, position=(0, 2 + k, 0), law=law)
    return scene.build(1, "float64")


def begun(potential: Incremental, strain: float, seed: int = 3) -> Array:
    """Start a substep at rest; a way d that strains everything."""
    model = potential.model
    none = (np.zeros((0, 3)), np.zeros((0, 3)))
    potential.begin(model.x_rest, 0.01, dict.fromkeys(model.blocks, 1.0), none, np.zeros(0), 0)
    potential.place(model.x_rest, np.zeros_like(model.x_rest))
    rng = np.random.default_rng(seed)
    turn = np.eye(3) * (1 + strain) + strain * rng.normal(size=(3, 3))
    x = model.x_rest @ turn.T + strain * 0.02 * rng.normal(size=model.x_rest.shape)
    return (x - model.x_rest)[potential.free].ravel()


# --- elements --------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ["arap_tet", "neo_hookean", "membrane", "distance"])
def test_with_the_multipliers_of_the_positions_the_hessian_is_newtons(law: str) -> None:
    """Where it is positive, that is; a guard asks that most are."""
    ours = Potential(one_of_each())
    d = begun(ours, 0.05)
    z = ours.vectors(law, ours.way(d))
    m = ours.multipliers[law]
    m.terms(z, 2)
    assert not m.pull.any()
    m.linearise(np.zeros_like(z))
    m.follow(1.0)
    assert np.all(np.abs(m.pull).reshape(len(z), -1).max(axis=1) > 0)
    found = m.terms(z, 2).hessian
    exact = m.element.terms(z, 2, False).hessian
    assert found is not None
    assert exact is not None
    clear = np.linalg.eigvalsh(exact)[:, 0] > 0
    assert clear.mean() > 0.2
    size = np.abs(exact[clear]).max()
    assert np.abs(found - exact)[clear].max() < 1e-9 * size
    assert np.linalg.eigvalsh(found)[:, 0].min() > -1e-12 * size


@pytest.mark.parametrize("damping_time", [0.0, 0.01])
def test_energies_and_gradients_are_newtons(damping_time: float) -> None:
    ours, theirs = Potential(one_of_each(damping_time)), Incremental(one_of_each(damping_time))
    for strain in (1e-6, 0.05, 0.8):
        d = begun(ours, strain)
        begun(theirs, strain)
        found, exact = ours.value(d, False, False), theirs.value(d, False, False)
        assert np.abs(exact.energies).max() > 0
        assert np.abs(found.energies - exact.energies).max() < 1e-9 * np.abs(exact.energies).max()
        assert np.abs(found.gradient - exact.gradient).max() < 1e-9 * np.abs(exact.gradient).max()
        assert ours.expand(d).floor < 10 * theirs.value(d, True, False).floor


@pytest.mark.parametrize("damping_time", [0.0, 0.01])
def test_multipliers_are_linearised_to_first_order(damping_time: float) -> None:
    """The linear prediction misses the multipliers of the new place by the square of the way."""
    ours = Potential(one_of_each(damping_time))
    d = begun(ours, 0.02)
    step = begun(ours, 0.02, seed=8)
    left: dict[str, list[float]] = {law: [] for law in ours.multipliers}
    for way in (1e-3, 5e-4):
        ours.expand(d)
        ours.linearise(way * step)
        aims = {law: m.aim.copy() for law, m in ours.multipliers.items()}
        ours.expand(d + way * step)
        ours.linearise(0 * step)
        for law, m in ours.multipliers.items():
            assert np.abs(m.aim).max() > 0
            left[law].append(float(np.abs(aims[law] - m.aim).max()))
    assert {"distance", "membrane", "dihedral", "arap_tet", "neo_hookean", "volume"} <= set(left)
    for law, (wide, narrow) in left.items():
        assert narrow < 0.3 * wide, law


def test_matrices_are_positive_whatever_the_multipliers() -> None:
    """Wild pulls, and bodies turned inside out."""
    ours = Potential(one_of_each())
    d = begun(ours, 0.8)
    for m in ours.multipliers.values():
        m.kept[:] = 1e6 * np.random.default_rng(1).normal(size=m.kept.shape)
    value = ours.expand(d)
    for h in value.blocks:
        assert np.isfinite(h).all()
        assert np.linalg.eigvalsh(h)[:, 0].min() > -1e-9 * np.abs(h).max()
    step = ours.downhill(value)
    assert step is not None
    assert value.gradient @ step < 0


def test_positive_parts_differ_from_what_they_are_parts_of() -> None:
    """Guard: the deformations above do have negative curvature somewhere."""
    ours = Incremental(one_of_each())
    blocks = ours.value(begun(ours, 0.8), True, False).blocks
    assert any(np.abs(positive(h) - h).max() > 1e-3 * np.abs(h).max() for h in blocks)


# --- answers ---------------------------------------------------------------------------------------


def turned(x: Array, angle: float) -> Array:
    """A bar along x, its ends turned against each other."""
    out, middle = x.copy(), x.mean(axis=0)
    a = angle * ((x[:, 0] - x[:, 0].min()) / np.ptp(x[:, 0]) - 0.5)
    y, z = x[:, 1] - middle[1], x[:, 2] - middle[2]
    out[:, 1], out[:, 2] = (
        middle[1] + np.cos(a) * y - np.sin(a) * z,
        middle[2] + np.sin(a) * y + np.cos(a) * z,
    )
    return out


def gap(sim: pl.Simulation) -> float:
    """(E - E*)/(E(start) - E*) of the last step, E* by Newton's own iteration from the same start."""
    ours = sim.workspace.objective
    theirs = Incremental(sim.model)
    theirs.__dict__.update(
        {k: v for k, v in ours.__dict__.items() if k in ("base", "lag", "corners", "inertia", "held")}
    )
    theirs.elements = ours.elements
    out = to_rounding(theirs, np.zeros(ours.n), 1.0, 1e-30, 200)
    start = theirs.value(np.zeros(ours.n), False, False)
    here = theirs.value((sim.x[0] - ours.base)[ours.free].ravel(), False, False)
    return theirs.difference(here, out.value) / theirs.difference(start, out.value)


@pytest.mark.parametrize("modulus", [1e5, 1e7, 1e9])
@pytest.mark.parametrize("law", ["arap", "neo_hookean"])
def test_a_twisted_bar_finds_the_minimum(law: str, modulus: float) -> None:
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.shapes.bar((0.4, 0.1, 0.1), (12, 3, 3))
    scene.add_solid(mesh, SolidMaterial("m", 1000.0, modulus, 0.3), law=law)
    sim = pl.Simulation(scene, pl.MGPBD(), dt=0.01)
    sim.state.set_x(turned(sim.model.x_rest, np.pi))
    info = sim.step()
    assert info.ok()
    assert info.iterations <= (8 if law == "arap" else 10)
    assert -1e-12 < gap(sim) < 1e-6


def test_multipliers_of_the_positions_cost_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault: multipliers that are not unknowns but those of the positions: Newton's method."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_solid(pl.shapes.bar((0.4, 0.1, 0.1), (12, 3, 3)), SolidMaterial("m", 1000.0, 1e9, 0.0))
    expand, needed = Potential.expand, []

    def dependent(self: Potential, d: Array) -> Any:
        expand(self, d)
        self.linearise(np.zeros_like(d))
        for m in self.multipliers.values():
            m.pull[...] = m.aim
        return expand(self, d)

    for fault in (False, True):
        if fault:
            monkeypatch.setattr(Potential, "expand", dependent)
        sim = pl.Simulation(scene, pl.MGPBD(), dt=0.01)
        sim.state.set_x(turned(sim.model.x_rest, np.pi))
        needed.append(sim.step().iterations)
    assert needed[1] > needed[0], needed


def test_sheets_of_every_law_move_as_newton_moves_them() -> None:
    """Both of the conformance suite's specimens: all laws of cloth, ties, attachments and pins."""
    for sheets in SHEETS:
        ends = []
        for solver in (pl.Newton(), pl.MGPBD(tolerance=1e-9)):
            sim = pl.Simulation(sheets(contact=False), solver, dt=1 / 60)
            for _ in range(3):
                info = sim.step()
                assert info.ok()
            ends.append(sim.x[0])
            laws = list(sim.model.blocks)
            forces = {law: sim.constraint_forces(law)[0] for law in laws}
            if isinstance(solver, pl.Newton):
                exact = forces
        assert np.abs(ends[0] - ends[1]).max() < 1e-7
        for law in laws:
            size = np.abs(exact[law]).max()
            assert np.abs(forces[law] - exact[law]).max() < 1e-4 * max(size, 1e-3), law


def test_a_sheet_on_a_smooth_ball_lies_as_newton_lays_it() -> None:
    ends = []
    for solver in (pl.Newton(), pl.MGPBD(tolerance=1e-9)):
        scene = pl.Scene(air_drag=5.0)
        scene.add_cloth(pl.shapes.grid(7, 7, (0.3, 0.3)), SHEET, position=(0, 0, 0.105))
        scene.add_collider(pl.Sphere(radius=0.1), friction=0.0)
        sim = pl.Simulation(scene, solver, dt=1 / 60)
        for _ in range(3):
            info = sim.step()
        assert info.contacts[0] > 0
        ends.append(sim.x[0])
    assert np.linalg.norm(ends[1], axis=1).min() > 0.1 - 1e-9
    assert np.abs(ends[0] - ends[1]).max() < 1e-6


def test_worlds_keep_multipliers_of_their_own() -> None:
    """A world among others does what it does alone, and a reset forgets what it remembered."""
    scene = pl.Scene()
    scene.add_solid(
        pl.shapes.bar((0.4, 0.1, 0.1), (4, 1, 1)), SolidMaterial("m", 1000.0, 1e6, 0.3), pins=[0, 1]
    )
    sim = pl.Simulation(scene, pl.MGPBD(), dt=0.01, worlds=2)
    sim.control.set_gravity([(0, 0, -9.81), (0, 0, -30.0)])
    sim.step()
    kept = sim.workspace.objective.multipliers["arap_tet"].kept
    assert np.abs(kept[0]).max() > 0
    assert np.abs(kept[0] - kept[1]).max() > 0.1 * np.abs(kept[0]).max()
    alone = pl.Simulation(scene, pl.MGPBD(), dt=0.01)
    alone.step()
    np.testing.assert_array_equal(sim.x[0], alone.x[0])
    sim.reset(np.array([True, False]))
    assert not kept[0].any()
    assert kept[1].any()
    with pytest.raises(PliantError, match="arap_tet"):
        sim.workspace.restore({})


@pytest.mark.parametrize("modulus", [1e5, 1e9])
def test_multigrid_leads_to_the_same_minimum(modulus: float) -> None:
    """In as many outer iterations, and few inner ones; a world's bits do not depend on what went before."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_solid(pl.shapes.bar((0.4, 0.1, 0.1), (16, 4, 4)), SolidMaterial("m", 1000.0, modulus, 0.3))
    found, ends = [], []
    for linear in ("direct", "multigrid"):
        sim = pl.Simulation(scene, pl.MGPBD(linear=linear), dt=0.01)
        sim.state.set_x(turned(sim.model.x_rest, np.pi))
        found.append(sim.step())
        assert found[-1].ok()
        ends.append(sim.x[0])
    assert -1e-12 < gap(sim) < 1e-6
    assert found[1].iterations <= found[0].iterations + 1
    assert 0 < max(sim.workspace.objective.linear.iterations) <= 40
    sim.step()
    sim.reset()
    sim.state.set_x(turned(sim.model.x_rest, np.pi))
    sim.step()
    np.testing.assert_array_equal(sim.x[0], ends[1])


# --- promises and refusals -------------------------------------------------------------------------


def test_a_minimum_that_is_not_reached_is_reported() -> None:
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_solid(pl.shapes.bar((0.4, 0.1, 0.1), (4, 1, 1)), SolidMaterial("m", 1000.0, 1e7, 0.3))
    sim = pl.Simulation(scene, pl.MGPBD(max_iterations=2), dt=0.01)
    sim.state.set_x(turned(sim.model.x_rest, np.pi))
    info = sim.step()
    assert info.status[0] == pl.Status.NOT_CONVERGED
    assert minimize.__module__ == "pliant.solvers.mgpbd.descent"


def test_what_has_no_energy_is_refused_by_name() -> None:
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(3, 3), SHEET)
    with pytest.raises(SolverError, match=r"MGPBD.*float64; build with that dtype"):
        pl.Simulation(scene, pl.MGPBD(), dtype="float32")
    scene.add_collider(pl.Plane(), friction=0.3, name="floor")
    with pytest.raises(SolverError, match=r"MGPBD.*floor.*friction=0"):
        pl.Simulation(scene, pl.MGPBD())


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"substeps": 0}, "substeps"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"polish": -1}, "polish"),
        ({"linear": "qr"}, "linear"),
    ],
)
def test_wrong_parameters_are_refused(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(SolverError, match=words):
        pl.MGPBD(**parameters)


ROWS_IN_SHORT = [
    "rest_flat",
    "rest_curved",
    "free_fall",
    "one_spring",
    "angular_momentum",
    "hung_weight",
    "sheet_forces",
    "pins_never_move",
    "targets_are_hit",
    "protocol_is_stated",
    "non_finite_is_refused",
    "solid_rest",
    "solid_angular_momentum",
    "solid_renumbering",
    "solid_units",
    "solid_saved_and_resumed",
]
"""What runs in a few seconds; docs/solvers/mgpbd.md has the outcome of the whole suite."""


def test_the_conformance_suite_holds_in_short() -> None:
    report = check_solver(pl.MGPBD(), ("float64",), (2,), names=ROWS_IN_SHORT)
    assert report.ok, report
    assert report.count("passed") == len(ROWS_IN_SHORT)


def test_multigrid_stands_elements_without_stiffness() -> None:
    """Single elements of every law, slack limits of strain among them, whose matrix at rest is zero."""
    report = check_solver(pl.MGPBD(linear="multigrid"), ("float64",), (1,), names=["angular_momentum"])
    assert report.ok, report


def test_without_polish_momentum_is_not_claimed() -> None:
    assert pl.MGPBD().claims.momentum
    assert not pl.MGPBD(polish=0).claims.momentum
