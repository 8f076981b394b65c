"""What surrounds every step: all or nothing, worlds that failed, the clock."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from typing import Protocol as Interface

import numpy as np

from ..model import Model
from ..state import Control, State

Array = np.ndarray


class Kept(Interface):
    """What a workspace has for this: x_start, v_start (T, N, 3, L), where the step began."""

    x_start: Array
    v_start: Array

    def saved(self) -> Any:
        """What besides state and control must come back if a step fails."""
        ...

    def put_back(self, saved: Any) -> None:
        """Undo a step that failed."""
        ...


@contextmanager
def whole_step(state: State, control: Control, ws: Kept) -> Iterator[None]:
    """A step happens as a whole or, after an error or Ctrl-C, not at all."""
    ws.x_start[...] = state.x_lanes
    ws.v_start[...] = state.v_lanes
    started, frozen, poses = state.time, state.frozen.copy(), list(control.collider_start)
    held, memory = control.attachment_start.copy(), ws.saved()
    try:
        yield
    except BaseException:
        state.x_lanes[...] = ws.x_start
        state.v_lanes[...] = ws.v_start
        state.frozen[:] = frozen
        state.time = started
        ws.put_back(memory)
        control.collider_start = poses
        control.attachment_start[...] = held
        control.collider_version += 1
        raise


class Clock:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self.last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Book the time since the last call under a stage."""
        now = time.perf_counter()
        self.laps[stage] = now - self.last
        self.last = now


def restore_frozen(model: Model, state: State, ws: Kept, bad: Array) -> None:
    """Worlds that failed keep their last good state; the others are not touched."""
    if not bad.any():
        return
    state.frozen |= bad
    ids = np.flatnonzero(bad)
    t, lane = ids // model.width, ids % model.width
    state.x_lanes[t, ..., lane] = ws.x_start[t, ..., lane]
    state.v_lanes[t, ..., lane] = ws.v_start[t, ..., lane]
