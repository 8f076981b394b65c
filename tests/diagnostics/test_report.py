"""The report of a step against a slow twin written here, and against differences of its own energy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.diagnostics.report import elastic_energy, law_values
from pliant.laws import LAWS
from pliant.model import Model
from tests.laws.batches import evaluate

Array = np.ndarray

H = 1 / 240


def everything(worlds: int = 2, dtype: str = "float64", colliders: bool = False) -> pl.Simulation:
    """A scene with every law, springs, pins, forces, drag and stiffness factors, in motion; one substep."""
    scene = pl.Scene(gravity=(0.5, 0.0, -9.81), air_drag=0.3)
    fabric = pl.fabrics.cotton.with_(bending_rigidity=2e-4, damping_time=0.0)
    mesh = pl.shapes.unstructured((0.4, 0.3), 0.1, seed=1)
    tent = mesh.vertices * [0.97, 1.02, 1.0] + 0.02 * np.sin(17 * mesh.vertices[:, [1, 2, 0]]) * [0, 0, 1]
    common: dict[str, Any] = {"start": tent + np.array([0.0, 0.0, 0.21])}
    first = scene.add_cloth(mesh, fabric, pins=[0, 3], **common)
    scene.add_cloth(mesh, fabric, membrane="edges", bending="dihedral", velocity=(0.1, 0, 0), **common)
    scene.add_cloth(mesh, fabric, membrane="none", bending="dihedral_acos", **common)
    woven = fabric.with_(weft_modulus=5e5, shear_modulus=1e5, strain_limit=0.02)
    bowl = pl.TriMesh(mesh.vertices + (mesh.vertices[:, :2] ** 2 @ [[0, 0, 2], [0, 0, -1]]), mesh.triangles)
    scene.add_cloth(mesh, woven, rest_mesh=bowl, warp_direction=(1, 0.3, 0), bending="curved", **common)
    scene.add_attachment(
        first, [5, 9], targets=first.mesh.vertices[[5, 9]] + [0.01, 0.0, 0.02], stiffness=30.0
    )
    scene.add_attachment(scene.cloths[1], [2, 7, 8], first, stiffness=40.0)
    rubber = pl.SolidMaterial(density=300.0, youngs_modulus=2e4, poisson_ratio=0.3)
    for k, law in enumerate(("arap", "neo_hookean", "volume")):
        scene.add_solid(pl.shapes.bar((0.1, 0.1, 0.1), (1, 1, 1)), rubber, (0.2 * k, 1, 0.5), law=law)
    if colliders:
        scene.add_collider(pl.Plane(), position=(0.0, 0.0, 0.2), friction=0.3)
    sim = pl.Simulation(scene, pl.XPBD(substeps=1, iterations=4), H, worlds, dtype)
    rng = np.random.default_rng(3)
    sim.state.set_v(0.2 * rng.standard_normal(sim.x.shape[1:]))
    sim.control.set_force(0.01 * rng.standard_normal(sim.x.shape[1:]))
    sim.set(membrane_scale=np.linspace(1.0, 1.7, worlds), bending_scale=np.linspace(1.0, 0.6, worlds))
    sim.step()
    return sim


# --- the slow twin ---------------------------------------------------------------------------------


def twin_values(law: str, x: Array, p: Array) -> Array:
    """Constraint values (r,) of one constraint, corners x (c, 3), written from the formulas of its page."""
    if law == "distance":
        return np.array([np.linalg.norm(x[0] - x[1]) - p[0]])
    if law == "membrane":
        f = np.stack([x[1] - x[0], x[2] - x[0]], axis=1) @ p.reshape(2, 2)
        s = np.linalg.svd(f, compute_uv=False)
        return np.array([np.hypot(*(s - 1)), s.sum() - 2])
    if law in ("arap_tet", "neo_hookean", "volume"):
        f = (x[1:] - x[0]).T @ p.reshape(3, 3)
        j, s = np.linalg.det(f), np.linalg.svd(f, compute_uv=False)
        s[2] *= np.sign(j)
        rows = {
            "arap_tet": [np.linalg.norm(s - 1), s.sum() - 3],
            "neo_hookean": [np.sqrt(s @ s - 4 * j + j * j), j - 1],
            "volume": [j - 1],
        }
        return np.array(rows[law])
    if law == "tie":
        normal = np.cross(x[2] - x[1], x[3] - x[1])
        return x[0] - p[:3] @ x[1:] - p[3] * normal / np.linalg.norm(normal)
    if law in ("orthotropic", "strain_limit"):
        f = np.stack([x[1] - x[0], x[2] - x[0]], axis=1) @ p[:4].reshape(2, 2)
        if law == "strain_limit":
            return np.array([np.linalg.norm(f, 2) - p[4]])
        warp, weft = np.linalg.norm(f, axis=0)
        return np.array([warp - 1 + p[4] * (weft - 1), weft - 1, f[:, 0] @ f[:, 1] / (warp * weft)])
    if law == "isometric":
        return p @ x
    n1, n2 = np.cross(x[1] - x[0], x[2] - x[0]), np.cross(x[3] - x[0], x[1] - x[0])
    if law == "curved":
        v = p[:4] @ x
        return np.array([np.sign(v @ (n1 + n2)) * np.linalg.norm(v) - p[4]])
    n1, n2 = n1 / np.linalg.norm(n1), n2 / np.linalg.norm(n2)
    angle = np.arccos(np.clip(n1 @ n2, -1, 1))
    if law == "dihedral_acos":
        return np.array([angle - p[0]])
    signed = angle * np.sign(np.cross(n1, n2) @ (x[1] - x[0]))
    return np.array([(signed - p[0] + np.pi) % (2 * np.pi) - np.pi])


def twin_elastic(sim: pl.Simulation, x: Array, world: int) -> float:
    """sum k C^2/2 of one world, one constraint after the other."""
    total = 0.0
    for law, block in sim.model.blocks.items():
        factor = float(sim.control.scale[law][0, world])
        for c in range(len(block)):
            if law == "attachment":
                target = sim.control.attachment_targets[0, block.file_order[c], :, world]
                value = x[block.ids[c, 0]] - target
            else:
                value = twin_values(law, x[block.ids[c]], block.params[c])
            for r, alpha in enumerate(block.compliance[c]):
                if np.isfinite(alpha) and alpha > 0:
                    total += factor * value[r] ** 2 / (2 * alpha)
    return total


def energy_of(sim: pl.Simulation, x: Array) -> Array:
    """The report's elastic energy (W,) at positions (N, 3) in all worlds."""
    state = sim.state.copy()
    state.set_x(x)
    values, _ = law_values(sim.model, state, sim.control, no_force(sim.model))
    return elastic_energy(sim.model, sim.control, values)


