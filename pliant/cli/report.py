"""What a run leaves in numbers: samples on the way, times by stage, what went wrong."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pliant.contact.skin import faces_of
from pliant.diagnostics.intersections import self_intersections
from pliant.errors import PliantError
from pliant.io.recording import written_whole
from pliant.protocol import Status, StepInfo
from pliant.simulation import Simulation, materials_of

ENERGIES = ("kinetic", "elastic", "potential")

SELF_CONTACT = (
    "pairs of an edge and a triangle of the bodies of world 0 that cross. Without Scene(contact=...) folds "
    "may pass through one another"
)


class Sampler:
    """``before`` of a run: a full report every so many steps, times by stage, the worst on the way.

    before   called as well, before each step
    """

    def __init__(self, every: int = 15, before: Callable[[Simulation], None] | None = None) -> None:
        self.every, self.before = every, before
        self.steps = 0
        self.samples: list[dict[str, Any]] = []
        self.stages: dict[str, float] = {}
        self.deepest = 0.0
        self.status = 0
        self.first_step = 0.0
        self.clock = 0.0

    def __call__(self, sim: Simulation) -> None:
        """Take in the step that was made and say how the next shall report."""
        if self.steps and sim.info is not None:
            self.take(sim, sim.info)
        if self.before is not None:
            self.before(sim)
        self.steps += 1
        sim.report = "full" if self.steps % self.every == 0 else "status"
        if self.steps == 1:
            self.clock = time.perf_counter()

    def take(self, sim: Simulation, info: StepInfo) -> None:
        """Add one step to the sums."""
        if not self.first_step:
            self.first_step = time.perf_counter() - self.clock
        for stage, seconds in info.timers.items():
            self.stages[stage] = self.stages.get(stage, 0.0) + seconds
        self.deepest = max(self.deepest, float(info.max_penetration.max()))
        self.status |= int(np.bitwise_or.reduce(info.status))
        if info.energy is not None:
            sums = {name: float(getattr(info, name)[0]) for name in ENERGIES}
            counts = {"contacts": int(info.contacts[0]), "self_intersections": count_crossings(sim)}
            self.samples.append({"time": info.time, **sums, **counts})


def run_report(sim: Simulation, sampler: Sampler) -> dict[str, Any]:
    """The numbers of a run that has ended, as plain data. Samples are of world 0."""
    from pliant.cli import machine

    info = sim.info
    if info is None:
        raise PliantError("no step was made, so there is nothing to report")
    sampler.take(sim, info)
    crossings = [sample["self_intersections"] for sample in sampler.samples]
    last = info.to_dict()
    last["status"] = [status_words(int(s)) for s in info.status]
    del last["timers"]
    return {
        "simulated_seconds": sim.time,
        "steps": sampler.steps,
        "worlds": sim.model.n_worlds,
        "particles": sim.model.n_particles,
        "protocol": sim.protocol.to_dict(),
        "materials": materials_of(sim.scene),
        "last_step": last,
        "samples": sampler.samples,
        "largest_penetration": sampler.deepest,
        "status_on_the_way": status_words(sampler.status & ~int(Status.CONTACT_GREW)),
        "self_intersections": {
            "at_the_end": crossings[-1],
            "largest_sample": max(crossings),
            "meaning": SELF_CONTACT,
        },
        "stage_seconds": sampler.stages,
        "first_step_seconds": sampler.first_step,
        "versions": machine.versions(),
        "machine": machine.machine(),
    }


def crossings_text(report: dict[str, Any]) -> str:
    """How often the cloth crosses itself, in words."""
    found = report["self_intersections"]
    end, most = found["at_the_end"], found["largest_sample"]
    if not most:
        return "the cloth does not cross itself in any sample"
    return f"the cloth crosses itself {end} times at the end, up to {most} on the way"


def status_words(bits: int) -> str:
    """Status bits as words."""
    return ", ".join(flag.name.lower() for flag in Status if flag.name and flag.value & bits) or "ok"


def count_crossings(sim: Simulation, world: int = 0) -> int:
    """Crossings of edges and triangles among all bodies of one world."""
    return len(self_intersections(np.asarray(sim.x[world], float), faces_of(sim.model)))


def failed_worlds(info: StepInfo) -> np.ndarray:
    """Worlds that became non-finite and are frozen."""
    return np.flatnonzero(info.status & int(Status.NONFINITE | Status.FROZEN))


def json_text(data: Any) -> str:
    """JSON that any reader takes: what is not finite becomes null."""
    return json.dumps(_finite(data), indent=2, allow_nan=False, ensure_ascii=False)


def write_json(data: Any, path: Path) -> None:
    """Write a report; the file appears whole or not at all."""
    with written_whole(path) as file:
        file.write((json_text(data) + "\n").encode("utf-8"))


def _finite(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return _finite(value.tolist())
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
