"""Pressure on faces and gas in shells, against the equations of membranes."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.errors import SceneError
from pliant.geometry.measures import triangle_stretches

Array = np.ndarray

SKIN = pl.Fabric("skin", areal_density=1.0, thickness=1e-3, youngs_modulus=5e4, poisson_ratio=0.3)
"""Soft and heavy (E t = 50 N/m), so that 20 substeps of one sweep resolve its statics."""


def tensions(sim: pl.Simulation, fabric: pl.Fabric) -> tuple[Array, Array]:
    """Larger and smaller principal tension (F,) of each triangle [N/m of the stretched cloth]."""
    part = sim.model.parts[0]
    s = triangle_stretches(sim.x[0], part.triangles, part.inv_rest_matrix)
    nu = fabric.poisson_ratio
    k = fabric.youngs_modulus * fabric.thickness / (1 - nu**2)
    strain = s - 1
    return (
        k * (strain[:, 0] + nu * strain[:, 1]) / s[:, 1],
        k * (strain[:, 1] + nu * strain[:, 0]) / s[:, 0],
    )


def at_rest(scene: pl.Scene, substeps: int = 20, seconds: float = 1.5) -> pl.Simulation:
    sim = pl.Simulation(scene, pl.XPBD(substeps=substeps))
    for k in range(round(60 * seconds)):
        sim.step()
        if k < 30:
            sim.state.set_v(0.7 * sim.state.v)
    assert np.abs(sim.state.v).max() < 1e-4
    return sim


def balloon(pressure: float, subdivisions: int = 2, **options: object) -> tuple[pl.Scene, object]:
    scene = pl.Scene(gravity=(0, 0, 0), air_drag=20.0)
    ball = scene.add_cloth(pl.shapes.sphere(0.5, subdivisions), SKIN, bending="none")
    return scene, scene.add_pressure(ball, pressure, **options)


@pytest.mark.parametrize("gas", [False, True], ids=["given", "gas"])
def test_tension_of_a_sphere_is_half_pressure_times_radius(gas: bool) -> None:
    """targets.csv T07: N = p R/2, 2 %; p R on the deformed radius."""
    scene, inside = balloon(3.0, gas=gas, ambient=200.0)
    sim = at_rest(scene)
    one, two = tensions(sim, SKIN)
    area = sim.model.parts[0].rest_area
    mean = np.average((one + two) / 2, weights=area)
    radius = np.linalg.norm(sim.x[0], axis=1).mean()
    assert mean == pytest.approx(inside.now[0] * radius / 2, rel=0.02)
    assert inside.now[0] < 0.7 * 3.0 if gas else inside.now[0] == 3.0


def test_hoop_tension_of_a_tube_is_pressure_times_radius() -> None:
    """targets.csv T07: N = p R in the middle of a tube whose ends are held, 2 %."""
    n, skin = 20, SKIN.with_(poisson_ratio=0.0)
    mesh = pl.shapes.tube(0.5, 2.0, n, 12)
    ends = np.flatnonzero(np.abs(mesh.vertices[:, 2] - mesh.vertices[:, 2].mean()) > 0.999)
    scene = pl.Scene(gravity=(0, 0, 0), air_drag=20.0)
    tube = scene.add_cloth(mesh, skin, bending="none", pins=ends)
    scene.add_pressure(tube, 2.0, open=True)
    sim = at_rest(scene)
    x, part = sim.x[0], sim.model.parts[0]
    z = x[part.triangles, 2]
    middle = np.abs(z - z.mean()).max(axis=1) < 0.5
    hoop, _ = np.sort(tensions(sim, skin), axis=0)[::-1]
    radius = np.linalg.norm(x[np.unique(part.triangles[middle]), :2], axis=1).mean()
    assert radius > 0.505
    assert hoop[middle].mean() == pytest.approx(2.0 * radius, rel=0.02)


def test_sag_of_a_tensioned_round_membrane() -> None:
    """targets.csv T08: edge tension N, pressure p on one side: the centre sags by p R^2/(4 N), 3 %."""
    mesh, stretch = pl.shapes.disc(0.5, 0.1), 1.05
    rest = pl.TriMesh(mesh.vertices / stretch, mesh.triangles)
    border = np.flatnonzero(np.linalg.norm(mesh.vertices, axis=1) > 0.499)
    scene = pl.Scene(gravity=(0, 0, 0), air_drag=10.0)
    drum = scene.add_cloth(mesh, SKIN, bending="none", pins=border, rest_mesh=rest)
    scene.add_pressure(drum, -0.3, open=True)
    sim = at_rest(scene, seconds=2.5)
    tension = SKIN.youngs_modulus * SKIN.thickness / (1 - SKIN.poisson_ratio) * (stretch - 1) / stretch
    sag = -sim.x[0, np.argmin(np.linalg.norm(mesh.vertices, axis=1)), 2]
    assert sag == pytest.approx(0.3 * 0.5**2 / (4 * tension), rel=0.03)


def radius_in_balance(p0: float, ambient: float, volume: float, first: float) -> float:
    """Radius at which the pressure of a gas equals 2 N/R of a linear membrane, by bisection."""
    k = SKIN.youngs_modulus * SKIN.thickness / (1 - SKIN.poisson_ratio)

    def excess(r: float) -> float:
        p = (p0 + ambient) * volume / (volume * (r / first) ** 3) - ambient
        strain = r / first - 1
        return p - 2 * k * strain / (1 + strain) / r

    low, high = 0.5 * first, 2 * first
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return low


def test_a_gas_follows_its_volume_as_it_is_pumped() -> None:
    """p V = const: the balloon's radius is where the gas balances the skin, at three fillings, to 0.2 %."""
    scene, inside = balloon(0.0, gas=True, ambient=50.0)
    sim = pl.Simulation(scene)
    first, volume = 0.5, inside.volume
    for filling in (2.0, 8.0, 20.0):
        inside.set(filling)
        for k in range(90):
            sim.step()
            if k < 45:
                sim.state.set_v(0.7 * sim.state.v)
        radius = np.linalg.norm(sim.x[0], axis=1).mean()
        assert radius == pytest.approx(radius_in_balance(filling, 50.0, volume, first), rel=2e-3)
        assert (inside.now[0] + 50) * inside.enclosed[0] == pytest.approx((filling + 50) * volume, rel=1e-12)
    assert radius > 1.04 * first


