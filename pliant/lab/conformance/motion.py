"""Rows about motion: rest, free fall, one spring, momentum, spin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...geometry import shapes
from ...model import Block, Model
from ...scene import Scene
from .case import DT, Case, Run, budgeted, row
from .report import Finding
from .specimens import SHEETS, SOFT, WOVEN, G, arch, arch_mesh, one_weight, patch, woven_sheets

Array = np.ndarray


def rests(case: Case, scene: Scene) -> Finding:
    """How far a scene at rest has moved after 5 steps, over its extent."""
    run = case.run(scene)
    steps = 5
    info = run.step(steps)
    n = round(steps * run.dt / run.h)
    extent = float(np.abs(run.model.x_rest).max())
    moved = float(np.abs(run.x - run.model.x_rest.astype(case.dtype)).max()) / extent
    note = "bitwise" if moved == 0 else ""
    return Finding(moved if info.ok() else np.nan, 2 * case.eps * n**1.5, note)


@row()
def rest_flat(case: Case) -> Finding:
    """A flat sheet at rest, without gravity, stays where it is.

    Nothing pushes back a free sheet, so the roundings of n substeps (positions to eps, speeds to eps/h) are a
    random walk of its speed: way eps n^(3/2) of the extent, times 2.
    """
    return rests(case, patch())


@row()
def rest_curved(case: Case) -> Finding:
    """A sheet whose rest shape is curved stays, to 2 eps n^(3/2) of its extent.

    One with signed hinge angles, and woven ones with curved bending, a limit of strain and ties between them.
    """
    woven = woven_sheets(gravity=0, contact=False, pinned=False, apart=False)
    found = [rests(case, scene) for scene in (arch(), woven)]
    return max(found, key=lambda f: f.measured / f.bound if f.measured == f.measured else np.inf)


@row()
def free_fall(case: Case) -> Finding:
    """A thrown sheet falls as x0 + n h v0 + g h^2 n (n + 1)/2 for 2 s, within 2 n eps max |x|.

    The closed form of the backward Euler method (v <- v + h g, x <- x + h v) after n substeps.
    """
    return falls(case, patch(gravity=G, velocity=THROWN))


THROWN = np.array([0.3, -0.2, 1.0])
"""Start velocity of what falls [m/s]."""


def falls(case: Case, scene: Scene) -> Finding:
    """Distance of a scene thrown with THROWN from its free fall, after 2 s."""
    v0 = THROWN
    run = case.run(scene)
    x0 = run.x
    steps = round(2 / run.dt)
    run.step(steps)
    n = round(steps * run.dt / run.h)
    fallen = np.array([0, 0, -G]) * run.h**2 * n * (n + 1) / 2
    exact = x0 + n * run.h * v0 + fallen
    error = float(np.abs(run.x - exact).max())
    return Finding(error, 2 * n * case.eps * float(np.abs(exact).max()), f"m after {n} substeps")


OMEGA = 30.0
"""Angular frequency of the one spring [rad/s]."""


def _recurrence(run: Run, tau: float, hold: Array) -> Array:
    """Elongation of the hung weight after each step, by implicit Euler (Kelvin-Voigt damping).

    ``m (y' - y - h v)/h^2 = m g - k (e' + tau (e' - e)/h)``, ``e = y - p``; the holding end is at ``p``,
    moving at constant speed during each step to ``hold`` (steps,), downwards positive.
    """
    h, per_step = run.h, round(run.dt / run.h)
    stiffness, gamma = (OMEGA * h) ** 2, tau / h
    y = v = p = 0.0
    out = []
    for target in hold:
        start = p
        for s in range(per_step):
            before, p = p, start + (target - start) * (s + 1) / per_step
            known = y + h * v + h * h * G + stiffness * ((1 + gamma) * p + gamma * (y - before))
            after = known / (1 + stiffness * (1 + gamma))
            v, y = (after - y) / h, after
        out.append(y)
    return np.array(out)


def _spring_error(case: Case, law: str, tau: float, hold: Array) -> tuple[float, float, int]:
    """Largest distance from the recurrence [m], its bound, and the number of substeps."""
    model = one_weight(case, 1 / (2.0 * OMEGA**2), tau, law)
    run = case.run(model)
    start, held = run.x[:, 1, 2], model.x_rest[0]
    seen = []
    for p in hold:
        if law == "distance":
            run.control.set_pins([0], held - np.array([0, 0, p]))
        else:
            run.control.set_attachments(model.x_rest[1:2] - np.array([0, 0, p]))
        run.step()
        seen.append(start - run.x[:, 1, 2])
    exact = _recurrence(run, tau, hold)
    n = round(len(hold) * run.dt / run.h)
    error = float(np.abs(np.array(seen) - exact[:, None]).max())
    size = float(np.abs(run.x[:, 1]).max())
    return error, 4 * n * case.eps * size * (1 + 1 / (OMEGA * run.h)), n


def worst_of(pairs: list[tuple[float, float]], note: str = "") -> Finding:
    """The finding nearest to (or furthest over) its bound."""
    measured, bound = max(pairs, key=lambda p: p[0] / p[1] if p[0] == p[0] else np.inf)
    return Finding(measured, bound, note)


@row("single_constraint_static")
def one_spring(case: Case) -> Finding:
    """A weight on one spring, and on one attachment, follows the implicit-Euler recurrence, damped or not.

    One constraint makes a step linear along the line, so one exact projection solves it. Each substep
    rounds positions by eps |x|, hence speeds by eps |x|/h, which a swing of frequency w turns into
    eps |x|/(w h) of way: the bound is 4 n eps |x| (1 + 1/(w h)).
    """
    still = np.zeros(30)
    kinds = [("distance", 0.0), ("distance", 5e-3), ("attachment", 0.0), ("attachment", 5e-3)]
    found = [_spring_error(case, law, tau, still) for law, tau in kinds]
    return worst_of([f[:2] for f in found], f"m over {found[0][2]} substeps")


@row("single_constraint_static")
def moving_end(case: Case) -> Finding:
    """A spring's pinned end, or an attachment's, moves at constant speed over the substeps of each step.

    The same recurrence with ``p = start + (target - start) (s + 1)/substeps`` in substep s; damping acts on
    the speed against the moving end.
    """
    hold = 0.01 * case.random(12)
    kinds = [("distance", 0.0), ("attachment", 0.0), ("attachment", 5e-3)]
    found = [_spring_error(case, law, tau, hold) for law, tau in kinds]
    return worst_of([f[:2] for f in found], f"m over {found[0][2]} substeps")


def _tossed(case: Case, sheets: Callable[..., Scene], amplitude: float = 0.05) -> Run:
    """Two free sheets, without gravity or colliders, in random deformation and motion."""
    scene = sheets(gravity=0, contact=False, pinned=False)
    scene.air_drag = 0.0
    run = case.run(scene)
    n, edge = run.model.n_particles, run.model.length
    run.state.set_x(run.model.x_rest + amplitude * edge * case.random_worlds(n, 3))
    run.state.set_v(case.random_worlds(n, 3))
    return run


def _momenta(run: Run) -> Array:
    return np.einsum("n,wnk->wk", run.model.mass, run.v)


@row("momentum")
def linear_momentum(case: Case) -> Finding:
    """Free sheets in random deformation keep their linear momentum to rounding.

    A substep adds A corrections to a particle (A: constraints around it), each rounded to eps |x|/2, and
    turns them into speed by 1/h. Roundings are independent, so the bound is
    4 eps max|x|/h sqrt(n A sum m^2), here over sum m |v|; the worse of two pairs of sheets.
    """
    return worst_of([momentum_kept(case, _tossed(case, sheets)) for sheets in SHEETS], "of sum m |v|")


def momentum_kept(case: Case, run: Run) -> tuple[float, float]:
    """Change of momentum over two steps and its bound, over sum m |v|."""
    before, weight = _momenta(run), float((run.model.mass[:, None] * np.abs(run.v)).sum()) / case.worlds
    steps = 2
    info = run.step(steps)
    n = info.iterations * steps
    change = float(np.abs(_momenta(run) - before).max())
    touch = sum(
        np.bincount(b.ids.ravel(), minlength=run.model.n_particles) for b in run.model.blocks.values()
    )
    spread = np.sqrt(n * float(np.max(touch)) * float((run.model.mass**2).sum()))
    bound = 4 * case.eps * float(np.abs(run.x).max()) / run.h * spread
    return change / weight, bound / weight


ENOUGH = 400
"""Iterations after which a solver that minimises has done so, for one constraint."""

MEMBRANES = {
    "membrane": "triangles",
    "distance": "edges",
    "orthotropic": "orthotropic",
    "strain_limit": "orthotropic",
}
LAWS_ALONE = ("distance", "membrane", "isometric", "dihedral", "orthotropic", "curved", "strain_limit")


def _single(case: Case, law: str) -> Model:
    """A small sheet of which one constraint of one law is kept."""
    scene = Scene(gravity=(0, 0, 0))
    membrane = MEMBRANES.get(law, "none")
    bending = law if law in ("isometric", "dihedral", "curved") else "none"
    mesh = arch_mesh() if law == "curved" else shapes.grid(2, 2)
    fabric = WOVEN if law in ("orthotropic", "strain_limit") else SOFT
    scene.add_cloth(
        mesh, fabric.with_(bending_rigidity=1.0), membrane=membrane, bending=bending, warp_direction=(0, 1, 0)
    )
    model = case.build(scene)
    return first_of(replace(model, blocks={law: model.blocks[law]}))


def first_of(model: Model) -> Model:
    """The model with nothing but the first constraint of each law."""
    one = np.array([0, 1])
    kept = {
        law: Block(law, b.ids[:1], b.params[:1], b.compliance[:1], b.damping_time[:1], one, np.array([0]))
        for law, b in model.blocks.items()
    }
    return replace(model, blocks=kept)


@row("momentum")
def angular_momentum(case: Case) -> Finding:
    """One correction of each law, from rest, has no angular momentum: |sum x * m dx| is rounding.

    A correction is m dx = lambda grad C, and sum x * grad C = 0 for every law that a rotation leaves alone,
    at the configuration where grad C was taken: the start (a projection) or the end (a converged step). The
    smaller of the two counts. Positions are rounded to eps |x|: the bound is 16 eps sum m |x|^2 over
    sum m |x| |dx|. One substep and one sweep are used where the solver has such parameters; of a solver that
    minimises, one substep and all the iterations that it needs.
    """
    laws = [law for law in LAWS_ALONE if law != "strain_limit" or case.claims("rigid")]
    return turns_nobody(case, {law: _single(case, law) for law in laws})


def turns_nobody(case: Case, models: dict[str, Model]) -> Finding:
    """Angular momentum of one correction in each model: one constraint of a law, or of several."""
    if case.solver.claims.minimises:
        solver = budgeted(case.solver, 1, ENOUGH) or budgeted(case.solver, 1) or case.solver
    else:
        solver = budgeted(case.solver, 1, 1) or budgeted(case.solver, 1) or case.solver
    if solver.protocol(next(iter(models.values())), DT).substeps > 1:
        return Finding.unmeasured("the solver has substeps, and no field to set them to 1")
    found = []
    for law, model in models.items():
        run = case.run(model, DT, solver)
        size = 1.5 if law == "strain_limit" else 1.0  # beyond its limit
        run.state.set_x(size * run.model.x_rest + 0.2 * case.random_worlds(run.model.n_particles, 3))
        start = run.x
        run.step()
        moved = run.model.mass[:, None] * (run.x - start)
        arm = np.linalg.norm(start, axis=-1)
        way = np.sum(arm * np.linalg.norm(moved, axis=-1), axis=1)
        turns = [np.linalg.norm(np.cross(x, moved).sum(axis=1), axis=-1) for x in (start, run.x)]
        bound = 16 * case.eps * np.sum(run.model.mass * arm**2, axis=1) / way
        if not np.all(way > 1e-6 * np.sum(run.model.mass * arm**2, axis=1)):
            return Finding(np.nan, 0.0, f"the {law} law corrected nothing")
        found += list(zip(np.minimum(*turns) / way, bound, strict=True))
    return worst_of([(float(a), float(b)) for a, b in found])


def _spin_left(case: Case, scene: Scene, h: float, seconds: float, omega: float) -> float:
    """Share of angular momentum that a spinning scene has left (worst world), at substeps of ``h``."""
    model = case.build(scene)
    probe = case.solver.protocol(model, DT)
    run = case.run(model, h * round(probe.dt / probe.h))
    x = model.x_rest
    run.state.set_v(omega * np.stack([-x[:, 1], x[:, 0], np.zeros(len(x))], axis=1))

    def spin() -> Array:
        return np.einsum("n,wn->w", model.mass, np.cross(run.x, run.v)[..., 2])

    before = spin()
    run.step(round(seconds / run.dt))
    return float((spin() / before).min())


@row("momentum")
def spin_loss(case: Case) -> Finding:
    """A spinning sheet loses spin as backward Euler does, and half as much at half the step.

    Positions turn by theta = h w in a substep; the next prediction lies on the chord's line and the turn
    becomes atan(sin theta/(2 - cos theta)) = theta - theta^3 + ...: dw/dt = -h w^3, so that
    1/sqrt(1 + 2 h w^2 t) is left. Stiff sheet, w = 6/s, 0.5 s; loss within 10 % of that at h = 1/400 s and
    at half of it.
    """
    scene = Scene(gravity=(0, 0, 0))
    scene.add_cloth(shapes.grid(3, 3, (0.5, 0.5)), SOFT.with_(youngs_modulus=4e7))
    return loses_spin(case, scene)


def loses_spin(case: Case, scene: Scene) -> Finding:
    """How far a scene's loss of spin is off that of backward Euler, at two steps."""
    omega, seconds = 6.0, 0.5
    worst, seen = 0.0, []
    for h in (1 / 400, 1 / 800):
        loss = 1 - _spin_left(case, scene, h, seconds, omega)
        predicted = 1 - 1 / np.sqrt(1 + 2 * h * omega**2 * seconds)
        seen.append(loss)
        worst = max(worst, abs(loss / predicted - 1)) if np.isfinite(loss) else np.nan
    return Finding(worst, 0.1, f"lost {seen[0]:.2%}, at h/2 {seen[1]:.2%}")


@row("stable_any_step")
def stable_any_step(case: Case) -> Finding:
    """A thousand times stiffer than steel and steps of 1 s: a crumpled sheet never leaves its neighbourhood.

    No gravity, from rest, positions disturbed by a fifth of an edge; measured: the largest distance from the
    centre of mass in 20 steps over the sheet's radius. Elastic energy can only fall, so 2 is generous.
    """
    scene = Scene(gravity=(0, 0, 0))
    scene.add_cloth(shapes.grid(5, 5), SOFT.with_(youngs_modulus=2e14, bending_rigidity=1e3))
    run = case.run(scene, 1.0)
    edge = run.model.length
    run.state.set_x(run.model.x_rest + 0.2 * edge * case.random_worlds(run.model.n_particles, 3))
    radius = float(np.linalg.norm(run.model.x_rest, axis=1).max())
    mass = run.model.mass / run.model.mass.sum()
    furthest = 0.0
    for _ in range(20):
        run.step()
        centre = np.einsum("n,wnk->wk", mass, run.x)
        away = float(np.linalg.norm(run.x - centre[:, None], axis=-1).max()) / radius
        furthest = max(furthest, away) if np.isfinite(away) else np.inf
    return Finding(furthest, 2.0, "radii")


ROWS = (
    rest_flat,
    rest_curved,
    free_fall,
    one_spring,
    moving_end,
    linear_momentum,
    angular_momentum,
    spin_loss,
    stable_any_step,
)
