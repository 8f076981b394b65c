"""Rows about colliders and friction: the incline, and a sheet that comes to rest on the floor."""

from __future__ import annotations

import numpy as np

from ...geometry import shapes
from ...geometry.colliders import Plane
from ...protocol import Status
from ...scene import Scene
from .case import DT, Case, Run, row
from .report import Finding
from .specimens import SOFT, G

Array = np.ndarray

MU = 0.5
"""Friction coefficient of the incline."""

SIZE = 0.2
"""Side of the sheet on the incline [m], near the origin: float32 must resolve h^2 g."""


def incline(case: Case, slope: float, mu: float = MU, mu_static: float | None = None) -> tuple[Run, Array]:
    """A sheet at rest on a plane tilted by atan(slope); returns the run and the downhill direction."""
    angle = np.arctan(slope)
    turn = np.array([0.0, angle, 0.0])  # about y: downhill is +x, tilted down
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    scene = Scene(gravity=(0, 0, -G))
    lift = 0.5 * SOFT.thickness * normal
    scene.add_cloth(shapes.grid(5, 5, (SIZE, SIZE)), SOFT, position=lift, rotation=turn)
    scene.add_collider(Plane(tuple(normal)), friction=mu, friction_static=mu_static)
    return case.run(scene), np.array([np.cos(angle), 0.0, -np.sin(angle)])


def _acceleration(slope: float, mu: float) -> float:
    """g (sin - mu cos), downhill [m/s^2]."""
    angle = np.arctan(slope)
    return G * float(np.sin(angle) - mu * np.cos(angle))


def _way(run: Run, start: Array, downhill: Array) -> Array:
    """How far each world's sheet has slid down (W,) [m], by its centre."""
    return ((run.x - start) @ downhill).mean(axis=1)


def _closed_form(run: Run, steps: int, speed: float, acceleration: float) -> float:
    n = round(steps * run.dt / run.h)
    return n * run.h * speed + acceleration * run.h**2 * n * (n + 1) / 2


def _creep(case: Case, slope: float, mu: float, mu_static: float | None = None) -> Finding:
    run, _ = incline(case, slope, mu, mu_static)
    start = run.x
    seconds = 1.0
    info = run.step(round(seconds / DT))
    n = round(seconds / run.h)
    creep = float(np.abs(run.x - start).max()) / SIZE / seconds
    bound = max(1e-6, case.eps * float(np.abs(start).max()) / SIZE * np.sqrt(n) / seconds)
    return Finding(creep if np.all(info.contacts > 0) else np.nan, bound, "sizes per second")


@row("contact")
def incline_sticks(case: Case) -> Finding:
    """On a slope of 0.98 mu a sheet stays: it creeps less than 1e-6 of its size per second.

    Circular Coulomb cone on the displacement since the start of a substep. Where float32 rounds positions by
    eps |x| in each of n substeps, their walk eps |x| sqrt(n) is allowed instead.
    """
    return _creep(case, 0.98 * MU, MU)


@row("contact")
def incline_moves(case: Case) -> Finding:
    """On a slope of 1.02 mu it moves: in 1 s by at least half of the closed form for sliding."""
    slope = 1.02 * MU
    run, downhill = incline(case, slope)
    start = run.x
    run.step(60)
    share = float(_way(run, start, downhill).min()) / _closed_form(run, 60, 0.0, _acceleration(slope, MU))
    return Finding(share, 0.5, "of the closed form", at_least=True)


@row("contact")
def incline_slides(case: Case) -> Finding:
    """On a slope of 1.1 mu it slides as g (sin - mu cos) h^2 n (n + 1)/2 says, within 5 %, in 0.5 s."""
    slope = 1.1 * MU
    run, downhill = incline(case, slope)
    start = run.x
    run.step(30)
    exact = _closed_form(run, 30, 0.0, _acceleration(slope, MU))
    return Finding(float(np.abs(_way(run, start, downhill) / exact - 1).max()), 0.05, "off the closed form")


@row("contact")
def incline_static_friction(case: Case) -> Finding:
    """Static friction above kinetic holds what rests: slope 0.5, kinetic 0.4, static 0.6, creep as above."""
    return _creep(case, 0.5, 0.4, 0.6)


@row("contact")
def incline_kinetic_friction(case: Case) -> Finding:
    """There, a sheet that was pushed slides on as g (sin - 0.4 cos) says, within 5 %, in 0.25 s."""
    run, downhill = incline(case, 0.5, 0.4, 0.6)
    start, speed = run.x, 0.2
    run.state.set_v(speed * downhill)
    run.step(15)
    way = _way(run, start, downhill) - _closed_form(run, 15, speed, 0.0)
    exact = _closed_form(run, 15, 0.0, _acceleration(0.5, 0.4))
    return Finding(float(np.abs(way / exact - 1).max()), 0.05, "off the closed form")


@row("contact")
def rests_on_the_floor(case: Case) -> Finding:
    """A dropped sheet comes to rest on the floor, all in contact, no deeper than a tenth of its thickness.

    The depth is measured from the positions, and must be what StepInfo reports, to 1e-3 of the thickness.
    """
    scene = Scene(gravity=(0, 0, -G))
    scene.add_cloth(shapes.grid(5, 5, (SIZE, SIZE)), SOFT, position=(0, 0, 0.01))
    scene.add_collider(Plane(), friction=MU)
    run = case.run(scene)
    deepest = 0.0
    for _ in range(30):
        info = run.step()
        depth = np.maximum(0.5 * SOFT.thickness - run.x[..., 2], 0).max(axis=1)
        if np.abs(depth - info.max_penetration).max() > 1e-3 * SOFT.thickness:
            return Finding(np.nan, 0.1, "StepInfo.max_penetration is not what the positions say")
        deepest = max(deepest, float(depth.max()) / SOFT.thickness)
    n = run.model.n_particles
    wrong = Status.NONFINITE | Status.FROZEN | Status.CONTACT_MISSED
    speed = float(np.abs(run.v).max())
    if np.any(info.contacts != n) or np.any(info.status & int(wrong)) or not speed < 1e-3:
        state = f"{np.min(info.contacts)} of {n} in contact, status {np.max(info.status)}, {speed:.1e} m/s"
        return Finding(np.nan, 0.1, f"not at rest: {state}")
    return Finding(deepest, 0.1, "of the thickness")


ROWS = (
    incline_sticks,
    incline_moves,
    incline_slides,
    incline_static_friction,
    incline_kinetic_friction,
    rests_on_the_floor,
)