@pytest.mark.parametrize("substeps", [1, 4, 20])
def test_a_gas_under_an_atmosphere_is_stable_and_hardly_yields(substeps: int) -> None:
    """A light ball, squeezed to 90 % at the start: its volume comes back to what the gas has, to 0.1 %.

    The frequency of its breathing, sqrt(3 p/(R rho)), is 3900/s: 65 per step of 1/60 s.
    """
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.shapes.sphere(0.2, 2)
    skin = SKIN.with_(areal_density=0.1, youngs_modulus=1e5, damping_time=1e-3)
    start = mesh.vertices * [0.9, 1.0, 1.0]
    ball = scene.add_cloth(mesh, skin, bending="none", start=start)
    first = abs(np.linalg.det(mesh.vertices[mesh.triangles]).sum() / 6)
    inside = scene.add_pressure(ball, 0.0, gas=True, volume=first)
    sim = pl.Simulation(scene, pl.XPBD(substeps=substeps))
    assert inside.enclosed[0] == pytest.approx(0.9 * first)
    for _ in range(60):
        sim.step()
        assert np.linalg.norm(sim.x[0], axis=1).max() < 0.25
    assert inside.enclosed[0] == pytest.approx(first, rel=1e-3)
    assert np.abs(sim.state.v).max() < 1.0


def test_a_free_shell_is_not_pushed_and_its_report_balances() -> None:
    """Without a skin only the gas acts: momentum stays, and M (x - x~)/h^2 is its force, to rounding."""
    scene = pl.Scene(gravity=(0, 0, 0))
    ball = scene.add_cloth(pl.shapes.sphere(0.2, 1), SKIN, membrane="none", bending="none")
    scene.add_pressure(ball, 100.0, gas=True, ambient=0.0)
    sim = pl.Simulation(scene)
    for _ in range(5):
        info = sim.step("full")
    assert np.linalg.norm(sim.x[0], axis=1).min() > 0.201
    size = 100.0 * 4 * np.pi * 0.04
    assert info.primal_residual[0] < 1e-10 * size
    assert np.abs(info.momentum).max() < 1e-12 * size


