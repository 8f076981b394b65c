"""Rows about solids: what is asked of sheets, of tetrahedra of every law."""

from __future__ import annotations

import numpy as np

from ...errors import PliantError
from ...geometry import shapes
from ...geometry.colliders import Plane
from ...geometry.tetmesh import TetMesh
from ...protocol import Status
from ...scene import Scene
from .bits import differing, dressed, evidence, seen, threads
from .case import DT, Case, budgeted, distinct, row
from .motion import THROWN, falls, first_of, loses_spin, momentum_kept, rests, turns_nobody, worst_of
from .report import Finding
from .specimens import LUMP, G, two_solids
from .symmetry import renumbers, scales_exactly
from .worlds import resets, resumes

Array = np.ndarray


def lumps(gravity: float = 0.0, velocity: Array | None = None, youngs_modulus: float = 2e4) -> Scene:
    """A cube of ARAP and a ball of neo-Hookean tetrahedra, turned, free, near the origin."""
    scene = Scene(gravity=(0, 0, -gravity))
    material, v = LUMP.with_(youngs_modulus=youngs_modulus), np.zeros(3) if velocity is None else velocity
    turn = (0.3, -0.2, 0.5)
    scene.add_solid(shapes.bar((0.5, 0.5, 0.5), (2, 2, 2)), material, rotation=turn, velocity=v)
    scene.add_solid(shapes.ball(0.25, 2), material, rotation=turn, velocity=v, law="neo_hookean")
    return scene


@row()
def solid_rest(case: Case) -> Finding:
    """Solids at rest, without gravity and in any orientation, stay, to 2 eps n^(3/2) of their extent."""
    return rests(case, lumps())


@row()
def solid_free_fall(case: Case) -> Finding:
    """Thrown solids fall as x0 + n h v0 + g h^2 n (n + 1)/2 for 2 s, within 2 n eps max |x|."""
    return falls(case, lumps(G, THROWN))


@row("momentum")
def solid_momentum(case: Case) -> Finding:
    """Free solids in random deformation keep their linear momentum to rounding, as sheets do."""
    run = case.run(lumps())
    n, edge = run.model.n_particles, run.model.length
    run.state.set_x(run.model.x_rest + 0.05 * edge * case.random_worlds(n, 3))
    run.state.set_v(case.random_worlds(n, 3))
    return worst_of([momentum_kept(case, run)], "of sum m |v|")


@row("momentum")
def solid_angular_momentum(case: Case) -> Finding:
    """One correction of each law of tetrahedra, from rest, has no angular momentum, as for sheets."""
    scene = Scene(gravity=(0, 0, 0))
    for k, law in enumerate(("arap", "neo_hookean", "volume")):
        scene.add_solid(shapes.bar((1, 1, 1), (1, 1, 1)), LUMP, position=(0, 0, 2 * k - 2), law=law)
    return turns_nobody(case, {"first": first_of(case.build(scene))})


@row("momentum")
def solid_spin(case: Case) -> Finding:
    """Spinning solids lose spin as backward Euler does, and half as much at half the step, as sheets do."""
    return loses_spin(case, lumps(youngs_modulus=2e6))


@row()
def solid_pins(case: Case) -> Finding:
    """Pinned vertices of solids keep every bit while the rest thrashes: numbers that differ in 4 steps."""
    scene = Scene(gravity=(0, 0, -G))
    mesh, pins = shapes.bar((0.5, 0.25, 0.25), (4, 2, 2)), [0, 7, 22, 44]
    for k, law in enumerate(("arap", "neo_hookean")):
        scene.add_solid(mesh, LUMP, position=(0, 0.5 * k, 0), pins=pins, law=law)
    run = case.run(scene)
    run.state.set_v(case.random_worlds(run.model.n_particles, 3))
    start, ids, moved = run.state.x, run.model.pin_ids, 0
    for _ in range(4):
        run.step()
        moved += distinct(run.state.x[:, ids], start[:, ids])
    free = np.delete(np.abs(run.state.x - start).max(axis=(0, 2)), ids)
    return Finding(moved if free.max() > 1e-5 else np.nan, 0, "numbers that differ")


