"""``pliant run``: simulate a scene file."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from pliant.backend.notice import notice
from pliant.backend.threads import set_threads
from pliant.cli import INTERRUPTED, NOT_FINITE, OK, complain
from pliant.cli.outputs import can_write, checked, default_outputs, frames_apart, written_since
from pliant.cli.report import Sampler, crossings_text, failed_worlds, json_text, run_report, write_json
from pliant.errors import PliantError
from pliant.io.scenes import SceneFile, load_scene
from pliant.simulation import Simulation


def run(args: argparse.Namespace) -> int:
    """Simulate, write the files, print a summary or the report."""
    file = load_scene(args.scene, args.solver)
    named = [Path(path) for path in args.out] if args.out else file.outputs
    recordings, reports = checked(named or default_outputs(Path(file.path.stem)))
    if args.save:
        can_write(Path(args.save))
    if args.threads:
        set_threads(args.threads)
    began, started = time.perf_counter(), time.time()
    sim = Simulation(file.scene, file.solver, file.dt, args.worlds or file.worlds, args.dtype or file.dtype)
    if not 0 <= args.world < sim.model.n_worlds:
        raise PliantError(f"--world {args.world}: there are worlds 0 to {sim.model.n_worlds - 1}")
    if args.resume:
        sim.load(args.resume)
        notice(f"resumed at t = {sim.time:g} s")
    seconds = args.seconds or file.seconds
    sampler = Sampler(every=15, before=file.before)
    notice(
        f"{file.title}: {sim.model.n_particles} particles, {seconds:g} s in {round(seconds / sim.dt)} steps"
    )
    try:
        sim.run(
            seconds,
            record=list(recordings) or None,
            world=args.world,
            every=frames_apart(sim.dt),
            before=sampler,
            progress=not args.quiet,
            title=file.title,
        )
    except KeyboardInterrupt:
        made = written_since(recordings, started)
        return complain(f"interrupted at t = {sim.time:.4g} s{made}", INTERRUPTED)
    if args.save:
        sim.save(args.save)
    report = {
        "scene_file": str(file.path),
        "title": file.title,
        **run_report(sim, sampler),
        "total_seconds": time.perf_counter() - began,
        "outputs": [str(path) for path in [*recordings, *reports]],
        "snapshot": args.save,
    }
    for path in reports:
        write_json(report, path)
    print(json_text(report) if args.json else summary(file, report))
    return verdict(sim)


def verdict(sim: Simulation) -> int:
    """Exit code; says which worlds failed."""
    assert sim.info is not None
    failed = failed_worlds(sim.info)
    if not failed.size:
        return OK
    some = ", ".join(map(str, failed[:8].tolist())) + (", ..." if failed.size > 8 else "")
    return complain(
        f"{failed.size} of {sim.model.n_worlds} worlds became non-finite and were frozen ({some}): "
        "take more substeps or softer materials",
        NOT_FINITE,
    )


def summary(file: SceneFile, report: dict[str, Any]) -> str:
    """A few lines for a person."""
    last = report["last_step"]
    worlds = f"{report['worlds']} worlds of " if report["worlds"] > 1 else ""
    lines = [
        f"{file.title}: {worlds}{report['particles']} particles, now at t = "
        f"{report['simulated_seconds']:.4g} s; took {report['total_seconds']:.1f} s",
        f"  status {report['status_on_the_way']}, {last['contacts'][0]} contacts, "
        f"penetration at most {1000 * report['largest_penetration']:.2g} mm",
        f"  {crossings_text(report)}",
    ]
    written = [*report["outputs"], *([report["snapshot"]] if report["snapshot"] else [])]
    lines += ["written:", *(f"  {path}" for path in written)] if written else []
    return "\n".join(lines)
