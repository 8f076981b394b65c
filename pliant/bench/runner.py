"""Runs contestants in turn, each in a process of its own, so that all feel the same machine.

One after the other starts up alone. Then they make frames in turns of :data:`TURN`: while one works the
others sleep, waiting for a line. Times are of the frames alone, measured inside the process; the first frame
warms up and does not count. Whoever crashes, hangs, takes too long or leaves the realm of numbers is out,
with the reason, and the others go on.
"""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .contestants import Contestant
from .workloads import Sample, Workload, options

TURN = 5
"""Frames at a time."""

PATIENCE = 300.0
"""Seconds until a first frame must be done: libraries compile."""


@dataclass
class Result:
    """What became of one contestant.

    start    seconds from nothing until the first frame was done
    memory   most memory in use [MiB]
    turns    seconds of its frames, turn by turn; the first turn is the first frame alone
    busy     seconds of processor time in them, over all threads
    samples  quality of the measured frames
    quality  what the workload makes of them, if the run was complete
    failure  why there is nothing more to tell, if so
    remark   the first warning that the library printed, if any
    """

    name: str
    package: str
    version: str | None = None
    text: str = ""
    same: str = ""
    start: float = float("nan")
    memory: float = float("nan")
    turns: list[list[float]] = field(default_factory=list)
    busy: list[list[float]] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    quality: Sample = field(default_factory=dict)
    failure: str | None = None
    remark: str | None = None

    @property
    def counted(self) -> np.ndarray:
        """Seconds of all frames but the first."""
        return np.array([t for turn in self.turns[1:] for t in turn])

    @property
    def worked(self) -> np.ndarray:
        """Seconds of processor time of all frames but the first."""
        return np.array([t for turn in self.busy[1:] for t in turn])

    def frame(self) -> dict[str, float]:
        """Median and quartiles of a frame, and the median of its processor time [s]; NaN if none was made."""
        if not len(self.counted):
            return dict.fromkeys(("median", "quartile 1", "quartile 3", "processor"), float("nan"))
        low, middle, high = (float(t) for t in np.percentile(self.counted, [25, 50, 75]))
        work = float(np.median(self.worked))
        return {"median": middle, "quartile 1": low, "quartile 3": high, "processor": work}

    def record(self) -> dict[str, Any]:
        """Plain data without the single frames."""
        out = asdict(self)
        frames = sum(len(turn) for turn in out.pop("turns"))
        del out["samples"], out["busy"]
        total = self.counted.sum()
        cores = float(self.worked.sum() / total) if total else float("nan")
        return out | {"frames": frames, "cores": cores, "seconds per frame": self.frame()}


class Child:
    """The process of one contestant, seen from outside.

    It works in a folder of its own, which goes with it: libraries leave files behind. ``remark`` is the first
    warning that it printed, once it has ended.
    """

    def __init__(self, module: str, entry: Contestant, workload: Workload, threads: int | None) -> None:
        self.remark: str | None = None
        self.folder = tempfile.TemporaryDirectory(prefix="pliant-bench-")
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `end`)
        what = [module, entry.name, entry.workload, options(workload)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pliant.bench.worker", json.dumps(what)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            cwd=self.folder.name,
            env=environment(entry, threads),
        )
        self.answers: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.answers.put(line)
        self.answers.put(None)

    def ask(self, message: dict[str, Any] | None, patience: float) -> dict[str, Any]:
        """Send a message, if any, and wait for an answer [s]; failures come as an answer too."""
        if message is not None:
            try:
                assert self.process.stdin is not None
                self.process.stdin.write(json.dumps(message) + "\n")
                self.process.stdin.flush()
            except OSError:
                return {"failure": self.last_words()}
        try:
            line = self.answers.get(timeout=patience)
        except queue.Empty:
            return {"failure": f"no answer within {patience:.0f} s"}
        return {"failure": self.last_words()} if line is None else json.loads(line)

    def last_words(self) -> str:
        """How the process ended, with the last line it printed."""
        code = self.process.wait()
        how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        lines = self.printed()
        return f"crashed ({how})" + (f": {lines[-1]}" if lines else "")

    def printed(self) -> list[str]:
        """Lines that it printed so far."""
        self.log.seek(0)
        lines = self.log.read().decode("utf-8", "replace").splitlines()
        return [line.strip()[:200] for line in lines if line.strip()]

    def end(self) -> None:
        """Make it go; the second time nothing happens."""
        if self.log.closed:
            return
        self.remark = next(
            (line for line in self.printed() if re.match("warning", line, re.IGNORECASE)), None
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.log):
            try:
                stream.close()
            except OSError:  # the pipe of a process that crashed
                continue
        self.folder.cleanup()


def environment(entry: Contestant, threads: int | None) -> dict[str, str]:
    """Variables of the process: it finds the modules that we find; ``threads`` for all libraries alike."""
    paths = [str(Path(path).absolute()) for path in sys.path]  # "" is the current folder
    found = os.environ | {"PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}
    if threads is not None:
        found |= {"OMP_NUM_THREADS": str(threads), "NUMBA_NUM_THREADS": str(threads)}
    return found | entry.environment


def compare(
    found: Sequence[tuple[str, Contestant]],
    workload: Workload,
    limit: float = 120.0,
    threads: int | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> list[Result]:
    """Run all entries on a workload, interleaved.

    limit   seconds that a contestant may take for all its frames but the first
    say     is told what goes on
    """
    results = [Result(e.name, e.package, text=e.text, same=e.same) for _, e in found]
    children: list[Child] = []
    try:
        for (module, e), result in zip(found, results, strict=True):
            say(f"starting {e.name}")
            began = time.perf_counter()
            child = Child(module, e, workload, threads)
            children.append(child)
            answer = child.ask(None, PATIENCE)
            result.failure, result.version = answer.get("failure"), answer.get("version")
            if result.failure is None:
                take(result, child, 1, PATIENCE)
                result.start = time.perf_counter() - began
        rounds(results, children, workload, limit, say)
    finally:
        for child, result in zip(children, results, strict=False):
            child.end()
            result.remark = child.remark
    for result in results:
        made = sum(len(turn) for turn in result.turns)
        if result.failure is None and result.samples and made == workload.frames:
            result.quality = workload.summary(result.samples)
    return results


def rounds(
    results: list[Result], children: list[Child], workload: Workload, limit: float, say: Callable[[str], None]
) -> None:
    """Turns in rotation until all have made their frames or failed."""
    made = 1
    while made < workload.frames and any(r.failure is None for r in results):
        frames = min(TURN, workload.frames - made)
        say(f"frame {made} of {workload.frames}")
        for result, child in zip(results, children, strict=True):
            if result.failure is not None:
                continue
            if result.counted.sum() > limit:
                result.failure = f"over the limit of {limit:.0f} s: {made} of {workload.frames} frames"
                child.end()
                continue
            take(result, child, frames, limit)
        made += frames


def take(result: Result, child: Child, frames: int, limit: float) -> None:
    """One turn, into the result."""
    answer = child.ask({"frames": frames}, limit)
    result.failure = answer["failure"]
    if "times" in answer:
        result.turns.append(answer["times"])
        result.busy.append(answer["busy"])
        result.samples += answer["samples"]
        result.memory = answer["memory"]
    if result.failure is not None:
        child.end()
