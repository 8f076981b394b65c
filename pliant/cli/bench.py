"""``pliant bench``: benchmarks as data."""

from __future__ import annotations

import argparse

WORKLOADS = {"batch": "many worlds of one hanging cloth: world-steps per second, strain, memory"}


def run(args: argparse.Namespace) -> int:
    """Run one workload; further arguments are its own."""
    from pliant.bench import batch

    return batch.main(args.arguments)