@row("contact")
def solid_on_the_floor(case: Case) -> Finding:
    """Dropped blocks come to rest on the floor: all of the lower faces in contact, no deeper than 1e-4.

    Damped; the depth is measured from the positions, and must be what StepInfo reports.
    """
    scene = Scene(gravity=(0, 0, -G))
    size = 0.125
    block = LUMP.with_(damping_time=0.02)
    for k, law in enumerate(("arap", "neo_hookean")):
        place = (2 * k * size, 0, 0.5 * size + 0.01)
        scene.add_solid(shapes.bar((size,) * 3, (2, 2, 2)), block, position=place, law=law)
    scene.add_collider(Plane(), friction=0.5)
    run = case.run(scene)
    deepest = 0.0
    for _ in range(60):
        info = run.step()
        depth = np.maximum(-run.x[..., 2], 0).max(axis=1)
        if np.abs(depth - info.max_penetration).max() > 1e-5 * size:
            return Finding(np.nan, 1e-4, "StepInfo.max_penetration is not what the positions say")
        deepest = max(deepest, float(depth.max()) / size)
    wrong = Status.NONFINITE | Status.FROZEN | Status.CONTACT_MISSED
    speed = float(np.abs(run.v).max())
    if np.any(info.contacts != 18) or np.any(info.status & int(wrong)) or not speed < 1e-3:
        state = f"{np.min(info.contacts)} of 18 in contact, status {np.max(info.status)}, {speed:.1e} m/s"
        return Finding(np.nan, 1e-4, f"not at rest: {state}")
    return Finding(deepest, 1e-4, "of the size")


@row()
def solid_renumbering(case: Case) -> Finding:
    """Numbering the vertices of solids otherwise permutes the answer, as for sheets."""
    return renumbers(case, two_solids(contact=case.contact))


@row()
def solid_units(case: Case) -> Finding:
    """Length times 4, time times 2, mass times 8: solids scale exactly, contact included."""
    return scales_exactly(case, (two_solids,))


@row()
def solid_reset(case: Case) -> Finding:
    """A masked reset of solids leaves every bit of the other worlds, as for sheets."""
    return resets(case, two_solids)


@row()
def solid_saved_and_resumed(case: Case) -> Finding:
    """Saved and loaded, a run with solids equals the straight one bit for bit."""
    return resumes(case, two_solids)


@row("deterministic")
def solid_bits(case: Case) -> Finding:
    """Solids give the same bits run to run, alone as in a batch, and with one thread as with two.

    Measured: numbers that differ in positions, velocities and the full report after 4 steps with contact.
    """
    solver = budgeted(case.solver, substeps=4) or case.solver
    batch = seen(dressed(case, solver=solver, sheets=two_solids))
    if not any(a.any() for a in batch[2:]):
        return Finding(np.nan, 0, "guard: the report is empty")
    total = differing(batch, seen(dressed(case, solver=solver, sheets=two_solids)))
    for k in sorted({0, 1 % case.worlds, case.worlds - 1}) if case.worlds > 1 else ():
        total += differing(batch, seen(dressed(case, [k], solver, two_solids)), [k])
    try:
        with threads(2):
            total += differing(batch, seen(dressed(case, solver=solver, sheets=two_solids)))
    except PliantError as error:
        return Finding(total, 0, f"threads not compared: {error}")
    return Finding(total, 0, "numbers that differ")


SWARM = 2100
"""Tetrahedra of :func:`solid_bits_in_a_colour`, all of one colour: over 2,048, so that threads share them."""


@row("deterministic", most=16)
def solid_bits_in_a_colour(case: Case) -> Finding:
    """A colour large enough to be split has the same bits with one thread and with two: loose tetrahedra."""
    corner = np.vstack([np.zeros(3), 0.05 * np.eye(3)])
    place = np.stack(np.meshgrid(*[np.arange(13) * 0.1] * 3, indexing="ij"), axis=-1).reshape(-1, 3)[:SWARM]
    mesh = TetMesh((place[:, None] + corner).reshape(-1, 3), np.arange(4 * SWARM).reshape(-1, 4))
    scene = Scene(gravity=(0, 0, 0))
    scene.add_solid(mesh, LUMP)
    scene.add_solid(mesh, LUMP, position=(0, 0, 2), law="neo_hookean")
    solver = budgeted(case.solver, substeps=2)
    model = case.build(scene)
    found = []
    for n in (1, 2):
        try:
            with threads(n):
                run = case.run(model, DT, solver)
                run.state.set_x(model.x_rest + 5e-3 * case.random(model.n_particles, 3))
                found.append(evidence(run, run.step()))
        except PliantError as error:
            return Finding.unmeasured(str(error))
    return Finding(differing(*found), 0, "numbers that differ")


ROWS = (
    solid_rest,
    solid_free_fall,
    solid_momentum,
    solid_angular_momentum,
    solid_spin,
    solid_pins,
    solid_on_the_floor,
    solid_renumbering,
    solid_units,
    solid_reset,
    solid_saved_and_resumed,
    solid_bits,
    solid_bits_in_a_colour,
)
