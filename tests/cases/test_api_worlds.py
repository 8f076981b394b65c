"""Worlds: reset, write and read some of them, several cloths in each, nothing of one in another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pliant as pl

WORLDS = 5
"""More than one and no multiple of a lane width: there are spare lanes."""

SOLVER = pl.XPBD(substeps=5)


def over_a_moving_ball(worlds: int = 8, height: float = 0.12, pins: tuple = (0,)) -> pl.Simulation:
    """A cloth that falls on a ball which moves and turns below it, with friction."""
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(9, 9, (0.3, 0.3)), pl.fabrics.cotton, position=(0, 0, height), pins=pins)
    drift = pl.Steady((0, 0, 0), velocity=(0.2, 0, 0))
    scene.add_collider(pl.Sphere(0.1), friction=0.5, motion=drift)
    return pl.Simulation(scene, SOLVER, worlds=worlds)


def drive(sim: pl.Simulation, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Fixed actions, different in every world: moving pins and forces."""
    cloth, w = sim.scene.cloths[0], np.arange(sim.model.n_worlds)[:, None]
    corner = sim.model.x_rest[0]
    touching = 0
    for k in range(steps):
        lift = np.array([0, 0, 1e-3]) * (w + 1) * np.sin(0.2 * k)
        cloth.set_targets([0], (corner + lift)[:, None])
        sim.control.set_force(1e-5 * np.cos(0.3 * k) * (w[:, None] + 1) * np.array([1.0, 0, 0]))
        touching = max(touching, int(sim.step().contacts.min()))
    assert touching > 3
    return sim.state.x, sim.state.v


@pytest.mark.parametrize("after", [0, 1, 40], ids=["at once", "in contact", "later"])
def test_a01_a_run_after_a_reset_is_that_of_a_fresh_object(after: int) -> None:
    """A01: cloth on a moving ball with friction in 8 worlds, reset at any moment: bit for bit a fresh run."""
    sim, fresh = over_a_moving_ball(), over_a_moving_ball()
    drive(sim, 25 + after)
    sim.reset()
    assert sim.time == 0.0
    for used, new in zip(drive(sim, 30), drive(fresh, 30), strict=True):
        np.testing.assert_array_equal(used, new)
    assert sim.time == fresh.time


def test_a01_a_reset_while_pressed_gives_no_impulse() -> None:
    """A01: reset while pressed against the ball: after the next step no particle is faster than g dt."""
    sim = over_a_moving_ball(height=0.11, pins=())
    push = np.zeros((81, 3))
    push[:, 2] = -0.005
    sim.control.set_force(push)
    sim.run(steps=4, progress=False)
    assert sim.step().contacts.min() > 3
    assert sim.state.v[0, :, 2].min() < -1
    others = sim.state.v[4:]
    sim.reset(worlds=np.arange(8) < 4)
    assert (sim.state.v[:4] == 0).all()
    np.testing.assert_array_equal(sim.state.v[4:], others)
    sim.reset()
    sim.step()
    assert np.linalg.norm(sim.state.v, axis=-1).max() <= 9.81 * sim.dt + 1e-6


def test_a01_nothing_of_a_run_is_left_in_a_reset_world() -> None:
    """A01: targets, forces, frozen state and velocity of a world go; the factors on its material stay."""
    sim = over_a_moving_ball(WORLDS)
    sim.set(material_scale=[1, 2, 3, 4, 5])
    drive(sim, 10)
    sim.state.v_lanes[0, 5, 0, 2] = np.nan
    assert sim.step().status[2] & pl.Status.NONFINITE
    sim.reset()
    fresh = over_a_moving_ball(WORLDS)
    fresh.set(material_scale=[1, 2, 3, 4, 5])
    for name, array in fresh.state.arrays().items():
        np.testing.assert_array_equal(sim.state.arrays()[name], array, err_msg=name)
    left = sim.control.arrays()
    assert not left.pop("f_ext").any()
    for name, array in left.items():
        np.testing.assert_array_equal(array, fresh.control.arrays()[name], err_msg=name)


