"""Progress of a run: a bar where tqdm is installed, else a line every few seconds."""

from __future__ import annotations

import sys
import time
from typing import Any

from .protocol import Status, StepInfo


class Progress:
    """Context manager around a loop of known length, on stderr."""

    SILENCE = 5.0  # seconds between lines without tqdm

    def __init__(self, total: int, enabled: bool = True) -> None:
        self.total, self.enabled, self.done = total, enabled, 0
        self.bar: Any = None
        self.said = time.monotonic()
        self.warned = 0

    def __enter__(self) -> Progress:
        if self.enabled:
            try:
                from tqdm import tqdm
            except ImportError:
                return self
            self.bar = tqdm(total=self.total, unit="step", file=sys.stderr, dynamic_ncols=True)
        return self

    def __exit__(self, *exc: object) -> None:
        if self.bar is not None:
            self.bar.close()

    def advance(self, info: StepInfo) -> None:
        """One step is done; say so, and say once what went wrong."""
        self.done += 1
        if not self.enabled:
            return
        trouble = int(info.status.max()) if info.status.size else 0
        bad = trouble & int(Status.NONFINITE | Status.CONTACT_MISSED) & ~self.warned
        if bad:
            self.warned |= bad
            self.say(f"at t = {info.time:.3f} s: {Status(bad)!r}")
        if self.bar is not None:
            self.bar.update()
        elif time.monotonic() - self.said > self.SILENCE:
            self.said = time.monotonic()
            self.say(f"step {self.done} of {self.total}, t = {info.time:.3f} s")

    def say(self, text: str) -> None:
        """A line that does not break the bar."""
        if self.bar is not None:
            self.bar.write(f"pliant: {text}", file=sys.stderr)
        else:
            sys.stderr.write(f"pliant: {text}\n")
