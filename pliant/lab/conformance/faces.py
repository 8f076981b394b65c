"""Rows about what acts on faces: air, pressure on one side, gas in a shell."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from ...errors import PliantError
from ...geometry import shapes
from ...scene import Scene
from ...simulation import Simulation
from .bits import differing, dressed, evidence, seen, threads
from .case import Case, budgeted, row
from .report import Finding
from .specimens import SOFT, G, blown, dress

Array = np.ndarray


@row(most=16)
def broadside_fall(case: Case) -> Finding:
    """A level sheet falls through air as (vt^2/g) ln cosh(g t/vt) says, vt^2 = 2 m g/(rho Cd A), within 2 %.

    For 1 s from rest.
    """
    density, drag = 1.25, 1.2
    scene = Scene(gravity=(0, 0, -G), air_density=density)
    scene.add_cloth(shapes.grid(3, 3, (0.5, 0.5)), SOFT, drag_coefficient=drag)
    run = case.run(scene)
    steps = round(1 / run.dt)
    run.step(steps)
    vt = np.sqrt(2 * SOFT.areal_density * G / (density * drag))
    drop = vt**2 / G * np.log(np.cosh(G * steps * run.dt / vt))
    error = float(np.abs(run.x[:, :, 2] / -drop - 1).max())
    return Finding(error, 0.02, f"of {drop:.3f} m")


@row("momentum", most=16)
def pressure_is_internal(case: Case) -> Finding:
    """A ball of gas, out of shape and free, keeps its linear momentum to rounding: pressure pushes nobody.

    Over a closed surface the area vectors add up to nothing. They are rounded to eps times the pressure p
    behind them, here the atmosphere's, which n substeps turn into momentum: 4 eps n h p A, A the surface;
    constraints add what linear_momentum allows, eps |x| m/h each.
    """
    scene = Scene(gravity=(0, 0, 0))
    ball = scene.add_cloth(shapes.sphere(0.125, 1), SOFT, bending="none")
    gas = scene.add_pressure(ball, 50.0, gas=True)
    run = case.run(scene)
    model = run.model
    n = model.n_particles
    run.state.set_x(model.x_rest * (1 + 0.05 * case.random_worlds(n, 3)))
    run.state.set_v(case.random_worlds(n, 3))
    before = np.einsum("n,wnk->wk", model.mass, run.v)
    start, steps = run.x, 2
    info = run.step(steps)
    change = np.abs(np.einsum("n,wnk->wk", model.mass, run.v) - before).max()
    if not np.abs(run.x - start).max() > 1e-3:
        return Finding(np.nan, 0, "guard: the ball did not move")
    surface = 4 * np.pi * 0.125**2
    sweeps = info.iterations * steps
    pressed = sweeps * run.h * gas.ambient * surface
    carried = 10 * np.sqrt(sweeps * float((model.mass**2).sum())) * float(np.abs(run.x).max()) / run.h
    return Finding(float(change), 4 * case.eps * (pressed + carried), "kg m/s")


@row("deterministic", least=2, most=16)
def faces_bits(case: Case) -> Finding:
    """With wind, pressure and gas of its own, a world of a batch has the bits that it has alone.

    Measured: numbers of three worlds that differ from single runs, and those that differ between
    one thread and two.
    """
    solver = budgeted(case.solver, substeps=4)
    batch = seen(dressed(case, solver=solver, sheets=blown))
    ways = np.abs(batch[0] - batch[0][:1]).max(axis=(1, 2))[1:]
    if not ways.min() > 1e-4:
        return Finding(np.nan, 0, "guard: the worlds are alike")
    total = 0
    for k in sorted({0, 1, case.worlds - 1}):
        total += differing(batch, seen(dressed(case, [k], solver, blown)), [k])
    try:
        with threads(2):
            total += differing(batch, seen(dressed(case, solver=solver, sheets=blown)))
    except PliantError as error:
        return Finding(total, 0, f"threads not compared: {error}")
    return Finding(total, 0, "numbers that differ")


@row(most=16)
def faces_state(case: Case) -> Finding:
    """With wind, pressure and gas: a snapshot resumes bit for bit, a masked reset costs the others no bit.

    Wind and pressure stay over the reset. Measured: numbers that differ.
    """

    def begun() -> Simulation:
        sim = case.simulation(blown(contact=case.contact))
        dress(sim, case)
        for _ in range(3):
            sim.step()
        return sim

    sim, straight = begun(), begun()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "snapshot.npz"
        sim.save(path)
        after = _further(straight)
        other = case.simulation(blown(contact=case.contact))
        other.load(path)
        total = differing(after, _further(other))
    mask = np.arange(case.worlds) % 2 == 0
    held = [sim.control.wind.copy(), sim.control.pressure.copy()]
    sim.reset(worlds=mask)
    total += differing(held, [sim.control.wind, sim.control.pressure])
    total += differing(after, _further(sim), ~mask, ~mask)
    return Finding(total, 0, "numbers that differ")


def _further(sim: Simulation) -> list[Array]:
    for _ in range(2):
        sim.step()
    return evidence(sim, sim.step(report="full"))


ROWS = (broadside_fall, pressure_is_internal, faces_bits, faces_state)
