"""Wind and air resistance: closed forms, and what no step size may spoil."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.errors import SceneError

Array = np.ndarray

SHEET = pl.Fabric("sheet", areal_density=0.15, thickness=3e-4, youngs_modulus=1e6, poisson_ratio=0.3)
LIGHT = SHEET.with_(areal_density=0.02)


def loose(fabric: pl.Fabric = LIGHT, n: int = 5, **options: object) -> tuple[pl.Scene, pl.Cloth]:
    """Faces that nothing holds together but their vertices."""
    scene = pl.Scene(**options)
    cloth = scene.add_cloth(pl.shapes.grid(n, n, (0.5, 0.5)), fabric, membrane="none", bending="none")
    return scene, cloth


@pytest.mark.parametrize("substeps", [20, 4])
def test_a_level_sheet_falls_with_quadratic_drag(substeps: int) -> None:
    """targets.csv D03: v = vt tanh(g t/vt), drop = (vt^2/g) ln cosh(g t/vt), vt^2 = 2 m g/(rho Cd A): 2 %."""
    scene = pl.Scene(air_density=1.2)
    scene.add_cloth(pl.shapes.grid(5, 5), SHEET, drag_coefficient=1.1, skin_friction=0.5)
    sim = pl.Simulation(scene, pl.XPBD(substeps=substeps))
    vt = np.sqrt(2 * 0.15 * 9.81 / (1.2 * 1.1))
    for seconds in (0.3, 0.6, 1.0):
        while sim.time < seconds - 1e-9:
            info = sim.step("full")
        t = sim.time
        assert sim.state.v[0, :, 2] == pytest.approx(-vt * np.tanh(9.81 * t / vt), rel=0.02)
        assert sim.x[0, :, 2] == pytest.approx(-(vt**2) / 9.81 * np.log(np.cosh(9.81 * t / vt)), rel=0.02)
    assert info.primal_residual is not None
    assert info.primal_residual[0] < 1e-12, "the report knows the force of the air"


def test_linear_drag_falls_as_its_closed_form() -> None:
    """targets.csv D02: v = (g/k) (1 - exp(-k t)), 1 % of the limit."""
    scene, _ = loose(air_drag=3.0)
    sim = pl.Simulation(scene)
    for _ in range(40):
        sim.step()
        exact = 9.81 / 3 * (1 - np.exp(-3 * sim.time))
        assert np.abs(-sim.state.v[0, :, 2] - exact).max() < 0.01 * 9.81 / 3


def test_wind_on_a_held_sheet_weighs_on_what_holds_it() -> None:
    """Broadside to the wind, (rho/2) C A U^2; edgewise the skin friction: read off the attachments, 0.1 %."""
    for wind, coefficient in (((0, 0, 7.0), 1.2), ((7.0, 0, 0), 0.04)):
        scene = pl.Scene(gravity=(0, 0, 0), air_drag=50.0, wind=wind, air_density=1.25)
        cloth = scene.add_cloth(
            pl.shapes.grid(3, 3), SHEET, membrane="none", bending="none", skin_friction=0.04
        )
        scene.add_attachment(cloth, range(9), stiffness=1e4)
        sim = pl.Simulation(scene)
        for _ in range(20):
            sim.step()
        force = -sim.constraint_forces("attachment")[0].sum(axis=0)
        exact = 0.5 * 1.25 * coefficient * 49 * np.array(wind) / 7
        np.testing.assert_allclose(force, exact, atol=1e-3 * np.linalg.norm(exact))


def test_a_gale_carries_a_sheet_along_and_never_beyond() -> None:
    """2000 m/s on tissue in steps of 1/60 s: speeds grow to the wind's, monotonically, and stay."""
    scene, _ = loose(gravity=(0, 0, 0), wind=(0, 0, 2000.0))
    sim = pl.Simulation(scene, pl.XPBD(substeps=1))
    last = np.zeros(25)
    for _ in range(10):
        sim.step()
        speed = sim.state.v[0, :, 2]
        assert (speed >= last).all()
        assert (speed <= 2000.0 * (1 + 1e-12)).all()
        last = speed
    assert (last > 1990.0).all()


def test_still_air_takes_energy_and_never_gives_any() -> None:
    """From random speeds, some of them huge, with some vertices pinned: in every step of any length."""
    scene = pl.Scene(gravity=(0, 0, 0), air_density=1.2)
    mesh = pl.shapes.unstructured((0.5, 0.5), 0.12, seed=1)
    scene.add_cloth(mesh, LIGHT, membrane="none", bending="none", pins=[0, 5], skin_friction=2.0)
    rng = np.random.default_rng(0)
    for dt in (1 / 60, 1.0):
        sim = pl.Simulation(scene, pl.XPBD(substeps=1), dt=dt)
        free = sim.model.inv_mass > 0
        for scale in (1e-3, 1.0, 1e3):
            sim.reset()
            v = scale * rng.standard_normal((mesh.n_vertices, 3)) * free[:, None]
            sim.state.set_v(v)
            before = np.sum(sim.model.mass[:, None] * v**2)
            for _ in range(3):
                sim.step()
                after = np.sum(sim.model.mass[:, None] * sim.state.v[0] ** 2)
                assert after <= before * (1 + 1e-12)
                before = after


def test_wind_is_set_per_world_or_by_a_function_of_time() -> None:
    """From rest, U k U t/(1 + k U t) with k = rho C/(2 rho_A): 1 % after a step."""
    scene, _ = loose(SHEET, gravity=(0, 0, 0), air_density=1.2)
    sim = pl.Simulation(scene, worlds=3)
    sim.set(wind=[[0, 0, 1.0], [0, 0, -2.0]], worlds=[0, 2])
    sim.step()
    up = sim.state.v[:, :, 2].mean(axis=1)
    k = 0.5 * 1.2 * 1.2 / 0.15 / 60
    np.testing.assert_allclose(up, [k / (1 + k), 0, -4 * k / (1 + 2 * k)], rtol=0.01)

    asked: list[float] = []

    def gusts(time: float) -> Array:
        asked.append(time)
        return np.array([[0, 0, 1.0], [0, 0, 0.0], [0, 0, -2.0]])

    blown, _ = loose(SHEET, gravity=(0, 0, 0), wind=gusts)
    other = pl.Simulation(blown, worlds=3)
    other.step()
    assert asked == [pytest.approx(0.5 / 60)]
    assert other.state.v.tobytes() == sim.state.v.tobytes()
    with pytest.raises(SceneError, match="function of time"):
        other.set(wind=(1, 0, 0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"wind": (1, 0, 0), "air_density": 0.0}, "wind without air"),
        ({"air_density": -1.0}, "air_density is -1.0"),
        ({"wind": (1, 0)}, "wind must be three finite numbers"),
    ],
)
def test_mistakes_are_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(SceneError, match=message):
        pl.Scene(**options)


def test_there_is_no_wind_without_air() -> None:
    scene, _ = loose()
    assert scene.build().faces is None, "nothing is computed for faces on which nothing acts"
    with pytest.raises(SceneError, match="no air"):
        pl.Simulation(scene).set(wind=(1, 0, 0))
    with pytest.raises(SceneError, match="drag_coefficient is -1"):
        scene.add_cloth(pl.shapes.grid(2, 2), SHEET, drag_coefficient=-1)
