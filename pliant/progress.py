"""Progress of a run or a film: a bar where tqdm is installed, else a line every few seconds."""

from __future__ import annotations

import sys
import time
from typing import Any

from .protocol import Status, StepInfo


class Progress:
    """Context manager around a loop of known length, on stderr; ``unit`` is what one turn of it makes."""

    SILENCE = 5.0  # seconds between lines without tqdm

    def __init__(self, total: int, enabled: bool = True, unit: str = "step") -> None:
        self.total, self.enabled, self.unit, self.done = total, enabled, unit, 0
        self.bar: Any = None
        self.began = self.said = time.monotonic()
        self.warned = 0

    def __enter__(self) -> Progress:
        if self.enabled:
            try:
                from tqdm import tqdm
            except ImportError:
                return self
            self.bar = tqdm(total=self.total, unit=self.unit, file=sys.stderr, dynamic_ncols=True)
        return self

    def __exit__(self, *exc: object) -> None:
        if self.bar is not None:
            self.bar.close()

    def advance(self, info: StepInfo | None = None) -> None:
        """One turn is done; say so, and say once what went wrong in it."""
        self.done += 1
        if not self.enabled:
            return
        trouble = int(info.status.max()) if info is not None and info.status.size else 0
        bad = trouble & int(Status.NONFINITE | Status.CONTACT_MISSED) & ~self.warned
        if bad and info is not None:
            self.warned |= bad
            self.say(f"at t = {info.time:.3f} s: {Status(bad)!r}")
        now = time.monotonic()
        if self.bar is not None:
            self.bar.update()
        elif now - self.said > self.SILENCE:
            self.said = now
            left = (now - self.began) / self.done * (self.total - self.done)
            self.say(f"{self.unit} {self.done} of {self.total}, about {left:.0f} s left")

    def say(self, text: str) -> None:
        """A line that does not break the bar."""
        if self.bar is not None:
            self.bar.write(f"pliant: {text}", file=sys.stderr)
        else:
            sys.stderr.write(f"pliant: {text}\n")