def nodes(n: int, worlds: int) -> pl.Simulation:
    """A strip of n vertices."""
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.TriMesh(
        np.random.default_rng(1).random((n, 3)), np.array([[k, k + 1, k + 2] for k in range(n - 2)])
    )
    scene.add_cloth(mesh, pl.fabrics.cotton, membrane="none", bending="none")
    return pl.Simulation(scene, SOLVER, worlds=worlds)


@pytest.mark.parametrize(("n", "worlds"), [(7, 4), (3, 3), (4, 4)])
def test_a03_chosen_worlds_get_back_what_was_theirs(n: int, worlds: int) -> None:
    """A03: get, disturb, put back for worlds [2, 0]: exactly theirs, in the order named, others untouched.

    Also where worlds and particles are equally many and a wrong axis would go unnoticed; and relative to
    each world's own origin, which is where positions are kept: there is no offset to add or to forget.
    """
    sim = nodes(n, worlds)
    rng = np.random.default_rng(0)
    x, v = rng.random((worlds, n, 3)), rng.random((worlds, n, 3))
    sim.state.set_x(x)
    sim.state.set_v(v)
    kept = sim.state.x[[2, 0]], sim.state.v[[2, 0]]
    sim.state.set_x(x + 1)
    sim.state.set_v(-v)
    sim.state.set_x(kept[0], worlds=[2, 0])
    sim.state.set_v(kept[1], worlds=[2, 0])
    for k in range(worlds):
        back = k in (0, 2)
        np.testing.assert_array_equal(sim.state.x[k], x[k] if back else x[k] + 1)
        np.testing.assert_array_equal(sim.state.v[k], v[k] if back else -v[k])
    shift = rng.random((2, 1, 3))
    sim.state.set_x(sim.state.gather(np.arange(n), [2, 0]) + shift, worlds=[2, 0])
    np.testing.assert_array_equal(sim.state.x[2], x[2] + shift[0])
    np.testing.assert_array_equal(sim.state.x[0], x[0] + shift[1])


def test_a03_one_shape_means_one_thing() -> None:
    """A03: (3, 3) is always one position per particle, for every world, also with 3 worlds of 3 particles."""
    sim = nodes(3, 3)
    one = np.arange(9.0).reshape(3, 3)
    sim.state.set_x(one)
    for k in range(3):
        np.testing.assert_array_equal(sim.state.x[k], one)
    sim.state.set_x(one[:, None])
    for k in range(3):
        np.testing.assert_array_equal(sim.state.x[k], np.broadcast_to(one[k], (3, 3)))


SHEETS = ((5, 1), (21, 2), (31, 3))
"""25, 441 and 961 vertices, each 3 m from the next."""


def several(sheets: tuple[tuple[int, int], ...], worlds: int) -> pl.Simulation:
    """Cloths of different sizes over a floor, the second in two loose pieces."""
    scene = pl.Scene()
    for n, k in sheets:
        mesh = pl.shapes.grid(n, n, (0.3, 0.3))
        if n == 21:
            t = mesh.triangles
            cut = (t % n <= 10).all(axis=1) | (t % n >= 11).all(axis=1)
            mesh = pl.TriMesh(mesh.vertices, t[cut], name="halves")
        scene.add_cloth(mesh, pl.fabrics.cotton, position=(3 * k, 0, 0.02 * k))
    scene.add_collider(pl.Plane(), friction=0.3)
    return pl.Simulation(scene, SOLVER, worlds=worlds)


def test_a04_cloths_of_different_sizes_are_each_as_if_alone() -> None:
    """A04: a batch copies one scene; cloths of other sizes stand side by side in it, none padded.

    Each is bit for bit the run with that cloth alone and one world, and so are its mean and its box.
    """
    batch = several(SHEETS, WORLDS)
    batch.run(steps=15, progress=False)
    assert batch.info is not None
    assert batch.info.contacts.min() > 100
    for cloth, sheet in zip(batch.scene.cloths, SHEETS, strict=True):
        alone = several((sheet,), 1)
        alone.run(steps=15, progress=False)
        x = alone.scene.cloths[0].x[0]
        assert cloth.x.shape == (WORLDS, sheet[0] ** 2, 3)
        for k in range(WORLDS):
            np.testing.assert_array_equal(cloth.x[k], x)
        np.testing.assert_array_equal(cloth.x.mean(axis=1), np.broadcast_to(x.mean(axis=0), (WORLDS, 3)))
        assert np.ptp(cloth.x[0], axis=0) == pytest.approx(np.ptp(x, axis=0), abs=0)


