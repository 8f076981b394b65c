"""``pliant lab``: experiments that print what they measured beside what is right, and make a report of it."""

from __future__ import annotations

import argparse
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from pliant.cli import ERROR, OK

REPORTED = {
    "hanging": "cloth hung from one edge: mass, stiffness, step against stretch and multipliers",
    "chain": "a particle chain: iterations against substeps at equal sweeps, orders",
    "hinge": "two triangles: rest angle and rigidity, gradients through folds and slivers",
    "small_cloth": "a small cloth: resolution, then step, iterations, order, precision one at a time",
    "fabric_tests": "strips and bars pulled, laid over an edge, looped, bent and let swing, by closed forms",
    "gradients": "every law's gradient against central differences",
    "yardstick": "how far solvers are from Newton's answer, by sweeps and by milliseconds",
}
"""Experiments with verdicts, tables and plots; ``all`` runs them."""

PRINTED = {
    "textile": "strips, the heavy elastica and the catenary against closed forms (some minutes)",
    "beams": "a strip as a beam: tip loads from small to large, the first bending frequency (a minute)",
    "bars": "bars of tetrahedra: torsion, and a cantilever so short that shear counts (a minute)",
    "sheets": "woven strips and shear against plane stress, curved strips against the curved beam (a minute)",
    "conformance": "the rules that every solver must keep, for XPBD (some minutes)",
}
EXPERIMENTS = {"all": "all with a report, one page", **REPORTED, **PRINTED}


def run(args: argparse.Namespace) -> int:
    """Run one experiment, or all with a report."""
    name = args.experiment
    if name in REPORTED or name == "all":
        return _report(list(REPORTED) if name == "all" else [name], args)
    if name != "conformance":
        import_module(f"pliant.lab.{name}").main()
        return OK
    from pliant.lab.conformance import check_solver
    from pliant.solvers.xpbd.solver import XPBD

    report = check_solver(XPBD())
    print(report)
    return OK if report.ok else ERROR


def _report(names: list[str], args: argparse.Namespace) -> int:
    from pliant.bench.machine import machine
    from pliant.lab.page import as_json, write

    found: list[Any] = []
    where = machine()
    for name in names:
        start = time.perf_counter()
        experiment = import_module(f"pliant.lab.{name}").run(quick=args.quick)
        experiment.seconds = time.perf_counter() - start
        found.append(experiment)
        if not args.json:
            print(experiment.text(), flush=True)
    if args.json:
        print(as_json(found, where), end="")
    if args.out:
        for path in write(found, where, Path(args.out)):
            sys.stderr.write(f"pliant: wrote {path}\n")
    off = [v.what for e in found for v in e.verdicts if not v.ok]
    if not args.json:
        total = sum(len(e.verdicts) for e in found)
        print(f"{total - len(off)} of {total} verdicts hold" + (f"; off: {'; '.join(off)}" if off else ""))
    return ERROR if off else OK