def no_force(model: Model) -> dict[str, Array]:
    return {law: np.zeros((model.n_worlds, *b.compliance.shape)) for law, b in model.blocks.items()}


# --- energies --------------------------------------------------------------------------------------


def test_energies_and_momenta_are_those_of_the_twin() -> None:
    sim = everything()
    assert set(sim.model.blocks) == set(LAWS), "every law is in it"
    info = sim.step("full")
    m, g = sim.model.mass, sim.model.gravity
    for w in range(2):
        x, v = sim.state.x[w], sim.state.v[w]
        assert info.elastic[w] == pytest.approx(twin_elastic(sim, x, w), rel=1e-10)
        assert info.kinetic[w] == pytest.approx(
            sum(0.5 * m[i] * v[i] @ v[i] for i in range(len(m))), rel=1e-12
        )
        assert info.potential[w] == pytest.approx(-sum(m[i] * g @ x[i] for i in range(len(m))), rel=1e-12)
        momentum = sum(m[i] * v[i] for i in range(len(m)))
        np.testing.assert_allclose(info.momentum[w], momentum, rtol=1e-10)
        spin = sum(np.cross(x[i], m[i] * v[i]) for i in range(len(m)))
        np.testing.assert_allclose(info.angular_momentum[w], spin, rtol=1e-9, atol=1e-12)
    assert (info.elastic > 0.0).all()
    assert info.elastic[0] != info.elastic[1], "the worlds differ in stiffness"


def test_each_law_has_its_share_of_the_energy() -> None:
    sim = everything(worlds=1)
    values, _ = law_values(sim.model, sim.state, sim.control, no_force(sim.model))
    for law, value in values.items():
        part = elastic_energy(sim.model, sim.control, {law: value})[0]
        assert part > 1e-9 if law != "strain_limit" else part == 0.0, law
        block = sim.model.blocks[law]
        if law != "attachment":
            x = sim.state.x[0]
            slow = np.array([twin_values(law, x[i], p) for i, p in zip(block.ids, block.params, strict=True)])
            np.testing.assert_allclose(value[0], slow, atol=1e-12, err_msg=law)


def test_the_gradient_is_the_difference_of_the_energy() -> None:
    sim = everything()
    x = sim.state.x[0]
    state = sim.state.copy()
    state.set_x(x)
    _, g = law_values(sim.model, state, sim.control, no_force(sim.model))
    eps = 1e-6
    for i in range(0, len(x), 3):
        for m in range(3):
            step = np.zeros_like(x)
            step[i, m] = eps
            slope = (energy_of(sim, x + step) - energy_of(sim, x - step)) / (2 * eps)
            np.testing.assert_allclose(g[:, i, m], slope, atol=1e-6 * np.abs(g).max())
    assert (np.abs(g).max(axis=(1, 2)) > 1e-3).all()