def outputs(sim: pl.Simulation, folder: Path) -> dict[str, np.ndarray]:
    """Everything that a user can read after some steps."""
    sim.run(steps=6, record=folder / "run.npz", world=sim.model.n_worlds - 1, progress=False)
    info = sim.step("full")
    out = {k: np.asarray(a) for k, a in info.__dict__.items() if isinstance(a, np.ndarray)}
    for law, rows in info.constraint_residual.items():
        out |= {f"{law} {k}": a for k, a in rows.items()}
    out |= {f"{law} forces": sim.constraint_forces(law) for law in sim.model.blocks}
    out |= {f"cloth {k}": c.x for k, c in enumerate(sim.scene.cloths)}
    out |= {"x": sim.x, "v": sim.state.v, "some": sim.state.gather([0, 30], [0, sim.model.n_worlds - 1])}
    out["strain"] = sim.vertex_strain(sim.model.n_worlds - 1)
    out["frames"] = np.array(pl.Recording.load_npz(folder / "run.npz").frames)
    return out


def test_a04_what_is_in_spare_lanes_never_comes_out(tmp_path: Path) -> None:
    """A04: lanes beyond the last world filled with NaN: every output is bit for bit that of the clean run."""
    clean, poisoned = several(SHEETS, WORLDS), several(SHEETS, WORLDS)
    width = poisoned.model.width
    assert width > WORLDS
    lanes = [a for a in vars(poisoned.state).values() if isinstance(a, np.ndarray) and a.ndim == 4]
    assert len(lanes) == 2
    for array in [*lanes, *poisoned.control.scale.values(), poisoned.control.pin_targets]:
        array[..., WORLDS:] = np.nan
    (tmp_path / "a").mkdir()
    right, found = outputs(clean, tmp_path), outputs(poisoned, tmp_path / "a")
    assert len(right) > 15
    assert np.isnan(poisoned.state.x_lanes).any(), "the poison is still there"
    for name, array in right.items():
        assert np.isfinite(array).all(), name
        np.testing.assert_array_equal(found[name], array, err_msg=name)


def sheet(worlds: int = 3, dtype: str = "float64") -> pl.Simulation:
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.grid(3, 4), pl.fabrics.cotton, pins=[0])
    return pl.Simulation(scene, SOLVER, dt=4e-3, worlds=worlds, dtype=dtype)


class Tensor:
    """What a library of tensors hands over: an object that knows how to become an array."""

    def __init__(self, values: np.ndarray, refuses: str = "") -> None:
        self.values, self.refuses = values, refuses

    def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray:
        if self.refuses:
            raise TypeError(self.refuses)
        return self.values.astype(dtype)  # type: ignore[arg-type]


def test_a05_positions_that_are_set_are_there() -> None:
    """A05: every shape and container that makes sense, read back exactly; velocities are kept."""
    sim = sheet()
    v = np.full((3, 12, 3), 0.25)
    sim.state.set_v(v)
    x = np.random.default_rng(5).random((3, 12, 3))
    reversed_in_memory = np.asfortranarray(x[:, ::-1])[:, ::-1]
    for given in (x, x.tolist(), Tensor(x), reversed_in_memory, x[:1], x[0], x[0].astype(np.float32)):
        sim.state.set_x(0.0)
        sim.state.set_x(given)
        wanted = np.broadcast_to(np.asarray(given if not isinstance(given, Tensor) else x), x.shape)
        np.testing.assert_array_equal(sim.state.x, wanted)
        np.testing.assert_array_equal(sim.scene.cloths[0].x, wanted)
    np.testing.assert_array_equal(sim.state.v, v)
    sim.state.set_x(x)
    sim.state.set_v(0.0)
    sim.step()
    free = sim.x[:, 1:] - x[:, 1:]  # the pin goes back
    assert np.abs(free).max() < 1, "the step starts from there"
    assert np.abs(free).max() > 1e-6


