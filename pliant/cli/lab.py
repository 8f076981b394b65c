"""``pliant lab``: experiments that print what they measured beside what is right."""

from __future__ import annotations

import argparse

from pliant.cli import ERROR, OK

EXPERIMENTS = {
    "textile": "strips, the heavy elastica and the catenary against closed forms (some minutes)",
    "beams": "a strip as a beam: tip loads from small to large, the first bending frequency (a minute)",
    "sheets": "woven strips and shear against plane stress, curved strips against the curved beam (a minute)",
    "conformance": "the rules that every solver must keep, for XPBD (some minutes)",
}


def run(args: argparse.Namespace) -> int:
    """Run one experiment."""
    if args.experiment == "textile":
        from pliant.lab import textile

        textile.main()
        return OK
    if args.experiment == "beams":
        from pliant.lab import beams

        beams.main()
        return OK
    if args.experiment == "sheets":
        from pliant.lab import sheets

        sheets.main()
        return OK
    from pliant.lab.conformance import check_solver
    from pliant.solvers.xpbd.solver import XPBD

    report = check_solver(XPBD())
    print(report)
    return OK if report.ok else ERROR