def test_pressure_pushes_along_the_normals_of_an_open_cloth() -> None:
    """An open sheet without a skin is accelerated by p/rho_A, each world by its own pressure."""
    scene = pl.Scene(gravity=(0, 0, 0))
    sheet = scene.add_cloth(pl.shapes.grid(3, 3), SKIN, membrane="none", bending="none")
    side = scene.add_pressure(sheet, 2.0, open=True)
    sim = pl.Simulation(scene, worlds=2)
    side.set(-1.0, worlds=1)
    sim.step()
    np.testing.assert_allclose(sim.state.v[0, :, 2], 2.0 / 60, rtol=1e-9)
    np.testing.assert_allclose(sim.state.v[1, :, 2], -1.0 / 60, rtol=1e-9)
    with pytest.raises(SceneError, match="encloses no volume"):
        _ = side.enclosed


def test_winding_is_mended_and_pieces_are_turned_outwards() -> None:
    mesh = pl.shapes.sphere(0.2, 1)
    mixed = mesh.triangles.copy()
    mixed[::3] = mixed[::3, ::-1]
    both = np.concatenate([mixed, mesh.triangles[:, ::-1] + mesh.n_vertices])
    x = np.concatenate([mesh.vertices, mesh.vertices + np.array([1, 0, 0])])
    scene = pl.Scene()
    pair = scene.add_cloth(pl.TriMesh(x, both), SKIN, bending="none")
    inside = scene.add_pressure(pair, 10.0)
    pl.Simulation(scene)
    one = abs(np.linalg.det(mesh.vertices[mesh.triangles]).sum() / 6)
    assert inside.volume == pytest.approx(2 * one)


def test_mistakes_are_named() -> None:
    scene = pl.Scene()
    sheet = scene.add_cloth(pl.shapes.grid(3, 3), SKIN, name="sail")
    with pytest.raises(
        SceneError, match=r'"sail" is not closed: the edge from vertex \d+ to \d+ has one face'
    ):
        scene.add_pressure(sheet, 10.0)
    with pytest.raises(SceneError, match="needs a closed shell"):
        scene.add_pressure(sheet, 10.0, gas=True, open=True)
    with pytest.raises(SceneError, match="pressure is nan"):
        scene.add_pressure(sheet, np.nan, open=True)
    scene.add_pressure(sheet, 10.0, open=True)
    with pytest.raises(SceneError, match="has a pressure already"):
        scene.add_pressure(sheet, 10.0, open=True)
    with pytest.raises(SceneError, match="does not belong"):
        pl.Scene().add_pressure(sheet, 10.0, open=True)
    ball = scene.add_cloth(pl.shapes.sphere(0.1, 0), SKIN, bending="none", name="ball")
    with pytest.raises(SceneError, match="is none"):
        scene.add_pressure(ball, -2e5, gas=True)
    gas = scene.add_pressure(ball, 100.0, gas=True)
    sim = pl.Simulation(scene)
    before = sim.control.pressures
    for bad in (np.nan, -101325.0):
        with pytest.raises(SceneError, match="a gas must be over"):
            gas.set(bad)
    np.testing.assert_array_equal(sim.control.pressures, before)


def test_a_flat_pillow_needs_to_be_told_its_volume() -> None:
    scene = pl.Scene(gravity=(0, 0, 0))
    cloth = scene.add_cloth(pl.shapes.pillow(4, 4, (0.4, 0.4)), SKIN, bending="none")
    with pytest.raises(SceneError, match="encloses no volume where it starts"):
        scene.add_pressure(cloth, 10.0, gas=True)
    inside = scene.add_pressure(cloth, 5.0)
    sim = pl.Simulation(scene)
    for _ in range(30):
        sim.step()
    assert inside.enclosed[0] > 1e-3