# --- residuals -------------------------------------------------------------------------------------


def limits_of(sim: pl.Simulation, x: Array, world: int) -> float:
    """-lambda/h^2 C of all limits of strain in a world, with the multipliers of the last step."""
    block = sim.model.blocks["strain_limit"].in_file_order()
    lam = sim.solver.multipliers(sim.model, sim.workspace, "strain_limit")[world, :, 0]
    rows = np.flatnonzero(lam)
    c = np.array([twin_values("strain_limit", x[block.ids[k]], block.params[k])[0] for k in rows])
    return float(-(lam[rows] / H**2) @ c)


def residual_twin(sim: pl.Simulation, x_start: Array, v_start: Array, world: int) -> tuple[float, float]:
    """|M (x - x~)/h^2 + grad U| over free particles, and E(x), with grad U by differences of the energy.

    Rigid rows have none: they pull with -lambda/h^2, whose potential is -lambda/h^2 C while lambda stays.
    Drag is implicit, v = v* - h k v, so that a force meets the inertia m (1 + h k).
    """
    model, x = sim.model, sim.state.x[world]
    force = np.moveaxis(sim.control.f_ext[0], -1, 0)[world]
    a = model.gravity + force * model.inv_mass[:, None]
    x_tilde = x_start[world] + H * (v_start[world] + H * a) / (1 + H * model.air_drag)
    free = model.inv_mass > 0
    mass = model.mass * (1 + H * model.air_drag)
    inertia = mass[:, None] * (x - x_tilde) / H**2
    eps = 1e-6
    slope = np.empty_like(x)
    for i in range(len(x)):
        for m in range(3):
            step = np.zeros_like(x)
            step[i, m] = eps
            slope[i, m] = (energy_of(sim, x + step) - energy_of(sim, x - step))[world] / (2 * eps)
            slope[i, m] += (limits_of(sim, x + step, world) - limits_of(sim, x - step, world)) / (2 * eps)
    lag = (x - x_tilde)[free]
    incremental = 0.5 / H**2 * (mass[free, None] * lag**2).sum() + twin_elastic(sim, x, world)
    return float(np.linalg.norm((inertia + slope)[free])), float(incremental)


def test_primal_residual_and_incremental_potential_are_those_of_the_twin() -> None:
    sim = everything()
    x, v = sim.state.x, sim.state.v
    info = sim.step("full")
    assert (info.multipliers["strain_limit"][0] < 0.0).all(), "some triangles are at their limit"
    for w in range(2):
        residual, incremental = residual_twin(sim, x, v, w)
        assert info.primal_residual[w] == pytest.approx(residual, rel=1e-5)
        assert info.incremental_potential[w] == pytest.approx(incremental, rel=1e-9)
    assert (info.primal_residual > 1e-6).all()


def test_constraint_residuals_and_multipliers_are_those_of_the_solver() -> None:
    sim = everything()
    info = sim.step("full")
    for law, block in sim.model.blocks.items():
        file = block.in_file_order()
        lam = sim.solver.multipliers(sim.model, sim.workspace, law)
        for w in range(2):
            x, alpha = sim.state.x[w], file.compliance / sim.control.scale[law][0, w]
            if law == "attachment":
                value = x[file.ids[:, 0]] - sim.control.attachment_targets[0, :, :, w]
            else:
                value = np.array(
                    [twin_values(law, x[i], p) for i, p in zip(file.ids, file.params, strict=True)]
                )
            residual = np.abs(value + alpha / H**2 * lam[w])
            if law == "strain_limit":
                assert (lam[w] <= 0.0).all()
                residual = np.where(lam[w] < 0.0, residual, np.maximum(value, 0.0))
            stated = {name: number[w] for name, number in info.constraint_residual[law].items()}
            expected = {"mean": residual.mean(), "p95": np.percentile(residual, 95), "max": residual.max()}
            size = np.abs(value).max()
            for name, number in expected.items():
                assert stated[name] == pytest.approx(number, rel=1e-6, abs=1e-11 * size), (law, name)
            assert stated["max"] > 0.0
            low, high = (bound[w] for bound in info.multipliers[law])
            assert (low, high) == pytest.approx((lam[w].min() / H**2, lam[w].max() / H**2), rel=1e-12)


