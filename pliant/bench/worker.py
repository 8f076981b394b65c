"""The process of one contestant: builds its scene, then makes frames when told to.

Messages are lines of JSON. What was standard output becomes the channel, and whatever a library prints goes
to standard error, which the runner keeps for the case of a failure.

    in    {"frames": k}                 make k frames
    out   {"built": s, "packages": {}}  once; then per turn
          {"times": [s], "samples": [], "busy": [s], "memory": MiB, "failure": null or why}
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any, TextIO

import numpy as np

from .contestants import entries_of, version
from .machine import peak_memory
from .workloads import Sample, Workload, make

TOO_FAR = 100.0
"""A vertex so far from the origin [m] has been thrown out; the scenes are 1 m wide."""


class Turns:
    """Frames made so far and what was measured of them."""

    def __init__(self, run: Any, work: Workload) -> None:
        self.run, self.work, self.made = run, work, 0

    def make(self, frames: int) -> dict[str, Any]:
        """A turn; ends early when the positions are no longer usable."""
        times: list[float] = []
        samples: list[Sample] = []
        failure = None
        busy: list[float] = []
        for _ in range(frames):
            start, before = time.perf_counter(), time.process_time()
            self.run.step()
            times.append(time.perf_counter() - start)
            busy.append(time.process_time() - before)
            self.made += 1
            x = np.asarray(self.run.positions(), float)
            failure = trouble(x, self.made)
            if failure:
                break
            if self.made >= self.work.first_measured:
                samples.append(self.work.measure(x))
        return {
            "times": times,
            "samples": samples,
            "busy": busy,
            "memory": peak_memory(),
            "failure": failure,
        }


def trouble(x: np.ndarray, frame: int) -> str | None:
    """Why positions are no longer usable, if they are not."""
    if not np.isfinite(x).all():
        return f"positions are not finite after frame {frame}"
    far = float(np.abs(x).max())
    return f"exploded: a vertex is {far:.0f} m away after frame {frame}" if far > TOO_FAR else None


def serve(channel: TextIO, module: str, name: str, workload: str, options: dict[str, Any]) -> None:
    """Build, then answer until there is nothing more to read."""

    def send(message: dict[str, Any]) -> None:
        channel.write(json.dumps(message) + "\n")
        channel.flush()

    try:
        work = make(workload, options)
        start = time.perf_counter()
        (mine,) = (e for e in entries_of(module) if (e.name, e.workload) == (name, workload))
        turns = Turns(mine.build(work), work)
        send({"built": time.perf_counter() - start, "version": version(mine.package)})
        for line in sys.stdin:
            send(turns.make(json.loads(line)["frames"]))
    except Exception as error:
        send({"failure": f"{type(error).__name__}: {first_line(str(error))}"})
        raise


def first_line(text: str) -> str:
    """The first line that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def main() -> None:
    """Entry of the process: one argument, a JSON list of the arguments of :func:`serve`."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(channel, *json.loads(sys.argv[1]))


if __name__ == "__main__":
    main()
