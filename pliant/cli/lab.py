"""``pliant lab``: experiments that print what they measured beside what is right."""

from __future__ import annotations

import argparse
from importlib import import_module

from pliant.cli import ERROR, OK

EXPERIMENTS = {
    "textile": "strips, the heavy elastica and the catenary against closed forms (some minutes)",
    "beams": "a strip as a beam: tip loads from small to large, the first bending frequency (a minute)",
    "bars": "bars of tetrahedra: torsion, and a cantilever so short that shear counts (a minute)",
    "sheets": "woven strips and shear against plane stress, curved strips against the curved beam (a minute)",
    "yardstick": "how far solvers are from Newton's answer, by sweeps and time; CSV, charts (a minute)",
    "conformance": "the rules that every solver must keep, for XPBD (some minutes)",
}


def run(args: argparse.Namespace) -> int:
    """Run one experiment."""
    if args.experiment != "conformance":
        import_module(f"pliant.lab.{args.experiment}").main()
        return OK
    from pliant.lab.conformance import check_solver
    from pliant.solvers.xpbd.solver import XPBD

    report = check_solver(XPBD())
    print(report)
    return OK if report.ok else ERROR
