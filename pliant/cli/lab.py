"""``pliant lab``: experiments that print what they measured beside what is right, and make a report of it."""

from __future__ import annotations

import argparse
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from pliant.cli import ERROR, OK

EXPERIMENTS = {
    "hanging": "cloth hung from one edge: mass, stiffness, step against stretch and multipliers",
    "chain": "a particle chain: iterations against substeps at equal sweeps, orders",
    "hinge": "two triangles: rest angle and rigidity, gradients through folds and slivers",
    "small_cloth": "a small cloth: resolution, then step, iterations, order, precision one at a time",
    "fabric_tests": "strips and bars pulled, laid over an edge, looped, bent and let swing, by closed forms",
    "cusick": "the drape test: fabrics over a disc, drape coefficient and folds, with pictures",
    "friction": "a capstan, an incline, the edge of a table, a fall: where slipping begins, what energy does",
    "waves": "a pendulum that swings far, a string, a drum and a bar that ring, a wave up a hanging strip",
    "gradients": "every law's gradient against central differences",
    "yardstick": "how far solvers are from Newton's answer, by sweeps and by milliseconds",
    "projective": "projective dynamics: iterations and history, precision, many worlds, large sheets",
    "stiff": "bars from soft to stiff and coarse to fine: solves in a step of MGPBD, gap to the minimum",
    "textile": "strips, the heavy elastica and the catenary under XPBD, with doubled substeps",
    "beams": "a strip as a beam under XPBD: tip loads from small to large, the first bending frequency",
    "bars": "bars of tetrahedra: torsion, and a cantilever so short that shear counts",
    "sheets": "woven strips and shear against plane stress, curved strips against the curved beam",
    "conformance": "the rules that every solver must keep, for XPBD",
}
"""Modules of pliant.lab with ``run(quick) -> Experiment``."""

CHOICES = {"all": "all of them on one page", **EXPERIMENTS}


def run(args: argparse.Namespace) -> int:
    """Run one experiment or all: verdicts and tables on the terminal, a report where ``--out`` says.

    The report is written anew after each experiment; its page renews itself until the last.
    """
    from pliant.bench.machine import machine
    from pliant.lab.page import as_json, write

    names = list(EXPERIMENTS) if args.experiment == "all" else [args.experiment]
    found: list[Any] = []
    where = machine()
    written: list[Path] = []
    drawn: dict[str, str] = {}
    for k, name in enumerate(names):
        start, work = time.perf_counter(), time.process_time()
        experiment = import_module(f"pliant.lab.{name}").run(quick=args.quick)
        experiment.seconds = time.perf_counter() - start
        experiment.processor_seconds = time.process_time() - work
        found.append(experiment)
        if not args.json:
            print(experiment.text(), flush=True)
        if args.out:
            written = write(found, where, Path(args.out), waiting=names[k + 1 :], drawn=drawn)
    if args.json:
        print(as_json(found, where), end="")
    for path in written:
        sys.stderr.write(f"pliant: wrote {path}\n")
    off = [v.what for e in found for v in e.verdicts if not v.ok]
    if not args.json:
        total = sum(len(e.verdicts) for e in found)
        print(f"{total - len(off)} of {total} verdicts hold" + (f"; off: {'; '.join(off)}" if off else ""))
    return ERROR if off else OK
