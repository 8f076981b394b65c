"""``pliant info``: what is installed and in use."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from pliant.cli import machine


def run(args: argparse.Namespace) -> int:
    """Print the facts, for a person or as JSON."""
    facts = collect()
    print(json.dumps(facts, indent=2) if args.json else text(facts))
    return 0


def collect() -> dict[str, Any]:
    """Everything that ``pliant info`` says."""
    from pliant.backend.threads import get_threads

    return {
        "versions": machine.versions(),
        "machine": machine.machine(),
        "threads": {"in use": get_threads(), "layer": machine.threading_layer()},
        "kernel cache": machine.kernel_cache(),
        "extras": machine.extras(),
        "python": sys.executable,
    }


def text(facts: dict[str, Any]) -> str:
    """The facts in lines."""
    where, cache = facts["machine"], facts["kernel cache"]
    lines = [f"{name:<14}{version}" for name, version in facts["versions"].items()]
    lines += [
        f"{'interpreter':<14}{facts['python']}",
        f"{'processor':<14}{where['processor']} ({where['architecture']}), {where['cores']} cores",
        f"{'system':<14}{where['system']}",
        f"{'threads':<14}{facts['threads']['in use']}, layer: {facts['threads']['layer']}",
        f"{'kernel cache':<14}{cache['folder']}",
        f"{'':<14}{cache['kernels']} kernels, {cache['bytes'] / 1e6:.1f} MB",
    ]
    if not facts["extras"]:
        lines.append(f"{'extras':<14}unknown: Pliant is used from its folder, not installed")
    for extra, packages in facts["extras"].items():
        parts = [f"{name} {version or 'MISSING'}" for name, version in packages.items()]
        cure = "" if all(packages.values()) else f'   (pip install "pliant[{extra}]")'
        lines.append(f"{'extra ' + extra:<14}{', '.join(parts)}{cure}")
    return "\n".join(lines)
