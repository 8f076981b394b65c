"""Rows about memory: after ``init`` a step makes no array that stays, and none the size of the scene."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ...errors import PliantError
from ...geometry import shapes
from ...geometry.colliders import Plane
from ...protocol import Status
from ...scene import Scene
from .case import Case, Run, budgeted, row
from .report import Finding
from .specimens import SOFT, G, patch

SMALL = 512
"""Bytes of arrays that may stay: the figures of the last report differ in number from step to step."""


def _kept() -> int:
    """Bytes that NumPy's arrays hold now, of those made since tracing began."""
    arrays = tracemalloc.DomainFilter(inclusive=True, domain=np.lib.tracemalloc_domain)
    traces = tracemalloc.take_snapshot().filter_traces([arrays]).traces
    return sum(trace.size for trace in traces)


@contextmanager
def _traced() -> Iterator[None]:
    """Trace allocations, or raise PliantError where somebody else does already."""
    if tracemalloc.is_tracing():
        raise PliantError("tracemalloc is already tracing; stop it first: its numbers would be wrong")
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()


def _hung(case: Case, n: int) -> Run:
    solver = budgeted(case.solver, substeps=2)
    run = case.run(patch(gravity=G, n=n, size=0.5, pins=(0,)), solver=solver)
    run.step(2)
    return run


@row()
def nothing_is_kept(case: Case) -> Finding:
    """Ten steps keep no memory: NumPy's arrays hold after them what they held before.

    Measured: bytes kept, by tracemalloc, which NumPy reports to.
    """
    with _traced():
        run = _hung(case, 9)
        before = _kept()
        run.step(10)
        grown = _kept() - before
    return Finding(grown, SMALL, "bytes")


@row()
def nothing_large_is_made(case: Case) -> Finding:
    """A step makes no temporary array of the size of the positions.

    Measured: the peak during a step over what is held before it, as a share of the positions' bytes
    (33 x 33 vertices); small arrays of figures per world are allowed, a quarter bounds them, besides 8 KiB
    for the report.
    """
    run = _hung(case, 33)
    positions = run.state.x_lanes.nbytes
    with _traced():
        run.step(2)
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        run.step()
        peak = tracemalloc.get_traced_memory()[1] - before
    return Finding(peak / positions, 0.25 + 8192 / positions, "of the positions")


@row("contact")
def growth_is_reported(case: Case) -> Finding:
    """Memory that stays because contacts became many is reported: CONTACT_GREW in that very step.

    A sheet falls flat on the floor, so that all contacts come at once. Measured: steps that kept memory and
    did not say so. Solvers that never grow pass; a guard asks that the sheet did land.
    """
    scene = Scene(gravity=(0, 0, -G))
    scene.add_cloth(shapes.grid(17, 17, (0.25, 0.25)), SOFT, position=(0, 0, 0.04), velocity=(0, 0, -1))
    scene.add_collider(Plane())
    silent, contacts = 0, 0
    with _traced():
        run = case.run(scene, 1 / 120, budgeted(case.solver, substeps=4))
        info = run.step()  # held, like the one of each step below
        before = _kept()
        for _ in range(8):
            info = run.step()
            contacts = max(contacts, int(np.max(info.contacts)))
            grew = bool(np.any(np.asarray(info.status) & int(Status.CONTACT_GREW)))
            after = _kept()
            silent += after - before > SMALL and not grew
            before = after
    if contacts < run.model.n_particles // 2:
        return Finding(np.nan, 0, f"guard: only {contacts} contacts")
    return Finding(silent, 0, "silent steps")


ROWS = (nothing_is_kept, nothing_large_is_made, growth_is_reported)