def test_a05_a_stored_run_can_be_played_back() -> None:
    """A05: frames of one run put into another simulation, in single precision too, within rounding."""
    sim = sheet(1)
    frames = []
    for _ in range(5):
        sim.step()
        frames.append(sim.x)
    for dtype, eps in (("float64", 0), ("float32", 1e-7)):
        other = sheet(1, dtype)
        for frame in frames:
            other.state.set_x(frame)
            assert np.abs(other.x - frame).max() <= eps


def test_a05_one_particle_can_be_set() -> None:
    """A05: some particles of some worlds, by index: those, and no other bit."""
    sim = sheet(WORLDS)
    before = sim.state.x
    sim.state.set_x([[1.0, 2.0, 3.0]], ids=[7], worlds=1)
    sim.state.set_v([0.0, 0.0, 5.0], ids=[2, 3])
    expected = before.copy()
    expected[1, 7] = [1, 2, 3]
    np.testing.assert_array_equal(sim.state.x, expected)
    assert (sim.state.v[:, [2, 3], 2] == 5).all()
    assert np.count_nonzero(sim.state.v) == 2 * WORLDS
    assert (sim.state.x_lanes[..., WORLDS:] == sim.state.x_lanes[..., WORLDS - 1 : WORLDS]).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s: s.state.set_x(np.zeros((11, 3))), r"set_x: .*\(11, 3\).*\(3, 12, 3\)"),
        (lambda s: s.state.set_x(np.zeros((2, 12, 3))), r"\(2, 12, 3\).*\(3, 12, 3\)"),
        (lambda s: s.state.set_x(np.zeros((3, 12, 3)), worlds=[0, 1]), r"\(3, 12, 3\).*\(2, 12, 3\)"),
        (lambda s: s.state.set_v(np.zeros((12, 2))), r"set_v: .*\(12, 2\).*\(3, 12, 3\)"),
        (lambda s: s.state.set_x([[0, 0, 0], [0, 0]]), "set_x: cannot read a list as an array of numbers"),
        (lambda s: s.state.set_x("somewhere"), "cannot read a str"),
        (lambda s: s.state.set_x(np.zeros(3), ids=[12]), r"set_x: \[12\] does not name particles 0 to 11"),
        (lambda s: s.state.set_x(np.zeros(3), ids=[-1]), "particles 0 to 11"),
        (lambda s: s.state.gather([0.5]), "gather: .* does not name particles"),
        (lambda s: s.state.gather([12]), "particles 0 to 11"),
        (lambda s: s.state.set_x(0.0, worlds=3), "worlds 0 to 2"),
        (lambda s: s.state.set_x(0.0, worlds=[True, False]), r"shape \(3,\)"),
        (lambda s: s.scene.cloths[0].set_targets([1], 0.0), "particle 1 is not pinned"),
    ],
)
def test_a05_a_wrong_shape_is_refused_with_both_shapes(call, words: str) -> None:
    """A05: what cannot be written says what came and what was wanted; nothing is written."""
    sim = sheet()
    before = sim.state.arrays()
    with pytest.raises(pl.PliantError, match=words):
        call(sim)
    for name, array in sim.state.arrays().items():
        np.testing.assert_array_equal(array, before[name])


def test_a06_worlds_follow_their_own_actions(tmp_path: Path) -> None:
    """A06: four worlds pulled to four places; each, and each recording, shows its own, without offset."""
    places = np.array([[0.1, 0, 0], [0, 0.1, 0], [-0.1, 0, 0], [0, -0.1, 0]])
    frames = []
    for world in range(4):
        sim = sheet(4)
        cloth = sim.scene.cloths[0]
        start = sim.model.x_rest[0]

        def pull(s: pl.Simulation, cloth: pl.Cloth = cloth, start: np.ndarray = start) -> None:
            cloth.set_targets([0], (start + places * min(1.0, s.time / 0.05 + 0.08))[:, None])

        path = tmp_path / f"{world}.npz"
        sim.run(steps=15, record=path, world=world, before=pull, progress=False)
        frames.append(np.array(pl.Recording.load_npz(path).frames[-1]))
        np.testing.assert_allclose(frames[-1], sim.x[world], atol=1e-7)
        np.testing.assert_allclose(sim.x[:, 0], start + places, atol=1e-12)
    for k in range(1, 4):
        assert np.abs(frames[k] - frames[0]).max() > 0.05
