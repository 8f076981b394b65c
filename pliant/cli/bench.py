"""``pliant bench``: benchmarks as data."""

from __future__ import annotations

import argparse

WORKLOADS = {
    "cloth": "one hanging cloth, Pliant beside its peers: time per frame, strain, memory",
    "batch": "many worlds of one hanging cloth: world-steps per second, strain, memory",
    "worlds": "many worlds beside the peers that can run them",
    "factor": "sparse factors and solves beside SuperLU, cholespy and qdldl: time, entries, memory",
    "bar": "a soft bar bends under its own weight, Pliant beside its peers: time per frame, tip",
}


def run(args: argparse.Namespace) -> int:
    """Run one workload, or list them; further arguments are the workload's own."""
    if args.workload is None:
        width = max(map(len, WORKLOADS))
        print("\n".join(f"pliant bench {name:{width}}   {words}" for name, words in WORKLOADS.items()))
        print("\nEach takes --help.")
        return 0
    if args.workload == "batch":
        from pliant.bench import batch

        return batch.main(args.arguments)
    if args.workload == "factor":
        from pliant.bench import factor

        return factor.main(args.arguments)
    from pliant.bench import compare

    return compare.main(args.workload, args.arguments)