def test_iterating_lowers_what_the_report_calls_a_residual() -> None:
    """A spring and a weight: one constraint is solved exactly, so both residuals are rounding."""
    scene = pl.Scene()
    fabric = pl.fabrics.cotton.with_(damping_time=0.0)
    one = scene.add_cloth(pl.shapes.grid(2, 2), fabric, membrane="none", bending="none")
    scene.add_attachment(one, [0, 1, 2, 3], stiffness=50.0)
    sim = pl.Simulation(scene, pl.XPBD(substeps=1), H)
    weight = float(np.linalg.norm(sim.model.mass) * 9.81)
    for _ in range(5):
        info = sim.step("full")
        assert info.primal_residual[0] < 1e-9 * weight
        assert info.constraint_residual["attachment"]["max"][0] < 1e-15
    assert info.elastic[0] > 0.0


# --- special cases ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_free_fall_is_in_balance(dtype: str) -> None:
    scene = pl.Scene(air_drag=0.2)
    scene.add_cloth(
        pl.shapes.grid(3, 3), pl.fabrics.wool, membrane="none", bending="none", velocity=(1, 2, 3)
    )
    sim = pl.Simulation(scene, pl.XPBD(substeps=3), 1 / 60, 2, dtype)
    sim.control.set_force(0.3)
    for _ in range(4):
        info = sim.step("full")
    eps = float(np.finfo(dtype).eps)
    pull = np.linalg.norm(sim.model.mass) * np.abs(sim.x).max() * (180.0) ** 2  # rounding of x times m/h^2
    assert (info.primal_residual <= 8 * eps * pull).all()
    np.testing.assert_array_equal(info.elastic, 0.0)
    assert info.constraint_residual == {}
    assert (info.kinetic > 1.0).all()
    assert (info.incremental_potential >= 0.0).all()
    assert (info.incremental_potential <= 1e-8 * info.kinetic).all()


def test_a_particle_at_rest_on_a_plane_is_held_by_the_contact_force() -> None:
    """Without the contact force the residual would be the weight."""
    scene = pl.Scene()
    fabric = pl.fabrics.cotton.with_(friction=0.5)
    scene.add_cloth(
        pl.shapes.grid(3, 3), fabric, membrane="none", bending="none", position=(0, 0, 0.5 * fabric.thickness)
    )
    scene.add_collider(pl.Plane())
    sim = pl.Simulation(scene, pl.XPBD(substeps=2), 1 / 60)
    for _ in range(5):
        info = sim.step("full")
    weight = float(np.linalg.norm(sim.model.mass) * 9.81)
    assert info.contacts[0] == 9
    assert info.primal_residual[0] < 1e-9 * weight


def test_the_report_does_not_depend_on_the_number_of_worlds() -> None:
    one, many = everything(worlds=1, colliders=True), everything(worlds=3, colliders=True)
    for law in LAWS:
        many.control.set_scale(law, 1.0)
        one.control.set_scale(law, 1.0)
    for sim in (one, many):
        sim.state.reset()
    a, b = one.step("full"), many.step("full")
    assert a.contacts[0] > 0
    for name in ("kinetic", "elastic", "potential", "incremental_potential", "primal_residual", "momentum"):
        for w in range(3):
            assert getattr(a, name)[0].tobytes() == getattr(b, name)[w].tobytes(), name
    for law in LAWS:
        for name in ("mean", "p95", "max"):
            assert a.constraint_residual[law][name][0] == b.constraint_residual[law][name][2]


def test_the_report_changes_nothing() -> None:
    quiet, loud = everything(), everything()
    for _ in range(3):
        quiet.step("status")
        loud.step("full")
    assert quiet.state.x.tobytes() == loud.state.x.tobytes()
    assert quiet.state.v.tobytes() == loud.state.v.tobytes()


@pytest.mark.parametrize("law", LAWS)
def test_a_rigid_row_stores_nothing_and_pulls_with_the_multiplier(law: str) -> None:
    """Compliance 0: the force of each row is its lambda/h^2 along its gradient, whatever C is."""
    sim = everything(worlds=1)
    block = sim.model.blocks[law]
    model = replace(sim.model, blocks={law: replace(block, compliance=np.zeros_like(block.compliance))})
    force = np.random.default_rng(2).uniform(0.5, 1.5, block.compliance.shape)
    values, g = law_values(model, sim.state, sim.control, {law: force[None]})
    assert elastic_energy(model, sim.control, values)[0] == 0.0
    params = block.params
    if law == "attachment":
        params = sim.control.attachment_targets[0, block.file_order, :, 0]
    _, gradient = evaluate(law, sim.state.x[0][block.ids], params, width=1)
    expected = np.zeros_like(g[0])
    for row in range(force.shape[1]):
        np.add.at(expected, block.ids, -force[:, row, None, None] * gradient[:, row])
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(g[0], expected, atol=1e-9 * np.abs(expected).max())
