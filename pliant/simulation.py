"""Simulation: a scene, a solver and a time step; the loop that every example uses."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import viewer
from .backend.interrupts import Interrupt, held_back
from .backend.notice import notice
from .checking.intersections import Intersections, check_intersections
from .errors import PliantError, ProtocolError, SceneError
from .frames import carried_by_frames, carry, next_pose
from .geometry.measures import vertex_strain
from .geometry.motion import Pose
from .io.filed import Filed
from .io.recording import Part, Recording, Solid
from .io.snapshots import read_snapshot, scene_differences, scene_summary, write_snapshot
from .model import Model
from .progress import Progress
from .protocol import Protocol, StepInfo
from .scene import Collider, Scene
from .solvers.base import Solver
from .solvers.xpbd.solver import XPBD
from .state import world_ids

if TYPE_CHECKING:
    from .viewer.live import LiveView

Array = np.ndarray

BROWSER_STARTS = 10.0
"""Seconds that a run waits for the browser that shall show it."""

MEMBRANE_LAWS = ("membrane", "orthotropic", "distance")
BENDING_LAWS = ("isometric", "curved", "dihedral", "dihedral_acos")
SOLID_LAWS = ("arap_tet", "neo_hookean", "volume")


class Simulation:
    """Runs ``worlds`` copies of a scene.

    scene    a :class:`pliant.Scene`; its handles (``cloth.x`` ...) read this simulation from now on
    solver   parameters of a solver (default: ``XPBD()``)
    dt       one step [s]
    worlds   copies of the scene, simulated side by side
    dtype    "float64" or "float32"
    report   what :meth:`step` reports by default: "status" (cheap) or "full" (energies and residuals)
    seed     of :attr:`rng`, the only source of randomness, for users who draw per-world values from it
    """

    def __init__(
        self,
        scene: Scene,
        solver: Solver | None = None,
        dt: float = 1 / 60,
        worlds: int = 1,
        dtype: Any = "float64",
        seed: int = 0,
        report: str = "status",
    ) -> None:
        self._start(scene, scene.build(worlds, dtype), solver, dt, seed, report)

    @classmethod
    def of_model(
        cls,
        scene: Scene,
        model: Model,
        solver: Solver | None = None,
        dt: float = 1 / 60,
        seed: int = 0,
        report: str = "status",
    ) -> Simulation:
        """A simulation of a model that was built, and perhaps changed, by hand."""
        self = cls.__new__(cls)
        self._start(scene, model, solver, dt, seed, report)
        return self

    def _start(
        self, scene: Scene, model: Model, solver: Solver | None, dt: float, seed: int, report: str
    ) -> None:
        self.scene = scene
        self._solver: Solver = solver if solver is not None else XPBD()
        if not isinstance(self._solver, Solver):
            raise PliantError(
                f"solver must follow pliant.solvers.base.Solver; {type(solver).__name__} does not"
            )
        self.report = report
        self.model = model
        self.dt = dt
        self._h = self.protocol.h
        self.state = model.state()
        self.control = model.control()
        self.workspace = self.solver.init(model)
        self.rng = np.random.default_rng(seed)
        self.info: StepInfo | None = None
        self.carried = carried_by_frames(scene, model)
        for body in scene.bodies:
            body._simulation = weakref.ref(self)  # a cycle would keep all arrays until the next collection

    def __repr__(self) -> str:
        return f"Simulation(t={self.time:.4g} s, {self.solver!r}, dt={self.dt:.6g}, {self.model!r})"

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.state.time

    @property
    def dt(self) -> float:
        """One step [s]; may be changed between steps, and :attr:`protocol` follows."""
        return self.protocol.dt

    @dt.setter
    def dt(self, dt: float) -> None:
        if isinstance(dt, bool) or not isinstance(dt, (int, float, np.number)) or not 0 < dt < np.inf:
            raise PliantError(f"dt is {dt!r}, it must be a finite number greater than 0 [s]")
        self.protocol: Protocol = self._solver.protocol(self.model, float(dt))

    @property
    def solver(self) -> Solver:
        """The solver's parameters; the workspace is made for them: another solver, another Simulation."""
        return self._solver

    @property
    def x(self) -> Array:
        """Positions (W, N, 3) [m], a copy."""
        return self.state.x

    def step(self, report: str | None = None) -> StepInfo:
        """Advance by dt and report. See :class:`pliant.StepInfo`."""
        for k, collider in enumerate(self.scene.colliders):
            if collider.motion is not None:
                start, name = self.control.collider_start[k], f'collider "{collider.name}"'
                pose = next_pose(collider.motion, start, self.time, self.dt, name)
                self.control.move_collider(k, *pose)
        carry(self.carried, self.scene, self.control, self.time, self.dt)
        if callable(self.scene.wind):
            self.control.set_wind(self.scene.wind(self.time + 0.5 * self.dt))
        info = self.solver.step(
            self.model, self.state, self.control, self.workspace, self.dt, report or self.report
        )
        self.info, self._h = info, self.protocol.h
        return info

    def run(
        self,
        seconds: float | None = None,
        *,
        steps: int | None = None,
        record: str | Path | list[str | Path] | None = None,
        world: int = 0,
        every: int = 1,
        before: Callable[[Simulation], None] | None = None,
        progress: bool = True,
        title: str | None = None,
        view: bool = False,
    ) -> StepInfo:
        """Run for a time [s] or a number of steps.

        record   path or paths; the suffix picks the recorder (:func:`pliant.write`). They are written at
                 the end, with the frames made so far also after an error or Ctrl-C, which ends the run after
                 the step at hand (at once if pressed twice; the step then has not happened). One that cannot
                 be written does not keep the others from it. Ctrl-C while a film is made gives the film up
        world    the world that is recorded; every: one frame per so many steps
        before   called with this simulation before each step: move pins, set forces
        view     show the run in a browser of this machine while it goes on; the page can pause it, make
                 single steps and slow it down. Without a browser the run goes on unseen
        Returns the StepInfo of the last step, with the full report. Raises KeyboardInterrupt after the
        recordings are safe.
        """
        n = self._count(seconds, steps)
        if not (isinstance(every, (int, np.integer)) and every >= 1):
            raise PliantError(f"every is {every!r}, it must be a whole number, at least 1")
        paths = [] if record is None else [record] if isinstance(record, (str, Path)) else list(record)
        for path in paths:
            viewer.check(path)
        recording = self.new_recording(title, world, every) if paths else None
        with held_back() as interrupt:
            try:
                with (
                    Progress(n, enabled=progress) as bar,
                    self._shown(title, world, interrupt) if view else nullcontext() as live,
                ):
                    for k in range(n):
                        if live is not None:
                            live.turn(self.time, partial(self.frame, world), interrupt.raise_if_asked)
                        if before is not None:
                            before(self)
                        last = k == n - 1
                        info = self.step("full" if last else None)
                        if recording is not None and ((k + 1) % every == 0 or last):
                            self.record(recording, world)
                        bar.advance(info)
                        interrupt.raise_if_asked()
            finally:
                if recording is not None:
                    recording.meta["report"] = self.info.to_dict() if self.info else {}
                    viewer.write_all(recording, paths, notice if progress else None, interrupt.at_once())
        assert self.info is not None
        return self.info

    @contextmanager
    def _shown(self, title: str | None, world: int, interrupt: Interrupt) -> Iterator[LiveView]:
        """A page that shows this simulation; a browser that was opened for it gets some time to appear."""
        from .viewer.live import LiveView

        live = LiveView(self.new_recording(title, world))
        notice(f"watch at {live.address}")
        try:
            if live.opened:
                live.wait_for_browser(BROWSER_STARTS, interrupt.raise_if_asked)
            yield live
        finally:
            live.close(partial(self.frame, world))

    def _count(self, seconds: float | None, steps: int | None) -> int:
        if (seconds is None) == (steps is None):
            raise PliantError("run: give either seconds or steps")
        n = round(seconds / self.dt) if seconds is not None else steps
        if n is None or n < 1:
            raise PliantError(
                f"run: {seconds if steps is None else steps!r} is not even one step of {self.dt:g} s"
            )
        return int(n)

    def new_recording(self, title: str | None = None, world: int = 0, every: int = 1) -> Recording:
        """A recording of this scene with the present state as its first frame."""
        world_ids(world, self.model)
        extent = 100 * float(np.ptp(self.model.x_rest, axis=0).max())  # of planes: to the horizon
        solids = [Solid(c.name, *c.shape.display(extent)) for c in self.scene.colliders]
        recording = Recording(
            title=title or ", ".join(b.name for b in self.scene.bodies),
            dt=self.dt * every,
            parts=[
                Part(p.name, p.start, p.stop, p.triangles, self._filed(p.name, p.stop - p.start))
                for p in self.model.parts
            ],
            solids=solids,
            meta={"protocol": self.protocol.to_dict(), "materials": materials_of(self.scene)},
        )
        self.record(recording, world)
        return recording

    def _filed(self, name: str, n: int) -> Filed | None:
        """How the file of a body lists it, where that says more than its triangles."""
        for body in self.scene.bodies:
            if body.name == name and body.mesh.n_vertices == n:
                filed = Filed.of(body.mesh)
                return None if filed.is_plain() else filed
        return None  # a model that was built by hand

    def record(self, recording: Recording, world: int = 0) -> None:
        """Append the present state to a recording that :meth:`new_recording` began."""
        recording.add(*self.frame(world))

    def frame(self, world: int = 0) -> tuple[float, Array, Array, list[Pose]]:
        """What is shown of a world: time, positions (N, 3), strain (N,), poses of the colliders."""
        x = self.state.gather(np.arange(self.model.n_particles), world)[0]
        return self.time, x, self.vertex_strain(world), list(self.control.collider_start)

    def vertex_strain(self, world: int = 0) -> Array:
        """Largest principal strain around each particle (N,), area-weighted over its triangles [-]."""
        x = self.state.gather(np.arange(self.model.n_particles), world)[0]
        return vertex_strain(x.astype(float), self.model.parts)

    def check_intersections(self, worlds: Any = None, limit: int | None = None) -> Intersections:
        """Where bodies cross themselves or each other now; see :func:`pliant.check_intersections`."""
        return check_intersections(self, worlds=worlds, limit=limit)

    def move_collider(self, collider: Collider | int, position: Any, rotation: Any = None) -> None:
        """Where a collider shall be at the end of the next step; see :meth:`pliant.Control.move_collider`."""
        k = collider if isinstance(collider, int) else self._index_of(collider)
        self.control.move_collider(k, position, rotation)

    def _index_of(self, collider: Collider) -> int:
        for k, c in enumerate(self.scene.colliders):
            if c is collider:
                return k
        raise SceneError(f'collider "{collider.name}" does not belong to this scene')

    def reset(self, worlds: Any = None) -> None:
        """Bring some worlds (mask, index or indices; default all) to the start; others keep every bit."""
        self.state.reset(worlds)
        self.control.reset(worlds)
        getattr(self.workspace, "reset", _nothing)(worlds)
        if worlds is None:
            self.state.time = 0.0
            for k, c in enumerate(self.scene.colliders):
                self.control.place_collider(k, (c.position, c.rotation))

    def set(
        self,
        *,
        material_scale: Any = None,
        membrane_scale: Any = None,
        bending_scale: Any = None,
        solid_scale: Any = None,
        attachment_scale: Any = None,
        gravity: Any = None,
        wind: Any = None,
        worlds: Any = None,
    ) -> None:
        """What a world is made of and what acts on it; all of it stays over resets.

        material_scale, membrane_scale, bending_scale, solid_scale: factors on the stiffness, each a number
        or (W',) > 0: of everything that is made of a material, of one kind of law of cloths, or of solids;
        attachment_scale: of attachments and ties. gravity (3,) or (W', 3) [m/s^2]; wind (3,) or (W', 3)
        [m/s].
        """
        for factor, laws in (
            (material_scale, (*MEMBRANE_LAWS, *BENDING_LAWS, *SOLID_LAWS)),
            (membrane_scale, MEMBRANE_LAWS),
            (bending_scale, BENDING_LAWS),
            (solid_scale, SOLID_LAWS),
            (attachment_scale, ("attachment", "tie")),
        ):
            if factor is not None:
                for law in laws:
                    self.control.set_scale(law, factor, worlds)
        if gravity is not None:
            self.control.set_gravity(gravity, worlds)
        if wind is not None:
            if callable(self.scene.wind):
                raise SceneError("the wind of this scene is a function of time; it alone sets it")
            self.control.set_wind(wind, worlds)

    def constraint_forces(self, law: str) -> Array:
        """lambda/h^2 (W, E, rows) after the last step, in the order constraints were added.

        Negative where C > 0: a stretched spring has a negative force. Units by law: N for "distance", J for
        the dimensionless rows of "membrane", N m for angles.
        """
        return self.solver.multipliers(self.model, self.workspace, law) / self._h**2

    def save(self, path: str | Path) -> None:
        """Write a snapshot (.npz): state, control, random numbers, protocol; resuming continues bit for bit.

        The file appears whole or not at all.
        """
        arrays = {f"state/{k}": a for k, a in self.state.arrays().items()}
        arrays |= {f"control/{k}": a for k, a in self.control.arrays().items()}
        arrays |= {f"solver/{k}": a for k, a in getattr(self.workspace, "arrays", dict)().items()}
        head = {
            "protocol": self.protocol.to_dict(),
            "scene": scene_summary(self.model),
            "rng": self.rng.bit_generator.state,
        }
        write_snapshot(path, head, arrays)

    def load(self, path: str | Path, any_protocol: bool = False) -> None:
        """Restore a snapshot of the same scene.

        Raises ProtocolError when it was made under another protocol, PliantError when it belongs to another
        scene or is damaged; the simulation is then unchanged. ``any_protocol`` takes a snapshot of any
        protocol and any constants, as long as its arrays fit.
        """
        head, arrays = read_snapshot(path)
        what = f'snapshot "{path}"'
        rng = np.random.default_rng()
        state, control = self.state.copy(), self.model.control()
        try:
            protocol, scene = Protocol.from_dict(head["protocol"]), dict(head["scene"])
            rng.bit_generator.state = head["rng"]
        except (KeyError, TypeError, ValueError, ProtocolError) as error:
            raise PliantError(f"{what} is damaged: its head lacks or garbles {error}") from error
        if not any_protocol:
            self.protocol.require(protocol, what)
            differ = scene_differences(scene_summary(self.model), scene)
            if differ:
                raise PliantError(
                    f"{what} belongs to another scene (other {', '.join(differ)}); build the scene it comes "
                    "from, or pass any_protocol=True to go on regardless"
                )
        state.restore({k[6:]: a for k, a in arrays.items() if k.startswith("state/")})
        control.restore({k[8:]: a for k, a in arrays.items() if k.startswith("control/")})
        solver = {k[7:]: a for k, a in arrays.items() if k.startswith("solver/")}
        getattr(self.workspace, "restore", _nothing)(solver)  # refuses what does not fit before it changes
        self.state.restore(state.arrays())
        self.control.restore(control.arrays())
        self.rng.bit_generator.state = rng.bit_generator.state
        self.info = None


def _nothing(_: Any) -> None:
    """Of a workspace that remembers nothing."""


def materials_of(scene: Scene) -> dict[str, Any]:
    """Materials by body, as plain data."""
    return {b.name: dict(b.material.__dict__) for b in scene.bodies}
